/* Scenes that are right: what stands in the defs, what functions and tables give, what noise promises. */
#include "tests/test.h"

#include "bodies/skeleton.h"
#include "geom/shape.h"
#include "geom/value.h"
#include "scene/read.h"

#include <unistd.h>

static und_scene *load(const char *text)
{
    und_error err = {0};
    und_scene *scene = und_scene_from_text(text, "folder/try-it.lua", NULL, 0, &err);
    if (!scene)
        fail_msg("%s", err.text);
    return scene;
}

static double at(const und_value *v, double x, double z, double t)
{
    return und_value_at(v, x, 0, z, t);
}

static void smallest_scene_has_defaults(void **state)
{
    (void)state;
    und_scene *scene = load("liquid.waves { size = {4, 2}, cells = 8 }");
    const und_scene_view *v = und_scene_get(scene);
    und_waves_def like = und_waves_def_default();
    assert_string_equal(v->name, "try-it");
    assert_int_equal(v->model, UND_MODEL_WAVES);
    assert_int_equal(v->start, 1);
    assert_int_equal(v->end, 240);
    assert_double_near(v->fps, 24, 0);
    assert_int_equal(v->waves.height_field.nx, 8);
    assert_int_equal(v->waves.height_field.nz, 4);
    assert_double_near(v->waves.height_field.dx, 0.5, 1e-15);
    assert_double_near(v->waves.height_field.gravity, like.height_field.gravity, 0);
    assert_int_equal(v->waves.height_field.edge[UND_LOW_X].kind, UND_EDGE_WALL);
    assert_int_equal(v->waves.height_field.source_count, 0);
    und_scene_destroy(scene);
}

static const char *const everything =
    "scene { name = 'all_of-it', start = -3, frames = 10, fps = 30, substeps = 4, seed = 7 }\n"
    "local depth = param('depth', 2)\n"
    "liquid.waves {\n"
    "  size = {10, 5}, cells = {20, 10}, origin = {-5, 1},\n"
    "  ground = function(x, z, t) return -depth + 0.1 * x + 0.01 * z end,\n"
    "  surface = {{0, 1}, {2, 3}}, rising = 0.5,\n"
    "  gravity = 9.8, density = 900, damping = 0.25, order = 2, pressure = function(x, z, t) return 100 * t "
    "end,\n"
    "  edges = { left = { kind = 'open', level = 0.5, amplitude = 0.2, period = 6, direction = 20, ramp = 2 "
    "},\n"
    "            right = 'fall', front = { kind = 'flow', rate = function(x, z, t) return 0.1 + t end } },\n"
    "  springs = { { center = {1, 2}, radius = 0.5, rate = 0.3, start = 1, stop = 2 } },\n"
    "  drains = { { shape = box { center = {0, 0, 3}, size = {1, 9, 1} }, rate = function() return 0.25 end "
    "} },\n"
    "  drops = { { time = 1, center = {0, 3}, radius = 1, volume = 0.5 },\n"
    "            { center = {0, 3}, radius = 2, height = 0.25 } },\n"
    "  rain = { rate = function(x, z, t) return 3 end, peak = 5, radius = 0.004, wind = {1, 2} },\n"
    "  stirs = { { center = function(t) return {t, 2 * t} end, radius = 1, amplitude = 0.1, period = 2 } },\n"
    "  objects = { { shape = union { sphere { radius = 1 }, capsule { from = {0,0,0}, to = {1,0,0}, radius = "
    "0.2 } },\n"
    "                keys = { { time = 0, at = {0, 0, 0} }, { time = 2, at = {4, 0, 2}, turn = {0, 90, 0} } "
    "},\n"
    "                easing = 'linear', color = {0.1, 0.2, 0.3} } },\n"
    "  foam = { life = 3 }, dye = 0.5, texture = true,\n"
    "}\n"
    "camera { eye = { keys = { { time = 0, at = {0, 1, 2} }, { time = 1, at = {2, 1, 2} } }, easing = "
    "'linear' },\n"
    "         look = function(t) return {t, 0, -t} end, fov = 50 }\n"
    "light { sun = {1, 2, 3}, color = 2, zenith = {0.1, 0.2, 0.3}, clouds = 0.5, turn = 90, haze = 1000 }\n"
    "water { color = {0, 0.1, 0.2}, absorption = {1, 0.2, 0.1}, refraction = 1.4, ripples = 0.25, foam = 0.8 "
    "}\n"
    "ground { color = {1, 1, 0.5}, rock = 0.3, grass = {0, 1, 0}, grass_height = 3, wet = 0.4, drying = 60 "
    "}\n"
    "film { width = 640, height = 360, samples = 3, exposure = -1, tone = false, vertical = 2, sides = "
    "true,\n"
    "       background = 0 }\n";

static void everything_is_read(void **state)
{
    (void)state;
    und_scene *scene = load(everything);
    const und_scene_view *v = und_scene_get(scene);
    const und_waves_def *w = &v->waves;
    assert_string_equal(und_scene_name(scene), "all_of-it");
    assert_int_equal(und_scene_start(scene), -3);
    assert_int_equal(und_scene_end(scene), 6);
    assert_double_near(und_scene_fps(scene), 30, 0);
    assert_int_equal(v->substeps, 4);
    assert_int_equal(w->height_field.seed, 7);
    assert_double_near(w->height_field.origin[0], -5, 0);
    assert_double_near(at(&w->height_field.ground, 3, 2, 0), -2 + 0.3 + 0.02, 1e-15);
    assert_double_near(at(&w->height_field.pressure, 0, 0, 1.5), 150, 1e-12);
    assert_double_near(at(&w->velocity0, 0, 0, 0), 0.5, 0);
    assert_double_near(w->height_field.damping, 0.25, 0);
    assert_int_equal(w->order, 2);
    assert_int_equal(w->height_field.edge[UND_LOW_X].kind, UND_EDGE_OPEN);
    assert_true(w->height_field.edge[UND_LOW_X].has_level);
    assert_double_near(w->height_field.edge[UND_LOW_X].amplitude, 0.2, 0);
    assert_double_near(w->height_field.edge[UND_LOW_X].direction, 20, 0);
    assert_int_equal(w->height_field.edge[UND_HIGH_X].kind, UND_EDGE_FALL);
    assert_int_equal(w->height_field.edge[UND_LOW_Z].kind, UND_EDGE_WALL);
    assert_int_equal(w->height_field.edge[UND_HIGH_Z].kind, UND_EDGE_FLOW);
    assert_double_near(at(&w->height_field.edge[UND_HIGH_Z].rate, 0, 0, 2), 2.1, 1e-15);
    assert_int_equal(und_scene_trouble(scene, NULL), UND_OK);
    und_scene_destroy(scene);
}

static void lists_are_read(void **state)
{
    (void)state;
    und_scene *scene = load(everything);
    const und_waves_def *w = &und_scene_get(scene)->waves;
    assert_int_equal(w->height_field.source_count, 2);
    assert_double_near(w->height_field.sources[0].rate.number, 0.3, 0);
    assert_double_near(w->height_field.sources[0].center[0], 1, 0);
    assert_double_near(w->height_field.sources[0].center[2], 2, 0);
    assert_double_near(w->height_field.sources[0].end, 2, 0);
    assert_double_near(at(&w->height_field.sources[1].rate, 0, 0, 0), -0.25, 0);
    assert_true(isinf(w->height_field.sources[1].end));
    assert_double_near(und_shape_distance(w->height_field.sources[1].shape, und_vec(2, 0, 3)), 1.5, 1e-12);
    assert_int_equal(w->height_field.drop_count, 2);
    assert_double_near(w->height_field.drops[0].volume, 0.5, 0);
    /* the integral of 1/2 + 1/2 cos(pi r/R) over a disc, by the midpoint rule */
    double sum = 0, n = 20000;
    for (int i = 0; i < n; i++) {
        double r = (i + 0.5) * 2 / n;
        sum += (0.5 + 0.5 * cos(M_PI * r / 2)) * 2 * M_PI * r * 2 / n;
    }
    assert_double_near(w->height_field.drops[1].volume, 0.25 * sum, 1e-7);
    assert_true(w->height_field.rain.on);
    assert_double_near(w->height_field.rain.max_rate, 5, 0);
    assert_double_near(w->height_field.rain.wind[1], 2, 0);
    double center[3];
    und_vector_at(&w->height_field.stirs[0].center, 1.5, center);
    assert_double_near(center[0], 1.5, 0);
    assert_double_near(center[2], 3, 0);
    assert_double_near(und_motion_at(w->objects[0].motion, 1).position.x, 2, 1e-12);
    assert_double_near(und_shape_distance(w->objects[0].shape, und_vec(2, 0, 0)), 0.8, 1e-12);
    assert_true(w->foam.on && w->velocity && w->has_dye && w->texture);
    und_scene_destroy(scene);
}

static void looks_are_read(void **state)
{
    (void)state;
    und_scene *scene = load(everything);
    const und_picture_def *d = &und_scene_get(scene)->render;
    double p[3];
    und_vector_at(&d->eye, 0.25, p);
    assert_double_near(p[0], 0.5, 1e-12);
    und_vector_at(&d->look, 2, p);
    assert_double_near(p[2], -2, 0);
    assert_double_near(d->fov, 50, 0);
    assert_double_near(d->sun_color[1], 2, 0);
    assert_double_near(d->sky_zenith[2], 0.3, 1e-7);
    assert_double_near(d->haze, 1000, 0);
    assert_double_near(d->refraction, 1.4, 0);
    assert_double_near(d->grass_height, 3, 0);
    assert_int_equal(d->width, 640);
    assert_int_equal(d->samples, 3);
    assert_false(d->tone);
    assert_true(d->sides);
    und_scene_destroy(scene);
}

static const char *const all_columns =
    "scene { seed = 9 }\n"
    "liquid.columns {\n"
    "  size = {10, 5}, cells = 20, origin = {-5, 1}, ground = {{-2, -3}, {-2, -3}}, level = 0.5, density = "
    "900,\n"
    "  drops = { { center = {0, 3}, radius = 2, height = 0.25 } }, rain = { rate = 2 },\n"
    "  pipe_depth = 0.75, diagonal = 0.5, flow = 'mean', force = 'search', velocity = true,\n"
    "  spray = { threshold = 3, rate = 100, radius = {0.001, 0.002}, share = 0.5, scatter = 0.25, drag = 1,\n"
    "            wind = function(t) return {t, 0, 2} end, most = 5000, sheets = { tear = 0.01, cohesion = 7 "
    "} "
    "},\n"
    "  bodies = { { shape = sphere { radius = 0.5 }, density = 600, at = {0, 2, 3}, turn = {0, 30, 0},\n"
    "               velocity = {1, -2, 0}, spin = {0, 180, 0}, release = 1.5, drag = 0.9, bounce = 0.1,\n"
    "               friction = 0.2, color = {0.1, 0.2, 0.3} },\n"
    "             { shape = box { size = {1, 1, 1} },\n"
    "               keys = { { time = 0, at = {1, 2, 3} }, { time = 2, at = {3, 2, 3} } }, easing = 'linear' "
    "},\n"
    "             { shape = box { size = {1, 1, 1} }, mass = 40, release = 2,\n"
    "               keys = { { time = 0, at = {1, 2, 3} } } },\n"
    "             { shape = box { size = {1, 1, 1} }, release = math.huge } },\n"
    "}\n";

static void columns_are_read(void **state)
{
    (void)state;
    und_scene *scene = load(all_columns);
    const und_scene_view *v = und_scene_get(scene);
    const und_columns_def *c = &v->columns;
    double wind[3];
    assert_int_equal(v->model, UND_MODEL_COLUMNS);
    assert_ptr_equal(v->height_field, &c->height_field);
    assert_int_equal(c->height_field.nz, 10);
    assert_int_equal(c->height_field.seed, 9);
    assert_double_near(c->height_field.density, 900, 0);
    assert_double_near(at(&c->height_field.ground, -2.5, 3, 0), -2, 1e-12);
    assert_double_near(at(&c->height_field.ground, 0, 3, 0), -2.5, 1e-12);
    assert_double_near(c->height_field.surface.number, 0.5, 0);
    assert_int_equal(c->height_field.drop_count, 1);
    assert_true(c->height_field.rain.on);
    assert_double_near(c->pipe_depth, 0.75, 0);
    assert_double_near(c->diagonal, 0.5, 0);
    assert_int_equal(c->flow, UND_FLOW_MEAN);
    assert_int_equal(c->force, UND_FORCE_SEARCH);
    assert_true(c->velocity && c->spray.on && c->spray.sheets);
    assert_double_near(c->spray.threshold, 3, 0);
    assert_double_near(c->spray.rate, 100, 0);
    assert_double_near(c->spray.radius[0], 0.001, 0);
    assert_double_near(c->spray.radius[1], 0.002, 0);
    assert_double_near(c->spray.share, 0.5, 0);
    assert_double_near(c->spray.scatter, 0.25, 0);
    assert_double_near(c->spray.drag, 1, 0);
    und_vector_at(&c->spray.wind, 3, wind);
    assert_double_near(wind[0], 3, 0);
    assert_double_near(wind[2], 2, 0);
    assert_int_equal(c->spray.most, 5000);
    assert_double_near(c->spray.sheet_tear, 0.01, 0);
    assert_double_near(c->spray.sheet_cohesion, 7, 0);
    und_scene_destroy(scene);
}

static void bodies_are_read(void **state)
{
    (void)state;
    und_scene *scene = load(all_columns);
    const und_columns_def *c = &und_scene_get(scene)->columns;
    assert_int_equal(c->body_count, 4);
    const und_body_def *b = c->bodies;
    assert_double_near(und_shape_distance(b[0].shape, und_vec(2, 0, 0)), 1.5, 1e-12);
    assert_double_near(b[0].density, 600, 0);
    assert_double_near(b[0].mass, 0, 0);
    assert_double_near(b[0].position[1], 2, 0);
    assert_double_near(b[0].rotation[1], 30, 0);
    assert_double_near(b[0].velocity[1], -2, 0);
    assert_double_near(b[0].spin[1], M_PI, 1e-15);
    assert_double_near(b[0].release, 1.5, 0);
    assert_double_near(b[0].drag, 0.9, 0);
    assert_double_near(b[0].bounce, 0.1, 0);
    assert_double_near(b[0].friction, 0.2, 0);
    assert_double_near(b[0].color[2], 0.3, 1e-7);
    assert_null(b[0].motion);
    assert_true(isinf(b[1].release)); /* led for good */
    assert_double_near(und_motion_at(b[1].motion, 1).position.x, 2, 1e-12);
    assert_double_near(b[2].release, 2, 0);
    assert_double_near(b[2].mass, 40, 0);
    assert_non_null(b[2].motion);
    assert_true(isinf(b[3].release));
    und_scene_destroy(scene);
}

static void spray_is_off_or_has_defaults(void **state)
{
    (void)state;
    und_columns_def like = und_columns_def_default();
    und_scene *scene = load("liquid.columns { size = {4, 2}, cells = 8 }");
    const und_columns_def *c = &und_scene_get(scene)->columns;
    assert_false(c->spray.on);
    assert_double_near(c->diagonal, like.diagonal, 0);
    assert_int_equal(c->body_count, 0);
    und_scene_destroy(scene);
    scene = load("liquid.columns { size = {4, 2}, cells = 8, spray = true }");
    c = &und_scene_get(scene)->columns;
    assert_true(c->spray.on && !c->spray.sheets);
    assert_double_near(c->spray.threshold, like.spray.threshold, 0);
    und_scene_destroy(scene);
    scene = load("liquid.columns { size = {4, 2}, cells = 8, spray = { radius = 0.01, sheets = true } }");
    c = &und_scene_get(scene)->columns;
    assert_true(c->spray.on && c->spray.sheets);
    assert_double_near(c->spray.radius[0], 0.01, 0);
    assert_double_near(c->spray.radius[1], 0.01, 0);
    assert_double_near(c->spray.sheet_tear, like.spray.sheet_tear, 0);
    und_scene_destroy(scene);
}

/* Every bone of a figure is a body, after those of `bodies`, where the figure is put. */
static void figures_become_bodies(void **state)
{
    (void)state;
    char folder[] = "figure-XXXXXX", scene_path[64], file[64];
    und_error err = {0};
    assert_non_null(mkdtemp(folder));
    snprintf(scene_path, sizeof scene_path, "%s/s.lua", folder);
    snprintf(file, sizeof file, "%s/man.skel", folder);
    FILE *out = fopen(file, "w");
    assert_non_null(out);
    fputs("skeleton man\n"
          "bone body ellipsoid 0.2 0.4 0.1 color 0.25 0.5 0.75\n"
          "bone head on body joint 0 0.5 0 ellipsoid 0.1 0.1 0.1\n"
          "key 0 at 0 1 0\n"
          "key 1 at 0 1 2\n",
          out);
    fclose(out);
    und_scene *scene = und_scene_from_text(
        "liquid.columns { size = {4, 4}, cells = 4,\n"
        "  figures = { { file = 'man.skel', at = {1, 2, 3}, start = 0.5 }, { file = 'man.skel' } },\n"
        "  bodies = { { shape = sphere { radius = 1 }, density = 500 } } }",
        scene_path, NULL, 0, &err);
    if (!scene)
        fail_msg("%s", err.text);
    const und_columns_def *c = &und_scene_get(scene)->columns;
    assert_int_equal(c->body_count, 5);
    const und_body_def *b = &c->bodies[1];
    assert_null(c->bodies[0].skeleton);
    assert_true(isinf(b->release));
    assert_int_equal(b[1].bone, 1);
    assert_double_near(b->color[2], 0.75, 1e-6);
    und_pose pose = und_skeleton_pose(b[1].skeleton, 1, 1.5);
    assert_double_near(pose.position.x, 1, 1e-12);
    assert_double_near(pose.position.y, 3.5, 1e-12);
    assert_double_near(pose.position.z, 5, 1e-12);
    assert_double_near(und_skeleton_pose(b[2].skeleton, 0, 1).position.z, 2, 1e-12);
    und_scene_destroy(scene);
    out = fopen(file, "w");
    assert_non_null(out);
    fputs("skeleton man\nbone body ellipsoid 0.2\n", out);
    fclose(out);
    assert_null(und_scene_from_text("liquid.columns { size = {4, 4}, cells = 4,\n figures = {\n"
                                    "  { file = 'man.skel' } } }",
                                    scene_path, NULL, 0, &err));
    assert_int_equal(err.status, UND_INVALID);
    assert_non_null(strstr(err.text, "/s.lua:3: liquid.columns.figures[1].file: "));
    assert_non_null(strstr(err.text, "man.skel:2: "));
    unlink(file);
    rmdir(folder);
}

/* A map that is a function is sampled in the middles of texels, 1024 along the longer side. */
static void maps_may_be_functions(void **state)
{
    (void)state;
    und_scene *scene = load("liquid.waves { size = {4, 2}, cells = 8, origin = {10, 20} }\n"
                            "ground { map = function(x, z) return {x - 10, z - 20, 0.5} end }");
    const und_image *map = und_scene_get(scene)->render.ground_map;
    assert_int_equal(map->width, 1024);
    assert_int_equal(map->height, 512);
    const float *texel = map->rgb + 3 * (100 * 1024 + 700);
    assert_double_near(texel[0], 4 * 700.5 / 1024, 1e-6);
    assert_double_near(texel[1], 2 * 100.5 / 512, 1e-6);
    assert_double_near(texel[2], 0.5, 0);
    und_scene_destroy(scene);
}

/* Two numbers over ten metres stand at 2.5 and 7.5; between them the value is linear. */
static void tables_span_the_domain(void **state)
{
    (void)state;
    und_scene *scene = load("liquid.waves { size = 10, cells = 20, surface = {1, 3}, ground = -1 }");
    const und_waves_def *w = &und_scene_get(scene)->waves;
    assert_int_equal(w->height_field.nz, 1);
    assert_double_near(at(&w->height_field.surface, 2.5, 0, 0), 1, 1e-12);
    assert_double_near(at(&w->height_field.surface, 5, 0, 0), 2, 1e-12);
    assert_double_near(at(&w->height_field.surface, 7.5, 0, 0), 3, 1e-12);
    und_scene_destroy(scene);
    scene = load(everything); /* rows from low z: 0 1 / 2 3 over x -5..5, z 1..6 */
    w = &und_scene_get(scene)->waves;
    assert_double_near(at(&w->height_field.surface, -2.5, 2.25, 0), 0, 1e-12);
    assert_double_near(at(&w->height_field.surface, 2.5, 2.25, 0), 1, 1e-12);
    assert_double_near(at(&w->height_field.surface, -2.5, 4.75, 0), 2, 1e-12);
    assert_double_near(at(&w->height_field.surface, 0, 3.5, 0), 1.5, 1e-12);
    und_scene_destroy(scene);
}

static void settings_replace_params(void **state)
{
    (void)state;
    const char *text =
        "local n = param('cells', 16)\n"
        "assert(param('word', 'a') == 'b' and param('flag', false) == true and param('rest', 3) == 3)\n"
        "liquid.waves { size = 1, cells = n }\n";
    und_setting settings[] = {{"word", "b"}, {"cells", "16"}, {"flag", "yes"}, {"cells", "64"}};
    und_error err = {0};
    und_scene *scene = und_scene_from_text(text, "x.lua", settings, 4, &err);
    if (!scene)
        fail_msg("%s", err.text);
    assert_int_equal(und_scene_get(scene)->waves.height_field.nx, 64);
    assert_string_equal(und_scene_get(scene)->settings, "cells=64 flag=yes word=b");
    und_scene_destroy(scene);
    und_setting wrong[] = {{"word", "b"}, {"flag", "on"}, {"cell", "3"}};
    assert_null(und_scene_from_text(text, "x.lua", wrong, 3, &err));
    assert_int_equal(err.status, UND_INVALID);
    assert_non_null(strstr(err.text, "--set cell: the scene has no such param (did you mean \"cells\"?)"));
    und_setting bad = {"cells", "many"};
    assert_null(und_scene_from_text(text, "x.lua", &bad, 1, &err));
    assert_non_null(strstr(err.text, "x.lua:1: param: --set cells: expected a number, found \"many\""));
}

static void failing_functions_are_remembered(void **state)
{
    (void)state;
    static const struct {
        const char *body, *fragment;
    } cases[] = {
        {"if t > 1 then error('boom') end return 1",
         "f.lua:2: boom (in liquid.waves.ground, at x = 3, z = 4, t = 2)"},
        {"if t > 1 then return 0/0 end return 1",
         "f.lua:1: liquid.waves.ground: expected the function to return a finite number, found"},
        {"if t > 1 then return 'x' end return 1", "found a string at x = 3"},
        {"if t > 1 then return end return 1", "found nil at x = 3"},
        {"if t > 1 then while true do end end return 1",
         "f.lua:2: liquid.waves.ground: stopped after 1e+07 instructions"},
        {"if t > 1 then return math.random() end return 1",
         "math.random works only while the scene is loaded"},
        {"if t > 1 then scene { frames = 3 } end return 1", "scene works only while the scene is loaded"},
        {"if t > 1 then local s = 'x' while true do s = s .. s end end return 1",
         "f.lua:2: liquid.waves.ground: stopped at a string of more than 64 KiB"},
        {"if t > 1 then return nothing.x end return 1", "unknown name \"nothing\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        und_error err = {0};
        snprintf(text, sizeof text,
                 "liquid.waves { size = {8, 8}, cells = 4, ground = function(x, z, t)\n%s end }",
                 cases[i].body);
        und_scene *scene = und_scene_from_text(text, "f.lua", NULL, 0, &err);
        if (!scene)
            fail_msg("%s", err.text);
        const und_value *ground = &und_scene_get(scene)->waves.height_field.ground;
        assert_double_near(at(ground, 0, 0, 0), 1, 0);
        assert_int_equal(und_scene_trouble(scene, &err), UND_OK);
        assert_double_near(at(ground, 3, 4, 2), 0, 0);
        assert_int_equal(und_scene_trouble(scene, &err), UND_INVALID);
        if (!strstr(err.text, cases[i].fragment))
            fail_msg("\"%s\" has no \"%s\"", err.text, cases[i].fragment);
        und_scene_destroy(scene);
    }
}

/* The same in every run: pairs goes in order, random numbers depend on the seed alone. */
static void programs_are_deterministic(void **state)
{
    (void)state;
    const char *text =
        "scene { seed = 5 }\n"
        "local words = {}\n"
        "for k, v in pairs { pear = 1, apple = 2, [2] = 'x', fig = 3, [1] = 'y', [-0.5] = 0 } do\n"
        "  words[#words + 1] = tostring(k) end\n"
        "assert(table.concat(words, ' ') == '-0.5 1 2 apple fig pear')\n"
        "words = {} for k in pairs { ['a\\0c'] = 1, ['a\\0b'] = 2, a = 3, ['a\\0'] = 4, [2^53|0] = 5, "
        "[(2^53|0) + 1] = 6 } do\n"
        "  words[#words + 1] = #tostring(k) .. tostring(k):sub(-1) end\n"
        "assert(table.concat(words, ' ') == '162 163 1a 2\\0 3b 3c')\n"
        "assert(tostring({}) == 'table' and tostring(print) == 'function' and tostring(nil) == 'nil')\n"
        "assert(tostring(1.5) == '1.5' and tostring('x') == 'x' and tostring(true) == 'true')\n"
        "assert(string.format('%s %5.1f %-6s|%%|%s', {}, 2, print, 'y') == 'table   2.0 function|%|y')\n"
        "assert(('%d%s'):format(3, {}) == '3table')\n"
        "local t = { 'b', 'c', 'a' } table.sort(t) assert(table.concat(t) == 'abc')\n"
        "table.sort(t, function(a, b) return a > b end) assert(table.concat(t) == 'cba')\n"
        "local r = math.random(10) + math.random() + math.random(-3, 3)\n"
        "assert(hash(1, 2) == hash(1, 2) and hash(1, 2) ~= hash(2, 1) and hash(0) == hash(-0.0))\n"
        "liquid.waves { size = 1, cells = 4, ground = -r, level = hash(3) }\n";
    und_scene *a = load(text), *b = load(text);
    const und_waves_def *w = &und_scene_get(a)->waves;
    assert_double_near(w->height_field.ground.number, und_scene_get(b)->waves.height_field.ground.number, 0);
    assert_true(w->height_field.surface.number >= 0 && w->height_field.surface.number < 1);
    und_scene_destroy(a);
    und_scene_destroy(b);
}

/* What a scene prints, and what it says of an error, gives the terminal no orders. */
static void terminals_get_no_orders(void **state)
{
    (void)state;
    char name[] = "printed-XXXXXX", text[256] = "";
    fflush(stderr);
    int file = mkstemp(name), kept = dup(STDERR_FILENO);
    dup2(file, STDERR_FILENO);
    und_scene *scene = load("print('a\\27[31mb', 'c\\rd', 'é \\u{9b}2J', {})\n"
                            "liquid.waves { size = 1, cells = 4, ground = -1, level = 0 }\n");
    fflush(stderr);
    dup2(kept, STDERR_FILENO);
    close(kept);
    und_scene_destroy(scene);
    assert_true(pread(file, text, sizeof text - 1, 0) > 0);
    close(file);
    unlink(name);
    assert_string_equal(text, "a\\27[31mb\tc\\13d\té \\194\\1552J\ttable\n");
    und_error err = {0};
    assert_null(und_scene_from_text("error('\\27[31mred')", "e.lua", NULL, 0, &err));
    assert_non_null(strstr(err.text, "?[31mred"));
}

/* Noise is 0 on the lattice, continuous, about -1 to 1, and uses its range. */
static void noise_is_smooth(void **state)
{
    (void)state;
    und_scene *scene =
        load("local low, high, jump, last = 0, 0, 0, 0\n"
             "for i = 0, 20000 do\n"
             "  local n = noise(0.01 * i, 0.37 * 0.01 * i, 0.2)\n"
             "  low, high = math.min(low, n), math.max(high, n)\n"
             "  if i > 0 then jump = math.max(jump, math.abs(n - last)) end\n"
             "  last = n\n"
             "end\n"
             "assert(noise(3, -7) == 0 and noise(2.3, 1.4) ~= noise(3.3, 1.4))\n"
             "assert(math.abs(fbm(0.3, 0.4, 1) - noise(0.3, 0.4)) == 0)\n"
             "liquid.waves { size = 1, cells = 4, ground = low, level = high, damping = jump }\n");
    const und_waves_def *w = &und_scene_get(scene)->waves;
    assert_true(w->height_field.ground.number < -0.5 && w->height_field.ground.number > -1.1);
    assert_true(w->height_field.surface.number > 0.5 && w->height_field.surface.number < 1.1);
    assert_true(w->height_field.damping < 0.05);
    und_scene_destroy(scene);
}

static void files_stay_in_the_folder(void **state)
{
    (void)state;
    char folder[] = "scene-XXXXXX", scene_path[64], picture[64], way_out[64];
    und_error err = {0};
    assert_non_null(mkdtemp(folder));
    snprintf(scene_path, sizeof scene_path, "%s/s.lua", folder);
    snprintf(picture, sizeof picture, "%s/hill.png", folder);
    snprintf(way_out, sizeof way_out, "%s/out.png", folder);
    und_image image;
    assert_int_equal(und_image_create(&image, 2, 2, &err), UND_OK);
    for (int i = 0; i < 12; i++)
        image.rgb[i] = i < 3 ? 1 : 0; /* white in the corner at low x and low z */
    assert_int_equal(und_png_write(picture, &image, 1, &err), UND_OK);
    und_image_destroy(&image);
    und_scene *scene = und_scene_from_text("liquid.waves { size = {4, 4}, cells = 4, level = 1,\n"
                                           "  ground = map { file = './hill.png', low = -2, high = 6 } }\n"
                                           "ground { map = 'hill.png' }",
                                           scene_path, NULL, 0, &err);
    if (!scene)
        fail_msg("%s", err.text);
    const und_scene_view *v = und_scene_get(scene);
    assert_double_near(at(&v->waves.height_field.ground, 1, 1, 0), 6, 1e-6);
    assert_double_near(at(&v->waves.height_field.ground, 3, 1, 0), -2, 1e-6);
    assert_double_near(at(&v->waves.height_field.ground, 1, 3, 0), -2, 1e-6);
    assert_int_equal(v->render.ground_map->width, 2);
    und_scene_destroy(scene);
    assert_int_equal(symlink("/etc/hostname", way_out), 0);
    static const char *const names[] = {"../x.png", "/etc/hostname", "out.png", "a/../../x.png",
                                        "",         "none.png",      ".",       ".."};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char text[160];
        snprintf(text, sizeof text,
                 "liquid.waves { size = {4, 4}, cells = 4, ground = map {\n file = '%s' } }", names[i]);
        assert_null(und_scene_from_text(text, scene_path, NULL, 0, &err));
        assert_int_equal(err.status, UND_INVALID);
        assert_non_null(strstr(err.text, "/s.lua:2: map.file: "));
    }
    assert_non_null(strstr(err.text, "leads out of the scene's folder"));
    unlink(picture);
    unlink(way_out);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(smallest_scene_has_defaults),
                                       cmocka_unit_test(everything_is_read),
                                       cmocka_unit_test(lists_are_read),
                                       cmocka_unit_test(looks_are_read),
                                       cmocka_unit_test(columns_are_read),
                                       cmocka_unit_test(bodies_are_read),
                                       cmocka_unit_test(spray_is_off_or_has_defaults),
                                       cmocka_unit_test(figures_become_bodies),
                                       cmocka_unit_test(maps_may_be_functions),
                                       cmocka_unit_test(tables_span_the_domain),
                                       cmocka_unit_test(settings_replace_params),
                                       cmocka_unit_test(failing_functions_are_remembered),
                                       cmocka_unit_test(programs_are_deterministic),
                                       cmocka_unit_test(terminals_get_no_orders),
                                       cmocka_unit_test(noise_is_smooth),
                                       cmocka_unit_test(files_stay_in_the_folder)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
