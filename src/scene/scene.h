/* A scene: Lua text turned into defs.  The program in it runs in a sandbox. */
#ifndef UND_SCENE_SCENE_H
#define UND_SCENE_SCENE_H

#include "base/file.h"
#include "bodies/floating_bodies.h"
#include "stage/picture.h"

#include <undine/undine.h>

enum { UND_GRIDS_MAX = 16 };

/* One of the grids of a scene whose grids have names. */
typedef struct und_named_grid {
    const char *name; /* NULL: the only one, which has none */
    int line;
    und_levelset_def def;
    int from_count; /* grids that liquid comes from */
    const char *from_name[UND_GRIDS_MAX];
    int from[UND_GRIDS_MAX];
    und_upstream_def upstream[UND_GRIDS_MAX];
} und_named_grid;

/* What a loaded scene says; everything it points to lives as long as the scene. */
typedef enum und_model {
    UND_MODEL_NONE, /* bodies alone */
    UND_MODEL_WAVES,
    UND_MODEL_COLUMNS,
    UND_MODEL_CELLS,
    UND_MODEL_LEVELSET
} und_model;

const char *und_model_name(und_model model); /* "waves", as in liquid.waves; "" for none */

typedef struct und_scene_view {
    const char *name; /* "beach": letters, digits, _ and - */
    const char *path;
    const char *text;     /* the file's bytes */
    const char *settings; /* "name=value ..." of what --set changed, sorted by name */
    int start, end;
    double fps, begin; /* begin: time at the first frame, s */
    int substeps;      /* per frame */
    und_model model;
    und_grid grid;                            /* of the frames */
    const und_height_field_def *height_field; /* of the model's def; NULL: the model is no height field */
    und_waves_def waves;
    und_columns_def columns;
    und_cells_def cells;
    und_levelset_def levelset; /* the grid that was chosen, where there are several */
    int grid_count;
    const und_named_grid *grids;
    int grid_order[UND_GRIDS_MAX]; /* each after those that it takes from */
    const char *grid_name;         /* the one chosen; NULL: it has no name */
    und_floating_bodies_def
        floating_bodies; /* bodies in the flow of cells; gravity and density are the liquid's */
    und_picture_def render;
    int file_count;
    const und_named_file *files; /* that it reads, each once */
} und_scene_view;

const und_scene_view *und_scene_get(const und_scene *scene);

/* Makes a grid the one that levelset, grid and grid_name tell of; the first is without it. */
und_status und_scene_choose(und_scene *scene, const char *name, und_error *err);
/* Where the bands of the chosen grid go, and where those are that it takes: as many as def.upstream_count, or
 * NULL. */
void und_scene_connect(und_scene *scene, und_band_sink sink, const und_upstream_def *upstreams);

/* A function of the scene that fails while the simulation runs (a Lua error, NaN where a number was due, the
 * instruction limit) gives 0 and is remembered here: UND_INVALID with file and line, once. */
und_status und_scene_trouble(const und_scene *scene, und_error *err);

/* The calls that follow belong together: those for the start of a simulation, or for a step. */
void und_scene_begin_calls(und_scene *scene);

/* A key that the scene language accepts: what reads a scene, documented. */
typedef struct und_scene_key {
    const char *name;     /* "liquid.waves.edges.left.amplitude" */
    const char *expected; /* "a number" */
    const char *unit;     /* or NULL */
    double low, high;     /* of a number, inclusive; both 0: any */
    bool required;
    const char *doc;
} und_scene_key;

typedef void und_scene_key_fn(void *context, const und_scene_key *key);

/* Calls `each` for every key, block by block; for the reference and its test. */
void und_scene_keys(und_scene_key_fn *each, void *context);

/* A file of bodies to float in a flow that is there already: a scene that needs no liquid. */
und_scene *und_scene_load_bodies(const char *path, const und_setting *settings, int count, und_error *err);

/* A scene from text; `path` is what messages call it, and its folder is where the scene's files are. */
und_scene *und_scene_from_text(const char *text, const char *path, const und_setting *settings, int count,
                               und_error *err);

/* The same of a file of bodies. */
und_scene *und_scene_bodies_from_text(const char *text, const char *path, const und_setting *settings,
                                      int count, und_error *err);

/* Where the files of a scene are that is no file itself: the path of the one that it calls `name`. */
typedef struct und_scene_finder {
    und_status (*find)(const void *context, const char *name, char path[UND_PATH_MAX], und_error *err);
    const void *context;
} und_scene_finder;

/* A scene from text, or one of bodies alone, that reads no other files than those found. */
und_scene *und_scene_from_kept(const char *text, const char *path, const und_setting *settings, int count,
                               bool only_bodies, const und_scene_finder *finder, und_error *err);

#endif
