#include "grid/pass.h"

#include "base/parallel.h"
#include "grid/slices.h"

#include <assert.h>

enum {
    ROWS = 16,             /* of a block */
    MOST_BLOCKS = 1 << 12, /* of rows: those of large grids have more rows instead */
    CELLS_TO_SHARE = 1 << 15
};

/* ---- Sets ---- */

static und_set rows_of(const und_mac *mac, und_rows rows)
{
    const bool flat = mac->n[2] == 1;
    und_set s = {.mac = mac, .worth = mac->count, .wide = mac->n[1], .words = (mac->n[0] + 2 + 63) / 64};
    int slices = mac->n[2];
    if (rows != UND_ROWS_INSIDE) {
        const int beside = rows == UND_ROWS_ALL ? 2 : 1;
        s.low[0] = -1;
        s.low[1] = flat && rows == UND_ROWS_FACES ? 0 : -1;
        s.wide += beside;
        slices += flat && rows == UND_ROWS_FACES ? 0 : beside;
    }
    s.rows = s.wide * slices;
    return s;
}

static und_set in_blocks(und_set s, int per_block)
{
    s.per_block = per_block;
    s.blocks = (s.rows + per_block - 1) / per_block;
    return s;
}

und_set und_set_rows(const und_mac *mac, und_rows rows)
{
    const und_set s = rows_of(mac, rows);
    const int most = s.rows / MOST_BLOCKS + 1;
    return in_blocks(s, most > ROWS ? most : ROWS);
}

und_set und_set_slices(const und_mac *mac, und_rows rows)
{
    const und_set s = rows_of(mac, rows);
    return in_blocks(s, s.rows > s.wide ? s.wide : ROWS);
}

und_set und_set_cells(const und_mac *mac, und_rows rows, const und_mask *cells)
{
    und_set s = und_set_rows(mac, rows);
    s.cells = cells;
    return s;
}

und_set und_set_list(const void *list, int count, int per_block, int worth)
{
    return (und_set){.blocks = (count + per_block - 1) / per_block,
                     .worth = (size_t)count * (size_t)worth,
                     .per_block = per_block,
                     .count = count,
                     .list = list};
}

/* ---- Passes ---- */

void und_pass_run(const und_device *device, const und_pass *passes, int count)
{
    int blocks = 0;
    size_t worth = 0;
    for (int i = 0; i < count; i++) {
        blocks += passes[i].set->blocks;
        worth += passes[i].set->worth;
    }
    PARALLEL_FOR(und_workers(device->threads, worth, CELLS_TO_SHARE))
    for (int block = 0; block < blocks; block++) {
        const und_pass *p = passes;
        int own = block;
        for (; own >= p->set->blocks; p++)
            own -= p->set->blocks;
        p->kernel->block(p->args, p->set, own);
    }
}

static void do_nothing(const void *args, const und_set *set, int block)
{
    (void)args;
    (void)set;
    (void)block;
}
const und_kernel und_pass_none = {"none", do_nothing};

static void run_slice(void *context, int stage, int slice)
{
    const und_pass *p = (const und_pass *)context + stage;
    p->kernel->block(p->args, p->set, slice);
}

void und_pass_chain(const und_device *device, const und_pass *passes, int count)
{
    const und_set *first = passes->set;
    if (first->rows <= first->wide) {
        for (int i = 0; i < count; i++)
            und_pass_run(device, passes + i, 1);
        return;
    }
    und_slices_run(run_slice, (void *)(uintptr_t)passes, count, first->blocks,
                   und_workers(device->threads, first->worth, CELLS_TO_SHARE));
}

float und_pass_most(const und_device *device, const und_pass *passes, int count, float *block)
{
    und_pass wrapped[UND_PASS_MOST] = {0};
    und_most found[UND_PASS_MOST];
    float most = 0;
    int blocks = 0;
    assert(count <= UND_PASS_MOST);
    for (int i = 0; i < count; i++) {
        found[i] = (und_most){passes[i].args, block + blocks};
        wrapped[i] = (und_pass){passes[i].kernel, &found[i], passes[i].set};
        blocks += passes[i].set->blocks;
    }
    und_pass_run(device, wrapped, count);
    for (int i = 0; i < blocks; i++)
        most = block[i] > most ? block[i] : most;
    return most;
}
