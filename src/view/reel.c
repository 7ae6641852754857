#include "view/reel.h"

#include "base/stage.h"
#include "base/status.h"
#include "scene/cached_scene.h"
#include "view/disk.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    KEPT_LEAST = 3,    /* frames in memory whatever they take */
    NEIGHBOURS = 2,    /* read on both sides while nothing plays */
    BEHIND_WEIGHT = 3, /* a frame behind is as good to keep as one three times as far ahead */
    LOOK_AGAIN = 1     /* s; how often the ledger of a cache that grows is read */
};
static const size_t BUDGET_MOST = (size_t)2 << 30; /* bytes */

/* A frame in memory: the list of frames and who was given it each count as a use. */
typedef struct kept {
    und_frame frame;
    size_t bytes;
    int uses;
} kept;

/* A frame of the ledger. */
typedef struct slot {
    int number;
    uint64_t hash; /* of its file */
    kept *kept;    /* NULL: not in memory */
    bool failed;
    char *failure; /* why it cannot be read */
} slot;

struct und_reel {
    /* The window's thread. */
    und_scene *scene;
    und_cache *described; /* what the reel tells of itself, apart from the rows */
    und_cache_row *rows;  /* as und_reel_info() tells them */
    int row_count;

    /* The reading thread. */
    pthread_t thread;
    und_cache *cache;
    double next_look; /* s of the clock */
    size_t largest;   /* frame so far, bytes */

    /* Both, under the mutex. */
    pthread_mutex_t mutex;
    pthread_cond_t wake, news; /* for the reading thread; for who waits for a frame */
    bool started, stop, written;
    int wanted, direction;
    size_t budget, bytes;
    int slot_count, kept_count;
    slot *slots;          /* rising numbers, which only the reading thread changes */
    kept *given;          /* what the window shows */
    und_cache_row *newer; /* rows that the window has not taken over yet */
    int newer_count;
};

static size_t default_budget(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    size_t eighth = pages > 0 && size > 0 ? (size_t)pages * (size_t)size / 8 : BUDGET_MOST;
    return eighth < BUDGET_MOST ? eighth : BUDGET_MOST;
}

/* Frames in memory. */

static void release(kept *k)
{
    if (!k || --k->uses > 0)
        return;
    und_frame_clear(&k->frame);
    free(k);
}

static void forget(und_reel *reel, slot *s)
{
    if (s->kept) {
        reel->bytes -= s->kept->bytes;
        reel->kept_count--;
        release(s->kept);
    }
    free(s->failure);
    *s = (slot){.number = s->number, .hash = s->hash};
}

/* The slot of the frame nearest to a number, -1 where there is none. */
static int find_slot(const und_reel *reel, int number)
{
    int low = 0, high = reel->slot_count - 1;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (reel->slots[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    if (low > 0 && low <= high &&
        (long)number - reel->slots[low - 1].number < (long)reel->slots[low].number - number)
        low--;
    return high < 0 ? -1 : low;
}

/* How soon a slot will be shown, 0: now.  While playing the first frame follows the last. */
static long rank(const und_reel *reel, int index, int wanted)
{
    long n = reel->slot_count, along = index - wanted;
    if (reel->direction == 0)
        return labs(along);
    along = ((along * reel->direction) % n + n) % n;
    long behind = along ? BEHIND_WEIGHT * (n - along) : 0;
    return along < behind ? along : behind;
}

/* Makes room for a frame that is to be shown so soon; false: what is there is needed sooner. */
static bool make_room(und_reel *reel, int wanted, long soon)
{
    while (reel->kept_count >= KEPT_LEAST && reel->bytes + reel->largest > reel->budget) {
        int worst = -1;
        for (int i = 0; i < reel->slot_count; i++)
            if (reel->slots[i].kept && reel->slots[i].kept != reel->given &&
                (worst < 0 || rank(reel, i, wanted) > rank(reel, worst, wanted)))
                worst = i;
        if (worst < 0 || rank(reel, worst, wanted) <= soon)
            return false;
        forget(reel, &reel->slots[worst]);
    }
    return true;
}

/* The frame to read next; false: none is worth it. */
static bool choose(und_reel *reel, int *number)
{
    int wanted = find_slot(reel, reel->wanted), best = -1;
    if (wanted < 0)
        return false;
    for (int i = 0; i < reel->slot_count; i++)
        if (!reel->slots[i].kept && !reel->slots[i].failed &&
            (best < 0 || rank(reel, i, wanted) < rank(reel, best, wanted)))
            best = i;
    if (best < 0)
        return false;
    long soon = rank(reel, best, wanted);
    if ((reel->direction == 0 && soon > NEIGHBOURS) || !make_room(reel, wanted, soon))
        return false;
    *number = reel->slots[best].number;
    return true;
}

/* The reading thread; it holds the mutex except while it is at the disk. */

static kept *read_frame(und_reel *reel, int number, und_error *err)
{
    kept *k = und_alloc(1, sizeof *k, "a frame", err);
    if (!k)
        return NULL;
    und_disk_lock();
    und_status status = und_cache_read(reel->cache, number, &k->frame, err);
    und_disk_unlock();
    if (status) {
        und_frame_clear(&k->frame);
        free(k);
        return NULL;
    }
    k->uses = 1;
    k->bytes = sizeof *k;
    for (int i = 0; i < k->frame.count; i++)
        k->bytes += und_item_bytes(&k->frame.items[i]) + sizeof(und_item);
    return k;
}

static void read_one(und_reel *reel, int number)
{
    und_error err = {0};
    pthread_mutex_unlock(&reel->mutex);
    kept *k = read_frame(reel, number, &err);
    pthread_mutex_lock(&reel->mutex);
    slot *s = &reel->slots[find_slot(reel, number)]; /* only this thread changes which there are */
    if (k) {
        s->kept = k;
        reel->kept_count++;
        reel->bytes += k->bytes;
        reel->largest = k->bytes > reel->largest ? k->bytes : reel->largest;
    } else {
        s->failed = true;
        s->failure = strdup(err.text);
    }
    pthread_cond_broadcast(&reel->news);
}

/* Slots for the rows of a ledger, with none in memory. */
static slot *make_slots(const und_cache_row *rows, int count, und_error *err)
{
    slot *slots = und_alloc((size_t)count + 1, sizeof *slots, "the list of frames", err);
    for (int i = 0; slots && i < count; i++)
        slots[i] = (slot){.number = rows[i].frame, .hash = rows[i].file_hash};
    return slots;
}

static und_cache_row *copy_rows(const und_cache_info *info, und_error *err)
{
    und_cache_row *rows = und_alloc((size_t)info->row_count + 1, sizeof *rows, "the ledger", err);
    if (rows && info->row_count)
        memcpy(rows, info->rows, (size_t)info->row_count * sizeof *rows);
    return rows;
}

static bool same_rows(const und_reel *reel, const und_cache_info *info)
{
    if (info->row_count != reel->slot_count)
        return false;
    for (int i = 0; i < info->row_count; i++)
        if (info->rows[i].frame != reel->slots[i].number || info->rows[i].file_hash != reel->slots[i].hash)
            return false;
    return true;
}

/* Goes over to a newer ledger; what is in memory and still the same stays. */
static void replace_slots(und_reel *reel, slot *slots, const und_cache_info *info, und_cache_row *rows)
{
    for (int i = 0, k = 0; i < reel->slot_count; i++) {
        slot *old = &reel->slots[i];
        while (k < info->row_count && slots[k].number < old->number)
            k++;
        if (k < info->row_count && slots[k].number == old->number && slots[k].hash == old->hash) {
            slots[k] = *old;
        } else {
            forget(reel, old);
        }
    }
    free(reel->slots);
    free(reel->newer);
    reel->slots = slots;
    reel->slot_count = info->row_count;
    reel->newer = rows;
    reel->newer_count = info->row_count;
}

/* Reads the ledger of a cache that is being written, or was until now.  Where that does not go, the next look
 * may: what is there already plays on. */
static void look_again(und_reel *reel)
{
    bool was_written = reel->written;
    pthread_mutex_unlock(&reel->mutex);
    const char *folder = und_cache_describe(reel->cache).folder;
    bool written = und_cache_is_written(folder);
    und_error err;
    und_disk_lock();
    und_cache *fresh = written || was_written ? und_cache_open(folder, &err) : NULL;
    und_disk_unlock();
    und_cache_info info = fresh ? und_cache_describe(fresh) : (und_cache_info){0};
    bool news = fresh && !same_rows(reel, &info); /* only this thread changes the slots' numbers */
    slot *slots = news ? make_slots(info.rows, info.row_count, &err) : NULL;
    und_cache_row *rows = slots ? copy_rows(&info, &err) : NULL;
    pthread_mutex_lock(&reel->mutex);
    reel->written = written;
    und_cache *old = fresh;
    if (rows) {
        replace_slots(reel, slots, &info, rows);
        old = reel->cache;
        reel->cache = fresh;
    } else {
        free(slots);
    }
    pthread_cond_broadcast(&reel->news);
    und_cache_close(old, NULL, 0, &err);
    reel->next_look = und_clock() + LOOK_AGAIN;
}

static void *run(void *context)
{
    und_reel *reel = context;
    pthread_mutex_lock(&reel->mutex);
    while (!reel->stop) {
        int number;
        if (und_clock() >= reel->next_look) {
            look_again(reel);
        } else if (choose(reel, &number)) {
            read_one(reel, number);
        } else {
            double until = reel->next_look;
            struct timespec t = {.tv_sec = (time_t)until, .tv_nsec = (long)(1e9 * (until - (time_t)until))};
            pthread_cond_timedwait(&reel->wake, &reel->mutex, &t);
        }
    }
    pthread_cond_broadcast(&reel->news);
    pthread_mutex_unlock(&reel->mutex);
    return NULL;
}

/* The window's thread. */

static und_status open_all(und_reel *reel, const char *folder, const und_setting *settings, int count,
                           und_error *err)
{
    und_disk_lock();
    reel->described = und_cache_open(folder, err);
    reel->cache = reel->described ? und_cache_open(folder, err) : NULL;
    und_disk_unlock();
    if (!reel->cache)
        return err->status;
    und_cache_info info = und_cache_describe(reel->cache);
    reel->scene = und_scene_of_cache(&info, settings, count, err);
    reel->rows = reel->scene ? copy_rows(&info, err) : NULL;
    reel->row_count = reel->rows ? info.row_count : 0;
    reel->slots = reel->rows ? make_slots(info.rows, info.row_count, err) : NULL;
    reel->slot_count = reel->slots ? info.row_count : 0;
    reel->wanted = und_reel_first(reel);
    reel->written = und_cache_is_written(folder);
    return reel->slots ? UND_OK : err->status;
}

und_reel *und_reel_create(const char *folder, const und_setting *settings, int count, und_error *err)
{
    und_reel *reel = und_alloc(1, sizeof *reel, "a reel", err);
    if (!reel)
        return NULL;
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_mutex_init(&reel->mutex, NULL);
    pthread_cond_init(&reel->wake, &clock);
    pthread_cond_init(&reel->news, NULL);
    pthread_condattr_destroy(&clock);
    reel->budget = default_budget();
    und_status status = open_all(reel, folder, settings, count, err);
    reel->next_look = und_clock() + LOOK_AGAIN;
    if (!status && pthread_create(&reel->thread, NULL, run, reel))
        status = und_error_set(err, UND_FAILED, "cannot start a thread that reads %s", folder);
    reel->started = !status;
    if (status) {
        und_reel_destroy(reel);
        return NULL;
    }
    return reel;
}

void und_reel_destroy(und_reel *reel)
{
    if (!reel)
        return;
    if (reel->started) {
        pthread_mutex_lock(&reel->mutex);
        reel->stop = true;
        pthread_cond_signal(&reel->wake);
        pthread_mutex_unlock(&reel->mutex);
        pthread_join(reel->thread, NULL);
    }
    for (int i = 0; i < reel->slot_count; i++)
        forget(reel, &reel->slots[i]);
    release(reel->given);
    und_error err;
    und_cache_close(reel->cache, NULL, 0, &err);
    und_cache_close(reel->described, NULL, 0, &err);
    und_scene_destroy(reel->scene);
    pthread_cond_destroy(&reel->news);
    pthread_cond_destroy(&reel->wake);
    pthread_mutex_destroy(&reel->mutex);
    free(reel->slots);
    free(reel->rows);
    free(reel->newer);
    free(reel);
}

const und_scene_view *und_reel_scene(const und_reel *reel)
{
    return und_scene_get(reel->scene);
}

und_cache_info und_reel_info(const und_reel *reel)
{
    und_cache_info info = und_cache_describe(reel->described);
    info.rows = reel->rows;
    info.row_count = reel->row_count;
    return info;
}

int und_reel_first(const und_reel *reel)
{
    return reel->row_count ? reel->rows[0].frame : und_cache_describe(reel->described).start;
}

int und_reel_last(const und_reel *reel)
{
    return reel->row_count ? reel->rows[reel->row_count - 1].frame : und_reel_first(reel) - 1;
}

/* The row that comes next to a frame, or, with `by_time`, to a time. */
static int nearest_row(const und_reel *reel, double place, bool by_time)
{
    int low = 0, high = reel->row_count - 1;
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        double there = by_time ? reel->rows[middle].time : reel->rows[middle].frame;
        if (there < place)
            low = middle;
        else
            high = middle;
    }
    double before = by_time ? reel->rows[low].time : reel->rows[low].frame;
    double after = by_time ? reel->rows[high].time : reel->rows[high].frame;
    return place - before < after - place ? low : high;
}

double und_reel_time(const und_reel *reel, int frame)
{
    return reel->row_count ? reel->rows[nearest_row(reel, frame, false)].time : 0;
}

int und_reel_frame_at(const und_reel *reel, double time)
{
    return reel->row_count ? reel->rows[nearest_row(reel, time, true)].frame : und_reel_first(reel);
}

const char *und_reel_name(const und_reel *reel)
{
    const char *folder = und_cache_describe(reel->described).folder, *name = folder;
    for (const char *c = folder; *c; c++)
        if (*c == '/' && c[1] && c[1] != '/')
            name = c + 1;
    return name;
}

bool und_reel_grows(const und_reel *reel)
{
    und_reel *own = (und_reel *)reel;
    pthread_mutex_lock(&own->mutex);
    bool written = reel->written;
    pthread_mutex_unlock(&own->mutex);
    return written;
}

void und_reel_seek(und_reel *reel, int frame, int direction)
{
    direction = direction > 0 ? 1 : direction < 0 ? -1 : 0;
    pthread_mutex_lock(&reel->mutex);
    if (frame != reel->wanted || direction != reel->direction) {
        reel->wanted = frame;
        reel->direction = direction;
        pthread_cond_signal(&reel->wake);
    }
    pthread_mutex_unlock(&reel->mutex);
}

/* The slot in memory that comes nearest to the one wanted, -1: none, or that one cannot be read. */
static int nearest_kept(const und_reel *reel)
{
    int wanted = find_slot(reel, reel->wanted);
    if (wanted < 0 || reel->slots[wanted].failed)
        return -1;
    for (int away = 0; away < reel->slot_count; away++) {
        if (wanted - away >= 0 && reel->slots[wanted - away].kept)
            return wanted - away;
        if (wanted + away < reel->slot_count && reel->slots[wanted + away].kept)
            return wanted + away;
    }
    return -1;
}

const und_frame *und_reel_take(und_reel *reel)
{
    pthread_mutex_lock(&reel->mutex);
    if (reel->newer) {
        free(reel->rows);
        reel->rows = reel->newer;
        reel->row_count = reel->newer_count;
        reel->newer = NULL;
    }
    int found = nearest_kept(reel);
    kept *next = found >= 0 ? reel->slots[found].kept : NULL;
    if (next == reel->given)
        next = NULL;
    if (next && next->frame.number != reel->wanted && reel->given &&
        labs((long)next->frame.number - reel->wanted) > labs((long)reel->given->frame.number - reel->wanted))
        next = NULL;
    if (next) {
        release(reel->given);
        reel->given = next;
        next->uses++;
        pthread_cond_signal(&reel->wake); /* the one of before may go now */
    }
    pthread_mutex_unlock(&reel->mutex);
    return next ? &next->frame : NULL;
}

static bool ready(const und_reel *reel)
{
    int wanted = find_slot(reel, reel->wanted);
    return wanted < 0 || reel->slots[wanted].kept || reel->slots[wanted].failed;
}

bool und_reel_ready(const und_reel *reel)
{
    und_reel *own = (und_reel *)reel;
    pthread_mutex_lock(&own->mutex);
    bool is_ready = ready(reel);
    pthread_mutex_unlock(&own->mutex);
    return is_ready;
}

void und_reel_settle(und_reel *reel)
{
    pthread_mutex_lock(&reel->mutex);
    while (!ready(reel))
        pthread_cond_wait(&reel->news, &reel->mutex);
    pthread_mutex_unlock(&reel->mutex);
}

bool und_reel_failed(const und_reel *reel, char *text, size_t size)
{
    und_reel *own = (und_reel *)reel;
    pthread_mutex_lock(&own->mutex);
    int wanted = find_slot(reel, reel->wanted);
    bool failed = wanted >= 0 && reel->slots[wanted].failed;
    const char *failure = failed ? reel->slots[wanted].failure : "";
    if (size)
        snprintf(text, size, "%s", failure ? failure : "out of memory");
    pthread_mutex_unlock(&own->mutex);
    return failed;
}

void und_reel_keep(und_reel *reel, size_t bytes)
{
    pthread_mutex_lock(&reel->mutex);
    reel->budget = bytes ? bytes : default_budget();
    pthread_cond_signal(&reel->wake);
    pthread_mutex_unlock(&reel->mutex);
}

int und_reel_kept(const und_reel *reel, int first, int count, bool *marks)
{
    und_reel *own = (und_reel *)reel;
    memset(marks, 0, (size_t)count * sizeof *marks);
    pthread_mutex_lock(&own->mutex);
    for (int i = 0; i < reel->slot_count; i++) {
        long place = (long)reel->slots[i].number - first;
        if (reel->slots[i].kept && place >= 0 && place < count)
            marks[place] = true;
    }
    int kept_count = reel->kept_count;
    pthread_mutex_unlock(&own->mutex);
    return kept_count;
}
