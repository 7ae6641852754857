/* Colours of what the z-buffers show. */
#include "render/shade.h"

#include "base/maths.h"

/* What of objects a pixel shows: where neighbours differ an edge runs through them, and what moves is drawn
 * more than once. */
enum { MARK_MIRRORED = 1, MARK_SUNKEN = 2, MARK_WALL = 4, MARK_MOVING = 8 };

typedef und_shade_view view;

static float sun_at(const view *v, f3 p)
{
    const und_drawn_mesh *soup = &v->stage->soup;
    if (soup->count > 0 && soup->velocity) {
        float a = f3_dot(p, soup->u), b = f3_dot(p, soup->v), pad = 4 * soup->texel;
        const float *m = soup->moving_sun;
        if (a > m[0] - pad && a < m[1] + pad && b > m[2] - pad && b < m[3] + pad)
            *v->mark |= MARK_MOVING;
    }
    return und_shade_things_sun(v->stage, p);
}

static void mark_moving(const view *v, f3 from, f3 dir, float far)
{
    if (und_box_enter(&v->stage->soup.moving, from, und_inverse(dir), far) < INFINITY)
        *v->mark |= MARK_MOVING;
}

bool und_shade_meets_object(const view *v, f3 from, f3 dir, float far, float *t, int32_t *id)
{
    const und_drawn_mesh *soup = &v->stage->soup;
    if (soup->count == 0)
        return false;
    if (soup->velocity)
        mark_moving(v, from, dir, far);
    int32_t triangle;
    if (!und_tree_hit(soup, from, dir, far, t, &triangle))
        return false;
    *id = ID_OBJECT + triangle;
    return true;
}

/* Light that the ground sends back, from any side; `water` is how deep it lies. */
static f3 ground_light(const view *v, f3 p, const float *m, const und_material *g, float water)
{
    const und_render *r = v->r;
    const und_sky *sky = &r->stage->sky;
    f3 absorption = f3_of(r->stage->def.absorption);
    float open = m[M_OPEN] * (r->stage->drawing == UND_DRAWS_BOX ? und_around_open(&r->around, p) : 1);
    f3 ambient = f3_scale(und_sky_ambient(sky, g->normal), open);
    float sun = m[M_SUN_GROUND];
    f3 towards = sky->sun;
    if (water > 0) {
        /* Through the surface: less enters, and the beam is narrower (Snell). */
        float n = (float)r->stage->def.refraction, c = maxf(sky->sun.y, UND_LOWEST_SUN);
        float below = und_bent_cosine(c, n);
        towards = f3_make(sky->sun.x / n, below, sky->sun.z / n);
        float blend = und_film_depth(water, r->stage->mesh.cell);
        sun *= mixf(1, und_beam(c, n, below), blend);
        towards = f3_unit(f3_mix(sky->sun, towards, blend));
        sun *= und_shade_in_water(sun_at(v, f3_along(p, towards, water / below)));
        f3 lost = und_left(absorption, water / below);
        f3 direct = f3_scale(f3_times(sky->sun_color, lost), sun * maxf(f3_dot(g->normal, towards), 0));
        direct = f3_scale(direct, und_caustics_at(r, p.x, p.z));
        return f3_times(g->color,
                        f3_add(direct, f3_times(ambient, und_left(absorption, UND_SKY_WAY * water))));
    }
    sun *= sun_at(v, p);
    float light = sun * maxf(f3_dot(g->normal, towards), 0) * und_caustics_at(r, p.x, p.z);
    f3 color = sky->sun_color;
    if (r->stage->liquid.count > 0 && light > 0)
        color = f3_times(color, und_shade_liquid_sun(r->stage, p));
    return f3_times(g->color, f3_along(ambient, color, light));
}

/* What a ray that leaves the surface meets: hills, objects, or the sky. */
static bool hits_hill(const und_scenery *stage, f3 from, f3 dir, f3 *hit)
{
    const und_mesh *m = &stage->mesh;
    float step = 1.5f * m->h, t = 0, before = 0;
    for (int k = 0; k < 16; k++, step *= 1.4f) {
        before = t;
        t += step;
        f3 p = f3_along(from, dir, t);
        if (p.y > m->ground_high || p.x < m->x0 || p.x > m->x1 || p.z < m->z0 || p.z > m->z1)
            return false;
        if (und_stage_mesh_ground(m, p.x, p.z) < p.y)
            continue;
        for (int b = 0; b < 4; b++) {
            float middle = 0.5f * (before + t);
            p = f3_along(from, dir, middle);
            if (und_stage_mesh_ground(m, p.x, p.z) < p.y)
                before = middle;
            else
                t = middle;
        }
        *hit = f3_along(from, dir, t);
        return true;
    }
    return false;
}

static f3 reflected(const view *v, f3 p, f3 dir)
{
    const und_scenery *stage = v->stage;
    f3 hit;
    float t;
    int32_t id;
    dir.y = maxf(dir.y, 0.01f); /* between waves the sky again */
    if (und_shade_meets_object(v, p, dir, 1e9f, &t, &id)) {
        *v->mark |= MARK_MIRRORED;
        return und_shade_object(v, id, f3_along(p, dir, t), dir, -1);
    }
    if (p.y < stage->mesh.ground_high && hits_hill(stage, p, dir, &hit)) {
        float m[M_COUNT];
        und_stage_mesh_at(&stage->mesh, hit.x, hit.z, m);
        und_material g = und_material_at(stage, m, hit, 4 * v->footprint);
        und_wet_down(stage, &g, m[M_WET], 0);
        return ground_light(v, hit, m, &g, 0);
    }
    return und_sky_at(&stage->sky, dir);
}

f3 und_render_ground_color(const view *v, f3 p)
{
    float m[M_COUNT];
    und_stage_mesh_at(&v->stage->mesh, p.x, p.z, m);
    und_material g = und_material_at(v->stage, m, p, 2 * v->footprint);
    return ground_light(v, p, m, &g, 0);
}

static f3 shade_ground(const view *v, f3 p, const float *m)
{
    const und_scenery *stage = v->stage;
    und_material g = und_material_at(stage, m, p, v->footprint);
    float wet = clampf(m[M_WET], 0, 1);
    und_wet_down(stage, &g, wet, 0);
    f3 color = ground_light(v, p, m, &g, 0);
    if (wet > 0.01f) {
        f3 n = f3_unit(
            f3_make(0.5f * (g.normal.x) - 0.5f * m[M_GX], g.normal.y, 0.5f * g.normal.z - 0.5f * m[M_GZ]));
        float sheen = und_wet_sheen(wet, (float)stage->def.sheen) * g.wet_gloss *
                      und_fresnelf(-f3_dot(v->dir, n), (float)stage->def.refraction);
        color = f3_mix(color, reflected(v, p, f3_unit(und_mirror(v->dir, n))), sheen);
    }
    return color;
}

/* The sun in the waves, about a slope. */
static f3 glitter(const und_scenery *stage, f3 dir, float sx, float sz, float variance)
{
    f3 half = f3_unit(f3_sub(stage->sky.sun, dir));
    if (half.y < 0.05f)
        return f3_gray(0);
    float dx = -half.x / half.y - sx, dz = -half.z / half.y - sz, a = (dx * dx + dz * dz) / (2 * variance);
    float mirrored = und_fresnelf(-f3_dot(dir, half), (float)stage->def.refraction);
    return f3_scale(stage->sky.sun_color, und_glitter(a, variance, mirrored, half.y * half.y, -dir.y));
}

/* How far below the ground a ray is after t metres; negative: above it. */
static float sunk(const und_scenery *stage, f3 p, f3 dir, float t)
{
    f3 q = f3_along(p, dir, t);
    return und_stage_mesh_ground(&stage->mesh, q.x, q.z) - q.y;
}

/* The first place where a ray that is under the ground at t went in: a wall. */
static float wall_distance(const und_scenery *stage, f3 p, f3 dir, float t)
{
    enum { MARCH = 10, HALVE = 5 };
    float before = 0, after = t;
    for (int k = 1; k < MARCH; k++) {
        float here = t * (float)k / MARCH;
        if (sunk(stage, p, dir, here) > 0) {
            after = here;
            break;
        }
        before = here;
    }
    for (int k = 0; k < HALVE; k++) {
        float middle = 0.5f * (before + after), below = sunk(stage, p, dir, middle);
        before = below > 0 ? before : middle;
        after = below > 0 ? middle : after;
    }
    return after;
}

/* Where a bent ray meets the ground: flat bottom first (Kass & Miller 1990, fig. 3), then again with the
 * ground found there, and where that leads through a wall, at the wall. */
static float bottom_distance(const und_scenery *stage, f3 p, f3 dir, float depth)
{
    float down = maxf(-dir.y, 0.05f), t = depth / down, off = sunk(stage, p, dir, t);
    if (off > 0.15f * depth)
        return wall_distance(stage, p, dir, t);
    for (int k = 0; k < 2; k++) {
        t = maxf(t - 0.65f * off / down, 0);
        off = sunk(stage, p, dir, t);
    }
    return maxf(t - 0.65f * off / down, 0);
}

static f3 deep_color(const und_scenery *stage, const float *m)
{
    f3 color = f3_of(stage->def.water_color);
    if (stage->mesh.has_dye)
        color = f3_mix(color, f3_of(stage->def.dye_color), clampf(m[M_DYE], 0, 1));
    f3 light = und_sky_ambient(&stage->sky, f3_make(0, 1, 0));
    light = f3_along(light, stage->sky.sun_color, m[M_SUN_WATER] * maxf(stage->sky.sun.y, 0));
    return f3_times(color, light);
}

/* An object under water, seen through it. */
static bool sunken_object(const view *v, f3 p, f3 dir, float far, f3 *color, float *t)
{
    int32_t id;
    float distance;
    if (!und_shade_meets_object(v, p, dir, far, &distance, &id))
        return false;
    *v->mark |= MARK_SUNKEN;
    *t = distance;
    f3 hit = f3_along(p, dir, distance);
    float surface[4];
    und_stage_mesh_water_at(&v->stage->mesh, hit.x, hit.z, surface);
    *color = und_shade_object(v, id, hit, dir, maxf(surface[M_GROUND] + surface[M_DEPTH] - hit.y, 0));
    return true;
}

/* How far it is to the walls of a tiled pool, which stand at the domain's edge; in `normal` the wall's. */
static float edge_distance(const und_mesh *m, f3 p, f3 dir, f3 *normal)
{
    float x = fabsf(dir.x) > 1e-6f ? ((dir.x > 0 ? m->x1 : m->x0) - p.x) / dir.x : 1e30f;
    float z = fabsf(dir.z) > 1e-6f ? ((dir.z > 0 ? m->z1 : m->z0) - p.z) / dir.z : 1e30f;
    *normal = x < z ? f3_make(dir.x > 0 ? -1 : 1, 0, 0) : f3_make(0, 0, dir.z > 0 ? -1 : 1);
    return maxf(minf(x, z), 0);
}

/* The bottom, or a pool's wall, at q under the surface. */
static f3 bottom_color(const view *v, f3 q, const f3 *wall)
{
    const und_scenery *stage = v->stage;
    float b[M_COUNT];
    und_stage_mesh_at(&stage->mesh, q.x, q.z, b);
    und_material g =
        wall ? und_material_tiles(stage, q, *wall, v->footprint) : und_material_at(stage, b, q, v->footprint);
    float film = und_wet_by_film(b[M_DEPTH], stage->mesh.cell);
    und_wet_down(stage, &g, mixf(clampf(b[M_WET], 0, 1), 1, film), b[M_DEPTH]);
    /* On a steep wall the mesh's depth changes within less than a pixel: what is above q counts. */
    bool steep = wall || b[M_GX] * b[M_GX] + b[M_GZ] * b[M_GZ] > 9;
    float above = b[M_GROUND] + b[M_DEPTH] - q.y;
    return ground_light(v, q, b, &g, maxf(steep ? above : b[M_DEPTH], 1e-5f));
}

/* What comes up through the surface at p along the bent ray. */
static f3 seen_through(const view *v, f3 p, f3 dir, const float *m, float depth)
{
    const und_scenery *stage = v->stage;
    float t = bottom_distance(stage, p, dir, depth), edge = INFINITY;
    f3 normal;
    if (stage->def.ground_pattern == UND_GROUND_TILES)
        edge = edge_distance(&stage->mesh, p, dir, &normal);
    bool wall = edge < t;
    if (wall)
        *v->mark |= MARK_WALL;
    t = minf(t, edge);
    f3 color = bottom_color(v, f3_along(p, dir, t), wall ? &normal : NULL);
    sunken_object(v, p, dir, t, &color, &t);
    f3 left = und_left(und_water_absorption(stage, m), t);
    return f3_add(f3_times(color, left), f3_times(deep_color(stage, m), f3_sub(f3_gray(1), left)));
}

static f3 foam_light(const view *v, f3 p, const float *m, f3 n)
{
    const und_scenery *stage = v->stage;
    n = f3_unit(f3_make(UND_FOAM_ROUND * n.x, n.y, UND_FOAM_ROUND * n.z));
    float sun = m[M_SUN_WATER] * maxf(f3_dot(n, stage->sky.sun), 0) * sun_at(v, p);
    return f3_scale(f3_along(und_sky_ambient(&stage->sky, n), stage->sky.sun_color, sun),
                    UND_FOAM_BRIGHT * (float)stage->def.foam);
}

static f3 shade_water(const view *v, f3 p, const float *m)
{
    const und_scenery *stage = v->stage;
    float depth = maxf(m[M_DEPTH], 0), ratio = (float)stage->def.refraction;
    float shore = und_shore_depth((float)stage->def.shore, stage->mesh.cell);
    float full = stepf(0, shore, depth), sx = full * m[M_WX] + (1 - full) * m[M_GX];
    float sz = full * m[M_WZ] + (1 - full) * m[M_GZ], fine[2] = {0, 0};
    float variance = und_facet_variance(v->footprint, stage->mesh.h);
    if (stage->def.ripples > 0)
        und_ripples_at(stage, p, m, v->footprint, (float)stage->def.ripples * full, fine, &variance);
    /* Seen through them the bottom would only blur: it gets a part of the ripples. */
    f3 lens = f3_unit(f3_make(-sx - UND_LENS_RIPPLES * fine[0], 1, -sz - UND_LENS_RIPPLES * fine[1]));
    sx += fine[0];
    sz += fine[1];
    f3 n = f3_unit(f3_make(-sx, 1, -sz));
    float facing = -f3_dot(v->dir, n);
    if (facing < UND_LEAST_FACING) { /* a slope turned away, within a pixel: seen edge on */
        n = lens = f3_unit(f3_along(n, v->dir, -(UND_LEAST_FACING - facing)));
        facing = UND_LEAST_FACING;
    }
    float wet = clampf(m[M_WET], 0, 1);
    float mirrored = und_fresnelf(facing, ratio) * mixf(und_wet_sheen(wet, (float)stage->def.sheen), 1, full);
    f3 below =
        seen_through(v, p, und_bend(v->dir, f3_dot(v->dir, lens) < -0.02f ? lens : n, ratio), m, depth);
    f3 above = reflected(v, p, f3_unit(und_mirror(v->dir, n)));
    f3 color = f3_mix(below, above, mirrored);
    float sun = m[M_SUN_WATER] * full;
    if (sun > 0)
        sun *= sun_at(v, p);
    if (sun > 0)
        color = f3_along(color, glitter(stage, v->dir, sx, sz, variance), sun);
    float foam = und_stage_foam_cover(stage, p, m, v->footprint);
    return foam > 0 ? f3_mix(color, foam_light(v, p, m, n), foam) : color;
}

f3 und_shade_object(const view *v, int32_t id, f3 p, f3 dir, float water)
{
    const und_scenery *stage = v->stage;
    size_t k = (size_t)(id - ID_OBJECT);
    const float *a = stage->soup.position + 9 * k;
    float s, t;
    und_weights(a, p, &s, &t);
    f3 e1 = f3_sub(f3_of(a + 3), f3_of(a)), e2 = f3_sub(f3_of(a + 6), f3_of(a));
    f3 normal = f3_unit(und_blend(stage->soup.normal + 9 * k, s, t)), base = f3_gray(0.7f);
    if (stage->soup.color)
        base = und_blend(stage->soup.color + 9 * k, s, t);
    if (f3_dot(f3_cross(e1, e2), dir) > 0) /* seen from behind, or wound the other way */
        normal = f3_scale(normal, -1);
    const und_sky *sky = &stage->sky;
    float sun = maxf(f3_dot(normal, sky->sun), 0),
          lit = sun > 0 ? sun_at(v, f3_along(p, normal, 2 * stage->soup.texel)) : 0;
    sun *= lit;
    f3 light = f3_along(und_sky_ambient(sky, normal), sky->sun_color, sun);
    if (water >= 0)
        return f3_times(f3_times(base, light), und_left(f3_of(stage->def.absorption), UND_SKY_WAY * water));
    f3 up = f3_unit(und_mirror(dir, normal));
    float gloss = und_coat(-f3_dot(dir, normal), up.y);
    f3 half = f3_unit(f3_sub(sky->sun, dir));
    float shine = UND_COAT_BRIGHT * lit * und_powf(maxf(f3_dot(half, normal), 0), UND_COAT_SHARP);
    return f3_along(f3_mix(f3_times(base, light), und_sky_at(sky, up), gloss), sky->sun_color, shine);
}

static f3 side_normal(int side)
{
    return f3_make(side == 0 ? -1.0f : side == 1 ? 1.0f : 0, 0, side == 2 ? -1.0f : side == 3 ? 1.0f : 0);
}

static f3 shade_cut_ground(const view *v, f3 p, int side)
{
    const und_scenery *stage = v->stage;
    f3 earth = und_cut_ground(stage, p, side, v->footprint);
    f3 normal = side_normal(side), light = und_sky_ambient(&stage->sky, normal);
    light = f3_along(light, stage->sky.sun_color, und_cut_sun(f3_dot(normal, stage->sky.sun)));
    return f3_times(earth, light);
}

/* Where a ray inside the water leaves it: -1 at the ground, 1 at the surface, 0 through a side. */
static int leaves_water(const und_mesh *mesh, f3 p, f3 dir, float *distance, float m[M_COUNT])
{
    float end = 1e30f, step = mesh->h, before = 0;
    end = minf(end, fabsf(dir.x) > 1e-6f ? ((dir.x > 0 ? mesh->x1 : mesh->x0) - p.x) / dir.x : end);
    end = minf(end, fabsf(dir.z) > 1e-6f ? ((dir.z > 0 ? mesh->z1 : mesh->z0) - p.z) / dir.z : end);
    end = maxf(end, 0);
    for (float t = 0; before < end; step *= 1.1f) {
        t = minf(before + step, end);
        for (int refine = 0;; refine++) {
            f3 q = f3_along(p, dir, t);
            und_stage_mesh_water_at(mesh, q.x, q.z, m);
            bool out = q.y <= m[M_GROUND] || q.y > m[M_GROUND] + m[M_DEPTH];
            if (!out && refine == 0)
                break;
            if (refine == 5) {
                *distance = t;
                und_stage_mesh_at(mesh, q.x, q.z, m);
                return q.y > m[M_GROUND] + 0.5f * m[M_DEPTH] ? 1 : -1;
            }
            step *= 0.5f; /* back and forth in halves */
            t += out ? -step : step;
        }
        before = t;
    }
    *distance = end;
    return 0;
}

/* The cut face of the water, as through the glass of a tank. */
static f3 shade_cut_water(const view *v, f3 p, int side)
{
    const und_scenery *stage = v->stage;
    float ratio = (float)stage->def.refraction, m[M_COUNT], start[M_COUNT], t = 0;
    f3 normal = side_normal(side), dir = und_bend(v->dir, normal, ratio), color = f3_gray(0);
    und_stage_mesh_at(&stage->mesh, p.x, p.z, start);
    int where = 0;
    f3 q = p;
    bool sunken = false;
    for (int k = 0; k < 3 && where == 0 && !sunken; k++) { /* inside, the other faces are mirrors */
        float one;
        where = leaves_water(&stage->mesh, q, dir, &one, m);
        sunken = sunken_object(v, q, dir, one, &color, &one);
        q = f3_along(q, dir, one);
        t += one;
        if (where == 0) {
            bool at_x = q.x <= stage->mesh.x0 + 1e-4f * stage->mesh.h ||
                        q.x >= stage->mesh.x1 - 1e-4f * stage->mesh.h;
            dir = at_x ? f3_make(-dir.x, dir.y, dir.z) : f3_make(dir.x, dir.y, -dir.z);
        }
    }
    if (!sunken && where < 0) {
        und_material g = und_material_at(stage, m, q, v->footprint);
        und_wet_down(stage, &g, 1, m[M_DEPTH]);
        color = ground_light(v, q, m, &g, maxf(m[M_DEPTH], 1e-5f));
    } else if (!sunken && where > 0) {
        f3 n = f3_unit(f3_make(m[M_WX], -1, m[M_WZ])); /* from below */
        float back = und_fresnelf(-f3_dot(dir, n), 1 / ratio);
        color = f3_mix(und_sky_at(&stage->sky, und_bend(dir, n, 1 / ratio)), deep_color(stage, m), back);
    } else if (!sunken) {
        color = deep_color(stage, start);
    }
    f3 left = und_left(und_water_absorption(stage, start), t);
    color = f3_add(f3_times(color, left), f3_times(deep_color(stage, start), f3_sub(f3_gray(1), left)));
    float mirrored = und_fresnelf(-f3_dot(v->dir, normal), ratio);
    color = f3_mix(color, und_sky_at(&stage->sky, und_mirror(v->dir, normal)), mirrored);
    float rim = und_cut_edge(start[M_GROUND] + start[M_DEPTH] - p.y, v->footprint);
    return f3_mix(color, f3_scale(stage->sky.ambient[0], UND_CUT_RIM), rim);
}

static f3 hazy(const view *v, f3 color)
{
    double haze = v->stage->def.haze;
    if (!(haze > 0) || isinf(haze))
        return color;
    f3 far = und_sky_at(&v->stage->sky, f3_unit(f3_make(v->dir.x, UND_HORIZON, v->dir.z)));
    return f3_mix(far, color, und_expf(-v->distance / (float)haze));
}

/* The kinds of surface a sample can show. */
enum { SHOWS_SKY, SHOWS_GROUND, SHOWS_WATER, SHOWS_OTHER, SHOWS_LIQUID };

static int shows(const und_render *r, size_t at)
{
    float water = r->buffers.water[at], nearest = maxf(water, r->buffers.opaque[at]);
    if (r->stage->liquid.count > 0 && r->buffers.liquid[at] > nearest)
        return SHOWS_LIQUID;
    if (water > r->buffers.opaque[at])
        return SHOWS_WATER;
    int32_t id = r->buffers.id[at];
    return id == ID_NONE ? SHOWS_SKY : id == ID_GROUND ? SHOWS_GROUND : SHOWS_OTHER;
}

/* The depth of what a sample shows. */
static float depth_of(const und_buffers *b, size_t at, int kind)
{
    return kind == SHOWS_LIQUID ? b->liquid[at] : kind == SHOWS_WATER ? b->water[at] : b->opaque[at];
}

/* The colour of the nearest thing at (x, y) in samples, which has depth w. */
static f3 shade_at(const und_render *r, float x, float y, int kind, float w, int32_t id, unsigned char *mark)
{
    const und_shot *c = &r->stage->camera;
    f3 d = f3_scale(c->forward, c->focal);
    d = f3_along(d, c->right, x - 0.5f * (float)c->width);
    d = f3_along(d, c->up, 0.5f * (float)c->height - y);
    float length = sqrtf(f3_dot(d, d));
    view v = {.r = r, .stage = r->stage, .mark = mark, .dir = f3_scale(d, 1 / length)};
    if (r->stage->soup.velocity)
        mark_moving(&v, c->eye, v.dir, 1e9f);
    if (kind == SHOWS_SKY)
        return und_render_tank_over(
            &v, c->eye, f3_add(und_sky_at(&r->stage->sky, v.dir), und_sky_disc(&r->stage->sky, v.dir)),
            INFINITY);
    v.distance = length / (c->focal * w);
    v.footprint = (float)r->stage->def.samples * v.distance / (c->focal * sqrtf(maxf(-v.dir.y, 0.08f)));
    f3 p = f3_along(c->eye, v.dir, v.distance), color;
    float m[M_COUNT];
    if (kind == SHOWS_LIQUID) {
        color = und_shade_liquid(&v, id - ID_OBJECT, p);
    } else if (kind == SHOWS_OTHER && id >= ID_OBJECT) {
        color = und_shade_object(&v, id, p, v.dir, -1);
    } else if (kind == SHOWS_OTHER) {
        color = id >= ID_SIDE_WATER ? shade_cut_water(&v, p, id - ID_SIDE_WATER)
                                    : shade_cut_ground(&v, p, id - ID_SIDE_GROUND);
    } else {
        und_stage_mesh_at(&r->stage->mesh, p.x, p.z, m);
        color = kind == SHOWS_WATER ? shade_water(&v, p, m) : shade_ground(&v, p, m);
    }
    return hazy(&v, und_render_tank_over(&v, c->eye, color, v.distance));
}

/* One sample is enough where all of a pixel's show the same smooth surface and the mesh is coarser than it.
 */
static bool is_plain(const und_scenery *stage, int kind, float low, float high)
{
    if (stage->tank.kind != UND_TANK_NONE)
        return false;
    if (kind == SHOWS_SKY)
        return true;
    if (kind == SHOWS_OTHER || kind == SHOWS_LIQUID)
        return false;
    float pixel = (float)stage->def.samples / (stage->camera.focal * low);
    return high < 1.02f * low && pixel < 1.2f * stage->mesh.h;
}

static f3 shade_samples(const und_render *r, int px, int py, unsigned char *mark)
{
    int s = r->stage->def.samples, width = r->stage->camera.width;
    f3 color = f3_gray(0);
    for (int k = 0; k < s * s; k++) {
        int x = px * s + k % s, y = py * s + k / s;
        size_t at = (size_t)y * (size_t)width + (size_t)x;
        int kind = shows(r, at);
        int32_t id = kind == SHOWS_LIQUID ? r->buffers.liquid_id[at] : r->buffers.id[at];
        f3 one =
            shade_at(r, (float)x + 0.5f, (float)y + 0.5f, kind, depth_of(&r->buffers, at, kind), id, mark);
        /* A single glint must not make a jagged dot: the mean is of values the film can hold. */
        color = f3_add(color, f3_make(minf(one.x, 16), minf(one.y, 16), minf(one.z, 16)));
    }
    return f3_scale(color, 1 / (float)(s * s));
}

static f3 shade_pixel(const und_render *r, int px, int py, unsigned char *mark)
{
    int s = r->stage->def.samples, width = r->stage->camera.width, first = SHOWS_SKY;
    float low = INFINITY, high = 0;
    double sum = 0;
    bool same = true;
    for (int k = 0; k < s * s; k++) {
        size_t at = (size_t)(py * s + k / s) * (size_t)width + (size_t)(px * s + k % s);
        int kind = shows(r, at);
        float w = depth_of(&r->buffers, at, kind);
        first = k ? first : kind;
        same = same && kind == first;
        low = minf(low, w);
        high = maxf(high, w);
        sum += w;
    }
    if (same && is_plain(r->stage, first, low, high))
        return shade_at(r, ((float)px + 0.5f) * (float)s, ((float)py + 0.5f) * (float)s, first,
                        (float)(sum / (s * s)), 0, mark);
    return shade_samples(r, px, py, mark);
}

/* Does the edge of something sunken or mirrored, or of a pool's wall, run through the pixel? */
static bool is_edge(const und_render *r, const und_image *image, int x, int y)
{
    enum { SHOWN = MARK_MIRRORED | MARK_SUNKEN | MARK_WALL };
    const unsigned char *mark = r->mark + (size_t)y * (size_t)image->width + (size_t)x;
    int own = *mark & SHOWN;
    return (x > 0 && (mark[-1] & SHOWN) != own) || (x + 1 < image->width && (mark[1] & SHOWN) != own) ||
           (y > 0 && (mark[-image->width] & SHOWN) != own) ||
           (y + 1 < image->height && (mark[image->width] & SHOWN) != own);
}

/* How a row of pixels is shaded: all of them; edges again, with all samples; or what moves, added up. */
enum { ROW_ALL, ROW_EDGES, ROW_MOVING };

static void shade_row(const und_render *r, und_image *image, int y, int what, float share)
{
    float gain = und_exp2f((float)r->stage->def.exposure);
    for (int x = 0; x < image->width; x++) {
        size_t at = (size_t)y * (size_t)image->width + (size_t)x;
        unsigned char none = 0, *mark = r->mark && what == ROW_ALL ? r->mark + at : &none;
        if ((what == ROW_EDGES && !is_edge(r, image, x, y)) ||
            (what == ROW_MOVING && !(r->mark[at] & MARK_MOVING)))
            continue;
        *mark = 0;
        f3 c = what == ROW_ALL ? shade_pixel(r, x, y, mark) : shade_samples(r, x, y, mark);
        float *out = image->rgb + 3 * at, kept = what == ROW_MOVING && share < 1 ? 1 - share : 0;
        c = f3_scale(c, gain * (1 - kept));
        out[0] = kept * out[0] + c.x;
        out[1] = kept * out[1] + c.y;
        out[2] = kept * out[2] + c.z;
    }
}

static void shade_rows(const und_render *r, und_image *image, int what, float share)
{
    enum { ROWS = 4 };
    PARALLEL_FOR(r->stage->threads)
    for (int strip = 0; strip < (image->height + ROWS - 1) / ROWS; strip++)
        for (int y = strip * ROWS;
             y < (strip + 1) * ROWS && y < image->height && !und_scenery_stopped(r->stage); y++)
            shade_row(r, image, y, what, share);
}

void und_shade(und_render *r, und_image *image, int pose, int poses)
{
    if (pose == 0)
        shade_rows(r, image, ROW_ALL, 1);
    if (pose == 0 && r->mark && r->stage->def.samples > 1)
        shade_rows(r, image, ROW_EDGES, 1);
    if (poses > 1)
        shade_rows(r, image, ROW_MOVING, 1 / (float)(pose + 1)); /* the mean so far, the first anew */
}
