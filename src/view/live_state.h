/* What the files of a scene that runs share among themselves. */
#ifndef UND_VIEW_LIVE_STATE_H
#define UND_VIEW_LIVE_STATE_H

#include "scene/sim.h"
#include "view/live.h"

#include <pthread.h>

typedef enum und_order_kind {
    UND_ORDER_PLAY,
    UND_ORDER_STEP,
    UND_ORDER_RESET,
    UND_ORDER_HAND,
    UND_ORDER_THROW,
    UND_ORDER_TUNE,
    UND_ORDER_TIME_STEP,
    UND_ORDER_SPEED,
    UND_ORDER_SAVE_SCENE,
    UND_ORDER_SAVE_CHECKPOINT
} und_order_kind;

typedef struct und_order {
    und_order_kind kind;
    union {
        bool on;
        int steps;
        und_mouse_tool hand;
        und_ball ball;
        und_tuning tuning;
        double number;
        char *path; /* its own */
    };
} und_order;

enum { UND_ORDERS = 256 }; /* that can wait before the room for them grows */
enum { UND_TENTHS = 16 };  /* of a second of the wall's clock, the last ones */

/* What happened in a tenth of a second. */
typedef struct und_tenth {
    int64_t number; /* of tenths since the clock's start */
    int steps;
    double time; /* s of liquid */
} und_tenth;

struct und_live {
    und_scene *shown; /* the window's: never run */
    char *text, *path;
    und_setting *settings;
    char **setting_words; /* theirs: the name and the value of each */
    int setting_count, threads;

    /* The thread's own. */
    pthread_t thread;
    und_scene *scene;
    und_sim *sim; /* NULL: it could not be made again */
    und_mouse_tool hand;
    bool hand_used, hand_lifts; /* a hand that came and went between two steps acts in one */
    double dt, speed;
    double due;        /* the wall's time at which the next step is, s */
    double frame_wall; /* when the last frame was made */
    int steps_left;    /* of und_live_step */
    bool playing, failed;
    bool saving;  /* an order to save is being done: closing the window waits for it */
    bool changed; /* since the last frame */
    und_tenth tenths[UND_TENTHS];
    double play_wall; /* since when it plays */
    und_frame writing;

    /* Shared, under the lock. */
    pthread_mutex_t lock;
    pthread_cond_t posted, settled; /* something came; something was done */
    und_order *orders;              /* a ring */
    int room, first, waiting;
    bool cut; /* the steps under way are not wanted any more */
    int64_t posts, done;
    bool idle; /* nothing to do, and the newest frame is made */
    bool begun, quit;
    und_error beginning; /* why the liquid could not be made */
    und_live_state state;
    und_frame ready;
    bool is_ready;

    und_frame taken; /* the window's */
};

static inline bool und_order_saves(const und_order *order)
{
    return order->kind == UND_ORDER_SAVE_SCENE || order->kind == UND_ORDER_SAVE_CHECKPOINT;
}

/* The i-th order that waits, or the place of the next. */
static inline und_order *und_live_waiting(const und_live *live, int i)
{
    return &live->orders[((int64_t)live->first + i) % live->room];
}

/* The note that the window reads. */
void und_live_note(und_live *live, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* One step of the liquid; false: it failed, and that is noted. */
bool und_live_go(und_live *live, double dt);

void und_live_write_scene(und_live *live, const char *path);
void und_live_write_checkpoint(und_live *live, const char *folder);

#endif
