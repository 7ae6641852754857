/* From a frame's world to OpenGL: triangles, textures, and the world as the sun sees it. */
#include "view/volume_parts.h"

#include "base/status.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { SUN_SIZE = 1024, SUN_SIZE_SOFTWARE = 512 };

static void upload(und_space_buffer *b, const und_triangles *t)
{
    if (!b->array) {
        glGenVertexArrays(1, &b->array);
        glGenBuffers(1, &b->corners);
        glGenBuffers(1, &b->indices);
    }
    glBindVertexArray(b->array);
    glBindBuffer(GL_ARRAY_BUFFER, b->corners);
    glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)(t->corners * sizeof *t->corner), t->corner, GL_STREAM_DRAW);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, b->indices);
    glBufferData(GL_ELEMENT_ARRAY_BUFFER, (GLsizeiptr)(3 * t->triangles * sizeof *t->index), t->index,
                 GL_STREAM_DRAW);
    const GLsizei stride = sizeof(und_corner);
    glVertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, stride, (void *)offsetof(und_corner, place));
    glVertexAttribPointer(1, 4, GL_SHORT, GL_TRUE, stride, (void *)offsetof(und_corner, normal));
    glVertexAttribPointer(2, 4, GL_UNSIGNED_BYTE, GL_TRUE, stride, (void *)offsetof(und_corner, color));
    for (GLuint k = 0; k < 3; k++)
        glEnableVertexAttribArray(k);
    glBindVertexArray(0);
    b->count = (GLsizei)(3 * t->triangles);
}

static void drop(und_space_buffer *b)
{
    glDeleteVertexArrays(1, &b->array);
    glDeleteBuffers(1, &b->corners);
    glDeleteBuffers(1, &b->indices);
    *b = (und_space_buffer){0};
}

void und_space_draw_buffer(const und_space_buffer *b)
{
    if (b->count == 0)
        return;
    glBindVertexArray(b->array);
    glDrawElements(GL_TRIANGLES, b->count, GL_UNSIGNED_INT, NULL);
    glBindVertexArray(0);
}

/* With smaller copies of itself, for what is far away or rough. */
static GLuint texture_with_levels(int size, const float *texels, GLint wrap)
{
    GLuint texture = und_gl_texture_2d(GL_RGBA16F, size, size, true);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, size, size, GL_RGBA, GL_FLOAT, texels);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, wrap);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, wrap);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR_MIPMAP_LINEAR);
    glGenerateMipmap(GL_TEXTURE_2D);
    return texture;
}

static void upload_light(und_space *v)
{
    const und_space_light *l = &v->world.light;
    if (v->baked == l->baked)
        return;
    glDeleteTextures(1, &v->sky);
    v->sky = texture_with_levels(l->sky_size, l->sky, GL_CLAMP_TO_EDGE);
    if (!v->pattern)
        v->pattern = texture_with_levels(l->pattern_size, l->pattern, GL_REPEAT);
    if (!v->around)
        v->around = und_gl_texture_2d(GL_R8, 1, 1, true);
    v->baked = l->baked;
}

/* ---- The sun's view ---- */

static und_status sun_target(const und_space *v, und_target *t, GLenum format, bool depth, und_error *err)
{
    int size = v->software ? SUN_SIZE_SOFTWARE : SUN_SIZE;
    if (t->buffer)
        return UND_OK;
    if (und_gl_target(t, format, size, size, depth, err) != UND_OK)
        return err->status;
    if (!depth)
        return UND_OK;
    glBindTexture(GL_TEXTURE_2D, t->depth);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_COMPARE_MODE, GL_COMPARE_REF_TO_TEXTURE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_COMPARE_FUNC, GL_LEQUAL);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
    return UND_OK;
}

typedef struct sun_view {
    double axis[3][3];      /* across, across, from the sun on */
    double low[3], high[3]; /* along them */
} sun_view;

static void widen(sun_view *s, const double p[3])
{
    for (int k = 0; k < 3; k++) {
        double x = s->axis[k][0] * p[0] + s->axis[k][1] * p[1] + s->axis[k][2] * p[2];
        s->low[k] = fmin(s->low[k], x);
        s->high[k] = fmax(s->high[k], x);
    }
}

static void widen_by(sun_view *s, const und_triangles *t)
{
    for (size_t c = 0; c < t->corners; c++)
        widen(s, (double[]){(double)t->corner[c].place[0], (double)t->corner[c].place[1],
                            (double)t->corner[c].place[2]});
}

static sun_view find_sun_view(const und_space_world *w)
{
    const double d[3] = {(double)w->light.sun[0], (double)w->light.sun[1], (double)w->light.sun[2]};
    const double side[3] = {fabs(d[1]) > 0.9, fabs(d[1]) <= 0.9, 0};
    sun_view s = {.low = {INFINITY, INFINITY, INFINITY}, .high = {-INFINITY, -INFINITY, -INFINITY}};
    double u[3] = {side[1] * d[2] - side[2] * d[1], side[2] * d[0] - side[0] * d[2],
                   side[0] * d[1] - side[1] * d[0]};
    double length = sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
    for (int a = 0; a < 3; a++) {
        s.axis[0][a] = u[a] / length;
        s.axis[2][a] = -d[a];
    }
    for (int a = 0; a < 3; a++)
        s.axis[1][a] = d[(a + 1) % 3] * s.axis[0][(a + 2) % 3] - d[(a + 2) % 3] * s.axis[0][(a + 1) % 3];
    for (int c = 0; c < 8; c++)
        widen(&s,
              (double[]){c & 1 ? w->skin_high[0] : w->skin_low[0], c & 2 ? w->skin_high[1] : w->skin_low[1],
                         c & 4 ? w->skin_high[2] : w->skin_low[2]});
    widen_by(&s, &w->solid);
    return s;
}

/* From places to 0 to 1 in the sun's view, from places to OpenGL's -1 to 1, and from those to places. */
static void set_sun_matrix(und_space *v, float clip[16], float inverse[16])
{
    sun_view s = find_sun_view(&v->world);
    double size[3], middle[3];
    for (int row = 0; row < 3; row++) {
        double pad = 0.02 * (s.high[row] - s.low[row]) + 1e-6;
        size[row] = s.high[row] - s.low[row] + 2 * pad;
        middle[row] = 0.5 * (s.high[row] + s.low[row]);
    }
    v->sun_range = (float)size[2];
    for (int column = 0; column < 4; column++)
        for (int row = 0; row < 4; row++) {
            int at = 4 * column + row;
            double one = row == 3 && column == 3, place = one;
            if (row < 3)
                place = (column < 3 ? s.axis[row][column] : -middle[row]) / size[row];
            clip[at] = (float)(row < 3 ? 2 * place : one);
            v->sun_matrix[at] = (float)(row < 3 && column == 3 ? place + 0.5 : place);
            inverse[at] = (float)one;
            if (row < 3) { /* axes are at right angles and of length 1 */
                double sum = 0;
                for (int k = 0; k < 3 && column == 3; k++)
                    sum += s.axis[k][row] * middle[k];
                inverse[at] = (float)(column < 3 ? 0.5 * size[column] * s.axis[column][row] : sum);
            }
        }
}

static void open_sun_target(const und_target *t)
{
    glBindFramebuffer(GL_FRAMEBUFFER, t->buffer);
    glViewport(0, 0, t->width, t->height);
    glDepthMask(GL_TRUE);
    glClearColor(0, 1, 0, 1); /* no liquid: all the light comes, from the farthest on */
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
}

void und_space_set_phi(const und_space *v, GLuint p, int unit)
{
    const und_traced_level *l = &v->world.level;
    float origin[3], scale[3], low[3], high[3];
    for (int a = 0; a < 3; a++) { /* texels' middles are the nodes */
        origin[a] = (float)(l->origin[a] - 0.5 * (double)l->cell[a]);
        scale[a] = l->per_m[a] / (float)l->n[a];
        low[a] = (float)(l->origin[a] + (double)l->low[a] * (double)l->cell[a]);
        high[a] = (float)(l->origin[a] + (double)l->high[a] * (double)l->cell[a]);
    }
    und_gl_texture(p, "phi", unit, GL_TEXTURE_3D, v->phi);
    und_gl_vec3(p, "phi_origin", origin);
    und_gl_vec3(p, "phi_scale", scale);
    und_gl_vec3(p, "box_low", low);
    und_gl_vec3(p, "box_high", high);
    und_gl_float(p, "cell", (double)l->small);
}

/* Of triangles, two sums in one pass: metres of liquid along the rays, and the least depth where they enter
 * it. */
static void draw_sun_skin(const und_space *v, const float clip[16])
{
    GLuint p = v->program[UND_SPACE_SUN];
    glUseProgram(p);
    und_gl_mat4(p, "both", clip);
    und_gl_float(p, "range", (double)v->sun_range);
    glEnable(GL_BLEND);
    glBlendEquationSeparate(GL_FUNC_ADD, GL_MIN);
    glBlendFunc(GL_ONE, GL_ONE);
    und_space_draw_buffer(&v->skin);
    glBlendEquation(GL_FUNC_ADD);
    glDisable(GL_BLEND);
}

static void draw_sun_distance(const und_space *v, const float inverse[16])
{
    GLuint p = v->program[UND_SPACE_SUN_MARCH];
    glUseProgram(p);
    und_space_set_phi(v, p, 0);
    und_gl_mat4(p, "inverse", inverse);
    und_gl_float(p, "range", (double)v->sun_range);
    und_gl_float(p, "ratio", (double)v->world.matter.index);
    und_gl_draw_square();
}

static und_status draw_sun(und_space *v, und_error *err)
{
    float clip[16], inverse[16];
    GLuint program = v->program[UND_SPACE_SUN];
    GLint before = 0, viewport[4];
    const GLboolean cut = glIsEnabled(GL_SCISSOR_TEST);
    glGetIntegerv(GL_FRAMEBUFFER_BINDING, &before);
    glGetIntegerv(GL_VIEWPORT, viewport);
    glDisable(GL_SCISSOR_TEST);
    und_status status = sun_target(v, &v->sun_solid, GL_R8, true, err);
    if (status == UND_OK)
        status = sun_target(v, &v->sun_skin, GL_RGBA16F, false, err);
    if (status == UND_OK) {
        set_sun_matrix(v, clip, inverse);
        glUseProgram(program);
        und_gl_mat4(program, "both", clip);
        glEnable(GL_DEPTH_TEST);
        open_sun_target(&v->sun_solid);
        und_space_draw_buffer(&v->solid);
        glDisable(GL_DEPTH_TEST);
        open_sun_target(&v->sun_skin);
        if (und_space_has_phi(v))
            draw_sun_distance(v, inverse);
        else
            draw_sun_skin(v, clip);
    }
    if (cut)
        glEnable(GL_SCISSOR_TEST);
    glBindFramebuffer(GL_FRAMEBUFFER, (GLuint)before);
    glViewport(viewport[0], viewport[1], viewport[2], viewport[3]);
    return status;
}

/* The distance, and where solids end the liquid, in one texture. */
static und_status upload_distance(und_space *v, und_error *err)
{
    const und_traced_level *l = &v->world.level;
    size_t count = (size_t)l->n[0] * (size_t)l->n[1] * (size_t)l->n[2];
    if (!und_space_has_phi(v))
        return UND_OK;
    float *both = NULL;
    if (l->room) {
        if (!(both = und_alloc(count, sizeof *both, "the distance", err)))
            return err->status;
        for (size_t i = 0; i < count; i++)
            both[i] = fmaxf(l->phi[i], -l->room[i]);
    }
    if (memcmp(v->phi_size, l->n, sizeof l->n) != 0) {
        glDeleteTextures(1, &v->phi);
        v->phi = und_gl_texture_3d(GL_R16F, l->n, true);
        memcpy(v->phi_size, l->n, sizeof l->n);
    }
    glBindTexture(GL_TEXTURE_3D, v->phi);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
    glTexSubImage3D(GL_TEXTURE_3D, 0, 0, 0, 0, l->n[0], l->n[1], l->n[2], GL_RED, GL_FLOAT,
                    both ? both : l->phi);
    free(both);
    return UND_OK;
}

und_status und_space_upload(und_space *v, und_error *err)
{
    upload_light(v);
    upload(&v->skin, &v->world.skin);
    if (v->solids_made != v->world.solids_made) {
        upload(&v->solid, &v->world.solid);
        upload(&v->glass, &v->world.glass);
        v->solids_made = v->world.solids_made;
    }
    und_status status = und_space_upload_grains(v, err);
    if (status == UND_OK)
        status = upload_distance(v, err);
    v->samples = 0;
    return status == UND_OK ? draw_sun(v, err) : status;
}

void und_space_forget(und_space *v)
{
    und_space_buffer *buffers[] = {&v->skin, &v->solid, &v->glass, &v->lines};
    und_target *targets[] = {&v->solids, &v->surface,   &v->way,     &v->picture,
                             &v->mean,   &v->sun_solid, &v->sun_skin};
    GLuint textures[] = {v->sky, v->pattern, v->around, v->phi};
    for (size_t k = 0; k < sizeof buffers / sizeof *buffers; k++)
        drop(buffers[k]);
    for (int k = 0; k < UND_SETS; k++)
        drop(&v->grains[k]);
    for (size_t k = 0; k < sizeof targets / sizeof *targets; k++)
        und_gl_target_clear(targets[k]);
    glDeleteTextures(sizeof textures / sizeof *textures, textures);
    for (int k = 0; k < UND_SPACE_PROGRAMS; k++)
        glDeleteProgram(v->program[k]);
}
