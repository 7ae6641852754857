#include "solve/pressure.h"

#include "base/pages.h"
#include "grid/present.h"
#include "solve/cell_packs.h"
#include "solve/system.h"

#include <stdlib.h>
#include <string.h>

struct und_pressure {
    und_system system;
    const und_mask *unknown; /* while the system is set, as the two that follow */
    const float *const *weight;
    const float *known;
};

und_pressure *und_pressure_create(const und_mac *mac, int threads, und_scratch *scratch, und_error *err)
{
    und_pressure *s = und_pages_alloc_read_only(sizeof *s, "the pressure's system", err);
    if (s && und_system_open(&s->system, mac, threads, scratch, err) != UND_OK) {
        und_pressure_destroy(s);
        s = NULL;
    }
    return s;
}

void und_pressure_destroy(und_pressure *s)
{
    if (!s)
        return;
    und_system_close(&s->system);
    und_pages_free(s);
}

void und_pressure_share(und_pressure *s, const und_device *device)
{
    s->system.m.device.halo = s->system.components.device.halo = device->halo;
    s->system.m.device.card = device->card;
}

und_status und_pressure_window(und_pressure *s, const und_mac *mac, und_error *err)
{
    und_system other;
    und_system_done(&s->system);
    const und_device device = s->system.m.device;
    if (und_system_open(&other, mac, device.threads, s->system.m.scratch, err) != UND_OK) {
        und_system_close(&other);
        return err->status;
    }
    und_system_close(&s->system);
    s->system = other;
    s->system.components.level = &s->system.m.level[0];
    und_pressure_share(s, &device);
    return UND_OK;
}

/* A row of ours in the grid's mask; NULL: the window does not have it. */
static const uint64_t *mask_row(const und_pressure *s, int y, int z)
{
    const und_mac *m = &s->system.mac;
    bool flat = s->system.axis[1] == 2;
    y -= s->system.before[1];
    z -= s->system.before[2];
    int own_y = flat ? z : y, own_z = flat ? y : z;
    if (own_y < 0 || own_y >= m->n[1] || own_z < 0 || own_z >= m->n[2])
        return NULL;
    return und_mask_row(s->unknown, own_y, own_z);
}

static void get_present(void *context, und_present *rows)
{
    const und_pressure *s = context;
    const und_mac *m = &s->system.mac;
    const bool flat = s->system.axis[1] == 2;
    UND_MAC_EACH_ROW (m, row) {
        const int y = row % m->n[1], z = row / m->n[1];
        und_present_add(rows, (flat ? z : y) + s->system.before[1], (flat ? y : z) + s->system.before[2]);
    }
}

static void get_unknown(void *context, int y, int z, uint64_t *row)
{
    const und_pressure *s = context;
    const uint64_t *from = mask_row(s, y, z);
    const int words = s->system.m.level[0].unknown.words, low = s->system.before[0];
    if (low == 0 && s->unknown->words == words && from) {
        memcpy(row, from, (size_t)words * sizeof *row);
        return;
    }
    memset(row, 0, (size_t)words * sizeof *row);
    for (int w = 0; from && w < s->unknown->words; w++) {
        int place = (64 * w + low) / 64, shift = low % 64;
        if (place < words)
            row[place] |= from[w] << shift;
        if (shift > 0 && place + 1 < words)
            row[place + 1] |= from[w] >> (64 - shift);
    }
}

/* A side nearly closed is closed: less than this has no inverse in float. */
static const float SMALLEST = 1e-20f;

enum { AHEAD = 2 }; /* rows: what is read there is fetched */

/* Sixteen cells: their weights, 0 where `bits` are not set; what is no number counts as 0. */
static inline float get_sixteen(const float *restrict from, unsigned bits, float *restrict weight)
{
    const und_i8 bit = {1, 2, 4, 8, 16, 32, 64, 128};
    und_f8 sum = {0};
    for (int half = 0; half < 2; half++) {
        und_i8 own = (und_i8){0} + (int)(bits >> 8 * half);
        und_f8 w = UND_F8(from + 8 * half);
        w = (und_f8)((und_i8)w & ((own & bit) != 0) & (w > SMALLEST));
        UND_SET_F8(weight + 8 * half) = w;
        sum += w;
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]) + (sum[4] + sum[5]) + (sum[6] + sum[7]);
}

static bool get_sides(void *context, int axis, int y, int z, int begin, int end, float *restrict weight)
{
    const und_pressure *s = context;
    const und_level *level = &s->system.m.level[0];
    if (axis > 3)
        return false;
    const float *from = axis == 3 ? s->known : s->weight[s->system.axis[axis]];
    const und_mask *m = &level->unknown;
    const uint64_t *own = und_mask_row(m, y, z);
    const uint64_t *other = axis == 1   ? und_mask_row(m, y + 1, z)
                            : axis == 2 ? und_mask_row(m, y, z + 1)
                                        : own;
    float any = 0;
    if (axis == 3)
        und_lanes_fetch(from + und_system_at(&s->system, begin, y + AHEAD, z));
    for (int x = begin; x < end; x += 16) {
        unsigned bits = und_mask_sixteen(m, own, x) & und_mask_sixteen(m, other, axis == 0 ? x + 1 : x);
        if (bits)
            any += get_sixteen(from + und_system_at(&s->system, x, y, z), bits, weight + (x - begin));
        else
            memset(weight + (x - begin), 0, 16 * sizeof *weight);
    }
    return axis < 3 || any > 0;
}

static bool is_plain(void *context, int y, int z, int k, const und_around *around)
{
    const und_pressure *s = context;
    size_t at = und_system_at(&s->system, 16 * k, y, z);
    und_i8 other = {0};
    if (!s->weight)
        return true;
    for (int a = 0; a < 3; a++) {
        const float *w = s->weight[s->system.axis[a]] + at;
        other |=
            und_not_one(w - s->system.step[a], around->both[2 * a]) | und_not_one(w, around->both[2 * a + 1]);
    }
    return !und_i8_any(&other);
}

void und_pressure_done(und_pressure *s)
{
    und_system_done(&s->system);
}

void und_pressure_set(und_pressure *s, const und_mask *unknown, const float *const weight[3], float *known)
{
    const double full[3] = {1, 1, 1};
    const und_mac *m = &s->system.mac;
    const und_halo_field all[] = {und_halo_of_mask(m, unknown, UND_HALO_ALL),
                                  und_halo_of(m, known, sizeof *known, UND_HALO_ALL)};
    und_halo_get(s->system.m.device.halo, all, 2);
    s->unknown = unknown;
    s->weight = weight;
    s->known = known;
    und_system_set(&s->system, full,
                   &(und_sides){.context = s,
                                .present = get_present,
                                .unknown = get_unknown,
                                .get = get_sides,
                                .is_plain = is_plain});
    s->unknown = NULL;
    s->weight = NULL;
    s->known = NULL;
}

und_pressure_report und_pressure_solve_in(und_pressure *s, const float *b, double *x, double unit, bool warm,
                                          double tolerance, int max_iterations)
{
    s->system.b = b;
    s->system.unit = unit;
    und_system_report r = und_system_solve(&s->system, x, warm, 0, tolerance, max_iterations);
    double scale = r.largest > 0 ? 1 / r.largest : 0;
    return (und_pressure_report){.iterations = r.iterations,
                                 .residual = scale * r.residual,
                                 .converged = r.converged,
                                 .closed = s->system.components.closed,
                                 .unfit = scale * r.unfit};
}

und_pressure_report und_pressure_solve(und_pressure *s, const float *b, double *x, bool warm,
                                       double tolerance, int max_iterations)
{
    return und_pressure_solve_in(s, b, x, 1, warm, tolerance, max_iterations);
}

void und_pressure_lift(und_pressure *s, double *x)
{
    und_system_lift(&s->system, x);
}

void und_pressure_precondition(und_pressure *s, const double *r, double *z)
{
    und_system_precondition(&s->system, r, z);
}
