#include "bodies/floating_bodies.h"

#include "base/parallel.h"
#include "base/status.h"
#include "bodies/hull.h"
#include "bodies/state.h"

#include <stdlib.h>
#include <string.h>

struct und_floating_bodies {
    und_floating_bodies_def def;
    und_bodies *bodies;
    und_flow_sample_grid grid;
    und_flow_sample seen, next; /* the frame seen last, and the one on the way to which the bodies are */
    und_hull *hulls;
    und_blocks blocks;
    double longest; /* step, s */
};

und_floating_bodies_def und_floating_bodies_def_default(void)
{
    return (und_floating_bodies_def){.gravity = {0, -9.81, 0}, .density = 1000, .damping = 5, .nodes = 16};
}

/* ---- create ---- */

static und_status check_def(const und_floating_bodies_def *d, und_error *err)
{
    enum { MOST = 256 };
    const double *g = d->gravity;
    if (!isfinite(g[0] + g[1] + g[2]))
        return und_error_set(err, UND_INVALID, "floating bodies: expected a finite gravity");
    if (!(d->density > 0 && isfinite(d->density)))
        return und_error_set(err, UND_INVALID,
                             "floating bodies: expected a density of the liquid above 0, found %g",
                             d->density);
    if (!(d->damping >= 0 && isfinite(d->damping)))
        return und_error_set(err, UND_INVALID, "floating bodies: expected a damping of 0 or above, found %g",
                             d->damping);
    if (d->nodes < 1 || d->nodes > MOST)
        return und_error_set(err, UND_INVALID, "floating bodies: expected 1 to %d nodes across, found %d",
                             MOST, d->nodes);
    return UND_OK;
}

/* Sides and floor of the domain; the top is open. */
static und_status create_bodies(und_floating_bodies *s, und_error *err)
{
    const und_flow_sample_grid *g = &s->grid;
    size_t columns = (size_t)g->n[0] * (size_t)g->n[2];
    float *floor = und_alloc(columns, sizeof *floor, "the floor under bodies", err);
    if (!floor)
        return err->status;
    for (size_t i = 0; i < columns; i++)
        floor[i] = (float)g->origin[1];
    und_bodies_world world = {.gravity = -s->def.gravity[1],
                              .nx = g->n[0],
                              .nz = g->n[2],
                              .stride = g->n[0],
                              .dx = g->d[0],
                              .dz = g->d[2],
                              .origin = {g->origin[0], g->origin[2]},
                              .ground = floor,
                              .wall = {true, true, true, true}};
    s->bodies = und_bodies_create(s->def.bodies, s->def.body_count, &world, err);
    free(floor);
    return s->bodies ? UND_OK : err->status;
}

static und_status create_hulls(und_floating_bodies *s, und_error *err)
{
    s->hulls = und_alloc((size_t)s->def.body_count + 1, sizeof *s->hulls, "floating bodies", err);
    if (!s->hulls)
        return err->status;
    for (int i = 0; i < s->def.body_count; i++) {
        const und_body *body = &s->bodies->bodies[i];
        und_vec3 middle = und_sub(body->middle, body->center);
        if (und_hull_open(&s->hulls[i], body->def->shape, body->volume, middle, s->def.nodes, err) != UND_OK)
            return err->status;
    }
    return UND_OK;
}

/* A body bobs at sqrt(rho g A / m) at most and comes to the liquid's velocity at the rate of the damping:
 * steps are short against both, but no frame has more than a thousand. */
static double longest_step(const und_floating_bodies *s)
{
    const und_floating_bodies_def *d = &s->def;
    double g = und_length(und_of(d->gravity)), step = INFINITY;
    for (int i = 0; i < d->body_count; i++) {
        const und_body *body = &s->bodies->bodies[i];
        und_bounds b = und_shape_bounds(body->def->shape);
        und_vec3 e = und_sub(b.high, b.low);
        double area = fmax(e.x * e.y, fmax(e.y * e.z, e.x * e.z));
        double bobbing = sqrt(d->density * g * area / body->mass);
        double rate = d->damping * body->def->drag * d->density * body->volume / body->mass;
        step = fmin(step, fmin(0.15 / bobbing, 0.2 / rate));
    }
    return step;
}

static und_status create_parts(und_floating_bodies *s, const und_frame *frame, und_error *err)
{
    und_status status = und_flow_sample_grid_open(&s->grid, frame, err);
    if (status == UND_OK)
        status = und_flow_sample_open(&s->seen, &s->grid, err);
    if (status == UND_OK)
        status = und_flow_sample_open(&s->next, &s->grid, err);
    if (status == UND_OK)
        status = und_flow_sample_load(&s->seen, &s->grid, frame, err);
    if (status == UND_OK)
        status = und_blocks_open(&s->blocks, &s->grid, err);
    if (status == UND_OK)
        status = und_blocks_make(&s->blocks, &s->grid, s->seen.label, err);
    if (status == UND_OK)
        status = create_bodies(s, err);
    return status == UND_OK ? create_hulls(s, err) : status;
}

und_floating_bodies *und_floating_bodies_create(const und_floating_bodies_def *def, const und_frame *frame,
                                                und_error *err)
{
    if (check_def(def, err) != UND_OK)
        return NULL;
    und_floating_bodies *s = und_alloc(1, sizeof *s, "floating bodies", err);
    if (!s)
        return NULL;
    s->def = *def;
    s->grid.threads = und_threads(def->threads);
    s->grid.density = def->density;
    memcpy(s->grid.gravity, def->gravity, sizeof s->grid.gravity);
    if (create_parts(s, frame, err) != UND_OK) {
        und_floating_bodies_destroy(s);
        return NULL;
    }
    und_bodies_boxes(s->bodies, s->blocks.boxes, s->blocks.count);
    s->longest = longest_step(s);
    return s;
}

void und_floating_bodies_destroy(und_floating_bodies *s)
{
    if (!s)
        return;
    for (int i = 0; s->hulls && i < s->def.body_count; i++)
        und_hull_close(&s->hulls[i]);
    free(s->hulls);
    und_bodies_destroy(s->bodies);
    und_blocks_close(&s->blocks);
    und_flow_sample_close(&s->seen);
    und_flow_sample_close(&s->next);
    und_flow_sample_grid_close(&s->grid);
    free(s);
}

und_bodies *und_floating_bodies_bodies(und_floating_bodies *s)
{
    return s->bodies;
}

/* ---- forces ---- */

/* Of the liquid on a body: forces that do not depend on its velocity, and the damping c of its nodes, as sums
 * over c, c r, c (r.r 1 - r r^T). */
typedef struct load {
    und_vec3 force, torque;
    double c;
    und_vec3 cr;
    double crr[9];
} load;

static void add_node(load *l, und_vec3 arm, und_vec3 push, double c, und_vec3 velocity)
{
    const double r[3] = {arm.x, arm.y, arm.z};
    double square = und_dot(arm, arm);
    und_vec3 force = und_add(push, und_mul(velocity, c));
    l->force = und_add(l->force, force);
    l->torque = und_add(l->torque, und_cross(arm, force));
    l->c += c;
    l->cr = und_add(l->cr, und_mul(arm, c));
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            l->crr[3 * i + j] += c * ((i == j ? square : 0) - r[i] * r[j]);
}

/* From the deepest on, how much is under water of what is a deep: its integral over the depth. */
static double sum_under(double depth, double a)
{
    return depth < -a ? 0 : depth > a ? depth : (depth + a) * (depth + a) / (4 * a);
}

/* The share under water of a box whose middle is `depth` below the level.  Upright it reaches a up and down;
 * turned, its level cuts differ by b either way.  So layers of boxes together gain what they should as they
 * sink, however they are turned. */
static double share_under(double depth, double a, double b)
{
    if (b < 1e-6 * a)
        return fmin(fmax(0.5 + 0.5 * depth / a, 0), 1);
    return (sum_under(depth + b, a) - sum_under(depth - b, a)) / (2 * b);
}

/* Equations 13 and 15 over the nodes, each as far as it is below the surface. */
static load feel(const und_floating_bodies *s, int i, double share)
{
    const und_hull *hull = &s->hulls[i];
    const und_body *body = &s->bodies->bodies[i];
    const und_body_state *now = &s->bodies->kept[i].now;
    und_quat turn = und_rotation_of(now), back = und_back(turn);
    und_vec3 up = und_quat_rotate(back, und_vec(0, 1, 0)), center = und_of(now->position);
    double half[3] = {fabs(up.x) * hull->half.x, fabs(up.y) * hull->half.y, fabs(up.z) * hull->half.z};
    double most = fmax(half[0], fmax(half[1], half[2])), all = half[0] + half[1] + half[2];
    double damping = s->def.damping * body->def->drag * s->def.density;
    load l = {0};
    for (int k = 0; k < hull->count; k++) {
        und_vec3 arm = und_quat_rotate(turn, hull->nodes[k].at), at = und_add(center, arm), slope, velocity;
        double depth = und_flow_sample_depth(&s->grid, &s->seen, &s->next, share, at);
        double under = share_under(depth, most, all - most);
        if (!(under > 0))
            continue;
        double volume = under * hull->nodes[k].volume;
        und_flow_sample_flow(&s->grid, &s->seen, &s->next, share, at, &slope, &velocity);
        add_node(&l, arm, und_mul(slope, -volume), damping * volume, velocity);
    }
    return l;
}

/* Solves a x = b, a symmetric and positive, by Cholesky's factors. */
static void solve6(double a[6][6], double x[6])
{
    for (int i = 0; i < 6; i++)
        for (int j = 0; j <= i; j++) {
            double sum = a[i][j];
            for (int k = 0; k < j; k++)
                sum -= a[i][k] * a[j][k];
            a[i][j] = i == j ? sqrt(sum) : sum / a[j][j];
        }
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k < i; k++)
            x[i] -= a[i][k] * x[k];
        x[i] /= a[i][i];
    }
    for (int i = 5; i >= 0; i--) {
        for (int k = i + 1; k < 6; k++)
            x[i] -= a[k][i] * x[k];
        x[i] /= a[i][i];
    }
}

/* D of equation 16: forces and torques against velocity and spin. */
static void damping_matrix(const load *l, double d[6][6])
{
    const double cross[3][3] = {
        {0, -l->cr.z, l->cr.y}, {l->cr.z, 0, -l->cr.x}, {-l->cr.y, l->cr.x, 0}}; /* (c r) x */
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            d[i][j] = i == j ? l->c : 0;
            d[3 + i][j] = cross[i][j];
            d[j][3 + i] = cross[i][j];
            d[3 + i][3 + j] = l->crr[3 * i + j];
        }
}

/* Equation 16 over dt, by the mean of the velocity before and after where the damping is slow against dt, by
 * that after where it is fast: stable for any.  Gives the change of velocity and spin. */
static void solve_motion(const und_floating_bodies *s, int i, const load *l, double dt, double change[6])
{
    const und_body *body = &s->bodies->bodies[i];
    const und_body_state *now = &s->bodies->kept[i].now;
    const double *v = now->velocity, *w = now->spin, m = body->mass;
    double d[6][6], a[6][6], inertia[9];
    double share = l->c * dt < m ? 0.5 : 1;
    damping_matrix(l, d);
    und_bodies_inertia(s->bodies, i, inertia);
    const double q[6] = {v[0], v[1], v[2], w[0], w[1], w[2]};
    const double force[6] = {l->force.x + m * s->def.gravity[0],
                             l->force.y + m * s->def.gravity[1],
                             l->force.z + m * s->def.gravity[2],
                             l->torque.x,
                             l->torque.y,
                             l->torque.z};
    for (int r = 0; r < 6; r++) {
        change[r] = force[r];
        for (int k = 0; k < 6; k++) {
            double mass = r < 3 ? (r == k ? m : 0) : (k < 3 ? 0 : inertia[3 * (r - 3) + k - 3]);
            change[r] -= d[r][k] * q[k];
            a[r][k] = mass + share * dt * d[r][k];
        }
        change[r] *= dt;
    }
    solve6(a, change);
}

/* What the bodies' own step must be told so that it makes these changes, gravity being its own. */
static void push(und_floating_bodies *s, int i, double share, double dt)
{
    double inertia[9], change[6], m = s->bodies->bodies[i].mass;
    load l = feel(s, i, share);
    solve_motion(s, i, &l, dt, change);
    if (s->grid.n[2] == 1)
        change[2] = change[3] = change[4] = 0;
    und_bodies_inertia(s->bodies, i, inertia);
    und_vec3 force = und_mul(und_of(change), m / dt);
    force.y -= m * s->def.gravity[1];
    und_bodies_push(s->bodies, i, force, und_of(s->bodies->kept[i].now.position));
    und_bodies_twist(s->bodies, i, und_mul(und_matrix_mul(inertia, und_of(change + 3)), 1 / dt));
}

/* ---- from frame to frame ---- */

/* A step is short against bobbing and damping, and takes no body farther than a quarter of its smallest side
 * or half a cell; the fastest are not waited for. */
static double next_step(const und_floating_bodies *s, double left, double shortest)
{
    const double *d = s->grid.d;
    double step = s->longest;
    for (int i = 0; i < s->def.body_count; i++) {
        double speed = und_length(und_of(s->bodies->kept[i].now.velocity));
        double way = fmin(0.5 * s->bodies->bodies[i].size, 0.5 * fmin(d[0], fmin(d[1], d[2])));
        if (speed > 0)
            step = fmin(step, way / speed);
    }
    return left / ceil(left / fmax(step, shortest));
}

/* In a flow one cell deep bodies move in its plane. */
static void keep_flat(und_floating_bodies *s)
{
    for (int i = 0; i < s->def.body_count && s->grid.n[2] == 1; i++) {
        und_body_state *now = &s->bodies->kept[i].now;
        if (!und_bodies_led(s->bodies, i))
            now->velocity[2] = now->spin[0] = now->spin[1] = 0;
    }
}

static void move(und_floating_bodies *s)
{
    enum { MOST_STEPS = 1000 };
    double start = s->seen.time, whole = s->next.time - start, done = 0;
    while (whole - done > 1e-9 * whole) {
        double dt = next_step(s, whole - done, whole / MOST_STEPS);
        keep_flat(s);
        PARALLEL_FOR(s->grid.threads)
        for (int i = 0; i < s->def.body_count; i++)
            if (!und_bodies_led(s->bodies, i))
                push(s, i, done / whole, dt);
        und_bodies_step(s->bodies, start + done, dt);
        done += dt;
    }
    keep_flat(s);
}

static bool same_solids(const und_flow_sample_grid *g, const uint8_t *a, const uint8_t *b)
{
    size_t count = (size_t)g->n[0] * (size_t)g->n[1] * (size_t)g->n[2];
    for (size_t i = 0; i < count; i++)
        if ((a[i] == UND_CELL_SOLID) != (b[i] == UND_CELL_SOLID))
            return false;
    return true;
}

static und_status set_solids(und_floating_bodies *s, const uint8_t *label, und_error *err)
{
    und_status status = und_blocks_make(&s->blocks, &s->grid, label, err);
    und_bodies_boxes(s->bodies, s->blocks.boxes, s->blocks.count);
    return status;
}

und_status und_floating_bodies_advance(und_floating_bodies *s, const und_frame *frame, und_error *err)
{
    if (!(frame->time > s->seen.time && isfinite(frame->time)))
        return und_error_set(err, UND_INVALID, "frame %d is at %g s, not after the one before it at %g s",
                             frame->number, frame->time, s->seen.time);
    und_status status = und_flow_sample_load(&s->next, &s->grid, frame, err);
    if (status == UND_OK && !same_solids(&s->grid, s->seen.label, s->next.label))
        status = set_solids(s, s->next.label, err);
    if (status != UND_OK)
        return status;
    und_flow_sample_press(&s->seen, &s->next, &s->grid);
    move(s);
    und_flow_sample seen = s->seen;
    s->seen = s->next;
    s->next = seen;
    return UND_OK;
}

und_status und_floating_bodies_frame(const und_floating_bodies *s, und_frame *frame, und_error *err)
{
    return und_bodies_frame(s->bodies, frame, err);
}

/* ---- checkpoints ---- */

/* The bodies' state and the time of the frame seen last, then that frame's arrays. */
static int saved_parts(und_floating_bodies *s, und_flow_sample_part list[UND_FLOW_SAMPLE_PARTS + 2])
{
    size_t count;
    double *state = und_bodies_saved(s->bodies, &count);
    list[0] = (und_flow_sample_part){
        .saved = "afloat_bodies", .type = UND_F64, .rank = 1, .dim = {count}, .data = state};
    list[1] = (und_flow_sample_part){
        .saved = "afloat_time", .type = UND_F64, .rank = 1, .dim = {1}, .data = &s->seen.time};
    return 2 + und_flow_sample_parts(&s->grid, &s->seen, list + 2);
}

und_status und_floating_bodies_save(und_floating_bodies *s, und_frame *state, und_error *err)
{
    und_flow_sample_part list[UND_FLOW_SAMPLE_PARTS + 2];
    int count = saved_parts(s, list);
    for (int i = 0; i < count; i++) {
        und_item_def def = {.name = list[i].saved,
                            .unit = "",
                            .kind = UND_NUMBERS,
                            .type = list[i].type,
                            .rank = list[i].rank};
        memcpy(def.dim, list[i].dim, sizeof list[i].dim);
        if (!und_frame_borrow(state, &def, list[i].data, err))
            return UND_FAILED;
    }
    return UND_OK;
}

und_status und_floating_bodies_restore(und_floating_bodies *s, const und_frame *state, und_error *err)
{
    und_flow_sample_part list[UND_FLOW_SAMPLE_PARTS + 2];
    int count = saved_parts(s, list);
    for (int i = 0; i < count; i++) {
        const und_item *item = und_frame_find(state, list[i].saved);
        size_t expected = 1;
        for (int k = 0; k < list[i].rank; k++)
            expected *= list[i].dim[k];
        if (!item || item->type != list[i].type || und_item_count(item) != expected || !item->data)
            return und_error_set(err, UND_FAILED,
                                 "the checkpoint does not fit the scene: %s has %zu values, expected %zu",
                                 list[i].saved, item ? und_item_count(item) : 0, expected);
    }
    for (int i = 0; i < count; i++) {
        const und_item *item = und_frame_find(state, list[i].saved);
        memcpy(list[i].data, item->data, und_item_bytes(item));
    }
    und_bodies_restored(s->bodies, s->seen.time);
    und_flow_sample_make(&s->seen, &s->grid);
    return set_solids(s, s->seen.label, err);
}
