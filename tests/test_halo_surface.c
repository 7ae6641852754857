/* Halos are as wide as what phi does to follow what cells hold reads. */
#include "tests/halo_model.h"

/* ---- Stages ---- */

static void fit(part *p, const und_volume_walls *walls, bool tracked)
{
    und_volume_borrow(&p->volume);
    und_volume_fit(&p->volume, &p->w.d, walls, tracked);
    und_volume_give_back(&p->volume);
}
static void follow(void *model)
{
    part *p = model;
    fit(p, &p->walls, true);
}
static void follow_alone(void *model)
{
    part *p = model;
    fit(p, &p->walls, false);
}
static void follow_at_walls(void *model)
{
    part *p = model;
    fit(p, &p->cut, true);
}

TEST(follow, 1)
TEST(follow_alone, 1)
TEST(follow_at_walls, 1)

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_follow), cmocka_unit_test(test_follow_alone),
                                       cmocka_unit_test(test_follow_at_walls)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
