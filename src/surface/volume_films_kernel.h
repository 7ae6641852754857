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

#endif
