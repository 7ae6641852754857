/* undine view: play with water, and with caches. */
#include "app.h"
#include "grids.h"

#include "base/file.h"
#include "base/status.h"
#include "view/script.h"

#include <string.h>
#include <sys/stat.h>

/* A folder must be a cache; the advice is that of the other commands. */
static und_status check_path(const char *path, und_error *err)
{
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode))
        return UND_OK; /* a scene: loading it tells what is wrong */
    grids_list grids;
    if (grids_read(path, &grids))
        return und_error_set(err, UND_INVALID,
                             "%s holds the caches of %d grids: view one of them, such as %s/%s", path,
                             grids.count, path, grids.grid[0]);
    und_cache *cache = open_to_read(path, err);
    return cache ? und_cache_close(cache, NULL, 0, err) : err->status;
}

und_status command_view(const args *a, und_error *err)
{
    und_view_def def = {.count = a->count,
                        .settings = a->settings,
                        .setting_count = a->setting_count,
                        .width = a->given & OPT_SIZE ? a->width : 0,
                        .height = a->given & OPT_SIZE ? a->height : 0,
                        .offscreen = a->offscreen,
                        .paused = a->paused || a->script,
                        .threads = a->threads};
    und_status status = UND_OK;
    if (a->offscreen && !a->script)
        return und_error_set(err, UND_INVALID, "view --offscreen shows nothing: it takes --script FILE");
    for (int i = 0; i < a->count && status == UND_OK; i++) {
        def.paths[i] = a->words[i];
        status = check_path(a->words[i], err);
    }
    if (status == UND_OK && a->output)
        status = und_folder_make(a->output, err);
    und_view *view = status == UND_OK ? und_view_create(&def, err) : NULL;
    if (!view)
        return err->status;
    if (a->script) {
        status = und_script_run(view, a->script, a->output ? a->output : ".", err);
    } else {
        signals_install();
        err->status = UND_OK;
        while (!signals_stop() && und_view_frame(view, err))
            ;
        status = signals_stop() ? UND_STOPPED : err->status;
    }
    und_view_destroy(view);
    return status;
}
