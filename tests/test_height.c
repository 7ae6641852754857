/* The height field of the cells model: equation 12 by hand, its order and stability, beaches, volume, labels.
 */
#include "tests/pond.h"

#include "base/random.h"

/* On a tilted plane, with u = 0.5, w = -0.3 and v = 0.1 at low and 0.3 at high faces of the layer that the
 * surface is in. */
static void equation_12_by_hand(void **state)
{
    (void)state;
    pond p = a_pond(5, 4, 5, 0.5, 0.25, 0.4);
    const double dt = 0.05, east = 0.02, north = -0.01;
    set_speed(&p, 0, 0.5);
    set_speed(&p, 2, -0.3);
    for (int z = 0; z < 5; z++)
        for (int x = 0; x < 5; x++) {
            *h_at(&p, x, z) = 0.6 + east * x + north * z;
            p.u[1][und_mac_at(&p.mac, x, 1, z)] = 0.1; /* at 0.5 m */
            p.u[1][und_mac_at(&p.mac, x, 2, z)] = 0.3; /* at 0.75 m */
        }
    move(&p, dt);
    /* h = 0.63 at (2, 1): v = 0.1 + 0.2 (0.63 - 0.5) / 0.25 = 0.204, u h_x = 0.5 0.02 / 0.5 = 0.02,
     * w h_z = -0.3 (-0.01) / 0.4 = 0.0075: 0.63 + 0.05 0.1765. */
    assert_double_near(*h_at(&p, 2, 1), 0.638825, 1e-15);
    /* At the wall (4, 2): h = 0.66, v = 0.228; the slope along x is half of 0.02 / 0.5, as the wall's height
     * is 0.66; w h_z as before; the viscosity takes u (u + |w| 0.5 / 0.4) dt / 2 = 0.0109375 m2/s times
     * 0.02 / 0.25 = 0.000875 m/s. */
    assert_double_near(*h_at(&p, 4, 2), 0.66 + dt * (0.228 - 0.01 - 0.0075 - 0.000875), 1e-15);
    close_pond(&p);
}

/* One column higher than the others by 1 mm, u dt / dx = 0.4: 0.4^2 of it leaves the column, (0.4 + 0.4^2) /
 * 2 arrive downstream and (-0.4 + 0.4^2) / 2 upstream; along z the same. */
static void missing_viscosity_by_hand(void **state)
{
    (void)state;
    for (int axis = 0; axis < 3; axis += 2) {
        pond p = a_pond(axis ? 1 : 9, 4, axis ? 9 : 1, 0.1, 0.1, 0.1);
        double bump = 1e-3, volume;
        fill(&p, 0.25);
        *h_at(&p, axis ? 0 : 4, axis ? 4 : 0) += bump;
        volume = und_height_volume(p.height);
        set_speed(&p, axis, 2);
        assert_double_near(move(&p, 0.02), 0, 1e-17);
        assert_double_near(und_height_volume(p.height), volume, 1e-16);
        const double expected[3] = {-0.12, 0.84, 0.28};
        for (int k = 0; k < 3; k++) {
            int at = 3 + k;
            assert_double_near((*h_at(&p, axis ? 0 : at, axis ? at : 0) - 0.25) / bump, expected[k], 1e-12);
        }
        close_pond(&p);
    }
}

/* Waves of two columns' length die by e in 1 / smoothing seconds, long ones hardly, along both axes, and no
 * water is made; a wave on the other side of a wall is not felt. */
static void smoothing_takes_the_shortest_waves(void **state)
{
    (void)state;
    for (int axis = 0; axis < 3; axis += 2) {
        const int n = 64, wall = 40;
        pond p = a_pond(axis ? 1 : n, 4, axis ? n : 1, 0.1, 0.1, 0.1);
        p.height->smoothing = 2;
        for (int y = 0; y < 4; y++)
            p.label[und_mac_at(&p.mac, axis ? 0 : wall, y, axis ? wall : 0)] = UND_CELL_SOLID;
        und_height_ground(p.height, p.label);
        fill(&p, 0.25);
        for (int i = 0; i < wall; i++)
            *h_at(&p, axis ? 0 : i, axis ? i : 0) +=
                (i % 2 ? 1e-3 : -1e-3) + 1e-3 * cos(M_PI * (i + 0.5) / wall);
        double volume = und_height_volume(p.height), dt = 1e-3;
        for (int k = 0; k < 500; k++)
            move(&p, dt);
        assert_double_near(und_height_volume(p.height), volume, 1e-13);
        for (int i = 0; i < n; i++) {
            double h = *h_at(&p, axis ? 0 : i, axis ? i : 0);
            if (i >= 10 && i < 30) {
                double left = (i % 2 ? 1e-3 : -1e-3) * exp(-2 * 0.5);
                assert_double_near(h, 0.25 + left + 1e-3 * cos(M_PI * (i + 0.5) / wall), 2e-6);
            }
            if (i > wall)
                assert_double_near(h, 0.25, 0);
        }
        close_pond(&p);
    }
}

static double hump(double x)
{
    double r = (x - 0.3) / 0.2;
    return fabs(r) < 1 ? 0.1 * pow(cos(0.5 * M_PI * r), 4) : 0;
}

/* How wrong a hump is that went 0.4 m with the flow. */
static double error_of_hump(int n)
{
    pond p = a_pond(n, 4, 1, 1.0 / n, 0.25, 1);
    int steps = n;
    double dt = 0.4 / n, sum = 0;
    for (int x = 0; x < n; x++)
        *h_at(&p, x, 0) = 0.52 + hump((x + 0.5) / n);
    set_speed(&p, 0, 1);
    for (int k = 0; k < steps; k++)
        move(&p, dt);
    for (int x = 0; x < n; x++)
        sum += pow(*h_at(&p, x, 0) - 0.52 - hump((x + 0.5) / n - 0.4), 2) / n;
    close_pond(&p);
    return sqrt(sum);
}

static void hump_goes_with_the_flow(void **state)
{
    (void)state;
    double error[4];
    for (int k = 0; k < 4; k++)
        error[k] = error_of_hump(50 << k);
    for (int k = 1; k < 4; k++)
        if (!(error[k] < error[k - 1] / 3.6))
            fail_msg("errors %g, %g: less than second order", error[k - 1], error[k]);
    assert_true(error[3] < 1e-4);
}

static double roughness(const pond *p, double mean)
{
    double sum = 0;
    for (int z = 0; z < p->mac.n[2]; z++)
        for (int x = 0; x < p->mac.n[0]; x++)
            sum += pow(*h_at(p, x, z) - mean, 2);
    return sqrt(sum);
}

/* Noise in flows along and across the grid, as fast as equation 3 lets them be with a Courant number of half,
 * to and fro. */
static void noise_does_not_grow(void **state)
{
    (void)state;
    const double flow[4][2] = {{5, 0}, {5, 5}, {5, -5}, {0.3, 4}};
    for (int f = 0; f < 4; f++) {
        pond p = a_pond(24, 4, 20, 0.1, 1, 0.1);
        for (int z = 0; z < 20; z++)
            for (int x = 0; x < 24; x++)
                *h_at(&p, x, z) = 2.5 + 0.1 * und_random(1, (uint64_t)x, (uint64_t)z) - 0.05;
        double before = roughness(&p, 2.5);
        for (int k = 0; k < 1000; k++) {
            double way = k / 40 % 2 ? -1 : 1;
            set_speed(&p, 0, way * flow[f][0]);
            set_speed(&p, 2, way * flow[f][1]);
            move(&p, 0.01);
            if (!(roughness(&p, 2.5) <= before * 1.05))
                fail_msg("flow %d: roughness %g after %d steps, %g at the start", f, roughness(&p, 2.5), k,
                         before);
        }
        close_pond(&p);
    }
}

/* Velocities of a linear standing wave a cos(k x) cos(w t), k = pi, depth 0.5: how far from it the surface is
 * after a period, relative to a. */
static double error_of_wave(double a, int steps)
{
    const int n = 40, ny = 30;
    const double k = M_PI, depth = 0.5, w = sqrt(9.81 * k * tanh(k * depth)), dt = 2 * M_PI / w / steps;
    pond p = a_pond(n, ny, 1, 1.0 / n, 1.0 / n, 1.0 / n);
    double worst = 0;
    for (int x = 0; x < n; x++)
        *h_at(&p, x, 0) = depth + a * cos(k * (x + 0.5) / n);
    for (int s = 0; s < steps; s++) {
        double scale = a * w / sinh(k * depth), t = (s + 0.5) * dt;
        for (int y = -1; y < ny; y++)
            for (int x = -1; x < n; x++) {
                size_t at = und_mac_at(&p.mac, x, y, 0);
                p.u[0][at] = scale * sin(k * (x + 1.0) / n) * cosh(k * (y + 0.5) / n) * sin(w * t);
                p.u[1][at] = -scale * cos(k * (x + 0.5) / n) * sinh(k * (y + 1.0) / n) * sin(w * t);
            }
        move(&p, dt);
    }
    for (int x = 0; x < n; x++)
        worst = fmax(worst, fabs(*h_at(&p, x, 0) - depth - a * cos(k * (x + 0.5) / n)));
    close_pond(&p);
    return worst / a;
}

/* What is left is of second order in the amplitude, over a. */
static void standing_wave_is_followed(void **state)
{
    (void)state;
    double high = error_of_wave(0.01, 400), low = error_of_wave(0.001, 400);
    assert_true(low < 2e-3);
    assert_true(low < 0.2 * high);
}

enum { BEACH = 40, BEACH_HIGH = 20, BEACH_START = 15 };

/* Level until BEACH_START, then a cell higher every two cells. */
static pond a_beach(void)
{
    pond p = a_pond(BEACH, BEACH_HIGH, 1, 0.1, 0.1, 0.1);
    for (int x = BEACH_START; x < BEACH; x++)
        for (int y = 0; y < 1 + (x - BEACH_START) / 2 && y < BEACH_HIGH; y++)
            p.label[und_mac_at(&p.mac, x, y, 0)] = UND_CELL_SOLID;
    und_height_ground(p.height, p.label);
    return p;
}

static bool is_wet(const pond *p, int x, int y)
{
    uint8_t label = p->label[und_mac_at(&p->mac, x, y, 0)];
    return label == UND_CELL_FULL || label == UND_CELL_SURFACE;
}

/* All the water flows with `speed` over the beach, and up as continuity asks. */
static void flow_over(const pond *p, double speed)
{
    for (int x = -1; x < BEACH; x++)
        for (int y = 0; y < BEACH_HIGH; y++) {
            size_t at = und_mac_at(&p->mac, x, y, 0), next = at + 1;
            bool open = p->label[at] != UND_CELL_SOLID && p->label[next] != UND_CELL_SOLID;
            p->u[0][at] = open && (is_wet(p, x, y) || is_wet(p, x + 1, y)) ? speed : 0;
        }
    for (int x = 0; x < BEACH; x++)
        for (int y = 0; y < BEACH_HIGH; y++) {
            size_t at = und_mac_at(&p->mac, x, y, 0), below = at - (size_t)p->mac.step[1];
            double bottom = y > 0 ? p->u[1][below] : 0;
            p->u[1][at] = is_wet(p, x, y) ? bottom - (p->u[0][at] - p->u[0][at - 1]) : 0;
        }
}

static int wet_columns(const pond *p, int from)
{
    int count = 0;
    for (int x = from; x < BEACH; x++)
        count += *h_at(p, x, 0) > p->height->ground[x] + und_height_film(p->height);
    return count;
}

/* Water pushed up a beach and drawn back: it climbs, it retreats, it stays above the ground, and there is no
 * more of it. */
static void beach_up_and_down(void **state)
{
    (void)state;
    pond p = a_beach();
    fill(&p, 0.43);
    double start = und_height_volume(p.height), gained = 0, dt = 0.01, most = start;
    int wet = wet_columns(&p, 0), highest = wet;
    for (int k = 0; k < 800; k++) {
        und_height_label(p.height, p.label);
        flow_over(&p, 0.3 * sin(2 * M_PI * k / 400));
        gained += und_height_move(p.height, p.u, p.label, dt);
        int now = wet_columns(&p, 0);
        highest = now > highest ? now : highest;
        most = fmax(most, und_height_volume(p.height));
        for (int x = 0; x < BEACH; x++) {
            double h = *h_at(&p, x, 0), before = p.height->before[x];
            assert_true(h >= p.height->ground[x]);
            bool wet_beside = p.height->cell[x] >= 0 || (x > 0 && p.height->cell[x - 1] >= 0) ||
                              (x + 1 < BEACH && p.height->cell[x + 1] >= 0);
            assert_true(wet_beside || h == before); /* no water from nothing */
        }
        assert_double_near(und_height_volume(p.height) - start, gained, 1e-12);
    }
    assert_true(highest >= wet + 2);
    assert_true(wet_columns(&p, 0) <= wet + 1);
    assert_true(most < 1.03 * start); /* equation 12 conserves no volume */
    close_pond(&p);
}

/* Dry columns, walls, an overhang, and velocities that make some columns hit the ground and the top. */
static pond wild(int threads)
{
    pond p = a_pond_of((int[3]){72, 6, 80}, (double[3]){0.1, 0.2, 0.15}, (double[3]){3, -1, 2}, threads);
    for (int z = 0; z < 80; z++)
        for (int x = 0; x < 72; x++)
            for (int y = 0; y < 5; y++)
                if (6 * und_random(3, (uint64_t)(x / 6), (uint64_t)(z / 5)) > y + 2 || (x == 20 && y == 4))
                    p.label[und_mac_at(&p.mac, x, y, z)] = UND_CELL_SOLID;
    und_height_ground(p.height, p.label);
    fill(&p, -0.5);
    for (int a = 0; a < 3; a++)
        for (size_t i = 0; i < p.mac.count; i++)
            p.u[a][i] = 2 * und_random(4, (uint64_t)a, i) - 1;
    return p;
}

static void volume_returned_is_exact(void **state)
{
    (void)state;
    pond p = wild(1);
    double clipped = 0;
    for (int k = 0; k < 60; k++) {
        double before = und_height_volume(p.height), gained = move(&p, 0.03);
        assert_double_near(und_height_volume(p.height) - before, gained, 1e-13 * before);
        clipped = fmax(clipped, fabs(p.height->clipped));
        for (int z = 0; z < 80; z++)
            for (int x = 0; x < 72; x++)
                assert_true(*h_at(&p, x, z) >= p.height->ground[und_height_at(p.height, x, z)] &&
                            *h_at(&p, x, z) <= -1 + 6 * 0.2);
    }
    assert_true(clipped > 0);
    close_pond(&p);
}

/* One column 5 mm deep falls by 10 mm: the 5 mm that it could not give are counted. */
static void clips_are_counted(void **state)
{
    (void)state;
    pond p = a_pond(3, 4, 1, 0.1, 0.01, 0.2);
    fill(&p, 0.005);
    set_speed(&p, 1, -1);
    assert_double_near(move(&p, 0.01), -3 * 0.005 * 0.02, 1e-18);
    assert_double_near(p.height->clipped, 3 * 0.005 * 0.02, 1e-18);
    fill(&p, 0.035);
    set_speed(&p, 1, 1);
    assert_double_near(move(&p, 0.01), 3 * 0.005 * 0.02, 1e-18);
    assert_double_near(p.height->clipped, -3 * 0.005 * 0.02, 1e-18);
    close_pond(&p);
}

static void added_volume_is_spread(void **state)
{
    (void)state;
    pond p = a_pond(4, 4, 1, 0.5, 0.25, 2);
    p.label[und_mac_at(&p.mac, 0, 0, 0)] = UND_CELL_SOLID;
    und_height_ground(p.height, p.label);
    const double level[4] = {0.25, 0.3, 0.6, 0.9};
    for (int x = 0; x < 4; x++)
        *h_at(&p, x, 0) = level[x];
    assert_double_near(und_height_add(p.height, 0.15), 0, 1e-15); /* 5 cm on three wet columns */
    for (int x = 0; x < 4; x++)
        assert_double_near(*h_at(&p, x, 0), level[x] + (x ? 0.05 : 0), 1e-15);
    /* The fullest has room for 5 cm: the others take what it cannot, 12.5 cm each. */
    assert_double_near(und_height_add(p.height, 0.3), 0, 1e-15);
    assert_double_near(*h_at(&p, 3, 0), 1, 1e-15);
    assert_double_near(*h_at(&p, 1, 0), 0.475, 1e-15);
    assert_double_near(*h_at(&p, 2, 0), 0.775, 1e-15);
    /* Taking 60 cm from each: the second column has 47.5 of them. */
    assert_double_near(und_height_add(p.height, -1.8), 0, 1e-15);
    assert_double_near(*h_at(&p, 0, 0), 0.25, 0);
    assert_double_near(*h_at(&p, 1, 0), 0, 0);
    assert_double_near(*h_at(&p, 2, 0) + *h_at(&p, 3, 0), 0.45, 1e-15);
    assert_double_near(und_height_add(p.height, -1), -0.55, 1e-15); /* more than there is */
    assert_double_near(und_height_volume(p.height), 0, 0);
    assert_double_near(und_height_add(p.height, 0.1), 0.1, 0); /* there is no water to add to */
    close_pond(&p);
}

static void labels_follow_the_surface(void **state)
{
    (void)state;
    enum { E = UND_CELL_EMPTY, S = UND_CELL_SURFACE, F = UND_CELL_FULL, X = UND_CELL_SOLID };
    const double level[7] = {0.5, 0.5 + 1e-12, 0.51, 1, 0, 0.2, 0.3};
    const uint8_t expected[7][4] = {{F, S, E, E}, {F, S, E, E}, {F, F, S, E}, {F, F, F, S},
                                    {E, E, E, E}, {S, E, E, E}, {X, S, E, X}};
    pond p = a_pond(7, 4, 1, 0.1, 0.25, 0.1);
    p.label[und_mac_at(&p.mac, 6, 0, 0)] = X;
    p.label[und_mac_at(&p.mac, 6, 3, 0)] = X; /* an overhang */
    und_height_ground(p.height, p.label);
    for (int x = 0; x < 7; x++)
        *h_at(&p, x, 0) = level[x];
    und_height_label(p.height, p.label);
    for (int x = 0; x < 7; x++)
        for (int y = 0; y < 4; y++)
            assert_int_equal(p.label[und_mac_at(&p.mac, x, y, 0)], expected[x][y]);
    *h_at(&p, 6, 0) = 0.25 + 0.9e-3 * 0.25; /* a film */
    und_height_label(p.height, p.label);
    assert_int_equal(p.label[und_mac_at(&p.mac, 6, 1, 0)], E);
    *h_at(&p, 6, 0) = 0.25 + 1.1e-3 * 0.25;
    und_height_label(p.height, p.label);
    assert_int_equal(p.label[und_mac_at(&p.mac, 6, 1, 0)], S);
    close_pond(&p);
}

static void water_keeps_its_depth_when_the_ground_moves(void **state)
{
    (void)state;
    pond p = a_pond(2, 4, 1, 0.5, 0.25, 2);
    fill(&p, 0.4);
    p.label[und_mac_at(&p.mac, 0, 0, 0)] = p.label[und_mac_at(&p.mac, 0, 1, 0)] = UND_CELL_SOLID;
    assert_double_near(und_height_ground(p.height, p.label), 0, 0);
    assert_double_near(*h_at(&p, 0, 0), 0.9, 1e-15);
    assert_double_near(*h_at(&p, 1, 0), 0.4, 0);
    p.label[und_mac_at(&p.mac, 0, 2, 0)] = UND_CELL_SOLID;
    assert_double_near(und_height_ground(p.height, p.label), 0.15, 1e-15);
    assert_double_near(*h_at(&p, 0, 0), 1, 0);
    p.label[und_mac_at(&p.mac, 0, 2, 0)] = p.label[und_mac_at(&p.mac, 0, 0, 0)] = UND_CELL_EMPTY;
    und_height_ground(p.height, p.label); /* what hangs in the air is no ground */
    assert_double_near(*h_at(&p, 0, 0), 0.25, 1e-15);
    close_pond(&p);
}

static void same_bits(const pond *a, const pond *b)
{
    assert_memory_equal(a->height->h - a->height->first, b->height->h - b->height->first,
                        a->height->count * sizeof(double));
}

static void bits_do_not_depend_on_threads_or_restores(void **state)
{
    (void)state;
    und_error err = {0};
    pond one = wild(1), three = wild(3);
    for (int k = 0; k < 10; k++)
        assert_true(move(&one, 0.02) == move(&three, 0.02));
    same_bits(&one, &three);
    und_frame saved = und_frame_empty(0, 0, (und_grid){0}), frame = und_frame_empty(0, 0, (und_grid){0});
    pond later = wild(2);
    assert_int_equal(und_height_save(one.height, &saved, &err), UND_OK);
    assert_int_equal(und_height_restore(later.height, &saved, &err), UND_OK);
    move(&later, 0.02);
    move(&three, 0.02);
    same_bits(&later, &three);

    assert_int_equal(und_height_frame(later.height, &frame, &err), UND_OK);
    const und_item *surface = und_frame_find(&frame, "surface"), *ground = und_frame_find(&frame, "ground");
    assert_true(surface && ground && ground->is_static && !surface->is_static);
    assert_true(surface->rank == 2 && surface->dim[0] == 80 && surface->dim[1] == 72);
    assert_true(((float *)surface->data)[72 * 33 + 17] == (float)*h_at(&later, 17, 33));

    pond other = a_pond(3, 3, 1, 1, 1, 1);
    assert_int_equal(und_height_restore(other.height, &saved, &err), UND_FAILED);
    one.height->h[5] = NAN;
    assert_int_equal(und_height_restore(later.height, &saved, &err), UND_FAILED);
    assert_non_null(strstr(err.text, "damaged: height_surface"));
    und_frame_clear(&saved);
    und_frame_clear(&frame);
    close_pond(&one);
    close_pond(&three);
    close_pond(&later);
    close_pond(&other);
}

/* A flow that is no number leaves heights that are numbers. */
static void bad_numbers_do_not_spread(void **state)
{
    (void)state;
    pond p = a_pond(4, 4, 4, 0.1, 0.1, 0.1);
    fill(&p, 0.25);
    set_speed(&p, 0, NAN);
    assert_true(isfinite(move(&p, 0.1)));
    assert_true(isfinite(und_height_volume(p.height)));
    assert_true(isnan(und_height_add(p.height, NAN)));
    close_pond(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equation_12_by_hand),
        cmocka_unit_test(missing_viscosity_by_hand),
        cmocka_unit_test(smoothing_takes_the_shortest_waves),
        cmocka_unit_test(hump_goes_with_the_flow),
        cmocka_unit_test(noise_does_not_grow),
        cmocka_unit_test(standing_wave_is_followed),
        cmocka_unit_test(beach_up_and_down),
        cmocka_unit_test(volume_returned_is_exact),
        cmocka_unit_test(clips_are_counted),
        cmocka_unit_test(added_volume_is_spread),
        cmocka_unit_test(labels_follow_the_surface),
        cmocka_unit_test(water_keeps_its_depth_when_the_ground_moves),
        cmocka_unit_test(bits_do_not_depend_on_threads_or_restores),
        cmocka_unit_test(bad_numbers_do_not_spread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
