#include "base/file.h"

#include "base/hash.h"
#include "base/status.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static und_status failed(const char *doing, const char *path, und_error *err)
{
    return und_error_set(err, UND_FAILED, "cannot %s %s: %s", doing, path, strerror(errno));
}

und_status und_path_set(char path[UND_PATH_MAX], und_error *err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(path, UND_PATH_MAX, format, args);
    va_end(args);
    if (length < 0 || length >= UND_PATH_MAX)
        return und_error_set(err, UND_FAILED, "path is too long: %.200s...", path);
    return UND_OK;
}

und_status und_file_begin(und_file *file, const char *path, und_error *err)
{
    und_status status = und_path_set(file->path, err, "%s", path);
    if (!status)
        status = und_path_set(file->temp, err, "%s.%ld.tmp", path, (long)getpid());
    if (status)
        return status;
    int fd = open(file->temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return failed("write", path, err);
    close(fd);
    return UND_OK;
}

void und_file_cancel(und_file *file)
{
    unlink(file->temp);
}

bool und_file_is_temp(const char *name)
{
    size_t length = strlen(name);
    if (length < 6 || strcmp(name + length - 4, ".tmp") != 0)
        return false;
    size_t at = length - 4;
    while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9')
        at--;
    return at < length - 4 && at > 1 && name[at - 1] == '.';
}

/* Syncs the folder that a path lies in, so that a new or removed name lasts.  Some filesystems cannot, and
 * say EINVAL: there is nothing more to do then. */
static und_status sync_folder_of(const char *path, und_error *err)
{
    char copy[UND_PATH_MAX];
    und_status status = und_path_set(copy, err, "%s", path);
    if (status)
        return status;
    const char *folder = dirname(copy);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return failed("open", folder, err);
    if (fsync(fd) && errno != EINVAL)
        status = failed("sync", folder, err);
    close(fd);
    return status;
}

und_status und_file_sync_disk(const char *folder, und_error *err)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return failed("open", folder, err);
    und_status status = syncfs(fd) ? failed("sync", folder, err) : UND_OK;
    close(fd);
    return status;
}

und_status und_file_rename(und_file *file, und_error *err)
{
    if (!rename(file->temp, file->path))
        return UND_OK;
    und_status status = failed("write", file->path, err);
    und_file_cancel(file);
    return status;
}

und_status und_file_commit(und_file *file, und_error *err)
{
    und_status status = UND_OK;
    int fd = open(file->temp, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fsync(fd))
        status = failed("write", file->path, err);
    if (fd >= 0)
        close(fd);
    if (status)
        und_file_cancel(file);
    else
        status = und_file_rename(file, err);
    return status ? status : sync_folder_of(file->path, err);
}

static bool write_full(int fd, const char *data, size_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        ssize_t wrote = write(fd, data + at, bytes - at);
        if (wrote > 0)
            at += (size_t)wrote;
        else if (wrote == 0 || errno != EINTR)
            return false;
    }
    return true;
}

/* The temporary file with all that is to be in it. */
static und_status write_temp(und_file *file, const char *path, const void *data, size_t bytes, und_error *err)
{
    und_status status = und_file_begin(file, path, err);
    if (status)
        return status;
    int fd = open(file->temp, O_WRONLY | O_CLOEXEC);
    if (fd < 0 || !write_full(fd, data, bytes))
        status = failed("write", path, err);
    if (fd >= 0 && close(fd) && !status)
        status = failed("write", path, err);
    if (status)
        und_file_cancel(file);
    return status;
}

und_status und_file_write(const char *path, const void *data, size_t bytes, und_error *err)
{
    und_file file;
    und_status status = write_temp(&file, path, data, bytes, err);
    return status ? status : und_file_commit(&file, err);
}

und_status und_file_write_unsynced(const char *path, const void *data, size_t bytes, und_error *err)
{
    und_file file;
    und_status status = write_temp(&file, path, data, bytes, err);
    return status ? status : und_file_rename(&file, err);
}

/* Fills the buffer as far as the file goes; -1 on an error. */
static ssize_t read_full(int fd, char *data, size_t bytes)
{
    size_t at = 0;
    while (at < bytes) {
        ssize_t got = read(fd, data + at, bytes - at);
        if (got == 0)
            break;
        if (got < 0 && errno != EINTR)
            return -1;
        at += got > 0 ? (size_t)got : 0;
    }
    return (ssize_t)at;
}

/* Opens a regular file to read; its size too. */
static int open_sized(const char *path, size_t *bytes, und_error *err)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &info)) {
        failed("read", path, err);
    } else if (!S_ISREG(info.st_mode)) {
        und_error_set(err, UND_FAILED, "cannot read %s: not a regular file", path);
    } else {
        *bytes = (size_t)info.st_size;
        return fd;
    }
    if (fd >= 0)
        close(fd);
    return -1;
}

und_status und_file_read(const char *path, size_t most, char **data, size_t *bytes, und_error *err)
{
    *data = NULL;
    int fd = open_sized(path, bytes, err);
    if (fd < 0)
        return UND_FAILED;
    und_status status = UND_OK;
    char *text = NULL;
    if (*bytes > most)
        status =
            und_error_set(err, UND_FAILED, "cannot read %s: %zu bytes, more than %zu", path, *bytes, most);
    else if (!(text = und_alloc(*bytes + 1, 1, path, err)))
        status = UND_FAILED;
    if (!status) {
        ssize_t got = read_full(fd, text, *bytes);
        if (got < 0)
            status = failed("read", path, err);
        else
            *bytes = (size_t)got;
    }
    close(fd);
    if (status)
        free(text);
    else
        *data = text;
    return status;
}

static bool copy_through_memory(int in, int out, bool *read_failed)
{
    enum { BLOCK = 1 << 18 };
    char *block = malloc(BLOCK);
    ssize_t got = 0;
    bool good = block != NULL;
    while (good && (got = read_full(in, block, BLOCK)) > 0)
        good = write_full(out, block, (size_t)got);
    *read_failed = got < 0;
    free(block);
    return good && got == 0;
}

und_status und_file_copy(const char *from, const char *to, und_error *err)
{
    enum { PART = 1 << 30 };
    size_t bytes;
    int in = open_sized(from, &bytes, err), out = in < 0 ? -1 : open(to, O_WRONLY | O_TRUNC | O_CLOEXEC);
    und_status status = in < 0 ? UND_FAILED : UND_OK;
    bool read_failed = false;
    ssize_t moved = 0;
    while (out >= 0 && (moved = copy_file_range(in, NULL, out, NULL, PART, 0)) > 0)
        ;
    /* Not every pair of disks can; ours goes on from where that one stopped. */
    bool good = out >= 0 && copy_through_memory(in, out, &read_failed);
    if (!status && !good)
        status = failed(read_failed ? "read" : "write", read_failed ? from : to, err);
    if (in >= 0)
        close(in);
    if (out >= 0 && close(out) && !status)
        status = failed("write", to, err);
    return status;
}

enum { HASH_BLOCK = 16 << 20 };

uint64_t und_file_hash_memory(const void *data, size_t bytes, int threads)
{
    uint64_t hash = 0;
    for (size_t at = 0; at < bytes; at += HASH_BLOCK) {
        size_t left = bytes - at;
        hash = und_hash((const char *)data + at, left < HASH_BLOCK ? left : HASH_BLOCK, hash, threads);
    }
    return hash;
}

und_status und_file_hash(const char *path, int threads, uint64_t *hash, size_t *bytes, und_error *err)
{
    size_t size;
    int fd = open_sized(path, &size, err);
    if (fd < 0)
        return UND_FAILED;
    size_t block = size < HASH_BLOCK ? size + 1 : HASH_BLOCK;
    char *data = und_alloc(block, 1, path, err);
    und_status status = data ? UND_OK : UND_FAILED;
    *hash = 0;
    *bytes = 0;
    for (ssize_t got = 1; !status && got > 0;) {
        got = read_full(fd, data, block);
        if (got < 0)
            status = failed("read", path, err);
        else if (got > 0)
            *hash = und_hash(data, (size_t)got, *hash, threads);
        *bytes += got > 0 ? (size_t)got : 0;
    }
    close(fd);
    free(data);
    return status;
}

und_status und_folder_make(const char *path, und_error *err)
{
    char part[UND_PATH_MAX];
    und_status status = und_path_set(part, err, "%s", path);
    for (char *slash = part + 1; status == UND_OK && *part; slash++) {
        char was = *slash;
        if (was != '/' && was)
            continue;
        *slash = 0;
        if (mkdir(part, 0777) != 0 && errno != EEXIST)
            return und_error_set(err, UND_FAILED, "cannot make the folder %s: %s", part, strerror(errno));
        if (!was)
            break;
        *slash = was;
    }
    return status;
}
