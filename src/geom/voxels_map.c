#include "geom/voxels_map.h"

#include "base/file.h"
#include "base/status.h"
#include "geom/voxels.h"

#include <stdlib.h>
#include <string.h>

enum { FILE_BYTES = 1 << 26 };

/* Goes through the text line by line. */
typedef struct lines {
    const char *path;
    const char *at, *end;
    int number; /* of the line at hand; 0: before the first */
    const char *line;
    size_t length; /* of it, without its end */
    und_error *err;
} lines;

static bool next_line(lines *l)
{
    if (l->at >= l->end)
        return false;
    const char *stop = memchr(l->at, '\n', (size_t)(l->end - l->at));
    l->line = l->at;
    l->length = (size_t)((stop ? stop : l->end) - l->at);
    l->at = stop ? stop + 1 : l->end;
    l->length -= l->length > 0 && l->line[l->length - 1] == '\r';
    l->number++;
    return true;
}

static bool next_written_line(lines *l)
{
    bool found;
    while ((found = next_line(l)) && l->length == 0)
        ;
    return found;
}

static und_status read_header(lines *l, int n[3])
{
    static const char what[] = "the numbers of voxels along x, y and z, \"nx ny nz\"";
    if (!next_line(l))
        return und_error_set(l->err, UND_INVALID, "%s: expected %s, found an empty file", l->path, what);
    size_t at = 0;
    for (int i = 0; i < 3; i++) {
        long number = 0;
        while (at < l->length && (l->line[at] == ' ' || l->line[at] == '\t'))
            at++;
        size_t begin = at;
        for (; at < l->length && l->line[at] >= '0' && l->line[at] <= '9' && number <= UND_VOXELS_SIDE; at++)
            number = 10 * number + (l->line[at] - '0');
        if (at == begin)
            return und_error_set(l->err, UND_INVALID, "%s:%d: expected %s", l->path, l->number, what);
        if (number < 1 || number > UND_VOXELS_SIDE)
            return und_error_set(l->err, UND_INVALID, "%s:%d: expected numbers of voxels from 1 to %d",
                                 l->path, l->number, (int)UND_VOXELS_SIDE);
        n[i] = (int)number;
    }
    while (at < l->length && (l->line[at] == ' ' || l->line[at] == '\t'))
        at++;
    if (at != l->length)
        return und_error_set(l->err, UND_INVALID, "%s:%d: expected %s and nothing more", l->path, l->number,
                             what);
    if ((double)n[0] * n[1] * n[2] > UND_VOXELS_MAX)
        return und_error_set(l->err, UND_INVALID, "%s:%d: expected at most %d voxels, found %d x %d x %d",
                             l->path, l->number, (int)UND_VOXELS_MAX, n[0], n[1], n[2]);
    return UND_OK;
}

static und_status read_row(lines *l, int layer, int row, const int n[3], char *to)
{
    if (!(row == 0 ? next_written_line(l) : next_line(l)))
        return und_error_set(l->err, UND_INVALID,
                             "%s:%d: the map ends in layer %d of %d, before row %d of %d", l->path, l->number,
                             layer + 1, n[1], row + 1, n[2]);
    if (l->length != (size_t)n[0])
        return und_error_set(l->err, UND_INVALID,
                             "%s:%d: expected a row of %d characters (layer %d, row %d), found %zu", l->path,
                             l->number, n[0], layer + 1, row + 1, l->length);
    for (size_t i = 0; i < l->length; i++) {
        unsigned char c = (unsigned char)l->line[i];
        if (c < ' ' || c > '~')
            return und_error_set(l->err, UND_INVALID,
                                 "%s:%d: expected printable characters, found byte %u in column %zu", l->path,
                                 l->number, c, i + 1);
    }
    memcpy(to, l->line, l->length);
    return UND_OK;
}

und_status und_voxel_map_parse(const char *path, const char *text, size_t size, bool top_first,
                               und_voxel_map *map, und_error *err)
{
    lines l = {.path = path, .at = text, .end = text + size, .err = err};
    *map = (und_voxel_map){0};
    int *n = map->n;
    und_status status = read_header(&l, n);
    if (status == UND_OK && (size_t)n[0] * (size_t)n[1] * (size_t)n[2] > size)
        status = und_error_set(err, UND_INVALID, "%s:%d: %d x %d x %d voxels do not fit into the file", path,
                               l.number, n[0], n[1], n[2]);
    if (status == UND_OK &&
        !(map->what = und_alloc((size_t)n[0] * (size_t)n[1] * (size_t)n[2], 1, path, err)))
        status = UND_FAILED;
    for (int layer = 0; status == UND_OK && layer < n[1]; layer++) {
        int y = top_first ? n[1] - 1 - layer : layer;
        for (int z = 0; status == UND_OK && z < n[2]; z++)
            status =
                read_row(&l, layer, z, n, map->what + ((size_t)z * (size_t)n[1] + (size_t)y) * (size_t)n[0]);
    }
    if (status == UND_OK && next_written_line(&l))
        status = und_error_set(err, UND_INVALID, "%s:%d: expected nothing after the last of %d layers", path,
                               l.number, n[1]);
    if (status != UND_OK) {
        free(map->what);
        *map = (und_voxel_map){0};
    }
    return status;
}

und_status und_voxel_map_read(const char *path, bool top_first, und_voxel_map *map, und_error *err)
{
    char *text = NULL;
    size_t size = 0;
    *map = (und_voxel_map){0};
    und_status status = und_file_read(path, FILE_BYTES, &text, &size, err);
    if (status == UND_OK)
        status = und_voxel_map_parse(path, text, size, top_first, map, err);
    free(text);
    return status;
}
