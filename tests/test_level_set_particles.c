/* The particles of the particle level set: where they are born, how they move, what they put right. */
#include "surface/level_set_particles.h"
#include "tests/test.h"

#include "base/pages.h"
#include "grid/sample.h"

enum { WIDTH = 5 };

typedef struct world {
    und_mac mac;
    und_distance distance;
    und_level_set_particles *particles;
    float *u[3], *wall; /* wall is used where `solid` */
    bool solid;
} world;

typedef double place_fn(const double p[3]); /* in cells, of the same */
typedef void flow_fn(const world *w, const double p[3], double u[3]);

static float *field(const und_mac *m)
{
    und_error err;
    float *values = und_pages_alloc(m->count * sizeof *values, "a field", &err);
    assert_non_null(values);
    return values;
}

static void set_field(const world *w, float *values, place_fn *fn)
{
    const und_mac *m = &w->mac;
    for (int z = -1; z <= m->n[2]; z++)
        for (int y = -1; y <= m->n[1]; y++)
            for (int x = -1; x <= m->n[0]; x++)
                values[und_mac_at(m, x, y, z)] = (float)fn((const double[]){x + 0.5, y + 0.5, z + 0.5});
}

static void set_flow(world *w, flow_fn *flow)
{
    const und_mac *m = &w->mac;
    for (int a = 0; a < 3; a++)
        for (int z = -1; z <= m->n[2]; z++)
            for (int y = -1; y <= m->n[1]; y++)
                for (int x = -1; x <= m->n[0]; x++) {
                    double p[3] = {x + 0.5, y + 0.5, z + 0.5}, u[3] = {0};
                    p[a] += 0.5;
                    flow(w, p, u);
                    w->u[a][und_mac_at(m, x, y, z)] = (float)u[a];
                }
}

static world make_world(int nx, int ny, int nz, place_fn *shape, place_fn *wall, int per_cell, int threads)
{
    und_error err;
    const int n[3] = {nx, ny, nz};
    world w = {.mac = und_mac_make(n, (const double[]){1, 1, 1}, (const double[]){0, 0, 0}),
               .solid = wall != NULL};
    und_level_set_particles_def def = und_level_set_particles_def_default();
    def.per_cell = per_cell;
    assert_int_equal(und_distance_open(&w.distance, &w.mac, WIDTH, threads, &err), UND_OK);
    w.particles = und_level_set_particles_create(&w.mac, &def, 5, threads, NULL, &err);
    assert_non_null(w.particles);
    w.wall = field(&w.mac);
    for (int a = 0; a < 3; a++)
        w.u[a] = field(&w.mac);
    if (wall)
        set_field(&w, w.wall, wall);
    set_field(&w, w.distance.phi, shape);
    und_distance_refresh(&w.distance);
    und_distance_redistance(&w.distance, 2);
    und_level_set_particles_seed(w.particles, &w.distance, wall ? w.wall : NULL);
    return w;
}

static void end_world(world *w)
{
    und_level_set_particles_destroy(w->particles);
    und_distance_close(&w->distance);
    und_pages_free(w->wall);
    for (int a = 0; a < 3; a++)
        und_pages_free(w->u[a]);
}

static void step(world *w, double cells_per_speed, bool particles)
{
    const float *wall = w->solid ? w->wall : NULL;
    und_distance_advect(&w->distance, w->u, cells_per_speed, UND_TRACE_RK2);
    if (particles) {
        und_level_set_particles_move(w->particles, w->u, cells_per_speed, wall);
        und_level_set_particles_correct(w->particles, &w->distance, NULL);
    }
    und_distance_redistance(&w->distance, 2);
    if (particles) {
        und_level_set_particles_correct(w->particles, &w->distance, NULL);
        und_level_set_particles_tidy(w->particles, &w->distance, wall);
    }
}

static double phi_of(const world *w, const float *values, int i)
{
    und_lanes place[3], phi;
    for (int a = 0; a < 3; a++)
        place[a] = und_lanes_all(w->particles->place[a][i]);
    und_sample_cells(&w->mac, values, place, &phi, NULL);
    return (double)phi[0];
}

static double pool(const double p[3])
{
    return p[1] - 7.3;
}
static double slope(const double p[3])
{
    return (p[1] - 8 + 0.6 * (p[0] - 10)) / hypot(1, 0.6);
}
static double boulder(const double p[3]) /* a solid that sticks out of the pool */
{
    return sqrt(pow(p[0] - 8, 2) + pow(p[1] - 6, 2) + pow(p[2] - 9, 2)) - 4.2;
}

/* Two layers of `band` cells each, evenly filled, each particle on its side. */
static void fills_the_band(void **state)
{
    (void)state;
    for (int per_cell = 4; per_cell <= 64; per_cell *= 4)
        for (int depth = 1; depth <= 16; depth += 15) {
            world w = make_world(20, 16, depth, pool, NULL, per_cell, 2);
            double expected = 2.0 * per_cell * 20 * depth;
            assert_double_near(w.particles->count, expected, 2.5 * sqrt(expected));
            for (int i = 0; i < w.particles->count; i++) {
                double phi = phi_of(&w, w.distance.phi, i), r = (double)w.particles->radius[i];
                assert_true(fabs(phi) < 1.0001 && phi * r > -1e-6);
                assert_double_near(fabs(r), fmin(fmax(fabs(phi), 0.02), 0.5), 1e-6);
            }
            end_world(&w);
        }
}

static double disk(const double p[3], double n)
{
    double x = p[0] / n - 0.5, y = p[1] / n, side = fabs(x) - 0.025, top = y - 0.85;
    double slot = fmin(fmax(side, top), 0) + hypot(fmax(side, 0), fmax(top, 0));
    return n * fmax(hypot(x, y - 0.75) - 0.15, -slot);
}
static double disk_50(const double p[3])
{
    return disk(p, 50);
}
static double disk_100(const double p[3])
{
    return disk(p, 100);
}
static void turning(const world *w, const double p[3], double u[3])
{
    u[0] = 2 * M_PI * (0.5 * w->mac.n[1] - p[1]);
    u[1] = 2 * M_PI * (p[0] - 0.5 * w->mac.n[0]);
}

/* Zalesak's slotted disk, turned once: the share of its area that is lost. */
static double turn_disk(int n, place_fn *shape, bool particles)
{
    world w = make_world(n, n, 1, shape, NULL, 32, 1);
    int steps = (int)ceil(M_PI * n);
    double before = und_distance_volume(&w.distance, NULL);
    set_flow(&w, turning);
    for (int k = 0; k < steps; k++)
        step(&w, 1.0 / steps, particles);
    double after = und_distance_volume(&w.distance, NULL);
    end_world(&w);
    return 1 - after / before;
}

static void keeps_the_slotted_disk(void **state)
{
    (void)state;
    double kept = turn_disk(50, disk_50, true), alone = turn_disk(50, disk_50, false);
    assert_double_near(kept, 0, 0.02);
    assert_true(fabs(alone) > 2 * fabs(kept));
    assert_double_near(turn_disk(100, disk_100, true), 0, 0.005);
}

/* Liquid at rest stays as it is, at walls too. */
static void check_rest(place_fn *shape, place_fn *wall, int depth)
{
    world w = make_world(20, 16, depth, shape, wall, 32, 2);
    const und_mac *m = &w.mac;
    for (int k = 0; k < 5; k++)
        und_distance_redistance(&w.distance, 2);
    und_level_set_particles_seed(w.particles, &w.distance, wall ? w.wall : NULL);
    float *before = field(m);
    memcpy(before, w.distance.phi, m->count * sizeof *before);
    double volume = und_distance_volume(&w.distance, NULL);
    for (int k = 0; k < 100; k++)
        step(&w, 1, true);
    assert_double_near(und_distance_volume(&w.distance, NULL), volume, 2e-5 * volume);
    for (int row = 0; row < und_mac_rows(m); row++)
        for (size_t i = und_mac_row(m, row), end = i + 20; i < end; i++)
            if (fabsf(before[i]) < 1)
                assert_double_near((double)w.distance.phi[i], (double)before[i], 2e-3);
    und_pages_free(before);
    end_world(&w);
}

static void rests(void **state)
{
    (void)state;
    check_rest(pool, NULL, 1);
    check_rest(pool, NULL, 12);
    check_rest(slope, NULL, 1);
    check_rest(slope, NULL, 12);
    check_rest(pool, boulder, 16);
}

/* Divergence-free, along the walls of a box. */
static void vortex(const world *w, const double p[3], double u[3])
{
    double nx = w->mac.n[0], ny = w->mac.n[1];
    u[0] = -sin(M_PI * p[0] / nx) * cos(M_PI * p[1] / ny) * nx / ny;
    u[1] = cos(M_PI * p[0] / nx) * sin(M_PI * p[1] / ny);
}
static double half_full(const double p[3])
{
    return p[1] - 24.3;
}

/* Half a box, stirred: neither kind of particle eats the other's at walls. */
static void stirs_along_walls(void **state)
{
    (void)state;
    world w = make_world(48, 48, 1, half_full, NULL, 32, 1);
    double volume = und_distance_volume(&w.distance, NULL);
    set_flow(&w, vortex);
    for (int k = 0; k < 150; k++) {
        step(&w, 1, true);
        assert_double_near(und_distance_volume(&w.distance, NULL), volume, 0.01 * volume);
    }
    end_world(&w);
}

static double droplet(const double p[3])
{
    return sqrt(pow(p[0] - 8, 2) + pow(p[1] - 13, 2) + pow(p[2] - 9, 2)) - 2.2;
}
static void falling(const world *w, const double p[3], double u[3])
{
    (void)w;
    (void)p;
    u[1] = -1;
}

/* What a flow through a solid would carry into it stays before it; what leaves the domain is gone. */
static void keeps_out_of_solids(void **state)
{
    (void)state;
    world w = make_world(16, 24, 18, droplet, boulder, 32, 2);
    set_flow(&w, falling);
    int before = w.particles->count;
    for (int k = 0; k < 30; k++) {
        und_level_set_particles_move(w.particles, w.u, 0.3, w.wall);
        for (int i = 0; i < w.particles->count; i++)
            assert_true(phi_of(&w, w.wall, i) > -0.02);
    }
    und_level_set_particles_tidy(w.particles, &w.distance, w.wall);
    assert_int_equal(w.particles->count, before);
    for (int k = 0; k < 10; k++)
        und_level_set_particles_move(w.particles, w.u, 3, NULL);
    for (int k = 0; k < 5; k++)
        und_level_set_particles_tidy(w.particles, &w.distance, NULL);
    assert_int_equal(w.particles->count, 0);
    end_world(&w);
}

static double nothing(const double p[3])
{
    (void)p;
    return 4;
}
typedef struct finds {
    int count;
    float last;
} finds;
static void found(void *context, const float place[3], float radius)
{
    finds *f = context;
    assert_true(radius < 0 && place[2] >= f->last - 1); /* in the order they lie in */
    f->last = place[2];
    f->count++;
}

static void hands_over_what_is_lost(void **state)
{
    (void)state;
    world w = make_world(16, 24, 18, droplet, NULL, 16, 2);
    int liquid = 0, all = w.particles->count;
    for (int i = 0; i < all; i++)
        liquid += w.particles->radius[i] < 0;
    finds f = {0};
    und_level_set_particles_lost lost = {found, &f, .little = 100, .much = INFINITY};
    und_level_set_particles_correct(w.particles, &w.distance, &lost);
    assert_int_equal(f.count, 0); /* none has escaped */
    set_field(&w, w.distance.phi, nothing);
    und_distance_refresh(&w.distance);
    lost.little = 0;
    und_level_set_particles_correct(w.particles, &w.distance, &lost);
    assert_int_equal(f.count, 0); /* they put phi right instead */
    set_field(&w, w.distance.phi, nothing);
    und_distance_refresh(&w.distance);
    lost.little = 100;
    und_level_set_particles_correct(w.particles, &w.distance, &lost);
    assert_int_equal(f.count, liquid);
    assert_true(liquid > all / 4 && liquid < all);
    und_level_set_particles_correct(w.particles, &w.distance, &lost);
    assert_int_equal(f.count, liquid); /* they are gone */
    end_world(&w);
}

/* Air that is in the middle of the liquid's particles goes, and does not put phi right. */
static void air_gives_way(void **state)
{
    (void)state;
    world w = make_world(16, 24, 18, droplet, NULL, 16, 2);
    finds f = {0};
    for (int i = 0; i < w.particles->count; i++)
        w.particles->radius[i] = i % 8 == 0 ? 0.01F : w.particles->radius[i];
    und_level_set_particles_lost lost = {found, &f, .little = 0, .much = 0.3F};
    double before = und_distance_volume(&w.distance, NULL);
    int air = 0;
    und_level_set_particles_correct(w.particles, &w.distance, &lost);
    for (int i = 0; i < w.particles->count; i++) {
        const int at[3] = {(int)w.particles->place[0][i], (int)w.particles->place[1][i],
                           (int)w.particles->place[2][i]};
        float phi = w.distance.phi[und_mac_at(&w.particles->mac, at[0], at[1], at[2])];
        air += phi < -0.9F && w.particles->radius[i] > 0;
    }
    assert_int_equal(air, 0);
    assert_double_near(und_distance_volume(&w.distance, NULL), before, 0.02 * before);
    end_world(&w);
}

static uint64_t hash_of(world *w, und_frame *state)
{
    und_error err;
    und_state_field list[UND_LEVEL_SET_PARTICLES_STATE + 1];
    int parts = und_level_set_particles_state(w->particles, list);
    list[parts++] = und_state_field_of("phi", UND_F32, w->distance.phi, w->mac.count);
    assert_int_equal(und_state_save_fields(list, parts, state, &err), UND_OK);
    return und_frame_hash(state, 1);
}

/* The state is given to another world half way. */
static uint64_t deform(int threads, bool resume)
{
    enum { STEPS = 46 };
    und_error err;
    world w = make_world(24, 22, 20, droplet, boulder, 32, threads);
    set_flow(&w, vortex);
    for (int k = 0; k < STEPS; k++) {
        if (resume && k == STEPS / 2) {
            world other = make_world(24, 22, 20, pool, boulder, 32, threads);
            und_frame state = {0};
            und_state_field list[UND_LEVEL_SET_PARTICLES_STATE + 1];
            hash_of(&w, &state);
            int parts = und_level_set_particles_state(other.particles, list);
            list[parts++] = und_state_field_of("phi", UND_F32, other.distance.phi, other.mac.count);
            assert_int_equal(und_state_restore_fields(list, parts, &state, &err), UND_OK);
            assert_int_equal(und_level_set_particles_restored(other.particles, &err), UND_OK);
            und_distance_refresh(&other.distance);
            set_flow(&other, vortex);
            und_frame_clear(&state);
            end_world(&w);
            w = other;
        }
        step(&w, 0.7, true);
    }
    und_frame state = {0};
    uint64_t hash = hash_of(&w, &state);
    und_frame_clear(&state);
    end_world(&w);
    return hash;
}

static void has_the_same_bits(void **state)
{
    (void)state;
    uint64_t one = deform(1, false);
    assert_true(deform(2, false) == one);
    assert_true(deform(7, false) == one);
    assert_true(deform(2, true) == one);
}

static void no_number(const world *w, const double p[3], double u[3])
{
    (void)w;
    u[0] = p[0] < 8 ? NAN : 1e30;
    u[1] = p[1] < 12 ? -INFINITY : 0;
}

static void survives_a_broken_flow(void **state)
{
    (void)state;
    world w = make_world(16, 24, 18, droplet, boulder, 16, 2);
    set_flow(&w, no_number);
    for (int k = 0; k < 12; k++) {
        und_level_set_particles_move(w.particles, w.u, 1, w.wall);
        und_level_set_particles_correct(w.particles, &w.distance, NULL);
        und_level_set_particles_tidy(w.particles, &w.distance, w.wall);
        for (int i = 0; i < w.particles->count; i++)
            for (int a = 0; a < 3; a++)
                assert_true(w.particles->place[a][i] >= 0 && w.particles->place[a][i] <= (float)w.mac.n[a]);
    }
    end_world(&w);
}

static void refuses_a_damaged_state(void **state)
{
    (void)state;
    und_error err;
    world w = make_world(16, 24, 18, droplet, NULL, 16, 1);
    assert_int_equal(und_level_set_particles_restored(w.particles, &err), UND_OK);
    w.particles->place[1][7] = NAN;
    assert_int_equal(und_level_set_particles_restored(w.particles, &err), UND_FAILED);
    assert_non_null(strstr(err.text, "tracer 7"));
    w.particles->place[1][7] = 3;
    w.particles->radius[8] = INFINITY;
    assert_int_equal(und_level_set_particles_restored(w.particles, &err), UND_FAILED);
    end_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fills_the_band),
        cmocka_unit_test(keeps_the_slotted_disk),
        cmocka_unit_test(rests),
        cmocka_unit_test(stirs_along_walls),
        cmocka_unit_test(keeps_out_of_solids),
        cmocka_unit_test(hands_over_what_is_lost),
        cmocka_unit_test(air_gives_way),
        cmocka_unit_test(has_the_same_bits),
        cmocka_unit_test(survives_a_broken_flow),
        cmocka_unit_test(refuses_a_damaged_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
