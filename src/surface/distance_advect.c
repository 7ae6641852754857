/* The surface moves with the flow: phi is followed back along it. */
#include "grid/sample.h"
#include "surface/distance_parts.h"

static void advect_batch(const und_distance *d, float *const u[3], und_lanes place[3], float back, bool third,
                         float *out, uint32_t lanes)
{
    und_lanes speed[3], foot[3], value;
    und_sample_velocity(&d->mac, u, place, speed);
    und_sample_trace(&d->mac, u, place, speed, back, third, foot);
    und_sample_cells(&d->mac, d->phi, foot, &value, NULL);
    und_lanes_store_some(out, value, lanes);
}

static void advect_row(und_distance *d, float *const u[3], float back, bool third, int row)
{
    const und_distance_parts *p = d->parts;
    const und_mac *m = &d->mac;
    size_t first = und_mac_row(m, row);
    und_lanes place[3] = {
        {0}, und_lanes_all((float)(row % m->n[1]) + 0.5f), und_lanes_all((float)(row / m->n[1]) + 0.5f)};
    for (int b = 0; b < p->batches[row]; b++) {
        und_batch batch = p->batch[(size_t)row * (size_t)p->per_row + (size_t)b];
        place[0] = und_lanes_count() + ((float)batch.x + 0.5f);
        advect_batch(d, u, place, back, third, d->next + first + batch.x, batch.lanes);
    }
}

void und_distance_advect(und_distance *d, float *const u[3], double cells_per_speed, und_trace trace)
{
    int threads = und_distance_workers(d), blocks = und_distance_blocks(d);
    bool third = trace == UND_TRACE_RK3;
    float back = -(float)cells_per_speed;
    und_distance_list(d, &d->band);
    PARALLEL_FOR(threads)
    for (int block = 0; block < blocks; block++)
        for (int r = block * UND_DISTANCE_ROWS; r < und_distance_block_end(d, block); r++)
            advect_row(d, u, back, third, r);
    float *phi = d->phi;
    d->phi = d->next;
    d->next = phi;
    und_distance_beside(d, d->phi);
}
