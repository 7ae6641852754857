/* What the members of a def are, one by one: what reads scenes goes by it, and so do its messages and the
 * reference.  It stands down here so that a def's own file can have it. */
#ifndef UND_BASE_FIELDS_H
#define UND_BASE_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

/* What a field's value may be, and what stands at its offset. */
typedef enum field_type {
    F_NUMBER,  /* double */
    F_INTEGER, /* int */
    F_SEED,    /* uint64_t */
    F_FLAG,    /* bool */
    F_COLOR,   /* float[3]; {r, g, b} or one number for a grey */
    F_PAIR,    /* double[2] */
    F_PLACE,   /* double[3] from {x, z} */
    F_POINT,   /* und_vec3, or double[3], from {x, y, z} */
    F_POINTS,  /* und_points: {{x, y, z}, ...}, at least two */
    F_COUNTS,  /* int[3] from {nx, ny, nz} */
    F_VALUE,   /* und_value: a number, function(x, z, t), a table or map{} */
    F_RATE,    /* und_value: a number or function(x, z, t) */
    F_SPACE,   /* und_value: a number or function(x, y, z, t) */
    F_FLOW,    /* und_value[3]: {x, y, z}, function(t) or function(x, y, z, t) that return it */
    F_VECTOR,  /* und_vector: {x, y, z}, function(t) or keys */
    F_TRACK,   /* und_vector: {x, z}, function(t) or keys */
    F_CHOICE,  /* an int-sized enum, one of `choices` */
    F_PICTURE, /* const und_image *: the name of a PNG, EXR or HDR file */
    F_SHAPE,   /* const und_shape *: sphere{} and so on */
    F_NAME,    /* const char * */
    F_OTHER,   /* what `read` understands, as `expected` describes it */
    F_INCLUDE  /* no key of its own: the fields of `inside`, which stand in the def's beginning */
} field_type;

typedef struct reader reader;

typedef struct field {
    const char *key;
    field_type type;
    const char *unit;
    double low, high; /* of numbers, inclusive; both 0: any finite number */
    bool required;
    size_t offset;
    const char *const *choices;                                /* F_CHOICE: ends with NULL */
    void (*read)(reader *r, const struct field *f, void *def); /* F_OTHER: the value is on top and stays */
    const struct field *inside; /* F_OTHER: the keys of the table or of the tables in the list */
    const char *expected;       /* F_OTHER */
    const void *with;           /* F_OTHER: for read */
    const char *doc;
} field;

#define INCLUDE(fields_)                 \
    {                                    \
        "", F_INCLUDE, .inside = fields_ \
    }

#endif
