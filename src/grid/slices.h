/* Passes over a grid's slices, one behind the other through memory: a slice that one stage has read is still
 * in the cache when the next comes to it. */
#ifndef UND_GRID_SLICES_H
#define UND_GRID_SLICES_H

/* Stage s of a slice reads at most one slice further than it writes, and what stages up to s - 1 wrote there;
 * it writes nothing that stage s - 1 of a slice more than one away still reads. */
typedef void und_slice_fn(const void *context, int stage, int slice);

/* All stages of all slices, as if one stage after the other, as steps of tasks, see und_steps_share: slabs of
 * slices and what is left at their borders, or, for many threads, pairs of slices stage by stage.  Slices 2 k
 * and 2 k + 1 are never worked on at the same time in the last stage, and 2 k comes first there. */
typedef struct und_slabs {
    int stages, slices;
    int count; /* of slabs, as thick as each other; 0: there are none */
} und_slabs;

und_slabs und_slabs_make(int stages, int slices, int threads);
int und_slabs_steps(const und_slabs *s);
int und_slabs_tasks(const und_slabs *s, int step);
void und_slabs_run(const und_slabs *s, int step, int task, und_slice_fn *fn, const void *context);

#endif
