#include "cache/rebuild.h"

#include "base/status.h"
#include "cache/branch.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The last line of a file, without its newline; false where there is none. */
static bool last_line(const char *path, char line[ROW_MAX + 1])
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool good = fd >= 0 && !fstat(fd, &info) && S_ISREG(info.st_mode) && info.st_size > ROW_MAX;
    good = good && pread(fd, line, ROW_MAX, info.st_size - ROW_MAX) == ROW_MAX && line[ROW_MAX - 1] == '\n';
    if (fd >= 0)
        close(fd);
    if (!good)
        return false;
    line[ROW_MAX - 1] = 0;
    const char *newline = memrchr(line, '\n', ROW_MAX - 1);
    if (newline)
        memmove(line, newline + 1, strlen(newline + 1) + 1);
    return newline != NULL;
}

static und_status read_row(const und_cache *cache, int frame, und_cache_row *row, und_error *err)
{
    char name[2 * SLUG_MAX], path[UND_PATH_MAX], line[ROW_MAX + 1];
    size_t bytes;
    und_cache_name(cache, "frames", frame, name);
    und_status status = und_cache_path(cache, name, path, err);
    if (!status && !(last_line(path, line) && und_row_scan(line, row) && row->frame == frame))
        status =
            und_error_set(err, UND_FAILED,
                          "%s/ledger.csv is missing, and %s, of which it could be made, is missing too or "
                          "does not say its row",
                          cache->folder, name);
    return status ? status : und_file_hash(path, cache->threads, &row->file_hash, &bytes, err);
}

und_status und_rebuild_rows(und_cache *cache, und_error *err)
{
    const cache_manifest *m = &cache->manifest;
    cache_rows *rows = &cache->rows;
    und_status status = m->branch ? und_branch_add_rows(cache, err) : UND_OK;
    for (int i = rows->count; i < m->row_count && !status; i++) {
        und_cache_row row;
        status = read_row(cache, i > 0 ? rows->row[i - 1].frame + 1 : m->start, &row, err);
        if (!status)
            status = und_rows_add(rows, &row, err);
    }
    if (!status && m->row_count > 0 && rows->hash[m->row_count - 1] != m->ledger_hash)
        status = und_error_set(
            err, UND_FAILED, "%s/ledger.csv is missing, and the frames are not as they were", cache->folder);
    rows->lost = !status;
    return status;
}

int und_cache_first_lost(const und_cache *cache)
{
    const cache_rows *rows = &cache->rows;
    char name[2 * SLUG_MAX], path[UND_PATH_MAX];
    struct stat info;
    for (int i = 0; i < rows->count; i++) {
        if (cache->manifest.branch && rows->row[i].frame <= cache->manifest.branch_frame)
            continue; /* the other's */
        und_cache_name(cache, "frames", rows->row[i].frame, name);
        bool there = !und_cache_path(cache, name, path, NULL) && !stat(path, &info) && S_ISREG(info.st_mode);
        size_t bytes = there ? und_store_claimed_bytes(path) : 0;
        if (bytes == 0 || (size_t)info.st_size < bytes)
            return rows->row[i].frame;
    }
    const store_stamp *statics = &cache->manifest.static_stamp;
    if (cache->manifest.has_static && und_cache_check_file(cache, "static items", "static.h5", statics, NULL))
        return rows->count > 0 ? rows->row[rows->count - 1].frame : INT_MAX; /* any frame has them */
    return INT_MAX;
}
