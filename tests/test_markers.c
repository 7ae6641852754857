/* Marker particles. */
#include "tests/tank.h"

#include "base/random.h"
#include "surface/markers.h"

static const double CUBE[3] = {0.1, 0.1, 0.1}, ZERO[3] = {0, 0, 0};
static const double PI = 3.14159265358979323846;

typedef struct ball {
    double center[3], radius;
} ball;

static bool in_ball(void *context, double x, double y, double z)
{
    const ball *b = context;
    double dx = x - b->center[0], dy = y - b->center[1], dz = z - b->center[2];
    return dx * dx + dy * dy + dz * dz < b->radius * b->radius;
}

static bool everywhere(void *context, double x, double y, double z)
{
    (void)context, (void)x, (void)y, (void)z;
    return true;
}

static bool nowhere(void *context, double x, double y, double z)
{
    (void)context, (void)x, (void)y, (void)z;
    return false;
}

static und_markers *open_markers(const tank *t, int threads)
{
    und_error err;
    und_markers *s = und_markers_create(&t->mac, 11, threads, &err);
    assert_non_null(s);
    return s;
}

static void fill(und_markers *s, const tank *t, und_inside_fn *inside, void *context, int per_cell)
{
    und_error err;
    assert_int_equal(und_markers_fill(s, inside, context, t->label, per_cell, &err), UND_OK);
}

static void move(und_markers *s, const tank *t, double dt)
{
    und_markers_move(s, t->u, t->label, t->wall, t->walls, dt);
}

static long birth(und_markers *s, const tank *t, int per_cell, double dt)
{
    long missed = 0;
    und_markers_birth(s, t->u, t->label, t->wall, t->walls, TANK_WALLS, per_cell, dt, &missed);
    return missed;
}

static bool same_bits(const und_markers *a, const und_markers *b)
{
    bool same = a->count == b->count && a->born == b->born;
    for (int k = 0; k < 3 && same; k++)
        same = memcmp(a->place[k], b->place[k], (size_t)a->count * sizeof(double)) == 0;
    same = same && memcmp(a->share, b->share, (size_t)a->count * sizeof(double)) == 0;
    return same;
}

static void a_fill_has_so_many_to_a_cell(void **state)
{
    (void)state;
    static const struct {
        int n[3], asked, per_cell;
    } cases[] = {{{6, 5, 4}, 27, 27}, {{6, 5, 4}, 8, 8}, {{6, 5, 4}, 16, 18}, {{6, 5, 4}, 1, 1},
                 {{6, 5, 1}, 25, 25}, {{6, 5, 1}, 4, 4}, {{6, 5, 1}, 1, 1}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const double d[3] = {0.1, 0.2, 0.3}, origin[3] = {-1, 5, 2};
        tank t = tank_open(cases[k].n[0], cases[k].n[1], cases[k].n[2], d, origin);
        und_markers *s = open_markers(&t, 2);
        t.label[und_mac_at(&t.mac, 2, 2, 0)] = UND_CELL_SOLID;
        fill(s, &t, everywhere, NULL, cases[k].asked);
        und_markers_label(s, t.label);
        for (int row = 0; row < und_mac_rows(&t.mac); row++)
            for (int x = 0; x < t.mac.n[0]; x++) {
                size_t i = und_mac_row(&t.mac, row) + (size_t)x;
                bool solid = row == 2 && x == 2;
                assert_int_equal(s->per_cell[i], solid ? 0 : cases[k].per_cell);
                assert_int_equal(t.label[i], solid ? UND_CELL_SOLID : UND_CELL_FULL);
            }
        und_markers_destroy(s);
        tank_close(&t);
    }
}

static void uniform(void *context, const double place[3], double out[3])
{
    (void)place;
    memcpy(out, context, 3 * sizeof *out);
}

static double filled(und_markers *s, const tank *t, int per_cell)
{
    double sum = 0;
    und_markers_wet(s, t->label, per_cell);
    for (size_t i = 0; i < t->mac.count; i++)
        sum += fmin(und_markers_density(s, i), 1);
    return sum;
}

/* What markers of boxes that the surface cuts stand for is within 1/128 of each. */
static void a_ball_has_its_volume(void **state)
{
    (void)state;
    tank t = tank_open(24, 24, 24, CUBE, ZERO);
    und_markers *s = open_markers(&t, 2);
    ball b = {{1.21, 1.2, 1.23}, 0.83};
    fill(s, &t, in_ball, &b, 27);
    und_markers_label(s, t.label);
    double exact = 4 * PI / 3 * pow(0.83, 3);
    double sum = 0;
    for (int i = 0; i < s->count; i++)
        sum += s->share[i] * 1e-3;
    assert_double_near(sum, exact, 2e-4 * exact);
    assert_double_near(filled(s, &t, 27) * 1e-3, exact, 2e-3 * exact);
    und_markers_destroy(s);
    tank_close(&t);
}

static bool below(void *context, double x, double y, double z)
{
    (void)x, (void)z;
    return y < *(const double *)context;
}

/* A level is known wherever it lies in its cell, and when all markers have moved on by parts of a cell. */
static void a_level_is_known_within_its_cell(void **state)
{
    (void)state;
    const double d[3] = {0.25, 0.5, 0.25};
    for (int nz = 1; nz <= 4; nz += 3)
        for (int k = 0; k < 40; k++) {
            tank t = tank_open(4, 6, nz, d, ZERO);
            und_markers *s = open_markers(&t, 1);
            double v[3] = {0, 0.5, 0}, level = 0.5 * (2.25 + k / 80.0);
            int per_cell = nz == 1 ? 25 : 27;
            fill(s, &t, below, &level, per_cell);
            for (int moved = 0; moved < 2; moved++) {
                und_markers_wet(s, t.label, per_cell);
                double part = 0, height = level / 0.5 - 2 + 0.45 * moved;
                for (int y = 2; y < 6; y++)
                    part += und_markers_density(s, und_mac_at(&t.mac, 1, y, nz / 2));
                assert_double_near(part, height, 0.03);
                tank_set(&t, uniform, v);
                move(s, &t, 0.45);
            }
            und_markers_destroy(s);
            tank_close(&t);
        }
}

static void translation_is_exact(void **state)
{
    (void)state;
    const double d[3] = {0.125, 0.25, 0.5};
    double v[3] = {0.73, -0.51, 0.23}; /* no marker comes to lie on a face */
    for (int nz = 1; nz <= 16; nz += 15) {
        tank t = tank_open(32, 16, nz, d, ZERO);
        und_markers *s = open_markers(&t, 2);
        ball b = {{1, 2.5, nz == 1 ? 0.25 : 2}, 0.6};
        tank_set(&t, uniform, v);
        fill(s, &t, in_ball, &b, 8);
        int count = s->count;
        double middle[3] = {0}, after[3] = {0};
        for (int i = 0; i < count; i++)
            for (int a = 0; a < 3; a++)
                middle[a] += s->place[a][i] / count;
        for (int step = 0; step < 32; step++)
            move(s, &t, 0.0625);
        assert_int_equal(s->count, count);
        for (int i = 0; i < count; i++)
            for (int a = 0; a < 3; a++)
                after[a] += s->place[a][i] / count;
        for (int a = 0; a < 3; a++)
            assert_double_near(after[a] - middle[a], a == 2 && nz == 1 ? 0 : 2 * v[a], 1e-13);
        und_markers_destroy(s);
        tank_close(&t);
    }
}

/* A turn per second around the middle of the tank; linear, so that sampling adds no error. */
static void turning(void *context, const double place[3], double out[3])
{
    const double *center = context;
    out[0] = -2 * PI * (place[1] - center[1]);
    out[1] = 2 * PI * (place[0] - center[0]);
    out[2] = 0;
}

/* The largest way that a marker is off after a turn in so many steps.  One marker at a time: sorting gives
 * others other places in the arrays. */
static double turn_error(int steps, int nz)
{
    double worst = 0, center[3] = {1, 1, 0.1};
    tank t = tank_open(20, 20, nz, CUBE, ZERO);
    tank_set(&t, turning, center);
    for (int k = 0; k < 8; k++) {
        und_markers *s = open_markers(&t, 1);
        ball b = {{1.05 + 0.1 * k, 1.05, nz == 1 ? 0.05 : 0.15}, 0.044};
        fill(s, &t, in_ball, &b, 1);
        assert_int_equal(s->count, 1);
        double start[3] = {s->place[0][0], s->place[1][0], s->place[2][0]};
        for (int i = 0; i < steps; i++)
            move(s, &t, 1.0 / steps);
        assert_int_equal(s->count, 1);
        assert_true(s->place[2][0] == start[2]);
        worst = fmax(worst, hypot(s->place[0][0] - start[0], s->place[1][0] - start[1]));
        und_markers_destroy(s);
    }
    tank_close(&t);
    return worst;
}

static void a_turn_converges_with_the_second_order(void **state)
{
    (void)state;
    for (int nz = 1; nz <= 3; nz += 2) {
        double coarse = turn_error(100, nz), fine = turn_error(200, nz), finest = turn_error(400, nz);
        assert_true(finest > 0 && finest < 2e-4);
        assert_double_near(log2(coarse / fine), 2, 0.1);
        assert_double_near(log2(fine / finest), 2, 0.05);
    }
}

static int cell_of(const und_mac *m, int axis, double place)
{
    return (int)floor((place - m->origin[axis]) / m->d[axis]);
}

static void check_places(const und_markers *s, const tank *t)
{
    for (int i = 0; i < s->count; i++) {
        int c[3];
        for (int a = 0; a < 3; a++) {
            c[a] = cell_of(&t->mac, a, s->place[a][i]);
            assert_in_range(c[a], 0, t->mac.n[a] - 1);
        }
        assert_int_not_equal(t->label[und_mac_at(&t->mac, c[0], c[1], c[2])], UND_CELL_SOLID);
    }
}

/* Velocities that no flow has: other on each face, some through walls, some infinite or not numbers. */
static void churn(tank *t, uint64_t seed, bool mad)
{
    for (int a = 0; a < 3; a++)
        for (size_t i = 0; i < t->mac.count; i++) {
            double r = und_random(seed, (uint64_t)a, i);
            t->u[a][i] = 6 * r - 3;
            if (mad && r < 0.02)
                t->u[a][i] = r < 0.01 ? NAN : r < 0.015 ? INFINITY : -1e300;
        }
}

static void put_obstacles(tank *t, double share)
{
    for (int row = 0; row < und_mac_rows(&t->mac); row++)
        for (int x = 0; x < t->mac.n[0]; x++) {
            size_t i = und_mac_row(&t->mac, row) + (size_t)x;
            if (und_random(5, 5, i) < share) {
                t->label[i] = UND_CELL_SOLID;
                t->wall[i] = 6;
            }
        }
}

static void none_come_into_solids(void **state)
{
    (void)state;
    const double d[3] = {0.1, 0.07, 0.13}, origin[3] = {-3.3, 17.1, 1000};
    for (int k = 0; k < 4; k++) {
        tank t = tank_open(15, 12, k % 2 ? 1 : 9, d, origin);
        put_obstacles(&t, 0.25);
        und_markers *s = open_markers(&t, 2);
        fill(s, &t, everywhere, NULL, 8);
        int count = s->count;
        for (int step = 0; step < 60; step++) {
            churn(&t, (uint64_t)step, k >= 2);
            move(s, &t, step % 10 ? 0.02 : 0.3);
            assert_int_equal(s->count, count);
            check_places(s, &t);
        }
        und_markers_destroy(s);
        tank_close(&t);
    }
}

/* Against a wall it stops, along it it goes on. */
static void at_a_wall_they_slide(void **state)
{
    (void)state;
    double v[3] = {1, 0.25, 0.125};
    tank t = tank_open(8, 8, 8, CUBE, ZERO);
    und_markers *s = open_markers(&t, 1);
    ball b = {{0.45, 0.25, 0.25}, 0.044};
    tank_set(&t, uniform, v);
    fill(s, &t, in_ball, &b, 1);
    assert_int_equal(s->count, 1);
    double start[3] = {s->place[0][0], s->place[1][0], s->place[2][0]};
    for (int i = 0; i < 10; i++)
        move(s, &t, 0.08);
    assert_int_equal(s->count, 1);
    assert_double_near(s->place[0][0], 0.8, 1e-9);
    assert_double_near(s->place[1][0], start[1] + 0.2, 1e-12);
    assert_double_near(s->place[2][0], start[2] + 0.1, 1e-12);
    und_markers_destroy(s);
    tank_close(&t);
}

static void outflow_takes_them_out(void **state)
{
    (void)state;
    for (int nz = 1; nz <= 6; nz += 5) {
        double v[3] = {1, 0, 0};
        tank t = tank_open(20, 6, nz, CUBE, ZERO);
        und_markers *s = open_markers(&t, 2);
        t.walls[1].kind = UND_WALL_OUTFLOW;
        tank_set(&t, uniform, v);
        fill(s, &t, everywhere, NULL, 8);
        double *before = malloc((size_t)s->count * sizeof *before);
        assert_non_null(before);
        memcpy(before, s->place[0], (size_t)s->count * sizeof *before);
        const double way = 0.0501; /* none comes to lie on the side */
        int start = s->count;
        for (int step = 1; step <= 20; step++) {
            int stay = 0;
            move(s, &t, way);
            for (int i = 0; i < start; i++)
                stay += before[i] + way * step < 2;
            assert_int_equal(s->count, stay);
            check_places(s, &t);
        }
        assert_double_near(s->count, start / 2, start / 100.0);
        free(before);
        und_markers_destroy(s);
        tank_close(&t);
    }
}

/* Back through an inflow whose velocity turned, and where something solid came. */
static void what_flows_back_or_is_run_over_goes(void **state)
{
    (void)state;
    double v[3] = {-1, 0, 0};
    tank t = tank_open(10, 4, 4, CUBE, ZERO);
    und_markers *s = open_markers(&t, 2);
    t.walls[0].kind = UND_WALL_INFLOW;
    tank_set(&t, uniform, v);
    fill(s, &t, everywhere, NULL, 8);
    int start = s->count;
    for (int step = 0; step < 5; step++)
        move(s, &t, 0.04);
    assert_int_equal(s->count, start - start / 5);
    v[0] = 0;
    tank_set(&t, uniform, v);
    und_markers_label(s, t.label);
    int inside = s->per_cell[und_mac_at(&t.mac, 3, 1, 2)];
    assert_true(inside > 0);
    t.label[und_mac_at(&t.mac, 3, 1, 2)] = UND_CELL_SOLID;
    move(s, &t, 0.04);
    assert_int_equal(s->count, start - start / 5 - inside);
    und_markers_destroy(s);
    tank_close(&t);
}

static void reserve(und_markers *s, int capacity)
{
    und_error err;
    assert_int_equal(und_markers_reserve(s, capacity, &err), UND_OK);
}

/* 500 a second, in steps whose length has nothing to do with it. */
static void births_keep_their_rate(void **state)
{
    (void)state;
    double v[3] = {0.8, 0, 0}, time = 0;
    tank t = tank_open(10, 12, 1, CUBE, ZERO);
    und_markers *s = open_markers(&t, 1);
    t.walls[6] = (und_wall_def){.kind = UND_WALL_INFLOW, .markers = 500};
    for (int y = 4; y < 8; y++)
        t.wall[und_mac_at(&t.mac, -1, y, 0)] = 6;
    t.label[und_mac_at(&t.mac, 0, 7, 0)] = UND_CELL_SOLID; /* nothing comes through that one */
    tank_set(&t, uniform, v);
    reserve(s, 100000);
    for (int step = 0; step < 10000; step++) {
        double dt = 0.001 * (0.5 + und_random(1, 1, (uint64_t)step));
        int before = s->count;
        time += dt;
        assert_int_equal(birth(s, &t, 25, dt), 0);
        for (int i = before; i < s->count; i++) {
            assert_true(s->place[0][i] > 0 && s->place[0][i] < 0.8 * dt);
            assert_true(s->place[1][i] > 0.4 && s->place[1][i] < 0.7);
            assert_double_near(s->place[2][i], 0.05, 0);
        }
    }
    assert_double_near(s->born, 500 * time, 1);
    assert_int_equal(s->count, s->born);
    int third = 0; /* each face its share */
    for (int i = 0; i < s->count; i++)
        third += s->place[1][i] < 0.5;
    assert_double_near(third, s->count / 3.0, 4 * sqrt(s->count * 2 / 9.0));
    und_markers_destroy(s);
    tank_close(&t);
}

static void shear(void *context, const double place[3], double out[3])
{
    (void)context;
    out[0] = place[1];
    out[1] = out[2] = 0;
}

/* Without a rate of its own, an inflow leaves as many in each cell as the fill does. */
static void births_keep_the_density(void **state)
{
    (void)state;
    tank t = tank_open(8, 10, 10, CUBE, ZERO);
    und_markers *s = open_markers(&t, 2);
    t.walls[0].kind = UND_WALL_INFLOW;
    tank_set(&t, shear, NULL);
    for (int step = 0; step < 100; step++) { /* 0.5 s: the liquid came in up to 0.5 y */
        int expected = und_markers_expected(s, t.u, t.label, t.wall, t.walls, TANK_WALLS, 27, 0.005);
        reserve(s, expected);
        move(s, &t, 0.005);
        assert_int_equal(birth(s, &t, 27, 0.005), 0);
        assert_true(s->count <= expected);
    }
    double half[2] = {0};
    for (int i = 0; i < s->count; i++) {
        /* born up to half a cell beside the middle of their face */
        assert_true(s->place[0][i] <= 0.5 * s->place[1][i] + 0.005 * 0.05 + 1e-9);
        half[s->place[1][i] > 0.5]++;
    }
    assert_double_near(s->count, 27 * 0.5 * 0.5 * 1 / 1e-3, 1); /* 27 to a cell of 0.5 s times 0.5 m2/s */
    assert_double_near(half[1] / half[0], 3, 0.1);
    /* in each of the lowest cells beside the inflow that are full, about 27 */
    und_markers_label(s, t.label);
    double sum = 0, cells = 0;
    for (int z = 0; z < 10; z++)
        for (int y = 5; y < 10; y++, cells++)
            sum += s->per_cell[und_mac_at(&t.mac, 0, y, z)];
    assert_double_near(sum / cells, 27, 4 * sqrt(27 / cells));
    und_markers_destroy(s);
    tank_close(&t);
}

static void births_without_room_are_counted(void **state)
{
    (void)state;
    double v[3] = {1, 0, 0};
    tank t = tank_open(8, 10, 1, CUBE, ZERO);
    und_markers *s = open_markers(&t, 2);
    t.walls[0] = (und_wall_def){.kind = UND_WALL_INFLOW, .markers = 1000};
    tank_set(&t, uniform, v);
    reserve(s, 60);
    int room = s->capacity;
    long missed = birth(s, &t, 25, 0.2);
    assert_int_equal(s->count, room);
    assert_int_equal(s->count + missed, 200);
    und_markers_destroy(s);
    tank_close(&t);
}

/* A cell and those at its sides. */
static bool in_cross(void *context, double x, double y, double z)
{
    const double *middle = context, way[3] = {x - middle[0], y - middle[1], z - middle[2]};
    int beside = 0;
    for (int a = 0; a < 3; a++)
        beside += fabs(way[a]) > 0.05 - 1e-9 ? fabs(way[a]) < 0.15 ? 1 : 2 : 0;
    return beside < 2;
}

/* A cell that markers left empty between them is liquid; one that they left open is not. */
static void holes_are_liquid(void **state)
{
    (void)state;
    for (int nz = 1; nz <= 5; nz += 4) {
        tank t = tank_open(7, 7, nz, CUBE, ZERO);
        und_markers *s = open_markers(&t, 1);
        int z = nz / 2;
        double middle[3] = {0.35, 0.35, nz == 1 ? 0.05 : 0.25};
        fill(s, &t, in_cross, middle, 1);
        und_markers_label(s, t.label);
        size_t center = und_mac_at(&t.mac, 3, 3, z);
        assert_int_equal(s->per_cell[center], 1);
        assert_int_equal(s->per_cell[center + 1], 1);
        assert_int_equal(t.label[center], UND_CELL_FULL);
        /* the same without the middle one */
        int kept = 0;
        for (int i = 0; i < s->count; i++) {
            double far = hypot(s->place[0][i] - 0.35, s->place[1][i] - 0.35);
            if (hypot(far, s->place[2][i] - (nz == 1 ? 0.05 : 0.25)) > 0.045) {
                for (int a = 0; a < 3; a++)
                    s->place[a][kept] = s->place[a][i];
                s->share[kept++] = s->share[i];
            }
        }
        assert_int_equal(kept, s->count - 1);
        s->count = kept;
        und_markers_label(s, t.label);
        assert_int_equal(s->per_cell[center], 0);
        assert_int_equal(t.label[center], UND_CELL_FULL);
        t.label[center + 1] = UND_CELL_SOLID; /* a wall on one side closes it too */
        und_markers_label(s, t.label);
        assert_int_equal(t.label[center], UND_CELL_FULL);
        t.label[center + 1] = UND_CELL_EMPTY;
        for (int i = 0; i < s->count; i++) /* the one on the right goes to the left */
            if (s->place[0][i] > 0.4)
                s->place[0][i] -= 0.2;
        und_markers_label(s, t.label);
        assert_int_equal(t.label[center], UND_CELL_EMPTY);
        assert_int_equal(t.label[center + 1], UND_CELL_EMPTY);
        und_markers_destroy(s);
        tank_close(&t);
    }
}

/* In, around obstacles, out. */
static void run(und_markers *s, tank *t, int first, int steps)
{
    for (int step = first; step < first + steps; step++) {
        churn(t, (uint64_t)step, false);
        reserve(s, und_markers_expected(s, t->u, t->label, t->wall, t->walls, TANK_WALLS, 8, 0.02));
        move(s, t, 0.02);
        assert_int_equal(birth(s, t, 8, 0.02), 0);
        und_markers_label(s, t->label);
    }
}

static tank busy_tank(void)
{
    tank t = tank_open(20, 14, 12, CUBE, ZERO);
    put_obstacles(&t, 0.1);
    t.walls[0].kind = UND_WALL_INFLOW;
    t.walls[3].kind = UND_WALL_OUTFLOW;
    t.walls[6] = (und_wall_def){.kind = UND_WALL_INFLOW, .markers = 33.3};
    return t;
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    static const int threads[3] = {1, 2, 7};
    tank t = busy_tank();
    und_markers *all[3];
    double volume[3];
    for (int k = 0; k < 3; k++) {
        all[k] = open_markers(&t, threads[k]);
        fill(all[k], &t, everywhere, NULL, 8);
        run(all[k], &t, 0, 30);
        volume[k] = filled(all[k], &t, 8);
    }
    assert_true(all[0]->count > 10000 && all[0]->born > 1000);
    for (int k = 1; k < 3; k++) {
        assert_true(same_bits(all[0], all[k]));
        assert_memory_equal(all[0]->per_cell, all[k]->per_cell, t.mac.count * sizeof *all[0]->per_cell);
        assert_true(volume[k] == volume[0]);
    }
    for (int k = 0; k < 3; k++)
        und_markers_destroy(all[k]);
    tank_close(&t);
}

static void a_restored_run_has_the_same_bits(void **state)
{
    (void)state;
    tank t = busy_tank();
    und_error err;
    und_frame kept = und_frame_empty(0, 0, (und_grid){0}), copy = kept;
    und_markers *whole = open_markers(&t, 2), *resumed = open_markers(&t, 2);
    fill(whole, &t, everywhere, NULL, 8);
    run(whole, &t, 0, 13);
    assert_int_equal(und_markers_save(whole, &kept, &err), UND_OK);
    assert_int_equal(und_frame_copy(&kept, &copy, &err), UND_OK);
    run(whole, &t, 13, 13);
    assert_int_equal(und_markers_restore(resumed, &copy, &err), UND_OK);
    run(resumed, &t, 13, 13);
    assert_true(same_bits(whole, resumed));
    und_frame_clear(&kept);
    und_frame_clear(&copy);
    und_markers_destroy(whole);
    und_markers_destroy(resumed);
    tank_close(&t);
}

static void damaged_checkpoints_are_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"marker_x",    "marker_y",    "marker_z",
                                        "marker_born", "marker_owed", "marker_unsorted"};
    tank t = tank_open(5, 5, 5, CUBE, ZERO);
    und_error err;
    und_frame kept = und_frame_empty(0, 0, (und_grid){0});
    und_markers *s = open_markers(&t, 1), *other = open_markers(&t, 1);
    fill(s, &t, everywhere, NULL, 8);
    assert_int_equal(und_markers_save(s, &kept, &err), UND_OK);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        und_frame copy = und_frame_empty(0, 0, (und_grid){0});
        assert_int_equal(und_frame_copy(&kept, &copy, &err), UND_OK);
        und_item *item = NULL;
        for (int i = 0; i < copy.count; i++)
            if (strcmp(copy.items[i].name, names[k]) == 0)
                item = &copy.items[i];
        assert_non_null(item);
        if (item->type == UND_F64)
            *(double *)item->data = NAN;
        else
            *(int32_t *)item->data = -1;
        assert_int_equal(und_markers_restore(other, &copy, &err), UND_FAILED);
        assert_non_null(strstr(err.text, names[k]));
        item->dim[0]--; /* one value too few: for the places one of the others is then too long */
        assert_int_equal(und_markers_restore(other, &copy, &err), UND_FAILED);
        assert_non_null(strstr(err.text, "marker_"));
        item->name[0] = 'x';
        assert_int_equal(und_markers_restore(other, &copy, &err), UND_FAILED);
        assert_non_null(strstr(err.text, names[k]));
        und_frame_clear(&copy);
    }
    und_frame_clear(&kept);
    und_markers_destroy(s);
    und_markers_destroy(other);
    tank_close(&t);
}

static void frames_hold_their_places(void **state)
{
    (void)state;
    und_error err;
    tank t = tank_open(5, 5, 1, CUBE, ZERO);
    for (int k = 0; k < 2; k++) {
        und_frame frame = und_frame_empty(0, 0, (und_grid){0});
        und_markers *s = open_markers(&t, 1);
        fill(s, &t, k ? everywhere : nowhere, NULL, 9);
        assert_int_equal(und_markers_frame(s, 9, t.label, &frame, &err), UND_OK);
        const und_item *item = und_frame_find(&frame, "markers/position");
        assert_non_null(item);
        assert_int_equal(item->dim[0], k ? 225 : 0);
        assert_int_equal(item->dim[1], 3);
        for (int i = 0; i < s->count; i++)
            for (int a = 0; a < 3; a++)
                assert_true(((float *)item->data)[3 * i + a] == (float)s->place[a][i]);
        assert_null(und_frame_find(&frame, "liquid/mesh_position"));
        und_markers_destroy(s);
        und_frame_clear(&frame);
    }
    tank_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fill_has_so_many_to_a_cell),
        cmocka_unit_test(a_ball_has_its_volume),
        cmocka_unit_test(a_level_is_known_within_its_cell),
        cmocka_unit_test(translation_is_exact),
        cmocka_unit_test(a_turn_converges_with_the_second_order),
        cmocka_unit_test(none_come_into_solids),
        cmocka_unit_test(at_a_wall_they_slide),
        cmocka_unit_test(outflow_takes_them_out),
        cmocka_unit_test(what_flows_back_or_is_run_over_goes),
        cmocka_unit_test(births_keep_their_rate),
        cmocka_unit_test(births_keep_the_density),
        cmocka_unit_test(births_without_room_are_counted),
        cmocka_unit_test(holes_are_liquid),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(a_restored_run_has_the_same_bits),
        cmocka_unit_test(damaged_checkpoints_are_refused),
        cmocka_unit_test(frames_hold_their_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
