/* The validation cases of height-field water, and what they share. */
#include "validate/waves.h"

#include "liquid/liquid.h"

#include <math.h>

const validation_case waves_cases[] = {
    {"km_modes", "waves", case_km_modes},
    {"km_pulse", "waves", case_km_pulse},
    {"wave_speed", "waves", case_wave_speed},
    {"seiche", "waves", case_seiche},
    {"seiche_decay", "waves", case_seiche_decay},
    {"convergence", "waves", case_converge},
    {"depth_step", "waves", case_step},
    {"refraction", "waves", case_refraction},
    {"linear_beach", "waves", case_linear_beach},
    {"thacker", "waves", case_thacker},
    {"thacker_surface", "waves", case_thacker_surface},
    {"lake_at_rest", "waves", case_lake_at_rest},
    {"rough_volume", "waves", case_rough_volume},
    {"hump", "waves", case_hump},
    {"ring", "waves", case_ring},
    {"open_edge", "waves", case_open_edge},
    {"slanted_edge", "waves", case_slanted_edge},
    {"driven_edge", "waves", case_driven_edge},
    {"flow", "waves", case_flow},
    {"waves_bodies", "waves", case_waves_bodies},
    {0},
};

und_waves_def case_tank(int nx, int nz, double dx, double depth, int order)
{
    und_waves_def def = und_waves_def_default();
    def.height_field.nx = nx;
    def.height_field.nz = nz;
    def.height_field.dx = dx;
    def.height_field.ground.number = -depth;
    def.height_field.surface.number = 0;
    def.order = order;
    def.height_field.threads = 1;
    return def;
}

void case_steps(und_waves *waves, int count, double dt)
{
    for (int i = 0; i < count; i++)
        und_waves_step(waves, dt);
}

static double surface_of(const void *waves, int x, int z)
{
    return und_waves_surface(waves, x, z);
}

case_water case_waves_water(const und_waves *waves, int nx, int nz)
{
    return (case_water){waves, surface_of, nx, nz};
}

double case_mode(const und_waves *waves, const und_waves_def *def, int m, int n)
{
    return case_water_mode(case_waves_water(waves, def->height_field.nx, def->height_field.nz), m, n);
}

double case_crest(const und_waves *waves, int z, int first, int last, double *height)
{
    return case_water_crest(case_waves_water(waves, 0, 0), z, first, last, height);
}

double case_largest(const und_waves *waves, const und_waves_def *def, double level)
{
    double largest = 0;
    for (int z = 0; z < def->height_field.nz; z++)
        for (int x = 0; x < def->height_field.nx; x++) {
            double h = und_waves_surface(waves, x, z);
            if (h > und_waves_ground(waves, x, z))
                largest = fmax(largest, fabs(h - level));
        }
    return largest;
}

double case_ledger_defect(const und_waves *waves)
{
    und_ledger l = und_waves_ledger(waves);
    return fabs(und_ledger_expected(&l) - l.measured) / (l.start + l.sources);
}
