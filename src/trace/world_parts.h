/* What the files of a frame's world share. */
#ifndef UND_TRACE_WORLD_PARTS_H
#define UND_TRACE_WORLD_PARTS_H

#include "stage/bend.h"
#include "stage/scenery.h"
#include "stage/triangle.h"
#include "trace/world.h"
#include "trace/world_level.h"

#include <embree3/rtcore.h>

/* Kinds of triangles and spheres; each is one geometry of the scene, under this number. */
typedef enum und_world_part_kind {
    UND_PART_OBJECTS, /* solids and bodies that light does not go through */
    UND_PART_GLASS,   /* and those that it does */
    UND_PART_GROUND,
    UND_PART_CUT,  /* the sides of the block of ground, and its base */
    UND_PART_WALL, /* of tiles: a height field's is seen from inside alone */
    UND_PART_WATER,
    UND_PART_WATER_SIDE,
    UND_PART_SKIN, /* a liquid that comes as triangles */
    UND_PART_SHEET,
    UND_PART_PANE, /* of a tank: glass, and its edges */
    UND_PART_DROPS,
    UND_PART_RAIN,
    UND_COMPONENTS
} und_world_part_kind;

/* Drops and films are for the eye and for mirrors: to light, and after a bounce off something dull, they are
 * air. */
enum { UND_MASK_OPAQUE = 1, UND_MASK_CLEAR = 2, UND_MASK_AIRY = 4 };

typedef struct und_world_parts {
    und_world base; /* first: a world is this */
    und_scenery *stage;
    und_traced_level level; /* phi NULL: none */
    und_matter water;
    bool opaque_liquid;
    bool is_table; /* a level ground, far around, at this height */
    float table;
    float thinnest; /* m; of a film over the ground that rays meet */
    RTCDevice device;
    RTCScene scene;
    bool any;               /* has the scene anything in it? */
    uint32_t *object[2];    /* [primitives] of objects and glass: triangles of the stage's soup */
    const float *speed;     /* [soup's corners][3], m/s; NULL: nothing moves */
    int32_t *owner;         /* [soup's triangles]: id */
    uint8_t *cut_side;      /* [primitives] of the cut: 0 to 3, 4: the base */
    uint8_t *side_of_water; /* of the water's sides, and of a pool's walls */
    const float *rim;       /* [3 sheet triangles], or NULL */
    float *drop_speed;      /* [drops][3], m/s */
    float *rain_shown;      /* [streaks]: share of the rays that see them */
    float shutter;          /* s */
} und_world_parts;

/* Fills the scene (world_mesh.c, world_ground.c). */
und_status und_world_objects(und_world_parts *w, const und_frame *frame, und_error *err);
und_status und_world_skin(und_world_parts *w, und_error *err);
und_status und_world_sheets(und_world_parts *w, const und_frame *frame, und_error *err);
und_status und_world_drops(und_world_parts *w, const und_frame *frame, und_error *err);
und_status und_world_ground(und_world_parts *w, und_error *err);
float und_world_depth(const und_world_parts *w, float x, float z); /* of a height field, between its grids */
und_status und_world_tank(und_world_parts *w, und_error *err);     /* world_tank.c */
void und_world_look_pane(const und_ray *ray, uint32_t triangle, und_hit *hit);

/* A new geometry with `vertices` of `floats` numbers at each of `moments`; what is written to *data[moment]
 * must be done before und_world_attach. */
RTCGeometry und_world_geometry(und_world_parts *w, enum RTCGeometryType type, size_t vertices, int floats,
                               int moments, float *data[2], und_error *err);
uint32_t *und_world_triangles(und_world_parts *w, RTCGeometry geometry, size_t triangles, und_error *err);
void und_world_attach(und_world_parts *w, RTCGeometry geometry, und_world_part_kind kind, unsigned mask);

/* What a hit looks like, its t, place and face set already (world_look.c). */
void und_world_look_ground(const und_world_parts *w, const und_ray *ray, und_hit *hit);
void und_world_look(const und_world_parts *w, const und_ray *ray, const struct RTCRayHit *found,
                    und_hit *hit);

und_look und_world_look_of(const und_world_parts *w, int32_t owner);

/* A number in [0, 1) that belongs to the ray: what it chooses where a surface is a mixture. */
float und_world_chance(f3 from, f3 dir, uint32_t stream);
/* What a filter of Embree's looks at, one ray at a time; false: nothing. */
bool und_world_filtered(const struct RTCFilterFunctionNArguments *a, f3 *from, f3 *dir);
/* Share of the light that comes through a film of water. */
float und_world_film(const und_world_parts *w, f3 dir, f3 normal, float rim, float *mirrored);
float und_world_rim(const und_world_parts *w, uint32_t triangle, float u, float v);

#endif
