/* What the files of the solids share. */
#ifndef UND_FLOW_SOLIDS_PARTS_H
#define UND_FLOW_SOLIDS_PARTS_H

#include "flow/solids.h"
#include "grid/reduce.h"

#include "geom/motion.h"
#include "geom/sequence.h"
#include "geom/shape.h"

/* Cells, from low to below high; the layer beside the domain is -1 and n. */
typedef struct und_cell_box {
    int low[3], high[3];
} und_cell_box;

static inline bool und_cell_box_empty(const und_cell_box *b)
{
    return b->low[0] >= b->high[0] || b->low[1] >= b->high[1] || b->low[2] >= b->high[2];
}
/* Its rows, whose cells cost more than those of a plain pass. */
static inline und_set und_cell_box_rows(const und_mac *m, const und_cell_box *b)
{
    return und_set_box(m, b->low, b->high, 8);
}
static inline bool und_cell_box_has(const und_cell_box *b, const int cell[3])
{
    return cell[0] >= b->low[0] && cell[0] < b->high[0] && cell[1] >= b->low[1] && cell[1] < b->high[1] &&
           cell[2] >= b->low[2] && cell[2] < b->high[2];
}

/* What is done to a box. */
typedef struct und_solids_job {
    struct und_solids *s;
    const und_cell_box *box;
    int solid;
} und_solids_job;

/* A solid within an interval. */
typedef struct und_solid_state {
    und_pose from, to; /* where it is at the beginning and at the end */
    und_vec3 velocity; /* m/s, the mean over the interval, of the point that ends up at to.position */
    und_vec3 turn[3];  /* 1/s: what is further along x, y or z from there is faster by that */
    double time, dt;   /* the interval, where it moves in it; else 0 */
    double clock[2];   /* of a deforming mesh, at the beginning and the end */
    und_cell_box near; /* cells that it may reach */
} und_solid_state;

/* Triangles to draw a solid by, in its own coordinates. */
typedef struct und_solid_skin {
    size_t corners;
    float *position, *normal; /* [corners][3] */
    bool in_world;            /* or as it is now, in the world's */
} und_solid_skin;

void und_solids_skin_free(und_solid_skin *skin);

/* The room in a cell at a thin wall, 0 to 1: on the side that is nearer to its middle and beyond the wall,
 * and the cells that these belong to. */
typedef struct und_thin_split {
    float near, far;
    uint8_t to_near, to_far; /* 2 axis, or one more upwards: the neighbour; or: */
} und_thin_split;
enum { UND_SPLIT_OWN = 6, UND_SPLIT_NOBODY = 7 };

typedef struct und_solids_parts {
    und_obstacle_def *defs; /* a shape of NULL: a sheet that deforms */
    und_shape *deformed; /* the shapes of deforming meshes, as they are: their def has them, but for sheets,
                            which are known by their distance alone */
    und_solid_state *state;
    bool *ever_moves;
    bool side_open[UND_SIDES];
    bool some_rest, some_move;
    float *node;           /* cells: the distance at the high corner of each cell */
    float *rest[2];        /* distance and node of those that never move; NULL: there are none */
    uint8_t *rest_owner;   /* and whose they are */
    uint8_t *thin;         /* UND_THIN_... of each cell */
    uint8_t *thin_rows;    /* rows of cells that have such, from y and z of -1 on */
    und_thin_split *split; /* of cells at thin walls */
    und_total *row_total;  /* scratch, [rows] */
    float (*way_out)[3];   /* of cells at thin walls: from the centre to a place outside solids, in cells */
    uint8_t *passed;       /* 1 + the solid that passed the cell's centre within the interval */
    float *lattice[2];     /* scratch of meshes: the distance at centres and corners in a box, m */
    float *drift[3];       /* scratch of deforming ones: their velocity at those centres, m/s */
    float *deform[3];      /* m/s: what the velocity of a deforming mesh is beside its motion's, at centres */
    und_solid_skin *skin;  /* NULL: not asked for yet */
    double *leaks;         /* scratch: cells of liquid, [slice][solid] */
    und_cell_box *box;     /* scratch: what is to be done anew, 2 a solid */
} und_solids_parts;

/* At a wall too thin for the corners of cells to tell its sides apart; and cells that take no part. */
enum { UND_THIN_NOT, UND_THIN_WALL, UND_THIN_SHUT };

/* Where a cell's centre is (or, half a cell on, its high corner); in two dimensions all is in the plane of
 * the centres. */
static inline und_vec3 und_solids_place(const und_mac *m, double x, double y, double z)
{
    return und_vec(und_mac_middle(m, 0, x), und_mac_middle(m, 1, y),
                   und_mac_middle(m, 2, m->n[2] > 1 ? z : 0));
}

/* The part of the face that the domain's sides leave open. */
float und_solids_side(const und_solids *s, int axis, int x);
/* The distance of one solid at a point, m, and its velocity there, m/s. */
double und_solids_distance_of(const und_solids *s, int solid, und_vec3 p);
und_vec3 und_solids_velocity_of(const und_solids *s, int solid, und_vec3 p);
/* What the distance d there, m, is where the solid goes on beyond the domain's closed sides. */
double und_solids_beyond_sides(const und_solids *s, int solid, und_vec3 p, double d);

/* Some distance to what is solid, m, at a point. */
typedef double und_solids_distance_fn(const void *context, und_vec3 p);
/* One such, exact unlike the fields: to the nearest of the solids that may reach a cell. */
typedef struct und_solids_around {
    const und_solids *solids;
    const int *cell;
} und_solids_around;
und_solids_distance_fn und_solids_nearest; /* of a und_solids_around */
/* Its gradient, by differences over `small` metres; flat: without z. */
und_vec3 und_solids_normal(und_solids_distance_fn *distance, const void *context, und_vec3 p, double small,
                           bool flat);
/* Moves a point that is in solid to the nearest place just outside; false where that is not found. */
bool und_solids_way_out(und_solids_distance_fn *distance, const void *context, const und_mac *m, und_vec3 *p);

/* The middle of the wall between the two, and which way its near side faces; false: all is on one side. */
bool und_solids_wall_middle(const und_solids *s, const int cell[3], und_vec3 *place, und_vec3 *out);

/* Whether a cell may be in a narrow gap between a solid that moves and another. */
bool und_solids_in_gap(const und_solids *s, const int cell[3]);

/* Cells: more than half a diagonal, so a cell there is all solid. */
#define UND_SOLIDS_DEEP -1.0f

/* The distance at a place in cells from the grid's corner, linear between the corners of cells. */
double und_solids_between_corners(const und_solids *s, const double place[3]);
/* Whether the solid beside a cell is so thin that the cell may have to do with its other side. */
bool und_solids_is_thin(const und_solids *s, const int cell[3]);
/* A bound of the speed of any point of a solid, m/s. */
double und_solids_speed_of(const und_solids *s, int solid, double time);
/* How far a solid goes in an interval from where it begins to where it ends, m: the furthest of its points.
 */
double und_solids_way_of(const und_solids *s, int solid, double time, double dt);

/* Meshes have their distances from a lattice over all that they reach: whether that is so; into the scratch;
 * and from there into a box. */
bool und_solids_on_lattice(const und_solids *s, int solid);
und_status und_solids_render(und_solids *s, int solid, und_error *err);
void und_solids_merge_rendered(und_solids *s, int solid, const und_cell_box *box);
/* Takes the shape of a deforming mesh at the end of the interval. */
und_status und_solids_deform(und_solids *s, int solid, und_error *err);
/* A place of the velocity that a deforming mesh has beside its motion's. */
und_vec3 und_solids_drift(const und_solids *s, int solid, size_t at);

/* Sets passed in the box, from distances. */
void und_solids_mark_passed(und_solids *s, int solid, const und_cell_box *box);
/* Sets thin and way_out in the box. */
void und_solids_find_thin(und_solids *s, const und_cell_box *box);
/* What follows from thin for rows and beside_thin. */
void und_solids_mark_sides(und_solids *s, const und_cell_box *box);
static inline bool und_solids_thin_row(const und_solids *s, int y, int z)
{
    return s->parts->thin_rows[(z + 1) * (s->mac.n[1] + 2) + y + 1];
}
/* Sets split and plain_room, from all the above. */
void und_solids_split(und_solids *s, const und_cell_box *box);
/* Which solid is between the places for which a cell at a thin wall and the next along the axis stand; -1:
 * none. */
int und_solids_between(const und_solids *s, const int cell[3], int axis);
/* Which solid the face between two cells near some moves with: that which passed one of them, or the nearer.
 */
int und_solids_mover(const und_solids *s, size_t at, size_t next);
/* Whether a cell that takes no part would be on the same side of thin walls as another that does. */
bool und_solids_side_of(const und_solids *s, const int cell[3], const int other[3]);
/* Whether nothing solid is between a place and that for which a cell stands; false of cells that take no
 * part.
 */
bool und_solids_sees(const und_solids *s, const int cell[3], und_vec3 place);
/* Where what was in the middle of a cell is, if the solid has taken it along. */
und_vec3 und_solids_carried(const und_solids *s, int solid, const int cell[3]);
/* Whether what went from one place to another (m) in the last move met a solid; *before: where, as that is
 * now.
 */
bool und_solids_hit(const und_solids *s, und_vec3 from, und_vec3 to, und_vec3 *before);
/* The nearest cell around a place that it sees, of those with room enough that are marked; false where there
 * is none. */
bool und_solids_find_side(const und_solids *s, und_vec3 place, const float *room, float enough,
                          const uint8_t *marked, size_t *found);
/* open, room and u of the cells in the box, from distances and thin walls. */
void und_solids_cut(und_solids *s, const und_cell_box *box);

#endif
