/* What the ground is made of: sand, rock where it is steep, grass where it is high and flat; or a picture. */
#include "base/random.h"
#include "render/internal.h"

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

/* How much of a pattern with the given period survives pixels of this size. */
static float resolved(float footprint, float period)
{
    float k = 14 * footprint / period;
    return 1 / (1 + k * k);
}

/* Share of lines, one per period and `width` wide, in a window of `wide` about x: the mean of a square wave.
 */
static float line_share(float x, float period, float width, float wide)
{
    float part = width / period, a = (x - 0.5f * wide) / period, b = (x + 0.5f * wide) / period;
    float fa = floorf(a), fb = floorf(b);
    float sum = (fb - fa) * part + minf(b - fb, part) - minf(a - fa, part);
    return clampf(sum * period / wide, 0, 1);
}

und_material und_material_tiles(const und_render *r, f3 p, f3 normal, float footprint)
{
    const und_render_def *def = &r->def;
    float side = (float)def->tile, line = minf((float)def->grout, 0.9f * side), size[3];
    memcpy(size, (float[3]){fabsf(normal.x), fabsf(normal.y), fabsf(normal.z)}, sizeof size);
    /* The two axes the face lies along; heights begin at the lowest ground. */
    float y = p.y - r->mesh.base, u = size[0] > size[1] && size[0] > size[2] ? p.z : p.x;
    float v = size[1] >= size[0] && size[1] >= size[2] ? p.z : y;
    float wide = clampf(1.6f * footprint, 1e-4f * side, 64 * side);
    float gap_u = line_share(u, side, line, wide), gap_v = line_share(v, side, line, wide);
    float gap = gap_u + gap_v - gap_u * gap_v, near = stepf(1, 0.25f, wide / side);
    float broad[PATTERN], patch = (float)def->grain * r->mesh.span;
    und_pattern_at(&r->pattern, u / patch, v / patch, broad);
    uint64_t column = (uint64_t)(int64_t)floorf(u / side), row = (uint64_t)(int64_t)floorf(v / side);
    float shade = 1 + near * 0.16f * ((float)und_random(19, column, row) - 0.5f) + 0.03f * broad[P_NOISE];
    und_material out = {.wet_gloss = 1, .normal = normal};
    out.color = f3_mix(f3_scale(f3_of(def->tile_color), shade), f3_of(def->grout_color), gap);
    return out;
}

und_material und_material_at(const und_render *r, const float *m, f3 p, float footprint)
{
    float x = p.x, z = p.z;
    const und_render_def *def = &r->def;
    if (def->ground_pattern == UND_GROUND_TILES || und_tank_floor(&r->tank, p))
        return und_material_tiles(r, p, f3_unit(f3_make(-m[M_GX], 1, -m[M_GZ])), footprint);
    float patch = (float)def->grain * r->mesh.span, grain = 0.071f * patch, broad[PATTERN], fine[PATTERN];
    und_pattern_at(&r->pattern, x / patch, z / patch, broad);
    und_pattern_at(&r->pattern, 0.83f * x / grain + 0.56f * z / grain, 0.83f * z / grain - 0.56f * x / grain,
                   fine);
    float keep = resolved(footprint, grain), some = resolved(footprint, patch);
    float steep = sqrtf(m[M_GX] * m[M_GX] + m[M_GZ] * m[M_GZ]);
    float edge = r->rock_edge;
    float rock = stepf(0.8f * edge, 1.25f * edge, steep * (1 + 0.25f * broad[P_NOISE]));
    float rise =
        m[M_GROUND] - (float)(def->grass_height * def->vertical) + 0.012f * r->mesh.span * broad[P_NOISE];
    float soft = 0.012f * r->mesh.span,
          grass = stepf(-soft, soft, rise) * (1 - stepf(0.5f * edge, 0.9f * edge, steep));
    f3 sand = def->ground_map ? map_color(def->ground_map, &r->mesh, x, z) : f3_of(def->ground_color);
    float mottle = 1 + (float)def->texture * (0.15f * some * broad[P_NOISE] + 0.16f * keep * fine[P_NOISE]);
    f3 color = f3_scale(sand, mottle);
    if (!def->ground_map) {
        float crack = 1 + 0.30f * some * broad[P_NOISE] + 0.25f * keep * fine[P_NOISE];
        color = f3_mix(color, f3_scale(f3_of(def->rock_color), crack), rock);
        float blade = 1 + 0.25f * some * broad[P_NOISE] + 0.35f * keep * fine[P_NOISE];
        color = f3_mix(color, f3_scale(f3_of(def->grass_color), blade), grass);
    }
    float rough = (float)def->texture * (1 + 2.5f * rock + 2 * grass);
    float bx = rough * (0.0016f * keep * fine[P_DX] + 0.0016f * some * broad[P_DX]);
    float bz = rough * (0.0016f * keep * fine[P_DZ] + 0.0016f * some * broad[P_DZ]);
    und_material out = {.color = color, .wet_gloss = 1 - 0.7f * grass, .porous = 1};
    out.normal = f3_unit(f3_make(-m[M_GX] - bx, 1, -m[M_GZ] - bz));
    return out;
}
