/* The lock of a cache on a filesystem where flock does not work: who holds it is told by its line alone. */
#include "tests/folder.h"
#include "tests/test.h"

#include "cache/lock.h"

#include <errno.h>
#include <sys/file.h>
#include <sys/wait.h>

static int asked;

/* In place of the C library's. */
int flock(int fd, int operation)
{
    (void)fd;
    (void)operation;
    asked++;
    errno = ENOLCK;
    return -1;
}

static int setup(void **state)
{
    (void)state;
    test_folder_make(&folder);
    return 0;
}

static void a_living_process_keeps_it(void **state)
{
    (void)state;
    char path[128];
    int fd, other;
    und_error err = {0};
    snprintf(path, sizeof path, "%s/lock", folder.path);
    assert_false(und_lock_held(path));
    assert_int_equal(und_lock_take(path, &fd, &err), UND_OK);
    assert_true(asked > 0);
    assert_true(und_lock_held(path));
    assert_int_equal(und_lock_take(path, &other, &err), UND_FAILED);
    char pid[32];
    snprintf(pid, sizeof pid, "process %ld", (long)getpid());
    assert_non_null(strstr(err.text, pid));
    und_lock_release(path, fd);
    assert_false(und_lock_held(path));
    assert_int_equal(access(path, F_OK), -1);
}

static void a_dead_process_does_not(void **state)
{
    (void)state;
    char path[128];
    int fd, how;
    und_error err = {0};
    snprintf(path, sizeof path, "%s/left", folder.path);
    pid_t child = fork();
    if (child == 0)
        _exit(und_lock_take(path, &fd, &err) == UND_OK ? 0 : 1); /* and leaves it */
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 0);
    assert_int_equal(access(path, F_OK), 0);
    assert_false(und_lock_held(path));
    assert_int_equal(und_lock_take(path, &fd, &err), UND_OK);
    assert_true(und_lock_held(path));
    und_lock_release(path, fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_living_process_keeps_it),
        cmocka_unit_test(a_dead_process_does_not),
    };
    return cmocka_run_group_tests_name("lock", tests, setup, teardown);
}
