/* The validation cases of the cells: a list of them, and what they share. */
#include "validate/cells.h"
#include "validate/columns.h"

#include "geom/shape.h"

#include <math.h>

const validation_case cells_cases[] = {
    {"hydrostatic", "cells", case_hydrostatic},
    {"taylor_green", "cells", case_taylor_green},
    {"channel", "cells", case_channel},
    {"kovasznay", "cells", case_kovasznay},
    {"cavity", "cells", case_cavity},
    {"same_pressure", "cells", case_same_pressure},
    {"falling_drop", "cells", case_falling_drop},
    {"thrown", "cells", case_cells_thrown},
    {"jet", "cells", case_jet},
    {"dam_break", "cells", case_dam_break},
    {"sloshing", "cells", case_sloshing},
    {"levelling", "cells", case_levelling},
    {"shown", "cells", case_cells_shown},
    {"normals", "cells", case_cells_normals},
    {"film", "cells", case_film},
    {"lake_at_rest", "cells", case_cells_lake},
    {"filling", "cells", case_filling},
    {"ballistic", "cells", case_ballistic},
    {"foam_life", "cells", case_foam_life},
    {"wave_maker", "cells", case_wave_maker},
    {"cells_draft", "cells", case_cells_draft},
    {"cells_heave", "cells", case_cells_heave},
    {"cells_ballast", "cells", case_cells_ballast},
    {"cells_sink", "cells", case_cells_sink},
    {0},
};

und_cells_def case_cells_tank(int nx, int ny, double dx)
{
    und_cells_def def = und_cells_def_default();
    def.n[0] = nx;
    def.n[1] = ny;
    def.n[2] = 1;
    for (int a = 0; a < 3; a++)
        def.cell[a] = dx;
    def.threads = 1;
    return def;
}

void case_cells_fill(und_cells_def *def)
{
    def->has_level = true;
    def->level.number = 1e9;
    def->track = UND_TRACK_HEIGHT; /* at the lid, for good */
}

und_shape *case_cells_box(double x, double y, double z, und_error *err)
{
    und_vec3 half = {x / 2, y / 2, z / 2};
    return und_shape_create(&(und_shape){.kind = UND_BOX, .center = half, .half = half}, err);
}

void case_cells_run(und_cells *cells, double until, double dt)
{
    for (double left = until - und_cells_time(cells); left > 1e-12; left = until - und_cells_time(cells))
        und_cells_step(cells, fmin(dt, left));
}
