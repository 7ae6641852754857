/* Work in a child: what it gives, and how it ends where it would not by itself. */
#include "tests/test.h"

#include "base/child.h"
#include "base/status.h"

#include <sys/wait.h>
#include <unistd.h>

typedef enum deed { GIVES, REFUSES, SPINS, SLEEPS, SPINS_HALF_WAY } deed;

static und_status work(void *context, und_error *err)
{
    volatile unsigned long turns = 0;
    switch (*(deed *)context) {
    case REFUSES:
        return und_error_set(err, UND_INVALID, "line 7 is wrong");
    case SPINS:
        for (;;)
            turns++;
    case SLEEPS:
        for (;;)
            pause();
    default:
        break;
    }
    return UND_OK;
}

static void give(und_child *child, const void *context)
{
    const int answer = 42;
    volatile unsigned long turns = 0;
    while (*(const deed *)context == SPINS_HALF_WAY)
        turns++;
    und_child_put(child, &answer, sizeof answer);
}

static int taken;

static und_status take(und_child *child, void *context, und_error *err)
{
    (void)context;
    (void)err;
    return und_child_get(child, &taken, sizeof taken) ? UND_OK : UND_FAILED;
}

/* Those that end by themselves have all the time there is. */
static und_status run(deed what, und_error *err)
{
    const und_child_job job = {.path = "some.vdb",
                               .context = &what,
                               .work = work,
                               .give = give,
                               .take = take,
                               .seconds = what < SPINS ? 0 : 0.05,
                               .patience = what < SPINS ? 0 : 0.3};
    taken = 0;
    *err = (und_error){0};
    const und_status status = und_child_run(&job, err);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* none is left */
    return status;
}

static void what_it_gives_is_taken(void **state)
{
    (void)state;
    und_error err;
    assert_int_equal(run(GIVES, &err), UND_OK);
    assert_int_equal(taken, 42);
    assert_int_equal(run(REFUSES, &err), UND_INVALID);
    assert_string_equal(err.text, "line 7 is wrong");
}

/* Each limit is met by itself: one works without end, the other does nothing. */
static void it_is_ended_and_reported(void **state)
{
    (void)state;
    static const deed bad[] = {SPINS, SPINS_HALF_WAY, SLEEPS};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        und_error err;
        assert_int_equal(run(bad[i], &err), UND_FAILED);
        assert_int_equal(taken, 0);
        assert_string_equal(err.text, "cannot read some.vdb: it is damaged");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_it_gives_is_taken),
        cmocka_unit_test(it_is_ended_and_reported),
    };
    return cmocka_run_group_tests_name("children", tests, NULL, NULL);
}
