/* Every feature of the level set liquid with cells that hold their volume: nothing is made or lost, nothing
 * stays in solids, the surface shows what is there, and a state that was kept goes on with the same bits. */
#include "tests/levelset_model.h"

#include "flow/solids_parts.h"
#include "geom/motion.h"
#include "geom/shape.h"
#include "liquid/levelset_state.h"
#include "scene/scene.h"

enum { FRAMES = 24, KEPT = 11 };

/* Two-dimensional where `size` has two numbers; each runs for a second. */
typedef struct feature {
    const char *name, *scene;
    double shown; /* how far what is shown may be off what is held, in the end */
} feature;

static const feature features[] = {
    {"dam", "size = {1, 1}, cells = 32, fill = box { max = {0.4, 0.6, 1} }", 0.02},
    {"melting",
     "size = {0.3, 0.3}, cells = 24, stick = true, fill = sphere { center = {0.15, 0.12, 0}, radius = 0.08 "
     "}, "
     "solids = { { shape = box { max = {0.3, 0.04, 1} }, temperature = 90 } }, "
     "temperature = { start = 20, diffusivity = 1e-3, viscosity = { {50, 10}, {60, 0.001} } }",
     0.02},
    {"heat in, by a source",
     "size = {0.3, 0.3, 0.3}, cells = 16, stick = true, fill = box { min = {0.08, 0, 0.08}, max = {0.22, "
     "0.15, 0.22} }, "
     "sources = { { shape = sphere { center = {0.15, 0.26, 0.15}, radius = 0.03 }, velocity = {0, -0.3, 0}, "
     "temperature = 120 } }, temperature = { start = 20, diffusivity = 2e-4, range = {0, 120}, "
     "viscosity = function(T) return 50 * math.exp(-T / 10) + 0.002 end }",
     0.02},
    {"honey that sticks",
     "size = {0.5, 0.5}, cells = 32, viscosity = 0.01, stick = true, solids = sphere { center = {0.25, 0.15, "
     "0}, radius = 0.1 }, "
     "fill = sphere { center = {0.27, 0.36, 0}, radius = 0.09 }",
     0.03},
    {"split viscosity",
     "size = {0.5, 0.5}, cells = 32, viscosity = function(x, y) return 0.001 + 0.1 * y end, viscosity_solver "
     "= \"split\", "
     "fill = box { min = {0.1, 0, -1}, max = {0.3, 0.4, 1} }",
     0.02},
    {"diffused viscosity",
     "size = {0.5, 0.5}, cells = 32, viscosity = 0.005, viscosity_solver = \"diffuse\", fill = box { max = "
     "{0.2, 0.4, 1} }",
     0.02},
    {"friction",
     "size = {1, 1}, cells = 32, fill = box { max = {0.3, 0.6, 1} }, "
     "solids = { { shape = box { min = {0, -1, -1}, max = {1, 0.1, 1} }, turn = {0, 0, -4}, friction = 0.5 } "
     "}",
     0.03},
    {"off a ball that lets go",
     "size = {1, 1}, cells = 40, sources = { { shape = box { min = {0.42, 0.9, -1}, max = {0.58, 0.96, 1} }, "
     "velocity = {0, -1}, stop = 0.4 } }, "
     "solids = { { shape = sphere { center = {0.5, 0.5, 0}, radius = 0.18 }, separate = true, friction = 0.2 "
     "} }",
     0.04},
    {"a ceiling that lets go",
     "size = {1, 1}, cells = 32, fill = box { min = {0.2, 0.6, -1}, max = {0.8, 0.8, 1} }, "
     "solids = { { shape = box { min = {0, 0.8, -1}, max = {1, 1.2, 1} }, separate = true } }",
     0.03},
    {"a ball through a pool",
     "size = {1, 1, 0.5}, cells = 24, level = 0.4, solids = { { shape = sphere { radius = 0.12 }, "
     "keys = { { time = 0, at = {0.3, 0.8, 0.25} }, { time = 0.5, at = {0.5, 0.2, 0.25} }, { time = 1, at = "
     "{0.8, 0.6, 0.25} } } } }",
     0.02},
    {"a thin gate that opens",
     "size = {1, 1}, cells = 32, fill = box { max = {0.395, 0.5, 1} }, "
     "solids = { { shape = box { min = {0.4, -0.1, -1}, max = {0.42, 1.1, 1} }, keys = { { time = 0.2, at = "
     "{0, 0, 0} }, { time = 0.6, at = {0, 0.6, 0} } } } }",
     0.02},
    {"a thin cup that is shaken",
     "size = {1, 1}, cells = 32, fill = box { min = {0.37, 0.37, -1}, max = {0.63, 0.5, 1} }, solids = { { "
     "shape = difference { "
     "box { min = {-0.16, -0.16, -1}, max = {0.16, 0.16, 1} }, box { min = {-0.14, -0.14, -2}, max = {0.14, "
     "0.3, 2} } }, "
     "keys = { { time = 0, at = {0.5, 0.5, 0} }, { time = 0.3, at = {0.6, 0.55, 0}, turn = {0, 0, 20} }, { "
     "time = 0.6, at = {0.4, 0.5, 0}, turn = {0, 0, -30} }, "
     "{ time = 1, at = {0.5, 0.6, 0} } } } }",
     0.04},
    {"a paddle that turns",
     "size = {1, 1}, cells = 32, level = 0.4, solids = { { shape = box { min = {-0.3, -0.03, -1}, max = "
     "{0.3, 0.03, 1} }, "
     "keys = { { time = 0, at = {0.5, 0.4, 0} }, { time = 1, at = {0.5, 0.4, 0}, turn = {0, 0, 170} } } } }",
     0.03},
    {"a piston into a corner",
     "size = {1, 1}, cells = 32, level = 0.3, solids = { { shape = box { min = {0.8, -1, -1}, max = {1.2, "
     "0.2, 1} } }, "
     "{ shape = box { min = {-0.2, -1, -1}, max = {0, 2, 1} }, keys = { { time = 0, at = {0, 0, 0} }, { time "
     "= 1, at = {0.6, 0, 0} } } } }",
     0.03},
    {"a plunger to a cell above the floor",
     "size = {1, 1}, cells = 32, level = 0.3, solids = { { shape = box { min = {0.3, 0, -1}, max = {0.7, "
     "0.5, 1} }, "
     "keys = { { time = 0, at = {0, 0.4, 0} }, { time = 0.8, at = {0, 0.03125, 0} } } } }",
     0.03},
    {"a container that tips",
     "size = {1, 1}, cells = 32, fill = box { min = {0.3, 0.2, -1}, max = {0.7, 0.4, 1} }, solids = { { "
     "shape = box { min = {-0.25, -0.3, -1}, max = {0.25, 0.3, 1} }, "
     "container = true, keys = { { time = 0, at = {0.5, 0.5, 0} }, { time = 1, at = {0.5, 0.5, 0}, turn = "
     "{0, 0, 60} } } } }",
     0.03},
    {"led by velocities",
     "size = {1, 1}, cells = 32, level = 0.3, control = { { kind = \"velocity\", radius = 0.12, keys = { { "
     "time = 0, at = {0.5, 0.3, 0}, velocity = {0, 0, 0} }, "
     "{ time = 1, at = {0.5, 0.7, 0} } } } }",
     0.03},
    {"led softly",
     "size = {1, 1, 0.5}, cells = 24, level = 0.3, control = { { kind = \"velocity\", radius = 0.2, falloff "
     "= \"cubic\", hard = 1, at = {0.5, 0.3, 0.25}, velocity = {0, 1, 0} } }",
     0.03},
    {"shaped",
     "size = {1, 1}, cells = 32, level = 0.3, control = { { kind = \"level_set\", at = {0.5, 0.45, 0}, "
     "radius = 0.1, length = 0.2 } }",
     0.05},
    {"swelling and shrinking",
     "size = {1, 1}, cells = 32, level = 0.3, control = { { kind = \"divergence\", at = {0.2, 0.1, 0}, "
     "radius = 0.08, value = 2, stop = 0.5 }, "
     "{ kind = \"divergence\", at = {0.8, 0.1, 0}, radius = 0.08, value = -2, stop = 0.5 } }",
     0.02},
    {"added and erased",
     "size = {1, 1}, cells = 32, level = 0.3, control = { { kind = \"adder\", at = {0.3, 0.7, 0}, radius = "
     "0.1, stop = 0.2 }, { kind = \"eraser\", at = {0.7, 0.2, 0}, radius = 0.1 } }",
     0.03},
    {"viscosity by particles",
     "size = {1, 1}, cells = 32, fill = box { max = {0.4, 0.6, 1} }, control = { { kind = \"viscosity\", at "
     "= {0.4, 0.1, 0}, radius = 0.2, value = 1 } }",
     0.02},
    {"sources, drains, forces, modifiers",
     "size = {1, 1, 0.5}, cells = 24, level = 0.3, sources = { { shape = sphere { radius = 0.06 }, velocity "
     "= {0, -1, 0}, "
     "keys = { { time = 0, at = {0.3, 0.8, 0.25} }, { time = 1, at = {0.7, 0.8, 0.25} } } } }, "
     "drains = { { shape = box { min = {0.4, 0, 0}, max = {0.6, 0.1, 0.5} }, start = 0.3 } }, forces = { { "
     "acceleration = {2, 0, 0}, stop = 0.5 } }, "
     "modifiers = { { shape = sphere { center = {0.5, 0.2, 0.25}, radius = 0.2 }, soft = 0.1, alpha = 0.2, "
     "velocity = {0, 1, 0} } }",
     0.03},
    {"open sides",
     "size = {1, 1}, cells = 32, open = {\"left\", \"right\", \"bottom\"}, fill = sphere { center = {0.3, "
     "0.5, 0}, radius = 0.25 }",
     0.05},
    {"a window",
     "size = {4, 1}, cells = 128, fill = { { shape = sphere { center = {0.6, 0.5, 0}, radius = 0.2 }, "
     "velocity = {2, 1} } }, window = { follow = \"liquid\" }",
     0.03},
    {"air that keeps its volume",
     "size = {1, 1}, cells = 32, free_air = true, level = 0.2, fill = sphere { center = {0.5, 0.5, 0}, "
     "radius = 0.15 }",
     0.03},
    {"order 2",
     "size = {1, 1}, cells = 32, order = 2, level = 0.2, fill = sphere { center = {0.5, 0.5, 0}, radius = "
     "0.15 }",
     0.03},
    {"long steps",
     "size = {1, 1}, cells = 32, courant = 5, level = 0.2, fill = sphere { center = {0.5, 0.6, 0}, radius = "
     "0.15 }",
     0.03},
    {"gravity aslant", "size = {1, 1}, cells = 32, gravity = {6, -6, 0}, fill = box { max = {0.4, 0.4, 1} }",
     0.03},
    {"air that keeps its volume beside what pours",
     "size = {1, 1}, cells = 32, free_air = true, level = 0.2, sources = { { shape = sphere { center = "
     "{0.35, 0.64, 0}, radius = 0.1 }, velocity = {0.53, -1.5} } }",
     0.03},
    {"a blow into a drain",
     "size = {1, 1}, cells = 32, fill = { { shape = box { max = {0.5, 0.8, 1} }, velocity = {2.4, 0} } }, "
     "drains = { { shape = sphere { center = {0.94, 0.076, 0}, radius = 0.09 } } }",
     0.03},
    {"without spray",
     "size = {1, 1}, cells = 32, spray = false, fill = box { min = {0.2, 0.5, -1}, max = {0.8, 0.52, 1} }",
     0.05},
};

static und_scene *load(const feature *f)
{
    char text[2048];
    und_error err = {0};
    snprintf(text, sizeof text,
             "scene { name = \"f\", frames = 24 }\nliquid.levelset { surface = \"volume\", %s }\n", f->scene);
    und_scene *scene = und_scene_from_text(text, "feature.lua", NULL, 0, &err);
    if (!scene)
        fail_msg("%s: %s", f->name, err.text);
    return scene;
}

/* Of what drops and cells have: nothing is in cells that have next to no room. */
static void look_at_cells(const feature *f, const und_levelset *s)
{
    const und_mac *m = &s->mac;
    double buried = 0, most = 0;
    for (int row = 0; row < und_mac_rows(m); row++)
        for (size_t at = und_mac_row(m, row), end = at + (size_t)m->n[0]; at < end; at++) {
            const double c = (double)und_levelset_volume_cells(s)[at] / UND_VOLUME_ONE;
            buried += s->solids.any && s->solids.room[at] < 0.02f ? fabs(c) : 0;
            most = fmax(most, c);
        }
    if (!(buried < 0.1) || !(most < 10))
        fail_msg("%s: %g cells' volume in solids, %g in a cell", f->name, buried, most);
}

/* Goes on from a state in another liquid, and comes to the same. */
static void go_on_elsewhere(const feature *f, const und_levelset_def *def, und_frame *state, uint64_t hash)
{
    und_error err = {0};
    und_levelset *l = start_levelset(def);
    und_liquid *liquid = und_levelset_liquid(l);
    if (liquid->class->restore(liquid, state, &err) != UND_OK)
        fail_msg("%s: %s", f->name, err.text);
    for (int k = KEPT; k < FRAMES; k++)
        und_levelset_step(l, 1.0 / 24);
    if (hash_of_levelset(l) != hash)
        fail_msg("%s: resumed, it has other bits", f->name);
    und_levelset_destroy(l);
}

static void keep(und_liquid *liquid, und_frame *state)
{
    und_error err = {0};
    und_frame borrowed = und_frame_empty(0, 0, (und_grid){.n = {1, 1, 1}, .dx = 1});
    assert_int_equal(liquid->class->save(liquid, &borrowed, &err), UND_OK);
    assert_int_equal(und_frame_copy(&borrowed, state, &err), UND_OK);
    und_frame_clear(&borrowed);
}

static void try_feature(const feature *f)
{
    und_error err = {0};
    und_scene *scene = load(f);
    und_levelset_def def = und_scene_get(scene)->levelset;
    und_frame state = und_frame_empty(0, 0, (und_grid){.n = {1, 1, 1}, .dx = 1});
    def.threads = 2;
    und_levelset *l = start_levelset(&def);
    und_liquid *liquid = und_levelset_liquid(l);
    for (int k = 0; k < FRAMES; k++) {
        if (k == KEPT)
            keep(liquid, &state);
        und_levelset_step(l, 1.0 / 24);
        look_at_cells(f, l);
        assert_int_equal(liquid->class->trouble(liquid, &err), UND_OK);
    }
    const und_ledger g = und_levelset_ledger(l);
    const double off = g.measured > 0 ? und_levelset_shown(l) / g.measured - 1 : 0;
    if (!(fabs(g.correction) <= 1e-12 * (g.start + g.sources)))
        fail_msg("%s: a correction of %g m3", f->name, g.correction);
    if (!(fabs(off) <= f->shown))
        fail_msg("%s: %.2g more is shown than there is", f->name, off);
    go_on_elsewhere(f, &def, &state, hash_of_levelset(l));
    und_frame_clear(&state);
    und_levelset_destroy(l);
    und_scene_destroy(scene);
}

static void every_feature_holds_its_water(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof features / sizeof *features; i++)
        try_feature(&features[i]);
}

/* A liquid with a feature by itself. */
typedef struct run {
    und_scene *scene;
    und_levelset *levelset;
} run;

static run begin(const feature *f)
{
    und_scene *scene = load(f);
    const und_levelset_def def = und_scene_get(scene)->levelset;
    return (run){scene, start_levelset(&def)};
}

static void end(run r)
{
    und_levelset_destroy(r.levelset);
    und_scene_destroy(r.scene);
}

/* ---- What cells owe ---- */

static double least_of(const und_levelset *s)
{
    const und_mac *m = &s->mac;
    double least = 0;
    for (int row = 0; row < und_mac_rows(m); row++)
        for (int x = 0; x < m->n[0]; x++)
            least = fmin(least, (double)und_levelset_volume_cells(s)[und_mac_row(m, row) + (size_t)x] /
                                    UND_VOLUME_ONE);
    return least;
}

/* Where liquid has gone on, nobody would pay what a cell owes: it does so while those that have it are near,
 * or less has left. */
static void no_cell_owes_what_has_gone(void **state)
{
    (void)state;
    static const feature runs[] = {
        {"out of a domain that is open all round",
         "size = {1, 1}, cells = 80, open = {\"left\", \"right\", \"bottom\", \"top\"}, level = 0.1828, "
         "fill = { { shape = box { min = {0.2136, 0.1128, 0}, max = {0.5323, 0.4293, 1} }, velocity = "
         "{3.669, "
         "1.626, 0} } }",
         0},
        {"drops in the air",
         "size = {1, 1}, cells = 96, level = 0.0842, gravity = {-0.88, -11.07, 0}, "
         "fill = { { shape = sphere { center = {0.6187, 0.7876, 0.0052}, radius = 0.0411 }, velocity = "
         "{2.006, "
         "-2.619, 0} }, "
         "{ shape = sphere { center = {0.4337, 0.4881, 0.0052}, radius = 0.1347 }, velocity = {1.643, -3.18, "
         "0} "
         "} }",
         0}};
    for (int i = 0; i < 2; i++) {
        const run r = begin(&runs[i]);
        for (int k = 0; k < 16; k++)
            und_levelset_step(r.levelset, 1.0 / 24);
        const und_ledger g = und_levelset_ledger(r.levelset);
        const double least = least_of(r.levelset);
        if (!(fabs(g.correction) <= 1e-12 * g.start) || !(g.left <= g.start) || !(least >= -1e-4))
            fail_msg("%s: a cell owes %g, of %g m3 %g has left", runs[i].name, -least, g.start, g.left);
        end(r);
    }
}

/* ---- Thin walls ---- */

/* What is not in the box that solid 0 is around, in cells' volumes. */
static double outside_of(const und_levelset *s, double half)
{
    const und_mac *m = &s->mac;
    double sum = 0;
    for (int row = 0; row < und_mac_rows(m); row++)
        for (int x = 0; x < m->n[0]; x++) {
            const int y = row % m->n[1], z = row / m->n[1];
            const und_vec3 p = und_pose_local(&s->solids.parts->state[0].to, und_solids_place(m, x, y, z));
            if (fabs(p.x) > half || fabs(p.y) > half)
                sum += fabs((double)und_levelset_volume_cells(s)[und_mac_at(m, x, y, z)]) / UND_VOLUME_ONE;
        }
    return sum;
}

/* A closed box is carried about and turned: however thin its walls and long the steps, nothing gets out. */
static void nothing_passes_thin_walls_that_move(void **state)
{
    (void)state;
    static const double walls[][2] = {{0.02, 5}, {0.6, 1.67}, {0.1, 1.67}, {0.3, 1.67}, {0.6, 5}, {1, 3}};
    for (int i = 0; i < test_cases(sizeof walls / sizeof *walls, 2); i++) {
        char text[1024];
        const double half = 0.15, outer = half + walls[i][0] / 32;
        snprintf(text, sizeof text,
                 "size = {1, 1}, cells = 32, courant = %g, fill = box { min = {0.37, 0.37, -1}, max = {0.63, "
                 "0.5, 1} }, "
                 "solids = { { shape = difference { box { min = {%g, %g, -2}, max = {%g, %g, 2} }, "
                 "box { min = {-0.15, -0.15, -3}, max = {0.15, 0.15, 3} } }, keys = { { time = 0, at = {0.5, "
                 "0.5, 0} }, "
                 "{ time = 0.2, at = {0.6, 0.55, 0}, turn = {0, 0, 60} }, { time = 0.4, at = {0.4, 0.6, 0}, "
                 "turn = {0, 0, -50} }, "
                 "{ time = 0.6, at = {0.5, 0.4, 0}, turn = {0, 0, 20} } } } }",
                 walls[i][1], -outer, -outer, outer, outer);
        const feature f = {"a closed box", text, 0.03};
        const run r = begin(&f);
        und_levelset *l = r.levelset;
        double leaked = outside_of(l, half);
        for (int k = 0; k < 16; k++) {
            und_levelset_step(l, 1.0 / 24);
            leaked = fmax(leaked, outside_of(l, half));
        }
        const double flown = und_levelset_ledger(l).spray_out - und_levelset_ledger(l).spray_back;
        if (!(leaked == 0) || !(und_levelset_ledger(l).left == 0) || !(flown >= 0))
            fail_msg("walls of %g cells: %g cells' volume outside", walls[i][0], leaked);
        end(r);
    }
}

/* ---- Speed ---- */

static double fastest_of(const und_levelset *s)
{
    double most = 0;
    for (int a = 0; a < 2; a++)
        for (int y = 0; y < s->mac.n[1]; y++)
            for (int x = 0; x < s->mac.n[0]; x++)
                most = fmax(most, fabs(und_levelset_velocity(s, a, x, y, 0)));
    return most;
}

static const struct {
    feature f;
    double most; /* m/s */
} slow[] = {
    /* sqrt(2 g 0.4 m) is 2.8 m/s */
    {{"a pool runs out below a ball, a hundredth of a cell above the floor",
      "size = {1, 1}, cells = 40, fill = box { max = {0.5, 0.4, 1} }, solids = { sphere { center = {0.5, "
      "0.30025, 0}, radius = 0.3 }, box { min = {0.48, 0.3, -1}, max = {0.54, 2, 1} } }",
      0},
     6},
    {{"a little of a film is left in a corner",
      "size = {1, 1}, cells = 32, fill = box { min = {0.9625, 0, -1}, max = {2, 0.0171875, 1} }", 0},
     0.5},
    {{"a film falls off a plate",
      "size = {1, 1}, cells = 48, fill = box { min = {0.46875, 0.4260416, -1}, max = {0.53125, 0.4322916, 1} "
      "}, solids = { box { min = {0.3, 0.4322916, -1}, max = {0.7, 0.52, 1} }, { shape = box { min = {0, 0, "
      "-1}, max = {0.05, 0.05, 1} }, keys = { { time = 0, at = {0, 0, 0} }, { time = 0.2, at = {0, 0.01, 0} "
      "} } } }",
      0},
     3},
    /* It closes at 0.5 m/s: what is 0.28 m high and is left in a tenth of a cell goes at 67 m/s. */
    {{"a plate presses water out between it and a cup",
      "size = {1, 1}, cells = 48, fill = box { min = {0.3, 0.3, -1}, max = {0.7, 0.6, 1} }, solids = { "
      "difference { box { min = {0.25, 0.25, -1}, max = {0.75, 0.8, 1} }, box { min = {0.3, 0.3, -2}, max = "
      "{0.7, 2, 2} } }, { shape = box { min = {0, 0, -1}, max = {0.1, 0.4, 1} }, keys = { { time = 0, at = "
      "{0.45, 0.35, 0} }, { time = 0.3, at = {0.3001, 0.4, 0} } } } }",
      0},
     1000},
    {{"a pool at rest on both sides of a wall that rubs",
      "size = {1, 1}, cells = 42, level = 0.07, solids = { { shape = box { min = {0.245, -1, -1}, max = "
      "{0.304, 0.256, 1} }, friction = 1 } }",
      0},
     1e-4},
    {{"a pool above a slab that lets go, and below, where no air gets in",
      "size = {1, 1}, cells = 24, level = 0.27526, solids = { { shape = box { min = {-0.6, -0.18497, -1}, "
      "max = {0.6, 0, 1} }, at = {0.61201, 0.1784, 0}, turn = {0, 0, -26.97}, separate = true } }",
      0},
     1e-4},
    {{"a viscous pool at rest that sticks to a ball",
      "size = {1, 1}, cells = 32, level = 0.35, viscosity = 0.001, stick = true, viscosity_solver = "
      "\"diffuse\", solids = sphere { center = {0.45, 0.25, 0}, radius = 0.2 }",
      0},
     1e-4},
};

/* Nothing moves by itself, or faster than it has fallen. */
static void nothing_is_faster_than_it_can_be(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof slow / sizeof *slow; i++) {
        const run r = begin(&slow[i].f);
        und_levelset *l = r.levelset;
        double most = 0;
        for (int k = 0; k < 2 * FRAMES; k++) {
            und_levelset_step(l, 1.0 / 24);
            most = fmax(most, fastest_of(l));
        }
        if (!(most < slow[i].most))
            fail_msg("%s: %g m/s", slow[i].f.name, most);
        end(r);
    }
}

/* ---- Gaps that close ---- */

/* Water falls into a cup that is half a cell wider on each side, in steps of a frame: what spreads to the
 * walls is what there is room for.  Half a cell too much is what a gap that is not found may get. */
static void a_cup_takes_what_it_has_room_for(void **state)
{
    (void)state;
    for (int n = 48; n <= 64; n += 16) {
        char text[512];
        double most = 0, least = 1;
        snprintf(
            text, sizeof text,
            "size = {0.8, 0.6}, cells = %d, courant = 3, fill = box { min = {0.16, 0.31, -1}, max = {0.34, "
            "0.42, 1} }, solids = difference { box { min = {0.1, 0.25, -1}, max = {0.4, 0.5, 1} }, box { "
            "min = {0.15, 0.3, -2}, max = {0.35, 0.6, 2} } }",
            n);
        const feature f = {"a cup", text, 0};
        const run r = begin(&f);
        for (int k = 0; k < 3; k++) {
            und_levelset_step(r.levelset, 1.0 / 24);
            most = fmax(most, und_volume_fullest(und_levelset_volumes(r.levelset)));
            least = fmin(least, und_levelset_shown(r.levelset) / und_levelset_ledger(r.levelset).measured);
        }
        if (!(most < 1.5) || !(least > 0.97))
            fail_msg("%d cells: %g in a cell, %g shown", n, most, least);
        end(r);
    }
}

/* A block falls flat onto a pool, and the air between them, which has no pressure, closes within a step: no
 * cell gets much more than it has room for. */
static void what_falls_flat_is_not_pressed_together(void **state)
{
    (void)state;
    for (int n = 32; n <= 64; n += 32) {
        char text[256];
        double most = 0;
        snprintf(
            text, sizeof text,
            "size = {1, 1}, cells = %d, level = 0.15, fill = box { min = {0.1, 0.7, -1}, max = {0.9, 0.9, "
            "1} }",
            n);
        const feature f = {"a block", text, 0};
        const run r = begin(&f);
        und_liquid *liquid = und_levelset_liquid(r.levelset);
        for (int k = 0; k < FRAMES / 2; k++)
            for (bool last = false; !last;) {
                last = liquid->class->step(liquid, 1.0 / 24);
                most = fmax(most, und_volume_fullest(und_levelset_volumes(r.levelset)));
            }
        if (!(most < 6))
            fail_msg("%d cells: %g in a cell", n, most);
        end(r);
    }
}

/* ---- Control ---- */

/* The most that a cell holds on the way. */
static double fullest_on_the_way(und_levelset *l)
{
    double most = 0;
    for (int k = 0; k < FRAMES; k++) {
        und_levelset_step(l, 1.0 / 24);
        most = fmax(most, und_volume_fullest(und_levelset_volumes(l)));
    }
    return most;
}

/* A core with a coat of liquid that control carries along with it, as far as it goes: nothing is made, and
 * nothing piles up before the core. */
static void a_coat_goes_along_with_its_core(void **state)
{
    (void)state;
    const feature f = {
        "a coat",
        "size = {2, 1}, cells = 64, spray = false, fill = sphere { center = {0.4, 0.5, 0}, radius = 0.3 }, "
        "solids = { { shape = sphere { radius = 0.15 }, easing = \"linear\", keys = { { time = 0, at = {0.4, "
        "0.5, 0} }, "
        "{ time = 0.5, at = {1, 0.5, 0} }, { time = 1, at = {1.6, 0.5, 0} } } } }, "
        "control = { { kind = \"velocity\", radius = 0.4, keys = { { time = 0, at = {0.4, 0.5, 0} }, "
        "{ time = 0.5, at = {1, 0.5, 0} }, { time = 1, at = {1.6, 0.5, 0} } } } }",
        0};
    const run r = begin(&f);
    und_levelset *l = r.levelset;
    const double most = fullest_on_the_way(l);
    const und_ledger g = und_levelset_ledger(l);
    if (!(most < 1.5) || !(g.sources < 0.05 * g.start) || !(g.drains < 0.05 * g.start))
        fail_msg("%g in a cell; of %g m3 %g were made and %g taken", most, g.start, g.sources, g.drains);
    end(r);
}

/* A disc that control turns round and round: it neither draws together nor spreads. */
static void what_control_turns_keeps_its_volume(void **state)
{
    (void)state;
    const feature f = {
        "a wheel",
        "size = {1, 1}, cells = 32, spray = false, fill = sphere { center = {0.5, 0.5, 0}, radius = 0.25 }, "
        "control = (function() local c = {} for i = 0, 48 do "
        "local x, y, keys = (i % 7 - 3) * 0.1, (i // 7 - 3) * 0.1, {} "
        "for k = 0, 24 do local a = k * math.pi / 12 keys[k + 1] = { time = k / 24, at = {0.5 + x * "
        "math.cos(a) - y * math.sin(a), 0.5 + x * math.sin(a) + y * math.cos(a), 0} } end "
        "c[i + 1] = { kind = \"velocity\", radius = 0.12, keys = keys } end return c end)()",
        0};
    const run r = begin(&f);
    und_levelset *l = r.levelset;
    for (int k = 0; k < FRAMES - 1; k++)
        und_levelset_step(l, 1.0 / 24);
    const und_ledger g = und_levelset_ledger(l);
    if (!(fabs(g.measured / g.start - 1) < 0.03))
        fail_msg("%g of it are left", g.measured / g.start);
    end(r);
}

/* Velocities that converge on a core take what they bring there, and no more than there is. */
static void what_converges_is_taken(void **state)
{
    (void)state;
    const feature f = {
        "a ring",
        "size = {1, 1}, cells = 32, fill = sphere { center = {0.5, 0.5, 0}, radius = 0.3 }, "
        "solids = sphere { center = {0.5, 0.5, 0}, radius = 0.12 }, "
        "control = (function() local c = {} for i = 1, 96 do "
        "local a, r = i * math.pi / 16, 0.12 + 0.08 * (i % 3) "
        "c[i] = { kind = \"velocity\", radius = 0.1, at = {0.5 + r * math.cos(a), 0.5 + r * math.sin(a), "
        "0}, velocity = {-2 * math.cos(a), -2 * math.sin(a), 0} } end return c end)()",
        0};
    const run r = begin(&f);
    und_levelset *l = r.levelset;
    const double most = fullest_on_the_way(l);
    const und_ledger g = und_levelset_ledger(l);
    if (!(most < 1.6) || !(g.measured > -0.005 * g.start) || !(g.measured < 0.05 * g.start))
        fail_msg("%g in a cell; of %g m3 %g are left", most, g.start, g.measured);
    end(r);
}

/* How far what flows out of a free cell inside of the liquid, that was no bubble before the step, is from
 * what it is to gain, of a cell in the step. */
static double amiss_in(const und_levelset *s, int x, int y)
{
    const size_t at = und_mac_at(&s->mac, x, y, 0);
    const double per = s->dt / s->def.dx;
    double sum = -und_levelset_asked(s, x, y, 0) * s->dt;
    if (!(s->surface.phi[at] < -2.5f) || !(s->solids.distance[at] > 1) ||
        !und_mask_has(&s->flow.liquid, x, y, 0) || und_mask_has(und_levelset_held(s), x, y, 0))
        return 0;
    for (int a = 0; a < 2; a++)
        sum += per * ((double)s->flow.u[a][at] - (double)s->flow.u[a][at - (size_t)s->mac.step[a]]);
    return fabs(sum);
}

/* Where gaps close and the pressure is found once more, the velocities that are given are as before. */
static void gaps_close_beside_held_cells(void **state)
{
    (void)state;
    const feature f = {
        "a stirrer",
        "size = {2, 1}, cells = 64, level = 0.9, viscosity = 0.05, order = 1, control = { { kind = "
        "\"velocity\", radius = 0.36, keys = { { time = 0, at = {0.8, 0.5, 0} }, { time = 0.125, at = {0.74, "
        "0.5, 0} }, { time = 0.25, at = {0.6, 0.5, 0} }, { time = 0.5, at = {0.4, 0.5, 0} }, { time = 1, at "
        "= {0.8, 0.5, 0} } } } }, solids = sphere { center = {1.5, 0.2, 0}, radius = 0.1 }",
        0};
    const run r = begin(&f);
    und_levelset *l = r.levelset;
    double most = 0;
    for (int k = 0; k < FRAMES; k++) {
        und_levelset_step(l, 1.0 / 24);
        for (int y = 1; y < 31; y++)
            for (int x = 1; x < 63; x++)
                most = fmax(most, amiss_in(l, x, y));
    }
    if (!(most < 0.02))
        fail_msg("%g of a cell comes in that is not to", most);
    end(r);
}

/* A viscous pool that control stirs: where it gives the velocity there is no pressure, and none that a cell
 * which it lets go would be pushed with. */
static void held_cells_keep_no_pressure(void **state)
{
    (void)state;
    const feature f = {
        "a stirred pool",
        "size = {2, 1}, cells = 64, level = 0.8, viscosity = 0.05, stick = true, control = { { kind = "
        "\"velocity\", radius = 0.25, keys = { { time = 0, at = {0.6, 0.4, 0} }, { time = 0.5, at = {1.4, "
        "0.4, 0} } } } }",
        0};
    const run r = begin(&f);
    und_levelset *l = r.levelset;
    double free = 0, held = 0;
    for (int k = 0; k < FRAMES / 2; k++) {
        und_levelset_step(l, 1.0 / 24);
        for (int y = 0; y < 32; y++)
            for (int x = 0; x < 64; x++) {
                const double p = fabs(und_levelset_viscous_pressure(l)[und_mac_at(&l->mac, x, y, 0)]);
                double *most = und_mask_has(und_levelset_held(l), x, y, 0) ? &held : &free;
                *most = fmax(*most, p);
            }
    }
    if (!(free > 0) || !(held == 0))
        fail_msg("%g m2/s2 where the velocity is given, %g elsewhere", held, free);
    end(r);
}

/* A block comes down flat on a floor 0.75 cells below, without gravity, in so long that it crosses 2.9
 * cells: a blow, which two steps of 1.5 cells are short enough for, and more are too many. */
static void a_blow_shortens_long_steps_alone(void **state)
{
    (void)state;
    static const struct {
        double courant, max_step; /* cells; 3: as it is by default */
        int steps;
        bool sinking; /* a solid moves: at most 1.67 cells */
    } kinds[] = {
        {3, INFINITY, 2, false}, {1.5, INFINITY, 2, false}, {3, 1.5, 2, false}, {3, INFINITY, 2, true}};
    const double dx = 1.0 / 32, speed = 4;
    und_shape block = {.kind = UND_BOX, .center = {0.5, 0.25 + 0.75 * dx, 0}, .half = {0.3, 0.25, 1}};
    und_shape ball = {.kind = UND_SPHERE, .radius = 0.05};
    const und_key keys[2] = {{.time = 0, .position = {0.9, 0.9, 0}}, {.time = 1, .position = {0.9, 0.8, 0}}};
    und_error err = {0};
    und_motion *motion = und_motion_create(keys, 2, UND_EASE_LINEAR, &err);
    assert_non_null(motion);
    und_fill_def fill = {.shape = &block};
    fill.velocity[1].number = -speed;
    const und_obstacle_def solid = {.shape = &ball, .motion = motion};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        und_levelset_def def = und_levelset_def_default();
        def.n[0] = def.n[1] = 32;
        def.n[2] = 1;
        def.dx = dx;
        def.gravity[1] = 0;
        def.courant = kinds[i].courant;
        def.max_step = kinds[i].max_step * dx / speed;
        def.fills = &fill;
        def.fill_count = 1;
        def.obstacles = &solid;
        def.obstacle_count = kinds[i].sinking;
        und_levelset *l = start_levelset(&def);
        und_levelset_step(l, 2.9 * dx / speed);
        assert_int_equal(und_levelset_last(l).substeps, kinds[i].steps);
        und_levelset_destroy(l);
    }
    und_motion_destroy(motion);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_feature_holds_its_water),
                                       cmocka_unit_test(a_blow_shortens_long_steps_alone),
                                       cmocka_unit_test(no_cell_owes_what_has_gone),
                                       cmocka_unit_test(nothing_passes_thin_walls_that_move),
                                       cmocka_unit_test(nothing_is_faster_than_it_can_be),
                                       cmocka_unit_test(a_cup_takes_what_it_has_room_for),
                                       cmocka_unit_test(what_falls_flat_is_not_pressed_together),
                                       cmocka_unit_test(a_coat_goes_along_with_its_core),
                                       cmocka_unit_test(what_control_turns_keeps_its_volume),
                                       cmocka_unit_test(what_converges_is_taken),
                                       cmocka_unit_test(gaps_close_beside_held_cells),
                                       cmocka_unit_test(held_cells_keep_no_pressure)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
