#include "validate/dam.h"

#include <math.h>

#define MARTIN_MOYCE "Martin & Moyce 1952, tables 2 and 6, n^2 = 2"
enum { FRONTS = 15, HEIGHTS = 11 };
static const double front_z[FRONTS] = {1.67, 1.89, 2.11, 2.33, 2.56, 2.78, 3, 3.22,
                                       3.44, 3.67, 3.89, 4.11, 5,    5.89, 7};
static const double front_t[FRONTS] = {1.43, 1.63, 1.83, 1.98, 2.2,  2.32, 2.51, 2.65,
                                       2.83, 2.97, 3.11, 3.33, 4.02, 4.44, 5.09};
static const double height_t[HEIGHTS] = {0.56, 0.77, 0.93, 1.08, 1.28, 1.46, 1.66, 1.84, 2, 2.21, 2.45};
static const double height_h[HEIGHTS] = {0.94, 0.89, 0.83, 0.78, 0.72, 0.67, 0.61, 0.56, 0.5, 0.44, 0.39};

/* When the front was at z, s. */
static double time_at(const case_dam *d, double z)
{
    for (int i = 1; i < CASE_DAM_SAMPLES; i++)
        if (d->front[i] >= z)
            return d->time[i - 1] +
                   (d->time[i] - d->time[i - 1]) * (z - d->front[i - 1]) / (d->front[i] - d->front[i - 1]);
    return NAN;
}

void case_report_dam(case_sink *sink, const case_dam *d)
{
    const double a = CASE_DAM_WIDTH, g = 9.81, unit = sqrt(a / (2 * g));
    /* The authors set each run's clock so that T = 1.19 at Z = 1.44. */
    double shift = 1.19 - time_at(d, 1.44) / unit, mean = 0, worst = 0, high = 0;
    for (int i = 0; i < FRONTS; i++) {
        double off = fabs((time_at(d, front_z[i]) / unit + shift) / front_t[i] - 1);
        mean += off / FRONTS;
        worst = fmax(worst, off);
    }
    for (int i = 0; i < HEIGHTS; i++)
        for (int k = 1; k < CASE_DAM_SAMPLES; k++) {
            double t = height_t[i] * sqrt(a / g);
            if (d->time[k - 1] <= t && d->time[k] > t)
                high = fmax(high, fabs(d->height[k] - height_h[i]));
        }
    case_report(sink, (case_result){"front, mean relative error of its time", mean, 0, 0.08, MARTIN_MOYCE});
    case_report(sink,
                (case_result){"front, largest relative error of its time", worst, 0, 0.2, MARTIN_MOYCE});
    case_report(sink, (case_result){"height at the wall, largest error", high, 0, 0.05, MARTIN_MOYCE});
}
