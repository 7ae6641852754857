/* Pictures of cells: ground of voxels, cells that are not square, foam, skins of liquid, solids. */
#include "tests/pictures.h"

#include "geom/value.h"
#include "render/internal.h"

#include <undine/cells.h>

typedef double height_fn(double x, double z);

static void *add(und_frame *frame, const char *name, und_type type, size_t rows, size_t columns)
{
    und_error err;
    und_item_def def = {
        .name = name, .unit = "1", .kind = UND_FIELD, .type = type, .rank = 2, .dim = {rows, columns}};
    return und_frame_add(frame, &def, &err)->data;
}

static und_picture_def small_def(void)
{
    und_picture_def def = und_picture_def_default();
    def.width = 160;
    def.height = 120;
    def.threads = 2;
    return def;
}

/* Cells of 0.5 m x 0.2 m x 0.4 m; ground in whole cells, water up to `surface` where that is higher. */
enum { NX = 32, NY = 10, NZ = 24 };
static const double DX = 0.5, DY = 0.2, DZ = 0.4;

static und_frame voxel_frame(height_fn *ground, height_fn *surface)
{
    und_frame frame = und_frame_empty(1, 0, (und_grid){.n = {NX, NY, NZ}, .dx = DX, .dy = DY, .dz = DZ});
    add(&frame, "label", UND_U8, NY * NZ, NX);
    float *g = add(&frame, "ground", UND_F32, NZ, NX), *s = add(&frame, "surface", UND_F32, NZ, NX);
    for (int j = 0; j < NZ; j++)
        for (int i = 0; i < NX; i++) {
            double x = (i + 0.5) * DX, z = (j + 0.5) * DZ, top = DY * rint(ground(x, z) / DY);
            g[j * NX + i] = (float)top;
            s[j * NX + i] = (float)fmax(top, surface(x, z));
        }
    return frame;
}

static double slope(double x, double z)
{
    return 0.1 * x + 0.07 * z;
}

static double lower_slope(double x, double z)
{
    return slope(x, z) - 1.3;
}

static double deep(double x, double z)
{
    (void)x;
    (void)z;
    return -2;
}

static double level_water(double x, double z)
{
    (void)x;
    (void)z;
    return 0.3;
}

static double dry(double x, double z)
{
    (void)x;
    (void)z;
    return -100;
}

/* Steps of voxels vanish from a slope: what is drawn is nearer to it than they are, and never off the voxels
 * by more than half of one. */
static void slopes_are_drawn_without_steps(void **state)
{
    (void)state;
    und_picture_def def = small_def();
    und_render *r = make_render(&def);
    und_frame frame = voxel_frame(slope, dry);
    und_image image = draw_with(r, &frame);
    double off = 0, rough = 0;
    const float *raw = und_frame_find(&frame, "ground")->data;
    for (int j = 0; j < NZ; j++)
        for (int i = 0; i < NX; i++) {
            double x = (i + 0.5) * DX, z = (j + 0.5) * DZ;
            double here = (double)und_stage_mesh_ground(&r->stage->mesh, (float)x, (float)z),
                   voxel = (double)raw[j * NX + i];
            assert_double_near((double)r->stage->voxels.smooth[j * NX + i], voxel, 0.5001 * DY);
            off += pow(here - slope(x, z), 2) / (NX * NZ);
            rough += pow(voxel - slope(x, z), 2) / (NX * NZ);
        }
    assert_double_near(sqrt(rough), DY / sqrt(12), 0.1 * DY); /* of rounding */
    assert_true(sqrt(off) < 0.35 * sqrt(rough));
    und_image_destroy(&image);
    und_frame_clear(&frame);
    und_render_destroy(r);
}

/* A tilted surface over cells that are not square is where the frame has it. */
static void cells_need_not_be_square(void **state)
{
    (void)state;
    und_picture_def def = small_def();
    und_render *r = make_render(&def);
    und_frame frame = voxel_frame(deep, slope);
    und_image image = draw_with(r, &frame);
    assert_double_near(r->stage->samples.dx, DZ, 1e-12);
    for (int j = 2; j < NZ - 2; j++)
        for (int i = 2; i < NX - 2; i++) {
            float x = (float)(i * DX), z = (float)(j * DZ), m[M_COUNT];
            und_stage_mesh_at(&r->stage->mesh, x, z, m);
            assert_double_near((double)(m[M_GROUND] + m[M_DEPTH]), slope((double)x, (double)z), 1e-3);
        }
    und_image_destroy(&image);
    und_frame_clear(&frame);
    und_render_destroy(r);
}

/* Level water on a sloping beach of voxels ends where the slope comes out of it, to about a cell. */
static void shores_are_where_the_slope_meets_the_water(void **state)
{
    (void)state;
    und_picture_def def = small_def();
    und_render *r = make_render(&def);
    und_frame frame = voxel_frame(lower_slope, level_water);
    und_image image = draw_with(r, &frame);
    for (int j = 3; j < NZ - 3; j++) {
        float z = (float)((j + 0.5) * DZ), m[M_COUNT], shore = 0;
        for (int k = 0; k < 1600; k++) {
            und_stage_mesh_at(&r->stage->mesh, (float)k * 0.01f, z, m);
            if (m[M_DEPTH] <= 0)
                break;
            shore = (float)k * 0.01f;
            assert_double_near((double)(m[M_GROUND] + m[M_DEPTH]), 0.3, 0.02);
        }
        assert_double_near((double)shore, (1.6 - 0.07 * (double)z) / 0.1, 0.75);
    }
    und_image_destroy(&image);
    und_frame_clear(&frame);
    und_render_destroy(r);
}

static double film(double x, double z)
{
    return DY * rint(slope(x, z) / DY) + 1e-4;
}

/* A film on steps of voxels does not become puddles where the drawn ground lies lower. */
static void films_stay_films(void **state)
{
    (void)state;
    und_picture_def def = small_def();
    und_render *r = make_render(&def);
    und_frame frame = voxel_frame(slope, film);
    und_image image = draw_with(r, &frame);
    for (int c = 0; c < r->stage->mesh.nx * r->stage->mesh.nz; c++)
        assert_true(r->stage->mesh.depth[c] < 0.02f * (float)DY);
    und_image_destroy(&image);
    und_frame_clear(&frame);
    und_render_destroy(r);
}

static double cliff(double x, double z)
{
    (void)z;
    return x < 8 ? -2 : 2;
}

/* Water is level up to a cliff that is many cells high, and ends at it. */
static void water_meets_cliffs_level(void **state)
{
    (void)state;
    und_picture_def def = small_def();
    und_render *r = make_render(&def);
    und_frame frame = voxel_frame(cliff, level_water);
    und_image image = draw_with(r, &frame);
    for (int k = 30; k < 1600; k++) {
        float x = (float)k * 0.01f, m[M_COUNT];
        und_stage_mesh_at(&r->stage->mesh, x, 5, m);
        assert_true(x < 7.6f ? m[M_DEPTH] > 0 : x < 8.4f || m[M_DEPTH] < 0);
        if (m[M_DEPTH] > 0)
            assert_double_near((double)(m[M_GROUND] + m[M_DEPTH]), 0.3, 0.01);
    }
    und_image_destroy(&image);
    und_frame_clear(&frame);
    und_render_destroy(r);
}

/* The foam at a place, with one bit of foam of that age at x = 8 m, z = 4.8 m. */
static double foam_at(float x, float z, float age)
{
    und_picture_def def = small_def();
    und_render *r = make_render(&def);
    und_frame frame = voxel_frame(deep, level_water);
    float *p = add_item(&frame, "foam/position", 1, 3);
    p[0] = 8;
    p[1] = 0.3f;
    p[2] = 4.8f;
    *add_item(&frame, "foam/radius", 1, 1) = 0.05f;
    *add_item(&frame, "foam/age", 1, 1) = age;
    *add_item(&frame, "foam/life", 1, 1) = 4;
    und_image image = draw_with(r, &frame);
    float m[M_COUNT];
    und_stage_mesh_at(&r->stage->mesh, x, z, m);
    und_image_destroy(&image);
    und_frame_clear(&frame);
    und_render_destroy(r);
    return (double)m[M_FOAM];
}

static void foam_is_round_and_fades(void **state)
{
    (void)state;
    double middle = foam_at(8, 4.8f, 0);
    assert_true(middle > 0.3);
    assert_double_near(foam_at(8.2f, 4.8f, 0), foam_at(7.8f, 4.8f, 0), 0.03);
    assert_double_near(foam_at(8.2f, 4.8f, 0), foam_at(8, 5, 0), 0.03);
    assert_double_near(foam_at(9, 4.8f, 0), 0, 1e-6);
    assert_true(foam_at(8, 4.8f, 3.9f) < 0.5 * middle);
    assert_double_near(foam_at(8, 4.8f, 4), 0, 1e-6);
}

/* n x n x n cells of 0.1 m, none of them solid. */
static und_frame box_frame(int n)
{
    und_frame frame = und_frame_empty(1, 0, (und_grid){.n = {n, n, n}, .dx = 0.1});
    add(&frame, "label", UND_U8, (size_t)(n * n), (size_t)n);
    return frame;
}

/* A ball as the liquid's skin. */
static void add_skin(und_frame *frame, f3 center, float radius)
{
    enum { ROWS = 48, AROUND = 96, CORNERS = 6 * ROWS * AROUND };
    add_item(frame, "liquid/mesh_position", CORNERS, 3);
    add_item(frame, "liquid/mesh_normal", CORNERS, 3);
    float *p = und_frame_find(frame, "liquid/mesh_position")->data,
          *n = und_frame_find(frame, "liquid/mesh_normal")->data;
    static const int corner[6] = {0, 1, 2, 1, 3, 2};
    for (int k = 0; k < CORNERS; k++, p += 3, n += 3) {
        int square = k / 6, e = corner[k % 6];
        float a = (float)M_PI * (float)(square / AROUND + (e >> 1)) / ROWS,
              b = 2 * (float)M_PI * (float)((square + (e & 1)) % AROUND) / AROUND;
        f3 unit = f3_make(sinf(a) * cosf(b), cosf(a), sinf(a) * sinf(b)), at = f3_along(center, unit, radius);
        memcpy(n, (float[3]){unit.x, unit.y, unit.z}, 3 * sizeof(float));
        memcpy(p, (float[3]){at.x, at.y, at.z}, 3 * sizeof(float));
    }
}

static float white_light[2 * 2 * 3] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
static const und_image white = {.width = 2, .height = 2, .rgb = white_light};

/* Straight down under a white sky without a sun, over black ground. */
static und_picture_def down_def(void)
{
    und_picture_def def = small_def();
    def.eye = und_vector_constant(0.5, 3, 0.5);
    def.look = und_vector_constant(0.5, 0, 0.5);
    def.fov = 20;
    def.sky = &white;
    def.texture = 0;
    memset(def.sun_color, 0, sizeof def.sun_color);
    memset(def.ground_color, 0, sizeof def.ground_color);
    return def;
}

static const float *pixel(const und_image *image, int x, int y)
{
    return image->rgb + 3 * (y * image->width + x);
}

/* Straight down on thick liquid: 2.04 % of the sky mirrored (Fresnel), its own colour otherwise; and both
 * sides of a ball are the same. */
static void thick_liquid_has_its_colour(void **state)
{
    (void)state;
    static const float color[3] = {0.8f, 0.3f, 0.1f};
    und_picture_def def = down_def();
    und_frame frame = box_frame(10);
    add_skin(&frame, f3_make(0.5f, 0.5f, 0.5f), 0.3f);
    memcpy(def.water_color, color, sizeof color);
    for (int c = 0; c < 3; c++)
        def.absorption[c] = 1e4f;
    und_image image = draw(&def, &frame);
    const double mirrored = 0.0203732;
    for (int c = 0; c < 3; c++)
        assert_double_near((double)pixel(&image, 80, 60)[c], mirrored + (1 - mirrored) * (double)color[c],
                           0.01);
    for (int y = 20; y < 60; y++)
        for (int x = 40; x < 80; x++) {
            assert_double_near((double)pixel(&image, x, y)[0], (double)pixel(&image, 159 - x, y)[0], 0.06);
            assert_double_near((double)pixel(&image, x, y)[0], (double)pixel(&image, x, 119 - y)[0], 0.06);
        }
    assert_double_near((double)pixel(&image, 2, 2)[0], 0, 1e-3); /* beside it the table */
    und_image_destroy(&image);
    und_frame_clear(&frame);
}

/* Clear liquid shows what is in it, dimmed by the way through it. */
static void clear_liquid_shows_what_is_in_it(void **state)
{
    (void)state;
    double seen[2];
    for (int k = 0; k < 2; k++) {
        und_picture_def def = down_def();
        und_frame frame = box_frame(10);
        uint8_t *label = und_frame_find(&frame, "label")->data;
        label[(5 * 10 + 4) * 10 + 5] = label[(4 * 10 + 4) * 10 + 4] = UND_CELL_SOLID; /* y from 0.4 to 0.5 */
        label[(5 * 10 + 4) * 10 + 4] = label[(4 * 10 + 4) * 10 + 5] = UND_CELL_SOLID;
        add_skin(&frame, f3_make(0.5f, 0.5f, 0.5f), 0.3f);
        memset(def.water_color, 0, sizeof def.water_color);
        for (int c = 0; c < 3; c++)
            def.absorption[c] = k ? 2 : 0;
        und_image image = draw(&def, &frame);
        seen[k] = (double)pixel(&image, 80, 60)[1] - 0.0203732;
        und_image_destroy(&image);
        und_frame_clear(&frame);
    }
    assert_double_near(seen[0], 0.45 * (1 - 0.0203732), 0.02);
    assert_double_near(seen[1] / seen[0], exp(-2 * 0.3 * 2.2), 0.02); /* down aslant, 1.2 as long, and up */
}

/* Volume within triangles that are counter-clockwise seen from outside: the divergence theorem. */
static double volume_of(const und_drawn_solids *s)
{
    double sum = 0;
    for (size_t k = 0; k < s->corners; k += 3) {
        const float *p = s->position + 3 * k;
        sum += (double)f3_dot(f3_of(p), f3_cross(f3_of(p + 3), f3_of(p + 6))) / 6;
    }
    return sum;
}

/* The faces of solid cells enclose their volume, merged in rows. */
static void solids_have_merged_faces(void **state)
{
    (void)state;
    und_picture_def def = small_def();
    und_render *r = make_render(&def);
    und_frame frame = box_frame(8);
    uint8_t *label = und_frame_find(&frame, "label")->data;
    for (int c = 0; c < 8 * 8 * 8; c++) {
        int x = c % 8, y = c / 8 % 8, z = c / 64;
        bool block = x >= 2 && x < 5 && y < 3 && z >= 1 && z < 7, corner = x == 7 && y == 7 && z == 7;
        label[c] = block || corner ? UND_CELL_SOLID : UND_CELL_EMPTY;
    }
    und_image image = draw_with(r, &frame);
    assert_double_near(volume_of(&r->stage->solids), (3 * 3 * 6 + 1) * 1e-3, 1e-7);
    assert_int_equal(r->stage->solids.corners, 6 * (2 * 3 + 2 * 6 + 2 * 3 + 6));
    und_image_destroy(&image);
    und_frame_clear(&frame);
    und_render_destroy(r);
}

/* A disc around the axis is level up to it: all its corners there lie on its two faces. */
static void solids_have_no_hole_at_the_axis(void **state)
{
    (void)state;
    und_picture_def def = small_def();
    und_render *r = make_render(&def);
    und_frame frame = und_frame_empty(1, 0, (und_grid){.n = {30, 24, 1}, .dx = 0.1});
    uint8_t *label = add(&frame, "label", UND_U8, 24, 30);
    for (int c = 0; c < 30 * 24; c++)
        label[c] = c % 30 < 15 && c / 30 >= 4 && c / 30 < 20 ? UND_CELL_SOLID : UND_CELL_EMPTY;
    add_skin(&frame, f3_make(0, 1, 0), 0.5f);
    und_image image = draw_with(r, &frame);
    int there = 0;
    for (size_t k = 0; k < r->stage->solids.corners; k++) {
        const float *p = r->stage->solids.position + 3 * k;
        if (hypot(p[0], p[2]) > 0.05)
            continue;
        there++;
        assert_double_near(fabs(p[1] - 1.2), 0.8, 1e-6);
    }
    assert_true(there > 0);
    und_image_destroy(&image);
    und_frame_clear(&frame);
    und_render_destroy(r);
}

/* Cells turned about the axis of a liquid: a ring's volume is its section's area times its way (Pappus). */
static void solids_are_turned_with_the_liquid(void **state)
{
    (void)state;
    und_picture_def def = small_def();
    und_render *r = make_render(&def);
    und_frame frame = und_frame_empty(1, 0, (und_grid){.n = {30, 24, 1}, .dx = 0.1});
    uint8_t *label = add(&frame, "label", UND_U8, 24, 30);
    for (int c = 0; c < 30 * 24; c++)
        label[c] =
            c % 30 >= 15 && c % 30 < 27 && c / 30 >= 4 && c / 30 < 20 ? UND_CELL_SOLID : UND_CELL_EMPTY;
    add_skin(&frame, f3_make(0, 1, 0), 0.5f);
    und_image image = draw_with(r, &frame);
    assert_double_near(volume_of(&r->stage->solids), 1.2 * 1.6 * 2 * M_PI * 2.1,
                       0.55); /* its corners are round: 2 % */
    und_image_destroy(&image);
    und_frame_clear(&frame);
    und_render_destroy(r);
}

/* Without a camera the whole box is in the picture, and fills a good part of it. */
static void boxes_are_framed(void **state)
{
    (void)state;
    static const int size[][3] = {{10, 10, 10}, {40, 5, 20}, {5, 40, 6}, {3, 3, 60}, {1, 1, 2}};
    static const int page[][2] = {{160, 90}, {120, 160}};
    for (int s = 0; s < test_cases(5, 2); s++)
        for (int p = 0; p < 2; p++) {
            und_picture_def def = small_def();
            def.width = page[p][0];
            def.height = page[p][1];
            und_render *r = make_render(&def);
            const int *n = size[s];
            und_frame frame = und_frame_empty(1, 0, (und_grid){.n = {n[0], n[1], n[2]}, .dx = 0.1});
            add(&frame, "label", UND_U8, (size_t)(n[1] * n[2]), (size_t)n[0]);
            und_image image = draw_with(r, &frame);
            const und_shot *c = &r->stage->camera;
            double most = 0;
            for (int k = 0; k < 8; k++) {
                f3 corner = f3_make(k & 1 ? 0.1f * (float)n[0] : 0, k & 2 ? 0.1f * (float)n[1] : 0,
                                    k & 4 ? 0.1f * (float)n[2] : 0);
                f3 d = f3_sub(corner, c->eye);
                double along = (double)f3_dot(d, c->forward), focal = (double)c->focal;
                double x = fabs((double)f3_dot(d, c->right)) / along * focal / (0.5 * c->width);
                double y = fabs((double)f3_dot(d, c->up)) / along * focal / (0.5 * c->height);
                assert_true(along > 0 && x < 1 && y < 1);
                most = fmax(most, fmax(x, y));
            }
            assert_true(most > 0.5);
            und_image_destroy(&image);
            und_frame_clear(&frame);
            und_render_destroy(r);
        }
}

/* What is damaged is left out of the picture. */
static void damaged_skins_are_not_drawn(void **state)
{
    (void)state;
    static const char *const name[] = {"liquid/mesh_position", "liquid/mesh_normal", "solid/mesh_position",
                                       "solid/mesh_color", "label"};
    static const float bad[] = {NAN, INFINITY, 3e38f};
    und_picture_def def = small_def();
    def.width = 48;
    def.height = 32;
    und_render *r = make_render(&def);
    for (int n = 0; n < 5; n++)
        for (int way = 0; way < 6; way++) {
            und_frame frame = box_frame(4);
            add_skin(&frame, f3_make(0.2f, 0.2f, 0.2f), 0.1f);
            float *p = add_item(&frame, "solid/mesh_position", 3, 3);
            add_item(&frame, "solid/mesh_color", 3, 3);
            p = und_frame_find(&frame, "solid/mesh_position")->data;
            p[0] = p[4] = p[8] = 0.3f;
            und_item *item = &frame.items[und_frame_find(&frame, name[n]) - frame.items];
            if (way == 0)
                item->name[0] = '-';
            else if (way == 1)
                item->dim[0]--;
            else if (way == 2)
                item->type = item->type == UND_U8 ? UND_F32 : UND_U8;
            if (way == 2 && item->type == UND_F32)
                item->type = UND_I32, item->dim[0] /= 4; /* as many bytes */
            if (way > 2 && item->type == UND_F32)
                ((float *)item->data)[4] = bad[way - 3];
            und_image image = draw_with(r, &frame);
            for (int k = 0; k < 3 * 48 * 32; k++)
                assert_true(image.rgb[k] >= 0 && image.rgb[k] < 1e3f);
            und_image_destroy(&image);
            und_frame_clear(&frame);
        }
    und_error err;
    und_image image = {0};
    und_frame frame = box_frame(4);
    frame.grid.dx = NAN;
    assert_int_equal(und_render_draw(r, &frame, &image, &err), UND_INVALID);
    und_image_destroy(&image);
    und_frame_clear(&frame);
    und_render_destroy(r);
}

/* A skin that comes to a wall: the normals at the edge in between, made to be smooth, are those of the wall
 * on the one side and stand square to it on the other; elsewhere they are the frame's. */
static void skins_are_square_at_walls(void **state)
{
    (void)state;
    und_error err = {0};
    und_picture_def def = small_def();
    und_frame frame = box_frame(6);
    static const float place[18] = {0, 0.3f, 0.2f, 0, 0.3f, 0.3f, 0,    0.2f, 0.2f, /* in the wall at low x */
                                    0, 0.3f, 0.2f, 0, 0.3f, 0.3f, 0.1f, 0.3f, 0.2f}; /* the surface */
    add_item(&frame, "liquid/mesh_position", 6, 3);
    add_item(&frame, "liquid/mesh_normal", 6, 3);
    memcpy(und_frame_find(&frame, "liquid/mesh_position")->data, place, sizeof place);
    float *normal = und_frame_find(&frame, "liquid/mesh_normal")->data;
    for (int k = 0; k < 6; k++)
        memcpy(normal + 3 * k, (float[3]){-0.6f, 0.8f, 0}, 3 * sizeof(float));
    und_render *r = make_render(&def);
    assert_int_equal(und_scenery_prepare(r->stage, &frame, &err), UND_OK);
    assert_int_equal(r->stage->liquid.count, 2);
    for (int c = 0; c < 6; c++) {
        const float *n = r->stage->liquid.normal + 3 * c;
        assert_double_near((double)n[0], c < 3 ? -1 : c < 5 ? 0 : -0.6, 1e-6);
        assert_double_near((double)n[1], c < 3 ? 0 : c < 5 ? 1 : 0.8, 1e-6);
    }
    und_render_destroy(r);
    und_frame_clear(&frame);
}

static void pictures_do_not_depend_on_threads(void **state)
{
    (void)state;
    und_picture_def def = small_def();
    und_frame frames[2] = {box_frame(6), voxel_frame(lower_slope, level_water)};
    uint8_t *label = und_frame_find(&frames[0], "label")->data;
    memset(label, UND_CELL_SOLID, 20);
    add_skin(&frames[0], f3_make(0.3f, 0.4f, 0.3f), 0.15f);
    for (int k = 0; k < 2; k++) {
        def.threads = 1;
        und_image one = draw(&def, &frames[k]);
        def.threads = 5;
        und_image many = draw(&def, &frames[k]);
        assert_memory_equal(one.rgb, many.rgb, 3 * sizeof(float) * (size_t)one.width * (size_t)one.height);
        und_image_destroy(&one);
        und_image_destroy(&many);
        und_frame_clear(&frames[k]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slopes_are_drawn_without_steps),
        cmocka_unit_test(cells_need_not_be_square),
        cmocka_unit_test(shores_are_where_the_slope_meets_the_water),
        cmocka_unit_test(films_stay_films),
        cmocka_unit_test(water_meets_cliffs_level),
        cmocka_unit_test(foam_is_round_and_fades),
        cmocka_unit_test(thick_liquid_has_its_colour),
        cmocka_unit_test(clear_liquid_shows_what_is_in_it),
        cmocka_unit_test(skins_are_square_at_walls),
        cmocka_unit_test(solids_have_merged_faces),
        cmocka_unit_test(solids_are_turned_with_the_liquid),
        cmocka_unit_test(solids_have_no_hole_at_the_axis),
        cmocka_unit_test(boxes_are_framed),
        cmocka_unit_test(damaged_skins_are_not_drawn),
        cmocka_unit_test(pictures_do_not_depend_on_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
