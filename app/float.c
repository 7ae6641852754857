/* undine float: bodies in a flow that is in a cache already. */
#include "pass.h"

#include "base/parallel.h"
#include "base/status.h"
#include "scene/cached_scene.h"
#include "scene/sim.h"

#include <string.h>

typedef struct floating {
    und_scene *flow_scene, *bodies; /* what gravity is, and what floats */
    und_floating_bodies *floating_bodies;
} floating;

static und_status open_floating(pass *p, und_error *err)
{
    const args *a = p->args;
    floating *own = p->own;
    if (strcmp(p->info.model, "cells") != 0)
        return und_error_set(err, UND_INVALID,
                             "%s was made with liquid.%s: bodies are put into the flow of liquid.cells",
                             p->flow_folder, p->info.model);
    own->bodies = und_scene_load_bodies(a->words[1], a->settings, a->setting_count, err);
    own->flow_scene = own->bodies ? und_scene_of_cache(&p->info, NULL, 0, err) : NULL;
    if (!own->flow_scene)
        return err->status;
    const und_scene_view *bodies = und_scene_get(own->bodies);
    p->def.name = bodies->name;
    p->def.bodies_path = a->words[1];
    p->def.bodies_text = bodies->text;
    p->def.bodies_settings = bodies->settings;
    p->def.bodies_files = bodies->files;
    p->def.bodies_file_count = bodies->file_count;
    return a->output ? und_path_set(p->folder, err, "%s", a->output)
                     : und_path_set(p->folder, err, "out/%s", bodies->name);
}

static und_status start_floating(pass *p, und_error *err)
{
    floating *own = p->own;
    und_floating_bodies_def def = und_sim_floating_bodies_def(
        und_scene_get(own->bodies), und_scene_get(own->flow_scene), p->args->threads);
    own->floating_bodies = und_floating_bodies_create(&def, &p->frame, err);
    return own->floating_bodies ? UND_OK : err->status;
}

static und_status advance_floating(pass *p, und_error *err)
{
    return und_floating_bodies_advance(((floating *)p->own)->floating_bodies, &p->frame, err);
}

static und_status float_frame(pass *p, und_frame *made, uint64_t *hash, und_error *err)
{
    und_floating_bodies *floating_bodies = ((floating *)p->own)->floating_bodies;
    und_frame state = und_frame_empty(p->frame.number, p->frame.time, p->frame.grid);
    und_status status = und_floating_bodies_frame(floating_bodies, made, err);
    if (status == UND_OK)
        status = und_floating_bodies_save(floating_bodies, &state, err);
    if (status == UND_OK)
        *hash = und_frame_hash(&state, und_threads(p->args->threads));
    und_frame_clear(&state);
    return status;
}

static void close_floating(pass *p)
{
    floating *own = p->own;
    und_floating_bodies_destroy(own->floating_bodies);
    und_scene_destroy(own->flow_scene);
    und_scene_destroy(own->bodies);
}

und_status command_float(const args *a, und_error *err)
{
    static const pass_class class = {.name = "float",
                                     .open = open_floating,
                                     .start = start_floating,
                                     .advance = advance_floating,
                                     .frame = float_frame,
                                     .close = close_floating};
    floating own = {0};
    return pass_run(&class, a, &own, err);
}
