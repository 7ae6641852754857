/* A cache that is open, for the files of this module. */
#ifndef UND_CACHE_STATE_H
#define UND_CACHE_STATE_H

#include "base/file.h"
#include "cache/cache.h"
#include "cache/manifest.h"
#include "cache/rows.h"

enum { SLUG_MAX = 64 };

struct und_cache {
    char folder[UND_PATH_MAX];
    char slug[SLUG_MAX]; /* the scene's name as file names have it */
    cache_manifest manifest;
    cache_rows rows;
    bool writes; /* holds the lock */
    int lock;    /* which is this open file, then */
    int compress, keep, threads;
    bool pending;        /* something is written that the manifest on disk does not list */
    double commit_every; /* s, below 0: always */
    double committed;    /* und_clock() */
    double commit_cost;  /* s */
    int dropped_count;   /* checkpoints to remove when the manifest no longer lists them */
    int *dropped;
    int lost_frame; /* the first whose file was gone when it was resumed; INT_MAX: none */
    bool statics_read;
    und_frame statics;
    und_cache *flow;   /* whose flow this one shares, opened when needed */
    und_cache *parent; /* that this one branches off, opened when needed */
};

/* A file of the cache by its name in the folder. */
und_status und_cache_path(const und_cache *cache, const char *name, char path[UND_PATH_MAX], und_error *err);
/* The path that leads from the cache's folder to another, and the other way round. */
und_status und_cache_path_to(const und_cache *cache, const char *other, char path[UND_PATH_MAX],
                             und_error *err);
und_status und_cache_beside(const und_cache *cache, const char *name, char path[UND_PATH_MAX],
                            und_error *err);
/* "frames/beach.0017.h5" for ("frames", 17). */
void und_cache_name(const und_cache *cache, const char *kind, int number, char name[2 * SLUG_MAX]);

/* Is the file what it was when written?  `stamp->bytes` 0: as many as its header says.  The error says `what`
 * it is, its name and what is wrong with it. */
und_status und_cache_check_file(const und_cache *cache, const char *what, const char *name,
                                const store_stamp *stamp, und_error *err);

/* Reads manifest and ledger of cache->folder. */
und_status und_cache_load(und_cache *cache, und_error *err);
und_cache *und_cache_new(const char *folder, und_error *err);
void und_cache_free(und_cache *cache);
/* A name that is safe in a path: letters, digits, dots inside, dashes for the rest. */
void und_cache_make_slug(const char *name, char slug[SLUG_MAX]);
/* Syncs what was written, then writes the manifest that lists it. */
und_status und_cache_commit(und_cache *cache, und_error *err);

#endif
