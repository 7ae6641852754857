/* Spray: drops that fly by gravity, drag and wind, do not touch each other, and carry their volume. */
#ifndef UND_SPRAY_SPRAY_H
#define UND_SPRAY_SPRAY_H

#include "grid/frame.h"

#include <undine/columns.h>

/* Drops in the air, as arrays side by side; a drop keeps its place among the others, so that what it does
 * does not depend on threads. */
typedef struct und_spray {
    und_spray_def def;
    double gravity;
    uint64_t seed;
    int threads;
    int count, capacity;
    float *place[3], *speed[3]; /* m, m/s */
    float *radius;              /* m */
    float *age;                 /* s */
    uint32_t *id;
    uint64_t born; /* drops so far */
    /* Of a step, for the next: drops that came down, in order. */
    int landed_count;
    int32_t *landed;
    struct und_sheets *sheets; /* NULL: none */
} und_spray;

und_spray *und_spray_create(const und_spray_def *def, double gravity, uint64_t seed, int threads,
                            und_error *err);
void und_spray_destroy(und_spray *spray);

static inline double und_spray_volume(float radius) /* m3 of one drop */
{
    double r = (double)radius;
    return 4.0 / 3.0 * 3.14159265358979323846 * r * r * r;
}

/* Throws one drop; false where the air is full.  `when` (s from the step's end) it set out before. */
bool und_spray_add(und_spray *spray, const double place[3], const double speed[3], float radius);

/* The height a drop at (x, z) comes down at: the surface of what is there as samples at cell centres. */
typedef struct und_spray_floor {
    int nx, nz, stride;
    double dx, origin[2];
    const float *height; /* [nz][stride], m */
    double outside;      /* m; the ground beside the domain */
} und_spray_floor;

/* Moves all drops over dt: exactly along parabolas where there is no drag.  Those that came down below the
 * floor are listed in `landed`, in order, and stay until und_spray_remove. */
void und_spray_step(und_spray *spray, double time, double dt, const und_spray_floor *floor);

/* Takes the landed drops out; the others keep their order. */
void und_spray_remove(und_spray *spray);

double und_spray_in_flight(const und_spray *spray); /* m3; the same bits at any thread count */

/* Adds "spray/position" [count][3], "spray/velocity" [count][3], "spray/radius", "spray/age" [count], float,
 * and "spray/id" [count]; with sheets also "sheet/mesh_position" [3 triangles][3], "sheet/mesh_velocity" and
 * "sheet/mesh_thickness" [3 triangles], drops in a sheet left out of the former. */
und_status und_spray_frame(const und_spray *spray, und_frame *frame, und_error *err);

#endif
