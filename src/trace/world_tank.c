/* A tank around a liquid in cells: walls of tiles, or panes that mirror as both faces of glass do and bend
 * nothing, with edges that are looked into. */
#include "trace/world_parts.h"

enum { SIDES = UND_TANK_SIDES, QUADS = 3 * SIDES + SIDES }; /* panes, two strips at each corner, the rim */

static const float INSET = 1e-2f; /* cells: rays in the liquid meet a wall before they leave it */

typedef struct quads {
    float *vertex;
    uint32_t *index;
    uint32_t count;
} quads;

/* A rectangle from a, by u and v; the normal is u x v. */
static void put(quads *q, f3 a, f3 u, f3 v)
{
    for (uint32_t k = 0; k < 4; k++) {
        f3 p = f3_add(a, f3_add(k & 1 ? u : f3_gray(0), k & 2 ? v : f3_gray(0)));
        float *to = q->vertex + 3 * (4 * (size_t)q->count + k);
        to[0] = p.x;
        to[1] = p.y;
        to[2] = p.z;
    }
    static const uint32_t corner[6] = {0, 1, 2, 2, 1, 3};
    for (int k = 0; k < 6; k++)
        q->index[6 * (size_t)q->count + (size_t)k] = 4 * q->count + corner[k];
    q->count++;
}

/* An upright face of the box from one share of the side to another: 0 to 3, low x, high x, low z, high z.
 * Normals are outwards. */
static void put_side(quads *q, const und_box *b, int side, float from, float to)
{
    bool x = side < 2, high = side & 1;
    f3 up = f3_make(0, b->high.y - b->low.y, 0);
    f3 along = x ? f3_make(0, 0, b->high.z - b->low.z) : f3_make(b->high.x - b->low.x, 0, 0);
    f3 a = f3_make(x && high ? b->high.x : b->low.x, b->low.y, !x && high ? b->high.z : b->low.z);
    f3 part = f3_scale(along, to - from);
    a = f3_along(a, along, from);
    if (x == high)
        put(q, a, up, part);
    else
        put(q, a, part, up);
}

/* No two of them lie on each other: a ray that goes through one has met all that is there. */
static void put_panes(quads *q, const und_tank *tank)
{
    const und_box *in = &tank->in, *out = &tank->out;
    float thick = in->low.x - out->low.x, rim = out->high.y, wide[SIDES];
    for (int side = 0; side < SIDES; side++) {
        wide[side] = thick / (side < 2 ? out->high.z - out->low.z : out->high.x - out->low.x);
        put_side(q, out, side, wide[side], 1 - wide[side]);
    }
    for (int side = 0; side < SIDES; side++) {
        put_side(q, out, side, 0, wide[side]);
        put_side(q, out, side, 1 - wide[side], 1);
    }
    for (int side = 0; side < SIDES; side++) {
        bool x = side < 2, high = side & 1;
        f3 a = x ? f3_make(high ? in->high.x : out->low.x, rim, out->low.z)
                 : f3_make(in->low.x, rim, high ? in->high.z : out->low.z);
        put(q, a, f3_make(0, 0, x ? out->high.z - out->low.z : thick),
            f3_make(x ? thick : in->high.x - in->low.x, 0, 0));
    }
}

void und_world_look_pane(const und_ray *ray, uint32_t triangle, und_hit *hit)
{
    uint32_t quad = triangle / 2;
    hit->id = UND_ID_TANK;
    hit->normal = hit->face;
    hit->matter = quad < SIDES
                      ? (und_matter){.kind = UND_MATTER_METAL, .color = {1, 1, 1}}
                      : (und_matter){.kind = UND_MATTER_DIFFUSE,
                                     .color = {UND_TANK_EDGE[0], UND_TANK_EDGE[1], UND_TANK_EDGE[2]}};
    hit->clear = 1 - (quad < SIDES       ? und_tank_mirrors(ray->dir, hit->face)
                      : quad < 3 * SIDES ? UND_TANK_CORNER
                                         : UND_TANK_RIM);
    if (f3_dot(hit->face, ray->dir) > 0) {
        hit->face = f3_scale(hit->face, -1);
        hit->normal = f3_scale(hit->normal, -1);
    }
}

/* Light of its own, and off what is dull, goes through panes as if they were not there. */
static void add_panes(und_world_parts *w, RTCGeometry g, quads *q)
{
    put_panes(q, &w->stage->tank);
    und_world_attach(w, g, UND_PART_PANE, UND_MASK_AIRY);
}

static void add_walls(und_world_parts *w, RTCGeometry g, quads *q)
{
    const und_tank *tank = &w->stage->tank;
    float in = INSET * (w->level.phi ? w->level.small : 1e-2f * w->stage->mesh.span);
    und_box walls = tank->in;
    walls.low.x += in;
    walls.low.z += in;
    walls.high.x -= in;
    walls.high.z -= in;
    for (int side = 0; side < SIDES; side++)
        if (!tank->cut[side])
            put_side(q, &walls, side, 0, 1);
    und_world_attach(w, g, UND_PART_WALL, UND_MASK_OPAQUE);
}

und_status und_world_tank(und_world_parts *w, und_error *err)
{
    const und_tank *tank = &w->stage->tank;
    bool glass = tank->kind == UND_TANK_GLASS;
    size_t count = glass ? QUADS : 0;
    float *data[2];
    quads q = {0};
    if (tank->kind == UND_TANK_NONE)
        return UND_OK;
    for (int side = 0; side < SIDES && !glass; side++)
        count += !tank->cut[side];
    RTCGeometry g = und_world_geometry(w, RTC_GEOMETRY_TYPE_TRIANGLE, 4 * count, 3, 1, data, err);
    if (!g || !(q.index = und_world_triangles(w, g, 2 * count, err)))
        return UND_FAILED;
    q.vertex = data[0];
    (glass ? add_panes : add_walls)(w, g, &q);
    return UND_OK;
}
