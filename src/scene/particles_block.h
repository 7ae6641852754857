/* particles = {...} of control: files with particles, a frame of which is read when it is needed. */
#ifndef UND_SCENE_PARTICLES_BLOCK_H
#define UND_SCENE_PARTICLES_BLOCK_H

#include "scene/read.h"

#include <undine/control.h>

typedef struct und_particles {
    int frame_count;
    const und_control_particle_frame *frames; /* their times */
    und_control_particle_loader loader;
} und_particles;

extern const field und_particles_fields[];
/* The table on top; the scene owns it. */
const und_particles *und_read_particles(reader *r, const field *f);

#endif
