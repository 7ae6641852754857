/* How things look in ray-traced pictures: material{}, materials inside other blocks, lamps, render{}. */
#include "scene/blocks.h"

#include "base/words.h"

#include <math.h>
#include <string.h>

enum { MATERIALS_MOST = 256, LAMPS_MOST = 60 };

/* A material of the scene's own. */
typedef struct und_material_def {
    struct und_material_def *next;
    const char *name;
    und_look look;
} material;

typedef struct material_read {
    const char *name;
    und_look look;
    double roughness, index;
} material_read;

static void begin(material_read *m, const und_look *from)
{
    m->look = *from;
    m->roughness = (double)from->matter.roughness;
    m->index = (double)from->matter.index;
}

/* The scene's own first, then the ready-made ones. */
static und_look find_material(reader *r, const char *word)
{
    const char *names[MATERIALS_MOST];
    int count = 0;
    for (const material *m = r->scene->materials; m; m = m->next) {
        if (strcmp(m->name, word) == 0)
            return m->look;
        names[count++] = m->name;
    }
    for (int k = 0; und_named_matters[k].name; k++) {
        if (strcmp(und_named_matters[k].name, word) == 0)
            return (und_look){.given = true, .paint = true, .matter = und_named_matters[k].matter};
        if (count < MATERIALS_MOST)
            names[count++] = und_named_matters[k].name;
    }
    const char *near = und_suggest(word, names, count);
    und_read_fail(r,
                  "expected the name of a material, one that material { } made above or a ready-made one, "
                  "found \"%.60s\"%s%s%s",
                  word, near ? " (did you mean \"" : "", near ? near : "", near ? "\"?)" : "");
}

static void read_like(reader *r, const field *f, void *def)
{
    if (lua_type(r->L, -1) != LUA_TSTRING)
        und_read_expected(r, f->expected);
    const und_look look = find_material(r, lua_tostring(r->L, -1));
    begin(def, &look);
}

static const char *const kinds[] = {"diffuse", "glossy", "metal", "glass", NULL};

/* What is usual of a kind, which the other keys change. */
static void read_kind(reader *r, const field *f, void *def)
{
    static const und_matter usual[] = {
        [UND_MATTER_DIFFUSE] = {.kind = UND_MATTER_DIFFUSE, .color = {0.7f, 0.7f, 0.7f}},
        [UND_MATTER_GLOSSY] = {.kind = UND_MATTER_GLOSSY,
                               .color = {0.7f, 0.7f, 0.7f},
                               .roughness = 0.2f,
                               .index = 1.5f},
        [UND_MATTER_METAL] = {.kind = UND_MATTER_METAL, .color = {0.9f, 0.9f, 0.9f}, .roughness = 0.1f},
        [UND_MATTER_DIELECTRIC] = {.kind = UND_MATTER_DIELECTRIC, .index = 1.5f, .priority = 2},
    };
    int which = 0;
    (void)f;
    und_read_choice(r, kinds, &which);
    const und_look look = {.given = true, .paint = which >= UND_MATTER_METAL, .matter = usual[which]};
    begin(def, &look);
}

#define MATERIAL(member_) offsetof(material_read, member_)
#define MATTER(member_) offsetof(material_read, look.matter.member_)

/* First what the others change. */
const field und_material_fields[] = {
    {"name", F_NAME, .offset = MATERIAL(name), .doc = "by which solids, bodies and the liquid ask for it"},
    {"kind", F_OTHER, .read = read_kind, .expected = "\"diffuse\", \"glossy\", \"metal\" or \"glass\"",
     .doc = "how light comes off it: a matt colour, the same under a clear coat, a metal, or something that "
            "light goes through"},
    {"like", F_OTHER, .read = read_like, .expected = "the name of a material",
     .doc = "begins as another one, instead of a kind"},
    {"color", F_COLOR, NULL, 0, 1, .offset = MATTER(color),
     .doc =
         "share of red, green and blue that comes off it; without it a thing keeps the colours that it has"},
    {"roughness", F_NUMBER, NULL, 0, 1, .offset = MATERIAL(roughness),
     .doc = "0: a mirror, 1: hardly any shine"},
    {"index", F_NUMBER, NULL, 1, 4, .offset = MATERIAL(index),
     .doc = "of refraction, of glass and of a clear coat"},
    {"absorption", F_COLOR, "1/m", 0, 1e6, .offset = MATTER(absorption),
     .doc = "how fast glass takes red, green and blue away"},
    {"scatter", F_COLOR, NULL, 0, 1, .offset = MATTER(scatter),
     .doc = "what a deep body of glass sends back, as milk and the sea do"},
    {"glow", F_COLOR, NULL, 0, 1e6, .offset = MATTER(emission), .doc = "light that it gives off itself"},
    {"texture", F_PICTURE, NULL, .offset = MATERIAL(look.texture),
     .doc = "a picture of its colours, laid on along the axes"},
    {"texture_size", F_NUMBER, "m", 1e-6, 1e6, .offset = MATERIAL(look.texture_size),
     .doc = "side of one copy of that picture"},
    {0}};

static material_read read_material_table(reader *r)
{
    material_read m = {.name = NULL};
    bool kind = und_read_has(r, "kind"), like = und_read_has(r, "like");
    if (kind == like)
        und_read_fail(
            r, kind ? "expected either kind or like, found both"
                    : "missing key \"kind\" (\"diffuse\", \"glossy\", \"metal\" or \"glass\") or \"like\"");
    und_read_table(r, und_material_fields, &m);
    m.look.matter.roughness = (float)m.roughness;
    m.look.matter.index = (float)m.index;
    m.look.paint |= und_read_has(r, "color");
    if (m.look.texture && !(m.look.texture_size > 0))
        m.look.texture_size = 1;
    return m;
}

void und_read_look(reader *r, const field *f, void *def)
{
    und_look *look = (und_look *)((char *)def + f->offset);
    if (lua_type(r->L, -1) == LUA_TSTRING)
        *look = find_material(r, lua_tostring(r->L, -1));
    else if (lua_type(r->L, -1) == LUA_TTABLE)
        *look = read_material_table(r).look;
    else
        und_read_expected(r, f->expected);
}

void und_read_material_block(reader *r)
{
    int count = 0;
    for (const material *m = r->scene->materials; m; m = m->next)
        count++;
    if (lua_type(r->L, -1) != LUA_TTABLE)
        und_read_expected(r, "a table { name = ..., kind = ... }");
    material_read read = read_material_table(r);
    if (!read.name)
        und_read_fail(r, "missing key \"name\"");
    if (count == MATERIALS_MOST)
        und_read_fail(r, "expected at most %d materials", (int)MATERIALS_MOST);
    material *made = und_scene_alloc(r, 1, sizeof *made);
    *made = (material){r->scene->materials, read.name, read.look};
    r->scene->materials = made;
}

void und_add_looks(reader *r, const und_look **list, int *count, int first, const look_list *from)
{
    bool any = false;
    for (int i = 0; i < from->count; i++)
        any |= ((const und_look *)((const char *)from->items + (size_t)i * from->size + from->look))->given;
    if (!any)
        return;
    und_look *all = und_scene_alloc(r, (size_t)first + (size_t)from->count, sizeof *all);
    for (int i = 0; i < *count && i < first; i++)
        all[i] = (*list)[i];
    for (int i = 0; i < from->count; i++)
        all[first + i] = *(const und_look *)((const char *)from->items + (size_t)i * from->size + from->look);
    *list = all;
    *count = first + from->count;
}

/* A lamp as it is written down. */
typedef struct lamp_read {
    double at[3], towards[3], size[2], radius, power;
    float color[3];
    bool hidden, turned;
} lamp_read;

#define LAMP(member_) offsetof(lamp_read, member_)

static void read_lamp_size(reader *r, const field *f, void *def)
{
    double *size = ((lamp_read *)def)->size;
    if (lua_type(r->L, -1) == LUA_TNUMBER)
        size[0] = size[1] = und_read_number(r, f);
    else
        und_read_numbers(r, size, 2, 2, f->expected);
    for (int k = 0; k < 2; k++)
        if (!(size[k] >= f->low && size[k] <= f->high))
            und_read_fail(r, "expected sides from %g to %g m, found %g", f->low, f->high, size[k]);
}

const field und_lamp_fields[] = {
    {"at", F_POINT, "m", .required = true, .offset = LAMP(at), .doc = "its middle"},
    {"size", F_OTHER, "m", 1e-4, 1e4, .read = read_lamp_size, .expected = "a number or {width, height}",
     .doc = "sides of a rectangle that shines from one face"},
    {"radius", F_NUMBER, "m", 1e-4, 1e4, .offset = LAMP(radius), .doc = "of a ball that shines, instead"},
    {"towards", F_POINT, "m", .offset = LAMP(towards),
     .doc = "the point that a rectangle faces; else it faces straight down"},
    {"color", F_COLOR, NULL, 0, 1000, .offset = LAMP(color), .doc = "of its light"},
    {"power", F_NUMBER, NULL, 0, 1e9, .offset = LAMP(power),
     .doc =
         "a white wall that faces it d metres away looks as bright as power / (10 d^2), however large it is"},
    {"hidden", F_FLAG, .offset = LAMP(hidden), .doc = "lights, but the camera does not see it"},
    {0}};

static void init_lamp(void *item)
{
    *(lamp_read *)item = (lamp_read){.power = 40, .color = {1, 1, 1}};
}

static void finish_lamp(reader *r, void *item)
{
    lamp_read *l = item;
    l->turned = und_read_has(r, "towards");
    if ((l->radius > 0) == (l->size[0] > 0))
        und_read_fail(r, l->radius > 0 ? "expected either a size or a radius, found both"
                                       : "missing key \"size\" (of a rectangle) or \"radius\" (of a ball)");
    if (l->radius > 0 && l->turned)
        und_read_fail(r, "towards: a ball shines to all sides");
    if (l->turned && memcmp(l->towards, l->at, sizeof l->at) == 0)
        und_read_fail(r, "towards: expected another point than \"at\"");
}

/* Power over pi times the area is the radiance of what shines evenly (Lambert). */
static und_lamp make_lamp(const lamp_read *l)
{
    double area = l->radius > 0 ? 4 * M_PI * l->radius * l->radius : l->size[0] * l->size[1];
    und_lamp lamp = {.sphere = l->radius > 0, .radius = (float)l->radius, .shown = !l->hidden};
    und_vec3 facing = und_vec(0, -1, 0), at = und_vec(l->at[0], l->at[1], l->at[2]);
    if (l->turned)
        facing = und_unit(und_sub(und_vec(l->towards[0], l->towards[1], l->towards[2]), at));
    und_vec3 level = fabs(facing.y) < 0.999 ? und_vec(0, 1, 0) : und_vec(0, 0, 1);
    und_vec3 u = und_unit(und_cross(level, facing)), v = und_cross(facing, u);
    const double us[3] = {u.x, u.y, u.z}, vs[3] = {v.x, v.y, v.z};
    for (int k = 0; k < 3; k++) {
        lamp.place[k] = (float)l->at[k];
        lamp.u[k] = (float)(0.5 * l->size[0] * us[k]);
        lamp.v[k] = (float)(0.5 * l->size[1] * vs[k]);
        lamp.radiance[k] = (float)((double)l->color[k] * l->power / (M_PI * area));
    }
    return lamp;
}

void und_read_lamps(reader *r, const field *f, void *def)
{
    und_picture_def *render = def;
    lamp_read *list = und_read_list(r, f->inside, sizeof *list, init_lamp, finish_lamp, &render->lamp_count);
    if (render->lamp_count > LAMPS_MOST)
        und_read_fail(r, "expected at most %d lamps, found %d", (int)LAMPS_MOST, render->lamp_count);
    und_lamp *lamps = und_scene_alloc(r, (size_t)render->lamp_count, sizeof *lamps);
    for (int i = 0; i < render->lamp_count; i++)
        lamps[i] = make_lamp(&list[i]);
    render->lamps = lamps;
}

#define RENDER(member_) offsetof(und_picture_def, member_)

static const char *const qualities[] = {"preview", "review", "final", NULL};
static const char *const filters[] = {"blackman", "gaussian", "tent", "box", NULL};

static void read_quality(reader *r, const field *f, void *def)
{
    int which = 0;
    (void)f;
    und_read_choice(r, qualities, &which);
    ((und_picture_def *)def)->quality = (und_quality)(UND_QUALITY_PREVIEW + which);
}

const field und_render_fields[] = {
    {"quality", F_OTHER, .read = read_quality, .expected = "\"preview\", \"review\" or \"final\"",
     .doc = "how much is done for a picture; the other keys change parts of it"},
    {"noise", F_NUMBER, NULL, 1e-4, 1, .offset = RENDER(noise),
     .doc = "how far off a pixel may be, of its brightness; a pixel gets samples until it is better"},
    {"samples", F_INTEGER, NULL, 1, 1 << 20, .offset = RENDER(most_samples), .doc = "of a pixel at most"},
    {"least", F_INTEGER, NULL, 1, 1 << 20, .offset = RENDER(least_samples), .doc = "of a pixel at least"},
    {"bounces", F_INTEGER, NULL, 1, 1000, .offset = RENDER(bounces),
     .doc = "surfaces that light is followed over, at most"},
    {"filter", F_CHOICE, .offset = RENDER(filter), .choices = filters,
     .doc = "over which a pixel is a mean: smooth and fairly sharp, soft, a tent, or each pixel for itself"},
    {"filter_radius", F_NUMBER, "pixels", 0.1, 8, .offset = RENDER(filter_radius),
     .doc = "how far the filter reaches"},
    {"photons", F_NUMBER, "millions", 0, 1000, .offset = RENDER(photons),
     .doc = "sent for caustics: more make them sharper; 0: none"},
    {"motion_blur", F_FLAG, .offset = RENDER(motion_blur),
     .doc = "what moves while the shutter is open is blurred"},
    {0}};

void und_read_render(reader *r)
{
    und_picture_def *d = &r->scene->view.render;
    und_read_table(r, und_render_fields, d);
    if (d->most_samples > 0 && d->least_samples > d->most_samples)
        und_read_fail(r, "expected least to be at most samples (%d), found %d", d->most_samples,
                      d->least_samples);
}
