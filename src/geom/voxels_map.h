/* Text maps of voxels, such as a voxel editor writes: one character a voxel. */
#ifndef UND_GEOM_VOXELS_MAP_H
#define UND_GEOM_VOXELS_MAP_H

#include <undine/types.h>

typedef struct und_voxel_map {
    int n[3];
    char *what; /* [z][y][x], malloc'ed */
} und_voxel_map;

/* The first line is "nx ny nz"; then come ny layers of nz rows, back to front, of nx printable characters;
 * empty lines may stand between layers.  Layers go from the bottom up, or from the top down.
 * UND_INVALID with file and line where the text is anything else; the map then holds nothing. */
und_status und_voxel_map_parse(const char *path, const char *text, size_t size, bool top_first,
                               und_voxel_map *map, und_error *err);
und_status und_voxel_map_read(const char *path, bool top_first, und_voxel_map *map, und_error *err);

#endif
