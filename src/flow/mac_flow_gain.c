/* What forces and pressure give the flow in a step, for steps of second order in time. */
#include "base/pages.h"
#include "base/parallel.h"
#include "flow/mac_flow_kernel.h"
#include "flow/mac_flow_parts.h"

#include <string.h>

und_status und_mac_flow_keep_gained(und_mac_flow *s, und_error *err)
{
    const size_t count = s->mac.count;
    s->parts->gained = und_pages_alloc(3 * count * sizeof(float), "what the flow gained", err);
    for (int a = 0; a < 3 && s->parts->gained; a++)
        s->gained[a] = s->parts->gained + (size_t)a * count;
    return s->parts->gained ? UND_OK : err->status;
}

void und_mac_flow_scale_gained(und_mac_flow *s, double factor)
{
    s->parts->scale = (float)factor;
}

/* Half the difference on faces of the flow that are not held, nothing on others. */
static void gain_row(und_mac_flow *s, const und_mask *held, int axis, int y, int z)
{
    const und_mac *m = &s->mac;
    const uint64_t *flows = und_mask_row(&s->flows[axis], y, z);
    const size_t row = und_mac_at(m, 0, y, z);
    const float *u = s->u[axis] + row;
    float *gained = s->gained[axis] + row;
    unsigned which;
    int done = -1; /* what is before it has its value */
    for (int x = -1; (x = und_mask_batch(&s->flows[axis], flows, x, UND_LANES, &which)) <= m->n[0];
         x += UND_LANES) {
        const und_lanes gain = 0.5f * (und_lanes_load(u + x) + und_lanes_load(gained + x));
        for (int i = 0; held && i < UND_LANES; i++)
            if (which >> i & 1 && und_mask_has_face(held, axis, x + i, y, z))
                which &= ~(1u << i);
        const int end = x + UND_LANES <= m->n[0] + 1 ? x + UND_LANES : m->n[0] + 1;
        memset(gained + done, 0, (size_t)(end - done) * sizeof *gained);
        und_lanes_store_some(gained + x, gain, which);
        done = end;
    }
    memset(gained + done, 0, (size_t)(m->n[0] + 1 - done) * sizeof *gained);
}

void und_mac_flow_after_gain(und_mac_flow *s, const und_mask *held, int layers)
{
    const und_mac *m = &s->mac;
    int threads = und_workers(s->threads, m->count, UND_MAC_FLOW_CELLS_TO_SHARE);
    for (int a = 0; a < (m->n[2] == 1 ? 2 : 3); a++) {
        PARALLEL_FOR(threads)
        for (int z = -1; z <= m->n[2]; z++)
            for (int y = -1; y <= m->n[1]; y++)
                gain_row(s, held, a, y, z);
    }
    und_mac_flow_extend_layers(s, s->gained, layers);
    for (int a = 0; a < (m->n[2] == 1 ? 2 : 3); a++)
        und_mac_flow_copy_beside(m, s->gained[a], a);
}
