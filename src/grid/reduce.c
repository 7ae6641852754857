#include "grid/reduce.h"

#include <assert.h>

/* Rows of a slice, which the kernel has found; those that the grid does not have would be 0. */
static und_total add_rows(const und_set *s, const und_total *row, int first)
{
    const und_mac *m = s->mac;
    const int end = first + s->wide;
    und_sum_tree rows = und_sum_from((unsigned)(s->low[0] + m->low[1] + 1));
    und_total all = {0};
    for (int i = first, next; i < end; i = next + 1) {
        next = und_present_row(m->present, s->low, s->wide, i, end);
        for (; i < next && next < end; i++)
            und_sum_add(&rows, 0);
        if (next == end)
            break;
        und_sum_add(&rows, row[next].sum);
        all.most = und_larger_total(row[next].most, all.most);
    }
    all.sum = und_sum_end(&rows);
    return all;
}

/* Slices, each of which stands in the place of its first row. */
static und_total add_slices(const und_set *s, const und_total *row)
{
    und_sum_tree slices = und_sum_from((unsigned)(s->low[1] + s->mac->low[2] + 1));
    und_total all = {0};
    for (int first = 0; first < s->rows; first += s->wide) {
        und_sum_add(&slices, row[first].sum);
        all.most = und_larger_total(row[first].most, all.most);
    }
    all.sum = und_sum_end(&slices);
    return all;
}

/* What each row of all sets has: those of pass i from first[i] on. */
static void find_rows(const und_device *device, const und_pass *passes, int count, und_total *row,
                      und_total **first)
{
    und_pass wrapped[UND_REDUCE_MOST] = {0};
    und_found args[UND_REDUCE_MOST];
    assert(count <= UND_REDUCE_MOST);
    for (int i = 0; i < count; i++) {
        first[i] = row;
        args[i] = (und_found){passes[i].args, row};
        wrapped[i] = (und_pass){passes[i].kernel, &args[i], passes[i].set};
        row += passes[i].set->rows;
    }
    und_pass_run(device, wrapped, count);
}

/* From others what their slices have, each in the place of its first row. */
static void get_slices(const und_device *device, const und_pass *passes, int count, und_total **first)
{
    und_halo_field halo[UND_REDUCE_MOST];
    for (int i = 0; i < count; i++) {
        const und_set *s = passes[i].set;
        halo[i] = und_halo_of_slices(s->mac, first[i], sizeof **first, s->low[1], s->rows / s->wide);
        halo[i].step = s->wide;
        halo[i].first *= s->wide;
    }
    und_halo_get(device->halo, halo, count);
}

und_total und_reduce(const und_device *device, const und_pass *passes, int count, und_total *row)
{
    und_total all = {0}, *first[UND_REDUCE_MOST];
    find_rows(device, passes, count, row, first);
    for (int i = 0; i < count; i++) {
        const und_set *s = passes[i].set;
        for (int slice = 0; slice < s->rows; slice += s->wide)
            first[i][slice] = add_rows(s, first[i], slice);
    }
    get_slices(device, passes, count, first);
    for (int i = 0; i < count; i++) {
        const und_total one = add_slices(passes[i].set, first[i]);
        all.sum += one.sum;
        all.most = und_larger_total(one.most, all.most);
    }
    return all;
}

static double most_of_rows(const und_set *s, const und_total *row, int first)
{
    const int end = first + s->wide;
    double most = 0;
    for (int i = first; (i = und_present_row(s->mac->present, s->low, s->wide, i, end)) < end; i++)
        most = und_larger_total(row[i].most, most);
    return most;
}

double und_largest(const und_device *device, const und_pass *passes, int count, und_total *row)
{
    double all = 0;
    und_total *first[UND_REDUCE_MOST];
    find_rows(device, passes, count, row, first);
    for (int i = 0; i < count; i++) {
        const und_set *s = passes[i].set;
        for (int slice = 0; slice < s->rows; slice += s->wide)
            first[i][slice].most = most_of_rows(s, first[i], slice);
    }
    get_slices(device, passes, count, first);
    for (int i = 0; i < count; i++)
        for (int slice = 0; slice < passes[i].set->rows; slice += passes[i].set->wide)
            all = und_larger_total(first[i][slice].most, all);
    return all;
}
