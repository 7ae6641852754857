/* The threads that run parallel loops.
 *
 * A loop is put up in a slot that all workers see.  The thread that put it up goes through the iterations
 * like any worker that comes to help, then takes it down, so that nobody comes any more, and waits only for
 * those that are inside.  So a loop needs no worker to end: one that is late finds nothing left to do.
 *
 * What there is to do is dealt out in shares, of which each thread has its own, the same part of every loop:
 * what it has just written it reads again, and its core has it still.  Who is done takes from the others'. */
#include "base/parallel.h"

#include <assert.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    MAX_THREADS = 256,
    SLOTS = 32,  /* threads that share out loops at the same time; one more runs its loop alone */
    SHARES = 12, /* that a thread has of a loop's iterations, at least: so that all end at the same time */
    SPINS =
        2000, /* looks before a thread sleeps: about as long as it takes to wake it, some 40 microseconds */
};

/* A slot's state: how many workers may still come, whether the owner sleeps until all have left, and how many
 * are inside. */
#define ONE_SEAT 0x10000u
#define AWAITED 0x8000u
#define INSIDE 0x7fffu

typedef struct {
    long begin, step, count;
} range;

/* What is left of a share: the step that it is of, from 1, and its tasks from next to below end; 0 before the
 * first. */
typedef struct {
    alignas(64) _Atomic uint64_t left;
} share_left;

typedef struct {
    alignas(64) _Atomic unsigned state;
    atomic_bool taken;
    share_left *shares; /* of each thread */
    int threads;
    void (*body)(void *);
    void *data;
    range known;
} loop;

static struct {
    loop slots[SLOTS];
    share_left shares[SLOTS][MAX_THREADS];
    alignas(64) _Atomic unsigned posted; /* loops put up so far */
    _Atomic unsigned asleep;             /* workers that wait for the next */
    atomic_int workers;
    pthread_mutex_t hiring;
    bool forks;
} pool = {.hiring = PTHREAD_MUTEX_INITIALIZER};

/* Where this thread is: in which loop, on which of its seats, which share is its own, from which it takes, in
 * what range. */
typedef struct {
    int worker; /* number of this thread; 0 of one that puts up loops */
    loop *loop;
    int seat, own, from;
    range range;
} place;

static _Thread_local place here;

static void sleep_while(_Atomic unsigned *word, unsigned value)
{
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void wake(_Atomic unsigned *word, int sleepers)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, sleepers, NULL, NULL, 0);
}

static void breathe(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static void enter(loop *l, int seat)
{
    here.loop = l;
    here.seat = seat;
    here.own = here.from = here.worker < l->threads ? here.worker : seat;
    here.range = l->known;
    l->body(l->data);
}

/* ---- Shares ---- */

static uint64_t share_of(int step, long next, long end)
{
    return (uint64_t)(step + 1) << 48 | (uint64_t)next << 24 | (uint64_t)end;
}

/* The first task of a thread's share of so many. */
static long share_begin(const loop *l, int thread, long tasks)
{
    return (thread * tasks + l->threads - 1) / l->threads;
}

/* A task of a step from a share, -1 where none is left: of a thread's own the next, of another's the last. */
static long take_from(loop *l, int thread, int step, long tasks)
{
    const long begin = share_begin(l, thread, tasks), end = share_begin(l, thread + 1, tasks);
    if (begin == end)
        return -1;
    uint64_t left = atomic_load(&l->shares[thread].left), taken;
    long from, to;
    do {
        const int at = (int)(left >> 48) - 1;
        from = at == step ? (long)(left >> 24 & 0xffffff) : begin;
        to = at == step ? (long)(left & 0xffffff) : end;
        if (at > step || from == to)
            return -1;
        taken = thread == here.own ? share_of(step, from + 1, to) : share_of(step, from, to - 1);
    } while (!atomic_compare_exchange_weak(&l->shares[thread].left, &left, taken));
    return thread == here.own ? from : to - 1;
}

/* A task of a step that nobody has begun; -1 where there is none, as of the steps before it. */
static long take_task(loop *l, int step, long tasks)
{
    assert(step < (1 << 16) - 1 && tasks < 1 << 24);
    for (int i = 0; i < l->threads; i++) {
        const int thread = (here.from + i) % l->threads;
        const long task = take_from(l, thread, step, tasks);
        if (task >= 0) {
            here.from = thread;
            return task;
        }
    }
    here.from = here.own;
    return -1;
}

/* ---- Workers ---- */

/* The seat taken in a loop that wants workers, from 1; 0 when it wants none. */
static int take_seat(loop *l)
{
    unsigned state = atomic_load(&l->state);
    while (state >= ONE_SEAT)
        if (atomic_compare_exchange_weak(&l->state, &state, state - ONE_SEAT + 1))
            return l->threads - (int)(state / ONE_SEAT);
    return 0;
}

static void help(loop *l)
{
    int seat = take_seat(l);
    if (seat == 0)
        return;
    enter(l, seat);
    here.loop = NULL;
    if ((atomic_fetch_sub(&l->state, 1) & (AWAITED | INSIDE)) == (AWAITED | 1))
        wake(&l->state, 1);
}

static void *work(void *number)
{
    here.worker = (int)(intptr_t)number;
    for (;;) {
        unsigned seen = atomic_load(&pool.posted);
        for (int i = 0; i < SLOTS; i++)
            help(&pool.slots[i]);
        int spins = 0;
        while (atomic_load_explicit(&pool.posted, memory_order_relaxed) == seen && spins++ < SPINS)
            breathe();
        if (spins < SPINS)
            continue;
        atomic_fetch_add(&pool.asleep, 1);
        sleep_while(&pool.posted, seen);
        atomic_fetch_sub(&pool.asleep, 1);
    }
    return NULL;
}

/* A child has the thread that forked and no other. */
static void forget_workers(void)
{
    pthread_mutex_init(&pool.hiring, NULL);
    atomic_store(&pool.workers, 0);
    atomic_store(&pool.asleep, 0);
    for (int i = 0; i < SLOTS; i++) {
        atomic_store(&pool.slots[i].state, 0);
        atomic_store(&pool.slots[i].taken, &pool.slots[i] == here.loop);
    }
}

/* Signals are for the program's own threads.  Where the system gives no more threads, there are fewer. */
static void hire(int count)
{
    pthread_mutex_lock(&pool.hiring);
    if (!pool.forks)
        pool.forks = pthread_atfork(NULL, NULL, forget_workers) == 0;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    for (intptr_t next; (next = atomic_load(&pool.workers) + 1) <= count &&
                        pthread_create(&thread, NULL, work, (void *)next) == 0;) {
        pthread_detach(thread);
        atomic_fetch_add(&pool.workers, 1);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_mutex_unlock(&pool.hiring);
}

static loop *find_slot(void)
{
    for (int i = 0; i < SLOTS; i++)
        if (!atomic_load(&pool.slots[i].taken) && !atomic_exchange(&pool.slots[i].taken, true))
            return &pool.slots[i];
    return NULL;
}

static void put_up(loop *l)
{
    int wanted = l->threads - 1;
    if (atomic_load(&pool.workers) < wanted)
        hire(wanted);
    for (int i = 0; i < l->threads; i++)
        atomic_store_explicit(&l->shares[i].left, 0, memory_order_relaxed);
    atomic_store(&l->state, (unsigned)wanted * ONE_SEAT);
    atomic_fetch_add(&pool.posted, 1);
    if (atomic_load(&pool.asleep) > 0)
        wake(&pool.posted, wanted);
}

static void take_down(loop *l)
{
    atomic_fetch_and(&l->state, INSIDE);
    for (int i = 0; i < SPINS && (atomic_load(&l->state) & INSIDE) != 0; i++)
        breathe();
    while ((atomic_load(&l->state) & INSIDE) != 0) {
        unsigned state = atomic_fetch_or(&l->state, AWAITED) | AWAITED;
        if ((state & INSIDE) != 0)
            sleep_while(&l->state, state);
    }
    atomic_store(&l->taken, false);
}

static void share(void (*body)(void *), void *data, unsigned threads, range known)
{
    place outer = here;
    share_left all = {0};
    loop own = {.shares = &all, .threads = 1};
    /* A loop inside another is its thread's own business. */
    loop *slot = threads > 1 && !outer.loop ? find_slot() : NULL, *l = slot ? slot : &own;
    l->body = body;
    l->data = data;
    l->known = known;
    if (slot) {
        l->threads = (int)(threads < MAX_THREADS ? threads : MAX_THREADS);
        l->shares = pool.shares[slot - pool.slots];
        put_up(l);
    }
    enter(l, 0);
    here = outer;
    if (slot)
        take_down(l);
}

static range range_of(long begin, long end, long step)
{
    long count = step > 0 ? (end - begin + step - 1) / step : (begin - end - step - 1) / -step;
    return (range){begin, step, count > 0 ? count : 0};
}

void und_loop_share(void (*body)(void *), void *data, unsigned threads, unsigned flags)
{
    (void)flags;
    share(body, data, threads, (range){0});
}

void und_loop_share_known(void (*body)(void *), void *data, unsigned threads, long begin, long end, long step,
                          long chunk, unsigned flags)
{
    (void)chunk;
    (void)flags;
    share(body, data, threads, range_of(begin, end, step));
}

/* One iteration, or of many short ones, as rows of a grid are, several. */
bool und_loop_next(long *from, long *to)
{
    const range r = here.range;
    const int threads = here.loop->threads;
    const long some = threads == 1 ? r.count : r.count / (SHARES * (long)threads), each = some > 1 ? some : 1;
    const long task = take_task(here.loop, 0, (r.count + each - 1) / each);
    const long first = task * each, last = first + each < r.count ? first + each : r.count;
    if (task < 0)
        return false;
    *from = r.begin + first * r.step;
    *to = r.begin + last * r.step;
    return true;
}

void und_loop_bounds(long begin, long end, long step)
{
    here.range = range_of(begin, end, step);
}

bool und_loop_start(long begin, long end, long step, long chunk, long *from, long *to)
{
    (void)chunk;
    und_loop_bounds(begin, end, step);
    return und_loop_next(from, to);
}

bool und_loop_next_size(unsigned long long *from, unsigned long long *to)
{
    long first = 0, last = 0;
    bool more = und_loop_next(&first, &last);
    *from = (unsigned long long)first;
    *to = (unsigned long long)last;
    return more;
}

bool und_loop_start_size(bool up, unsigned long long begin, unsigned long long end, unsigned long long step,
                         unsigned long long chunk, unsigned long long *from, unsigned long long *to)
{
    (void)up;
    (void)chunk;
    und_loop_bounds((long)begin, (long)end, (long)step);
    return und_loop_next_size(from, to);
}

void und_loop_leave(void) {}

/* ---- Steps ---- */

typedef struct {
    void (*task)(const void *context, int step, int index);
    const void *context;
    const int *tasks;
    int steps;
    alignas(64) _Atomic unsigned done;
    _Atomic unsigned asleep;
} walk;

static void wait_for(walk *w, unsigned tasks)
{
    for (int i = 0; i < SPINS && atomic_load(&w->done) < tasks; i++)
        breathe();
    if (atomic_load(&w->done) >= tasks)
        return;
    atomic_fetch_add(&w->asleep, 1);
    for (unsigned done; (done = atomic_load(&w->done)) < tasks;)
        sleep_while(&w->done, done);
    atomic_fetch_sub(&w->asleep, 1);
}

static void walk_steps(void *data)
{
    walk *w = data;
    unsigned first = 0; /* task of the step */
    for (int step = 0; step < w->steps; step++) {
        unsigned own = 0;
        for (long i; (i = take_task(here.loop, step, w->tasks[step])) >= 0; own++) {
            if (own == 0)
                wait_for(w, first);
            w->task(w->context, step, (int)i);
        }
        first += (unsigned)w->tasks[step];
        if (own > 0 && atomic_fetch_add(&w->done, own) + own == first && atomic_load(&w->asleep) > 0)
            wake(&w->done, INT_MAX);
    }
}

void und_steps_share(void (*task)(const void *context, int step, int index), const void *context,
                     const int *tasks, int steps, int threads)
{
    walk w = {.task = task, .context = context, .tasks = tasks, .steps = steps};
    und_loop_share(walk_steps, &w, (unsigned)threads, 0);
}

int und_threads(int asked)
{
    int threads = asked;
    cpu_set_t cores;
    if (asked <= 0)
        threads = sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores)
                                                                  : (int)sysconf(_SC_NPROCESSORS_ONLN);
    return threads < 1 ? 1 : threads < MAX_THREADS ? threads : MAX_THREADS;
}

unsigned und_loops_shared(void)
{
    return atomic_load(&pool.posted);
}

int und_thread(void)
{
    return here.seat;
}
