/* The thread that works out where bodies float. */
#include "base/file.h"
#include "base/status.h"
#include "scene/cached_scene.h"
#include "scene/sim.h"
#include "view/disk.h"
#include "view/editor_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const size_t KEPT_MOST = (size_t)1 << 30; /* bytes of the flow that stay in memory */

/* What bodies feel of a frame. */
static bool is_felt(const char *name)
{
    static const char *const felt[] = {"label",      "pressure", "velocity_x", "velocity_y",
                                       "velocity_z", "surface",  "ground"};
    for (size_t i = 0; i < sizeof felt / sizeof *felt; i++)
        if (strcmp(felt[i], name) == 0)
            return true;
    return false;
}

/* Copies what of a frame is felt. */
static und_status strip(const und_frame *from, und_frame *to, und_error *err)
{
    *to = und_frame_empty(from->number, from->time, from->grid);
    for (int i = 0; i < from->count; i++)
        if (is_felt(from->items[i].name) && und_frame_copy_item(to, &from->items[i], err) != UND_OK)
            return err->status;
    return UND_OK;
}

static size_t bytes_of(const und_frame *frame)
{
    size_t bytes = 0;
    for (int i = 0; i < frame->count; i++)
        bytes += und_item_bytes(&frame->items[i]);
    return bytes;
}

/* The flow's frame of a row, from memory where it is there. */
static const und_frame *flow_frame(und_floater *f, int row, und_error *err)
{
    und_frame *own = &f->own;
    und_frame whole = {0};
    if (f->kept[row].count > 0)
        return &f->kept[row];
    und_disk_lock();
    und_status status = und_cache_read(f->flow, f->row[row].frame, &whole, err);
    und_disk_unlock();
    und_frame_clear(own);
    if (status == UND_OK)
        status = strip(&whole, own, err);
    und_frame_clear(&whole);
    if (status != UND_OK)
        return NULL;
    size_t bytes = bytes_of(own);
    if (f->kept_bytes + bytes > KEPT_MOST)
        return own;
    f->kept_bytes += bytes;
    f->kept[row] = *own;
    *own = (und_frame){0};
    return &f->kept[row];
}

/* ---- results ---- */

static void forget_results(und_floater *f)
{
    for (int i = 0; i < f->count; i++)
        und_frame_clear(&f->bodies[i]);
    f->count = 0;
    f->finished = false;
    f->trouble[0] = 0;
}

/* A frame's bodies of their own; the triangles, which never change, in the first alone. */
static und_status copy_bodies(const und_floating_bodies *floating_bodies, int row, und_frame *to,
                              und_error *err)
{
    und_frame made = und_frame_empty(0, 0, (und_grid){.n = {1, 1, 1}, .dx = 1});
    und_status status = und_floating_bodies_frame(floating_bodies, &made, err);
    *to = und_frame_empty(0, 0, made.grid);
    for (int i = 0; i < made.count && status == UND_OK; i++)
        if (row == 0 || !made.items[i].is_static)
            status = und_frame_copy_item(to, &made.items[i], err);
    und_frame_clear(&made);
    return status;
}

/* False: another text is wanted already. */
static bool put_result(und_floater *f, unsigned number, und_frame *bodies)
{
    pthread_mutex_lock(&f->lock);
    bool current = number == f->wanted && !f->stop;
    if (current) {
        if (f->made != number)
            forget_results(f); /* of the text before, which were shown until now */
        f->made = number;
        f->bodies[f->count++] = *bodies;
    }
    pthread_mutex_unlock(&f->lock);
    if (!current)
        und_frame_clear(bodies);
    return current;
}

static void finish(und_floater *f, unsigned number, und_status status, const und_error *err)
{
    pthread_mutex_lock(&f->lock);
    if (number == f->wanted) {
        if (f->made != number)
            forget_results(f);
        f->made = number;
        f->finished = true;
        snprintf(f->trouble, sizeof f->trouble, "%.500s", status == UND_OK ? "" : err->text);
    }
    pthread_cond_broadcast(&f->done);
    pthread_mutex_unlock(&f->lock);
}

/* ---- the thread ---- */

static und_status float_one(und_floater *f, int row, und_frame *made, und_error *err)
{
    const und_frame *frame = flow_frame(f, row, err);
    if (!frame)
        return err->status;
    if (row == 0) {
        und_floating_bodies_def def =
            und_sim_floating_bodies_def(und_scene_get(f->scene), und_scene_get(f->flow_scene), 1);
        if (!(f->floating_bodies = und_floating_bodies_create(&def, frame, err)))
            return err->status;
    } else if (und_floating_bodies_advance(f->floating_bodies, frame, err) != UND_OK)
        return err->status;
    return copy_bodies(f->floating_bodies, row, made, err);
}

/* Goes on with the frames from `row` on, to the last one there is. */
static void float_on(und_floater *f, unsigned number, int row)
{
    und_error err = {0};
    und_status status = UND_OK;
    for (; f->scene && row < f->rows && status == UND_OK; row++) {
        und_frame made = {0};
        status = float_one(f, row, &made, &err);
        if (status != UND_OK)
            und_frame_clear(&made);
        else if (!put_result(f, number, &made))
            break;
    }
    finish(f, number, status, &err);
}

static void end_text(und_floater *f)
{
    und_floating_bodies_destroy(f->floating_bodies);
    und_scene_destroy(f->scene);
    f->floating_bodies = NULL;
    f->scene = NULL;
}

/* Bodies are made, and moved, by this thread alone: the collision library keeps something for each. */
static void begin_text(und_floater *f, unsigned number, const char *text, const char *path, bool kept)
{
    und_error err = {0};
    und_cache_info info = und_cache_describe(f->given);
    if (text)
        f->scene = kept ? und_scene_bodies_of_cache(&info, text, &err)
                        : und_scene_bodies_from_text(text, path, NULL, 0, &err);
    if (text && !f->scene)
        finish(f, number, err.status, &err);
    else
        float_on(f, number, 0);
}

/* ---- the flow ---- */

static und_cache_row *copy_rows(const und_cache_info *info, und_error *err)
{
    und_cache_row *rows = und_alloc((size_t)info->row_count + 1, sizeof *rows, "frames", err);
    if (rows && info->row_count > 0)
        memcpy(rows, info->rows, (size_t)info->row_count * sizeof *rows);
    return rows;
}

/* Takes over the rows of the flow, with what is known of those that it had before; how many these are. */
static int set_rows(und_floater *f, const und_cache_info *info, und_error *err)
{
    const size_t room = (size_t)info->row_count + 1;
    und_cache_row *rows = copy_rows(info, err);
    und_frame *kept = und_alloc(room, sizeof *kept, "frames", err);
    und_frame *bodies = und_alloc(room, sizeof *bodies, "frames", err);
    int same = 0;
    if (!rows || !kept || !bodies) {
        free(rows);
        free(kept);
        free(bodies);
        return -1;
    }
    while (same < f->rows && same < info->row_count && f->row[same].frame == rows[same].frame &&
           f->row[same].file_hash == rows[same].file_hash)
        same++;
    for (int i = 0; i < same; i++)
        kept[i] = f->kept[i];
    for (int i = same; i < f->rows; i++) {
        f->kept_bytes -= bytes_of(&f->kept[i]);
        und_frame_clear(&f->kept[i]);
    }
    pthread_mutex_lock(&f->lock);
    if (f->count > same)
        forget_results(f);
    for (int i = 0; i < f->count; i++)
        bodies[i] = f->bodies[i];
    free(f->row);
    free(f->kept);
    free(f->bodies);
    f->row = rows;
    f->kept = kept;
    f->bodies = bodies;
    f->rows = info->row_count;
    pthread_mutex_unlock(&f->lock);
    return same;
}

/* Opens the flow again, which a run may be writing.  Where that does not go the next look may. */
static bool look_again(und_floater *f)
{
    und_error err;
    und_disk_lock();
    und_cache *fresh = und_cache_open(und_cache_describe(f->flow).folder, &err);
    und_disk_unlock();
    if (!fresh)
        return false;
    und_cache_info info = und_cache_describe(fresh);
    const int before = f->rows;
    int same = info.row_count > 0 ? set_rows(f, &info, &err) : -1;
    und_cache *old = same >= 0 ? f->flow : fresh;
    if (same >= 0)
        f->flow = fresh;
    und_disk_lock();
    und_cache_close(old, NULL, 0, &err);
    und_disk_unlock();
    return same >= 0 && (same < before || f->rows > before);
}

/* Goes on where more frames came; begins anew where those that were there are others now, or where it came
 * to nothing. */
static void follow_flow(und_floater *f, unsigned number, unsigned look)
{
    bool goes_on = look_again(f) && f->scene;
    pthread_mutex_lock(&f->lock);
    if (goes_on && f->trouble[0])
        forget_results(f);
    const int row = f->count;
    f->looked = look;
    f->finished = f->finished && !goes_on;
    pthread_cond_broadcast(&f->done);
    pthread_mutex_unlock(&f->lock);
    if (goes_on && row == 0) {
        und_floating_bodies_destroy(f->floating_bodies);
        f->floating_bodies = NULL;
    }
    if (goes_on)
        float_on(f, number, row);
}

static void *run(void *context)
{
    und_floater *f = context;
    unsigned done = 0, look = 0;
    for (;;) {
        pthread_mutex_lock(&f->lock);
        while (!f->stop && f->wanted == done && f->look == look)
            pthread_cond_wait(&f->wake, &f->lock);
        bool stop = f->stop, other = f->wanted != done, grown = f->look != look;
        char *text = f->text, *path = f->path;
        bool kept = f->text_kept;
        f->text = f->path = NULL;
        done = f->wanted;
        look = f->look;
        pthread_mutex_unlock(&f->lock);
        if (!stop && other) /* the one before is of no use any more */
            end_text(f);
        if (!stop && grown)
            follow_flow(f, done, look);
        if (!stop && other)
            begin_text(f, done, text, path, kept);
        free(text);
        free(path);
        if (stop)
            break;
    }
    end_text(f);
    return NULL;
}

void und_floater_start(und_floater *f, char *text, const char *path, bool kept)
{
    pthread_mutex_lock(&f->lock);
    free(f->text);
    free(f->path);
    f->text = text;
    f->path = text ? strdup(path) : NULL;
    f->text_kept = kept;
    if (text && !f->path) {
        free(f->text);
        f->text = NULL;
    }
    f->wanted++;
    pthread_cond_signal(&f->wake);
    pthread_mutex_unlock(&f->lock);
}

void und_floater_look(und_floater *f)
{
    pthread_mutex_lock(&f->lock);
    f->look++;
    pthread_cond_signal(&f->wake);
    pthread_mutex_unlock(&f->lock);
}

/* ---- the window's side ---- */

int und_floater_row(const und_floater *f, int number)
{
    int row = 0;
    while (row + 1 < f->rows && f->row[row].frame < number)
        row++;
    if (row > 0 && number - f->row[row - 1].frame < f->row[row].frame - number)
        row--;
    return row;
}

/* The flow itself, where the cache shares that of another. */
static und_status open_flow(und_floater *f, const char *folder, und_error *err)
{
    char path[UND_PATH_MAX];
    f->given = und_cache_open(folder, err);
    if (!f->given)
        return err->status;
    und_status status = und_cache_flow_folder(f->given, path, sizeof path, err);
    if (status == UND_OK && !(f->flow = und_cache_open(path, err)))
        status = err->status;
    if (status != UND_OK)
        return status;
    und_cache_info info = und_cache_describe(f->flow);
    if (set_rows(f, &info, err) < 0)
        return err->status;
    f->flow_scene = und_scene_of_cache(&info, NULL, 0, err);
    return f->flow_scene ? UND_OK : err->status;
}

und_status und_floater_open(und_floater *f, const und_frame_player *player, und_error *err)
{
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->wake, NULL);
    pthread_cond_init(&f->done, NULL);
    f->finished = true;
    und_disk_lock();
    und_status status = open_flow(f, und_frame_player_info(player).folder, err);
    und_disk_unlock();
    if (status == UND_OK && pthread_create(&f->thread, NULL, run, f) != 0)
        status = und_error_set(err, UND_FAILED, "no thread can be started");
    f->started = status == UND_OK;
    return status;
}

void und_floater_close(und_floater *f)
{
    if (f->started) {
        pthread_mutex_lock(&f->lock);
        f->stop = true;
        pthread_cond_signal(&f->wake);
        pthread_mutex_unlock(&f->lock);
        pthread_join(f->thread, NULL);
    }
    forget_results(f);
    for (int i = 0; f->kept && i < f->rows; i++)
        und_frame_clear(&f->kept[i]);
    und_error unused;
    und_disk_lock();
    und_cache_close(f->flow, NULL, 0, &unused);
    und_cache_close(f->given, NULL, 0, &unused);
    und_disk_unlock();
    und_scene_destroy(f->flow_scene);
    und_frame_clear(&f->own);
    free(f->row);
    free(f->kept);
    free(f->bodies);
    free(f->text);
    free(f->path);
    pthread_mutex_destroy(&f->lock);
    pthread_cond_destroy(&f->wake);
    pthread_cond_destroy(&f->done);
}
