/* Meshes as solids: their distances come from a lattice, which knows all of them at once. */
#include "flow/solids_parts.h"

/* Cells: a sheet is taken to be as thick at least; then the corners of cells tell its sides apart. */
static const double SHEET = 1.9;

bool und_solids_on_lattice(const und_solids *s, int solid)
{
    const und_obstacle_def *def = &s->parts->defs[solid];
    return def->sequence || def->shape->kind == UND_MESH;
}

/* Of the centres of a box of cells, or half a cell on of their high corners. */
static und_lattice lattice_of(const und_mac *m, const und_cell_box *b, double on)
{
    und_vec3 first = und_solids_place(m, b->low[0] + on, b->low[1] + on, b->low[2] + on);
    return (und_lattice){
        {b->high[0] - b->low[0], b->high[1] - b->low[1], m->n[2] > 1 ? b->high[2] - b->low[2] : 1},
        {m->d[0], m->d[1], m->d[2]},
        {first.x, first.y, first.z}};
}

/* How much thicker a sheet is made on each of its sides, m. */
static double thickening(const und_solids *s, const und_obstacle_def *def)
{
    double thickness = def->sequence ? und_sequence_thickness(def->sequence) : 0;
    return thickness > 0 ? 0.5 * und_larger(SHEET * s->mac.d[0] - thickness, 0) : 0;
}

und_status und_solids_render(und_solids *s, int solid, und_error *err)
{
    und_solids_parts *p = s->parts;
    const und_obstacle_def *def = &p->defs[solid];
    const und_solid_state *state = &p->state[solid];
    const double reach = (UND_SOLIDS_REACH + 1) * s->mac.d[0];
    und_status status = UND_OK;
    for (int k = 0; k < 2 && status == UND_OK; k++) {
        und_lattice l = lattice_of(&s->mac, &state->near, 0.5 * k);
        und_pose pose = state->to;
        if (def->sequence) {
            status = und_sequence_render(def->sequence, state->clock[1], &pose, &l, reach, s->device.threads,
                                         p->lattice[k], k == 0 ? p->drift : NULL, err);
        } else {
            pose.position = und_pose_point(&pose, def->shape->center);
            status = und_mesh_distance(def->shape->mesh, &pose, &l, reach, s->device.threads, p->lattice[k],
                                       NULL, err);
        }
    }
    return status;
}

static void merge_row(und_solids *s, int solid, const und_cell_box *b, int y, int z)
{
    const und_solids_parts *p = s->parts;
    const und_obstacle_def *def = &p->defs[solid];
    const und_cell_box *near = &p->state[solid].near;
    const float scale = (float)((def->inside_out ? -1 : 1) / s->mac.d[0]), reach = UND_SOLIDS_REACH;
    const float more = (float)thickening(s, def);
    const size_t width = (size_t)(near->high[0] - near->low[0]),
                 height = (size_t)(near->high[1] - near->low[1]);
    const size_t slice = s->mac.n[2] > 1 ? (size_t)(z - near->low[2]) : 0;
    size_t from = (slice * height + (size_t)(y - near->low[1])) * width + (size_t)(b->low[0] - near->low[0]);
    size_t at = und_mac_at(&s->mac, b->low[0], y, z);
    for (int x = b->low[0]; x < b->high[0]; x++, from++, at++) {
        float d[2];
        for (int k = 0; k < 2; k++) {
            d[k] = (p->lattice[k][from] - more) * scale;
            d[k] = d[k] > reach ? reach : d[k] < -reach ? -reach : d[k];
        }
        if (d[1] < p->node[at])
            p->node[at] = d[1];
        if (!(d[0] < s->distance[at]))
            continue;
        s->distance[at] = d[0];
        s->owner[at] = (uint8_t)solid;
        for (int a = 0; a < 3 && def->sequence; a++)
            p->deform[a][at] = p->drift[a][from];
    }
}

static inline void merge_rendered(const und_solids_job *j, und_place p)
{
    merge_row(j->s, j->solid, j->box, p.y, p.z);
}
UND_KERNEL(merge_rendered, und_solids_job, UND_EACH_ROW)

void und_solids_merge_rendered(und_solids *s, int solid, const und_cell_box *b)
{
    const und_set rows = und_cell_box_rows(&s->mac, b);
    und_pass(&s->device, merge_rendered, &((und_solids_job){s, b, solid}), &rows);
}

und_status und_solids_deform(und_solids *s, int solid, und_error *err)
{
    und_obstacle_def *def = &s->parts->defs[solid];
    und_shape *shape = &s->parts->deformed[solid];
    if (und_sequence_thickness(def->sequence) > 0)
        return UND_OK;
    und_trimesh *mesh = und_sequence_mesh(def->sequence, s->parts->state[solid].clock[1], err);
    if (!mesh)
        return UND_FAILED;
    und_trimesh_release(shape->mesh);
    *shape = (und_shape){.kind = UND_MESH, .mesh = mesh};
    def->shape = shape;
    return UND_OK;
}

und_vec3 und_solids_drift(const und_solids *s, int solid, size_t at)
{
    float *const *v = s->parts->deform;
    if (!s->parts->defs[solid].sequence || s->owner[at] != solid)
        return und_vec(0, 0, 0);
    return und_vec((double)v[0][at], (double)v[1][at], (double)v[2][at]);
}
