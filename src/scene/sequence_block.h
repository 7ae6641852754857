/* sequence = {...} of a solid: a mesh for each frame. */
#ifndef UND_SCENE_SEQUENCE_BLOCK_H
#define UND_SCENE_SEQUENCE_BLOCK_H

#include "geom/sequence.h"
#include "scene/read.h"

extern const field und_sequence_fields[];
/* The table on top; the scene owns the sequence. */
const und_sequence *und_read_sequence(reader *r);

#endif
