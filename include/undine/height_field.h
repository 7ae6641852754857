/* Undine: what every model of water over a ground shares: its place, its ground and surface, its edges, and
 * what comes and goes. */
#ifndef UNDINE_HEIGHT_FIELD_H
#define UNDINE_HEIGHT_FIELD_H

#include <undine/rain.h>
#include <undine/shape.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum und_edge_kind {
    UND_EDGE_WALL, /* reflects */
    UND_EDGE_OPEN, /* lets waves out; may bring a wave or a tide in */
    UND_EDGE_FLOW, /* a river: a set volume flows in */
    UND_EDGE_FALL  /* water falls off the edge */
} und_edge_kind;

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

/* A sinusoidal disturbance at a place: a patch of pressure, so it adds no water. */
typedef struct und_stir_def {
    und_vector center; /* may move */
    double radius;
    double amplitude; /* as a head of water, m */
    double period;
    double start, end;
} und_stir_def;

/* The first member of such a model's def. */
typedef struct und_height_field_def {
    int nx, nz;         /* samples; nz == 1 is a curve */
    double dx;          /* metres between samples */
    double origin[2];   /* x and z of the low corner */
    double gravity;     /* m/s2, 9.81 */
    double density;     /* kg/m3, 1000 */
    und_value ground;   /* height of the ground, m */
    und_value surface;  /* height of the water at the start, m; below the ground: dry */
    double damping;     /* 1/s */
    und_value pressure; /* outside pressure, Pa */
    und_edge_def edge[UND_EDGES];
    und_rain_def rain;
    int source_count, drop_count, stir_count;
    const und_source_def *sources;
    const und_drop_def *drops;
    const und_stir_def *stirs;
    uint64_t seed;
    double time; /* at the start, s; 0 */
    int threads; /* 0: all */
} und_height_field_def;

und_height_field_def und_height_field_def_default(void);

#ifdef __cplusplus
}
#endif

#endif
