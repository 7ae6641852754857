/* A cache that is played: frames are read by a thread of its own, those ahead before they are asked for, and
 * kept as memory allows.  A cache that is still being written grows: frames appear as they are finished. */
#ifndef UND_VIEW_FRAME_PLAYER_H
#define UND_VIEW_FRAME_PLAYER_H

#include "cache/cache.h"
#include "scene/scene.h"

typedef struct und_frame_player und_frame_player;

und_frame_player *und_frame_player_create(const char *folder, const und_setting *settings, int count,
                                          und_error *err);
void und_frame_player_destroy(und_frame_player *player); /* the thread ends after the frame it reads */

const und_scene_view *
und_frame_player_scene(const und_frame_player *player); /* of the manifest, for look and camera */
/* Its rows, and what follows from them, stay as they are until the next und_frame_player_take(). */
und_cache_info und_frame_player_info(const und_frame_player *player);
int und_frame_player_first(const und_frame_player *player); /* frames that are there */
int und_frame_player_last(const und_frame_player *player);  /* below the first: none is there */
double und_frame_player_time(const und_frame_player *player,
                             int frame); /* s; of the nearest frame that is there */
int und_frame_player_frame_at(const und_frame_player *player, double time); /* the frame nearest to a time */
const char *und_frame_player_name(const und_frame_player *player); /* the last part of its folder's path */
bool und_frame_player_grows(und_frame_player *player);             /* a run is writing it */

/* Wants that frame shown, or the nearest that is there; those after it in the direction of play (+1, -1) are
 * read ahead, 0: its neighbours alone. */
void und_frame_player_seek(und_frame_player *player, int frame, int direction);
/* The frame wanted; while it is not there yet the nearest one in memory, where that is nearer than the one
 * given last.  NULL: there is nothing newer to show.  Borrowed until the next call that gives one. */
const und_frame *und_frame_player_take(und_frame_player *player);
/* Is the frame wanted in memory?  Also where it cannot be read, and no waiting helps. */
bool und_frame_player_ready(und_frame_player *player);
/* Waits until the frame wanted is there: scripts and tests. */
void und_frame_player_settle(und_frame_player *player);
bool und_frame_player_failed(und_frame_player *player, char *text,
                             size_t size); /* the frame wanted cannot be read: why */

/* Memory that its frames may take, bytes; 0: an eighth of the machine's, 2 GB at most.  Three frames are kept
 * in any case. */
void und_frame_player_keep(und_frame_player *player, size_t bytes);
/* Which frames are in memory: marks[i] for frame first + i, of `count`; how many they are. */
int und_frame_player_kept(und_frame_player *player, int first, int count, bool *marks);

#endif
