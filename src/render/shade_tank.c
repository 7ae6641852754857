/* The walls of a tank, before and behind what is in it.  Light goes through panes, and through where walls of
 * tiles are cut away. */
#include "render/shade.h"

static const f3 TINT = {0.965f, 0.985f, 0.98f}; /* what comes through a pane */

float und_shade_things_sun(const und_scenery *stage, f3 p)
{
    f3 normal;
    if (und_tank_wall(&stage->tank, p, stage->sky.sun, &normal) < INFINITY)
        return 0;
    return stage->soup.count ? und_stage_soup_sun(&stage->soup, p) : 1;
}

f3 und_render_tank_wall_color(const und_shade_view *v, f3 p, f3 normal)
{
    const und_scenery *stage = v->stage;
    f3 from = f3_along(p, normal, 1e-3f * stage->mesh.span);
    float sun = maxf(f3_dot(normal, stage->sky.sun), 0);
    if (sun > 0)
        sun *= und_shade_things_sun(stage, from);
    f3 light = und_sky_ambient(&stage->sky, normal);
    if (sun > 0)
        light = f3_along(light, f3_times(stage->sky.sun_color, und_shade_liquid_sun(stage, from)), sun);
    return f3_times(und_material_tiles(stage, p, normal, v->footprint).color, light);
}

/* What a pane shows over what is behind it. */
static f3 pane_over(const und_shade_view *v, f3 p, int face, f3 color)
{
    const und_scenery *stage = v->stage;
    const und_box *in = &stage->tank.in;
    f3 n = und_box_normal(face);
    bool x = face < 2, corner = x ? p.z < in->low.z || p.z > in->high.z : p.x < in->low.x || p.x > in->high.x;
    f3 light = f3_along(stage->sky.ambient[0], stage->sky.sun_color, 0.15f);
    color =
        f3_mix(f3_times(color, TINT), f3_times(f3_of(UND_TANK_EDGE), light), corner ? UND_TANK_CORNER : 0);
    f3 mirrored =
        und_shade_beyond(v, f3_along(p, n, 1e-4f * stage->mesh.span), f3_unit(und_mirror(v->dir, n)));
    return f3_mix(color, mirrored, und_tank_mirrors(v->dir, n));
}

f3 und_render_tank_over(const und_shade_view *v, f3 eye, f3 color, float distance)
{
    const und_scenery *stage = v->stage;
    const und_tank *tank = &stage->tank;
    float t[2], small = 1e-3f * stage->mesh.span;
    int face[2];
    f3 normal;
    if (tank->kind == UND_TANK_TILES) {
        float wall = und_tank_wall(tank, eye, v->dir, &normal);
        if (!(wall < distance - small))
            return color;
        und_shade_view at = *v;
        at.distance = wall;
        at.footprint = (float)stage->def.samples * wall /
                       (stage->camera.focal * sqrtf(maxf(-f3_dot(v->dir, normal), 0.08f)));
        return und_render_tank_wall_color(&at, f3_along(eye, v->dir, wall), normal);
    }
    if (tank->kind == UND_TANK_NONE || !und_box_pass(&tank->out, eye, v->dir, t, face))
        return color;
    for (int k = 1; k >= 0; k--) { /* the farther pane first */
        f3 p = f3_along(eye, v->dir, t[k]);
        if (!(t[k] > 0) || t[k] > distance - small)
            continue;
        if (face[k] / 2 != 1)
            color = pane_over(v, p, face[k], color);
        else if (face[k] == 3 && !und_tank_floor(tank, p)) /* the rim */
            color =
                f3_mix(color,
                       f3_times(f3_of(UND_TANK_EDGE), f3_along(und_sky_ambient(&stage->sky, f3_make(0, 1, 0)),
                                                               stage->sky.sun_color, 0.3f)),
                       UND_TANK_RIM);
    }
    return color;
}
