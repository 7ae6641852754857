/* Runs killed at any moment: the cache is valid all the time, and in the end the same as without kills. */
#include "tests/folder.h"
#include "tests/small_cache.h"
#include "tests/test.h"

#include <limits.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { LAST = 30 };

static int setup(void **state)
{
    (void)state;
    test_folder_make_fast(&folder);
    return 0;
}

static bool write_from(und_cache *cache, int first, int last)
{
    bool good = true;
    for (int i = first; good && i <= last; i++) {
        und_frame frame = small_frame(i);
        und_ledger ledger = {.start = 10, .sources = 0.5 * i, .measured = 10 + 0.5 * i};
        good = !und_cache_write(cache, &frame, &ledger, und_frame_hash(&frame, 1), NULL) &&
               (i % 3 || !und_cache_checkpoint(cache, &frame, NULL));
        und_frame_clear(&frame);
    }
    return !und_cache_close(cache, NULL, 0, NULL) && good;
}

/* Begins, or goes on after a kill, up to frame `last`. */
static bool run(const char *path, int last, double commit_every)
{
    und_cache_def def = small_definition(path);
    def.end = LAST;
    def.keep = 2;
    def.commit_every = commit_every;
    und_frame state;
    und_error err = {0};
    int first = 1;
    und_cache *cache = und_cache_resume(&def, &state, &err);
    if (cache && state.count)
        first = state.number + 1;
    if (cache)
        und_frame_clear(&state);
    else
        cache = und_cache_create(&def, true, &err);
    return cache && write_from(cache, first, last);
}

/* The program as the writer that killed_after() starts. */
static int writer(const char *path, double commit_every)
{
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    raise(SIGSTOP);
    _exit(run(path, LAST, commit_every) ? 0 : 1);
}

/* Runs, and is killed after so many system calls: nothing on a disk changes between two of them.  Returns how
 * many there were; fewer than `calls` where it came to its end. */
static long killed_after(const char *path, double commit_every, long calls)
{
    char every[32];
    snprintf(every, sizeof every, "%g", commit_every);
    pid_t child = fork();
    if (child == 0) { /* anew: threads of libraries may have held the allocator's locks of a sanitizer */
        execl("/proc/self/exe", "test_cache_kill", path, every, (char *)NULL);
        _exit(2);
    }
    long made = 0; /* each stops it twice, before and after */
    int how;
    for (waitpid(child, &how, 0); WIFSTOPPED(how) && made < 2 * calls; made++) {
        assert_int_equal(ptrace(PTRACE_SYSCALL, child, NULL, NULL), 0);
        waitpid(child, &how, 0);
    }
    if (WIFSTOPPED(how)) {
        kill(child, SIGKILL);
        waitpid(child, &how, 0);
    }
    assert_true(WIFSIGNALED(how) || WEXITSTATUS(how) == 0);
    return made / 2;
}

static void killed_runs_leave_a_valid_cache(void **state)
{
    (void)state;
    char path[100], manifest[120], whole[100];
    snprintf(path, sizeof path, "%s/killed", folder.path);
    snprintf(manifest, sizeof manifest, "%s/manifest.json", path);
    snprintf(whole, sizeof whole, "%s/whole", folder.path);
    int valid = 0, killed = 0, times = (int)test_times(40);
    const long all = killed_after(whole, -1, LONG_MAX / 2);
    assert_true(all > 10 * LAST);
    while (killed < times) {
        const long calls = (long)((double)all * und_random(7, 7, (uint64_t)killed) / 8);
        if (killed_after(path, killed % 2 ? -1 : 0.003, calls) <
            calls) { /* all its frames are there: once more */
            nftw(path, test_folder_remove_one, 16, FTW_DEPTH | FTW_PHYS);
            continue;
        }
        killed++;
        und_error err = {0};
        if (access(manifest, F_OK) == 0) { /* it had begun */
            if (und_cache_verify(path, NULL, NULL, NULL, &err))
                fail_msg("after kill %d: %s", killed, err.text);
            valid++;
        }
    }
    print_message("%d of %d killed writers left a cache, each valid\n", valid, times);
    assert_true(valid > 0);
    assert_true(run(path, LAST, 0));
    und_cache *a = und_cache_open(path, NULL), *b = und_cache_open(whole, NULL);
    und_cache_info one = und_cache_describe(a), other = und_cache_describe(b);
    assert_int_equal(one.row_count, LAST);
    assert_int_equal(other.row_count, LAST);
    for (int i = 0; i < LAST; i++)
        assert_memory_equal(&one.rows[i], &other.rows[i], sizeof one.rows[i]);
    und_cache_close(a, NULL, 0, NULL);
    und_cache_close(b, NULL, 0, NULL);
    assert_int_equal(und_cache_verify(path, NULL, NULL, NULL, NULL), UND_OK);
}

/* A power cut loses what was not synced: files are empty, and a ledger has anything after its good rows. */
static void lose(const char *path)
{
    for (int frame = 7; frame <= 10; frame++) {
        char file[160];
        snprintf(file, sizeof file, "%s/frames/beach.%04d.h5", path, frame);
        assert_int_equal(truncate(file, 0), 0);
        snprintf(file, sizeof file, "%s/checkpoints/beach.%04d.h5", path, frame);
        if (frame % 3 == 0)
            assert_int_equal(truncate(file, 0), 0);
    }
    char ledger[160];
    struct stat info;
    snprintf(ledger, sizeof ledger, "%s/ledger.csv", path);
    assert_int_equal(stat(ledger, &info), 0);
    assert_int_equal(truncate(ledger, info.st_size - 200), 0);
    assert_int_equal(truncate(ledger, info.st_size), 0); /* zeros */
}

static void what_was_not_committed_may_be_lost(void **state)
{
    (void)state;
    char path[100];
    und_error err = {0};
    snprintf(path, sizeof path, "%s/cut", folder.path);
    assert_true(run(path, 6, -1));
    pid_t child = fork();
    if (child == 0) {
        und_cache_def def = small_definition(path);
        und_frame from;
        def.keep = 2;
        def.commit_every = 1e9;
        und_cache *cache = und_cache_resume(&def, &from, NULL);
        for (int i = 7; i <= 10; i++) {
            und_frame frame = small_frame(i);
            und_ledger ledger = {.start = 10, .sources = 0.5 * i, .measured = 10 + 0.5 * i};
            und_cache_write(cache, &frame, &ledger, und_frame_hash(&frame, 1), NULL);
            if (i % 3 == 0)
                und_cache_checkpoint(cache, &frame, NULL);
        }
        _exit(0); /* as a kill: nothing is closed */
    }
    int how;
    waitpid(child, &how, 0);
    assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 0);
    und_cache *cache = und_cache_open(path, &err);
    assert_int_equal(und_cache_describe(cache).row_count, 6);
    und_cache_close(cache, NULL, 0, NULL);
    lose(path);
    if (und_cache_verify(path, NULL, NULL, NULL, &err))
        fail_msg("%s", err.text);
    assert_true(run(path, LAST, 0));
    assert_int_equal(und_cache_verify(path, NULL, NULL, NULL, NULL), UND_OK);
}

int main(int count, char **argument)
{
    if (count == 3)
        return writer(argument[1], strtod(argument[2], NULL));
    const struct CMUnitTest tests[] = {cmocka_unit_test(killed_runs_leave_a_valid_cache),
                                       cmocka_unit_test(what_was_not_committed_may_be_lost)};
    return cmocka_run_group_tests_name("cache, killed", tests, setup, teardown);
}
