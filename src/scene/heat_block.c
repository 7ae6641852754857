/* The liquid's temperature into a und_heat_def. */
#include "geom/value.h"
#include "scene/levelset_block.h"

#include <lauxlib.h>
#include <math.h>

enum { TABLE_MAX = 1024, SAMPLES = 257 };

typedef struct heat_read {
    und_heat_def heat;
    double range[2];
    und_value viscosity; /* a function of temperature, to be sampled */
} heat_read;

#define HEAT(member_) offsetof(heat_read, member_)

void und_read_temperature(reader *r, const field *f, void *def)
{
    field space = *f;
    und_value *value = und_scene_alloc(r, 1, sizeof *value);
    space.type = F_SPACE;
    und_read_value(r, &space, value);
    *(const und_value **)((char *)def + f->offset) = value;
}

static void read_melting(reader *r, const field *f, void *def)
{
    heat_read *h = def;
    if (lua_type(r->L, -1) == LUA_TFUNCTION) {
        und_read_function(r, &h->viscosity);
        return;
    }
    if (lua_type(r->L, -1) != LUA_TTABLE)
        und_read_expected(r, f->expected);
    lua_Unsigned count = lua_rawlen(r->L, -1);
    if (count < 1 || count > TABLE_MAX)
        und_read_fail(r, "expected 1 to %d pairs {temperature, viscosity}, found %d", TABLE_MAX, (int)count);
    double(*table)[2] = und_scene_alloc(r, (size_t)count, sizeof *table);
    for (int i = 0; i < (int)count; i++) {
        lua_rawgeti(r->L, -1, i + 1);
        und_read_enter(r, NULL, i + 1);
        und_read_numbers(r, table[i], 2, 2, "{temperature, viscosity}");
        if (!(table[i][1] > 0 && table[i][1] <= f->high))
            und_read_fail(r, "expected a viscosity above 0, up to %g m2/s, found %g", f->high, table[i][1]);
        if (i > 0 && !(table[i][0] > table[i - 1][0]))
            und_read_fail(r, "expected growing temperatures, found %g after %g", table[i][0],
                          table[i - 1][0]);
        und_read_leave(r);
        lua_pop(r->L, 1);
    }
    h->heat.count = (int)count;
    h->heat.viscosity = (const double(*)[2])table;
}

const field und_heat_fields[] = {
    {"start", F_SPACE, NULL, -UND_HEAT_MOST, UND_HEAT_MOST, .offset = HEAT(heat.start),
     .doc = "of the liquid at the start, where its fill has none of its own; in any unit"},
    {"diffusivity", F_NUMBER, "m2/s", 0, 1e6, .offset = HEAT(heat.diffusivity),
     .doc = "how fast it spreads: water 1.4e-7"},
    {"walls", F_OTHER, NULL, -UND_HEAT_MOST, UND_HEAT_MOST, .offset = HEAT(heat.walls),
     .read = und_read_temperature, .expected = "a number or a function(x, y, z, t)",
     .doc = "of the domain's sides; without it nothing passes them"},
    {"viscosity", F_OTHER, "m2/s", 0, 1e6, .read = read_melting,
     .expected = "a list of pairs {temperature, viscosity} or a function(temperature)",
     .doc = "that follows from it: pairs {temperature, viscosity}, or a function of it"},
    {"range", F_PAIR, NULL, -UND_HEAT_MOST, UND_HEAT_MOST, .offset = HEAT(range),
     .doc = "temperatures from which to which a function is asked"},
    {0}};

/* The function is asked at temperatures in even steps. */
static void sample(reader *r, heat_read *h)
{
    double(*table)[2] = und_scene_alloc(r, SAMPLES, sizeof *table);
    if (!und_read_has(r, "range") || !(h->range[1] > h->range[0]))
        und_read_fail(r, "a viscosity that is a function needs range = {low, high}, low below high");
    for (int i = 0; i < SAMPLES; i++) {
        table[i][0] = h->range[0] + (h->range[1] - h->range[0]) * i / (SAMPLES - 1);
        table[i][1] = und_value_at(&h->viscosity, table[i][0], 0, 0, 0);
        und_read_trouble(r);
        if (!(table[i][1] > 0 && table[i][1] <= 1e6))
            und_read_fail(r, "viscosity: expected numbers above 0, up to 1e6 m2/s, found %g at %g",
                          table[i][1], table[i][0]);
    }
    h->heat.count = SAMPLES;
    h->heat.viscosity = (const double(*)[2])table;
}

void und_read_heat(reader *r, const field *f, void *def)
{
    heat_read read = {0};
    if (lua_type(r->L, -1) != LUA_TTABLE)
        und_read_expected(r, f->expected);
    und_read_table(r, f->inside, &read);
    if (read.viscosity.fn)
        sample(r, &read);
    und_heat_def *heat = und_scene_alloc(r, 1, sizeof *heat);
    *heat = read.heat;
    ((und_levelset_def *)def)->heat = heat;
}
