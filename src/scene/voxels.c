/* voxels{}: a shape from a text map or from a stack of pictures. */
#include "geom/voxels.h"

#include "geom/voxels_map.h"
#include "scene/read.h"

#include <lauxlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LAYERS_MAX = 512 };

typedef struct voxels_def {
    const char *file;
    const char *what;
    int what_length;
    bool top_first;
    und_vec3 low, high, cell;
    const char **layers; /* files */
    int layer_count;
    int count; /* of a pattern's layers */
} voxels_def;

#define AT(member_) .offset = offsetof(voxels_def, member_)

static void read_map_file(reader *r, const field *f, void *def)
{
    if (lua_type(r->L, -1) != LUA_TSTRING)
        und_read_expected(r, f->expected);
    ((voxels_def *)def)->file = und_scene_file(r, lua_tostring(r->L, -1));
}

static void read_what(reader *r, const field *f, void *def)
{
    voxels_def *d = def;
    size_t length = 0;
    const char *text = lua_type(r->L, -1) == LUA_TSTRING ? lua_tolstring(r->L, -1, &length) : NULL;
    if (!text || length == 0 || length > 95 || strlen(text) != length)
        und_read_expected(r, f->expected);
    char *copy = und_scene_alloc(r, length + 1, 1);
    d->what = memcpy(copy, text, length);
    d->what_length = (int)length;
}

/* "layer_%02d.png": exactly one number goes into it. */
static void check_pattern(reader *r, const char *pattern)
{
    const char *sign = strchr(pattern, '%'), *p = sign ? sign + 1 : NULL;
    while (p && *p >= '0' && *p <= '9' && p < sign + 4)
        p++;
    if (!p || *p != 'd' || strchr(p, '%'))
        und_read_fail(r, "expected a name with one number in it, as \"layer_%%02d.png\", found \"%.100s\"",
                      pattern);
}

static void expand_pattern(reader *r, voxels_def *d, const char *pattern)
{
    check_pattern(r, pattern);
    const char *sign = strchr(pattern, '%'), *rest = strchr(sign, 'd') + 1;
    int width = (int)strtol(sign + 1, NULL, 10); /* "02" */
    bool zeros = sign[1] == '0';
    d->layer_count = d->count;
    d->layers = und_scene_alloc(r, (size_t)d->count, sizeof *d->layers);
    for (int i = 0; i < d->count; i++) {
        char name[512];
        snprintf(name, sizeof name, zeros ? "%.*s%0*d%s" : "%.*s%*d%s", (int)(sign - pattern), pattern, width,
                 i, rest);
        d->layers[i] = und_scene_file(r, name);
    }
}

static void read_layers(reader *r, const field *f, void *def)
{
    voxels_def *d = def;
    if (lua_type(r->L, -1) == LUA_TSTRING) {
        if (d->count == 0)
            und_read_fail(r, "missing key \"count\": how many layers there are, from 0 on");
        expand_pattern(r, d, lua_tostring(r->L, -1));
        return;
    }
    lua_Unsigned count = lua_type(r->L, -1) == LUA_TTABLE ? lua_rawlen(r->L, -1) : 0;
    if (count == 0)
        und_read_expected(r, f->expected);
    if (count > LAYERS_MAX || d->count != 0)
        und_read_fail(r, d->count ? "only a name with a number in it has a count" : "more than %d layers",
                      (int)LAYERS_MAX);
    d->layers = und_scene_alloc(r, count, sizeof *d->layers);
    d->layer_count = (int)count;
    for (int i = 0; i < d->layer_count; i++) {
        lua_rawgeti(r->L, -1, i + 1);
        und_read_enter(r, NULL, i + 1);
        if (lua_type(r->L, -1) != LUA_TSTRING)
            und_read_expected(r, "the name of a PNG file");
        d->layers[i] = und_scene_file(r, lua_tostring(r->L, -1));
        und_read_leave(r);
        lua_pop(r->L, 1);
    }
}

static void read_cell(reader *r, const field *f, void *def)
{
    und_vec3 *cell = &((voxels_def *)def)->cell;
    double size[3];
    if (lua_type(r->L, -1) == LUA_TNUMBER)
        size[0] = size[1] = size[2] = und_read_number(r, f);
    else
        und_read_numbers(r, size, 3, 3, f->expected);
    for (int i = 0; i < 3; i++)
        if (!(size[i] >= f->low && size[i] <= f->high))
            und_read_fail(r, "expected lengths from %g to %g (m), found %g", f->low, f->high, size[i]);
    *cell = und_vec(size[0], size[1], size[2]);
}

static const char *const orders[] = {"up", "down", NULL};

static void read_order(reader *r, const field *f, void *def)
{
    int order = 0;
    und_read_choice(r, f->choices, &order);
    ((voxels_def *)def)->top_first = order == 1;
}

/* `count` stands before `layers`, which needs it. */
const field und_voxels_fields[] = {
    {"file", F_OTHER, .read = read_map_file, .expected = "the name of a text file",
     .doc = "a text map: one character a voxel"},
    {"count", F_INTEGER, NULL, 1, LAYERS_MAX, AT(count),
     .doc = "how many layers a name with a number stands for"},
    {"layers", F_OTHER, .read = read_layers,
     .expected = "a list of PNG files, or a name as \"layer_%02d.png\"",
     .doc = "a stack of PNGs instead, one for each layer"},
    {"what", F_OTHER, .read = read_what, .required = true, .expected = "a text of 1 to 95 characters",
     .doc = "which voxels are in the shape: the characters of a map; of PNGs \"dark\", \"light\" or a colour "
            "\"#rrggbb\""},
    {"order", F_OTHER, .read = read_order, .choices = orders, .expected = "\"up\" or \"down\"",
     .doc = "layers go from the bottom \"up\" or from the top \"down\""},
    {"min", F_POINT, "m", AT(low), .doc = "low corner of the whole map"},
    {"max", F_POINT, "m", AT(high), .doc = "high corner of it"},
    {"cell", F_OTHER, "m", 1e-6, 1e6, .read = read_cell, .expected = "a number or {x, y, z}",
     .doc = "size of a voxel, instead of the high corner"},
    {0}};

/* A map's voxels: which are in the shape. */
typedef struct voxel_set {
    int n[3];
    uint8_t *filled;
} voxel_set;

static voxel_set new_set(reader *r, const int n[3])
{
    voxel_set set = {.n = {n[0], n[1], n[2]}};
    if ((double)n[0] * n[1] * n[2] > UND_VOXELS_MAX)
        und_read_fail(r, "expected at most %d voxels, found %d x %d x %d", (int)UND_VOXELS_MAX, n[0], n[1],
                      n[2]);
    set.filled = und_scene_alloc(r, (size_t)n[0] * (size_t)n[1] * (size_t)n[2], 1);
    return set;
}

static voxel_set read_map(reader *r, const voxels_def *d)
{
    und_error err = {0};
    und_voxel_map map;
    owned *place = und_scene_own(r, free);
    if (und_voxel_map_read(d->file, d->top_first, &map, &err) != UND_OK)
        und_read_fail(r, "%s", err.text);
    place->resource = map.what;
    voxel_set set = new_set(r, map.n);
    size_t count = (size_t)map.n[0] * (size_t)map.n[1] * (size_t)map.n[2];
    und_sandbox_charge(r->L, (double)count);
    for (size_t i = 0; i < count; i++)
        set.filled[i] = memchr(d->what, map.what[i], (size_t)d->what_length) != NULL;
    place->resource = NULL;
    free(map.what);
    return set;
}

/* Which pixels of a picture are meant. */
typedef struct pixel_rule {
    bool dark, light;
    float color[3]; /* linear */
} pixel_rule;

static pixel_rule read_rule(reader *r, const voxels_def *d)
{
    pixel_rule rule = {.dark = strcmp(d->what, "dark") == 0, .light = strcmp(d->what, "light") == 0};
    unsigned rgb = 0;
    bool hex = d->what_length == 7 && d->what[0] == '#' && strspn(d->what + 1, "0123456789abcdefABCDEF") == 6;
    if (hex)
        rgb = (unsigned)strtoul(d->what + 1, NULL, 16);
    else if (!rule.dark && !rule.light)
        und_read_fail(r, "expected what = \"dark\", \"light\" or a colour \"#rrggbb\" of PNGs, found \"%s\"",
                      d->what);
    for (int i = 0; i < 3; i++)
        rule.color[i] = und_srgb_decode((float)(rgb >> (16 - 8 * i) & 255) / 255);
    return rule;
}

/* Colours are the same where they are within two steps of 255. */
static bool pixel_fits(const pixel_rule *rule, const float rgb[3])
{
    if (rule->dark || rule->light) {
        float gray = 0.2126F * und_srgb_encode(rgb[0]) + 0.7152F * und_srgb_encode(rgb[1]) +
                     0.0722F * und_srgb_encode(rgb[2]);
        return rule->dark ? gray < 0.5F : gray >= 0.5F;
    }
    bool same = true;
    for (int i = 0; i < 3; i++) {
        float off = und_srgb_encode(rgb[i]) - und_srgb_encode(rule->color[i]);
        same &= off > -2.5F / 255 && off < 2.5F / 255;
    }
    return same;
}

static void release_image(void *image)
{
    und_image_destroy(image);
}

/* One picture is one layer: its columns go along x, its rows along z. */
static voxel_set read_stack(reader *r, const voxels_def *d)
{
    pixel_rule rule = read_rule(r, d);
    und_error err = {0};
    voxel_set set = {0};
    und_image *image = und_scene_alloc(r, 1, sizeof *image);
    owned *place = und_scene_own(r, release_image);
    for (int layer = 0; layer < d->layer_count; layer++) {
        if (und_png_read(d->layers[layer], image, &err) != UND_OK)
            und_read_fail(r, "%s", err.text);
        place->resource = image;
        if (layer == 0)
            set = new_set(r, (int[3]){image->width, d->layer_count, image->height});
        if (image->width != set.n[0] || image->height != set.n[2])
            und_read_fail(r, "%s: expected %d x %d pixels, as the first layer has, found %d x %d",
                          d->layers[layer], set.n[0], set.n[2], image->width, image->height);
        int y = d->top_first ? set.n[1] - 1 - layer : layer;
        und_sandbox_charge(r->L, (double)set.n[0] * set.n[2]);
        for (int z = 0; z < set.n[2]; z++)
            for (int x = 0; x < set.n[0]; x++)
                set.filled[((size_t)z * (size_t)set.n[1] + (size_t)y) * (size_t)set.n[0] + (size_t)x] =
                    pixel_fits(&rule, image->rgb + 3 * ((size_t)z * (size_t)set.n[0] + (size_t)x));
        place->resource = NULL;
        und_image_destroy(image);
    }
    return set;
}

static void release_voxels(void *voxels)
{
    und_voxels_release(voxels);
}

und_voxels *und_read_voxels(reader *r)
{
    voxels_def d = {0};
    und_error err = {0};
    und_read_table(r, und_voxels_fields, &d);
    if ((d.file != NULL) == (d.layers != NULL))
        und_read_fail(r, d.file ? "expected either a file or layers, found both"
                                : "missing key \"file\" or \"layers\"");
    if (d.file && d.count)
        und_read_fail(r, "only layers have a count");
    if (und_read_has(r, "max") == und_read_has(r, "cell"))
        und_read_fail(r, und_read_has(r, "cell") ? "expected either max or cell, found both"
                                                 : "missing key \"max\" (the high corner) or \"cell\"");
    voxel_set set = d.file ? read_map(r, &d) : read_stack(r, &d);
    if (d.cell.x > 0)
        d.high = und_add(d.low, und_vec(d.cell.x * set.n[0], d.cell.y * set.n[1], d.cell.z * set.n[2]));
    und_voxels_def def = {
        .n = {set.n[0], set.n[1], set.n[2]}, .low = d.low, .high = d.high, .filled = set.filled};
    owned *place = und_scene_own(r, release_voxels);
    und_voxels *voxels = und_voxels_create(&def, &err);
    if (!voxels)
        und_read_fail(r, "%s", err.text);
    place->resource = voxels;
    r->scene->held += (double)und_voxels_bytes(voxels);
    und_sandbox_charge(r->L, 8 * (double)und_voxels_bytes(voxels));
    return voxels;
}
