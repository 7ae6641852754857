/* What the files of the elements share. */
#ifndef UND_CONTROL_ELEMENTS_STATE_H
#define UND_CONTROL_ELEMENTS_STATE_H

#include "control/elements.h"
#include "geom/motion.h"

/* Cells from low on, n along each axis; those beside the domain may be among them. */
typedef struct cell_box {
    int low[3], n[3];
} cell_box;

typedef struct element {
    und_element_def def;
    const und_field_kind *kind;
    void *made; /* by the kind's prepare, to be released; or NULL */
    const void *ready;
    bool active, serial;
    und_value now[3], alpha; /* the values; those that are the same everywhere have been asked */

    /* The region: signed distance to the shape, in cells, at the middles of the cells of the box. */
    float *inside; /* NULL: everywhere */
    cell_box box;
    size_t room;     /* values that inside[] has room for */
    und_pose pose;   /* for which inside[] was made */
    int margin;      /* cells of the box around the shape's bounds; 0: not made yet */
    float edge;      /* cells: sources hold cells that are nearer to the shape than this */
    float *given[3]; /* sources: the velocity of high faces, where a cell beside them is held */
    double area;     /* sources: m2 that the flow sees, at the pose `rated`, `along` that way */
    double volume;   /* m3, as that */
    und_pose rated;
    und_vec3 along;
    bool has_area;
} element;

struct und_elements {
    und_mac mac;
    int threads, count;
    double time; /* of what is rendered */
    element *list;
    und_mask held, drained; /* cells of sources and drains */
    bool any_held, any_drained, hold_thin;
};

enum { ELEMENT_MARGIN = 8, ELEMENT_PART = 128 }; /* cells around a source that it shapes; faces at a time */

static inline size_t cell_box_at(const cell_box *b, int x, int y, int z)
{
    return ((size_t)(z - b->low[2]) * (size_t)b->n[1] + (size_t)(y - b->low[1])) * (size_t)b->n[0] +
           (size_t)(x - b->low[0]);
}

/* The cells that a box in metres touches, and `margin` around them, as far as the grid has them; none: a
 * length of 0. */
cell_box und_element_box(const und_mac *mac, const double low[3], const double high[3], int margin);

/* The bounds of a shape in the world. */
void und_element_bounds(const und_shape *shape, const und_pose *pose, double low[3], double high[3]);

/* Renders the velocity of a source whose cells are held. */
void und_element_give(const und_elements *e, element *one);

/* The field along the axis on `count` high faces from (x, y, z) on, ELEMENT_PART at most. */
void und_element_row(const und_elements *e, const element *one, int axis, int x, int y, int z, int count,
                     float *out);

#endif
