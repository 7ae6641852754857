/* What contacts do to bodies.  Speeds and places are mended apart: the engine finds speeds after which no
 * contact closes, by a linear complementarity problem with friction; bodies that lie in each other are then
 * shifted apart without gaining speed, so that nothing hops out of a contact. */
#include "bodies/state.h"

static double bounce_of(const und_bodies *s, const und_contact *c)
{
    double a = s->bodies[c->a].def->bounce;
    return c->b < 0 ? a : fmax(a, s->bodies[c->b].def->bounce);
}

static double friction_of(const und_bodies *s, const und_contact *c)
{
    double a = s->bodies[c->a].def->friction;
    return c->b < 0 ? a : sqrt(a * s->bodies[c->b].def->friction);
}

static bool is_free(const und_bodies *s, int body)
{
    return body >= 0 && !(s->kept[body].led > 0);
}

static und_vec3 speed_of(const und_bodies *s, int body, und_vec3 at)
{
    return body < 0 ? und_vec(0, 0, 0) : und_bodies_speed_at(s, body, at);
}

/* A contact as the engine's joint between the free bodies alone: what a led body does is a speed the joint
 * asks for.  The softness is a millionth of the bodies' own: it makes redundant contacts solvable. */
static void add_joint(und_bodies *s, const und_contact *c, double dt)
{
    und_vec3 other = speed_of(s, c->b, c->at), n = c->normal;
    und_vec3 v = und_sub(speed_of(s, c->a, c->at), other);
    double closing = -und_dot(v, n), still = 2 * fabs(s->world.gravity) * dt;
    double inverse = 1 / s->bodies[c->a].mass + (is_free(s, c->b) ? 1 / s->bodies[c->b].mass : 0);
    und_vec3 along = und_add(v, und_mul(n, closing)), t1 = und_unit(along);
    if (und_length(along) < 1e-6) /* at rest any direction is as good */
        t1 = und_unit(und_cross(n, fabs(n.x) < 0.7 ? und_vec(1, 0, 0) : und_vec(0, 0, 1)));
    und_vec3 t2 = und_cross(n, t1), lead = is_free(s, c->b) ? und_vec(0, 0, 0) : other;
    dContact joint = {
        .surface = {.mode = dContactApprox1 | dContactFDir1 | dContactMotion1 | dContactMotion2 |
                            dContactMotionN | dContactSoftCFM | dContactSlip1 | dContactSlip2,
                    .mu = friction_of(s, c),
                    .motionN = und_dot(lead, n) + (closing > still ? bounce_of(s, c) * closing : 0),
                    .motion1 = und_dot(lead, t1),
                    .motion2 = und_dot(lead, t2)},
        .geom = {.pos = {c->at.x, c->at.y, c->at.z}, .normal = {n.x, n.y, n.z}},
        .fdir1 = {t1.x, t1.y, t1.z}};
    joint.surface.soft_cfm = joint.surface.slip1 = joint.surface.slip2 = 1e-6 * dt * inverse;
    dJointAttach(dJointCreateContact(s->ode, s->joints, &joint), s->bodies[c->a].ode,
                 is_free(s, c->b) ? s->bodies[c->b].ode : NULL);
}

static int island_of(und_bodies *s, int body)
{
    while (s->bodies[body].island != body)
        body = s->bodies[body].island = s->bodies[s->bodies[body].island].island;
    return body;
}

/* The most contacts of bodies that hang together. */
static int largest_island(und_bodies *s)
{
    int largest = 0;
    for (int i = 0; i < s->count; i++) {
        s->bodies[i].island = i;
        s->bodies[i].island_contacts = 0;
    }
    for (int i = 0; i < s->contact_count; i++)
        if (is_free(s, s->contacts[i].b))
            s->bodies[island_of(s, s->contacts[i].a)].island = island_of(s, s->contacts[i].b);
    for (int i = 0; i < s->contact_count; i++) {
        int count = ++s->bodies[island_of(s, s->contacts[i].a)].island_contacts;
        largest = count > largest ? count : largest;
    }
    return largest;
}

static void hand_over(und_bodies *s, int i)
{
    const und_body *body = &s->bodies[i];
    const und_body_state *b = &s->kept[i].now;
    dBodyID ode = body->ode;
    dBodyEnable(ode);
    dBodySetPosition(ode, b->position[0], b->position[1], b->position[2]);
    dBodySetQuaternion(ode, b->rotation);
    dBodySetLinearVel(ode, b->velocity[0], b->velocity[1], b->velocity[2]);
    dBodySetAngularVel(ode, b->spin[0], b->spin[1], b->spin[2]);
    dBodySetForce(ode, body->force.x, body->force.y, body->force.z);
    dBodySetTorque(ode, body->torque.x, body->torque.y, body->torque.z);
}

static void take_over(und_bodies *s, int i)
{
    und_vec3 velocity = und_of(dBodyGetLinearVel(s->bodies[i].ode));
    und_vec3 spin = und_of(dBodyGetAngularVel(s->bodies[i].ode));
    dBodyDisable(s->bodies[i].ode);
    if (!und_finite(velocity) || !und_finite(spin))
        return; /* no answer: the body goes on as it was */
    und_to(s->kept[i].now.velocity, velocity);
    und_to(s->kept[i].now.spin, spin);
}

void und_contacts_solve(und_bodies *s, double dt)
{
    enum { EXACT = 16 }; /* contacts up to which the exact solver, whose time grows as the cube, is fast */
    if (s->contact_count == 0)
        return;
    for (int i = 0; i < s->count; i++)
        if (s->bodies[i].contact_count > 0 && is_free(s, i))
            hand_over(s, i);
    for (int i = 0; i < s->contact_count; i++)
        add_joint(s, &s->contacts[i], dt);
    if (largest_island(s) <= EXACT) {
        dWorldStep(s->ode, dt);
    } else {
        dRandSetSeed(1); /* the fast solver shuffles its rows */
        dWorldQuickStep(s->ode, dt);
    }
    dJointGroupEmpty(s->joints);
    for (int i = 0; i < s->count; i++)
        if (s->bodies[i].contact_count > 0 && is_free(s, i))
            take_over(s, i);
}

/* What a unit push along a normal at a place does to the speed there. */
static double give(const und_bodies *s, int body, und_vec3 at, und_vec3 n)
{
    const und_body *b = &s->bodies[body];
    und_vec3 lever = und_cross(und_sub(at, und_of(s->kept[body].now.position)), n);
    return 1 / b->mass + und_dot(lever, und_matrix_mul(b->world_inverse_inertia, lever));
}

static void shove(und_bodies *s, int body, und_vec3 at, und_vec3 push)
{
    und_body *b = &s->bodies[body];
    und_vec3 lever = und_cross(und_sub(at, und_of(s->kept[body].now.position)), push);
    b->shift = und_add(b->shift, und_mul(push, 1 / b->mass));
    b->tilt = und_add(b->tilt, und_matrix_mul(b->world_inverse_inertia, lever));
}

static double parting(const und_bodies *s, int body, und_vec3 at, und_vec3 n)
{
    const und_body *b = &s->bodies[body];
    und_vec3 arm = und_sub(at, und_of(s->kept[body].now.position));
    return und_dot(n, und_add(b->shift, und_cross(b->tilt, arm)));
}

/* The speed at which a contact should open: a share of what is deeper than a skin that keeps bodies in touch,
 * less what the bodies do themselves, and no faster than things fall. */
static double wanted(const und_bodies *s, const und_contact *c, double dt)
{
    double size = s->bodies[c->a].size;
    if (is_free(s, c->b))
        size = fmin(size, s->bodies[c->b].size);
    double opening = und_dot(c->normal, und_sub(speed_of(s, c->a, c->at), speed_of(s, c->b, c->at)));
    double speed = 0.3 * fmax(c->depth - 5e-4 * size, 0) / dt - fmax(opening, 0);
    return fmin(speed, size / 0.1 + sqrt(fabs(s->world.gravity) * size));
}

void und_contacts_separate(und_bodies *s, double dt)
{
    enum { SWEEPS = 8 };
    bool any = false;
    for (int i = 0; i < s->count && s->contact_count > 0; i++)
        if (s->bodies[i].contact_count > 0)
            und_bodies_inverse_inertia(s, i, s->bodies[i].world_inverse_inertia);
    for (int i = 0; i < s->contact_count; i++) {
        und_contact *c = &s->contacts[i];
        c->wanted = wanted(s, c, dt);
        c->weight = give(s, c->a, c->at, c->normal);
        if (is_free(s, c->b))
            c->weight += give(s, c->b, c->at, c->normal);
        any = any || c->wanted > 0;
    }
    for (int sweep = 0; any && sweep < SWEEPS; sweep++)
        for (int i = 0; i < s->contact_count; i++) {
            und_contact *c = &s->contacts[i];
            double open = parting(s, c->a, c->at, c->normal);
            if (is_free(s, c->b))
                open -= parting(s, c->b, c->at, c->normal);
            double push = fmax(c->push + (c->wanted - open) / c->weight, 0) - c->push;
            c->push += push;
            shove(s, c->a, c->at, und_mul(c->normal, push));
            if (is_free(s, c->b))
                shove(s, c->b, c->at, und_mul(c->normal, -push));
        }
}
