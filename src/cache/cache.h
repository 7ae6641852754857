/* A run's folder: manifest.json, ledger.csv, one file per frame, checkpoints, a lock.
 *
 *     OUT/manifest.json            program, scene text and hash, units, frame range, fields
 *     OUT/ledger.csv               one row per frame: the ledger, the state's hash, the frame file's hash
 *     OUT/files/HASH.obj           copies of the files that the scene reads, named by their hashes
 *     OUT/static.h5                items that are the same in every frame
 *     OUT/frames/NAME.0001.h5
 *     OUT/checkpoints/NAME.0001.h5 the whole state, double where the model has it
 *     OUT/bands                    what other grids take over, a record for each substep; of grids with a
 *                                  name
 *     OUT/lock                     host, pid, boot and start of the run that writes
 *
 * A cache may share the flow of another: then its frames hold alone what a pass made of it, bodies or texture
 * particles, and reading adds the rest.  Or it branches off another: then its first frames are the other's,
 * and reading finds them there.
 *
 * Every file is written to a temporary name in the same folder and renamed, so that a reader never meets a
 * half-written one.  What the manifest lists is on disk: about once a second all that was written is synced,
 * then the manifest is written that lists it (a commit).  Whatever ends the run, the cache is whole up to the
 * last commit. */
#ifndef UND_CACHE_CACHE_H
#define UND_CACHE_CACHE_H

#include "base/file.h"
#include "grid/frame.h"

typedef struct und_cache und_cache;

/* A file that the scene reads, of which the cache keeps a copy. */
typedef struct und_cache_file {
    char *name; /* as the scene calls it */
    size_t bytes;
    uint64_t hash;
} und_cache_file;

typedef struct und_cache_def {
    const char *folder;
    const char *name;            /* of the scene; makes the file names */
    const char *model;           /* "waves" */
    const char *scene_path;      /* as given on the command line */
    const char *scene_text;      /* kept whole in the manifest, with its hash */
    const char *settings;        /* "name=value name=value", or "" */
    const und_named_file *files; /* that the scene reads; of a cache that shares a flow they are the flow's */
    int file_count;
    const char *grid; /* which of the scene's grids; NULL: it has but one */
    int start, end;   /* frames, inclusive */
    double fps;
    int compress; /* 0: none, 1 to 9: deflate */
    int keep;     /* checkpoints to keep; older ones are removed; 0: all */
    int threads;
    double commit_every; /* s; 0: 1, and less often where the disk is slow; below 0: with every frame */
    /* Of a cache that shares a flow: the flow's folder, and what is put into it.  NULL: a cache of its own.
     */
    const char *flow, *bodies_path, *bodies_text, *bodies_settings;
    const und_named_file *bodies_files;
    int bodies_file_count;
    const char *pass; /* the command that puts it there, "texture"; NULL: "float" */
    /* Of a branch: the folder of the cache that it branches off, the frame after which it is its own, and the
     * whole state there, which becomes its first checkpoint.  NULL: a cache of its own. */
    const char *branch;
    int branch_frame;
    const und_frame *branch_state;
} und_cache_def;

/* One row of ledger.csv. */
typedef struct und_cache_row {
    int frame;
    double time;
    und_ledger ledger;
    uint64_t state_hash, file_hash;
} und_cache_row;

/* Makes the folder and takes the lock.  An existing cache of the same name is refused (the error says to use
 * --resume or --force) unless `replace`, which removes only files that a cache is made of, and refuses a
 * folder that has files but is no cache.  A lock held by a living process, or by another host, is refused by
 * name; one left behind by a dead process is taken over. */
und_cache *und_cache_create(const und_cache_def *def, bool replace, und_error *err);

/* Opens a cache to go on writing it.  The scene's hash must be the manifest's, and so must its files'.  The
 * latest checkpoint that reads back whole is loaded into *state (the caller clears it), ledger rows after it
 * are dropped. UND_OK with state->count == 0: no checkpoint, begin at the start. */
und_cache *und_cache_resume(const und_cache_def *def, und_frame *state, und_error *err);

/* Are the scene's files, as far as the cache has them, what it was made with?  UND_INVALID: it says which is
 * not. */
und_status und_cache_compare_files(const und_cache *cache, const und_named_file *files, int count,
                                   und_error *err);
/* The first frame whose file is missing or cut short; INT_MAX: none. */
int und_cache_first_lost(const und_cache *cache);

/* Loads the last checkpoint that reads back whole and stands at or before the frame; state->count == 0: there
 * is none, state->number: which it is.  The caller clears it. */
und_status und_cache_state(und_cache *cache, int frame, und_frame *state, und_error *err);

/* Is a process writing it?  One on another host is taken to be alive. */
bool und_cache_is_written(const char *folder);

/* Opens for reading: no lock.  UND_INVALID: that is no cache, UND_FAILED: it is damaged. */
und_cache *und_cache_open(const char *folder, und_error *err);

/* Releases the lock and frees.  Stages and peak memory go into the manifest if given. */
und_status und_cache_close(und_cache *cache, const und_stage *stages, int stage_count, und_error *err);

/* Writes a frame and adds its row to ledger.csv; commits where that is due. */
und_status und_cache_write(und_cache *cache, const und_frame *frame, const und_ledger *ledger,
                           uint64_t state_hash, und_error *err);
/* Commits where that is due: between frames that are long in the making. */
und_status und_cache_settle(und_cache *cache, und_error *err);
/* Keeps the whole state of the frame written last: after und_cache_write(), which got its hash, since a
 * resume only goes on from a checkpoint whose frame the ledger has (or from one before the first frame). */
und_status und_cache_checkpoint(und_cache *cache, const und_frame *state, und_error *err);
/* The same of a model that has a hash of its own for it: what und_cache_write() got if it is that state. */
und_status und_cache_checkpoint_as(und_cache *cache, const und_frame *state, uint64_t hash, und_error *err);

/* Writes a state beside the cache, for a look at what a stage of a step did: OUT/stages/NAME.0001.03.rows.h5
 * is the state after stage `rows`, third on the way from frame 1 to the next.  No part of the cache: verify
 * passes it over. */
und_status und_cache_dump(und_cache *cache, const und_frame *state, int index, const char *stage,
                          und_error *err);

/* Reads a frame with the static items merged in, and with those of the flow that the cache shares; what a
 * pass made replaces what the flow has of it. */
und_status und_cache_read(und_cache *cache, int number, und_frame *frame, und_error *err);
/* Reads one item of a frame, which is not static; none where the frame does not have it. */
und_status und_cache_read_item(und_cache *cache, int number, const char *name, und_frame *frame,
                               und_error *err);

typedef struct und_cache_info {
    const char *folder, *name, *model, *program, *scene_path, *scene_text, *scene_hash, *settings;
    int start, end;
    double fps;
    int row_count; /* frames written */
    const und_cache_row *rows;
    int stage_count;
    const und_stage *stages;
    size_t peak_memory; /* bytes */
    const char *flow;   /* folder of the flow that it shares, from its own; NULL: none */
    const char *pass;   /* "float" or "texture": what was made of that flow; NULL: none is shared */
    const char *bodies_path, *bodies_text, *bodies_settings;
    const char *grid;   /* which of the scene's grids; NULL: it has but one */
    const char *branch; /* folder of the cache that it branches off, from its own; NULL: none */
    int branch_frame;   /* the last frame that is the other's */
    int lost_frame;     /* the first whose file was gone when it was resumed; INT_MAX: none */
    bool keeps_files;   /* false: made before caches kept the files of their scenes */
    int file_count, bodies_file_count;
    const und_cache_file *files, *bodies_files;
} und_cache_info;

und_cache_info und_cache_describe(const und_cache *cache);

/* The cache's copy of a file that the scene, or the file of bodies, calls `name`, if it is as it was. */
und_status und_cache_kept_file(const und_cache_info *info, bool of_bodies, const char *name,
                               char path[UND_PATH_MAX], und_error *err);

/* The folder where a cache's flow is: that of the flow it shares, or its own. */
und_status und_cache_flow_folder(const und_cache *cache, char *path, size_t size, und_error *err);

/* The folder of the cache that has the file of a frame: its own, or that of one that it branches off. */
und_status und_cache_holder(und_cache *cache, int frame, char *path, size_t size, und_error *err);

/* Recomputes every hash, also of the flow that it shares and of frames that are another's.  Calls `report`
 * once for each thing wrong (a file missing, cut short, changed), and returns UND_FAILED if there was any;
 * err names the first.  UND_INVALID: that is no cache. */
typedef void und_verify_fn(void *context, const char *what);
und_status und_cache_verify(const char *folder, und_verify_fn *report, void *context, int *checked,
                            und_error *err);

#endif
