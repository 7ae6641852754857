#include "check.h"

#include "flow/solids.h"
#include "geom/sequence.h"
#include "geom/shape.h"
#include "geom/trimesh.h"
#include "grid/frame.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Cells: walls as thick keep what is on their two sides apart. */
static const double ENOUGH = 2;

/* "solid 2 ("cup")" */
static void print_name(char *text, size_t size, const und_obstacle_def *def, int number)
{
    if (def->name)
        snprintf(text, size, "solid %d (\"%s\")", number, def->name);
    else
        snprintf(text, size, "solid %d", number);
}

static long open_edges(const und_shape *shape)
{
    long count = 0;
    if (!shape)
        return 0;
    for (int i = 0; i < shape->child_count; i++)
        count += open_edges(shape->children[i]);
    return count + (shape->kind == UND_MESH ? und_trimesh_open_edges(shape->mesh) : 0);
}

static void check_mesh(survey *s, const und_obstacle_def *def, const char *name)
{
    long edges = def->sequence ? und_sequence_open_edges(def->sequence) : open_edges(def->shape);
    if (edges > 0)
        check_warn(s,
                   "%s: its mesh is not watertight: %ld edge%s open, and what is inside is the majority's "
                   "vote of six lines; liquid may pass where the votes differ",
                   name, edges, edges == 1 ? " is" : "s are");
}

static void check_wall(survey *s, const und_levelset_def *def, const und_thin_wall *wall, const char *name)
{
    int longest = def->n[0];
    for (int a = 1; a < 3; a++)
        longest = def->n[a] > longest ? def->n[a] : longest;
    double cells = ceil(longest * ENOUGH / wall->thickness - 1e-6);
    if (wall->thickness < ENOUGH)
        check_warn(
            s,
            "%s: walls are %.2g cells thick at (%.3g, %.3g, %.3g) m: closed on the grid, but liquid on "
            "their two sides is seen through them; use cells >= %.0f for %g cells",
            name, wall->thickness, wall->place[0], wall->place[1], wall->place[2], cells, ENOUGH);
}

static long solid_cells(const und_solids *solids, int number)
{
    const und_mac *m = &solids->mac;
    long count = 0;
    for (int row = 0; row < und_mac_rows(m); row++)
        for (int x = 0; x < m->n[0]; x++) {
            size_t at = und_mac_row(m, row) + (size_t)x;
            count += solids->distance[at] < UND_SOLIDS_REACH && solids->owner[at] == number;
        }
    return count;
}

static placed placed_solid(const und_levelset_def *def, int i)
{
    const und_obstacle_def *solid = &def->obstacles[i];
    return (placed){.what = "solid",
                    .name = solid->name,
                    .number = i + 1,
                    .shape = solid->inside_out ? NULL : solid->shape,
                    .motion = solid->motion,
                    .end = INFINITY};
}

static double cells_in_all(const und_levelset_def *def)
{
    return (double)def->n[0] * def->n[1] * def->n[2];
}

static void check_solid(survey *s, const und_solids *solids, const und_thin_wall *wall)
{
    const und_levelset_def *def = &s->scene->levelset;
    const und_obstacle_def *solid = &def->obstacles[wall->solid];
    double frame = 1 / s->scene->fps, crossed = wall->speed * frame / def->dx;
    char name[128];
    const placed where = placed_solid(def, wall->solid);
    print_name(name, sizeof name, solid, wall->solid + 1);
    if (wall->speed > 0)
        printf("moves      %s, up to %.3g m/s, %.3g cells a frame\n", name, wall->speed, crossed);
    else if (!und_mac_is_window(&solids->mac) && solid_cells(solids, wall->solid) == 0 && where.shape &&
             check_is_in(s, &where))
        check_warn(s, "%s is wholly in another", name);
    check_mesh(s, solid, name);
    check_wall(s, def, wall, name);
}

/* Where a domain is very large: as the window at the start sees them. */
static und_mac grid_of(const und_levelset_def *def, const und_grid *frame)
{
    const double size[3] = {def->dx, def->dx, def->dx}, many = 1 << 24;
    const und_mac whole = und_mac_make(def->n, size, def->origin);
    int low[3];
    for (int a = 0; a < 3; a++)
        low[a] = (int)lround((frame->origin[a] - def->origin[a]) / def->dx);
    return cells_in_all(def) > many ? und_mac_window(&whole, low, frame->n) : whole;
}

static void check_solids(survey *s, const und_grid *grid)
{
    const und_levelset_def *def = &s->scene->levelset;
    const und_mac mac = grid_of(def, grid);
    const double frame = 1 / s->scene->fps, start = 0; /* the first frame is at 0 s */
    und_solids solids;
    und_error err;
    if (def->obstacle_count == 0)
        return;
    und_thin_wall *list = calloc((size_t)def->obstacle_count, sizeof *list);
    und_status status =
        list ? und_solids_open(&solids, &mac, def->obstacles, def->obstacle_count, def->open, start, 1, &err)
             : UND_FAILED;
    if (status == UND_OK) {
        und_solids_audit(&solids, start, frame, (int)fmin(s->seconds / frame + 1, 100000), list);
        for (int i = 0; i < def->obstacle_count; i++)
            check_solid(s, &solids, &list[i]);
        und_solids_close(&solids);
    } else {
        check_warn(s, "the solids could not be looked at: out of memory");
    }
    free(list);
}

/* The cells at the start that liquid can be in, and those it is in; false: the frame does not tell. */
static bool count_cells(const und_frame *frame, size_t *open, size_t *liquid)
{
    const und_item *distance = und_frame_find(frame, "distance"),
                   *solid = und_frame_find(frame, "solid/distance");
    const int *n = frame->grid.n; /* of a window, which has all there is at the start */
    const size_t cells = (size_t)n[0] * (size_t)n[1] * (size_t)n[2];
    if (!distance || distance->type != UND_F32 || und_item_count(distance) != cells ||
        (solid && (solid->type != UND_F32 || und_item_count(solid) != cells)))
        return false;
    *open = *liquid = 0;
    for (size_t i = 0, next; i < cells && !solid; i = next) /* what nobody wrote is air */
        if (!und_item_written(distance, i, cells, &next))
            *open += next - i;
        else
            for (size_t k = i; k < next; k++, ++*open)
                *liquid += ((const float *)distance->data)[k] < 0;
    for (size_t i = 0; i < cells && solid; i++) {
        bool is_open = ((const float *)solid->data)[i] > 0;
        *open += is_open;
        *liquid += is_open && ((const float *)distance->data)[i] < 0;
    }
    return true;
}

static bool brings_liquid(const und_levelset_def *def)
{
    bool brings = def->upstream_count > 0;
    for (int i = 0; i < def->element_count; i++)
        brings |= def->elements[i].role == UND_ELEMENT_SOURCE;
    for (int i = 0; i < def->control_particle_count; i++)
        brings |= def->control_particles[i].kind == UND_CONTROL_ADDER;
    return brings;
}

static bool takes_liquid(const und_levelset_def *def)
{
    bool takes = false;
    for (int i = 0; i < UND_SIDES; i++)
        takes |= def->open[i];
    for (int i = 0; i < def->element_count; i++)
        takes |= def->elements[i].role == UND_ELEMENT_DRAIN;
    return takes;
}

static void check_start(survey *s, const und_frame *frame)
{
    const und_levelset_def *def = &s->scene->levelset;
    size_t open, liquid;
    if (!count_cells(frame, &open, &liquid))
        return;
    const bool all = cells_in_all(def) == (double)frame->grid.n[0] * frame->grid.n[1] * frame->grid.n[2];
    if (open == 0 && all)
        check_warn(s, "there is no room for liquid: every cell is solid");
    else if (liquid == open && all && !takes_liquid(def))
        check_warn(s, "the domain is filled to the brim, and nothing lets any out: there is no surface");
    for (int i = 0; i < def->obstacle_count && liquid == 0; i++) {
        const placed solid = placed_solid(def, i);
        if (solid.shape)
            check_swallowed(s, &solid);
    }
    if (open > 0 && liquid == 0 && (def->fill_count > 0 || def->has_level))
        check_warn(s, "the liquid at the start lies wholly in what is solid, or outside the domain");
    else if (open > 0 && liquid == 0 && !brings_liquid(def))
        check_warn(s, "there is no liquid at the start and nothing brings any");
}

/* Sources, drains, forces and modifiers, each counted among its own. */
static void check_elements(survey *s)
{
    static const char *const names[] = {"source", "drain", "force", "modifier"};
    static const char *const thin[] = {
        "no liquid comes from it; make it at least a cell thick, or use more cells",
        "it takes no liquid away; make it at least a cell thick, or use more cells",
        "it acts on nothing; make it at least a cell thick, or use more cells",
        "it acts on nothing; make it at least a cell thick, or use more cells"};
    const und_levelset_def *def = &s->scene->levelset;
    int count[4] = {0};
    for (int i = 0; i < def->element_count; i++) {
        const und_element_def *e = &def->elements[i];
        int number = ++count[e->role];
        if (e->shape)
            check_placed(s, &(placed){.what = names[e->role],
                                      .number = number,
                                      .shape = e->shape,
                                      .motion = e->motion,
                                      .start = e->start,
                                      .end = e->end,
                                      .thin = thin[e->role]});
        if (e->start > s->seconds)
            check_warn(s, "%s %d begins at %g s, after the last frame at %g s", names[e->role], number,
                       e->start, s->seconds);
    }
}

/* A domain that ends nowhere has no floor. */
static void check_fall(survey *s)
{
    const und_levelset_def *def = &s->scene->levelset;
    for (int a = 0; a < 3; a++)
        if (def->endless && def->n[a] == UND_LEVELSET_ENDLESS && def->gravity[a] != 0 &&
            def->obstacle_count == 0)
            check_warn(s, "nothing holds the liquid: it falls for %g m, and has left then",
                       UND_LEVELSET_ENDLESS / 2 * def->dx);
}

void check_levelset_in_vain(survey *s, const und_frame *frame)
{
    const und_levelset_def *def = &s->scene->levelset;
    for (int i = 0; i < def->obstacle_count; i++) {
        const placed solid = placed_solid(def, i);
        if (solid.shape)
            check_placed(s, &solid);
    }
    for (int i = 0; i < def->fill_count; i++)
        check_placed(s, &(placed){.what = "fill",
                                  .number = i + 1,
                                  .shape = def->fills[i].shape,
                                  .thin = "there may be no liquid of it; use more cells"});
    check_elements(s);
    check_fall(s);
    check_control_particles(s, def->control_particles, def->control_particle_count);
    check_start(s, frame);
    check_max_step(s, def->max_step);
    if (def->keep_volume && def->surface_rule == UND_SURFACE_VOLUME)
        check_warn(s, "keep_volume does nothing: cells hold their volume (surface = \"volume\")");
}

void check_levelset(survey *s, const und_frame *frame)
{
    const und_levelset_def *def = &s->scene->levelset;
    size_t open, liquid;
    if (count_cells(frame, &open, &liquid))
        printf(def->endless ? "liquid     %zu cells\n" : "liquid     %zu of %.0f cells\n", liquid,
               cells_in_all(def));
    check_solids(s, &frame->grid);
}
