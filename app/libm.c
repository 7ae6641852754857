/* The libraries that the program is linked with find these before the C library's, which are others on other
 * processors: Lua's x^y has no other way to the same bits, and ODE turns and clips with the rest. */
#include "base/maths.h"

#include <math.h>

double pow(double x, double y)
{
    return und_pow(x, y);
}

double acos(double x)
{
    return und_acos(x);
}

double asin(double x)
{
    return und_asin(x);
}

double atan2(double y, double x)
{
    return und_atan2(y, x);
}

void sincos(double x, double *sine, double *cosine)
{
    *sine = und_sin(x);
    *cosine = und_cos(x);
}
