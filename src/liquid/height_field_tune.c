/* What may be turned while a height field runs, and what a state keeps of mouse tools: only where there were
 * any. */
#include "base/status.h"
#include "geom/value.h"
#include "liquid/height_field_state.h"

#include <math.h>
#include <string.h>

void und_height_field_tuning(const und_height_field *p, und_tuning *tuning)
{
    const und_rain_def *rain = p->rain ? &p->rain->def : NULL;
    double x = p->grid.origin[0] + 0.5 * p->nx * p->grid.dx, z = p->grid.origin[2] + 0.5 * p->nz * p->grid.dx;
    bool falls = rain && p->time >= rain->start && p->time < rain->end;
    *tuning = (und_tuning){.gravity = p->def->gravity,
                           .damping = p->def->damping,
                           .viscosity = p->viscosity ? *p->viscosity : NAN,
                           .rain = falls ? und_value_at(&rain->rate, x, 0, z, p->time) : 0,
                           .order = p->order ? *p->order : 0};
}

/* Where the def has no rain: drops whose rings can be seen on these cells, from above all that there is. */
static void invent_rain(const und_height_field *p, und_height_field_def *def)
{
    double highest = -INFINITY, across = p->grid.dx * (p->nx > p->nz ? p->nx : p->nz);
    for (int z = 0; z < p->nz; z++)
        for (int x = 0; x < p->nx; x++)
            highest = fmax(highest, und_height_field_surface(p, und_height_field_at(p, x, z)));
    def->rain.on = true;
    def->rain.radius = fmax(def->rain.radius, 0.25 * p->grid.dx);
    def->rain.top = highest + fmin(fmax(0.2 * across, 2), def->rain.speed);
}

/* Rain from now on, or none; where there is no memory for it, it stays as it is. */
static void set_rain(und_height_field *p, und_height_field_def *def, double rate)
{
    const double most = 1e5;
    und_error err;
    rate = fmin(rate, most);
    if (!p->rain && rate > 0) {
        und_rain_def before = def->rain;
        if (!def->rain.on)
            invent_rain(p, def);
        def->rain.rate = (und_value){.number = rate};
        def->rain.max_rate = 0;
        if (und_height_field_create_rain(p, &err) != UND_OK)
            def->rain = before;
    }
    if (p->rain && und_rain_set_rate(p->rain, rate))
        p->rain_turned = true;
}

void und_height_field_tune(und_height_field *p, und_height_field_def *def, const und_tuning *tuning)
{
    const double least_gravity = 1e-3, most_gravity = 1e3; /* m/s2 */
    und_tuning now;
    und_height_field_tuning(p, &now);
    if (!p->tuned) {
        p->def_before = *def;
        p->viscosity_before = p->viscosity ? *p->viscosity : 0;
        p->order_before = (int)now.order;
    }
    if (tuning->gravity >= 0 && tuning->gravity != now.gravity) {
        double before = def->gravity;
        def->gravity = fmin(fmax(tuning->gravity, least_gravity), most_gravity);
        for (int e = 0; e < UND_EDGES; e++) /* a wave number is a frequency over sqrt(g depth) */
            p->edge[e].wave_number *= sqrt(before / def->gravity);
        p->tuned = true;
    }
    if (tuning->damping >= 0 && isfinite(tuning->damping) && tuning->damping != now.damping) {
        def->damping = tuning->damping;
        p->tuned = true;
    }
    if (p->viscosity && tuning->viscosity >= 0 && isfinite(tuning->viscosity) &&
        tuning->viscosity != now.viscosity) {
        *p->viscosity = tuning->viscosity;
        p->tuned = true;
    }
    if (p->order && (tuning->order == 1 || tuning->order == 2) && tuning->order != now.order) {
        *p->order = (int)tuning->order;
        p->tuned = true;
    }
    if (tuning->rain >= 0 && tuning->rain != now.rain) {
        set_rain(p, def, tuning->rain);
        p->tuned = true;
    }
}

/* ---- states ---- */

int und_height_field_touched_part(und_height_field *p, und_state_field *list, int count)
{
    if (!p->tuned && !p->ground_moved)
        return count;
    const und_rain *rain = p->rain;
    double *t = p->touched;
    memset(t, 0, sizeof p->touched);
    t[UND_TOUCHED_GROUND] = p->ground_moved;
    t[UND_TOUCHED_TUNED] = p->tuned;
    t[UND_TOUCHED_GRAVITY] = p->def->gravity;
    t[UND_TOUCHED_DAMPING] = p->def->damping;
    t[UND_TOUCHED_VISCOSITY] = p->viscosity ? *p->viscosity : 0;
    t[UND_TOUCHED_ORDER] = p->order ? *p->order : 0;
    if (rain && p->rain_turned) {
        t[UND_TOUCHED_RAIN] = 1;
        t[UND_TOUCHED_RATE] = rain->def.rate.number;
        t[UND_TOUCHED_RADIUS] = rain->def.radius;
        t[UND_TOUCHED_SPLASH] = rain->def.splash;
        t[UND_TOUCHED_TOP] = rain->def.top;
        t[UND_TOUCHED_SPEED] = rain->def.speed;
        t[UND_TOUCHED_WIND_X] = rain->def.wind[0];
        t[UND_TOUCHED_WIND_Z] = rain->def.wind[1];
        t[UND_TOUCHED_FLOOR] = rain->floor;
        t[UND_TOUCHED_CAPACITY] = rain->capacity;
    }
    list[count++] = und_state_field_of("touched", UND_F64, t, UND_TOUCHED_COUNT);
    return count;
}

static bool sane(const double t[UND_TOUCHED_COUNT])
{
    for (int i = 0; i < UND_TOUCHED_COUNT; i++)
        if (!(fabs(t[i]) < 1e9))
            return false;
    return t[UND_TOUCHED_GRAVITY] >= 0 && t[UND_TOUCHED_DAMPING] >= 0 && t[UND_TOUCHED_VISCOSITY] >= 0 &&
           (t[UND_TOUCHED_RAIN] == 0 ||
            (t[UND_TOUCHED_RATE] >= 0 && t[UND_TOUCHED_RADIUS] > 0 && t[UND_TOUCHED_SPEED] > 0 &&
             t[UND_TOUCHED_CAPACITY] >= 0 && t[UND_TOUCHED_CAPACITY] <= 1 << 24));
}

/* Rain as the state has it, in the place of what there is. */
static und_status restore_rain(und_height_field *p, und_height_field_def *def,
                               const double t[UND_TOUCHED_COUNT], und_error *err)
{
    und_rain_def *rain = &def->rain;
    und_rain_destroy(p->rain);
    p->rain = NULL;
    *rain = (und_rain_def){.on = true,
                           .rate = {.number = t[UND_TOUCHED_RATE]},
                           .radius = t[UND_TOUCHED_RADIUS],
                           .splash = t[UND_TOUCHED_SPLASH],
                           .top = t[UND_TOUCHED_TOP],
                           .speed = t[UND_TOUCHED_SPEED],
                           .wind = {t[UND_TOUCHED_WIND_X], t[UND_TOUCHED_WIND_Z]},
                           .start = -INFINITY,
                           .end = INFINITY};
    if (und_height_field_create_rain(p, err) != UND_OK)
        return err->status;
    if (!und_rain_reserve(p->rain, (int)t[UND_TOUCHED_CAPACITY]))
        return und_error_set(err, UND_FAILED, "out of memory: rain drops");
    p->rain->capacity = (int)t[UND_TOUCHED_CAPACITY];
    p->rain->floor = t[UND_TOUCHED_FLOOR];
    p->rain_turned = true;
    return UND_OK;
}

/* As the def says, before anybody turned anything. */
static und_status untune(und_height_field *p, und_height_field_def *def, und_error *err)
{
    double before = def->gravity;
    *def = p->def_before;
    if (p->viscosity)
        *p->viscosity = p->viscosity_before;
    if (p->order)
        *p->order = p->order_before;
    for (int e = 0; e < UND_EDGES; e++)
        p->edge[e].wave_number *= sqrt(before / def->gravity);
    p->tuned = false;
    if (!p->rain_turned)
        return UND_OK;
    und_rain_destroy(p->rain);
    p->rain = NULL;
    p->rain_turned = false;
    return und_height_field_create_rain(p, err);
}

und_status und_height_field_restore_touched(und_height_field *p, und_height_field_def *def,
                                            const und_frame *state, und_error *err)
{
    const und_item *item = und_frame_find(state, "touched");
    if (p->tuned && untune(p, def, err) != UND_OK)
        return err->status;
    p->ground_moved = false;
    if (!item)
        return UND_OK;
    const double *t = item->data;
    if (item->type != UND_F64 || und_item_count(item) != UND_TOUCHED_COUNT || !t || !sane(t))
        return und_error_set(err, UND_FAILED, "the saved state has a wrong item \"touched\": it is damaged");
    p->ground_moved = t[UND_TOUCHED_GROUND] != 0;
    if (t[UND_TOUCHED_TUNED] == 0)
        return UND_OK;
    und_tuning tuning = {.gravity = t[UND_TOUCHED_GRAVITY],
                         .damping = t[UND_TOUCHED_DAMPING],
                         .viscosity = t[UND_TOUCHED_VISCOSITY],
                         .rain = NAN,
                         .order = t[UND_TOUCHED_ORDER]};
    und_height_field_tune(p, def, &tuning);
    p->tuned = true;
    return t[UND_TOUCHED_RAIN] != 0 ? restore_rain(p, def, t, err) : UND_OK;
}

und_status und_height_field_sample_ground(const und_height_field *p, float *ground, und_error *err)
{
    for (int z = 0; z < p->nz; z++)
        for (int x = 0; x < p->nx; x++) {
            double height;
            if (und_height_field_sample(p, &p->def->ground, "ground", x, z, &height, err) != UND_OK)
                return err->status;
            ground[und_height_field_at(p, x, z)] = (float)height;
        }
    return UND_OK;
}
