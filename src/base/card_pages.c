/* Which side has what is newest, see card.h. */
#include "base/card_parts.h"

#include "base/status.h"

#include <assert.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum { MOST_AHEAD = 64 }; /* units that come back at once, where one after the other is asked for */

static bool add_run(und_card_runs *r, size_t at, size_t count)
{
    und_card_stretch *last = r->count > 0 ? &r->run[r->count - 1] : NULL;
    if (last && last->at + last->count == at) {
        last->count += count;
        return true;
    }
    if (r->count == r->room)
        return false;
    r->run[r->count++] = (und_card_stretch){at, count};
    return true;
}

und_status und_card_units_open(und_card *c, und_error *err)
{
    c->units = c->bytes / UND_CARD_UNIT;
    c->written.room = c->open.room = c->units; /* pages never touched cost nothing */
    if (!(c->side = und_alloc(c->units, 1, "the card's units", err)) ||
        !(c->read_only = und_alloc(c->units, 1, "the card's units", err)) ||
        !(c->written.run = und_alloc(c->units, sizeof *c->written.run, "the card's units", err)) ||
        !(c->open.run = und_alloc(c->units, sizeof *c->open.run, "the card's units", err)) ||
        !(c->blocks = und_alloc(1, sizeof *c->blocks, "the card's blocks", err)))
        return err->status;
    c->blocks->count = c->units;
    return UND_OK;
}

void und_card_units_close(und_card *c)
{
    while (c->blocks) {
        und_card_block *next = c->blocks->next;
        free(c->blocks);
        c->blocks = next;
    }
    free(c->side);
    free(c->read_only);
    free(c->written.run);
    free(c->open.run);
}

static void protect(und_card *c, size_t at, size_t count, int how)
{
    if (mprotect(c->range + at * UND_CARD_UNIT, count * UND_CARD_UNIT, how) != 0)
        abort(); /* there is no way on for who touched it */
}

static void set_side(und_card *c, size_t at, size_t count, und_card_side side)
{
    memset(c->side + at, side, count);
}

/* ---- Memory ---- */

/* What is left of a free block behind `count` units becomes one of its own. */
static bool split(und_card_block *b, size_t count)
{
    if (b->count > count) {
        und_card_block *rest = malloc(sizeof *rest);
        if (!rest)
            return false;
        *rest = (und_card_block){.at = b->at + count, .count = b->count - count, .next = b->next};
        b->next = rest;
        b->count = count;
    }
    return true;
}

static und_card_block *find_room(und_card *c, size_t count)
{
    for (und_card_block *b = c->blocks; b; b = b->next)
        if (!b->used && b->count >= count)
            return split(b, count) ? b : NULL;
    return NULL;
}

static void give_back(und_card *c, und_card_block *b)
{
    b->used = false;
    set_side(c, b->at, b->count, UND_CARD_NOBODY);
    for (und_card_block *i = c->blocks; i;) {
        und_card_block *next = i->next;
        if (next && !i->used && !next->used) {
            i->count += next->count;
            i->next = next->next;
            free(next);
        } else {
            i = next;
        }
    }
}

void *und_card_alloc(und_card *c, size_t bytes, bool read_only, const char *what, und_error *err)
{
    const size_t count = (bytes + UND_CARD_UNIT - 1) / UND_CARD_UNIT;
    pthread_mutex_lock(&c->lock);
    und_card_block *b = count > 0 && count < c->units ? find_room(c, count) : NULL;
    if (!b) {
        und_error_set(err, UND_FAILED, "out of the card's addresses: %s, %zu bytes", what, bytes);
    } else {
        b->used = true;
        b->read_only = read_only;
        if (c->kind->have(c->self, b->at * UND_CARD_UNIT, count * UND_CARD_UNIT, err) != UND_OK) {
            give_back(c, b);
            b = NULL;
        } else {
            set_side(c, b->at, count, UND_CARD_NEW);
            memset(c->read_only + b->at, read_only, count);
            if (!read_only && !add_run(&c->open, b->at, count))
                abort(); /* there is room for all units */
        }
    }
    pthread_mutex_unlock(&c->lock);
    return b ? c->range + b->at * UND_CARD_UNIT : NULL;
}

static int by_place(const void *a, const void *b)
{
    const und_card_stretch *one = a, *other = b;
    return one->at < other->at ? -1 : one->at > other->at;
}

/* Runs beside each other become one. */
static void join(und_card_runs *r)
{
    size_t count = 0;
    qsort(r->run, r->count, sizeof *r->run, by_place);
    for (size_t i = 0; i < r->count; i++)
        if (count > 0 && r->run[count - 1].at + r->run[count - 1].count >= r->run[i].at) {
            const size_t end = r->run[i].at + r->run[i].count;
            und_card_stretch *last = &r->run[count - 1];
            last->count = end > last->at + last->count ? end - last->at : last->count;
        } else {
            r->run[count++] = r->run[i];
        }
    r->count = count;
}

/* Runs without what is in [at, at + count). */
static void leave_out(und_card_runs *r, size_t at, size_t count)
{
    und_card_stretch behind = {0}; /* of the one run that goes on on both sides */
    size_t kept = 0;
    join(r);
    for (size_t i = 0; i < r->count; i++) {
        const und_card_stretch run = r->run[i];
        const size_t end = run.at + run.count;
        if (run.at >= at + count || end <= at) {
            r->run[kept++] = run;
            continue;
        }
        if (end > at + count)
            behind = (und_card_stretch){at + count, end - at - count};
        if (run.at < at)
            r->run[kept++] = (und_card_stretch){run.at, at - run.at};
    }
    r->count = kept;
    if (behind.count > 0 && !add_run(r, behind.at, behind.count))
        abort(); /* there is room for all units */
}

bool und_card_free(void *pages)
{
    und_card *c = und_card_of_process();
    if (!c || (char *)pages < c->range || (char *)pages >= c->range + c->bytes)
        return false;
    const size_t at = (size_t)((char *)pages - c->range) / UND_CARD_UNIT;
    pthread_mutex_lock(&c->lock);
    und_card_block *b = c->blocks;
    while (b->at != at)
        b = b->next;
    leave_out(&c->written, at, b->count);
    leave_out(&c->open, at, b->count);
    protect(c, at, b->count, PROT_NONE);
    fallocate(c->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)(at * UND_CARD_UNIT),
              (off_t)(b->count * UND_CARD_UNIT));
    give_back(c, b);
    pthread_mutex_unlock(&c->lock);
    return true;
}

/* ---- Handing over ---- */

und_status und_card_hand_over(und_card *c, und_error *err)
{
    und_status status = UND_OK;
    pthread_mutex_lock(&c->lock);
    join(&c->written);
    for (size_t i = 0; i < c->written.count && status == UND_OK; i++) {
        const und_card_stretch r = c->written.run[i];
        status = c->kind->put(c->self, r.at * UND_CARD_UNIT, r.count * UND_CARD_UNIT, err);
        c->counts.put_bytes += r.count * UND_CARD_UNIT;
        for (size_t u = r.at; u < r.at + r.count; u++)
            if (c->read_only[u])
                c->side[u] = UND_CARD_BOTH;
        protect(c, r.at, r.count, PROT_READ); /* those that are not the card's now */
    }
    c->written.count = 0;
    join(&c->open);
    for (size_t i = 0; i < c->open.count; i++) {
        protect(c, c->open.run[i].at, c->open.run[i].count, PROT_NONE);
        set_side(c, c->open.run[i].at, c->open.run[i].count, UND_CARD_THERE);
    }
    c->open.count = 0;
    pthread_mutex_unlock(&c->lock);
    return status;
}

/* ---- Faults ---- */

/* From a unit on, what the card has comes back: twice as much as the last time where that ended here. */
static bool bring(und_card *c, size_t unit)
{
    und_error err = {0};
    size_t count = 1;
    c->ahead = unit == c->next ? (c->ahead < MOST_AHEAD ? 2 * c->ahead : MOST_AHEAD) : 1;
    while (count < c->ahead && unit + count < c->units && c->side[unit + count] == UND_CARD_THERE)
        count++;
    c->next = unit + count;
    if (c->kind->get(c->self, unit * UND_CARD_UNIT, count * UND_CARD_UNIT, &err) != UND_OK)
        und_card_fail(c, &err);
    c->counts.get_bytes += count * UND_CARD_UNIT;
    set_side(c, unit, count, UND_CARD_BOTH);
    protect(c, unit, count, PROT_READ);
    return add_run(&c->open, unit, count);
}

/* Somebody touches a unit here; false: it is nobody's. */
static bool touch(und_card *c, size_t unit, bool writes)
{
    bool good = true;
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    pthread_mutex_lock(&c->lock);
    c->counts.faults++;
    if (c->side[unit] == UND_CARD_NOBODY)
        good = false;
    else if (c->side[unit] == UND_CARD_THERE)
        good = bring(c, unit);
    if (good && c->side[unit] == UND_CARD_NEW && !writes) {
        set_side(c, unit, 1, UND_CARD_BOTH);
        protect(c, unit, 1, PROT_READ);
    }
    if (good && writes && c->side[unit] != UND_CARD_HERE) {
        set_side(c, unit, 1, UND_CARD_HERE);
        protect(c, unit, 1, PROT_READ | PROT_WRITE);
        good = add_run(&c->written, unit, 1);
    }
    clock_gettime(CLOCK_MONOTONIC, &to);
    c->counts.waiting += (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
    pthread_mutex_unlock(&c->lock);
    return good;
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    und_card *c = und_card_of_process();
    const char *at = info->si_addr;
    enum { WRITES = 2 }; /* of the processor's word on a page fault */
#if defined __x86_64__
    const bool writes = ((ucontext_t *)context)->uc_mcontext.gregs[REG_ERR] & WRITES;
#else
    const bool writes = true;
    (void)context;
#endif
    if (c && at >= c->range && at < c->range + c->bytes &&
        touch(c, (size_t)(at - c->range) / UND_CARD_UNIT, writes))
        return;
    if (c && c->before.sa_flags & SA_SIGINFO && c->before.sa_sigaction)
        c->before.sa_sigaction(number, info, context);
    else
        signal(number, SIG_DFL); /* it happens again, and ends the program */
}

und_status und_card_faults_open(und_card *c, und_error *err)
{
    struct sigaction own = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
    sigemptyset(&own.sa_mask);
    if (sigaction(SIGSEGV, &own, &c->before) != 0)
        return und_error_set(err, UND_FAILED, "the card: no handler of page faults");
    c->catches = true;
    return UND_OK;
}

void und_card_faults_close(und_card *c)
{
    if (c->catches)
        sigaction(SIGSEGV, &c->before, NULL);
    c->catches = false;
}

void und_card_tell_here(und_card *c, const und_card_launch *l, bool unknown, int offset)
{
    if (!c->says)
        return;
    for (int i = 0; i < c->told_count; i++)
        if (strcmp(c->told[i], l->name) == 0)
            return;
    if (c->told_count < UND_CARD_TOLD)
        c->told[c->told_count++] = l->name;
    if (unknown)
        fprintf(stderr, "card: %s is done here: it is not one of the card's\n", l->name);
    else
        fprintf(stderr, "card: %s is done here: byte %d of its arguments is of memory elsewhere\n", l->name,
                offset);
}

/* ---- Comparing ---- */

/* Both sides have the same, and this one may be written: what runs here next does what the card did. */
void und_card_compare_begin(und_card *c)
{
    und_error err = {0};
    for (und_card_block *b = c->blocks; b; b = b->next)
        for (size_t u = b->at; u < b->at + b->count && b->used; u++)
            if (c->side[u] == UND_CARD_THERE)
                c->kind->get(c->self, u * UND_CARD_UNIT, UND_CARD_UNIT, &err);
    und_card_hand_over(c, &err);
}

void und_card_compare_open(und_card *c)
{
    for (und_card_block *b = c->blocks; b; b = b->next)
        if (b->used && !b->read_only) {
            protect(c, b->at, b->count, PROT_READ | PROT_WRITE);
            set_side(c, b->at, b->count, UND_CARD_HERE);
            add_run(&c->written, b->at, b->count);
            add_run(&c->open, b->at, b->count);
        }
}

static void compare_block(const und_card *c, const und_card_block *b, const char *kernel)
{
    const size_t bytes = b->count * UND_CARD_UNIT, at = b->at * UND_CARD_UNIT;
    const uint32_t *here = (const uint32_t *)(const void *)(c->host + at),
                   *there = c->kind->peek(c->self, at);
    size_t different = 0, first = 0;
    for (size_t i = 0; i < bytes / sizeof *here; i++)
        if (here[i] != there[i])
            first = different++ ? first : i;
    if (different > 0)
        fprintf(stderr,
                "card: %s: %zu words differ in the %zu bytes at %p, the first is word %zu: %08x here, %08x "
                "there\n",
                kernel, different, bytes, (const void *)(c->range + at), first, here[first], there[first]);
}

void und_card_compare_end(und_card *c, const char *kernel)
{
    for (const und_card_block *b = c->blocks; b; b = b->next)
        if (b->used && !b->read_only)
            compare_block(c, b, kernel);
}
