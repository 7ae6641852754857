/* What the ground is made of: sand, rock where it is steep, grass where it is high and flat; or a picture. */
#include "base/random.h"
#include "stage/optics.h"
#include "stage/scenery.h"

#include <string.h>

static f3 map_color(const und_image *map, const und_mesh *m, float x, float z)
{
    float u = (x - m->x0) / maxf(m->x1 - m->x0, m->h), v = (z - m->z0) / maxf(m->z1 - m->z0, m->h);
    float px = clampf(u, 0, 1) * (float)(map->width - 1), py = clampf(v, 0, 1) * (float)(map->height - 1);
    int i = (int)px, j = (int)py, i1 = i + 1 < map->width ? i + 1 : i, j1 = j + 1 < map->height ? j + 1 : j;
    const float *top = map->rgb + 3 * (size_t)j * (size_t)map->width;
    const float *low = map->rgb + 3 * (size_t)j1 * (size_t)map->width;
    f3 a = f3_mix(f3_of(top + 3 * i), f3_of(top + 3 * i1), px - (float)i);
    f3 b = f3_mix(f3_of(low + 3 * i), f3_of(low + 3 * i1), px - (float)i);
    return f3_mix(a, b, py - (float)j);
}

und_material und_material_tiles(const und_scenery *stage, f3 p, f3 normal, float footprint)
{
    const und_picture_def *def = &stage->def;
    float side = (float)def->tile, line = minf((float)def->grout, 0.9f * side), size[3];
    memcpy(size, (float[3]){fabsf(normal.x), fabsf(normal.y), fabsf(normal.z)}, sizeof size);
    /* The two axes the face lies along; heights begin at the lowest ground. */
    float y = p.y - stage->mesh.base, u = size[0] > size[1] && size[0] > size[2] ? p.z : p.x;
    float v = size[1] >= size[0] && size[1] >= size[2] ? p.z : y;
    float wide = und_tile_window(footprint, side);
    float gap_u = und_line_share(u, side, line, wide), gap_v = und_line_share(v, side, line, wide);
    float gap = gap_u + gap_v - gap_u * gap_v;
    float broad[PATTERN], patch = (float)def->grain * stage->mesh.span;
    und_pattern_at(&stage->pattern, u / patch, v / patch, broad);
    uint64_t column = (uint64_t)(int64_t)floorf(u / side), row = (uint64_t)(int64_t)floorf(v / side);
    float shade = und_tile_shade(wide, side, (float)und_random(19, column, row), broad[P_NOISE]);
    und_material out = {.wet_gloss = 1, .normal = normal};
    out.color = f3_mix(f3_scale(f3_of(def->tile_color), shade), f3_of(def->grout_color), gap);
    return out;
}

und_material und_material_at(const und_scenery *stage, const float *m, f3 p, float footprint)
{
    float x = p.x, z = p.z;
    const und_picture_def *def = &stage->def;
    if (def->ground_pattern == UND_GROUND_TILES || und_tank_floor(&stage->tank, p))
        return und_material_tiles(stage, p, f3_unit(f3_make(-m[M_GX], 1, -m[M_GZ])), footprint);
    float patch = (float)def->grain * stage->mesh.span, grain = UND_GRAIN_FINE * patch, broad[PATTERN],
          fine[PATTERN];
    und_pattern_at(&stage->pattern, x / patch, z / patch, broad);
    und_pattern_at(&stage->pattern, UND_GRAIN_COS * x / grain + UND_GRAIN_SIN * z / grain,
                   UND_GRAIN_COS * z / grain - UND_GRAIN_SIN * x / grain, fine);
    float keep = und_resolved(footprint, grain), some = und_resolved(footprint, patch);
    float steep = sqrtf(m[M_GX] * m[M_GX] + m[M_GZ] * m[M_GZ]);
    float edge = stage->rock_edge;
    float rock = und_rock_share(steep, edge, broad[P_NOISE]);
    float rise = m[M_GROUND] - (float)(def->grass_height * def->vertical) +
                 UND_GRASS_SOFT * stage->mesh.span * broad[P_NOISE];
    float soft = UND_GRASS_SOFT * stage->mesh.span, grass = und_grass_share(rise, soft, steep, edge);
    f3 sand = def->ground_map ? map_color(def->ground_map, &stage->mesh, x, z) : f3_of(def->ground_color);
    float mottle = und_sand_shade((float)def->texture, some, broad[P_NOISE], keep, fine[P_NOISE]);
    f3 color = f3_scale(sand, mottle);
    if (!def->ground_map) {
        float crack = und_rock_shade(some, broad[P_NOISE], keep, fine[P_NOISE]);
        color = f3_mix(color, f3_scale(f3_of(def->rock_color), crack), rock);
        float blade = und_grass_shade(some, broad[P_NOISE], keep, fine[P_NOISE]);
        color = f3_mix(color, f3_scale(f3_of(def->grass_color), blade), grass);
    }
    float rough = und_ground_rough((float)def->texture, rock, grass);
    float bx = und_ground_bump(rough, keep, fine[P_DX], some, broad[P_DX]);
    float bz = und_ground_bump(rough, keep, fine[P_DZ], some, broad[P_DZ]);
    und_material out = {.color = color, .wet_gloss = und_ground_gloss(grass), .porous = 1};
    out.normal = f3_unit(f3_make(-m[M_GX] - bx, 1, -m[M_GZ] - bz));
    return out;
}

/* Layers of earth, bent and grained by noise. */
f3 und_cut_ground(const und_scenery *stage, f3 p, int side, float footprint)
{
    float along = side < 2 ? p.z : p.x, patch = 0.5f * stage->mesh.span, n[PATTERN], f[PATTERN], m[M_COUNT];
    und_pattern_at(&stage->pattern, along / patch, p.y / patch, n);
    und_pattern_at(&stage->pattern, 5 * along / patch, 7 * p.y / patch, f);
    und_stage_mesh_at(&stage->mesh, p.x, p.z, m);
    float below = m[M_GROUND] - p.y, thick = UND_EARTH_THICK * stage->mesh.span;
    f3 earth = f3_mix(f3_of(stage->def.ground_color), f3_of(stage->def.rock_color),
                      und_earth_rock(below, thick, n[P_NOISE]));
    earth = f3_mix(f3_of(stage->def.ground_color), earth, und_earth_under(below, thick));
    earth = f3_scale(earth, und_earth_shade(below, stage->mesh.span, f[P_NOISE]));
    if (stage->def.ground_pattern == UND_GROUND_TILES) { /* concrete under a layer of tiles */
        f3 concrete = f3_scale(f3_make(UND_CONCRETE_R, UND_CONCRETE_G, UND_CONCRETE_B),
                               und_concrete_shade(f[P_NOISE], n[P_NOISE]));
        float tiles = und_tiles_on_top(below, (float)stage->def.tile, footprint);
        earth = f3_mix(concrete, f3_of(stage->def.tile_color), tiles);
    }
    return earth;
}

void und_wet_down(const und_scenery *stage, und_material *g, float wet, float depth)
{
    float dark = und_wet_factor((float)stage->def.wet_darkening, g->porous, wet, depth, stage->mesh.cell);
    g->color = f3_scale(g->color, dark);
}
