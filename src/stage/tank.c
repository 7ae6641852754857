#include "stage/tank.h"

#include "stage/optics.h"

#include <math.h>

static const float THICK = 0.012f; /* of the longest side */

und_tank und_tank_around(und_tank_kind kind, const und_box *b)
{
    float thick = THICK * maxf(maxf(b->high.x - b->low.x, b->high.z - b->low.z), b->high.y - b->low.y);
    und_tank tank = {.kind = kind, .in = *b, .out = *b};
    tank.out.low.x -= thick;
    tank.out.low.z -= thick;
    tank.out.high.x += thick;
    tank.out.high.z += thick;
    return tank;
}

void und_tank_cut(und_tank *tank, f3 eye)
{
    const und_box *b = &tank->in;
    const bool outside[UND_TANK_SIDES] = {eye.x<b->low.x, eye.x> b->high.x, eye.z<b->low.z, eye.z> b->high.z};
    for (int k = 0; k < UND_TANK_SIDES; k++)
        tank->cut[k] = tank->kind == UND_TANK_TILES && outside[k];
}

bool und_tank_floor(const und_tank *tank, f3 p)
{
    const und_box *b = &tank->in;
    return tank->kind != UND_TANK_NONE && p.x > b->low.x && p.x < b->high.x && p.z > b->low.z &&
           p.z < b->high.z;
}

bool und_box_pass(const und_box *b, f3 from, f3 dir, float t[2], int face[2])
{
    const float low[3] = {b->low.x, b->low.y, b->low.z}, high[3] = {b->high.x, b->high.y, b->high.z},
                p[3] = {from.x, from.y, from.z}, d[3] = {dir.x, dir.y, dir.z};
    t[0] = -INFINITY;
    t[1] = INFINITY;
    for (int a = 0; a < 3; a++) {
        if (d[a] == 0) {
            if (p[a] < low[a] || p[a] > high[a])
                return false;
            continue;
        }
        int up = d[a] > 0;
        float in = ((up ? low[a] : high[a]) - p[a]) / d[a], out = ((up ? high[a] : low[a]) - p[a]) / d[a];
        if (in > t[0]) {
            t[0] = in;
            face[0] = 2 * a + !up;
        }
        if (out < t[1]) {
            t[1] = out;
            face[1] = 2 * a + up;
        }
    }
    return t[0] < t[1] && t[1] > 0;
}

f3 und_box_normal(int face)
{
    float n = face & 1 ? 1 : -1;
    return f3_make(face < 2 ? n : 0, face / 2 == 1 ? n : 0, face > 3 ? n : 0);
}

float und_tank_wall(const und_tank *tank, f3 from, f3 dir, f3 *normal)
{
    float t[2];
    int face[2];
    if (tank->kind != UND_TANK_TILES || !und_box_pass(&tank->in, from, dir, t, face))
        return INFINITY;
    for (int k = 0; k < 2; k++) {
        int side = face[k] < 2 ? face[k] : face[k] - 2;
        if (!(t[k] > 0) || face[k] / 2 == 1 || tank->cut[side])
            continue;
        f3 out = und_box_normal(face[k]);
        *normal = f3_dot(out, dir) > 0 ? f3_scale(out, -1) : out;
        return t[k];
    }
    return INFINITY;
}

float und_tank_mirrors(f3 dir, f3 normal)
{
    float one = und_fresnelf(maxf(fabsf(f3_dot(dir, normal)), UND_LEAST_THROUGH), UND_GLASS_INDEX);
    return und_both_faces(one);
}
