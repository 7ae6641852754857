/* The validation cases of height-field water, and what they share. */
#include "cases_waves.h"

#include "liquid/liquid.h"

#include <math.h>

const validation_case waves_cases[] = {
    {"km_modes", "waves", case_km_modes},
    {"km_pulse", "waves", case_km_pulse},
    {"wave_speed", "waves", case_wave_speed},
    {"seiche", "waves", case_seiche},
    {"seiche_decay", "waves", case_seiche_decay},
    {"convergence", "waves", case_converge},
    {"depth_step", "waves", case_step},
    {"refraction", "waves", case_refraction},
    {"linear_beach", "waves", case_linear_beach},
    {"thacker", "waves", case_thacker},
    {"thacker_surface", "waves", case_thacker_surface},
    {"lake_at_rest", "waves", case_lake_at_rest},
    {"rough_volume", "waves", case_rough_volume},
    {"hump", "waves", case_hump},
    {"ring", "waves", case_ring},
    {"open_edge", "waves", case_open_edge},
    {"driven_edge", "waves", case_driven_edge},
    {"flow", "waves", case_flow},
    {0},
};

und_waves_def case_tank(int nx, int nz, double dx, double depth, int order)
{
    und_waves_def def = und_waves_def_default();
    def.pool.nx = nx;
    def.pool.nz = nz;
    def.pool.dx = dx;
    def.pool.ground.number = -depth;
    def.pool.surface.number = 0;
    def.order = order;
    def.pool.threads = 1;
    return def;
}

void case_steps(und_waves *waves, int count, double dt)
{
    for (int i = 0; i < count; i++)
        und_waves_step(waves, dt);
}

double case_mode(const und_waves *waves, const und_waves_def *def, int m, int n)
{
    double sum = 0, weight = 0;
    for (int z = 0; z < def->pool.nz; z++)
        for (int x = 0; x < def->pool.nx; x++) {
            double shape =
                cos(m * M_PI * (x + 0.5) / def->pool.nx) * cos(n * M_PI * (z + 0.5) / def->pool.nz);
            sum += shape * und_waves_surface(waves, x, z);
            weight += shape * shape;
        }
    return sum / weight;
}

double case_largest(const und_waves *waves, const und_waves_def *def, double level)
{
    double largest = 0;
    for (int z = 0; z < def->pool.nz; z++)
        for (int x = 0; x < def->pool.nx; x++) {
            double h = und_waves_surface(waves, x, z);
            if (h > und_waves_ground(waves, x, z))
                largest = fmax(largest, fabs(h - level));
        }
    return largest;
}

double case_crest(const und_waves *waves, int z, int first, int last, double *height)
{
    int best = first + 1;
    for (int x = first + 1; x < last; x++)
        if (und_waves_surface(waves, x, z) > und_waves_surface(waves, best, z))
            best = x;
    double low = und_waves_surface(waves, best - 1, z), mid = und_waves_surface(waves, best, z),
           high = und_waves_surface(waves, best + 1, z);
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

double case_ledger_defect(const und_waves *waves)
{
    und_ledger l = und_waves_ledger(waves);
    return fabs(und_ledger_expected(&l) - l.measured) / (l.start + l.sources);
}

double case_mode_surface(void *context, double x, double y, double z, double t)
{
    const case_mode_start *m = context;
    (void)y, (void)t;
    return m->amplitude * cos(m->kx * x) * cos(m->kz * z);
}

double case_pulse_surface(void *context, double x, double y, double z, double t)
{
    const case_pulse *p = context;
    (void)y, (void)t;
    double s = (x - p->center) * cos(p->angle) + z * sin(p->angle);
    return p->cut != 0 && x > p->cut ? 0 : p->amplitude * exp(-s * s / (p->width * p->width));
}
