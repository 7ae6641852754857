#include "validate/water.h"

#include <math.h>

const case_basin case_basins[CASE_BASINS] = {
    {.nx = 64, .nz = 1, .m = 1, .dx = 10 / 64.0, .depth = 1},
    {.nx = 64, .nz = 1, .m = 2, .dx = 10 / 64.0, .depth = 1},
    {.nx = 64, .nz = 1, .m = 3, .dx = 10 / 64.0, .depth = 1},
    {.nx = 64, .nz = 48, .m = 1, .dx = 4 / 64.0, .depth = 0.5},
    {.nx = 64, .nz = 48, .n = 1, .dx = 4 / 64.0, .depth = 0.5},
    {.nx = 64, .nz = 48, .m = 1, .n = 1, .dx = 4 / 64.0, .depth = 0.5},
    {.nx = 64, .nz = 48, .m = 2, .n = 1, .dx = 4 / 64.0, .depth = 0.5},
};

double case_water_mode(case_water w, int m, int n)
{
    double sum = 0, weight = 0;
    for (int z = 0; z < w.nz; z++)
        for (int x = 0; x < w.nx; x++) {
            double shape = cos(m * M_PI * (x + 0.5) / w.nx) * cos(n * M_PI * (z + 0.5) / w.nz);
            sum += shape * w.surface(w.model, x, z);
            weight += shape * shape;
        }
    return sum / weight;
}

double case_water_crest(case_water w, int z, int first, int last, double *height)
{
    int best = first + 1;
    for (int x = first + 1; x < last; x++)
        if (w.surface(w.model, x, z) > w.surface(w.model, best, z))
            best = x;
    double low = w.surface(w.model, best - 1, z), mid = w.surface(w.model, best, z),
           high = w.surface(w.model, best + 1, z);
    double bend = low - 2 * mid + high, shift = bend < 0 ? 0.5 * (low - high) / bend : 0;
    if (height)
        *height = mid - 0.25 * (low - high) * shift;
    return best + shift;
}

/* x(n+lag) - p x(n) + q x(n-lag) = 0 by least squares; lambda^lag is a root of its polynomial.  A lag of
 * about a quarter period keeps the two unknowns apart. */
case_fit case_fit_series(const double *series, int count, int lag)
{
    double aa = 0, ab = 0, bb = 0, ac = 0, bc = 0;
    for (int i = lag; i + lag < count; i++) {
        double a = series[i], b = -series[i - lag], c = series[i + lag];
        aa += a * a;
        ab += a * b;
        bb += b * b;
        ac += a * c;
        bc += b * c;
    }
    double det = aa * bb - ab * ab, p = (ac * bb - bc * ab) / det, q = (aa * bc - ab * ac) / det;
    return (case_fit){.size = pow(q, 0.5 / lag), .angle = acos(p / (2 * sqrt(q))) / lag};
}

double case_slope(const double *x, const double *y, int count)
{
    double mx = 0, my = 0, xx = 0, xy = 0;
    for (int i = 0; i < count; i++) {
        mx += x[i] / count;
        my += y[i] / count;
    }
    for (int i = 0; i < count; i++) {
        xx += (x[i] - mx) * (x[i] - mx);
        xy += (x[i] - mx) * (y[i] - my);
    }
    return xy / xx;
}

double case_mode_surface(const void *context, double x, double y, double z, double t)
{
    const case_mode_start *m = context;
    (void)y, (void)t;
    return m->amplitude * cos(m->kx * x) * cos(m->kz * z);
}

double case_pulse_surface(const void *context, double x, double y, double z, double t)
{
    const case_pulse *p = context;
    (void)y, (void)t;
    double s = (x - p->center) * cos(p->angle) + z * sin(p->angle);
    return p->cut != 0 && x > p->cut ? 0 : p->amplitude * exp(-s * s / (p->width * p->width));
}

double case_island_ground(const void *context, double x, double y, double z, double t)
{
    (void)context, (void)y, (void)t;
    double island = fmax(0, 0.2 - 0.05 * ((x - 10) * (x - 10) + (z - 2) * (z - 2)));
    double ridge = 0.3 * exp(-(x - 16) * (x - 16)), rough = 0.01 * sin(7 * x) * cos(5 * z);
    return island + ridge + (island > 0 ? 0 : rough);
}

double case_island_surface(const void *context, double x, double y, double z, double t)
{
    (void)context, (void)y, (void)z, (void)t;
    return x < 16 ? 0.1 : -1;
}

/* Cubic (Catmull-Rom) weights of four samples around a point. */
static void cubic_weights(double f, double w[4])
{
    w[0] = f * (-0.5 + f * (1 - 0.5 * f));
    w[1] = 1 + f * f * (-2.5 + 1.5 * f);
    w[2] = f * (0.5 + f * (2 - 1.5 * f));
    w[3] = f * f * (-0.5 + 0.5 * f);
}

static double surface_at(case_water water, double x, double z)
{
    int ix = (int)floor(x), iz = (int)floor(z);
    double wx[4], wz[4], sum = 0;
    cubic_weights(x - ix, wx);
    cubic_weights(z - iz, wz);
    for (int j = 0; j < 4; j++)
        for (int i = 0; i < 4; i++)
            sum += wx[i] * wz[j] * water.surface(water.model, ix + i - 1, iz + j - 1);
    return sum;
}

void case_see_ring(case_water water, double expected, case_ring_view *r)
{
    double mx = (water.nx - 1) / 2.0, mz = (water.nz - 1) / 2.0, step = 0.25;
    for (int k = 0; k < CASE_RAYS; k++) {
        double angle = 2 * M_PI * k / CASE_RAYS, dx = cos(angle), dz = sin(angle), best = -INFINITY, at = 0;
        r->wake[k] = 0;
        for (double s = 8; s < 1.3 * expected; s += step) {
            double h = surface_at(water, mx + s * dx, mz + s * dz);
            if (s < 0.6 * expected)
                r->wake[k] += h * h;
            if (h > best && s > 0.6 * expected) {
                best = h;
                at = s;
            }
        }
        double low = surface_at(water, mx + (at - step) * dx, mz + (at - step) * dz);
        double high = surface_at(water, mx + (at + step) * dx, mz + (at + step) * dz);
        double bend = low - 2 * best + high;
        r->radius[k] = at + (bend < 0 ? 0.5 * (low - high) / bend * step : 0);
        r->height[k] = best;
    }
}

double case_spread(const double *v)
{
    double low = INFINITY, high = -INFINITY, mean = 0;
    for (int i = 0; i < CASE_RAYS; i++) {
        low = fmin(low, v[i]);
        high = fmax(high, v[i]);
        mean += v[i] / CASE_RAYS;
    }
    return (high - low) / mean;
}
