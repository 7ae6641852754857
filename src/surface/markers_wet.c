/* How much of each cell its markers fill. */
#include "surface/markers_scratch.h"

#include <math.h>
#include <string.h>

void und_markers_wet(und_markers *s, const uint8_t *label, int per_cell)
{
    const und_mac *m = &s->mac;
    const und_device device = und_markers_counters(s, 2);
    const und_set all = und_markers_all(s);
    int points[3];
    und_markers_lattice(m, per_cell, points);
    und_markers_wet_args args = {.mac = *m,
                                 .place = {s->place[0], s->place[1], s->place[2]},
                                 .share = s->share,
                                 .label = label,
                                 .wet = s->scratch->wet,
                                 .full = 1.0 / (points[0] * points[1] * points[2]),
                                 .alone = device.threads == 1};
    for (int a = 0; a < 3; a++) {
        args.per[a] = s->scratch->per[a];
        args.half[a] = a == 2 && m->n[2] == 1 ? 0 : 0.5 / points[a];
    }
    memset(s->scratch->wet, 0, m->count * sizeof *s->scratch->wet);
    und_pass(&device, und_markers_wet_cells, &args, &all);
}

double und_markers_density(const und_markers *s, size_t cell)
{
    return (double)s->scratch->wet[cell] * UND_MARKERS_UNIT;
}

const uint64_t *und_markers_units(const und_markers *s)
{
    return s->scratch->wet;
}

double und_markers_stand_for(const und_markers *s)
{
    enum { BLOCK = 1024 };
    double all = 0;
    for (int from = 0; from < s->count; from += BLOCK) {
        int to = s->count - from < BLOCK ? s->count : from + BLOCK;
        double sum = 0;
        for (int i = from; i < to; i++)
            sum += s->share[i];
        all += sum;
    }
    return all;
}

void und_markers_scale(und_markers *s, double factor)
{
    for (int i = 0; i < s->count; i++)
        s->share[i] = fmin(s->share[i] * factor, 1);
}
