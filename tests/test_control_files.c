/* Control particles whose frames are read when they are needed: the same as with all of them in memory, few
 * at a time, and what happens where a file is not there any more. */
#include "tests/folder.h"
#include "tests/sim_model.h"

#include "control/control_particles.h"
#include "io/points.h"
#include "scene/sim.h"

#include <math.h>

/* ---- A loader of its own ---- */

enum { N = 24, FRAMES = 12, MANY = 300 };

static const double DX = 1.0 / N;

typedef struct reel {
    bool led, comes; /* with velocities; with particles that come and go */
    int loads[FRAMES], held, most_held;
    int gone, other; /* frames that are not there, or not as they were; -1: none */
    und_control_particle_frame all[FRAMES];
    int32_t id[FRAMES][MANY];
    float at[FRAMES][MANY][3], velocity[FRAMES][MANY][3], radius[FRAMES][MANY];
} reel;

static void fill(reel *r)
{
    for (int k = 0; k < FRAMES; k++) {
        const double t = 0.1 * k + 0.01 * (k % 3);
        int count = 0;
        for (int i = 0; i < MANY; i++) {
            if (r->comes && (i + 7 * k) % 11 < 3)
                continue;
            const double a = 0.02 * i, w = 1 + 0.003 * i;
            for (int axis = 0; axis < 3; axis++) {
                r->at[k][count][axis] = (float)(0.5 + 0.3 * cos(a + axis) + 0.1 * sin(w * t + axis));
                r->velocity[k][count][axis] = (float)(0.1 * w * cos(w * t + axis));
            }
            r->radius[k][count] = (float)(DX * (0.5 + 0.1 * (i % 9) + 0.02 * k));
            r->id[k][count++] = 3 * i - 50;
        }
        r->all[k] =
            (und_control_particle_frame){.time = t,
                                         .count = count,
                                         .id = r->id[k],
                                         .at = (const float(*)[3])r->at[k],
                                         .velocity = r->led ? (const float(*)[3])r->velocity[k] : NULL,
                                         .radius = r->radius[k]};
    }
    r->gone = r->other = -1;
}

static und_status load(void *context, int frame, und_control_particle_frame *out, void **memory,
                       und_error *err)
{
    reel *r = context;
    if (frame == r->gone) {
        err->status = UND_INVALID;
        snprintf(err->text, sizeof err->text, "frame %d has gone", frame);
        return UND_INVALID;
    }
    float(*at)[3] = malloc(sizeof r->at[frame]);
    assert_non_null(at);
    memcpy(at, r->at[frame], sizeof r->at[frame]);
    at[5][1] += frame == r->other ? 1e-6F : 0;
    *out = r->all[frame];
    out->at = (const float(*)[3])at;
    out->time = -99; /* is the def's */
    *memory = at;
    r->loads[frame]++;
    r->most_held = ++r->held > r->most_held ? r->held : r->most_held;
    return UND_OK;
}

static void release(void *context, void *memory)
{
    ((reel *)context)->held--;
    free(memory);
}

static const char *name(void *context, int frame)
{
    (void)context;
    return (const char *const[]){"a.ply", "b.ply", "c.ply"}[frame % 3];
}

static reel *make_player(bool led, bool comes)
{
    reel *r = calloc(1, sizeof *r);
    assert_non_null(r);
    r->led = led;
    r->comes = comes;
    fill(r);
    return r;
}

static und_control_particle_def def_of(reel *r, und_control_particle_frame heads[FRAMES])
{
    und_control_particle_def def = und_control_particle_def_default();
    def.falloff = UND_FALLOFF_HAT;
    def.frame_count = FRAMES;
    def.frames = r->all;
    if (heads) {
        for (int k = 0; k < FRAMES; k++)
            heads[k] = (und_control_particle_frame){.time = r->all[k].time};
        def.frames = heads;
        def.loader = (und_control_particle_loader){load, release, name, r};
    }
    return def;
}

static und_mac grid(void)
{
    return und_mac_make((const int[3]){N, N, N}, (const double[3]){DX, DX, DX}, (const double[3]){0, 0, 0});
}

static und_control_particles *make(const und_mac *m, const und_control_particle_def *def)
{
    und_error err = {0};
    und_control_particles *g = und_control_particles_create(m, def, 1, 1, &err);
    if (!g)
        fail_msg("%s", err.text);
    return g;
}

static void compare(const und_control_particles *a, const und_control_particles *b)
{
    for (int i = 0; i < N * N * N; i++) {
        const int x = i % N, y = i / N % N, z = i / N / N;
        const und_control_particle_cell none = {0},
                                        *p = und_control_particles_cell(a, UND_CONTROL_VELOCITY, x, y, z),
                                        *q = und_control_particles_cell(b, UND_CONTROL_VELOCITY, x, y, z);
        assert_memory_equal(p ? p : &none, q ? q : &none, sizeof none);
    }
}

/* Bit by bit what it is with all frames in memory, with at most two of them there, or four where velocities
 * come from the places; each is read once for the check and once in the run. */
static void frames_come_and_go(void **state)
{
    (void)state;
    const und_mac m = grid();
    for (int kind = 0; kind < 4; kind++) {
        reel *r = make_player(kind & 1, kind & 2);
        und_control_particle_frame heads[FRAMES];
        und_control_particle_def whole = def_of(r, NULL), lazy = def_of(r, heads);
        und_control_particles *a = make(&m, &whole), *b = make(&m, &lazy);
        und_error err = {0};
        for (int k = 0; k < FRAMES; k++)
            assert_int_equal(r->loads[k], 1);
        assert_true(r->most_held <= (r->led ? 3 : 4));
        r->most_held = r->held;
        for (double t = -0.1; t < 1.3; t += 0.0371) {
            assert_true(und_control_particles_fastest(a, t, 0.1) == und_control_particles_fastest(b, t, 0.1));
            assert_int_equal(und_control_particles_fetch(b, t, 0.02, &err), UND_OK);
            und_control_particles_render(a, t, 0.02);
            und_control_particles_render(b, t, 0.02);
            compare(a, b);
            assert_true(r->held <= (r->led ? 2 : 4));
        }
        for (int k = 0; k < FRAMES; k++)
            assert_true(r->loads[k] <= 2);
        assert_true(r->most_held <= 4);
        und_control_particles_destroy(a);
        und_control_particles_destroy(b);
        assert_int_equal(r->held, 0);
        free(r);
    }
}

/* On another grid they go on with what is known and in memory. */
static void a_window_shares_them(void **state)
{
    (void)state;
    const und_mac m = grid();
    reel *r = make_player(false, false);
    und_control_particle_frame heads[FRAMES];
    und_control_particle_def lazy = def_of(r, heads);
    und_error err = {0};
    und_control_particles *a = make(&m, &lazy), *b;
    assert_int_equal(und_control_particles_fetch(a, 0.55, 0.01, &err), UND_OK);
    memset(r->loads, 0, sizeof r->loads);
    b = und_control_particles_create_like(a, &m, &err);
    assert_non_null(b);
    und_control_particles_render(a, 0.55, 0.01);
    assert_int_equal(und_control_particles_fetch(b, 0.55, 0.01, &err), UND_OK);
    und_control_particles_render(b, 0.55, 0.01);
    compare(a, b);
    und_control_particles_destroy(a);
    assert_int_equal(r->held, 4);
    for (int k = 0; k < FRAMES; k++)
        assert_int_equal(r->loads[k], 0);
    und_control_particles_destroy(b);
    assert_int_equal(r->held, 0);
    free(r);
}

static void changed_frames_are_refused(void **state)
{
    (void)state;
    const und_mac m = grid();
    reel *r = make_player(false, false);
    und_control_particle_frame heads[FRAMES];
    und_control_particle_def lazy = def_of(r, heads);
    und_error err = {0};
    und_control_particles *g = make(&m, &lazy);
    r->other = 7;
    assert_int_equal(und_control_particles_fetch(g, 0.1, 0.01, &err), UND_OK);
    assert_int_equal(und_control_particles_fetch(g, r->all[6].time, 0.01, &err), UND_FAILED);
    assert_non_null(strstr(err.text, "b.ply has other particles now"));
    r->other = -1;
    r->gone = 8;
    assert_int_equal(und_control_particles_fetch(g, r->all[6].time, 0.01, &err), UND_FAILED);
    assert_non_null(strstr(err.text, "frame 8 has gone"));
    assert_int_equal(r->held, 0);
    assert_null(und_control_particles_create(&m, &lazy, 1, 1, &err));
    assert_int_equal(err.status, UND_INVALID);
    assert_int_equal(r->held, 0);
    r->gone = -1;
    r->at[4][100][2] = NAN;
    assert_null(und_control_particles_create(&m, &lazy, 1, 1, &err));
    assert_int_equal(err.status, UND_INVALID);
    und_control_particles_destroy(g);
    assert_int_equal(r->held, 0);
    free(r);
}

/* ---- Files of a scene ---- */

enum { FILES = 8, ROW = 16 };

/* A plate of particles that goes to the right by 0.2 m/s up to frame 4, then to the left. */
static double plate_at(int frame)
{
    return 0.3 + 0.2 / 24 * (frame <= 4 ? frame - 1 : 7 - frame);
}

static void put_plate(int frame, const char *ending)
{
    char file[32];
    und_error err = {0};
    und_point_rows rows = {.has = 7 | 1 << UND_POINT_RADIUS, .has_id = true};
    for (int i = 0; i < ROW * ROW; i++) {
        float *row = und_points_add(&rows, "test", &err);
        assert_non_null(row);
        row[UND_POINT_X] = (float)(plate_at(frame) + 0.01 * (i % ROW));
        row[UND_POINT_Y] = (float)(0.1 + 0.01 * (i / ROW));
        row[UND_POINT_RADIUS] = 0.02F;
    }
    snprintf(file, sizeof file, "p.%04d.%s", frame, ending);
    if (strcmp(ending, "vdb") == 0)
        assert_int_equal(und_vdb_write_points(test_path(&folder, file), &rows, 0.05, &err), UND_OK);
    else {
        FILE *out = fopen(test_path(&folder, file), "w");
        assert_non_null(out);
        if (strcmp(ending, "ply") == 0)
            fprintf(out,
                    "ply\nformat ascii 1.0\nelement vertex %d\nproperty float x\nproperty float y\n"
                    "property float z\nproperty float radius\nproperty int id\nend_header\n",
                    ROW * ROW);
        else
            fprintf(out, "x,y,z,radius,id\n");
        for (int i = 0; i < rows.count; i++) {
            const float *n = rows.number[i];
            const char *form = strcmp(ending, "ply") == 0 ? "%.9g %.9g 0 %.9g %d\n" : "%.9g,%.9g,0,%.9g,%d\n";
            fprintf(out, form, (double)n[UND_POINT_X], (double)n[UND_POINT_Y], (double)n[UND_POINT_RADIUS],
                    (int)rows.id[i]);
        }
        fclose(out);
    }
    und_points_free(&rows);
}

static void put_plates(const char *ending)
{
    for (int frame = 1; frame <= FILES; frame++)
        put_plate(frame, ending);
}

/* The same as one file, whose frames are the wrong way round and half of each is in another place. */
static void put_csv(void)
{
    FILE *out = fopen(test_path(&folder, "p.csv"), "w");
    assert_non_null(out);
    fprintf(out, "frame,x,y,z,radius,id\n");
    for (int half = 0; half < 2; half++)
        for (int frame = FILES; frame >= 1; frame--)
            for (int i = half * ROW * ROW / 2; i < (half + 1) * ROW * ROW / 2; i++)
                fprintf(out, "%d,%.9g,%.9g,0,%.9g,%d\n", frame,
                        (double)(float)(plate_at(frame) + 0.01 * (i % ROW)),
                        (double)(float)(0.1 + 0.01 * (i / ROW)), (double)0.02F, i);
    fclose(out);
}

static und_scene *plate_scene(const char *files)
{
    char text[512], path[300];
    und_error err = {0};
    snprintf(text, sizeof text,
             "scene { name = 'a', frames = 9 }\nliquid.levelset { size = {1, 0.5}, cells = {40, 20}, level = "
             "0.4,\ncontrol = {\n{ kind = 'velocity', particles = { %s } } } }\n",
             files);
    snprintf(path, sizeof path, "%s/a.lua", folder.path);
    und_scene *scene = und_scene_from_text(text, path, NULL, 0, &err);
    if (!scene)
        fail_msg("%s", err.text);
    return scene;
}

/* Liquid in the plate goes as fast as the plate does, to the right and then to the left. */
static void liquid_follows_files(void **state)
{
    (void)state;
    static const char *const files[] = {"files = 'p.####.ply', last = 8", "files = 'p.####.csv', last = 8",
                                        "file = 'p.csv'", "files = 'p.####.vdb', last = 8"};
    uint64_t hash[4][FILES];
    put_plates("ply");
    put_plates("csv");
    put_plates("vdb");
    put_csv();
    for (int kind = 0; kind < 4; kind++) {
        und_scene *scene = plate_scene(files[kind]);
        und_sim *sim = start(scene, kind + 1);
        und_error err = {0};
        for (int frame = 2; frame <= FILES; frame++) {
            assert_int_equal(und_sim_advance(sim, &err), UND_OK);
            hash[kind][frame - 1] = und_sim_hash(sim);
            const und_frame *made = und_sim_frame(sim);
            const und_item *u = und_frame_find(made, "velocity_x");
            assert_non_null(u);
            const double middle = plate_at(frame) + 0.075, y = 0.175;
            const int at = (int)(middle * 40) + (int)(u->dim[u->rank - 1]) * (int)(y * 40);
            if (frame < 4 || frame > 5) /* it turns round */
                assert_true(fabs((double)((const float *)u->data)[at] - (frame < 4 ? 0.2 : -0.2)) < 0.01);
        }
        und_sim_destroy(sim);
        und_scene_destroy(scene);
        /* OpenVDB keeps places to 1e-7 or so */
        assert_true(kind == 0 || kind == 3 ||
                    memcmp(hash[kind] + 1, hash[0] + 1, (FILES - 1) * sizeof **hash) == 0);
    }
}

/* A file that has gone, was cut short or changed in the middle of a run stops it with the state that it had;
 * with the file as it was it goes on with the same bits. */
static void a_run_outlives_a_lost_file(void **state)
{
    (void)state;
    static const char *const endings[] = {"ply", "csv", "vdb"};
    for (int kind = 0; kind < 3; kind++)
        for (int harm = 0; harm < 3; harm++) {
            char files[64], hurt[32];
            und_error err = {0};
            put_plates(endings[kind]);
            snprintf(files, sizeof files, "files = 'p.####.%s', last = 8", endings[kind]);
            snprintf(hurt, sizeof hurt, "p.0005.%s", endings[kind]);
            und_scene *scene = plate_scene(files);
            und_sim *whole = start(scene, 2), *sim = start(scene, 1), *again;
            for (int i = 0; i < 6; i++)
                assert_int_equal(und_sim_advance(whole, &err), UND_OK);
            assert_int_equal(und_sim_advance(sim, &err), UND_OK);
            char path[300], from[300];
            snprintf(path, sizeof path, "%s/%s", folder.path, hurt);
            snprintf(from, sizeof from, "%s/p.0004.%s", folder.path, endings[kind]);
            if (harm == 0)
                assert_int_equal(remove(path), 0);
            else if (harm == 1)
                assert_int_equal(truncate(path, 900), 0);
            else {
                put_plate(4, endings[kind]);
                assert_int_equal(rename(from, path), 0);
                put_plate(4, endings[kind]);
            }
            und_status status = UND_OK;
            for (int i = 0; i < 5 && status == UND_OK; i++)
                status = und_sim_advance(sim, &err);
            assert_int_equal(status, UND_FAILED);
            assert_non_null(strstr(err.text, hurt));
            assert_true(und_sim_intact(sim) && und_sim_frame_number(sim) >= 2);
            und_frame saved = und_frame_empty(0, 0, (und_grid){.n = {1, 1, 1}, .dx = 1});
            assert_int_equal(und_sim_save(sim, &saved, &err), UND_OK);
            assert_null(harm < 2 ? und_sim_create(scene, 1, &err) : NULL);
            put_plate(5, endings[kind]);
            again = start(scene, 2);
            assert_int_equal(und_sim_restore(again, &saved, &err), UND_OK);
            while (und_sim_frame_number(again) < und_sim_frame_number(whole))
                assert_int_equal(und_sim_advance(again, &err), UND_OK);
            assert_true(und_sim_hash(again) == und_sim_hash(whole));
            und_frame_clear(&saved);
            und_sim_destroy(whole);
            und_sim_destroy(sim);
            und_sim_destroy(again);
            und_scene_destroy(scene);
        }
}

/* What is wrong in a file is said when the run is to begin, with the place in the scene. */
static void wrong_files_are_refused_at_the_start(void **state)
{
    (void)state;
    und_error err = {0};
    put_plates("csv");
    und_scene *scene = plate_scene("files = 'p.####.csv', last = 8");
    const char *text = "x,y,z\n1,2,3\n1,two,3\n";
    assert_int_equal(und_file_write(test_path(&folder, "p.0008.csv"), text, strlen(text), &err), UND_OK);
    assert_null(und_sim_create(scene, 1, &err));
    assert_int_equal(err.status, UND_INVALID);
    assert_non_null(strstr(err.text, "a.lua:4: liquid.levelset.control[1].particles: "));
    assert_non_null(strstr(err.text, "p.0008.csv:3: expected a number, found \"two\""));
    char there[300];
    snprintf(there, sizeof there, "%s/p.0008.csv", folder.path);
    assert_int_equal(remove(there), 0);
    assert_int_equal(symlink("/dev/null", there), 0);
    assert_null(und_sim_create(scene, 1, &err));
    assert_non_null(strstr(err.text, "has become a link"));
    assert_int_equal(remove(there), 0);
    und_scene_destroy(scene);
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
        cmocka_unit_test(frames_come_and_go),         cmocka_unit_test(a_window_shares_them),
        cmocka_unit_test(changed_frames_are_refused), cmocka_unit_test(liquid_follows_files),
        cmocka_unit_test(a_run_outlives_a_lost_file), cmocka_unit_test(wrong_files_are_refused_at_the_start),
    };
    return cmocka_run_group_tests(tests, set_up, teardown);
}
