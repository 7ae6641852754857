/* No liquid goes back in time: a step that is negative or no number is a programmer's error, and caught. */
#include "tests/test.h"

#include <undine/undine.h>

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

typedef void step_fn(double dt);

static void step_waves(double dt)
{
    und_waves_def def = und_waves_def_default();
    und_waves *s = und_waves_create(&def, NULL);
    und_waves_step(s, dt);
    und_waves_destroy(s);
}

static void step_columns(double dt)
{
    und_columns_def def = und_columns_def_default();
    und_columns *s = und_columns_create(&def, NULL);
    und_columns_step(s, dt);
    und_columns_destroy(s);
}

static void step_cells(double dt)
{
    und_cells_def def = und_cells_def_default();
    und_cells *s = und_cells_create(&def, NULL);
    und_cells_step(s, dt);
    und_cells_destroy(s);
}

static void substep_cells(double dt)
{
    und_cells_def def = und_cells_def_default();
    und_cells *s = und_cells_create(&def, NULL);
    und_cells_substep(s, dt);
    und_cells_destroy(s);
}

static void step_levelset(double dt)
{
    und_levelset_def def = und_levelset_def_default();
    und_levelset *s = und_levelset_create(&def, NULL);
    und_levelset_step(s, dt);
    und_levelset_destroy(s);
}

/* How the process ends that makes the step: 0, or a signal's number. */
static int ending(step_fn *step, double dt)
{
    int how;
    pid_t child = fork();
    if (child == 0) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        if (!freopen("/dev/null", "w", stderr))
            _exit(1);
        step(dt);
        _exit(0);
    }
    waitpid(child, &how, 0);
    return WIFSIGNALED(how) ? WTERMSIG(how) : WEXITSTATUS(how);
}

static void steps_go_forward(void **state)
{
    (void)state;
    step_fn *const steps[] = {step_waves, step_columns, step_cells, substep_cells, step_levelset};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        assert_int_equal(ending(steps[i], 0.01), 0);
        assert_int_equal(ending(steps[i], 0), 0);
        assert_int_equal(ending(steps[i], -1), SIGABRT);
        assert_int_equal(ending(steps[i], NAN), SIGABRT);
        assert_int_equal(ending(steps[i], INFINITY), SIGABRT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(steps_go_forward)};
    return cmocka_run_group_tests_name("steps", tests, NULL, NULL);
}
