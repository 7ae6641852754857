/* The triangles of things that move, as frames hold them for the renderer. */
#ifndef UND_BODIES_MESH_WRITER_H
#define UND_BODIES_MESH_WRITER_H

#include "geom/mesh.h"
#include "geom/motion.h"
#include "grid/frame.h"

typedef struct und_mesh_writer {
    float *position, *color, *velocity; /* the next corner's; velocity may be NULL */
} und_mesh_writer;

/* Velocity of a thing's material: of a place on it, and the spin about that. */
typedef struct und_mesh_speed {
    und_vec3 center, velocity, spin;
} und_mesh_speed;

/* Adds "objects/mesh_position", "objects/mesh_color" and, where asked for, "objects/mesh_velocity", each
 * [corners][3] with three corners a triangle; nothing where there are none. */
und_status und_mesh_writer_begin(und_mesh_writer *writer, und_frame *frame, size_t corners, bool velocity,
                                 und_error *err);

/* Puts one thing in the world; `speed` is read where velocities are written. */
void und_mesh_writer_put(und_mesh_writer *writer, const und_soup *mesh, const und_pose *pose,
                         const float color[3], const und_mesh_speed *speed);

#endif
