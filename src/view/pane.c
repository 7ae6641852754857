/* A part of the window: frames from a scene that runs or from a cache, and the painter for them. */
#include "base/status.h"
#include "cache/cache.h"
#include "view/gl.h"
#include "view/view_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Who paints what; the first that fits. */
static const struct {
    bool (*fits)(const und_frame *frame);
    und_painter *(*create)(const und_picture_def *look, und_error *err);
} painters[] = {
    {und_flat_fits, und_flat_create},
    {und_sea_fits, und_sea_create},
    {und_space_fits, und_space_create},
};

static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

enum { FRAMED_BY = 12 /* frames of a cache: to look at all would take long */ };

/* Where the liquid is over the run: what the window shows at first. */
static void find_extent(und_pane *pane, const char *folder)
{
    und_error ignored; /* the player has opened it already */
    und_cache *cache =
        pane->player && !und_picture_has_camera(&pane->look) ? und_cache_open(folder, &ignored) : NULL;
    if (!cache)
        return;
    und_extent_of_cache(&pane->look.framed, cache, FRAMED_BY);
    und_cache_close(cache, NULL, 0, &ignored);
}

und_status und_pane_open(und_pane *pane, const und_view_def *def, int index, und_error *err)
{
    const char *path = def->paths[index];
    if (is_folder(path))
        pane->player = und_frame_player_create(path, def->settings, def->setting_count, err);
    else if (def->count > 1)
        return und_error_set(err, UND_INVALID, "%s is no cache: two are compared, and both must be caches",
                             path);
    else if ((pane->own = und_scene_load(path, def->settings, def->setting_count, err)))
        pane->live = und_live_create(path, def->settings, def->setting_count, def->threads, err);
    if (!pane->player && !pane->live)
        return err->status;
    pane->scene = pane->live ? und_scene_get(pane->own) : und_frame_player_scene(pane->player);
    pane->look = pane->scene->render;
    find_extent(pane, path);
    und_error why; /* without the editor all else goes on */
    if (pane->player && index == 0 && und_editor_fits(pane->player) &&
        !(pane->editor = und_editor_create(pane->player, &why)))
        snprintf(pane->trouble, sizeof pane->trouble, "%.500s", why.text);
    return UND_OK;
}

void und_pane_close(und_pane *pane)
{
    if (pane->painter)
        pane->painter->class->destroy(pane->painter);
    und_slice_destroy(pane->slice);
    und_editor_destroy(pane->editor);
    und_live_destroy(pane->live);
    und_frame_player_destroy(pane->player);
    und_scene_destroy(pane->own);
}

static und_status choose_painter(und_pane *pane, const und_frame *frame, und_error *err)
{
    for (size_t i = 0; i < sizeof painters / sizeof *painters && !pane->painter; i++)
        if (painters[i].fits(frame)) {
            pane->painter = painters[i].create(&pane->look, err);
            if (!pane->painter)
                return err->status;
            if (painters[i].create == und_space_create)
                und_space_control_particles(pane->painter, pane->scene->levelset.control_particles,
                                            pane->scene->levelset.control_particle_count);
        }
    return pane->painter
               ? UND_OK
               : und_error_set(err, UND_FAILED, "%s: nothing here can show its frames", pane->scene->name);
}

/* A frame that cannot be read is told of until another is shown. */
static void hear_frame_player(und_pane *pane)
{
    char text[sizeof pane->trouble];
    if (und_frame_player_failed(pane->player, text, sizeof text) && text[0])
        memcpy(pane->trouble, text, sizeof text);
}

und_status und_pane_take(und_pane *pane, und_error *err)
{
    const und_frame *frame = pane->live ? und_live_take(pane->live) : und_frame_player_take(pane->player);
    if (pane->live)
        und_live_state_now(pane->live, &pane->state);
    else
        hear_frame_player(pane);
    if (pane->editor) {
        pane->shown = frame ? frame : pane->shown;
        bool anew = frame || (pane->shown && und_editor_has_news(pane->editor));
        frame = anew ? und_editor_dress(pane->editor, pane->shown) : NULL;
    }
    if (!frame)
        return UND_OK;
    und_status status = pane->painter ? UND_OK : choose_painter(pane, frame, err);
    if (status != UND_OK)
        return status;
    if (!pane->slice && und_slice_fits(frame) && !(pane->slice = und_slice_create(err)))
        return err->status;
    und_error why = {0};
    status = pane->painter->class->take(pane->painter, frame, &why);
    if (status == UND_OK && pane->slice)
        status = und_slice_take(pane->slice, frame, &why);
    /* Of one that is wrong it tells, and the others go on. */
    snprintf(pane->trouble, sizeof pane->trouble, "%.500s", status == UND_OK ? "" : why.text);
    pane->time = frame->time;
    pane->number = frame->number;
    return UND_OK;
}

void und_pane_draw(und_pane *pane, double seconds)
{
    const und_lens *lens = &pane->lens;
    glViewport(lens->x, lens->y, lens->width, lens->height);
    if (pane->painter)
        pane->painter->class->draw(pane->painter, lens, seconds);
    double stretch = und_painter_stretch(pane->painter);
    if (pane->editor)
        und_editor_stretch(pane->editor, stretch);
    if (pane->slice) {
        und_slice_stretch(pane->slice, stretch);
        und_slice_draw(pane->slice, lens);
    }
}

bool und_pane_camera(const und_pane *pane, double eye[3], double look[3], double *view_angle)
{
    const und_vector *from = &pane->look.eye, *to = &pane->look.look;
    memcpy(eye, from->constant, sizeof from->constant);
    memcpy(look, to->constant, sizeof to->constant);
    *view_angle = pane->look.fov * M_PI / 180;
    if (from->fn)
        from->fn(from->context, pane->time, eye);
    if (to->fn)
        to->fn(to->context, pane->time, look);
    double apart = hypot(hypot(eye[0] - look[0], eye[1] - look[1]), eye[2] - look[2]);
    return apart > 0 && isfinite(apart);
}
