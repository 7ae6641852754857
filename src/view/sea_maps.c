/* The frame's fields as textures, and the maps that are made of them on the way: heights between the samples,
 * slopes, light. */
#include "base/status.h"
#include "view/colormap.h"
#include "view/sea_parts.h"
#include "view/sea_shaders.h"

#include <math.h>

enum { HEIGHTS_PLAIN, HEIGHTS_SCALED, SLOPES, CAUSTICS };

/* As many texels as let waves of few samples be round. */
static int scale_for(int samples, bool good)
{
    int enough = good ? 640 : 384, scale = enough / samples;
    return scale < 1 ? 1 : scale > 6 ? 6 : scale;
}

static GLuint repeating(const float *texel, int size)
{
    GLuint texture = und_gl_texture_2d(GL_RGBA16F, size, size, true);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA16F, size, size, 0, GL_RGBA, GL_FLOAT, texel);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_REPEAT);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_REPEAT);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR_MIPMAP_NEAREST);
    glGenerateMipmap(GL_TEXTURE_2D);
    return texture;
}

und_status und_sea_maps_create(und_sea *s, und_error *err)
{
    static const und_program_def passes[4] = {
        {"the sea's heights", {und_gl_square}, {"#define SCALED 0\n", und_sea_heights_glsl}},
        {"the sea's heights", {und_gl_square}, {"#define SCALED 1\n", und_sea_heights_glsl}},
        {"the sea's slopes", {und_gl_square}, {und_sea_plan_glsl, und_sea_slopes_glsl}},
        {"caustics", {und_sea_plan_glsl, und_sea_bend_glsl}, {und_sea_gather_glsl}},
    };
    for (int k = 0; k < 4; k++)
        if (!(s->map_program[k] = und_gl_program(&passes[k], err)))
            return err->status;
    int size;
    const float *noise, *ripple;
    und_sea_reader_patterns(s->reader, &size, &noise, &ripple);
    s->noise = repeating(noise, size);
    s->ripple = repeating(ripple, size);
    s->colormaps = und_colormap_texture();
    glGenVertexArrays(1, &s->no_array);
    const und_image *map = s->look->ground_map;
    if (map) {
        s->paint = und_gl_texture_2d(GL_RGBA16F, 1, 1, true);
        glTexImage2D(GL_TEXTURE_2D, 0, GL_RGB16F, map->width, map->height, 0, GL_RGB, GL_FLOAT, map->rgb);
    }
    return UND_OK;
}

static void free_maps(und_sea *s)
{
    GLuint *samples[] = {&s->ground_samples, &s->surface_samples, &s->wet_samples,
                         &s->open_samples,   &s->shadow_samples,  &s->drift_samples};
    for (size_t k = 0; k < sizeof samples / sizeof *samples; k++) {
        glDeleteTextures(1, samples[k]);
        *samples[k] = 0;
    }
    und_gl_target_clear(&s->heights);
    und_gl_target_clear(&s->ground_map);
    und_gl_target_clear(&s->water_map);
    und_gl_target_clear(&s->light);
}

void und_sea_maps_destroy(und_sea *s)
{
    free_maps(s);
    for (int k = 0; k < 4; k++)
        glDeleteProgram(s->map_program[k]);
    glDeleteTextures(5, (GLuint[]){s->noise, s->ripple, s->sky, s->paint, s->colormaps});
    glDeleteVertexArrays(3, (GLuint[]){s->no_array, s->grid_array, s->light_array});
    glDeleteBuffers(2, (GLuint[]){s->grid_indices, s->light_indices});
}

/* Textures as large as the frame and the quality want them; *fresh: new ones, with nothing in them. */
static und_status allocate(und_sea *s, bool *fresh, und_error *err)
{
    const und_sea_fields *f = und_sea_reader_fields(s->reader);
    bool good = s->options.quality == 1;
    int longer = f->nx > f->nz ? f->nx : f->nz, scale = scale_for(longer, good);
    *fresh = false;
    if (s->heights.buffer && s->nx == f->nx && s->nz == f->nz && s->scale == scale && s->made_good == good)
        return UND_OK;
    *fresh = true;
    s->made_good = good;
    GLint most = 0;
    glGetIntegerv(GL_MAX_TEXTURE_SIZE, &most);
    if (f->nx > most || f->nz > most)
        return und_error_set(err, UND_FAILED, "a sea of %d x %d samples is too large for OpenGL: at most %d",
                             f->nx, f->nz, most);
    free_maps(s);
    s->nx = f->nx;
    s->nz = f->nz;
    s->scale = scale;
    s->fine_nx = (f->nx - 1) * scale + 1;
    s->fine_nz = (f->nz - 1) * scale + 1;
    s->ground_samples = und_gl_texture_2d(GL_R32F, f->nx, f->nz, false);
    s->surface_samples = und_gl_texture_2d(GL_R32F, f->nx, f->nz, false);
    s->shadow_samples = und_gl_texture_2d(GL_R32F, f->nx, f->nz, true);
    s->open_samples = und_gl_texture_2d(GL_R16F, f->nx, f->nz, true);
    s->wet_samples = und_gl_texture_2d(GL_R16F, f->nx, f->nz, true);
    s->drift_samples = und_gl_texture_2d(GL_RGBA16F, f->nx, f->nz, true);
    double most_light = good ? 1024 : 384, per = fmin(most_light / longer, 4);
    int light[2] = {(int)fmax(per * f->nx, 8), (int)fmax(per * f->nz, 8)};
    und_status status = UND_OK;
    if ((status = und_gl_target(&s->heights, GL_RG32F, s->fine_nx, s->fine_nz, false, err)) ||
        (status = und_gl_target(&s->ground_map, GL_RGBA16F, s->fine_nx, s->fine_nz, false, err)) ||
        (status = und_gl_target(&s->water_map, GL_RGBA16F, s->fine_nx, s->fine_nz, false, err)) ||
        (status = und_gl_target(&s->light, GL_R16F, light[0], light[1], false, err)))
        return status;
    int most_nodes = good ? (s->software ? 320 : 640) : 224;
    double part = fmin((double)most_nodes / longer, 2);
    s->light_size[0] = (int)fmax(part * f->nx, 4);
    s->light_size[1] = (int)fmax(part * f->nz, 4);
    und_sea_grid(&s->light_array, &s->light_indices, s->light_size);
    double most_vertices = !good ? 192 : s->software ? 320 : 512;
    part = fmin(most_vertices / (s->fine_nx > s->fine_nz ? s->fine_nx : s->fine_nz), 1);
    s->grid_size[0] = (int)fmax(part * s->fine_nx, 2);
    s->grid_size[1] = (int)fmax(part * s->fine_nz, 2);
    und_sea_grid(&s->grid_array, &s->grid_indices, s->grid_size);
    return UND_OK;
}

void und_sea_grid(GLuint *array, GLuint *indices, const int size[2])
{
    size_t cells = (size_t)(size[0] - 1) * (size_t)(size[1] - 1);
    if (!*array) {
        glGenVertexArrays(1, array);
        glGenBuffers(1, indices);
    }
    glBindVertexArray(*array);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, *indices);
    glBufferData(GL_ELEMENT_ARRAY_BUFFER, (GLsizeiptr)(6 * cells * sizeof(GLuint)), NULL, GL_STATIC_DRAW);
    GLuint *to = glMapBufferRange(GL_ELEMENT_ARRAY_BUFFER, 0, (GLsizeiptr)(6 * cells * sizeof(GLuint)),
                                  GL_MAP_WRITE_BIT | GL_MAP_INVALIDATE_BUFFER_BIT);
    for (int j = 0; to && j < size[1] - 1; j++)
        for (int i = 0; i < size[0] - 1; i++) {
            GLuint a = (GLuint)(j * size[0] + i), b = a + 1, c = a + (GLuint)size[0], d = c + 1;
            const GLuint corner[6] = {a, c, b, b, c, d};
            for (int k = 0; k < 6; k++)
                *to++ = corner[k];
        }
    glUnmapBuffer(GL_ELEMENT_ARRAY_BUFFER);
    glBindVertexArray(0);
}

void und_sea_draw_grid(GLuint array, const int size[2])
{
    glBindVertexArray(array);
    glDrawElements(GL_TRIANGLES, 6 * (size[0] - 1) * (size[1] - 1), GL_UNSIGNED_INT, NULL);
    glBindVertexArray(0);
}

void und_sea_set_plan(const und_sea *s, GLuint program)
{
    const und_sea_fields *f = und_sea_reader_fields(s->reader);
    double side[2] = {f->h * (f->nx - 1), f->h * (f->nz - 1)};
    const int n[2][2] = {{s->fine_nx, s->fine_nz}, {f->nx, f->nz}};
    static const char *const name[2] = {"fine", "coarse"};
    und_gl_vec4(program, "plan",
                (float[]){(float)f->x0, (float)f->z0, (float)(1 / side[0]), (float)(1 / side[1])});
    for (int k = 0; k < 2; k++)
        und_gl_vec4(program, name[k],
                    (float[]){(float)(n[k][0] - 1) / (float)n[k][0], 0.5f / (float)n[k][0],
                              (float)(n[k][1] - 1) / (float)n[k][1], 0.5f / (float)n[k][1]});
}

static void pass_into(const und_target *target, GLuint program)
{
    glBindFramebuffer(GL_FRAMEBUFFER, target->buffer);
    glViewport(0, 0, target->width, target->height);
    glUseProgram(program);
}

static void make_heights(und_sea *s, const und_sea_fields *f)
{
    GLuint program = s->map_program[s->scale > 1 ? HEIGHTS_SCALED : HEIGHTS_PLAIN];
    pass_into(&s->heights, program);
    und_gl_texture(program, "ground_samples", 0, GL_TEXTURE_2D, s->ground_samples);
    und_gl_texture(program, "surface_samples", 1, GL_TEXTURE_2D, s->surface_samples);
    und_gl_int(program, "scale", s->scale);
    und_gl_float(program, "vertical", und_sea_vertical(s));
    und_gl_float(program, "wall", 2 * f->h);
    und_gl_draw_square();
}

static void make_slopes(und_sea *s, const und_sea_fields *f, const und_target *to, bool surface)
{
    GLuint program = s->map_program[SLOPES];
    pass_into(to, program);
    und_sea_set_plan(s, program);
    und_gl_texture(program, "heights_map", 0, GL_TEXTURE_2D, s->heights.color);
    und_gl_texture(program, "shadow_samples", 1, GL_TEXTURE_2D, s->shadow_samples);
    und_gl_texture(program, "open_samples", 2, GL_TEXTURE_2D, s->open_samples);
    und_gl_float(program, "h", f->h / s->scale);
    und_gl_float(program, "cell", f->h);
    und_gl_float(program, "penumbra", (double)f->penumbra);
    und_gl_float(program, "vertical", und_sea_vertical(s));
    und_gl_float(program, "surface", surface);
    und_gl_draw_square();
}

static void make_light(und_sea *s, const und_sea_fields *f)
{
    GLuint program = s->map_program[CAUSTICS];
    pass_into(&s->light, program);
    glClearColor(0, 0, 0, 0);
    glClear(GL_COLOR_BUFFER_BIT);
    und_sea_set_plan(s, program);
    und_gl_texture(program, "heights_map", 0, GL_TEXTURE_2D, s->heights.color);
    und_gl_texture(program, "water_map", 1, GL_TEXTURE_2D, s->water_map.color);
    float sun[3] = {f->sun[0], fmaxf(f->sun[1], 0.05f), f->sun[2]};
    float length = sqrtf(sun[0] * sun[0] + sun[1] * sun[1] + sun[2] * sun[2]);
    for (int a = 0; a < 3; a++)
        sun[a] /= length;
    und_gl_vec3(program, "sun", sun);
    und_gl_float(program, "ratio", s->look->refraction);
    und_gl_float(program, "thin", fmax(0.15 * f->h / s->scale, 1e-6));
    und_gl_float(program, "margin", 0.06);
    und_gl_vec2(program, "size", s->light.width, s->light.height);
    glUniform2i(glGetUniformLocation(program, "grid"), s->light_size[0], s->light_size[1]);
    glEnable(GL_BLEND);
    glBlendFunc(GL_ONE, GL_ONE);
    und_sea_draw_grid(s->light_array, s->light_size);
    glDisable(GL_BLEND);
}

static void make_maps(und_sea *s, bool new_ground)
{
    const und_sea_fields *f = und_sea_reader_fields(s->reader);
    GLint buffer = 0, viewport[4];
    GLboolean scissor = glIsEnabled(GL_SCISSOR_TEST);
    glGetIntegerv(GL_FRAMEBUFFER_BINDING, &buffer);
    glGetIntegerv(GL_VIEWPORT, viewport);
    glDisable(GL_SCISSOR_TEST);
    make_heights(s, f);
    if (new_ground)
        make_slopes(s, f, &s->ground_map, false);
    make_slopes(s, f, &s->water_map, true);
    if (s->look->caustics > 0)
        make_light(s, f);
    s->mapped_vertical = und_sea_vertical(s);
    glBindFramebuffer(GL_FRAMEBUFFER, (GLuint)buffer);
    glViewport(viewport[0], viewport[1], viewport[2], viewport[3]);
    if (scissor)
        glEnable(GL_SCISSOR_TEST);
}

static void upload(GLuint texture, int nx, int nz, GLenum parts, const float *data)
{
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, nx, nz, parts, GL_FLOAT, data);
}

static void upload_samples(und_sea *s, bool new_ground)
{
    const und_sea_fields *f = und_sea_reader_fields(s->reader);
    upload(s->surface_samples, f->nx, f->nz, GL_RED, f->surface);
    upload(s->wet_samples, f->nx, f->nz, GL_RED, f->wet);
    if (f->drift)
        upload(s->drift_samples, f->nx, f->nz, GL_RGBA, f->drift);
    if (!new_ground)
        return;
    upload(s->ground_samples, f->nx, f->nz, GL_RED, f->ground);
    upload(s->open_samples, f->nx, f->nz, GL_RED, f->open);
    upload(s->shadow_samples, f->nx, f->nz, GL_RED, f->shadow);
}

und_status und_sea_maps_take(und_sea *s, und_error *err)
{
    const und_sea_fields *f = und_sea_reader_fields(s->reader);
    bool fresh;
    und_status status = allocate(s, &fresh, err);
    if (status != UND_OK)
        return status;
    if (f->new_sky || !s->sky) {
        glDeleteTextures(1, &s->sky);
        s->sky = und_gl_texture_2d(GL_RGBA16F, f->sky_size, f->sky_size, true);
        upload(s->sky, f->sky_size, f->sky_size, GL_RGBA, f->sky);
    }
    bool new_ground = f->new_ground || f->new_sky || fresh || s->mapped_vertical != und_sea_vertical(s);
    upload_samples(s, new_ground);
    make_maps(s, new_ground);
    return UND_OK;
}

void und_sea_maps_refresh(und_sea *s)
{
    und_error err;
    bool fresh, stretched = s->mapped_vertical != und_sea_vertical(s);
    if (!s->taken || allocate(s, &fresh, &err) != UND_OK || (!fresh && !stretched))
        return;
    if (stretched)
        und_sea_reader_shade(s->reader, und_sea_vertical(s));
    upload_samples(s, true);
    make_maps(s, true);
}
