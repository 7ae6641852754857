/* What contacts and joints do to bodies: impulses found by projected Gauss-Seidel sweeps, forwards and
 * backwards in turn. Speeds and places are mended apart: the speeds after which no contact closes, with
 * friction inside its cone; then a shift that takes bodies out of each other and is not kept as speed, so
 * that nothing hops out of a contact.  Nothing is carried from step to step. */
#include "bodies/state.h"

static double bounce_of(const und_bodies *s, const und_contact *c)
{
    double a = s->bodies[c->a].def->bounce;
    return c->b == s->count ? a : fmax(a, s->bodies[c->b].def->bounce);
}

static double friction_of(const und_bodies *s, const und_contact *c)
{
    double a = s->bodies[c->a].def->friction;
    return c->b == s->count ? a : sqrt(a * s->bodies[c->b].def->friction);
}

/* How fast a's material moves along a row relative to b's. */
static double rate(const und_speed *speed, const und_contact *c, const und_row *row)
{
    const und_speed *a = &speed[c->a], *b = &speed[c->b];
    return und_dot(row->along, und_sub(a->velocity, b->velocity)) + und_dot(row->arm_a, a->spin) -
           und_dot(row->arm_b, b->spin);
}

static void push(und_speed *speed, const und_contact *c, const und_row *row, double impulse)
{
    und_speed *a = &speed[c->a], *b = &speed[c->b];
    a->velocity = und_add(a->velocity, und_mul(row->along, impulse * c->inverse_mass[0]));
    a->spin = und_add(a->spin, und_mul(row->turn_a, impulse));
    if (c->inverse_mass[1] > 0) {
        b->velocity = und_sub(b->velocity, und_mul(row->along, impulse * c->inverse_mass[1]));
        b->spin = und_sub(b->spin, und_mul(row->turn_b, impulse));
    }
}

static und_row row_along(const und_bodies *s, const und_contact *c, und_vec3 along)
{
    const und_body *a = &s->bodies[c->a], *b = &s->bodies[c->b];
    und_row row = {.along = along};
    row.arm_a = und_cross(und_sub(c->at, und_of(s->kept[c->a].now.position)), along);
    row.arm_b = und_cross(und_sub(c->at, und_of(s->kept[c->b].now.position)), along);
    row.turn_a = und_matrix_mul(a->world_inverse_inertia, row.arm_a);
    row.turn_b = und_matrix_mul(b->world_inverse_inertia, row.arm_b);
    row.give =
        a->inverse_mass + b->inverse_mass + und_dot(row.arm_a, row.turn_a) + und_dot(row.arm_b, row.turn_b);
    return row;
}

/* The speed along the normal that a contact asks for: a bounce where the bodies meet in this step, else what
 * just closes the gap.  Below what gravity adds in two steps bodies come to rest. */
static double target_speed(const und_bodies *s, const und_contact *c, double dt)
{
    double closing = -rate(s->speed, c, &c->row[0]);
    double gap = fmax(-c->depth, 0), still = 2 * fabs(s->world.gravity) * dt;
    return closing > still && closing * dt > gap ? bounce_of(s, c) * closing : -gap / dt;
}

void und_contacts_prepare(und_bodies *s, double time, double dt)
{
    for (int i = 0; i < s->count && s->contact_count > 0; i++)
        if (s->bodies[i].contact_count > 0)
            und_bodies_inverse_inertia(s, i, s->bodies[i].world_inverse_inertia);
    for (int i = 0; i < s->contact_count; i++) {
        und_contact *c = &s->contacts[i];
        und_vec3 n = c->normal, side = fabs(n.x) < 0.7 ? und_vec(1, 0, 0) : und_vec(0, 0, 1);
        und_vec3 t = und_unit(und_cross(n, side));
        c->inverse_mass[0] = s->bodies[c->a].inverse_mass;
        c->inverse_mass[1] = s->bodies[c->b].inverse_mass;
        if (c->kind != UND_CONTACT) {
            und_joint_rows(s, c, time, dt);
            continue;
        }
        c->row[0] = row_along(s, c, n);
        c->row[1] = row_along(s, c, t);
        c->row[2] = row_along(s, c, und_cross(n, t));
        c->friction = friction_of(s, c);
        c->target = target_speed(s, c, dt);
    }
}

/* Brings the speed along the normal to at least `target`. */
static void press(und_speed *speed, und_contact *c, double target)
{
    und_row *row = &c->row[0];
    double impulse = fmax(row->impulse + (target - rate(speed, c, row)) / row->give, 0);
    push(speed, c, row, impulse - row->impulse);
    row->impulse = impulse;
}

/* Coulomb: the sliding stops, or the impulse is friction times the normal one against it. */
static void rub(und_speed *speed, und_contact *c)
{
    double impulse[2], most = c->friction * c->row[0].impulse;
    for (int k = 0; k < 2; k++) {
        const und_row *row = &c->row[1 + k];
        impulse[k] = row->impulse - rate(speed, c, row) / row->give;
    }
    double size = sqrt(impulse[0] * impulse[0] + impulse[1] * impulse[1]);
    for (int k = 0; k < 2; k++) {
        und_row *row = &c->row[1 + k];
        double now = size > most ? impulse[k] * (most / size) : impulse[k];
        push(speed, c, row, now - row->impulse);
        row->impulse = now;
    }
}

/* Brings the speed along each row of a joint to its target, as far as the bounds of the impulse let it. */
static void join(und_speed *speed, und_contact *c)
{
    for (int k = 0; k < 3; k++) {
        und_row *row = &c->row[k];
        if (!(row->give > 0))
            continue;
        double impulse = row->impulse + (row->target - rate(speed, c, row)) / row->give;
        impulse = fmax(row->least, fmin(impulse, row->most));
        push(speed, c, row, impulse - row->impulse);
        row->impulse = impulse;
    }
}

/* One sweep forwards and one backwards; returns the square of the step it made, as energy. */
static double sweep(und_bodies *s, const int *order, int count)
{
    double square = 0;
    for (int i = 0; i < 2 * count; i++) {
        und_contact *c = &s->contacts[order[i < count ? i : 2 * count - 1 - i]];
        if (c->kind != UND_CONTACT)
            join(s->speed, c);
        else
            press(s->speed, c, c->target);
        if (c->friction > 0)
            rub(s->speed, c);
    }
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) {
            const und_row *row = &s->contacts[order[i]].row[k];
            square += row->give * (row->impulse - row->before) * (row->impulse - row->before);
        }
    return square;
}

/* Goes on along the conjugate direction, by `share` of the last. */
static void go_on(und_bodies *s, const int *order, int count, double share)
{
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) {
            und_contact *c = &s->contacts[order[i]];
            und_row *row = &c->row[k];
            double more = share * row->step;
            row->step = more + row->impulse - row->before;
            row->impulse += more;
            row->before = row->impulse;
            push(s->speed, c, row, more);
        }
}

/* More rounds for few contacts: a tower has its time, a heap of a hundred bodies its millisecond. */
static int round_limit(int contacts)
{
    enum { LEAST = 12, MOST = 200, ROOM = 3000 };
    int rounds = ROOM / contacts;
    return rounds < LEAST ? LEAST : rounds > MOST ? MOST : rounds;
}

static void solve_island(und_bodies *s, const int *order, int count, int rounds)
{
    const double enough = 1e-9; /* of the first step's square */
    double first = 0, last = 0;
    for (int i = 0; i < rounds; i++) {
        double square = sweep(s, order, count);
        first = i == 0 ? square : first;
        if (!(square > enough * first) || i + 1 == rounds)
            break;
        go_on(s, order, count, i > 0 && square < last ? square / last : 0);
        last = square;
    }
}

static int island_of(und_bodies *s, int body)
{
    while (s->bodies[body].island != body)
        body = s->bodies[body].island = s->bodies[s->bodies[body].island].island;
    return body;
}

/* Puts the contacts in order by island, as they come within each. */
static void find_islands(und_bodies *s)
{
    int end = 0;
    for (int i = 0; i < s->count; i++) {
        s->bodies[i].island = i;
        s->bodies[i].island_end = 0;
    }
    for (int i = 0; i < s->contact_count; i++)
        if (s->bodies[s->contacts[i].b].inverse_mass > 0)
            s->bodies[island_of(s, s->contacts[i].a)].island = island_of(s, s->contacts[i].b);
    for (int i = 0; i < s->contact_count; i++)
        s->bodies[island_of(s, s->contacts[i].a)].island_end++;
    for (int i = 0; i < s->count; i++) { /* from counts to starts, which the next loop takes to the ends */
        int count = s->bodies[i].island_end;
        s->bodies[i].island_end = end;
        end += count;
    }
    for (int i = 0; i < s->contact_count; i++)
        s->order[s->bodies[island_of(s, s->contacts[i].a)].island_end++] = i;
}

void und_contacts_solve(und_bodies *s)
{
    if (s->contact_count == 0)
        return;
    find_islands(s);
    for (int i = 0, start = 0; i < s->count; i++) {
        int count = s->bodies[i].island_end - start;
        if (count > 0)
            solve_island(s, s->order + start, count, round_limit(s->contact_count));
        start = s->bodies[i].island_end;
    }
}

/* The speed at which a contact should open: a share of its depth, less what the bodies do themselves, and no
 * faster than things fall. */
static double parting_speed(const und_bodies *s, const und_contact *c, double dt)
{
    double size = s->bodies[c->a].size;
    if (s->bodies[c->b].inverse_mass > 0)
        size = fmin(size, s->bodies[c->b].size);
    double speed = 0.3 * fmax(c->depth - 1e-4 * size, 0) / dt - fmax(rate(s->speed, c, &c->row[0]), 0);
    return fmin(speed, size / 0.1 + sqrt(fabs(s->world.gravity) * size));
}

/* The same for joints: a share of what they are off.  Those that hold a pose have nothing to mend. */
static bool mend_joint(und_contact *c, double dt)
{
    bool any = false;
    for (int k = 0; k < 3; k++) {
        und_row *row = &c->row[k];
        row->impulse = 0;
        row->target = -0.3 * row->off / dt;
        any = any || row->off != 0;
    }
    if (c->kind == UND_JOINT_HOLD)
        c->row[0].give = c->row[1].give = c->row[2].give = 0;
    return any;
}

void und_contacts_separate(und_bodies *s, double dt)
{
    enum { SWEEPS = 8 };
    bool any = false;
    for (int i = 0; i < s->contact_count; i++) {
        und_contact *c = &s->contacts[i];
        if (c->kind != UND_CONTACT) {
            any = mend_joint(c, dt) || any;
            continue;
        }
        c->target = parting_speed(s, c, dt);
        c->row[0].impulse = 0;
        any = any || c->target > 0;
    }
    for (int k = 0; any && k < SWEEPS; k++)
        for (int i = 0; i < s->contact_count; i++) {
            und_contact *c = &s->contacts[k % 2 ? s->contact_count - 1 - i : i];
            if (c->kind != UND_CONTACT)
                join(s->shift, c);
            else
                press(s->shift, c, c->target);
        }
}
