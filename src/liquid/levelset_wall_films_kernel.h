/* What counts as liquid while the flow is made: films, and gaps that close. */
#ifndef UND_LIQUID_LEVELSET_WALL_FILMS_KERNEL_H
#define UND_LIQUID_LEVELSET_WALL_FILMS_KERNEL_H

#include "grid/pass.h"
#include "surface/volume_films_kernel.h"

#define UND_PRESSED_BARELY (-0.02f) /* cells: so little liquid is where they are */
#define UND_PRESSED_THIN 0.01f      /* cells: what thinner films do is not the pressure's */
#define UND_PRESSED_ROOM 0.1f       /* of a cell: films in less are not the pressure's */

typedef struct und_pressing {
    und_volume_arrays v;
    und_volume_walls walls;
    const float *phi;
    float *pressed;  /* phi too, that the flow is made for */
    int32_t *of_row; /* of each row, from where its first cell is on: films, */
    int32_t *count;  /* so many */
} und_pressing;

static inline void und_press_films_row(const und_pressing *f, und_place p)
{
    const int row = p.y + p.z * f->v.mac.n[1];
    int32_t *film = f->of_row + und_mac_row_begin(&f->v.mac, row), count = 0;
    UND_VOLUME_FILMS_OF(&f->v, f->v.row_films, f->phi, row, at)
    if (und_volume_cells(f->v.c[at]) > UND_PRESSED_THIN &&
        und_volume_room(&f->walls, at) > UND_PRESSED_ROOM) {
        film[count++] = (int32_t)at;
        f->pressed[at] = UND_PRESSED_BARELY;
    }
    f->count[row] = count;
}
UND_KERNEL(und_press_films_row, und_pressing, UND_EACH_ROW)

/* Cells of a list. */
typedef struct und_pressing_cells {
    const int32_t *list;
    int32_t *film;    /* gets them too; NULL: they are there */
    const float *phi; /* as it was */
    float *pressed;
    double *pressure; /* is found anew in them; NULL: nowhere */
} und_pressing_cells;

static inline void und_press_cells(const und_pressing_cells *p, und_place block)
{
    for (size_t i = block.at; i < block.at + (size_t)block.x; i++) {
        const int32_t at = p->list[i];
        p->film[i] = at;
        if (!(p->pressed[at] < 0))
            p->pressed[at] = UND_PRESSED_BARELY;
        if (p->pressure)
            p->pressure[at] = 0;
    }
}
UND_KERNEL(und_press_cells, und_pressing_cells, UND_EACH_BLOCK)

static inline void und_release_cells(const und_pressing_cells *p, und_place block)
{
    for (size_t i = block.at; i < block.at + (size_t)block.x; i++)
        p->pressed[p->list[i]] = p->phi[p->list[i]];
}
UND_KERNEL(und_release_cells, und_pressing_cells, UND_EACH_BLOCK)

#endif
