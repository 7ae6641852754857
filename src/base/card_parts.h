/* What the files of a card share. */
#ifndef UND_BASE_CARD_PARTS_H
#define UND_BASE_CARD_PARTS_H

#include "base/card.h"

#include <pthread.h>
#include <signal.h>

/* Memory is handed over in units: of each, who has what is newest. */
enum { UND_CARD_UNIT = 1 << 16 };
typedef enum und_card_side {
    UND_CARD_NOBODY, /* it is not in use */
    UND_CARD_NEW,    /* both: all is 0 */
    UND_CARD_HERE,   /* this side: it may be written */
    UND_CARD_BOTH,   /* it may be read */
    UND_CARD_THERE   /* the card */
} und_card_side;

typedef struct und_card_block { /* of the range, in units; in order, and all of it */
    size_t at, count;
    bool used, read_only;
    struct und_card_block *next;
} und_card_block;

typedef struct und_card_stretch { /* of units */
    size_t at, count;
} und_card_stretch;

typedef struct und_card_runs {
    und_card_stretch *run;
    size_t count, room;
} und_card_runs;

enum { UND_CARD_TIMED = 512 };
typedef struct und_card_timed {
    const char *name;
    uint64_t launches, threads;
    double seconds;
} und_card_timed;

enum { UND_CARD_KERNELS = 1 << 12, UND_CARD_TOLD = 256 };
typedef struct und_card_known {
    const char *name;
    const und_card_named *named; /* und_card_kernels.end: there is none of that name */
    int number;                  /* -1: the card does not have it */
} und_card_known;

struct und_card {
    const und_card_kind *kind;
    const und_card_kernels *kernels;
    und_card_kernels own; /* which these are */
    void *self;
    char *range; /* the same addresses on both sides */
    size_t bytes, units;
    char *host; /* this side's memory again, where nothing keeps it from being touched */
    int file;   /* which is this one */
    bool mapped;
    pthread_mutex_t lock;
    uint8_t *side;      /* und_card_side of each unit, */
    uint8_t *read_only; /* and whether kernels only read it */
    und_card_block *blocks;
    und_card_runs written;        /* units that became UND_CARD_HERE, */
    und_card_runs open;           /* those that may be touched here and are the card's after a launch */
    size_t next;                  /* unit behind what came back last, */
    size_t ahead;                 /* so many of which came at once */
    uintptr_t program, stack_end; /* where what is this side's alone begins, and ends */
    void (*on_failure)(const und_error *err);
    und_card_counts counts;
    und_card_known known[UND_CARD_KERNELS];
    und_card_timed *timed; /* of each kernel; NULL: they are not */
    struct sigaction before;
    bool catches, says, compares;
    const char *told[UND_CARD_TOLD]; /* kernels that it was said of */
    int told_count;
};

und_status und_card_units_open(und_card *c, und_error *err);
void und_card_units_close(und_card *c);

und_status und_card_faults_open(und_card *c, und_error *err);
void und_card_faults_close(und_card *c);

_Noreturn void und_card_fail(und_card *c, const und_error *err);

/* Before a launch: what was written here goes there, and what kernels may write is theirs. */
und_status und_card_hand_over(und_card *c, und_error *err);
/* A kernel was done here: it is unknown there, or was given what is elsewhere.  Said once of each where
 * UNDINE_CARD_SAY is set. */
void und_card_tell_here(und_card *c, const und_card_launch *launch, bool unknown, int offset);

#endif
