/* What things are made of and what lights them, in ray-traced pictures. */
#ifndef UND_STAGE_LOOK_H
#define UND_STAGE_LOOK_H

#include <undine/types.h>

typedef enum und_matter_kind {
    UND_MATTER_DIFFUSE, /* chalk, sand, concrete: Lambert */
    UND_MATTER_GLOSSY,  /* the same under a clear coat of `index` and `roughness`: plastic, tiles, wet sand */
    UND_MATTER_METAL,   /* `color` seen head on; liquid metal, steel, gold */
    UND_MATTER_DIELECTRIC, /* water, glass: reflects and refracts; rays go on inside */
} und_matter_kind;

/* What a thing is made of. */
typedef struct und_matter {
    und_matter_kind kind;
    float color[3];      /* reflectance: of diffuse and glossy things, of metal head on */
    float roughness;     /* 0: a mirror; alpha of GGX is its square */
    float index;         /* of refraction, of dielectrics and clear coats */
    float absorption[3]; /* 1/m, inside a dielectric */
    float scatter[3];    /* what a deep, lit body of it sends back, as the preview's water colour; 0: clear */
    int priority;        /* where dielectrics overlap the higher one is there: glass 2, liquid 1 */
    float emission[3];   /* light that it gives off */
} und_matter;

/* How a thing was asked to look. */
typedef struct und_look {
    bool given; /* false: nothing was said, and it looks as in the preview */
    bool paint; /* the matter's colour; false: the thing's own colours */
    und_matter matter;
    const struct und_image *texture; /* colours instead, laid on along the axes; NULL: none */
    double texture_size;             /* m; side of one copy of it, 1 */
} und_look;

typedef struct und_looks {
    und_look liquid, ground;
    const und_look *solids, *bodies; /* by their numbers in a frame; what has none was not asked */
    int solid_count, body_count;
} und_looks;

/* One of a list's, or one that says nothing. */
static inline und_look und_look_of(const und_look *list, int count, int number)
{
    return number >= 0 && number < count ? list[number] : (und_look){.given = false};
}

/* Ready-made ones, ended by one without name. */
typedef struct und_named_matter {
    const char *name;
    und_matter matter;
} und_named_matter;
extern const und_named_matter und_named_matters[];

/* A rectangle that shines on one side, or a sphere. */
typedef struct und_lamp {
    bool sphere;
    float place[3], u[3], v[3]; /* middle; half sides of a rectangle, which shines along u x v */
    float radius;               /* of a sphere */
    float radiance[3];
    bool shown; /* can the camera see it? */
} und_lamp;

#endif
