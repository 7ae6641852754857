/* Spray: drops that fly by gravity, drag and wind, do not touch each other, and carry their volume. */
#ifndef UND_SPRAY_SPRAY_H
#define UND_SPRAY_SPRAY_H

#include "grid/frame.h"
#include "spray/spray_kernel.h"

#include <undine/spray.h>

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
    int32_t *id;                /* how many were born before it, modulo 2^31 */
    double born;                /* drops so far */
    double split;               /* 1/s: how often a drop splits in two (spray_split.c); 0, until it is set */
    double rounding;            /* m3 that drops lost when they split, in the last bits of their radii */
    /* Of a step, for the caller: drops that came down, in order, and what each met: 0 the floor, otherwise
     * what und_spray_meet_fn said. */
    int landed_count;
    int32_t *landed;
    uint8_t *landed_by;
    int32_t *chunk_landed;     /* scratch: landed drops of each chunk */
    double *chunk_volume;      /* scratch: volume of each chunk */
    struct und_sheets *sheets; /* NULL: none */
} und_spray;

und_spray *und_spray_create(const und_spray_def *def, double gravity, uint64_t seed, int threads,
                            und_error *err);
void und_spray_destroy(und_spray *spray);

/* Throws one drop; false where the air is full, or where a number of it is none that water can have. */
bool und_spray_add(und_spray *spray, const double place[3], const double speed[3], float radius);

/* Asked for drops first ... first + count - 1 after they moved: writes what each met into met[0] ..., which
 * are 0; 1 to 255 make the drop land, even on its way up.  Called from several threads at once; what it says
 * must depend on the drops alone. */
typedef void und_spray_meet_fn(void *context, const und_spray *spray, int first, int count, uint8_t *met);

/* Told of drops of a step that came down, by several threads at once: what each met is in by[]. */
typedef void und_spray_down_fn(void *context, const und_spray *spray, const int32_t *drop, const uint8_t *by,
                               int count);

/* What drops come down on: cells that are flat, as the columns are that take their water. */
typedef struct und_spray_floor {
    int nx, nz, stride;
    double dx, dz;           /* m; 0 for dz: cells are square */
    double origin[2];        /* m; x and z of the low corner of cell (0, 0) */
    const float *height;     /* [nz][stride], m: the surface of what is there */
    const float *ground;     /* the same of the ground, which stops rising drops too; NULL: none */
    double outside;          /* m; the ground beside the domain */
    und_spray_meet_fn *meet; /* NULL: there is nothing else to meet */
    und_spray_down_fn *down; /* NULL: nobody asks */
    void *context;           /* of both */
} und_spray_floor;

/* The cell below (x, z), as an index into height; -1 beside the domain.  The same arithmetic as the step's.
 */
static inline int und_spray_cell(const und_spray_floor *floor, float x, float z)
{
    float scale[2] = {(float)(1 / floor->dx), (float)(1 / (floor->dz > 0 ? floor->dz : floor->dx))};
    float cx = (x - (float)floor->origin[0]) * scale[0], cz = (z - (float)floor->origin[1]) * scale[1];
    if (!(cx >= 0 && cz >= 0 && cx < (float)floor->nx && cz < (float)floor->nz))
        return -1;
    return (int)cz * floor->stride + (int)cx;
}

/* Moves all drops over dt, from `time`: exactly along parabolas where there is no drag.  Those that came down
 * to the floor are listed in `landed`, in order, at the place, with the speed and of the age they had there,
 * and stay until und_spray_remove.  One that still rises passes through the floor: the water it sprang from
 * rises with it. */
void und_spray_step(und_spray *spray, double time, double dt, const und_spray_floor *floor);

/* Takes the landed drops out; the others keep their order. */
void und_spray_remove(und_spray *spray);

/* Lets drops split at the rate `split` over dt, those of sheets excepted; the first thing that
 * und_spray_step does. */
void und_spray_split(und_spray *spray, double dt);

/* m3 of the drops; the same bits at any thread count.  What left and did not come back is this and
 * `rounding`. */
double und_spray_in_flight(const und_spray *spray);

/* The volume of landed drop i, and all that rounding took from drops since the last one landed. */
static inline double und_spray_give_back(und_spray *spray, int i)
{
    double volume = und_spray_volume(spray->radius[i]) + spray->rounding;
    spray->rounding = 0;
    return volume;
}

/* Adds "spray/position" [count][3], "spray/velocity" [count][3], "spray/radius", "spray/age" [count], float,
 * and "spray/id" [count]; with sheets also "sheet/mesh_position" [3 triangles][3], "sheet/mesh_velocity",
 * "sheet/mesh_thickness" and "sheet/mesh_rim" [3 triangles], 1 at a rim to 0 away from it; drops in a sheet
 * left out of the former. */
und_status und_spray_frame(const und_spray *spray, und_frame *frame, und_error *err);

/* The whole state, as items "spray_..." and "sheet_..." of a checkpoint; save borrows the arrays.  Called
 * between und_spray_remove and the next step. */
und_status und_spray_save(und_spray *spray, und_frame *state, und_error *err);
und_status und_spray_restore(und_spray *spray, const und_frame *state, und_error *err);

#endif
