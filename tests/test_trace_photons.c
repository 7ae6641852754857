/* Photons under water whose optics can be written down. */
#include "tests/test.h"

#include "base/pages.h"
#include "stage/optics.h"
#include "trace/photons_parts.h"

static const und_matter water = {UND_MATTER_DIELECTRIC, .index = 1.333f, .priority = 1};
static const und_matter glass = {UND_MATTER_DIELECTRIC, .index = 1.5f, .priority = 2};
static const und_matter chalk = {UND_MATTER_DIFFUSE, .color = {0.5f, 0.5f, 0.5f}};
static const und_matter silver = {UND_MATTER_METAL, .color = {0.9f, 0.8f, 0.7f}};

/* Level faces, the first of which may be curved. */
typedef struct layer {
    double y;
    bool down; /* does its face point down: the end of what lies over it? */
    const und_matter *matter;
} layer;

typedef struct pond {
    und_world world;
    double (*height)(double x, double z, double slope[2]); /* over the first layer; NULL: flat */
    double clear;                                          /* m from the axis; beyond it lies chalk */
    int layers;
    layer layer[6];
} pond;

static double height_at(const pond *p, int i, double x, double z, double slope[2])
{
    slope[0] = slope[1] = 0;
    return p->layer[i].y + (i == 0 && p->height ? p->height(x, z, slope) : 0);
}

/* Newton's method along the ray; surfaces are gentle. */
static double meet(const pond *p, int i, const und_ray *ray, double slope[2])
{
    double t = 0;
    for (int k = 0; k < 12; k++) {
        double x = ray->from.x + t * ray->dir.x, z = ray->from.z + t * ray->dir.z;
        double gap = ray->from.y + t * ray->dir.y - height_at(p, i, x, z, slope);
        double rate = ray->dir.y - slope[0] * ray->dir.x - slope[1] * ray->dir.z;
        t -= gap / (rate != 0 ? rate : 1e-9);
    }
    return t;
}

static bool cast(const und_world *world, const und_ray *ray, und_hit *hit)
{
    const pond *p = (const pond *)world;
    hit->t = INFINITY;
    for (int i = 0; i < p->layers; i++) {
        double slope[2];
        float t = (float)meet(p, i, ray, slope);
        if (!(t > 1e-5f && t >= ray->near && t < ray->far && t < hit->t))
            continue;
        f3 place = f3_along(ray->from, ray->dir, t);
        f3 up = f3_unit(f3_make(-(float)slope[0], 1, -(float)slope[1]));
        *hit = (und_hit){.t = t, .place = place, .normal = p->layer[i].down ? f3_scale(up, -1) : up};
        hit->face = hit->normal;
        bool covered = i == 0 && p->clear > 0 && hypot(place.x, place.z) > p->clear;
        hit->matter = covered ? chalk : *p->layer[i].matter;
    }
    return hit->t < INFINITY;
}

/* The sun, straight above or from one side, with irradiance 1 on what faces it. */
static float lean = 0;
static und_ray beam(const und_lights *lights, const und_box *bounds, double count, const float u[4], f3 *flux)
{
    (void)lights;
    f3 dir = {sinf(lean), -cosf(lean), 0}, size = f3_sub(bounds->high, bounds->low);
    float low = bounds->low.x - tanf(lean) * size.y, wide = bounds->high.x - low;
    *flux = f3_gray((float)(wide * size.z * cosf(lean) / count));
    f3 top = {low + u[2] * wide, bounds->high.y, bounds->low.z + u[3] * size.z};
    return (und_ray){.from = f3_along(top, dir, -1), .dir = dir, .far = INFINITY};
}

static und_photons_def pond_def(const pond *p, size_t count)
{
    return (und_photons_def){.world = &p->world,
                             .count = count,
                             .nearest = 50,
                             .seed = 7,
                             .bounces = 16,
                             .threads = 2,
                             .emit = beam};
}

static und_photons *illuminate(const pond *p, size_t count)
{
    und_photons_def def = pond_def(p, count);
    und_error err = {0};
    und_photons *photons = und_photons_create(&def, &err);
    assert_non_null(photons);
    return photons;
}

/* Where they came to rest. */
typedef struct landing {
    und_photon *list;
    int count;
    double flux;
} landing;

static landing send(const pond *p, size_t count)
{
    und_photons_def def = pond_def(p, count);
    und_error err = {0};
    landing l = {0};
    assert_int_equal(und_photons_send(&def, &l.list, &l.count, &err), UND_OK);
    for (int i = 0; i < l.count; i++)
        l.flux += l.list[i].flux[1];
    return l;
}

static pond make_pond(double depth, double half)
{
    return (pond){
        .world = {.cast = cast,
                  .bounds = {{-(float)half, -(float)depth, -(float)half}, {(float)half, 0.1f, (float)half}}},
        .layers = 2,
        .layer = {{0, false, &water}, {-depth, false, &chalk}}};
}

static void flat_water_lights_its_floor_evenly(void **state)
{
    (void)state;
    pond p = make_pond(0.5, 1);
    und_photons *photons = illuminate(&p, 200000);
    double through = 1 - und_fresnel(1, 1.333), worst = 0, sum = 0, n = 0;
    for (float x = -0.8f; x < 0.81f; x += 0.05f)
        for (float z = -0.8f; z < 0.81f; z += 0.05f, n++) {
            double e = und_photons_at(photons, f3_make(x, -0.5f, z), f3_make(0, 1, 0), true).y / through;
            sum += e;
            worst = fmax(worst, fabs(e - 1));
        }
    assert_double_near(sum / n, 1, 0.002);
    assert_true(worst < 0.06);
    f3 dry = und_photons_at(photons, f3_make(0, -0.5f, 0), f3_make(0, 1, 0), false);
    f3 wall = und_photons_at(photons, f3_make(0, -0.5f, 0), f3_make(1, 0, 0), true);
    assert_true(dry.y == 0 && wall.y == 0);
    und_photons_destroy(photons);
}

/* All that Fresnel lets in and Beer lets through arrives; none of it twice. */
static void energy_is_kept(void **state)
{
    (void)state;
    und_matter murky = water;
    murky.absorption[1] = 0.4f;
    for (int k = 0; k < 3; k++) {
        lean = (float)k * 0.5f;
        pond p = make_pond(0.5, 1);
        p.layer[0].matter = &murky;
        landing l = send(&p, 200000);
        double sine = und_snell_sine(cos(lean), 1.333f), path = 0.5 / sqrt(1 - sine * sine);
        double side = 2 + 0.6 * tan(lean); /* m along x of what the beam covers of the surface */
        double sent = side * 2 * cos(lean) * (1 - und_fresnel(cos(lean), 1.333f));
        assert_double_near(l.flux / sent, exp(-0.4 * path), 0.005 * exp(-0.4 * path));
        und_pages_free(l.list);
    }
    lean = 0;
}

/* Of two dielectrics that overlap one is there: a pane that stands out of the water. */
static void glass_in_water(void **state)
{
    (void)state;
    pond p = make_pond(1, 1);
    p.layers = 4;
    p.layer[1] = (layer){0.2, false, &glass};
    p.layer[2] = (layer){-0.3, true, &glass};
    p.layer[3] = (layer){-1, false, &chalk};
    p.world.bounds.high.y = 0.3f;
    landing l = send(&p, 200000);
    double in = und_fresnel(1, 1.5), on = und_fresnel(1, 1.333 / 1.5);
    /* light goes to and fro in the pane: shares of a series */
    double through = (1 - in) * (1 - on) / (1 - in * on);
    assert_double_near(l.flux / 4, through, 0.005 * through);
    und_pages_free(l.list);
}

static void metal_throws_light(void **state)
{
    (void)state;
    pond p = make_pond(1, 1);
    p.layer[0] = (layer){2, true, &chalk};
    p.layer[1] = (layer){0, false, &silver};
    lean = 0.6f;
    p.layers = 2;
    /* the light starts under the ceiling */
    p.world.bounds.high.y = 0.5f;
    landing l = send(&p, 20000);
    assert_true(l.count > 15000);
    for (int i = 0; i < l.count; i++) {
        assert_double_near(l.list[i].place[1], 2, 1e-5);
        assert_int_equal(l.list[i].normal[1], -127);
        assert_false(l.list[i].within);
    }
    double graze = pow(1 - cos(0.6), 5);
    assert_double_near(l.list->flux[2] / l.list->flux[0], (0.7 + 0.3 * graze) / (0.9 + 0.1 * graze), 1e-5);
    lean = 0;
    und_pages_free(l.list);
}

static double ball(double x, double z, double slope[2])
{
    double r2 = x * x + z * z, root = sqrt(fmax(1 - r2, 0.25));
    slope[0] = -x / root;
    slope[1] = -z / root;
    return root - 1;
}

/* A beam of radius a has a mean squared width of a^2 / 2 (1 - D / f)^2 at depth D under the vertex. */
static void a_bulge_focuses(void **state)
{
    (void)state;
    double depth[3] = {1, 2.5, 6};
    for (int k = 0; k < 3; k++) {
        pond p = make_pond(depth[k], 0.05);
        p.height = ball;
        p.clear = 0.04;
        landing l = send(&p, 100000);
        double wide = 0;
        for (int i = 0; i < l.count; i++)
            for (int a = 0; a < 3; a += 2)
                wide += pow(l.list[i].place[a], 2) / l.count;
        double ratio = sqrt(wide * 2) / 0.04 * (depth[k] > 4 ? -1 : 1);
        assert_double_near(depth[k] / (1 - ratio), 1.333 / 0.333, 4.003e-3);
        und_pages_free(l.list);
    }
}

static double sine(double x, double z, double slope[2])
{
    double k = 2 * acos(-1);
    (void)z;
    slope[0] = -0.02 * k * sin(k * x);
    slope[1] = 0;
    return 0.02 * cos(k * x);
}

/* Vertical light through 0.02 cos(2 pi x), n = 1.333: where on the bottom, and how much, exactly traced. */
static const double sine_light[2][4][2] = {
    {{0, 1.340383338}, {0.07632630418, 1.254957588}, {0.2102699517, 0.9960764002}, {0.5, 0.8025327789}},
    {{0, 2.015904138}, {0.02522818892, 1.917606585}, {0.05295101497, 1.680968537}, {0.5, 0}},
};

static void waves_focus(void **state)
{
    (void)state;
    double depth[2] = {1.267465632, 2.534931265}, through = 1 - und_fresnel(1, 1.333);
    for (int k = 0; k < test_cases(2, 1); k++) {
        pond p = make_pond(depth[k], 1);
        p.height = sine;
        und_photons *photons = illuminate(&p, 400000);
        for (int i = 0; i < 4 && sine_light[k][i][1] > 0; i++) {
            double sum = 0;
            for (float z = -0.7f; z < 0.71f; z += 0.025f) {
                f3 place = {(float)sine_light[k][i][0], -(float)depth[k], z};
                sum += und_photons_at(photons, place, f3_make(0, 1, 0), true).y / 57;
            }
            assert_double_near(sum / through / sine_light[k][i][1], 1, 0.01);
        }
        und_photons_destroy(photons);
    }
}

/* Flat water over a floor that ends in the air at x = 0.7 and at a wall at z = 0.7. */
static bool cast_tank(const und_world *world, const und_ray *ray, und_hit *hit)
{
    (void)world;
    hit->t = INFINITY;
    for (int k = 0; k < 3; k++) {
        float t = k == 0   ? -ray->from.y / ray->dir.y
                  : k == 1 ? (-0.5f - ray->from.y) / ray->dir.y
                           : (0.7f - ray->from.z) / ray->dir.z;
        f3 place = f3_along(ray->from, ray->dir, t);
        bool there = k == 0 || (k == 1 ? place.x < 0.7f : place.y > -0.6f && place.y < 0.3f);
        if (!(t > 1e-5f && t < ray->far && t < hit->t && there))
            continue;
        *hit = (und_hit){.t = t, .place = place, .normal = k < 2 ? f3_make(0, 1, 0) : f3_make(0, 0, -1)};
        hit->face = hit->normal;
        hit->matter = k == 0 ? water : chalk;
    }
    return hit->t < INFINITY;
}

static void floors_are_as_bright_at_their_edges(void **state)
{
    (void)state;
    pond p = {.world = {.cast = cast_tank, .bounds = {{-1, -0.5f, -1}, {1, 0.1f, 0.7f}}}};
    und_photons *photons = illuminate(&p, 200000);
    double through = 1 - und_fresnel(1, 1.333);
    static const float off[] = {0.001f, 0.004f, 0.008f, 0.012f, 0.02f, 0.05f};
    for (size_t i = 0; i < sizeof off / sizeof *off; i++) {
        double end = 0, wall = 0, corner = 0;
        for (int k = 0; k < 60; k++) {
            float along = -0.6f + 0.02f * (float)k;
            f3 up = {0, 1, 0};
            end += und_photons_at(photons, f3_make(0.7f - off[i], -0.5f, along), up, true).y / 60;
            wall += und_photons_at(photons, f3_make(along, -0.5f, 0.7f - off[i]), up, true).y / 60;
            corner += und_photons_at(photons, f3_make(0.7f - off[i], -0.5f, 0.7f - off[i]), up, true).y / 60;
        }
        assert_double_near(end / through, 1, 0.1);
        assert_double_near(wall / through, 1, 0.05);
        assert_double_near(corner / through, 1, 0.13);
    }
    und_photons_destroy(photons);
}

static void the_same_bits_with_any_threads(void **state)
{
    (void)state;
    pond p = make_pond(1, 1);
    p.height = sine;
    und_photons_def def = pond_def(&p, 30000);
    und_error err = {0};
    und_photons *one[2];
    for (int k = 0; k < 2; k++) {
        def.threads = k ? 3 : 1;
        one[k] = und_photons_create(&def, &err);
        assert_non_null(one[k]);
    }
    size_t n = (size_t)one[0]->block_count;
    assert_int_equal(one[1]->block_count, n);
    assert_memory_equal(one[0]->block, one[1]->block, n * sizeof *one[0]->block);
    assert_memory_equal(one[0]->box, one[1]->box, 2 * (size_t)one[0]->leaves * sizeof *one[0]->box);
    und_photons_destroy(one[0]);
    und_photons_destroy(one[1]);
}

/* A small lens in a large dark room: nearly all light is sent through it, and no more of it than there is. */
static void light_is_aimed(void **state)
{
    (void)state;
    pond p = make_pond(1, 4);
    p.clear = 0.3;
    landing l = send(&p, 100000);
    assert_true(l.count > 40000);
    double area = acos(-1) * 0.09 * (1 - und_fresnel(1, 1.333));
    assert_double_near(l.flux, area, 0.005 * area);
    und_pages_free(l.list);
}

static und_ray broken(const und_lights *lights, const und_box *bounds, double count, const float u[4],
                      f3 *flux)
{
    und_ray ray = beam(lights, bounds, count, u, flux);
    if (u[2] < 0.3f)
        flux->y = NAN;
    if (u[3] < 0.3f)
        ray.dir.x = NAN;
    if (u[3] > 0.9f)
        ray.from.y = INFINITY;
    return ray;
}

static void damaged_light_is_dropped(void **state)
{
    (void)state;
    pond p = make_pond(1, 1);
    und_photons_def def = pond_def(&p, 20000);
    def.emit = broken;
    und_error err = {0};
    und_photons *photons = und_photons_create(&def, &err);
    assert_non_null(photons);
    assert_true(photons->block_count > 5000 / UND_PHOTON_BLOCK);
    f3 lit = und_photons_at(photons, f3_make(0.5f, -1, 0.5f), f3_make(0, 1, 0), true);
    assert_true(lit.y > 0 && lit.y < 2);
    f3 e = und_photons_at(photons, f3_make(NAN, 0, 0), f3_make(0, 1, 0), true);
    assert_true(e.y == 0);
    und_photons_destroy(photons);
    def.count = 0;
    photons = und_photons_create(&def, &err);
    assert_non_null(photons);
    assert_true(und_photons_at(photons, f3_gray(0), f3_make(0, 1, 0), true).y == 0);
    und_photons_destroy(photons);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flat_water_lights_its_floor_evenly),
        cmocka_unit_test(energy_is_kept),
        cmocka_unit_test(glass_in_water),
        cmocka_unit_test(metal_throws_light),
        cmocka_unit_test(a_bulge_focuses),
        cmocka_unit_test(waves_focus),
        cmocka_unit_test(floors_are_as_bright_at_their_edges),
        cmocka_unit_test(the_same_bits_with_any_threads),
        cmocka_unit_test(light_is_aimed),
        cmocka_unit_test(damaged_light_is_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
