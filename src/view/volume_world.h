/* What the painter of liquid in space makes of a frame before any of it goes to OpenGL: the liquid's surface
 * as triangles or as a distance, solids and bodies, the light.  It knows nothing of OpenGL. */
#ifndef UND_VIEW_VOLUME_WORLD_H
#define UND_VIEW_VOLUME_WORLD_H

#include "trace/world_level.h"

/* As OpenGL takes it. */
typedef struct und_corner {
    float place[3];    /* m */
    int16_t normal[4]; /* of 32767; the last is 0 */
    uint8_t color[4];  /* as in a picture, not linear; the last: gloss */
} und_corner;

typedef struct und_triangles {
    und_corner *corner;
    uint32_t *index; /* [3 triangles] */
    size_t corners, triangles;
    size_t corner_room, index_room; /* for so many */
} und_triangles;

enum { UND_SKY_AMBIENT = 4 };

typedef struct und_space_light {
    const float *sky; /* [sky_size][sky_size][4], folded as und_sky_fold does it */
    int sky_size;
    const float *pattern; /* [pattern_size][pattern_size][4]: noise and its slopes */
    int pattern_size;
    float sun[3], sun_color[3];
    float ambient[UND_SKY_AMBIENT][3]; /* constant, x, y, z parts */
    unsigned baked;                    /* how often; the sun may move */
} und_space_light;

/* What the liquid is made of. */
typedef struct und_space_matter {
    bool opaque, metal, painted;
    float color[3]; /* of what is opaque */
    float gloss;
    float index, absorption[3], scatter[3];
} und_space_matter;

typedef struct und_space_world {
    struct und_scenery *stage;
    und_paint paint; /* that is laid on here */
    und_space_light light;
    und_space_matter matter;
    und_traced_level level; /* phi NULL: the liquid has no distance */
    und_triangles skin;     /* of the liquid; none where the distance is marched */
    und_triangles solid, glass;
    unsigned solids_made;             /* how often they changed */
    bool window;                      /* the grid is a part of the domain */
    double low[3], high[3];           /* of the domain */
    double grid_low[3], grid_high[3]; /* of the window */
    double skin_low[3], skin_high[3]; /* of the liquid; the grid's where it has no triangles */
    double cell;                      /* m */
    double time;
    float floor;      /* m; height of what all stands on */
    bool made;        /* the distance is one to the frame's triangles, which are what is seen */
    int most;         /* distances along an axis that can be shown */
    bool large;       /* there are more: triangles are what is seen */
    bool meshed;      /* the frame's triangles were made, though there may be none */
    und_grid grid;    /* the frame's */
    bool coarse;      /* the triangles are of every other cell, or there is no distance to them yet */
    double seconds;   /* that making triangles, or the distance to them, took */
    uint64_t objects; /* hash of what solids and bodies were made of */
} und_space_world;

typedef struct und_space_take {
    bool mesh;   /* triangles, where there is a choice */
    bool coarse; /* of every other cell */
    int most;    /* distances along an axis that can be shown */
} und_space_take;

und_status und_space_world_open(und_space_world *world, const und_picture_def *look, und_error *err);
void und_space_world_close(und_space_world *world);
und_status und_space_world_take(und_space_world *world, const und_frame *frame, const und_space_take *how,
                                und_error *err);
/* What was left out in a hurry: all triangles of the distance, or the distance to triangles. */
und_status und_space_world_refine(und_space_world *world, und_error *err);

/* How far a ray goes to the liquid, a solid or the floor; infinite: to none of them. */
double und_space_world_cast(const und_space_world *world, const double origin[3], const double direction[3]);
bool und_space_world_within(const und_space_world *world, const float place[3]);

#endif
