/* Undine: height-field water, after Kass & Miller, "Rapid, Stable Fluid Dynamics for Computer Graphics",
 * 1990. Fill in a und_waves_def (start from und_waves_def_default) and create the model from it. */
#ifndef UNDINE_WAVES_H
#define UNDINE_WAVES_H

#include <undine/types.h>

typedef struct und_shape und_shape;   /* a signed distance; see und_shape_* */
typedef struct und_motion und_motion; /* key-framed position and rotation */

typedef enum und_edge_kind {
    UND_EDGE_WALL, /* reflects */
    UND_EDGE_OPEN, /* lets waves out; may bring a wave or a tide in */
    UND_EDGE_FLOW, /* a river: a set volume flows in */
    UND_EDGE_FALL  /* water falls off the edge */
} und_edge_kind;

enum { UND_LOW_X, UND_HIGH_X, UND_LOW_Z, UND_HIGH_Z, UND_EDGES };

typedef struct und_edge_def {
    und_edge_kind kind;
    und_value level;  /* open: the level outside, m, a function of place and time */
    bool has_level;   /* without it: the water's own level there at the start */
    double amplitude; /* open: height of the incoming wave above the level, m */
    double period;    /* s */
    double direction; /* degrees from straight in, turning from +x towards +z */
    double ramp;      /* s over which the incoming wave grows to its amplitude */
    und_value rate;   /* flow: m3/s per metre of edge, a function of place and time; with a level, only where
                         the ground is below it */
} und_edge_def;

/* Water added (rate > 0: a spring) or taken away (rate < 0: a drain), over the cells whose centre lies in the
 * shape seen from above, or in a disc. */
typedef struct und_source_def {
    const und_shape *shape; /* NULL: a disc */
    double center[3], radius;
    und_value rate;    /* m3/s over the whole area */
    double start, end; /* s; active in [start, end) */
} und_source_def;

/* One drop: falls in at `time`, raises the water by a smooth bump of exactly `volume`. */
typedef struct und_drop_def {
    double time, center[3], radius;
    double volume; /* m3; negative: water is taken */
} und_drop_def;

/* Rain: drops fall from `top` at `speed` and add exactly their volume where they hit. */
typedef struct und_rain_def {
    bool on;
    und_value rate;  /* drops per m2 and second, a function of place and time */
    double max_rate; /* the largest the rate gets; where 0 the rate must be a constant */
    double radius;   /* of a drop, m; its volume is 4/3 pi r^3 */
    double splash;   /* radius of the ring a drop makes, m; at least two cells */
    double top;      /* height drops appear at, m */
    double speed;    /* m/s */
    double wind[2];  /* horizontal velocity along x and z, m/s */
    double start, end;
} und_rain_def;

/* A sinusoidal disturbance at a place: a patch of pressure, so it adds no water. */
typedef struct und_stir_def {
    und_vector center; /* may move */
    double radius;
    double amplitude; /* as a head of water, m */
    double period;
    double start, end;
} und_stir_def;

/* An object that moves through the water along its keys and pushes it aside. */
typedef struct und_object_def {
    const und_shape *shape;   /* in its own coordinates */
    const und_motion *motion; /* NULL: at rest at the origin */
    float color[3];
} und_object_def;

typedef struct und_foam_def {
    bool on;
    double threshold; /* water faster than this makes foam, m/s */
    double rate;      /* how fast, 1/s */
    double life;      /* s to fall to 1/e */
} und_foam_def;

typedef struct und_waves_def {
    int nx, nz;          /* samples; nz == 1 is a curve */
    double dx;           /* metres between samples */
    double origin[2];    /* x and z of the low corner */
    double gravity;      /* m/s2, 9.81 */
    double density;      /* kg/m3, 1000; only pressure needs it */
    und_value ground;    /* height of the ground, m */
    und_value surface;   /* height of the water at the start, m; below the ground: dry */
    und_value velocity0; /* upward speed of the surface at the start, m/s */
    double damping;      /* 1/s: equation 17's tau is 1 - exp(-damping dt) */
    double viscosity;    /* m2/s: the ground slows shallow water by 3 viscosity / depth^2 per second; 0 */
    int order;           /* 1: the paper's implicit step; 2: second order, does not damp */
    und_value pressure;  /* outside pressure, Pa */
    und_edge_def edge[UND_EDGES];
    und_rain_def rain;
    int source_count, drop_count, stir_count, object_count;
    const und_source_def *sources;
    const und_drop_def *drops;
    const und_stir_def *stirs;
    const und_object_def *objects;
    bool velocity;     /* keep the water's velocity and write it with each frame */
    und_foam_def foam; /* needs velocity, and turns it on */
    bool has_dye;
    und_value dye; /* a concentration carried by the water; needs velocity */
    bool texture;  /* carry texture coordinates; needs velocity */
    uint64_t seed;
    int threads; /* 0: all */
} und_waves_def;

und_waves_def und_waves_def_default(void);

typedef struct und_waves und_waves;

/* Borrows what the def points to until it is destroyed. */
und_waves *und_waves_create(const und_waves_def *def, und_error *err);
void und_waves_destroy(und_waves *waves);

/* One step of equations 13 to 20 from time to time + dt, stable for any dt. */
void und_waves_step(und_waves *waves, double dt);

double und_waves_time(const und_waves *waves);
und_ledger und_waves_ledger(const und_waves *waves);

/* Height of the water's surface and of the ground at a sample, m; dry where the surface is not above. */
double und_waves_surface(const und_waves *waves, int x, int z);
double und_waves_ground(const und_waves *waves, int x, int z);

#endif
