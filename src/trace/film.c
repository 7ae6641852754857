/* Camera rays, and how many of them each pixel gets. */
#include "trace/film.h"

#include "base/maths.h"
#include "base/status.h"
#include "stage/scenery.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = UND_FILM_BATCH, PACK = 4 /* batches */, TILE_SIDE = 16, STEPS = 512, REACH = 2 };

static const float AROUND = 6; /* differences that the neighbours count for in a pixel's noise */
static const float LONE = 8;   /* times as bright as the other batches: not one of them */

/* What is kept of a pixel from round to round. */
typedef struct pixel {
    double sum[3];                     /* of its samples */
    double squares[3];                 /* of the batches' means about their mean (Welford 1962) */
    double packed[3], pack_squares[3]; /* sum up to the last whole pack of batches, and the same of packs */
    int batches, met, wanted;          /* wanted: batches in the coming round */
    int dropped;
    uint32_t rays;      /* cast for it */
    float nearest;      /* of its samples to the middle: squared distance */
    float brightest[3]; /* batch, its sum */
} pixel;

typedef struct film {
    const und_film_def *def;
    const und_film_lens *lens;
    und_subject subject;
    und_layers *layers;
    pixel *pixels;
    float *square, *rows; /* of a pixel's error as displayed; the same smoothed along rows */
    float *shown, *noise; /* displayed brightness; error as a share */
    float filter[STEPS + 1];
    int tiles[2];
    bool still;            /* the camera does not move */
    double done, expected; /* batches, of the whole picture */
    pthread_mutex_t telling;
} film;

/* The filter's height, over [-1, 1]; Blackman & Tukey's window as Harris 1978 put it. */
static double window(und_filter filter, double x)
{
    double a = M_PI * (x + 1);
    switch (filter) {
    case UND_FILTER_GAUSSIAN:
        return und_exp(-4.5 * x * x);
    case UND_FILTER_TENT:
        return 1 - fabs(x);
    case UND_FILTER_BOX:
        return 1;
    case UND_FILTER_BLACKMAN:
        break;
    }
    return 0.35875 - 0.48829 * und_cos(a) + 0.14128 * und_cos(2 * a) - 0.01168 * und_cos(3 * a);
}

/* The inverse of the filter's distribution: samples fall as densely as the filter is high, and all weigh the
 * same (Ernst, Stamminger & Greiner 2006). */
static void tabulate_filter(film *f)
{
    enum { FINE = 16 * STEPS };
    static const float own[] = {1.5f, 1.5f, 1, 0.5f};
    const und_filter filter = f->def->filter;
    const float radius = f->def->filter_radius > 0 ? f->def->filter_radius : own[filter];
    double total = 0, sum = 0;
    for (int i = 0; i < FINE; i++)
        total += window(filter, (2 * i + 1.0) / FINE - 1);
    for (int i = 0, k = 0; i < FINE; i++) {
        double here = window(filter, (2 * i + 1.0) / FINE - 1) / total;
        for (; k < STEPS && sum + here >= (double)k / STEPS; k++) {
            double part = ((double)k / STEPS - sum) / here;
            f->filter[k] = radius * (float)(2 * (i + part) / FINE - 1);
        }
        sum += here;
    }
    f->filter[STEPS] = radius;
}

static float filter_at(const film *f, float u)
{
    float x = u * STEPS;
    int k = (int)x < STEPS ? (int)x : STEPS - 1;
    return mixf(f->filter[k], f->filter[k + 1], x - (float)k);
}

/* A disc from a square, without breaking its strata (Shirley & Chiu 1997). */
static void disc(float u, float v, float *x, float *y)
{
    float a = 2 * u - 1, b = 2 * v - 1, r, angle;
    if (a == 0 && b == 0) {
        *x = *y = 0;
        return;
    }
    if (fabsf(a) > fabsf(b)) {
        r = a;
        angle = 0.25f * (float)M_PI * (b / a);
    } else {
        r = b;
        angle = 0.5f * (float)M_PI - 0.25f * (float)M_PI * (a / b);
    }
    *x = r * und_cosf(angle);
    *y = r * und_sinf(angle);
}

/* The ray through a place of the picture, in pixels from the top left; *middle: how far from the middle of
 * lens and pixel, squared. */
static und_ray camera_ray(const film *f, int i, int j, und_dice *dice, float *middle, f3 *forward)
{
    const und_film_lens *l = f->lens;
    float u[5] = {0};
    for (int k = 0; k < 5; k++)
        if (k < 2 || k == 4 || l->radius > 0)
            u[k] = und_dice_roll(dice);
        else
            dice->next++;
    float fx = filter_at(f, u[0]), fy = filter_at(f, u[1]), t = u[4], lx = 0, ly = 0;
    f3 eye = l->eye, right = l->right, up = l->up;
    *forward = l->forward;
    if (!f->still) {
        eye = f3_mix(l->eye, l->eye1, t);
        right = f3_unit(f3_mix(l->right, l->right1, t));
        up = f3_unit(f3_mix(l->up, l->up1, t));
        *forward = f3_unit(f3_mix(l->forward, l->forward1, t));
    }
    float pixel_side = 2 * l->half_height / (float)f->def->height;
    float sx = ((float)i + 0.5f + fx - 0.5f * (float)f->def->width) * pixel_side;
    float sy = (0.5f * (float)f->def->height - (float)j - 0.5f - fy) * pixel_side;
    f3 dir = f3_along(f3_along(*forward, right, sx), up, sy);
    *middle = fx * fx + fy * fy;
    if (l->radius > 0) {
        disc(u[2], u[3], &lx, &ly);
        *middle += lx * lx + ly * ly;
        f3 aside = f3_scale(f3_along(f3_scale(right, lx), up, ly), l->radius);
        eye = f3_add(eye, aside);
        dir = f3_along(dir, aside, -1 / l->focus);
    }
    return (und_ray){.from = eye,
                     .dir = f3_unit(dir),
                     .far = INFINITY,
                     .time = t,
                     .spread = 0.5f * pixel_side,
                     .camera = true};
}

/* What a screen shows of light: 0 to 1. */
static f3 displayed(const und_film_def *def, const double light[3])
{
    double g = (double)def->gain;
    f3 c = f3_make((float)(light[0] * g), (float)(light[1] * g), (float)(light[2] * g));
    c = def->tone ? und_stage_film(c) : c;
    return f3_make(und_srgb_encode(c.x), und_srgb_encode(c.y), und_srgb_encode(c.z));
}

/* What the sample says of its first hit. */
static void note(const film *f, pixel *p, size_t at, const und_ray *ray, const und_hit *first, f3 forward,
                 float middle)
{
    und_layers *out = f->layers;
    bool met = first->t < INFINITY, nearest = middle < p->nearest;
    p->met += met;
    if (met) {
        float *n = out->normal + 3 * at;
        n[0] += first->normal.x;
        n[1] += first->normal.y;
        n[2] += first->normal.z;
    }
    if (!nearest)
        return;
    float *v = out->velocity + 3 * at;
    p->nearest = middle;
    out->depth[at] = met ? first->t * f3_dot(ray->dir, forward) : INFINITY;
    out->id[at] = met ? (float)first->id : UND_ID_NONE;
    v[0] = met ? first->velocity.x : 0;
    v[1] = met ? first->velocity.y : 0;
    v[2] = met ? first->velocity.z : 0;
}

static float brightness(f3 c)
{
    return 0.2126f * c.x + 0.7152f * c.y + 0.0722f * c.z;
}

static void close_pack(pixel *p)
{
    int packs = p->batches / PACK;
    for (int c = 0; c < 3; c++) {
        double size = PACK * BATCH, mean = (p->sum[c] - p->packed[c]) / size;
        double before = packs > 1 ? p->packed[c] / (size * (packs - 1)) : 0;
        p->packed[c] = p->sum[c];
        p->pack_squares[c] += (mean - before) * (mean - p->sum[c] / (size * packs));
    }
}

static void expose_batch(const film *f, pixel *p, int i, int j)
{
    size_t at = (size_t)j * (size_t)f->def->width + (size_t)i;
    double sum[3] = {0};
    for (int k = 0; k < BATCH; k++) {
        und_dice dice = {.seed = f->def->seed, .pixel = at, .sample = (uint32_t)(p->batches * BATCH + k)};
        und_hit first = {.t = INFINITY};
        float middle;
        f3 forward;
        und_ray ray = camera_ray(f, i, j, &dice, &middle, &forward);
        f3 c = f->subject.look(f->subject.of, &ray, &dice, &first);
        bool good = isfinite(c.x) && isfinite(c.y) && isfinite(c.z);
        p->dropped += !good || dice.dropped > 0;
        p->rays += dice.rays;
        sum[0] += good ? (double)c.x : 0;
        sum[1] += good ? (double)c.y : 0;
        sum[2] += good ? (double)c.z : 0;
        note(f, p, at, &ray, &first, forward, middle);
    }
    p->batches++;
    f3 light = f3_make((float)sum[0], (float)sum[1], (float)sum[2]);
    if (brightness(light) > brightness(f3_of(p->brightest)))
        memcpy(p->brightest, &light, sizeof p->brightest);
    for (int c = 0; c < 3; c++) {
        double before = p->batches > 1 ? p->sum[c] / (BATCH * (p->batches - 1)) : 0;
        p->sum[c] += sum[c];
        p->squares[c] += (sum[c] / BATCH - before) * (sum[c] / BATCH - p->sum[c] / (BATCH * p->batches));
    }
    if (p->batches % PACK == 0)
        close_pack(p);
}

/* Samples that are spread evenly tell more together than their batches do one by one; so many of them are
 * taken by packs.  How many differences an error is estimated from. */
static int degrees(const pixel *p)
{
    int packs = p->batches / PACK;
    return packs >= 4 ? packs - 1 : p->batches - 1;
}

/* How far the displayed value moves when the mean is a standard error off, to both sides.  The curves bend,
 * and where all is beyond white nothing moves. */
static void judge(const film *f, size_t at)
{
    const pixel *p = &f->pixels[at];
    double mean[3], low[3], high[3], batches = p->batches;
    double own = degrees(p);
    bool packed = degrees(p) < p->batches - 1;
    for (int c = 0; c < 3; c++) {
        double square =
            packed ? p->pack_squares[c] * PACK / (batches * own) : p->squares[c] / (batches * own);
        double error = sqrt(fmax(square, 0));
        mean[c] = p->sum[c] / (BATCH * batches);
        low[c] = mean[c] - error;
        high[c] = mean[c] + error;
    }
    f3 is = displayed(f->def, mean);
    f3 off = f3_scale(f3_sub(displayed(f->def, high), displayed(f->def, low)), 0.5f);
    f->shown[at] = (is.x + is.y + is.z) / 3;
    f->square[at] = f3_dot(off, off) / 3;
}

static bool stopped(const film *f)
{
    return f->def->stop && f->def->stop();
}

/* How many batches that took. */
static double expose_tile(const film *f, int tile)
{
    double batches = 0;
    int i0 = tile % f->tiles[0] * TILE_SIDE, j0 = tile / f->tiles[0] * TILE_SIDE;
    int i1 = i0 + TILE_SIDE < f->def->width ? i0 + TILE_SIDE : f->def->width;
    int j1 = j0 + TILE_SIDE < f->def->height ? j0 + TILE_SIDE : f->def->height;
    for (int j = j0; j < j1 && !stopped(f); j++)
        for (int i = i0; i < i1; i++) {
            size_t at = (size_t)j * (size_t)f->def->width + (size_t)i;
            pixel *p = &f->pixels[at];
            if (p->wanted == 0)
                continue;
            batches += p->wanted;
            for (; p->wanted > 0; p->wanted--)
                expose_batch(f, p, i, j);
            judge(f, at);
        }
    return batches;
}

static const float BINOMIAL[2 * REACH + 1] = {1, 4, 6, 4, 1};

static float smoothed(const float *from, size_t stride, int at, int count)
{
    float sum = 0, weight = 0;
    for (int k = -REACH; k <= REACH; k++)
        if (at + k >= 0 && at + k < count) {
            sum += BINOMIAL[k + REACH] * from[(size_t)(at + k) * stride];
            weight += BINOMIAL[k + REACH];
        }
    return sum / weight;
}

static void measure(film *f)
{
    int w = f->def->width, h = f->def->height;
    PARALLEL_FOR(f->def->threads)
    for (int j = 0; j < h; j++)
        for (int i = 0; i < w; i++)
            f->rows[(size_t)j * (size_t)w + (size_t)i] = smoothed(f->square + (size_t)j * (size_t)w, 1, i, w);
    PARALLEL_FOR(f->def->threads)
    for (int j = 0; j < h; j++)
        for (int i = 0; i < w; i++) {
            size_t at = (size_t)j * (size_t)w + (size_t)i;
            float own = (float)degrees(&f->pixels[at]), around = smoothed(f->rows + i, (size_t)w, j, h);
            float square = (own * f->square[at] + AROUND * around) / (own + AROUND);
            f->noise[at] = sqrtf(square) / maxf(f->shown[at], UND_FILM_DARK);
        }
}

/* Noise falls as the root of the samples; at most as many again as there are, for that is but an estimate.
 */
static int batches_wanted(const film *f, const pixel *p, float noise)
{
    int most = (f->def->most + BATCH - 1) / BATCH, room = most - p->batches;
    double over = (double)noise / (double)f->def->noise, more = ceil(p->batches * (over * over - 1));
    if (noise <= f->def->noise || room <= 0)
        return 0;
    int wanted = more < p->batches ? (int)more : p->batches;
    wanted = wanted > 1 ? wanted : 1;
    return wanted < room ? wanted : room;
}

static bool plan(film *f)
{
    size_t count = (size_t)f->def->width * (size_t)f->def->height, busy = 0;
    if (f->def->noise <= 0)
        return false;
    measure(f);
    for (size_t at = 0; at < count; at++)
        busy += (f->pixels[at].wanted = batches_wanted(f, &f->pixels[at], f->noise[at])) > 0;
    return busy > 0;
}

/* What the coming round has to do, and a guess at those after it. */
static void foresee(film *f)
{
    size_t count = (size_t)f->def->width * (size_t)f->def->height;
    double coming = 0;
    for (size_t at = 0; at < count; at++)
        coming += f->pixels[at].wanted;
    f->expected = f->done + coming * (f->def->noise > 0 ? 1.4 : 1);
}

static void expose_round(film *f)
{
    const und_film_def *d = f->def;
    foresee(f);
    PARALLEL_FOR(d->threads)
    for (int tile = 0; tile < f->tiles[0] * f->tiles[1]; tile++) {
        double batches = expose_tile(f, tile);
        if (!d->told)
            continue;
        pthread_mutex_lock(&f->telling);
        f->done += batches;
        d->told(d->told_context, f->done / f->expected);
        pthread_mutex_unlock(&f->telling);
    }
}

/* Is most of a pixel's light from one batch of many? */
static bool lone(const pixel *p)
{
    f3 all = f3_make((float)p->sum[0], (float)p->sum[1], (float)p->sum[2]);
    float top = brightness(f3_of(p->brightest)), others = brightness(all) - top;
    return p->batches >= 4 && top * (float)(p->batches - 1) > LONE * others;
}

/* A pixel that is far brighter than all but one of its neighbours, because one path in hundreds found a
 * light: that path's batch is left out. */
static bool clean_pixel(const film *f, const float *rgb, int i, int j, float *to)
{
    int w = f->def->width, h = f->def->height;
    size_t at = (size_t)j * (size_t)w + (size_t)i;
    const pixel *p = &f->pixels[at];
    float here = brightness(f3_of(rgb + 3 * at)), first = 0, second = 0;
    if (i < 1 || j < 1 || i >= w - 1 || j >= h - 1 || !lone(p))
        return false;
    for (int y = j - 1; y <= j + 1; y++)
        for (int x = i - 1; x <= i + 1; x++) {
            float b = brightness(f3_of(rgb + 3 * ((size_t)y * (size_t)w + (size_t)x)));
            if (x == i && y == j)
                continue;
            second = b > first ? first : maxf(second, b);
            first = maxf(first, b);
        }
    if (!(here > 2 * second))
        return false;
    double gain = (double)f->def->gain / (BATCH * (p->batches - 1));
    for (int c = 0; c < 3; c++)
        to[c] = (float)((p->sum[c] - (double)p->brightest[c]) * gain);
    return true;
}

static double clean(const film *f, float *scratch)
{
    int w = f->def->width, h = f->def->height;
    size_t bytes = (size_t)w * (size_t)h * 3 * sizeof(float);
    float *rgb = f->layers->rgb;
    double cleaned = 0;
    memcpy(scratch, rgb, bytes);
    for (int j = 0; j < h; j++)
        for (int i = 0; i < w; i++)
            cleaned += clean_pixel(f, scratch, i, j, rgb + 3 * ((size_t)j * (size_t)w + (size_t)i));
    return cleaned;
}

static void develop(const film *f, und_film_report *report)
{
    const und_film_def *d = f->def;
    size_t count = (size_t)d->width * (size_t)d->height;
    double squares = 0, within = 0;
    *report = (und_film_report){0};
    for (size_t at = 0; at < count; at++) {
        const pixel *p = &f->pixels[at];
        float *rgb = f->layers->rgb + 3 * at, *n = f->layers->normal + 3 * at;
        double samples = (double)p->batches * BATCH;
        for (int c = 0; c < 3; c++)
            rgb[c] = (float)(p->sum[c] * (double)d->gain / samples);
        f3 normal = p->met > 0 ? f3_unit(f3_of(n)) : f3_gray(0);
        n[0] = normal.x;
        n[1] = normal.y;
        n[2] = normal.z;
        f->layers->alpha[at] = (float)(p->met / samples);
        f->layers->samples[at] = (float)samples;
        report->paths += samples;
        report->rays += (double)p->rays;
        report->dropped += p->dropped;
        squares += (double)f->noise[at] * (double)f->noise[at];
        within += f->noise[at] <= d->noise;
    }
    report->samples = report->paths / (double)count;
    report->noise = sqrt(squares / (double)count);
    report->reached = within / (double)count;
}

static und_status expose(film *f, und_film_report *report, float *scratch, und_error *err)
{
    const und_film_def *d = f->def;
    size_t count = (size_t)d->width * (size_t)d->height;
    int first = ((d->noise > 0 ? d->least : d->most) + BATCH - 1) / BATCH;
    for (size_t at = 0; at < count; at++)
        f->pixels[at] = (pixel){.wanted = first > 2 ? first : 2, .nearest = INFINITY};
    memset(f->layers->normal, 0, count * 3 * sizeof(float));
    do
        expose_round(f);
    while (!stopped(f) && plan(f));
    if (stopped(f))
        return und_error_set(err, UND_STOPPED, "stopped");
    measure(f);
    develop(f, report);
    report->cleaned = clean(f, scratch);
    return UND_OK;
}

und_status und_film_expose(const und_film_def *def, const und_film_lens *lens, und_subject subject,
                           und_layers *layers, und_film_report *report, und_error *err)
{
    size_t count = (size_t)def->width * (size_t)def->height;
    film *f = und_alloc(1, sizeof *f, "film", err);
    float *scratch = und_alloc(count, 3 * sizeof *scratch, "film", err);
    und_status status = UND_FAILED;
    if (f && scratch) {
        *f = (film){.def = def,
                    .lens = lens,
                    .subject = subject,
                    .layers = layers,
                    .telling = PTHREAD_MUTEX_INITIALIZER};
        f->tiles[0] = (def->width + TILE_SIDE - 1) / TILE_SIDE;
        f->tiles[1] = (def->height + TILE_SIDE - 1) / TILE_SIDE;
        f->still = memcmp(&lens->eye, &lens->eye1, 4 * sizeof(f3)) == 0;
        f->pixels = und_alloc(count, sizeof *f->pixels, "film", err);
        f->noise = und_alloc(count, sizeof *f->noise, "film", err);
        f->rows = und_alloc(count, sizeof *f->rows, "film", err);
        f->square = und_alloc(count, sizeof *f->square, "film", err);
        f->shown = und_alloc(count, sizeof *f->shown, "film", err);
        tabulate_filter(f);
        if (f->pixels && f->noise && f->rows && f->square && f->shown)
            status = expose(f, report, scratch, err);
        free(f->pixels);
        free(f->noise);
        free(f->rows);
        free(f->square);
        free(f->shown);
    }
    free(f);
    free(scratch);
    return status;
}
