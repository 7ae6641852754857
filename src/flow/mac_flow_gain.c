/* What forces and pressure give the flow in a step, for steps of second order in time. */
#include "flow/mac_flow_parts.h"

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
