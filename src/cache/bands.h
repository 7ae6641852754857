/* What a grid keeps for those further down the flow: one record for each of its substeps, appended to a file.
 *
 * A record has its length, time and hash, so that a reader, which may be on another machine, sees none that
 * is not whole, however the writer ended. */
#ifndef UND_CACHE_BANDS_H
#define UND_CACHE_BANDS_H

#include <undine/bands.h>

/* Which cells the records are of: what a reader expects is what the writer must have had. */
typedef struct bands_grid {
    int n[3];
    double dx, origin[3];
    bool open[UND_SIDES], heat, volume;
} bands_grid;

typedef struct bands_writer bands_writer;

/* Begins the file, or opens the one that is there to go on with. */
bands_writer *und_bands_writer_open(const char *folder, const bands_grid *grid, bool begin, und_error *err);
/* A und_band_sink's put: drops what the file has from this record on. */
und_status und_bands_put(void *writer, long index, double time, const float *values, und_error *err);
/* On disk, whatever happens: before a state is kept that has them behind it. */
und_status und_bands_sync(bands_writer *writer, und_error *err);
void und_bands_writer_close(bands_writer *writer);

/* The records of another cache, to go on with in a branch. */
und_status und_bands_copy(const char *from, const char *to, und_error *err);

/* While a reader waits: UND_OK: go on waiting; UND_STOPPED, or an error that says why it is in vain. */
typedef und_status bands_wait_fn(void *context, double time, double seconds, und_error *err);

typedef struct bands_reader bands_reader;

bands_reader *und_bands_reader_open(const char *folder, const bands_grid *grid, bands_wait_fn *wait,
                                    void *context, und_error *err);
/* A und_upstream_def's fetch: waits for records that are not there yet. */
und_status und_bands_fetch(void *reader, double time, const float *value[2], double when[2], und_error *err);
void und_bands_reader_close(bands_reader *reader);

/* Reads all records of a cache's folder; *count: how many are whole, -1: the cache keeps none.  An error
 * where one is damaged; one at the end that is cut short does not count. */
und_status und_bands_check(const char *folder, long *count, und_error *err);

#endif
