/* A liquid with a skin of triangles: what it mirrors, what is seen through it, and its own colour. */
#include "base/maths.h"
#include "render/shade.h"

enum { BOUNCES = 4, BODIES = 3 }; /* of rays in liquid; of liquid that is seen one behind the other */

/* Share of the sun's light that comes through `way` metres of liquid to where it was bound: the rest is
 * mirrored, and the more of it bent aside the thicker the body is. */
static float straight_on(const und_scenery *stage, float way)
{
    return 0.65f + 0.27f * und_expf(-way / (0.04f * stage->mesh.span));
}

static f3 skin_normal(const und_drawn_mesh *skin, int32_t triangle, f3 p)
{
    float corner[9], normal[9], s, t;
    und_drawn_corners(skin, (size_t)triangle, corner);
    und_drawn_normals(skin, (size_t)triangle, normal);
    und_weights(corner, p, &s, &t);
    return f3_unit(und_blend(normal, s, t));
}

/* Of the triangle itself, out of the liquid; as long as it may be. */
static f3 face_normal(const und_drawn_mesh *skin, int32_t triangle, f3 p)
{
    float a[9];
    und_drawn_corners(skin, (size_t)triangle, a);
    f3 face = f3_cross(f3_sub(f3_of(a + 3), f3_of(a)), f3_sub(f3_of(a + 6), f3_of(a)));
    return f3_dot(face, skin_normal(skin, triangle, p)) < 0 ? f3_scale(face, -1) : face;
}

/* How far a ray is to the table; infinite upwards. */
static float table_distance(const und_scenery *stage, f3 from, f3 dir)
{
    return dir.y < -1e-6f && from.y > stage->mesh.low ? (stage->mesh.low - from.y) / dir.y : INFINITY;
}

f3 und_shade_beyond(const und_shade_view *v, f3 from, f3 dir)
{
    const und_scenery *stage = v->stage;
    float table = table_distance(stage, from, dir), t;
    int32_t id;
    f3 normal;
    float wall = und_tank_wall(&stage->tank, from, dir, &normal);
    if (und_shade_meets_object(v, from, dir, minf(minf(table, wall), 1e9f), &t, &id))
        return und_shade_object(v, id, f3_along(from, dir, t), dir, -1);
    if (wall < table)
        return und_render_tank_wall_color(v, f3_along(from, dir, wall), normal);
    return table < 1e9f ? und_render_ground_color(v, f3_along(from, dir, table))
                        : und_sky_at(&stage->sky, dir);
}

/* Light scattered in the liquid comes from a wider half of the sky than light off a wall. */
static f3 body_color(const und_scenery *stage, f3 n)
{
    float wrapped = und_wrapped_sun(f3_dot(n, stage->sky.sun));
    return f3_times(f3_of(stage->def.water_color),
                    f3_along(und_sky_ambient(&stage->sky, n), stage->sky.sun_color, wrapped));
}

/* Something solid inside the liquid, within `far`; also what a film lies on that is thinner than the way from
 * the surface on. */
static bool meets_inside(const und_shade_view *v, f3 from, f3 dir, float far, f3 *color, float *t)
{
    const und_scenery *stage = v->stage;
    float table = table_distance(stage, from, dir), up = 0, small = 1e-4f * stage->mesh.span,
          back = 2 * small;
    int32_t id;
    f3 normal;
    float wall = und_tank_wall(&stage->tank, from, dir, &normal);
    if (und_shade_meets_object(v, f3_along(from, dir, -back), dir, minf(far, minf(table, wall)) + back, t,
                               &id)) {
        *t = maxf(*t - back, 0);
        f3 p = f3_along(from, dir, *t);
        int32_t skin;
        /* A film is high and not deep: light comes through it from the sun's side. */
        und_tree_hit(&stage->liquid, p, f3_make(0, 1, 0), 1e9f, &up, &skin);
        und_tree_hit(&stage->liquid, p, stage->sky.sun, up, &up, &skin);
        *color = und_shade_object(v, id, p, dir, up);
        return true;
    }
    if (!(minf(table, wall) < far + small)) /* a skin that lies on the table is not above it */
        return false;
    if (wall < table) {
        *t = wall;
        *color = und_render_tank_wall_color(v, f3_along(from, dir, wall), normal);
        return true;
    }
    *t = table;
    *color = und_render_ground_color(v, f3_along(from, dir, table));
    return true;
}

static f3 color_at(const und_shade_view *v, int32_t id, f3 p, int depth);

/* What is behind liquid: other liquid, as behind a film on a glass, or what is beyond it all. */
static f3 seen_behind(const und_shade_view *v, f3 from, f3 dir, int depth)
{
    const und_scenery *stage = v->stage;
    und_shade_view next = *v;
    float t = minf(table_distance(stage, from, dir), 1e9f), object;
    int32_t triangle, id;
    f3 normal;
    t = minf(t, und_tank_wall(&stage->tank, from, dir, &normal));
    if (depth + 1 >= BODIES || !und_tree_hit(&stage->liquid, from, dir, t, &t, &triangle) ||
        und_shade_meets_object(v, from, dir, t, &object, &id))
        return und_shade_beyond(v, from, dir);
    next.dir = dir;
    next.distance += t;
    return color_at(&next, triangle, f3_along(from, dir, t), depth + 1);
}

/* What comes up along a ray that has entered at p; its way inside is mirrored where it cannot leave. */
static f3 seen_inside(const und_shade_view *v, f3 p, f3 dir, f3 n, int depth)
{
    const und_scenery *stage = v->stage;
    const und_drawn_mesh *skin = &stage->liquid;
    float ratio = (float)stage->def.refraction, small = 1e-4f * stage->mesh.span, way = 0;
    f3 own = body_color(stage, n), color = own, absorption = f3_of(stage->def.absorption);
    for (int k = 0; k < BOUNCES; k++) {
        float leave = 4 * stage->mesh.span, t;
        int32_t triangle = -1;
        f3 from = f3_along(p, dir, small);
        und_tree_hit(skin, from, dir, leave, &leave, &triangle);
        /* a film thinner than that is behind the ray already */
        if (k == 0 && triangle < 0)
            return und_shade_beyond(v, f3_along(p, v->dir, -small), v->dir);
        if (k == 0 && f3_dot(face_normal(skin, triangle, f3_along(from, dir, leave)), dir) < 0)
            return seen_behind(v, from, dir, depth);
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
            color = f3_mix(seen_behind(v, f3_along(p, bent, small), bent, depth), own, back);
            break;
        }
        dir = f3_unit(und_mirror(dir, out));
    }
    f3 left = und_left(absorption, way);
    return f3_add(f3_times(color, left), f3_times(own, f3_sub(f3_gray(1), left)));
}

/* The sun's image, as wide as on slightly uneven water. */
static f3 highlight(const und_scenery *stage, f3 dir, f3 n)
{
    f3 half = f3_unit(f3_sub(stage->sky.sun, dir));
    float mirrored = und_fresnelf(-f3_dot(dir, half), (float)stage->def.refraction);
    return f3_scale(stage->sky.sun_color, und_highlight(f3_dot(half, n), mirrored, -f3_dot(dir, n)));
}

/* The paint in the light of sky and sun; nothing is seen through it. */
static f3 painted(const und_shade_view *v, int32_t id, f3 p, f3 n)
{
    const und_scenery *stage = v->stage;
    float corner[9], first[9], s, t, color[3], small = 1e-3f * stage->mesh.span, far;
    und_drawn_corners(&stage->liquid, (size_t)id, corner);
    und_shell_corners(&stage->surface, stage->rest, (size_t)id, first);
    und_weights(corner, p, &s, &t);
    f3 rest = und_blend(first, s, t), from = f3_along(p, n, small);
    float pixel = v->distance / stage->camera.focal; /* of a sample: a pixel takes the mean of its own */
    und_paint_at(&stage->def.paint, stage->texture, (float[3]){rest.x, rest.y, rest.z},
                 pixel * und_stage_skin_stretch(stage, (size_t)id), color);
    if (stage->def.paint.unlit)
        return f3_of(color);
    float sun = maxf(f3_dot(n, stage->sky.sun), 0);
    int32_t other;
    if (sun > 0 && und_tree_hit(&stage->liquid, from, stage->sky.sun, 1e9f, &far, &other))
        sun = 0;
    if (sun > 0)
        sun *= und_shade_things_sun(stage, from);
    return f3_times(f3_of(color), f3_along(und_sky_ambient(&stage->sky, n), stage->sky.sun_color, sun));
}

static f3 color_at(const und_shade_view *v, int32_t id, f3 p, int depth)
{
    const und_scenery *stage = v->stage;
    float ratio = (float)stage->def.refraction, small = 1e-4f * stage->mesh.span;
    f3 n = skin_normal(&stage->liquid, id, p);
    if (f3_dot(face_normal(&stage->liquid, id, p), v->dir) > 0) /* seen from behind */
        n = f3_scale(n, -1);
    float facing = -f3_dot(v->dir, n);
    if (facing < UND_LEAST_FACING) { /* smooth normals turn away at the outline */
        n = f3_unit(f3_along(n, v->dir, -(UND_LEAST_FACING - facing)));
        facing = UND_LEAST_FACING;
    }
    f3 up = f3_unit(und_mirror(v->dir, n));
    f3 inside =
        stage->texture ? painted(v, id, p, n) : seen_inside(v, p, und_bend(v->dir, n, ratio), n, depth);
    float gloss = stage->texture ? (float)stage->def.gloss : 1;
    f3 color =
        f3_mix(inside, und_shade_beyond(v, f3_along(p, n, small), up), gloss * und_fresnelf(facing, ratio));
    float lit = gloss * und_shade_things_sun(stage, f3_along(p, n, small));
    return lit > 0 ? f3_along(color, highlight(stage, v->dir, n), lit) : color;
}

f3 und_shade_liquid(const und_shade_view *v, int32_t id, f3 p)
{
    return color_at(v, id, p, 0);
}

f3 und_shade_liquid_sun(const und_scenery *stage, f3 p)
{
    const und_drawn_mesh *skin = &stage->liquid;
    f3 sun = stage->sky.sun, through = f3_gray(1), from = f3_along(p, sun, 1e-4f * stage->mesh.span);
    for (int k = 0; k < BOUNCES && skin->count > 0; k++) {
        float enter, way = 0;
        int32_t triangle;
        if (!und_tree_hit(skin, from, sun, 1e9f, &enter, &triangle))
            break;
        if (stage->texture)
            return f3_gray(0);
        from = f3_along(from, sun, enter + 1e-4f * stage->mesh.span);
        und_tree_hit(skin, from, sun, 1e9f, &way, &triangle);
        through =
            f3_times(through, f3_scale(und_left(f3_of(stage->def.absorption), way), straight_on(stage, way)));
        from = f3_along(from, sun, way + 1e-4f * stage->mesh.span);
    }
    return through;
}
