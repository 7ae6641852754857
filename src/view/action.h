/* Actions: what a key does stands in a menu, both from one table. */
#ifndef UND_VIEW_ACTION_H
#define UND_VIEW_ACTION_H

#include "view/event.h"

/* Among the mods of an action: while its key stays down it goes on. */
enum { UND_MOD_REPEATS = 1 << 8 };

typedef struct und_action {
    const char *menu, *label; /* "View", "Caustics" */
    int key;                  /* as events name them; 0: none */
    unsigned mods;
    void (*run)(void *context);
    bool (*checked)(const void *context); /* NULL: nothing to check */
    bool (*enabled)(const void *context); /* NULL: always */
} und_action;                             /* the context is who gave the table: the painter, the source */

/* What turns a member of the context on and off, and says whether it is on: switch_NAME and is_NAME. */
#define UND_SWITCH(name_, type_, member_)              \
    static void switch_##name_(void *context)          \
    {                                                  \
        type_ *own = context;                          \
        own->member_ = !own->member_;                  \
    }                                                  \
    static bool is_##name_(const void *context)        \
    {                                                  \
        return ((const type_ *)context)->member_ != 0; \
    }

#endif
