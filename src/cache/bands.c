#include "cache/bands.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/pages.h"
#include "base/stage.h"
#include "base/status.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

static const char MAGIC[8] = "undband1";
static const double POLL = 0.02, SYNC = 0.5; /* s */
enum { LEVEL = 1 };                          /* of compression: quick */

/* The file begins with this, in the machine's order of bytes. */
typedef struct file_head {
    char magic[8];
    int32_t n[3], open;
    double dx, origin[3];
    uint64_t values, hash;
} file_head;

typedef struct record_head {
    int64_t index;
    double time;
    uint64_t bytes; /* packed */
    uint64_t hash;  /* of the three above and the packed values */
} record_head;

struct bands_writer {
    char path[UND_PATH_MAX];
    int fd;
    size_t values, room;
    unsigned char *packed; /* a record: its head, then the values */
    long count;            /* records known */
    off_t end;             /* after them */
    double synced;
};

struct bands_reader {
    char path[UND_PATH_MAX];
    file_head head;
    bool open; /* the file was there, and its head fits */
    size_t room;
    unsigned char *packed;
    bands_wait_fn *wait;
    void *context;
    struct side {
        record_head record;
        off_t at; /* of the record; 0: none */
        int64_t decoded;
        float *values;
    } side[2]; /* the last before the time, and the next */
};

static file_head make_head(const bands_grid *g)
{
    file_head h = {.dx = g->dx};
    memcpy(h.magic, MAGIC, sizeof h.magic);
    for (int a = 0; a < 3; a++) {
        h.n[a] = g->n[a];
        h.origin[a] = g->origin[a];
    }
    for (int side = 0; side < UND_SIDES; side++)
        h.open |= g->open[side] << side;
    h.open |= g->heat << UND_SIDES;
    h.open |= g->volume << (UND_SIDES + 1);
    h.values = und_levelset_bands(g->n, g->open, g->heat, g->volume).values;
    h.hash = und_hash(&h, offsetof(file_head, hash), 0, 1);
    return h;
}

static uint64_t record_hash(const record_head *r, const void *packed)
{
    return und_hash(packed, r->bytes, und_hash(r, offsetof(record_head, hash), 0, 1), 1);
}

static bool read_at(int fd, void *to, size_t bytes, off_t at)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t got = pread(fd, (char *)to + done, bytes - done, at + (off_t)done);
        if (got > 0)
            done += (size_t)got;
        else if (got == 0 || errno != EINTR)
            return false;
    }
    return true;
}

static bool write_at(int fd, const void *from, size_t bytes, off_t at)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t put = pwrite(fd, (const char *)from + done, bytes - done, at + (off_t)done);
        if (put > 0)
            done += (size_t)put;
        else if (put == 0 || errno != EINTR)
            return false;
    }
    return true;
}

/* The head of the record at a place and its packed values, if it is whole. */
static bool read_record(int fd, off_t at, int64_t index, unsigned char *packed, size_t room, record_head *r)
{
    return read_at(fd, r, sizeof *r, at) && r->index == index && r->bytes <= room && isfinite(r->time) &&
           read_at(fd, packed, r->bytes, at + (off_t)sizeof *r) && record_hash(r, packed) == r->hash;
}

static bool unpack(const unsigned char *packed, uint64_t bytes, float *values, size_t count)
{
    uLongf size = (uLongf)(count * sizeof *values);
    if (uncompress((Bytef *)values, &size, packed, (uLong)bytes) != Z_OK || size != count * sizeof *values)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!isfinite(values[i]))
            return false;
    return true;
}

static und_status failed(const char *path, und_error *err)
{
    return und_error_set(err, UND_FAILED, "cannot write %s: %s", path, strerror(errno));
}

/* Counts the records that are there, up to a number of them. */
static void find_end(bands_writer *w, long most)
{
    record_head r;
    w->count = 0;
    w->end = sizeof(file_head);
    while (w->count < most && read_record(w->fd, w->end, w->count, w->packed + sizeof r, w->room, &r)) {
        w->end += (off_t)(sizeof r + r.bytes);
        w->count++;
    }
}

static und_status begin_file(bands_writer *w, const file_head *head, bool begin, und_error *err)
{
    file_head there;
    const bool any = !begin && read_at(w->fd, &there, sizeof there, 0);
    const bool fits = any && !memcmp(&there, head, sizeof there);
    if (any && !fits && !memcmp(there.magic, head->magic, sizeof there.magic) && there.open != head->open)
        return und_error_set(err, UND_INVALID,
                             "%s is of a grid with another surface, another temperature or other open sides: "
                             "a branch keeps those of a grid that others begin in",
                             w->path);
    w->count = fits ? -1 : 0; /* not counted yet */
    w->end = sizeof *head;
    if (!fits && (ftruncate(w->fd, 0) || !write_at(w->fd, head, sizeof *head, 0)))
        return failed(w->path, err);
    return UND_OK;
}

bands_writer *und_bands_writer_open(const char *folder, const bands_grid *grid, bool begin, und_error *err)
{
    file_head head = make_head(grid);
    bands_writer *w = und_alloc(1, sizeof *w, "bands", err);
    if (!w)
        return NULL;
    w->fd = -1;
    w->values = head.values;
    w->room = compressBound((uLong)(head.values * sizeof(float)));
    w->packed = und_pages_alloc(sizeof(record_head) + w->room, "bands", err);
    und_status status = w->packed ? und_path_set(w->path, err, "%s/bands", folder) : UND_FAILED;
    if (!status && (w->fd = open(w->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666)) < 0)
        status = failed(w->path, err);
    if (!status)
        status = begin_file(w, &head, begin, err);
    if (!status)
        return w;
    und_bands_writer_close(w);
    return NULL;
}

und_status und_bands_put(void *writer, long index, double time, const float *values, und_error *err)
{
    bands_writer *w = writer;
    if (w->count != index) {
        find_end(w, index);
        if (w->count < index)
            return und_error_set(err, UND_FAILED,
                                 "%s is cut short (%ld of %ld records): begin anew with --force", w->path,
                                 w->count, index);
        if (ftruncate(w->fd, w->end))
            return failed(w->path, err);
    }
    uLongf bytes = (uLongf)w->room;
    if (compress2(w->packed + sizeof(record_head), &bytes, (const Bytef *)values,
                  (uLong)(w->values * sizeof *values), LEVEL) != Z_OK)
        return und_error_set(err, UND_FAILED, "%s: the values could not be packed", w->path);
    record_head r = {.index = index, .time = time, .bytes = bytes};
    r.hash = record_hash(&r, w->packed + sizeof r);
    memcpy(w->packed, &r, sizeof r);
    if (!write_at(w->fd, w->packed, sizeof r + bytes, w->end))
        return failed(w->path, err);
    w->end += (off_t)(sizeof r + bytes);
    w->count++;
    return und_clock() - w->synced > SYNC ? und_bands_sync(w, err) : UND_OK;
}

und_status und_bands_sync(bands_writer *w, und_error *err)
{
    if (w && fdatasync(w->fd))
        return failed(w->path, err);
    if (w)
        w->synced = und_clock();
    return UND_OK;
}

void und_bands_writer_close(bands_writer *w)
{
    if (!w)
        return;
    und_error ignored; /* what the frames need is synced with the checkpoints */
    if (w->fd >= 0) {
        und_bands_sync(w, &ignored);
        close(w->fd);
    }
    und_pages_free(w->packed);
    free(w);
}

und_status und_bands_copy(const char *from, const char *to, und_error *err)
{
    char path[UND_PATH_MAX], part[1 << 16];
    und_file copy;
    und_status status = und_path_set(path, err, "%s/bands", from);
    int in = status ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    if (in < 0) /* it kept none: what goes on to others would have a hole */
        return und_error_set(err, UND_INVALID, "%s: %s", path, strerror(errno));
    status = und_path_set(path, err, "%s/bands", to);
    status = status ? status : und_file_begin(&copy, path, err);
    int out = status ? -1 : open(copy.temp, O_WRONLY | O_CLOEXEC);
    off_t at = 0;
    ssize_t got = out < 0 ? -1 : 0;
    while (out >= 0 && (got = pread(in, part, sizeof part, at)) > 0 && write_at(out, part, (size_t)got, at))
        at += got;
    close(in);
    if (out >= 0 && close(out))
        got = -1;
    if (!status && got != 0) {
        status = failed(path, err);
        und_file_cancel(&copy);
    }
    return status ? status : und_file_commit(&copy, err);
}

bands_reader *und_bands_reader_open(const char *folder, const bands_grid *grid, bands_wait_fn *wait,
                                    void *context, und_error *err)
{
    bands_reader *r = und_alloc(1, sizeof *r, "bands", err);
    if (!r)
        return NULL;
    r->head = make_head(grid);
    r->wait = wait;
    r->context = context;
    r->room = compressBound((uLong)(r->head.values * sizeof(float)));
    bool good = !und_path_set(r->path, err, "%s/bands", folder) &&
                (r->packed = und_pages_alloc(r->room, "bands", err)) != NULL;
    for (int k = 0; k < 2 && good; k++) {
        r->side[k].decoded = -1;
        good =
            (r->side[k].values = und_pages_alloc((r->head.values + 1) * sizeof(float), "bands", err)) != NULL;
    }
    if (good)
        return r;
    und_bands_reader_close(r);
    return NULL;
}

void und_bands_reader_close(bands_reader *r)
{
    if (!r)
        return;
    for (int k = 0; k < 2; k++)
        und_pages_free(r->side[k].values);
    und_pages_free(r->packed);
    free(r);
}

/* Steps on until the second record is at the time or after it; false: it is not there yet.  The file is
 * opened each time: on a shared disk what another machine has written is seen then. */
static bool step_on(bands_reader *r, int fd, double time)
{
    struct side *before = &r->side[0], *after = &r->side[1];
    record_head next;
    for (;;) {
        off_t at =
            after->at ? after->at + (off_t)(sizeof next + after->record.bytes) : (off_t)sizeof(file_head);
        int64_t index = after->at ? after->record.index + 1 : 0;
        if (after->at && after->record.time >= time)
            return true;
        if (!read_record(fd, at, index, r->packed, r->room, &next))
            return false;
        struct side swap = *before;
        *before = *after;
        *after = swap;
        after->record = next;
        after->at = at;
        after->decoded = -1;
    }
}

static und_status decode(bands_reader *r, int fd, struct side *s, und_error *err)
{
    record_head again;
    if (!s->at || s->decoded == s->record.index)
        return UND_OK;
    if (!read_record(fd, s->at, s->record.index, r->packed, r->room, &again) ||
        !unpack(r->packed, again.bytes, s->values, r->head.values))
        return und_error_set(err, UND_FAILED, "%s: record %" PRId64 " is damaged", r->path, s->record.index);
    s->decoded = s->record.index;
    return UND_OK;
}

/* One look at the file; *found: the time is covered. */
static und_status look(bands_reader *r, double time, bool *found, und_error *err)
{
    file_head there;
    *found = false;
    int fd = open(r->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return UND_OK;
    und_status status = UND_OK;
    if (!r->open && read_at(fd, &there, sizeof there, 0)) {
        r->open = memcmp(&there, &r->head, sizeof there) == 0;
        if (!r->open)
            status = und_error_set(err, UND_INVALID,
                                   "%s is of another grid (%d x %d x %d cells of %g m): simulate that again",
                                   r->path, there.n[0], there.n[1], there.n[2], there.dx);
    }
    if (!status && r->open)
        *found = step_on(r, fd, time);
    for (int k = 0; k < 2 && !status && *found; k++)
        status = decode(r, fd, &r->side[k], err);
    close(fd);
    return status;
}

und_status und_bands_fetch(void *reader, double time, const float *value[2], double when[2], und_error *err)
{
    bands_reader *r = reader;
    const double wanted = time - 1e-9 * fmax(1, fabs(time)), since = und_clock();
    bool found = false;
    und_status status = look(r, wanted, &found, err);
    while (!status && !found) {
        status = r->wait ? r->wait(r->context, time, und_clock() - since, err) : UND_STOPPED;
        if (!status)
            nanosleep(&(struct timespec){.tv_nsec = (long)(1e9 * POLL)}, NULL);
        und_error later = {0};
        und_status seen = look(r, wanted, &found, &later); /* what came while it was found to be in vain */
        if (found)
            status = UND_OK;
        else if (!status && seen) {
            *err = later;
            status = seen;
        }
    }
    if (status)
        return status;
    const struct side *before = r->side[0].at ? &r->side[0] : &r->side[1], *after = &r->side[1];
    value[0] = before->values;
    value[1] = after->values;
    when[0] = before->record.time;
    when[1] = after->record.time;
    return UND_OK;
}

und_status und_bands_check(const char *folder, long *count, und_error *err)
{
    char path[UND_PATH_MAX];
    file_head head;
    struct stat info;
    *count = -1;
    und_status status = und_path_set(path, err, "%s/bands", folder);
    int fd = status ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return status;
    *count = 0;
    off_t at = sizeof head;
    if (fstat(fd, &info) || !read_at(fd, &head, sizeof head, 0) || memcmp(head.magic, MAGIC, sizeof MAGIC) ||
        head.hash != und_hash(&head, offsetof(file_head, hash), 0, 1))
        status = und_error_set(err, UND_FAILED, "%s: its head is damaged", path);
    while (!status && info.st_size - at >= (off_t)sizeof(record_head)) {
        record_head r;
        bool good = read_at(fd, &r, sizeof r, at) && r.index == *count;
        if (good && r.bytes > (uint64_t)(info.st_size - at - (off_t)sizeof r))
            break; /* cut short */
        unsigned char *packed = good ? malloc(r.bytes + 1) : NULL;
        good = packed && read_record(fd, at, *count, packed, r.bytes, &r);
        free(packed);
        if (!good)
            status = und_error_set(err, UND_FAILED, "%s: record %ld has changed", path, *count);
        at += good ? (off_t)(sizeof r + r.bytes) : 0;
        *count += good;
    }
    close(fd);
    return status;
}
