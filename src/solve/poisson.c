#include "solve/poisson.h"

#include "base/status.h"
#include "solve/system.h"

#include <stdlib.h>
#include <string.h>

struct und_poisson {
    und_system system;
    const uint8_t *kind; /* while the system is set */
};

und_poisson *und_poisson_create(const und_mac *mac, int threads, und_error *err)
{
    und_poisson *s = und_alloc(1, sizeof *s, "the pressure's system", err);
    if (s && und_system_open(&s->system, mac, threads, NULL, err) != UND_OK) {
        und_poisson_destroy(s);
        s = NULL;
    }
    return s;
}

void und_poisson_destroy(und_poisson *s)
{
    if (!s)
        return;
    und_system_close(&s->system);
    free(s);
}

static void get_unknown(void *context, int y, int z, uint64_t *row)
{
    const und_poisson *s = context;
    const uint8_t *kind = s->kind + und_system_at(&s->system, 0, y, z);
    int n = s->system.mac.n[0], words = s->system.m.level[0].unknown.words;
    for (int w = 0; w < words; w++) {
        uint64_t bits = 0;
        for (int x = w > 0 ? 64 * w - 1 : 0; x < n && x < 64 * w + 63; x++)
            bits |= (uint64_t)(kind[x] == UND_POISSON_UNKNOWN) << ((x + 1) & 63);
        row[w] = bits;
    }
}

static bool get_known(const und_poisson *s, const uint8_t *k, ptrdiff_t step, int n, float *weight)
{
    (void)s;
    if (!memchr(k - step, UND_POISSON_KNOWN, (size_t)n) && !memchr(k + step, UND_POISSON_KNOWN, (size_t)n))
        return false;
    for (int i = 0; i < n; i++) {
        int sides = (k[i - step] == UND_POISSON_KNOWN) + (k[i + step] == UND_POISSON_KNOWN);
        weight[i] = k[i] == UND_POISSON_UNKNOWN ? (float)sides : 0;
    }
    return true;
}

static bool get_sides(void *context, int axis, int y, int z, int begin, int end, float *restrict weight)
{
    const und_poisson *s = context;
    const uint8_t *restrict k = s->kind + und_system_at(&s->system, begin, y, z);
    int inside = s->system.mac.n[0] - begin, n = end - begin < inside ? end - begin : inside;
    const ptrdiff_t step = s->system.step[axis % 3];
    if (axis >= 3 && !get_known(s, k, step, n, weight))
        return false;
    for (int i = 0; i < n && axis < 3; i++)
        weight[i] = (k[i] == UND_POISSON_UNKNOWN) & (k[i + step] == UND_POISSON_UNKNOWN);
    for (int i = n; i < end - begin; i++)
        weight[i] = 0;
    return true;
}

static bool is_plain(void *context, int y, int z, int k, const und_around *around)
{
    (void)context, (void)y, (void)z, (void)k, (void)around;
    return true;
}

void und_poisson_set(und_poisson *s, const uint8_t *kind, const double weight[3])
{
    s->kind = kind;
    und_system_set(
        &s->system, weight,
        &(und_sides){.context = s, .unknown = get_unknown, .get = get_sides, .is_plain = is_plain});
    s->kind = NULL;
}

und_poisson_report und_poisson_solve(und_poisson *s, const double *b, double *x, double tolerance,
                                     int max_iterations)
{
    s->system.b_double = b;
    s->system.unit = 1;
    und_system_report r = und_system_solve(&s->system, x, true, tolerance, 0, max_iterations);
    return (und_poisson_report){.iterations = r.iterations, .residual = r.residual, .converged = r.converged};
}

void und_poisson_precondition(und_poisson *s, const double *r, double *z)
{
    und_system_precondition(&s->system, r, z);
}
