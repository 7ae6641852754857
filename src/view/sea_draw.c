/* Draws the block of ground and water.  First what each pixel shows, by grids displaced in the vertex shader;
 * then each kind is shaded in a pass over the pixels: triangles of a few pixels each would cost software many
 * times their pixels, and what is hidden costs nothing. */
#include "base/status.h"
#include "stage/optics.h"
#include "view/colormap.h"
#include "view/glsl.h"
#include "view/sea_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int variant_of(const und_sea *s)
{
    const und_sea_fields *f = und_sea_reader_fields(s->reader);
    return (s->options.quality == 1 ? SEA_GOOD : 0) | (f->drift ? SEA_DRIFT : 0) |
           (s->things.corners > 0 ? SEA_BODIES : 0) | (s->options.tinted ? SEA_TINTED : 0) |
           (s->options.lines ? SEA_LINES : 0);
}

/* 1: the bodies' picture for the water, light alone and how far they are. */
static const char thing_piece[] = "uniform float under_water;\n";

static GLuint compile(const und_sea *s, int kind, int variant, und_error *err)
{
    static const struct {
        const char *name, *vertex, *fragment;
    } own[SEA_KINDS] = {
        [SEA_SKY] = {"the sky", und_glsl_sea_pass, und_glsl_sea_sky},
        [SEA_GROUND] = {"the ground", und_glsl_sea_pass, und_glsl_sea_dry},
        [SEA_WATER] = {"the water", und_glsl_sea_pass, und_glsl_sea_water},
        [SEA_CUT_GROUND] = {"the cut ground", und_glsl_sea_pass, und_glsl_sea_cut_ground},
        [SEA_CUT_WATER] = {"the cut water", und_glsl_sea_pass, und_glsl_sea_cut_water},
        [SEA_THING] = {"bodies", und_glsl_sea_thing, und_glsl_sea_lit_thing},
        [SEA_SHEETS] = {"sheets", und_glsl_sea_sheet, und_glsl_sea_film_of_water},
        [SEA_DROPS] = {"drops", und_glsl_sea_drop, und_glsl_sea_drops},
    };
    const und_sea_fields *f = und_sea_reader_fields(s->reader);
    const und_picture_def *look = s->look;
    bool good = variant & SEA_GOOD;
    char wanted[384];
    snprintf(wanted, sizeof wanted,
             "#define GOOD %d\n#define DRIFT %d\n#define BODIES %d\n#define TINTED %d\n#define TILES %d\n"
             "#define LINES %d\n#define PAINTED %d\n#define HAZE %d\n#define SKY_SIZE %d\n#define MARCH %d\n"
             "#define BOTTOM_STEPS %d\n#define BODY_STEPS %d\n#define SHADE_TAPS %d\n",
             good, !!(variant & SEA_DRIFT), !!(variant & SEA_BODIES), !!(variant & SEA_TINTED),
             look->ground_pattern == UND_GROUND_TILES, !!(variant & SEA_LINES), look->ground_map != NULL,
             look->haze > 0 && isfinite(look->haze), f->sky_size, good ? 24 : 12, good ? 6 : 3,
             good ? 16 : 10, good ? 4 : 1);
    const char *extra = kind < SEA_SHADES ? und_glsl_sea_each : kind == SEA_THING ? thing_piece : "";
    const und_program_def def = {
        .name = own[kind].name,
        .vertex = {wanted, kind == SEA_THING && !good ? "#define LIT_CORNERS 1\n" : "#define LIT_CORNERS 0\n",
                   und_glsl_sea_light, kind == SEA_THING ? thing_piece : "",
                   kind == SEA_THING ? und_glsl_sea_thing_light : "", own[kind].vertex},
        .fragment = {wanted, und_glsl_sea_plan, und_glsl_sea_light, und_glsl_sea_film, und_glsl_colormap,
                     und_glsl_sea_ground, und_glsl_sea_around, extra,
                     kind == SEA_THING ? und_glsl_sea_thing_light : "", own[kind].fragment}};
    return und_gl_program(&def, err);
}

und_status und_sea_programs(und_sea *s, und_error *err)
{
    int variant = variant_of(s);
    for (int kind = 0; kind < SEA_KINDS; kind++)
        if (!s->program[kind][variant] && !(s->program[kind][variant] = compile(s, kind, variant, err)))
            return err->status;
    return UND_OK;
}

void und_sea_tint_range(const und_sea *s, double *low, double *high)
{
    const und_sea_fields *f = und_sea_reader_fields(s->reader);
    double swing = fmax(fmax(s->high - s->level, s->level - s->low), 1e-6 * f->h);
    *low = s->level - swing;
    *high = s->level + swing;
}

static void set_light(const und_sea *s, GLuint program, const und_lens *lens)
{
    const und_sea_fields *f = und_sea_reader_fields(s->reader);
    static const char *const ambient[4] = {"ambient0", "ambient1", "ambient2", "ambient3"};
    for (int k = 0; k < 4; k++)
        und_gl_vec3(program, ambient[k], f->ambient[k]);
    und_gl_vec3(program, "eye", lens->eye);
    und_gl_vec3(program, "forward", lens->forward);
    und_gl_vec3(program, "sun", f->sun);
    und_gl_vec3(program, "sun_color", f->sun_color);
    und_gl_float(program, "flat_view", lens->flat);
    und_gl_float(program, "gain", exp2(s->look->exposure));
    und_gl_float(program, "filmic", s->look->tone);
    und_gl_float(program, "haze", s->look->haze > 0 ? 1 / s->look->haze : 0);
    und_gl_float(program, "pixel", 2 / ((double)lens->projection[5] * lens->height));
    und_gl_float(program, "ratio", s->look->refraction);
    und_gl_mat4(program, "both", lens->both);
    und_gl_mat4(program, "inverse_both", lens->inverse);
    und_gl_texture(program, "sky_map", 0, GL_TEXTURE_2D, s->sky);
}

static void set_ground(const und_sea *s, GLuint program)
{
    const und_sea_fields *f = und_sea_reader_fields(s->reader);
    const und_picture_def *look = s->look;
    double span = f->h * ((f->nx > f->nz ? f->nx : f->nz) - 1), vertical = und_sea_vertical(s);
    und_gl_texture(program, "bed_map", 1, GL_TEXTURE_2D, s->bed);
    und_gl_texture(program, "ground_map", 2, GL_TEXTURE_2D, s->ground_map);
    und_gl_texture(program, "water_map", 3, GL_TEXTURE_2D, s->water_map);
    und_gl_texture(program, "light_map", 4, GL_TEXTURE_2D, s->light.color);
    und_gl_texture(program, "wet_map", 5, GL_TEXTURE_2D, s->wet);
    und_gl_texture(program, "noise_map", 6, GL_TEXTURE_2D, s->noise);
    und_gl_texture(program, "paint_map", 7, GL_TEXTURE_2D, s->paint);
    und_gl_vec3(program, "absorption", look->absorption);
    und_gl_vec3(program, "ground_color", look->ground_color);
    und_gl_vec3(program, "rock_color", look->rock_color);
    und_gl_vec3(program, "grass_color", look->grass_color);
    und_gl_vec3(program, "tile_color", look->tile_color);
    und_gl_vec3(program, "grout_color", look->grout_color);
    if (look->ground_map)
        und_gl_float(program, "paint_per_m", look->ground_map->width / (f->h * (f->nx - 1)));
    und_gl_float(program, "span", span);
    und_gl_float(program, "cell", f->cell);
    und_gl_float(program, "base", (double)f->base);
    und_gl_float(program, "ground_high", (double)f->ground_high);
    und_gl_float(program, "caustics", s->options.caustics && look->caustics > 0);
    und_gl_float(program, "wet_darkening", look->wet_darkening);
    und_gl_float(program, "sheen", look->sheen);
    und_gl_float(program, "wetness", s->options.wet);
    und_gl_float(program, "grain", look->grain * span);
    und_gl_float(program, "rough", look->texture);
    und_gl_float(program, "rock_edge", tan(look->rock_slope * M_PI / 180));
    und_gl_float(program, "grass_height", fmin(look->grass_height * vertical, 1e9));
    und_gl_float(program, "tile", look->tile);
    und_gl_float(program, "grout", fmin(look->grout, 0.9 * look->tile));
}

static void set_water(const und_sea *s, GLuint program)
{
    const und_sea_fields *f = und_sea_reader_fields(s->reader);
    const und_picture_def *look = s->look;
    double period = (double)und_ripple_period((float)look->ripple_size, (float)f->cell);
    double speed = (double)und_ripple_speed((float)period), low, high;
    double span = f->h * ((f->nx > f->nz ? f->nx : f->nz) - 1);
    und_sea_tint_range(s, &low, &high);
    und_gl_texture(program, "ripple_map", 8, GL_TEXTURE_2D, s->ripple);
    und_gl_texture(program, "drift_map", 9, GL_TEXTURE_2D, s->drift);
    und_gl_texture(program, "colormaps", 10, GL_TEXTURE_2D, s->colormaps);
    und_gl_int(program, "colormap", UND_MAP_DIVERGING);
    und_gl_vec3(program, "water_color", look->water_color);
    und_gl_vec3(program, "dye_color", look->dye_color);
    und_gl_float(program, "ripples", look->ripples);
    und_gl_float(program, "ripple_period", period);
    und_gl_float(program, "ripple_run", fmod(f->time * speed / period, 1000));
    und_gl_float(program, "drift_phase", fmod(f->time / UND_DRIFT_PERIOD, 1000));
    und_gl_float(program, "shore", (double)und_shore_depth((float)look->shore, (float)f->cell));
    und_gl_float(program, "dye_strength", look->dye_strength);
    und_gl_float(program, "foam_light", UND_FOAM_BRIGHT * look->foam);
    und_gl_float(program, "foam_period", (double)und_foam_period((float)look->grain, (float)span));
    und_gl_float(program, "opaque", s->options.water == SEA_WATER_OPAQUE);
    und_gl_float(program, "tint_low", low * und_sea_vertical(s));
    und_gl_float(program, "tint_per_m", 1 / ((high - low) * und_sea_vertical(s)));
}

GLuint und_sea_use(const und_sea *s, int kind, const und_lens *lens)
{
    GLuint program = s->program[kind][variant_of(s)];
    glUseProgram(program);
    und_sea_set_plan(s, program);
    set_light(s, program, lens);
    set_ground(s, program);
    if (kind == SEA_WATER || kind == SEA_CUT_WATER)
        set_water(s, program);
    if (kind < SEA_SHADES) {
        und_gl_texture(program, "kind_map", 14, GL_TEXTURE_2D, s->kinds);
        und_gl_texture(program, "depth_map", 15, GL_TEXTURE_2D, s->picture.depth);
        und_gl_vec2(program, "picture_size", s->picture.width, s->picture.height);
        und_gl_float(program, "pass", kind);
    }
    und_sea_things_set(s, program, kind == SEA_WATER || kind == SEA_CUT_WATER);
    return program;
}

/* The part of the plan that the window shows, low corner and sides: the grid's vertices are spent there. */
static void find_window(const und_sea *s, const und_lens *lens, float window[4])
{
    enum { STEPS = 32 };
    double low[3], high[3], from[2] = {1, 1}, to[2] = {0, 0};
    s->painter.class->bounds(&s->painter, low, high);
    for (int k = 0; k < 2 * (STEPS + 1) * (STEPS + 1); k++) { /* places that are seen */
        double u[2] = {(double)(k / 2 % (STEPS + 1)) / STEPS, (double)(k / 2 / (STEPS + 1)) / STEPS}, x, y;
        double at[3] = {low[0] + u[0] * (high[0] - low[0]), k % 2 ? low[1] : high[1],
                        low[2] + u[1] * (high[2] - low[2])};
        bool seen = und_lens_project(lens, at, &x, &y) && und_lens_holds(lens, x, y);
        for (int a = 0; a < 2 && seen; a++) {
            from[a] = fmin(from[a], u[a]);
            to[a] = fmax(to[a], u[a]);
        }
    }
    for (int k = 0; k < 2 * 25; k++) { /* and what is under places of the window */
        double origin[3], along[3];
        und_lens_ray(lens, lens->x + lens->width * (k % 5) / 4.0,
                     lens->window_height - lens->y - lens->height * (k / 5 % 5) / 4.0, origin, along);
        double height = k < 25 ? low[1] : high[1], t = (height - origin[1]) / along[1];
        for (int a = 0; a < 2 && t > 0 && t < 1e9; a++) {
            double u = (origin[2 * a] + t * along[2 * a] - low[2 * a]) / (high[2 * a] - low[2 * a]);
            from[a] = fmin(from[a], fmin(fmax(u, 0), 1));
            to[a] = fmax(to[a], fmin(fmax(u, 0), 1));
        }
    }
    for (int a = 0; a < 2; a++) {
        from[a] = fmax(from[a] - 1.5 / STEPS, 0);
        to[a] = fmin(to[a] + 1.5 / STEPS, 1);
        window[a] = to[a] > from[a] ? (float)from[a] : 0;
        window[2 + a] = to[a] > from[a] ? (float)(to[a] - from[a]) : 1;
    }
}

static GLuint begin_kind(const und_sea *s, GLuint program, const und_lens *lens)
{
    const und_sea_fields *f = und_sea_reader_fields(s->reader);
    glUseProgram(program);
    und_sea_set_plan(s, program);
    und_gl_mat4(program, "both", lens->both);
    und_gl_texture(program, "bed_map", 0, GL_TEXTURE_2D, s->bed);
    und_gl_texture(program, "water_map", 1, GL_TEXTURE_2D, s->water_map);
    und_gl_float(program, "surface", s->options.water != SEA_WATER_HIDDEN);
    und_gl_float(program, "base", (double)f->base);
    return program;
}

static void draw_top(const und_sea *s, const und_lens *lens, const float window[4])
{
    GLuint program = begin_kind(s, s->grid_program, lens);
    und_gl_vec4(program, "window", window);
    und_gl_float(program, "kind", SEA_SHOWS_TOP);
    und_sea_grid_draw(&s->grid, program);
}

static void draw_sides(const und_sea *s, const und_lens *lens, const float w[4])
{
    const float line[4][4] = {{0, w[1], 0, w[3]}, {1, w[1], 0, w[3]}, {w[0], 0, w[2], 0}, {w[0], 1, w[2], 0}};
    double low[3], high[3];
    s->painter.class->bounds(&s->painter, low, high);
    GLuint program = begin_kind(s, s->side_program, lens);
    glBindVertexArray(s->no_array);
    for (int side = 0; side < 4; side++) {
        int axis = side < 2 ? 0 : 2, count = s->grid.size[side < 2];
        double eye = (double)lens->eye[axis];
        if (!lens->flat && (side % 2 ? eye < high[axis] : eye > low[axis])) /* seen from inside */
            continue;
        und_gl_float(program, "kind", SEA_SHOWS_SIDE + side);
        und_gl_vec4(program, "window", line[side]);
        und_gl_int(program, "count", count);
        glDrawArrays(GL_TRIANGLE_STRIP, 0, 2 * count);
    }
    program = begin_kind(s, s->floor_program, lens);
    und_gl_float(program, "kind", SEA_SHOWS_FLOOR);
    if ((double)lens->eye[1] < low[1])
        glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    glBindVertexArray(0);
}

/* What each pixel shows, and how far it is; bodies are shaded at once. */
static void draw_kinds(und_sea *s, const und_lens *lens)
{
    float window[4];
    find_window(s, lens, window);
    glBindFramebuffer(GL_FRAMEBUFFER, s->picture.buffer);
    glDrawBuffers(2, (const GLenum[]){GL_COLOR_ATTACHMENT0, GL_COLOR_ATTACHMENT1});
    glClearBufferfv(GL_COLOR, 1, (const float[]){0, 0, 0, 0});
    glClear(GL_DEPTH_BUFFER_BIT);
    glEnable(GL_DEPTH_TEST);
    draw_top(s, lens, window);
    if (s->look->sides)
        draw_sides(s, lens, window);
    und_sea_things_draw(s, lens, false);
    glDisable(GL_DEPTH_TEST);
    glDrawBuffers(1, (const GLenum[]){GL_COLOR_ATTACHMENT0});
}

static void sort_kinds(const und_sea *s, const und_lens *lens)
{
    GLuint program = begin_kind(s, s->sort_program, lens);
    und_gl_mat4(program, "inverse_both", lens->inverse);
    und_gl_texture(program, "kind_map", 14, GL_TEXTURE_2D, s->kinds);
    und_gl_texture(program, "depth_map", 15, GL_TEXTURE_2D, s->picture.depth);
    und_gl_vec2(program, "picture_size", s->picture.width, s->picture.height);
    und_gl_float(program, "hidden_water", s->options.water == SEA_WATER_HIDDEN);
    glColorMask(GL_FALSE, GL_FALSE, GL_FALSE, GL_FALSE);
    glDepthFunc(GL_ALWAYS);
    und_gl_draw_square();
    glColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
}

static void shade_kinds(const und_sea *s, const und_lens *lens)
{
    glBindFramebuffer(GL_FRAMEBUFFER, s->shades);
    glEnable(GL_DEPTH_TEST);
    sort_kinds(s, lens);
    glDepthFunc(GL_EQUAL);
    glDepthMask(GL_FALSE);
    for (int kind = 0; kind < SEA_SHADES; kind++) {
        if (kind >= SEA_CUT_GROUND && !s->look->sides)
            continue;
        und_sea_use(s, kind, lens);
        glBindVertexArray(s->no_array);
        glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    }
    glBindVertexArray(0);
    glDepthMask(GL_TRUE);
    glDepthFunc(GL_LESS);
    glDisable(GL_DEPTH_TEST);
}

static void draw_all(und_sea *s, const und_lens *lens)
{
    draw_kinds(s, lens);
    shade_kinds(s, lens);
    glBindFramebuffer(GL_FRAMEBUFFER, s->picture.buffer);
    glEnable(GL_DEPTH_TEST);
    und_sea_drops_draw(s, lens);
    glDisable(GL_DEPTH_TEST);
    glUseProgram(0);
}

void und_sea_pictures_clear(und_sea *s)
{
    und_gl_target_clear(&s->picture);
    und_gl_target_clear(&s->smooth);
    glDeleteTextures(1, &s->kinds);
    glDeleteFramebuffers(1, &s->shades);
    glDeleteRenderbuffers(1, &s->passes);
    s->kinds = s->shades = s->passes = 0;
}

static und_status make_pictures(und_sea *s, int width, int height, und_error *err)
{
    if (s->picture.width == width && s->picture.height == height)
        return UND_OK;
    und_sea_pictures_clear(s);
    und_status status = und_gl_target(&s->smooth, GL_RGBA8, width, height, false, err);
    if (status == UND_OK)
        status = und_gl_target(&s->picture, GL_RGBA8, width, height, true, err);
    if (status != UND_OK)
        return status;
    s->kinds = und_gl_texture_2d(GL_R8, width, height, false);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT1, GL_TEXTURE_2D, s->kinds, 0);
    glGenFramebuffers(1, &s->shades);
    glBindFramebuffer(GL_FRAMEBUFFER, s->shades);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, s->picture.color, 0);
    glGenRenderbuffers(1, &s->passes);
    glBindRenderbuffer(GL_RENDERBUFFER, s->passes);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_DEPTH_COMPONENT32F, width,
                          height); /* eighths are exact in it */
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, s->passes);
    if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
        return und_error_set(err, UND_FAILED, "OpenGL does not draw into a picture of %d x %d pixels", width,
                             height);
    return UND_OK;
}

/* Is it what the picture shows already? */
static bool is_same(const und_sea *s, const und_lens *lens)
{
    const und_sea_options *a = &s->options, *b = &s->drawn;
    double tint[2];
    und_sea_tint_range(s, &tint[0], &tint[1]);
    if (a->tinted && memcmp(tint, s->drawn_tint, sizeof tint) != 0)
        return false;
    return s->picture.buffer && s->takes == s->drawn_takes && memcmp(lens, &s->lens, sizeof *lens) == 0 &&
           a->quality == b->quality && a->caustics == b->caustics && a->wet == b->wet &&
           a->lines == b->lines && a->tinted == b->tinted && a->water == b->water &&
           a->vertical == b->vertical;
}

/* Pixels of the picture per pixel of the window.  Without a graphics processor what moves has fewer; with one
 * good pictures have four to each. */
static double pixels_per_pixel(const und_sea *s)
{
    bool good = s->options.quality == 1;
    if (!s->software)
        return good ? 2 : 1;
    return good || s->still > 0 ? 1 : 0.5;
}

static und_status make_picture(und_sea *s, const und_lens *lens, und_error *err)
{
    double per = pixels_per_pixel(s);
    int width = (int)fmax(lrint(per * lens->width), 1), height = (int)fmax(lrint(per * lens->height), 1);
    und_lens own = *lens;
    own.x = own.y = 0;
    own.width = width;
    own.height = own.window_height = height;
    und_sea_aside aside = und_sea_turn_to(0, 1, 1);
    und_status status = make_pictures(s, width, height, err);
    if (status == UND_OK)
        status = und_sea_things_prepare(s, &own, width, height, err);
    if (status == UND_OK) {
        glViewport(0, 0, width, height);
        draw_all(s, &own);
        if (per <= 1) {
            glBindFramebuffer(GL_FRAMEBUFFER, s->smooth.buffer);
            glUseProgram(s->smooth_program);
            und_gl_texture(s->smooth_program, "picture", 0, GL_TEXTURE_2D, s->picture.color);
            und_gl_draw_square();
        }
    }
    und_sea_turn_back(&aside);
    return status;
}

static void show_picture(const und_sea *s, bool smooth)
{
    GLuint program = s->compose_program;
    glUseProgram(program);
    und_gl_texture(program, "picture", 0, GL_TEXTURE_2D, smooth ? s->smooth.color : s->picture.color);
    und_gl_texture(program, "picture_depth", 1, GL_TEXTURE_2D, s->picture.depth);
    glEnable(GL_DEPTH_TEST); /* else depths are not written */
    glDepthFunc(GL_ALWAYS);
    und_gl_draw_square();
    glDepthFunc(GL_LESS);
    glDisable(GL_DEPTH_TEST);
    glUseProgram(0);
}

void und_sea_draw(und_painter *self, const und_lens *lens, double seconds)
{
    und_sea *s = (und_sea *)self;
    und_error err;
    (void)seconds;
    und_sea_maps_refresh(s);
    if (!s->taken || und_sea_programs(s, &err) != UND_OK)
        return;
    bool same = is_same(s, lens);
    s->still = same ? s->still + 1 : 0;
    /* What stands still is drawn once more, with all its pixels. */
    if ((!same || (s->still == 1 && s->software && s->options.quality == 0)) &&
        make_picture(s, lens, &err) != UND_OK)
        return;
    s->lens = *lens;
    s->drawn = s->options;
    und_sea_tint_range(s, &s->drawn_tint[0], &s->drawn_tint[1]);
    s->drawn_takes = s->takes;
    show_picture(s, s->picture.width <= lens->width);
}
