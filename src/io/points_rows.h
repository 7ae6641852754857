/* What the readers of particles share. */
#ifndef UND_IO_POINTS_ROWS_H
#define UND_IO_POINTS_ROWS_H

#include "io/points.h"

/* Columns beyond the numbers. */
enum { POINTS_FRAME = UND_POINT_NUMBERS, POINTS_ID, POINTS_COLUMNS };

extern const char *const und_points_columns[]; /* their names, ended by NULL */

/* Which columns a file has, as bits. */
void und_points_has(und_point_rows *rows, unsigned has);
bool und_points_is_id(double id);
/* A row of columns, of which those that the file has not are 0. */
und_status und_points_take(und_point_rows *rows, const char *path, const double column[POINTS_COLUMNS],
                           und_error *err);

/* A row's place in an index: `offset` and `line` are where it begins.  Frames are then put in order. */
und_status und_points_index_add(und_point_index *index, const char *path, double frame, int64_t offset,
                                int line, und_error *err);

/* points_csv.c: all rows; their index; those of runs alone. */
und_status und_csv_read(const char *path, und_point_rows *rows, und_error *err);
und_status und_csv_index(const char *path, und_point_index *index, und_error *err);
und_status und_csv_read_runs(const char *path, const und_point_run *runs, int count, und_point_rows *rows,
                             und_error *err);

#endif
