/* Sky, sun and lamps: what is seen of them, and directions to them.
 *
 * Radiance is on the preview's scale: the sky's picture as it is stored, and a sun whose irradiance is pi
 * times its colour, so that a white wall turned to it has that colour. */
#include "base/maths.h"
#include "trace/light_parts.h"

#include <stdlib.h>

static const float pi = 3.14159265f;

/* Damaged pictures of the sky do not get farther than this. */
static f3 sky_radiance(const und_lights *l, f3 d)
{
    if (!l->sky)
        return l->constant;
    f3 c = und_sky_at(l->sky, d);
    return f3_add(l->constant,
                  f3_make(minf(maxf(c.x, 0), 1e6f), minf(maxf(c.y, 0), 1e6f), minf(maxf(c.z, 0), 1e6f)));
}

/* The map's jacobian: d(omega) = 4 s^3 du dv with s = |x| + |y| + |z| of the direction. */
static float map_stretch(f3 d)
{
    float s = fabsf(d.x) + fabsf(d.y) + fabsf(d.z);
    return 4 * s * s * s;
}

/* Light of a cell: its corners belong to it too, since colours are blended between. */
static float cell_light(const und_lights *l, int i, int j)
{
    enum { STEPS = 4 };
    float sum = 0;
    for (int b = 0; b <= STEPS; b++)
        for (int a = 0; a <= STEPS; a++) {
            float u = ((float)i + (float)a / STEPS) / SKY_CELLS,
                  v = ((float)j + (float)b / STEPS) / SKY_CELLS;
            f3 d = und_sky_unfold(u, v);
            sum += und_luminance(sky_radiance(l, d)) * map_stretch(d);
        }
    return sum / ((STEPS + 1) * (STEPS + 1));
}

static void build_table(und_lights *l, int threads)
{
    und_sky_table *t = &l->table;
    double total = 0, squares = 0;
    PARALLEL_FOR(threads)
    for (int j = 0; j < SKY_CELLS; j++)
        for (int i = 0; i < SKY_CELLS; i++)
            t->column[j][i + 1] = cell_light(l, i, j);
    for (int j = 0; j < SKY_CELLS; j++)
        for (int i = 0; i < SKY_CELLS; i++)
            total += t->column[j][i + 1];
    double mean = total / (SKY_CELLS * SKY_CELLS) / (4 * M_PI), cells = SKY_CELLS * SKY_CELLS;
    l->sky_mean = (float)mean;
    for (int j = 0; j < SKY_CELLS; j++)
        for (int i = 0; i < SKY_CELLS; i++) {
            f3 d = und_sky_unfold(((float)i + 0.5f) / SKY_CELLS, ((float)j + 0.5f) / SKY_CELLS);
            double solid = (double)map_stretch(d) / cells, off = (double)t->column[j][i + 1] / cells / solid;
            squares += (off - mean) * (off - mean) * solid / (4 * M_PI);
        }
    l->sky_uneven = mean > 0 ? clampf((float)(squares / (mean * mean)), 0.05f, 1) : 0;
    double floor = 0.02 * total / (SKY_CELLS * SKY_CELLS), rows = 0;
    for (int j = 0; j < SKY_CELLS; j++) {
        double sum = 0;
        for (int i = 1; i <= SKY_CELLS; i++)
            t->column[j][i] = (float)(sum += (double)t->column[j][i] + floor);
        for (int i = 1; i <= SKY_CELLS; i++)
            t->column[j][i] = sum > 0 ? (float)(t->column[j][i] / sum) : 0;
        t->row[j + 1] = (float)(rows += sum);
    }
    for (int j = 1; j <= SKY_CELLS; j++)
        t->row[j] = rows > 0 ? (float)(t->row[j] / rows) : 0;
}

/* The last entry that is not above u, and how far u is between it and the next. */
static int find_share(const float *share, float u, float *between)
{
    int low = 0, high = SKY_CELLS;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (share[middle] <= u)
            low = middle;
        else
            high = middle;
    }
    float wide = share[low + 1] - share[low];
    *between = wide > 0 ? clampf((u - share[low]) / wide, 0, 0.999999f) : 0.5f;
    return low;
}

static f3 sky_sample(const und_lights *l, const float u[2])
{
    const und_sky_table *t = &l->table;
    float a, b;
    int j = find_share(t->row, u[0], &b), i = find_share(t->column[j], u[1], &a);
    return und_sky_unfold(((float)i + a) / SKY_CELLS, ((float)j + b) / SKY_CELLS);
}

static float sky_density(const und_lights *l, f3 d)
{
    const und_sky_table *t = &l->table;
    float u, v;
    und_sky_fold(d, &u, &v);
    int i = (int)minf(maxf(u * SKY_CELLS, 0), SKY_CELLS - 1),
        j = (int)minf(maxf(v * SKY_CELLS, 0), SKY_CELLS - 1);
    float p = (t->row[j + 1] - t->row[j]) * (t->column[j][i + 1] - t->column[j][i]);
    return p * (SKY_CELLS * SKY_CELLS) / map_stretch(d);
}

f3 und_cap_sample(f3 axis, float chord2, const float u[2])
{
    f3 s, t;
    und_across(axis, &s, &t);
    float k = chord2 * u[0], r = sqrtf(maxf(k * (1 - 0.25f * k), 0)), angle = 2 * pi * u[1];
    return f3_unit(
        f3_along(f3_along(f3_scale(axis, 1 - 0.5f * k), s, r * und_cosf(angle)), t, r * und_sinf(angle)));
}

float und_lamp_area(const und_lamp *lamp)
{
    f3 n = f3_cross(f3_of(lamp->u), f3_of(lamp->v));
    return lamp->sphere ? pi * lamp->radius * lamp->radius : 4 * sqrtf(f3_dot(n, n));
}

static bool lamp_valid(const und_lamp *lamp)
{
    float sum = 0;
    for (int a = 0; a < 3; a++) {
        sum += fabsf(lamp->place[a]) + (lamp->sphere ? 0 : fabsf(lamp->u[a]) + fabsf(lamp->v[a]));
        if (!(lamp->radiance[a] >= 0))
            return false;
        sum += lamp->radiance[a];
    }
    return isfinite(sum) && (!lamp->sphere || lamp->radius > 0) && und_lamp_area(lamp) > 0 &&
           isfinite(und_lamp_area(lamp));
}

und_lights *und_lights_create(const und_lights_def *def, und_error *err)
{
    if (def->lamp_count < 0 || def->lamp_count > UND_LIGHTS_MOST)
        return und_error_set(err, UND_FAILED, "there can be at most %d lamps, not %d", UND_LIGHTS_MOST,
                             def->lamp_count),
               NULL;
    und_lights *l = und_alloc(1, sizeof *l, "lights", err);
    if (!l)
        return NULL;
    l->sky = def->sky && def->sky->baked ? def->sky : NULL;
    l->constant = def->constant;
    l->lamp_count = def->lamp_count;
    for (int k = 0; k < def->lamp_count; k++) {
        l->lamps[k] = def->lamps[k];
        if (!lamp_valid(&def->lamps[k])) {
            und_error_set(err, UND_FAILED, "lamp %d: expected a size above 0 and a radiance of at least 0",
                          k + 1);
            free(l);
            return NULL;
        }
    }
    if (l->sky) {
        double half = 0.25 * clampf(def->sun_angle, 0, 180) * M_PI / 180, chord = 2 * und_sin(half);
        l->sun = l->sky->sun;
        l->sun_irradiance = f3_scale(l->sky->sun_color, pi);
        l->sun_chord2 = (float)(chord * chord);
        l->sun_solid = pi * l->sun_chord2;
    }
    build_table(l, 1);
    return l;
}

void und_lights_destroy(und_lights *lights)
{
    free(lights);
}

static bool has_sun(const und_lights *l)
{
    return und_luminance(l->sun_irradiance) > 0;
}

static bool in_sun(const und_lights *l, f3 d)
{
    f3 off = f3_sub(d, l->sun);
    return f3_dot(off, off) <= l->sun_chord2;
}

f3 und_lights_beyond(const und_lights *l, f3 d, bool sun)
{
    f3 c = sky_radiance(l, d);
    return sun && l->sun_solid > 0 && in_sun(l, d) ? f3_along(c, l->sun_irradiance, 1 / l->sun_solid) : c;
}

f3 und_lights_glint(const und_lights *l, f3 d, float blur)
{
    f3 off = f3_sub(d, l->sun);
    float far2 = f3_dot(off, off), s2 = blur * blur + 0.25f * l->sun_chord2;
    if (!(s2 > 0 && far2 < 16 * s2))
        return f3_gray(0);
    return f3_scale(l->sun_irradiance, und_expf(-far2 / (2 * s2)) / (2 * pi * s2));
}

f3 und_lights_ambient(const und_lights *l, f3 normal)
{
    return l->sky ? f3_add(und_sky_ambient(l->sky, normal), l->constant) : l->constant;
}

f3 und_lights_sun(const und_lights *l, f3 *towards)
{
    *towards = l->sun;
    return f3_scale(l->sun_irradiance, 1 / pi);
}

bool und_lights_have_lamps(const und_lights *l)
{
    return l->lamp_count > 0;
}

static float meet_sphere(const und_lamp *lamp, const und_ray *ray)
{
    f3 to = f3_sub(f3_of(lamp->place), ray->from);
    float along = f3_dot(to, ray->dir);
    f3 off = f3_along(to, ray->dir, -along);
    float k = lamp->radius * lamp->radius - f3_dot(off, off);
    if (k < 0)
        return INFINITY;
    float near = along - sqrtf(k), far = along + sqrtf(k);
    return near > ray->near ? near : far > ray->near ? far : INFINITY;
}

static float meet_rectangle(const und_lamp *lamp, const und_ray *ray)
{
    f3 u = f3_of(lamp->u), v = f3_of(lamp->v), n = f3_cross(u, v);
    float down = f3_dot(ray->dir, n), t = f3_dot(f3_sub(f3_of(lamp->place), ray->from), n) / down;
    if (!(down < 0 && t > ray->near))
        return INFINITY;
    f3 q = f3_sub(f3_along(ray->from, ray->dir, t), f3_of(lamp->place));
    float n2 = f3_dot(n, n), a = f3_dot(f3_cross(q, v), n) / n2, b = f3_dot(f3_cross(u, q), n) / n2;
    return fabsf(a) <= 1 && fabsf(b) <= 1 ? t : INFINITY;
}

bool und_lights_meet(const und_lights *l, const und_ray *ray, bool eye, float *t, f3 *radiance)
{
    *t = ray->far;
    bool met = false;
    for (int k = 0; k < l->lamp_count; k++) {
        const und_lamp *lamp = &l->lamps[k];
        if (eye && !lamp->shown)
            continue;
        float here = lamp->sphere ? meet_sphere(lamp, ray) : meet_rectangle(lamp, ray);
        if (here < *t) {
            *t = here;
            *radiance = f3_of(lamp->radiance);
            met = true;
        }
    }
    return met;
}

/* The cap of directions in which a sphere is seen; inside it all of them. */
static float sphere_chord2(const und_lamp *lamp, f3 place, f3 *axis)
{
    f3 to = f3_sub(f3_of(lamp->place), place);
    float far2 = f3_dot(to, to), s2 = lamp->radius * lamp->radius / far2;
    *axis = f3_unit(to);
    return s2 < 1 ? 2 * s2 / (1 + sqrtf(1 - s2)) : 4; /* 2 (1 - cos) */
}

static f3 lamp_sample(const und_lamp *lamp, f3 place, const float u[2])
{
    if (lamp->sphere) {
        f3 axis;
        float chord2 = sphere_chord2(lamp, place, &axis);
        return und_cap_sample(axis, chord2, u);
    }
    f3 at = f3_along(f3_of(lamp->place), f3_of(lamp->u), 2 * u[0] - 1);
    return f3_unit(f3_sub(f3_along(at, f3_of(lamp->v), 2 * u[1] - 1), place));
}

static float lamp_density(const und_lamp *lamp, f3 place, f3 dir)
{
    und_ray ray = {.from = place, .dir = dir, .far = INFINITY};
    if (lamp->sphere) {
        f3 axis;
        float chord2 = sphere_chord2(lamp, place, &axis);
        f3 off = f3_sub(dir, axis);
        return f3_dot(off, off) <= chord2 ? 1 / (pi * chord2) : 0;
    }
    float t = meet_rectangle(lamp, &ray);
    return t < INFINITY ? t * t / (und_lamp_area(lamp) * -f3_dot(dir, und_lamp_axis(lamp))) : 0;
}

/* About how much each light gives a surface: what it is chosen by.  Of lamps: as if small or near. */
static float lamp_weight(const und_lamp *lamp, f3 place)
{
    f3 to = f3_sub(f3_of(lamp->place), place);
    float area = und_lamp_area(lamp), far2 = f3_dot(to, to), facing = 1;
    if (!lamp->sphere) {
        facing = -f3_dot(f3_unit(to), und_lamp_axis(lamp));
        facing = f3_dot(to, und_lamp_axis(lamp)) < 0 ? maxf(facing, 0.1f) : 0;
    }
    return und_luminance(f3_of(lamp->radiance)) * facing * area / (far2 + area / pi);
}

typedef struct shares {
    float sky, sun, total;
    float lamp[UND_LIGHTS_MOST];
} shares;

static void share_out(const und_lights *l, f3 place, f3 n, shares *s)
{
    bool surface = n.x != 0 || n.y != 0 || n.z != 0;
    float sky = und_luminance(und_lights_ambient(l, n)), facing = surface ? f3_dot(n, l->sun) : 1;
    /* An even sky is found well by paths alone. */
    s->sky = pi * maxf(sky, 0.1f * l->sky_mean) * l->sky_uneven;
    /* A little before it has risen: a wide sun, bumpy normals. */
    s->sun = has_sun(l) ? und_luminance(l->sun_irradiance) * maxf(facing, facing > -0.3f ? 0.02f : 0) : 0;
    s->total = s->sky + s->sun;
    for (int k = 0; k < l->lamp_count; k++)
        s->total += s->lamp[k] = lamp_weight(&l->lamps[k], place);
}

static float density_of(const und_lights *l, const shares *s, f3 place, f3 dir)
{
    if (!(s->total > 0))
        return 0;
    float sum = s->sky > 0 ? s->sky * sky_density(l, dir) : 0;
    if (s->sun > 0 && l->sun_solid > 0 && in_sun(l, dir))
        sum += s->sun / l->sun_solid;
    for (int k = 0; k < l->lamp_count; k++)
        if (s->lamp[k] > 0)
            sum += s->lamp[k] * lamp_density(&l->lamps[k], place, dir);
    return sum / s->total;
}

float und_lights_density(const und_lights *l, f3 place, f3 normal, f3 dir)
{
    shares s;
    share_out(l, place, normal, &s);
    return density_of(l, &s, place, dir);
}

/* Takes `part` of the numbers below 1 for itself; leaves what is left spread over [0, 1) again. */
static bool take(float *u, float part)
{
    bool mine = *u < part;
    *u = clampf(mine ? *u / part : (*u - part) / (1 - part), 0, 0.99999994f);
    return mine;
}

und_light_sample und_lights_sample(const und_lights *l, f3 place, f3 normal, const float u[3])
{
    shares s;
    share_out(l, place, normal, &s);
    und_light_sample out = {.distance = INFINITY};
    if (!(s.total > 0))
        return out;
    float choice = u[2], left = s.total;
    if (s.sky > 0 && take(&choice, s.sky / left))
        out.dir = sky_sample(l, u);
    else {
        left -= s.sky;
        if (s.sun > 0 && (l->lamp_count == 0 || take(&choice, s.sun / left))) {
            if (l->sun_solid <= 0)
                return (und_light_sample){l->sun, INFINITY, f3_scale(l->sun_irradiance, s.total / s.sun),
                                          INFINITY};
            out.dir = und_cap_sample(l->sun, l->sun_chord2, u);
        } else {
            left -= s.sun;
            int k = 0;
            while (k < l->lamp_count - 1 && !take(&choice, clampf(s.lamp[k] / left, 0, 1)))
                left -= s.lamp[k++];
            if (l->lamp_count == 0)
                return out;
            out.dir = lamp_sample(&l->lamps[k], place, u);
        }
    }
    und_ray ray = {.from = place, .dir = out.dir, .far = INFINITY};
    if (!und_lights_meet(l, &ray, false, &out.distance, &out.radiance)) {
        out.distance = INFINITY;
        out.radiance = und_lights_beyond(l, out.dir, true);
    }
    out.density = density_of(l, &s, place, out.dir);
    return out;
}
