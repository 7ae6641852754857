/* Passes on a card. */
#ifndef UND_GRID_PASS_CARD_RUN_H
#define UND_GRID_PASS_CARD_RUN_H

#include "grid/pass.h"

/* False: it is to be done here.  unless: und_step.unless, which the card looks at. */
bool und_pass_on_card(und_card *card, const und_pass *pass, const bool *unless);

#endif
