/* Chains of markers around a liquid: their area, their upkeep, and the cells in them. */
#include "grid/mac_sample.h"
#include "surface/chains.h"
#include "tests/test.h"

#include "base/random.h"

static const double PI = 3.14159265358979323846;

/* A domain with chains in it and a velocity. */
typedef struct pond {
    und_mac mac;
    uint8_t *label, *wall;
    double *u[3];
    und_chains *chains;
    double volume; /* m3 to be kept; 0: whatever it becomes */
} pond;

static pond pond_open(int nx, int ny, double dx, double dy)
{
    und_error err = {0};
    pond p = {.mac = und_mac_make((const int[3]){nx, ny, 1}, (const double[3]){dx, dy, 0.5},
                                  (const double[3]){-0.3, 0.2, 0})};
    p.label = calloc(p.mac.count, 1);
    p.wall = calloc(p.mac.count, 1);
    for (int a = 0; a < 3; a++)
        p.u[a] = calloc(p.mac.count, sizeof(double));
    p.chains = und_chains_create(&p.mac, 2, &err);
    assert_non_null(p.chains);
    return p;
}

static void pond_close(pond *p)
{
    und_chains_destroy(p->chains);
    for (int a = 0; a < 3; a++)
        free(p->u[a]);
    free(p->label);
    free(p->wall);
}

/* Places of tests are in cells from the low corner. */
static double in_x(const pond *p, double cells)
{
    return p->mac.origin[0] + cells * p->mac.d[0];
}
static double in_y(const pond *p, double cells)
{
    return p->mac.origin[1] + cells * p->mac.d[1];
}

/* A shape in cells. */
typedef struct shape {
    const pond *pond;
    enum { DISC, RING, BOX, BLOB, TWO, DUMBBELL, DROPS } kind;
    double x, y, r, other;
} shape;

static bool in_shape(void *context, double x, double y, double z)
{
    const shape *s = context;
    (void)z;
    double cx = (x - s->pond->mac.origin[0]) / s->pond->mac.d[0];
    double cy = (y - s->pond->mac.origin[1]) / s->pond->mac.d[1];
    double dx = cx - s->x, dy = cy - s->y, r = sqrt(dx * dx + dy * dy), angle = atan2(dy, dx);
    switch (s->kind) {
    case DISC:
        return r < s->r;
    case RING:
        return r < s->r && r > s->other;
    case BOX:
        return fabs(dx) < s->r && fabs(dy) < s->other;
    case BLOB: /* `other` picks one of many */
        return r < s->r * (1 + 0.3 * sin(3 * angle + s->other) + 0.2 * cos(5 * angle - 2 * s->other));
    case TWO:
        return hypot(fabs(dx) - s->other, dy) < s->r;
    case DUMBBELL:
        return hypot(fabs(dx) - s->other, dy) < s->r || (fabs(dx) < s->other && fabs(dy) < 0.3 * s->r);
    case DROPS: { /* one in the middle of every `other` cells, of random size */
        double ix = floor(cx / s->other), iy = floor(cy / s->other);
        double size = 0.1 + 0.35 * und_random(7, (uint64_t)(int64_t)ix, (uint64_t)(int64_t)iy);
        return hypot(cx / s->other - ix - 0.5, cy / s->other - iy - 0.5) < size;
    }
    }
    return false;
}

static void add(pond *p, shape s, int markers)
{
    und_error err = {0};
    s.pond = p;
    assert_int_equal(und_chains_add(p->chains, in_shape, &s, p->label, markers, &err), UND_OK);
}

/* Enclosed, in cells. */
static double area(const pond *p)
{
    return und_chains_volume(p->chains) / (p->mac.d[0] * p->mac.d[1] * p->mac.d[2]);
}

static int chains_in(const pond *p)
{
    return und_chains_count(p->chains, NULL);
}

/* A velocity from its stream function, in m2/s of places in m, without divergence in any cell. */
typedef double stream_fn(double x, double y);

static void set_flow(pond *p, stream_fn *stream, double factor)
{
    const und_mac *m = &p->mac;
    for (int y = -1; y <= m->n[1]; y++)
        for (int x = -1; x <= m->n[0]; x++) {
            double x0 = in_x(p, x), x1 = in_x(p, x + 1), y0 = in_y(p, y), y1 = in_y(p, y + 1);
            size_t at = und_mac_at(m, x, y, 0);
            p->u[0][at] = factor * (stream(x1, y1) - stream(x1, y0)) / m->d[1];
            p->u[1][at] = -factor * (stream(x1, y1) - stream(x0, y1)) / m->d[0];
        }
}

static void move(pond *p, double dt, int steps)
{
    for (int i = 0; i < steps; i++) {
        und_chains_move(p->chains, &(und_inflows){p->u, p->label, p->wall, NULL, 0}, dt);
        if (p->volume > 0)
            und_chains_owe(p->chains, und_chains_volume(p->chains) - p->volume);
    }
}

/* The chains as a frame has them; points belong to the frame. */
typedef struct drawn {
    und_frame frame;
    const float *place;
    const int32_t *first;
    int chains;
} drawn;

static drawn draw(const pond *p)
{
    und_error err = {0};
    drawn d = {.frame = und_frame_empty(0, 0, (und_grid){.n = {1, 1, 1}, .dx = 1})};
    assert_int_equal(und_chains_frame(p->chains, &d.frame, &err), UND_OK);
    const und_item *place = und_frame_find(&d.frame, "chain/position");
    const und_item *first = und_frame_find(&d.frame, "chain/first");
    assert_non_null(place);
    assert_non_null(first);
    d.place = place->data;
    d.first = first->data;
    d.chains = (int)und_item_count(first) - 1;
    assert_int_equal(d.first[d.chains], (int)place->dim[0]);
    return d;
}

static void test_outlines_enclose_the_shape(void **state)
{
    (void)state;
    static const struct {
        shape s;
        double area;
        int chains;
    } all[] = {
        {{.kind = DISC, .x = 15.2, .y = 20.1, .r = 5}, 25 * PI, 1},
        {{.kind = DISC, .x = 15.2, .y = 20.1, .r = 1.3}, 1.69 * PI, 1},
        {{.kind = RING, .x = 15, .y = 20, .r = 9, .other = 4}, 65 * PI, 2},
        {{.kind = BOX, .x = 15, .y = 20, .r = 6, .other = 9.3}, 4 * 6 * 9.3, 1},
        {{.kind = TWO, .x = 15, .y = 20, .r = 4, .other = 6}, 32 * PI, 2},
        {{.kind = DISC, .x = 30, .y = 20, .r = 6}, 18 * PI, 1}, /* half of it beside the domain */
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (int markers = 0; markers <= 100; markers += 50) {
            pond p = pond_open(30, 40, 0.02, 0.03);
            int found;
            add(&p, all[i].s, markers);
            assert_int_equal(und_chains_count(p.chains, &found), all[i].chains);
            assert_double_near(area(&p), all[i].area, 2e-3 * all[i].area);
            if (markers)
                assert_in_range(found, markers - 2, markers + 2);
            pond_close(&p);
        }
}

static void test_outlines_leave_out_solids(void **state)
{
    (void)state;
    pond p = pond_open(20, 20, 0.1, 0.1);
    for (int y = 5; y < 8; y++)
        for (int x = 6; x < 10; x++)
            p.label[und_mac_at(&p.mac, x, y, 0)] = UND_CELL_SOLID;
    add(&p, (shape){.kind = BOX, .x = 10, .y = 0, .r = 30, .other = 12}, 0);
    assert_int_equal(chains_in(&p), 2);
    assert_double_near(area(&p), 20 * 12 - 12, 1e-3);
    pond_close(&p);
}

/* Whether a place is in the polygons of the frame, by the angle that they turn around it. */
static bool in_polygons(const drawn *d, double x, double y)
{
    double turn = 0;
    for (int c = 0; c < d->chains; c++)
        for (int i = d->first[c]; i < d->first[c + 1]; i++) {
            int j = i + 1 < d->first[c + 1] ? i + 1 : d->first[c];
            double ax = d->place[3 * i] - x, ay = d->place[3 * i + 1] - y;
            double bx = d->place[3 * j] - x, by = d->place[3 * j + 1] - y;
            turn += atan2(ax * by - ay * bx, ax * bx + ay * by);
        }
    return turn > PI;
}

/* Liquid cells are those that have liquid anywhere, as far as many places in them can tell. */
static void check_labels(pond *p)
{
    enum { PLACES = 6 };
    drawn d = draw(p);
    und_chains_label(p->chains, p->label);
    for (int y = 0; y < p->mac.n[1]; y++)
        for (int x = 0; x < p->mac.n[0]; x++) {
            int label = p->label[und_mac_at(&p->mac, x, y, 0)], in = 0, near = 0;
            if (label == UND_CELL_SOLID)
                continue;
            for (int k = 0; k < PLACES * PLACES; k++)
                in += in_polygons(&d, in_x(p, x + (k % PLACES + 0.5) / PLACES),
                                  in_y(p, y + ((double)(k / PLACES) + 0.5) / PLACES));
            for (int i = 0; i < 3 * d.first[d.chains]; i += 3)
                near |= fabs((d.place[i] - in_x(p, x + 0.5)) / p->mac.d[0]) < 1.5 &&
                        fabs((d.place[i + 1] - in_y(p, y + 0.5)) / p->mac.d[1]) < 1.5;
            if (in > 0)
                assert_int_equal(label, UND_CELL_FULL);
            else if (!near)
                assert_int_equal(label, UND_CELL_EMPTY);
            else /* less than the places can tell, but a link goes through */
                assert_true(label == UND_CELL_EMPTY || label == UND_CELL_FULL);
        }
    und_frame_clear(&d.frame);
}

static void test_labels(void **state)
{
    (void)state;
    const shape all[] = {
        {.kind = RING, .x = 15, .y = 12, .r = 9, .other = 4},
        {.kind = RING, .x = 15, .y = 12, .r = 3, .other = 2},
        {.kind = DROPS, .other = 2.7},
        {.kind = DROPS, .other = 5},
        {.kind = BLOB, .x = 15, .y = 12, .r = 7, .other = 0.3},
        {.kind = BLOB, .x = 14, .y = 11, .r = 6, .other = 1.9},
        {.kind = BLOB, .x = 16, .y = 13, .r = 8, .other = 4},
        {.kind = BOX, .x = 10, .y = 7, .r = 7.5, .other = 3.2},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        pond p = pond_open(30, 24, 0.02, 0.02);
        for (int x = 3; x < 9; x++)
            p.label[und_mac_at(&p.mac, x, 10, 0)] = UND_CELL_SOLID;
        add(&p, all[i], 0);
        check_labels(&p);
        pond_close(&p);
    }
    /* A ring in a ring: air in liquid in air in liquid. */
    pond p = pond_open(30, 24, 0.02, 0.02);
    add(&p, all[0], 0);
    add(&p, all[1], 0);
    check_labels(&p);
    assert_int_equal(p.label[und_mac_at(&p.mac, 15, 12, 0)], UND_CELL_EMPTY); /* in the inner hole */
    assert_int_equal(p.label[und_mac_at(&p.mac, 17, 12, 0)], UND_CELL_FULL);
    assert_int_equal(p.label[und_mac_at(&p.mac, 21, 12, 0)], UND_CELL_FULL);
    pond_close(&p);
}

/* A liquid that ends at the face of a cell has none beyond it. */
static void test_labels_at_faces(void **state)
{
    (void)state;
    pond p = pond_open(15, 30, 0.1, 0.1);
    add(&p, (shape){.kind = BOX, .x = 7, .y = 8, .r = 4, .other = 5}, 0);
    und_chains_label(p.chains, p.label);
    for (int y = 0; y < 30; y++)
        for (int x = 0; x < 15; x++)
            assert_int_equal(p.label[und_mac_at(&p.mac, x, y, 0)],
                             x >= 3 && x < 11 && y >= 3 && y < 13 ? UND_CELL_FULL : UND_CELL_EMPTY);
    pond_close(&p);
}

/* Once around the middle of the domain in 2 pi seconds. */
static double turning(double x, double y)
{
    double dx = x - (-0.3 + 0.5), dy = y - (0.2 + 0.5);
    return -(dx * dx + dy * dy) / 2;
}

static void test_a_disc_turns(void **state)
{
    (void)state;
    pond p = pond_open(40, 40, 0.025, 0.025);
    add(&p, (shape){.kind = DISC, .x = 28, .y = 20, .r = 6}, 64);
    set_flow(&p, turning, 1);
    double before = area(&p);
    assert_double_near(before, 36 * PI, 1e-3 * before);
    move(&p, 2 * PI / 400, 400);
    assert_double_near(area(&p), before, 5e-3 * before);
    drawn d = draw(&p);
    for (int i = 0; i < d.first[1]; i++) /* back where it was */
        assert_double_near(
            hypot((d.place[3 * i] - in_x(&p, 28)) / 0.025, (d.place[3 * i + 1] - in_y(&p, 20)) / 0.025), 6,
            0.03);
    assert_int_equal(d.chains, 1);
    und_frame_clear(&d.frame);
    pond_close(&p);
}

/* Leveque's single vortex in the unit square. */
static double vortex(double x, double y)
{
    double sx = sin(PI * (x + 0.3)), sy = sin(PI * (y - 0.2));
    return sx * sx * sy * sy / PI;
}

static void test_a_vortex_and_back(void **state)
{
    (void)state;
    pond p = pond_open(64, 64, 1.0 / 64, 1.0 / 64);
    add(&p, (shape){.kind = DISC, .x = 32, .y = 48, .r = 9.6}, 0);
    double before = area(&p);
    int steps = 400, at_start, most;
    und_chains_count(p.chains, &at_start);
    for (int half = 0; half < 2; half++) {
        set_flow(&p, vortex, half ? -1 : 1);
        move(&p, 2.0 / steps, steps);
        assert_double_near(area(&p), before, 1e-2 * before);
        assert_int_equal(chains_in(&p), 1);
        if (!half)
            und_chains_count(p.chains, &most);
    }
    assert_true(most > 2 * at_start);
    drawn d = draw(&p);
    for (int i = 0; i < d.first[1]; i++)
        assert_double_near(hypot(d.place[3 * i] + 0.3 - 0.5, d.place[3 * i + 1] - 0.2 - 0.75), 0.15, 0.01);
    und_frame_clear(&d.frame);
    pond_close(&p);
}

/* Everything comes together along x and goes apart along y. */
static double squeeze(double x, double y)
{
    return -(x + 0.3 - 0.5) * (y - 0.2 - 0.5);
}

static void test_discs_merge(void **state)
{
    (void)state;
    pond p = pond_open(50, 50, 0.02, 0.02);
    add(&p, (shape){.kind = TWO, .x = 25, .y = 25, .r = 5, .other = 5.6}, 0);
    assert_int_equal(chains_in(&p), 2);
    set_flow(&p, squeeze, 1);
    double before = area(&p);
    assert_double_near(before, 50 * PI, 1e-3 * before);
    int steps = 0;
    for (; chains_in(&p) > 1 && steps < 400; steps++)
        move(&p, 0.01, 1);
    assert_in_range(steps, 50, 200); /* 1.2 cells of air become half a cell */
    move(&p, 0.01, 20);
    assert_int_equal(chains_in(&p), 1);
    assert_double_near(area(&p), before, 3e-2 * before); /* the air between is liquid now */
    p.volume = before * p.mac.d[0] * p.mac.d[1] * p.mac.d[2];
    set_flow(&p, squeeze, 0);
    move(&p, 0.01, 20);
    assert_int_equal(chains_in(&p), 1);
    assert_double_near(area(&p), before, 1e-3 * before); /* taken back */
    check_labels(&p);
    pond_close(&p);
}

/* The left half goes to the left and the right one to the right; between them it gets thin. */
static double pull(double x, double y)
{
    return tanh((x + 0.3 - 0.6) / 0.06) * (y - 0.2 - 0.4);
}

static void test_a_dumbbell_splits(void **state)
{
    (void)state;
    pond p = pond_open(60, 40, 0.02, 0.02);
    add(&p, (shape){.kind = DUMBBELL, .x = 30, .y = 20, .r = 5, .other = 6}, 0);
    assert_int_equal(chains_in(&p), 1);
    set_flow(&p, pull, 1);
    double before = area(&p);
    int steps = 0;
    for (; chains_in(&p) == 1 && steps < 400; steps++)
        move(&p, 0.002, 1);
    assert_int_equal(chains_in(&p), 2);
    assert_double_near(area(&p), before, 1e-2 * before);
    pond_close(&p);
}

/* Chains that overlap are one outline. */
static void test_overlaps_become_one(void **state)
{
    (void)state;
    pond p = pond_open(40, 40, 0.1, 0.1);
    double r = 6, apart = 7, half = apart / 2;
    add(&p, (shape){.kind = DISC, .x = 15, .y = 20, .r = r}, 0);
    add(&p, (shape){.kind = DISC, .x = 15 + apart, .y = 20, .r = r}, 0);
    double both = 2 * r * r * acos(half / r) - half * sqrt(4 * r * r - apart * apart);
    assert_int_equal(chains_in(&p), 1);
    assert_double_near(area(&p), 2 * PI * r * r - both, 5e-3 * r * r * PI);
    /* And one that lies beside another, with a side in common. */
    add(&p, (shape){.kind = BOX, .x = 10, .y = 35, .r = 5, .other = 3}, 0);
    add(&p, (shape){.kind = BOX, .x = 20, .y = 35, .r = 5, .other = 3}, 0);
    assert_int_equal(chains_in(&p), 2);
    assert_double_near(area(&p), 2 * PI * r * r - both + 120, 1);
    pond_close(&p);
}

static void test_links_stay_even(void **state)
{
    (void)state;
    pond p = pond_open(64, 64, 1.0 / 64, 1.0 / 64);
    add(&p, (shape){.kind = BLOB, .x = 32, .y = 40, .r = 8, .other = 1}, 100);
    set_flow(&p, vortex, 1);
    drawn d = draw(&p);
    double spacing = 0;
    for (int i = 1; i < d.first[1]; i++)
        spacing += hypot(d.place[3 * i] - d.place[3 * i - 3], d.place[3 * i + 1] - d.place[3 * i - 2]) /
                   (d.first[1] - 1);
    und_frame_clear(&d.frame);
    for (int k = 0; k < 100; k++) {
        move(&p, 0.01, 1);
        d = draw(&p);
        for (int c = 0; c < d.chains; c++)
            for (int i = d.first[c] + 1; i < d.first[c + 1]; i++) {
                double length =
                    hypot(d.place[3 * i] - d.place[3 * i - 3], d.place[3 * i + 1] - d.place[3 * i - 2]);
                assert_in_range((int)(1000 * length / spacing), 390, 1660);
            }
        und_frame_clear(&d.frame);
    }
    pond_close(&p);
}

/* Liquid in a basin with a block on its floor, turning in it: walls hold the chain. */
static double basin(double x, double y)
{
    double depth = fmax(fmin(fmin(x + 0.3, 1 - (x + 0.3)), fmin(y - 0.2, 1 - (y - 0.2))), 0);
    return 0.5 * fmin(depth, 0.2);
}

static void test_walls_hold(void **state)
{
    (void)state;
    pond p = pond_open(20, 20, 0.05, 0.05);
    for (int y = 0; y < 3; y++)
        for (int x = 8; x < 11; x++)
            p.label[und_mac_at(&p.mac, x, y, 0)] = UND_CELL_SOLID;
    add(&p, (shape){.kind = BOX, .x = 10, .y = 0, .r = 30, .other = 20}, 0);
    assert_double_near(area(&p), 391, 1e-2);
    set_flow(&p, basin, 1);
    for (int y = 0; y <= 3; y++) /* none across the block's faces */
        for (int x = 7; x <= 10; x++) {
            p.u[0][und_mac_at(&p.mac, x, y, 0)] = y < 3 ? 0 : p.u[0][und_mac_at(&p.mac, x, y, 0)];
            p.u[1][und_mac_at(&p.mac, x, y, 0)] = x > 7 && y < 3 ? 0 : p.u[1][und_mac_at(&p.mac, x, y, 0)];
        }
    move(&p, 0.02, 500);
    assert_double_near(area(&p), 391, 1e-2);
    pond_close(&p);
}

static void test_same_bits_after_restore(void **state)
{
    (void)state;
    und_error err = {0};
    pond p = pond_open(50, 50, 0.02, 0.02), q = pond_open(50, 50, 0.02, 0.02);
    shape two = {.kind = TWO, .x = 25, .y = 25, .r = 5, .other = 5.6};
    add(&p, two, 0);
    add(&q, two, 0);
    set_flow(&p, squeeze, 1);
    move(&p, 0.01, 100);
    und_frame saved = und_frame_empty(0, 0, (und_grid){.n = {1, 1, 1}, .dx = 1}), kept = saved;
    assert_int_equal(und_chains_save(p.chains, &saved, &err), UND_OK);
    assert_int_equal(und_frame_copy(&saved, &kept, &err), UND_OK);
    assert_int_equal(und_chains_restore(q.chains, &kept, &err), UND_OK);
    set_flow(&q, squeeze, 1);
    move(&p, 0.01, 50);
    move(&q, 0.01, 50);
    drawn a = draw(&p), b = draw(&q);
    assert_int_equal(a.chains, b.chains);
    assert_int_equal(a.chains, 1);
    assert_int_equal(a.first[1], b.first[1]);
    assert_memory_equal(a.place, b.place, (size_t)a.first[1] * 12);
    assert_true(area(&p) == area(&q));
    und_frame_clear(&a.frame);
    und_frame_clear(&b.frame);

    /* Damaged ones are told. */
    int32_t *first = und_frame_find(&kept, "chain_first")->data;
    first[1] += 1000000;
    assert_int_equal(und_chains_restore(q.chains, &kept, &err), UND_FAILED);
    first[1] -= 1000000;
    double *x = und_frame_find(&kept, "chain_x")->data;
    x[3] = NAN;
    assert_int_equal(und_chains_restore(q.chains, &kept, &err), UND_FAILED);
    und_frame_clear(&saved);
    und_frame_clear(&kept);
    pond_close(&p);
    pond_close(&q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_outlines_enclose_the_shape),
        cmocka_unit_test(test_outlines_leave_out_solids),
        cmocka_unit_test(test_labels),
        cmocka_unit_test(test_labels_at_faces),
        cmocka_unit_test(test_a_disc_turns),
        cmocka_unit_test(test_a_vortex_and_back),
        cmocka_unit_test(test_discs_merge),
        cmocka_unit_test(test_a_dumbbell_splits),
        cmocka_unit_test(test_overlaps_become_one),
        cmocka_unit_test(test_links_stay_even),
        cmocka_unit_test(test_walls_hold),
        cmocka_unit_test(test_same_bits_after_restore),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
