/* What the files of the preview share. */
#ifndef UND_RENDER_INTERNAL_H
#define UND_RENDER_INTERNAL_H

#include "render/render.h"

/* Light on the bottom relative to light through flat water. */
typedef struct und_caustics {
    int nx, nz, per_node; /* texels; per mesh spacing */
    int density;          /* samples per texel along each axis */
    float *light;         /* [nz][nx] */
    int32_t *landing;     /* [rows][columns][2]: where samples land, 1/16 texels */
    int32_t *reach;       /* [rows][2]: lowest and highest row of texels they reach */
    float *kernel;        /* cones at STEPS x STEPS offsets */
} und_caustics;

/* How much of the sky the table sees around what stands on it. */
enum { AROUND_SIZE = 96 };
typedef struct und_drawn_around {
    float x0, z0, texel;
    float *open; /* [AROUND_SIZE][AROUND_SIZE], 0 to 1; NULL: all of it */
} und_drawn_around;

/* The window on a curve that is drawn as a section. */
typedef struct und_section {
    float x0, y0; /* m at the left and at the bottom */
    float sx, sy; /* spacing of pixels, m: heights may be stretched */
    float level;  /* the water's middle height when it was first seen, m */
    bool framed;
} und_section;

enum { ID_NONE, ID_GROUND, ID_SIDE_GROUND, ID_SIDE_WATER = ID_SIDE_GROUND + 4, ID_OBJECT = 16 };

/* One z-buffer for what is opaque and one for the water's surface.  Depths are 1 / distance along forward. */
typedef struct und_buffers {
    float *opaque, *water;
    int32_t *id;
    float *liquid; /* a skin of triangles; NULL until there is one */
    int32_t *liquid_id;
} und_buffers;

typedef struct und_vertex {
    int32_t x, y; /* 1/256 samples */
    float w;      /* 1 / distance; <= 0: behind the eye */
} und_vertex;

enum {
    STAGE_CAUSTICS = UND_SCENERY_STAGES, /* after the scenery's */
    STAGE_SCAN,
    STAGE_SHADE,
    STAGE_SHEETS,
    STAGE_DROPS,
    STAGE_SECTION,
    STAGE_PLOT,
    STAGES
};

/* The nearest sheet in a pixel. */
typedef struct und_film_seen {
    float w, through; /* 1 / distance; 0: none; share of the light behind it that comes through */
} und_film_seen;

struct und_render {
    und_scenery *stage;
    bool owns_stage;
    und_stage timed[STAGES]; /* the scenery's first */
    und_caustics caustics;
    und_drawn_around around;
    und_buffers buffers;
    unsigned char *mark; /* [pixels]: what of objects a pixel depends on; NULL until there are some */
    und_held ground_vertex, water_vertex; /* [nodes] und_vertex */
    und_held drops, drop_keys;
    und_held films; /* [pixels] und_film_seen */
    bool has_films;
    und_section section;
};

/* After the objects are taken. */
und_status und_around_make(und_drawn_around *a, const und_scenery *stage, und_error *err);
float und_around_open(const und_drawn_around *a, f3 p); /* share of the sky there */
und_status und_caustics_build(und_render *r, und_error *err);
float und_caustics_at(const und_render *r, float x, float z);
/* `moving`: the buffers hold the scene at another moment, and only what moves is drawn again. */
und_status und_scan(und_render *r, bool moving, und_error *err);
void und_shade(und_render *r, und_image *image, int pose, int poses);
und_status und_render_sheets(und_render *r, const und_frame *frame, und_image *image, und_error *err);
und_status und_drops(und_render *r, const und_frame *frame, und_image *image, und_error *err);
/* Share of the shutter's time for which a disc covers a pixel whose middle is `along` its way of `length` and
 * `across` from it, all in pixels.  Summed over pixels that is the disc's area, wherever it goes. */
float und_disc_share(float radius, float along, float across, float length);
und_status und_plot_image(const und_scenery *stage, const und_plot_data *d, und_image *image, und_error *err);
void und_section_draw(und_render *r, und_image *image);

#endif
