/* Sheets of water in the air: thin films that mirror the sky, most where they are seen along; that let
 * through what is behind them, moved a little since they tremble; and that end in rims, which gather light.
 * They are binned by tiles of the picture; each tile draws its own from near to far, so that the picture does
 * not depend on the threads. */
#include "base/maths.h"
#include "render/internal.h"
#include "stage/optics.h"

#include <stdlib.h>
#include <string.h>

enum { SHEET_TILE = 32 };

typedef struct corner {
    float x, y, w; /* pixels, 1 / distance */
} corner;

typedef struct film {
    und_render *r;
    const float *rim; /* 1 at a rim to 0; NULL: there are none */
    f3 *behind;       /* the picture without sheets */
    int across, down;
    corner *corner; /* [3 triangles]; w 0: the triangle is not seen */
    size_t *first;  /* [tiles + 1] */
    uint64_t *key;  /* 1 / distance, then the triangle */
} film;

typedef struct film_pixel {
    f3 color;
    float left, nearest;
    float shift[2]; /* pixels, of what is seen through it */
    und_film_seen seen;
} film_pixel;

typedef struct tile {
    int x0, y0, x1, y1;
    film_pixel pixel[SHEET_TILE * SHEET_TILE];
} tile;

static bool project(const und_scenery *stage, const float *p, corner *out)
{
    const und_shot *c = &stage->camera;
    f3 d = f3_sub(f3_of(p), c->eye);
    float along = f3_dot(d, c->forward), s = (float)stage->def.samples;
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
    const und_scenery *stage = f->r->stage;
    for (size_t k = 0; k < stage->sheet.count; k++) {
        const corner *c = f->corner + 3 * k;
        int box[4];
        if (!bounds(c, stage->def.width, stage->def.height, box))
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
static f3 ripple(const und_scenery *stage, f3 p, f3 n)
{
    const float size = 0.9f, slope = 0.2f * sqrtf((float)stage->def.ripples);
    float run = (float)fmod(0.3 * stage->time, 1000), wave[PATTERN];
    und_pattern_at(&stage->ripple, (p.x + 0.6f * p.z) / size, (p.y + 0.7f * p.z) / size - run, wave);
    return f3_unit(f3_add(n, f3_make(slope * wave[0], slope * wave[1], slope * wave[2])));
}

/* What a film mirrors: the sky, or below the horizon the water, which mirrors it and is a fifth as bright. */
static f3 mirrored_sky(const und_scenery *stage, f3 up)
{
    if (up.y >= 0)
        return und_sky_at(&stage->sky, up);
    float mirrored = und_fresnelf(maxf(-up.y, UND_LEAST_THROUGH), (float)stage->def.refraction);
    f3 sky = und_sky_at(&stage->sky, f3_make(up.x, -up.y, up.z));
    return f3_add(f3_scale(sky, mirrored), f3_scale(stage->sky.ambient[0], 0.2f * (1 - mirrored)));
}

/* Water's edges refract light of all the sky, and most of the sun's when that is behind them. */
static f3 gathered_light(const und_scenery *stage, f3 dir, f3 n)
{
    float forwards = und_forwards(f3_dot(dir, stage->sky.sun));
    return f3_along(stage->sky.ambient[0], stage->sky.sun_color,
                    forwards * (0.25f + 0.25f * fabsf(f3_dot(n, stage->sky.sun))));
}

/* What a place of a film does to a pixel. */
typedef struct film_light {
    f3 adds;
    float through; /* share of the light behind that comes through */
    float shift[2];
} film_light;

static film_light light_of(const film *f, f3 place, f3 smooth, float rim)
{
    const und_scenery *stage = f->r->stage;
    const und_shot *c = &stage->camera;
    f3 dir = f3_unit(f3_sub(place, c->eye)), n = ripple(stage, place, smooth), bend = f3_sub(n, smooth);
    float pixels = 0.18f * c->focal / (float)stage->def.samples;
    film_light out = {.shift = {pixels * f3_dot(bend, c->right), -pixels * f3_dot(bend, c->up)}};
    if (f3_dot(n, dir) > 0)
        n = f3_scale(n, -1);
    float one = und_fresnelf(maxf(-f3_dot(dir, n), UND_LEAST_THROUGH), (float)stage->def.refraction);
    float mirrored = und_both_faces(one);
    f3 up = f3_unit(f3_along(dir, n, -2 * f3_dot(dir, n)));
    f3 sky = mirrored_sky(stage, up);
    float glint = und_powf(maxf(f3_dot(up, stage->sky.sun), 0), 500);
    sky = f3_along(sky, stage->sky.sun_color, minf(60 * glint, 30));
    float white = UND_FILM_VEIL + UND_FILM_RIM * rim * rim;
    f3 scattered = f3_mix(gathered_light(stage, dir, n), stage->sky.ambient[0], UND_FILM_VEIL / white);
    out.through = (1 - mirrored) * (1 - white);
    out.adds = f3_along(f3_scale(sky, mirrored), scattered, (1 - mirrored) * white);
    return out;
}

/* Adds a film at 1 / distance w that covers part of a pixel. */
static void cover_pixel(film_pixel *p, const film_light *light, float cover, float w)
{
    const float same = 0.98f; /* 1 / distance of two parts of one film, at least */
    float through = 1 - cover * (1 - light->through);
    p->color = f3_along(p->color, light->adds, cover * p->left);
    for (int a = 0; a < 2; a++)
        p->shift[a] += cover * p->left * light->shift[a];
    p->left *= through;
    if (p->seen.w == 0)
        p->seen = (und_film_seen){w, 1};
    if (w > same * p->seen.w)
        p->seen.through *= through;
}

/* Shares of the corners at a place: below 0 outside. */
static void shares(const corner *c, float area, float x, float y, float out[3])
{
    out[1] = ((x - c[0].x) * (c[2].y - c[0].y) - (y - c[0].y) * (c[2].x - c[0].x)) / area;
    out[2] = ((c[1].x - c[0].x) * (y - c[0].y) - (c[1].y - c[0].y) * (x - c[0].x)) / area;
    out[0] = 1 - out[1] - out[2];
}

/* How much of a pixel a triangle covers, by samples; in `middle` the mean place of those inside. */
static float covered(const und_scenery *stage, const corner *c, float area, int x, int y, float middle[3])
{
    enum { FINE = 4 };
    int inside = 0, n = stage->def.samples > 1 ? FINE : 1;
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
    const und_scenery *stage = f->r->stage;
    const corner *c = f->corner + 3 * k;
    const float *p = stage->sheet.position + 9 * k, *n = stage->sheet.normal + 9 * k;
    float area = (c[1].x - c[0].x) * (c[2].y - c[0].y) - (c[1].y - c[0].y) * (c[2].x - c[0].x);
    int box[4];
    if (!(fabsf(area) > 1e-9f) || !bounds(c, stage->def.width, stage->def.height, box))
        return;
    for (int y = box[1] > t->y0 ? box[1] : t->y0; y < box[3] && y < t->y1; y++)
        for (int x = box[0] > t->x0 ? box[0] : t->x0; x < box[2] && x < t->x1; x++) {
            film_pixel *out = t->pixel + (y - t->y0) * SHEET_TILE + x - t->x0;
            float s[3], cover = covered(stage, c, area, x, y, s);
            float w = cover > 0 ? s[0] * c[0].w + s[1] * c[1].w + s[2] * c[2].w : 0;
            if (!(cover > 0) || w < out->nearest)
                continue;
            f3 place = f3_gray(0), normal = f3_gray(0);
            float rim = 0;
            for (int e = 0; e < 3; e++) { /* seen in perspective */
                float share = s[e] * c[e].w / w;
                place = f3_along(place, f3_of(p + 3 * e), share);
                normal = f3_along(normal, f3_of(n + 3 * e), share);
                rim += share * (f->rim ? f->rim[3 * k + (size_t)e] : 0);
            }
            film_light light = light_of(f, place, f3_unit(normal), rim > 0 && rim < 1 ? rim : rim >= 1);
            cover_pixel(out, &light, cover, w);
        }
}

static int by_nearness(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x < y) - (x > y);
}

/* The picture behind the films, between four pixels. */
static f3 seen_through(const film *f, float x, float y)
{
    int width = f->r->stage->def.width, height = f->r->stage->def.height;
    x = clampf(x, 0, (float)(width - 1));
    y = clampf(y, 0, (float)(height - 1));
    int x0 = (int)x, y0 = (int)y, x1 = x0 + 1 < width ? x0 + 1 : x0, y1 = y0 + 1 < height ? y0 + 1 : y0;
    f3 above = f3_mix(f->behind[y0 * width + x0], f->behind[y0 * width + x1], x - (float)x0);
    f3 below = f3_mix(f->behind[y1 * width + x0], f->behind[y1 * width + x1], x - (float)x0);
    return f3_mix(above, below, y - (float)y0);
}

/* Puts the films of a tile over the picture. */
static void keep_tile(const film *f, const tile *t, und_image *image)
{
    float gain = und_exp2f((float)f->r->stage->def.exposure);
    und_film_seen *seen = f->r->films.memory;
    for (int y = t->y0; y < t->y1; y++)
        for (int x = t->x0; x < t->x1; x++) {
            const film_pixel *p = t->pixel + (y - t->y0) * SHEET_TILE + x - t->x0;
            size_t at = (size_t)y * (size_t)image->width + (size_t)x;
            if (p->seen.w == 0)
                continue;
            f3 out = f3_scale(seen_through(f, (float)x + p->shift[0], (float)y + p->shift[1]), p->left);
            out = f3_along(out, p->color, gain);
            memcpy(image->rgb + 3 * at, &out, sizeof out);
            seen[at] = p->seen;
        }
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
    int n = r->stage->def.samples;
    for (int y = t.y0; y < t.y1; y++)
        for (int x = t.x0; x < t.x1; x++) {
            size_t at = (size_t)(y * n + n / 2) * (size_t)r->stage->camera.width + (size_t)(x * n + n / 2);
            t.pixel[(y - t.y0) * SHEET_TILE + x - t.x0] =
                (film_pixel){.left = 1, .nearest = maxf(r->buffers.opaque[at], r->buffers.water[at])};
        }
    qsort(f->key + first, last - first, sizeof *f->key, by_nearness);
    for (size_t k = first; k < last; k++)
        draw_triangle(f, &t, (uint32_t)f->key[k]);
    keep_tile(f, &t, image);
}

static und_status draw_film(film *f, und_image *image, und_error *err)
{
    const und_drawn_mesh *sheet = &f->r->stage->sheet;
    int tiles = f->across * f->down;
    f->corner = und_alloc(3 * sheet->count, sizeof *f->corner, "sheets", err);
    f->first = und_alloc((size_t)tiles + 1, sizeof *f->first, "sheets", err);
    size_t pixels = (size_t)image->width * (size_t)image->height;
    f->behind = und_alloc(pixels, sizeof *f->behind, "sheets", err);
    if (!f->corner || !f->first || !f->behind || !und_hold(&f->r->films, pixels * sizeof(und_film_seen), err))
        return UND_FAILED;
    memcpy(f->behind, image->rgb, pixels * sizeof *f->behind);
    memset(f->r->films.memory, 0, pixels * sizeof(und_film_seen));
    for (size_t k = 0; k < sheet->count; k++) {
        bool seen = true;
        for (size_t e = 0; e < 3; e++)
            seen = project(f->r->stage, sheet->position + 9 * k + 3 * e, f->corner + 3 * k + e) && seen;
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
    PARALLEL_FOR(f->r->stage->threads)
    for (int t = 0; t < tiles; t++)
        if (!und_scenery_stopped(f->r->stage))
            draw_tile(f, t, image);
    return UND_OK;
}

static bool is_soup(const und_item *item)
{
    return item && item->type == UND_F32 && item->data && und_item_count(item) % 9 == 0 &&
           und_item_count(item) / 9 < (size_t)INT32_MAX / 16;
}

und_status und_render_sheets(und_render *r, const und_frame *frame, und_image *image, und_error *err)
{
    const und_item *position = und_frame_find(frame, "sheet/mesh_position");
    size_t count = is_soup(position) ? und_item_count(position) / 9 : 0;
    und_status status = und_stage_soup_set(&r->stage->sheet, count ? position->data : NULL, count, err);
    r->has_films = false;
    if (status != UND_OK || r->stage->sheet.count == 0)
        return status;
    const und_item *rim = und_frame_find(frame, "sheet/mesh_rim");
    film f = {.r = r, .across = (image->width + SHEET_TILE - 1) / SHEET_TILE};
    f.down = (image->height + SHEET_TILE - 1) / SHEET_TILE;
    if (rim && rim->type == UND_F32 && und_item_count(rim) == 3 * r->stage->sheet.count)
        f.rim = rim->data;
    status = draw_film(&f, image, err);
    r->has_films = status == UND_OK;
    free(f.behind);
    free(f.corner);
    free(f.first);
    free(f.key);
    return status;
}
