#include "control/control_particles.h"

#include "base/parallel.h"
#include "base/status.h"
#include "control/control_particles_state.h"
#include "grid/field.h"

#include <stdlib.h>
#include <string.h>

static const char *const what = "control particles";

enum {
    AT_PARTICLES = UND_AT_OWN,
    AT_PARTICLE_BLOCKS,
    AT_PILED_BLOCKS, /* of each pile */
    AT_PILE_ENDS,
    AT_SLICES
};
enum { CYLINDERS = 1 };

#define FIELD(member, at, ...) UND_FIELD(control_field, member, at, ##__VA_ARGS__)

static const und_field fields[] = {
    FIELD(now, AT_PARTICLES),
    FIELD(normal, AT_PARTICLES, .when = CYLINDERS),
    FIELD(list, AT_PARTICLES),
    FIELD(pile, AT_PARTICLES),
    FIELD(block_reach, AT_PARTICLE_BLOCKS),
    FIELD(block_told, AT_PARTICLE_BLOCKS),
    FIELD(block_count, AT_PILED_BLOCKS),
    FIELD(first, AT_PILE_ENDS),
    FIELD(cell, UND_AT_CELLS, .sparse = true),
    FIELD(span, UND_AT_ROWS),
    FIELD(row_low, AT_SLICES),
    FIELD(row_high, AT_SLICES),
};
enum { FIELDS = sizeof fields / sizeof *fields };

static und_status open_field(const und_control_particles *g, control_field *f, und_error *err)
{
    const und_mac *m = &g->mac;
    const size_t most = (size_t)f->capacity, slices = (size_t)control_slices(m),
                 blocks = (most + CONTROL_BLOCK - 1) / CONTROL_BLOCK, piles = (size_t)control_piles(m),
                 own[] = {most, blocks, blocks * piles, piles + 1, slices};
    bool cylinders = false;
    for (int i = 0; i < g->count; i++)
        cylinders |= g->groups[i].def.kind == f->kind && g->groups[i].def.shape == UND_CONTROL_CYLINDER;
    const und_field_room room = {.mac = m, .own = own, .asked = cylinders ? CYLINDERS : 0};
    if (und_field_open_all(f, fields, FIELDS, &room, what, err) != UND_OK)
        return err->status;
    for (size_t i = 0; i < slices; i++) {
        f->row_low[i] = m->n[1];
        f->row_high[i] = -1;
    }
    return UND_OK;
}

static und_status open_all(und_control_particles *g, und_error *err)
{
    double most[UND_CONTROL_KINDS] = {0};
    for (int i = 0; i < g->frame_caches->count; i++) {
        control_group *group = &g->groups[i];
        group->frame_cache = &g->frame_caches->frame_cache[i];
        group->def = group->frame_cache->def;
        g->count++;
        if ((!group->frame_cache->looked && und_control_particle_look(group, &g->mac, err) != UND_OK) ||
            und_control_particle_open_group(group, err) != UND_OK)
            return err->status;
        most[group->def.kind] += group->frame_cache->most;
    }
    for (int k = 0; k < UND_CONTROL_KINDS; k++) {
        control_field *f = &g->field[k];
        f->kind = (und_control_particle_kind)k;
        if (most[k] > 1 << 30)
            return und_error_set(err, UND_INVALID, "control: %g particles are too many", most[k]);
        f->capacity = (int)most[k];
        if (f->capacity > 0 && open_field(g, f, err) != UND_OK)
            return err->status;
    }
    return und_mask_open(&g->held, &g->mac, what, err);
}

/* Takes over the frame caches, in any case. */
static und_control_particles *create(const und_mac *mac, control_frame_caches *frame_caches, int threads,
                                     und_error *err)
{
    und_control_particles *g = und_alloc(1, sizeof *g, what, err);
    if (!g) {
        und_control_frame_caches_close(frame_caches);
        return NULL;
    }
    g->mac = *mac;
    g->threads = threads;
    g->frame_caches = frame_caches;
    g->groups =
        und_alloc((size_t)(frame_caches->count > 0 ? frame_caches->count : 1), sizeof *g->groups, what, err);
    g->sums = g->groups
                  ? und_alloc(CONTROL_SUMS * ((size_t)control_slices(mac) + 1), sizeof *g->sums, what, err)
                  : NULL;
    if (!g->sums || open_all(g, err) != UND_OK) {
        und_control_particles_destroy(g);
        return NULL;
    }
    return g;
}

und_control_particles *und_control_particles_create(const und_mac *mac, const und_control_particle_def *defs,
                                                    int count, int threads, und_error *err)
{
    und_error unused;
    err = err ? err : &unused;
    if (mac->n[0] > INT16_MAX || mac->n[1] > INT16_MAX || mac->n[2] > INT16_MAX) {
        und_error_set(err, UND_INVALID, "control: more than %d cells along an axis", INT16_MAX);
        return NULL;
    }
    control_frame_caches *frame_caches = und_control_frame_caches_open(defs, count, err);
    return frame_caches ? create(mac, frame_caches, und_threads(threads), err) : NULL;
}

und_control_particles *und_control_particles_create_like(const und_control_particles *g, const und_mac *mac,
                                                         und_error *err)
{
    g->frame_caches->users++;
    return create(mac, g->frame_caches, g->threads, err);
}

void und_control_particles_destroy(und_control_particles *g)
{
    if (!g)
        return;
    for (int i = 0; i < g->count; i++)
        und_control_particle_close_group(&g->groups[i]);
    for (int k = 0; k < UND_CONTROL_KINDS; k++)
        und_field_close_all(&g->field[k], fields, FIELDS);
    und_mask_close(&g->held);
    und_control_frame_caches_close(g->frame_caches);
    free(g->groups);
    free(g->sums);
    free(g);
}

bool und_control_particles_have(const und_control_particles *g, und_control_particle_kind kind)
{
    return g && g->field[kind].capacity > 0;
}

und_status und_control_particles_fetch(und_control_particles *g, double time, double dt, und_error *err)
{
    for (int i = 0; i < g->count; i++) {
        const und_control_particle_kind kind = g->groups[i].def.kind;
        const bool surface = kind == UND_CONTROL_SURFACE || kind >= UND_CONTROL_ERASER;
        if (und_control_particle_fetch(&g->groups[i], surface ? time + dt : time, err) != UND_OK)
            return err->status;
    }
    return UND_OK;
}

void und_control_particles_render(und_control_particles *g, double time, double dt)
{
    und_control_particle_render(g, &g->field[UND_CONTROL_VELOCITY], time, dt);
    und_control_particle_render(g, &g->field[UND_CONTROL_VISCOSITY], time, dt);
    und_control_particle_render(g, &g->field[UND_CONTROL_DIVERGENCE], time, dt);
}

void und_control_particles_render_surface(und_control_particles *g, double time)
{
    und_control_particle_render(g, &g->field[UND_CONTROL_SURFACE], time, 0);
    und_control_particle_render(g, &g->field[UND_CONTROL_ADDER], time, 0);
    und_control_particle_render(g, &g->field[UND_CONTROL_ERASER], time, 0);
}

const und_control_particle_cell *und_control_particles_cell(const und_control_particles *g,
                                                            und_control_particle_kind kind, int x, int y,
                                                            int z)
{
    int begin, end;
    bool any = control_row(g, &g->field[kind], y, z, &begin, &end) && x >= begin && x < end;
    return any ? &g->field[kind].cell[und_mac_at(&g->mac, x, y, z)] : NULL;
}

int und_control_particles_count(const und_control_particles *g, und_control_particle_kind kind)
{
    int count = 0;
    for (int i = 0; i < g->count; i++)
        count += g->groups[i].def.kind == kind ? g->groups[i].now : 0;
    return count;
}

und_control_particle_place und_control_particles_place(const und_control_particles *g,
                                                       und_control_particle_kind kind, int i)
{
    const und_mac *m = &g->mac;
    const control_now *now = &g->field[kind].now[i];
    und_control_particle_place out = {.radius = (float)((double)now->radius * m->d[0])};
    for (int a = 0; a < 3; a++) {
        out.at[a] = (float)(m->origin[a] + (double)now->place[a] * m->d[a]);
        out.velocity[a] = kind == UND_CONTROL_VELOCITY ? now->value[a] : 0;
    }
    return out;
}
