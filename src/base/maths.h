/* sin, exp, pow and their like with the same bits on every processor, with every compiler and C library: of
 * sums, products, quotients and square roots alone, which IEEE 754 rounds in one way only, and of whole
 * numbers.  The C library's own are others on a processor with fused instructions than on one without.
 *
 * Off by at most 1.1 units in the last place of a double, 0.51 of a float, in millions of arguments over the
 * whole range; powers and logarithms of ten and of two are exact.  Zeros, infinities and NaN as in C17, annex
 * F. */
#ifndef UND_BASE_MATHS_H
#define UND_BASE_MATHS_H

double und_sin(double x);
double und_cos(double x);
double und_tan(double x);
double und_asin(double x);
double und_acos(double x);
double und_atan2(double y, double x);
double und_exp(double x);
double und_expm1(double x);
double und_tanh(double x);
double und_log(double x);
double und_log2(double x);
double und_log10(double x);
double und_pow(double x, double y);
double und_cbrt(double x);
double und_hypot(double x, double y);

float und_sinf(float x);
float und_cosf(float x);
float und_tanf(float x);
float und_asinf(float x);
float und_acosf(float x);
float und_atan2f(float y, float x);
float und_expf(float x);
float und_exp2f(float x);
float und_logf(float x);
float und_powf(float x, float y);
float und_hypotf(float x, float y);

#endif
