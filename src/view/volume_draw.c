/* The passes of a picture of liquid in space: what is solid into one buffer, the liquid over a copy of it,
 * which looks through itself into the first, and all of it to the screen. */
#include "view/volume_parts.h"

#include "base/status.h"

#include <math.h>
#include <string.h>

und_status und_space_programs(und_space *v, und_error *err)
{
    const und_program_def defs[UND_SPACE_PROGRAMS] = {
        [UND_SPACE_BACK] = {"floor and sky",
                            {und_gl_square},
                            {und_space_light_text, und_space_floor_text, und_space_back_text}},
        [UND_SPACE_THING] = {"solids",
                             {und_space_corner_text},
                             {und_space_light_text, und_space_floor_text, und_space_thing_text}},
        [UND_SPACE_WAY] = {"the way through the liquid", {und_space_corner_text}, {und_space_way_text}},
        [UND_SPACE_SUN] = {"the sun's view", {und_space_corner_text}, {und_space_sun_text}},
        [UND_SPACE_SKIN] = {"the liquid's surface",
                            {und_space_corner_text},
                            {und_space_light_text, und_space_floor_text, und_space_water_text,
                             und_space_skin_text}},
        [UND_SPACE_TONE] = {"tones", {und_gl_square}, {und_space_tone_text}},
    };
    for (int k = 0; k < UND_SPACE_PROGRAMS; k++)
        if (!(v->program[k] = und_gl_program(&defs[k], err)))
            return err->status;
    return UND_OK;
}

static und_status fit_target(und_target *t, GLenum format, int width, int height, bool depth, und_error *err)
{
    if (t->buffer && t->width == width && t->height == height)
        return UND_OK;
    und_gl_target_clear(t);
    return und_gl_target(t, format, width, height, depth, err);
}

/* Textures have their places. */
enum {
    UNIT_SKY,
    UNIT_PATTERN,
    UNIT_AROUND,
    UNIT_SUN_DEPTH,
    UNIT_SKIN_DEPTH,
    UNIT_SKIN_WAY,
    UNIT_SOLID_COLOR,
    UNIT_SOLID_DEPTH,
    UNIT_WAY
};

static void set_floor(const und_space *v, GLuint p)
{
    const und_render_def *look = v->look;
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
    und_gl_float(p, "tile", look->ground_pattern == UND_GROUND_TILES ? look->tile : 0);
    und_gl_float(p, "grout", fmin(look->grout, 0.9 * look->tile));
    und_gl_float(p, "span", span);
}

static void set_light(const und_space *v, GLuint p, const und_lens *lens)
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
    und_gl_texture(p, "skin_depth", UNIT_SKIN_DEPTH, GL_TEXTURE_2D, v->sun_skin.depth);
    und_gl_texture(p, "skin_way", UNIT_SKIN_WAY, GL_TEXTURE_2D, v->sun_skin.color);
    und_gl_mat4(p, "sun_matrix", v->sun_matrix);
    und_gl_float(p, "sun_texel", 1.0 / v->sun_solid.width);
    und_gl_float(p, "shadows", 1);
    und_gl_vec3(p, "absorption", v->world.matter.absorption);
    und_gl_float(p, "opaque", v->world.matter.opaque || v->world.matter.painted);
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
    set_light(v, p, lens);
    und_gl_float(p, "with_floor", v->show.floor);
    glEnable(GL_DEPTH_TEST);
    glDepthFunc(GL_ALWAYS);
    und_gl_draw_square();
    glDepthFunc(GL_LESS);
    if (v->show.solids && v->solid.count > 0) {
        p = use(v, UND_SPACE_THING, lens);
        set_light(v, p, lens);
        und_gl_float(p, "glass", 0);
        und_space_draw_buffer(&v->solid);
    }
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

static void set_water(const und_space *v, GLuint p, bool under)
{
    const und_space_matter *m = &v->world.matter;
    und_gl_texture(p, "solid_color", UNIT_SOLID_COLOR, GL_TEXTURE_2D, v->solids.color);
    und_gl_texture(p, "solid_depth", UNIT_SOLID_DEPTH, GL_TEXTURE_2D, v->solids.depth);
    und_gl_vec3(p, "scatter", m->scatter);
    und_gl_vec3(p, "base_color", m->color);
    und_gl_float(p, "ratio", (double)m->index);
    und_gl_float(p, "gloss", (double)m->gloss);
    und_gl_float(p, "metal", m->metal);
    und_gl_float(p, "painted", m->painted);
    und_gl_float(p, "clay", v->show.clay);
    und_gl_float(p, "under", under);
}

static void draw_skin(const und_space *v, const und_lens *lens, bool under)
{
    GLuint p = use(v, UND_SPACE_SKIN, lens);
    set_light(v, p, lens);
    set_water(v, p, under);
    und_gl_texture(p, "way", UNIT_WAY, GL_TEXTURE_2D, v->way.color);
    glEnable(GL_DEPTH_TEST);
    und_space_draw_buffer(&v->skin);
    glDisable(GL_DEPTH_TEST);
}

static void draw_glass(const und_space *v, const und_lens *lens)
{
    if (!v->show.solids || v->glass.count == 0)
        return;
    GLuint p = use(v, UND_SPACE_THING, lens);
    set_light(v, p, lens);
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

static void copy(const und_target *from, const und_target *to)
{
    glBindFramebuffer(GL_READ_FRAMEBUFFER, from->buffer);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, to->buffer);
    glBlitFramebuffer(0, 0, from->width, from->height, 0, 0, to->width, to->height,
                      GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT, GL_NEAREST);
    glBindFramebuffer(GL_FRAMEBUFFER, to->buffer);
}

static void show(const und_space *v, const und_lens *lens, bool under)
{
    const und_space_matter *m = &v->world.matter;
    const und_space_light *l = &v->world.light;
    float fog[3];
    for (int k = 0; k < 3; k++)
        fog[k] = m->scatter[k] * (l->ambient[0][k] + 0.5f * l->sun_color[k]);
    GLuint p = use(v, UND_SPACE_TONE, lens);
    und_gl_texture(p, "picture", UNIT_SOLID_COLOR, GL_TEXTURE_2D, v->picture.color);
    und_gl_texture(p, "picture_depth", UNIT_SOLID_DEPTH, GL_TEXTURE_2D, v->picture.depth);
    und_gl_vec3(p, "eye", lens->eye);
    und_gl_vec3(p, "absorption", m->absorption);
    und_gl_vec3(p, "fog", fog);
    und_gl_float(p, "exposure", exp2(v->look->exposure));
    und_gl_float(p, "under", under && !v->show.clay);
    und_gl_float(p, "film", v->look->tone);
    glEnable(GL_DEPTH_TEST); /* depths are handed on, so that others can draw into the same space */
    glDepthFunc(GL_ALWAYS);
    und_gl_draw_square();
    glDepthFunc(GL_LESS);
    glDisable(GL_DEPTH_TEST);
}

static und_status fit_targets(und_space *v, const und_lens *lens, und_error *err)
{
    int width = lens->width, height = lens->height;
    und_status status = fit_target(&v->solids, GL_RGBA16F, width, height, true, err);
    if (status == UND_OK)
        status = fit_target(&v->picture, GL_RGBA16F, width, height, true, err);
    if (status == UND_OK)
        status = fit_target(&v->way, GL_R16F, width, height, false, err);
    return status;
}

void und_space_draw(und_painter *self, const und_lens *lens, double seconds)
{
    und_space *v = (und_space *)self;
    (void)seconds;
    GLint before = 0;
    und_error err;
    glGetIntegerv(GL_FRAMEBUFFER_BINDING, &before);
    if (!v->taken || fit_targets(v, lens, &err) != UND_OK) {
        glBindFramebuffer(GL_FRAMEBUFFER, (GLuint)before);
        return;
    }
    bool under = und_space_world_within(&v->world, lens->eye) && v->show.liquid;
    const GLboolean cut = glIsEnabled(GL_SCISSOR_TEST);
    glDisable(GL_SCISSOR_TEST); /* it is the screen's, not that of the buffers here */
    glViewport(0, 0, lens->width, lens->height);
    glBindFramebuffer(GL_FRAMEBUFFER, v->solids.buffer);
    draw_solids(v, lens);
    if (v->show.liquid && v->skin.count > 0)
        draw_way(v, lens, under);
    copy(&v->solids, &v->picture);
    if (v->show.liquid && v->skin.count > 0)
        draw_skin(v, lens, under);
    draw_glass(v, lens);
    glBindFramebuffer(GL_FRAMEBUFFER, (GLuint)before);
    glViewport(lens->x, lens->y, lens->width, lens->height);
    if (cut)
        glEnable(GL_SCISSOR_TEST);
    show(v, lens, under);
}
