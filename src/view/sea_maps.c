/* The frame's fields as textures, and the light that the waves gather on the ground. */
#include "base/status.h"
#include "view/colormap.h"
#include "view/glsl.h"
#include "view/sea_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* The ground's picture. */
static und_status take_paint(und_sea *s, und_error *err)
{
    const und_image *map = s->look->ground_map;
    size_t count = map ? (size_t)map->width * (size_t)map->height : 0;
    float *texel = map ? und_alloc(4 * count, sizeof *texel, "the ground's picture", err) : NULL;
    if (!map || !texel)
        return map ? err->status : UND_OK;
    for (size_t k = 0; k < count; k++)
        memcpy(texel + 4 * k, map->rgb + 3 * k, 3 * sizeof *texel);
    s->paint = und_gl_texture_2d(GL_RGBA16F, map->width, map->height, true);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA16F, map->width, map->height, 0, GL_RGBA, GL_FLOAT, texel);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR_MIPMAP_LINEAR);
    glGenerateMipmap(GL_TEXTURE_2D);
    free(texel);
    return UND_OK;
}

und_status und_sea_maps_create(und_sea *s, und_error *err)
{
    const und_program_def defs[] = {
        {"caustics", {und_glsl_sea_plan, und_glsl_sea_bend}, {und_glsl_sea_gather}},
        {"a shadow",
         {"#define LIT_CORNERS 0\n", und_glsl_sea_thing},
         {"out vec4 color;\nvoid main() { color = vec4(1.0); }\n"}},
        {"the sea's grid", {und_glsl_sea_plan, und_glsl_sea_grid}, {und_glsl_sea_kind}},
        {"the sea's sides", {und_glsl_sea_plan, und_glsl_sea_side}, {und_glsl_sea_kind}},
        {"the sea's floor", {und_glsl_sea_plan, und_glsl_sea_floor}, {und_glsl_sea_kind}},
        {"the sea's pixels", {und_glsl_square}, {und_glsl_sea_plan, und_glsl_sea_sort}},
        {"smooth edges", {und_glsl_square}, {und_glsl_sea_smooth}},
        {"the sea's picture", {und_glsl_square}, {und_glsl_sea_compose}},
    };
    GLuint *const programs[] = {&s->caustics_program, &s->shadow_program, &s->grid_program,
                                &s->side_program,     &s->floor_program,  &s->sort_program,
                                &s->smooth_program,   &s->compose_program};
    for (size_t k = 0; k < sizeof defs / sizeof *defs; k++)
        if (!(*programs[k] = und_gl_program(&defs[k], err)))
            return err->status;
    int size;
    const float *noise, *ripple;
    und_sea_reader_patterns(s->reader, &size, &noise, &ripple);
    s->noise = repeating(noise, size);
    s->ripple = repeating(ripple, size);
    s->colormaps = und_colormap_texture();
    glGenVertexArrays(1, &s->no_array);
    return take_paint(s, err);
}

static void free_maps(und_sea *s)
{
    GLuint *maps[] = {&s->bed, &s->ground_map, &s->water_map, &s->wet, &s->drift};
    for (size_t k = 0; k < sizeof maps / sizeof *maps; k++) {
        glDeleteTextures(1, maps[k]);
        *maps[k] = 0;
    }
    und_gl_target_clear(&s->light);
}

void und_sea_maps_destroy(und_sea *s)
{
    free_maps(s);
    const GLuint programs[] = {s->caustics_program, s->shadow_program, s->grid_program,   s->side_program,
                               s->floor_program,    s->sort_program,   s->smooth_program, s->compose_program};
    for (size_t k = 0; k < sizeof programs / sizeof *programs; k++)
        glDeleteProgram(programs[k]);
    glDeleteTextures(5, (GLuint[]){s->noise, s->ripple, s->sky, s->paint, s->colormaps});
    glDeleteVertexArrays(3, (GLuint[]){s->no_array, s->grid.array, s->light_grid.array});
    glDeleteBuffers(2, (GLuint[]){s->grid.indices, s->light_grid.indices});
}

/* A grid of at most so many vertices along the longer side. */
static void set_size(und_sea_grid *grid, const und_sea_fields *f, double most, double per_texel)
{
    double part = fmin(most / (f->nx > f->nz ? f->nx : f->nz), per_texel);
    grid->size[0] = (int)fmax(part * f->nx, 2);
    grid->size[1] = (int)fmax(part * f->nz, 2);
}

/* Makes it as large as its size says. */
static void fill_grid(und_sea_grid *grid)
{
    GLsizeiptr bytes = (GLsizeiptr)sizeof(GLuint) * 6 * (grid->size[0] - 1) * (grid->size[1] - 1);
    if (!grid->array) {
        glGenVertexArrays(1, &grid->array);
        glGenBuffers(1, &grid->indices);
    }
    grid->count = 0;
    glBindVertexArray(grid->array);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, grid->indices);
    glBufferData(GL_ELEMENT_ARRAY_BUFFER, bytes, NULL, GL_STATIC_DRAW);
    GLuint *to =
        glMapBufferRange(GL_ELEMENT_ARRAY_BUFFER, 0, bytes, GL_MAP_WRITE_BIT | GL_MAP_INVALIDATE_BUFFER_BIT);
    for (int j = 0; to && j < grid->size[1] - 1; j++)
        for (int i = 0; i < grid->size[0] - 1; i++) {
            GLuint a = (GLuint)(j * grid->size[0] + i), b = a + 1, c = a + (GLuint)grid->size[0], d = c + 1;
            const GLuint corner[6] = {a, c, b, b, c, d};
            for (int k = 0; k < 6; k++)
                to[grid->count++] = corner[k];
        }
    glUnmapBuffer(GL_ELEMENT_ARRAY_BUFFER);
    glBindVertexArray(0);
}

/* Textures as large as the frame and the quality want them; *fresh: new ones, with nothing in them. */
static und_status allocate(und_sea *s, bool *fresh, und_error *err)
{
    const und_sea_fields *f = und_sea_reader_fields(s->reader);
    bool good = s->options.quality == 1;
    *fresh = !(s->light.buffer && s->nx == f->nx && s->nz == f->nz && s->sample_nx == f->sample_nx &&
               s->made_good == good);
    if (!*fresh)
        return UND_OK;
    GLint most = 0;
    glGetIntegerv(GL_MAX_TEXTURE_SIZE, &most);
    if (f->nx > most || f->nz > most)
        return und_error_set(err, UND_FAILED, "a sea of %d x %d samples is too large for OpenGL: at most %d",
                             f->nx, f->nz, most);
    free_maps(s);
    s->nx = f->nx;
    s->nz = f->nz;
    s->sample_nx = f->sample_nx;
    s->made_good = good;
    s->bed = und_gl_texture_2d(GL_R32F, f->nx, f->nz, true);
    s->ground_map = und_gl_texture_2d(GL_RGBA32F, f->nx, f->nz, true);
    s->water_map = und_gl_texture_2d(GL_RGBA32F, f->nx, f->nz, true);
    s->wet = und_gl_texture_2d(GL_R32F, f->sample_nx, f->sample_nz, true);
    s->drift = und_gl_texture_2d(GL_RGBA32F, f->sample_nx, f->sample_nz, true);
    double most_light = !good ? 448 : s->software ? 512 : 1024, longer = f->nx > f->nz ? f->nx : f->nz;
    double per = fmin(most_light / longer, 2);
    und_sea_aside aside = und_sea_turn_to(0, 1, 1);
    und_status status =
        und_gl_target(&s->light, GL_R16F, (int)fmax(per * f->nx, 8), (int)fmax(per * f->nz, 8), false, err);
    und_sea_turn_back(&aside);
    if (status != UND_OK)
        return status;
    set_size(&s->light_grid, f, !good ? 192 : s->software ? 256 : 640, 1);
    fill_grid(&s->light_grid);
    set_size(&s->grid, f, !good ? 176 : s->software ? 288 : 512, 1);
    fill_grid(&s->grid);
    return UND_OK;
}

void und_sea_grid_draw(const und_sea_grid *grid, GLuint program)
{
    glUniform2i(glGetUniformLocation(program, "grid"), grid->size[0], grid->size[1]);
    glBindVertexArray(grid->array);
    glDrawElements(GL_TRIANGLES, grid->count, GL_UNSIGNED_INT, NULL);
    glBindVertexArray(0);
}

void und_sea_set_plan(const und_sea *s, GLuint program)
{
    const und_sea_fields *f = und_sea_reader_fields(s->reader);
    double side[2] = {f->h * (f->nx - 1), f->h * (f->nz - 1)};
    const int n[2][2] = {{f->nx, f->nz}, {f->sample_nx, f->sample_nz}};
    static const char *const name[2] = {"fine", "coarse"};
    und_gl_vec4(program, "plan",
                (float[]){(float)f->x0, (float)f->z0, (float)(1 / side[0]), (float)(1 / side[1])});
    for (int k = 0; k < 2; k++)
        und_gl_vec4(program, name[k],
                    (float[]){(float)(n[k][0] - 1) / (float)n[k][0], 0.5f / (float)n[k][0],
                              (float)(n[k][1] - 1) / (float)n[k][1], 0.5f / (float)n[k][1]});
}

und_sea_aside und_sea_turn_to(GLuint buffer, int width, int height)
{
    und_sea_aside aside = {.scissor = glIsEnabled(GL_SCISSOR_TEST)};
    glGetIntegerv(GL_FRAMEBUFFER_BINDING, &aside.buffer);
    glGetIntegerv(GL_VIEWPORT, aside.viewport);
    glDisable(GL_SCISSOR_TEST);
    glBindFramebuffer(GL_FRAMEBUFFER, buffer);
    glViewport(0, 0, width, height);
    return aside;
}

void und_sea_turn_back(const und_sea_aside *aside)
{
    const GLint *v = aside->viewport;
    glBindFramebuffer(GL_FRAMEBUFFER, (GLuint)aside->buffer);
    glViewport(v[0], v[1], v[2], v[3]);
    if (aside->scissor)
        glEnable(GL_SCISSOR_TEST);
}

static void make_light(und_sea *s)
{
    const und_sea_fields *f = und_sea_reader_fields(s->reader);
    GLuint program = s->caustics_program;
    und_sea_aside aside = und_sea_turn_to(s->light.buffer, s->light.width, s->light.height);
    glClearColor(0, 0, 0, 0);
    glClear(GL_COLOR_BUFFER_BIT);
    glUseProgram(program);
    und_sea_set_plan(s, program);
    und_gl_texture(program, "bed_map", 0, GL_TEXTURE_2D, s->bed);
    und_gl_texture(program, "water_map", 1, GL_TEXTURE_2D, s->water_map);
    float sun[3] = {f->sun[0], fmaxf(f->sun[1], 0.05f), f->sun[2]};
    float length = sqrtf(sun[0] * sun[0] + sun[1] * sun[1] + sun[2] * sun[2]);
    for (int a = 0; a < 3; a++)
        sun[a] /= length;
    und_gl_vec3(program, "sun", sun);
    und_gl_float(program, "ratio", s->look->refraction);
    und_gl_float(program, "thin", fmax(0.15 * f->h, 1e-6));
    und_gl_float(program, "margin", 0.06);
    und_gl_vec2(program, "size", s->light.width, s->light.height);
    glEnable(GL_BLEND);
    glBlendFunc(GL_ONE, GL_ONE);
    und_sea_grid_draw(&s->light_grid, program);
    glDisable(GL_BLEND);
    und_sea_turn_back(&aside);
}

static void upload(GLuint texture, int nx, int nz, GLenum parts, const float *data)
{
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, nx, nz, parts, GL_FLOAT, data);
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
    if (fresh || f->new_ground) {
        upload(s->bed, f->nx, f->nz, GL_RED, f->ground);
        upload(s->ground_map, f->nx, f->nz, GL_RGBA, f->ground_map);
    }
    upload(s->water_map, f->nx, f->nz, GL_RGBA, f->water_map);
    upload(s->wet, f->sample_nx, f->sample_nz, GL_RED, f->wet);
    if (f->drift)
        upload(s->drift, f->sample_nx, f->sample_nz, GL_RGBA, f->drift);
    if (s->look->caustics > 0 && s->options.caustics)
        make_light(s);
    s->made = und_sea_wish_of(s);
    s->made_caustics = s->options.caustics;
    return UND_OK;
}

void und_sea_maps_refresh(und_sea *s)
{
    und_error err;
    und_sea_wish wish = und_sea_wish_of(s);
    bool other = wish.vertical != s->made.vertical || wish.texels != s->made.texels;
    if (!s->taken || (!other && s->made_caustics == s->options.caustics))
        return;
    if (!other || und_sea_reader_remake(s->reader, &wish, &err) == UND_OK)
        und_sea_maps_take(s, &err);
}
