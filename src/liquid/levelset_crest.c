/* Crests throw off drops (`surface = "volume"`).
 *
 * A crest is where the surface is convex, sharper than cells show: its curvature k (1/m, the sum of both) is
 * above EASY / dx.  It throws where it goes out of the liquid, along its normal and beside the body of the
 * water that it comes from, faster than waves as short as it is sharp, which gravity and surface tension
 * carry away (g / k + sigma k / rho is the square of their speed), than friction lets it, and than it fell:
 *
 *     v^2 = w^2 - g / k - sigma k / rho - 2 nu k w - 2 g.x
 *
 * x from the body to the crest.  What leaves is a sheet as thick as the largest drops, l = sqrt(sigma /
 * (rho g)), at that speed: l (k - EASY / dx) v of an area and time.  The integral of k over a crest is the
 * angle by which it turns times its length, on any grid, and so goes what it throws. */
#include "liquid/levelset_crest_kernel.h"
#include "liquid/levelset_state.h"
#include "surface/volume_parts.h"

#include <string.h>

double und_levelset_crest_speed(double outwards, double sharp, double fallen, double pull, double tension,
                                double viscosity)
{
    return und_crest_speed(outwards, sharp, fallen, pull, tension, viscosity);
}

/* In what und_volume_borrow has lent. */
static und_cresting cresting_of(const und_levelset *s, int blocks, und_dropped *dropped)
{
    const und_volume *v = und_levelset_volumes(s);
    const und_volume_parts *parts = v->parts;
    const und_mask *held = s->elements ? und_elements_held(s->elements) : NULL;
    und_cresting t = {.list = und_volume_list_args_of(v),
                      .d = und_levelset_dropping(s, blocks, dropped),
                      .phi = s->surface.phi,
                      .nu = und_levelset_viscosities(s),
                      .viscosity = s->def.viscosity,
                      .dt = s->dt,
                      .c = v->c,
                      .due = parts->fraction,
                      .from = parts->spare,
                      .thrown = parts->extra,
                      .number = parts->part};
    memcpy(t.gravity, s->def.gravity, sizeof t.gravity);
    if (held)
        t.held = *held;
    return t;
}

void und_levelset_crests(und_levelset *s)
{
    enum { LIST = UND_VOLUME_LIST_STEPS, PASSES = 7 };
    und_volume *v = und_levelset_volumes(s);
    const und_set rows = und_set_shared(&v->device, &v->mac, UND_ROWS_INSIDE),
                  once = und_set_list(s, 1, 1, 1);
    und_dropped *const dropped = und_levelset_dropped(v);
    if (!s->def.spray)
        return;
    und_volume_borrow(v);
    const und_cresting t = cresting_of(s, rows.blocks, dropped);
    const und_pass passes[PASSES] = {
        UND_PASS(und_crest_find, &t, &rows),   UND_PASS(und_crest_count, &t, &rows),
        UND_PASS(und_crest_sum, &t, &rows),    UND_PASS(und_drop_number, &t.d, &once),
        UND_PASS(und_crest_number, &t, &rows), UND_PASS(und_crest_throw, &t, &rows),
        UND_PASS(und_drop_add_up, &t.d, &once)};
    und_volume_listing listing = {.v = v, .marks = UND_PASS(und_crest_mark, &t, NULL)};
    und_step steps[LIST + PASSES];
    und_volume_list_steps(&listing, steps);
    for (int i = 0; i < PASSES; i++)
        steps[LIST + i] = (und_step){.passes = &passes[i], .count = 1};
    und_pass_steps(&s->device, steps, LIST + PASSES);
    und_volume_give_back(v);
    und_levelset_book_drops(s, dropped);
    und_levelset_volume_numbers(s)[UND_LEVELSET_THROWN] += (double)dropped->parts;
}
