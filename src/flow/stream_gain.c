/* What forces and pressure give the flow in a step, for steps of second order in time. */
#include "base/pages.h"
#include "base/parallel.h"
#include "flow/stream_kernel.h"
#include "flow/stream_parts.h"

#include <string.h>

und_status und_stream_keep_gained(und_stream *s, und_error *err)
{
    const size_t count = s->mac.count;
    s->parts->gained = und_pages_alloc(4 * count * sizeof(float), "what the flow gained", err);
    for (int a = 0; a < 3 && s->parts->gained; a++)
        s->gained[a] = s->parts->gained + (size_t)a * count;
    s->parts->moved = s->parts->gained ? s->parts->gained + 3 * count : NULL;
    return s->parts->gained ? UND_OK : err->status;
}

/* A slice's rows, the layers beside the domain included. */
typedef void slice_fn(und_stream *s, int axis, size_t first, size_t count, float factor);

static void each_slice(und_stream *s, int axis, slice_fn *fn, float factor)
{
    const und_mac *m = &s->mac;
    const size_t first = und_mac_at(m, -1, -1, -1), count = (size_t)m->step[2];
    int threads = und_workers(s->threads, m->count, UND_STREAM_CELLS_TO_SHARE);
    PARALLEL_FOR(threads)
    for (int z = 0; z < m->n[2] + 2; z++)
        fn(s, axis, first + (size_t)z * count, count, factor);
}

static void scale_slice(und_stream *s, int axis, size_t first, size_t count, float factor)
{
    SIMD
    for (size_t i = first; i < first + count; i++)
        s->gained[axis][i] *= factor;
}

void und_stream_scale_gained(und_stream *s, double factor)
{
    for (int a = 0; a < 3; a++)
        each_slice(s, a, scale_slice, (float)factor);
}

static void add_slice(und_stream *s, int axis, size_t first, size_t count, float factor)
{
    (void)factor;
    SIMD
    for (size_t i = first; i < first + count; i++)
        s->parts->moved[i] = s->u[axis][i] + s->gained[axis][i];
}

const float *und_stream_moved(und_stream *s, int axis)
{
    if (!s->gained[0])
        return s->u[axis];
    each_slice(s, axis, add_slice, 1);
    return s->parts->moved;
}

static void keep_slice(und_stream *s, int axis, size_t first, size_t count, float factor)
{
    (void)factor;
    SIMD
    for (size_t i = first; i < first + count; i++)
        s->gained[axis][i] = -s->u[axis][i];
}

void und_stream_before_gain(und_stream *s)
{
    for (int a = 0; a < 3; a++)
        each_slice(s, a, keep_slice, 1);
}

/* Half the difference on faces of the flow that are not held, nothing on others. */
static void gain_row(und_stream *s, const und_mask *held, int axis, int y, int z)
{
    const und_mac *m = &s->mac;
    const uint64_t *flows = und_mask_row(&s->flows[axis], y, z);
    const size_t row = und_mac_at(m, 0, y, z);
    float *was = s->gained[axis] + row, *gained = s->parts->moved + row;
    unsigned which;
    memset(gained - 1, 0, ((size_t)m->n[0] + 2) * sizeof *gained);
    for (int x = -1; (x = und_mask_batch(&s->flows[axis], flows, x, UND_LANES, &which)) <= m->n[0];
         x += UND_LANES) {
        und_lanes gain = 0.5f * (und_lanes_load(s->u[axis] + row + x) + und_lanes_load(was + x));
        for (int i = 0; held && i < UND_LANES; i++)
            if (which >> i & 1 && und_mask_has_face(held, axis, x + i, y, z))
                which &= ~(1u << i);
        und_lanes_store_some(gained + x, gain, which);
    }
    memcpy(was - 1, gained - 1, ((size_t)m->n[0] + 2) * sizeof *gained);
}

void und_stream_after_gain(und_stream *s, const und_mask *held, int layers)
{
    const und_mac *m = &s->mac;
    const und_mask *known[3];
    int threads = und_workers(s->threads, m->count, UND_STREAM_CELLS_TO_SHARE);
    for (int a = 0; a < (m->n[2] == 1 ? 2 : 3); a++) {
        PARALLEL_FOR(threads)
        for (int z = -1; z <= m->n[2]; z++)
            for (int y = -1; y <= m->n[1]; y++)
                gain_row(s, held, a, y, z);
    }
    und_stream_extend_layers(s, s->gained, layers, known);
    for (int a = 0; a < (m->n[2] == 1 ? 2 : 3); a++)
        und_stream_copy_beside(m, s->gained[a], a);
}
