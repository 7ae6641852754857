/* What a hand does to a liquid while it runs, and what may be turned then.  Both act between steps. */
#ifndef UND_LIQUID_TOUCH_H
#define UND_LIQUID_TOUCH_H

#include <undine/waves.h>

typedef enum und_tool {
    UND_TOOL_NONE,
    /* Water over a ground. */
    UND_TOOL_STIR,  /* a sinusoidal disturbance, as und_stir_def */
    UND_TOOL_POUR,  /* adds water: a source in the ledger */
    UND_TOOL_DRAIN, /* takes it: a drain */
    UND_TOOL_RAISE, /* the ground; the water on it stays on it */
    UND_TOOL_DIG,
    /* Cells in two dimensions. */
    UND_TOOL_LIQUID, /* fills empty cells: a source */
    UND_TOOL_SOLID,  /* turns cells into solid; liquid in them goes: a drain */
    UND_TOOL_INFLOW, /* turns cells into a wall from which liquid comes */
    UND_TOOL_ERASE,  /* what was painted, and liquid where nothing was */
    UND_TOOLS
} und_tool;

/* Mouse tools on the liquid, for the step that comes. */
typedef struct und_mouse_tool {
    und_tool tool;
    double from[3], place[3]; /* m; it went from there to here since the last step */
    double radius;            /* m */
    double strength;    /* stir: amplitude as a head of water, m; pour and drain: m3/s; raise and dig: m/s */
    double period;      /* s, of the stir */
    double velocity[3]; /* m/s; of what comes from an inflow, and of liquid painted */
    double held;        /* s of the liquid's time since it came down */
} und_mouse_tool;

/* What may be turned while it runs. */
typedef struct und_tuning {
    double gravity;   /* m/s2, downwards */
    double damping;   /* 1/s; water over a ground */
    double viscosity; /* m2/s */
    double rain;      /* drops per m2 and second; 0: none; water over a ground */
    double order;     /* of waves, 1 or 2; 0: not with this model, or as it is */
} und_tuning;

/* A ball let go in the air or in the water is a und_ball; models that have bodies, or objects, keep a few in
 * reserve. */

#endif
