/* ledger.csv: one line per frame, appended. */
#ifndef UND_CACHE_ROWS_H
#define UND_CACHE_ROWS_H

#include "cache/cache.h"

typedef struct cache_rows {
    int count, capacity;
    und_cache_row *row;
    size_t *end;    /* bytes of the file up to and with each row */
    uint64_t *hash; /* of the rows up to and with each */
    bool torn;      /* a line at the end was cut short, or is no row */
    bool lost;      /* the file is not there: these were made of what the frames say */
} cache_rows;

enum { ROW_MAX = 512 }; /* bytes of a line */

double und_rows_expected(const und_ledger *ledger); /* what the measured volume should be */

/* The whole file, with the rows known. */
und_status und_rows_write(const char *path, const cache_rows *rows, und_error *err);
/* Reads as many rows as are whole. */
und_status und_rows_read(const char *path, cache_rows *rows, und_error *err);
/* Adds a row after those known, over whatever a crash left there; not synced. */
und_status und_rows_append(const char *path, cache_rows *rows, const und_cache_row *row, und_error *err);
/* Forgets all but the first `count` rows, in memory. */
void und_rows_keep(cache_rows *rows, int count);
/* Cuts the file after the rows known. */
und_status und_rows_trim(const char *path, const cache_rows *rows, und_error *err);
/* Adds a row after those known, in memory. */
und_status und_rows_add(cache_rows *rows, const und_cache_row *row, und_error *err);
/* What a frame's file says of its own row: all but the file's hash. */
void und_row_print(const und_cache_row *row, char line[ROW_MAX]);
bool und_row_scan(const char *line, und_cache_row *row);
void und_rows_clear(cache_rows *rows);

#endif
