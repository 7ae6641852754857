/* Particles from CSV: read line by line, so that a file may be larger than memory. */
#include "base/status.h"
#include "io/points_rows.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct csv {
    const char *path;
    FILE *file;
    char *text; /* of the line at hand */
    size_t room;
    const char *at, *end;
    int64_t offset, next; /* where the line and the one after it begin, bytes */
    int line;
    int column[64], columns; /* of each field, -1: not ours */
    unsigned has;
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
        ssize_t bytes = getline(&c->text, &c->room, c->file);
        if (bytes < 0)
            return false;
        c->line++;
        c->offset = c->next;
        c->next += bytes;
        c->at = c->text;
        c->end = c->text + bytes;
        skip_blanks(c);
        if (!at_end(c) && *c->at != '#')
            return true;
    }
}

static und_status read_head(csv *c, und_error *err)
{
    enum { MOST = sizeof c->column / sizeof *c->column };
    if (!next_line(c))
        return und_error_set(err, UND_INVALID, "%s:%d: expected a line that names the columns, found nothing",
                             c->path, c->line + (c->line == 0));
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
        for (int i = 0; i < POINTS_COLUMNS; i++)
            if (strlen(und_points_columns[i]) == (size_t)(to - from) &&
                strncasecmp(und_points_columns[i], from, (size_t)(to - from)) == 0)
                which = i;
        if (which >= 0 && c->has >> which & 1)
            return und_error_set(err, UND_INVALID, "%s:%d: there are two columns %s", c->path, c->line,
                                 und_points_columns[which]);
        c->column[c->columns++] = which;
        c->has |= which >= 0 ? 1U << which : 0;
        more = !at_end(c);
        c->at += more;
    }
    if ((c->has & 7) != 7)
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
    double column[POINTS_COLUMNS] = {0}, number;
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
    if (rows->has_id && !und_points_is_id(column[POINTS_ID]))
        return und_error_set(err, UND_INVALID, "%s:%d: expected a whole number as its id, found %g", c->path,
                             c->line, column[POINTS_ID]);
    return und_points_take(rows, c->path, column, err);
}

static und_status open_csv(csv *c, const char *path, und_error *err)
{
    *c = (csv){.path = path, .file = fopen(path, "rb")};
    if (!c->file)
        return und_error_set(err, UND_FAILED, "cannot open %s: %s", path, strerror(errno));
    return read_head(c, err);
}

/* What is read is all there is, unless reading failed. */
static und_status close_csv(csv *c, und_status status, und_error *err)
{
    if (c->file && ferror(c->file) && status == UND_OK)
        status = und_error_set(err, UND_FAILED, "cannot read %s: %s", c->path, strerror(EIO));
    if (c->file)
        fclose(c->file);
    free(c->text);
    return status;
}

und_status und_csv_read(const char *path, und_point_rows *rows, und_error *err)
{
    csv c;
    und_status status = open_csv(&c, path, err);
    und_points_has(rows, c.has);
    while (status == UND_OK && next_line(&c))
        status = read_line(&c, rows, err);
    return close_csv(&c, status, err);
}

/* The number of the frame alone. */
static und_status read_frame(csv *c, double *frame, und_error *err)
{
    for (int i = 0; c->column[i] != POINTS_FRAME; i++) {
        const char *comma = memchr(c->at, ',', (size_t)(c->end - c->at));
        if (!comma)
            return und_error_set(err, UND_INVALID, "%s:%d: expected %d numbers, found fewer", c->path,
                                 c->line, c->columns);
        c->at = comma + 1;
    }
    return read_field(c, frame, err);
}

und_status und_csv_index(const char *path, und_point_index *index, und_error *err)
{
    csv c;
    double frame;
    und_status status = open_csv(&c, path, err);
    index->has_frame = c.has >> POINTS_FRAME & 1;
    while (status == UND_OK && index->has_frame && next_line(&c)) {
        status = read_frame(&c, &frame, err);
        if (status == UND_OK)
            status = und_points_index_add(index, path, frame, c.offset, c.line, err);
    }
    return close_csv(&c, status, err);
}

static und_status read_run(csv *c, const und_point_run *run, und_point_rows *rows, und_error *err)
{
    if (fseeko(c->file, run->offset, SEEK_SET) != 0)
        return und_error_set(err, UND_FAILED, "cannot read %s: %s", c->path, strerror(errno));
    c->line = run->line - 1;
    for (int i = 0; i < run->rows; i++) {
        if (!next_line(c))
            return und_error_set(err, UND_INVALID,
                                 "%s:%d: expected more of frame %g, found the end of the file", c->path,
                                 c->line, run->frame);
        if (read_line(c, rows, err) != UND_OK)
            return err->status;
        if (!rows->has_frame || rows->frame[rows->count - 1] != run->frame)
            return und_error_set(err, UND_INVALID, "%s:%d: expected a row of frame %g, found another",
                                 c->path, c->line, run->frame);
    }
    return UND_OK;
}

und_status und_csv_read_runs(const char *path, const und_point_run *runs, int count, und_point_rows *rows,
                             und_error *err)
{
    csv c;
    und_status status = open_csv(&c, path, err);
    und_points_has(rows, c.has);
    for (int i = 0; i < count && status == UND_OK; i++)
        status = read_run(&c, &runs[i], rows, err);
    return close_csv(&c, status, err);
}
