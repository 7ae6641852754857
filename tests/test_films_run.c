/* Films thinner than cells run, level, stop and are fed, as thin layers on walls do. */
#include "tests/levelset_model.h"

#include "geom/shape.h"
#include "liquid/levelset_state.h"
#include "surface/volume.h"

enum { N = 32 };

static und_levelset_def tank(int nx, int ny, double dx)
{
    und_levelset_def def = und_levelset_def_default();
    def.n[0] = nx;
    def.n[1] = ny;
    def.n[2] = 1;
    def.dx = dx;
    def.threads = 1;
    return def;
}

static int32_t *cell_at(const und_levelset *s, int x, int y)
{
    return und_levelset_volume_cells(s) + und_mac_at(&s->mac, x, y, 0);
}

/* In cells: what is on the floor there. */
static double thickness(const und_levelset *s, int x)
{
    double sum = 0;
    for (int y = 0; y < s->mac.n[1]; y++)
        sum += *cell_at(s, x, y) / (double)UND_VOLUME_ONE;
    return sum;
}

static double volume_of(const und_levelset *s, int from, int to)
{
    double sum = 0;
    for (int x = from; x < to; x++)
        sum += thickness(s, x);
    return sum;
}

static void lay(und_levelset *s, int from, int to, double thick)
{
    for (int x = from; x < to; x++)
        *cell_at(s, x, 0) = (int32_t)(thick * UND_VOLUME_ONE);
}

static void run_until(und_levelset *s, double time)
{
    while (und_levelset_time(s) < time - 1e-9)
        und_levelset_step(s, fmin(1.0 / 24, time - und_levelset_time(s)));
}

/* Nusselt 1916: down a slope of 30 degrees a film's mean speed is g sin(a) h^2 / (3 nu). */
static void runs_down_a_slope(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        const double dx = 0.01, thick = 0.1 * (1 << k), nu = 1e-3;
        const double wanted = 9.81 * 0.5 * thick * dx * thick * dx / (3 * nu);
        und_levelset_def def = tank(2 * N, 8, dx);
        def.gravity[0] = 9.81 * 0.5;
        def.gravity[1] = -9.81 * sqrt(0.75);
        def.viscosity = nu;
        def.open[1] = true;
        und_levelset *s = start_levelset(&def);
        lay(s, 0, 2 * N, thick);
        run_until(s, 0.25);
        const double before = volume_of(s, 0, 2 * N);
        run_until(s, 0.5);
        assert_double_near(und_levelset_velocity(s, 0, N, 0, 0), wanted, 1e-3 * wanted);
        assert_double_near((before - volume_of(s, 0, 2 * N)) * dx / (0.25 * thick), wanted, 0.01 * wanted);
        und_levelset_destroy(s);
    }
}

/* How much of a cell is within a layer on the plane through (0, high) of that normal, in cells. */
static double layer_in(int x, int y, double high, const double normal[2], double thick)
{
    enum { PARTS = 32 };
    int in = 0;
    for (int j = 0; j < PARTS; j++)
        for (int i = 0; i < PARTS; i++) {
            const double off =
                (x + (i + 0.5) / PARTS) * normal[0] + (y + (j + 0.5) / PARTS - high) * normal[1];
            in += off > 0 && off < thick;
        }
    return in / (double)(PARTS * PARTS);
}

/* What is in the upper half of a film on such a wall: of its columns, or rows where it is steep. */
static double upper_half(const und_levelset *s, bool steep)
{
    double sum = 0;
    for (int x = 0; x < (steep ? s->mac.n[0] : s->mac.n[0] / 2); x++)
        for (int y = steep ? s->mac.n[1] / 2 : 0; y < s->mac.n[1]; y++)
            sum += *cell_at(s, x, y) / (double)UND_VOLUME_ONE;
    return sum;
}

/* The same on walls that cut cells, of any slope: what passes by its middle. */
static void runs_down_a_slanted_wall(void **state)
{
    (void)state;
    static const struct {
        double angle, thick, off; /* degrees, cells, and how much the speed may be off */
    } list[] = {{10, 0.2, 0.05}, {20, 0.2, 0.05}, {20, 0.4, 0.05}, {30, 0.2, 0.1},  {30, 0.4, 0.05},
                {40, 0.2, 0.1},  {50, 0.2, 0.15}, {60, 0.2, 0.15}, {60, 0.4, 0.15}, {70, 0.2, 0.15},
                {70, 0.1, 0.15}, {80, 0.4, 0.15}, {80, 0.1, 0.15}};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        und_error err = {0};
        const double dx = 0.01, nu = 1e-3, a = list[k].angle * M_PI / 180, thick = list[k].thick;
        const double wanted = 9.81 * sin(a) * thick * dx * thick * dx / (3 * nu),
                     normal[2] = {sin(a), cos(a)};
        const int ny = (int)(2 * N * tan(a)) + 12;
        const double high = ny - 5.63;
        und_shape *wall = und_shape_create(
            &(und_shape){.kind = UND_PLANE, .center = {0, high * dx, 0}, .half = {normal[0], normal[1], 0}},
            &err);
        const und_obstacle_def solid = {.name = "wall", .shape = wall};
        und_levelset_def def = tank(2 * N, ny, dx);
        def.viscosity = nu;
        def.obstacles = &solid;
        def.obstacle_count = 1;
        und_levelset *s = start_levelset(&def);
        for (int x = 0; x < 2 * N; x++)
            for (int y = 0; y < ny; y++)
                *cell_at(s, x, y) = (int32_t)(layer_in(x, y, high, normal, thick) * UND_VOLUME_ONE);
        run_until(s, 0.25);
        const double before = upper_half(s, list[k].angle > 45);
        run_until(s, 0.5);
        const double speed = (before - upper_half(s, list[k].angle > 45)) * dx / (0.25 * thick);
        assert_double_near(speed, wanted, list[k].off * wanted);
        und_levelset_destroy(s);
        und_shape_destroy(wall);
    }
}

/* Under gravity along its wall a layer speeds up by du/dt = along - slows u: what it has gone from one
 * time to another, over that time.  Nusselt's law, or where that slows down more Blasius's of eddies. */
static double mean_speed(double along, double thick, double nu, double from, double to)
{
    double sum = 0, u = 0;
    const double dt = 1e-5;
    for (double t = 0; t < to; t += dt) {
        const double slows =
            fmax(3 * nu / (thick * thick), 0.028 * pow(fmax(u * thick / nu, 1), -0.25) * u / thick);
        u = (u + dt * along) / (1 + dt * slows);
        sum += t > from ? u * dt : 0;
    }
    return sum / (to - from);
}

typedef struct slope {
    double angle, thick, dx, off; /* degrees, m, and how much the speed may be off */
} slope;

/* What passes the middle of a wall of that slope, filled with a layer that phi shows. */
static double speed_down(const slope *p, double nu, double from, double to)
{
    und_error err = {0};
    const int n = (int)(0.48 / p->dx);
    const double dx = p->dx, a = p->angle * M_PI / 180, normal[2] = {sin(a), cos(a)};
    const int ny = (int)(n * tan(a)) + 12;
    const double high = ny - 5.63;
    und_shape plane = {.kind = UND_PLANE, .center = {0, high * dx, 0}, .half = {normal[0], normal[1], 0}};
    und_shape *wall = und_shape_create(&plane, &err);
    plane.center = (und_vec3){p->thick * normal[0], high * dx + p->thick * normal[1], 0};
    und_shape *top = und_shape_create(&plane, &err);
    const und_obstacle_def solid = {.name = "wall", .shape = wall};
    const und_fill_def fill = {.shape = top};
    und_levelset_def def = tank(n, ny, dx);
    def.viscosity = nu;
    def.stick = true;
    def.obstacles = &solid;
    def.obstacle_count = 1;
    def.fills = &fill;
    def.fill_count = 1;
    und_levelset *s = start_levelset(&def);
    run_until(s, from);
    const double before = upper_half(s, p->angle > 45);
    run_until(s, to);
    const double speed = (before - upper_half(s, p->angle > 45)) * dx * dx / ((to - from) * p->thick);
    und_levelset_destroy(s);
    und_shape_destroy(wall);
    und_shape_destroy(top);
    return speed;
}

/* Whatever the grid says of a layer, whether that is half a cell or two: it is as fast. */
static void layers_run_down_a_slanted_wall(void **state)
{
    (void)state;
    static const slope list[] = {{30, 0.005, 0.01, 0.05},  {30, 0.005, 0.005, 0.05}, {30, 0.01, 0.01, 0.05},
                                 {30, 0.01, 0.005, 0.05},  {38, 0.005, 0.01, 0.1},   {38, 0.005, 0.005, 0.05},
                                 {38, 0.01, 0.01, 0.05},   {38, 0.01, 0.005, 0.05},  {46, 0.005, 0.01, 0.1},
                                 {46, 0.005, 0.005, 0.05}, {46, 0.01, 0.01, 0.1},    {46, 0.01, 0.005, 0.05},
                                 {38, 0.015, 0.01, 0.1},   {38, 0.015, 0.0075, 0.1}, {60, 0.01, 0.01, 0.1},
                                 {75, 0.01, 0.01, 0.1},    {38, 0.01, 0.01, 0.1},    {38, 0.01, 0.005, 0.1}};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        const double nu = 1e-3, from = 0.125, to = 0.25;
        const double wanted = mean_speed(9.81 * sin(list[k].angle * M_PI / 180), list[k].thick, nu, from, to);
        assert_double_near(speed_down(&list[k], nu, from, to), wanted, list[k].off * wanted);
    }
}

/* Down a wall that faces no axis: the mean speed of what is above its middle. */
static double speed_in_space(const double normal[3], double thick, double nu, double time)
{
    und_error err = {0};
    const double dx = 0.01, steep = sqrt(1 - normal[1] * normal[1]);
    const int n = 24, ny = (int)(n * (normal[0] + normal[2]) / normal[1]) + 12;
    const double high = (ny - 5.63) * dx;
    const und_vec3 half = {normal[0], normal[1], normal[2]};
    und_shape *wall =
        und_shape_create(&(und_shape){.kind = UND_PLANE, .center = {0, high, 0}, .half = half}, &err);
    und_shape *top = und_shape_create(
        &(und_shape){.kind = UND_PLANE,
                     .center = {thick * normal[0], high + thick * normal[1], thick * normal[2]},
                     .half = half},
        &err);
    const und_obstacle_def solid = {.name = "wall", .shape = wall};
    const und_fill_def fill = {.shape = top};
    und_levelset_def def = tank(n, ny, dx);
    def.n[2] = n;
    def.viscosity = nu;
    def.stick = true;
    def.obstacles = &solid;
    def.obstacle_count = 1;
    def.fills = &fill;
    def.fill_count = 1;
    und_levelset *s = start_levelset(&def);
    run_until(s, time);
    double sum = 0, all = 0;
    for (int z = n / 3; z < 2 * n / 3; z++)
        for (int x = n / 3; x < 2 * n / 3; x++)
            for (int y = 0; y < ny; y++) {
                const double held = und_levelset_volume_cells(s)[und_mac_at(&s->mac, x, y, z)];
                for (int a = 0; a < 3; a++) {
                    const double down = ((a == 1 ? -1 : 0) + normal[1] * normal[a]) / steep;
                    const int next[3] = {x + (a == 0), y + (a == 1), z + (a == 2)};
                    sum += held * down * 0.5 *
                           (und_levelset_velocity(s, a, x, y, z) +
                            und_levelset_velocity(s, a, next[0], next[1], next[2]));
                }
                all += held;
            }
    und_levelset_destroy(s);
    und_shape_destroy(wall);
    und_shape_destroy(top);
    return sum / all;
}

static void layers_run_down_a_wall_in_space(void **state)
{
    (void)state;
    static const double list[][3] = {{30, 0, 0.006}, {35, 30, 0.006}, {35, 30, 0.01}, {46, 45, 0.01}};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        const double nu = 1e-3, time = 0.2, a = list[k][0] * M_PI / 180, b = list[k][1] * M_PI / 180;
        const double wanted = mean_speed(9.81 * sin(a), list[k][2], nu, time - 1e-3, time);
        const double normal[3] = {sin(a) * cos(b), cos(a), sin(a) * sin(b)};
        assert_double_near(speed_in_space(normal, list[k][2], nu, time), wanted, 0.03 * wanted);
    }
}

/* On a floor anywhere in a cell, under gravity that leans: the speed in the middle. */
static double speed_on_floor(double floor, double thick, double nu, double angle, double time)
{
    und_error err = {0};
    const int n = 4 * N;
    const double dx = 0.01, a = angle * M_PI / 180;
    und_shape plane = {.kind = UND_PLANE, .center = {0, floor * dx, 0}, .half = {0, 1, 0}};
    und_shape *ground = und_shape_create(&plane, &err);
    plane.center.y += thick;
    und_shape *top = und_shape_create(&plane, &err);
    const und_obstacle_def solid = {.name = "floor", .shape = ground};
    const und_fill_def fill = {.shape = top};
    und_levelset_def def = tank(n, 12, dx);
    def.gravity[0] = 9.81 * sin(a);
    def.gravity[1] = -9.81 * cos(a);
    def.viscosity = nu;
    def.stick = true;
    def.open[1] = true;
    def.obstacles = &solid;
    def.obstacle_count = floor > 0;
    def.fills = &fill;
    def.fill_count = 1;
    und_levelset *s = start_levelset(&def);
    const double from = time - 0.125;
    run_until(s, from);
    const double before = volume_of(s, 0, n / 2);
    run_until(s, time);
    const double speed = (before - volume_of(s, 0, n / 2)) * dx * dx / (0.125 * thick);
    und_levelset_destroy(s);
    und_shape_destroy(ground);
    und_shape_destroy(top);
    return speed;
}

/* The domain's floor (0) or a solid's, under water, which eddies slow down, and what is thick. */
static void layers_run_down_a_floor(void **state)
{
    (void)state;
    static const double floors[] = {0, 3, 3.25, 3.45, 3.5, 3.8},
                        layers[] = {0.003, 0.0045, 0.007, 0.01, 0.015};
    for (size_t i = 0; i < sizeof floors / sizeof *floors; i++)
        for (size_t k = 0; k < sizeof layers / sizeof *layers; k++)
            for (int water = 0; water < 2; water++) {
                const double nu = water ? 1e-6 : 1e-3, angle = water ? 5 : 30, time = water ? 0.75 : 0.25;
                const double along = 9.81 * sin(angle * M_PI / 180);
                const double wanted = mean_speed(along, layers[k], nu, time - 0.125, time);
                assert_double_near(speed_on_floor(floors[i], layers[k], water ? 0 : nu, angle, time), wanted,
                                   0.02 * wanted);
            }
}

static double amplitude(const und_levelset *s, int n)
{
    double sum = 0;
    for (int x = 0; x < n; x++)
        sum += 2.0 / n * thickness(s, x) * cos(M_PI * (x + 0.5) / n);
    return sum;
}

/* Lubrication: a small bump dies down at g h^3 k^2 / (3 nu). */
static void a_bump_levels(void **state)
{
    (void)state;
    for (int k = 1; k <= 2; k++) {
        const int n = 16;
        const double dx = 0.01, h = 0.15 * k, nu = 1e-4 * k * k, t = 2;
        und_levelset_def def = tank(n, 8, dx);
        def.viscosity = nu;
        und_levelset *s = start_levelset(&def);
        for (int x = 0; x < n; x++)
            lay(s, x, x + 1, h + 0.1 * h * cos(M_PI * (x + 0.5) / n));
        const double at_first = amplitude(s, n), wave = M_PI / (n * dx);
        run_until(s, t);
        const double rate = 9.81 * pow(h * dx, 3) * wave * wave / (3 * nu);
        assert_double_near(-log(amplitude(s, n) / at_first) / t, rate, 0.02 * rate);
        und_levelset_destroy(s);
    }
}

/* Half a cell, which counts neither as a film nor as liquid, beside films. */
static void a_heap_levels(void **state)
{
    (void)state;
    und_levelset_def def = tank(N, 8, 0.03);
    def.viscosity = 1e-5;
    und_levelset *s = start_levelset(&def);
    lay(s, 0, N, 0.1);
    lay(s, 0, 1, 0.5);
    const double all = volume_of(s, 0, N);
    run_until(s, 6);
    assert_double_near(volume_of(s, 0, N), all, 1e-9);
    for (int x = 0; x < N; x++)
        assert_double_near(thickness(s, x), all / N, 0.1 * all / N);
    und_levelset_destroy(s);
}

/* What is thicker than 2 mm spreads until it is as thin, what is thinner stays: whatever cells are. */
static void contact_lines_stop(void **state)
{
    (void)state;
    for (int k = 0; k < 6; k++) {
        const double dx = k % 3 == 0 ? 0.025 : k % 3 == 1 ? 0.01 : 0.0075, thick = k < 3 ? 0.004 : 0.0019;
        const int n = (int)(0.8 / dx), wide = (int)(0.1 / dx);
        und_levelset_def def = tank(n, 6, dx);
        und_levelset *s = start_levelset(&def);
        lay(s, n / 2 - wide, n / 2 + wide, thick / dx);
        run_until(s, 8);
        double wet = 0;
        for (int x = 0; x < n; x++)
            wet += fmin(thickness(s, x) * dx / 0.001, 1) * dx;
        if (k < 3)
            assert_double_near(wet / (2 * wide * dx), 2.1, 0.15);
        else
            assert_double_near(wet / (2 * wide * dx), 1, 1e-6);
        und_levelset_destroy(s);
    }
}

/* Drops that land are the film's, to the last part, and level out in it. */
static void drops_feed_films(void **state)
{
    (void)state;
    const double dx = 1.0 / N;
    und_levelset_def def = tank(N, N / 2, dx);
    def.viscosity = 1e-5;
    und_levelset *s = start_levelset(&def);
    lay(s, 0, N, 0.1);
    const int64_t before = und_volume_sum(und_levelset_volumes(s));
    int64_t thrown = 0;
    for (int x = 4; x < N; x += 8)
        for (int k = 0; k < 10; k++)
            thrown += und_levelset_volume_throw(s, (double[3]){(x + 0.3) * dx, (4 + 0.1 * k) * dx, 0.5 * dx},
                                                (double[3]){0, -1, 0}, 0.01 * UND_VOLUME_ONE);
    run_until(s, 5);
    assert_int_equal(s->last.drops, 0);
    assert_true(und_volume_sum(und_levelset_volumes(s)) == before + thrown);
    for (int x = 0; x < N; x++)
        assert_double_near(thickness(s, x), 0.1125, 0.006);
    und_levelset_destroy(s);
}

/* Down a shelf that leans, over its edge, and all is below: but for what a contact line holds. */
static void off_an_edge(void **state)
{
    (void)state;
    und_error err = {0};
    const int ny = N * 3 / 4, top = N / 2, bottom = top - 4;
    const double dx = 1.0 / N;
    und_shape *shelf = und_shape_create(&(und_shape){.kind = UND_BOX,
                                                     .center = {0, 0.5 * (top + bottom) * dx, 0},
                                                     .half = {0.5, 0.5 * (top - bottom) * dx, 1}},
                                        &err);
    const und_obstacle_def solid = {.name = "shelf", .shape = shelf, .separate = UND_SEPARATE_ALWAYS};
    und_levelset_def def = tank(N, ny, dx);
    def.obstacles = &solid;
    def.obstacle_count = 1;
    def.gravity[0] = 9.81 * 0.3;
    und_levelset *s = start_levelset(&def);
    for (int x = 2; x < 12; x++)
        *cell_at(s, x, top) = UND_VOLUME_ONE / 5;
    const int64_t laid = und_volume_sum(und_levelset_volumes(s));
    run_until(s, 3);
    int64_t below = 0;
    for (int x = 0; x < N; x++)
        for (int y = 0; y < bottom; y++)
            below += *cell_at(s, x, y);
    assert_true(und_volume_sum(und_levelset_volumes(s)) + (int64_t)und_levelset_volume_numbers(s)[0] == laid);
    assert_true((double)below > 0.97 * (double)laid);
    und_levelset_destroy(s);
    und_shape_destroy(shelf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(runs_down_a_slope),
                                       cmocka_unit_test(runs_down_a_slanted_wall),
                                       cmocka_unit_test(layers_run_down_a_slanted_wall),
                                       cmocka_unit_test(layers_run_down_a_floor),
                                       cmocka_unit_test(layers_run_down_a_wall_in_space),
                                       cmocka_unit_test(a_bump_levels),
                                       cmocka_unit_test(a_heap_levels),
                                       cmocka_unit_test(contact_lines_stop),
                                       cmocka_unit_test(drops_feed_films),
                                       cmocka_unit_test(off_an_edge)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
