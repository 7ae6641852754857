/* Control particles from files: CSV, PLY and VDB, whole, cut short and wrong; and a scene that has them. */
#include "tests/folder.h"

#include "tests/test.h"

#include "io/ply.h"
#include "io/points_rows.h"
#include "scene/scene.h"

#include <math.h>

static const char *put(const char *name, const char *text, size_t bytes)
{
    und_error err = {0};
    const char *path = test_path(&folder, name);
    assert_int_equal(und_file_write(path, text, bytes, &err), UND_OK);
    return path;
}

static void a_csv_is_read(void **state)
{
    (void)state;
    const char *text = "# from somewhere\n\n"
                       "Frame, id ,x,y,z, color, vx,vy,vz,radius,nx,ny,nz,strength,value\r\n"
                       "2,7, 1,2,3, red, 4,5,6,.5,0,1,0,.25,1e3\n"
                       "1,9,-1,0,0,blue,0,0,0,1,1,0,0,1,0\r\n"
                       "1,3,8,0,0,,0,0,0,1,1,0,0,1,0";
    und_point_rows rows;
    und_error err = {0};
    assert_int_equal(und_points_read(put("a.csv", text, strlen(text)), NULL, &rows, &err), UND_OK);
    assert_int_equal(rows.count, 3);
    assert_true(rows.has_frame && rows.has_id && rows.has == (1U << UND_POINT_NUMBERS) - 1);
    assert_true(rows.frame[0] == 1 && rows.frame[1] == 1 && rows.frame[2] == 2);
    assert_true(rows.id[0] == 3 && rows.id[1] == 9 && rows.id[2] == 7);
    assert_true(rows.number[0][UND_POINT_X] == 8 && rows.number[1][UND_POINT_X] == -1);
    const float last[UND_POINT_NUMBERS] = {1, 2, 3, 4, 5, 6, 0, 1, 0, 0.5F, 0.25F, 1e3F};
    assert_memory_equal(rows.number[2], last, sizeof last);
    und_points_free(&rows);
}

static void wrong_csvs_name_the_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } wrong[] = {{"", "a.csv:1: expected a line that names the columns"},
                 {"x,y\n1,2\n", "a.csv:1: expected columns x, y and z"},
                 {"x,y,z,x\n", "a.csv:1: there are two columns x"},
                 {"x,y,z\n1,2,3\n1,2\n", "a.csv:3: expected 3 numbers, found fewer"},
                 {"x,y,z\n1,2,3,4\n", "a.csv:2: expected 3 numbers, found more"},
                 {"x,y,z\n1,2,nan\n", "a.csv:2: expected a number, found \"nan\""},
                 {"x,y,z\n1,2,1e99\n", "a.csv:2: expected a number, found \"1e99\""},
                 {"x,y,z\n# no\n1,two,3\n", "a.csv:3: expected a number, found \"two\""},
                 {"x,y,z\n1,2,", "a.csv:2: expected a number, found \"\""},
                 {"x,y,z,id\n1,2,3,4.5\n", "a.csv:2: expected a whole number as its id"},
                 {"x,y,z,id\n1,2,3,4\n1,2,3,4\n", "a.csv: particle 4 is in frame 0 twice"},
                 {"x,y,z\n", "a.csv: there are no particles"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        und_point_rows rows;
        und_error err = {0};
        const char *path = put("a.csv", wrong[i].text, strlen(wrong[i].text));
        assert_int_equal(und_points_read(path, NULL, &rows, &err), UND_INVALID);
        if (!strstr(err.text, wrong[i].message))
            fail_msg("expected \"%s\", found \"%s\"", wrong[i].message, err.text);
        und_points_free(&rows);
    }
}

/* What this program writes of its spray is read again, and any shorter file is refused. */
static void a_ply_is_read(void **state)
{
    (void)state;
    const float place[2][3] = {{1, 2, 3}, {4, 5, 6}}, velocity[2][3] = {{7, 8, 9}, {0, 1, 0}},
                radius[2] = {2, 3};
    const int32_t id[2] = {9, 4};
    const und_ply_particles particles = {
        .count = 2, .position = place[0], .velocity = velocity[0], .radius = radius, .id = id};
    und_error err = {0};
    und_point_rows rows;
    assert_int_equal(und_ply_write_particles(test_path(&folder, "a.ply"), &particles, UND_UP_Y, &err),
                     UND_OK);
    assert_int_equal(und_points_read(test_path(&folder, "a.ply"), NULL, &rows, &err), UND_OK);
    assert_true(rows.count == 2 && rows.has_id && !rows.has_frame && rows.id[0] == 4 && rows.id[1] == 9);
    assert_true(rows.number[0][UND_POINT_Y] == 5 && rows.number[1][UND_POINT_VZ] == 9);
    assert_true(rows.number[1][UND_POINT_RADIUS] == 2 && !(rows.has >> UND_POINT_NX & 1));
    und_points_free(&rows);
    char *data;
    size_t bytes;
    assert_int_equal(und_file_read(test_path(&folder, "a.ply"), 1 << 20, &data, &bytes, &err), UND_OK);
    for (size_t n = 0; n < bytes; n++) {
        assert_int_equal(und_points_read(put("b.ply", data, n), NULL, &rows, &err), UND_INVALID);
        und_points_free(&rows);
    }
    free(data);
}

static void vdb_points_are_read(void **state)
{
    (void)state;
    enum { MANY = 500 };
    und_point_rows rows = {.has = 7 | 7 << UND_POINT_VX | 1 << UND_POINT_RADIUS, .has_id = true}, again;
    und_error err = {0};
    for (int i = 0; i < MANY; i++) {
        float *row = und_points_add(&rows, "test", &err);
        for (int k = 0; k < 3; k++) {
            row[UND_POINT_X + k] = (float)sin(i + 100.0 * k);
            row[UND_POINT_VX + k] = (float)(i * k);
        }
        row[UND_POINT_RADIUS] = 0.01F * (float)i;
        rows.id[i] = 2 * i;
    }
    const char *path = test_path(&folder, "a.vdb");
    assert_int_equal(und_vdb_write_points(path, &rows, 0.2, &err), UND_OK);
    assert_int_equal(und_points_read(path, "points", &again, &err), UND_OK);
    assert_true(again.count == MANY && again.has == rows.has && again.has_id);
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(again.id[i], 2 * i);
        for (int k = 0; k < 3; k++)
            assert_true(fabsf(again.number[i][k] - rows.number[i][k]) < 1e-6F);
        assert_memory_equal(again.number[i] + 3, rows.number[i] + 3, (UND_POINT_NUMBERS - 3) * sizeof(float));
    }
    und_points_free(&again);
    assert_int_equal(und_points_read(path, "others", &again, &err), UND_INVALID);
    und_points_free(&again);
    char *data;
    size_t bytes;
    assert_int_equal(und_file_read(path, 1 << 24, &data, &bytes, &err), UND_OK);
    for (int part = 0; part < 8; part++) {
        assert_int_equal(und_points_read(put("b.vdb", data, bytes * (size_t)part / 8), NULL, &again, &err),
                         UND_FAILED);
        und_points_free(&again);
    }
    free(data);
    und_points_free(&rows);
}

/* Frames of one file, one at a time: in any order, in pieces, of CSV and of PLY. */
static void frames_are_read_alone(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text;
    } file[] = {
        {"f.csv", "x,y,z,frame,id\n1,0,0,2,5\n2,0,0,2,4\n# of the first\n3,0,0,-1,9\r\n\n4,0,0,2,3\n"},
        {"f.ply", "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\n"
                  "property float z\nproperty float frame\nproperty int id\nend_header\n"
                  "1 0 0 2 5\n2 0 0 2 4\n3 0 0 -1 9\n4 0 0 2 3\n"}};
    for (int i = 0; i < 2; i++) {
        und_point_index index;
        und_point_rows rows;
        und_error err = {0};
        const char *path = put(file[i].name, file[i].text, strlen(file[i].text));
        assert_int_equal(und_points_index(path, &index, &err), UND_OK);
        assert_true(index.has_frame && index.count == 2 && index.span[0].frame == -1);
        assert_true(index.span[0].rows == 1 && index.span[1].rows == 3 && index.span[1].runs == 2);
        assert_int_equal(und_points_read_frame(path, NULL, &index, 1, &rows, &err), UND_OK);
        assert_true(rows.count == 3 && rows.number[0][0] == 4 && rows.number[1][0] == 2 && rows.id[2] == 5);
        und_points_free(&rows);
        assert_int_equal(und_points_read_frame(path, NULL, &index, 0, &rows, &err), UND_OK);
        assert_true(rows.count == 1 && rows.number[0][0] == 3 && rows.id[0] == 9);
        und_points_free(&rows);
        put(file[i].name, file[i].text, strlen(file[i].text) - 12);
        und_status status = und_points_read_frame(path, NULL, &index, 1, &rows, &err);
        assert_true(status != UND_OK && strstr(err.text, file[i].name));
        und_points_free(&rows);
        und_points_index_free(&index);
    }
}

/* Rows that change frames all the time are few frames, or too many to be found again. */
static void rows_are_grouped(void **state)
{
    (void)state;
    und_point_index index = {.has_frame = true};
    und_error err = {0};
    for (int i = 0; i < UND_POINT_RUNS_MAX; i++)
        assert_int_equal(und_points_index_add(&index, "a.csv", i % 2, 10 * i, i, &err), UND_OK);
    assert_int_equal(und_points_index_add(&index, "a.csv", 0, 0, 0, &err), UND_INVALID);
    assert_non_null(strstr(err.text, "a.csv: its rows go from one frame to another"));
    und_points_index_free(&index);
}

static und_scene *load(const char *control, und_error *err)
{
    char text[2048], path[300];
    snprintf(text, sizeof text,
             "scene { name = 'a', frames = 2 }\nliquid.levelset { size = {1, 1}, cells = 16, level = 0.5,\n"
             "control = {\n%s\n} }\n",
             control);
    snprintf(path, sizeof path, "%s/a.lua", folder.path);
    return und_scene_from_text(text, path, NULL, 0, err);
}

static void a_scene_has_them(void **state)
{
    (void)state;
    const char *csv = "frame,id,x,y,z\n1,1,.5,.5,0\n1,2,.2,.2,0\n3,1,.6,.5,0\n";
    put("c.csv", csv, strlen(csv));
    put("c.0001.csv", csv, strlen(csv));
    und_error err = {0};
    und_scene *scene = load(
        "{ kind = 'velocity', particles = { file = 'c.csv', scale = 2, fps = 10, start = 1, turn = {0, "
        "0, 90} } },\n{ kind = 'level_set', points = {{0.1, 0.5, 0}, {0.2, 0.5, 0}}, falloff = {1, 0.5, 0}, "
        "normal = {0, 2, 0} },\n"
        "{ kind = 'divergence', keys = {{ time = 0, at = {0, 0, 0}, value = 2 }, { time = 1, at = {1, 0, 0}, "
        "velocity = {0, 0, 0} }}, falloff = function(s) return 1 - s end, value = 4, radius = 0.2 },",
        &err);
    if (!scene)
        fail_msg("%s", err.text);
    const und_levelset_def *l = &und_scene_get(scene)->levelset;
    const und_control_particle_def *g = l->control_particles;
    assert_int_equal(l->control_particle_count, 3);
    assert_true(g[0].frame_count == 2 && fabs(g[0].frames[1].time - 1.2) < 1e-12 && g[0].radius == 1.0 / 16);
    for (int k = 1; k >= 0; k--) {
        const und_control_particle_loader *files = &g[0].loader;
        und_control_particle_frame frame;
        void *memory = NULL;
        assert_int_equal(files->load(files->context, k, &frame, &memory, &err), UND_OK);
        assert_int_equal(frame.count, k == 0 ? 2 : 1);
        assert_true(fabsf(frame.at[0][0] + 1) < 1e-6F);
        assert_true(fabsf(frame.at[0][1] - (k == 0 ? 1 : 1.2F)) < 1e-6F);
        assert_true(!frame.velocity && !frame.radius && frame.id[0] == 1);
        files->release(files->context, memory);
    }
    assert_true(g[1].shape == UND_CONTROL_CYLINDER && g[1].falloff == UND_FALLOFF_CURVE &&
                g[1].sample_count == 3);
    assert_true(g[2].frame_count == 2 && g[2].frames[0].value[0] == 2 && g[2].frames[1].value[0] == 4);
    assert_true(!g[2].frames[0].velocity && g[2].frames[1].velocity && fabs(g[2].samples[128] - 0.5) < 1e-12);
    und_scene_destroy(scene);
}

static void wrong_scenes_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *control, *message;
    } wrong[] = {
        {"{ kind = 'velocty', at = {0, 0, 0} }", "did you mean"},
        {"{ kind = 'velocity' }", "missing key \"at\", \"points\", \"keys\" or \"particles\""},
        {"{ kind = 'velocity', at = {0, 0, 0}, points = {{0, 0, 0}, {1, 1, 1}} }", "found both"},
        {"{ kind = 'level_set', at = {0, 0, 0}, shape = 'sphere' }", "is a cylinder"},
        {"{ kind = 'velocity', at = {0, 0, 0}, value = 2 }", "\"value\" is of"},
        {"{ kind = 'divergence', at = {0, 0, 0}, hard = 1 }", "are of what leads the velocity"},
        {"{ kind = 'viscosity', at = {0, 0, 0}, value = -1 }", "expected a viscosity of 0 or more"},
        {"{ kind = 'velocity', at = {0, 0, 0}, falloff = {1, 2} }", "expected a curve from 0 to 1"},
        {"{ kind = 'velocity', at = {0, 0, 0}, falloff = function(s) return 0 / 0 end }", "expected a curve"},
        {"{ kind = 'velocity', at = {0, 0, 0}, falloff = function(s) return {} end }", "expected a number"},
        {"{ kind = 'velocity', keys = {{ time = 1, at = {0, 0, 0} }, { time = 1, at = {0, 0, 0} }} }",
         "in the order of time"},
        {"{ kind = 'velocity', particles = { file = '../c.csv' } }", "leads out of the scene's folder"},
        {"{ kind = 'velocity', particles = { file = 'none.csv' } }", "cannot open"},
        {"{ kind = 'velocity', particles = { file = 'c.txt' } }", "cannot open"},
        {"{ kind = 'velocity', particles = { } }", "missing key \"file\" or \"files\""},
        {"{ kind = 'velocity', particles = { files = 'c.csv', last = 2 } }", "a name with a number in it"},
        {"{ kind = 'velocity', particles = { files = 'c.####.csv', last = 2 } }", "c.0002.csv"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        und_error err = {0};
        und_scene *scene = load(wrong[i].control, &err);
        assert_null(scene);
        assert_int_equal(err.status, UND_INVALID);
        if (!strstr(err.text, wrong[i].message) || !strstr(err.text, "a.lua:4:"))
            fail_msg("expected \"%s\" in line 4, found \"%s\"", wrong[i].message, err.text);
    }
}

static int set_up(void **state)
{
    (void)state;
    test_folder_make(&folder);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_csv_is_read),         cmocka_unit_test(wrong_csvs_name_the_line),
        cmocka_unit_test(a_ply_is_read),         cmocka_unit_test(vdb_points_are_read),
        cmocka_unit_test(frames_are_read_alone), cmocka_unit_test(rows_are_grouped),
        cmocka_unit_test(a_scene_has_them),      cmocka_unit_test(wrong_scenes_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, teardown);
}
