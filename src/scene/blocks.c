/* The blocks of the language but the liquids: scene, camera, light, water, ground, film. */
#include "scene/blocks.h"

#include "base/maths.h"

#include <math.h>
#include <string.h>

const field und_key_fields[] = {
    {"time", F_NUMBER, "s", -1e9, 1e9, true, offsetof(und_key, time), .doc = "when it is there"},
    {"at", F_POINT, "m", .required = true, .offset = offsetof(und_key, position),
     .doc = "where it is, {x, y, z}"},
    {"turn", F_POINT, "degrees", .offset = offsetof(und_key, rotation),
     .doc = "how it is turned about x, then y, then z"},
    {0}};

const field und_track_key_fields[] = {
    {"time", F_NUMBER, "s", -1e9, 1e9, true, offsetof(und_key, time), .doc = "when it is there"},
    {"at", F_PLACE, "m", .required = true, .offset = offsetof(und_key, position),
     .doc = "where it is, {x, z}"},
    {0}};

#define KEYS "a list of keys {{ time = 0, at = {...} }, ...}"
#define EASING                                                                            \
    {                                                                                     \
        "easing", F_CHOICE, .offset = offsetof(path_def, easing), .choices = und_easings, \
                            .doc = "how it moves between the keys"                        \
    }

const field und_path_fields[] = {{"keys", F_OTHER, .read = und_read_keys, .inside = und_key_fields,
                                  .expected = KEYS, .doc = "where it is and when, in the order of time"},
                                 EASING,
                                 {0}};
const field und_track_fields[] = {{"keys", F_OTHER, .read = und_read_keys, .inside = und_track_key_fields,
                                   .expected = KEYS, .doc = "where it is and when, in the order of time"},
                                  EASING,
                                  {0}};

typedef struct scene_def {
    const char *name;
    int start, frames, substeps;
    double fps, begin;
    uint64_t seed;
} scene_def;

#define SCENE(member_) offsetof(scene_def, member_)

static const field scene_fields[] = {
    {"name", F_NAME, .offset = SCENE(name), .doc = "names the output: letters, digits, _ and -"},
    {"start", F_INTEGER, NULL, -1e6, 1e6, .offset = SCENE(start), .doc = "number of the first frame"},
    {"frames", F_INTEGER, NULL, 1, 1e6, .offset = SCENE(frames), .doc = "how many frames there are"},
    {"fps", F_NUMBER, "frames per second", 1e-3, 1e5, .offset = SCENE(fps),
     .doc = "frames per second of time"},
    {"substeps", F_INTEGER, NULL, 1, 10000, .offset = SCENE(substeps),
     .doc = "steps of the liquid per frame"},
    {"begin", F_NUMBER, "s", -1e6, 1e6, .offset = SCENE(begin),
     .doc = "time at the first frame; liquid.waves and liquid.columns alone"},
    {"seed", F_SEED, NULL, 0, 9e15, .offset = SCENE(seed),
     .doc = "other seeds give other rain and other noise"},
    {0}};

static void read_scene(reader *r)
{
    und_scene *scene = r->scene;
    scene_def def = {.start = 1, .frames = 240, .substeps = 1, .fps = 24, .seed = 1};
    und_read_table(r, scene_fields, &def);
    if (def.name)
        scene->view.name = def.name;
    scene->view.start = def.start;
    scene->view.end = def.start + def.frames - 1;
    scene->view.fps = def.fps;
    scene->view.begin = def.begin;
    scene->view.substeps = def.substeps;
    scene->seed = scene->box.seed = def.seed;
}

#define RENDER(member_) offsetof(und_picture_def, member_)

static void read_aperture(reader *r, const field *f, void *def)
{
    ((und_picture_def *)def)->lens = 0.5 * und_read_number(r, f);
}

/* The number itself: the lens follows from it when the angle of view has been read. */
static void read_fstop(reader *r, const field *f, void *def)
{
    ((und_picture_def *)def)->lens = und_read_number(r, f);
}

static void read_focus(reader *r, const field *f, void *def)
{
    und_picture_def *d = def;
    if (lua_type(r->L, -1) == LUA_TNUMBER) {
        d->focus = und_read_number(r, f);
        return;
    }
    und_vector *at = und_scene_alloc(r, 1, sizeof *at);
    field point = *f;
    point.type = F_VECTOR;
    und_read_vector(r, &point, at);
    d->focus_at = at;
}

static const field camera_fields[] = {
    {"eye", F_VECTOR, "m", .offset = RENDER(eye), .inside = und_path_fields,
     .doc = "where the camera stands; without a camera liquid and solids are framed, as far as they get in "
            "the run"},
    {"look", F_VECTOR, "m", .offset = RENDER(look), .inside = und_path_fields,
     .doc = "the point it looks at"},
    {"fov", F_NUMBER, "degrees", 1, 150, .offset = RENDER(fov),
     .doc = "how much it sees, from top to bottom"},
    {"aperture", F_OTHER, "m", 0, 1e3, .read = read_aperture, .expected = "a number",
     .doc = "across the lens: what is not in focus is blurred; 0: all is sharp"},
    {"fstop", F_OTHER, NULL, 0.1, 1e3, .read = read_fstop, .expected = "a number",
     .doc = "the same as photographers say it, of a lens for film 24 mm high: 2.8 blurs, 16 hardly"},
    {"focus", F_OTHER, "m", 1e-3, 1e9, .read = read_focus, .inside = und_path_fields,
     .expected = "a number, {x, y, z}, a function(t) that returns it, or { keys = {...} }",
     .doc = "what is sharp: how far away, or a point that may move; else what it looks at"},
    {0}};

static const field light_fields[] = {
    {"sun", F_VECTOR, NULL, .offset = RENDER(sun), .inside = und_path_fields,
     .doc = "the direction towards the sun; its length does not matter"},
    {"color", F_COLOR, NULL, 0, 1000, .offset = RENDER(sun_color), .doc = "the sun's light"},
    {"zenith", F_COLOR, NULL, 0, 1000, .offset = RENDER(sky_zenith), .doc = "the sky overhead"},
    {"horizon", F_COLOR, NULL, 0, 1000, .offset = RENDER(sky_horizon), .doc = "the sky at the horizon"},
    {"clouds", F_NUMBER, NULL, 0, 1, .offset = RENDER(clouds), .doc = "how much of the sky the clouds cover"},
    {"sky", F_PICTURE, NULL, .offset = RENDER(sky),
     .doc = "a picture of the whole sky (longitude by latitude) instead of the built-in one"},
    {"sun_size", F_NUMBER, "degrees", 0, 90, .offset = RENDER(sun_angle),
     .doc = "across the sun: larger ones make softer shadows, in ray-traced pictures"},
    LIST("lamps", und_read_lamps, und_lamp_fields, "rectangles and balls that shine, in ray-traced pictures"),
    {"turn", F_NUMBER, "degrees", -3600, 3600, .offset = RENDER(sky_turn),
     .doc = "turns the sky about the vertical"},
    {"haze", F_NUMBER, "m", 1e-3, INFINITY, .offset = RENDER(haze),
     .doc = "distance at which the air has taken 63 % of the light"},
    {0}};

/* A kind of paint by its name, or a picture. */
static void read_paint(reader *r, const field *f, void *def)
{
    und_paint *paint = &((und_picture_def *)def)->paint;
    if (lua_type(r->L, -1) != LUA_TSTRING)
        und_read_expected(r, f->expected);
    const char *word = lua_tostring(r->L, -1);
    for (int k = UND_PAINT_CHECKER; und_paint_names[k]; k++)
        if (strcmp(word, und_paint_names[k]) == 0) {
            paint->kind = (und_paint_kind)k;
            return;
        }
    paint->image = und_read_picture(r);
    paint->kind = UND_PAINT_PLATE;
}

static const field water_fields[] = {
    {"color", F_COLOR, NULL, 0, 1000, .offset = RENDER(water_color), .doc = "what deep water scatters back"},
    {"absorption", F_COLOR, "1/m", 0, 1e6, .offset = RENDER(absorption),
     .doc = "how fast water takes red, green and blue away"},
    {"dye_color", F_COLOR, NULL, 0, 1000, .offset = RENDER(dye_color), .doc = "water full of dye"},
    {"dye_strength", F_NUMBER, "1/m", 0, 1e6, .offset = RENDER(dye_strength),
     .doc = "how fast full dye hides what is behind it"},
    {"refraction", F_NUMBER, NULL, 1, 4, .offset = RENDER(refraction), .doc = "the index of refraction"},
    {"ripples", F_NUMBER, NULL, 0, 1, .offset = RENDER(ripples),
     .doc = "fine detail too small for the cells"},
    {"ripple_size", F_NUMBER, "m", 0, 1e6, .offset = RENDER(ripple_size),
     .doc = "wavelength of the largest ripples; 0: three cells"},
    {"shore", F_NUMBER, "m", 0, 1e6, .offset = RENDER(shore),
     .doc = "depth at which water shows fully; 0: 0.15 cells"},
    {"caustics", F_INTEGER, NULL, 0, 2, .offset = RENDER(caustics),
     .doc = "light focused on the ground: 0 (none), 1 or 2 (finest)"},
    {"foam", F_NUMBER, NULL, 0, 1000, .offset = RENDER(foam), .doc = "brightness of the foam"},
    {"texture", F_OTHER, .read = read_paint, .expected = "\"checker\", \"marble\" or the name of a PNG file",
     .doc = "what a liquid with texture particles is painted with: a solid texture, or a picture that the "
            "camera of the first frame projects onto it"},
    {"texture_size", F_NUMBER, "m", 0, 1e6, .offset = RENDER(paint.size),
     .doc = "side of a check, from one vein of marble to the next; 0: a tenth of the domain's longest side"},
    {"texture_color", F_COLOR, NULL, 0, 1000, .offset = RENDER(paint.color[0]),
     .doc = "of checks and of marble"},
    {"texture_other", F_COLOR, NULL, 0, 1000, .offset = RENDER(paint.color[1]),
     .doc = "of the other checks and of the veins"},
    {"texture_unlit", F_FLAG, NULL, .offset = RENDER(paint.unlit),
     .doc = "the texture has its light already, as a photographed plate does: sun and sky do not light it"},
    {"gloss", F_NUMBER, NULL, 0, 1, .offset = RENDER(gloss),
     .doc = "how much of water's reflection a painted liquid has"},
    {"material", F_OTHER, .offset = RENDER(looks.liquid), .read = und_read_look,
     .expected = MATERIAL_EXPECTED, .doc = "what the liquid is made of instead; previews show its colours"},
    {0}};

static const char *const tanks[] = {"glass", "tiles", NULL};

static void read_tank(reader *r, const field *f, void *def)
{
    int which = 0;
    und_picture_def *d = def;
    (void)f;
    if (lua_type(r->L, -1) == LUA_TBOOLEAN) {
        d->tank = lua_toboolean(r->L, -1) ? UND_TANK_GLASS : UND_TANK_NONE;
        return;
    }
    und_read_choice(r, tanks, &which);
    d->tank = (und_tank_kind)(UND_TANK_GLASS + which);
}

static const char *const ground_patterns[] = {"natural", "tiles", NULL};

static const field ground_fields[] = {
    {"pattern", F_CHOICE, .offset = RENDER(ground_pattern), .choices = ground_patterns,
     .doc = "what it is made of: sand, rock and grass, or the tiles of a pool"},
    {"tank", F_OTHER, .read = read_tank, .expected = "true, false, \"glass\" or \"tiles\"",
     .doc =
         "stands around liquid.levelset and liquid.cells: panes of glass, which is true, or the walls of a "
         "pool, seen from inside alone; with a floor of tiles"},
    {"tile", F_NUMBER, "m", 1e-4, 1e6, .offset = RENDER(tile), .doc = "side of a tile"},
    {"tile_color", F_COLOR, NULL, 0, 1000, .offset = RENDER(tile_color), .doc = "of the tiles"},
    {"grout", F_NUMBER, "m", 0, 1e6, .offset = RENDER(grout), .doc = "width of the lines between tiles"},
    {"grout_color", F_COLOR, NULL, 0, 1000, .offset = RENDER(grout_color), .doc = "of those lines"},
    {"color", F_COLOR, NULL, 0, 1000, .offset = RENDER(ground_color), .doc = "sand"},
    {"rock", F_COLOR, NULL, 0, 1000, .offset = RENDER(rock_color), .doc = "where the ground is steep"},
    {"rock_slope", F_NUMBER, "degrees", 0.1, 89.9, .offset = RENDER(rock_slope),
     .doc = "steeper ground is rock"},
    {"grass", F_COLOR, NULL, 0, 1000, .offset = RENDER(grass_color),
     .doc = "where the ground is high and flat"},
    {"grass_height", F_NUMBER, "m", -1e9, INFINITY, .offset = RENDER(grass_height),
     .doc = "height above which grass grows"},
    {"map", F_OTHER, NULL, .offset = RENDER(ground_map), .read = und_read_ground_map,
     .expected = "a PNG file or a function(x, z) that returns a colour",
     .doc = "colours of the ground over the whole domain: a PNG, or a function(x, z)"},
    {"grain", F_NUMBER, NULL, 1e-6, 1e6, .offset = RENDER(grain),
     .doc = "size of the ground's pattern, in sides of the domain"},
    {"texture", F_NUMBER, NULL, 0, 100, .offset = RENDER(texture),
     .doc = "how strong the ground's pattern and bumps are"},
    {"wet", F_NUMBER, NULL, 0, 1, .offset = RENDER(wet_darkening), .doc = "how much darker wet ground is"},
    {"sheen", F_NUMBER, NULL, 0, 1, .offset = RENDER(sheen),
     .doc = "how much of water's reflection wet ground has"},
    {"drying", F_NUMBER, "s", 1e-3, INFINITY, .offset = RENDER(drying),
     .doc = "time in which wet ground dries"},
    {"material", F_OTHER, .offset = RENDER(looks.ground), .read = und_read_look,
     .expected = MATERIAL_EXPECTED, .doc = "what the ground is made of, in ray-traced pictures"},
    {0}};

static const char *const plot_layers[] = {"markers", "velocity", "pressure", NULL};

/* A panel: words of plot_layers with + between them. */
static unsigned read_panel(reader *r)
{
    int first = 0;
    if (lua_type(r->L, -1) != LUA_TSTRING)
        und_read_choice(r, plot_layers, &first); /* says what is expected */
    const char *word = lua_tostring(r->L, -1);
    unsigned layers = 0;
    for (bool more = true; more; word++) {
        size_t length = strcspn(word, "+");
        int which = 0;
        lua_pushlstring(r->L, word, length);
        und_read_choice(r, plot_layers, &which);
        lua_pop(r->L, 1);
        layers |= 1u << which;
        word += length;
        more = *word == '+';
    }
    return layers;
}

static void read_plot(reader *r, const field *f, void *def)
{
    und_picture_def *render = def;
    if (lua_type(r->L, -1) == LUA_TSTRING) {
        render->plot[0] = read_panel(r);
        render->plot_panels = 1;
        return;
    }
    lua_Unsigned count = lua_type(r->L, -1) == LUA_TTABLE ? lua_rawlen(r->L, -1) : 0;
    if (count < 1 || count > UND_PLOT_PANELS)
        und_read_expected(r, f->expected);
    for (int k = 0; k < (int)count; k++) {
        und_read_enter(r, NULL, k + 1);
        lua_rawgeti(r->L, -1, k + 1);
        render->plot[k] = read_panel(r);
        lua_pop(r->L, 1);
        und_read_leave(r);
    }
    render->plot_panels = (int)count;
}

static const field film_fields[] = {
    {"width", F_INTEGER, "pixels", 1, 16384, .offset = RENDER(width), .doc = "of the picture"},
    {"height", F_INTEGER, "pixels", 1, 16384, .offset = RENDER(height), .doc = "of the picture"},
    {"samples", F_INTEGER, NULL, 1, 8, .offset = RENDER(samples),
     .doc = "samples along each side of a pixel"},
    {"exposure", F_NUMBER, "stops", -20, 20, .offset = RENDER(exposure), .doc = "brighter or darker"},
    {"tone", F_FLAG, NULL, .offset = RENDER(tone), .doc = "a film's curve for PNG and MP4; EXR stays linear"},
    {"shutter", F_NUMBER, "s", 0, 1e6, .offset = RENDER(shutter),
     .doc = "how long what moves is seen moving: drops, and with blur objects"},
    {"blur", F_INTEGER, NULL, 0, 256, .offset = RENDER(blur),
     .doc = "moments in that time at which moving objects are drawn; 0 or 1: no blur"},
    {"rain_width", F_NUMBER, "m", 1e-6, 1e3, .offset = RENDER(rain_width),
     .doc = "how wide a drop of rain is drawn"},
    {"vertical", F_NUMBER, NULL, 1e-3, 1000, .offset = RENDER(vertical),
     .doc = "heights are drawn this much larger"},
    {"sides", F_FLAG, NULL, .offset = RENDER(sides),
     .doc = "draws the cut faces of the block of water and ground"},
    {"background", F_COLOR, NULL, 0, 1000, .offset = RENDER(background), .doc = "behind a curve"},
    {"plot", F_OTHER, .read = read_plot,
     .expected = "\"markers+velocity\" or another panel, or a list of one to four",
     .doc =
         "what the panels of a plot of two-dimensional cells show: markers, velocity, pressure, or some of "
         "them with + between"},
    {0}};

static void read_camera(reader *r)
{
    const und_vector *eye = &r->scene->view.render.eye, *look = &r->scene->view.render.look;
    und_read_table(r, camera_fields, &r->scene->view.render);
    und_picture_def *d = &r->scene->view.render;
    if (und_read_has(r, "fstop") && und_read_has(r, "aperture"))
        und_read_fail(r, "expected either aperture or fstop, found both");
    if (und_read_has(r, "fstop")) /* focal length over twice the number */
        d->lens = 0.012 / und_tan(0.5 * d->fov * M_PI / 180) / (2 * d->lens);
    const double *a = eye->constant, *b = look->constant;
    bool both = und_read_has(r, "eye") && und_read_has(r, "look") && !eye->fn && !look->fn;
    if (both && a[0] == b[0] && a[1] == b[1] && a[2] == b[2])
        und_read_fail(r, "expected look to be another point than eye, found {%g, %g, %g} for both", a[0],
                      a[1], a[2]);
}

static void read_light(reader *r)
{
    const und_vector *sun = &r->scene->view.render.sun;
    und_read_table(r, light_fields, &r->scene->view.render);
    if (!sun->fn && sun->constant[0] == 0 && sun->constant[1] == 0 && sun->constant[2] == 0)
        und_read_fail(r, "expected a direction towards the sun, found {0, 0, 0}");
}

static void read_water(reader *r)
{
    und_read_table(r, water_fields, &r->scene->view.render);
    r->scene->view.render.looks.liquid.matter.priority = 1; /* what stands in it displaces it */
}

static void read_ground(reader *r)
{
    und_read_table(r, ground_fields, &r->scene->view.render);
}

static void read_film(reader *r)
{
    und_read_table(r, film_fields, &r->scene->view.render);
}

const block und_blocks[] = {
    {"scene", scene_fields, read_scene, "name, frames and time"},
    {"liquid.waves", und_waves_fields, und_read_waves, "height-field water"},
    {"liquid.columns", und_columns_fields, und_read_columns,
     "columns of water joined by pipes, with spray and bodies"},
    {"liquid.cells", und_cells_fields, und_read_cells, "the Navier-Stokes liquid on a grid of cells"},
    {"liquid.levelset", und_levelset_fields, und_read_levelset,
     "the three-dimensional liquid whose surface is a particle level set"},
    {"bodies", und_body_fields, und_read_bodies_block,
     "a list of things that float in the flow of liquid.cells"},
    {"float", und_float_fields, und_read_float, "how they float"},
    {"camera", camera_fields, read_camera, "where the picture is taken from"},
    {"light", light_fields, read_light, "sun and sky"},
    {"water", water_fields, read_water, "how the water looks"},
    {"ground", ground_fields, read_ground, "how the ground looks"},
    {"film", film_fields, read_film, "the picture"},
    {"render", und_render_fields, und_read_render, "how well it is ray-traced"},
    {"material", und_material_fields, und_read_material_block, "what things are made of; as often as needed"},
    {0}};
