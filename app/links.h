/* What joins the grids of a scene while one of them is simulated: files of bands in the caches' folders. */
#ifndef UND_APP_LINKS_H
#define UND_APP_LINKS_H

#include "app.h"
#include "base/file.h"
#include "cache/bands.h"
#include "scene/scene.h"

/* A grid that liquid comes from. */
typedef struct link {
    const char *name;
    char folder[UND_PATH_MAX];
    bands_reader *reader;
    const char *to; /* the grid that waits */
    double grace, started, alive, looked;
    bool seen, told, quiet, in_vain;
} link_from;

typedef struct links {
    bands_writer *writer;
    bands_grid grid;
    bool keeps; /* the grid has open sides */
    int count;
    link_from from[UND_GRIDS_MAX];
    const char *name;
    char title[160];
} links;

/* Before the simulation is made: tells the scene where bands come from and go to. */
und_status links_open(links *l, const args *a, und_scene *scene, const char *folder, und_error *err);
/* The same for a run whose bands are there already and are not written again. */
und_status links_read(links *l, const args *a, und_scene *scene, const char *folder, und_error *err);
/* When the cache is there: begins its file of bands, goes on with it, or, in a branch, with a copy. */
und_status links_begin(links *l, const char *folder, und_cache *branch, int frame, bool begin,
                       und_error *err);
und_status links_sync(links *l, und_error *err);
const char *links_title(links *l, const char *command); /* "sim arm" */
/* The run has failed because a grid that liquid comes from has stopped. */
bool links_in_vain(const links *l);
void links_close(links *l);

#endif
