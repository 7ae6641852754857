/* Halos are as wide as stages read: the surface moves and becomes a distance again in two halves of the grid,
 * each in memory of its own, as it does in the whole. */
#include "grid/halo.h"
#include "surface/distance.h"
#include "tests/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 24, DEEP = 96, LAYERS = 44, FIELDS = 4, HALVES = 2, STEPS = 3 };
static const double CROSSES = 2.4; /* cells that the flow crosses in a step, at most */

/* Slices from own[0] to below own[1] of the whole are its own; of others it has LAYERS at most. */
typedef struct part {
    und_distance d;
    float *u[3];
    int own[2];
    struct part *beside[2]; /* NULL: nobody */
    char *sent[2][FIELDS];  /* to those */
} part;

static char *slices(const part *p, const und_halo_field *f, int z)
{
    return (char *)f->values + und_mac_at(&p->d.mac, -1, -1, z - p->d.mac.low[2]) * f->size;
}
static size_t bytes_of(const part *p, const und_halo_field *f)
{
    return (size_t)f->reach * (size_t)p->d.mac.step[2] * f->size;
}

static void send(void *context, const und_halo_field *fields, int count)
{
    part *p = context;
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < count && p->beside[side]; i++) {
            const int first = side == 0 ? p->own[0] : p->own[1] - fields[i].reach;
            assert_true(fields[i].reach <= LAYERS);
            p->sent[side][i] = malloc(bytes_of(p, &fields[i]));
            memcpy(p->sent[side][i], slices(p, &fields[i], first), bytes_of(p, &fields[i]));
        }
}

static void get(void *context, const und_halo_field *fields, int count)
{
    part *p = context;
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < count && p->beside[side]; i++) {
            char **sent = &p->beside[side]->sent[1 - side][i];
            const int first = side == 0 ? p->own[0] - fields[i].reach : p->own[1];
            memcpy(slices(p, &fields[i], first), *sent, bytes_of(p, &fields[i]));
            free(*sent);
            *sent = NULL;
        }
}

/* What turns and rises, and is nowhere the same. */
static float flow_at(int axis, const int cell[3])
{
    const double x = cell[0] - 0.5 * N, y = cell[1] - 0.5 * N, z = cell[2] - 0.5 * DEEP;
    const double u[3] = {-0.08 * y, 0.08 * x + 0.3 * sin(0.4 * z), 0.9 * cos(0.3 * x) - 0.05 * y};
    return (float)u[axis];
}

/* Two balls, and a sheet aslant, all near the slice where the halves meet. */
static float phi_at(const int cell[3])
{
    const double x = cell[0], y = cell[1], z = cell[2];
    const double one = sqrt((x - 8) * (x - 8) + (y - 9) * (y - 9) + (z - 47) * (z - 47)) - 5.3,
                 other = sqrt((x - 16) * (x - 16) + (y - 14) * (y - 14) + (z - 52) * (z - 52)) - 4.1,
                 sheet = fabs(0.6 * y - 0.8 * (z - 46) - 5) - 0.7;
    return (float)fmin(fmin(one, other), sheet);
}

static void open_part(part *p, const und_mac *whole, int width, int low, int high, int own_low, int own_high)
{
    und_error err;
    *p = (part){.own = {own_low, own_high}};
    const und_mac m = und_mac_window(whole, (int[3]){0, 0, low}, (int[3]){N, N, high - low});
    assert_int_equal(und_distance_open(&p->d, &m, width, 1, &err), UND_OK);
    p->d.keeps_thin = true;
    for (int a = 0; a < 3; a++) {
        p->u[a] = calloc(m.count + 64, sizeof(float));
        for (int z = -1; z <= m.n[2]; z++)
            for (int y = -1; y <= N; y++)
                for (int x = -1; x <= N; x++)
                    p->u[a][und_mac_at(&m, x, y, z)] = flow_at(a, (int[3]){x, y, z + low});
    }
    for (int z = 0; z < m.n[2]; z++)
        for (int y = 0; y < N; y++)
            for (int x = 0; x < N; x++)
                p->d.phi[und_mac_at(&m, x, y, z)] = phi_at((int[3]){x, y, z + low});
    und_distance_refresh(&p->d);
    und_distance_redistance(&p->d, 2);
}

static void close_part(part *p)
{
    for (int a = 0; a < 3; a++)
        free(p->u[a]);
    und_distance_close(&p->d);
}

/* What others have is anything, but what has come from them. */
static void spoil(part *p)
{
    const und_mac *m = &p->d.mac;
    for (int z = -1; z <= m->n[2]; z++) {
        const int slice = z + m->low[2];
        const size_t at = und_mac_at(m, -1, -1, z), count = (size_t)m->step[2];
        const bool below = p->beside[0] && slice < p->own[0], above = p->beside[1] && slice >= p->own[1];
        for (size_t i = at; i < at + count && (below || above); i++) {
            p->d.phi[i] = i % 3 == 0 ? -0.3f : 0.4f;
            for (int a = 0; a < 3; a++)
                p->u[a][i] = i % 2 ? 1.5f : -1.5f;
        }
    }
}

static void exchange(part half[HALVES], int reach, bool flow)
{
    und_halo_field fields[HALVES][FIELDS];
    und_halo halo[HALVES];
    const int count = flow ? FIELDS : 1;
    for (int k = 0; k < HALVES; k++) {
        halo[k] = (und_halo){&half[k], send, get};
        for (int i = 0; i < count; i++)
            fields[k][i] = (und_halo_field){i == 0 ? half[k].d.phi : half[k].u[i - 1], sizeof(float), reach};
        spoil(&half[k]);
        und_halo_begin(&halo[k], fields[k], count);
    }
    for (int k = 0; k < HALVES; k++) {
        und_halo_end(&halo[k], fields[k], count);
        und_distance_refresh(&half[k].d);
    }
}

/* Slices of its own that are not as those of the whole, to the last bit. */
static int differing(const part *p, const part *whole)
{
    int found = 0;
    for (int z = p->own[0]; z < p->own[1]; z++) {
        bool same = true;
        for (int y = 0; y < N; y++)
            same = same && !memcmp(p->d.phi + und_mac_at(&p->d.mac, 0, y, z - p->d.mac.low[2]),
                                   whole->d.phi + und_mac_at(&whole->d.mac, 0, y, z), N * sizeof(float));
        found += !same;
    }
    return found;
}

/* With halos so wide for the motion and for making it a distance again: slices that are not as in the whole.
 */
static int run(int width, int moves, int redistances)
{
    const und_mac mac = und_mac_make((int[3]){N, N, DEEP}, (double[3]){1, 1, 1}, (double[3]){0});
    part whole, half[HALVES];
    int found = 0;
    open_part(&whole, &mac, width, 0, DEEP, 0, DEEP);
    open_part(&half[0], &mac, width, 0, DEEP / 2 + LAYERS, 0, DEEP / 2);
    open_part(&half[1], &mac, width, DEEP / 2 - LAYERS, DEEP, DEEP / 2, DEEP);
    half[0].beside[1] = &half[1];
    half[1].beside[0] = &half[0];
    for (int step = 0; step < STEPS; step++) {
        exchange(half, moves, true);
        und_distance_refresh(&whole.d);
        for (int k = 0; k <= HALVES; k++) {
            part *p = k < HALVES ? &half[k] : &whole;
            und_distance_advect(&p->d, p->u, CROSSES / 1.7, UND_TRACE_RK3);
        }
        exchange(half, redistances, false);
        und_distance_refresh(&whole.d);
        for (int k = 0; k <= HALVES; k++)
            und_distance_redistance(&(k < HALVES ? &half[k] : &whole)->d, 2);
        for (int k = 0; k < HALVES; k++)
            found += differing(&half[k], &whole);
    }
    close_part(&whole);
    for (int k = 0; k < HALVES; k++)
        close_part(&half[k]);
    return found;
}

static void test_halves(void **state)
{
    (void)state;
    const int moves = und_distance_advect_reach(CROSSES);
    for (int width = 4; width <= 6; width++) {
        const int redistances = und_distance_redistance_reach(width);
        assert_int_equal(run(width, moves, redistances), 0);
        assert_true(run(width, 2, redistances) > 0); /* what is spoilt is seen */
        assert_true(run(width, moves, width) > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_halves)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
