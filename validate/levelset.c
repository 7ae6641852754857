/* The validation cases of the particle level set: a list of them, and what they share. */
#include "validate/levelset.h"

#include <math.h>

const validation_case levelset_cases[] = {
    {"rest_in_a_bowl", "levelset", case_levelset_rest},
    {"free_fall", "levelset", case_levelset_fall},
    {"sloshing", "levelset", case_levelset_sloshing},
    {"dam_break", "levelset", case_levelset_dam},
    {"turning_container", "levelset", case_levelset_turning},
    {"turning_box", "levelset", case_levelset_box_turns},
    {"tilted_cup", "levelset", case_levelset_cup},
    {"thin_wall", "levelset", case_levelset_thin},
    {"slot", "levelset", case_levelset_slot},
    {"pushed", "levelset", case_levelset_pushed},
    {"divergence", "levelset", case_levelset_divergence},
    {"volume", "levelset", case_levelset_volume},
    {"elliptic_drop", "levelset", case_levelset_ellipse},
    {"taylor_green", "levelset", case_levelset_taylor_green},
    {"viscous_wave", "levelset", case_levelset_viscous_wave},
    {"filling", "levelset", case_levelset_filling},
    {"jet", "levelset", case_levelset_jet},
    {"merging_drops", "levelset", case_levelset_merge},
    {"two_grids", "levelset", case_levelset_grids},
    {"particles_sloshing", "levelset", case_levelset_sloshing},
    {"particles_dam_break", "levelset", case_levelset_dam},
    {"particles_jet", "levelset", case_levelset_jet},
    {"particles_drift", "levelset", case_levelset_drift},
    {"holds_puddle", "levelset", case_levelset_hold_puddle},
    {"holds_poured_litre", "levelset", case_levelset_hold_litre},
    {"holds_dropped_ball", "levelset", case_levelset_hold_ball},
    {"holds_shaken_cup", "levelset", case_levelset_hold_cup},
    {"holds_sheets", "levelset", case_levelset_hold_sheet},
    {"holds_sources", "levelset", case_levelset_hold_source},
    {"holds_pieces", "levelset", case_levelset_hold_pieces},
    {"holds_drawn", "levelset", case_levelset_hold_drawn},
    {"holds_off_a_ball", "levelset", case_levelset_hold_off},
    {"holds_pushed", "levelset", case_levelset_hold_pushed},
    {"holds_cups", "levelset", case_levelset_hold_cups},
    {"holds_shapes", "levelset", case_levelset_hold_shape},
    {"holds_at_rest", "levelset", case_levelset_hold_pool},
    {"holds_climb", "levelset", case_levelset_climb},
    {"rest_beside_solids", "levelset", case_levelset_rest_beside},
    {"holds_spray", "levelset", case_levelset_spray},
    {"zalesak", "levelset", case_levelset_zalesak},
    {"single_vortex", "levelset", case_levelset_vortex},
    {"deformation", "levelset", case_levelset_deformation},
    {"redistance_circle", "levelset", case_levelset_redistance},
    {0},
};

und_levelset_def case_levelset_tank(const case_sink *sink, int nx, int ny, int nz, double dx)
{
    und_levelset_def def = und_levelset_def_default();
    def.n[0] = nx;
    def.n[1] = ny;
    def.n[2] = nz;
    def.dx = dx;
    def.threads = nz == 1 ? 1 : case_threads(sink);
    def.surface_rule = case_of_particles(sink) ? UND_SURFACE_PARTICLES : UND_SURFACE_VOLUME;
    return def;
}

und_shape *case_levelset_box(double x, double y, double z, und_error *err)
{
    und_vec3 half = {x / 2, y / 2, z / 2};
    return und_shape_create(&(und_shape){.kind = UND_BOX, .center = half, .half = half}, err);
}

void case_levelset_run(und_levelset *levelset, double until, double dt)
{
    for (double left = until - und_levelset_time(levelset); left > 1e-12;
         left = until - und_levelset_time(levelset))
        und_levelset_step(levelset, fmin(dt, left));
}

double case_levelset_surface(const und_levelset *levelset, const und_levelset_def *def, int axis, int x,
                             int y, int z)
{
    int cell[3] = {x, y, z};
    double found = 0, before = und_levelset_distance(levelset, x, y, z);
    if (before < 0)
        found = (cell[axis] + 0.5) * def->dx - before; /* if none comes after it */
    for (int i = cell[axis] + 1; i < def->n[axis]; i++) {
        cell[axis] = i;
        double now = und_levelset_distance(levelset, cell[0], cell[1], cell[2]);
        if (before < 0 && now >= 0)
            found = (i - 0.5 + before / (before - now)) * def->dx;
        else if (now < 0)
            found = (i + 0.5) * def->dx - now;
        before = now;
    }
    return found;
}

double case_levelset_fastest(const und_levelset *levelset, const und_levelset_def *def)
{
    double most = 0;
    for (int z = 0; z < def->n[2]; z++)
        for (int y = 0; y < def->n[1]; y++)
            for (int x = 0; x < def->n[0]; x++)
                for (int a = 0; a < 3 && und_levelset_distance(levelset, x, y, z) < 0; a++) {
                    int high[3] = {x + (a == 0), y + (a == 1), z + (a == 2)};
                    most = fmax(most, fabs(und_levelset_velocity(levelset, a, x, y, z)));
                    most = fmax(most, fabs(und_levelset_velocity(levelset, a, high[0], high[1], high[2])));
                }
    return most;
}
