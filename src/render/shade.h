/* What the files that colour samples share. */
#ifndef UND_RENDER_SHADE_H
#define UND_RENDER_SHADE_H

#include "render/internal.h"
#include "stage/bend.h"
#include "stage/triangle.h"

typedef struct und_shade_view {
    const und_render *r;
    const und_scenery *stage; /* that it draws */
    unsigned char *mark;
    f3 dir;          /* away from the eye */
    float distance;  /* m */
    float footprint; /* width of a pixel there, m */
} und_shade_view;

/* The object a ray meets within `far` metres (shade.c). */
bool und_shade_meets_object(const und_shade_view *v, f3 from, f3 dir, float far, float *t, int32_t *id);
/* `water` is what the light has come down through, m; negative: in the air, where it shines. */
f3 und_shade_object(const und_shade_view *v, int32_t id, f3 p, f3 dir, float water);
/* Dry ground at p. */
f3 und_render_ground_color(const und_shade_view *v, f3 p);

/* What a ray in the air meets about a liquid in cells: an object, a wall, the table, the sky. */
f3 und_shade_beyond(const und_shade_view *v, f3 from, f3 dir);
/* The liquid's skin, triangle `id`, at p (shade_liquid.c). */
f3 und_shade_liquid(const und_shade_view *v, int32_t id, f3 p);
/* What a tank shows over what a ray from the eye meets at a distance, in its colour (shade_tank.c). */
f3 und_render_tank_over(const und_shade_view *v, f3 eye, f3 color, float distance);
float und_shade_things_sun(const und_scenery *stage,
                           f3 p); /* how much of the sun objects and walls let through to p */
f3 und_render_tank_wall_color(const und_shade_view *v, f3 p, f3 normal); /* of tiles */
/* Share of the sun's light that comes through the liquid to p. */
f3 und_shade_liquid_sun(const und_scenery *stage, f3 p);

#endif
