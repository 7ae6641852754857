/* What a frame looks like, ready to be drawn by the preview, met by rays or handed to OpenGL: ground and
 * water or a box of liquid as meshes, solids and bodies, sky and sun, wet ground, the camera. */
#ifndef UND_STAGE_SCENERY_H
#define UND_STAGE_SCENERY_H

#include "base/parallel.h"
#include "base/stage.h"
#include "base/status.h"
#include "geom/isosurface.h"
#include "stage/f3.h"
#include "stage/picture.h"
#include "stage/plot_data.h"
#include "stage/tank.h"

#include <math.h>

/* Cells that liquid reaches into what is solid, and into the table it stands on, so that no gap shows. */
static const double UND_INTO_SOLIDS = 0.4;

/* Periodic patterns, baked once: TILE x TILE texels of four numbers. */
enum { TILE = 256, PATTERN = 4 };
enum { P_NOISE, P_DX, P_DZ, P_LACE }; /* noise of mean 0 in about [-1, 1], its slopes per tile, foam's lace */

typedef struct und_pattern {
    float *texel; /* [TILE][TILE][PATTERN] */
} und_pattern;

void und_pattern_at(const und_pattern *pattern, float u, float v, float out[PATTERN]); /* period 1 */

/* The sky as a picture of all directions, folded onto a square (octahedral map). */
typedef struct und_sky {
    int size;
    float *texel;  /* [size][size][4] */
    f3 sun;        /* towards it */
    f3 sun_color;  /* irradiance / pi */
    f3 ambient[4]; /* irradiance / pi from the sky: constant, x, y, z parts of a linear fit */
    f3 below;      /* light from below the horizon */
    bool baked;
} und_sky;

und_status und_sky_bake(und_sky *sky, const und_picture_def *def, const float sun[3],
                        const und_pattern *noise, int threads, und_error *err);
f3 und_sky_at(const und_sky *sky, f3 direction);
f3 und_sky_unfold(float u, float v); /* direction at a place of the map, 0 to 1 */
void und_sky_fold(f3 direction, float *u, float *v);
f3 und_sky_disc(const und_sky *sky, f3 direction); /* the sun itself */
static inline f3 und_sky_ambient(const und_sky *sky, f3 n)
{
    f3 a = sky->ambient[0];
    a = f3_along(a, sky->ambient[1], n.x);
    a = f3_along(a, sky->ambient[2], n.y);
    a = f3_along(a, sky->ambient[3], n.z);
    return f3_make(maxf(a.x, 0), maxf(a.y, 0), maxf(a.z, 0));
}

/* The frame on the mesh that is drawn: the frame's samples and, where they are few, more between them. */
enum {
    M_GROUND, /* height, m, exaggerated */
    M_DEPTH,  /* of the water, m; negative where dry */
    M_WX,     /* slopes of the water */
    M_WZ,
    M_GX, /* slopes of the ground */
    M_GZ,
    M_SUN_GROUND, /* 0 to 1: does the sun reach the ground */
    M_SUN_WATER,
    M_OPEN, /* share of the sky the ground sees */
    M_WET,
    M_FOAM,
    M_DYE,
    M_U, /* texture coordinates carried by the water, m */
    M_V,
    M_FLOW_X, /* m/s */
    M_FLOW_Z,
    M_COUNT
};

typedef struct und_mesh {
    int nx, nz;
    int scale;         /* samples per sample of the frame */
    float x0, z0, h;   /* place of sample (0, 0), distance between samples, m */
    float per_m;       /* 1 / h */
    float x1, z1;      /* place of the last sample */
    float low, high;   /* heights, m */
    float ground_high; /* of the ground alone */
    float base;        /* where the block ends below, m */
    float span;        /* larger side of the domain, m */
    float cell;        /* the frame's own spacing */
    bool has_foam, has_dye, has_texture, has_flow;
    float *ground, *depth; /* [nz][nx] */
    float *node;           /* [nz][nx][M_COUNT] */
} und_mesh;

static inline float *und_mesh_node(const und_mesh *mesh, int i, int j)
{
    return mesh->node + ((size_t)j * (size_t)mesh->nx + (size_t)i) * M_COUNT;
}
void und_stage_mesh_at(const und_mesh *mesh, float x, float z, float out[M_COUNT]); /* held at the edges */
void und_stage_mesh_water_at(const und_mesh *mesh, float x, float z, float out[4]); /* the first four alone */
float und_stage_mesh_ground(const und_mesh *mesh, float x, float z);

/* What is made on the frame's own samples before it goes to the mesh. */
typedef struct und_samples {
    int nx, nz;
    double dx, x0, z0;
    bool ground_changed;
    float *ground, *surface; /* clean copies, exaggerated; surface runs on under the shore */
    float *depth;
    float *open;
    float *wet, *wet_smooth, *wet_scratch;
    float level;         /* highest water in the first frame, or highest ground; what frames a picture */
    unsigned char *ring; /* 0: wet; k: k samples from water; 255: farther */
    double time;         /* of the wetness */
    bool observed;
} und_samples;

/* What frames of cells are turned into before samples are taken. */
typedef struct und_drawn_voxels {
    int nx, nz;                  /* columns of cells */
    float *raw, *smooth, *level; /* [nz][nx], m: tops of the voxels, ground without their steps, water */
    unsigned char *ring;
    int columns, rows;       /* square samples */
    double h;                /* m; their side */
    float *ground, *surface; /* [rows][columns] */
    bool new_ground;
} und_drawn_voxels;

/* Objects: triangles, and their picture as the sun sees them. */
typedef struct und_drawn_mesh {
    size_t count, capacity;
    const und_shell *shell; /* whose triangles they are; NULL: loose ones, as follows */
    const uint8_t *crease;  /* [count] of a shell, bit 1 << corner: there the triangle has its own normal */
    const float *position, *color; /* [3 count][3]; positions at the moment that is drawn */
    const float *frame_position;   /* at the frame's time */
    const float *velocity;         /* NULL: nothing moves while the shutter is open */
    float *posed;                  /* [3 count][3] */
    float *placed, *speed;         /* the same: bodies at the frame's time, and how fast, m/s */
    size_t placed_capacity;        /* corners */
    und_box moving;                /* what moves, over the whole time of the shutter */
    float moving_sun[4];           /* the same in the shadow map: low and high u, low and high v, m */
    struct RTCDeviceTy *device;    /* Embree's; see tree.c */
    struct RTCSceneTy *scene;
    f3 low, high;
    float *normal;        /* [3 count][3], smooth where faces nearly agree */
    int32_t *next, *slot; /* corners at the same place, chained */
    size_t slots;
    float *shadow; /* [size][size]: how far towards the sun */
    f3 u, v;       /* axes of the shadow map */
    float u0, v0, texel;
} und_drawn_mesh;

typedef struct und_shot {
    f3 eye, right, up, forward;
    float focal; /* in samples */
    float near;
    int width, height; /* in samples */
} und_shot;

/* Triangles of what is solid, which go with the objects. */
typedef struct und_drawn_solids {
    size_t corners;
    const float *position, *color; /* [corners][3]; no colour: concrete */
} und_drawn_solids;

/* What a frame is drawn as. */
typedef enum und_drawing { UND_DRAWS_HEIGHTS, UND_DRAWS_BOX, UND_DRAWS_SECTION, UND_DRAWS_PLOT } und_drawing;

/* Memory kept from picture to picture. */
typedef struct und_held {
    void *memory;
    size_t bytes;
} und_held;

/* What is timed while a frame is prepared. */
enum { UND_SCENERY_MESH, UND_SCENERY_SKY, UND_SCENERY_SHADOWS, UND_SCENERY_STAGES };

typedef struct und_scenery {
    und_picture_def def;
    bool skin; /* a liquid that is a distance gets triangles, which rays that meet the distance do not need */
    int threads;
    und_stage stage[UND_SCENERY_STAGES];
    und_pattern pattern, ripple;
    und_sky sky;
    und_drawn_voxels voxels;
    und_samples samples;
    und_mesh mesh;
    und_drawn_mesh soup, sheet, liquid;
    und_shell surface;        /* that the frame's distance was made into */
    und_texture_map *texture; /* of a liquid that is painted; NULL: it is not */
    const float *rest;        /* [surface.vertex_count][3]: where its vertices were at first */
    und_drawn_solids solids;
    und_box box; /* that a picture of cells without heights frames */
    und_tank tank;
    und_drawing drawing;
    und_shot camera;
    float *sun_scratch;                          /* shadow heights */
    und_held solid_corners, rest_corners, paint; /* [corners][3] */
    und_held creases;
    double time;
    float rock_edge; /* slope of the ground where rock begins */
    und_plot_scale plot_scale;
} und_scenery;

/* `skin`: see above; painted liquid has one in any case. */
und_scenery *und_scenery_create(const und_picture_def *def, bool skin, und_error *err);
void und_scenery_destroy(und_scenery *stage);

/* Takes note of a frame without preparing it: wet ground remembers.  Frames come in order. */
und_status und_scenery_observe(und_scenery *stage, const und_frame *frame, und_error *err);
/* Observes the frame and makes of it what a picture needs.  What is drawn flat (sections and plots) has
 * nothing to prepare. */
und_status und_scenery_prepare(und_scenery *stage, const und_frame *frame, und_error *err);
/* Do pictures of such frames depend on the frames before?  Of what was observed last. */
bool und_scenery_remembers(const und_scenery *stage);
/* What pictures without a camera frame from now on. */
void und_scenery_frame_on(und_scenery *stage, const und_extent *extent);
/* The tone curve, for PNG and MP4, in place; sections and plots are drawn as they are shown and stay as they
 * are. */
void und_scenery_tone(const und_scenery *stage, und_image *image);

/* Where the camera of the frame that was prepared is at a time, and how far from what it looks at. */
und_shot und_scenery_camera(const und_scenery *stage, double time, float *distance);

und_status und_pattern_bake(und_pattern *noise, und_pattern *ripple, int threads, und_error *err);
und_status und_stage_voxels_take(und_scenery *stage, const und_frame *frame, und_error *err);
void und_stage_voxels_free(und_drawn_voxels *v);
/* Where bits of foam go: numbers on a plan, `stride` apart. */
typedef struct und_foam_plan {
    int nx, nz, stride;
    float x0, z0, h; /* m: place of the first, distance between them */
    float *foam;
} und_foam_plan;
bool und_froth_splat(const und_frame *frame, const und_foam_plan *plan); /* false: the frame has none */
und_status und_samples_take(und_scenery *stage, const und_frame *frame, und_error *err);
const float *und_find_corners(const und_frame *frame, const char *name, size_t *corners);
und_drawing und_drawing_of(const und_scenery *stage, const und_frame *frame);
und_status und_box_take(und_scenery *stage, const und_frame *frame, und_error *err);
/* What a picture frames: the box of cells; where those are turned about an axis, the round that they sweep.
 */
und_box und_box_of(const und_frame *frame, const double *axis);
/* The part of it that the def asks for, with some room around it. */
und_box und_box_framed(const und_picture_def *def, und_box box);
/* From `steep` above: 0 is level, 1 is 45 degrees. */
void und_box_frame(const und_picture_def *def, const und_box *box, float steep, f3 *eye, f3 *look);
/* `axis`: x and z about which a two-dimensional frame is turned, or NULL. */
und_status und_stage_solids_take(und_scenery *stage, const und_frame *frame, const double *axis,
                                 und_error *err);
und_status und_stage_mesh_build(und_scenery *stage, const und_frame *frame, und_error *err);
void und_wetness_advance(und_scenery *stage, double time);
void und_wetness_smooth(und_samples *s, int threads);
void und_stage_light_shadows(und_scenery *stage);
/* Up to which height the sun is hidden at each node of the mesh, of which nothing but the ground is read; the
 * penumbra's height, m. */
float und_stage_light_sweep(const und_mesh *mesh, f3 sun, float *shadow);
void und_stage_light_open(und_samples *s, int threads);
und_status und_stage_soup_take(und_scenery *stage, const und_frame *frame, und_error *err);
/* As it was `back` seconds before. */
und_status und_stage_soup_pose(und_scenery *stage, float back, und_error *err);
float und_stage_soup_sun(const und_drawn_mesh *soup, f3 p); /* 0 in shadow, 1 in light */
/* The corners of a triangle, at the moment that is drawn, and the normals there, unit vectors. */
void und_drawn_corners(const und_drawn_mesh *mesh, size_t triangle, float corner[9]);
void und_drawn_normals(const und_drawn_mesh *mesh, size_t triangle, float normal[9]);
/* How much longer a way on a triangle of painted liquid was at first. */
float und_stage_skin_stretch(const und_scenery *stage, size_t triangle);
/* Takes triangles, [3 count][3] and borrowed, and makes their normals; none where a number is damaged. */
und_status und_stage_soup_set(und_drawn_mesh *soup, const float *position, size_t count, und_error *err);
/* Takes a frame's bodies: none where they are damaged.  `speed` of the corners, m/s; NULL: not known. */
und_status und_rigid_take(und_scenery *stage, const und_frame *frame, const float **speed, und_error *err);
und_status und_tree_build(und_drawn_mesh *soup, und_error *err);
void und_tree_free(und_drawn_mesh *soup);
float und_box_enter(const und_box *box, f3 from, f3 inverse, float far);
bool und_tree_hit(const und_drawn_mesh *soup, f3 from, f3 dir, float far, float *distance, int32_t *triangle);
/* Memory for `bytes`; what was in it is lost when it grows. */
void *und_hold(und_held *held, size_t bytes, und_error *err);
f3 und_stage_film(f3 color);

typedef struct und_material {
    f3 color;
    f3 normal;
    float wet_gloss;
    float porous; /* 0 to 1: how much of the darkening by wetness it takes */
} und_material;

/* The ground's colour and bumpy normal at p, where the mesh says `m`, seen with pixels `footprint` metres
 * wide.
 */
und_material und_material_at(const und_scenery *stage, const float *m, f3 p, float footprint);
/* Tiles at a place of a face with this normal. */
und_material und_material_tiles(const und_scenery *stage, f3 p, f3 normal, float footprint);

/* The colour of the block's cut face; side 0 to 3: low x, high x, low z, high z. */
f3 und_cut_ground(const und_scenery *stage, f3 p, int side, float footprint);
/* Wet ground is darker; `depth`: of the water over it. */
void und_wet_down(const und_scenery *stage, und_material *g, float wet, float depth);

/* Slopes of the fine waves on a height field's water, and the variance of slope that pixels `footprint`
 * metres wide cannot show (water.c). */
void und_ripples_at(const und_scenery *stage, f3 p, const float *m, float footprint, float amount,
                    float slope[2], float *lost);
/* Share of the surface there. */
float und_stage_foam_cover(const und_scenery *stage, f3 p, const float *m, float footprint);
f3 und_water_absorption(const und_scenery *stage, const float *m); /* with its dye */

static inline bool und_scenery_is_flat(const und_scenery *stage) /* what was observed last */
{
    return stage->drawing == UND_DRAWS_SECTION || stage->drawing == UND_DRAWS_PLOT;
}

/* Has the caller asked to leave the picture as it is? */
static inline bool und_scenery_stopped(const und_scenery *stage)
{
    return stage->def.stop && stage->def.stop();
}

#endif
