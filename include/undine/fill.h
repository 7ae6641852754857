/* Undine: liquid at the start. */
#ifndef UNDINE_FILL_H
#define UNDINE_FILL_H

#include <undine/shape.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Liquid at the start. */
typedef struct und_fill_def {
    const und_shape *shape;
    und_value velocity[3];        /* m/s */
    int chain;                    /* markers on its outline, where chains track it; 0: one every half cell */
    const und_value *temperature; /* where the level set has one; NULL: as the rest of the liquid */
} und_fill_def;

#ifdef __cplusplus
}
#endif

#endif
