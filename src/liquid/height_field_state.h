/* What the files of the height field share among themselves. */
#ifndef UND_LIQUID_HEIGHT_FIELD_STATE_H
#define UND_LIQUID_HEIGHT_FIELD_STATE_H

#include "base/maths.h"
#include "liquid/height_field.h"

#include <math.h>

/* Raises a cell by `height` (m), or lowers it as far as there is water; "add or subtract the amounts from the
 * current and last values of h" (Kass & Miller 1990): motion stays.  Returns what was added. */
double und_height_field_add_water(und_height_field *p, size_t at, double height);

/* A smooth bump, 1 in the middle and 0 at the radius. */
static inline double und_height_field_bump(double distance, double radius)
{
    return distance < radius ? 0.5 + 0.5 * und_cos(M_PI * distance / radius) : 0;
}

/* Adds a bump of pressure, `head` metres of water high. */
void und_height_field_press_at(und_height_field *p, double x, double z, double radius, double head);
/* Forgets the hand where its step is over. */
void und_height_field_end_hand(und_height_field *p);
/* The head of a hand that stirs at a time, at the end of a step of the model. */
void und_height_field_press_hand(und_height_field *p, double time);

/* Enters what came (m3) or, below 0, went into the ledger. */
void und_height_field_book(und_height_field *p, double volume);

und_status und_height_field_create_slants(und_height_field *p, und_error *err);
und_status und_height_field_create_rain(und_height_field *p, und_error *err);
void und_height_field_flow_over_edges(und_height_field *p, double dt);

#endif
