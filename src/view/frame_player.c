#include "view/frame_player.h"

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

struct und_frame_player {
    /* The window's thread. */
    und_scene *scene;
    und_cache *described; /* what the player tells of itself, apart from the rows */
    und_cache_row *rows;  /* as und_frame_player_info() tells them */
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

static void forget(und_frame_player *player, slot *s)
{
    if (s->kept) {
        player->bytes -= s->kept->bytes;
        player->kept_count--;
        release(s->kept);
    }
    free(s->failure);
    *s = (slot){.number = s->number, .hash = s->hash};
}

/* The slot of the frame nearest to a number, -1 where there is none. */
static int find_slot(const und_frame_player *player, int number)
{
    int low = 0, high = player->slot_count - 1;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (player->slots[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    if (low > 0 && low <= high &&
        (long)number - player->slots[low - 1].number < (long)player->slots[low].number - number)
        low--;
    return high < 0 ? -1 : low;
}

/* How soon a slot will be shown, 0: now.  While playing the first frame follows the last. */
static long rank(const und_frame_player *player, int index, int wanted)
{
    long n = player->slot_count, along = index - wanted;
    if (player->direction == 0)
        return labs(along);
    along = ((along * player->direction) % n + n) % n;
    long behind = along ? BEHIND_WEIGHT * (n - along) : 0;
    return along < behind ? along : behind;
}

/* Makes room for a frame that is to be shown so soon; false: what is there is needed sooner. */
static bool make_room(und_frame_player *player, int wanted, long soon)
{
    while (player->kept_count >= KEPT_LEAST && player->bytes + player->largest > player->budget) {
        int worst = -1;
        for (int i = 0; i < player->slot_count; i++)
            if (player->slots[i].kept && player->slots[i].kept != player->given &&
                (worst < 0 || rank(player, i, wanted) > rank(player, worst, wanted)))
                worst = i;
        if (worst < 0 || rank(player, worst, wanted) <= soon)
            return false;
        forget(player, &player->slots[worst]);
    }
    return true;
}

/* The frame to read next; false: none is worth it. */
static bool choose(und_frame_player *player, int *number)
{
    int wanted = find_slot(player, player->wanted), best = -1;
    if (wanted < 0)
        return false;
    for (int i = 0; i < player->slot_count; i++)
        if (!player->slots[i].kept && !player->slots[i].failed &&
            (best < 0 || rank(player, i, wanted) < rank(player, best, wanted)))
            best = i;
    if (best < 0)
        return false;
    long soon = rank(player, best, wanted);
    if ((player->direction == 0 && soon > NEIGHBOURS) || !make_room(player, wanted, soon))
        return false;
    *number = player->slots[best].number;
    return true;
}

/* The reading thread; it holds the mutex except while it is at the disk. */

static kept *read_frame(und_frame_player *player, int number, und_error *err)
{
    kept *k = und_alloc(1, sizeof *k, "a frame", err);
    if (!k)
        return NULL;
    und_disk_lock();
    und_status status = und_cache_read(player->cache, number, &k->frame, err);
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

static void read_one(und_frame_player *player, int number)
{
    und_error err = {0};
    pthread_mutex_unlock(&player->mutex);
    kept *k = read_frame(player, number, &err);
    pthread_mutex_lock(&player->mutex);
    slot *s = &player->slots[find_slot(player, number)]; /* only this thread changes which there are */
    if (k) {
        s->kept = k;
        player->kept_count++;
        player->bytes += k->bytes;
        player->largest = k->bytes > player->largest ? k->bytes : player->largest;
    } else {
        s->failed = true;
        s->failure = strdup(err.text);
    }
    pthread_cond_broadcast(&player->news);
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

static bool same_rows(const und_frame_player *player, const und_cache_info *info)
{
    if (info->row_count != player->slot_count)
        return false;
    for (int i = 0; i < info->row_count; i++)
        if (info->rows[i].frame != player->slots[i].number ||
            info->rows[i].file_hash != player->slots[i].hash)
            return false;
    return true;
}

/* Goes over to a newer ledger; what is in memory and still the same stays. */
static void replace_slots(und_frame_player *player, slot *slots, const und_cache_info *info,
                          und_cache_row *rows)
{
    for (int i = 0, k = 0; i < player->slot_count; i++) {
        slot *old = &player->slots[i];
        while (k < info->row_count && slots[k].number < old->number)
            k++;
        if (k < info->row_count && slots[k].number == old->number && slots[k].hash == old->hash) {
            slots[k] = *old;
        } else {
            forget(player, old);
        }
    }
    free(player->slots);
    free(player->newer);
    player->slots = slots;
    player->slot_count = info->row_count;
    player->newer = rows;
    player->newer_count = info->row_count;
}

/* Reads the ledger of a cache that is being written, or was until now.  Where that does not go, the next look
 * may: what is there already plays on. */
static void look_again(und_frame_player *player)
{
    bool was_written = player->written;
    pthread_mutex_unlock(&player->mutex);
    const char *folder = und_cache_describe(player->cache).folder;
    bool written = und_cache_is_written(folder);
    und_error err;
    und_disk_lock();
    und_cache *fresh = written || was_written ? und_cache_open(folder, &err) : NULL;
    und_disk_unlock();
    und_cache_info info = fresh ? und_cache_describe(fresh) : (und_cache_info){0};
    bool news = fresh && !same_rows(player, &info); /* only this thread changes the slots' numbers */
    slot *slots = news ? make_slots(info.rows, info.row_count, &err) : NULL;
    und_cache_row *rows = slots ? copy_rows(&info, &err) : NULL;
    pthread_mutex_lock(&player->mutex);
    player->written = written;
    und_cache *old = fresh;
    if (rows) {
        replace_slots(player, slots, &info, rows);
        old = player->cache;
        player->cache = fresh;
    } else {
        free(slots);
    }
    pthread_cond_broadcast(&player->news);
    und_cache_close(old, NULL, 0, &err);
    player->next_look = und_clock() + LOOK_AGAIN;
}

static void *run(void *context)
{
    und_frame_player *player = context;
    pthread_mutex_lock(&player->mutex);
    while (!player->stop) {
        int number;
        if (und_clock() >= player->next_look) {
            look_again(player);
        } else if (choose(player, &number)) {
            read_one(player, number);
        } else {
            double until = player->next_look;
            struct timespec t = {.tv_sec = (time_t)until, .tv_nsec = (long)(1e9 * (until - (time_t)until))};
            pthread_cond_timedwait(&player->wake, &player->mutex, &t);
        }
    }
    pthread_cond_broadcast(&player->news);
    pthread_mutex_unlock(&player->mutex);
    return NULL;
}

/* The window's thread. */

static und_status open_all(und_frame_player *player, const char *folder, const und_setting *settings,
                           int count, und_error *err)
{
    und_disk_lock();
    player->described = und_cache_open(folder, err);
    player->cache = player->described ? und_cache_open(folder, err) : NULL;
    und_disk_unlock();
    if (!player->cache)
        return err->status;
    und_cache_info info = und_cache_describe(player->cache);
    player->scene = und_scene_of_cache(&info, settings, count, err);
    player->rows = player->scene ? copy_rows(&info, err) : NULL;
    player->row_count = player->rows ? info.row_count : 0;
    player->slots = player->rows ? make_slots(info.rows, info.row_count, err) : NULL;
    player->slot_count = player->slots ? info.row_count : 0;
    player->wanted = und_frame_player_first(player);
    player->written = und_cache_is_written(folder);
    return player->slots ? UND_OK : err->status;
}

und_frame_player *und_frame_player_create(const char *folder, const und_setting *settings, int count,
                                          und_error *err)
{
    und_frame_player *player = und_alloc(1, sizeof *player, "a player", err);
    if (!player)
        return NULL;
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_mutex_init(&player->mutex, NULL);
    pthread_cond_init(&player->wake, &clock);
    pthread_cond_init(&player->news, NULL);
    pthread_condattr_destroy(&clock);
    player->budget = default_budget();
    und_status status = open_all(player, folder, settings, count, err);
    player->next_look = und_clock() + LOOK_AGAIN;
    if (!status && pthread_create(&player->thread, NULL, run, player))
        status = und_error_set(err, UND_FAILED, "cannot start a thread that reads %s", folder);
    player->started = !status;
    if (status) {
        und_frame_player_destroy(player);
        return NULL;
    }
    return player;
}

void und_frame_player_destroy(und_frame_player *player)
{
    if (!player)
        return;
    if (player->started) {
        pthread_mutex_lock(&player->mutex);
        player->stop = true;
        pthread_cond_signal(&player->wake);
        pthread_mutex_unlock(&player->mutex);
        pthread_join(player->thread, NULL);
    }
    for (int i = 0; i < player->slot_count; i++)
        forget(player, &player->slots[i]);
    release(player->given);
    und_error err;
    und_cache_close(player->cache, NULL, 0, &err);
    und_cache_close(player->described, NULL, 0, &err);
    und_scene_destroy(player->scene);
    pthread_cond_destroy(&player->news);
    pthread_cond_destroy(&player->wake);
    pthread_mutex_destroy(&player->mutex);
    free(player->slots);
    free(player->rows);
    free(player->newer);
    free(player);
}

const und_scene_view *und_frame_player_scene(const und_frame_player *player)
{
    return und_scene_get(player->scene);
}

und_cache_info und_frame_player_info(const und_frame_player *player)
{
    und_cache_info info = und_cache_describe(player->described);
    info.rows = player->rows;
    info.row_count = player->row_count;
    return info;
}

int und_frame_player_first(const und_frame_player *player)
{
    return player->row_count ? player->rows[0].frame : und_cache_describe(player->described).start;
}

int und_frame_player_last(const und_frame_player *player)
{
    return player->row_count ? player->rows[player->row_count - 1].frame : und_frame_player_first(player) - 1;
}

/* The row that comes next to a frame, or, with `by_time`, to a time. */
static int nearest_row(const und_frame_player *player, double place, bool by_time)
{
    int low = 0, high = player->row_count - 1;
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        double there = by_time ? player->rows[middle].time : player->rows[middle].frame;
        if (there < place)
            low = middle;
        else
            high = middle;
    }
    double before = by_time ? player->rows[low].time : player->rows[low].frame;
    double after = by_time ? player->rows[high].time : player->rows[high].frame;
    return place - before < after - place ? low : high;
}

double und_frame_player_time(const und_frame_player *player, int frame)
{
    return player->row_count ? player->rows[nearest_row(player, frame, false)].time : 0;
}

int und_frame_player_frame_at(const und_frame_player *player, double time)
{
    return player->row_count ? player->rows[nearest_row(player, time, true)].frame
                             : und_frame_player_first(player);
}

const char *und_frame_player_name(const und_frame_player *player)
{
    const char *folder = und_cache_describe(player->described).folder, *name = folder;
    for (const char *c = folder; *c; c++)
        if (*c == '/' && c[1] && c[1] != '/')
            name = c + 1;
    return name;
}

bool und_frame_player_grows(und_frame_player *player)
{
    pthread_mutex_lock(&player->mutex);
    bool written = player->written;
    pthread_mutex_unlock(&player->mutex);
    return written;
}

void und_frame_player_seek(und_frame_player *player, int frame, int direction)
{
    direction = direction > 0 ? 1 : direction < 0 ? -1 : 0;
    pthread_mutex_lock(&player->mutex);
    if (frame != player->wanted || direction != player->direction) {
        player->wanted = frame;
        player->direction = direction;
        pthread_cond_signal(&player->wake);
    }
    pthread_mutex_unlock(&player->mutex);
}

/* The slot in memory that comes nearest to the one wanted, -1: none, or that one cannot be read. */
static int nearest_kept(const und_frame_player *player)
{
    int wanted = find_slot(player, player->wanted);
    if (wanted < 0 || player->slots[wanted].failed)
        return -1;
    for (int away = 0; away < player->slot_count; away++) {
        if (wanted - away >= 0 && player->slots[wanted - away].kept)
            return wanted - away;
        if (wanted + away < player->slot_count && player->slots[wanted + away].kept)
            return wanted + away;
    }
    return -1;
}

const und_frame *und_frame_player_take(und_frame_player *player)
{
    pthread_mutex_lock(&player->mutex);
    if (player->newer) {
        free(player->rows);
        player->rows = player->newer;
        player->row_count = player->newer_count;
        player->newer = NULL;
    }
    int found = nearest_kept(player);
    kept *next = found >= 0 ? player->slots[found].kept : NULL;
    if (next == player->given)
        next = NULL;
    if (next && next->frame.number != player->wanted && player->given &&
        labs((long)next->frame.number - player->wanted) >
            labs((long)player->given->frame.number - player->wanted))
        next = NULL;
    if (next) {
        release(player->given);
        player->given = next;
        next->uses++;
        pthread_cond_signal(&player->wake); /* the one of before may go now */
    }
    pthread_mutex_unlock(&player->mutex);
    return next ? &next->frame : NULL;
}

static bool ready(const und_frame_player *player)
{
    int wanted = find_slot(player, player->wanted);
    return wanted < 0 || player->slots[wanted].kept || player->slots[wanted].failed;
}

bool und_frame_player_ready(und_frame_player *player)
{
    pthread_mutex_lock(&player->mutex);
    bool is_ready = ready(player);
    pthread_mutex_unlock(&player->mutex);
    return is_ready;
}

void und_frame_player_settle(und_frame_player *player)
{
    pthread_mutex_lock(&player->mutex);
    while (!ready(player))
        pthread_cond_wait(&player->news, &player->mutex);
    pthread_mutex_unlock(&player->mutex);
}

bool und_frame_player_failed(und_frame_player *player, char *text, size_t size)
{
    pthread_mutex_lock(&player->mutex);
    int wanted = find_slot(player, player->wanted);
    bool failed = wanted >= 0 && player->slots[wanted].failed;
    const char *failure = failed ? player->slots[wanted].failure : "";
    if (size)
        snprintf(text, size, "%s", failure ? failure : "out of memory");
    pthread_mutex_unlock(&player->mutex);
    return failed;
}

void und_frame_player_keep(und_frame_player *player, size_t bytes)
{
    pthread_mutex_lock(&player->mutex);
    player->budget = bytes ? bytes : default_budget();
    pthread_cond_signal(&player->wake);
    pthread_mutex_unlock(&player->mutex);
}

int und_frame_player_kept(und_frame_player *player, int first, int count, bool *marks)
{
    memset(marks, 0, (size_t)count * sizeof *marks);
    pthread_mutex_lock(&player->mutex);
    for (int i = 0; i < player->slot_count; i++) {
        long place = (long)player->slots[i].number - first;
        if (player->slots[i].kept && place >= 0 && place < count)
            marks[place] = true;
    }
    int kept_count = player->kept_count;
    pthread_mutex_unlock(&player->mutex);
    return kept_count;
}
