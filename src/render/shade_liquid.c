/* A liquid with a skin of triangles: what it mirrors, what is seen through it, and its own colour. */
#include "base/maths.h"
#include "render/shade.h"

enum { BOUNCES = 4 };

/* Share of the sun's light that comes through `way` metres of liquid to where it was bound: the rest is
 * mirrored, and the more of it bent aside the thicker the body is. */
static float straight_on(const und_render *r, float way)
{
    return 0.65f + 0.27f * und_expf(-way / (0.04f * r->mesh.span));
}

static f3 skin_normal(const und_drawn_mesh *skin, int32_t triangle, f3 p)
{
    float s, t;
    und_weights(skin->position + 9 * (size_t)triangle, p, &s, &t);
    return f3_unit(und_blend(skin->normal + 9 * (size_t)triangle, s, t));
}

/* How far a ray is to the table; infinite upwards. */
static float table_distance(const und_render *r, f3 from, f3 dir)
{
    return dir.y < -1e-6f && from.y > r->mesh.low ? (r->mesh.low - from.y) / dir.y : INFINITY;
}

f3 und_beyond(const und_shade_view *v, f3 from, f3 dir)
{
    const und_render *r = v->r;
    float table = table_distance(r, from, dir), t;
    int32_t id;
    f3 normal;
    float wall = und_tank_wall(&r->tank, from, dir, &normal);
    if (und_meets_object(v, from, dir, minf(minf(table, wall), 1e9f), &t, &id))
        return und_object_color(v, id, f3_along(from, dir, t), dir, -1);
    if (wall < table)
        return und_tank_wall_color(v, f3_along(from, dir, wall), normal);
    return table < 1e9f ? und_ground_color(v, f3_along(from, dir, table)) : und_sky_at(&r->sky, dir);
}

/* Light scattered in the liquid comes from a wider half of the sky than light off a wall. */
static f3 body_color(const und_render *r, f3 n)
{
    float wrapped = 0.7f * clampf((f3_dot(n, r->sky.sun) + 0.4f) / 1.4f, 0, 1);
    return f3_times(f3_of(r->def.water_color),
                    f3_along(und_sky_ambient(&r->sky, n), r->sky.sun_color, wrapped));
}

/* Something solid inside the liquid, within `far`. */
static bool meets_inside(const und_shade_view *v, f3 from, f3 dir, float far, f3 *color, float *t)
{
    const und_render *r = v->r;
    float table = table_distance(r, from, dir), up = 0, small = 1e-4f * r->mesh.span;
    int32_t id;
    f3 normal;
    float wall = und_tank_wall(&r->tank, from, dir, &normal);
    if (und_meets_object(v, from, dir, minf(far, minf(table, wall)), t, &id)) {
        f3 p = f3_along(from, dir, *t);
        int32_t skin;
        und_tree_hit(&r->liquid, p, f3_make(0, 1, 0), 1e9f, &up, &skin);
        *color = und_object_color(v, id, p, dir, up);
        return true;
    }
    if (!(minf(table, wall) < far + small)) /* a skin that lies on the table is not above it */
        return false;
    if (wall < table) {
        *t = wall;
        *color = und_tank_wall_color(v, f3_along(from, dir, wall), normal);
        return true;
    }
    *t = table;
    *color = und_ground_color(v, f3_along(from, dir, table));
    return true;
}

/* What comes up along a ray that has entered at p; its way inside is mirrored where it cannot leave. */
static f3 seen_inside(const und_shade_view *v, f3 p, f3 dir, f3 n)
{
    const und_render *r = v->r;
    const und_drawn_mesh *skin = &r->liquid;
    float ratio = (float)r->def.refraction, small = 1e-4f * r->mesh.span, way = 0;
    f3 own = body_color(r, n), color = own, absorption = f3_of(r->def.absorption);
    for (int k = 0; k < BOUNCES; k++) {
        float leave = 4 * r->mesh.span, t;
        int32_t triangle = -1;
        f3 from = f3_along(p, dir, small);
        und_tree_hit(skin, from, dir, leave, &leave, &triangle);
        if (meets_inside(v, from, dir, leave, &color, &t)) {
            way += t;
            break;
        }
        way += leave;
        if (triangle < 0)
            break;
        p = f3_along(from, dir, leave);
        f3 out = skin_normal(skin, triangle, p);
        out = f3_dot(out, dir) > 0 ? f3_scale(out, -1) : out; /* against the ray */
        float back = und_fresnelf(-f3_dot(dir, out), 1 / ratio);
        if (back < 1 ||
            k == BOUNCES - 1) { /* at last straight on, lest corners shine in the liquid's colour */
            f3 bent = back < 1 ? und_bend(dir, out, 1 / ratio) : dir;
            back = back < 1 ? back : 0;
            color = f3_mix(und_beyond(v, f3_along(p, bent, small), bent), own, back);
            break;
        }
        dir = f3_unit(und_mirror(dir, out));
    }
    f3 left = f3_exp(absorption, way);
    return f3_add(f3_times(color, left), f3_times(own, f3_sub(f3_gray(1), left)));
}

/* The sun's image, as wide as on slightly uneven water: slopes scatter with this variance. */
static f3 highlight(const und_render *r, f3 dir, f3 n)
{
    const float variance = 4e-4f;
    f3 half = f3_unit(f3_sub(r->sky.sun, dir));
    float c = f3_dot(half, n);
    if (c < 0.5f)
        return f3_gray(0);
    float c2 = c * c, a = (1 - c2) / c2 / (2 * variance);
    if (a > 12)
        return f3_gray(0);
    float density = und_expf(-a) / (6.2831853f * variance * c2 * c2);
    float fresnel = und_fresnelf(-f3_dot(dir, half), (float)r->def.refraction);
    float shine = 3.1415927f * fresnel * density / (4 * maxf(-f3_dot(dir, n), 0.15f));
    return f3_scale(r->sky.sun_color, minf(shine, 8));
}

/* How much longer a way on the triangle was at first. */
static float stretch(const und_render *r, int32_t id)
{
    const float *now = r->liquid.position + 9 * (size_t)id, *first = r->rest + 9 * (size_t)id;
    float ways[2] = {0};
    for (int k = 0; k < 2; k++) {
        const float *a = k ? first : now;
        for (int c = 1; c < 3; c++) {
            f3 e = f3_sub(f3_of(a + 3 * c), f3_of(a));
            ways[k] += sqrtf(f3_dot(e, e));
        }
    }
    return ways[0] > 0 ? ways[1] / ways[0] : 1;
}

/* The paint in the light of sky and sun; nothing is seen through it. */
static f3 painted(const und_shade_view *v, int32_t id, f3 p, f3 n)
{
    const und_render *r = v->r;
    float s, t, color[3], small = 1e-3f * r->mesh.span, far;
    und_weights(r->liquid.position + 9 * (size_t)id, p, &s, &t);
    f3 rest = und_blend(r->rest + 9 * (size_t)id, s, t), from = f3_along(p, n, small);
    float pixel = v->distance / r->camera.focal; /* of a sample: a pixel takes the mean of its own */
    und_paint_at(&r->def.paint, r->texture, (float[3]){rest.x, rest.y, rest.z}, pixel * stretch(r, id),
                 color);
    if (r->def.paint.unlit)
        return f3_of(color);
    float sun = maxf(f3_dot(n, r->sky.sun), 0);
    int32_t other;
    if (sun > 0 && und_tree_hit(&r->liquid, from, r->sky.sun, 1e9f, &far, &other))
        sun = 0;
    if (sun > 0)
        sun *= und_things_sun(r, from);
    return f3_times(f3_of(color), f3_along(und_sky_ambient(&r->sky, n), r->sky.sun_color, sun));
}

f3 und_liquid_color(const und_shade_view *v, int32_t id, f3 p)
{
    const und_render *r = v->r;
    float ratio = (float)r->def.refraction, small = 1e-4f * r->mesh.span;
    f3 n = skin_normal(&r->liquid, id, p);
    const float *a = r->liquid.position + 9 * (size_t)id;
    f3 face = f3_cross(f3_sub(f3_of(a + 3), f3_of(a)), f3_sub(f3_of(a + 6), f3_of(a)));
    if (f3_dot(face, n) < 0)
        face = f3_scale(face, -1);
    if (f3_dot(face, v->dir) > 0) /* seen from behind */
        n = f3_scale(n, -1);
    float facing = -f3_dot(v->dir, n);
    if (facing < 0.03f) { /* smooth normals turn away at the outline */
        n = f3_unit(f3_along(n, v->dir, -(0.03f - facing)));
        facing = 0.03f;
    }
    f3 up = f3_unit(und_mirror(v->dir, n));
    f3 inside = r->texture ? painted(v, id, p, n) : seen_inside(v, p, und_bend(v->dir, n, ratio), n);
    float gloss = r->texture ? (float)r->def.gloss : 1;
    f3 color = f3_mix(inside, und_beyond(v, f3_along(p, n, small), up), gloss * und_fresnelf(facing, ratio));
    float lit = gloss * und_things_sun(r, f3_along(p, n, small));
    return lit > 0 ? f3_along(color, highlight(r, v->dir, n), lit) : color;
}

f3 und_liquid_sun(const und_render *r, f3 p)
{
    const und_drawn_mesh *skin = &r->liquid;
    f3 sun = r->sky.sun, through = f3_gray(1), from = f3_along(p, sun, 1e-4f * r->mesh.span);
    for (int k = 0; k < BOUNCES && skin->count > 0; k++) {
        float enter, way = 0;
        int32_t triangle;
        if (!und_tree_hit(skin, from, sun, 1e9f, &enter, &triangle))
            break;
        if (r->texture)
            return f3_gray(0);
        from = f3_along(from, sun, enter + 1e-4f * r->mesh.span);
        und_tree_hit(skin, from, sun, 1e9f, &way, &triangle);
        through = f3_times(through, f3_scale(f3_exp(f3_of(r->def.absorption), way), straight_on(r, way)));
        from = f3_along(from, sun, way + 1e-4f * r->mesh.span);
    }
    return through;
}
