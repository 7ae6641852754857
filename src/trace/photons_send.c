/* Photons on their way: sent where dielectrics and metal are, followed until a surface keeps them. */
#include "trace/photons_parts.h"

#include "base/pages.h"
#include "base/parallel.h"
#include "base/random.h"
#include "base/status.h"
#include "stage/bend.h"
#include "stage/scenery.h"
#include "trace/light_parts.h"
#include "trace/matter.h"
#include "trace/media.h"
#include "trace/path.h"

enum {
    SCOUTS = 65536, /* sent first, to find out where to aim */
    CHUNK = 1024,   /* photons that a thread follows at a time */
    ASIDE = 16,     /* one of so many is sent past the aim, for what the scouts did not see */
    SURE = 4,       /* events before chance may end a photon */
};

static float largest(f3 a)
{
    return maxf(a.x, maxf(a.y, a.z));
}

/* Leaves from the side of the surface that `dir` points to. */
static void leave_surface(und_ray *ray, const und_hit *hit, f3 dir)
{
    float side = f3_dot(dir, hit->face) < 0 ? -1 : 1;
    ray->from = f3_along(hit->place, hit->face, side * hit->offset);
    ray->dir = f3_unit(dir);
    ray->near = 0;
    ray->far = INFINITY;
}

static f3 facing_normal(const und_hit *hit, f3 dir)
{
    float side = f3_dot(dir, hit->face) < 0 ? 1 : -1;
    return und_matter_normal(f3_scale(hit->normal, side), f3_scale(hit->face, side), f3_scale(dir, -1));
}

/* A photon under way. */
typedef struct flight {
    und_ray ray;
    f3 flux;
    float sent;
    und_media media;
    uint64_t seed, die;
    int event;
    bool changed; /* has it come off or through anything? */
} flight;

static float dice(flight *f)
{
    return minf((float)und_random(f->seed, 0, f->die++), 0.99999994f);
}

/* Leaves the surface along `dir`, behind it or in front; a bumpy normal may have sent it to the wrong side.
 */
static void leave(flight *f, const und_hit *hit, f3 dir, bool behind)
{
    if ((f3_dot(dir, hit->face) * f3_dot(f->ray.dir, hit->face) > 0) != behind)
        dir = f3_scale(und_mirrored(dir, hit->face), -1);
    f->changed = true;
    leave_surface(&f->ray, hit, dir);
}

/* Both shares of smooth dielectrics are followed the first time, so that what passes is thinned by no chance;
 * later one of them, by chance.  `other`: takes the share that is reflected. */
static bool divide(flight *f, const und_hit *hit, f3 normal, float ratio, const und_media *beyond,
                   flight *other)
{
    float d[3] = {f->ray.dir.x, f->ray.dir.y, f->ray.dir.z}, n[3] = {normal.x, normal.y, normal.z}, bent[3];
    if (!und_refract(d, n, ratio, bent))
        return false;
    float back = und_fresnelf(-f3_dot(f->ray.dir, normal), ratio);
    *other = *f;
    other->flux = f3_scale(f->flux, back);
    other->sent = largest(other->flux);
    other->seed = ~f->seed;
    leave(other, hit, f3_scale(und_mirrored(f->ray.dir, normal), -1), false);
    f->flux = f3_scale(f->flux, 1 - back);
    leave(f, hit, f3_of(bent), true);
    f->media = *beyond;
    return true;
}

/* Off or through the surface.  False: it keeps the photon. */
static bool meet(flight *f, const und_hit *hit, flight *other)
{
    const und_matter *matter = &hit->matter;
    und_media beyond;
    float ratio = 1;
    if (matter->kind == UND_MATTER_DIELECTRIC) {
        ratio = und_media_meet(&f->media, hit, f->ray.dir, &beyond);
        if (ratio == 1) { /* inside another dielectric it is not seen */
            f->media = beyond;
            leave_surface(&f->ray, hit, f->ray.dir);
            return true;
        }
    }
    f3 normal = facing_normal(hit, f->ray.dir);
    if (matter->kind == UND_MATTER_DIELECTRIC && und_matter_smooth(matter) && other &&
        divide(f, hit, normal, ratio, &beyond, other))
        return true;
    und_scatter s;
    float u[3] = {dice(f), dice(f), dice(f)};
    if (!und_matter_sample(matter, normal, f3_scale(f->ray.dir, -1), ratio, u, &s))
        return false;
    f->flux = f3_times(f->flux, s.weight);
    leave(f, hit, s.dir, s.through);
    if (s.through)
        f->media = beyond;
    return true;
}

static void rest(und_photon *photon, const und_hit *hit, f3 dir, f3 flux, bool within)
{
    float side = f3_dot(dir, hit->face) < 0 ? 127 : -127;
    *photon = (und_photon){.place = {hit->place.x, hit->place.y, hit->place.z},
                           .flux = {flux.x, flux.y, flux.z},
                           .normal = {(int8_t)lrintf(side * hit->face.x), (int8_t)lrintf(side * hit->face.y),
                                      (int8_t)lrintf(side * hit->face.z)},
                           .within = within};
}

/* After the first few events chance ends what carries little. */
static bool goes_on(flight *f)
{
    float left = largest(f->flux) / f->sent;
    if (f->event < SURE || left >= 1)
        return left > 0;
    if (!(dice(f) < left))
        return false;
    f->flux = f3_scale(f->flux, 1 / left);
    return true;
}

/* To where it rests; one that does not keeps no flux.  `other`: as above; has no flux while nothing divided
 * the light. */
static void follow(const und_photons_def *def, flight *f, flight *other, und_photon *photon)
{
    const und_world *world = def->world;
    for (; f->event < def->bounces; f->event++) {
        und_hit hit;
        if (!world->cast(world, &f->ray, &hit) || !(hit.t >= 0 && hit.t < INFINITY))
            return;
        const und_medium *medium = und_media_here(&f->media);
        if (medium)
            f->flux = f3_times(f->flux, und_left(medium->absorption, hit.t));
        if (!und_photons_carry(&hit.matter)) {
            if (f->changed && largest(f->flux) < INFINITY)
                rest(photon, &hit, f->ray.dir, f->flux, medium != NULL);
            return;
        }
        if (!meet(f, &hit, other && !(other->sent > 0) ? other : NULL) || !goes_on(f))
            return;
    }
}

/* Both shares of the photon numbered `index` of a stream. */
static void send(const und_photons_def *def, uint64_t stream, uint64_t index, const und_ray *ray, f3 flux,
                 und_photon photon[2])
{
    flight f = {
        .ray = *ray, .flux = flux, .sent = largest(flux), .seed = und_random_bits(def->seed, stream, index)};
    und_matter around;
    if (def->world->within && def->world->within(def->world, ray->from, &around))
        und_media_enter(&f.media, &around, UND_ID_LIQUID);
    flight other = {.sent = 0};
    follow(def, &f, &other, photon);
    if (other.sent > 0) {
        other.event++;
        if (goes_on(&other))
            follow(def, &other, NULL, photon + 1);
    }
}

enum { STREAM_SCOUT, STREAM_AIMED, STREAM_ASIDE };

typedef struct sending {
    const und_photons_def *def;
    und_box bounds; /* that light is sent into */
    und_box aim;    /* around what the scouts found */
    uint64_t stream;
    size_t count;
} sending;

/* Where the sun's light starts is laid out most evenly of all, by the additive recurrence of Roberts 2018,
 * whose steps are powers of the root of x^3 = x + 1: its points nearly make a lattice. */
static void lay_out(const sending *s, size_t index, float u[2])
{
    static const uint64_t step[2] = {0xc13fa9a902a6328fu, 0x91e10da5c79e7b1cu};
    for (int k = 0; k < 2; k++) {
        uint64_t start = und_random_bits(s->def->seed, s->stream, ~(uint64_t)k);
        u[k] = (float)((start + index * step[k]) >> 40) * 0x1p-24f;
    }
}

/* The sun's light comes from beyond all that may stand in its way, not only from beyond what it is aimed at.
 */
static void begin_outside(const und_photons_def *def, und_ray *ray)
{
    if (!def->lights || !(largest(def->lights->sun_irradiance) > 0))
        return;
    f3 off = f3_add(ray->dir, def->lights->sun),
       size = f3_sub(def->world->bounds.high, def->world->bounds.low);
    if (f3_dot(off, off) <= 1.01f * def->lights->sun_chord2 + 1e-7f)
        ray->from = f3_along(ray->from, ray->dir, -sqrtf(f3_dot(size, size)));
}

static und_ray emit(const sending *s, size_t index, f3 *flux)
{
    und_dice dice = {.seed = s->def->seed, .pixel = s->stream, .sample = (uint32_t)index};
    float u[4] = {und_dice_roll(&dice), und_dice_roll(&dice)};
    lay_out(s, index, u + 2);
    und_ray ray = (s->def->emit ? s->def->emit : und_lights_emit)(s->def->lights, &s->bounds,
                                                                  (double)s->count, u, flux);
    ray.time = und_dice_roll(&dice);
    begin_outside(s->def, &ray);
    return ray;
}

static bool is_aimed(const und_box *aim, const und_ray *ray)
{
    return und_box_enter(aim, ray->from, und_inverse(ray->dir), INFINITY) < INFINITY;
}

static bool is_light(f3 flux)
{
    return largest(flux) > 0 && largest(flux) < INFINITY;
}

/* Each ray of light is sent in one of two ways: what enters the aim by those that are aimed, all else by the
 * few that are sent past it.  So nothing is missed or counted twice, wherever the aim lies. */
static void send_all(const sending *s, und_photon *list)
{
    long chunks = (long)((s->count + CHUNK - 1) / CHUNK);
    int workers = und_workers(s->def->threads, s->count, CHUNK);
    PARALLEL_FOR(workers)
    for (long chunk = 0; chunk < chunks; chunk++) {
        size_t begin = (size_t)chunk * CHUNK, end = begin + CHUNK < s->count ? begin + CHUNK : s->count;
        if (s->def->stop && s->def->stop())
            continue;
        for (size_t i = begin; i < end; i++) {
            f3 flux = {0, 0, 0};
            und_ray ray = emit(s, i, &flux);
            if (is_light(flux) && is_aimed(&s->aim, &ray) == (s->stream == STREAM_AIMED))
                send(s->def, s->stream, i, &ray, flux, list + 2 * i);
        }
    }
}

static void widen(und_box *box, f3 low, f3 high)
{
    box->low = f3_make(minf(box->low.x, low.x), minf(box->low.y, low.y), minf(box->low.z, low.z));
    box->high = f3_make(maxf(box->high.x, high.x), maxf(box->high.y, high.y), maxf(box->high.z, high.z));
}

/* The box around what light meets first of dielectrics and metal; none: low above high. */
static und_box find_aim(const und_photons_def *def)
{
    enum { GROUPS = SCOUTS / CHUNK };
    sending s = {def, def->world->bounds, def->world->bounds, STREAM_SCOUT, SCOUTS};
    const und_box none = {f3_gray(INFINITY), f3_gray(-INFINITY)};
    und_box seen[GROUPS];
    PARALLEL_FOR(def->threads)
    for (int g = 0; g < GROUPS; g++) {
        seen[g] = none;
        for (size_t i = (size_t)g * CHUNK; i < (size_t)(g + 1) * CHUNK; i++) {
            f3 flux = {0, 0, 0};
            und_ray ray = emit(&s, i, &flux);
            und_hit hit;
            if (is_light(flux) && def->world->cast(def->world, &ray, &hit) && und_photons_carry(&hit.matter))
                widen(&seen[g], hit.place, hit.place);
        }
    }
    und_box aim = none;
    for (int g = 0; g < GROUPS; g++)
        widen(&aim, seen[g].low, seen[g].high);
    const und_box *all = &def->world->bounds;
    f3 edge = f3_scale(f3_sub(all->high, all->low), 1 / sqrtf(SCOUTS)); /* as far as scouts are apart */
    f3 low = f3_sub(aim.low, edge), high = f3_add(aim.high, edge);
    aim.low = f3_make(maxf(low.x, all->low.x), maxf(low.y, all->low.y), maxf(low.z, all->low.z));
    aim.high = f3_make(minf(high.x, all->high.x), minf(high.y, all->high.y), minf(high.z, all->high.z));
    return aim;
}

und_status und_photons_send(const und_photons_def *def, und_photon **list, int *count, und_error *err)
{
    *list = und_pages_alloc(2 * def->count * sizeof(und_photon) + 1, "photons", err);
    if (!*list)
        return UND_FAILED;
    und_box aim = find_aim(def);
    bool found = aim.low.x <= aim.high.x;
    size_t aside = def->count / ASIDE, aimed = found ? def->count - aside : 0;
    sending past = {def, def->world->bounds, aim, STREAM_ASIDE, aside};
    sending there = {def, aim, aim, STREAM_AIMED, aimed};
    if (aimed > 0)
        send_all(&there, *list);
    send_all(&past, *list + 2 * aimed);
    int kept = 0;
    for (size_t i = 0; i < 2 * (aimed + aside); i++)
        if ((*list)[i].flux[0] + (*list)[i].flux[1] + (*list)[i].flux[2] > 0)
            (*list)[kept++] = (*list)[i];
    *count = kept;
    return UND_OK;
}
