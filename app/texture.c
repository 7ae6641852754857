/* undine texture: texture particles on the surface of a liquid that is in a cache already. */
#include "pass.h"

#include "base/parallel.h"
#include "base/status.h"
#include "pictures.h"
#include "scene/cached_scene.h"
#include "scene/scene.h"

#include <string.h>

typedef struct painting {
    char settings[64];
    und_plate plate;
    und_texture *texture;
} painting;

/* Without -o beside the flow. */
static und_status choose_folder(pass *p, und_error *err)
{
    if (p->args->output)
        return und_path_set(p->folder, err, "%s", p->args->output);
    size_t length = strlen(p->flow_folder);
    while (length > 1 && p->flow_folder[length - 1] == '/')
        length--;
    return und_path_set(p->folder, err, "%.*s-texture", (int)length, p->flow_folder);
}

static und_status open_painting(pass *p, und_error *err)
{
    if (strcmp(p->info.model, "levelset") != 0)
        return und_error_set(err, UND_INVALID,
                             "%s was made with liquid.%s: texture particles are put on the surface of "
                             "liquid.levelset",
                             p->flow_folder, p->info.model);
    p->def.name = p->info.name;
    p->def.pass = "texture";
    p->def.bodies_path = p->def.bodies_text = "";
    p->def.bodies_settings = ((painting *)p->own)->settings;
    return choose_folder(p, err);
}

/* Says which cache it is about. */
static und_status in_flow(const pass *p, und_error *err)
{
    und_error cause = *err;
    return und_error_set(err, cause.status, "%.400s: %.600s", p->flow_folder, cause.text);
}

static und_status start_painting(pass *p, und_error *err)
{
    painting *own = p->own;
    und_texture_def def = und_texture_def_default();
    und_scene *scene = und_scene_of_cache(&p->info, NULL, 0, err); /* its camera */
    if (!scene)
        return err->status;
    und_picture_def look = und_scene_get(scene)->render;
    if (pictures_want_extent(und_scene_get(scene)))
        und_extent_of_cache(&look.framed, p->flow, 0);
    own->plate = und_picture_plate(&look, &p->frame);
    und_scene_destroy(scene);
    def.threads = p->args->threads;
    if (p->args->given & OPT_SPACING)
        def.spacing = p->args->spacing;
    snprintf(own->settings, sizeof own->settings, "spacing=%g", def.spacing);
    def.plate = &own->plate;
    own->texture = und_texture_create(&def, &p->frame, err);
    return own->texture ? UND_OK : in_flow(p, err);
}

static und_status carry(pass *p, und_error *err)
{
    const painting *own = p->own;
    return und_texture_advance(own->texture, &p->frame, err) == UND_OK ? UND_OK : in_flow(p, err);
}

static und_status paint_frame(pass *p, und_frame *made, uint64_t *hash, und_error *err)
{
    const painting *own = p->own;
    und_status status = und_texture_frame(own->texture, made, err);
    *hash = status == UND_OK ? und_frame_hash(made, und_threads(p->args->threads)) : 0;
    return status;
}

static void print_particles(const pass *p)
{
    const painting *own = p->own;
    printf(", %d texture particles", und_texture_counts(own->texture).particles);
}

static void close_painting(pass *p)
{
    und_texture_destroy(((painting *)p->own)->texture);
}

und_status command_texture(const args *a, und_error *err)
{
    static const pass_class class = {.name = "texture",
                                     .open = open_painting,
                                     .start = start_painting,
                                     .advance = carry,
                                     .frame = paint_frame,
                                     .print = print_particles,
                                     .close = close_painting};
    painting own = {0};
    return pass_run(&class, a, &own, err);
}
