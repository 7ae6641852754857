#include "base/card.h"

#include "base/card_parts.h"
#include "base/parallel.h"
#include "base/status.h"

#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* Where the range is: far from what the system gives out by itself. */
static char *const RANGE = (char *)0x200000000000;
static const size_t RANGE_BYTES = (size_t)1 << 38;

/* A page fault has no other way to say whose memory it is about. */
static und_card *of_process;

und_card *und_card_of_process(void)
{
    return of_process;
}

/* ---- Opening ---- */

static und_status map_host(und_card *c, und_error *err)
{
    c->file = memfd_create("undine", MFD_CLOEXEC);
    if (c->file < 0 || ftruncate(c->file, (off_t)c->bytes) != 0)
        return und_error_set(err, UND_FAILED, "the card: no memory file of %zu bytes", c->bytes);
    c->host = mmap(NULL, c->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, c->file, 0);
    if (c->host == MAP_FAILED) {
        c->host = NULL;
        return und_error_set(err, UND_FAILED, "the card: no %zu bytes of addresses", c->bytes);
    }
    return UND_OK;
}

/* Over what the card's driver may have there: its own side of the addresses stays. */
static und_status map_range(und_card *c, und_error *err)
{
    if (mmap(c->range, c->bytes, PROT_NONE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, c->file, 0) != c->range)
        return und_error_set(err, UND_FAILED, "the card: addresses %p are taken", (void *)c->range);
    c->mapped = true;
    return UND_OK;
}

/* What is too large for the heap would lie among the libraries. */
static void find_program(und_card *c)
{
    extern char __executable_start;
    pthread_attr_t all;
    void *stack = NULL;
    size_t size = 0;
    mallopt(M_MMAP_THRESHOLD, INT_MAX);
    c->program = (uintptr_t)&__executable_start;
    if (pthread_getattr_np(pthread_self(), &all) == 0) {
        pthread_attr_getstack(&all, &stack, &size);
        pthread_attr_destroy(&all);
    }
    c->stack_end = (uintptr_t)stack + size;
}

und_card *und_card_open(const und_card_kind *kind, const und_card_kernels *kernels, und_error *err)
{
    if (of_process) {
        und_error_set(err, UND_FAILED, "a card is open already");
        return NULL;
    }
    und_card *c = und_alloc(1, sizeof *c, "the card", err);
    if (!c)
        return NULL;
    c->kind = kind;
    c->own = *kernels;
    c->kernels = &c->own;
    c->says = getenv("UNDINE_CARD_SAY");
    c->compares = getenv("UNDINE_CARD_COMPARE") && kind->peek;
    c->range = RANGE;
    c->bytes = RANGE_BYTES;
    c->file = -1;
    pthread_mutex_init(&c->lock, NULL);
    find_program(c);
    if (und_card_units_open(c, err) != UND_OK || map_host(c, err) != UND_OK ||
        kind->open(&c->self, c->kernels, c->range, c->bytes, c->host, err) != UND_OK ||
        map_range(c, err) != UND_OK || und_card_faults_open(c, err) != UND_OK) {
        und_card_close(c);
        return NULL;
    }
    of_process = c;
    return c;
}

void und_card_close(und_card *c)
{
    if (!c)
        return;
    und_card_faults_close(c);
    if (c->self)
        c->kind->close(c->self);
    if (c->mapped)
        munmap(c->range, c->bytes);
    if (c->host)
        munmap(c->host, c->bytes);
    if (c->file >= 0)
        close(c->file);
    und_card_units_close(c);
    free(c->timed);
    pthread_mutex_destroy(&c->lock);
    if (of_process == c)
        of_process = NULL;
    free(c);
}

/* ---- Launches ---- */

/* Whether a word of what a kernel is given may be an address of memory that a card does not have: of the
 * program, its heap or its stack.  What is left of one behind a flag may look like that too: then a kernel is
 * done here without need. */
static bool is_elsewhere(const und_card *c, uintptr_t word)
{
    const uintptr_t stack = (uintptr_t)&word & ~(uintptr_t)4095;
    return (word >= c->program && word < (uintptr_t)sbrk(0)) || (word >= stack && word < c->stack_end);
}

/* Where what a kernel is given tells of such memory: one more than the offset; 0: nowhere. */
static int find_elsewhere(const und_card *c, const und_card_launch *l)
{
    const uintptr_t *word = l->args;
    for (size_t k = 0; k < l->args_size / sizeof *word; k++)
        if (is_elsewhere(c, word[k]))
            return (int)(sizeof *word * k) + 1;
    return 0;
}

void und_card_fail(und_card *c, const und_error *err)
{
    if (c->on_failure)
        c->on_failure(err);
    fprintf(stderr, "%s\n", err->text);
    abort();
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void add_time(und_card *c, const und_card_launch *l, double from)
{
    und_error ignored;
    int i = 0;
    c->kind->wait(c->self, &ignored);
    while (i < UND_CARD_TIMED - 1 && c->timed[i].name && strcmp(c->timed[i].name, l->name) != 0)
        i++;
    c->timed[i].name = l->name;
    c->timed[i].launches++;
    c->timed[i].threads += l->threads;
    c->timed[i].seconds += now() - from;
}

void und_card_time(und_card *c)
{
    und_error ignored;
    c->timed = und_alloc(UND_CARD_TIMED, sizeof *c->timed, "times", &ignored);
}

static int by_seconds(const void *a, const void *b)
{
    const und_card_timed *one = a, *other = b;
    return one->seconds > other->seconds ? -1 : one->seconds < other->seconds;
}

void und_card_print(const und_card *c, FILE *to)
{
    const und_card_counts n = c->counts;
    char what[256];
    c->kind->describe(c->self, what, sizeof what);
    fprintf(to, "card: %s\n", what);
    fprintf(
        to,
        "card: %llu launches, %llu kernels done here, %llu faults in %.3f s, %.1f MB there, %.1f MB back\n",
        (unsigned long long)n.launches, (unsigned long long)n.here, (unsigned long long)n.faults, n.waiting,
        1e-6 * (double)n.put_bytes, 1e-6 * (double)n.get_bytes);
    if (!c->timed)
        return;
    qsort(c->timed, UND_CARD_TIMED, sizeof *c->timed, by_seconds);
    for (const und_card_timed *t = c->timed; t < c->timed + UND_CARD_TIMED && t->name; t++)
        fprintf(to, "%-40s %8llu launches %9.3f ms %9.2f us each, %9.0f threads\n", t->name,
                (unsigned long long)t->launches, 1e3 * t->seconds, 1e6 * t->seconds / (double)t->launches,
                (double)t->threads / (double)t->launches);
}

/* By the address of its name, which stays. */
static const und_card_known *find_kernel(und_card *c, const char *name)
{
    size_t at = ((uintptr_t)name >> 3) * 0x9e3779b1u % UND_CARD_KERNELS;
    while (c->known[at].name && c->known[at].name != name)
        at = (at + 1) % UND_CARD_KERNELS;
    und_card_known *k = &c->known[at];
    if (!k->name) {
        const und_card_named *n = c->kernels->begin;
        while (n < c->kernels->end && strcmp(n->name, name) != 0)
            n++;
        *k = (und_card_known){.name = name, .named = n, .number = -1};
        if (n < c->kernels->end)
            k->number = c->kind->find(c->self, (int)(n - c->kernels->begin));
    }
    return k;
}

bool und_card_compares(const und_card *c)
{
    return c->compares;
}

bool und_card_has(const und_card *c, const void *address)
{
    return (const char *)address >= c->range && (const char *)address < c->range + c->bytes;
}

void und_card_on_failure(und_card *c, void (*fn)(const und_error *err))
{
    c->on_failure = fn;
}

bool und_card_run_here(und_card *c, const und_card_launch *l)
{
    const und_card_named *n = find_kernel(c, l->name)->named;
    if (n == c->kernels->end)
        return false;
    if (l->clear.bytes > 0)
        memset(l->clear.at, 0, l->clear.bytes);
    enum { SOME = 1024 };
    PARALLEL_FOR(16)
    for (uint32_t some = 0; some < l->threads / SOME + 1; some++)
        for (uint32_t t = some * SOME; t < l->threads && t < (some + 1) * SOME; t++)
            n->entry(l->call, l->args, t);
    return true;
}

bool und_card_run(und_card *c, const und_card_launch *launch)
{
    und_error err = {0};
    const und_card_known *k = find_kernel(c, launch->name);
    const int kernel = k->number, elsewhere = kernel < 0 ? 0 : find_elsewhere(c, launch);
    if (kernel < 0 || elsewhere > 0) {
        c->counts.here++;
        und_card_tell_here(c, launch, kernel < 0, elsewhere - 1);
        return false;
    }
    if (launch->threads == 0)
        return true;
    if (und_card_hand_over(c, &err) != UND_OK)
        und_card_fail(c, &err);
    if (c->timed)
        c->kind->wait(c->self, &err);
    const double from = c->timed ? now() : 0;
    if ((launch->clear.bytes > 0 && c->kind->clear(c->self, (size_t)((char *)launch->clear.at - c->range),
                                                   launch->clear.bytes, &err) != UND_OK) ||
        c->kind->launch(c->self, kernel, launch, &err) != UND_OK)
        und_card_fail(c, &err);
    c->counts.launches++;
    if (c->timed)
        add_time(c, launch, from);
    return true;
}

void und_card_check(und_card *c)
{
    und_error err = {0};
    if (c->kind->wait(c->self, &err) != UND_OK)
        und_card_fail(c, &err);
}

und_card_counts und_card_count(const und_card *c)
{
    return c->counts;
}
