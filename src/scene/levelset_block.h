/* What the files that read liquid.levelset{} share. */
#ifndef UND_SCENE_LEVELSET_BLOCK_H
#define UND_SCENE_LEVELSET_BLOCK_H

#include "scene/blocks.h"

#define UND_SPEED_MAX 1e6
#define UND_FOREVER 1e9

/* Something that keys lead, or that stands somewhere. */
typedef struct placed_read {
    path_def path; /* first: und_read_keys */
    und_key pose;
} placed_read;

extern const field und_placed_fields[]; /* of a placed_read */
/* Of the table on top; NULL where it says nothing. */
const und_motion *und_read_placed(reader *r, const placed_read *placed);

/* temperature (heat_block.c): of the liquid; of a fill, a source or a solid, a und_value * at the offset. */
extern const field und_heat_fields[];
void und_read_heat(reader *r, const field *f, void *levelset);
void und_read_temperature(reader *r, const field *f, void *def);
#define UND_TEMPERATURE(offset_, doc_)                                      \
    {                                                                       \
        "temperature", F_OTHER, NULL, -UND_HEAT_MOST, UND_HEAT_MOST,        \
            .offset = (offset_), .read = und_read_temperature,              \
            .expected = "a number or a function(x, y, z, t)", .doc = (doc_) \
    }

/* Lists of elements (elements_block.c): each is added to the level set's. */
extern const field und_source_fields[], und_drain_fields[], und_force_fields[], und_modifier_fields[];
void und_read_sources(reader *r, const field *f, void *levelset);
void und_read_drains(reader *r, const field *f, void *levelset);
void und_read_forces(reader *r, const field *f, void *levelset);
void und_read_modifiers(reader *r, const field *f, void *levelset);

/* window_block.c; after the solids, whose names it knows. */
extern const field und_window_fields[];
void und_read_window(reader *r, const field *f, void *levelset);
/* control_block.c */
extern const field und_control_fields[];
void und_read_control(reader *r, const field *f, void *levelset);

#endif
