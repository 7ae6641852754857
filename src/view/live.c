/* A scene that runs: orders go into a queue, frames come out through three buffers (one is written, one is
 * ready, one is the window's), and neither side ever waits for the other's work. */
#include "base/stage.h"
#include "base/status.h"
#include "liquid/balls.h"
#include "view/live_state.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double fresh = 0.03; /* s; a frame that nobody took is made again when it is older */
static const double lag = 0.1;    /* s behind the clock that are made up for: more are let go */

void und_live_note(und_live *live, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    pthread_mutex_lock(&live->lock);
    vsnprintf(live->state.note, sizeof live->state.note, format, list);
    live->state.notes++;
    pthread_mutex_unlock(&live->lock);
    va_end(list);
}

static void fail(und_live *live, const und_error *err)
{
    live->failed = true;
    live->playing = false;
    live->steps_left = 0;
    und_live_note(live, "%s", err->text);
}

/* ---- rates ---- */

static void count_step(und_live *live, double dt)
{
    int64_t number = (int64_t)floor(10 * und_clock());
    und_tenth *tenth = &live->tenths[number % UND_TENTHS];
    if (tenth->number != number)
        *tenth = (und_tenth){.number = number};
    tenth->steps++;
    tenth->time += dt;
}

/* Over the last ten whole tenths, or since it plays. */
static void measure_rates(const und_live *live, und_live_state *state)
{
    double now = und_clock(), from = floor(10 * now) - 10, span = 1, steps = 0, time = 0;
    int64_t first = (int64_t)from, last = first + 10;
    if (live->play_wall > 0.1 * from) { /* the tenth under way counts, too */
        span = fmax(now - live->play_wall, 0.01);
        last++;
    }
    for (int i = 0; i < UND_TENTHS; i++) {
        const und_tenth *tenth = &live->tenths[i];
        if (tenth->number >= first && tenth->number < last) {
            steps += tenth->steps;
            time += tenth->time;
        }
    }
    state->steps_a_second = steps / span;
    state->real_time = time / span;
}

/* ---- frames ---- */

/* Makes what is borrowed from the model the frame's own. */
static und_status own_items(und_frame *frame, und_error *err)
{
    for (int i = 0; i < frame->count; i++) {
        und_item *item = &frame->items[i];
        if (!item->borrowed)
            continue;
        size_t bytes = und_item_bytes(item);
        void *data = und_alloc(bytes ? bytes : 1, 1, item->name, err);
        if (!data)
            return err->status;
        if (bytes)
            memcpy(data, item->data, bytes);
        item->data = data;
        item->borrowed = false;
    }
    return UND_OK;
}

static void publish(und_live *live, bool with_frame)
{
    const und_liquid *liquid = live->sim ? und_sim_liquid(live->sim) : NULL;
    const und_liquid_class *class = liquid ? liquid->class : NULL;
    und_live_state state = {.tuning = {NAN, NAN, NAN, NAN, 0}};
    und_ledger ledger = {0};
    if (class) {
        state.time = *liquid->time;
        state.tools = class->touch ? class->tools : 0;
        state.has_balls = class->throw_ball != NULL;
        if (class->tuning)
            class->tuning(liquid, &state.tuning);
        if (with_frame)
            ledger = class->ledger(liquid);
    }
    state.has_damping = !isnan(state.tuning.damping);
    state.has_viscosity = !isnan(state.tuning.viscosity);
    state.has_rain = !isnan(state.tuning.rain);
    state.balls_left = state.has_balls ? class->balls_left(liquid) : 0;
    state.playing = live->playing || live->steps_left > 0;
    state.time_step = live->dt;
    state.speed = live->speed;
    state.failed = live->failed;
    measure_rates(live, &state);
    pthread_mutex_lock(&live->lock);
    memcpy(state.note, live->state.note, sizeof state.note);
    state.notes = live->state.notes;
    state.ledger = with_frame ? ledger : live->state.ledger;
    live->state = state;
    if (with_frame) {
        und_frame spare = live->ready;
        live->ready = live->writing;
        live->writing = spare;
        live->is_ready = true;
    }
    pthread_mutex_unlock(&live->lock);
}

static bool frame_wanted(und_live *live)
{
    pthread_mutex_lock(&live->lock);
    bool wanted = !live->is_ready;
    pthread_mutex_unlock(&live->lock);
    return wanted || und_clock() - live->frame_wall > fresh;
}

static void make_frame(und_live *live)
{
    und_error err;
    if (live->sim && und_sim_write_frame(live->sim, &live->writing, &err) == UND_OK &&
        own_items(&live->writing, &err) == UND_OK) {
        live->frame_wall = und_clock();
        publish(live, true);
    } else if (live->sim && !live->failed) {
        fail(live, &err);
        publish(live, false);
    }
    live->changed = false;
}

/* ---- orders, done by the thread ---- */

static bool make_again(und_live *live, und_error *err)
{
    und_sim_destroy(live->sim);
    live->sim = NULL;
    und_scene_destroy(live->scene);
    live->scene = und_scene_from_text(live->text, live->path, live->settings, live->setting_count, err);
    if (live->scene)
        live->sim = und_sim_create(live->scene, live->threads, err);
    const und_scene_view *view = live->scene ? und_scene_get(live->scene) : NULL;
    if (view)
        live->dt = 1 / (view->fps * view->substeps);
    live->hand = (und_mouse_tool){.tool = UND_TOOL_NONE};
    live->failed = live->sim == NULL;
    live->changed = true;
    return live->sim != NULL;
}

static void reset(und_live *live)
{
    und_error err;
    live->steps_left = 0;
    if (!make_again(live, &err))
        fail(live, &err);
}

static void take_hand(und_live *live, const und_mouse_tool *hand)
{
    static const unsigned painting =
        1 << UND_TOOL_LIQUID | 1 << UND_TOOL_SOLID | 1 << UND_TOOL_INFLOW | 1 << UND_TOOL_ERASE;
    if (hand->tool == UND_TOOL_NONE && live->hand.tool != UND_TOOL_NONE && !live->hand_used) {
        live->hand_lifts = true;
        return;
    }
    und_mouse_tool before = live->hand;
    live->hand = *hand;
    live->hand_lifts = false;
    bool stayed = before.tool == hand->tool;
    memcpy(live->hand.from, stayed ? before.from : hand->place, sizeof before.from);
    live->hand.held = stayed ? before.held : 0;
    live->hand_used = stayed && live->hand_used;
    const und_liquid *liquid = live->sim ? und_sim_liquid(live->sim) : NULL;
    if (!live->playing && liquid && liquid->class->touch && painting >> hand->tool & 1) {
        liquid->class->touch(und_sim_liquid(live->sim), &live->hand,
                             live->dt); /* seen at once, though paused */
        memcpy(live->hand.from, live->hand.place, sizeof live->hand.from);
        live->hand_used = true;
    }
}

static void play(und_live *live, bool on)
{
    live->playing = on && !live->failed;
    live->due = live->play_wall = und_clock();
}

static void throw_ball(und_live *live, const und_ball *ball)
{
    und_liquid *liquid = und_sim_liquid(live->sim);
    if (!liquid->class->throw_ball)
        und_live_note(live, "balls cannot be thrown into %s", liquid->class->name);
    else if (liquid->class->balls_left(liquid) == 0)
        und_live_note(live, "no ball is left");
    else if (!liquid->class->throw_ball(liquid, ball)) {
        const char *wrong = und_ball_wrong(ball);
        und_live_note(live, "the ball was not thrown: %s", wrong ? wrong : "out of memory");
    }
}

/* Orders to a liquid, which there must be. */
static void obey_liquid(und_live *live, und_order *order)
{
    und_liquid *liquid = und_sim_liquid(live->sim);
    switch (order->kind) {
    case UND_ORDER_HAND:
        take_hand(live, &order->hand);
        break;
    case UND_ORDER_THROW:
        throw_ball(live, &order->ball);
        break;
    case UND_ORDER_TUNE:
        if (liquid->class->tune)
            liquid->class->tune(liquid, &order->tuning);
        break;
    case UND_ORDER_SAVE_SCENE:
        und_live_write_scene(live, order->path);
        break;
    case UND_ORDER_SAVE_CHECKPOINT:
        und_live_write_checkpoint(live, order->path);
        break;
    default:
        break;
    }
    und_sim_changed(live->sim);
}

static void obey(und_live *live, und_order *order)
{
    switch (order->kind) {
    case UND_ORDER_PLAY:
        play(live, order->on);
        break;
    case UND_ORDER_STEP:
        play(live, false);
        live->steps_left = live->failed ? 0 : order->steps;
        break;
    case UND_ORDER_RESET:
        reset(live);
        break;
    case UND_ORDER_TIME_STEP:
        live->dt = fmin(fmax(order->number, 1e-6), 1);
        break;
    case UND_ORDER_SPEED:
        live->speed = order->number;
        live->due = und_clock();
        break;
    default:
        live->saving = und_order_saves(order);
        if (live->sim)
            obey_liquid(live, order);
        live->saving = false;
    }
    live->changed = true;
}

/* Does an order to save wait?  Under the lock. */
static bool is_to_save(const und_live *live)
{
    bool found = false;
    for (int i = 0; i < live->waiting; i++)
        found |= und_order_saves(und_live_waiting(live, i));
    return found;
}

bool und_live_go(und_live *live, double dt)
{
    und_liquid *liquid = und_sim_liquid(live->sim);
    und_error err;
    if (liquid->class->touch && (live->hand.tool != UND_TOOL_NONE || live->hand_used)) {
        liquid->class->touch(liquid, &live->hand, dt);
        live->hand_used = live->hand.tool != UND_TOOL_NONE;
    }
    bool done = false, stop = false;
    while (!done && !stop) {
        if (und_sim_play_part(live->sim, dt, &done, &err) != UND_OK) {
            fail(live, &err);
            return false;
        }
        pthread_mutex_lock(&live->lock);
        stop = live->quit && !live->saving && !is_to_save(live);
        pthread_mutex_unlock(&live->lock);
    }
    memcpy(live->hand.from, live->hand.place, sizeof live->hand.from);
    live->hand.held += dt;
    if (live->hand_lifts)
        live->hand = (und_mouse_tool){.tool = UND_TOOL_NONE};
    live->hand_lifts = false;
    count_step(live, dt);
    return true;
}

/* ---- the thread ---- */

/* Waits, under the lock, until an order comes or the wall's clock is at `until` (infinite: however long). */
static void wait_for_order(und_live *live, double until)
{
    if (isinf(until)) {
        pthread_cond_wait(&live->posted, &live->lock);
        return;
    }
    struct timespec at = {.tv_sec = (time_t)floor(until), .tv_nsec = (long)(1e9 * (until - floor(until)))};
    pthread_cond_timedwait(&live->posted, &live->lock, &at);
}

/* The next order, or false: none now.  Waits for one where there is nothing else to do. */
static bool next_order(und_live *live, und_order *order)
{
    pthread_mutex_lock(&live->lock);
    if (live->cut && live->steps_left > 0) {
        live->steps_left = 0;
        live->done++;
    }
    bool busy = live->steps_left > 0;
    while (!live->quit && (busy || live->waiting == 0)) {
        if (busy || (live->playing && und_clock() >= live->due))
            break;
        if (!live->playing && live->changed)
            break;
        if (!live->playing && !live->idle) {
            live->idle = true;
            pthread_cond_broadcast(&live->settled);
        }
        wait_for_order(live, live->playing ? live->due : INFINITY);
    }
    live->cut = false;
    bool got = !busy && live->waiting > 0 && !live->quit;
    if (got) {
        *order = *und_live_waiting(live, 0);
        live->first = (live->first + 1) % live->room;
        live->waiting--;
        pthread_cond_broadcast(&live->settled);
    }
    pthread_mutex_unlock(&live->lock);
    return got;
}

/* When the next step is due; lost time is not run after. */
static void pace(und_live *live)
{
    double now = und_clock();
    live->due = live->speed > 0 ? live->due + live->dt / live->speed : now;
    if (live->due < now - lag)
        live->due = now;
}

static bool has_quit(und_live *live)
{
    pthread_mutex_lock(&live->lock);
    bool quit = live->quit;
    pthread_mutex_unlock(&live->lock);
    return quit;
}

static void order_done(und_live *live)
{
    pthread_mutex_lock(&live->lock);
    live->done++;
    pthread_cond_broadcast(&live->settled);
    pthread_mutex_unlock(&live->lock);
}

static void do_orders(und_live *live)
{
    und_order order;
    while (next_order(live, &order)) {
        obey(live, &order);
        if (und_order_saves(&order))
            free(order.path);
        publish(live, false);
        if (live->steps_left == 0)
            order_done(live);
    }
}

/* The liquid is made and ends in the thread that runs it: what finds the contacts of bodies belongs to one
 * thread. */
static bool begin(und_live *live)
{
    und_error err = {0};
    bool made = make_again(live, &err);
    if (made)
        make_frame(live);
    pthread_mutex_lock(&live->lock);
    live->begun = true;
    live->beginning = err;
    live->idle = made;
    pthread_cond_broadcast(&live->settled);
    pthread_mutex_unlock(&live->lock);
    return made;
}

/* What was to be saved is saved, though the window is closed already. */
static void finish(und_live *live)
{
    for (int i = 0; i < live->waiting; i++) {
        und_order *order = und_live_waiting(live, i);
        if (!und_order_saves(order))
            continue;
        if (live->sim)
            obey(live, order);
        free(order->path);
    }
}

static void *run(void *context)
{
    und_live *live = context;
    bool made = begin(live);
    while (made && !has_quit(live)) {
        do_orders(live);
        bool stepping = live->steps_left > 0;
        if (!has_quit(live) && live->sim && (stepping || live->playing)) {
            bool went = und_live_go(live, live->dt); /* or no steps are left */
            live->steps_left -= went && stepping;
            live->changed = true;
            pace(live);
            publish(live, false);
        }
        if (live->changed && ((!live->playing && live->steps_left == 0) || frame_wanted(live)))
            make_frame(live);
        if (stepping && live->steps_left == 0)
            order_done(live);
    }
    finish(live);
    und_sim_destroy(live->sim);
    und_scene_destroy(live->scene);
    live->sim = NULL;
    live->scene = NULL;
    return NULL;
}

/* ---- the window's side ---- */

void und_live_settle(und_live *live)
{
    pthread_mutex_lock(&live->lock);
    int64_t until = live->posts;
    while (live->done < until || !(live->idle || live->state.playing))
        pthread_cond_wait(&live->settled, &live->lock);
    pthread_mutex_unlock(&live->lock);
}

void und_live_state_now(und_live *live, und_live_state *state)
{
    pthread_mutex_lock(&live->lock);
    *state = live->state;
    pthread_mutex_unlock(&live->lock);
}

const und_frame *und_live_take(und_live *live)
{
    pthread_mutex_lock(&live->lock);
    bool got = live->is_ready;
    if (got) {
        und_frame spare = live->taken;
        live->taken = live->ready;
        live->ready = spare;
        live->is_ready = false;
    }
    pthread_mutex_unlock(&live->lock);
    return got ? &live->taken : NULL;
}

const und_scene_view *und_live_scene(const und_live *live)
{
    return und_scene_get(live->shown);
}

/* ---- create ---- */

static bool copy_settings(und_live *live, const und_setting *settings, int count, und_error *err)
{
    live->settings = und_alloc((size_t)count + 1, sizeof *live->settings, "settings", err);
    live->setting_words = und_alloc(2 * (size_t)count + 1, sizeof *live->setting_words, "settings", err);
    if (!live->settings || !live->setting_words)
        return false;
    for (; live->setting_count < count; live->setting_count++) {
        const und_setting *from = &settings[live->setting_count];
        char **word = live->setting_words + 2 * live->setting_count;
        word[0] = strdup(from->name);
        word[1] = strdup(from->value);
        live->settings[live->setting_count] = (und_setting){word[0], word[1]};
        if (!word[0] || !word[1]) {
            live->setting_count++;
            und_error_set(err, UND_FAILED, "out of memory: settings");
            return false;
        }
    }
    return true;
}

/* From a file where there is no text. */
static bool load(und_live *live, const char *text, const char *path, const und_setting *settings, int count,
                 und_error *err)
{
    live->shown = text ? und_scene_from_text(text, path, settings, count, err)
                       : und_scene_load(path, settings, count, err);
    if (!live->shown || !copy_settings(live, settings, count, err))
        return false;
    live->text = strdup(und_scene_get(live->shown)->text);
    live->path = strdup(path);
    if (!live->text || !live->path) {
        und_error_set(err, UND_FAILED, "out of memory: the text of a scene");
        return false;
    }
    return true;
}

/* Waits until the liquid is made. */
static bool start(und_live *live, und_error *err)
{
    if (pthread_create(&live->thread, NULL, run, live) != 0) {
        und_error_set(err, UND_FAILED, "the liquid's thread could not be started");
        return false;
    }
    pthread_mutex_lock(&live->lock);
    while (!live->begun)
        pthread_cond_wait(&live->settled, &live->lock);
    bool made = live->idle;
    if (!made)
        *err = live->beginning;
    pthread_mutex_unlock(&live->lock);
    if (!made)
        pthread_join(live->thread, NULL);
    return made;
}

static void free_all(und_live *live)
{
    und_scene_destroy(live->shown);
    und_frame_clear(&live->writing);
    und_frame_clear(&live->ready);
    und_frame_clear(&live->taken);
    for (int i = 0; i < 2 * live->setting_count; i++)
        free(live->setting_words[i]);
    free(live->setting_words);
    free(live->settings);
    free(live->orders);
    free(live->text);
    free(live->path);
    pthread_mutex_destroy(&live->lock);
    pthread_cond_destroy(&live->posted);
    pthread_cond_destroy(&live->settled);
    free(live);
}

static void open_lock(und_live *live)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&live->lock, NULL);
    pthread_cond_init(&live->posted, &monotonic);
    pthread_cond_init(&live->settled, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

static und_live *create(const char *text, const char *path, const und_setting *settings, int count,
                        int threads, und_error *err)
{
    und_live *live = und_alloc(1, sizeof *live, "a scene that runs", err);
    if (!live)
        return NULL;
    live->threads = threads;
    live->speed = 1;
    live->room = UND_ORDERS;
    live->orders = und_alloc(UND_ORDERS, sizeof *live->orders, "orders", err);
    open_lock(live);
    if (!live->orders || !load(live, text, path, settings, count, err) || !start(live, err)) {
        free_all(live);
        return NULL;
    }
    return live;
}

und_live *und_live_create(const char *path, const und_setting *settings, int count, int threads,
                          und_error *err)
{
    return create(NULL, path, settings, count, threads, err);
}

und_live *und_live_from_text(const char *text, const char *path, int threads, und_error *err)
{
    return create(text, path, NULL, 0, threads, err);
}

void und_live_destroy(und_live *live)
{
    if (!live)
        return;
    pthread_mutex_lock(&live->lock);
    live->quit = true;
    pthread_cond_signal(&live->posted);
    pthread_mutex_unlock(&live->lock);
    pthread_join(live->thread, NULL);
    free_all(live);
}
