/* What the files that colour samples share. */
#ifndef UND_RENDER_SHADE_H
#define UND_RENDER_SHADE_H

#include "render/internal.h"
#include "render/optics.h"

typedef struct und_shade_view {
    const und_render *r;
    unsigned char *mark;
    f3 dir;          /* away from the eye */
    float distance;  /* m */
    float footprint; /* width of a pixel there, m */
} und_shade_view;

static inline f3 und_mirror(f3 d, f3 n)
{
    return f3_along(d, n, -2 * f3_dot(d, n));
}

/* The bent ray, or the mirrored one where none leaves. */
static inline f3 und_bend(f3 d, f3 n, float ratio)
{
    float a[3] = {d.x, d.y, d.z}, b[3] = {n.x, n.y, n.z}, out[3];
    return und_refract(a, b, ratio, out) ? f3_of(out) : und_mirror(d, n);
}

/* Weights of a triangle's second and third corners at p, which lies in it. */
static inline void und_weights(const float *triangle, f3 p, float *s, float *t)
{
    f3 a = f3_of(triangle), e1 = f3_sub(f3_of(triangle + 3), a), e2 = f3_sub(f3_of(triangle + 6), a),
       d = f3_sub(p, a);
    float d11 = f3_dot(e1, e1), d12 = f3_dot(e1, e2), d22 = f3_dot(e2, e2), q1 = f3_dot(d, e1),
          q2 = f3_dot(d, e2);
    float det = d11 * d22 - d12 * d12;
    *s = det > 0 ? clampf((d22 * q1 - d12 * q2) / det, 0, 1) : 0;
    *t = det > 0 ? clampf((d11 * q2 - d12 * q1) / det, 0, 1 - *s) : 0;
}

static inline f3 und_blend(const float *corner, float s, float t)
{
    return f3_add(f3_scale(f3_of(corner), 1 - s - t),
                  f3_add(f3_scale(f3_of(corner + 3), s), f3_scale(f3_of(corner + 6), t)));
}

/* The object a ray meets within `far` metres (shade.c). */
bool und_meets_object(const und_shade_view *v, f3 from, f3 dir, float far, float *t, int32_t *id);
/* `water` is what the light has come down through, m; negative: in the air, where it shines. */
f3 und_object_color(const und_shade_view *v, int32_t id, f3 p, f3 dir, float water);
/* Dry ground at p. */
f3 und_ground_color(const und_shade_view *v, f3 p);

/* Wet ground is darker; `depth`: of the water over it. */
void und_wet_down(const und_render *r, und_material *g, float wet, float depth);
/* Slopes of the fine waves on a height field's water, and the variance of slope that pixels cannot show. */
void und_ripples_at(const und_shade_view *v, f3 p, const float *m, float amount, float slope[2], float *lost);
float und_foam_cover(const und_shade_view *v, f3 p, const float *m); /* share of the surface there */
f3 und_water_absorption(const und_render *r, const float *m);        /* with its dye */
/* The colour of the block's cut face; side 0 to 3: low x, high x, low z, high z. */
f3 und_cut_ground(const und_render *r, f3 p, int side, float footprint);

/* What a ray in the air meets about a liquid in cells: an object, a wall, the table, the sky. */
f3 und_beyond(const und_shade_view *v, f3 from, f3 dir);
/* The liquid's skin, triangle `id`, at p (shade_liquid.c). */
f3 und_liquid_color(const und_shade_view *v, int32_t id, f3 p);
/* What a tank shows over what a ray from the eye meets at a distance, in its colour (shade_tank.c). */
f3 und_tank_over(const und_shade_view *v, f3 eye, f3 color, float distance);
float und_things_sun(const und_render *r, f3 p); /* how much of the sun objects and walls let through to p */
f3 und_tank_wall_color(const und_shade_view *v, f3 p, f3 normal); /* of tiles */
/* Share of the sun's light that comes through the liquid to p. */
f3 und_liquid_sun(const und_render *r, f3 p);

#endif
