#include "scene/cached_scene.h"

#include "base/status.h"
#include "scene/scene.h"

#include <stdlib.h>
#include <string.h>

typedef struct settings {
    char *text;
    und_setting *list;
    int count;
} settings;

static void add_setting(settings *s, und_setting one)
{
    for (int i = 0; i < s->count; i++) {
        if (strcmp(s->list[i].name, one.name) == 0) {
            s->list[i] = one;
            return;
        }
    }
    s->list[s->count++] = one;
}

/* The space before the next "name=", since a value may have spaces too. */
static char *next_setting(char *text)
{
    for (char *space = strchr(text, ' '); space; space = strchr(space + 1, ' ')) {
        size_t name = strcspn(space + 1, "= ");
        if (name > 0 && space[1 + name] == '=')
            return space;
    }
    return NULL;
}

/* "name=value name=value" of the manifest, then --set, which wins. */
static und_status gather_settings(settings *s, const char *from, const und_setting *more, int count,
                                  und_error *err)
{
    size_t words = 1;
    for (const char *c = from; *c; c++)
        words += *c == ' ';
    s->text = strdup(from);
    s->list = und_alloc(words + (size_t)count, sizeof *s->list, "the settings", err);
    if (!s->text || !s->list)
        return und_error_set(err, UND_FAILED, "out of memory: the settings");
    for (char *word = s->text, *next; word && *word; word = next) {
        next = next_setting(word);
        if (next)
            *next++ = 0;
        char *equals = strchr(word, '=');
        if (!equals)
            continue;
        *equals = 0;
        add_setting(s, (und_setting){word, equals + 1});
    }
    for (int i = 0; i < count; i++)
        add_setting(s, more[i]);
    return UND_OK;
}

static und_status find_file(const void *info, const char *name, char path[UND_PATH_MAX], und_error *err)
{
    return und_cache_kept_file(info, false, name, path, err);
}

static und_status find_bodies_file(const void *info, const char *name, char path[UND_PATH_MAX],
                                   und_error *err)
{
    return und_cache_kept_file(info, true, name, path, err);
}

/* From the file, or where there is none from the manifest. */
static und_scene *load(const und_cache_info *info, const char *path, const und_setting *more, int count,
                       und_error *err)
{
    settings s = {0};
    und_scene *scene = NULL;
    const und_scene_finder kept = {find_file, info};
    if (gather_settings(&s, info->settings ? info->settings : "", more, count, err) == UND_OK)
        scene = path ? und_scene_load(path, s.list, s.count, err)
                     : und_scene_from_kept(info->scene_text, info->scene_path, s.list, s.count, false, &kept,
                                           err);
    if (scene && info->grid && und_scene_choose(scene, info->grid, err) != UND_OK) {
        und_scene_destroy(scene);
        scene = NULL;
    }
    free(s.text);
    free(s.list);
    return scene;
}

und_scene *und_scene_of_cache(const und_cache_info *info, const und_setting *more, int count, und_error *err)
{
    return load(info, NULL, more, count, err);
}

und_scene *und_scene_bodies_of_cache(const und_cache_info *info, const char *text, und_error *err)
{
    const und_scene_finder kept = {find_bodies_file, info};
    return und_scene_from_kept(text, info->bodies_path, NULL, 0, true, &kept, err);
}

und_scene *und_scene_for_cache(const und_cache_info *info, const char *path, const und_setting *more,
                               int count, und_error *err)
{
    und_scene *scene = load(info, path, more, count, err);
    const char *model = scene ? und_model_name(und_scene_get(scene)->model) : NULL;
    if (!scene || strcmp(model, info->model) == 0)
        return scene;
    und_error_set(err, UND_INVALID, "%s has liquid.%s, and %s was made with liquid.%s", path, model,
                  info->folder, info->model);
    und_scene_destroy(scene);
    return NULL;
}
