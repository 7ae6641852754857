/* Particles go along the flow and keep out of what is solid. */
#ifndef UND_SURFACE_LEVEL_SET_PARTICLES_MOVE_KERNEL_H
#define UND_SURFACE_LEVEL_SET_PARTICLES_MOVE_KERNEL_H

#include "surface/level_set_particles_parts.h"

/* A solid's surface is so far from those that were put back to it, in cells; the domain's border is it too.
 */
#define UND_PARTICLES_SKIN 1e-3f

/* Those nearer to a solid than `least` (in it, but for the skin, where that is 0) are moved away along its
 * normal. */
UND_INLINE void und_particles_leave_solids(const und_mac *m, const float *wall, und_lanes least,
                                           und_lanes place[3])
{
    enum { TRIES = 2 };
    const float reach = 0.5F;                /* cells: differences are taken over twice this */
    const und_lanes most = und_lanes_all(4); /* cells: halfway between two surfaces there is no normal */
    for (int k = 0; k < TRIES; k++) {
        und_lanes depth, slope[3], square = und_lanes_all(1e-6F);
        und_sample_cells(m, wall, place, &depth, NULL);
        und_lanes_int inside = depth < least;
        if (!und_lanes_bits(inside))
            return;
        for (int a = 0; a < 3; a++) {
            und_lanes low, high, at[3] = {place[0], place[1], place[2]};
            at[a] = place[a] - reach;
            und_sample_cells(m, wall, at, &low, NULL);
            at[a] = place[a] + reach;
            und_sample_cells(m, wall, at, &high, NULL);
            slope[a] = high - low;
            square += slope[a] * slope[a];
        }
        und_lanes way = (least - depth) / square;
        for (int a = 0; a < 3; a++) {
            const und_lanes by = und_lanes_max(und_lanes_min(way * slope[a], most), -most);
            place[a] = und_lanes_select(inside, place[a] + by, place[a]);
        }
    }
}

/* Whether the flow at the border of the domain, where a particle was put back to, leads outwards there: it
 * has left. */
UND_INLINE bool und_particles_left(const und_mac *m, float *const u[3], const float place[3])
{
    und_lanes at[3], speed[3];
    for (int a = 0; a < 3; a++)
        at[a] = und_lanes_all(place[a]);
    und_sample_velocity(m, u, at, speed);
    for (int a = 0; a < 3; a++)
        if ((place[a] <= (float)m->low[a] && speed[a][0] < 0) ||
            (place[a] >= (float)(m->low[a] + m->n[a]) && speed[a][0] > 0))
            return true;
    return false;
}

UND_INLINE und_lanes und_particles_in_domain(const und_mac *m, int axis, und_lanes place)
{
    return und_lanes_max(und_lanes_min(place, und_lanes_all((float)(m->low[axis] + m->n[axis]))),
                         und_lanes_all((float)m->low[axis]));
}

/* 5.5.3: how near to a solid they may come, from where they are before they move. */
UND_INLINE und_lanes und_particles_least_distance(const und_particles_list *t, const float *wall, int i,
                                                  const und_lanes place[3])
{
    const float far = -1e3F; /* cells */
    und_lanes depth, at[3] = {place[0], place[1], place[2]};
    und_sample_cells(&t->mac, wall, at, &depth, NULL);
    depth = und_lanes_max(und_lanes_min(depth, und_lanes_all(1)), und_lanes_all(UND_PARTICLES_SKIN));
    return und_lanes_select(und_lanes_load(t->radius + i) < 0, depth, und_lanes_all(far));
}

/* Those of the air that are deep in a solid go. */
UND_INLINE void und_particles_end_deep(const und_particles_list *t, const float *wall, int i, unsigned which)
{
    const float deep = -0.5F; /* cells */
    und_lanes_int gone =
        (und_level_set_particles_field(t, wall, i) < deep) & (und_lanes_load(t->radius + i) > 0);
    for (unsigned bits = und_lanes_bits(gone) & which; bits; bits &= bits - 1)
        t->radius[i + __builtin_ctz(bits)] = 0;
}

typedef struct und_particles_move_args {
    und_particles_list of;
    float *u[3], cells_per_speed;
    const float *wall; /* NULL: none */
    bool layered;
} und_particles_move_args;

UND_INLINE void und_particles_move(const und_particles_move_args *args, und_place p)
{
    const und_particles_list *t = &args->of;
    float *const *u = args->u;
    const float *wall = args->wall;
    const int i = (int)p.at;
    const und_mac *m = &t->mac;
    und_lanes place[3], speed[3], to[3], kept[3];
    und_lanes_int out = {0};
    for (int a = 0; a < (m->n[2] > 1 ? 3 : 2); a++)
        und_level_set_particles_fetch(t, u[a], i, t->count);
    und_level_set_particles_places(t, i, place);
    und_sample_velocity(m, u, place, speed);
    und_sample_trace(m, u, place, speed, args->cells_per_speed, false, to);
    for (int a = 0; a < 3; a++) {
        to[a] =
            und_lanes_select(to[a] == to[a], to[a], place[a]); /* a flow that is no number leads nowhere */
        kept[a] = und_particles_in_domain(m, a, to[a]);
        out |= kept[a] != to[a];
    }
    if (wall)
        und_particles_leave_solids(m, wall,
                                   args->layered ? und_particles_least_distance(t, wall, i, place)
                                                 : und_lanes_all(UND_PARTICLES_SKIN),
                                   kept);
    for (int a = 0; a < 3; a++) {
        kept[a] = und_particles_in_domain(m, a, kept[a]);
        und_lanes_store_some(t->place[a] + i, kept[a], p.which);
    }
    if (wall && args->layered)
        und_particles_end_deep(t, wall, i, p.which);
    for (unsigned bits = und_lanes_bits(out) & p.which; bits; bits &= bits - 1) {
        int k = i + __builtin_ctz(bits);
        if (und_particles_left(m, u, (const float[3]){t->place[0][k], t->place[1][k], t->place[2][k]}))
            t->radius[k] = 0;
    }
}
UND_KERNEL(und_particles_move, und_particles_move_args, UND_EACH_ITEM)

typedef struct und_particles_leave_args {
    und_particles_list of;
    const uint8_t *marked;
} und_particles_leave_args;

/* Those in marked cells go: they have no radius. */
UND_INLINE void und_particles_leave(const und_particles_leave_args *a, und_place p)
{
    const und_lanes_int cell = und_level_set_particles_cells(&a->of, (int)p.at);
    for (unsigned bits = p.which; bits; bits &= bits - 1)
        if (a->marked[cell[__builtin_ctz(bits)]])
            a->of.radius[p.at + (size_t)__builtin_ctz(bits)] = 0;
}
UND_KERNEL(und_particles_leave, und_particles_leave_args, UND_EACH_ITEM)

#endif
