/* Pools at rest beside solids that leave little of cells: narrow gaps, edges, walls that lean over the
 * surface or lie just below it, or over a floor that is near; and at the sides of the domain. */
#include "validate/levelset.h"

#include "geom/motion.h"
#include "liquid/levelset_state.h"

#include <math.h>
#include <stdio.h>

typedef struct pool {
    const char *what;
    int n;
    double level, seconds; /* m */
    bool box;              /* it fills one from side to side, which ends in the plane too */
    und_separate separate;
    double turn, at[2]; /* degrees, m: the first, about its origin, which is there; 0: none is */
    int count;
    und_shape shape[2];
} pool;

#define BALL(x, y, r)                                              \
    {                                                              \
        .kind = UND_SPHERE, .center = {(x), (y), 0}, .radius = (r) \
    }
#define BOX(x, y, wide, high)                                                               \
    {                                                                                       \
        .kind = UND_BOX, .center = {(x), (y), 0}, .half = { 0.5 * (wide), 0.5 * (high), 1 } \
    }

#define ELLIPSOID(x, y, a, b)                                                     \
    {                                                                             \
        .kind = UND_ELLIPSOID, .center = {(x), (y), 0}, .half = {(a), (b), 1000 } \
    }

static const pool pools[] = {
    {"two balls 0.3 cells apart", 24, 0.24988, 2, .count = 2,
     .shape = {BALL(0.20827, 0.25653, 0.19926), BALL(0.61973, 0.28944, 0.19926)}},
    {"a box of liquid around a ball", 24, 0.46595, 2, .box = true, .count = 1,
     .shape = {BALL(0.67436, 0.28237, 0.24999)}},
    {"a box of liquid around a ball", 48, 0.46303, 2, .box = true, .count = 1,
     .shape = {BALL(0.58783, 0.11535, 0.1424)}},
    {"a ball that separates, at the side", 24, 0.43444, 2, .separate = UND_SEPARATE_ALWAYS, .count = 1,
     .shape = {BALL(0.2453, 0.455, 0.24674)}},
    {"a roof on a post of 2.4 cells", 24, 0.36757, 2, .count = 2,
     .shape = {BOX(0.525, 0.488235, 0.45, 0.14237), BOX(0.35, -0.281475, 0.1, 1.43705)}},
    {"a layer of 0.7 cells on a box", 36, 0.536121, 2, .count = 2,
     .shape = {BOX(0.3005235, 0.124714, 0.113655, 0.783076), BOX(0.5348315, 0.249174, 0.243961, 0.260498)}},
    {"a layer of 0.5 cells on a box", 28, 0.328483, 2, .count = 2,
     .shape = {BOX(0.235619, 0.245655, 0.077126, 0.12995), BOX(0.3539075, 0.000449, 0.091859, 0.632728)}},
    {"two balls just below the surface", 48, 0.5115, 6, .count = 2,
     .shape = {BALL(0.28397, 0.37105, 0.16921), BALL(0.65501, 0.3446, 0.16921)}},
    {"a box just above the surface", 40, 0.22131, 4, .count = 2,
     .shape = {BOX(0.525, 0.167295, 0.45, 0.11077), BOX(0.35, -0.434045, 0.1, 1.13191)}},
    {"below a plate at 32 degrees and a ball", 48, 0.302155, 2, .turn = 32.305, .at = {0.489969, 0.39262},
     .count = 2, .shape = {BOX(0, 0, 0.308724, 0.052566), BALL(0.416126, 0.509407, 0.110826)}},
    {"1.2 cells below an ellipsoid", 46, 0.027066, 2, .count = 1,
     .shape = {ELLIPSOID(0.17153, 0.08691, 0.05442, 0.07255)}},
    {"2.5 cells below one that separates", 29, 0.086248, 2, .separate = UND_SEPARATE_ALWAYS, .count = 1,
     .shape = {ELLIPSOID(0.85255, 0.19208, 0.18325, 0.13575)}},
    {"1.9 cells below a box at 30 degrees", 24, 0.080642, 2, .turn = 29.983, .at = {0.38826, 0.21319},
     .count = 1, .shape = {BOX(0, 0, 0.28734, 0.22246)}},
    {"1.3 cells around a box at 36 degrees", 38, 0.033614, 2, .turn = 35.695, .at = {0.51376, 0.04227},
     .count = 1, .shape = {BOX(0, 0, 0.20718, 0.38064)}},
    {"a box that ends 0.1 cells beyond a side", 27, 0.166354, 2, .count = 1,
     .shape = {BOX(0.13165, 0.11359, 0.26998, 0.1246)}},
    {"30 cells deep, with a box", 48, 0.63251, 2, .count = 1,
     .shape = {BOX(0.54042, 0.56515, 0.13164, 0.17568)}}};

/* Beside a plate that the pool ends within. */
static const pool beside_plates[] = {{"beside a plate of 0.2 cells", 32, 0.28929, 2, .count = 1,
                                      .shape = {BOX(0.244245, -0.18841, 0.00647, 1.62318)}},
                                     {"beside a plate of 0.7 cells", 32, 0.44505, 2, .count = 1,
                                      .shape = {BOX(0.27037, -0.220615, 0.02212, 1.55877)}}};

static und_status rest(case_sink *sink, const pool *p, double wide, und_error *err)
{
    char text[96];
    und_levelset_def def = case_levelset_tank(sink, p->n, p->n, 1, 1.0 / p->n);
    und_shape *box = case_levelset_box(wide, p->level, 1, err);
    const und_fill_def fill = {.shape = box};
    const und_key key = {.position = {p->at[0], p->at[1], 0}, .rotation = {0, 0, p->turn}};
    und_motion *motion = und_motion_create(&key, 1, UND_EASE_LINEAR, err);
    und_obstacle_def solid[2];
    for (int i = 0; i < p->count; i++)
        solid[i] = (und_obstacle_def){.shape = &p->shape[i], .separate = p->separate};
    solid[0].motion = p->turn != 0 ? motion : NULL;
    def.obstacles = solid;
    def.obstacle_count = p->count;
    def.has_level = !p->box;
    def.level.number = p->level;
    def.fills = &fill;
    def.fill_count = p->box ? 1 : 0;
    und_levelset *levelset = box && motion ? und_levelset_create(&def, err) : NULL;
    if (levelset) {
        case_levelset_run(levelset, p->seconds, 1.0 / 24);
        snprintf(text, sizeof text, "%s, %d cells: speed after %g s, m/s", p->what, p->n, p->seconds);
        case_report(sink, (case_result){text, case_levelset_fastest(levelset, &def), 0, 1e-4, "at rest"});
    }
    const und_status status = levelset ? UND_OK : err->status;
    und_levelset_destroy(levelset);
    und_shape_destroy(box);
    und_motion_destroy(motion);
    return status;
}

und_status case_levelset_rest_beside(case_sink *sink, und_error *err)
{
    und_status status = UND_OK;
    for (size_t k = 0; k < sizeof pools / sizeof *pools && status == UND_OK; k++)
        status = rest(sink, &pools[k], 1, err);
    for (size_t k = 0; k < sizeof beside_plates / sizeof *beside_plates && status == UND_OK; k++) {
        pool p = beside_plates[k];
        p.box = true;
        status = rest(sink, &p, p.shape[0].center.x, err);
    }
    return status;
}
