/* A sheet of viscous liquid that falls on a floor: it folds from high up and does not from low down. */
#include "validate/direct.h"
#include "validate/levelset.h"

#include <math.h>

/* How far the sheet's middle comes from its axis, in its widths, two widths above the floor or at half of its
 * height where that is lower, while it flows on for as long as the fall took.  D is 6 cells, Re = U D / nu =
 * 0.1, the velocity leans by 1 in 100. */
static und_status pour_sheet(case_sink *sink, double height, double *aside, und_error *err)
{
    const double dx = 0.01, width = 0.06, speed = 0.5, middle = 0.48, top = height * width;
    und_levelset_def def = case_levelset_tank(sink, 96, (int)round(top / dx) + 4, 1, dx);
    und_shape mouth = {.kind = UND_BOX, .center = {middle, top + 0.5, 0}, .half = {width / 2, 0.5, 1}};
    und_shape drop = {.kind = UND_BOX, .center = {middle, top + 0.5, 0}, .half = {width / 2, 0.54, 1}};
    und_fill_def fill = {.shape = &drop, .velocity = {{0}, {.number = -speed}}};
    und_element_def source = {.role = UND_ELEMENT_SOURCE,
                              .shape = &mouth,
                              .field.value = {{.number = 0.01 * speed}, {.number = -speed}},
                              .end = INFINITY};
    def.fills = &fill;
    def.elements = &source;
    def.fill_count = def.element_count = 1;
    def.gravity[1] = -0.5;
    def.viscosity = speed * width / 0.1;
    def.viscosity_solver = UND_VISCOSITY_COUPLED;
    def.stick = true;
    def.spray = false;
    und_levelset *levelset = und_levelset_create(&def, err);
    const double fall = top / speed;
    const int row = (int)(fmin(2 * width, 0.5 * top) / dx);
    *aside = 0;
    for (int i = 0; levelset && i < 40; i++) {
        double sum = 0, at = 0;
        case_levelset_run(levelset, fall * (1 + i / 40.0), fall);
        for (int x = 0; x < 96; x++)
            if (und_levelset_distance(levelset, x, row, 0) < 0) {
                sum++;
                at += (x + 0.5) * dx;
            }
        if (sum > 0)
            *aside = fmax(*aside, fabs(at / sum - middle) / width);
    }
    und_levelset_destroy(levelset);
    return levelset ? UND_OK : err->status;
}

und_status case_direct_sheet(case_sink *sink, und_error *err)
{
    static const char *const source = "Tome & McKee: folds where H/D is above 8.8 and Re below 0.56";
    double high = 0, low = 0;
    if (pour_sheet(sink, 20, &high, err) || pour_sheet(sink, 4, &low, err))
        return err->status;
    case_report(sink, (case_result){"aside, widths, from 20 widths (at most 1 counted)", fmin(high, 1), 1,
                                    0.5, source});
    case_report(sink, (case_result){"aside, widths, from 4 widths", low, 0, 0.25, source});
    return UND_OK;
}
