#include "io/points.h"

#include "base/status.h"
#include "geom/trimesh_file.h"
#include "io/points_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *const und_points_columns[] = {"x",  "y",      "z",        "vx",    "vy",    "vz", "nx", "ny",
                                          "nz", "radius", "strength", "value", "frame", "id", NULL};

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

und_status und_points_take(und_point_rows *rows, const char *path, const double column[POINTS_COLUMNS],
                           und_error *err)
{
    float *row = und_points_add(rows, path, err);
    if (!row)
        return err->status;
    for (int i = 0; i < UND_POINT_NUMBERS; i++)
        row[i] = (float)column[i];
    if (rows->has_frame)
        rows->frame[rows->count - 1] = column[POINTS_FRAME];
    if (rows->has_id)
        rows->id[rows->count - 1] = (int32_t)column[POINTS_ID];
    return UND_OK;
}

bool und_points_is_id(double id)
{
    return id >= INT32_MIN && id <= INT32_MAX && id == floor(id);
}

void und_points_has(und_point_rows *rows, unsigned has)
{
    rows->has = has & ((1U << UND_POINT_NUMBERS) - 1);
    rows->has_frame = has >> POINTS_FRAME & 1;
    rows->has_id = has >> POINTS_ID & 1;
}

/* ---- PLY ---- */

typedef struct ply_taker {
    und_point_rows *rows;
    und_point_index *index; /* instead */
    const double *frame;    /* only its rows; NULL: all */
    int vertex;
} ply_taker;

static und_status take_row(und_mesh_text *text, const double *row)
{
    ply_taker *taker = text->taker;
    und_point_rows *rows = taker->rows;
    taker->vertex++;
    und_points_has(rows, text->has);
    if (taker->frame && !(rows->has_frame && row[POINTS_FRAME] == *taker->frame))
        return UND_OK;
    if (rows->has_id && !und_points_is_id(row[POINTS_ID]))
        return und_error_set(text->err, UND_INVALID,
                             "%s: vertex %d: expected a whole number as its id, found %g", text->path,
                             taker->vertex, row[POINTS_ID]);
    for (int i = 0; i < UND_POINT_NUMBERS; i++)
        if (!isfinite((float)row[i]))
            return und_error_set(text->err, UND_INVALID,
                                 "%s: vertex %d: expected a number that a float holds, found %g", text->path,
                                 taker->vertex, row[i]);
    return und_points_take(rows, text->path, row, text->err);
}

static und_status take_place(und_mesh_text *text, const double *row)
{
    ply_taker *taker = text->taker;
    taker->index->has_frame = text->has >> POINTS_FRAME & 1;
    if (!taker->index->has_frame)
        return UND_STOPPED; /* that is known now */
    return und_points_index_add(taker->index, text->path, row[POINTS_FRAME], 0, 0, text->err);
}

static und_status read_ply(const char *path, ply_taker *taker, und_error *err)
{
    und_mesh_text text = {
        .column = und_points_columns, .take = taker->index ? take_place : take_row, .taker = taker};
    und_status status = und_mesh_rows(&text, path, err);
    und_mesh_free(&text);
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

typedef enum file_kind { CSV, PLY, VDB, NO_KIND } file_kind;

static file_kind kind_of(const char *path)
{
    static const char *const endings[] = {".csv", ".ply", ".vdb"};
    const char *dot = strrchr(path, '.');
    int kind = 0;
    while (kind < NO_KIND && !(dot && strcasecmp(dot, endings[kind]) == 0))
        kind++;
    return (file_kind)kind;
}

static und_status not_known(const char *path, und_error *err)
{
    return und_error_set(err, UND_INVALID, "%s: expected a name that ends with .csv, .ply or .vdb", path);
}

und_status und_points_read(const char *path, const char *grid, und_point_rows *rows, und_error *err)
{
    *rows = (und_point_rows){0};
    und_status status = UND_OK;
    switch (kind_of(path)) {
    case CSV:
        status = und_csv_read(path, rows, err);
        break;
    case PLY:
        status = read_ply(path, &(ply_taker){.rows = rows}, err);
        break;
    case VDB:
        status = und_vdb_read_points(path, grid, rows, err);
        break;
    case NO_KIND:
        return not_known(path, err);
    }
    return status == UND_OK ? check_rows(rows, path, err) : status;
}

/* ---- Frames ---- */

und_status und_points_index_add(und_point_index *index, const char *path, double frame, int64_t offset,
                                int line, und_error *err)
{
    und_point_run *last = index->run_count > 0 ? &index->run[index->run_count - 1] : NULL;
    if (last && last->frame == frame && last->rows < UND_POINT_ROWS_MAX) {
        last->rows++;
        return UND_OK;
    }
    if (index->run_count == index->run_room) {
        const int room = index->run_room == 0 ? 256 : 2 * index->run_room;
        und_point_run *run =
            room <= UND_POINT_RUNS_MAX ? realloc(index->run, (size_t)room * sizeof *run) : NULL;
        if (!run)
            return und_error_set(err, UND_INVALID,
                                 "%s: its rows go from one frame to another more than %d times: expected the "
                                 "rows of a frame after each other",
                                 path, index->run_room);
        index->run = run;
        index->run_room = room;
    }
    index->run[index->run_count++] = (und_point_run){frame, offset, line, 1};
    return UND_OK;
}

typedef struct run_place {
    und_point_run run;
    int before;
} run_place;

static int compare_runs(const void *left, const void *right)
{
    const run_place *a = left, *b = right;
    if (a->run.frame != b->run.frame)
        return a->run.frame < b->run.frame ? -1 : 1;
    return a->before < b->before ? -1 : a->before > b->before;
}

static und_status sort_index(und_point_index *index, const char *path, und_error *err)
{
    const size_t n = (size_t)index->run_count;
    if (n == 0)
        return UND_OK;
    run_place *order = und_alloc(n, sizeof *order, path, err);
    if (!order)
        return err->status;
    for (int i = 0; i < index->run_count; i++)
        order[i] = (run_place){index->run[i], i};
    qsort(order, n, sizeof *order, compare_runs);
    for (int i = 0; i < index->run_count; i++) {
        index->run[i] = order[i].run;
        index->count += i == 0 || order[i].run.frame != order[i - 1].run.frame;
    }
    free(order);
    index->span = und_alloc((size_t)index->count, sizeof *index->span, path, err);
    if (!index->span)
        return err->status;
    for (int i = 0, k = -1; i < index->run_count; i++) {
        const und_point_run *run = &index->run[i];
        if (i == 0 || run->frame != run[-1].frame)
            index->span[++k] = (struct und_point_span){.frame = run->frame, .first = i};
        if (run->rows > UND_POINT_ROWS_MAX - index->span[k].rows)
            return und_error_set(err, UND_INVALID, "%s: more than %d particles in frame %g", path,
                                 (int)UND_POINT_ROWS_MAX, run->frame);
        index->span[k].runs++;
        index->span[k].rows += run->rows;
    }
    return UND_OK;
}

und_status und_points_index(const char *path, und_point_index *index, und_error *err)
{
    *index = (und_point_index){0};
    und_status status = UND_OK;
    const file_kind kind = kind_of(path);
    und_point_rows rows = {0};
    if (kind == NO_KIND)
        return not_known(path, err);
    if (kind == CSV)
        status = und_csv_index(path, index, err);
    else if (kind == PLY)
        status = read_ply(path, &(ply_taker){.rows = &rows, .index = index}, err);
    if (status != UND_OK && status != UND_STOPPED)
        return status;
    if (index->has_frame && index->run_count == 0)
        return und_error_set(err, UND_INVALID, "%s: there are no particles in it", path);
    return sort_index(index, path, err);
}

void und_points_index_free(und_point_index *index)
{
    free(index->span);
    free(index->run);
    *index = (und_point_index){0};
}

und_status und_points_read_frame(const char *path, const char *grid, const und_point_index *index, int which,
                                 und_point_rows *rows, und_error *err)
{
    if (!index->has_frame)
        return und_points_read(path, grid, rows, err);
    const struct und_point_span *span = &index->span[which];
    *rows = (und_point_rows){0};
    und_status status = kind_of(path) == CSV
                            ? und_csv_read_runs(path, index->run + span->first, span->runs, rows, err)
                            : read_ply(path, &(ply_taker){.rows = rows, .frame = &span->frame}, err);
    return status == UND_OK ? check_rows(rows, path, err) : status;
}
