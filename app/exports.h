/* Frames as files that other programs read, as they come: VDB, PLY, spray. */
#ifndef UND_APP_EXPORTS_H
#define UND_APP_EXPORTS_H

#include "app.h"

#include "io/ply.h"
#include "stage/paint.h"

typedef struct exports exports;

typedef struct exports_def {
    const char *folder, *name;
    const char *model; /* "waves"; for messages */
    int first, last;   /* frames, inclusive */
    bool vdb, ply, spray;
    bool half; /* VDB values in 16 bits */
    und_up up;
    double adaptive; /* cells; see und_frame_mesh_def */
    bool textured;   /* --texture was asked for */
    und_paint paint; /* of meshes with texture particles: makes their colours */
    int threads;
} exports_def;

/* What the options ask for. */
und_status exports_from_args(const args *a, exports_def *def, und_error *err);
static inline bool exports_asked(const exports_def *def)
{
    return def->vdb || def->ply || def->spray;
}

/* No file yet. */
exports *exports_create(const exports_def *def, und_error *err);

/* Where nothing was asked for, all that the first frame has is.  UND_INVALID where a frame does not have what
 * was. */
und_status exports_add(exports *e, const und_frame *frame, und_error *err);

/* Names what was made, on the standard output. */
void exports_print(const exports *e);

int exports_stages(const exports *e, und_stage *list, int room);
void exports_destroy(exports *e);

#endif
