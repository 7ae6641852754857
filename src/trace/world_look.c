/* What surfaces look like where rays meet them: normals, colours, what they are made of. */
#include "trace/world_parts.h"

#include <string.h>

static void paint(und_matter *m, f3 color)
{
    m->color[0] = clampf(color.x, 0, 0.98f);
    m->color[1] = clampf(color.y, 0, 0.98f);
    m->color[2] = clampf(color.z, 0, 0.98f);
}

static und_matter diffuse(f3 color)
{
    und_matter m = {.kind = UND_MATTER_DIFFUSE, .roughness = 1, .index = 1};
    paint(&m, color);
    return m;
}

static und_matter coated(f3 color, float roughness, float index)
{
    und_matter m = {.kind = UND_MATTER_GLOSSY, .roughness = roughness, .index = index};
    paint(&m, color);
    return m;
}

/* A picture's colour, repeated, between its pixels' middles. */
static f3 texture_color(const und_image *image, float u, float v)
{
    float x = (u - floorf(u)) * (float)image->width, y = (1 - (v - floorf(v))) * (float)image->height;
    int at[2] = {(int)maxf(floorf(x - 0.5f), 0), (int)maxf(floorf(y - 0.5f), 0)};
    int i = at[0] < image->width ? at[0] : image->width - 1,
        j = at[1] < image->height ? at[1] : image->height - 1;
    int right = i + 1 < image->width ? i + 1 : 0, below = j + 1 < image->height ? j + 1 : 0;
    const float *top = image->rgb + 3 * (size_t)j * (size_t)image->width,
                *low = image->rgb + 3 * (size_t)below * (size_t)image->width;
    float fx = clampf(x - 0.5f - (float)i, 0, 1), fy = clampf(y - 0.5f - (float)j, 0, 1);
    return f3_mix(f3_mix(f3_of(top + 3 * i), f3_of(top + 3 * right), fx),
                  f3_mix(f3_of(low + 3 * i), f3_of(low + 3 * right), fx), fy);
}

/* As asked for: with its own colour, the thing's, or a picture's, laid on along the axis nearest to where the
 * face looks. */
static void dress(const und_look *look, f3 color, und_hit *hit)
{
    f3 n = f3_make(fabsf(hit->face.x), fabsf(hit->face.y), fabsf(hit->face.z)), p = hit->place;
    hit->matter = look->matter;
    if (look->texture && look->texture->rgb && look->texture->width > 0 && look->texture->height > 0) {
        float size = look->texture_size > 0 ? (float)look->texture_size : 1;
        bool x = n.x > n.y && n.x > n.z, y = !x && n.y > n.z;
        paint(&hit->matter, texture_color(look->texture, (x ? p.z : p.x) / size, (y ? p.z : p.y) / size));
    } else if (!look->paint) {
        paint(&hit->matter, color);
    }
}

/* How wide a ray is where it meets something, m. */
static float footprint_of(const und_world_parts *w, const und_ray *ray, const und_hit *hit)
{
    float wide = 2 * ray->spread * hit->t, facing = maxf(fabsf(f3_dot(ray->dir, hit->face)), 0.08f);
    return maxf(wide / sqrtf(facing), 1e-6f * w->stage->mesh.span);
}

/* Opaque things are seen from both sides. */
static void face_ray(und_hit *hit, f3 dir)
{
    if (f3_dot(hit->face, dir) <= 0)
        return;
    hit->face = f3_scale(hit->face, -1);
    hit->normal = f3_scale(hit->normal, -1);
}

/* Under water much of the light that the ground sends back is mirrored down again.  The ground's own colour
 * there is such that it looks as dark as where it is wet and no film is left, and no lighter than when dry.
 * Lekner & Dorf 1988; what water mirrors of diffuse light from below: Egan & Hilgeman 1973. */
static f3 under_film(f3 wet, f3 dry, float index)
{
    float back = -1.440f / (index * index) + 0.710f / index + 0.668f + 0.0636f * index,
          through = index * index * (1 - back) * (1 - back);
    return f3_make(minf(wet.x / (through + back * wet.x), dry.x),
                   minf(wet.y / (through + back * wet.y), dry.y),
                   minf(wet.z / (through + back * wet.z), dry.z));
}

void und_world_look_ground(const und_world_parts *w, const und_ray *ray, und_hit *hit)
{
    const und_scenery *stage = w->stage;
    const float footprint = footprint_of(w, ray, hit);
    float m[M_COUNT];
    und_stage_mesh_at(&stage->mesh, hit->place.x, hit->place.z, m);
    und_material g = und_material_at(stage, m, hit->place, footprint);
    float film = und_wet_by_film(m[M_DEPTH], stage->mesh.cell), wet = mixf(clampf(m[M_WET], 0, 1), 1, film);
    bool under =
        stage->drawing == UND_DRAWS_HEIGHTS && und_world_depth(w, hit->place.x, hit->place.z) > w->thinnest;
    f3 dry = g.color;
    und_wet_down(stage, &g, wet, maxf(m[M_DEPTH], 0));
    if (under)
        g.color = under_film(g.color, dry, (float)stage->def.refraction);
    hit->id = UND_ID_GROUND;
    hit->normal = g.normal;
    hit->matter = diffuse(g.color);
    if (under)
        ; /* under water nothing shines */
    else if (stage->def.ground_pattern == UND_GROUND_TILES || und_tank_floor(&stage->tank, hit->place))
        hit->matter = coated(g.color, 0.2f, UND_GLASS_INDEX);
    else if (und_world_chance(ray->from, ray->dir, 2) <
             und_wet_sheen(wet, (float)stage->def.sheen) * g.wet_gloss)
        hit->matter = coated(g.color, 0.3f, (float)stage->def.refraction);
    if (stage->def.looks.ground.given && !und_tank_floor(&stage->tank, hit->place))
        dress(&stage->def.looks.ground, g.color, hit);
    face_ray(hit, ray->dir);
}

static void look_cut(const und_world_parts *w, const und_ray *ray, uint8_t side, und_hit *hit)
{
    const float footprint = footprint_of(w, ray, hit);
    hit->id = UND_ID_GROUND;
    hit->normal = hit->face;
    const und_sky *sky = &w->stage->sky;
    f3 earth = und_cut_ground(w->stage, hit->place, side & 3, footprint),
       glow = f3_scale(f3_times(earth, sky->sun_color),
                       UND_CUT_SHADE); /* as bright in the shade as in the preview */
    hit->matter = diffuse(earth);
    memcpy(hit->matter.emission, (float[3]){glow.x, glow.y, glow.z}, sizeof hit->matter.emission);
    face_ray(hit, ray->dir);
}

static void look_wall(const und_world_parts *w, const und_ray *ray, und_hit *hit)
{
    const float footprint = footprint_of(w, ray, hit);
    hit->id = UND_ID_GROUND;
    hit->normal = hit->face;
    hit->matter = diffuse(und_material_tiles(w->stage, hit->place, hit->face, footprint).color);
    face_ray(hit, ray->dir);
}

/* With the dye at a place. */
static und_matter water_at(const und_world_parts *w, const float *m)
{
    const und_scenery *stage = w->stage;
    und_matter water = w->water;
    if (stage->mesh.has_dye && water.kind == UND_MATTER_DIELECTRIC) {
        f3 lost = und_water_absorption(stage, m),
           deep = f3_mix(f3_of(water.scatter), f3_of(stage->def.dye_color), clampf(m[M_DYE], 0, 1));
        memcpy(water.absorption, (float[3]){lost.x, lost.y, lost.z}, sizeof water.absorption);
        memcpy(water.scatter, (float[3]){deep.x, deep.y, deep.z}, sizeof water.scatter);
    }
    return water;
}

static void look_water(const und_world_parts *w, const und_ray *ray, und_hit *hit)
{
    const und_scenery *stage = w->stage;
    const float footprint = footprint_of(w, ray, hit);
    float m[M_COUNT], fine[2] = {0, 0}, lost = 0;
    und_stage_mesh_at(&stage->mesh, hit->place.x, hit->place.z, m);
    float shore = und_shore_depth((float)stage->def.shore, stage->mesh.cell);
    float full = stepf(0, shore, m[M_DEPTH]), sx = mixf(m[M_GX], m[M_WX], full),
          sz = mixf(m[M_GZ], m[M_WZ], full);
    if (stage->def.ripples > 0 && ray->spread < 0.05f) /* wider cones see their mean */
        und_ripples_at(stage, hit->place, m, footprint, (float)stage->def.ripples * full, fine, &lost);
    hit->id = UND_ID_LIQUID;
    hit->normal = f3_unit(f3_make(-sx - fine[0], 1, -sz - fine[1]));
    hit->velocity = f3_make(m[M_FLOW_X], 0, m[M_FLOW_Z]);
    hit->matter = water_at(w, m);
    if (und_world_chance(ray->from, ray->dir, 3) >= und_stage_foam_cover(stage, hit->place, m, footprint))
        return;
    hit->normal =
        f3_unit(f3_make(UND_FOAM_ROUND * hit->normal.x, hit->normal.y, UND_FOAM_ROUND * hit->normal.z));
    hit->matter = diffuse(f3_gray(UND_FOAM_BRIGHT * (float)stage->def.foam));
    face_ray(hit, ray->dir);
}

static void look_water_side(const und_world_parts *w, und_hit *hit)
{
    float m[M_COUNT];
    und_stage_mesh_at(&w->stage->mesh, hit->place.x, hit->place.z, m);
    hit->id = UND_ID_LIQUID;
    hit->normal = hit->face;
    hit->matter = water_at(w, m);
}

static f3 blend(const float *corner, const struct RTCHit *h)
{
    return und_blend(corner, h->u, h->v);
}

static void look_object(const und_world_parts *w, const und_ray *ray, const struct RTCHit *h, und_hit *hit)
{
    const und_drawn_mesh *soup = &w->stage->soup;
    size_t k = w->object[h->geomID == UND_PART_GLASS][h->primID];
    und_look look = und_world_look_of(w, w->owner[k]);
    bool body = w->owner[k] >= UND_ID_BODY;
    f3 color = soup->color ? blend(soup->color + 9 * k, h) : f3_gray(0.7f);
    hit->id = w->owner[k];
    hit->normal = f3_unit(blend(soup->normal + 9 * k, h));
    hit->matter = body ? coated(color, 0.25f, UND_COAT_INDEX) : diffuse(color);
    if (look.given)
        dress(&look, color, hit);
    if (w->speed)
        hit->velocity = blend(w->speed + 9 * k, h);
    if (hit->matter.kind != UND_MATTER_DIELECTRIC)
        face_ray(hit, ray->dir);
}

static void look_skin(const und_world_parts *w, const und_ray *ray, const struct RTCHit *h, und_hit *hit)
{
    const und_scenery *stage = w->stage;
    size_t k = h->primID;
    float corner[9];
    und_drawn_normals(&stage->liquid, k, corner);
    hit->id = UND_ID_LIQUID;
    hit->normal = f3_unit(blend(corner, h));
    hit->matter = w->water;
    if (f3_dot(hit->normal, hit->face) < 0) /* its normals tell what is outside */
        hit->face = f3_scale(hit->face, -1);
    if (!stage->texture)
        return;
    und_shell_corners(&stage->surface, stage->rest, k, corner);
    f3 rest = blend(corner, h);
    float color[3];
    und_paint_at(&stage->def.paint, stage->texture, (float[3]){rest.x, rest.y, rest.z},
                 2 * ray->spread * hit->t * und_stage_skin_stretch(stage, k), color);
    hit->matter = und_world_chance(ray->from, ray->dir, 4) < (float)stage->def.gloss
                      ? coated(f3_of(color), 0.05f, (float)stage->def.refraction)
                      : diffuse(f3_of(color));
    if (stage->def.looks.liquid.given)
        dress(&stage->def.looks.liquid, f3_of(color), hit);
    if (stage->def.paint.unlit) { /* it has the light of the plate already */
        memcpy(hit->matter.emission, color, sizeof color);
        paint(&hit->matter, f3_gray(0));
    }
    if (hit->matter.kind != UND_MATTER_DIELECTRIC)
        face_ray(hit, ray->dir);
}

/* A film that was met either mirrors or scatters. */
static void look_sheet(const und_world_parts *w, const und_ray *ray, const struct RTCHit *h, und_hit *hit)
{
    float mirrored,
        through = und_world_film(w, ray->dir, hit->face, und_world_rim(w, h->primID, h->u, h->v), &mirrored);
    hit->id = UND_ID_SPRAY;
    hit->normal = f3_unit(blend(w->stage->sheet.normal + 9 * (size_t)h->primID, h));
    if (f3_dot(hit->normal, hit->face) < 0)
        hit->normal = f3_scale(hit->normal, -1);
    hit->matter = diffuse(f3_gray(0.9f));
    if (und_world_chance(ray->from, ray->dir, ~h->primID) * (1 - through) < mirrored)
        hit->matter = (und_matter){.kind = UND_MATTER_METAL, .color = {1, 1, 1}};
    face_ray(hit, ray->dir);
}

/* Near drops are balls of water; those that the ray's cone is wider than are what many of them are: white. */
static void look_drop(const und_world_parts *w, const und_ray *ray, const struct RTCHit *h, und_hit *hit)
{
    f3 n = f3_make(h->Ng_x, h->Ng_y, h->Ng_z); /* of Embree's spheres it is as long as the radius is */
    float radius = sqrtf(f3_dot(n, n));
    hit->id = UND_ID_SPRAY;
    hit->normal = hit->face;
    hit->velocity = f3_of(w->drop_speed + 3 * (size_t)h->primID);
    hit->matter = w->water;
    if (radius < 1.5f * ray->spread * hit->t && !w->opaque_liquid) {
        hit->matter = diffuse(f3_gray(0.9f));
        face_ray(hit, ray->dir);
    }
}

void und_world_look(const und_world_parts *w, const und_ray *ray, const struct RTCRayHit *found, und_hit *hit)
{
    const struct RTCHit *h = &found->hit;
    hit->face = f3_unit(f3_make(h->Ng_x, h->Ng_y, h->Ng_z));
    if ((h->geomID == UND_PART_GROUND || h->geomID == UND_PART_WATER) && hit->face.y < 0)
        hit->face = f3_scale(hit->face, -1);
    switch ((und_world_part_kind)h->geomID) {
    case UND_PART_GROUND:
        und_world_look_ground(w, ray, hit);
        break;
    case UND_PART_CUT:
        look_cut(w, ray, w->cut_side[h->primID], hit);
        break;
    case UND_PART_WALL:
        look_wall(w, ray, hit);
        break;
    case UND_PART_WATER:
        look_water(w, ray, hit);
        break;
    case UND_PART_WATER_SIDE:
        look_water_side(w, hit);
        break;
    case UND_PART_SKIN:
        look_skin(w, ray, h, hit);
        break;
    case UND_PART_SHEET:
        look_sheet(w, ray, h, hit);
        break;
    case UND_PART_PANE:
        und_world_look_pane(ray, h->primID, hit);
        break;
    case UND_PART_RAIN:
        hit->id = UND_ID_SPRAY;
        hit->normal = hit->face;
        hit->matter = diffuse(f3_gray(0.9f));
        face_ray(hit, ray->dir);
        break;
    case UND_PART_DROPS:
        look_drop(w, ray, h, hit);
        break;
    default:
        look_object(w, ray, h, hit);
    }
}
