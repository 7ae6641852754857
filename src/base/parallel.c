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
    /* Looks before a thread sleeps: about as long as it takes to wake it, some 40 microseconds.  And where
     * each thread has a core of its own: most that it waits for takes no longer. */
    SPINS = 2000,
    LONG_SPINS = 8000,
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
    atomic_int workers, spins;
    pthread_mutex_t hiring;
    bool forks;
} pool = {.spins = SPINS, .hiring = PTHREAD_MUTEX_INITIALIZER};

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
        const int most = atomic_load(&pool.spins);
        while (atomic_load_explicit(&pool.posted, memory_order_relaxed) == seen && spins++ < most)
            breathe();
        if (spins < most)
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
    sigdelset(&all, SIGSEGV); /* a card (base/card.h) has pages of its own */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    for (intptr_t next; (next = atomic_load(&pool.workers) + 1) <= count &&
                        pthread_create(&thread, NULL, work, (void *)next) == 0;) {
        pthread_detach(thread);
        atomic_fetch_add(&pool.workers, 1);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    atomic_store(&pool.spins, atomic_load(&pool.workers) < und_threads(0) ? LONG_SPINS : SPINS);
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
    for (int i = 0; i < atomic_load(&pool.spins) && (atomic_load(&l->state) & INSIDE) != 0; i++)
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

/* How far a task of several stages has come, and whether somebody does the next, see stage_of. */
typedef struct {
    alignas(64) _Atomic unsigned stage;
} progress;

typedef struct {
    const und_steps *steps;
    int last;                          /* step that is for several threads */
    alignas(64) _Atomic unsigned step; /* that is being done */
    _Atomic unsigned asleep, moved;    /* threads that wait for something to move on; counts where one does */
    alignas(64) _Atomic unsigned left; /* tasks of the step that are not done */
    progress task[UND_STAGED_TASKS];
} walk;

/* What a thread knows of the step that it is at. */
typedef struct {
    int step, tasks, stages;
    int low, begun, end; /* of its own tasks of several stages: those before are done, begun */
    int looked;          /* threads that have nothing left to take */
    int waited;
    unsigned done; /* tasks, not told yet */
} walker;

static unsigned stage_of(int step, int stage)
{
    return (unsigned)(step + 1) << 9 | (unsigned)stage << 1;
}

static int stages_of(const und_steps *s, int step)
{
    return s->stages ? s->stages[step] : 1;
}

static void wake_walkers(walk *w)
{
    if (atomic_load(&w->asleep) == 0)
        return;
    atomic_fetch_add(&w->moved, 1);
    wake(&w->moved, INT_MAX);
}

/* On to the next step that is for several threads; what one thread does is done on the way, while the others
 * wait. */
static void go_on(walk *w, int step)
{
    const und_steps *s = w->steps;
    for (; step < s->count; step++) {
        if (s->tasks[step] == 0 || (s->left_out && s->left_out(s->context, step)))
            continue;
        if (s->tasks[step] > 1)
            break;
        for (int stage = 0; stage < stages_of(s, step); stage++)
            s->task(s->context, step, stage, 0);
    }
    if (step < s->count)
        atomic_store(&w->left, (unsigned)s->tasks[step]);
    atomic_store(&w->step, (unsigned)step);
    wake_walkers(w);
}

/* What is the next stage of a task, if it may begin; else -1. */
static int ready_stage(const walk *w, const walker *at, int task, unsigned *found)
{
    const unsigned first = stage_of(at->step, 0), own = atomic_load(&w->task[task].stage);
    const unsigned next = own < first ? first : own;
    *found = own;
    if ((next & 1) != 0 || next >= stage_of(at->step, at->stages))
        return -1;
    if (next > first && ((task > 0 && (atomic_load(&w->task[task - 1].stage) & ~1u) < next) ||
                         (task < at->tasks - 1 && (atomic_load(&w->task[task + 1].stage) & ~1u) < next)))
        return -1;
    return (int)(next - first) / 2;
}

/* The next stage of a task, if it may begin and nobody does it. */
static bool do_stage(walk *w, walker *at, int task)
{
    unsigned found;
    const int stage = ready_stage(w, at, task, &found);
    if (stage < 0 ||
        !atomic_compare_exchange_strong(&w->task[task].stage, &found, stage_of(at->step, stage) | 1))
        return false;
    w->steps->task(w->steps->context, at->step, stage, task);
    atomic_store(&w->task[task].stage, stage_of(at->step, stage + 1));
    at->done += stage + 1 == at->stages;
    wake_walkers(w);
    return true;
}

/* Of its own tasks those that are begun first: what one stage has read is in the cache. */
static bool do_own_stages(walk *w, walker *at)
{
    const unsigned all = stage_of(at->step, at->stages);
    bool any = false;
    for (int task = at->low; task < at->begun; task++)
        any |= do_stage(w, at, task);
    while (at->low < at->begun && atomic_load(&w->task[at->low].stage) == all)
        at->low++;
    if (any || at->begun == at->end)
        return any;
    at->begun++;
    return true;
}

static bool do_task(walk *w, walker *at, int thread)
{
    const long task = take_from(here.loop, thread, at->step, at->tasks);
    if (task < 0)
        return false;
    w->steps->task(w->steps->context, at->step, 0, (int)task);
    at->done++;
    return true;
}

static walker walker_at(const walk *w, int step)
{
    walker at = {.step = step, .tasks = w->steps->tasks[step], .stages = stages_of(w->steps, step)};
    at.low = at.begun = (int)share_begin(here.loop, here.own, at.tasks);
    at.end = (int)share_begin(here.loop, here.own + 1, at.tasks);
    return at;
}

/* What another thread has not come to. */
static bool do_others(walk *w, walker *at, int thread)
{
    const int begin = (int)share_begin(here.loop, thread, at->tasks);
    if (at->stages == 1)
        return do_task(w, at, thread);
    for (int task = (int)share_begin(here.loop, thread + 1, at->tasks) - 1; task >= begin; task--)
        if (do_stage(w, at, task))
            return true;
    return false;
}

/* Now and then, while it waits, a thread looks at another's share: that takes as long as a small task, and
 * what it looks at its owner must fetch again. */
static bool help_others(walk *w, walker *at)
{
    enum { PATIENCE = 8 };
    const int threads = here.loop->threads;
    if (at->waited % PATIENCE < PATIENCE - 1 || (at->stages == 1 && at->looked == threads - 1))
        return false;
    const bool helped = do_others(w, at, (here.own + 1 + at->looked % (threads - 1)) % threads);
    at->looked += helped ? 0 : 1;
    return helped;
}

static bool any_ready(const walk *w, const walker *at)
{
    unsigned found;
    bool any = false;
    for (int task = 0; task < at->tasks && at->stages > 1; task++)
        any |= ready_stage(w, at, task, &found) >= 0;
    return any;
}

static void sleep_until_moved(walk *w, const walker *at)
{
    atomic_fetch_add(&w->asleep, 1);
    const unsigned moved = atomic_load(&w->moved);
    if ((int)atomic_load(&w->step) == at->step && !any_ready(w, at))
        sleep_while(&w->moved, moved);
    atomic_fetch_sub(&w->asleep, 1);
}

static void wait_beside(walk *w, walker *at)
{
    const int threads = here.loop->threads;
    if (at->waited++ < atomic_load(&pool.spins) || at->looked < threads - 1)
        breathe();
    else
        sleep_until_moved(w, at);
}

/* What this thread can do of a step, until all of it is done or, of the last, nothing is left to begin. */
static void do_step(walk *w, int step)
{
    walker at = walker_at(w, step);
    const int threads = here.loop->threads;
    while ((int)atomic_load(&w->step) == step) {
        if (at.stages == 1 ? at.looked == 0 && do_task(w, &at, here.own) : do_own_stages(w, &at)) {
            at.waited = 0;
            continue;
        }
        if (at.done > 0 && atomic_fetch_sub(&w->left, at.done) == at.done)
            go_on(w, step + 1);
        at.done = 0;
        if (threads > 1 && help_others(w, &at))
            at.waited = 0;
        else if (step == w->last && at.stages == 1 && at.looked >= threads - 1)
            return;
        else
            wait_beside(w, &at);
    }
}

static void walk_steps(void *data)
{
    walk *w = data;
    int before = -1;
    for (int step; (step = (int)atomic_load(&w->step)) < w->steps->count && step != before; before = step)
        do_step(w, step);
}

void und_steps_share(const und_steps *steps, int threads)
{
    walk w = {.steps = steps, .last = -1};
    for (int i = 0; i < steps->count; i++)
        w.last = steps->tasks[i] > 1 ? i : w.last;
    go_on(&w, 0);
    if ((int)atomic_load(&w.step) < steps->count)
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
