/* Colours of what the z-buffers show. */
#include "render/shade.h"

#include "base/maths.h"

/* What of objects a pixel shows: where neighbours differ an edge runs through them, and what moves is drawn
 * more than once. */
enum { MARK_MIRRORED = 1, MARK_SUNKEN = 2, MARK_WALL = 4, MARK_MOVING = 8 };

typedef und_shade_view view;

static float sun_at(const view *v, f3 p)
{
    const und_drawn_mesh *soup = &v->r->soup;
    if (soup->count > 0 && soup->velocity) {
        float a = f3_dot(p, soup->u), b = f3_dot(p, soup->v), pad = 4 * soup->texel;
        const float *m = soup->moving_sun;
        if (a > m[0] - pad && a < m[1] + pad && b > m[2] - pad && b < m[3] + pad)
            *v->mark |= MARK_MOVING;
    }
    return und_things_sun(v->r, p);
}

static void mark_moving(const view *v, f3 from, f3 dir, float far)
{
    if (und_box_enter(&v->r->soup.moving, from, und_inverse(dir), far) < INFINITY)
        *v->mark |= MARK_MOVING;
}

bool und_meets_object(const view *v, f3 from, f3 dir, float far, float *t, int32_t *id)
{
    const und_drawn_mesh *soup = &v->r->soup;
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
    const und_sky *sky = &r->sky;
    f3 absorption = f3_of(r->def.absorption);
    float open = m[M_OPEN] * (r->drawing == UND_DRAWS_BOX ? und_box_open(r, p) : 1);
    f3 ambient = f3_scale(und_sky_ambient(sky, g->normal), open);
    float sun = m[M_SUN_GROUND];
    f3 towards = sky->sun;
    if (water > 0) {
        /* Through the surface: less enters, and the beam is narrower (Snell). */
        float n = (float)r->def.refraction, c = maxf(sky->sun.y, 0.02f);
        float below = sqrtf(1 - (1 - c * c) / (n * n));
        towards = f3_make(sky->sun.x / n, below, sky->sun.z / n);
        float blend = clampf(water / (0.5f * r->mesh.cell), 0, 1);
        sun *= mixf(1, (1 - und_fresnelf(c, n)) * c / below, blend);
        towards = f3_unit(f3_mix(sky->sun, towards, blend));
        sun *= 0.2f + 0.8f * sun_at(v, f3_along(p, towards, water / below)); /* water scatters */
        f3 lost = f3_exp(absorption, water / below);
        f3 direct = f3_scale(f3_times(sky->sun_color, lost), sun * maxf(f3_dot(g->normal, towards), 0));
        direct = f3_scale(direct, und_caustics_at(r, p.x, p.z));
        return f3_times(g->color, f3_add(direct, f3_times(ambient, f3_exp(absorption, 1.2f * water))));
    }
    sun *= sun_at(v, p);
    float light = sun * maxf(f3_dot(g->normal, towards), 0) * und_caustics_at(r, p.x, p.z);
    f3 color = sky->sun_color;
    if (r->liquid.count > 0 && light > 0)
        color = f3_times(color, und_liquid_sun(r, p));
    return f3_times(g->color, f3_along(ambient, color, light));
}

/* Kass & Miller 1990: wetness darkens the ground by up to a half.  Under deep water we take less, where the
 * water itself darkens it. */
void und_wet_down(const und_render *r, und_material *g, float wet, float depth)
{
    float less = 1 - 0.5f * clampf(depth / (6 * r->mesh.cell), 0, 1);
    g->color = f3_scale(g->color, 1 - (float)r->def.wet_darkening * g->porous * wet * less);
}

/* What a ray that leaves the surface meets: hills, objects, or the sky. */
static bool hits_hill(const und_render *r, f3 from, f3 dir, f3 *hit)
{
    const und_mesh *m = &r->mesh;
    float step = 1.5f * m->h, t = 0, before = 0;
    for (int k = 0; k < 16; k++, step *= 1.4f) {
        before = t;
        t += step;
        f3 p = f3_along(from, dir, t);
        if (p.y > m->ground_high || p.x < m->x0 || p.x > m->x1 || p.z < m->z0 || p.z > m->z1)
            return false;
        if (und_mesh_ground(m, p.x, p.z) < p.y)
            continue;
        for (int b = 0; b < 4; b++) {
            float middle = 0.5f * (before + t);
            p = f3_along(from, dir, middle);
            if (und_mesh_ground(m, p.x, p.z) < p.y)
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
    const und_render *r = v->r;
    f3 hit;
    float t;
    int32_t id;
    dir.y = maxf(dir.y, 0.01f); /* between waves the sky again */
    if (und_meets_object(v, p, dir, 1e9f, &t, &id)) {
        *v->mark |= MARK_MIRRORED;
        return und_object_color(v, id, f3_along(p, dir, t), dir, -1);
    }
    if (p.y < r->mesh.ground_high && hits_hill(r, p, dir, &hit)) {
        float m[M_COUNT];
        und_mesh_at(&r->mesh, hit.x, hit.z, m);
        und_material g = und_material_at(r, m, hit, 4 * v->footprint);
        und_wet_down(r, &g, m[M_WET], 0);
        return ground_light(v, hit, m, &g, 0);
    }
    return und_sky_at(&r->sky, dir);
}

f3 und_ground_color(const view *v, f3 p)
{
    float m[M_COUNT];
    und_mesh_at(&v->r->mesh, p.x, p.z, m);
    und_material g = und_material_at(v->r, m, p, 2 * v->footprint);
    return ground_light(v, p, m, &g, 0);
}

static f3 shade_ground(const view *v, f3 p, const float *m)
{
    const und_render *r = v->r;
    und_material g = und_material_at(r, m, p, v->footprint);
    float wet = clampf(m[M_WET], 0, 1);
    und_wet_down(r, &g, wet, 0);
    f3 color = ground_light(v, p, m, &g, 0);
    if (wet > 0.01f) {
        f3 n = f3_unit(
            f3_make(0.5f * (g.normal.x) - 0.5f * m[M_GX], g.normal.y, 0.5f * g.normal.z - 0.5f * m[M_GZ]));
        float sheen = wet * wet * (float)r->def.sheen * g.wet_gloss *
                      und_fresnelf(-f3_dot(v->dir, n), (float)r->def.refraction);
        color = f3_mix(color, reflected(v, p, f3_unit(und_mirror(v->dir, n))), sheen);
    }
    return color;
}

/* Patterns that drift with the water: two copies, each carried along for a while and taken back while it
 * cannot be seen, half a period apart (Max & Becker 1996). */
typedef struct carried {
    float x[2], z[2], weight[2];
} carried;

static carried carry(const und_render *r, f3 p, const float *m)
{
    const float period = 1.5f;
    carried c = {.x = {p.x, p.x}, .z = {p.z, p.z}, .weight = {0.5f, 0.5f}};
    for (int k = 0; k < 2 && r->mesh.has_flow; k++) {
        float phase = (float)(r->time / period + 0.5 * k), part = phase - floorf(phase);
        c.x[k] -= (part - 0.5f) * period * m[M_FLOW_X];
        c.z[k] -= (part - 0.5f) * period * m[M_FLOW_Z];
        c.weight[k] = 1 - fabsf(2 * part - 1);
    }
    return c;
}

/* Fine waves the grid has no room for: two baked seas that run through each other.  `lost` is the variance of
 * slope that pixels of this size cannot show. */
void und_ripples_at(const view *v, f3 p, const float *m, float amount, float slope[2], float *lost)
{
    const und_render *r = v->r;
    float size = (float)r->def.ripple_size, period = 12 * (size > 0 ? size : 3 * r->mesh.cell);
    float speed = 0.35f * sqrtf(9.81f * period / 12 / 6.283f), k = 14 * v->footprint / period;
    float keep = 1 / (1 + k * k), a[PATTERN], b[PATTERN],
          run = (float)fmod(r->time * (double)speed / period, 1000);
    carried c = carry(r, p, m);
    float u0 = c.x[0] / period, w0 = c.z[0] / period, u1 = c.x[1] / period, w1 = c.z[1] / period;
    und_pattern_at(&r->ripple, u0 + run, w0 + 0.3f * run, a);
    und_pattern_at(&r->ripple, 2.1f * u1 + 1.1f * w1 - 1.6f * run + 0.37f, 2.1f * w1 - 1.1f * u1 + 0.8f * run,
                   b);
    float scale = 0.06f * amount * 1.4142136f, q0 = c.weight[0], q1 = c.weight[1],
          norm = scale / sqrtf(q0 * q0 + q1 * q1);
    slope[0] = keep * norm * (q0 * a[0] + q1 * b[2]);
    slope[1] = keep * norm * (q0 * a[1] + q1 * b[3]);
    *lost += (1 - keep * keep) * 0.5f * scale * scale;
}

/* The sun in the waves: microfacets whose slopes scatter about the surface's with the given variance. */
static f3 glitter(const und_render *r, f3 dir, float sx, float sz, float variance)
{
    f3 half = f3_unit(f3_sub(r->sky.sun, dir));
    if (half.y < 0.05f)
        return f3_gray(0);
    float dx = -half.x / half.y - sx, dz = -half.z / half.y - sz, a = (dx * dx + dz * dz) / (2 * variance);
    if (a > 12)
        return f3_gray(0);
    float density = und_expf(-a) / (6.2831853f * variance), y2 = half.y * half.y;
    float fresnel = und_fresnelf(-f3_dot(dir, half), (float)r->def.refraction);
    float shine = 3.1415927f * fresnel * density / (4 * maxf(-dir.y, 0.15f) * y2 * y2);
    return f3_scale(r->sky.sun_color, minf(shine, 8));
}

/* How far below the ground a ray is after t metres; negative: above it. */
static float sunk(const und_render *r, f3 p, f3 dir, float t)
{
    f3 q = f3_along(p, dir, t);
    return und_mesh_ground(&r->mesh, q.x, q.z) - q.y;
}

/* The first place where a ray that is under the ground at t went in: a wall. */
static float wall_distance(const und_render *r, f3 p, f3 dir, float t)
{
    enum { MARCH = 10, HALVE = 5 };
    float before = 0, after = t;
    for (int k = 1; k < MARCH; k++) {
        float here = t * (float)k / MARCH;
        if (sunk(r, p, dir, here) > 0) {
            after = here;
            break;
        }
        before = here;
    }
    for (int k = 0; k < HALVE; k++) {
        float middle = 0.5f * (before + after), below = sunk(r, p, dir, middle);
        before = below > 0 ? before : middle;
        after = below > 0 ? middle : after;
    }
    return after;
}

/* Where a bent ray meets the ground: flat bottom first (Kass & Miller 1990, fig. 3), then again with the
 * ground found there, and where that leads through a wall, at the wall. */
static float bottom_distance(const und_render *r, f3 p, f3 dir, float depth)
{
    float down = maxf(-dir.y, 0.05f), t = depth / down, off = sunk(r, p, dir, t);
    if (off > 0.15f * depth)
        return wall_distance(r, p, dir, t);
    for (int k = 0; k < 2; k++) {
        t = maxf(t - 0.65f * off / down, 0);
        off = sunk(r, p, dir, t);
    }
    return maxf(t - 0.65f * off / down, 0);
}

static f3 deep_color(const und_render *r, const float *m)
{
    f3 color = f3_of(r->def.water_color);
    if (r->mesh.has_dye)
        color = f3_mix(color, f3_of(r->def.dye_color), clampf(m[M_DYE], 0, 1));
    f3 light = und_sky_ambient(&r->sky, f3_make(0, 1, 0));
    light = f3_along(light, r->sky.sun_color, m[M_SUN_WATER] * maxf(r->sky.sun.y, 0));
    return f3_times(color, light);
}

f3 und_water_absorption(const und_render *r, const float *m)
{
    f3 a = f3_of(r->def.absorption);
    if (r->mesh.has_dye) {
        float strong = (float)r->def.dye_strength * clampf(m[M_DYE], 0, 1);
        a = f3_add(a, f3_scale(f3_sub(f3_gray(1), f3_of(r->def.dye_color)), strong));
    }
    return a;
}

/* An object under water, seen through it. */
static bool sunken_object(const view *v, f3 p, f3 dir, float far, f3 *color, float *t)
{
    int32_t id;
    float distance;
    if (!und_meets_object(v, p, dir, far, &distance, &id))
        return false;
    *v->mark |= MARK_SUNKEN;
    *t = distance;
    f3 hit = f3_along(p, dir, distance);
    float surface[4];
    und_mesh_water_at(&v->r->mesh, hit.x, hit.z, surface);
    *color = und_object_color(v, id, hit, dir, maxf(surface[M_GROUND] + surface[M_DEPTH] - hit.y, 0));
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
    const und_render *r = v->r;
    float b[M_COUNT];
    und_mesh_at(&r->mesh, q.x, q.z, b);
    und_material g =
        wall ? und_material_tiles(r, q, *wall, v->footprint) : und_material_at(r, b, q, v->footprint);
    float film = clampf(b[M_DEPTH] / (0.05f * r->mesh.cell), 0, 1); /* a film wets as the ground next to it */
    und_wet_down(r, &g, mixf(clampf(b[M_WET], 0, 1), 1, film), b[M_DEPTH]);
    /* On a steep wall the mesh's depth changes within less than a pixel: what is above q counts. */
    bool steep = wall || b[M_GX] * b[M_GX] + b[M_GZ] * b[M_GZ] > 9;
    float above = b[M_GROUND] + b[M_DEPTH] - q.y;
    return ground_light(v, q, b, &g, maxf(steep ? above : b[M_DEPTH], 1e-5f));
}

/* What comes up through the surface at p along the bent ray. */
static f3 seen_through(const view *v, f3 p, f3 dir, const float *m, float depth)
{
    const und_render *r = v->r;
    float t = bottom_distance(r, p, dir, depth), edge = INFINITY;
    f3 normal;
    if (r->def.ground_pattern == UND_GROUND_TILES)
        edge = edge_distance(&r->mesh, p, dir, &normal);
    bool wall = edge < t;
    if (wall)
        *v->mark |= MARK_WALL;
    t = minf(t, edge);
    f3 color = bottom_color(v, f3_along(p, dir, t), wall ? &normal : NULL);
    sunken_object(v, p, dir, t, &color, &t);
    f3 left = f3_exp(und_water_absorption(r, m), t);
    return f3_add(f3_times(color, left), f3_times(deep_color(r, m), f3_sub(f3_gray(1), left)));
}

static float lace_at(const und_render *r, float u, float w, float period)
{
    float coarse[PATTERN], fine[PATTERN];
    und_pattern_at(&r->pattern, u / period, w / period, coarse);
    und_pattern_at(&r->pattern, 2.9f * u / period + 0.4f, 2.9f * w / period, fine);
    return 0.62f * coarse[P_LACE] + 0.42f * fine[P_LACE];
}

float und_foam_cover(const view *v, f3 p, const float *m)
{
    const und_render *r = v->r;
    if (!r->mesh.has_foam || m[M_FOAM] < 0.004f)
        return 0;
    float period = 0.5f * (float)r->def.grain * r->mesh.span, lace;
    if (r->mesh.has_texture) {
        lace = lace_at(r, m[M_U], m[M_V], period);
    } else {
        carried c = carry(r, p, m);
        lace = c.weight[0] * lace_at(r, c.x[0], c.z[0], period) +
               c.weight[1] * lace_at(r, c.x[1] + 0.37f * period, c.z[1], period);
    }
    float edge = 1 - clampf(m[M_FOAM], 0, 1), k = 30 * v->footprint / period, soft = 0.22f + minf(k * k, 1);
    return clampf(m[M_FOAM] * 3, 0, 1) * stepf(edge - soft, edge + soft, lace);
}

static f3 foam_light(const view *v, f3 p, const float *m, f3 n)
{
    const und_render *r = v->r;
    n = f3_unit(f3_make(0.4f * n.x, n.y, 0.4f * n.z)); /* bubbles scatter: light goes round the slope */
    float sun = m[M_SUN_WATER] * maxf(f3_dot(n, r->sky.sun), 0) * sun_at(v, p);
    return f3_scale(f3_along(und_sky_ambient(&r->sky, n), r->sky.sun_color, sun), 0.78f * (float)r->def.foam);
}

static f3 shade_water(const view *v, f3 p, const float *m)
{
    const und_render *r = v->r;
    float depth = maxf(m[M_DEPTH], 0), ratio = (float)r->def.refraction;
    float shore = (float)r->def.shore > 0 ? (float)r->def.shore : 0.15f * r->mesh.cell;
    float full = stepf(0, shore, depth), sx = full * m[M_WX] + (1 - full) * m[M_GX];
    float sz = full * m[M_WZ] + (1 - full) * m[M_GZ], variance = 1.6e-4f, fine[2] = {0, 0};
    variance += 2e-4f * minf(1, v->footprint * v->footprint / (r->mesh.h * r->mesh.h));
    if (r->def.ripples > 0)
        und_ripples_at(v, p, m, (float)r->def.ripples * full, fine, &variance);
    /* Seen through them the bottom would only blur: it gets a part of the ripples. */
    f3 lens = f3_unit(f3_make(-sx - 0.4f * fine[0], 1, -sz - 0.4f * fine[1]));
    sx += fine[0];
    sz += fine[1];
    f3 n = f3_unit(f3_make(-sx, 1, -sz));
    float facing = -f3_dot(v->dir, n);
    if (facing < 0.03f) { /* a slope turned away, within a pixel: seen edge on */
        n = lens = f3_unit(f3_along(n, v->dir, -(0.03f - facing)));
        facing = 0.03f;
    }
    float wet = clampf(m[M_WET], 0, 1);
    float mirrored = und_fresnelf(facing, ratio) * mixf(wet * wet * (float)r->def.sheen, 1, full);
    f3 below =
        seen_through(v, p, und_bend(v->dir, f3_dot(v->dir, lens) < -0.02f ? lens : n, ratio), m, depth);
    f3 above = reflected(v, p, f3_unit(und_mirror(v->dir, n)));
    f3 color = f3_mix(below, above, mirrored);
    float sun = m[M_SUN_WATER] * full;
    if (sun > 0)
        sun *= sun_at(v, p);
    if (sun > 0)
        color = f3_along(color, glitter(r, v->dir, sx, sz, variance), sun);
    float foam = und_foam_cover(v, p, m);
    return foam > 0 ? f3_mix(color, foam_light(v, p, m, n), foam) : color;
}

f3 und_object_color(const view *v, int32_t id, f3 p, f3 dir, float water)
{
    const und_render *r = v->r;
    size_t k = (size_t)(id - ID_OBJECT);
    const float *a = r->soup.position + 9 * k;
    float s, t;
    und_weights(a, p, &s, &t);
    f3 e1 = f3_sub(f3_of(a + 3), f3_of(a)), e2 = f3_sub(f3_of(a + 6), f3_of(a));
    f3 normal = f3_unit(und_blend(r->soup.normal + 9 * k, s, t)), base = f3_gray(0.7f);
    if (r->soup.color)
        base = und_blend(r->soup.color + 9 * k, s, t);
    if (f3_dot(f3_cross(e1, e2), dir) > 0) /* seen from behind, or wound the other way */
        normal = f3_scale(normal, -1);
    const und_sky *sky = &r->sky;
    float sun = maxf(f3_dot(normal, sky->sun), 0),
          lit = sun > 0 ? sun_at(v, f3_along(p, normal, 2 * r->soup.texel)) : 0;
    sun *= lit;
    f3 light = f3_along(und_sky_ambient(sky, normal), sky->sun_color, sun);
    if (water >= 0)
        return f3_times(f3_times(base, light), f3_exp(f3_of(r->def.absorption), 1.2f * water));
    f3 up = f3_unit(und_mirror(dir, normal));
    float gloss = und_fresnelf(-f3_dot(dir, normal), 1.4f) * stepf(-0.3f, 0.2f, up.y);
    f3 half = f3_unit(f3_sub(sky->sun, dir));
    float shine = 1.1f * lit * und_powf(maxf(f3_dot(half, normal), 0), 90);
    return f3_along(f3_mix(f3_times(base, light), und_sky_at(sky, up), gloss), sky->sun_color, shine);
}

static f3 side_normal(int side)
{
    return f3_make(side == 0 ? -1.0f : side == 1 ? 1.0f : 0, 0, side == 2 ? -1.0f : side == 3 ? 1.0f : 0);
}

/* Layers of earth, bent and grained by noise. */
f3 und_cut_ground(const und_render *r, f3 p, int side, float footprint)
{
    float along = side < 2 ? p.z : p.x, patch = 0.5f * r->mesh.span, n[PATTERN], f[PATTERN], m[M_COUNT];
    und_pattern_at(&r->pattern, along / patch, p.y / patch, n);
    und_pattern_at(&r->pattern, 5 * along / patch, 7 * p.y / patch, f);
    und_mesh_at(&r->mesh, p.x, p.z, m);
    float below = m[M_GROUND] - p.y, thick = 0.02f * r->mesh.span;
    float layer = 0.5f + 0.5f * und_sinf((below + 0.6f * thick * n[P_NOISE]) / thick * 1.7f);
    f3 earth = f3_mix(f3_of(r->def.ground_color), f3_of(r->def.rock_color), 0.45f + 0.3f * layer);
    earth = f3_mix(f3_of(r->def.ground_color), earth, stepf(0, 0.7f * thick, below));
    earth = f3_scale(earth, (0.75f + 0.1f * f[P_NOISE]) * (1 - 0.3f * stepf(0, r->mesh.span * 0.2f, below)));
    if (r->def.ground_pattern == UND_GROUND_TILES) { /* concrete under a layer of tiles */
        f3 concrete = f3_scale(f3_make(0.42f, 0.41f, 0.39f), 0.9f + 0.1f * f[P_NOISE] + 0.06f * n[P_NOISE]);
        float tiles = 1 - stepf(0, 2 * footprint, below - 0.25f * (float)r->def.tile);
        earth = f3_mix(concrete, f3_of(r->def.tile_color), tiles);
    }
    return earth;
}

static f3 shade_cut_ground(const view *v, f3 p, int side)
{
    const und_render *r = v->r;
    f3 earth = und_cut_ground(r, p, side, v->footprint);
    f3 normal = side_normal(side), light = und_sky_ambient(&r->sky, normal);
    light = f3_along(light, r->sky.sun_color, 0.22f + 0.35f * maxf(f3_dot(normal, r->sky.sun), 0));
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
            und_mesh_water_at(mesh, q.x, q.z, m);
            bool out = q.y <= m[M_GROUND] || q.y > m[M_GROUND] + m[M_DEPTH];
            if (!out && refine == 0)
                break;
            if (refine == 5) {
                *distance = t;
                und_mesh_at(mesh, q.x, q.z, m);
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
    const und_render *r = v->r;
    float ratio = (float)r->def.refraction, m[M_COUNT], start[M_COUNT], t = 0;
    f3 normal = side_normal(side), dir = und_bend(v->dir, normal, ratio), color = f3_gray(0);
    und_mesh_at(&r->mesh, p.x, p.z, start);
    int where = 0;
    f3 q = p;
    bool sunken = false;
    for (int k = 0; k < 3 && where == 0 && !sunken; k++) { /* inside, the other faces are mirrors */
        float one;
        where = leaves_water(&r->mesh, q, dir, &one, m);
        sunken = sunken_object(v, q, dir, one, &color, &one);
        q = f3_along(q, dir, one);
        t += one;
        if (where == 0) {
            bool at_x = q.x <= r->mesh.x0 + 1e-4f * r->mesh.h || q.x >= r->mesh.x1 - 1e-4f * r->mesh.h;
            dir = at_x ? f3_make(-dir.x, dir.y, dir.z) : f3_make(dir.x, dir.y, -dir.z);
        }
    }
    if (!sunken && where < 0) {
        und_material g = und_material_at(r, m, q, v->footprint);
        und_wet_down(r, &g, 1, m[M_DEPTH]);
        color = ground_light(v, q, m, &g, maxf(m[M_DEPTH], 1e-5f));
    } else if (!sunken && where > 0) {
        f3 n = f3_unit(f3_make(m[M_WX], -1, m[M_WZ])); /* from below */
        float back = und_fresnelf(-f3_dot(dir, n), 1 / ratio);
        color = f3_mix(und_sky_at(&r->sky, und_bend(dir, n, 1 / ratio)), deep_color(r, m), back);
    } else if (!sunken) {
        color = deep_color(r, start);
    }
    f3 left = f3_exp(und_water_absorption(r, start), t);
    color = f3_add(f3_times(color, left), f3_times(deep_color(r, start), f3_sub(f3_gray(1), left)));
    float mirrored = und_fresnelf(-f3_dot(v->dir, normal), ratio);
    color = f3_mix(color, und_sky_at(&r->sky, und_mirror(v->dir, normal)), mirrored);
    float rim = 1 - clampf((start[M_GROUND] + start[M_DEPTH] - p.y) / (1.5f * v->footprint), 0, 1);
    return f3_mix(color, f3_scale(r->sky.ambient[0], 1.4f), 0.6f * rim);
}

static f3 hazy(const view *v, f3 color)
{
    double haze = v->r->def.haze;
    if (!(haze > 0) || isinf(haze))
        return color;
    f3 far = und_sky_at(&v->r->sky, f3_unit(f3_make(v->dir.x, 0.02f, v->dir.z)));
    return f3_mix(far, color, und_expf(-v->distance / (float)haze));
}

/* The kinds of surface a sample can show. */
enum { SHOWS_SKY, SHOWS_GROUND, SHOWS_WATER, SHOWS_OTHER, SHOWS_LIQUID };

static int shows(const und_render *r, size_t at)
{
    float water = r->buffers.water[at], nearest = maxf(water, r->buffers.opaque[at]);
    if (r->liquid.count > 0 && r->buffers.liquid[at] > nearest)
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
    const und_shot *c = &r->camera;
    f3 d = f3_scale(c->forward, c->focal);
    d = f3_along(d, c->right, x - 0.5f * (float)c->width);
    d = f3_along(d, c->up, 0.5f * (float)c->height - y);
    float length = sqrtf(f3_dot(d, d));
    view v = {.r = r, .mark = mark, .dir = f3_scale(d, 1 / length)};
    if (r->soup.velocity)
        mark_moving(&v, c->eye, v.dir, 1e9f);
    if (kind == SHOWS_SKY)
        return und_tank_over(&v, c->eye, f3_add(und_sky_at(&r->sky, v.dir), und_sky_disc(&r->sky, v.dir)),
                             INFINITY);
    v.distance = length / (c->focal * w);
    v.footprint = (float)r->def.samples * v.distance / (c->focal * sqrtf(maxf(-v.dir.y, 0.08f)));
    f3 p = f3_along(c->eye, v.dir, v.distance), color;
    float m[M_COUNT];
    if (kind == SHOWS_LIQUID) {
        color = und_liquid_color(&v, id - ID_OBJECT, p);
    } else if (kind == SHOWS_OTHER && id >= ID_OBJECT) {
        color = und_object_color(&v, id, p, v.dir, -1);
    } else if (kind == SHOWS_OTHER) {
        color = id >= ID_SIDE_WATER ? shade_cut_water(&v, p, id - ID_SIDE_WATER)
                                    : shade_cut_ground(&v, p, id - ID_SIDE_GROUND);
    } else {
        und_mesh_at(&r->mesh, p.x, p.z, m);
        color = kind == SHOWS_WATER ? shade_water(&v, p, m) : shade_ground(&v, p, m);
    }
    return hazy(&v, und_tank_over(&v, c->eye, color, v.distance));
}

/* One sample is enough where all of a pixel's show the same smooth surface and the mesh is coarser than it.
 */
static bool is_plain(const und_render *r, int kind, float low, float high)
{
    if (r->tank.kind != UND_TANK_NONE)
        return false;
    if (kind == SHOWS_SKY)
        return true;
    if (kind == SHOWS_OTHER || kind == SHOWS_LIQUID)
        return false;
    float pixel = (float)r->def.samples / (r->camera.focal * low);
    return high < 1.02f * low && pixel < 1.2f * r->mesh.h;
}

static f3 shade_samples(const und_render *r, int px, int py, unsigned char *mark)
{
    int s = r->def.samples, width = r->camera.width;
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
    int s = r->def.samples, width = r->camera.width, first = SHOWS_SKY;
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
    if (same && is_plain(r, first, low, high))
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
    float gain = und_exp2f((float)r->def.exposure);
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
    PARALLEL_FOR(r->threads)
    for (int strip = 0; strip < (image->height + ROWS - 1) / ROWS; strip++)
        for (int y = strip * ROWS; y < (strip + 1) * ROWS && y < image->height && !und_render_stopped(r); y++)
            shade_row(r, image, y, what, share);
}

void und_shade(und_render *r, und_image *image, int pose, int poses)
{
    if (pose == 0)
        shade_rows(r, image, ROW_ALL, 1);
    if (pose == 0 && r->mark && r->def.samples > 1)
        shade_rows(r, image, ROW_EDGES, 1);
    if (poses > 1)
        shade_rows(r, image, ROW_MOVING, 1 / (float)(pose + 1)); /* the mean so far, the first anew */
}
