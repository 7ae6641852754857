/* Undine: surfaces of revolution. */
#ifndef UNDINE_REVOLVE_H
#define UNDINE_REVOLVE_H

#include <undine/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A surface of revolution around a vertical axis from the chains' profiles, smoothed by bicubic splines. */
typedef struct und_revolve_def {
    double axis_x, axis_z; /* m; where the axis stands; the profile is the half with x >= axis_x */
    int around;            /* facets around; 0: no surface of revolution; 96 */
    int along;             /* spline samples per marker, 3 */
} und_revolve_def;

#ifdef __cplusplus
}
#endif

#endif
