/* Passes over a grid's slices, one behind the other through memory: a slice that one stage has read is still
 * in the cache when the next comes to it. */
#ifndef UND_GRID_SLICES_H
#define UND_GRID_SLICES_H

/* Stage s of a slice reads at most one slice further than it writes, and what stages up to s - 1 wrote there;
 * it writes nothing that stage s - 1 of a slice more than one away still reads. */
typedef void und_slice_fn(void *context, int stage, int slice);

/* All stages of all slices, as if one stage after the other.  Slices 2 k and 2 k + 1 are never worked on at
 * the same time in the last stage, and 2 k comes first there. */
void und_slices_run(und_slice_fn *fn, void *context, int stages, int slices, int threads);

#endif
