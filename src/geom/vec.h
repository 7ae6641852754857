/* Small vectors of three doubles. */
#ifndef UND_GEOM_VEC_H
#define UND_GEOM_VEC_H

#include <math.h>

/* Inline, unlike the library's; a NaN second gives the second. */
static inline double und_larger(double a, double b)
{
    return a > b ? a : b;
}
static inline double und_smaller(double a, double b)
{
    return a < b ? a : b;
}

typedef struct und_vec3 {
    double x, y, z;
} und_vec3;

static inline und_vec3 und_vec(double x, double y, double z)
{
    return (und_vec3){x, y, z};
}
static inline und_vec3 und_add(und_vec3 a, und_vec3 b)
{
    return und_vec(a.x + b.x, a.y + b.y, a.z + b.z);
}
static inline und_vec3 und_sub(und_vec3 a, und_vec3 b)
{
    return und_vec(a.x - b.x, a.y - b.y, a.z - b.z);
}
static inline und_vec3 und_mul(und_vec3 a, double s)
{
    return und_vec(a.x * s, a.y * s, a.z * s);
}
static inline double und_dot(und_vec3 a, und_vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
static inline double und_length(und_vec3 a)
{
    return sqrt(und_dot(a, a));
}

static inline und_vec3 und_cross(und_vec3 a, und_vec3 b)
{
    return und_vec(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

static inline und_vec3 und_unit(und_vec3 a)
{
    double length = und_length(a);
    return length > 0 ? und_mul(a, 1 / length) : a;
}

#endif
