/* Pictures of frames in tests: made, or the test fails. */
#ifndef UND_TESTS_PICTURES_H
#define UND_TESTS_PICTURES_H

#include "tests/test.h"

#include "render/render.h"

static inline und_render *make_render(const und_picture_def *def)
{
    und_error err = {0};
    und_render *r = und_render_create(def, &err);
    assert_non_null(r);
    return r;
}

/* For rays. */
static inline und_scenery *make_scenery(const und_picture_def *def)
{
    und_error err = {0};
    und_scenery *stage = und_scenery_create(def, false, &err);
    assert_non_null(stage);
    return stage;
}

static inline und_image draw_with(und_render *r, const und_frame *frame)
{
    und_error err = {0};
    und_image image = {0};
    assert_int_equal(und_render_draw(r, frame, &image, &err), UND_OK);
    return image;
}

static inline und_image draw(const und_picture_def *def, const und_frame *frame)
{
    und_render *r = make_render(def);
    und_image image = draw_with(r, frame);
    und_render_destroy(r);
    return image;
}

/* A square of `side` metres and n x n samples, its ground and surface level. */
static inline und_frame flat_frame(int n, double side, float ground, float surface)
{
    und_error err;
    und_frame frame = und_frame_empty(1, 0, (und_grid){.n = {n, 1, n}, .dx = side / n});
    und_item_def def = {
        .unit = "m", .kind = UND_FIELD, .type = UND_F32, .rank = 2, .dim = {(size_t)n, (size_t)n}};
    const char *const names[] = {"ground", "surface"};
    const float height[] = {ground, surface};
    for (int i = 0; i < 2; i++) {
        def.name = names[i];
        float *to = und_frame_add(&frame, &def, &err)->data;
        for (int k = 0; k < n * n; k++)
            to[k] = height[i];
    }
    return frame;
}

static inline float *add_item(und_frame *frame, const char *name, size_t rows, size_t columns)
{
    und_error err;
    und_item_def def = {
        .name = name, .unit = "m", .kind = UND_PARTICLES, .type = UND_F32, .rank = 2, .dim = {rows, columns}};
    return und_frame_add(frame, &def, &err)->data;
}

#endif
