/* Lua tables into defs, driven by tables of fields: one reads, checks, suggests and documents. */
#ifndef UND_SCENE_READ_H
#define UND_SCENE_READ_H

#include "base/fields.h"
#include "geom/motion.h"
#include "geom/shape.h"
#include "scene/sandbox.h"
#include "scene/scene.h"

#include <pthread.h>

/* Goes through fields, those that are included in their place; NULL at the end. */
typedef struct field_walk {
    const field *next[2];
    int depth;
} field_walk;

field_walk und_fields_walk(const field *fields);
const field *und_fields_next(field_walk *walk);

/* A resource that goes with the scene. */
typedef struct owned {
    struct owned *next;
    void (*release)(void *);
    void *resource;
} owned;

/* A function of the scene that the simulation calls. */
typedef struct callback {
    und_scene *scene;
    int reference; /* in Lua's registry */
    bool space;    /* it gets (x, y, z, t), not (x, z, t) or t alone */
    int numbers;   /* of a vector: {x, z} or {x, y, z} */
    char what[96]; /* "liquid.waves.ground" */
} callback;

typedef struct setting_use {
    const char *name, *value;
    bool used;
} setting_use;

#define UND_FARTHEST 1e9 /* of numbers in points, velocities, directions */
enum { PARAMS_MAX = 256, SETTINGS_MAX = 256, PATH_MAX_DEPTH = 8, SHAPES_MAX = 100000, FILES_MAX = 1024 };

struct und_scene {
    und_scene_view view;
    und_sandbox box;
    pthread_mutex_t lock; /* a Lua state serves one thread at a time */
    owned *owned;
    double held; /* bytes of it */
    int files;
    und_named_file files_read[FILES_MAX];
    const und_scene_finder *finder; /* while it loads; NULL: files are in its folder */
    char *folder;
    size_t text_size;
    double size[3]; /* of the domain, m: x and z of a height field, x, y and z of cells */
    bool curve;     /* one cell deep */
    char name[128];
    uint64_t seed;
    bool only_bodies; /* to float in a flow that is there already */
    setting_use settings[SETTINGS_MAX];
    int setting_count;
    const char *params[PARAMS_MAX];
    int param_count;
    int shape_count;
    und_named_grid grids[UND_GRIDS_MAX];
    int ordered, chosen;
    unsigned blocks_seen;               /* a bit per block */
    struct und_material_def *materials; /* that material{} made */
    und_error trouble;                  /* of a callback */
};

/* Where in the scene the reading stands, for messages. */
struct reader {
    und_scene *scene;
    lua_State *L;
    int line; /* of the constructor's call */
    int depth;
    struct {
        const char *key; /* NULL: an element of a list */
        int index;
    } path[PATH_MAX_DEPTH];
};

reader und_read_begin(lua_State *L, und_scene *scene, const char *name);
void und_read_enter(reader *r, const char *key, int index);
void und_read_leave(reader *r);

/* "liquid.waves.edges.left": where the reading stands. */
void und_read_path(const reader *r, char *text, size_t size);

/* "FILE:LINE: PATH: TEXT" as a Lua error; does not return. */
_Noreturn void und_read_fail(reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same for "expected WHAT, found the value on top of the stack". */
_Noreturn void und_read_expected(reader *r, const char *what);

/* A number for a message; NaN is "nan", whatever its sign. */
void und_number_text(double x, char *text, size_t size);

/* Reads the table on top of the stack into `def`.  Unknown keys and missing required ones are errors. */
void und_read_table(reader *r, const field *fields, void *def);

/* Reads the list of tables on top: `count` items of `size` bytes, each set up by `init` first. */
void *und_read_list(reader *r, const field *fields, size_t size, void (*init)(void *item),
                    void (*finish)(reader *r, void *item), int *count);

/* The place of the word on top among `choices`, which end with NULL. */
void und_read_choice(reader *r, const char *const *choices, int *out);

/* true, false, or the table of f->inside, read into `def`; whether it is on. */
bool und_read_switch(reader *r, const field *f, void *def, const char *expected);

/* Is the key there?  (In the table on top.) */
bool und_read_has(reader *r, const char *key);

/* Numbers from a list on top, low <= count <= high of them; the count. */
int und_read_numbers(reader *r, double *out, int low, int high, const char *what);
/* The first `count` entries of the list on the stack, all of which must be numbers. */
void und_read_row(reader *r, double *out, int count);
/* The number on top, within the field's range. */
double und_read_number(reader *r, const field *f);

/* Things with a file of their own (values.c). */
void und_read_value(reader *r, const field *f, und_value *out);
void und_read_function(reader *r, und_value *out); /* of x alone, not tried yet */
void und_read_flow(reader *r, const field *f, und_value out[3]);
void und_read_vector(reader *r, const field *f, und_vector *out);
/* A function that failed when it was tried is an error of the scene: better now than after an hour. */
void und_read_trouble(reader *r);
void und_read_color(reader *r, const field *f, float out[3]);
const und_image *und_read_picture(reader *r);
void und_read_ground_map(reader *r, const field *f, void *render_def);
/* Key frames: und_read_keys reads the list, with the fields that the field has inside. */
typedef struct path_def {
    const und_key *keys;
    int count;
    und_easing easing;
} path_def;
void und_read_keys(reader *r, const field *f, void *path);
const und_motion *und_read_motion(reader *r, const path_def *path);
und_shape *und_read_shape(reader *r);
void und_read_value_negated(und_value *v);

/* map{} and the shapes, into the globals table on top (shapes.c, values.c). */
void und_shapes_open(lua_State *L, und_scene *scene);
void und_maps_open(lua_State *L, und_scene *scene);

/* The liquid's grid as far as it has been read; no cells: no liquid so far. */
und_grid und_scene_grid(const und_scene *scene);

/* The full name of a file of the scene; an error where it leads out of the scene's folder. */
char *und_scene_file(reader *r, const char *name);

/* Zeroed memory that lives as long as the scene; a Lua error where there is none. */
void *und_scene_alloc(reader *r, size_t count, size_t size);
/* Makes room for a resource's release, so that it can be kept without failing. */
owned *und_scene_own(reader *r, void (*release)(void *));

/* und_scene_from_text with limits. */
und_scene *und_scene_load_text(const char *text, size_t size, const char *path, const und_setting *settings,
                               int count, const und_limits *limits, und_error *err);

/* The line where `path` is set in the call that starts at `line`, or the nearest found. */
int und_locate(const char *text, size_t size, int line, const reader *r);

/* The blocks of the language, ended by one without name (blocks.c). */
typedef struct block {
    const char *name; /* "liquid.waves" */
    const field *fields;
    void (*read)(reader *r);
    const char *doc;
} block;

extern const block und_blocks[];
extern const field und_path_fields[], und_key_fields[];        /* in space */
extern const field und_track_fields[], und_track_key_fields[]; /* over the x-z plane */
extern const field und_map_fields[];

typedef struct shape_kind {
    const char *name;
    const field *fields; /* NULL: a list of shapes */
    const char *doc;
} shape_kind;

extern const shape_kind und_shape_kinds[]; /* in the order of und_shape_kind */
/* voxels{} (voxels.c); the scene holds what it returns. */
extern const field und_voxels_fields[];
und_voxels *und_read_voxels(reader *r);

extern const char *const und_easings[];

#endif
