/* Scenes with several grids: a cache for each, FOLDER/NAME, and a list of them in FOLDER/grids.json. */
#ifndef UND_APP_GRIDS_H
#define UND_APP_GRIDS_H

#include "app.h"
#include "base/file.h"
#include "scene/scene.h"

/* The folder of a run's cache: that of the grid chosen where grids have names. */
und_status grids_folder(const args *a, const und_scene_view *view, char folder[UND_PATH_MAX], und_error *err);

/* Simulates all grids of a scene, each in a process of its own, side by side; `draw`: then makes the
 * pictures. */
und_status grids_run(const args *a, const und_scene_view *view, bool draw, und_error *err);

/* The caches that a folder has a list of. */
typedef struct grids_list {
    char name[128]; /* of the scene */
    int count;
    char grid[UND_GRIDS_MAX][128];
} grids_list;

und_status grids_save(const char *folder, const und_scene_view *view, und_error *err);
/* Is it a folder with a list of grids?  Then it is read. */
bool grids_read(const char *folder, grids_list *list);
/* A command on each of the caches of a folder in turn; what it writes goes to -o FOLDER/NAME. */
und_status grids_each(const args *a, const grids_list *list, command_fn *command, und_error *err);

#endif
