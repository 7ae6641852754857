/* The passes of a picture of liquid in space: what is solid into one buffer, the liquid over a copy of it,
 * which looks through itself into the first, and all of it to the screen. */
#include "view/volume_parts.h"

#include "base/stage.h"
#include "base/status.h"
#include "view/glsl.h"

#include <math.h>
#include <string.h>

und_status und_space_programs(und_space *v, und_error *err)
{
    const char *const quick = v->software ? "#define QUICK\n" : "";
    const char *const opaque = v->software ? "#define OPAQUE\n#define QUICK\n" : "#define OPAQUE\n";
    const char *const inside = v->software ? "#define INSIDE\n#define QUICK\n#define BOUNCES 2\n"
                                           : "#define INSIDE\n#define BOUNCES 4\n";
    const und_program_def defs[UND_SPACE_PROGRAMS] = {
        [UND_SPACE_BACK] = {"floor and sky",
                            {und_glsl_square},
                            {und_glsl_volume_light, und_glsl_volume_floor, und_glsl_volume_back}},
        [UND_SPACE_THING] = {"solids",
                             {und_glsl_volume_corner},
                             {quick, und_glsl_volume_light, und_glsl_volume_floor, und_glsl_volume_thing}},
        [UND_SPACE_WAY] = {"the way through the liquid", {und_glsl_volume_corner}, {und_glsl_volume_way}},
        [UND_SPACE_TINT] = {"the liquid's paint", {und_glsl_volume_corner}, {und_glsl_volume_tint}},
        [UND_SPACE_SKIN] = {"the liquid's surface", {und_glsl_volume_corner}, {und_glsl_volume_skin}},
        [UND_SPACE_MARCH] = {"the liquid's distance",
                             {und_glsl_square},
                             {und_glsl_volume_phi, und_glsl_volume_march}},
        [UND_SPACE_CLEAR] = {"the liquid's light",
                             {und_glsl_square},
                             {quick, und_glsl_volume_light, und_glsl_volume_floor, und_glsl_volume_water,
                              und_glsl_volume_shade}},
        [UND_SPACE_CLEAR_PHI] = {"the light of the liquid's distance",
                                 {und_glsl_square},
                                 {inside, und_glsl_volume_light, und_glsl_volume_floor, und_glsl_volume_phi,
                                  und_glsl_volume_water, und_glsl_volume_shade}},
        [UND_SPACE_OPAQUE] = {"the opaque liquid's light",
                              {und_glsl_square},
                              {opaque, und_glsl_volume_light, und_glsl_volume_floor, und_glsl_volume_water,
                               und_glsl_volume_shade}},
        [UND_SPACE_SUN] = {"the sun's view", {und_glsl_volume_corner}, {und_glsl_volume_sun}},
        [UND_SPACE_SUN_MARCH] = {"the sun's view of the distance",
                                 {und_glsl_square},
                                 {und_glsl_volume_phi, und_glsl_volume_sun_march}},
        [UND_SPACE_GRAIN] = {"particles",
                             {und_glsl_volume_grain_vertex},
                             {und_glsl_volume_light, und_glsl_volume_grain}},
        [UND_SPACE_LINE] = {"lines", {und_glsl_volume_line_vertex}, {und_glsl_volume_line}},
        [UND_SPACE_MEAN] = {"means", {und_glsl_square}, {und_glsl_volume_mean}},
        [UND_SPACE_TONE] = {"tones", {und_glsl_square}, {und_glsl_volume_tone}},
    };
    for (int k = 0; k < UND_SPACE_PROGRAMS; k++)
        if (!(v->program[k] = und_gl_program(&defs[k], err)))
            return err->status;
    return UND_OK;
}

static und_status fit_target(und_target *t, GLenum format, int width, int height, bool depth, und_error *err)
{
    if (t->buffer && t->width == width && t->height == height && !t->depth == !depth)
        return UND_OK;
    und_gl_target_clear(t);
    return und_gl_target(t, format, width, height, depth, err);
}

bool und_space_has_phi(const und_space *v)
{
    return v->world.level.phi && !v->world.large;
}

static bool marches(const und_space *v)
{
    return v->show.marched && und_space_has_phi(v) && !v->world.made && !v->world.matter.painted;
}

static bool is_opaque(const und_space *v)
{
    return v->show.clay || v->world.matter.opaque || v->world.matter.painted;
}

/* Textures have their places. */
enum {
    UNIT_SKY,
    UNIT_PATTERN,
    UNIT_AROUND,
    UNIT_SUN_DEPTH,
    UNIT_SUN_SKIN,
    UNIT_SOLID_COLOR,
    UNIT_SOLID_DEPTH,
    UNIT_SURFACE,
    UNIT_SURFACE_DEPTH,
    UNIT_WAY,
    UNIT_PHI
};

static void set_floor(const und_space *v, GLuint p)
{
    const und_picture_def *look = v->look;
    const und_space_world *w = &v->world;
    double span = 0;
    for (int a = 0; a < 3; a++)
        span = fmax(span, w->high[a] - w->low[a]);
    und_gl_texture(p, "pattern", UNIT_PATTERN, GL_TEXTURE_2D, v->pattern);
    und_gl_texture(p, "around", UNIT_AROUND, GL_TEXTURE_2D, v->around);
    und_gl_vec4(p, "around_box", (float[4]){0});
    und_gl_vec3(p, "floor_color", look->ground_color);
    und_gl_vec3(p, "tile_color", look->tile_color);
    und_gl_vec3(p, "grout_color", look->grout_color);
    und_gl_float(p, "floor_height", (double)w->floor);
    und_gl_float(p, "patch_size", look->grain * span);
    und_gl_float(p, "texture_strength", look->texture);
    und_gl_float(p, "tile", look->tile);
    und_gl_float(p, "tiled", look->ground_pattern == UND_GROUND_TILES);
    und_gl_vec4(p, "tank",
                look->tank == UND_TANK_NONE
                    ? (float[4]){0}
                    : (float[4]){(float)w->low[0], (float)w->low[2], (float)w->high[0], (float)w->high[2]});
    und_gl_float(p, "grout", fmin(look->grout, 0.9 * look->tile));
    und_gl_float(p, "span", span);
}

void und_space_set_light(const und_space *v, GLuint p, const und_lens *lens)
{
    const und_space_light *l = &v->world.light;
    static const char *const ambient[] = {"ambient0", "ambient1", "ambient2", "ambient3"};
    und_gl_texture(p, "sky", UNIT_SKY, GL_TEXTURE_2D, v->sky);
    und_gl_float(p, "sky_size", l->sky_size);
    und_gl_vec3(p, "eye", lens->eye);
    und_gl_vec3(p, "sun", l->sun);
    und_gl_vec3(p, "sun_color", l->sun_color);
    for (int k = 0; k < UND_SKY_AMBIENT; k++)
        und_gl_vec3(p, ambient[k], l->ambient[k]);
    und_gl_texture(p, "sun_depth", UNIT_SUN_DEPTH, GL_TEXTURE_2D, v->sun_solid.depth);
    und_gl_texture(p, "sun_skin", UNIT_SUN_SKIN, GL_TEXTURE_2D, v->sun_skin.color);
    und_gl_mat4(p, "sun_matrix", v->sun_matrix);
    und_gl_float(p, "sun_texel", 1.0 / v->sun_solid.width);
    und_gl_float(p, "shadows", 1);
    und_gl_vec3(p, "absorption", v->world.matter.absorption);
    und_gl_float(p, "opaque", is_opaque(v));
    set_floor(v, p);
}

static GLuint use(const und_space *v, und_space_program which, const und_lens *lens)
{
    GLuint p = v->program[which];
    glUseProgram(p);
    und_gl_mat4(p, "both", lens->both);
    und_gl_mat4(p, "inverse", lens->inverse);
    und_gl_float(p, "flat_lens", lens->flat);
    und_gl_float(p, "pixel", 2 / ((double)lens->projection[5] * lens->height));
    return p;
}

static void draw_solids(const und_space *v, const und_lens *lens)
{
    GLuint p = use(v, UND_SPACE_BACK, lens);
    und_space_set_light(v, p, lens);
    und_gl_float(p, "with_floor", v->show.floor);
    glEnable(GL_DEPTH_TEST);
    glDepthFunc(GL_ALWAYS);
    und_gl_draw_square();
    glDepthFunc(GL_LESS);
    if (v->show.solids && v->solid.count > 0) {
        p = use(v, UND_SPACE_THING, lens);
        und_space_set_light(v, p, lens);
        und_gl_float(p, "glass", 0);
        und_space_draw_buffer(&v->solid);
    }
    glEnable(GL_BLEND);
    glBlendFunc(GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
    und_space_draw_grains(v, lens, false);
    glDisable(GL_BLEND);
    glDisable(GL_DEPTH_TEST);
}

/* The distance from the eye that ways through the liquid are counted from. */
static double middle_of(const und_space *v, const und_lens *lens)
{
    double sum = 0;
    for (int a = 0; a < 3; a++) {
        double d = 0.5 * (v->world.skin_low[a] + v->world.skin_high[a]) - (double)lens->eye[a];
        sum += d * d;
    }
    return sqrt(sum);
}

static void draw_way(const und_space *v, const und_lens *lens, bool under)
{
    double middle = middle_of(v, lens);
    GLuint p = use(v, UND_SPACE_WAY, lens);
    und_gl_texture(p, "solid_depth", UNIT_SOLID_DEPTH, GL_TEXTURE_2D, v->solids.depth);
    und_gl_vec3(p, "eye", lens->eye);
    und_gl_float(p, "middle", middle);
    glBindFramebuffer(GL_FRAMEBUFFER, v->way.buffer);
    glClearColor(under ? (float)middle : 0, 0, 0, 0);
    glClear(GL_COLOR_BUFFER_BIT);
    glEnable(GL_BLEND);
    glBlendFunc(GL_ONE, GL_ONE);
    und_space_draw_buffer(&v->skin);
    glDisable(GL_BLEND);
}

static void draw_tint(const und_space *v, const und_lens *lens)
{
    use(v, UND_SPACE_TINT, lens);
    glBindFramebuffer(GL_FRAMEBUFFER, v->way.buffer);
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    glEnable(GL_DEPTH_TEST);
    und_space_draw_buffer(&v->skin);
    glDisable(GL_DEPTH_TEST);
}

/* The nearest surface before anything solid: its normals and depths. */
static void find_skin(const und_space *v, const und_lens *lens, bool under)
{
    use(v, UND_SPACE_SKIN, lens);
    glEnable(GL_DEPTH_TEST);
    if (!under)
        glEnable(GL_CULL_FACE);
    und_space_draw_buffer(&v->skin);
    glDisable(GL_CULL_FACE);
    glDisable(GL_DEPTH_TEST);
}

static void find_marched(const und_space *v, const und_lens *lens, bool under)
{
    GLuint p = use(v, UND_SPACE_MARCH, lens);
    und_space_set_phi(v, p, UNIT_PHI);
    und_gl_texture(p, "solid_depth", UNIT_SOLID_DEPTH, GL_TEXTURE_2D, v->solids.depth);
    und_gl_vec3(p, "eye", lens->eye);
    und_gl_float(p, "under", under);
    glEnable(GL_DEPTH_TEST);
    glDepthFunc(GL_ALWAYS);
    und_gl_draw_square();
    glDepthFunc(GL_LESS);
    glDisable(GL_DEPTH_TEST);
}

static void set_water(const und_space *v, GLuint p, bool under)
{
    static const float clay[3] = {0.50f, 0.52f, 0.55f};
    const und_space_matter *m = &v->world.matter;
    und_gl_texture(p, "solid_color", UNIT_SOLID_COLOR, GL_TEXTURE_2D, v->solids.color);
    und_gl_texture(p, "solid_depth", UNIT_SOLID_DEPTH, GL_TEXTURE_2D, v->solids.depth);
    und_gl_texture(p, "surface", UNIT_SURFACE, GL_TEXTURE_2D, v->surface.color);
    und_gl_texture(p, "surface_depth", UNIT_SURFACE_DEPTH, GL_TEXTURE_2D, v->surface.depth);
    und_gl_texture(p, "way", UNIT_WAY, GL_TEXTURE_2D, v->way.color);
    und_gl_vec3(p, "scatter", m->scatter);
    und_gl_vec3(p, "base_color", v->show.clay ? clay : m->color);
    und_gl_float(p, "ratio", (double)m->index);
    und_gl_float(p, "gloss", v->show.clay ? 0.25 : (double)m->gloss);
    und_gl_float(p, "metal", m->metal && !v->show.clay);
    und_gl_float(p, "painted", m->painted && !v->show.clay);
    und_gl_float(p, "under", under);
}

/* The part of the buffers that the liquid is in, so that no other pixel costs anything. */
static void cut_to_liquid(const und_space *v, const und_lens *lens, bool under)
{
    double x0 = INFINITY, x1 = -INFINITY, y0 = INFINITY, y1 = -INFINITY;
    bool all = under;
    for (int c = 0; c < 8 && !all; c++) {
        double p[3], x, y;
        for (int a = 0; a < 3; a++)
            p[a] = c >> a & 1 ? v->world.skin_high[a] : v->world.skin_low[a];
        all = !und_lens_project(lens, p, &x, &y);
        y = lens->window_height - y;
        x0 = fmin(x0, x - lens->x);
        x1 = fmax(x1, x - lens->x);
        y0 = fmin(y0, y - lens->y);
        y1 = fmax(y1, y - lens->y);
    }
    if (all) {
        x0 = y0 = 0;
        x1 = lens->width;
        y1 = lens->height;
    }
    x0 = fmin(fmax(floor(x0) - 1, 0), lens->width);
    y0 = fmin(fmax(floor(y0) - 1, 0), lens->height);
    x1 = fmin(fmax(ceil(x1) + 1, x0), lens->width);
    y1 = fmin(fmax(ceil(y1) + 1, y0), lens->height);
    glScissor((GLint)x0, (GLint)y0, (GLsizei)(x1 - x0), (GLsizei)(y1 - y0));
    glEnable(GL_SCISSOR_TEST);
}

static void find_surface(const und_space *v, const und_lens *lens, bool under)
{
    glBindFramebuffer(GL_READ_FRAMEBUFFER, v->solids.buffer);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, v->surface.buffer);
    glBlitFramebuffer(0, 0, lens->width, lens->height, 0, 0, lens->width, lens->height, GL_DEPTH_BUFFER_BIT,
                      GL_NEAREST);
    glBindFramebuffer(GL_FRAMEBUFFER, v->surface.buffer);
    glClearColor(0, 0, 0, -1);
    glClear(GL_COLOR_BUFFER_BIT);
    if (marches(v))
        find_marched(v, lens, under);
    else
        find_skin(v, lens, under);
}

static void draw_liquid(const und_space *v, const und_lens *lens, bool under)
{
    cut_to_liquid(v, lens, under);
    find_surface(v, lens, under);
    if (v->world.matter.painted)
        draw_tint(v, lens);
    else if (!und_space_has_phi(v) && !is_opaque(v))
        draw_way(v, lens, under);
    glBindFramebuffer(GL_FRAMEBUFFER, v->picture.buffer);
    und_space_program clear = und_space_has_phi(v) ? UND_SPACE_CLEAR_PHI : UND_SPACE_CLEAR;
    GLuint p = use(v, is_opaque(v) ? UND_SPACE_OPAQUE : clear, lens);
    und_space_set_light(v, p, lens);
    if (und_space_has_phi(v))
        und_space_set_phi(v, p, UNIT_PHI);
    set_water(v, p, under);
    glEnable(GL_DEPTH_TEST);
    glDepthFunc(GL_ALWAYS);
    und_gl_draw_square();
    glDepthFunc(GL_LESS);
    glDisable(GL_DEPTH_TEST);
    glDisable(GL_SCISSOR_TEST);
}

static void draw_glass(const und_space *v, const und_lens *lens)
{
    if (!v->show.solids || v->glass.count == 0)
        return;
    GLuint p = use(v, UND_SPACE_THING, lens);
    und_space_set_light(v, p, lens);
    und_gl_float(p, "glass", 1);
    glEnable(GL_DEPTH_TEST);
    glDepthMask(GL_FALSE);
    glEnable(GL_BLEND);
    glBlendFunc(GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
    und_space_draw_buffer(&v->glass);
    glDisable(GL_BLEND);
    glDepthMask(GL_TRUE);
    glDisable(GL_DEPTH_TEST);
}

static void copy(const und_target *from, const und_target *to, GLbitfield what)
{
    glBindFramebuffer(GL_READ_FRAMEBUFFER, from->buffer);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, to->buffer);
    glBlitFramebuffer(0, 0, from->width, from->height, 0, 0, to->width, to->height, what, GL_NEAREST);
    glBindFramebuffer(GL_FRAMEBUFFER, to->buffer);
}

/* Particles in the liquid, as if it were glass. */
static void draw_through(const und_space *v, const und_lens *lens)
{
    glEnable(GL_BLEND);
    glBlendFunc(GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
    und_space_draw_grains(v, lens, true);
    glDisable(GL_BLEND);
}

static void draw_all(und_space *v, const und_lens *lens, bool under)
{
    glViewport(0, 0, lens->width, lens->height);
    glBindFramebuffer(GL_FRAMEBUFFER, v->solids.buffer);
    draw_solids(v, lens);
    copy(&v->solids, &v->picture, GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    if (v->show.liquid && (v->skin.count > 0 || marches(v)))
        draw_liquid(v, lens, under);
    glBindFramebuffer(GL_FRAMEBUFFER, v->picture.buffer);
    if (v->show.through && v->show.liquid)
        draw_through(v, lens);
    draw_glass(v, lens);
    und_space_draw_lines(v, lens);
}

static void show(const und_space *v, const und_lens *lens, bool under)
{
    const und_space_matter *m = &v->world.matter;
    const und_space_light *l = &v->world.light;
    float fog[3];
    for (int k = 0; k < 3; k++)
        fog[k] = m->scatter[k] * (l->ambient[0][k] + 0.5f * l->sun_color[k]);
    GLuint p = use(v, UND_SPACE_TONE, lens);
    und_gl_texture(p, "picture", UNIT_SOLID_COLOR, GL_TEXTURE_2D,
                   v->samples > 1 ? v->mean.color : v->picture.color);
    und_gl_texture(p, "picture_depth", UNIT_SOLID_DEPTH, GL_TEXTURE_2D, v->picture.depth);
    und_gl_vec3(p, "eye", lens->eye);
    und_gl_vec3(p, "absorption", m->absorption);
    und_gl_vec3(p, "fog", fog);
    und_gl_float(p, "exposure", exp2(v->look->exposure));
    und_gl_float(p, "under", under && !is_opaque(v));
    und_gl_float(p, "film", v->look->tone);
    glEnable(GL_DEPTH_TEST); /* depths are handed on, so that others can draw into the same space */
    glDepthFunc(GL_ALWAYS);
    und_gl_draw_square();
    glDepthFunc(GL_LESS);
    glDisable(GL_DEPTH_TEST);
}

static und_status fit_targets(und_space *v, int width, int height, und_error *err)
{
    bool painted = v->world.matter.painted;
    const struct {
        und_target *target;
        GLenum format;
        bool depth;
    } all[] = {{&v->solids, GL_RGBA16F, true},
               {&v->surface, GL_RGBA16F, true},
               {&v->way, painted ? GL_RGBA16F : GL_R16F, painted},
               {&v->picture, GL_RGBA16F, true},
               {&v->mean, GL_RGBA16F, false}};
    und_status status = UND_OK;
    for (size_t k = 0; k < sizeof all / sizeof *all && status == UND_OK; k++)
        status = fit_target(all[k].target, all[k].format, width, height, all[k].depth, err);
    return status;
}

/* ---- How often, and how large ---- */

enum { MOST_SAMPLES = 8, FINE_PIXELS = 2500000 };
static const double AT_MOST = 0.06; /* s, for a picture by software while things move */

/* How much larger than the viewport pictures are drawn. */
static double scale_now(const und_space *v, const und_lens *lens)
{
    double pixels = (double)lens->width * lens->height;
    if (!v->software)
        return pixels < FINE_PIXELS ? 2 : 1;
    if (v->changes < 4 || !(v->effort > 0))
        return 1;
    double scale = sqrt(AT_MOST / (v->effort * pixels));
    return scale < 0.45 ? 0.45 : scale > 0.85 ? 1 : scale;
}

/* The lens of a buffer of its own, moved by a part of a pixel. */
static und_lens inner_lens(const und_lens *lens, double scale, int sample)
{
    /* Halton's sequences of 2 and 3, about the pixel's middle. */
    static const float off[MOST_SAMPLES][2] = {{0, 0},
                                               {-0.25f, 0.1667f},
                                               {0.25f, -0.3889f},
                                               {-0.375f, -0.0556f},
                                               {0.125f, 0.2778f},
                                               {-0.125f, -0.2778f},
                                               {0.375f, 0.0556f},
                                               {-0.4375f, 0.3889f}};
    und_lens in = *lens;
    in.x = in.y = 0;
    in.width = (int)fmax(lround(scale * lens->width), 1);
    in.height = in.window_height = (int)fmax(lround(scale * lens->height), 1);
    float dx = 2 * off[sample][0] / (float)in.width, dy = 2 * off[sample][1] / (float)in.height;
    for (int column = 0; column < 4; column++) { /* x and y grow by so many w */
        in.both[4 * column] += dx * in.both[4 * column + 3];
        in.both[4 * column + 1] += dy * in.both[4 * column + 3];
    }
    for (int row = 0; row < 4; row++) /* and the inverse takes that back */
        in.inverse[12 + row] -= dx * in.inverse[row] + dy * in.inverse[4 + row];
    return in;
}

/* The picture into the mean of those before. */
static void add_to_mean(const und_space *v)
{
    if (v->samples == 0)
        return;
    GLuint p = v->program[UND_SPACE_MEAN];
    glBindFramebuffer(GL_FRAMEBUFFER, v->mean.buffer);
    glViewport(0, 0, v->mean.width, v->mean.height);
    glUseProgram(p);
    und_gl_texture(p, "picture", UNIT_SOLID_COLOR, GL_TEXTURE_2D, v->picture.color);
    glEnable(GL_BLEND);
    glBlendColor(0, 0, 0, 1 / (float)(v->samples + 1));
    glBlendFunc(GL_CONSTANT_ALPHA, GL_ONE_MINUS_CONSTANT_ALPHA);
    und_gl_draw_square();
    glDisable(GL_BLEND);
}

static void draw_sample(und_space *v, const und_lens *lens, double scale)
{
    und_lens in = inner_lens(lens, scale, v->samples);
    double start = und_clock();
    if (v->samples == 1)
        copy(&v->picture, &v->mean, GL_COLOR_BUFFER_BIT);
    v->drawn_under = v->show.liquid && und_space_world_within(&v->world, lens->eye);
    draw_all(v, &in, v->drawn_under);
    add_to_mean(v);
    if (v->software) {
        glFinish();
        double effort = (und_clock() - start) / ((double)in.width * in.height);
        v->effort = v->effort > 0 ? 0.7 * v->effort + 0.3 * effort : effort;
    }
    v->samples++;
}

static bool same_lens(const und_lens *a, const und_lens *b)
{
    return a->x == b->x && a->y == b->y && a->width == b->width && a->height == b->height &&
           a->flat == b->flat && memcmp(a->both, b->both, sizeof a->both) == 0;
}

/* What a person changed needs other triangles or colours; and while nothing moves all triangles are made. */
static void follow_changes(und_space *v)
{
    const und_space_show *now = &v->show, *last = &v->drawn_show;
    und_error err;
    bool none = !marches(v) && v->world.level.phi && !v->world.meshed;
    if ((none || (v->world.coarse && !marches(v) && v->samples > 1)) &&
        und_space_world_refine(&v->world, &err) == UND_OK)
        und_space_upload(v, &err);
    if (now->tint != last->tint || memcmp(now->set, last->set, sizeof now->set) != 0)
        und_space_upload_grains(v, &err);
}

void und_space_draw(und_painter *self, const und_lens *lens, double seconds)
{
    und_space *v = (und_space *)self;
    (void)seconds;
    GLint before = 0;
    und_error err;
    const GLboolean cut = glIsEnabled(GL_SCISSOR_TEST);
    GLint box[4];
    glGetIntegerv(GL_SCISSOR_BOX, box);
    if (!same_lens(lens, &v->drawn_lens) || memcmp(&v->show, &v->drawn_show, sizeof v->show) != 0)
        v->samples = 0;
    if (v->taken)
        follow_changes(v);
    v->drawn_lens = *lens;
    v->drawn_show = v->show;
    v->changes = v->samples == 0 ? v->changes + 1 : 0;
    double scale = v->samples == 0 ? scale_now(v, lens) : (double)v->picture.height / lens->height;
    if (v->samples > 0 && scale < 0.99) { /* it stands still now */
        v->samples = 0;
        scale = 1;
    }
    glGetIntegerv(GL_FRAMEBUFFER_BINDING, &before);
    glDisable(GL_SCISSOR_TEST); /* it is the screen's, not that of the buffers here */
    bool ready = v->taken;
    if (ready && v->samples < MOST_SAMPLES) {
        und_lens in = inner_lens(lens, scale, 0);
        ready = fit_targets(v, in.width, in.height, &err) == UND_OK;
        if (ready)
            draw_sample(v, lens, scale);
    }
    glBindFramebuffer(GL_FRAMEBUFFER, (GLuint)before);
    glViewport(lens->x, lens->y, lens->width, lens->height);
    glScissor(box[0], box[1], box[2], box[3]);
    if (cut)
        glEnable(GL_SCISSOR_TEST);
    if (ready)
        show(v, lens, v->drawn_under);
}
