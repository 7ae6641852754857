/* The viscous step's system, by conjugate gradients preconditioned by multigrid on each component. */
#include "base/status.h"
#include "flow/mac_flow_parts.h"
#include "flow/viscous_parts.h"
#include "grid/field.h"

#include <math.h>
#include <stdlib.h>

/* A change of velocities below this part of the fastest is rounding. */
static const double ROUNDING = 1e-7;
/* Of the split solver.  A stiff shear flow keeps 1 - 1 / share of its strain in a step and a pure strain
 * 1 - 2 / share: 1 is as printed, where the second turns around each step and never ends; with 1.5 both are a
 * third. */
static const float OWN_SHARE = 1.5f;

/* ---- Storage ---- */

enum { AT_ROWS = UND_AT_OWN }; /* rows of all components */
enum { SPACE = 1, SPLIT = 2 };

#define FIELD(member, ...) UND_FIELD(und_viscous, member, UND_AT_CELLS, ##__VA_ARGS__)
#define FACES(member, a, ...) UND_FIELD(und_viscous, member[a], UND_AT_FACES_X + a, ##__VA_ARGS__)
#define COMPONENT(a, ...)                                                                \
    FACES(x, a, .halo = UND_HALO_BESIDE, ##__VA_ARGS__), FACES(r, a, ##__VA_ARGS__),     \
        FACES(p, a, .halo = UND_HALO_BESIDE, ##__VA_ARGS__), FACES(q, a, ##__VA_ARGS__), \
        FACES(kind, a, ##__VA_ARGS__), FACES(mass, a, ##__VA_ARGS__)

static const und_field fields[] = {
    COMPONENT(0),
    COMPONENT(1),
    COMPONENT(2, .when = SPACE),
    FACES(base, 0, .when = SPLIT),
    FACES(base, 1, .when = SPLIT),
    FACES(base, 2, .when = SPLIT),
    FACES(weight, 0),
    FACES(weight, 1),
    FACES(weight, 2),
    FIELD(edge[0][0], .when = SPACE),
    FIELD(edge[0][1], .when = SPACE),
    FIELD(edge[1][0], .when = SPACE),
    FIELD(edge[1][1], .when = SPACE),
    FIELD(edge[2][0]),
    FIELD(edge[2][1]),
    FIELD(inverse),
    FIELD(cell),
    FIELD(known),
    UND_FIELD(und_viscous, row, AT_ROWS),
};
enum { FIELDS = sizeof fields / sizeof *fields };

static bool open_all(und_viscous *v, const und_mac *mac, und_error *err)
{
    static const char *const what = "the viscosity's system";
    const size_t rows = (size_t)(v->axes * und_mac_rows(mac));
    const unsigned asked = (v->axes == 3 ? SPACE : 0) | (v->coupled ? 0 : SPLIT);
    const und_field_room room = {.mac = mac, .own = &rows, .asked = asked};
    if (und_field_open_all(v, fields, FIELDS, &room, what, err) != UND_OK)
        return false;
    for (int a = 0; a < v->axes; a++)
        if (und_mask_open(&v->unknown[a], mac, what, err) != UND_OK ||
            !(v->level[a] = und_pressure_create(mac, v->device.threads, NULL, err)))
            return false;
    return true;
}

und_viscous *und_viscous_create(const und_mac *mac, bool coupled, int threads, und_error *err)
{
    und_viscous *v = und_alloc(1, sizeof *v, "the viscosity's system", err);
    if (!v)
        return NULL;
    v->mac = *mac;
    v->device = (und_device){.threads = threads};
    v->axes = mac->n[2] == 1 ? 2 : 3;
    v->coupled = coupled;
    v->own_share = coupled ? 1 : OWN_SHARE;
    if (!open_all(v, mac, err)) {
        und_viscous_destroy(v);
        return NULL;
    }
    return v;
}

void und_viscous_share(und_viscous *v, const und_device *device)
{
    v->device.halo = device->halo;
    v->device.card = device->card;
    for (int a = 0; a < v->axes; a++)
        und_pressure_share(v->level[a], device);
}

void und_viscous_destroy(und_viscous *v)
{
    if (!v)
        return;
    und_field_close_all(v, fields, FIELDS);
    for (int a = 0; a < 3; a++) {
        und_mask_close(&v->unknown[a]);
        und_pressure_destroy(v->level[a]);
    }
    free(v);
}

/* ---- Passes ---- */

static und_viscous_args args_of(const und_viscous *v)
{
    und_viscous_args args = {.mac = v->mac,
                             .axes = v->axes,
                             .coupled = v->coupled,
                             .own_share = v->own_share,
                             .cell = v->cell,
                             .known = v->known};
    for (int a = 0; a < 3; a++) {
        args.kind[a] = v->kind[a];
        args.mass[a] = v->mass[a];
        args.edge[a][0] = v->edge[a][0];
        args.edge[a][1] = v->edge[a][1];
        args.x[a] = v->x[a];
        args.r[a] = v->r[a];
        args.p[a] = v->p[a];
        args.q[a] = v->q[a];
        args.weight[a] = v->weight[a];
        args.base[a] = v->base[a];
    }
    return args;
}

/* At faces of all components. */
typedef struct sets {
    und_set set[3];
    und_pass pass[3];
} sets;

static void at_faces(sets *s, const und_viscous *v, const und_mask faces[3], const und_kernel kernel[3],
                     const und_viscous_args *args)
{
    for (int a = 0; a < v->axes; a++) {
        s->set[a] = und_set_cells(&v->mac, UND_ROWS_INSIDE, &faces[a]);
        s->pass[a] = (und_pass){&kernel[a], args, &s->set[a]};
    }
}

static void pass(const und_viscous *v, const und_mask faces[3], const und_kernel kernel[3],
                 const und_viscous_args *args)
{
    sets s;
    at_faces(&s, v, faces, kernel, args);
    und_pass_run(&v->device, s.pass, v->axes);
}

/* What others have of its components: floats, or doubles. */
static void get(const und_viscous *v, void *x, void *y, void *z, size_t size, int reach)
{
    void *const values[] = {x, y, z};
    und_halo_field halo[3];
    for (int a = 0; a < v->axes; a++)
        halo[a] = und_halo_of(&v->mac, values[a], size, reach);
    und_halo_get(v->device.halo, halo, v->axes);
}

static und_total total(const und_viscous *v, const und_kernel kernel[3], const und_viscous_args *args)
{
    sets s;
    at_faces(&s, v, v->unknown, kernel, args);
    return und_reduce(&v->device, s.pass, v->axes, v->row);
}

/* Sums over faces of a change p, of which those beside them are a part. */
static double apply(const und_viscous *v, const und_viscous_args *args)
{
    get(v, v->p[0], v->p[1], v->p[2], sizeof(double), 1);
    return total(v, und_viscous_apply_kernel, args).sum;
}

/* ---- Its preconditioner ---- */

static void set_preconditioner(und_viscous *v)
{
    und_viscous_args args = args_of(v);
    const double largest = fmax(1, total(v, und_viscous_largest_kernel, &args).most);
    args.divide = (float)(1 / largest);
    for (int a = 0; a < v->axes; a++) {
        const und_set faces = und_set_cells(&v->mac, UND_ROWS_INSIDE, &v->unknown[a]);
        und_pass_run(&v->device, &UND_PASS_AXIS(und_viscous_sides, a, &args, &faces), 1);
        get(v, v->weight[0], v->weight[1], v->weight[2], sizeof(float), UND_HALO_ALL);
        und_pressure_set(v->level[a], &v->unknown[a], (const float *const *)v->weight, v->known);
    }
    v->scale = 1 / largest;
}

static und_total precondition(const und_viscous *v)
{
    und_viscous_args args = args_of(v);
    args.factor = v->scale;
    for (int a = 0; a < v->axes; a++)
        und_pressure_precondition(v->level[a], v->r[a], v->q[a]);
    return total(v, und_viscous_product_kernel, &args);
}

/* ---- Conjugate gradients ---- */

/* The change of velocities, into x.  It ends where the preconditioner finds but little left to change. */
static und_mac_flow_report solve(und_viscous *v, double fastest, double tolerance, int max_iterations)
{
    und_mac_flow_report report = {.converged = true};
    und_viscous_args turn = args_of(v), advance = turn;
    und_total left = precondition(v);
    double first = left.most, enough = fmax(tolerance * first, ROUNDING * fastest);
    while (left.most > enough && report.iterations < max_iterations && left.sum > 0) {
        pass(v, v->unknown, und_viscous_turn_kernel, &turn);
        const double done = apply(v, &turn);
        advance.factor = left.sum / done;
        if (!(done > 0) || !isfinite(advance.factor))
            break;
        pass(v, v->unknown, und_viscous_advance_kernel, &advance);
        report.iterations++;
        const und_total next = precondition(v);
        turn.factor = next.sum / left.sum;
        left = next;
    }
    report.residual = first > 0 ? left.most / first : first;
    report.converged = left.most <= enough;
    return report;
}

/* ---- The step ---- */

void und_viscous_keep(und_viscous *v, const und_mac_flow *flow)
{
    und_viscous_args args = args_of(v);
    if (v->coupled)
        return;
    for (int a = 0; a < 3; a++)
        args.u[a] = flow->u[a];
    pass(v, flow->flows, und_viscous_keep_base_kernel, &args);
}

/* Stresses are those of faces around, whose shares of liquid have cells around. */
enum { WEIGHTS_REACH = 3 };

static void get_viscosity(const und_viscous *v, const und_viscous_flow *flow)
{
    const und_halo_field nu = und_halo_of(&v->mac, flow->nu, sizeof *flow->nu, WEIGHTS_REACH);
    und_halo_get(v->device.halo, &nu, 1);
    if (!v->coupled)
        get(v, v->base[0], v->base[1], v->base[2], sizeof(float), WEIGHTS_REACH);
}

und_mac_flow_report und_viscous_step(und_viscous *v, const und_viscous_flow *flow)
{
    und_viscous_args args = args_of(v), force = args;
    for (int a = 0; a < 3; a++) {
        args.u[a] = flow->flow->u[a];
        force.u[a] = v->coupled ? flow->flow->u[a] : v->base[a];
        force.solid_u[a] = flow->solids->u[a];
    }
    und_distance_get_phi(flow->surface, WEIGHTS_REACH);
    und_mac_flow_get(flow->flow, UND_GET_U | UND_GET_FLOWS, WEIGHTS_REACH);
    get_viscosity(v, flow);
    und_viscous_set_weights(v, flow);
    pass(v, v->unknown, und_viscous_force_face_kernel, &force);
    set_preconditioner(v);
    if (!v->coupled) {
        pass(v, v->unknown, und_viscous_guess_kernel, &args);
        apply(v, &args);
        pass(v, v->unknown, und_viscous_take_guess_kernel, &args);
    }
    const double fastest = total(v, und_viscous_fastest_kernel, &args).most;
    und_mac_flow_report report = solve(v, fastest, flow->tolerance, flow->max_iterations);
    pass(v, v->unknown, und_viscous_give_kernel, &args);
    und_viscous_follow_border(v, flow);
    return report;
}
