/* The two halves of `undine check`: what a run will cost, and what in the scene is likely a mistake. */
#ifndef UND_APP_CHECK_H
#define UND_APP_CHECK_H

#include "scene/scene.h"

/* Prints a line for each warning; returns how many.  `frame` is the first. */
int check_waves(const und_scene_view *scene, const und_frame *frame, int last);

#endif
