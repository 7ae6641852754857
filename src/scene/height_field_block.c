/* What liquid.waves{} and liquid.columns{} share: the fields of the und_height_field_def that begins their
 * defs. */
#include "liquid/height_field.h"
#include "scene/blocks.h"

#include <math.h>
#include <string.h>

enum { CELLS_MAX = 32768 };

#define CELLS_TOTAL ((double)(1 << 30))
#define FOREVER 1e9

static void read_size(reader *r, const field *f, void *def)
{
    und_scene *scene = r->scene;
    (void)f;
    (void)def;
    scene->size[1] = 0;
    int count = 1;
    if (lua_type(r->L, -1) == LUA_TNUMBER)
        scene->size[0] = und_read_number(r, &(field){.type = F_NUMBER, .unit = "m"});
    else
        count = und_read_numbers(r, scene->size, 1, 2, "a length, or {x, z} (m)");
    for (int i = 0; i < count; i++)
        if (!(scene->size[i] >= 1e-6 && scene->size[i] <= 1e9))
            und_read_fail(r, "expected lengths from 1e-06 to 1e+09 (m), found %g", scene->size[i]);
    scene->curve = count == 1;
}

/* Says what would make cells square: a size near this one, or another number of cells. */
static void fail_square(reader *r, double dx, const int n[2])
{
    const double *size = r->scene->size;
    int longer = size[1] > size[0];
    double ratio = size[!longer] / size[longer];
    double fit[2] = {n[0] * dx, n[1] * dx};
    for (int step = 1; step < 4096; step++)
        for (int sign = -1; sign <= 1; sign += 2) {
            int count = n[longer] + sign * step;
            double other = count * ratio;
            if (count >= 2 && count <= CELLS_MAX && other > 0.5 && fabs(other - round(other)) < 1e-9 * count)
                und_read_fail(r,
                              "cells must be square: %d of them along %g m are %g m long, and %g m is %g of "
                              "them; size = {%g, %g} would fit, or cells = %d",
                              n[longer], size[longer], size[longer] / n[longer], size[!longer],
                              size[!longer] / dx, fit[0], fit[1], count);
        }
    und_read_fail(r,
                  "cells must be square: %d of them along %g m are %g m long, and %g m is %g of them; "
                  "size = {%g, %g} would fit",
                  n[longer], size[longer], size[longer] / n[longer], size[!longer], size[!longer] / dx,
                  fit[0], fit[1]);
}

static void read_cells(reader *r, const field *f, void *def)
{
    und_height_field_def *height_field = def;
    const double *size = r->scene->size;
    double given[2] = {0, 0};
    int n[2] = {1, 1}, count = 1, longer = size[1] > size[0];
    (void)f;
    if (lua_type(r->L, -1) == LUA_TNUMBER)
        given[longer] = und_read_number(r, &(field){.type = F_NUMBER});
    else
        count = und_read_numbers(r, given, 1, r->scene->curve ? 1 : 2, "a number of cells, or {nx, nz}");
    if (count == 1 && longer && given[1] == 0) /* {n} for the longer side */
        given[1] = given[0];
    for (int i = 0; i < 2; i++) {
        bool asked = count == 2 || i == longer;
        if (asked &&
            !(given[i] >= (i == longer ? 2 : 1) && given[i] <= CELLS_MAX && given[i] == floor(given[i])))
            und_read_fail(r, "expected a whole number from 2 to %d, found %g", CELLS_MAX, given[i]);
        n[i] = asked ? (int)given[i] : 1;
    }
    height_field->dx = size[longer] / n[longer];
    if (!r->scene->curve) {
        double other = size[!longer] / height_field->dx, whole = fmax(1, round(other));
        if (count == 1)
            n[!longer] = (int)whole;
        if (fabs(other - n[!longer]) > 1e-6 * n[!longer]) {
            n[!longer] = (int)whole;
            fail_square(r, height_field->dx, n);
        }
    }
    if ((double)n[0] * n[1] > CELLS_TOTAL)
        und_read_fail(r, "expected at most 2^30 cells in all, found %d x %d", n[0], n[1]);
    height_field->nx = n[0];
    height_field->nz = n[1];
    r->scene->curve = n[1] == 1;
}

static void read_level(reader *r, const field *f, void *def)
{
    und_height_field_def *height_field = def;
    height_field->surface =
        (und_value){.number = und_read_number(
                        r, &(field){.type = F_NUMBER, .unit = "m", .low = f->low, .high = f->high})};
}

static const char *const edge_kinds[] = {"wall", "open", "flow", "fall", NULL};

#define EDGE(member_) offsetof(und_edge_def, member_)

static const field edge_fields[] = {
    {"kind", F_CHOICE, NULL, .required = true, .offset = EDGE(kind), .choices = edge_kinds,
     .doc = "\"wall\", \"open\", \"flow\" or \"fall\""},
    {"level", F_RATE, "m", -1e9, 1e9, .offset = EDGE(level),
     .doc = "open: height of the water outside; flow: the river comes in only where the ground is below it"},
    {"amplitude", F_NUMBER, "m", 0, 1e6, .offset = EDGE(amplitude),
     .doc = "open: height of the wave that comes in"},
    {"period", F_NUMBER, "s", 1e-6, 1e9, .offset = EDGE(period), .doc = "open: the wave's period"},
    {"direction", F_NUMBER, "degrees", -90, 90, .offset = EDGE(direction),
     .doc = "open: where the wave goes, from straight in, turning from x towards z"},
    {"ramp", F_NUMBER, "s", 0, 1e9, .offset = EDGE(ramp),
     .doc = "open: time in which the wave grows to its height"},
    {"rate", F_RATE, "m3/s per m", -1e9, 1e9, .offset = EDGE(rate),
     .doc = "flow: volume that comes in per second and metre of edge"},
    {0}};

static void check_edge(reader *r, const und_edge_def *edge)
{
    static const char *const open_keys[] = {"amplitude", "period", "direction", "ramp", NULL};
    bool table = lua_type(r->L, -1) == LUA_TTABLE;
    for (int i = 0; table && open_keys[i]; i++)
        if (edge->kind != UND_EDGE_OPEN && und_read_has(r, open_keys[i]))
            und_read_fail(r, "only an edge of kind \"open\" has a %s, this one is \"%s\"", open_keys[i],
                          edge_kinds[edge->kind]);
    if (table && edge->kind != UND_EDGE_OPEN && edge->kind != UND_EDGE_FLOW && und_read_has(r, "level"))
        und_read_fail(r, "only an edge of kind \"open\" or \"flow\" has a level, this one is \"%s\"",
                      edge_kinds[edge->kind]);
    if (table && edge->kind != UND_EDGE_FLOW && und_read_has(r, "rate"))
        und_read_fail(r, "only an edge of kind \"flow\" has a rate, this one is \"%s\"",
                      edge_kinds[edge->kind]);
    if (edge->kind == UND_EDGE_FLOW && !(table && und_read_has(r, "rate")))
        und_read_fail(r, "missing key \"rate\": {kind = \"flow\", rate = ...} (m3/s per metre of edge)");
    if (edge->amplitude > 0 && !und_read_has(r, "period"))
        und_read_fail(r, "missing key \"period\" (s) of the wave that comes in");
}

static void read_edge(reader *r, const field *f, void *def)
{
    und_edge_def *edge = (und_edge_def *)((char *)def + f->offset);
    bool along_x = f->offset < offsetof(und_height_field_def, edge[UND_LOW_Z]);
    if (r->scene->curve && !along_x)
        und_read_fail(r, "a curve has only the edges left and right");
    *edge = (und_edge_def){0};
    if (lua_type(r->L, -1) == LUA_TTABLE) {
        und_read_table(r, edge_fields, edge);
        edge->has_level = und_read_has(r, "level");
    } else {
        und_read_choice(r, edge_kinds, (int *)&edge->kind);
    }
    check_edge(r, edge);
}

#define HEIGHT_FIELD(member_) offsetof(und_height_field_def, member_)
#define SIDE(name_, which_, doc_)                                                                       \
    {                                                                                                   \
        name_, F_OTHER, .offset = HEIGHT_FIELD(edge[which_]), .read = read_edge, .inside = edge_fields, \
                        .doc = doc_                                                                     \
    }

static const field side_fields[] = {SIDE("left", UND_LOW_X, "the edge at low x"),
                                    SIDE("right", UND_HIGH_X, "the edge at high x"),
                                    SIDE("back", UND_LOW_Z, "the edge at low z"),
                                    SIDE("front", UND_HIGH_Z, "the edge at high z"),
                                    {0}};

static void read_edges(reader *r, const field *f, void *def)
{
    (void)f;
    und_read_table(r, side_fields, def);
}

#define SOURCE(member_) offsetof(und_source_def, member_)

static const field source_fields[] = {
    {"center", F_PLACE, "m", .offset = SOURCE(center), .doc = "middle of the disc, {x, z}"},
    {"radius", F_NUMBER, "m", 1e-6, 1e9, .offset = SOURCE(radius), .doc = "radius of the disc"},
    {"shape", F_SHAPE, NULL, .offset = SOURCE(shape), .doc = "a shape seen from above, instead of a disc"},
    {"rate", F_RATE, "m3/s", -1e9, 1e9, true, SOURCE(rate), .doc = "volume per second over the whole area"},
    {"start", F_NUMBER, "s", -FOREVER, INFINITY, .offset = SOURCE(start), .doc = "when it begins"},
    {"stop", F_NUMBER, "s", -FOREVER, INFINITY, .offset = SOURCE(end), .doc = "when it ends"},
    {0}};

static void init_source(void *item)
{
    ((und_source_def *)item)->end = INFINITY;
}

static void check_source(reader *r, void *item)
{
    und_source_def *source = item;
    if (!source->shape && !(und_read_has(r, "center") && source->radius > 0))
        und_read_fail(r, "missing keys \"center\" and \"radius\", or \"shape\"");
    if (source->shape && (source->radius > 0 || und_read_has(r, "center")))
        und_read_fail(r, "expected either a shape or center and radius, found both");
}

/* Springs and drains are one list in the def; a drain's rate is taken away. */
static void add_sources(reader *r, und_height_field_def *height_field, double sign)
{
    int count = 0;
    und_source_def *more = und_read_list(r, source_fields, sizeof *more, init_source, check_source, &count);
    und_source_def *all = und_scene_alloc(r, (size_t)height_field->source_count + (size_t)count, sizeof *all);
    if (height_field->source_count)
        memcpy(all, height_field->sources, (size_t)height_field->source_count * sizeof *all);
    for (int i = 0; i < count; i++) {
        if (sign < 0)
            und_read_value_negated(&more[i].rate);
        all[height_field->source_count + i] = more[i];
    }
    height_field->sources = all;
    height_field->source_count += count;
}

static void read_springs(reader *r, const field *f, void *def)
{
    (void)f;
    add_sources(r, def, 1);
}

static void read_drains(reader *r, const field *f, void *def)
{
    (void)f;
    add_sources(r, def, -1);
}

typedef struct drop_read {
    und_drop_def drop;
    double height;
} drop_read;

static const field drop_fields[] = {
    {"time", F_NUMBER, "s", 0, FOREVER, .offset = offsetof(drop_read, drop.time), .doc = "when it falls in"},
    {"center", F_PLACE, "m", .required = true, .offset = offsetof(drop_read, drop.center),
     .doc = "where, {x, z}"},
    {"radius", F_NUMBER, "m", 1e-6, 1e9, true, offsetof(drop_read, drop.radius),
     .doc = "of the bump it makes"},
    {"volume", F_NUMBER, "m3", -1e15, 1e15, .offset = offsetof(drop_read, drop.volume),
     .doc = "water it brings; below 0: takes away"},
    {"height", F_NUMBER, "m", -1e9, 1e9, .offset = offsetof(drop_read, height),
     .doc = "height of the bump, instead of the volume"},
    {0}};

/* The bump is 1/2 + 1/2 cos(pi r/R): its volume over a disc, and over a curve one cell deep. */
static void check_drop(reader *r, void *item)
{
    drop_read *d = item;
    double radius = d->drop.radius;
    if (und_read_has(r, "volume") == und_read_has(r, "height"))
        und_read_fail(r, "expected either \"volume\" (m3) or \"height\" (m)");
    if (und_read_has(r, "height"))
        d->drop.volume = d->height * (r->scene->curve ? radius * r->scene->view.height_field->dx
                                                      : M_PI * radius * radius * (0.5 - 2 / (M_PI * M_PI)));
}

static void read_drops(reader *r, const field *f, void *def)
{
    und_height_field_def *height_field = def;
    (void)f;
    drop_read *list =
        und_read_list(r, drop_fields, sizeof *list, NULL, check_drop, &height_field->drop_count);
    und_drop_def *drops = und_scene_alloc(r, (size_t)height_field->drop_count, sizeof *drops);
    for (int i = 0; i < height_field->drop_count; i++)
        drops[i] = list[i].drop;
    height_field->drops = drops;
}

#define RAIN(member_) offsetof(und_rain_def, member_)

static const field rain_fields[] = {
    {"rate", F_VALUE, "1/(m2 s)", 0, 1e9, true, RAIN(rate), .doc = "drops per square metre and second"},
    {"peak", F_NUMBER, "1/(m2 s)", 1e-9, 1e9, .offset = RAIN(max_rate),
     .doc = "the largest the rate gets; needed where the rate is not a number"},
    {"radius", F_NUMBER, "m", 1e-6, 1e3, .offset = RAIN(radius), .doc = "of a drop"},
    {"splash", F_NUMBER, "m", 0, 1e6, .offset = RAIN(splash),
     .doc = "radius of the ring it makes; at least two cells"},
    {"top", F_NUMBER, "m", -1e9, 1e9, .offset = RAIN(top), .doc = "height at which drops appear"},
    {"speed", F_NUMBER, "m/s", 1e-3, 1e6, .offset = RAIN(speed), .doc = "how fast they fall"},
    {"wind", F_PAIR, "m/s", .offset = RAIN(wind), .doc = "how fast they drift, {x, z}"},
    {"start", F_NUMBER, "s", -FOREVER, INFINITY, .offset = RAIN(start), .doc = "when it begins"},
    {"stop", F_NUMBER, "s", -FOREVER, INFINITY, .offset = RAIN(end), .doc = "when it ends"},
    {0}};

static void read_rain(reader *r, const field *f, void *def)
{
    und_rain_def *rain = &((und_height_field_def *)def)->rain;
    (void)f;
    rain->end = INFINITY;
    und_read_table(r, rain_fields, rain);
    if (rain->rate.fn && rain->max_rate <= 0)
        und_read_fail(r, "missing key \"peak\": the largest the rate gets, drops per m2 and second");
    if (!rain->rate.fn && rain->max_rate > 0 && rain->rate.number > rain->max_rate)
        und_read_fail(r, "the rate, %g, is above its peak, %g", rain->rate.number, rain->max_rate);
    rain->on = true;
}

#define STIR(member_) offsetof(und_stir_def, member_)

static const field stir_fields[] = {
    {"center", F_TRACK, "m", .required = true, .offset = STIR(center), .inside = und_track_fields,
     .doc = "where, {x, z}; may move"},
    {"radius", F_NUMBER, "m", 1e-6, 1e9, true, STIR(radius), .doc = "of the patch"},
    {"amplitude", F_NUMBER, "m", -1e6, 1e6, true, STIR(amplitude),
     .doc = "how hard it presses, as a head of water"},
    {"period", F_NUMBER, "s", 1e-6, 1e9, true, STIR(period), .doc = "of its beat"},
    {"start", F_NUMBER, "s", -FOREVER, INFINITY, .offset = STIR(start), .doc = "when it begins"},
    {"stop", F_NUMBER, "s", -FOREVER, INFINITY, .offset = STIR(end), .doc = "when it ends"},
    {0}};

static void init_stir(void *item)
{
    ((und_stir_def *)item)->end = INFINITY;
}

static void read_stirs(reader *r, const field *f, void *def)
{
    und_height_field_def *height_field = def;
    (void)f;
    height_field->stirs = und_read_list(r, stir_fields, sizeof *height_field->stirs, init_stir, NULL,
                                        &height_field->stir_count);
}

const field und_height_field_fields[] = {
    {"size", F_OTHER, "m", 1e-6, 1e9, true, .read = read_size, .expected = "{x, z}, or a length for a curve",
     .doc = "the domain's lengths, {x, z}; one number for a curve"},
    {"cells", F_OTHER, NULL, 2, CELLS_MAX, true, .read = read_cells, .expected = "a number or {nx, nz}",
     .doc = "how many, along the longer side or {nx, nz}; cells are square"},
    {"origin", F_PAIR, "m", .offset = HEIGHT_FIELD(origin), .doc = "the corner at low x and low z"},
    {"ground", F_VALUE, "m", -1e6, 1e6, .offset = HEIGHT_FIELD(ground), .doc = "height of the ground"},
    {"level", F_OTHER, "m", -1e6, 1e6, .read = read_level, .expected = "a number",
     .doc = "height of the water at the start; dry where the ground is higher"},
    {"surface", F_VALUE, "m", -1e6, 1e6, .offset = HEIGHT_FIELD(surface),
     .doc = "the same where it is not level, instead of level"},
    {"gravity", F_NUMBER, "m/s2", 1e-6, 1e4, .offset = HEIGHT_FIELD(gravity), .doc = "pull downwards"},
    {"density", F_NUMBER, "kg/m3", 1e-3, 1e6, .offset = HEIGHT_FIELD(density),
     .doc = "of the liquid; only pressure and bodies need it"},
    {"damping", F_NUMBER, "1/s", 0, 1e6, .offset = HEIGHT_FIELD(damping), .doc = "how fast waves die down"},
    {"pressure", F_VALUE, "Pa", -1e12, 1e12, .offset = HEIGHT_FIELD(pressure),
     .doc = "pressure on the surface from outside"},
    {"edges", F_OTHER, .read = read_edges, .inside = side_fields, .expected = "a table",
     .doc = "what the domain's edges do; walls where nothing is said"},
    LIST("springs", read_springs, source_fields, "places where water comes in"),
    LIST("drains", read_drains, source_fields, "places where water goes; rates above 0 take water away"),
    LIST("drops", read_drops, drop_fields, "single drops"),
    {"rain", F_OTHER, .read = read_rain, .inside = rain_fields, .expected = "a table", .doc = "rain"},
    LIST("stirs", read_stirs, stir_fields, "patches of beating pressure, which make waves and add no water"),
    {0}};

void und_begin_liquid(reader *r, und_model model)
{
    und_scene *scene = r->scene;
    if (scene->view.model)
        und_read_fail(r, "a scene has only one liquid, and this one has liquid.%s already",
                      und_model_name(scene->view.model));
    scene->view.model = model;
}

void und_read_liquid(reader *r, und_model model, const field *fields, und_height_field_def *height_field)
{
    und_scene *scene = r->scene;
    und_begin_liquid(r, model);
    scene->view.height_field = height_field;
    if (lua_type(r->L, -1) == LUA_TTABLE && und_read_has(r, "level") && und_read_has(r, "surface"))
        und_read_fail(r, "expected either level or surface, found both");
    und_read_table(r, fields, height_field);
    scene->view.grid = und_height_field_grid(height_field);
}
