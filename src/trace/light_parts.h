/* What the files of lights share. */
#ifndef UND_TRACE_LIGHT_PARTS_H
#define UND_TRACE_LIGHT_PARTS_H

#include "stage/scenery.h"
#include "trace/light.h"
#include "trace/matter.h"

/* The sky's directions in cells of its square map, by how much light each sends. */
enum { SKY_CELLS = 128 };

typedef struct und_sky_table {
    float row[SKY_CELLS + 1];               /* share of the rows before */
    float column[SKY_CELLS][SKY_CELLS + 1]; /* the same within each row */
} und_sky_table;

struct und_lights {
    const und_sky *sky;
    f3 constant;
    f3 sun;            /* towards it */
    f3 sun_irradiance; /* on a wall turned to it */
    float sun_chord2;  /* square of the distance on the unit sphere from the disc's middle to its edge */
    float sun_solid;   /* sr */
    float sky_mean;    /* luminance of the mean over all directions */
    float sky_uneven;  /* variance over the square of the mean, 0.05 to 1 */
    int lamp_count;
    und_lamp lamps[UND_LIGHTS_MOST];
    und_sky_table table;
};

static inline float und_luminance(f3 c)
{
    return 0.2126f * c.x + 0.7152f * c.y + 0.0722f * c.z;
}

/* m2: of one side; of a sphere's disc. */
float und_lamp_area(const und_lamp *lamp);
static inline f3 und_lamp_axis(const und_lamp *lamp) /* that it shines along, unit */
{
    return f3_unit(f3_cross(f3_of(lamp->u), f3_of(lamp->v)));
}
/* A direction within the cap of the unit sphere about `axis` whose edge is sqrt(chord2) away. */
f3 und_cap_sample(f3 axis, float chord2, const float u[2]);

#endif
