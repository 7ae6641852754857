/* What forces and pressure give the flow in a step, for steps of second order in time. */
#include "base/pages.h"
#include "flow/mac_flow_parts.h"

#include <string.h>

und_status und_mac_flow_keep_gained(und_mac_flow *s, bool goes_on, und_error *err)
{
    static const char *const what = "what the flow gained";
    const float none = UND_GAIN_NONE;
    const size_t count = s->mac.count, bytes = 3 * count * sizeof none;
    const bool sparse = s->mac.present != NULL;
    und_mac_flow_parts *p = s->parts;
    p->gained = und_pages_alloc_some(bytes, sparse, what, err);
    p->latest = !p->gained ? NULL
                : sparse   ? und_pages_alloc_of(bytes, &none, sizeof none, what, err)
                           : und_pages_alloc(bytes, what, err);
    for (int a = 0; a < 3 && p->latest; a++) {
        s->gained[a] = p->gained + (size_t)a * count;
        s->latest[a] = p->latest + (size_t)a * count;
        for (int z = -1; z <= s->mac.n[2] && sparse; z++) /* but those that come later have never flowed */
            for (int y = -1; y <= s->mac.n[1]; y++)
                if (und_present_has(s->mac.present, y, z))
                    memset(s->latest[a] + und_mac_at(&s->mac, -1, y, z), 0,
                           (size_t)s->mac.step[1] * sizeof none);
    }
    s->parts->goes_on = goes_on;
    s->parts->gained_anywhere = true;
    return p->latest ? UND_OK : err->status;
}

void und_mac_flow_scale_gained(und_mac_flow *s, double factor)
{
    s->parts->scale = (float)factor;
}

void und_mac_flow_find_gained(und_mac_flow *s, const und_mask *held, double sudden)
{
    und_mac_flow_parts *parts = s->parts;
    und_gain_args *args = &parts->gain;
    *args = (und_gain_args){.mac = s->mac,
                            .holds = held != NULL,
                            .scale = parts->scale,
                            .sudden = parts->scale > 0 ? (float)sudden : UND_GAIN_NONE};
    if (held)
        args->held = *held;
    if (parts->gained_anywhere)
        und_mac_flow_set_all(s);
    parts->gained_anywhere = false;
    for (int a = 0; a < 3; a++) {
        args->flows[a] = s->flows[a];
        args->set[a] = parts->extend.set[a];
        args->u[a] = s->u[a];
        args->gained[a] = s->gained[a];
        args->latest[a] = s->latest[a];
    }
    parts->gains = true;
}
