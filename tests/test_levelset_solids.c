/* The level set liquid and its solids: containers hold what is in them, thin walls and fast ones let nothing
 * through; the same bits at any thread count and after a resume while a thin wall moves. */
#include "tests/levelset_model.h"

#include "geom/motion.h"
#include "geom/sequence.h"
#include "geom/shape.h"
#include "liquid/levelset_state.h"

static und_shape *make(const und_shape *like)
{
    und_error err = {0};
    und_shape *shape = und_shape_create(like, &err);
    if (!shape)
        fail_msg("%s", err.text);
    return shape;
}

/* A solid that moves, liquid, and the side of the solid that the liquid is to stay on. */
typedef struct scene {
    und_shape *wall, *fill;
    und_motion *motion;
    und_obstacle_def solid;
    und_fill_def liquid;
    und_levelset_def def;
} scene;

/* n cells a side of 1/n m; key frames over 1 s. */
static void set_scene(scene *s, int n, int threads, const und_key keys[3])
{
    und_error err = {0};
    s->motion = und_motion_create(keys, 3, UND_EASE_SPLINE, &err);
    assert_non_null(s->motion);
    s->solid = (und_obstacle_def){.shape = s->wall, .motion = s->motion};
    s->liquid = (und_fill_def){.shape = s->fill};
    s->def = und_levelset_def_default();
    for (int a = 0; a < 3; a++)
        s->def.n[a] = n;
    s->def.dx = 1.0 / n;
    s->def.threads = threads;
    s->def.obstacles = &s->solid;
    s->def.fills = &s->liquid;
    s->def.obstacle_count = s->def.fill_count = 1;
}

static void clear_scene(scene *s)
{
    und_shape_destroy(s->wall);
    und_shape_destroy(s->fill);
    und_motion_destroy(s->motion);
}

/* In the solid's own coordinates: is a place on the side where liquid is to be? */
typedef bool side_fn(const scene *s, und_vec3 p);

/* Cells of liquid on the wrong side of the solid, out of it. */
static int count_wrong(const scene *s, const und_levelset *levelset, side_fn *right)
{
    const und_pose pose = und_motion_at(s->motion, und_levelset_time(levelset));
    int wrong = 0;
    for (int z = 0; z < s->def.n[2]; z++)
        for (int y = 0; y < s->def.n[1]; y++)
            for (int x = 0; x < s->def.n[0]; x++) {
                und_vec3 p = und_mul(und_vec(x + 0.5, y + 0.5, z + 0.5), s->def.dx);
                und_vec3 own = und_pose_local(&pose, p);
                wrong += und_levelset_distance(levelset, x, y, z) < 0 && !right(s, own) &&
                         und_shape_distance(s->wall, own) > 0;
            }
    return wrong;
}

/* ---- Cups ---- */

#define RADIUS 0.25
#define HALF 0.22
static const und_vec3 middle = {0.5, 0.35, 0.5};

static void make_cup(scene *s, int n, double cells, int threads, const und_key keys[3])
{
    const double wall = cells / n, low = middle.y - HALF + wall / 2, high = middle.y + 0.02;
    und_shape **parts = malloc(2 * sizeof *parts);
    assert_non_null(parts);
    parts[0] = make(&(und_shape){.kind = UND_CYLINDER, .half = {0, HALF, 0}, .radius = RADIUS});
    parts[1] = make(&(und_shape){
        .kind = UND_CYLINDER, .center = {0, wall, 0}, .half = {0, HALF, 0}, .radius = RADIUS - wall});
    s->wall = make(&(und_shape){.kind = UND_DIFFERENCE, .child_count = 2, .children = parts});
    s->fill = make(&(und_shape){.kind = UND_CYLINDER, /* to the middle of the wall */
                                .center = {middle.x, (low + high) / 2, middle.z},
                                .half = {0, (high - low) / 2, 0},
                                .radius = RADIUS - wall / 2});
    set_scene(s, n, threads, keys);
}

static bool in_cup(const scene *s, und_vec3 p)
{
    (void)s;
    return p.x * p.x + p.z * p.z < RADIUS * RADIUS && p.y > -HALF;
}

static void keys_of(und_key keys[3], double turn, double rise)
{
    for (int k = 0; k < 3; k++) {
        keys[k] = (und_key){.time = 0.5 * k, .position = middle};
        keys[k].rotation.z = 0.5 * k * turn;
        keys[k].position.y += 0.5 * k * rise;
    }
}

static void cups_hold_liquid(void **unused)
{
    (void)unused;
    static const struct {
        double cells, turn, rise;
        double drift; /* of the volume */
    } cup[] = {{0.3, 30, 0, 0.03}, {3, 0, 0.2, 0.015},  {0.3, 0, 0, 0.003},
               {1, 0, 0, 0.001},   {3, 0, 0, 0.001},    {1, 30, 0, 0.01},
               {3, 30, 0, 0.015},  {0.3, 0, 0.2, 0.03}, {1, 0, 0.2, 0.005}};
    for (int i = 0; i < test_cases(sizeof cup / sizeof *cup, 2); i++) {
        scene s;
        und_key keys[3];
        keys_of(keys, cup[i].turn, cup[i].rise);
        make_cup(&s, 32, cup[i].cells, 1, keys);
        und_levelset *levelset = start_levelset(&s.def);
        for (int frame = 0; frame < 24; frame++) {
            und_levelset_step(levelset, 1.0 / 24);
            assert_int_equal(count_wrong(&s, levelset, in_cup), 0);
        }
        und_ledger ledger = und_levelset_ledger(levelset);
        assert_double_near(ledger.correction / ledger.start, 0, cup[i].drift);
        assert_double_near(und_levelset_leaked(levelset, 0) / ledger.start, 0, 1e-3);
        und_levelset_destroy(levelset);
        clear_scene(&s);
    }
}

/* A trough of thick walls, filled to their very surface, stands `tilt` degrees aslant under gravity that is
 * aslant as well: nothing moves, so nothing is lost or taken out. */
static void run_trough(double tilt)
{
    enum { N = 40 };
    const double wall = 3.0 / N, half[2] = {0.3, 0.2}, depth = 0.21, turn = tilt * M_PI / 180;
    const und_key key = {.position = {0.513, 0.47, 0.5}, .rotation = {0, 0, tilt}};
    und_error err = {0};
    und_shape **parts = malloc(2 * sizeof *parts);
    assert_non_null(parts);
    parts[0] = make(&(und_shape){.kind = UND_BOX, .half = {half[0] + wall, half[1] + wall, 2}});
    parts[1] =
        make(&(und_shape){.kind = UND_BOX, .center = {0, wall, 0}, .half = {half[0], half[1] + wall, 3}});
    und_shape *trough = make(&(und_shape){.kind = UND_DIFFERENCE, .child_count = 2, .children = parts});
    und_motion *motion = und_motion_create(&key, 1, UND_EASE_LINEAR, &err);
    und_obstacle_def solid = {.shape = trough, .motion = motion};
    und_levelset_def def = und_levelset_def_default();
    def.n[0] = def.n[1] = N;
    def.dx = 1.0 / N;
    def.threads = 1;
    def.gravity[0] = 9.81 * sin(turn);
    def.gravity[1] = -9.81 * cos(turn);
    def.obstacles = &solid;
    def.obstacle_count = 1;
    const und_vec3 side[4] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}};
    und_shape **planes = malloc(4 * sizeof *planes);
    assert_non_null(planes);
    for (int k = 0; k < 4; k++) {
        und_vec3 at = k < 2 ? und_mul(side[k], half[0]) : und_vec(0, k == 2 ? depth - half[1] : -half[1], 0);
        und_pose pose = und_motion_at(motion, 0);
        planes[k] = make(&(und_shape){.kind = UND_PLANE,
                                      .center = und_add(pose.position, und_quat_rotate(pose.rotation, at)),
                                      .half = und_quat_rotate(pose.rotation, side[k])});
    }
    und_shape *fill = make(&(und_shape){.kind = UND_INTERSECTION, .child_count = 4, .children = planes});
    und_fill_def liquid = {.shape = fill};
    def.fills = &liquid;
    def.fill_count = 1;
    und_levelset *levelset = start_levelset(&def);
    for (int frame = 0; frame < 24; frame++)
        und_levelset_step(levelset, 1.0 / 24);
    und_ledger ledger = und_levelset_ledger(levelset);
    assert_double_near(ledger.start / (2 * half[0] * depth * def.dx), 1, 3e-3);
    assert_double_near(ledger.correction / ledger.start, 0, 2e-4);
    assert_double_near(und_levelset_leaked(levelset, 0), 0, 0);
    und_levelset_destroy(levelset);
    und_shape_destroy(trough);
    und_shape_destroy(fill);
    und_motion_destroy(motion);
}

static void a_full_trough_at_rest_loses_nothing(void **unused)
{
    (void)unused;
    run_trough(0);
    run_trough(17);
}

/* ---- Plates ---- */

static bool beside_plate(const scene *s, und_vec3 p)
{
    (void)s;
    return p.x > 0;
}

/* A plate across the tank with liquid on one side. */
static void make_plate(scene *s, int n, double cells, const und_key keys[3], und_vec3 normal)
{
    und_shape **parts = malloc(2 * sizeof *parts);
    assert_non_null(parts);
    s->wall = make(&(und_shape){.kind = UND_BOX, .half = {cells / n / 2, 3, 3}});
    parts[0] = make(&(und_shape){.kind = UND_PLANE, .center = keys[0].position, .half = und_mul(normal, -1)});
    parts[1] = make(&(und_shape){.kind = UND_PLANE, .center = {0, 0.5, 0}, .half = {0, 1, 0}});
    s->fill = make(&(und_shape){.kind = UND_INTERSECTION, .child_count = 2, .children = parts});
    set_scene(s, n, 1, keys);
}

static void run_plate(double cells, double degrees, const double x[3], double drift)
{
    scene s;
    und_key keys[3];
    for (int k = 0; k < 3; k++)
        keys[k] =
            (und_key){.time = 0.5 * k, .position = {x[k], 0.4, 0.5}, .rotation = {0, 0.5 * degrees, degrees}};
    und_error err = {0};
    und_motion *motion = und_motion_create(keys, 3, UND_EASE_SPLINE, &err);
    assert_non_null(motion);
    und_pose pose = und_motion_at(motion, 0);
    make_plate(&s, 24, cells, keys, und_quat_rotate(pose.rotation, und_vec(1, 0, 0)));
    und_motion_destroy(motion);
    und_levelset *levelset = start_levelset(&s.def);
    for (int frame = 0; frame < 24; frame++) {
        und_levelset_step(levelset, 1.0 / 24);
        assert_int_equal(count_wrong(&s, levelset, beside_plate), 0);
    }
    und_ledger ledger = und_levelset_ledger(levelset);
    assert_double_near(und_levelset_leaked(levelset, 0) / ledger.start, 0, 1e-3);
    assert_double_near(ledger.correction / ledger.start, 0, drift);
    und_levelset_destroy(levelset);
    clear_scene(&s);
}

static void thin_walls_divide_a_tank(void **unused)
{
    (void)unused;
    static const double rest[3] = {0.45, 0.45, 0.45};
    static const double plates[][2] = {{0.3, 20}, {1, 0}, {0.3, 0}, {1, 20}};
    for (int i = 0; i < test_cases(4, 2); i++)
        run_plate(plates[i][0], plates[i][1], rest, 1e-3);
}

/* At up to 1 m/s and back: in a step by more than it is thick. */
static void a_fast_plate_pushes_all_liquid(void **unused)
{
    (void)unused;
    static const double way[3] = {0.3, 0.5, 0.3};
    static const double plates[][2] = {{0.5, 10}, {0.3, 0}};
    for (int i = 0; i < test_cases(2, 1); i++)
        run_plate(plates[i][0], plates[i][1], way, 0.03);
}

/* ---- Bits ---- */

static void same_bits_beside_a_thin_wall_that_moves(void **unused)
{
    (void)unused;
    static const int threads[] = {1, 2, 5};
    uint64_t hash[3];
    und_key keys[3];
    keys_of(keys, 30, 0.1);
    for (int i = 0; i < 3; i++) {
        scene s;
        und_error err = {0};
        make_cup(&s, 33, 0.3, threads[i], keys);
        und_levelset *first = start_levelset(&s.def), *second = start_levelset(&s.def);
        und_liquid *from = und_levelset_liquid(first), *to = und_levelset_liquid(second);
        const double dt = 1.0 / 6;
        assert_false(from->class->step(from, dt));
        und_frame saved = und_frame_empty(0, 0, (und_grid){.n = {1, 1, 1}, .dx = 1});
        assert_int_equal(from->class->save(from, &saved, &err), UND_OK);
        assert_int_equal(to->class->restore(to, &saved, &err), UND_OK);
        while (!from->class->step(from, dt))
            ;
        while (!to->class->step(to, dt))
            ;
        hash[i] = hash_of_levelset(first);
        assert_int_equal(hash[i], hash_of_levelset(second));
        assert_int_equal(hash[i], hash[0]);
        und_frame_clear(&saved);
        und_levelset_destroy(first);
        und_levelset_destroy(second);
        clear_scene(&s);
    }
}

/* ---- A solid that deforms ---- */

/* A box, as triangles, from one corner to the other. */
static void add_box(und_sequence *sequence, und_vec3 low, und_vec3 high, double time)
{
    static const int triangle[12][3] = {{0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}, {0, 1, 5}, {0, 5, 4},
                                        {2, 6, 7}, {2, 7, 3}, {0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}};
    und_error err = {0};
    und_vec3 vertex[8];
    for (int i = 0; i < 8; i++)
        vertex[i] = und_vec(i & 1 ? high.x : low.x, i & 2 ? high.y : low.y, i & 4 ? high.z : low.z);
    const und_trimesh_def mesh = {
        .vertex_count = 8, .triangle_count = 12, .vertex = vertex, .triangle = triangle};
    assert_int_equal(und_sequence_add(sequence, &mesh, time, &err), UND_OK);
}

/* A plate over all of the domain; its underside goes up by `rise` until `time`, ever faster. */
static und_sequence *plate(double low, double rise, double time)
{
    und_error err = {0};
    und_sequence *sequence = und_sequence_create(0, &err);
    assert_non_null(sequence);
    for (int frame = 0; frame <= 8; frame++) {
        const double part = frame / 8.0, y = low + part * part * rise;
        add_box(sequence, und_vec(-0.3, y, -0.3), und_vec(1.3, 1.2, 1.3), part * time);
    }
    return sequence;
}

/* How far the liquid's middle has gone down when the plate above it has drawn back. */
static double fallen(bool separate, int threads, uint64_t *hash)
{
    enum { N = 24 };
    const double low = 0.75, time = 0.1;
    scene s = {.fill = make(&(und_shape){
                   .kind = UND_BOX, .center = {0.5, low - 0.12, 0.5}, .half = {0.25, 0.12, 0.25}})};
    const und_key rest[3] = {{.time = 0}, {.time = 0.5}, {.time = 1}};
    set_scene(&s, N, threads, rest);
    und_sequence *sequence = plate(low, 0.15, time);
    s.solid = (und_obstacle_def){.sequence = sequence,
                                 .separate = separate ? UND_SEPARATE_ALWAYS : UND_SEPARATE_NEVER};
    und_levelset *levelset = start_levelset(&s.def);
    double height[2] = {0};
    for (int end = 0; end < 2; end++) {
        double all = 0;
        for (int y = 0; y < N; y++)
            for (int x = 0; x < N; x++) {
                double in = fmin(fmax(0.5 - N * und_levelset_distance(levelset, x, y, N / 2), 0), 1);
                in = (y + 0.5) / N < low + end * 0.15 ? in : 0;
                all += in;
                height[end] += in * (y + 0.5) / N;
            }
        height[end] /= all;
        for (int i = 0; i < 4 && end == 0; i++)
            und_levelset_step(levelset, time / 4);
    }
    *hash = hash_of_levelset(levelset);
    assert_true(und_levelset_leaked(levelset, 0) < 1e-3 * und_levelset_ledger(levelset).start);
    und_levelset_destroy(levelset);
    und_sequence_destroy(sequence);
    clear_scene(&s);
    return height[0] - height[1];
}

/* Rasmussen et al. 2004, 5.5: what a deforming solid leaves falls freely where that cannot pull, and is drawn
 * after it where it can. */
static void a_deforming_solid_lets_go(void **unused)
{
    (void)unused;
    uint64_t hash[3];
    assert_double_near(fallen(true, 1, &hash[0]), 0.5 * 9.81 * 0.1 * 0.1, 0.3 / 24);
    assert_true(fallen(false, 1, &hash[2]) < 0);
    fallen(true, 7, &hash[1]);
    assert_true(hash[0] == hash[1]);
}

/* A block at the bottom of a pool swells to twice its size, and shrinks again: nothing of the liquid vanishes
 * or is in it, and what is seen of it is what there is. */
static uint64_t swell(int threads)
{
    enum { N = 20 };
    scene s = {.fill =
                   make(&(und_shape){.kind = UND_BOX, .center = {0.5, 0.2, 0.5}, .half = {0.6, 0.2, 0.6}})};
    const und_key rest[3] = {{.time = 0}, {.time = 0.5}, {.time = 1}};
    und_error err = {0};
    und_sequence *sequence = und_sequence_create(0, &err);
    assert_non_null(sequence);
    for (int frame = 0; frame <= 8; frame++) {
        const double half = 0.13 + 0.13 * (1 - fabs(frame / 4.0 - 1));
        add_box(sequence, und_vec(0.5 - half, -0.1, 0.5 - half), und_vec(0.5 + half, half, 0.5 + half),
                frame * 0.07);
    }
    set_scene(&s, N, threads, rest);
    s.solid = (und_obstacle_def){.sequence = sequence};
    und_levelset *levelset = start_levelset(&s.def);
    for (int step = 0; step < 14; step++) {
        double inside = 0;
        und_levelset_step(levelset, 0.04);
        for (int row = 0; row < und_mac_rows(&levelset->mac); row++)
            for (size_t at = und_mac_row(&levelset->mac, row), end = at + N; at < end; at++)
                inside += levelset->solids.room[at] == 0 ? abs(und_levelset_volume_cells(levelset)[at]) : 0;
        const und_ledger l = und_levelset_ledger(levelset);
        assert_true(inside == 0);
        assert_double_near(l.correction / l.start, 0, 1e-12);
        assert_true(l.left == 0);
        assert_double_near(und_levelset_shown(levelset) / l.measured, 1, 0.02);
    }
    const uint64_t hash = hash_of_levelset(levelset);
    und_levelset_destroy(levelset);
    und_sequence_destroy(sequence);
    clear_scene(&s);
    return hash;
}

static void a_deforming_solid_keeps_the_liquid(void **unused)
{
    (void)unused;
    assert_true(swell(1) == swell(3));
}

/* A sheet four cells thick runs off a shelf: how much of it there is after 0.5 s, of what came. */
static double off_a_shelf(double shift, int threads, uint64_t *hash)
{
    enum { N = 48 };
    const double dx = 1.0 / N, speed = 2, top = 0.75 + shift * dx, edge = 0.3 + 0.4 * dx, thick = 4 * dx;
    const und_shape shelf = {.kind = UND_BOX, .center = {0, top - 0.1, 0}, .half = {edge, 0.1, 2}};
    const und_shape inlet = {
        .kind = UND_BOX, .center = {0, top + 0.5 * thick - dx, 0}, .half = {0.1, 0.5 * thick + dx, 2}};
    const und_obstacle_def solid = {.shape = &shelf, .separate = UND_SEPARATE_ALWAYS};
    const und_element_def source = {
        .role = UND_ELEMENT_SOURCE, .shape = &inlet, .field.value = {{.number = speed}}, .end = 9};
    und_levelset_def def = und_levelset_def_default();
    def.n[0] = 2 * N;
    def.n[1] = N;
    def.n[2] = 1;
    def.dx = dx;
    def.threads = threads;
    def.open[2] = true;
    def.obstacles = &solid;
    def.elements = &source;
    def.obstacle_count = def.element_count = 1;
    und_levelset *levelset = start_levelset(&def);
    for (int i = 0; i < 50; i++)
        und_levelset_step(levelset, 0.01);
    *hash = hash_of_levelset(levelset);
    const und_ledger ledger = und_levelset_ledger(levelset);
    und_levelset_destroy(levelset);
    return 1 + ledger.correction / (ledger.start + ledger.sources);
}

/* Wherever in a cell the edge is; what is in the solid below it does not come along. */
static void a_sheet_runs_off_an_edge(void **unused)
{
    enum { PLACES = 3 };
    (void)unused;
    double mean = 0;
    for (int i = 0; i < PLACES; i++) {
        uint64_t hash[2];
        const double volume = off_a_shelf(0.1 + 0.3 * i, 1, &hash[0]);
        assert_true(fabs(volume - 1) < 0.14);
        mean += volume / PLACES;
        off_a_shelf(0.1 + 0.3 * i, 3, &hash[1]);
        assert_true(hash[0] == hash[1]);
    }
    assert_true(fabs(mean - 1) < 0.08);
}

static und_shape *flat_box(double x0, double y0, double x1, double y1)
{
    return make(&(und_shape){.kind = UND_BOX,
                             .center = {(x0 + x1) / 2, (y0 + y1) / 2, 0},
                             .half = {(x1 - x0) / 2, (y1 - y0) / 2, 1}});
}

/* A whirl about a box fills a closed tank: the least of what phi is in the liquid after 0.4 s, and how much
 * is shown. */
static double full_tank(und_separate separate, double *shown)
{
    enum { N = 24 };
    und_shape *fill = flat_box(-1, -1, 2, 2), *wall = flat_box(0.35, 0.4, 0.6, 0.55);
    const und_obstacle_def solid = {.shape = wall, .separate = separate};
    const und_fill_def liquid = {.shape = fill, .velocity = {{.number = 9}, {.number = -6}}};
    und_levelset_def def = und_levelset_def_default();
    def.n[0] = def.n[1] = N;
    def.n[2] = 1;
    def.dx = 1.0 / N;
    def.threads = 1;
    def.obstacles = &solid;
    def.fills = &liquid;
    def.obstacle_count = def.fill_count = 1;
    und_levelset *levelset = start_levelset(&def);
    double most = -INFINITY;
    for (int i = 0; i < 40; i++)
        und_levelset_step(levelset, 0.01);
    for (int y = 0; y < N; y++)
        for (int x = 0; x < N; x++)
            if (und_shape_distance(wall, und_vec((x + 0.5) / N, (y + 0.5) / N, 0)) > 0)
                most = fmax(most, und_levelset_distance(levelset, x, y, 0));
    *shown = und_levelset_shown(levelset) / und_levelset_ledger(levelset).start;
    und_levelset_destroy(levelset);
    und_shape_destroy(fill);
    und_shape_destroy(wall);
    return most;
}

/* Some of its pressure is always below the mean: without air beside it nothing comes off. */
static void liquid_without_air_comes_off_nothing(void **unused)
{
    double shown;
    (void)unused;
    assert_true(full_tank(UND_SEPARATE_AT_AIR, &shown) < 0);
    assert_true(fabs(shown - 1) < 1e-6);
}

/* A solid comes down with `speed` on what is below 0.5 m between two others, which are `half` of it away from
 * the middle, and stops at 0.3 m. */
static und_status come_down(int n, und_shape *shape, double half, double speed, double *fastest,
                            double *fullest, und_error *err)
{
    const und_key keys[2] = {{.position = {0.5, 0.8, 0}}, {.time = 0.5 / speed, .position = {0.5, 0.3, 0}}};
    und_motion *motion = und_motion_create(keys, 2, UND_EASE_LINEAR, err);
    assert_non_null(motion);
    und_shape *shapes[4] = {shape, flat_box(-1, -1, 0.5 - half, 2), flat_box(0.5 + half, -1, 2, 2),
                            flat_box(-1, -1, 2, 0.5)};
    const und_obstacle_def solids[3] = {
        {.name = "ball", .shape = shape, .motion = motion}, {.shape = shapes[1]}, {.shape = shapes[2]}};
    const und_fill_def fill = {.shape = shapes[3]};
    und_levelset_def def = und_levelset_def_default();
    def.n[0] = def.n[1] = n;
    def.n[2] = 1;
    def.dx = 1.0 / n;
    def.threads = 1;
    def.obstacles = solids;
    def.obstacle_count = 3;
    def.fills = &fill;
    def.fill_count = 1;
    und_levelset *s = start_levelset(&def);
    und_liquid *liquid = und_levelset_liquid(s);
    und_status status = UND_OK;
    *fastest = 0;
    for (int frame = 1; frame <= (int)(24 * 0.8 / speed) && status == UND_OK; frame++) {
        und_levelset_step(s, 1.0 / 24);
        *fastest = fmax(*fastest, s->fastest);
        status = liquid->class->trouble(liquid, err);
    }
    *fullest = und_volume_fullest(und_levelset_volumes(s));
    und_levelset_destroy(s);
    for (int i = 0; i < 4; i++)
        und_shape_destroy(shapes[i]);
    und_motion_destroy(motion);
    return status;
}

/* Through the gap on both sides of it what it presses gets out, as fast as that asks for, and none of it is
 * left pressed together: also where the ball and a wall are both in a cell, whose corners know but the
 * nearer. */
static void a_ball_in_a_pipe(void **unused)
{
    static const struct {
        int n;
        double gap, half, speed; /* cells, m, m/s */
    } pipes[] = {{48, 0.9, 0.2437, 0.5}, {32, 0.3, 0.25, 0.5}, {32, 0.3, 0.25, 2},
                 {48, 0.6, 0.2587, 0.5}, {48, 0.3, 0.25, 0.5}, {48, 0.3, 0.25, 2}};
    (void)unused;
    for (int k = 0; k < test_cases(6, 3); k++) {
        const int n = pipes[k].n;
        const double gap = pipes[k].gap / n, radius = pipes[k].half - gap,
                     due = pipes[k].speed * radius / gap;
        und_error err = {0};
        double fastest, fullest;
        const und_shape ball = {.kind = UND_SPHERE, .radius = radius};
        assert_int_equal(come_down(n, make(&ball), pipes[k].half, pipes[k].speed, &fastest, &fullest, &err),
                         UND_OK);
        if (!(fastest > 0.8 * due && fastest < 2 * due) || !(fullest < 2.5))
            fail_msg("%d cells: %g m/s for %g, %g in a cell", n, fastest, due, fullest);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(cups_hold_liquid),
                                       cmocka_unit_test(a_full_trough_at_rest_loses_nothing),
                                       cmocka_unit_test(thin_walls_divide_a_tank),
                                       cmocka_unit_test(a_fast_plate_pushes_all_liquid),
                                       cmocka_unit_test(same_bits_beside_a_thin_wall_that_moves),
                                       cmocka_unit_test(a_deforming_solid_lets_go),
                                       cmocka_unit_test(a_deforming_solid_keeps_the_liquid),
                                       cmocka_unit_test(liquid_without_air_comes_off_nothing),
                                       cmocka_unit_test(a_sheet_runs_off_an_edge),
                                       cmocka_unit_test(a_ball_in_a_pipe)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
