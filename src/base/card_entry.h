/* What kernels know of a card (card.h). */
#ifndef UND_BASE_CARD_ENTRY_H
#define UND_BASE_CARD_ENTRY_H

#include <stdint.h>

typedef struct und_card und_card;

/* A kernel's entry for a card that is a process of this machine: thread number `thread` of a launch. */
typedef void und_card_entry(const void *call, const void *args, uint32_t thread);

/* What a card is to run: for each kind the way that it takes. */
typedef struct und_card_named {
    const char *name;
    und_card_entry *entry;
} und_card_named;
typedef struct und_card_kernels {
    const und_card_named *begin, *end;
    const char *ptx; /* the same in the language of Nvidia's driver; NULL: built without */
} und_card_kernels;

#endif
