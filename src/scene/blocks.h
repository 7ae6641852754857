/* The blocks of the scene language and the fields that other files read. */
#ifndef UND_SCENE_BLOCKS_H
#define UND_SCENE_BLOCKS_H

#include "scene/read.h"

extern const field und_waves_fields[];
void und_read_waves(reader *r);

enum { UND_BLOCK_SCENE, UND_BLOCK_WAVES }; /* places in und_blocks */

#endif
