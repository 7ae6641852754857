/* Sheets of water in the air: thin films that mirror the sky, let through what is behind them, and are a
 * little white where they tear.  They are binned by tiles of the picture; each tile draws its own from near
 * to far, so that the picture does not depend on the threads. */
#include "render/internal.h"
#include "render/optics.h"

#include <stdlib.h>
#include <string.h>

enum { SHEET_TILE = 32 };

typedef struct corner {
    float x, y, w; /* pixels, 1 / distance */
} corner;

typedef struct film {
    const und_render *r;
    const float *thickness; /* m, or NULL */
    float usual;            /* m */
    int across, down;
    corner *corner; /* [3 triangles]; w 0: the triangle is not seen */
    size_t *first;  /* [tiles + 1] */
    uint64_t *key;  /* 1 / distance, then the triangle */
} film;

typedef struct film_pixel {
    f3 color;
    float left, nearest;
} film_pixel;

typedef struct tile {
    int x0, y0, x1, y1;
    film_pixel pixel[SHEET_TILE * SHEET_TILE];
} tile;

static bool project(const und_render *r, const float *p, corner *out)
{
    const und_camera *c = &r->camera;
    f3 d = f3_sub(f3_of(p), c->eye);
    float along = f3_dot(d, c->forward), s = (float)r->def.samples;
    if (!(along > 10 * c->near && along < 1e9f))
        return false;
    out->w = 1 / along;
    out->x = (0.5f * (float)c->width + c->focal * f3_dot(d, c->right) / along) / s;
    out->y = (0.5f * (float)c->height - c->focal * f3_dot(d, c->up) / along) / s;
    return fabsf(out->x) < 1e5f && fabsf(out->y) < 1e5f;
}

/* The pixels a triangle may cover, the upper ends excluded; false: none. */
static bool bounds(const corner *c, int width, int height, int box[4])
{
    float lx = minf(minf(c[0].x, c[1].x), c[2].x), hx = maxf(maxf(c[0].x, c[1].x), c[2].x);
    float ly = minf(minf(c[0].y, c[1].y), c[2].y), hy = maxf(maxf(c[0].y, c[1].y), c[2].y);
    if (c[0].w <= 0 || hx < 0 || hy < 0 || lx >= (float)width || ly >= (float)height)
        return false;
    box[0] = (int)maxf(floorf(lx), 0);
    box[1] = (int)maxf(floorf(ly), 0);
    box[2] = (int)minf(ceilf(hx), (float)width);
    box[3] = (int)minf(ceilf(hy), (float)height);
    return box[0] < box[2] && box[1] < box[3];
}

/* Counts triangles in tiles, then with `keep` writes them where the tiles keep them. */
static void bin(film *f, bool keep)
{
    const und_render *r = f->r;
    for (size_t k = 0; k < r->sheet.count; k++) {
        const corner *c = f->corner + 3 * k;
        int box[4];
        if (!bounds(c, r->def.width, r->def.height, box))
            continue;
        float near = maxf(maxf(c[0].w, c[1].w), c[2].w);
        uint32_t bits;
        memcpy(&bits, &near, sizeof bits);
        for (int j = box[1] / SHEET_TILE; j <= (box[3] - 1) / SHEET_TILE; j++)
            for (int i = box[0] / SHEET_TILE; i <= (box[2] - 1) / SHEET_TILE; i++) {
                size_t *place = f->first + j * f->across + i;
                if (keep)
                    f->key[*place] = (uint64_t)bits << 32 | k;
                (*place)++;
            }
    }
}

/* Films tremble: their normal with the slopes of fine waves of some centimetres. */
static f3 ripple(const und_render *r, f3 p, f3 n)
{
    const float size = 0.9f, slope = 0.16f * (float)r->def.ripples;
    float run = (float)fmod(0.3 * r->time, 1000), wave[PATTERN];
    und_pattern_at(&r->ripple, (p.x + 0.6f * p.z) / size, (p.y + 0.7f * p.z) / size - run, wave);
    return f3_unit(f3_add(n, f3_make(slope * wave[0], slope * wave[1], slope * wave[2])));
}

/* Light from a film: what it adds to a pixel, and what share of the light behind it comes through. */
static f3 film_light(const film *f, f3 place, f3 n, float thickness, float *through)
{
    const und_render *r = f->r;
    f3 dir = f3_unit(f3_sub(place, r->camera.eye));
    n = ripple(r, place, n);
    if (f3_dot(n, dir) > 0)
        n = f3_scale(n, -1);
    float one = und_fresnelf(maxf(-f3_dot(dir, n), 0.02f), (float)r->def.refraction);
    float mirrored = 2 * one / (1 + one); /* both faces, with all that goes back and forth between them */
    f3 up = f3_unit(f3_along(dir, n, -2 * f3_dot(dir, n)));
    f3 sky = und_sky_at(&r->sky, up);
    float glint = powf(maxf(f3_dot(up, r->sky.sun), 0), 500);
    sky = f3_along(sky, r->sky.sun_color, minf(60 * glint, 30));
    float white = 0.03f + 0.35f * (1 - stepf(0, 0.5f * f->usual, thickness));
    f3 light = f3_along(r->sky.ambient[0], r->sky.sun_color, 0.3f + 0.3f * fabsf(f3_dot(n, r->sky.sun)));
    *through = (1 - mirrored) * (1 - white);
    return f3_add(f3_scale(sky, mirrored), f3_scale(light, (1 - mirrored) * white));
}

/* Shares of the corners at a place: below 0 outside. */
static void shares(const corner *c, float area, float x, float y, float out[3])
{
    out[1] = ((x - c[0].x) * (c[2].y - c[0].y) - (y - c[0].y) * (c[2].x - c[0].x)) / area;
    out[2] = ((c[1].x - c[0].x) * (y - c[0].y) - (c[1].y - c[0].y) * (x - c[0].x)) / area;
    out[0] = 1 - out[1] - out[2];
}

/* How much of a pixel a triangle covers, by samples; in `middle` the mean place of those inside. */
static float covered(const und_render *r, const corner *c, float area, int x, int y, float middle[3])
{
    enum { FINE = 4 };
    int inside = 0, n = r->def.samples > 1 ? FINE : 1;
    float sum[3] = {0, 0, 0};
    for (int k = 0; k < n * n; k++) {
        float s[3];
        shares(c, area, (float)x + ((float)(k % n) + 0.5f) / (float)n,
               (float)y + ((float)(k / n) + 0.5f) / (float)n, s);
        if (s[0] < 0 || s[1] < 0 || s[2] < 0)
            continue;
        inside++;
        for (int e = 0; e < 3; e++)
            sum[e] += s[e];
    }
    for (int e = 0; e < 3 && inside; e++)
        middle[e] = sum[e] / (float)inside;
    return (float)inside / (float)(n * n);
}

static void draw_triangle(const film *f, tile *t, size_t k)
{
    const und_render *r = f->r;
    const corner *c = f->corner + 3 * k;
    const float *p = r->sheet.position + 9 * k, *n = r->sheet.normal + 9 * k;
    float area = (c[1].x - c[0].x) * (c[2].y - c[0].y) - (c[1].y - c[0].y) * (c[2].x - c[0].x);
    int box[4];
    if (!(fabsf(area) > 1e-9f) || !bounds(c, r->def.width, r->def.height, box))
        return;
    for (int y = box[1] > t->y0 ? box[1] : t->y0; y < box[3] && y < t->y1; y++)
        for (int x = box[0] > t->x0 ? box[0] : t->x0; x < box[2] && x < t->x1; x++) {
            film_pixel *out = t->pixel + (y - t->y0) * SHEET_TILE + x - t->x0;
            float s[3], cover = covered(r, c, area, x, y, s), through;
            float w = cover > 0 ? s[0] * c[0].w + s[1] * c[1].w + s[2] * c[2].w : 0;
            if (!(cover > 0) || w < out->nearest)
                continue;
            f3 place = f3_gray(0), normal = f3_gray(0);
            float thick = 0;
            for (int e = 0; e < 3; e++) { /* seen in perspective */
                float share = s[e] * c[e].w / w;
                place = f3_along(place, f3_of(p + 3 * e), share);
                normal = f3_along(normal, f3_of(n + 3 * e), share);
                thick += share * (f->thickness ? f->thickness[3 * k + (size_t)e] : f->usual);
            }
            thick = thick >= 0 ? thick : 0;
            f3 light = film_light(f, place, f3_unit(normal), thick, &through);
            out->color = f3_along(out->color, light, cover * out->left);
            out->left *= 1 - cover * (1 - through);
        }
}

static int by_nearness(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x < y) - (x > y);
}

static void draw_tile(const film *f, int index, und_image *image)
{
    const und_render *r = f->r;
    size_t first = index ? f->first[index - 1] : 0, last = f->first[index];
    if (first == last)
        return;
    tile t = {.x0 = index % f->across * SHEET_TILE, .y0 = index / f->across * SHEET_TILE};
    t.x1 = t.x0 + SHEET_TILE < image->width ? t.x0 + SHEET_TILE : image->width;
    t.y1 = t.y0 + SHEET_TILE < image->height ? t.y0 + SHEET_TILE : image->height;
    int n = r->def.samples;
    for (int y = t.y0; y < t.y1; y++)
        for (int x = t.x0; x < t.x1; x++) {
            size_t at = (size_t)(y * n + n / 2) * (size_t)r->camera.width + (size_t)(x * n + n / 2);
            t.pixel[(y - t.y0) * SHEET_TILE + x - t.x0] =
                (film_pixel){.left = 1, .nearest = maxf(r->buffers.opaque[at], r->buffers.water[at])};
        }
    qsort(f->key + first, last - first, sizeof *f->key, by_nearness);
    for (size_t k = first; k < last; k++)
        draw_triangle(f, &t, (uint32_t)f->key[k]);
    float gain = exp2f((float)r->def.exposure);
    for (int y = t.y0; y < t.y1; y++)
        for (int x = t.x0; x < t.x1; x++) {
            const film_pixel *p = t.pixel + (y - t.y0) * SHEET_TILE + x - t.x0;
            float *out = image->rgb + 3 * ((size_t)y * (size_t)image->width + (size_t)x);
            out[0] = out[0] * p->left + gain * p->color.x;
            out[1] = out[1] * p->left + gain * p->color.y;
            out[2] = out[2] * p->left + gain * p->color.z;
        }
}

static und_status draw_film(film *f, und_image *image, und_error *err)
{
    const und_soup *sheet = &f->r->sheet;
    int tiles = f->across * f->down;
    f->corner = und_alloc(3 * sheet->count, sizeof *f->corner, "sheets", err);
    f->first = und_alloc((size_t)tiles + 1, sizeof *f->first, "sheets", err);
    if (!f->corner || !f->first)
        return UND_FAILED;
    for (size_t k = 0; k < sheet->count; k++) {
        bool seen = true;
        for (size_t e = 0; e < 3; e++)
            seen = project(f->r, sheet->position + 9 * k + 3 * e, f->corner + 3 * k + e) && seen;
        if (!seen)
            f->corner[3 * k].w = 0;
    }
    bin(f, false);
    size_t sum = 0;
    for (int t = 0; t < tiles; t++) {
        size_t count = f->first[t];
        f->first[t] = sum;
        sum += count;
    }
    if (!(f->key = und_alloc(sum + 1, sizeof *f->key, "sheets", err)))
        return UND_FAILED;
    bin(f, true); /* first[t] is then where tile t ends */
    PARALLEL_FOR(f->r->threads)
    for (int t = 0; t < tiles; t++)
        if (!und_render_stopped(f->r))
            draw_tile(f, t, image);
    return UND_OK;
}

/* The mean thickness: what is much thinner is about to tear. */
static float usual_thickness(const float *thickness, size_t count)
{
    double sum = 0, number = 0;
    for (size_t k = 0; thickness && k < count; k++)
        if (thickness[k] > 0 && thickness[k] < 1e6f) {
            sum += (double)thickness[k];
            number++;
        }
    return number > 0 ? (float)(sum / number) : 0.003f;
}

static bool is_soup(const und_item *item)
{
    return item && item->type == UND_F32 && item->data && und_item_count(item) % 9 == 0 &&
           und_item_count(item) / 9 < (size_t)INT32_MAX / 16;
}

und_status und_sheets(und_render *r, const und_frame *frame, und_image *image, und_error *err)
{
    const und_item *position = und_frame_find(frame, "sheet/mesh_position");
    size_t count = is_soup(position) ? und_item_count(position) / 9 : 0;
    und_status status = und_soup_set(&r->sheet, count ? position->data : NULL, count, err);
    if (status != UND_OK || r->sheet.count == 0)
        return status;
    const und_item *thickness = und_frame_find(frame, "sheet/mesh_thickness");
    film f = {.r = r, .across = (image->width + SHEET_TILE - 1) / SHEET_TILE};
    f.down = (image->height + SHEET_TILE - 1) / SHEET_TILE;
    if (thickness && thickness->type == UND_F32 && und_item_count(thickness) == 3 * r->sheet.count)
        f.thickness = thickness->data;
    f.usual = usual_thickness(f.thickness, 3 * r->sheet.count);
    status = draw_film(&f, image, err);
    free(f.corner);
    free(f.first);
    free(f.key);
    return status;
}
