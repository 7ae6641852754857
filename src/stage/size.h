/* Looks that follow the size of the domain, where a scene does not say them: a tub, a pool and a sea are each
 * to be seen at first sight. */
#ifndef UND_STAGE_SIZE_H
#define UND_STAGE_SIZE_H

#include "stage/picture.h"

/* Marks what follows the size; whatever is then written over it is kept. */
void und_picture_unsaid(und_picture_def *def);

/* Previews show what the liquid was asked to be made of: its colours and its index. */
void und_picture_wear_liquid(und_picture_def *def);

/* Fills what is still marked, for a domain whose longest side is `span` metres.  `table`: the liquid stands
 * on a level ground, as that in cells does; else the ground is the scene's own.  `closed`: its four sides are
 * walls. */
void und_picture_follow_size(und_picture_def *def, double span, bool table, bool closed);

#endif
