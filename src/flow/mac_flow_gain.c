/* What forces and pressure give the flow in a step, for steps of second order in time. */
#include "base/pages.h"
#include "flow/mac_flow_parts.h"

und_status und_mac_flow_keep_gained(und_mac_flow *s, bool goes_on, und_error *err)
{
    const size_t count = s->mac.count;
    s->parts->gained = und_pages_alloc(6 * count * sizeof(float), "what the flow gained", err);
    for (int a = 0; a < 3 && s->parts->gained; a++) {
        s->gained[a] = s->parts->gained + (size_t)a * count;
        s->latest[a] = s->gained[a] + 3 * count;
    }
    s->parts->goes_on = goes_on;
    s->parts->gained_anywhere = true;
    return s->parts->gained ? UND_OK : err->status;
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
