#include "cache/rows.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/status.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char HEADER[] = "frame,time,start,sources,drains,left,spray_out,spray_back,correction,expected,"
                             "measured,error,state_hash,file_hash\n";
static const char TAIL[] = "undine row,";
enum { NUMBERS = 11, LEDGER_MAX = 1 << 30 };

double und_rows_expected(const und_ledger *l)
{
    return l->start + l->sources - l->drains - l->left - l->spray_out + l->spray_back + l->correction;
}

/* The line of a row without the file's hash; its length. */
static size_t print_numbers(const und_cache_row *row, char line[ROW_MAX])
{
    const und_ledger *l = &row->ledger;
    double expected = und_rows_expected(l);
    int length = snprintf(
        line, ROW_MAX, "%d,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%016" PRIx64,
        row->frame, row->time, l->start, l->sources, l->drains, l->left, l->spray_out, l->spray_back,
        l->correction, expected, l->measured, l->measured - expected, row->state_hash);
    return (size_t)length;
}

/* With its newline. */
static size_t print_row(const und_cache_row *row, char line[ROW_MAX])
{
    size_t length = print_numbers(row, line);
    return length + (size_t)snprintf(line + length, ROW_MAX - length, ",%016" PRIx64 "\n", row->file_hash);
}

void und_row_print(const und_cache_row *row, char line[ROW_MAX])
{
    char numbers[ROW_MAX];
    print_numbers(row, numbers);
    snprintf(line, ROW_MAX, "\n%s%.480s\n", TAIL, numbers);
}

static bool scan_hash(const char **at, char end, uint64_t *hash)
{
    char *stop;
    size_t digits = strspn(*at, "0123456789abcdef");
    *hash = strtoull(*at, &stop, 16);
    bool good = digits == 16 && stop == *at + 16 && *stop == end;
    *at = stop + (good && end);
    return good;
}

/* A line without its newline, up to the state's hash, which `end` follows; where that is, NULL: it is none.
 */
static const char *scan_numbers(const char *line, char end, und_cache_row *row)
{
    char *stop;
    errno = 0;
    long frame = strtol(line, &stop, 10);
    if (stop == line || *stop != ',' || errno || frame < INT_MIN || frame > INT_MAX)
        return NULL;
    double number[NUMBERS];
    const char *at = stop + 1;
    for (int i = 0; i < NUMBERS; i++) {
        number[i] = strtod(at, &stop);
        if (stop == at || *stop != ',')
            return NULL;
        at = stop + 1;
    }
    *row = (und_cache_row){.frame = (int)frame,
                           .time = number[0],
                           .ledger = {.start = number[1],
                                      .sources = number[2],
                                      .drains = number[3],
                                      .left = number[4],
                                      .spray_out = number[5],
                                      .spray_back = number[6],
                                      .correction = number[7],
                                      .measured = number[9]}};
    return scan_hash(&at, end, &row->state_hash) ? at : NULL;
}

static bool scan_row(const char *line, und_cache_row *row)
{
    const char *at = scan_numbers(line, ',', row);
    return at && scan_hash(&at, 0, &row->file_hash);
}

bool und_row_scan(const char *line, und_cache_row *row)
{
    size_t head = strlen(TAIL);
    return strncmp(line, TAIL, head) == 0 && scan_numbers(line + head, 0, row) != NULL;
}

static und_status reserve(cache_rows *rows, und_error *err)
{
    if (rows->count < rows->capacity)
        return UND_OK;
    size_t capacity = rows->capacity ? 2 * (size_t)rows->capacity : 256;
    und_cache_row *row = realloc(rows->row, capacity * sizeof *row);
    rows->row = row ? row : rows->row;
    size_t *end = realloc(rows->end, capacity * sizeof *end);
    rows->end = end ? end : rows->end;
    uint64_t *hash = realloc(rows->hash, capacity * sizeof *hash);
    rows->hash = hash ? hash : rows->hash;
    if (!row || !end || !hash)
        return und_error_set(err, UND_FAILED, "out of memory: ledger rows");
    rows->capacity = (int)capacity;
    return UND_OK;
}

static size_t end_of(const cache_rows *rows)
{
    return rows->count ? rows->end[rows->count - 1] : sizeof HEADER - 1;
}

/* There must be room. */
static void push(cache_rows *rows, const und_cache_row *row, const char *line, size_t length)
{
    uint64_t before = rows->count ? rows->hash[rows->count - 1] : 0;
    size_t end = end_of(rows) + length;
    int i = rows->count++;
    rows->row[i] = *row;
    rows->end[i] = end;
    rows->hash[i] = und_hash(line, length, before, 1);
}

und_status und_rows_read(const char *path, cache_rows *rows, und_error *err)
{
    *rows = (cache_rows){0};
    char *text;
    size_t bytes;
    und_status status = und_file_read(path, LEDGER_MAX, &text, &bytes, err);
    if (status)
        return status;
    if (bytes < sizeof HEADER - 1 || memcmp(text, HEADER, sizeof HEADER - 1) != 0)
        status = und_error_set(err, UND_FAILED, "%s: cut short, or not the ledger of a cache", path);
    char *line = text + sizeof HEADER - 1;
    while (!status && line < text + bytes) {
        char *newline = memchr(line, '\n', (size_t)(text + bytes - line));
        und_cache_row row;
        rows->torn = !newline;
        if (newline) {
            uint64_t length = (uint64_t)(newline + 1 - line);
            *newline = 0;
            rows->torn = !scan_row(line, &row) || strlen(line) + 1 != length ||
                         (rows->count && row.frame <= rows->row[rows->count - 1].frame);
            *newline = '\n';
        }
        if (rows->torn)
            break;
        status = reserve(rows, err);
        if (!status)
            push(rows, &row, line, (size_t)(newline + 1 - line));
        line = newline + 1;
    }
    free(text);
    return status;
}

und_status und_rows_add(cache_rows *rows, const und_cache_row *row, und_error *err)
{
    char line[ROW_MAX];
    size_t length = print_row(row, line);
    und_status status = reserve(rows, err);
    if (!status)
        push(rows, row, line, length);
    return status;
}

und_status und_rows_write(const char *path, const cache_rows *rows, und_error *err)
{
    size_t bytes = sizeof HEADER - 1;
    char *text = und_alloc(bytes + (size_t)rows->count * ROW_MAX, 1, "ledger rows", err);
    if (!text)
        return UND_FAILED;
    memcpy(text, HEADER, bytes);
    for (int i = 0; i < rows->count; i++)
        bytes += print_row(&rows->row[i], text + bytes);
    und_status status = und_file_write(path, text, bytes, err);
    free(text);
    return status;
}

static bool write_at(int fd, const char *line, size_t length, size_t at)
{
    for (size_t done = 0; done < length;) {
        ssize_t wrote = pwrite(fd, line + done, length - done, (off_t)(at + done));
        if (wrote > 0)
            done += (size_t)wrote;
        else if (wrote == 0 || errno != EINTR)
            return false;
    }
    return true;
}

und_status und_rows_append(const char *path, cache_rows *rows, const und_cache_row *row, und_error *err)
{
    und_status status = reserve(rows, err);
    if (status)
        return status;
    char line[ROW_MAX];
    size_t length = print_row(row, line), at = end_of(rows);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool good = fd >= 0 && !ftruncate(fd, (off_t)at) && write_at(fd, line, length, at);
    int cause = errno;
    if (fd >= 0 && !good && ftruncate(fd, (off_t)at))
        rows->torn = true; /* the next append, or a resume, cuts it off */
    if (fd >= 0 && close(fd) && good) {
        good = false;
        cause = errno;
    }
    if (!good)
        return und_error_set(err, UND_FAILED, "cannot write %s: %s", path, strerror(cause));
    push(rows, row, line, length);
    return UND_OK;
}

void und_rows_keep(cache_rows *rows, int count)
{
    if (count < rows->count)
        rows->count = count;
}

und_status und_rows_trim(const char *path, const cache_rows *rows, und_error *err)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool good = fd >= 0 && !ftruncate(fd, (off_t)end_of(rows)) && !fsync(fd);
    und_status status =
        good ? UND_OK : und_error_set(err, UND_FAILED, "cannot write %s: %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    return status;
}

void und_rows_clear(cache_rows *rows)
{
    free(rows->row);
    free(rows->end);
    free(rows->hash);
    *rows = (cache_rows){0};
}
