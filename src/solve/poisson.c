#include "solve/poisson.h"

#include "base/status.h"
#include "grid/field.h"
#include "solve/system.h"

#include <stdlib.h>
#include <string.h>

struct und_poisson {
    und_system system;
    und_mask unknown;
    float *known[3]; /* how many sides of a cell along each axis are to known ones */
};

static const und_field fields[] = {UND_FIELD(und_poisson, known[0], UND_AT_CELLS),
                                   UND_FIELD(und_poisson, known[1], UND_AT_CELLS),
                                   UND_FIELD(und_poisson, known[2], UND_AT_CELLS)};
enum { FIELDS = sizeof fields / sizeof *fields };

und_poisson *und_poisson_create(const und_mac *mac, int threads, und_error *err)
{
    static const char *const what = "the pressure's system";
    und_poisson *s = und_alloc(1, sizeof *s, what, err);
    if (s && (und_system_open(&s->system, mac, threads, NULL, err) != UND_OK ||
              und_mask_open(&s->unknown, mac, what, err) != UND_OK ||
              und_field_open_all(s, fields, FIELDS, &(und_field_room){.mac = mac}, what, err) != UND_OK)) {
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
    und_mask_close(&s->unknown);
    und_field_close_all(s, fields, FIELDS);
    free(s);
}

static void set_row(und_poisson *s, const uint8_t *kind, int y, int z)
{
    const und_mac *m = &s->system.mac;
    for (int x = 0; x < m->n[0]; x++) {
        const size_t at = und_mac_at(m, x, y, z);
        const uint8_t *k = kind + at;
        if (*k == UND_POISSON_UNKNOWN)
            und_mask_add(&s->unknown, x, y, z);
        for (int a = 0; a < 3; a++)
            s->known[a][at] =
                (float)((k[-m->step[a]] == UND_POISSON_KNOWN) + (k[m->step[a]] == UND_POISSON_KNOWN));
    }
}

void und_poisson_set(und_poisson *s, const uint8_t *kind, const double weight[3])
{
    const und_mac *m = &s->system.mac;
    und_mask_clear(&s->unknown);
    for (int row = 0; row < und_mac_rows(m); row++)
        set_row(s, kind, row % m->n[1], row / m->n[1]);
    und_system_set(
        &s->system, weight,
        &(und_system_sides){.unknown = &s->unknown, .known = {s->known[0], s->known[1], s->known[2]}});
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
