/* The orders to a scene that runs: the window's thread posts them and never waits.  Where one only takes the
 * place of the one before it, or adds to it, it does not wait behind it. */
#include "view/live_state.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What was not turned (NaN) stays as it was to be turned before. */
static void merge_tuning(und_tuning *older, const und_tuning *newer)
{
    older->gravity = isnan(newer->gravity) ? older->gravity : newer->gravity;
    older->damping = isnan(newer->damping) ? older->damping : newer->damping;
    older->viscosity = isnan(newer->viscosity) ? older->viscosity : newer->viscosity;
    older->rain = isnan(newer->rain) ? older->rain : newer->rain;
    older->order = newer->order == 0 ? older->order : newer->order;
}

/* Makes it one with the last that waits, where that comes to the same; a hand that moves on only where many
 * wait, as its way is part of what it does.  Under the lock. */
static bool merge(und_live *live, const und_order *order)
{
    und_order *last = live->waiting > 0 ? und_live_waiting(live, live->waiting - 1) : NULL;
    if (!last || last->kind != order->kind)
        return false;
    switch (order->kind) {
    case UND_ORDER_HAND:
        if (live->waiting < UND_ORDERS / 2 || last->hand.tool != order->hand.tool)
            return false;
        *last = *order;
        return true;
    case UND_ORDER_TUNE:
        merge_tuning(&last->tuning, &order->tuning);
        return true;
    case UND_ORDER_STEP:
        last->steps += order->steps < INT_MAX - last->steps ? order->steps : INT_MAX - last->steps;
        return true;
    case UND_ORDER_PLAY:
    case UND_ORDER_RESET:
    case UND_ORDER_TIME_STEP:
    case UND_ORDER_SPEED:
        *last = *order;
        return true;
    default:
        return false;
    }
}

/* Whoever pauses or begins anew does not wait for steps that are still to do; but what is to be saved is the
 * moment after those before it.  Under the lock. */
static void cut_steps(und_live *live)
{
    int i = live->waiting - 1;
    for (; i >= 0 && !und_order_saves(und_live_waiting(live, i)); i--)
        if (und_live_waiting(live, i)->kind == UND_ORDER_STEP)
            und_live_waiting(live, i)->steps = 0;
    if (i < 0)
        live->cut = true;
}

/* Twice the room; false: there is no memory.  Under the lock. */
static bool grow(und_live *live)
{
    und_order *orders = live->room <= INT_MAX / 2 ? malloc(2 * (size_t)live->room * sizeof *orders) : NULL;
    if (!orders)
        return false;
    for (int i = 0; i < live->waiting; i++)
        orders[i] = *und_live_waiting(live, i);
    free(live->orders);
    live->orders = orders;
    live->first = 0;
    live->room *= 2;
    return true;
}

static void post(und_live *live, const und_order *order)
{
    pthread_mutex_lock(&live->lock);
    if (order->kind == UND_ORDER_RESET || (order->kind == UND_ORDER_PLAY && !order->on))
        cut_steps(live);
    if (!merge(live, order)) {
        while (live->waiting == live->room && !grow(live))
            pthread_cond_wait(&live->settled, &live->lock);
        *und_live_waiting(live, live->waiting) = *order;
        live->waiting++;
        live->posts++;
    }
    live->idle = false;
    pthread_cond_signal(&live->posted);
    pthread_mutex_unlock(&live->lock);
}

void und_live_play(und_live *live, bool on)
{
    post(live, &(und_order){.kind = UND_ORDER_PLAY, .on = on});
}
void und_live_step(und_live *live, int steps)
{
    if (steps > 0)
        post(live, &(und_order){.kind = UND_ORDER_STEP, .steps = steps});
}
void und_live_reset(und_live *live)
{
    post(live, &(und_order){.kind = UND_ORDER_RESET});
}
void und_live_hand(und_live *live, const und_mouse_tool *hand)
{
    post(live, &(und_order){.kind = UND_ORDER_HAND, .hand = *hand});
}
void und_live_throw(und_live *live, const und_ball *ball)
{
    post(live, &(und_order){.kind = UND_ORDER_THROW, .ball = *ball});
}
void und_live_tune(und_live *live, const und_tuning *tuning)
{
    post(live, &(und_order){.kind = UND_ORDER_TUNE, .tuning = *tuning});
}
void und_live_time_step(und_live *live, double seconds)
{
    if (seconds > 0)
        post(live, &(und_order){.kind = UND_ORDER_TIME_STEP, .number = seconds});
}
void und_live_speed(und_live *live, double speed)
{
    if (speed >= 0)
        post(live, &(und_order){.kind = UND_ORDER_SPEED, .number = speed});
}

static void post_path(und_live *live, und_order_kind kind, const char *path)
{
    char *own = strdup(path);
    if (own)
        post(live, &(und_order){.kind = kind, .path = own});
    else
        und_live_note(live, "out of memory: the name of a file");
}

void und_live_save_scene(und_live *live, const char *path)
{
    post_path(live, UND_ORDER_SAVE_SCENE, path);
}
void und_live_save_checkpoint(und_live *live, const char *folder)
{
    post_path(live, UND_ORDER_SAVE_CHECKPOINT, folder);
}
