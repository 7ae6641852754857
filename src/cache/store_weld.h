/* Loose triangles as shared vertices: each vertex is stored once, and the triangles' corners name them. Items
 * "NAME/mesh_position", "NAME/mesh_normal" and so on of a frame belong together: corners are the same vertex
 * where all of them have the same bits, so that a reader gets back what was written. */
#ifndef UND_CACHE_STORE_WELD_H
#define UND_CACHE_STORE_WELD_H

#include "grid/frame.h"

typedef struct store_weld {
    char prefix[40]; /* "liquid/mesh_" */
    bool is_static;
    size_t corners, vertices;
    int32_t *index;  /* [corners]: its vertex */
    int32_t *corner; /* [vertices]: the first that it is */
} store_weld;

/* Welds the mesh that a position item belongs to.  False: the item is none, it is small, little is saved, or
 * memory ran out: it is stored as it is. */
bool und_weld_make(const und_frame *frame, const und_item *position, store_weld *weld);
void und_weld_free(store_weld *weld);

/* Is the item one of the mesh's? */
bool und_weld_has(const store_weld *weld, const und_item *item);
/* The rows of an item for the vertices, malloc'ed; NULL where memory ran out. */
void *und_weld_gather(const store_weld *weld, const und_item *item);

/* Is it an item that may be stored welded, and what is the list of its corners' vertices called? */
bool und_weld_index_name(const char *item, char name[48]);

#endif
