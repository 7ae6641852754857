#include "grids.h"

#include "base/status.h"
#include "pictures.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static und_status all_in(const args *a, const und_scene_view *view, char folder[UND_PATH_MAX], und_error *err)
{
    return a->output ? und_path_set(folder, err, "%s", a->output)
                     : und_path_set(folder, err, "out/%s", view->name);
}

und_status grids_folder(const args *a, const und_scene_view *view, char folder[UND_PATH_MAX], und_error *err)
{
    char all[UND_PATH_MAX];
    und_status status = all_in(a, view, all, err);
    if (status != UND_OK || !view->grid_name)
        return status ? status : und_path_set(folder, err, "%s", all);
    return und_path_set(folder, err, "%s/%s", all, view->grid_name);
}

und_status grids_save(const char *folder, const und_scene_view *view, und_error *err)
{
    char path[UND_PATH_MAX];
    json_t *names = json_array();
    for (int i = 0; i < view->grid_count; i++)
        json_array_append_new(names, json_string(view->grids[view->grid_order[i]].name));
    json_t *root = json_pack("{s:s, s:o}", "name", view->name, "grids", names);
    char *text = root ? json_dumps(root, JSON_INDENT(2)) : NULL;
    json_decref(root);
    und_status status = text ? und_path_set(path, err, "%s/grids.json", folder)
                             : und_error_set(err, UND_FAILED, "out of memory: grids");
    if (status == UND_OK)
        status = und_folder_make(folder, err);
    if (status == UND_OK)
        status = und_file_write(path, text, strlen(text), err);
    free(text);
    return status;
}

/* A word that is one part of a path. */
static bool take_name(const json_t *from, char name[128])
{
    const char *word = json_string_value(from);
    bool good = word && *word && *word != '.' && strlen(word) < 128 && !strchr(word, '/');
    if (good)
        memcpy(name, word, strlen(word) + 1);
    return good;
}

bool grids_read(const char *folder, grids_list *list)
{
    char path[UND_PATH_MAX], *text = NULL;
    size_t bytes;
    *list = (grids_list){0};
    if (und_path_set(path, NULL, "%s/manifest.json", folder) || !access(path, F_OK) ||
        und_path_set(path, NULL, "%s/grids.json", folder) ||
        und_file_read(path, 1 << 20, &text, &bytes, NULL))
        return false;
    json_t *root = json_loadb(text, bytes, 0, NULL), *names = json_object_get(root, "grids");
    bool good = take_name(json_object_get(root, "name"), list->name) && json_is_array(names) &&
                json_array_size(names) >= 1 && json_array_size(names) <= UND_GRIDS_MAX;
    for (size_t i = 0; good && i < json_array_size(names); i++)
        good = take_name(json_array_get(names, i), list->grid[list->count++]);
    json_decref(root);
    free(text);
    if (!good)
        *list = (grids_list){0};
    return good;
}

und_status grids_each(const args *a, const grids_list *list, command_fn *command, und_error *err)
{
    und_status worst = UND_OK;
    for (int i = 0; i < list->count; i++) {
        char folder[UND_PATH_MAX], output[UND_PATH_MAX];
        const char *words[1] = {folder};
        args one = *a;
        und_error own = {0};
        one.words = words;
        und_status status = und_path_set(folder, err, "%s/%s", a->words[0], list->grid[i]);
        if (status == UND_OK && a->output) {
            status = und_path_set(output, err, "%s/%s", a->output, list->grid[i]);
            one.output = output;
        }
        if (status != UND_OK)
            return status;
        if (a->json)
            fputs(i > 0 ? ",\n" : "[\n", stdout);
        else if (i > 0 && !a->quiet)
            printf("\n");
        status = command(&one, &own);
        if (status != UND_OK && worst == UND_OK) {
            *err = own;
            worst = status;
        } else if (status != UND_OK)
            fprintf(stderr, "undine: %s\n", own.text);
    }
    if (a->json)
        puts("]");
    return worst;
}
