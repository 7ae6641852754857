/* What rays meet: the liquid's distance against exact surfaces, triangles against a plain test, drops on
 * their way, damaged frames. */
#include "tests/distance_frame.h"
#include "tests/test.h"

#include "base/random.h"
#include "trace/world_parts.h"

typedef struct shown {
    und_scenery *scenery;
    und_world *world;
} shown;

static und_picture_def small_def(void)
{
    und_picture_def def = und_picture_def_default();
    def.width = 32;
    def.height = 18;
    def.threads = 1;
    return def;
}

static shown show_with(const und_frame *frame, und_picture_def def)
{
    und_error err = {0};
    shown s = {.scenery = und_scenery_create(&def, false, &err)};
    assert_non_null(s.scenery);
    if (und_scenery_prepare(s.scenery, frame, &err) == UND_OK)
        s.world = und_world_create(s.scenery, frame, &err);
    return s;
}

static shown show(const und_frame *frame)
{
    shown s = show_with(frame, small_def());
    assert_non_null(s.world);
    return s;
}

static void hide(shown *s)
{
    und_world_destroy(s->world);
    und_scenery_destroy(s->scenery);
}

static float chance(uint64_t stream, uint64_t index)
{
    return (float)und_random(5, stream, index);
}

static f3 any_direction(uint64_t index)
{
    float y = 2 * chance(1, index) - 1, out = sqrtf(maxf(1 - y * y, 0)), turn = 6.2831853f * chance(2, index);
    return f3_unit(f3_make(out * cosf(turn), y, out * sinf(turn)));
}

static und_ray ray_from(f3 from, f3 dir)
{
    return (und_ray){.from = from, .dir = dir, .near = 0, .far = INFINITY, .time = 1, .camera = true};
}

/* A ball of radius 0.31 in the middle of a unit box. */
static const f3 MIDDLE = {0.75f, 0, 1.5f};
static const double RADIUS = 0.31;

static double ball_distance(double x, double y, double z)
{
    double d[3] = {x - 0.75, y, z - 1.5};
    return sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) - RADIUS;
}

/* The farthest of hits from the ball and of normals from its own, in and out. */
static void ball_errors(int n, double *place, double *normal)
{
    und_frame frame = distance_frame(n, n, n, 1.0 / n, ball_distance);
    shown s = show(&frame);
    *place = *normal = 0;
    for (uint64_t k = 0; k < 400; k++) {
        f3 dir = any_direction(k), side = any_direction(k + 1000);
        if (k % 2 == 0)
            dir.y = -fabsf(dir.y); /* from above the table */
        f3 aim = f3_along(MIDDLE, side, 0.7f * (float)RADIUS * chance(3, k));
        und_ray ray = ray_from(f3_along(aim, dir, k % 2 ? 0 : -0.8f), dir); /* from inside, from outside */
        und_hit hit;
        assert_true(s.world->cast(s.world, &ray, &hit));
        assert_int_equal(hit.id, UND_ID_LIQUID);
        assert_int_equal(hit.matter.kind, UND_MATTER_DIELECTRIC);
        assert_true((f3_dot(hit.face, dir) > 0) == (k % 2 == 1));
        assert_true((f3_dot(hit.normal, dir) > 0) == (k % 2 == 1));
        f3 out = f3_unit(f3_sub(hit.place, MIDDLE));
        *place =
            fmax(*place, fabs(ball_distance((double)hit.place.x, (double)hit.place.y, (double)hit.place.z)));
        f3 off = f3_sub(hit.normal, out);
        *normal = fmax(*normal, sqrt((double)f3_dot(off, off)));
    }
    hide(&s);
    und_frame_clear(&frame);
}

static void hits_a_ball(void **state)
{
    (void)state;
    double place[3], normal[3];
    for (int k = 0; k < 3; k++)
        ball_errors(16 << k, &place[k], &normal[k]);
    for (int k = 0; k < 3; k++) { /* the interpolant is off by at most h^2 / 8 times the curvatures' sum */
        double h = 1.0 / (16 << k);
        if (!(place[k] < 0.26 * h * h / RADIUS) || !(normal[k] < 0.5 * h / RADIUS))
            fail_msg("at h = 1/%d: places off by %g, normals by %g", 16 << k, place[k], normal[k]);
    }
    assert_true(place[0] / place[2] > 12); /* 16: second order */
    assert_true(normal[0] / normal[2] > 6);
}

/* Lumps that merge, thin necks, holes, and a floor of liquid: no distance anywhere. */
static double lumps(double x, double y, double z)
{
    double f = sin(11 * x) * cos(9 * y + 1) + sin(8 * z + x) * cos(12 * y) + sin(10 * z) * cos(7 * x);
    return 0.08 * f + 0.05 * (y + 0.1);
}

/* Follows a straight way through the world's liquid; the number of its surfaces. */
static int follow(const und_world *w, f3 from, f3 dir, int *lost)
{
    und_matter matter;
    bool inside = w->within(w, from, &matter);
    int count = 0;
    for (;; count++) {
        und_ray ray = ray_from(from, dir);
        und_hit hit;
        if (!w->cast(w, &ray, &hit) || hit.id != UND_ID_LIQUID)
            break;
        assert_true((f3_dot(hit.face, dir) > 0) == inside); /* out of it after into it */
        assert_true(hit.t >= 0 && hit.offset > 0);
        inside = !inside;
        from = f3_along(hit.place, hit.face, f3_dot(hit.face, dir) > 0 ? hit.offset : -hit.offset);
        assert_true(count < 200);
    }
    /* Beside an edge of the box the offset may lead out by the other wall. */
    bool beside = from.x < 0.25f || from.x > 1.25f || from.y > 0.5f || from.z < 1 || from.z > 2;
    assert_true(!inside || beside);
    *lost += inside;
    return count;
}

static void never_lost(void **state)
{
    (void)state;
    und_frame frame = distance_frame(40, 40, 40, 1.0 / 40, lumps);
    shown s = show(&frame);
    int surfaces = 0, lost = 0;
    for (uint64_t k = 0; k < 20000; k++) {
        f3 dir = any_direction(k);
        dir = f3_unit(f3_make(dir.x, fabsf(dir.y) + 0.01f, dir.z)); /* up: off the table */
        f3 through = f3_make(0.25f + chance(4, k), -0.5f + chance(5, k), 1 + chance(6, k));
        f3 from = f3_along(through, dir, -minf(3, (through.y + 0.499f) / dir.y)); /* above the table */
        if (k % 7 == 0) /* along the lattice's planes and lines */
            dir = k % 2 ? f3_make(1, 0, 0) : f3_make(0, 0, -1);
        if (k % 7 == 0)
            from = f3_along(
                f3_make(0.2625f + 0.0125f * (float)(k % 78), -0.4875f + 0.0125f * (float)(k % 76), 1.5f), dir,
                -3);
        surfaces += follow(s.world, from, dir, &lost);
    }
    assert_true(surfaces > 60000);
    assert_true(lost < 5);
    hide(&s);
    und_frame_clear(&frame);
}

static double film_thickness; /* m: on the box's low wall across x */
static double film_on_wall(double x, double y, double z)
{
    (void)y;
    (void)z;
    return x - 0.25 - film_thickness;
}

/* A film is got into and out of, or, where it is thinner than rays can tell, not met at all: none goes on as
 * if there were liquid behind it. */
static void passes_films(void **state)
{
    (void)state;
    const double thickness[] = {2e-6, 5e-5, 5e-3};
    for (int i = 0; i < 3; i++) {
        film_thickness = thickness[i];
        und_frame frame = distance_frame(16, 16, 16, 1.0 / 16, film_on_wall);
        shown s = show(&frame);
        for (uint64_t k = 0; k < 100; k++) {
            const f3 to = f3_make(0.25f, -0.4f + 0.8f * chance(4, k), 1.1f + 0.8f * chance(5, k));
            const f3 dir = f3_unit(f3_make(-1, -0.5f * chance(6, k), 0.3f * chance(7, k)));
            int lost = 0;
            assert_int_equal(follow(s.world, f3_along(to, dir, -0.2f), dir, &lost), i < 2 ? 0 : 2);
            assert_int_equal(follow(s.world, f3_along(to, dir, 0.1f), f3_scale(dir, -1), &lost),
                             i < 2 ? 0 : 2);
            assert_int_equal(lost, 0);
        }
        hide(&s);
        und_frame_clear(&frame);
    }
}

static double everywhere(double x, double y, double z)
{
    (void)x;
    (void)y;
    (void)z;
    return -1;
}

static void full_box(void **state)
{
    (void)state;
    und_frame frame = distance_frame(12, 10, 14, 0.05, everywhere);
    shown s = show(&frame);
    const float low[3] = {0.25f, -0.5f, 1}, high[3] = {0.85f, 0, 1.7f};
    for (uint64_t k = 0; k < 500; k++) {
        f3 from =
            f3_make(low[0] + 0.6f * chance(7, k), low[1] + 0.5f * chance(8, k), low[2] + 0.7f * chance(9, k));
        f3 dir = any_direction(k);
        und_ray ray = ray_from(from, dir);
        und_hit hit;
        assert_true(s.world->cast(s.world, &ray, &hit));
        float t = INFINITY, d[3] = {dir.x, dir.y, dir.z}, p[3] = {from.x, from.y, from.z};
        int wall = -1;
        for (int a = 0; a < 3; a++) {
            float to = ((d[a] > 0 ? high[a] : low[a]) - p[a]) / d[a];
            wall = to < t ? a : wall;
            t = minf(t, to);
        }
        assert_double_near((double)hit.t, (double)t, 2e-6);
        float n[3] = {hit.normal.x, hit.normal.y, hit.normal.z};
        if (wall == 1 && d[1] < 0) { /* it stands on the table */
            assert_int_equal(hit.id, UND_ID_GROUND);
            continue;
        }
        assert_int_equal(hit.id, UND_ID_LIQUID);
        assert_double_near((double)n[wall], d[wall] > 0 ? 1 : -1, 0);
        und_matter matter;
        assert_true(s.world->within(s.world, from, &matter));
        assert_false(s.world->blocked(s.world, &ray) && d[1] > 0);
        assert_false(s.world->within(s.world, f3_along(from, dir, t + 1e-3f), &matter));
    }
    hide(&s);
    und_frame_clear(&frame);
}

static float *add_rows(und_frame *frame, const char *name, size_t rows, size_t columns)
{
    und_item_def def = {
        .name = name, .unit = "m", .kind = UND_PARTICLES, .type = UND_F32, .rank = 2, .dim = {rows, columns}};
    und_item *item = und_frame_add(frame, &def, NULL);
    assert_non_null(item);
    return item->data;
}

static double nowhere(double x, double y, double z)
{
    (void)x;
    (void)y;
    (void)z;
    return 1;
}

/* Moller & Trumbore 1997, in double precision; infinite: missed.  *close: so near an edge that rounding
 * decides. */
static double meet_triangle(const float *p, f3 from, f3 dir, bool *close)
{
    double a[3], e1[3], e2[3], o[3] = {(double)from.x, (double)from.y, (double)from.z},
                               d[3] = {(double)dir.x, (double)dir.y, (double)dir.z};
    for (int k = 0; k < 3; k++) {
        a[k] = o[k] - (double)p[k];
        e1[k] = (double)p[3 + k] - (double)p[k];
        e2[k] = (double)p[6 + k] - (double)p[k];
    }
#define CROSS(u, v)                                                                     \
    {                                                                                   \
        u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0] \
    }
#define DOT(u, v) (u[0] * v[0] + u[1] * v[1] + u[2] * v[2])
    double h[3] = CROSS(d, e2), q[3] = CROSS(a, e1), det = DOT(e1, h);
    double u = DOT(a, h) / det, v = DOT(d, q) / det, t = DOT(e2, q) / det;
    double least = fmin(fmin(u, v), 1 - u - v);
    *close = *close || (fabs(least) < 1e-4 && t > 0);
    return least >= 0 && t > 0 ? t : INFINITY;
}

static void meets_triangles(void **state)
{
    (void)state;
    enum { TRIANGLES = 300 };
    und_frame frame = distance_frame(8, 8, 8, 0.125, nowhere);
    float *p = add_rows(&frame, "solid/mesh_position", 3 * TRIANGLES, 3);
    for (uint64_t k = 0; k < TRIANGLES; k++)
        for (uint64_t c = 0; c < 9; c++) {
            const float low[3] = {0.25f, -0.5f, 1};
            p[9 * k + c] = low[c % 3] + 0.7f * chance(10 + c % 3, k) + 0.3f * chance(20 + c, k);
        }
    shown s = show(&frame);
    int met = 0;
    for (uint64_t k = 0; k < 3000; k++) {
        f3 dir = any_direction(k);
        dir = f3_unit(f3_make(dir.x, fabsf(dir.y) + 0.01f, dir.z));
        f3 from = f3_along(f3_make(0.25f + chance(4, k), -0.5f + chance(5, k), 1 + chance(6, k)), dir, -1.5f);
        from.y = maxf(from.y, -0.45f);
        double t = INFINITY;
        bool close = false;
        for (size_t i = 0; i < TRIANGLES; i++)
            t = fmin(t, meet_triangle(p + 9 * i, from, dir, &close));
        und_ray ray = ray_from(from, dir);
        und_hit hit;
        bool found = s.world->cast(s.world, &ray, &hit);
        if (close)
            continue;
        assert_true(found == isfinite(t));
        assert_true(s.world->blocked(s.world, &ray) == found);
        if (found) {
            assert_double_near((double)hit.t, t, 1e-5);
            assert_int_equal(hit.id, UND_ID_SOLID);
            assert_true(f3_dot(hit.face, dir) < 0 && f3_dot(hit.normal, dir) < 0);
            met++;
        }
    }
    assert_true(met > 500);
    hide(&s);
    und_frame_clear(&frame);
}

/* A drop that flies past: where it is depends on the ray's time, over the shutter's. */
static void drop_on_its_way(void **state)
{
    (void)state;
    und_frame frame = distance_frame(8, 8, 8, 0.125, nowhere);
    memcpy(add_rows(&frame, "spray/position", 1, 3), (float[3]){0.75f, 0.2f, 1.5f}, 12);
    memcpy(add_rows(&frame, "spray/velocity", 1, 3), (float[3]){10, 0, -4}, 12);
    add_rows(&frame, "spray/radius", 1, 1)[0] = 0.02f;
    und_picture_def def = small_def();
    def.shutter = 0.02;
    shown s = show_with(&frame, def);
    assert_non_null(s.world);
    for (int k = 0; k <= 4; k++) {
        float time = 0.25f * (float)k, back = 0.02f * (1 - time);
        f3 at = f3_make(0.75f - 10 * back, 0.2f, 1.5f + 4 * back);
        und_ray ray = ray_from(f3_make(at.x, 1, at.z), f3_make(0, -1, 0));
        ray.time = time;
        ray.spread = 1e-4f;
        und_hit hit;
        assert_true(s.world->cast(s.world, &ray, &hit));
        assert_int_equal(hit.id, UND_ID_SPRAY);
        assert_int_equal(hit.matter.kind, UND_MATTER_DIELECTRIC);
        assert_double_near((double)hit.t, 0.78, 1e-5);
        assert_double_near((double)hit.velocity.x, 10, 0);
        ray.spread = 0.04f; /* a wide cone sees what many of them are */
        assert_true(s.world->cast(s.world, &ray, &hit));
        assert_int_equal(hit.matter.kind, UND_MATTER_DIFFUSE);
        ray.spread = 1e-4f;
        ray.from.y = 0.2f; /* from its middle: out of it */
        assert_true(s.world->cast(s.world, &ray, &hit));
        assert_double_near((double)hit.t, 0.02, 1e-5);
        assert_true(f3_dot(hit.face, ray.dir) > 0);
        ray.from.y = 1;
        assert_false(
            s.world->blocked(s.world, &(und_ray){.from = ray.from, .dir = ray.dir, .far = 1, .time = time}));
        ray.time = k < 2 ? 1 : 0; /* it is not there yet, or no longer */
        assert_true(s.world->cast(s.world, &ray, &hit) && hit.id == UND_ID_GROUND);
    }
    hide(&s);
    und_frame_clear(&frame);
}

/* Of two solids that stand side by side one turns. */
static void solid_on_its_way(void **state)
{
    (void)state;
    und_frame frame = distance_frame(8, 8, 8, 0.125, nowhere);
    const float corner[18] = {0.3f, 0,    1.2f, 0.3f, 0,    1.8f, 0.9f, 0,    1.2f,
                              0.3f, 0.1f, 1.2f, 0.3f, 0.1f, 1.8f, 0.9f, 0.1f, 1.2f};
    memcpy(add_rows(&frame, "solid/mesh_position", 6, 3), corner, sizeof corner);
    und_item_def def = {
        .name = "solid/mesh_first", .unit = "1", .kind = UND_NUMBERS, .type = UND_I32, .rank = 1, .dim = {3}};
    und_item *item = und_frame_add(&frame, &def, NULL);
    assert_non_null(item);
    memcpy(item->data, (int32_t[3]){0, 3, 6}, 12);
    float *motion = add_rows(&frame, "solid/motion", 2, 9);
    memcpy(motion + 9, (float[9]){0.3f, 0.1f, 1.2f, 0, 2, 0, 0, 0, 3}, 36); /* up, and about z */
    und_picture_def render = small_def();
    render.shutter = 0.01;
    shown s = show_with(&frame, render);
    assert_non_null(s.world);
    for (int k = 0; k <= 4; k++) {
        float time = 0.25f * (float)k;
        und_ray ray = ray_from(f3_make(0.5f, 1, 1.4f), f3_make(0, -1, 0));
        ray.time = time;
        und_hit hit;
        assert_true(s.world->cast(s.world, &ray, &hit));
        assert_int_equal(hit.id, UND_ID_SOLID + 1);
        assert_double_near((double)hit.place.y, 0.1 - 0.01 * (1 - (double)time) * (2 + 3 * 0.2), 1e-5);
        assert_double_near((double)hit.velocity.y, 2 + 3 * 0.2, 1e-4);
        ray.from.y = 0.05f;
        assert_true(s.world->cast(s.world, &ray, &hit));
        assert_int_equal(hit.id, UND_ID_SOLID);
        assert_double_near((double)hit.place.y, 0, 1e-6);
        assert_double_near((double)hit.velocity.y, 0, 0);
    }
    hide(&s);
    und_frame_clear(&frame);
}

/* A film of water mirrors as both of its faces do, a little of it is white, and the rest of the rays go on;
 * light's own rays go through. */
static void sees_a_film(void **state)
{
    (void)state;
    enum { RAYS = 20000 };
    und_frame frame = distance_frame(8, 8, 8, 0.125, nowhere);
    const float corner[9] = {-2, 0.3f, -2, 0, 0.3f, 8, 5, 0.3f, -2};
    memcpy(add_rows(&frame, "sheet/mesh_position", 3, 3), corner, sizeof corner);
    shown s = show(&frame);
    for (int tilt = 0; tilt < 2; tilt++) {
        int met = 0, mirrors = 0;
        f3 dir = f3_unit(f3_make(tilt ? 2.5f : 0, -1, 0));
        double one = und_fresnel((double)-dir.y, s.scenery->def.refraction), mirrored = 2 * one / (1 + one);
        for (uint64_t k = 0; k < RAYS; k++) {
            und_ray ray =
                ray_from(f3_make(0.2f + 0.2f * chance(4, k), 0.5f, 1.2f + 0.5f * chance(5, k)), dir);
            und_hit hit;
            assert_true(s.world->cast(s.world, &ray, &hit) && hit.id == UND_ID_GROUND);
            ray.spread = 1e-4f;
            assert_true(s.world->cast(s.world, &ray, &hit));
            met += hit.id == UND_ID_SPRAY;
            mirrors += hit.matter.kind == UND_MATTER_METAL;
        }
        double share = 1 - (1 - mirrored) * (1 - 0.04), deviation = sqrt(share * (1 - share) / RAYS);
        assert_double_near((double)met / RAYS, share, 4 * deviation);
        assert_double_near((double)mirrors / RAYS, mirrored, 4 * deviation);
    }
    hide(&s);
    und_frame_clear(&frame);
}

/* A height field: a ground that falls along x, under still water. */
static und_frame pool_frame(int n)
{
    und_frame frame = und_frame_empty(1, 0, (und_grid){.n = {n, 1, n}, .dx = 1.0 / n});
    und_item_def def = {.name = "ground",
                        .unit = "m",
                        .kind = UND_FIELD,
                        .type = UND_F32,
                        .rank = 2,
                        .dim = {(size_t)n, (size_t)n}};
    und_item *item = und_frame_add(&frame, &def, NULL);
    assert_non_null(item);
    for (int k = 0; k < n * n; k++)
        ((float *)item->data)[k] = 0.1f - 0.5f * ((float)(k % n) + 0.5f) / (float)n;
    def.name = "surface"; /* dry where the ground is higher than 0 */
    item = und_frame_add(&frame, &def, NULL);
    assert_non_null(item);
    for (int k = 0; k < n * n; k++)
        ((float *)item->data)[k] = fmaxf(0, 0.1f - 0.5f * ((float)(k % n) + 0.5f) / (float)n);
    return frame;
}

/* The block of water over the ground: what a straight way through it meets, from all sides. */
static void meets_a_pool(void **state)
{
    (void)state;
    und_frame frame = pool_frame(32);
    und_picture_def def = small_def();
    def.ripples = 0;
    def.texture = 0; /* no bumps */
    shown s = show_with(&frame, def);
    assert_non_null(s.world);
    const und_mesh *m = &s.scenery->mesh;
    int waters = 0, grounds = 0;
    for (uint64_t k = 0; k < 4000; k++) {
        f3 aim = f3_make(m->x0 + 0.9f * chance(4, k), -0.3f * chance(5, k), m->z0 + 0.9f * chance(6, k));
        f3 dir = any_direction(k), from = f3_along(aim, dir, -3);
        bool inside = false;
        for (int events = 0; events < 8; events++) {
            und_ray ray = ray_from(from, dir);
            und_hit hit;
            if (!s.world->cast(s.world, &ray, &hit))
                break;
            if (hit.id == UND_ID_GROUND) {
                float high = 0.1f - 0.5f * hit.place.x;
                if (hit.face.y > 0.5f) {
                    assert_double_near((double)hit.place.y, (double)high, 1e-4);
                    assert_double_near((double)hit.face.x, 0.5 / sqrt(1.25), 1e-3);
                    assert_true(inside == (high < -1e-3f) || fabsf(high) < 1e-3f);
                    grounds++;
                }
                assert_true(s.world->blocked(s.world, &ray));
                inside = false;
                break;
            }
            assert_int_equal(hit.id, UND_ID_LIQUID);
            assert_true((f3_dot(hit.face, dir) > 0) == inside);
            if (fabsf(hit.face.y) > 0.5f)
                assert_double_near((double)hit.place.y, 0, 1e-5);
            inside = !inside;
            waters++;
            und_matter water;
            from = f3_along(hit.place, hit.face, inside ? -hit.offset : hit.offset);
            f3 beyond = f3_along(from, hit.face, inside ? -1e-3f : 1e-3f);
            bool deep = 0.1f - 0.5f * beyond.x < beyond.y; /* not in the ground, at the shore */
            assert_true(!deep || s.world->within(s.world, beyond, &water) == inside);
        }
        assert_false(inside);
    }
    assert_true(waters > 1500 && grounds > 1000);
    hide(&s);
    und_frame_clear(&frame);
}

static double speed_x(double x, double y, double z) /* known where the ball is, and little beyond */
{
    return ball_distance(x, y, z) < 0.06 ? 4 : 0;
}

static double speed_y(double x, double y, double z)
{
    return ball_distance(x, y, z) < 0.06 ? -2 : 0;
}

static double no_speed(double x, double y, double z)
{
    (void)x;
    (void)y;
    (void)z;
    return 0;
}

/* A ball of liquid that flies by: at each moment it is where it was then, as round as ever. */
static void ball_on_its_way(void **state)
{
    (void)state;
    const int n = 48;
    const float shutter = 0.03f;
    und_frame frame = distance_frame(n, n, n, 1.0 / n, ball_distance);
    add_samples(&frame, "velocity_x", "m/s", 0, speed_x);
    add_samples(&frame, "velocity_y", "m/s", 1, speed_y);
    add_samples(&frame, "velocity_z", "m/s", 2, no_speed);
    und_picture_def def = small_def();
    def.shutter = (double)shutter;
    def.motion_blur = true;
    shown s = show_with(&frame, def);
    assert_non_null(s.world);
    double worst = 0, still = 0;
    for (uint64_t k = 0; k < 1200; k++) {
        float time = chance(4, k), back = shutter * (1 - time);
        f3 middle = f3_add(MIDDLE, f3_make(-4 * back, 2 * back, 0)), dir = any_direction(k), n_smooth, out;
        und_ray ray = ray_from(f3_along(middle, any_direction(k + 5000), 0.2f), dir);
        ray.time = k % 3 ? time : 1;
        if (k % 3 == 0)
            ray.from = f3_add(ray.from, f3_sub(MIDDLE, middle)), middle = MIDDLE;
        und_hit hit;
        assert_true(s.world->cast(s.world, &ray, &hit));
        out = f3_sub(hit.place, middle);
        double off = fabs(sqrt((double)f3_dot(out, out)) - RADIUS);
        n_smooth = f3_sub(hit.normal, f3_unit(out));
        *(k % 3 ? &worst : &still) = fmax(k % 3 ? worst : still, off);
        assert_true(f3_dot(n_smooth, n_smooth) < 0.15f * 0.15f);
        if (k % 3 == 0)
            assert_double_near((double)hit.velocity.x, 4, 1e-5);
    }
    assert_true(still < 0.26 / (n * n * RADIUS)); /* as without motion */
    if (!(worst < 0.15 / n))
        fail_msg("off by %g cells", worst * n);
    hide(&s);
    und_frame_clear(&frame);
}

static void any_threads(void **state)
{
    (void)state;
    und_frame frame = distance_frame(40, 40, 40, 1.0 / 40, lumps);
    shown s[2];
    for (int k = 0; k < 2; k++) {
        und_picture_def def = small_def();
        def.threads = 1 + 2 * k;
        s[k] = show_with(&frame, def);
        assert_non_null(s[k].world);
    }
    for (uint64_t k = 0; k < 2000; k++) {
        f3 dir = any_direction(k);
        und_ray ray = ray_from(
            f3_along(f3_make(0.25f + chance(4, k), -0.5f + chance(5, k), 1 + chance(6, k)), dir, -0.5f), dir);
        und_hit a, b;
        bool met = s[0].world->cast(s[0].world, &ray, &a);
        assert_true(met == s[1].world->cast(s[1].world, &ray, &b));
        assert_true(!met || (a.t == b.t && a.normal.x == b.normal.x && a.id == b.id));
    }
    hide(&s[0]);
    hide(&s[1]);
    und_frame_clear(&frame);
}

static double damaged(double x, double y, double z)
{
    int k = (int)(1000 * (x + 3 * y + 7 * z));
    return k % 5 == 0 ? NAN : k % 5 == 1 ? INFINITY : k % 5 == 2 ? -INFINITY : k % 5 == 3 ? -0.01 : 1e30;
}

static void throw_rays(const und_world *w)
{
    for (uint64_t k = 0; k < 500; k++) {
        f3 dir = any_direction(k);
        und_ray ray = ray_from(f3_along(f3_make(0.7f, 0, 1.5f), dir, -2 * chance(3, k)), dir);
        ray.spread = k % 2 ? 1e-3f : 0;
        if (k % 9 == 0)
            ray.dir.x = NAN;
        if (k % 11 == 0)
            ray.from.y = k % 2 ? NAN : INFINITY;
        if (k % 13 == 0)
            ray.dir = f3_gray(0);
        und_hit hit = {0};
        und_matter matter;
        if (w->cast(w, &ray, &hit)) {
            assert_true(isfinite(hit.t) && isfinite(hit.place.x) && isfinite(f3_dot(hit.normal, hit.face)));
            assert_double_near((double)f3_dot(hit.normal, hit.normal), 1, 1e-4);
        }
        w->blocked(w, &ray);
        w->within(w, ray.from, &matter);
    }
}

static void damaged_frames(void **state)
{
    (void)state;
    const int n[4][3] = {{9, 7, 8}, {1, 1, 1}, {2, 1, 5}, {17, 3, 1}};
    for (int k = 0; k < 4; k++) {
        und_frame frame = distance_frame(n[k][0], n[k][1], n[k][2], 0.1, damaged);
        add_samples(&frame, "solid/distance", "m", -1, damaged);
        for (int a = 0; a < 3; a++)
            add_samples(&frame,
                        a == 0   ? "velocity_x"
                        : a == 1 ? "velocity_y"
                                 : "velocity_z",
                        "m/s", a, damaged);
        float *p = add_rows(&frame, "spray/position", 4, 3);
        p[0] = NAN;
        p[4] = INFINITY;
        p[8] = -1e30f;
        add_rows(&frame, "spray/radius", 4, 1)[3] = NAN;
        shown s = show_with(&frame, small_def());
        if (s.world)
            throw_rays(s.world);
        hide(&s);
        und_frame_clear(&frame);
    }
    und_frame heights = pool_frame(12);
    for (int k = 0; k < heights.count; k++)
        for (int c = 0; c < 144; c += 5)
            ((float *)heights.items[k].data)[c] = c % 3 == 0 ? NAN : c % 3 == 1 ? INFINITY : -1e30f;
    const float odd[9] = {NAN, INFINITY, -INFINITY, 1e30f, 0.5f, 0.5f, 0.5f, 0.2f, 0.5f};
    memcpy(add_rows(&heights, "rain/position", 3, 3), odd, sizeof odd);
    memcpy(add_rows(&heights, "rain/velocity", 3, 3), odd, sizeof odd);
    memcpy(add_rows(&heights, "sheet/mesh_position", 3, 3), odd, sizeof odd);
    shown h = show_with(&heights, small_def());
    if (h.world)
        throw_rays(h.world);
    hide(&h);
    und_frame_clear(&heights);
    und_frame wrong = distance_frame(8, 8, 8, 0.125, nowhere);
    wrong.grid.n[0] = 9; /* the item does not fit */
    shown s = show_with(&wrong, small_def());
    assert_null(s.world);
    hide(&s);
    und_frame_clear(&wrong);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hits_a_ball),      cmocka_unit_test(never_lost),
        cmocka_unit_test(full_box),         cmocka_unit_test(meets_triangles),
        cmocka_unit_test(solid_on_its_way), cmocka_unit_test(sees_a_film),
        cmocka_unit_test(meets_a_pool),     cmocka_unit_test(drop_on_its_way),
        cmocka_unit_test(ball_on_its_way),  cmocka_unit_test(any_threads),
        cmocka_unit_test(damaged_frames),   cmocka_unit_test(passes_films),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
