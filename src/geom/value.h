/* Values that depend on place and time. */
#ifndef UND_GEOM_VALUE_H
#define UND_GEOM_VALUE_H

#include <undine/types.h>

static inline und_value und_value_constant(double number)
{
    return (und_value){.number = number};
}

static inline double und_value_at(const und_value *v, double x, double y, double z, double t)
{
    return v->fn ? v->fn(v->context, x, y, z, t) : v->number;
}

static inline und_vector und_vector_constant(double x, double y, double z)
{
    return (und_vector){.constant = {x, y, z}};
}

void und_vector_at(const und_vector *v, double t, double out[3]);

/* Samples over a rectangle of the x-z plane, interpolated bilinearly and held constant outside it:
 * what a table or a height map of a scene becomes. */
typedef struct und_table {
    int nx, nz;
    double low[2], high[2]; /* x and z of the first and of the last sample */
    double *sample;         /* [nz][nx] */
} und_table;

double und_table_at(const und_table *table, double x, double z);
und_value und_value_table(const und_table *table); /* borrows the table */

#endif
