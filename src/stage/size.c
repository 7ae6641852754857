#include "stage/size.h"

#include "base/maths.h"

#include <math.h>

static const double HEIGHT_FIELD = 3;                         /* m */
static const float POOL_ABSORPTION[3] = {1.0f, 0.28f, 0.08f}; /* 1/m */
static const float TABLE[3] = {0.33f, 0.325f, 0.315f};        /* grey stone */
static const float PALE[3] = {0.60f, 0.54f, 0.46f};           /* sand of shells */
static const double SHALLOW = 1.5;                            /* height fields are, of their size */

static const float OPAQUE = 1e5f; /* 1/m */

void und_picture_wear_liquid(und_picture_def *def)
{
    const und_look *look = &def->looks.liquid;
    const und_matter *m = &look->matter;
    const bool clear = m->kind == UND_MATTER_DIELECTRIC;
    for (int k = 0; look->given && k < 3; k++) {
        def->absorption[k] = clear ? m->absorption[k] : OPAQUE;
        if (clear || look->paint)
            def->water_color[k] = clear ? m->scatter[k] : m->color[k];
    }
    if (look->given && clear)
        def->refraction = (double)m->index;
}

void und_picture_unsaid(und_picture_def *def)
{
    for (int k = 0; k < 3; k++)
        def->absorption[k] = def->ground_color[k] = NAN;
    def->exposure = def->tile = def->grout = def->texture = NAN;
    def->sun.constant[0] = NAN;
    def->tank = UND_TANK_UNSAID;
}

static double said_or(double said, double other)
{
    return isnan(said) ? other : said;
}

static bool has_camera(const und_picture_def *def)
{
    const double *eye = def->eye.constant, *look = def->look.constant;
    return def->eye.fn || def->look.fn || eye[0] != look[0] || eye[1] != look[1] || eye[2] != look[2];
}

/* Where no camera is set up a vessel on a table shows the domain's sides, and the sun comes over the viewer's
 * shoulder, or its shadow would be what is seen first. */
static void follow_camera(und_picture_def *def, bool table, bool closed)
{
    const und_vector usual = und_picture_def_default().sun, shoulder = {.constant = {-0.6, 0.8, 0.3}};
    bool shown = table && !has_camera(def);
    if (def->tank == UND_TANK_UNSAID)
        def->tank = shown && closed ? UND_TANK_GLASS : UND_TANK_NONE;
    if (!def->sun.fn && isnan(def->sun.constant[0]))
        def->sun = shown ? shoulder : usual;
}

void und_picture_follow_size(und_picture_def *def, double span, bool table, bool closed)
{
    const und_picture_def usual = und_picture_def_default();
    /* Halfway to nature, where absorption is the same in all waters: what is 100 times as large is as dark
     * as if it were 4 times as deep. */
    const double more = (table ? 1 : SHALLOW) * und_pow(HEIGHT_FIELD / span, 0.7);
    /* 0 up to a tub of 0.3 m, 1 from a harbour of 30 m on. */
    const double large = fmin(fmax(0.5 * (und_log10(span / HEIGHT_FIELD) + 1), 0), 1);
    const float *small = table ? TABLE : PALE;
    for (int k = 0; k < 3; k++) {
        if (isnan(def->absorption[k]))
            def->absorption[k] = (float)(more * (double)POOL_ABSORPTION[k]);
        if (isnan(def->ground_color[k]))
            def->ground_color[k] =
                (float)((1 - large) * (double)small[k] + large * (double)usual.ground_color[k]);
    }
    def->texture = said_or(def->texture, (table ? 0.5 + 0.5 * large : 1) * usual.texture);
    /* Large waters are deep and dark, and all around is sky. */
    def->exposure = said_or(def->exposure, usual.exposure + 0.3 * fmin(fmax(und_log10(span / 30), 0), 1));
    follow_camera(def, table, closed);
    def->tile = said_or(def->tile, fmin(usual.tile, 0.1 * span));
    def->grout = said_or(def->grout, 0.04 * def->tile);
}
