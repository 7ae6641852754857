#include "io/points.h"

#include "base/file.h"
#include "base/status.h"
#include "geom/trimesh_file.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Columns beyond the numbers. */
enum { FRAME = UND_POINT_NUMBERS, ID, COLUMNS };

static const char *const names[] = {"x",  "y",      "z",        "vx",    "vy",    "vz", "nx", "ny",
                                    "nz", "radius", "strength", "value", "frame", "id", NULL};

static const size_t FILE_MAX = (size_t)1 << 31; /* bytes of text */

float *und_points_add(und_point_rows *rows, const char *path, und_error *err)
{
    if (rows->count == rows->room) {
        int room = rows->room == 0                       ? 4096
                   : rows->room > UND_POINT_ROWS_MAX / 2 ? UND_POINT_ROWS_MAX
                                                         : 2 * rows->room;
        size_t n = (size_t)room;
        void *number = room > rows->room ? realloc(rows->number, n * sizeof *rows->number) : NULL;
        rows->number = number ? number : rows->number;
        void *frame = number ? realloc(rows->frame, n * sizeof *rows->frame) : NULL;
        rows->frame = frame ? frame : rows->frame;
        void *id = frame ? realloc(rows->id, n * sizeof *rows->id) : NULL;
        rows->id = id ? id : rows->id;
        if (!id) {
            und_error_set(err, UND_INVALID, "%s: more than %d particles, or no memory for them", path,
                          (int)UND_POINT_ROWS_MAX);
            return NULL;
        }
        rows->room = room;
    }
    float *row = rows->number[rows->count];
    memset(row, 0, sizeof *rows->number);
    rows->frame[rows->count] = 0;
    rows->id[rows->count] = rows->count;
    rows->count++;
    return row;
}

void und_points_free(und_point_rows *rows)
{
    free(rows->number);
    free(rows->frame);
    free(rows->id);
    *rows = (und_point_rows){0};
}

/* A row of columns, of which those that the file has not are 0. */
static und_status take_columns(und_point_rows *rows, const char *path, const double column[COLUMNS],
                               und_error *err)
{
    float *row = und_points_add(rows, path, err);
    if (!row)
        return err->status;
    for (int i = 0; i < UND_POINT_NUMBERS; i++)
        row[i] = (float)column[i];
    if (rows->has_frame)
        rows->frame[rows->count - 1] = column[FRAME];
    if (rows->has_id)
        rows->id[rows->count - 1] = (int32_t)column[ID];
    return UND_OK;
}

static bool is_id(double id)
{
    return id >= INT32_MIN && id <= INT32_MAX && id == floor(id);
}

static void set_has(und_point_rows *rows, unsigned has)
{
    rows->has = has & ((1U << UND_POINT_NUMBERS) - 1);
    rows->has_frame = has >> FRAME & 1;
    rows->has_id = has >> ID & 1;
}

/* ---- PLY ---- */

static und_status take_row(und_mesh_text *text, const double *row)
{
    und_point_rows *rows = text->taker;
    set_has(rows, text->has);
    if (rows->has_id && !is_id(row[ID]))
        return und_error_set(text->err, UND_INVALID,
                             "%s: vertex %d: expected a whole number as its id, found %g", text->path,
                             rows->count + 1, row[ID]);
    for (int i = 0; i < UND_POINT_NUMBERS; i++)
        if (!isfinite((float)row[i]))
            return und_error_set(text->err, UND_INVALID,
                                 "%s: vertex %d: expected a number that a float holds, found %g", text->path,
                                 rows->count + 1, row[i]);
    return take_columns(rows, text->path, row, text->err);
}

static und_status read_ply(const char *path, und_point_rows *rows, und_error *err)
{
    und_mesh_text text = {.column = names, .take = take_row, .taker = rows};
    und_status status = und_mesh_rows(&text, path, err);
    und_mesh_free(&text);
    return status;
}

/* ---- CSV ---- */

typedef struct csv {
    const char *path, *at, *end;
    int line;
    int column[64], columns; /* of each field, -1: not ours */
} csv;

static bool at_end(const csv *c)
{
    return c->at >= c->end || *c->at == '\n' || *c->at == '\r';
}

static void skip_blanks(csv *c)
{
    while (!at_end(c) && (*c->at == ' ' || *c->at == '\t'))
        c->at++;
}

/* To the next line that is not empty nor a comment; false at the end. */
static bool next_line(csv *c)
{
    for (;;) {
        skip_blanks(c);
        if (c->at >= c->end)
            return false;
        if (*c->at != '#' && !at_end(c))
            return true;
        while (c->at < c->end && *c->at != '\n')
            c->at++;
        c->at += c->at < c->end;
        c->line++;
    }
}

static und_status read_head(csv *c, unsigned *has, und_error *err)
{
    enum { MOST = sizeof c->column / sizeof *c->column };
    if (!next_line(c))
        return und_error_set(err, UND_INVALID, "%s:%d: expected a line that names the columns, found nothing",
                             c->path, c->line);
    for (bool more = true; more;) {
        skip_blanks(c);
        const char *from = c->at;
        while (!at_end(c) && *c->at != ',')
            c->at++;
        const char *to = c->at;
        while (to > from && (to[-1] == ' ' || to[-1] == '\t' || to[-1] == '"'))
            to--;
        from += from < to && *from == '"';
        if (c->columns == MOST)
            return und_error_set(err, UND_INVALID, "%s:%d: more than %d columns", c->path, c->line, MOST);
        int which = -1;
        for (int i = 0; i < COLUMNS; i++)
            if (strlen(names[i]) == (size_t)(to - from) &&
                strncasecmp(names[i], from, (size_t)(to - from)) == 0)
                which = i;
        if (which >= 0 && *has >> which & 1)
            return und_error_set(err, UND_INVALID, "%s:%d: there are two columns %s", c->path, c->line,
                                 names[which]);
        c->column[c->columns++] = which;
        *has |= which >= 0 ? 1U << which : 0;
        more = !at_end(c);
        c->at += more;
    }
    if ((*has & 7) != 7)
        return und_error_set(err, UND_INVALID,
                             "%s:%d: expected columns x, y and z among the first line's names", c->path,
                             c->line);
    return UND_OK;
}

static und_status read_field(csv *c, double *out, und_error *err)
{
    char *stop, found[32];
    skip_blanks(c);
    *out = strtod(c->at, &stop);
    bool good = stop > c->at && !at_end(c);
    size_t length = 0;
    for (const char *p = c->at;
         length < sizeof found - 1 && p < c->end && isgraph((unsigned char)*p) && *p != ','; p++)
        found[length++] = *p;
    found[length] = '\0';
    c->at = good ? stop : c->at;
    skip_blanks(c);
    if (!good || !(at_end(c) || *c->at == ',') || !isfinite((float)*out))
        return und_error_set(err, UND_INVALID, "%s:%d: expected a number, found \"%s\"", c->path, c->line,
                             found);
    return UND_OK;
}

static und_status read_line(csv *c, und_point_rows *rows, und_error *err)
{
    double column[COLUMNS] = {0}, number;
    for (int i = 0; i < c->columns; i++) {
        if (c->column[i] >= 0) {
            if (read_field(c, &number, err) != UND_OK)
                return err->status;
            column[c->column[i]] = number;
        } else
            while (!at_end(c) && *c->at != ',')
                c->at++;
        if (i + 1 < c->columns ? at_end(c) || *c->at != ',' : !at_end(c))
            return und_error_set(err, UND_INVALID, "%s:%d: expected %d numbers, found %s", c->path, c->line,
                                 c->columns, i + 1 < c->columns ? "fewer" : "more");
        c->at += i + 1 < c->columns;
    }
    if (rows->has_id && !is_id(column[ID]))
        return und_error_set(err, UND_INVALID, "%s:%d: expected a whole number as its id, found %g", c->path,
                             c->line, column[ID]);
    return take_columns(rows, c->path, column, err);
}

static und_status read_csv(const char *path, und_point_rows *rows, und_error *err)
{
    char *data;
    size_t bytes;
    unsigned has = 0;
    und_status status = und_file_read(path, FILE_MAX, &data, &bytes, err);
    if (status != UND_OK)
        return status;
    csv c = {.path = path, .at = data, .end = data + bytes, .line = 1};
    status = read_head(&c, &has, err);
    set_has(rows, has);
    while (status == UND_OK && next_line(&c))
        status = read_line(&c, rows, err);
    free(data);
    return status;
}

/* ---- Order ---- */

typedef struct place {
    double frame;
    int32_t id, row;
} place;

static int compare_places(const void *left, const void *right)
{
    const place *a = left, *b = right;
    if (a->frame != b->frame)
        return a->frame < b->frame ? -1 : 1;
    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

static bool in_order(const und_point_rows *rows)
{
    for (int i = 1; i < rows->count; i++)
        if (rows->frame[i] < rows->frame[i - 1] ||
            (rows->frame[i] == rows->frame[i - 1] && rows->id[i] <= rows->id[i - 1]))
            return false;
    return true;
}

static und_status sort_rows(und_point_rows *rows, const char *path, und_error *err)
{
    if (in_order(rows))
        return UND_OK;
    size_t n = (size_t)rows->count;
    place *order = und_alloc(n, sizeof *order, path, err);
    float(*number)[UND_POINT_NUMBERS] = order ? und_alloc(n, sizeof *number, path, err) : NULL;
    if (!number) {
        free(order);
        return err->status;
    }
    for (int i = 0; i < rows->count; i++)
        order[i] = (place){rows->frame[i], rows->id[i], i};
    qsort(order, n, sizeof *order, compare_places);
    for (int i = 0; i < rows->count; i++) {
        memcpy(number[i], rows->number[order[i].row], sizeof *number);
        rows->frame[i] = order[i].frame;
        rows->id[i] = order[i].id;
    }
    free(rows->number);
    free(order);
    rows->number = number;
    rows->room = rows->count;
    return UND_OK;
}

static und_status check_rows(und_point_rows *rows, const char *path, und_error *err)
{
    if (rows->count == 0)
        return und_error_set(err, UND_INVALID, "%s: there are no particles in it", path);
    if (sort_rows(rows, path, err) != UND_OK)
        return err->status;
    int place_in_frame = 0;
    for (int i = 0; i < rows->count; i++) {
        bool same = i > 0 && rows->frame[i] == rows->frame[i - 1];
        if (same && rows->has_id && rows->id[i] == rows->id[i - 1])
            return und_error_set(err, UND_INVALID, "%s: particle %d is in frame %g twice", path,
                                 (int)rows->id[i], rows->frame[i]);
        place_in_frame = same ? place_in_frame + 1 : 0;
        if (!rows->has_id)
            rows->id[i] = place_in_frame;
    }
    return UND_OK;
}

und_status und_points_read(const char *path, const char *grid, und_point_rows *rows, und_error *err)
{
    const char *dot = strrchr(path, '.');
    *rows = (und_point_rows){0};
    und_status status;
    if (dot && strcasecmp(dot, ".csv") == 0)
        status = read_csv(path, rows, err);
    else if (dot && strcasecmp(dot, ".ply") == 0)
        status = read_ply(path, rows, err);
    else if (dot && strcasecmp(dot, ".vdb") == 0)
        status = und_vdb_read_points(path, grid, rows, err);
    else
        status =
            und_error_set(err, UND_INVALID, "%s: expected a name that ends with .csv, .ply or .vdb", path);
    return status == UND_OK ? check_rows(rows, path, err) : status;
}
