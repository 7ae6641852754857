/* What a textured liquid is painted with: a picture that the plate's camera projects, or a solid texture. */
#ifndef UND_STAGE_PAINT_H
#define UND_STAGE_PAINT_H

#include "io/image.h"
#include "surface/texture.h"

typedef enum und_paint_kind {
    UND_PAINT_NONE,
    UND_PAINT_PLATE,   /* the picture */
    UND_PAINT_CHECKER, /* cubes of the two colours in turn */
    UND_PAINT_MARBLE,  /* the first colour with veins of the second */
} und_paint_kind;

typedef struct und_paint {
    und_paint_kind kind;
    const und_image *image;
    float color[2][3];
    bool unlit;  /* it has the light of the plate already: neither sun nor sky light it again */
    double size; /* m; side of a cube, from one vein to the next; 0: a tenth of the box's longest side */
} und_paint;

/* "checker" and so on, in the order of the kinds; ends with NULL. */
extern const char *const und_paint_names[];

/* The colour, linear, of liquid that was at `rest` at first, over `wide` metres there. */
void und_paint_at(const und_paint *paint, const und_texture_map *map, const float rest[3], float wide,
                  float rgb[3]);

#endif
