/* A pass over a cached flow, which is only read: what is made of each frame goes into a cache of its own. */
#ifndef UND_APP_PASS_H
#define UND_APP_PASS_H

#include "cached_flow.h"

#include "base/stage.h"

enum { PASS_READ, PASS_MAKE, PASS_WRITE, PASS_STAGES };

typedef struct pass {
    const args *args;
    char flow_folder[UND_PATH_MAX], folder[UND_PATH_MAX];
    und_cache *flow, *cache;
    und_cache_info info; /* of the flow */
    int first, last;     /* rows of the flow */
    und_frame frame;     /* of the flow */
    und_cache_def def;   /* what of the new cache is not the flow's: name, pass, bodies */
    und_stage stage[PASS_STAGES];
    void *own; /* the command's */
} pass;

typedef struct pass_class {
    const char *name;
    /* Checks the flow and loads what is needed; sets folder and what of def it knows. */
    und_status (*open)(pass *p, und_error *err);
    /* With the first frame, before anything is written: what fails here leaves nothing behind. */
    und_status (*start)(pass *p, und_error *err);
    und_status (*advance)(pass *p, und_error *err); /* to the frame that was read */
    /* What was made alone, and the hash of its state: the rest of the frame stays where it is. */
    und_status (*frame)(pass *p, und_frame *made, uint64_t *hash, und_error *err);
    void (*print)(const pass *p); /* goes on with the line that says what was made */
    void (*close)(pass *p);
} pass_class;

und_status pass_run(const pass_class *class, const args *a, void *own, und_error *err);

#endif
