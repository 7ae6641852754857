/* Drops in the air as the streaks a shutter makes of them. */
#include "render/internal.h"

typedef struct streak {
    float x[2], y[2], w[2]; /* pixels, 1 / distance */
    float width, alpha;
} streak;

static bool make_streak(const und_render *r, const float *p, const float *v, streak *s)
{
    const und_camera *c = &r->camera;
    float shutter = (float)r->def.shutter, samples = (float)r->def.samples;
    for (int k = 0; k < 2; k++) {
        f3 q = f3_make(p[0], p[1] * (float)r->def.vertical, p[2]);
        if (k && v)
            q = f3_along(q, f3_of(v), -shutter);
        f3 d = f3_sub(q, c->eye);
        float along = f3_dot(d, c->forward);
        if (!(along > c->near * 10) || !(along < 1e9f))
            return false;
        s->w[k] = 1 / along;
        s->x[k] = (0.5f * (float)c->width + c->focal * f3_dot(d, c->right) / along) / samples;
        s->y[k] = (0.5f * (float)c->height - c->focal * f3_dot(d, c->up) / along) / samples;
        if (!(fabsf(s->x[k]) < 1e5f && fabsf(s->y[k]) < 1e5f))
            return false;
    }
    float wide = (float)r->def.rain_width * c->focal / samples * s->w[0];
    s->width = maxf(0.5f * wide, 0.55f);
    s->alpha = 0.55f * clampf(wide / (2 * s->width), 0.18f, 1);
    return true;
}

static void draw_streak(const und_render *r, const streak *s, und_image *image, int row0, int row1)
{
    float dx = s->x[1] - s->x[0], dy = s->y[1] - s->y[0], length2 = maxf(dx * dx + dy * dy, 1e-6f);
    int x0 = (int)floorf(minf(s->x[0], s->x[1]) - s->width - 1),
        x1 = (int)ceilf(maxf(s->x[0], s->x[1]) + s->width + 1);
    int y0 = (int)floorf(minf(s->y[0], s->y[1]) - s->width - 1),
        y1 = (int)ceilf(maxf(s->y[0], s->y[1]) + s->width + 1);
    x0 = x0 < 0 ? 0 : x0;
    x1 = x1 > image->width ? image->width : x1;
    y0 = y0 < row0 ? row0 : y0;
    y1 = y1 > row1 ? row1 : y1;
    f3 light =
        f3_scale(f3_add(r->sky.ambient[0], f3_scale(r->sky.sun_color, 0.22f)), exp2f((float)r->def.exposure));
    int n = r->def.samples;
    for (int y = y0; y < y1; y++)
        for (int x = x0; x < x1; x++) {
            float px = (float)x + 0.5f - s->x[0], py = (float)y + 0.5f - s->y[0];
            float t = clampf((px * dx + py * dy) / length2, 0, 1), ex = px - t * dx, ey = py - t * dy;
            float cover = clampf(s->width + 0.5f - sqrtf(ex * ex + ey * ey), 0, 1);
            size_t at = (size_t)(y * n + n / 2) * (size_t)r->camera.width + (size_t)(x * n + n / 2);
            float w = mixf(s->w[0], s->w[1], t);
            if (cover <= 0 || w < r->buffers.opaque[at] || w < r->buffers.water[at])
                continue;
            float *out = image->rgb + 3 * ((size_t)y * (size_t)image->width + (size_t)x);
            float a = cover * s->alpha * (1 - 0.6f * t); /* the tail fades */
            out[0] = mixf(out[0], light.x, a);
            out[1] = mixf(out[1], light.y, a);
            out[2] = mixf(out[2], light.z, a);
        }
}

void und_rain(und_render *r, const und_frame *frame, und_image *image)
{
    const und_item *position = und_frame_find(frame, "rain/position"),
                   *velocity = und_frame_find(frame, "rain/velocity");
    if (!position || position->type != UND_F32 || !position->data)
        return;
    size_t count = und_item_count(position) / 3;
    bool moving =
        velocity && velocity->type == UND_F32 && velocity->data && und_item_count(velocity) == 3 * count;
    const float *p = position->data, *v = moving ? velocity->data : NULL;
    enum { ROWS = 32 };
    /* Each strip draws all drops in order, so overlapping ones mix the same way whatever the threads. */
    PARALLEL_FOR(r->threads)
    for (int strip = 0; strip < (image->height + ROWS - 1) / ROWS; strip++) {
        int row0 = strip * ROWS, row1 = row0 + ROWS < image->height ? row0 + ROWS : image->height;
        streak s;
        for (size_t k = 0; k < count; k++)
            if (make_streak(r, p + 3 * k, v ? v + 3 * k : NULL, &s))
                draw_streak(r, &s, image, row0, row1);
    }
}
