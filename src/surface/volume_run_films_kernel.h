/* How films run along walls. */
#ifndef UND_SURFACE_VOLUME_RUN_FILMS_KERNEL_H
#define UND_SURFACE_VOLUME_RUN_FILMS_KERNEL_H

#include "grid/pass.h"
#include "surface/volume_film_flow_kernel.h"
#include "surface/volume_walls_kernel.h"

#define UND_VOLUME_FILM_MOST_EVENS 0.25
/* Cells: up to there films count as liquid while the pressure is found. */
#define UND_VOLUME_FILM_MIDDLE 0.52
/* Of gravity: what presses films on steep walls on, for their contact line, which holds what is at most twice
 * as thick as on a floor. */
#define UND_VOLUME_FILM_LEAST_PULL 0.25
/* Of a contact line's pull, when it draws back; it does not where less than this of its thickness is. */
#define UND_VOLUME_FILM_RECEDES 0.8
#define UND_VOLUME_FILM_STICKS 0.4

/* ---- How films run ----
 *
 * A film's mean speed u along its wall, where it is h thick and gravity presses it on with g:
 *     du/dt = ... - g grad h - k u,   k = 3 nu / h^2, or by eddies 0.028 Re^(-1/4) |u| / h where that is more
 * (Nusselt; Blasius).  Where it creeps that is lubrication, dh/dt = div(g h^3 / (3 nu) grad h).  A contact
 * line pulls inwards with S = g h^2 / 2 of a puddle at rest, for each metre of it. */

typedef struct und_volume_running {
    und_volume_arrays v;
    und_volume_walls walls;
    const float *phi;
    und_volume_film_flow f;
    und_mask written[3]; /* gets the faces of cells with a film; without bits: nobody asks */
} und_volume_running;

/* What is in a cell, as one side of a face. */
typedef struct und_volume_film_side {
    size_t at;
    bool film, dry, leans; /* on a wall of its own */
    float thick;           /* cells */
    float normal[3];       /* of the wall */
} und_volume_film_side;

/* However a slanted wall cuts the cells that it is in. */
static inline float und_volume_film_thickness_at(const und_volume_running *r, size_t at,
                                                 const float normal[3])
{
    if (!r->walls.room || __builtin_fabsf(normal[und_volume_across(normal)]) == 1)
        return und_volume_cells(r->v.c[at]);
    return und_volume_film_thickness(&r->v, &r->walls, at, normal);
}

/* What is at a wall of this normal. */
static inline bool und_volume_film_is_dry(const und_volume_running *r, size_t at, const float normal[3])
{
    if (!(r->phi[at] > 0 && r->v.c[at] <= 0))
        return false;
    if (und_volume_is_slanted(&r->v, &r->walls, r->phi, at, normal) &&
        und_volume_column_at(&r->v, &r->walls, at, und_volume_across(normal)) > 0)
        return false;
    return !und_volume_is_hole(&r->v, at, normal);
}

/* Whether a film on a wall of this normal goes along the axis. */
static inline bool und_volume_film_runs_along(const und_volume_running *r, size_t at, const float normal[3],
                                              int axis)
{
    return und_volume_is_slanted(&r->v, &r->walls, r->phi, at, normal)
               ? axis != und_volume_across(normal)
               : __builtin_fabsf(normal[axis]) < UND_VOLUME_ALONG;
}

/* Whether the wall beside it is dry. */
static inline bool und_volume_film_is_rim(const und_volume_running *r, const und_volume_film_side *s)
{
    const und_mac *m = &r->v.mac;
    for (int way = 0; way < 2 * und_volume_axes(m); way++) {
        const int a = way / 2;
        const size_t step = (size_t)m->step[a], next = way % 2 ? s->at + step : s->at - step;
        if (und_volume_film_runs_along(r, s->at, s->normal, a) && r->v.inside[next] &&
            r->walls.open[a][way % 2 ? s->at : next] > 0 && und_volume_film_is_dry(r, next, s->normal))
            return true;
    }
    return false;
}

/* `normal` is that of the wall beside it. */
static inline und_volume_film_side und_volume_film_side_of(const und_volume_running *r, size_t at,
                                                           const float normal[3])
{
    float distance;
    und_volume_film_side s = {.at = at, .film = r->v.film[at], .thick = und_volume_cells(r->v.c[at])};
    s.dry = !s.film && und_volume_film_is_dry(r, at, normal);
    if (!s.film && normal && und_volume_is_slanted(&r->v, &r->walls, r->phi, at, normal) && r->phi[at] > 0) {
        s.thick = und_volume_film_thickness(&r->v, &r->walls, at, normal); /* of the film above or below */
        s.film = s.thick > 0;
        __builtin_memcpy(s.normal, normal, sizeof s.normal);
        return s;
    }
    if (!s.film || !und_volume_leans(&r->v, &r->walls, at, &distance, s.normal))
        return s;
    s.leans = true;
    s.thick = und_volume_film_thickness_at(r, at, s.normal);
    return s;
}

/* The pull of a contact line, for each metre of it, is tension = g line^2 / 2, on a film of which `weight` =
 * g h^2 / 2 drives it; both here over what a cell's length of the film weighs.  What goes out over it. */
static inline double und_volume_film_over_line(double away, double weight, double tension, bool draws,
                                               double dt)
{
    if (weight > tension)
        return away + dt * (weight - tension);
    if (away > 0)
        away = und_double_max(away - dt * (tension - weight), 0);
    return draws && weight < UND_VOLUME_FILM_RECEDES * tension
               ? away - dt * (UND_VOLUME_FILM_RECEDES * tension - weight)
               : away;
}

/* How gravity presses a film on; below 0 it pulls it off. */
static inline double und_volume_film_weighs(const und_volume_running *r, const und_volume_film_side *film)
{
    double press = 0;
    for (int a = 0; a < 3; a++)
        press -= r->f.gravity[a] * (double)film->normal[a];
    return press;
}

/* So much of a step's time that no more of a difference goes over a face than neighbours take: long steps
 * would shake films. */
static inline double und_volume_film_lasting(const und_volume_running *r, double press, double thick,
                                             double slows)
{
    const und_volume_film_flow *f = &r->f;
    const double evens = press * f->dt * f->dt / f->dx * thick / slows;
    return f->dt * und_double_min(1, UND_VOLUME_FILM_MOST_EVENS / und_double_max(evens, 1e-12));
}

static inline double und_volume_film_square(float v)
{
    return (double)v * (double)v;
}

/* The speed over the face between two cells of which one is a film, from the lower to the higher. */
static inline float und_volume_film_speed(const und_volume_running *r, int axis,
                                          const und_volume_film_side *low, const und_volume_film_side *high,
                                          float u)
{
    const und_volume_film_flow *f = &r->f;
    const und_volume_film_side *wet = low->film && (!high->film || low->thick >= high->thick) ? low : high;
    const und_volume_film_side *other = wet == low ? high : low;
    const double out = wet == low ? 1 : -1, h = und_double_max((double)wet->thick, 1e-3),
                 next = (double)other->thick;
    const double thick = other->dry ? h : 0.5 * (h + und_double_min(next, UND_VOLUME_FILM_MIDDLE)),
                 line = (double)f->contact;
    const double slows = 1 + f->dt * und_volume_drag(&r->f, wet->at, thick, __builtin_fabs((double)u));
    const bool slanted = und_volume_is_slanted(&r->v, &r->walls, r->phi, wet->at, wet->normal);
    const int across = und_volume_across(wet->normal);
    const double bears = und_volume_film_weighs(r, wet), press = und_double_max(bears, 0);
    const double level = slanted ? press * und_volume_film_square(wet->normal[across]) : press;
    const double dt = und_volume_film_lasting(r, level, thick, slows);
    const bool along = und_volume_film_runs_along(r, wet->at, wet->normal, axis),
               onto = !other->film && next > h;
    double away = (double)u * out;
    if (slanted && !along)
        return u;         /* as the others have it */
    if (slanted && !onto) /* gravity but for what the wall bears */
        away += out * f->dt * bears * (double)wet->normal[axis];
    if (onto && !(along && und_volume_is_straight(wet->normal) && press > 0.5 * f->pull))
        return u; /* and so has what is above a pool, on its walls */
    if (!along)
        return (float)((double)u / slows);
    if (onto) /* liquid runs onto the film: what is above a cell's middle the pressure drives */
        return (float)((away + dt * press * (h - und_double_min(next, UND_VOLUME_FILM_MIDDLE)) / slows) *
                       out);
    if (other->dry || (other->leans && next < line && und_volume_film_is_rim(r, other)))
        away = und_volume_film_over_line(away, press * h / 2,
                                         und_double_max(press, UND_VOLUME_FILM_LEAST_PULL * f->pull) * line *
                                             line / (2 * h),
                                         !other->dry && h > UND_VOLUME_FILM_STICKS * line, dt);
    else
        away += dt * level * (h - next);
    return (float)(away * out / slows);
}

static inline void und_volume_film_run_faces(const und_volume_running *r, size_t at)
{
    const und_mac *m = &r->v.mac;
    const und_volume_film_side here = und_volume_film_side_of(r, at, NULL),
                               beyond = {.at = at, .film = true, .thick = here.thick};
    for (int a = 0; a < und_volume_axes(m); a++) {
        const size_t step = (size_t)m->step[a], low = at - step, high = at + step;
        float *const u = r->f.u[a];
        if (r->walls.open[a][at] > 0) {
            const und_volume_film_side next =
                r->v.inside[high] ? und_volume_film_side_of(r, high, here.normal) : beyond;
            u[at] = und_volume_film_speed(r, a, &here, &next, u[at]);
        }
        if (r->walls.open[a][low] > 0 && !(r->v.inside[low] && r->v.film[low])) {
            const und_volume_film_side next =
                r->v.inside[low] ? und_volume_film_side_of(r, low, here.normal) : beyond;
            u[low] = und_volume_film_speed(r, a, &next, &here, u[low]);
        }
    }
}

/* Of the cell with this number. */
static inline void und_volume_film_tell(const und_volume_running *r, size_t at, int row)
{
    const und_mac *m = &r->v.mac;
    const int x = (int)(at - und_mac_row(m, row)), y = row % m->n[1], z = row / m->n[1];
    for (int a = 0; a < und_volume_axes(m) && r->written[a].bits; a++) {
        und_mask_add_shared(&r->written[a], x, y, z);
        und_mask_add_shared(&r->written[a], x - (a == 0), y - (a == 1), z - (a == 2));
    }
}

/* Rows far apart: on a wall films are in many that are beside each other. */
static inline void und_volume_film_run_some(const und_volume_running *r, und_place p)
{
    const und_mac *m = &r->v.mac;
    const long rows = und_mac_rows(m), prime = 7919, apart = rows % prime == 0 ? 1 : prime;
    for (long i = (long)p.at; i < (long)p.at + p.x; i++) {
        const int row = (int)(i * apart % rows);
        if (!und_mac_has_row(m, row))
            continue;
        UND_VOLUME_FILMS_OF(&r->v, r->v.row_films, r->phi, row, at)
        {
            und_volume_film_run_faces(r, at);
            und_volume_film_tell(r, at, row);
        }
    }
}
UND_KERNEL(und_volume_film_run_some, und_volume_running, UND_EACH_BLOCK)

/* Across a slanted wall a film goes as it goes along it: so fast; NAN where the wall is none. */
static inline float und_volume_film_speed_across(const und_volume_running *r, size_t at)
{
    const und_mac *m = &r->v.mac;
    float distance, normal[3], sum = 0;
    if (!und_volume_leans(&r->v, &r->walls, at, &distance, normal) ||
        !und_volume_is_slanted(&r->v, &r->walls, r->phi, at, normal))
        return __builtin_nanf("");
    const int across = und_volume_across(normal);
    for (int a = 0; a < und_volume_axes(m); a++) {
        const size_t low = at - (size_t)m->step[a];
        const bool open[2] = {r->walls.open[a][low] > 0, r->walls.open[a][at] > 0};
        const float u = (open[0] ? r->f.u[a][low] : 0) + (open[1] ? r->f.u[a][at] : 0);
        if (a != across && (open[0] || open[1]))
            sum -= normal[a] * u / (float)(open[0] + open[1]);
    }
    return sum / normal[across];
}

/* Over the faces of the cell. */
static inline void und_volume_film_follow_wall(const und_volume_running *r, size_t at, float speed)
{
    float distance, normal[3];
    if (speed != speed)
        return;
    und_volume_leans(&r->v, &r->walls, at, &distance, normal);
    const int across = und_volume_across(normal);
    const size_t low = at - (size_t)r->v.mac.step[across];
    if (r->walls.open[across][at] > 0)
        r->f.u[across][at] = speed;
    if (r->walls.open[across][low] > 0 && !(r->v.inside[low] && r->v.film[low]))
        r->f.u[across][low] = speed;
}

static inline void und_volume_film_find_speeds_across(const und_volume_running *r, und_place p)
{
    UND_VOLUME_FILMS_OF(&r->v, r->v.row_films, r->phi, p.y + p.z * r->v.mac.n[1], at)
    r->v.fraction[at] = und_volume_film_speed_across(r, at);
}
UND_KERNEL(und_volume_film_find_speeds_across, und_volume_running, UND_EACH_ROW)

static inline void und_volume_film_follow_walls(const und_volume_running *r, und_place p)
{
    UND_VOLUME_FILMS_OF(&r->v, r->v.row_films, r->phi, p.y + p.z * r->v.mac.n[1], at)
    und_volume_film_follow_wall(r, at, r->v.fraction[at]);
}
UND_KERNEL(und_volume_film_follow_walls, und_volume_running, UND_EACH_ROW)

#endif
