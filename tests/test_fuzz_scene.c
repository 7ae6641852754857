/* Thousands of damaged scenes: each loads, or says why not; none crashes, hangs or runs without measure. */
#include "tests/test.h"

#include "base/random.h"
#include "geom/value.h"
#include "scene/read.h"
#include "scene/sim.h"

#include <time.h>

static const char *const good[] = {
    "scene { name = 'a', start = 1, frames = 24, fps = 24, substeps = 2, seed = 3 }\n"
    "local n = param('cells', 16)\n"
    "liquid.waves { size = {4, 2}, cells = n, origin = {0, 1}, level = 0.5,\n"
    "  ground = function(x, z, t) return -1 + 0.2 * fbm(x, z, 4) end, gravity = 9.81, damping = 0.1, order = "
    "2,\n"
    "  edges = { left = { kind = 'open', level = 0, amplitude = 0.1, period = 3, direction = 10, ramp = 1 "
    "},\n"
    "            right = 'fall', back = 'wall', front = { kind = 'flow', rate = 0.2 } },\n"
    "  drops = { { time = 1, center = {1, 1}, radius = 0.5, volume = 0.1 } } }\n"
    "camera { eye = {1, 2, 3}, look = function(t) return {math.sin(t), 0, 0} end, fov = 40 }\n",
    "local list = {}\n"
    "for i = 1, 20 do list[#list + 1] = { time = 0.1 * i, center = {hash(i), hash(i, 2)}, radius = 0.1, "
    "height = 0.1 } end\n"
    "liquid.waves { size = {1, 1}, cells = 8, surface = {{0, 1}, {1, 0}}, drops = list,\n"
    "  springs = { { center = {0.5, 0.5}, radius = 0.1, rate = function(x, z, t) return t end, start = 1, "
    "stop = 2 } },\n"
    "  drains = { { shape = cylinder { center = {0, 0, 0}, radius = 0.2, height = 3 }, rate = 1 } },\n"
    "  rain = { rate = 3, peak = 4, radius = 0.01, splash = 0, top = 4, speed = 7, wind = {1, 0} },\n"
    "  foam = { threshold = 1, rate = 2, life = 3 }, dye = 0.5, texture = true, velocity = true }\n",
    "local ball = union { sphere { center = {0, 0, 0}, radius = 0.3 }, box { min = {0, 0, 0}, max = {1, 1, "
    "1} } }\n"
    "ball = difference { ball, plane { normal = {0, 1, 0} }, ellipsoid { radii = {1, 2, 3} } }\n"
    "liquid.waves { size = 10, cells = 64, ground = {-1, -0.5, 0.2}, level = 0,\n"
    "  stirs = { { center = { keys = { { time = 0, at = {1} }, { time = 2, at = {3} } }, easing = 'linear' "
    "},\n"
    "              radius = 1, amplitude = 0.1, period = 2 } },\n"
    "  objects = { { shape = ball, keys = { { time = 0, at = {0, 0, 0} }, { time = 1, at = {1, 0, 0}, turn = "
    "{0, 90, 0} } },\n"
    "                easing = 'spline', color = {1, 0.5, 0} } } }\n"
    "light { sun = {1, 1, 1}, color = {1, 1, 1}, clouds = 0.5, haze = 100 }\n"
    "water { color = {0, 0, 1}, refraction = 1.33 } ground { rock = 0.5, wet = 0.5 } film { width = 64, tone "
    "= true }\n",
    "liquid.columns { size = {4, 2}, cells = 16, ground = -1, level = 0, pipe_depth = 0.5, diagonal = "
    "0.25,\n"
    "  flow = 'new', force = 'estimate', damping = 0.1, drops = { { center = {1, 1}, radius = 0.5, volume = "
    "0.1 } },\n"
    "  spray = { threshold = 2, rate = 100, radius = {0.01, 0.02}, drag = 1, wind = {1, 0, 0}, most = 1000,\n"
    "            sheets = { tear = 0.01, cohesion = 3 } },\n"
    "  bodies = { { shape = sphere { radius = 0.3 }, density = 500, at = {1, 1, 1}, turn = {0, 10, 0},\n"
    "               velocity = {1, 0, 0}, spin = {0, 0, 90}, release = 0.1, drag = 0.5, bounce = 0.2 },\n"
    "             { shape = box { size = {0.5, 0.5, 0.5} }, mass = 30, release = 1, easing = 'linear',\n"
    "               keys = { { time = 0, at = {2, 1, 1} }, { time = 1, at = {2, 0, 1} } } } } }\n",
    "liquid.cells { size = {1, 0.5}, cells = {8, 6}, origin = {0, 1}, gravity = {0, -9.81}, viscosity = "
    "0.01,\n"
    "  surface_pressure = function(x, y, z, t) return x + t end, track = 'chains', revolve = { around = 8 "
    "},\n"
    "  walls = { left = 'stick', top = { kind = 'stick', velocity = {1, 0} } }, level = 1.2,\n"
    "  solids = { sphere { radius = 0.2 }, { shape = box { size = {0.1, 3, 1} }, wall = 'stick' } },\n"
    "  fill = { { shape = sphere { center = {0.5, 1.3, 0}, radius = 0.1 }, velocity = {0, -1}, chain = 20 } "
    "} }\n",
    "liquid.cells { size = {1, 0.5, 0.5}, cells = 6, level = {{0.2, 0.3}, {0.1, 0.2}}, track = 'height',\n"
    "  spray = { threshold = 1, rate = 100 }, split = 0.5, foam = { life = 1 }, keep_volume = true,\n"
    "  pressure = 'relax', relaxation = 1.7, epsilon = 1e-3, sweeps = 50, courant = 0.5, max_step = 0.1,\n"
    "  wave_makers = { { amplitude = 0.1, wavelength = 1, depth = 0.2, time = 0.5, stop = 2 } },\n"
    "  gates = { { side = 'left', shape = box { max = {1, 0.2, 1} }, kind = 'inflow', markers = 5,\n"
    "              velocity = function(t) return 1, 0, 0 end, stop = 1 }, { side = 'right', kind = 'outflow' "
    "} } }\n",
    "for k, v in pairs { b = 1, a = 2 } do if v > 1 then v = nil end end\n"
    "local t = { 3, 1, 2 } table.sort(t, function(a, b) return a < b end) table.insert(t, 4) table.remove(t, "
    "1)\n"
    "local ok, why = pcall(error, 'x') assert(not ok and why == 'x')\n"
    "local s = string.format('%5.2f %s', math.random(), ('ab'):rep(3):upper():sub(2, -2)) assert(#s > 3)\n"
    "liquid.waves { size = {2, 2}, cells = {16, 16}, level = noise(0.5, 0.5) }\n",
};

static const char *const pieces[] = {"0/0",
                                     "1/0",
                                     "-1/0",
                                     "1e308",
                                     "-1",
                                     "0",
                                     "1e-320",
                                     "2^53",
                                     "9007199254740993",
                                     "nil",
                                     "true",
                                     "{}",
                                     "{{}}",
                                     "''",
                                     "'x'",
                                     "('x'):rep(1e5)",
                                     "function() return 0/0 end",
                                     "function() error({}) end",
                                     "function(...) return ... end",
                                     "function() while true do end end",
                                     "sphere { radius = 1 }",
                                     "{ keys = {} }",
                                     "map { file = 'x' }",
                                     "_G",
                                     "print",
                                     "math.huge",
                                     "{1}",
                                     "{1, 2}",
                                     "{1, 2, 3}",
                                     "{1, 2, 3, 4}",
                                     "-",
                                     ",",
                                     "}",
                                     "{",
                                     "(",
                                     ")",
                                     "=",
                                     "end",
                                     "--",
                                     "[[",
                                     "while true do ",
                                     "pcall(",
                                     "error(",
                                     "scene",
                                     "liquid.waves",
                                     "liquid.columns",
                                     "liquid.cells",
                                     "voxels { file = 'x', what = 'y', cell = 1 }",
                                     "..",
                                     "#",
                                     "\0",
                                     "\xff",
                                     "\n",
                                     "goto x ",
                                     "::x::"};

enum { SIZE = 8192, PIECES = sizeof pieces / sizeof *pieces, GOOD = sizeof good / sizeof *good };

typedef struct dice {
    uint64_t seed, index;
} dice;

static size_t roll(dice *d, size_t sides)
{
    return (size_t)(und_random_bits(d->seed, 1, d->index++) % sides);
}

static size_t replace(char *text, size_t size, size_t from, size_t to, const char *with, size_t length)
{
    if (size - (to - from) + length > SIZE)
        return size;
    memmove(text + from + length, text + to, size - to);
    memcpy(text + from, with, length);
    return size - (to - from) + length;
}

static bool in_token(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '.' || c == '_';
}

/* The token at a random place. */
static void pick_token(dice *d, const char *text, size_t size, size_t *from, size_t *to)
{
    *from = roll(d, size);
    while (*from > 0 && in_token(text[*from - 1]))
        (*from)--;
    *to = *from + 1;
    while (*to < size && in_token(text[*to]))
        (*to)++;
}

static size_t mutate(dice *d, char *text, size_t size)
{
    size_t from, to, other;
    const char *piece = pieces[roll(d, PIECES)];
    if (size < 2)
        return replace(text, size, 0, 0, piece, strlen(piece));
    switch (roll(d, 6)) {
    case 0: /* a bit */
        text[roll(d, size)] ^= (char)(1U << roll(d, 8));
        return size;
    case 1: /* a deletion */
        from = roll(d, size);
        to = from + 1 + roll(d, 20);
        return replace(text, size, from, to < size ? to : size, "", 0);
    case 2: /* the end is missing */
        return roll(d, 8) == 0 ? roll(d, size) : size;
    case 3: { /* a token from elsewhere */
        char word[64];
        pick_token(d, text, size, &from, &to);
        other = to - from < sizeof word ? to - from : sizeof word;
        memcpy(word, text + from, other);
        pick_token(d, text, size, &from, &to);
        return replace(text, size, from, to, word, other);
    }
    default: /* a token becomes something else */
        pick_token(d, text, size, &from, &to);
        return replace(text, size, from, to, piece, strlen(piece) ? strlen(piece) : 1);
    }
}

static void use(und_scene *scene)
{
    const und_scene_view *v = und_scene_get(scene);
    const und_value *values[2] = {v->height_field ? &v->height_field->ground : &v->cells.pressure,
                                  v->height_field ? &v->height_field->surface : &v->cells.level};
    double p[3], sum = und_value_at(values[0], 0.5, 0, 0.5, 1) + und_value_at(values[1], 0.5, 0, 0.5, 1);
    und_vector_at(&v->render.eye, 1, p);
    assert_true(isfinite(sum) && isfinite(p[0] + p[1] + p[2]));
    for (int a = 0; a < 3; a++)
        assert_true(v->grid.n[a] >= 1 && und_grid_size(&v->grid, a) > 0);
    assert_true(!v->height_field || v->grid.n[0] >= 2);
}

static double fastest(const und_value velocity[3])
{
    double most = 0;
    for (int a = 0; a < 3; a++)
        most = fmax(most, fabs(und_value_at(&velocity[a], 0.5, 0.2, 0.2, 0)));
    return most;
}

/* About how many steps a second cells need, with what is set. */
static double steps_of_cells(const und_cells_def *c)
{
    double least = fmin(c->cell[0], fmin(c->cell[1], c->cell[2])), pull = 0, size = 0;
    for (int a = 0; a < 3; a++) {
        pull = fmax(pull, fabs(c->gravity[a]));
        size = fmax(size, c->n[a] * c->cell[a]);
    }
    double speed =
        sqrt(2 * pull * size) + sqrt(fabs(und_value_at(&c->pressure, 0.5, 0.2, 0.2, 0)) / c->density);
    for (int i = 0; i < UND_SIDES; i++)
        speed += fastest(c->wall[i].velocity);
    for (int i = 0; i < c->gate_count; i++)
        speed += fastest(c->gates[i].wall.velocity);
    for (int i = 0; i < c->fill_count; i++)
        speed += fastest(c->fills[i].velocity);
    for (int i = 0; i < c->maker_count; i++) /* eqs 17 and 18 */
        speed += c->makers[i].amplitude * sqrt(pull * c->makers[i].wavelength) / c->makers[i].time;
    return speed / (c->courant * least) + 8 * c->viscosity / (least * least) + 1 / c->max_step;
}

/* How many cells a wave crosses in a step: the columns take at least as many parts. */
static double cells_a_step(const und_scene *scene)
{
    const und_scene_view *v = und_scene_get(scene);
    if (!v->height_field)
        return steps_of_cells(&v->cells) / (v->fps * v->substeps);
    if (v->model != UND_MODEL_COLUMNS)
        return 0;
    double deepest = 0; /* of the corners and the middle, and a thousand times that */
    for (int i = 0; i < 5; i++) {
        double x =
            v->height_field->origin[0] + v->height_field->nx * v->height_field->dx * (i == 4 ? 0.5 : i % 2);
        double z =
            v->height_field->origin[1] + v->height_field->nz * v->height_field->dx * (i == 4 ? 0.5 : i / 2);
        deepest = fmax(deepest, fabs(und_value_at(&v->height_field->surface, x, 0, z, 0)) +
                                    fabs(und_value_at(&v->height_field->ground, x, 0, z, 0)));
    }
    return sqrt(v->height_field->gravity * 1000 * deepest) / (v->height_field->dx * v->fps * v->substeps);
}

/* Whatever loads also runs, or says why not. */
static void try_frame(und_scene *scene)
{
    const int *n = und_scene_get(scene)->grid.n;
    und_error err = {0};
    bool done;
    if ((double)n[0] * n[1] * n[2] > 4096 || cells_a_step(scene) > 1000)
        return;
    und_sim *sim = und_sim_create(scene, 1, &err);
    if (!sim) {
        assert_true(err.text[0] != '\0');
        return;
    }
    for (int i = 0; i < 2; i++)
        if (und_sim_step(sim, &done, &err) != UND_OK)
            assert_true(err.text[0] != '\0');
    assert_non_null(und_sim_frame(sim));
    und_sim_destroy(sim);
}

static void damaged_scenes_end_well(void **state)
{
    (void)state;
    und_limits limits = {
        .memory = 4 << 20, .load_work = 2e5, .call_work = 2e4, .step_work = 1e7, .seconds = 60};
    char text[SIZE + 1];
    int loaded = 0, refused = 0, count = (int)test_times(12000);
    for (int i = 0; i < count; i++) {
        dice d = {.seed = (uint64_t)i};
        const char *from = good[i % GOOD];
        size_t size = strlen(from);
        memcpy(text, from, size);
        for (size_t n = 1 + roll(&d, 2) * roll(&d, 4); n > 0; n--)
            size = mutate(&d, text, size);
        und_error err = {0};
        und_scene *scene = und_scene_load_text(text, size, "fuzz.lua", NULL, 0, &limits, &err);
        if (scene) {
            loaded++;
            use(scene);
            const und_scene_view *v = und_scene_get(scene);
            bool slow = v->waves.object_count || v->columns.body_count; /* to set up */
            if (loaded % (slow ? 64 : 4) == 0)
                try_frame(scene);
        } else {
            refused++;
            assert_null(strstr(err.text, "processor time")); /* counted work stops it long before */
            if ((err.status != UND_INVALID && err.status != UND_FAILED) || err.text[0] == '\0')
                fail_msg("scene %d: status %d, \"%s\"", i, err.status, err.text);
        }
        und_scene_destroy(scene);
    }
    print_message("%d of %d scenes refused\n", refused, count);
    assert_true(loaded > count / 40 && refused > count / 20);
}

static void the_good_ones_load(void **state)
{
    (void)state;
    for (int i = 0; i < GOOD; i++) {
        und_error err = {0};
        und_scene *scene = und_scene_from_text(good[i], "good.lua", NULL, 0, &err);
        if (!scene)
            fail_msg("%s", err.text);
        use(scene);
        und_scene_destroy(scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_good_ones_load),
                                       cmocka_unit_test(damaged_scenes_end_well)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
