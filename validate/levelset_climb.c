/* A dam's water runs up the wall that it hits: what it keeps of its energy, and how high it comes. */
#include "validate/levelset.h"

#include "liquid/levelset_state.h"

#include <math.h>

enum { FRAMES = 30, HIT = 14 }; /* of 1/24 s; by the second all has hit the wall */
static const int grids[] = {40, 44, 48, 52, 56, 60, 64, 68, 72, 76, 80, 88, 96}; /* one is as chance has it */
#define GRIDS ((int)(sizeof grids / sizeof *grids))
#define WIDE 0.21 /* m, of a tank of 1 m */
#define TALL 0.44

typedef struct climb {
    double highest; /* m: where the highest hundredth of the liquid began, at most */
    double energy;  /* after the blow, of what there was before the dam broke */
} climb;

static double energy_of(const und_levelset *s)
{
    const und_mac *m = &s->mac;
    const int32_t *c = und_levelset_volume_cells(s);
    double sum = 0, start = WIDE * TALL * 9.81 * TALL / 2;
    UND_MAC_EACH_ROW (m, row)
        for (int x = 0; x < m->n[0]; x++) {
            const size_t at = und_mac_row(m, row) + (size_t)x;
            double square = 0;
            for (int a = 0; a < 2; a++) {
                const double low = s->flow.u[a][at - (size_t)m->step[a]], high = s->flow.u[a][at];
                square += 0.5 * (low * low + high * high);
            }
            sum += und_volume_cells(c[at]) * (0.5 * square + 9.81 * (row + 0.5) * s->def.dx);
        }
    return sum * s->def.dx * s->def.dx / start;
}

static double highest_of(const und_levelset *s)
{
    const und_mac *m = &s->mac;
    const double hundredth = 0.01 * WIDE * TALL / (s->def.dx * s->def.dx);
    double sum = 0;
    for (int row = m->n[1] - 1; row >= 0; row--)
        for (int x = 0; x < m->n[0]; x++) {
            sum += und_volume_cells(und_levelset_volume_cells(s)[und_mac_row(m, row) + (size_t)x]);
            if (sum >= hundredth)
                return (row + 0.5) * s->def.dx;
        }
    return 0;
}

static und_status run_up(const case_sink *sink, int n, double courant, climb *sum, und_error *err)
{
    und_levelset_def def = case_levelset_tank(sink, n, n, 1, 1.0 / n);
    und_shape *dam = case_levelset_box(WIDE, TALL, 9, err);
    const und_fill_def fill = {.shape = dam};
    double highest = 0;
    def.fills = &fill;
    def.fill_count = 1;
    def.courant = courant;
    und_levelset *levelset = dam ? und_levelset_create(&def, err) : NULL;
    for (int frame = 1; frame <= FRAMES && levelset; frame++) {
        und_levelset_step(levelset, 1.0 / 24);
        highest = fmax(highest, highest_of(levelset));
        sum->energy += frame == HIT ? energy_of(levelset) / GRIDS : 0;
    }
    sum->highest += highest / GRIDS;
    und_shape_destroy(dam);
    const bool made = levelset != NULL;
    und_levelset_destroy(levelset);
    return made ? UND_OK : err->status;
}

und_status case_levelset_climb(case_sink *sink, und_error *err)
{
    static const char own[] = "the same in steps of a cell";
    climb usual = {0}, small = {0};
    for (int i = 0; i < GRIDS; i++)
        if (run_up(sink, grids[i], 0, &usual, err) != UND_OK ||
            run_up(sink, grids[i], 1, &small, err) != UND_OK)
            return err->status;
    case_report(sink, (case_result){"energy kept when all has hit the wall, mean of 40 to 96 cells",
                                    usual.energy, small.energy, 0.08, own});
    case_report(sink, (case_result){"the highest hundredth on the wall, m, mean of 40 to 96 cells",
                                    usual.highest, small.highest, 0.15, own});
    return UND_OK;
}
