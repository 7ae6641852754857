/* Liquid in two dimensions, layer by layer. */
#include "view/colormap.h"
#include "view/flat.h"
#include "view/glsl.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_ARROWS = 1 << 14 };

und_status und_flat_programs(und_flat *f, und_error *err)
{
    struct {
        GLuint *to;
        und_program_def def;
    } list[] = {
        {&f->program.cells,
         {.name = "cells",
          .vertex = {und_glsl_square},
          .fragment = {und_glsl_colormap, und_glsl_flat_cells}}},
        {&f->program.curve,
         {.name = "a section", .vertex = {und_glsl_square}, .fragment = {und_glsl_flat_curve}}},
        {&f->program.dots,
         {.name = "dots", .vertex = {und_glsl_flat_dots_vertex}, .fragment = {und_glsl_flat_dots_fragment}}},
        {&f->program.arrows,
         {.name = "arrows",
          .vertex = {und_glsl_flat_arrows_vertex},
          .fragment = {und_glsl_flat_arrows_fragment}}},
        {&f->program.streaks,
         {.name = "streaks",
          .vertex = {und_glsl_flat_streaks_vertex},
          .fragment = {und_glsl_flat_streaks_fragment}}},
        {&f->program.triangles,
         {.name = "bodies",
          .vertex = {und_glsl_flat_triangles_vertex},
          .fragment = {und_glsl_flat_triangles_fragment}}},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (!(*list[i].to = und_gl_program(&list[i].def, err)))
            return UND_FAILED;
    return UND_OK;
}

void und_flat_upload(und_flat_buffer *b, const void *data, size_t bytes, int count)
{
    if (!b->buffer)
        glGenBuffers(1, &b->buffer);
    glBindBuffer(GL_ARRAY_BUFFER, b->buffer);
    if (bytes > b->room) {
        b->room = bytes + bytes / 2;
        glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)b->room, NULL, GL_STREAM_DRAW);
    }
    if (bytes > 0)
        glBufferSubData(GL_ARRAY_BUFFER, 0, (GLsizeiptr)bytes, data);
    b->count = count;
}

/* Binds the buffer's vertices: an attribute of so many floats, and another. */
static void bind(und_flat_buffer *b, int first, int second, bool instances)
{
    if (!b->array)
        glGenVertexArrays(1, &b->array);
    glBindVertexArray(b->array);
    glBindBuffer(GL_ARRAY_BUFFER, b->buffer);
    GLsizei stride = (GLsizei)((size_t)(first + second) * sizeof(float));
    glEnableVertexAttribArray(0);
    glVertexAttribPointer(0, first, GL_FLOAT, GL_FALSE, stride, NULL);
    glVertexAttribDivisor(0, instances);
    if (second > 0) {
        glEnableVertexAttribArray(1);
        glVertexAttribPointer(1, second, GL_FLOAT, GL_FALSE, stride,
                              (const void *)((size_t)first * sizeof(float)));
        glVertexAttribDivisor(1, instances);
    }
}

und_flat_view und_flat_view_of(const und_flat *f, const und_lens *lens)
{
    const float *m = lens->inverse; /* of a lens that looks along -z: x and y by themselves */
    und_flat_view v = {.width = lens->width, .height = lens->height};
    v.middle[0] = (double)m[12] - f->x0;
    v.middle[1] = (double)m[13] / f->stretch - f->y0;
    v.half[0] = fabs((double)m[0]);
    v.half[1] = fabs((double)m[5]) / f->stretch;
    v.pixel[0] = 2 * v.half[0] / (lens->width > 0 ? lens->width : 1);
    v.pixel[1] = 2 * v.half[1] / (lens->height > 0 ? lens->height : 1);
    return v;
}

static void use(const und_flat_view *v, GLuint program, double across, double up)
{
    glUseProgram(program);
    und_gl_vec2(program, "middle", v->middle[0] / across, v->middle[1] / up);
    und_gl_vec2(program, "reach", v->half[0] / across, v->half[1] / up);
    und_gl_vec2(program, "pixel", v->pixel[0] / across, v->pixel[1] / up);
}

/* Lines between cells come in when there is room for them. */
static double grid_strength(const und_flat *f, const und_flat_view *v)
{
    double cell = fmin(f->dx / v->pixel[0], f->dy / v->pixel[1]);
    return f->show_grid ? 0.3 : 0.16 * fmin(fmax((cell - 18) / 18, 0), 1);
}

static void draw_cells(const und_flat *f, const und_flat_view *v, double seconds)
{
    GLuint p = f->program.cells;
    double low, high;
    int map;
    use(v, p, f->dx, f->dy);
    und_flat_range(f, f->colors, &low, &high, &map);
    und_gl_texture(p, "cells", 0, GL_TEXTURE_2D, f->cells_texture);
    und_gl_texture(p, "fields", 1, GL_TEXTURE_2D, f->fields_texture);
    und_gl_texture(p, "fill", 2, GL_TEXTURE_2D, f->has_fill ? f->fill_texture : f->cells_texture);
    und_gl_texture(p, "colormaps", 3, GL_TEXTURE_2D, f->maps);
    const double *taken = f->taken[f->colors]; /* another painter may have set the range since */
    und_gl_vec2(p, "range", (taken[1] - taken[0]) / (high - low), (taken[0] - low) / (high - low));
    und_gl_int(p, "colormap", map);
    und_gl_int(p, "field", (int)f->colors);
    und_gl_int(p, "has_fill", f->has_fill);
    und_gl_int(p, "show_cells", f->show_cells);
    und_gl_vec2(p, "count", f->nx, f->ny);
    und_gl_float(p, "grid", grid_strength(f, v));
    und_gl_float(p, "line", f->show_surface ? 1 : 0);
    und_gl_float(p, "seconds", fmod(seconds, 1000));
    und_gl_draw_square();
}

static void draw_curve(const und_flat *f, const und_flat_view *view)
{
    GLuint p = f->program.curve;
    und_flat_view v = *view;
    double level = 0, wet = 0;
    float top[3] = {0.60f, 0.78f, 0.93f};
    for (int i = 0; i < f->nx; i++)
        if (f->curve[4 * i + 2] > 0) {
            level += (double)f->curve[4 * i];
            wet++;
        }
    v.middle[0] -= 0.5 * f->dx; /* samples lie in the middles of cells */
    use(&v, p, f->dx, 1);
    und_gl_texture(p, "curve", 0, GL_TEXTURE_2D, f->curve_texture);
    und_gl_int(p, "count", f->nx);
    und_gl_int(p, "row", f->curve_size[0]);
    und_gl_float(p, "spacing", f->dx / f->stretch);
    und_gl_float(p, "span", f->high - f->low);
    und_gl_float(p, "level", wet > 0 ? level / wet : f->high);
    und_gl_float(p, "low", f->low);
    und_gl_float(p, "darkening", f->look ? 0.6 * f->look->wet_darkening : 0.3);
    und_gl_vec3(p, "sky_top", top);
    und_gl_draw_square();
}

static void draw_dots(const und_flat *f, und_flat_buffer *b, const und_flat_view *v, double least,
                      double most, const float ink[4])
{
    GLuint p = f->program.dots;
    if (b->count == 0)
        return;
    use(v, p, 1, 1);
    und_gl_float(p, "per_metre", 1 / v->pixel[0]);
    und_gl_float(p, "least", least);
    und_gl_float(p, "most", most);
    und_gl_vec4(p, "ink", ink);
    bind(b, 3, 0, false);
    glDrawArrays(GL_POINTS, 0, b->count);
    glBindVertexArray(0);
}

/* Markers a quarter to a half as wide as they are apart; over colours they are thinner. */
static void draw_markers(und_flat *f, const und_flat_view *v)
{
    static const float blue[4] = {0.06f, 0.29f, 0.58f, 0.62f}, white[4] = {1, 1, 1, 0.5f};
    double wide = fmin(fmax(0.42 * f->spacing / sqrt(v->pixel[0] * v->pixel[1]), 1.3), 7);
    if (f->show_markers && f->has_markers)
        draw_dots(f, &f->markers, v, wide, wide, f->colors ? white : blue);
}

static void draw_arrows(und_flat *f, const und_flat_view *v)
{
    float(*arrow)[4] = f->show_arrows ? malloc(MOST_ARROWS * sizeof *arrow) : NULL;
    int count = arrow ? und_flat_arrows(f, v, arrow, MOST_ARROWS) : 0;
    if (count > 0) {
        und_flat_upload(&f->arrows, arrow, (size_t)count * sizeof *arrow, count);
        glUseProgram(f->program.arrows);
        und_gl_vec2(f->program.arrows, "size", v->width, v->height);
        bind(&f->arrows, 4, 0, true);
        glDrawArraysInstanced(GL_TRIANGLE_STRIP, 0, 4, count);
        glBindVertexArray(0);
    }
    free(arrow);
}

static void draw_streaks(und_flat *f, const und_flat_view *v)
{
    static const float white[3] = {1, 1, 1}, dark[3] = {0.05f, 0.08f, 0.15f};
    const float(*list)[5];
    int count = f->show_streaks && f->kind == UND_FLAT_CELLS ? und_flat_streaks_list(f, v, &list) : 0;
    GLuint p = f->program.streaks;
    if (count == 0)
        return;
    und_flat_upload(&f->trails, list, (size_t)count * sizeof *list, count);
    glUseProgram(p);
    und_gl_vec2(p, "size", v->width, v->height);
    und_gl_vec3(p, "ink", f->colors == UND_FLAT_VORTICITY ? dark : white);
    bind(&f->trails, 4, 1, true);
    glDrawArraysInstanced(GL_TRIANGLE_STRIP, 0, 4, count);
    glBindVertexArray(0);
}

/* Dark copies pushed aside make an outline under the bodies themselves. */
static void draw_bodies(und_flat *f, const und_flat_view *v)
{
    GLuint p = f->program.triangles;
    if (f->bodies.count == 0)
        return;
    use(v, p, 1, 1);
    bind(&f->bodies, 2, 3, false);
    und_gl_vec4(p, "ink", (const float[4]){0.13f, 0.11f, 0.12f, 1});
    for (int k = 0; k < 9; k++) {
        double angle = k * 0.785398163397448, push = k < 8 ? 1.3 : 0;
        if (k == 8)
            und_gl_vec4(p, "ink", (const float[4]){0, 0, 0, 0});
        und_gl_vec2(p, "push", 2 * push * cos(angle) / v->width, 2 * push * sin(angle) / v->height);
        glDrawArrays(GL_TRIANGLES, 0, f->bodies.count);
    }
    glBindVertexArray(0);
}

void und_flat_draw(und_painter *self, const und_lens *lens, double seconds)
{
    static const float spray[4] = {0.93f, 0.97f, 1, 0.9f}, drops[4] = {0.20f, 0.50f, 0.75f, 0.85f};
    und_flat *f = (und_flat *)self;
    und_flat_view v = und_flat_view_of(f, lens);
    if (f->kind == UND_FLAT_NOTHING || !(v.half[0] > 0) || !(v.half[1] > 0) ||
        !isfinite(v.half[0] + v.half[1]))
        return;
    glViewport(lens->x, lens->y, lens->width, lens->height);
    glScissor(lens->x, lens->y, lens->width, lens->height);
    glEnable(GL_SCISSOR_TEST);
    if (f->kind == UND_FLAT_CELLS)
        draw_cells(f, &v, seconds);
    else
        draw_curve(f, &v);
    if (epoxy_is_desktop_gl())
        glEnable(GL_PROGRAM_POINT_SIZE);
    glEnable(GL_BLEND);
    glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
    draw_markers(f, &v);
    draw_dots(f, &f->drops, &v, 2, 64, f->kind == UND_FLAT_CURVE ? spray : drops);
    draw_streaks(f, &v);
    draw_arrows(f, &v);
    draw_bodies(f, &v);
    glDisable(GL_BLEND);
    glDisable(GL_SCISSOR_TEST);
}
