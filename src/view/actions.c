/* What the window itself does. */
#include "base/status.h"
#include "io/image.h"
#include "view/view_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

und_status und_view_shoot(und_view *v, const char *path, und_error *err)
{
    und_image image = {0};
    size_t count = 3 * (size_t)v->width * (size_t)v->height;
    unsigned char *rgb = und_alloc(count, 1, "a picture", err);
    und_status status = rgb ? und_image_create(&image, v->width, v->height, err) : err->status;
    if (status == UND_OK) {
        und_view_read(v, rgb);
        for (size_t i = 0; i < count; i++)
            image.rgb[i] = und_srgb_decode((float)rgb[i] / 255);
        status = und_png_write(path, &image, 0, err);
    }
    und_image_destroy(&image);
    free(rgb);
    return status;
}

static void shoot(void *context)
{
    und_view *v = context;
    do { /* those of earlier times stay */
        snprintf(v->shot_path, sizeof v->shot_path, "%s.%04d.png", v->pane[0].scene->name, ++v->shots);
    } while (access(v->shot_path, F_OK) == 0 && v->shots < 9999);
}

static void quit(void *context)
{
    ((und_view *)context)->quit = true;
}
static void go_home(void *context)
{
    und_view_look_home(context);
}
UND_SWITCH(follow, und_view, follow)
UND_SWITCH(bare, und_view, bare)
UND_SWITCH(help, und_view, help)

static bool can_follow(const void *context)
{
    const und_view *v = context;
    double eye[3], look[3], angle;
    return !v->camera.flat && und_pane_camera(&v->pane[0], eye, look, &angle);
}
static void zoom_in(void *context)
{
    und_camera_zoom(&((und_view *)context)->camera, 0.8);
}
static void zoom_out(void *context)
{
    und_camera_zoom(&((und_view *)context)->camera, 1.25);
}

const und_action *und_view_actions(int *count)
{
    static const und_action actions[] = {
        {"File", "Keep this picture", 'P', 0, shoot, NULL, NULL},
        {"File", "Quit", 'Q', UND_MOD_CONTROL, quit, NULL, NULL},
        {"View", "First view", 'F', 0, go_home, NULL, NULL},
        {"View", "Follow the scene's camera", 'C', 0, switch_follow, is_follow, can_follow},
        {"View", "Nearer", '=', UND_MOD_REPEATS, zoom_in, NULL, NULL},
        {"View", "Farther", '-', UND_MOD_REPEATS, zoom_out, NULL, NULL},
        {"View", "Hide the panels", UND_KEY_TAB, 0, switch_bare, is_bare, NULL},
        {"Help", "Keys and mouse...", '/', 0, switch_help, is_help, NULL},
    };
    *count = sizeof actions / sizeof *actions;
    return actions;
}
