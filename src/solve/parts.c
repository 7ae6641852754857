#include "solve/parts.h"

#include "base/pages.h"
#include "base/parallel.h"
#include "base/status.h"
#include "solve/poisson.h"

#include <stdlib.h>
#include <string.h>

und_status und_parts_open(und_parts *parts, const und_level *level, und_error *err)
{
    size_t rows = (size_t)level->n[1] * (size_t)level->n[2];
    *parts = (und_parts){.level = level, .per_row = level->n[0] / 2 + 1};
    if (rows * (size_t)parts->per_row > INT32_MAX)
        return und_error_set(err, UND_INVALID, "the grid of %d x %d x %d cells is too large", level->n[0],
                             level->n[1], level->n[2]);
    parts->count = und_alloc(rows, sizeof *parts->count, "rows of the pressure's system", err);
    if (parts->count)
        parts->run = und_pages_alloc_sparse(rows * (size_t)parts->per_row * sizeof *parts->run,
                                            "runs of the pressure's system", err);
    if (parts->run)
        return UND_OK;
    und_parts_close(parts);
    return err->status;
}

void und_parts_close(und_parts *parts)
{
    free(parts->count);
    und_pages_free(parts->run);
    *parts = (und_parts){0};
}

static int end_of_run(const uint8_t *kind, int x, int n)
{
    uint64_t eight, unknown = 0x0101010101010101u * UND_POISSON_UNKNOWN;
    for (; x + 8 <= n; x += 8) {
        memcpy(&eight, kind + x, sizeof eight);
        if (eight != unknown)
            break;
    }
    while (x < n && kind[x] == UND_POISSON_UNKNOWN)
        x++;
    return x;
}

static bool touches_known(const uint8_t *kind, int begin, int end, const ptrdiff_t step[3])
{
    bool found = kind[begin - 1] == UND_POISSON_KNOWN || kind[end] == UND_POISSON_KNOWN;
    for (int a = 1; a < 3 && !found; a++)
        found = memchr(kind + begin - step[a], UND_POISSON_KNOWN, (size_t)(end - begin)) ||
                memchr(kind + begin + step[a], UND_POISSON_KNOWN, (size_t)(end - begin));
    return found;
}

void und_parts_set_row(und_parts *parts, int y, int z, const uint8_t *kind, const ptrdiff_t step[3])
{
    int row = y + z * parts->level->n[1], n = parts->level->n[0], count = 0;
    for (int x = 0; x < n;) {
        const uint8_t *next = memchr(kind + x, UND_POISSON_UNKNOWN, (size_t)(n - x));
        if (!next)
            break;
        int begin = (int)(next - kind);
        x = end_of_run(kind, begin, n);
        int32_t self = row * parts->per_row + count++;
        parts->run[self] =
            (und_run){.begin = begin, .end = x, .parent = self, .open = touches_known(kind, begin, x, step)};
    }
    parts->count[row] = count;
}

static int32_t root_of(und_run *run, int32_t i)
{
    while (run[i].parent != i) {
        run[i].parent = run[run[i].parent].parent;
        i = run[i].parent;
    }
    return i;
}

static void unite(und_run *run, int32_t a, int32_t b)
{
    a = root_of(run, a), b = root_of(run, b);
    int32_t low = a < b ? a : b, high = a < b ? b : a;
    run[high].parent = low;
    run[low].open |= run[high].open;
}

/* Runs of two rows beside each other that have cells side by side. */
static void join_rows(und_parts *parts, int row, int other)
{
    und_run *run = parts->run;
    int32_t i = row * parts->per_row, i_end = i + parts->count[row];
    int32_t k = other * parts->per_row, k_end = k + parts->count[other];
    while (i < i_end && k < k_end) {
        if (run[i].begin < run[k].end && run[k].begin < run[i].end)
            unite(run, i, k);
        if (run[i].end < run[k].end)
            i++;
        else
            k++;
    }
}

void und_parts_join(und_parts *parts)
{
    const int *n = parts->level->n;
    und_run *run = parts->run;
    for (int z = 0; z < n[2]; z++)
        for (int y = 0; y < n[1]; y++) {
            int row = y + z * n[1];
            if (y > 0)
                join_rows(parts, row, row - 1);
            if (z > 0)
                join_rows(parts, row, row - n[1]);
        }
    parts->any_closed = false;
    for (int row = 0; row < n[1] * n[2]; row++)
        for (int32_t i = row * parts->per_row, end = i + parts->count[row]; i < end; i++) {
            run[i].parent = root_of(run, i); /* a root comes before what it holds: one link is left */
            parts->any_closed |= !run[run[i].parent].open;
        }
}

/* Colour c of a run: q in [begin, end). */
static void colour_range(const und_run *run, int offset, int *begin, int *end)
{
    *begin = (run->begin - offset + 1) / 2;
    *end = (run->end - offset + 1) / 2;
}

static void sum_run(const und_parts *parts, und_run *run, int y, int z, double *const v[2])
{
    run->sum = 0;
    for (int c = 0; c < 2; c++) {
        const double *row = v[c] + und_level_row(parts->level, y, z);
        double sum = 0;
        int begin, end;
        colour_range(run, und_colour_offset(c, y, z), &begin, &end);
        UND_PRAGMA(omp simd reduction(+ : sum))
        for (int q = begin; q < end; q++)
            sum += row[q];
        run->sum += sum;
    }
    run->cells = run->end - run->begin;
}

static void take_from_run(const und_parts *parts, const und_run *run, int y, int z, double *const v[2],
                          double mean)
{
    for (int c = 0; c < 2; c++) {
        double *row = v[c] + und_level_row(parts->level, y, z);
        int begin, end;
        colour_range(run, und_colour_offset(c, y, z), &begin, &end);
        for (int q = begin; q < end; q++)
            row[q] -= mean;
    }
}

void und_parts_take_mean(und_parts *parts, double *const v[2])
{
    const int *n = parts->level->n;
    und_run *run = parts->run;
    if (!parts->any_closed)
        return;
    PARALLEL_FOR(parts->level->threads)
    for (int z = 0; z < n[2]; z++)
        for (int y = 0; y < n[1]; y++)
            for (int k = 0, row = y + z * n[1]; k < parts->count[row]; k++)
                sum_run(parts, &run[row * parts->per_row + k], y, z, v);
    for (int row = 0; row < n[1] * n[2]; row++)
        for (int32_t i = row * parts->per_row, end = i + parts->count[row]; i < end; i++)
            if (run[i].parent != i) {
                run[run[i].parent].sum += run[i].sum;
                run[run[i].parent].cells += run[i].cells;
            }
    PARALLEL_FOR(parts->level->threads)
    for (int z = 0; z < n[2]; z++)
        for (int y = 0; y < n[1]; y++)
            for (int k = 0, row = y + z * n[1]; k < parts->count[row]; k++) {
                const und_run *own = &run[row * parts->per_row + k], *root = &run[own->parent];
                if (!root->open)
                    take_from_run(parts, own, y, z, v, root->sum / root->cells);
            }
}
