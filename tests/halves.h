/* A grid in two halves, each in memory of its own: whatever is asked of the other one comes from there, and
 * what is beyond that is spoilt, so that who looks further does not find what the whole has. */
#ifndef UND_TESTS_HALVES_H
#define UND_TESTS_HALVES_H

#include "grid/field.h"
#include "tests/test.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { HALVES = 2, HALVES_FIELDS = 32 };

typedef struct halves {
    int whole, border; /* slices; the first of the upper half */
    int less, narrow;  /* so much narrower than asked for is what comes; and to who asks by the other halo */
    int furthest;      /* that was asked for, but for all */
    pthread_barrier_t meet;
    struct half {
        struct halves *all;
        int number;
        const und_halo_field *asked;
        int count;
        und_halo halo, narrow_halo;
    } half[HALVES];
} halves;

/* Slices that a half has of a field: those beside the domain are of who has those that they touch. */
static inline void halves_own(const struct half *h, const und_halo_field *f, int own[2])
{
    const int by = 1 << f->halved, border = (h->all->border + by - 1) / by - f->low;
    own[0] = h->number == 0 ? -1 : border;
    own[1] = h->number == 0 ? border : f->slices + 1;
}

static inline char *halves_slice(const und_halo_field *f, int z, size_t *bytes)
{
    const ptrdiff_t first = f->begin ? (ptrdiff_t)f->begin[z] : f->first + z * f->step;
    *bytes = f->size * (f->begin ? f->begin[z + 1] - f->begin[z] : f->count);
    return (char *)f->values + first * (ptrdiff_t)f->size;
}

/* Whether there is such a slice: of packs and of sums there are none beside the domain. */
static inline bool halves_has(const und_halo_field *f, int z)
{
    return z >= -(int)f->before && z < f->slices + (int)f->behind;
}

static inline void halves_spoil(char *slice, size_t bytes, const und_halo_field *f)
{
    const float wrong[2] = {-0.3f, 0.4f};
    const int32_t units[2] = {-90, 1 << 20};
    const uint8_t some[2] = {0, 1};
    const uint64_t bits[2] = {0x3c3c3c, 0x1f0f0f};
    const double small[2] = {1e-3, -2e-3};
    const void *of = wrong;
    size_t size = f->size == 1 ? 1 : sizeof wrong[0];
    if (f->type == UND_I32)
        of = units;
    if (f->size == 1)
        of = some;
    if (f->size == sizeof bits[0]) {
        of = f->type == UND_U8 ? (const void *)bits : (const void *)small;
        size = f->size;
    }
    for (size_t i = 0; i + size <= bytes; i += size)
        memcpy(slice + i, (const char *)of + (i / size % 3 == 0 ? size : 0), size);
}

static inline void halves_begin(void *context, const und_halo_field *fields, int count)
{
    struct half *h = context;
    assert_true(count <= HALVES_FIELDS);
    h->asked = fields;
    h->count = count;
    pthread_barrier_wait(&h->all->meet);
}

static inline void halves_get(const struct half *h, const und_halo_field *to, const und_halo_field *from,
                              int less)
{
    int own[2];
    assert_true(to->reach == from->reach && to->slices == from->slices && to->size == from->size);
    halves_own(h, to, own);
    for (int z = -1; z <= to->slices; z++) {
        size_t bytes, other;
        if (!halves_has(to, z) || (z >= own[0] && z < own[1]))
            continue;
        const int away = z < own[0] ? own[0] - z : z - own[1] + 1;
        const int reach = to->reach == UND_HALO_ALL ? to->reach : to->reach - less;
        char *slice = halves_slice(to, z, &bytes);
        const char *has = halves_slice(from, z, &other);
        assert_true(bytes == other);
        if (away <= reach)
            memcpy(slice, has, bytes);
        else
            halves_spoil(slice, bytes, to);
    }
}

/* All that is not its own. */
static inline void halves_spoil_beyond(const struct half *h, const und_halo_field *f)
{
    int own[2];
    halves_own(h, f, own);
    for (int z = -1; z <= f->slices; z++) {
        size_t bytes;
        if (!halves_has(f, z) || (z >= own[0] && z < own[1]))
            continue;
        char *slice = halves_slice(f, z, &bytes);
        halves_spoil(slice, bytes, f);
    }
}

static inline void halves_end_by(struct half *h, const und_halo_field *fields, int count, int less)
{
    halves *all = h->all;
    const struct half *other = &all->half[1 - h->number];
    assert_true(h->asked == fields && h->count == count && other->count == count);
    for (int i = 0; i < count; i++) {
        halves_get(h, &fields[i], &other->asked[i], less);
        if (h->number == 0 && fields[i].reach < UND_HALO_ALL && fields[i].reach > all->furthest)
            all->furthest = fields[i].reach;
    }
    pthread_barrier_wait(&all->meet);
}

static inline void halves_end(void *context, const und_halo_field *fields, int count)
{
    struct half *h = context;
    halves_end_by(h, fields, count, h->all->less);
}
static inline void halves_end_narrow(void *context, const und_halo_field *fields, int count)
{
    struct half *h = context;
    halves_end_by(h, fields, count, h->all->narrow);
}

static inline void halves_open(halves *all, int whole, int border, int less)
{
    *all = (halves){.whole = whole, .border = border, .less = less};
    assert_int_equal(pthread_barrier_init(&all->meet, NULL, HALVES), 0);
    for (int i = 0; i < HALVES; i++) {
        all->half[i].all = all;
        all->half[i].number = i;
        all->half[i].halo = (und_halo){.context = &all->half[i],
                                       .own = {i == 0 ? -1 : border, i == 0 ? border : whole + 1},
                                       .begin = halves_begin,
                                       .end = halves_end};
        all->half[i].narrow_halo = all->half[i].halo;
        all->half[i].narrow_halo.end = halves_end_narrow;
    }
}

static inline void halves_close(halves *all)
{
    pthread_barrier_destroy(&all->meet);
}

/* Both at the same time: each waits for the other where it asks something of it. */
typedef struct halves_job {
    void (*run)(void *model);
    void *model;
} halves_job;
static inline void *halves_thread(void *job)
{
    const halves_job *j = job;
    j->run(j->model);
    return NULL;
}
static inline void halves_run(void (*run)(void *model), void *one, void *other)
{
    pthread_t thread;
    halves_job job = {run, other};
    assert_int_equal(pthread_create(&thread, NULL, halves_thread, &job), 0);
    run(one);
    pthread_join(thread, NULL);
}

/* Of an array of the grid's layout: slices of both halves that are not as in the whole, to the last bit. */
static inline int halves_differ(const halves *all, const und_mac *m, const void *one, const void *other,
                                const void *whole, size_t size)
{
    int found = 0;
    for (int z = 0; z < m->n[2]; z++) {
        const char *half = z < all->border ? one : other;
        bool same = true;
        for (int y = 0; y < m->n[1]; y++) {
            const size_t row = und_mac_at(m, 0, y, z) * size;
            same = same && !memcmp(half + row, (const char *)whole + row, (size_t)m->n[0] * size);
        }
        found += !same;
    }
    return found;
}

/* The same of a mask, inside the domain. */
static inline int halves_differ_mask(const halves *all, const und_mask *one, const und_mask *other,
                                     const und_mask *whole)
{
    int found = 0;
    for (int z = 0; z < whole->n[2]; z++) {
        const und_mask *half = z < all->border ? one : other;
        const size_t bytes = (size_t)(whole->n[1] * whole->words) * sizeof *whole->bits;
        found += memcmp(und_mask_row(half, 0, z), und_mask_row(whole, 0, z), bytes) != 0;
    }
    return found;
}

#endif
