/* Parallel loops: each iteration once, no thread waited for that holds no work, and waiting that sleeps. */
#include "base/parallel.h"

#include "test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COUNT = 1000, THREADS = 4 };

static void every_iteration_runs_once(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 9; threads += 2)
        for (int round = 0; round < 50; round++) {
            int seen[COUNT] = {0}, wrong = 0;
            PARALLEL_FOR(threads)
            for (int i = 0; i < COUNT; i++)
                seen[i]++;
            PARALLEL_FOR(threads)
            for (int i = 3; i < COUNT; i += 7)
                seen[i]++;
            PARALLEL_FOR(threads)
            for (int i = COUNT - 1; i >= 0; i -= 5)
                seen[i]++;
            PARALLEL_FOR(threads)
            for (size_t i = 1; i < COUNT; i += 2)
                seen[i]++;
            PARALLEL_FOR(threads)
            for (long i = 0; i < -4; i++)
                seen[i]++;
            for (int i = 0; i < COUNT; i++)
                wrong += seen[i] != 1 + (i % 7 == 3) + ((COUNT - 1 - i) % 5 == 0) + i % 2;
            assert_int_equal(wrong, 0);
        }
}

/* Scratch memory goes by this number. */
static void threads_have_numbers_of_their_own(void **state)
{
    (void)state;
    atomic_int holders[THREADS] = {0};
    int wrong[COUNT] = {0}, sum = 0;
    PARALLEL_FOR(THREADS)
    for (int i = 0; i < COUNT; i++) {
        int thread = und_thread();
        wrong[i] = thread < 0 || thread >= THREADS || atomic_fetch_add(&holders[thread], 1) != 0;
        sched_yield();
        wrong[i] |= und_thread() != thread;
        atomic_fetch_sub(&holders[thread], 1);
    }
    for (int i = 0; i < COUNT; i++)
        sum += wrong[i];
    assert_int_equal(sum, 0);
    assert_int_equal(und_thread(), 0);
}

static void a_loop_in_a_loop_stays_on_its_thread(void **state)
{
    (void)state;
    int seen[16][16] = {{0}}, wrong = 0;
    PARALLEL_FOR(THREADS)
    for (int i = 0; i < 16; i++) {
        int outer = und_thread();
        pthread_t self = pthread_self();
        PARALLEL_FOR(THREADS)
        for (int j = 0; j < 16; j++)
            seen[i][j] += 1 + 2 * !pthread_equal(self, pthread_self());
        seen[i][0] += und_thread() != outer;
    }
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 16; j++)
            wrong += seen[i][j] != 1;
    assert_int_equal(wrong, 0);
}

/* Iterations that end only when all have begun take as many threads as there are iterations. */
static void a_loop_is_shared(void **state)
{
    (void)state;
    atomic_int begun = 0;
    PARALLEL_FOR(THREADS)
    for (int i = 0; i < THREADS; i++) {
        atomic_fetch_add(&begun, 1);
        while (atomic_load(&begun) < THREADS)
            usleep(100);
    }
    assert_int_equal(begun, THREADS);
}

enum { STEPS = 200, TASKS = 40 };

typedef struct {
    const int *tasks, *stages;
    atomic_int done[STEPS][TASKS], early, wrong;
} walked;

/* Every seventh step, by what the one before it did. */
static bool is_left_out(const void *context, int step)
{
    walked *w = *(walked *const *)context;
    for (int i = 0; step > 0 && i < w->tasks[step - 1]; i++)
        w->early += (step - 1) % 7 != 0 && atomic_load(&w->done[step - 1][i]) != w->stages[step - 1];
    return step % 7 == 0;
}

static void do_task(const void *context, int step, int stage, int index)
{
    walked *w = *(walked *const *)context;
    const int before = step > 0 && (step - 1) % 7 != 0 ? step - 1 : step > 1 ? step - 2 : -1;
    for (int i = 0; before >= 0 && i < w->tasks[before]; i++)
        w->early += atomic_load(&w->done[before][i]) < w->stages[before];
    for (int i = index - 1; i <= index + 1; i++)
        w->early += i >= 0 && i < w->tasks[step] && atomic_load(&w->done[step][i]) < stage;
    w->wrong += atomic_fetch_add(&w->done[step][index], 1) != stage;
}

/* Some steps have no task, some one, some fewer than there are threads; some have several stages. */
static void steps_have_each_task_once_and_wait(void **state)
{
    (void)state;
    static walked w;
    walked *context = &w;
    int tasks[STEPS], stages[STEPS];
    const und_steps steps = {.task = do_task,
                             .left_out = is_left_out,
                             .context = &context,
                             .tasks = tasks,
                             .stages = stages,
                             .count = STEPS};
    for (int threads = 1; threads <= 9; threads += 2) {
        memset(&w, 0, sizeof w);
        w.tasks = tasks;
        w.stages = stages;
        for (int i = 0; i < STEPS; i++) {
            tasks[i] = i * i * 7 % 11 < 4 ? i % 4 : i * 13 % TASKS;
            stages[i] = i % 5 == 1 ? 1 + i % 9 : 1;
        }
        und_steps_share(&steps, threads);
        for (int i = 0; i < STEPS; i++)
            for (int k = 0; k < TASKS; k++)
                w.wrong += w.done[i][k] != (k < tasks[i] && i % 7 != 0 ? stages[i] : 0);
        assert_int_equal(w.wrong, 0);
        assert_int_equal(w.early, 0);
    }
}

typedef struct {
    atomic_int begun, released;
} gate;

static void *hold_threads(void *context)
{
    gate *g = context;
    PARALLEL_FOR(THREADS)
    for (int i = 0; i < THREADS; i++) {
        atomic_fetch_add(&g->begun, 1);
        while (!atomic_load(&g->released))
            usleep(100);
    }
    return NULL;
}

/* All workers are held up by another loop, as they would be by other programs: this loop ends all the same.
 */
static void a_loop_does_not_wait_for_a_late_thread(void **state)
{
    (void)state;
    gate g = {0};
    pthread_t holder;
    assert_int_equal(pthread_create(&holder, NULL, hold_threads, &g), 0);
    while (atomic_load(&g.begun) < THREADS)
        usleep(100);
    int seen[COUNT] = {0}, wrong = 0;
    for (int round = 0; round < 100; round++) {
        PARALLEL_FOR(THREADS)
        for (int i = 0; i < COUNT; i++)
            seen[i]++;
    }
    atomic_store(&g.released, 1);
    pthread_join(holder, NULL);
    for (int i = 0; i < COUNT; i++)
        wrong += seen[i] != 100;
    assert_int_equal(wrong, 0);
}

static double processor_time(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* One iteration of each loop holds the others up by 2 ms: threads that spun all the while would take 2 ms of
 * processor time each. */
static void waiting_threads_sleep(void **state)
{
    (void)state;
    enum { ROUNDS = 100, HELD = 2000 };
    double before = processor_time();
    for (int round = 0; round < ROUNDS; round++) {
        PARALLEL_FOR(THREADS)
        for (int i = 0; i < THREADS; i++)
            if (i == THREADS - 1)
                usleep(HELD);
    }
    double spent = processor_time() - before, spun = ROUNDS * HELD * 1e-6 * (THREADS - 1);
    print_message("# %.1f %% of the processor time that spinning takes\n", 100 * spent / spun);
    assert_true(spent < 0.4 * spun);
}

static void a_child_process_has_loops(void **state)
{
    (void)state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        int seen[COUNT] = {0}, wrong = 0;
        for (int round = 0; round < 3; round++) {
            PARALLEL_FOR(THREADS)
            for (int i = 0; i < COUNT; i++)
                seen[i]++;
        }
        for (int i = 0; i < COUNT; i++)
            wrong += seen[i] != 3;
        _exit(wrong != 0);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_iteration_runs_once),
        cmocka_unit_test(threads_have_numbers_of_their_own),
        cmocka_unit_test(a_loop_in_a_loop_stays_on_its_thread),
        cmocka_unit_test(a_loop_is_shared),
        cmocka_unit_test(steps_have_each_task_once_and_wait),
        cmocka_unit_test(a_loop_does_not_wait_for_a_late_thread),
        cmocka_unit_test(waiting_threads_sleep),
        cmocka_unit_test(a_child_process_has_loops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
