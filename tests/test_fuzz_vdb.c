/* Damaged VDB files: whatever the library makes of them, this program lives, and says which file it was. */
#include "tests/distance_frame.h"
#include "tests/folder.h"
#include "tests/mutant.h"

#include "base/child.h"
#include "base/status.h"
#include "io/points.h"
#include "io/vdb.h"
#include "io/vdb_frame.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static double ball(double x, double y, double z)
{
    return sqrt((x - 0.7) * (x - 0.7) + (y + 0.05) * (y + 0.05) + (z - 1.55) * (z - 1.55)) - 0.3;
}

static double flow(double x, double y, double z)
{
    return 1 + 2 * x - 3 * y + 0.5 * z;
}

static int setup(void **state)
{
    (void)state;
    enum { N = 16 };
    static const char *const names[3] = {"velocity_x", "velocity_y", "velocity_z"};
    test_folder_make_fast(&folder);
    und_frame f = distance_frame(N, N, N, 1.0 / N, ball);
    for (int a = 0; a < 3; a++)
        add_samples(&f, names[a], "m/s", a, flow);
    und_error err = {0};
    bool good = und_vdb_write_frame(test_path(&folder, "grids.vdb"), &f, UND_UP_Y, false, 1, &err) == UND_OK;
    und_frame_clear(&f);
    und_point_rows rows = {.has = 7 | 7 << UND_POINT_VX | 1 << UND_POINT_RADIUS, .has_id = true};
    for (int i = 0; i < 500; i++) {
        float *row = und_points_add(&rows, "test", &err);
        for (int k = 0; k < 3; k++) {
            row[UND_POINT_X + k] = (float)sin(i + 100.0 * k);
            row[UND_POINT_VX + k] = (float)(i * k);
        }
        row[UND_POINT_RADIUS] = 0.01F * (float)i;
    }
    good = good && und_vdb_write_points(test_path(&folder, "points.vdb"), &rows, 0.2, &err) == UND_OK;
    und_points_free(&rows);
    return good ? 0 : -1;
}

typedef und_status read_fn(const char *path, und_error *err);

static und_status read_distances(const char *path, und_error *err)
{
    und_lattice lattice;
    float *values;
    und_status status = und_vdb_read_lattice(path, "surface", &lattice, &values, err);
    assert_int_equal(status == UND_OK, values != NULL);
    free(values);
    return status;
}

static und_status read_velocities(const char *path, und_error *err)
{
    und_lattice lattice;
    float *values;
    und_status status = und_vdb_read_vectors(path, "vel", &lattice, &values, err);
    assert_int_equal(status == UND_OK, values != NULL);
    free(values);
    return status;
}

static und_status read_points(const char *path, und_error *err)
{
    und_point_rows rows;
    und_status status = und_points_read(path, "points", &rows, err);
    for (int i = 0; status == UND_OK && i < rows.count; i++)
        for (int k = 0; k < UND_POINT_NUMBERS; k++)
            assert_true(isfinite(rows.number[i][k]));
    und_points_free(&rows);
    return status;
}

static void damage(const char *name, const char *what, read_fn *read)
{
    const char *path = test_path(&folder, name);
    und_error err = {0};
    assert_int_equal(read(path, &err), UND_OK);
    subject s = take(path);
    const int times = (int)test_times(150);
    int refused = 0;
    for (int seed = 0; seed < times; seed++) {
        mutate(&s, (uint64_t)seed);
        if (read(s.path, &err) != UND_OK) {
            refused++;
            if (!strstr(err.text, name))
                fail_msg("number %d: %s", seed, err.text);
        }
    }
    print_message("%d of %d %s refused\n", refused, times, what);
    assert_true(refused > times / 10);
    put_back(&s);
    assert_int_equal(read(s.path, &err), UND_OK);
}

static void damaged_distances(void **state)
{
    (void)state;
    damage("grids.vdb", "VDB distances", read_distances);
}

static void damaged_velocities(void **state)
{
    (void)state;
    damage("grids.vdb", "VDB velocities", read_velocities);
}

static void damaged_points(void **state)
{
    (void)state;
    damage("points.vdb", "VDB points", read_points);
}

/* What a library may do to the process that it is in. */
typedef enum misdeed { CRASH, ABORT, KILLED, REFUSED, SHORT, GOOD } misdeed;

static und_status misbehave(void *context, und_error *err)
{
    const misdeed how = *(misdeed *)context;
    (void)err;
    if (how == CRASH)
        raise(SIGSEGV);
    if (how == ABORT)
        abort();
    if (how == KILLED) /* as by a limit */
        raise(SIGKILL);
    return how == REFUSED ? und_error_set(err, UND_FAILED, "out of memory: a file") : UND_OK;
}

static void give_number(und_child *child, const void *context)
{
    const int number = 12345;
    und_child_put(child, &number, *(const misdeed *)context == SHORT ? 2 : sizeof number);
}

static und_status take_number(und_child *child, void *context, und_error *err)
{
    int number = 0;
    (void)context;
    (void)err;
    if (!und_child_get(child, &number, sizeof number))
        return UND_FAILED;
    return number == 12345 ? UND_OK : UND_INVALID;
}

static void a_child_cannot_hurt(void **state)
{
    (void)state;
    for (int i = CRASH; i <= GOOD; i++) {
        misdeed how = (misdeed)i;
        und_child_job job = {"some.vdb", 0, &how, misbehave, give_number, take_number, 0, 0};
        und_error err = {0};
        assert_int_equal(und_child_run(&job, &err), how == GOOD ? UND_OK : UND_FAILED);
        assert_string_equal(err.text, how == GOOD      ? ""
                                      : how == REFUSED ? "out of memory: a file"
                                                       : "cannot read some.vdb: it is damaged");
    }
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* none is left */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_cannot_hurt),
        cmocka_unit_test(damaged_distances),
        cmocka_unit_test(damaged_velocities),
        cmocka_unit_test(damaged_points),
    };
    return cmocka_run_group_tests_name("damaged VDB files", tests, setup, teardown);
}
