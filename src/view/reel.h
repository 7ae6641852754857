/* A cache that is played: frames are read by a thread of its own, those ahead before they are asked for, and
 * kept as memory allows.  A cache that is still being written grows: frames appear as they are finished. */
#ifndef UND_VIEW_REEL_H
#define UND_VIEW_REEL_H

#include "cache/cache.h"
#include "scene/scene.h"

typedef struct und_reel und_reel;

und_reel *und_reel_create(const char *folder, const und_setting *settings, int count, und_error *err);
void und_reel_destroy(und_reel *reel); /* the thread ends after the frame it reads */

const und_scene_view *und_reel_scene(const und_reel *reel); /* of the manifest, for look and camera */
/* Its rows, and what follows from them, stay as they are until the next und_reel_take(). */
und_cache_info und_reel_info(const und_reel *reel);
int und_reel_first(const und_reel *reel);                 /* frames that are there */
int und_reel_last(const und_reel *reel);                  /* below the first: none is there */
double und_reel_time(const und_reel *reel, int frame);    /* s; of the nearest frame that is there */
int und_reel_frame_at(const und_reel *reel, double time); /* the frame nearest to a time */
const char *und_reel_name(const und_reel *reel);          /* the last part of its folder's path */
bool und_reel_grows(const und_reel *reel);                /* a run is writing it */

/* Wants that frame shown, or the nearest that is there; those after it in the direction of play (+1, -1) are
 * read ahead, 0: its neighbours alone. */
void und_reel_seek(und_reel *reel, int frame, int direction);
/* The frame wanted; while it is not there yet the nearest one in memory, where that is nearer than the one
 * given last.  NULL: there is nothing newer to show.  Borrowed until the next call that gives one. */
const und_frame *und_reel_take(und_reel *reel);
/* Is the frame wanted in memory?  Also where it cannot be read, and no waiting helps. */
bool und_reel_ready(const und_reel *reel);
/* Waits until the frame wanted is there: scripts and tests. */
void und_reel_settle(und_reel *reel);
bool und_reel_failed(const und_reel *reel, char *text,
                     size_t size); /* the frame wanted cannot be read: why */

/* Memory that its frames may take, bytes; 0: an eighth of the machine's, 2 GB at most.  Three frames are kept
 * in any case. */
void und_reel_keep(und_reel *reel, size_t bytes);
/* Which frames are in memory: marks[i] for frame first + i, of `count`; how many they are. */
int und_reel_kept(const und_reel *reel, int first, int count, bool *marks);

#endif
