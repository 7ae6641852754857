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

und_total und_reduce(const und_device *device, const und_pass *passes, int count, und_total *row)
{
    und_pass wrapped[UND_REDUCE_MOST] = {0};
    und_total_args args[UND_REDUCE_MOST];
    und_halo_field halo[UND_REDUCE_MOST];
    und_total all = {0}, *next = row;
    assert(count <= UND_REDUCE_MOST);
    for (int i = 0; i < count; i++) {
        args[i] = (und_total_args){passes[i].args, next};
        wrapped[i] = (und_pass){passes[i].kernel, &args[i], passes[i].set};
        next += passes[i].set->rows;
    }
    und_pass_run(device, wrapped, count);
    for (int i = 0; i < count; i++) {
        const und_set *s = passes[i].set;
        for (int first = 0; first < s->rows; first += s->wide)
            args[i].row[first] = add_rows(s, args[i].row, first);
        halo[i] = und_halo_of_slices(s->mac, args[i].row, sizeof *row, s->low[1], s->rows / s->wide);
        halo[i].step = s->wide;
        halo[i].first *= s->wide;
    }
    und_halo_get(device->halo, halo, count);
    for (int i = 0; i < count; i++) {
        const und_total one = add_slices(passes[i].set, args[i].row);
        all.sum += one.sum;
        all.most = und_larger_total(one.most, all.most);
    }
    return all;
}
