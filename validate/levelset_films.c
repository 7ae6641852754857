/* Films: a litre that is poured onto a dry floor is a puddle, the same on a coarse grid and on a fine one. */
#include "validate/levelset.h"

#include "base/status.h"
#include "liquid/levelset.h"

#include <math.h>
#include <stdio.h>

typedef struct puddle {
    double area;   /* m2, drawn half a millimetre thick or more */
    double aside;  /* m, of its middle from where it fell */
    double spread; /* m: how far from there it is, rms */
} puddle;

/* What is drawn on the floor of a tank as wide as deep. */
static und_status measure_puddle(und_levelset *levelset, const und_levelset_def *def, puddle *p,
                                 und_error *err)
{
    const double dx = def->dx, least = 5e-4, middle = 0.5 * def->n[0] * dx;
    und_liquid *liquid = und_levelset_liquid(levelset);
    und_frame frame = und_frame_empty(0, 0, und_levelset_grid(def));
    const float *distance = NULL;
    double sum = 0, square = 0, by[2] = {0};
    *p = (puddle){0};
    und_status status = liquid->class->frame(liquid, &frame, err);
    if (status == UND_OK)
        status = und_frame_field(&frame, "distance", -1, &distance, err);
    for (int z = 0; z < def->n[2] && status == UND_OK; z++)
        for (int x = 0; x < def->n[0]; x++) {
            const size_t at = (size_t)x + (size_t)def->n[0] * (size_t)def->n[1] * (size_t)z;
            const double thick = 0.5 * dx - (double)distance[at];
            const double place[2] = {(x + 0.5) * dx - middle, (z + 0.5) * dx - middle};
            if (thick < least)
                continue;
            p->area += dx * dx;
            square += dx * dx * (place[0] * place[0] + place[1] * place[1]);
            sum += thick;
            by[0] += thick * place[0];
            by[1] += thick * place[1];
        }
    p->spread = sqrt(square / p->area);
    p->aside = sum > 0 ? hypot(by[0], by[1]) / sum : INFINITY;
    und_frame_clear(&frame);
    return status;
}

static und_status pour_litre(case_sink *sink, int n, puddle *p, und_error *err)
{
    static const char *const source = "a puddle of water at rest is 2 mm thick";
    const double wide = 1.2, half = 0.02, speed = 0.25, litre = 1e-3, dx = wide / n;
    char text[3][96];
    und_levelset_def def = case_levelset_tank(sink, n, n / 8, n, dx);
    und_shape *tap = und_shape_create(
        &(und_shape){.kind = UND_BOX, .center = {wide / 2, 0.08, wide / 2}, .half = {half, half, half}}, err);
    und_element_def element = {
        .role = UND_ELEMENT_SOURCE, .shape = tap, .end = litre / (4 * half * half * speed)};
    element.field.value[1].number = -speed;
    def.elements = &element;
    def.element_count = 1;
    und_levelset *levelset = tap ? und_levelset_create(&def, err) : NULL;
    und_status status = levelset ? UND_OK : err->status;
    if (levelset) {
        case_levelset_run(levelset, 10, 1.0 / 24);
        status = measure_puddle(levelset, &def, p, err);
        const und_ledger l = und_levelset_ledger(levelset);
        snprintf(text[0], sizeof text[0], "%d cells: area after 10 s, m2", n);
        case_report(sink,
                    (case_result){text[0], p->area, l.sources / 0.002, 0.2 * l.sources / 0.002, source});
        snprintf(text[1], sizeof text[1], "%d cells: its middle from below the tap, m", n);
        case_report(sink, (case_result){text[1], p->aside, 0, 0.05, source});
        snprintf(text[2], sizeof text[2], "%d cells: made or lost, of the volume", n);
        case_report(sink, (case_result){text[2], l.correction / l.sources, 0, 1e-12, "the ledger"});
    }
    und_levelset_destroy(levelset);
    und_shape_destroy(tap);
    return status;
}

und_status case_levelset_hold_litre(case_sink *sink, und_error *err)
{
    puddle p[2];
    for (int k = 0; k < 2; k++)
        if (pour_litre(sink, k ? 64 : 32, &p[k], err) != UND_OK)
            return err->status;
    case_report(sink,
                (case_result){"area, 64 over 32 cells", p[1].area / p[0].area, 1, 0.1, "whatever the grid"});
    case_report(sink, (case_result){"how far from below the tap, rms, 64 over 32 cells",
                                    p[1].spread / p[0].spread, 1, 0.1, "whatever the grid"});
    return UND_OK;
}
