/* The skin of markers. */
#include "tests/mesh_check.h"
#include "tests/tank.h"

#include "base/random.h"
#include "surface/skin.h"

static const double ZERO[3] = {0, 0, 0};
static const double PI = 3.14159265358979323846;

typedef struct region {
    double low[3], high[3];   /* a box */
    double center[3], radius; /* or, where the radius is above 0, a ball */
} region;

static bool is_in(void *context, double x, double y, double z)
{
    const region *r = context;
    const double p[3] = {x, y, z};
    double square = 0;
    bool inside = true;
    for (int a = 0; a < 3; a++) {
        square += (p[a] - r->center[a]) * (p[a] - r->center[a]);
        inside &= p[a] > r->low[a] && p[a] < r->high[a];
    }
    return r->radius > 0 ? square < r->radius * r->radius : inside;
}

static und_markers *filled(tank *t, region r, int per_cell, int threads)
{
    und_error err;
    und_markers *s = und_markers_create(&t->mac, 3, threads, &err);
    assert_non_null(s);
    assert_int_equal(und_markers_fill(s, is_in, &r, t->label, per_cell, &err), UND_OK);
    und_markers_label(s, t->label);
    return s;
}

static und_isosurface skin_of(const und_markers *s, const tank *t, int per_cell)
{
    und_error err;
    und_isosurface skin;
    assert_int_equal(und_skin_make(s, per_cell, t->label, &skin, &err), UND_OK);
    assert_int_equal(open_edges(skin.position, skin.triangle_count), 0);
    for (size_t i = 0; i < 9 * (size_t)skin.triangle_count; i++)
        assert_true(isfinite(skin.position[i]) && isfinite(skin.normal[i]));
    return skin;
}

/* Places of their own, anywhere in their cell: as they are after a while. */
static void shake(und_markers *s, double way)
{
    for (int a = 0; a < 3; a++)
        for (int i = 0; i < s->count; i++)
            s->place[a][i] += way * s->mac.d[a] * (und_random(9, (uint64_t)a, (uint64_t)i) - 0.5);
}

static void a_ball_is_round(void **state)
{
    (void)state;
    static const int per_cell[3] = {8, 27, 64};
    const double d[3] = {0.1, 0.1, 0.1};
    for (int k = 0; k < 6; k++) {
        tank t = tank_open(24, 24, 24, d, ZERO);
        region r = {.center = {1.21, 1.17, 1.2}, .radius = 0.7};
        und_markers *s = filled(&t, r, per_cell[k / 2], 2);
        if (k % 2)
            shake(s, 0.25);
        und_markers_label(s, t.label);
        und_isosurface skin = skin_of(s, &t, per_cell[k / 2]);
        mesh_size size = measure_mesh(skin.position, skin.triangle_count);
        assert_double_near(size.volume, 4 * PI / 3 * 0.343, 0.03 * 4 * PI / 3 * 0.343);
        assert_double_near(size.area, 4 * PI * 0.49, 0.05 * 4 * PI * 0.49);
        und_isosurface_free(&skin);
        und_markers_destroy(s);
        tank_close(&t);
    }
}

/* How far corners are at most from a plane across the axis, of those within some way of it that face along
 * the axis. */
static double unevenness(const und_isosurface *skin, int axis, double plane, double within)
{
    double worst = 0;
    int found = 0;
    for (size_t i = (size_t)axis; i < 9 * (size_t)skin->triangle_count; i += 3) {
        double off = fabs((double)skin->position[i] - plane);
        if (off < within && fabsf(skin->normal[i]) > 0.8F) {
            worst = fmax(worst, off);
            found++;
        }
    }
    assert_true(found > 500);
    return worst;
}

/* How far normals at a height are tilted on average, degrees. */
static double mean_tilt(const und_isosurface *skin, double height, double within)
{
    double sum = 0;
    int count = 0;
    for (size_t i = 0; i < 3 * (size_t)skin->triangle_count; i++)
        if (fabs((double)skin->position[3 * i + 1] - height) < within && skin->normal[3 * i + 1] > 0.5F) {
            sum += acos(fmin((double)skin->normal[3 * i + 1], 1)) * 180 / PI;
            count++;
        }
    assert_true(count > 100);
    return sum / count;
}

/* A tank filled to 0.55 of its height, cells of other sizes along each axis: flat on top, at the walls and on
 * the floor. */
static void a_pool_is_flat(void **state)
{
    (void)state;
    const double d[3] = {0.1, 0.08, 0.125};
    tank t = tank_open(16, 20, 12, d, ZERO);
    region r = {.low = {-1, -1, -1}, .high = {9, 0.88, 9}};
    und_markers *s = filled(&t, r, 27, 2);
    und_isosurface skin = skin_of(s, &t, 27);
    mesh_size size = measure_mesh(skin.position, skin.triangle_count);
    double worst = unevenness(&skin, 1, 0.88, 0.04);
    assert_true(worst < 0.12 * 0.08);
    assert_true(mean_tilt(&skin, 0.88, 0.04) < 1);
    assert_double_near(size.volume, 1.6 * 0.88 * 1.5, 0.01 * 1.6 * 0.88 * 1.5);
    for (int a = 0; a < 3; a += 2)
        assert_true(unevenness(&skin, a, 0, 0.25 * d[a]) < 2e-3 * d[a]);
    assert_true(unevenness(&skin, 1, 0, 0.25 * d[1]) < 2e-3 * d[1]);
    assert_true(unevenness(&skin, 0, 1.6, 0.025) < 2e-4);
    und_isosurface_free(&skin);
    und_markers_destroy(s);
    tank_close(&t);
}

/* Markers by themselves are drops of their share of a cell, near walls too. */
static void single_markers_are_drops(void **state)
{
    (void)state;
    const double d[3] = {0.1, 0.1, 0.1};
    tank t = tank_open(20, 20, 20, d, ZERO);
    region none = {.radius = 1e-9};
    und_markers *s = filled(&t, none, 27, 1);
    und_error err;
    assert_int_equal(s->count, 0);
    und_isosurface nothing = skin_of(s, &t, 27);
    assert_int_equal(nothing.triangle_count, 0);
    und_isosurface_free(&nothing);
    assert_int_equal(und_markers_reserve(s, 40, &err), UND_OK);
    for (int i = 0; i < 8; i++) {
        s->place[0][i] = i & 1 ? 0.54 + 0.013 * i : 1.999;
        s->place[1][i] = i & 2 ? 0.54 : 1.41 + 0.013 * i;
        s->place[2][i] = i & 4 ? 1e-6 : 1.37;
        s->share[i] = 1.0 / 27;
    }
    s->count = 8;
    und_markers_label(s, t.label);
    for (size_t i = 0; i < t.mac.count; i++)
        t.label[i] = t.label[i] == UND_CELL_FULL ? UND_CELL_SURFACE : t.label[i];
    und_isosurface skin = skin_of(s, &t, 27);
    mesh_size size = measure_mesh(skin.position, skin.triangle_count);
    assert_double_near(size.volume, 8 * 1e-3 / 27, 1e-3 * 8 * 1e-3 / 27);
    for (size_t i = 0; i < 9 * (size_t)skin.triangle_count; i++)
        assert_true(skin.position[i] > -1e-6F && skin.position[i] < 2.000001F);
    und_isosurface_free(&skin);
    und_markers_destroy(s);
    tank_close(&t);
}

/* What flows around a post reaches half a cell into it, and no further; none is inside it. */
static void solids_are_entered_by_half_a_cell(void **state)
{
    (void)state;
    const double d[3] = {0.1, 0.1, 0.1};
    tank t = tank_open(20, 12, 20, d, ZERO);
    for (int z = 7; z < 13; z++)
        for (int y = 0; y < 12; y++)
            for (int x = 7; x < 13; x++)
                t.label[und_mac_at(&t.mac, x, y, z)] = UND_CELL_SOLID;
    region r = {.low = {-1, -1, -1}, .high = {9, 0.6, 9}};
    und_markers *s = filled(&t, r, 27, 2);
    und_isosurface skin = skin_of(s, &t, 27);
    mesh_size size = measure_mesh(skin.position, skin.triangle_count);
    double hole = 0.5 * 0.5;
    assert_double_near(size.volume, (4 - hole) * 0.6, 0.01 * 4 * 0.6);
    int around = 0;
    for (size_t i = 0; i < 3 * (size_t)skin.triangle_count; i++) {
        const float *p = skin.position + 3 * i;
        double x = fabs((double)p[0] - 1), z = fabs((double)p[2] - 1), inside = fmax(x, z);
        assert_true(inside > 0.22);
        if (p[1] > 0.2F && p[1] < 0.4F && inside < 0.5) {
            assert_true(inside < 0.28);
            around++;
        }
    }
    assert_true(around > 100);
    und_isosurface_free(&skin);
    und_markers_destroy(s);
    tank_close(&t);
}

/* A sheet one marker thick stays whole: one closed piece with two sides, about as large as it is. */
static void thin_sheets_stay_whole(void **state)
{
    (void)state;
    const double d[3] = {0.1, 0.1, 0.1};
    for (int k = 0; k < 3; k++) {
        tank t = tank_open(20, 20, 20, d, ZERO);
        region r = {.low = {0.5, 1 + 0.1 / 3 * k, 0.5}, .high = {1.5, 1 + 0.1 / 3 * (k + 1), 1.5}};
        und_markers *s = filled(&t, r, 27, 2);
        for (size_t i = 0; i < t.mac.count; i++)
            t.label[i] = t.label[i] == UND_CELL_FULL ? UND_CELL_SURFACE : t.label[i];
        und_isosurface skin = skin_of(s, &t, 27);
        mesh_size size = measure_mesh(skin.position, skin.triangle_count);
        assert_double_near(size.area, 2.1, 0.15 * 2.1);
        assert_true(size.volume > 1.0 / 30 && size.volume < 2.5 / 30);
        und_isosurface_free(&skin);
        und_markers_destroy(s);
        tank_close(&t);
    }
}

/* Cells that markers left between them are no bubbles: all corners are on the outside. */
static void there_are_no_bubbles_inside(void **state)
{
    (void)state;
    const double d[3] = {0.1, 0.1, 0.1};
    tank t = tank_open(20, 20, 20, d, ZERO);
    region r = {.low = {-1, -1, -1}, .high = {9, 1.5, 9}};
    und_markers *s = filled(&t, r, 8, 2);
    int kept = 0;
    for (int i = 0; i < s->count; i++) { /* two of five go, except on top */
        bool goes = und_random(4, 4, (uint64_t)i) < 0.4 && s->place[1][i] < 1.2;
        for (int a = 0; a < 3; a++)
            s->place[a][kept] = s->place[a][i];
        kept += !goes;
    }
    s->count = kept;
    und_markers_label(s, t.label);
    und_isosurface skin = skin_of(s, &t, 8);
    for (size_t i = 0; i < 3 * (size_t)skin.triangle_count; i++) {
        const float *p = skin.position + 3 * i;
        bool inside = p[1] < 1.4F;
        for (int a = 0; a < 3; a++)
            inside &= p[a] > 0.01F && p[a] < 1.99F;
        assert_false(inside);
    }
    und_isosurface_free(&skin);
    und_markers_destroy(s);
    tank_close(&t);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    const double d[3] = {0.1, 0.1, 0.1};
    tank t = tank_open(24, 20, 22, d, ZERO);
    region r = {.center = {1, 1, 1}, .radius = 0.6};
    und_isosurface skin[3];
    static const int threads[3] = {1, 2, 7};
    for (int k = 0; k < 3; k++) {
        und_markers *s = filled(&t, r, 27, threads[k]);
        shake(s, 4); /* drops all around */
        for (int i = 0; i < s->count; i++)
            for (int a = 0; a < 3; a++)
                s->place[a][i] = fmax(0, fmin(1.99, s->place[a][i]));
        und_markers_label(s, t.label);
        skin[k] = skin_of(s, &t, 27);
        assert_int_equal(skin[k].triangle_count, skin[0].triangle_count);
        assert_memory_equal(skin[k].position, skin[0].position, 36 * (size_t)skin[0].triangle_count);
        assert_memory_equal(skin[k].normal, skin[0].normal, 36 * (size_t)skin[0].triangle_count);
        und_markers_destroy(s);
    }
    for (int k = 0; k < 3; k++)
        und_isosurface_free(&skin[k]);
    tank_close(&t);
}

/* A frame in 3D holds the same triangles. */
static void frames_hold_the_skin(void **state)
{
    (void)state;
    und_error err;
    const double d[3] = {0.1, 0.1, 0.1};
    tank t = tank_open(12, 12, 12, d, ZERO);
    region r = {.center = {0.6, 0.6, 0.6}, .radius = 0.3};
    und_markers *s = filled(&t, r, 27, 2);
    und_isosurface skin = skin_of(s, &t, 27);
    und_frame frame = und_frame_empty(0, 0, (und_grid){0});
    assert_int_equal(und_markers_frame(s, 27, t.label, &frame, &err), UND_OK);
    const und_item *position = und_frame_find(&frame, "liquid/mesh_position");
    const und_item *normal = und_frame_find(&frame, "liquid/mesh_normal");
    assert_non_null(position);
    assert_non_null(normal);
    assert_true(skin.triangle_count > 100);
    assert_int_equal(position->dim[0], 3 * skin.triangle_count);
    assert_int_equal(normal->dim[0], 3 * skin.triangle_count);
    assert_memory_equal(position->data, skin.position, 36 * (size_t)skin.triangle_count);
    assert_memory_equal(normal->data, skin.normal, 36 * (size_t)skin.triangle_count);
    und_frame_clear(&frame);
    und_isosurface_free(&skin);
    und_markers_destroy(s);
    tank_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ball_is_round),          cmocka_unit_test(a_pool_is_flat),
        cmocka_unit_test(single_markers_are_drops), cmocka_unit_test(solids_are_entered_by_half_a_cell),
        cmocka_unit_test(thin_sheets_stay_whole),   cmocka_unit_test(there_are_no_bubbles_inside),
        cmocka_unit_test(threads_do_not_matter),    cmocka_unit_test(frames_hold_the_skin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
