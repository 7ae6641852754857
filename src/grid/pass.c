#include "grid/pass.h"
#include "base/card.h"

#include "base/parallel.h"
#include "grid/pass_card_run.h"

#include <assert.h>

enum {
    ROWS = 16,                /* of a block */
    MOST_BLOCKS = 1 << 12,    /* of rows: those of large grids have more rows instead */
    CELLS_TO_SHARE = 1 << 15, /* and of a chain, whose threads meet less: */
    CHAINED_TO_SHARE = 1 << 11,
    SHARES = 12 /* that a thread has of the blocks, at least: so that all end at the same time */
};

/* ---- Sets ---- */

static und_set rows_of(const und_mac *mac, und_rows rows)
{
    const bool flat = mac->n[2] == 1;
    const size_t worth = mac->present ? (size_t)mac->present->cells : mac->count;
    und_set s = {.mac = mac, .worth = worth, .wide = mac->n[1]};
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

und_set und_set_shared(const und_device *device, const und_mac *mac, und_rows rows)
{
    return device->halo ? und_set_slices(mac, rows) : und_set_rows(mac, rows);
}

und_set und_set_cells(const und_mac *mac, und_rows rows, const und_mask *cells)
{
    und_set s = und_set_rows(mac, rows);
    s.cells = cells;
    return s;
}

und_set und_set_spans(const und_mac *mac, const int32_t *from, const int32_t *to, size_t worth)
{
    und_set s = und_set_rows(mac, UND_ROWS_INSIDE);
    s.from = from;
    s.to = to;
    s.worth = worth;
    return s;
}

und_set und_set_box(const und_mac *mac, const int low[3], const int high[3], int worth)
{
    const int wide = high[1] - low[1], deep = high[2] - low[2], along = high[0] - low[0];
    und_set s = {.mac = mac, .low = {low[1], low[2]}, .wide = wide};
    s.rows = along > 0 && wide > 0 && deep > 0 ? wide * deep : 0;
    s.worth = (size_t)s.rows * (size_t)(along > 0 ? along : 0) * (size_t)worth;
    return in_blocks(s, ROWS);
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

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* A block, with what is lent to whoever does it. */
static void run_pass(const und_pass *p, int block)
{
    und_set own;
    if (p->set->lent) {
        own = *p->set;
        own.lent += (size_t)und_thread() * own.lent_each;
    }
    p->kernel->block(p->args, p->set->lent ? &own : p->set, block);
}

static void run_block(const und_step *step, int block)
{
    const und_pass *p = step->passes;
    for (; block >= p->set->blocks; p++)
        block -= p->set->blocks;
    run_pass(p, block);
}

static int blocks_of(const und_step *step)
{
    int blocks = 0;
    for (int i = 0; i < step->count; i++)
        blocks += step->passes[i].set->blocks;
    return blocks;
}

static void run_slices(const und_step *step, int stage, int begin, int end)
{
    const und_pass *p = step->passes + stage;
    for (int slice = begin; slice < end; slice++)
        run_pass(p, slice);
}

static int slices_of(const und_step *chain)
{
    return chain->passes->set->blocks;
}

/* What one thread does of a step.  A slice that one pass of a chain has read is still in the cache when the
 * next comes to it. */
static void run_alone(const und_step *step)
{
    const int slices = step->chain ? slices_of(step) : 0;
    for (int front = 0; front < slices + step->count && step->chain; front++)
        for (int stage = 0; stage < step->count; stage++)
            if (front >= stage && front - stage < slices)
                run_slices(step, stage, front - stage, front - stage + 1);
    for (int block = 0; block < blocks_of(step) && !step->chain; block++)
        run_block(step, block);
}

/* A part of the way through steps, between two points where all threads meet. */
typedef struct part {
    const und_step *first, *last; /* the same if it is shared out; else all of these are one task */
    bool alone;
    int some; /* blocks that a thread takes at a time */
} part;

static bool left_out(const und_step *step)
{
    return step->unless && *step->unless;
}

static bool part_left_out(const void *context, int step)
{
    const part *p = (const part *)context + step;
    return !p->alone && left_out(p->first);
}

static void run_task(const void *context, int step, int stage, int task)
{
    const part *p = (const part *)context + step;
    const int begin = task * p->some, end = begin + p->some;
    if (!p->alone && p->first->chain)
        run_slices(p->first, stage, begin, least(end, slices_of(p->first)));
    else if (!p->alone)
        for (int block = begin; block < least(end, blocks_of(p->first)); block++)
            run_block(p->first, block);
    for (const und_step *s = p->first; s <= p->last && p->alone; s++)
        if (!left_out(s))
            run_alone(s);
}

static size_t worth_of(const und_step *step)
{
    size_t worth = 0;
    for (int i = 0; i < step->count; i++)
        worth += step->passes[i].set->worth;
    return step->chain ? step->passes->set->worth : worth;
}

enum { MOST_PARTS = 1024 };

/* Parts of the way, and what und_steps_share asks about them. */
typedef struct way {
    part parts[MOST_PARTS];
    int tasks[MOST_PARTS], stages[MOST_PARTS], count;
} way;

static void add_part(const und_device *device, const und_step *step, way *w)
{
    const int threads =
        und_workers(device->threads, worth_of(step), step->chain ? CHAINED_TO_SHARE : CELLS_TO_SHARE);
    if (threads == 1 && w->count > 0 && w->parts[w->count - 1].alone) {
        w->parts[w->count - 1].last = step;
        return;
    }
    const int blocks = step->chain ? slices_of(step) : blocks_of(step);
    const int least_some =
        step->chain ? (blocks + UND_STAGED_TASKS - 1) / UND_STAGED_TASKS : blocks / (SHARES * threads);
    part p = {.first = step, .last = step, .alone = threads == 1, .some = least_some > 1 ? least_some : 1};
    w->tasks[w->count] = p.alone ? 1 : (blocks + p.some - 1) / p.some;
    w->stages[w->count] = step->chain && !p.alone ? step->count : 1;
    w->parts[w->count++] = p;
}

/* Steps that nothing has to come from others for, but before the first. */
static void run_steps(const und_device *device, const und_step *steps, int count)
{
    way w;
    for (int i = 0; i < count;) {
        for (w.count = 0; i < count && w.count < MOST_PARTS; i++)
            add_part(device, &steps[i], &w);
        if (w.count == 1 && w.parts[0].alone) { /* there is no one to share with */
            run_task(w.parts, 0, 0, 0);
            continue;
        }
        const und_steps all = {.task = run_task,
                               .left_out = part_left_out,
                               .context = w.parts,
                               .tasks = w.tasks,
                               .stages = w.stages,
                               .count = w.count};
        und_steps_share(&all, device->threads);
    }
}

/* One pass after the other: that is an order which any of them may be in.  What the card cannot do is done
 * here. */
static void run_on_card(const und_device *device, const und_step *step)
{
    for (int i = 0; i < step->count; i++) {
        const und_step own = {.passes = step->passes + i, .count = 1};
        if (!und_pass_on_card(device->card, step->passes + i, step->unless) && !left_out(step))
            run_steps(device, &own, 1);
    }
}

/* On both sides, and what is different then is told. */
static void compare_on_card(const und_device *device, const und_step *step)
{
    for (int i = 0; i < step->count && !left_out(step); i++) {
        const und_step own = {.passes = step->passes + i, .count = 1};
        und_card_compare_begin(device->card);
        const bool done = und_pass_on_card(device->card, step->passes + i, step->unless);
        if (done)
            und_card_compare_open(device->card);
        run_steps(device, &own, 1);
        if (done)
            und_card_compare_end(device->card, step->passes[i].kernel->name);
    }
}

void und_pass_steps(const und_device *device, const und_step *steps, int count)
{
    for (int i = 0; i < count && device->card; i++)
        if (und_card_compares(device->card))
            compare_on_card(device, &steps[i]);
        else
            run_on_card(device, &steps[i]);
    if (device->card)
        return;
    for (int i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && !(device->halo && steps[end].halos > 0);)
            end++;
        if (steps[i].halos > 0 && !left_out(&steps[i]))
            und_halo_get(device->halo, steps[i].halo, steps[i].halos);
        run_steps(device, steps + i, end - i);
    }
}

static void do_nothing(const void *args, const und_set *set, int block)
{
    (void)args;
    (void)set;
    (void)block;
}
const und_kernel und_pass_none = {.name = "none", .block = do_nothing};

void und_pass_run(const und_device *device, const und_pass *passes, int count)
{
    und_pass_steps(device, &(und_step){.passes = passes, .count = count}, 1);
}

int und_pass_chain_steps(und_step *steps, const und_pass *passes, int count)
{
    const und_set *first = passes->set;
    const bool slices = first->rows == 0 || first->rows > first->wide;
    for (int i = 0; i < count && !slices; i++) /* blocks are rows */
        steps[i] = (und_step){.passes = passes + i, .count = 1};
    if (slices)
        steps[0] = (und_step){.passes = passes, .count = count, .chain = true};
    return slices ? 1 : count;
}

void und_pass_chain(const und_device *device, const und_pass *passes, int count)
{
    und_step steps[UND_PASS_CHAIN];
    assert(count <= UND_PASS_CHAIN);
    und_pass_steps(device, steps, und_pass_chain_steps(steps, passes, count));
}

float und_pass_most(const und_device *device, const und_pass *passes, int count, float *block)
{
    und_pass wrapped[UND_PASS_MOST] = {0};
    und_found found[UND_PASS_MOST];
    int blocks = 0;
    assert(count <= UND_PASS_MOST);
    for (int i = 0; i < count; i++) {
        found[i] = (und_found){passes[i].args, block + blocks};
        wrapped[i] = (und_pass){passes[i].kernel, &found[i], passes[i].set};
        blocks += passes[i].set->blocks;
    }
    und_pass_run(device, wrapped, count);
    for (int i = 0; i < count && device->halo; i++) {
        const und_set *s = passes[i].set; /* und_set_shared */
        const und_halo_field of_slices =
            und_halo_of_slices(s->mac, found[i].out, sizeof *block, s->low[1], s->rows / s->wide);
        und_halo_get(device->halo, &of_slices, 1);
    }
    return und_most_of(block, blocks);
}
