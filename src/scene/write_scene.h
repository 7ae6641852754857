/* A moment of a scene that runs, written as a scene that begins there. */
#ifndef UND_SCENE_WRITE_SCENE_H
#define UND_SCENE_WRITE_SCENE_H

#include "scene/sim.h"

typedef struct und_scene_moment {
    const und_scene *scene;
    und_sim *sim; /* as it is now */
    const und_setting *settings;
    int setting_count;
    double dt; /* s; of its steps */
    int threads;
} und_scene_moment;

/* To FOLDER/NAME.lua, with maps of the water beside it, and only where that loads; over a moment that was
 * written before and nothing else. */
und_status und_scene_write(const und_scene_moment *moment, const char *path, und_error *err);

#endif
