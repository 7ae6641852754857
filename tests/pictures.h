/* Pictures of frames in tests: made, or the test fails. */
#ifndef UND_TESTS_PICTURES_H
#define UND_TESTS_PICTURES_H

#include "tests/test.h"

#include "render/render.h"

static inline und_render *make_render(const und_render_def *def)
{
    und_error err = {0};
    und_render *r = und_render_create(def, &err);
    assert_non_null(r);
    return r;
}

static inline und_image draw_with(und_render *r, const und_frame *frame)
{
    und_error err = {0};
    und_image image = {0};
    assert_int_equal(und_render_draw(r, frame, &image, &err), UND_OK);
    return image;
}

static inline und_image draw(const und_render_def *def, const und_frame *frame)
{
    und_render *r = make_render(def);
    und_image image = draw_with(r, frame);
    und_render_destroy(r);
    return image;
}

#endif
