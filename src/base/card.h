/* A card: a processor with memory of its own, as a graphics card is, that runs kernels (grid/pass.h).
 *
 * A process has one at most.  While it is open pages (base/pages.h) lie in a range of addresses that is the
 * same on both sides, so that structs of pointers go to the card as they are.  Which side has what is newest
 * is looked after here, a unit of memory at a time: what the card may have changed since is kept from being
 * touched on this side, and whoever does is stopped by the machine until it has come back.  So a stage that
 * no kernel does yet is right as it stands, and dear.  That needs the process's handler of SIGSEGV, which is
 * given back when the card is closed; other faults go to the one before it. */
#ifndef UND_BASE_CARD_H
#define UND_BASE_CARD_H

#include "base/card_entry.h"

#include <undine/types.h>

#include <stdio.h>

/* Memory of the range that is to be 0. */
typedef struct und_card_clear {
    void *at;
    size_t bytes;
} und_card_clear;

/* Launches. */
typedef struct und_card_launch {
    const char *name; /* of the kernel, */
    const void *call; /* what the launch is about, and what the kernel is given, by value */
    size_t call_size;
    const void *args;
    size_t args_size;
    uint32_t threads;
    bool together;        /* they wait for each other */
    und_card_clear clear; /* before it */
} und_card_launch;

/* A kind of card. What it may answer with is und_status and an error. Offsets are into the range. */
typedef struct und_card_kind {
    const char *name;
    und_status (*open)(void **self, const und_card_kernels *kernels, char *range, size_t bytes, char *host,
                       und_error *err);
    void (*close)(void *self);
    /* Memory of its own behind the range from an offset on, which is to be 0. */
    und_status (*have)(void *self, size_t offset, size_t bytes, und_error *err);
    und_status (*put)(void *self, size_t offset, size_t bytes,
                      und_error *err); /* from this side's to its own */
    und_status (*get)(void *self, size_t offset, size_t bytes, und_error *err); /* and back */
    /* What a launch of und_card_kernels.begin[named] is to be called with; -1: the card does not have it. */
    int (*find)(void *self, int named);
    und_status (*launch)(void *self, int kernel, const und_card_launch *launch, und_error *err);
    und_status (*clear)(void *self, size_t offset, size_t bytes, und_error *err);
    und_status (*wait)(void *self, und_error *err); /* until all launches are done */
    void (*describe)(void *self, char *text, size_t size);
    const void *(*peek)(void *self, size_t offset); /* what is there; NULL: it cannot be seen from here */
} und_card_kind;

/* A process of this machine with memory of its own, for tests; and Nvidia's. */
extern const und_card_kind und_card_process, und_card_cuda;

und_card *und_card_open(const und_card_kind *kind, const und_card_kernels *kernels, und_error *err);
void und_card_close(und_card *card);
und_card *und_card_of_process(void); /* the one that is open; NULL: none */

/* Where a card does not take a kernel, being given what is elsewhere, this machine does what a thread there
 * would: lists that are made for one lane stay what they are. */
bool und_card_run_here(und_card *card, const und_card_launch *launch);
/* False: it cannot be done there, and is to be done here. */
bool und_card_run(und_card *card, const und_card_launch *launch);
bool und_card_has(const und_card *card, const void *address); /* it is of the range */

/* What is called where a card fails in the middle of a run, and does not return: what was on it is lost, and
 * so is the run but for what is on disk.  Without one the program is aborted. */
void und_card_on_failure(und_card *card, void (*fn)(const und_error *err));
/* Waits for it, so that what went wrong with it is known. */
void und_card_check(und_card *card);

/* ---- For base/pages.c ---- */

/* All 0; read_only: kernels do not write there. */
void *und_card_alloc(und_card *card, size_t bytes, bool read_only, const char *what, und_error *err);
bool und_card_free(void *pages); /* false: they are not a card's */

/* For who writes kernels, where UNDINE_CARD_COMPARE is set and the card is a process: each is done on both
 * sides, and what is different then is told.  And where UNDINE_CARD_SAY is, which are not done by the card.
 */
bool und_card_compares(const und_card *card);
void und_card_compare_begin(und_card *card); /* before the card, */
void und_card_compare_open(und_card *card);  /* behind it, before it is done here, */
void und_card_compare_end(und_card *card, const char *kernel);

/* What happened, for profiles. */
typedef struct und_card_counts {
    uint64_t launches, faults, put_bytes, get_bytes, here; /* kernels that were done here instead */
    double waiting;                                        /* s: in faults */
} und_card_counts;
und_card_counts und_card_count(const und_card *card);
/* The time of each kernel is measured from now on, each waited for; and told. */
void und_card_time(und_card *card);
void und_card_print(const und_card *card, FILE *to);

#endif
