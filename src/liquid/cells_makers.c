/* Waves that pressure on the surface makes (Foster & Metaxas 1996, section 7.2).
 *
 * A pattern of pressure over density P exp(i phase), phase = C x - omega t, that runs with free waves
 * A exp(i phase) makes them grow by A' = -i C tanh(C D) P / (2 omega), without end.  So the surface is asked
 * how high they are: of waves that go with the pattern, height + i speed / omega is A exp(i phase), and the
 * mean square of its size is the square of the amplitude of all waves there are.  So it is with the speed
 * along the surface, times tanh(C D).  Crests that sharpen in shallow water rise too fast, and swirls in deep
 * water run along too fast: the slower of the two counts.  The pattern is as strong as makes up for what is
 * missing. */
#include "base/maths.h"
#include "liquid/cells_state.h"

#include <math.h>

static const double PI = 3.14159265358979323846;

typedef struct pattern {
    double number[2];         /* C along x and z, 1/m (eq. 19) */
    double omega, free_omega; /* rad/s: the pattern's, and that of free waves */
    double depth;             /* tanh(C D) */
    double growth;            /* of the amplitude a second, by a pressure over density of 1 */
} pattern;

static pattern pattern_of(const und_wave_maker *w, double gravity)
{
    double c = 2 * PI / w->wavelength, angle = w->direction * PI / 180, depth = und_tanh(c * w->depth);
    double free_omega = sqrt(gravity * c * depth), omega = w->frequency > 0 ? w->frequency : free_omega;
    return (pattern){.number = {c * und_cos(angle), c * und_sin(angle)},
                     .omega = omega,
                     .free_omega = free_omega,
                     .depth = depth,
                     .growth = c * depth / (2 * omega)};
}

static double phase_at(const und_cells *s, const pattern *p, int x, int z)
{
    return p->number[0] * und_mac_middle(&s->mac, 0, x) + p->number[1] * und_mac_middle(&s->mac, 2, z) -
           p->omega * s->time;
}

/* Where the surface of a column is, m, and how fast it moves along x, y and z, m/s. */
typedef struct surface {
    double height, speed[3];
} surface;

/* False: the column has none. */
static bool look(const und_cells *s, int x, int z, surface *out)
{
    const und_mac *m = &s->mac;
    int y = m->n[1] - 1;
    while (y >= 0 && s->flow.label[und_mac_at(m, x, y, z)] != UND_CELL_SURFACE)
        y--;
    if (y < 0)
        return false;
    size_t at = und_mac_at(m, x, y, z);
    out->height = und_cells_surface_at(s, x, y, z);
    for (int i = 0; i < 3; i++) {
        double low = s->flow.u[i][at - (size_t)m->step[i]], part = 0.5;
        if (i == 1)
            part = fmin(fmax((out->height - und_mac_middle(m, 1, y - 0.5)) / m->d[1], 0), 1);
        out->speed[i] = low + part * (s->flow.u[i][at] - low);
    }
    return true;
}

/* Means over all columns with a surface. */
typedef struct waves {
    double real, imaginary; /* of the amplitude of those that go with the pattern, m */
    double square;          /* of that of all, m2 */
} waves;

/* The mean of the surface; how many columns have one. */
static double mean_of(const und_cells *s, surface *mean)
{
    double count = 0;
    surface here;
    *mean = (surface){0};
    for (int z = 0; z < s->mac.n[2]; z++)
        for (int x = 0; x < s->mac.n[0]; x++)
            if (look(s, x, z, &here)) {
                mean->height += here.height;
                for (int i = 0; i < 3; i++)
                    mean->speed[i] += here.speed[i];
                count++;
            }
    mean->height /= fmax(count, 1);
    for (int i = 0; i < 3; i++)
        mean->speed[i] /= fmax(count, 1);
    return count;
}

static waves waves_of(const und_cells *s, const pattern *p)
{
    surface mean, here;
    double count = mean_of(s, &mean), rising = 0, along = 0;
    waves all = {0};
    for (int z = 0; z < s->mac.n[2]; z++)
        for (int x = 0; x < s->mac.n[0]; x++)
            if (look(s, x, z, &here)) {
                double phase = phase_at(s, p, x, z), h = here.height - mean.height;
                double v = here.speed[1] / p->free_omega;
                double u = (here.speed[0] - mean.speed[0]) * p->depth / p->free_omega;
                double w = (here.speed[2] - mean.speed[2]) * p->depth / p->free_omega;
                all.real += (h * und_cos(phase) + v * und_sin(phase)) / count;
                all.imaginary += (v * und_cos(phase) - h * und_sin(phase)) / count;
                all.square += h * h / count;
                rising += v * v / count;
                along += (u * u + w * w) / count;
            }
    all.square += fmin(rising, along);
    return all;
}

/* Where waves are missing the pattern makes those that go with it grow, or, where there are hardly any, new
 * ones of -i times the amplitude: at the rate at which the time makes it, and once it is over within a
 * period, for walls and friction take as fast.  Where there are too many it takes what goes with it away; in
 * between it rests, for walls send back what it does. */
static void strength_of(const und_cells *s, const und_wave_maker *w, const pattern *p, double strength[2])
{
    const double near = 8, enough = 1.05; /* of the amplitude: it is 1 / near from what it should be */
    const double few = 0.1;
    const waves now = waves_of(s, p);
    bool made = s->time - w->start > w->time;
    double time = made ? fmin(w->time, 2 * PI / p->omega) : w->time, most = w->amplitude / time / p->growth;
    double size = sqrt(now.square) / w->amplitude, with = und_hypot(now.real, now.imaginary);
    double rate[2] = {now.real, now.imaginary}, of = size < 1 ? with : -w->amplitude;
    if (size < 1 && with < few * w->amplitude) {
        rate[0] = 0;
        rate[1] = -(of = w->amplitude);
    }
    double scale = fmin(fmax(near * (size < 1 ? 1 - size : size - enough), 0), 1) * most / of;
    strength[0] = -scale * rate[1]; /* i times the rate */
    strength[1] = scale * rate[0];
}

void und_cells_rule_makers(und_cells *s)
{
    for (int i = 0; i < s->def.maker_count; i++) {
        const und_wave_maker *w = &s->def.makers[i];
        const pattern p = pattern_of(w, -s->def.gravity[1]);
        s->made[i][0] = s->made[i][1] = 0;
        if (!(s->time >= w->start && s->time < w->end))
            continue;
        if (w->printed) /* eq. 18 */
            s->made[i][0] =
                w->amplitude * sqrt(-s->def.gravity[1] * w->depth * w->wavelength / (2 * PI)) / w->time;
        else if (w->amplitude > 0)
            strength_of(s, w, &p, s->made[i]);
    }
}

double und_cells_made_pressure(const und_cells *s, int x, int z)
{
    double sum = 0;
    for (int i = 0; i < s->def.maker_count; i++) {
        const und_wave_maker *w = &s->def.makers[i];
        const pattern p = pattern_of(w, -s->def.gravity[1]);
        double phase = phase_at(s, &p, x, z);
        if (s->time >= w->start && s->time < w->end) /* eq. 17 */
            sum += w->mean / w->time + s->made[i][0] * und_cos(phase) - s->made[i][1] * und_sin(phase);
    }
    return sum;
}
