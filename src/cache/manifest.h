/* manifest.json: what the run was, and what its files must be. */
#ifndef UND_CACHE_MANIFEST_H
#define UND_CACHE_MANIFEST_H

#include "cache/cache.h"
#include "cache/store.h"

typedef struct cache_files {
    int count;
    und_cache_file *file; /* names malloc'ed */
} cache_files;

typedef struct cache_checkpoint {
    int frame;
    double time;
    store_stamp stamp;
    uint64_t state_hash; /* und_frame_hash() of its items */
    uint64_t row_hash;   /* as the model has it, and the ledger of the same state */
} cache_checkpoint;

typedef struct cache_manifest {
    char *program, *name, *model, *scene_path, *scene_text, *settings; /* malloc'ed */
    char scene_hash[17];
    int start, end;
    double fps;
    char *fields;         /* what the last frame held, as a JSON array */
    int row_count;        /* rows of the ledger that count */
    uint64_t ledger_hash; /* of those rows */
    bool has_static;
    store_stamp static_stamp;
    uint64_t static_hash; /* of the items */
    int checkpoint_count;
    cache_checkpoint *checkpoints; /* rising frames */
    int stage_count;
    und_stage *stages;
    char **stage_names; /* the same names, malloc'ed */
    size_t peak_memory;
    char *flow;         /* folder of the cache whose flow this one shares, from its own; NULL: none */
    int flow_frame;     /* the last frame shared */
    uint64_t flow_hash; /* of the flow's rows of the ledger up to that frame */
    char *pass;         /* "float" or "texture": what was made of the flow */
    char *bodies_path, *bodies_text, *bodies_settings; /* what was put into the flow */
    char *grid;                                        /* which of the scene's grids; NULL: it has but one */
    char *branch; /* folder of the cache whose first frames are this one's too, from its own; NULL: none */
    int branch_frame; /* the last frame shared so */
    bool keeps_files; /* false: made before caches kept the files of their scenes */
    cache_files files, bodies_files;
} cache_manifest;

und_status und_manifest_write(const char *path, const cache_manifest *manifest, und_error *err);
und_status und_manifest_read(const char *path, cache_manifest *manifest,
                             und_error *err); /* clear it in any case */
void und_manifest_clear(cache_manifest *manifest);

/* Describes the items of a frame; malloc'ed, NULL where memory ran out. */
char *und_manifest_describe_fields(const und_frame *frame);
und_status und_manifest_add_stages(cache_manifest *manifest, const und_stage *stages, int count,
                                   und_error *err);

#endif
