/* A scene that runs: the liquid in a thread of its own, which never waits for drawing.  The window's thread
 * posts orders, done between steps in the order they came, and takes the newest frame when it wants one. */
#ifndef UND_VIEW_LIVE_H
#define UND_VIEW_LIVE_H

#include "liquid/touch.h"
#include "scene/scene.h"

typedef struct und_live und_live;

/* Loads the scene and makes its liquid; the thread starts paused at the first frame.  threads 0: one per
 * core. */
und_live *und_live_create(const char *path, const und_setting *settings, int count, int threads,
                          und_error *err);
/* The same from a scene's text; `path` is what messages call it. */
und_live *und_live_from_text(const char *text, const char *path, int threads, und_error *err);
void und_live_destroy(und_live *live); /* the thread ends after its step */

const und_scene_view *und_live_scene(const und_live *live); /* as loaded: fixed */

/* To post an order never waits for the liquid.  Pausing and reset do not wait for steps that are still to do:
 * those are not done, but for the ones after which something is to be saved. */
void und_live_play(und_live *live, bool on);
void und_live_step(und_live *live, int steps); /* so many, then paused */
void und_live_reset(und_live *live);           /* to the first frame; tuning and ground too */
/* What the hand does from now on; from its place of before to the new one where it stayed down. */
void und_live_hand(und_live *live, const und_mouse_tool *hand);
void und_live_throw(und_live *live, const und_ball *ball);
void und_live_tune(und_live *live, const und_tuning *tuning); /* NaN: as it is */
void und_live_time_step(und_live *live, double seconds);
/* Liquid's seconds per second of the wall's clock; 1: real time; 0: as fast as it can. */
void und_live_speed(und_live *live, double speed);
/* Writes FOLDER with a scene that begins at this moment, or a cache with a checkpoint of it; the answer is in
 * the state's note. */
void und_live_save_scene(und_live *live, const char *path);
void und_live_save_checkpoint(und_live *live, const char *folder);

/* Returns when all orders posted so far are done, steps among them: for scripts and tests. */
void und_live_settle(und_live *live);

/* How it stands now. */
typedef struct und_live_state {
    bool playing;
    double time;           /* s, the liquid's */
    double time_step;      /* s */
    double speed;          /* as asked */
    double steps_a_second; /* over the last second of the wall's clock */
    double real_time;      /* seconds of liquid per second of the wall's clock, likewise */
    und_tuning tuning;     /* as it is now */
    unsigned tools;        /* bit 1 << und_tool: what a hand can do to this liquid */
    bool has_damping, has_viscosity, has_rain, has_balls; /* what of the tuning is the model's */
    int balls_left;
    und_ledger ledger; /* of the newest frame */
    char note[512];    /* the last that was saved, or what went wrong; "" at first */
    int notes;         /* how many there were */
    bool failed;       /* the liquid cannot go on; the note says why; reset is possible */
} und_live_state;
void und_live_state_now(und_live *live, und_live_state *state);

/* The newest frame since the last call, or NULL.  It stays until the next call that gives one.  What a hand
 * has changed (the ground, the meshes of balls) is no longer marked as static. */
const und_frame *und_live_take(und_live *live);

#endif
