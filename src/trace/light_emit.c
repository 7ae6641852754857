/* Photons of sun and lamps. */
#include "base/maths.h"
#include "trace/light_parts.h"

static const float pi = 3.14159265f;

typedef struct target {
    f3 middle, half;
    float radius;
} target;

static target target_of(const und_box *b)
{
    target t = {f3_scale(f3_add(b->low, b->high), 0.5f), f3_scale(f3_sub(b->high, b->low), 0.5f), 0};
    t.radius = sqrtf(f3_dot(t.half, t.half));
    return t;
}

/* Areas of the box's faces as seen along d: x, y, z. */
static float shadow_of(const target *t, f3 d, float part[3])
{
    part[0] = 4 * t->half.y * t->half.z * fabsf(d.x);
    part[1] = 4 * t->half.z * t->half.x * fabsf(d.y);
    part[2] = 4 * t->half.x * t->half.y * fabsf(d.z);
    return part[0] + part[1] + part[2];
}

/* The cap of directions from a place into the target's sphere. */
static float aim(const target *t, f3 place, float pad, f3 *axis)
{
    f3 to = f3_sub(t->middle, place);
    float far2 = f3_dot(to, to), r = t->radius + pad, s2 = r * r / far2;
    *axis = f3_unit(to);
    return s2 < 1 ? 2 * s2 / (1 + sqrtf(1 - s2)) : 4;
}

/* Parallel light leaves the box through the three faces that it does not see, each as large as it looks.
 * Where it leaves is laid out evenly, not where it enters: the sun's disc blurs less of that on the way to a
 * floor. */
static und_ray emit_sun(const und_lights *l, const target *t, const float u[4], f3 *flux)
{
    f3 towards = und_cap_sample(l->sun, l->sun_chord2, u);
    float part[3], all = shadow_of(t, towards, part), pick = u[2] * all;
    int face = pick < part[0] ? 0 : pick < part[0] + part[1] ? 1 : 2;
    float before = face == 0 ? 0 : face == 1 ? part[0] : part[0] + part[1];
    float a = 2 * clampf((pick - before) / maxf(part[face], 1e-30f), 0, 1) - 1, b = 2 * u[3] - 1;
    float side[3] = {copysignf(1, towards.x), copysignf(1, towards.y), copysignf(1, towards.z)}, at[3];
    at[face] = -side[face];
    at[(face + 1) % 3] = a;
    at[(face + 2) % 3] = b;
    f3 from = f3_add(t->middle, f3_times(t->half, f3_of(at)));
    *flux = f3_scale(l->sun_irradiance, all);
    return (und_ray){
        .from = f3_along(from, towards, 2 * t->radius), .dir = f3_scale(towards, -1), .far = INFINITY};
}

/* Where a photon lands depends most on the two numbers that are laid out most evenly, the last: on where the
 * sun's light starts, and on which way a lamp's goes.
 *
 * A sphere looks the same from everywhere: a disc, which sends radiance times its area. */
static und_ray emit_sphere(const und_lamp *lamp, const target *t, const float u[4], f3 *flux)
{
    f3 axis, s, v, middle = f3_of(lamp->place);
    float chord2 = aim(t, middle, lamp->radius, &axis);
    f3 dir = und_cap_sample(axis, chord2, u + 2);
    und_across(dir, &s, &v);
    float r = sqrtf(u[0]), a = 2 * pi * u[1], forward = lamp->radius * sqrtf(maxf(1 - u[0], 0));
    f3 from =
        f3_along(f3_along(middle, s, lamp->radius * r * und_cosf(a)), v, lamp->radius * r * und_sinf(a));
    *flux = f3_scale(f3_of(lamp->radiance), und_lamp_area(lamp) * pi * chord2);
    return (und_ray){.from = f3_along(from, dir, forward), .dir = dir, .far = INFINITY};
}

static und_ray emit_rectangle(const und_lamp *lamp, const target *t, const float u[4], f3 *flux)
{
    f3 axis, n = und_lamp_axis(lamp), s, v, dir;
    f3 from =
        f3_along(f3_along(f3_of(lamp->place), f3_of(lamp->u), 2 * u[0] - 1), f3_of(lamp->v), 2 * u[1] - 1);
    float chord2 = aim(t, from, 0, &axis), area = und_lamp_area(lamp);
    if (chord2 < 1) {
        dir = und_cap_sample(axis, chord2, u + 2);
        *flux = f3_scale(f3_of(lamp->radiance), area * pi * chord2 * maxf(f3_dot(dir, n), 0));
    } else { /* by the cosine to all sides */
        und_across(n, &s, &v);
        float r = sqrtf(u[2]), a = 2 * pi * u[3];
        dir = f3_unit(f3_along(f3_along(f3_scale(n, sqrtf(maxf(1 - u[2], 0))), s, r * und_cosf(a)), v,
                               r * und_sinf(a)));
        *flux = f3_scale(f3_of(lamp->radiance), area * pi);
    }
    return (und_ray){.from = from, .dir = dir, .far = INFINITY};
}

/* What a light sends into the target, about: what it is chosen by. */
static float lamp_power(const und_lamp *lamp, const target *t)
{
    f3 axis;
    float chord2 = aim(t, f3_of(lamp->place), lamp->sphere ? lamp->radius : 0, &axis), facing = 1;
    if (!lamp->sphere)
        facing = chord2 < 1 ? maxf(f3_dot(axis, und_lamp_axis(lamp)), 0.05f) : 0.25f;
    return und_luminance(f3_of(lamp->radiance)) * und_lamp_area(lamp) * pi * chord2 * facing;
}

und_ray und_lights_emit(const und_lights *l, const und_box *bounds, double count, const float u[4], f3 *flux)
{
    target t = target_of(bounds);
    float power[UND_LIGHTS_MOST + 1], part[3], total = 0, v[4] = {u[0], u[1], u[2], u[3]};
    power[0] = und_luminance(l->sun_irradiance) * shadow_of(&t, l->sun, part);
    for (int k = 0; k < l->lamp_count; k++)
        power[k + 1] = lamp_power(&l->lamps[k], &t);
    for (int k = 0; k <= l->lamp_count; k++)
        total += power[k];
    *flux = f3_gray(0);
    if (!(total > 0 && count > 0))
        return (und_ray){.from = t.middle, .dir = {0, 1, 0}, .far = 0};
    float pick = u[0] * total;
    int k = 0;
    while (k < l->lamp_count && !(pick < power[k]))
        pick -= power[k++];
    while (k > 0 && !(power[k] > 0)) /* rounding ran past the last that shines */
        k--;
    v[0] = clampf(pick / power[k], 0, 0.99999994f);
    und_ray ray = k == 0                   ? emit_sun(l, &t, v, flux)
                  : l->lamps[k - 1].sphere ? emit_sphere(&l->lamps[k - 1], &t, v, flux)
                                           : emit_rectangle(&l->lamps[k - 1], &t, v, flux);
    *flux = f3_scale(*flux, (float)(total / (power[k] * count)));
    return ray;
}
