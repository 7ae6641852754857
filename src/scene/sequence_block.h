/* sequence = {...} of a solid: a mesh for each frame. */
#ifndef UND_SCENE_SEQUENCE_BLOCK_H
#define UND_SCENE_SEQUENCE_BLOCK_H

#include "geom/sequence.h"
#include "scene/read.h"

extern const field und_sequence_fields[];
/* The table on top; the scene owns the sequence. */
const und_sequence *und_read_sequence(reader *r);

/* The name on top, with one number in it ("flag.####.obj"), and the name of one file. */
const char *und_read_numbered(reader *r, const char *expected);
void und_numbered_name(const char *files, int number, char *name, size_t size);

#endif
