/* Drops in the air: spray and rain, as a shutter sees them.  Each is a disc drawn out along its way.  They
 * are binned by tiles of the picture and each tile draws its own from near to far, so that the picture does
 * not depend on the threads. */
#include "base/maths.h"
#include "base/random.h"
#include "render/internal.h"
#include "stage/optics.h"

#include <stdlib.h>
#include <string.h>

enum { DROP_TILE = 32, CHUNKS = 64, CHUNK_MIN = 8192, AHEAD = 8 };

typedef struct drop {
    float x, y, dx, dy; /* pixels: where it is, and the way back to where the shutter opened */
    float w[2];         /* 1 / distance at both ends */
    float half;         /* half the width drawn, pixels */
    float alpha;        /* of rain: how much of what is behind it hides */
    float area;         /* pixels; above 0: it is thinner than they are, and drawn as dots */
    float sun;          /* share of the sun's light it sends to the eye */
    float fade;         /* of the tail */
} drop;

typedef struct field {
    const float *position, *velocity, *radius; /* the last two may be NULL */
    size_t count;
    bool rain;
} field;

typedef struct bins {
    int across, down, chunks;
    size_t per_chunk, drops;
    drop *drop;
    size_t *first; /* [tiles + 1]: where a tile's keys begin */
    size_t *place; /* [chunks][tiles]: number, then where a chunk's keys of a tile begin */
    uint64_t *key; /* 1 / distance, then the drop's number */
    f3 *behind;    /* the picture without drops, seen through large ones; NULL: there are none */
    f3 sky_light;
} bins;

static const float *floats(const und_frame *frame, const char *name, size_t count)
{
    const und_item *item = und_frame_find(frame, name);
    bool fits = item && item->type == UND_F32 && item->data && und_item_count(item) == count;
    return fits ? item->data : NULL;
}

static field find_field(const und_frame *frame, const char *position, const char *velocity,
                        const char *radius)
{
    const und_item *item = und_frame_find(frame, position);
    field f = {0};
    if (!item || item->type != UND_F32 || !item->data)
        return f;
    f.count = und_item_count(item) / 3;
    f.position = item->data;
    f.velocity = floats(frame, velocity, 3 * f.count);
    f.radius = radius ? floats(frame, radius, f.count) : NULL;
    f.rain = !radius;
    return f;
}

/* Rain is drawn to be seen, thin as it is; the tail fades. */
static void see_rain(drop *d, float radius)
{
    d->half = maxf(radius, 0.55f);
    d->alpha = 0.55f * clampf(radius / d->half, 0.18f, 1);
    d->sun = 0.22f;
    d->fade = 0.6f;
    d->area = 0;
}

/* Light scattered by a clear drop goes mostly on forwards (Henyey & Greenstein 1941, g = 0.5); a few show the
 * sun itself. */
static float scattered_sun(f3 dir, f3 sun, size_t number)
{
    return und_drop_sun(f3_dot(dir, sun), (float)und_random(17, 1, number));
}

/* What is drawn covers as much as the drop does, for as long as it is there. */
static void see_spray(drop *d, float radius)
{
    d->half = maxf(radius, 0.5f);
    d->alpha = 1;
    d->area = radius <= 0.5f ? 3.1415927f * radius * radius : 0;
    d->fade = 0;
}

static bool make_drop(const und_scenery *stage, const field *f, size_t k, drop *d)
{
    const und_shot *c = &stage->camera;
    float stretch = (float)stage->def.vertical, samples = (float)stage->def.samples, x[2], y[2];
    float radius = f->radius ? f->radius[k] : 0.5f * (float)stage->def.rain_width;
    const float *p = f->position + 3 * k;
    f3 q = f3_make(p[0], p[1] * stretch, p[2]), way = f3_gray(0), dir = f3_gray(0);
    if (f->velocity) {
        const float *v = f->velocity + 3 * k;
        way = f3_scale(f3_make(v[0], v[1] * stretch, v[2]), -(float)stage->def.shutter);
    }
    if (!(f3_dot(way, way) < 1e12f))
        way = f3_gray(0);
    for (int e = 0; e < 2; e++) {
        f3 to = f3_sub(f3_along(q, way, (float)e), c->eye);
        float along = f3_dot(to, c->forward);
        if (!(along > c->near * 10) || !(along < 1e9f))
            return false;
        dir = e ? dir : to;
        d->w[e] = 1 / along;
        x[e] = (0.5f * (float)c->width + c->focal * f3_dot(to, c->right) / along) / samples;
        y[e] = (0.5f * (float)c->height - c->focal * f3_dot(to, c->up) / along) / samples;
        if (!(fabsf(x[e]) < 1e5f && fabsf(y[e]) < 1e5f))
            return false;
    }
    d->x = x[0];
    d->y = y[0];
    d->dx = x[1] - x[0];
    d->dy = y[1] - y[0];
    float pixels = radius * c->focal / samples * d->w[0];
    if (!(pixels > 1e-6f && pixels < 0.12f * (float)stage->def.height)) /* nearer ones are before the lens */
        return false;
    if (f->rain) {
        see_rain(d, pixels);
    } else {
        see_spray(d, pixels);
        d->sun = scattered_sun(f3_unit(dir), stage->sky.sun, k);
    }
    return true;
}

/* What columns a drop may cover in rows ya to yb (places, not numbers). */
static bool span(const drop *d, float ya, float yb, float pad, float *xa, float *xb)
{
    float from = 0, to = 1;
    ya -= pad;
    yb += pad;
    if (fabsf(d->dy) > 1e-4f) {
        float a = (ya - d->y) / d->dy, b = (yb - d->y) / d->dy;
        from = maxf(minf(a, b), 0);
        to = minf(maxf(a, b), 1);
    } else if (d->y < ya || d->y > yb) {
        return false;
    }
    if (from > to)
        return false;
    float first = d->x + from * d->dx, last = d->x + to * d->dx;
    *xa = minf(first, last) - pad;
    *xb = maxf(first, last) + pad;
    return true;
}

static int clamp_tile(float place, int count)
{
    return (int)clampf(floorf(place / DROP_TILE), 0, (float)(count - 1));
}

/* Counts a drop in all tiles it may cover, or writes it where they keep it. */
static void put(const bins *b, const und_image *image, const drop *d, size_t number, size_t *place, bool keep)
{
    float low = minf(d->y, d->y + d->dy) - d->half - 1, high = maxf(d->y, d->y + d->dy) + d->half + 1;
    if (high < 0 || low > (float)image->height)
        return;
    uint32_t near;
    memcpy(&near, &d->w[0], sizeof near); /* positive: orders as the number does */
    for (int j = clamp_tile(low, b->down); j <= clamp_tile(high, b->down); j++) {
        float xa, xb;
        if (!span(d, (float)(j * DROP_TILE), (float)((j + 1) * DROP_TILE), d->half + 1, &xa, &xb) || xb < 0 ||
            xa > (float)image->width)
            continue;
        for (int i = clamp_tile(xa, b->across); i <= clamp_tile(xb, b->across); i++) {
            size_t *at = place + j * b->across + i;
            if (keep)
                b->key[*at] = (uint64_t)near << 32 | number;
            (*at)++;
        }
    }
}

/* A pixel of a drop large enough to be looked into: what is behind it, upside down, and the sky on it.
 * (u, v): right and up from its middle, in radii. */
static f3 lens_color(const und_scenery *stage, const bins *b, f3 dir, float u, float v, float gain)
{
    const und_shot *c = &stage->camera;
    float ratio = (float)stage->def.refraction, out = minf(u * u + v * v, 0.98f);
    f3 side = f3_unit(f3_cross(dir, c->up)), over = f3_cross(side, dir);
    f3 n = f3_add(f3_add(f3_scale(side, u), f3_scale(over, v)), f3_scale(dir, -sqrtf(1 - out)));
    n = f3_unit(n);
    float in[3] = {dir.x, dir.y, dir.z}, face[3] = {n.x, n.y, n.z}, inside[3], away[3];
    if (!und_refract(in, face, ratio, inside))
        return b->sky_light;
    f3 through = f3_of(inside), far = f3_along(n, through, -2 * f3_dot(through, n));
    float back[3] = {-far.x, -far.y, -far.z};
    f3 leaves = und_refract(inside, back, 1 / ratio, away) ? f3_of(away) : through, below;
    float along = f3_dot(leaves, c->forward), s = (float)stage->def.samples;
    float x = (0.5f * (float)c->width + c->focal * f3_dot(leaves, c->right) / maxf(along, 0.01f)) / s;
    float y = (0.5f * (float)c->height - c->focal * f3_dot(leaves, c->up) / maxf(along, 0.01f)) / s;
    if (along > 0.01f && x >= 0 && y >= 0 && x < (float)stage->def.width && y < (float)stage->def.height)
        below = b->behind[(size_t)y * (size_t)stage->def.width + (size_t)x];
    else
        below = f3_scale(und_sky_at(&stage->sky, leaves), gain);
    f3 up = f3_along(dir, n, -2 * f3_dot(dir, n));
    float mirrored = und_fresnelf(-f3_dot(dir, n), ratio);
    f3 color = f3_mix(below, f3_scale(und_sky_at(&stage->sky, up), gain), mirrored);
    float glint = und_powf(maxf(f3_dot(up, stage->sky.sun), 0), 120) +
                  und_powf(maxf(f3_dot(leaves, stage->sky.sun), 0), 60);
    return f3_along(color, stage->sky.sun_color, minf(2.5f * glint, 6) * gain);
}

/* A tile is drawn from near to far: what a pixel still lets through is kept, and nothing more is drawn where
 * that is next to nothing. */
typedef struct tile_pixel {
    f3 color;
    float left;    /* share of the light behind that comes through; 0: closed */
    float nearest; /* 1 / distance of what hides drops */
    und_film_seen film;
} tile_pixel;

typedef struct tile {
    int x0, y0, x1, y1;
    int open; /* pixels */
    tile_pixel pixel[DROP_TILE * DROP_TILE];
} tile;

static const float CLOSED = 1.0f / 400;
static const float CLEAR = 0.85f; /* of a drop: the rest of its light is scattered */

static tile_pixel *tile_at(tile *t, int x, int y)
{
    return t->pixel + (y - t->y0) * DROP_TILE + x - t->x0;
}

/* With a drop at 1 / distance w. */
static void cover_pixel(tile *t, tile_pixel *p, f3 light, float a, float w)
{
    a *= w < p->film.w ? p->film.through : 1;
    p->color = f3_along(p->color, light, p->left * a);
    p->left *= 1 - a;
    if (p->left < CLOSED) {
        t->open--;
        p->color = f3_scale(p->color, 1 / (1 - p->left));
        p->left = 0;
    }
}

/* A drop smaller than a pixel: shared out among four at each of some places along its way, a pixel apart. */
static void draw_dots(tile *t, const drop *d, f3 light)
{
    int count = 1 + (int)maxf(fabsf(d->dx), fabsf(d->dy));
    float step = 1 / (float)count, area = d->area * step;
    for (int i = 0; i < count; i++) {
        float part = ((float)i + 0.5f) * step, px = d->x + part * d->dx - 0.5f,
              py = d->y + part * d->dy - 0.5f, bx = floorf(px), by = floorf(py);
        float w = mixf(d->w[0], d->w[1], part), fx = px - bx, fy = py - by;
        int x = (int)bx, y = (int)by;
        if (x < t->x0 - 1 || y < t->y0 - 1 || x >= t->x1 || y >= t->y1)
            continue;
        for (int k = 0; k < 4; k++) {
            int qx = x + (k & 1), qy = y + (k >> 1);
            if (qx < t->x0 || qy < t->y0 || qx >= t->x1 || qy >= t->y1)
                continue;
            tile_pixel *p = tile_at(t, qx, qy);
            if (p->left > 0 && w >= p->nearest)
                cover_pixel(t, p, light, area * (k & 1 ? fx : 1 - fx) * (k >> 1 ? fy : 1 - fy), w);
        }
    }
}

static f3 drop_direction(const und_scenery *stage, const drop *d)
{
    const und_shot *c = &stage->camera;
    float s = (float)stage->def.samples;
    f3 dir = f3_along(c->forward, c->right, (d->x * s - 0.5f * (float)c->width) / c->focal);
    return f3_unit(f3_along(dir, c->up, (0.5f * (float)c->height - d->y * s) / c->focal));
}

/* Area of a disc on the near side of a line at `t` from its middle, less half of it. */
static float disc_part(float radius, float t)
{
    t = clampf(t, -radius, radius);
    return t * sqrtf(maxf(radius * radius - t * t, 0)) + radius * radius * und_asinf(t / radius);
}

/* In the pixel's mean its chord is 2 c. */
float und_disc_share(float radius, float along, float across, float length)
{
    float c = 0.5f * (disc_part(radius, across + 0.5f) - disc_part(radius, across - 0.5f));
    return maxf(minf(along + c, length + 0.5f) - maxf(along - c, -0.5f), 0) / (length + 1);
}

/* Rain: a line that fades towards its end. */
static float line_share(const drop *d, float part, float off2)
{
    return stepf(0, 1, d->half + 0.5f - sqrtf(off2)) * d->alpha * (1 - d->fade * part);
}

static void draw_streak(const und_scenery *stage, const bins *b, tile *t, const drop *d, f3 light)
{
    const bool rain = d->fade > 0;
    float length = sqrtf(d->dx * d->dx + d->dy * d->dy), per_length2 = 1 / maxf(length * length, 1e-6f);
    float ux = length > 1e-3f ? d->dx / length : 1, uy = length > 1e-3f ? d->dy / length : 0;
    /* Water that is large enough to be looked into is clear; what is smaller is mist. */
    float clear = b->behind && !rain ? CLEAR * stepf(0.5f, 1.2f, d->half) : 0;
    f3 dir = clear > 0 ? drop_direction(stage, d) : f3_gray(0);
    float gain = clear > 0 ? und_exp2f((float)stage->def.exposure) : 1, outer = d->half + 0.75f;
    int y0 = (int)clampf(floorf(minf(d->y, d->y + d->dy) - outer), (float)t->y0, (float)t->y1);
    int y1 = (int)clampf(ceilf(maxf(d->y, d->y + d->dy) + outer), (float)t->y0, (float)t->y1);
    for (int y = y0; y < y1; y++) {
        float xa, xb, py = (float)y + 0.5f - d->y;
        if (!span(d, (float)y + 0.5f, (float)y + 0.5f, outer, &xa, &xb))
            continue;
        int x0 = (int)clampf(floorf(xa), (float)t->x0, (float)t->x1);
        int x1 = (int)clampf(ceilf(xb), (float)t->x0, (float)t->x1);
        for (int x = x0; x < x1; x++) {
            tile_pixel *p = tile_at(t, x, y);
            float px = (float)x + 0.5f - d->x;
            float part = clampf((px * d->dx + py * d->dy) * per_length2, 0, 1);
            float ex = px - part * d->dx, ey = py - part * d->dy, off2 = ex * ex + ey * ey;
            float w = mixf(d->w[0], d->w[1], part);
            if (off2 >= outer * outer || p->left <= 0 || w < p->nearest)
                continue;
            float share = rain ? line_share(d, part, off2)
                               : und_disc_share(d->half, px * ux + py * uy, px * uy - py * ux, length);
            if (share <= 0)
                continue;
            f3 color = light;
            if (clear > 0)
                color = f3_mix(light, lens_color(stage, b, dir, ex / d->half, -ey / d->half, gain), clear);
            cover_pixel(t, p, color, share, w);
        }
    }
}

static int by_nearness(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x < y) - (x > y);
}

static void open_tile(const und_render *r, const und_image *image, tile *t)
{
    t->x1 = t->x0 + DROP_TILE < image->width ? t->x0 + DROP_TILE : image->width;
    t->y1 = t->y0 + DROP_TILE < image->height ? t->y0 + DROP_TILE : image->height;
    t->open = (t->x1 - t->x0) * (t->y1 - t->y0);
    int n = r->stage->def.samples;
    const und_film_seen *films = r->has_films ? r->films.memory : NULL;
    for (int y = t->y0; y < t->y1; y++)
        for (int x = t->x0; x < t->x1; x++) {
            size_t at = (size_t)(y * n + n / 2) * (size_t)r->stage->camera.width + (size_t)(x * n + n / 2);
            float nearest = maxf(r->buffers.opaque[at], r->buffers.water[at]);
            *tile_at(t, x, y) = (tile_pixel){.left = 1, .nearest = nearest};
            if (films)
                tile_at(t, x, y)->film = films[(size_t)y * (size_t)image->width + (size_t)x];
        }
}

static void draw_tile(const und_render *r, const bins *b, int index, und_image *image)
{
    tile t = {.x0 = index % b->across * DROP_TILE, .y0 = index / b->across * DROP_TILE};
    size_t first = b->first[index], last = b->first[index + 1];
    if (first == last)
        return;
    open_tile(r, image, &t);
    qsort(b->key + first, last - first, sizeof *b->key, by_nearness);
    f3 sun = f3_scale(r->stage->sky.sun_color, und_exp2f((float)r->stage->def.exposure));
    for (size_t k = first; k < last && t.open > 0; k++) {
        if (k + AHEAD < last)
            __builtin_prefetch(b->drop + (uint32_t)b->key[k + AHEAD]);
        const drop *d = b->drop + (uint32_t)b->key[k];
        f3 light = f3_along(b->sky_light, sun, d->sun);
        if (d->area > 0)
            draw_dots(&t, d, light);
        else
            draw_streak(r->stage, b, &t, d, light);
    }
    for (int y = t.y0; y < t.y1; y++)
        for (int x = t.x0; x < t.x1; x++) {
            const tile_pixel *p = tile_at(&t, x, y);
            float *out = image->rgb + 3 * ((size_t)y * (size_t)image->width + (size_t)x);
            out[0] = out[0] * p->left + p->color.x;
            out[1] = out[1] * p->left + p->color.y;
            out[2] = out[2] * p->left + p->color.z;
        }
}

/* Makes the drops of both fields and counts them; what is not seen keeps a width of 0. */
static void make_chunk(const und_scenery *stage, const field f[2], bins *b, const und_image *image, int chunk)
{
    size_t from = (size_t)chunk * b->per_chunk, to = from + b->per_chunk;
    size_t *place = b->place + (size_t)chunk * (size_t)(b->across * b->down);
    for (size_t k = from; k < to && k < b->drops; k++) {
        bool second = k >= f[0].count;
        drop *d = b->drop + k;
        if (make_drop(stage, &f[second], second ? k - f[0].count : k, d))
            put(b, image, d, k, place, false);
        else
            d->half = 0;
    }
}

static void keep_chunk(const bins *b, const und_image *image, int chunk)
{
    size_t from = (size_t)chunk * b->per_chunk, to = from + b->per_chunk;
    size_t *place = b->place + (size_t)chunk * (size_t)(b->across * b->down);
    for (size_t k = from; k < to && k < b->drops; k++)
        if (b->drop[k].half > 0)
            put(b, image, b->drop + k, k, place, true);
}

/* Numbers become places: tile by tile, and within a tile chunk by chunk. */
static void place_keys(bins *b)
{
    size_t sum = 0, tiles = (size_t)(b->across * b->down);
    for (size_t t = 0; t < tiles; t++) {
        b->first[t] = sum;
        for (int c = 0; c < b->chunks; c++) {
            size_t *place = b->place + (size_t)c * tiles + t, number = *place;
            *place = sum;
            sum += number;
        }
    }
    b->first[tiles] = sum;
}

static und_status keep_picture(bins *b, const und_image *image, und_error *err)
{
    bool large = false;
    for (size_t k = 0; k < b->drops && !large; k++)
        large = b->drop[k].half > 0.5f && b->drop[k].fade == 0;
    if (!large)
        return UND_OK;
    size_t count = (size_t)image->width * (size_t)image->height;
    if (!(b->behind = und_alloc(count, sizeof(f3), "drops", err)))
        return UND_FAILED;
    memcpy(b->behind, image->rgb, count * sizeof(f3));
    return UND_OK;
}

static und_status draw_fields(und_render *r, const field f[2], bins *b, und_image *image, und_error *err)
{
    size_t tiles = (size_t)(b->across * b->down);
    b->drop = und_hold(&r->drops, b->drops * sizeof *b->drop, err);
    b->first = und_alloc(tiles + 1, sizeof *b->first, "drops", err);
    b->place = und_alloc((size_t)b->chunks * tiles, sizeof *b->place, "drops", err);
    if (!b->drop || !b->first || !b->place)
        return UND_FAILED;
    PARALLEL_FOR(r->stage->threads)
    for (int c = 0; c < b->chunks; c++)
        make_chunk(r->stage, f, b, image, c);
    place_keys(b);
    b->key = und_hold(&r->drop_keys, (b->first[tiles] + 1) * sizeof *b->key, err);
    if (!b->key || keep_picture(b, image, err) != UND_OK)
        return UND_FAILED;
    PARALLEL_FOR(r->stage->threads)
    for (int c = 0; c < b->chunks; c++)
        keep_chunk(b, image, c);
    PARALLEL_FOR(r->stage->threads)
    for (int t = 0; t < (int)tiles; t++)
        if (!und_scenery_stopped(r->stage))
            draw_tile(r, b, t, image);
    return UND_OK;
}

und_status und_drops(und_render *r, const und_frame *frame, und_image *image, und_error *err)
{
    field f[2] = {find_field(frame, "spray/position", "spray/velocity", "spray/radius"),
                  find_field(frame, "rain/position", "rain/velocity", NULL)};
    bins b = {.drops = f[0].count + f[1].count};
    if (b.drops == 0 || b.drops > UINT32_MAX)
        return UND_OK;
    b.across = (image->width + DROP_TILE - 1) / DROP_TILE;
    b.down = (image->height + DROP_TILE - 1) / DROP_TILE;
    b.per_chunk = (b.drops + CHUNKS - 1) / CHUNKS;
    b.per_chunk = b.per_chunk > CHUNK_MIN ? b.per_chunk : CHUNK_MIN;
    b.chunks = (int)((b.drops + b.per_chunk - 1) / b.per_chunk);
    b.sky_light = f3_scale(r->stage->sky.ambient[0], und_exp2f((float)r->stage->def.exposure));
    und_status status = draw_fields(r, f, &b, image, err);
    free(b.first);
    free(b.place);
    free(b.behind);
    return status;
}
