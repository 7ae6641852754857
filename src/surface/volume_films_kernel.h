/* Films: which cells have one. */
#ifndef UND_SURFACE_VOLUME_FILMS_KERNEL_H
#define UND_SURFACE_VOLUME_FILMS_KERNEL_H

#include "grid/pass.h"
#include "surface/volume_walls_kernel.h"

/* und_volume_find_films as a pass over slices or rows. */
typedef struct und_volume_filming {
    und_volume_arrays v;
    und_volume_walls walls;
    const float *phi;
} und_volume_filming;

static inline bool und_volume_set_film(const und_volume_filming *f, size_t at)
{
    const und_volume_arrays *v = &f->v;
    const float *phi = f->phi;
    const und_volume_place here = und_volume_place_of(v, &f->walls, phi, at);
    v->film[at] = here == UND_VOLUME_ON_WALL;
    if (here == UND_VOLUME_BESIDE_LIQUID)
        v->film[at] = und_volume_is_film_beside_liquid(
            v, &f->walls, at, und_volume_units(und_volume_part(v, &f->walls, phi, at)));
    return v->film[at];
}

static inline void und_volume_film_row(const und_volume_filming *f, und_place p)
{
    const und_volume_arrays *v = &f->v;
    const float *phi = f->phi;
    const int row = p.y + p.z * v->mac.n[1];
    bool any = false;
    const size_t begin = und_mac_row_begin(&v->mac, row), end = und_mac_row_end(&v->mac, row);
    __builtin_memset(v->film + begin, 0, end - begin);
    for (size_t first = begin; first < end; first += UND_LANES) {
        unsigned bits = und_volume_aloft(v->c, phi, first) & und_volume_row_bits(end - first);
        for (bits &= bits ? und_volume_may_lean(v, &f->walls, first) : 0; bits; bits &= bits - 1)
            any |= und_volume_set_film(f, first + (size_t)__builtin_ctz(bits));
    }
    v->row_films[row] = any;
}
UND_KERNEL(und_volume_film_row, und_volume_filming, UND_EACH_ROW)

/* ---- While the flow is made ---- */

enum { UND_VOLUME_FACES = 6 };

typedef struct und_volume_kept_films {
    und_volume_arrays v;
    und_volume_walls walls;
    const float *phi;
    const int32_t *cells;
    float *kept, *u[3]; /* kept: UND_VOLUME_FACES of each cell */
} und_volume_kept_films;

static inline void und_volume_keep_some_films(const und_volume_kept_films *f, und_place p)
{
    for (size_t i = p.at; i < p.at + (size_t)p.x; i++)
        for (int a = 0; a < und_volume_axes(&f->v.mac); a++) {
            const size_t at = (size_t)f->cells[i];
            f->kept[UND_VOLUME_FACES * i + 2 * (size_t)a] = f->u[a][at - (size_t)f->v.mac.step[a]];
            f->kept[UND_VOLUME_FACES * i + 2 * (size_t)a + 1] = f->u[a][at];
        }
}
UND_KERNEL(und_volume_keep_some_films, und_volume_kept_films, UND_EACH_BLOCK)

/* Whether what comes into a cell over a face meets a wall behind it, as in corners. */
static inline bool und_volume_film_is_stopped(const und_volume_kept_films *f, size_t at, int way, float u)
{
    const int a = way / 2;
    const size_t behind = way % 2 ? at - (size_t)f->v.mac.step[a] : at;
    return (way % 2 ? u < 0 : u > 0) && !(f->walls.open[a][behind] > 0);
}

/* Along its wall nothing presses on a film but what is thicker beside it; what a slanted wall bears of it is
 * known.  Two that share a face have kept the same. */
static inline void und_volume_free_film(const und_volume_kept_films *f, size_t i)
{
    const und_volume_arrays *v = &f->v;
    const size_t at = (size_t)f->cells[i];
    float distance, normal[3];
    if (!und_volume_leans(v, &f->walls, at, &distance, normal))
        return;
    const bool slanted = und_volume_is_slanted(v, &f->walls, f->phi, at, normal);
    if (!slanted && !und_volume_is_straight(normal))
        return;
    for (int way = 0; way < 2 * und_volume_axes(&v->mac); way++) {
        const int a = way / 2;
        const size_t step = (size_t)v->mac.step[a], next = way % 2 ? at + step : at - step;
        const size_t face = way % 2 ? at : next;
        const float kept = f->kept[UND_VOLUME_FACES * i + (size_t)way];
        if ((slanted || __builtin_fabsf(normal[a]) < UND_VOLUME_ALONG) && f->walls.open[a][face] > 0 &&
            !und_volume_film_is_stopped(f, at, way, kept) &&
            (!v->inside[next] || (f->phi[next] > 0 && (v->film[next] || v->c[next] <= v->c[at]))))
            und_shared_set_float(&f->u[a][face], kept);
    }
}

static inline void und_volume_free_some_films(const und_volume_kept_films *f, und_place p)
{
    for (size_t i = p.at; i < p.at + (size_t)p.x; i++)
        und_volume_free_film(f, i);
}
UND_KERNEL(und_volume_free_some_films, und_volume_kept_films, UND_EACH_BLOCK)

#endif
