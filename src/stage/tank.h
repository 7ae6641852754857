/* The vessel that stands around a liquid in cells, where a scene asks for one: four walls and a tiled floor.
 */
#ifndef UND_STAGE_TANK_H
#define UND_STAGE_TANK_H

#include "stage/f3.h"
#include "stage/picture.h"

enum { UND_TANK_SIDES = 4 }; /* low x, high x, low z, high z */

typedef struct und_tank {
    und_tank_kind kind;
    und_box in, out;          /* the walls' faces; both are as high as the domain */
    bool cut[UND_TANK_SIDES]; /* walls of tiles that are not there, lest they hide what is within */
} und_tank;

/* Glass where panes are looked into along their faces: its colour, and the share of the light behind that is
 * hidden by rims and corners. */
static const float UND_TANK_EDGE[3] = {0.30f, 0.52f, 0.46f}, UND_TANK_RIM = 0.7f, UND_TANK_CORNER = 0.3f;

und_tank und_tank_around(und_tank_kind kind, const und_box *box);
/* Cuts away what an eye would see from outside. */
void und_tank_cut(und_tank *tank, f3 eye);

/* Is a place over its floor? */
bool und_tank_floor(const und_tank *tank, f3 p);

/* Where a ray gets into a box and out of it again, m, and through which faces: 0 to 5, low x first.  False:
 * it does not. */
bool und_box_pass(const und_box *box, f3 from, f3 dir, float t[2], int face[2]);
f3 und_box_normal(int face); /* outwards */

/* How far it is to a wall of tiles, and its normal on the ray's side; infinite: it meets none. */
float und_tank_wall(const und_tank *tank, f3 from, f3 dir, f3 *normal);

/* Share of light that a pane of glass mirrors, by both of its faces. */
float und_tank_mirrors(f3 dir, f3 normal);

#endif
