/* A cache that is played: frames are read by a thread of its own, those ahead before they are asked for, and
 * kept as memory allows. */
#ifndef UND_VIEW_REEL_H
#define UND_VIEW_REEL_H

#include "cache/cache.h"
#include "scene/scene.h"

typedef struct und_reel und_reel;

und_reel *und_reel_create(const char *folder, const und_setting *settings, int count, und_error *err);
void und_reel_destroy(und_reel *reel);

const und_scene_view *und_reel_scene(const und_reel *reel); /* of the manifest, for look and camera */
und_cache_info und_reel_info(const und_reel *reel);
int und_reel_first(const und_reel *reel); /* frames that are there */
int und_reel_last(const und_reel *reel);

/* Wants that frame shown; those after it, in the direction of play (+1, -1; 0: none) are read ahead. */
void und_reel_seek(und_reel *reel, int frame, int direction);
/* The frame wanted, when it is there and was not given already; else NULL.  Borrowed until the next call. */
const und_frame *und_reel_take(und_reel *reel);
/* Waits until the frame wanted is there: scripts and tests. */
void und_reel_settle(und_reel *reel);
bool und_reel_failed(const und_reel *reel, char *text, size_t size); /* a frame could not be read: why */

/* The place in time of one or two reels, and what moves it: the panel along the lower border. */
typedef struct und_timeline {
    double frame; /* the one shown is the nearest whole one */
    bool playing, loop;
    double speed; /* 1: the scene's frames per second */
    int first, last;
    double fps;
} und_timeline;

void und_timeline_advance(und_timeline *line, double seconds);
int und_timeline_frame(const und_timeline *line);

#endif
