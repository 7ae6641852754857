/* Grains and lines to the screen. */
#include "view/volume_parts.h"

#include "base/status.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Grains ---- */

static void upload_set(und_space *v, und_space_set_name which, const und_grain *grains, size_t count)
{
    und_space_buffer *b = &v->grains[which];
    if (!b->array) {
        glGenVertexArrays(1, &b->array);
        glGenBuffers(1, &b->corners);
    }
    glBindVertexArray(b->array);
    glBindBuffer(GL_ARRAY_BUFFER, b->corners);
    glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)(count * sizeof *grains), grains, GL_STREAM_DRAW);
    glVertexAttribPointer(0, 4, GL_FLOAT, GL_FALSE, sizeof *grains, (void *)offsetof(und_grain, place));
    glVertexAttribPointer(1, 4, GL_UNSIGNED_BYTE, GL_TRUE, sizeof *grains,
                          (void *)offsetof(und_grain, color));
    glEnableVertexAttribArray(0);
    glEnableVertexAttribArray(1);
    glBindVertexArray(0);
    b->count = (GLsizei)count;
}

und_status und_space_upload_grains(und_space *v, und_error *err)
{
    size_t most = 0;
    for (int k = 0; k < UND_SETS; k++)
        most = v->marks.set[k].count > most ? v->marks.set[k].count : most;
    und_grain *grains = und_alloc(most + 1, sizeof *grains, "particles", err);
    if (!grains)
        return err->status;
    und_space_marks_range(&v->marks, v->show.set, v->show.tint);
    for (int k = 0; k < UND_SETS; k++) {
        und_space_marks_grains(&v->marks, (und_space_set_name)k, v->show.tint, grains);
        upload_set(v, (und_space_set_name)k, grains, v->marks.set[k].count);
    }
    free(grains);
    return UND_OK;
}

static bool tinted(const und_space *v, int set)
{
    return v->show.tint != UND_TINT_PLAIN && v->marks.set[set].has[v->show.tint];
}

/* Drops and foam are not in the liquid: through it there is nothing of them to see. */
static bool is_drawn(const und_space *v, int set, bool through)
{
    return v->show.set[set] && v->grains[set].count > 0 &&
           !(through && (set == UND_SET_SPRAY || set == UND_SET_FOAM));
}

void und_space_draw_grains(const und_space *v, const und_lens *lens, bool through)
{
    GLuint p = v->program[UND_SPACE_GRAIN];
    bool any = false;
    for (int k = 0; k < UND_SETS; k++)
        any = any || is_drawn(v, k, through);
    if (!any)
        return;
    glUseProgram(p);
    und_gl_mat4(p, "both", lens->both);
    und_gl_float(p, "high", 0.5 * (double)lens->projection[5] * lens->height);
    und_gl_float(p, "least", fmax(1.6 * lens->height / 540.0, 1.6));
    und_gl_float(p, "size", v->show.grain_size);
    und_gl_float(p, "alpha", through ? 0.5 : 1);
    und_gl_vec3(p, "right", lens->right);
    und_gl_vec3(p, "up", lens->up);
    und_gl_vec3(p, "forward", lens->forward);
    und_gl_float(p, "exposure", exp2(v->look->exposure));
    und_gl_float(p, "film", v->look->tone);
    und_space_set_light(v, p, lens);
    if (epoxy_is_desktop_gl())
        glEnable(GL_PROGRAM_POINT_SIZE);
    for (int k = 0; k < UND_SETS; k++)
        if (is_drawn(v, k, through)) {
            und_gl_float(p, "exact", tinted(v, k));
            und_gl_float(p, "drop", k == UND_SET_SPRAY && !tinted(v, k));
            glBindVertexArray(v->grains[k].array);
            glDrawArrays(GL_POINTS, 0, v->grains[k].count);
        }
    glBindVertexArray(0);
    if (epoxy_is_desktop_gl())
        glDisable(GL_PROGRAM_POINT_SIZE);
}

/* ---- Lines ---- */

typedef struct line {
    float from[3], to[3];
    uint8_t color[4];
} line;

enum { BOX_LINES = 12, MOST_LINES = 2 * BOX_LINES + 3 };

static const uint8_t DOMAIN_COLOR[4] = {235, 240, 245, 190}, WINDOW_COLOR[4] = {255, 165, 40, 235},
                     GLASS_COLOR[4] = {150, 190, 180, 150};

static int add_box(line *lines, int count, const double low[3], const double high[3], const uint8_t color[4])
{
    for (int axis = 0; axis < 3; axis++)
        for (int corner = 0; corner < 4; corner++) {
            line *l = &lines[count++];
            for (int a = 0; a < 3; a++) {
                int bit = a == (axis + 1) % 3 ? corner & 1 : corner >> 1;
                l->from[a] = (float)(a == axis || !bit ? low[a] : high[a]);
                l->to[a] = (float)(a == axis || bit ? high[a] : low[a]);
            }
            memcpy(l->color, color, sizeof l->color);
        }
    return count;
}

double und_space_axis_length(const und_space *v)
{
    double span = 0;
    for (int a = 0; a < 3; a++)
        span = fmax(span, v->world.high[a] - v->world.low[a]);
    return 0.25 * span;
}

static int add_axes(const und_space *v, line *lines, int count)
{
    static const uint8_t colors[3][4] = {{235, 60, 50, 255}, {70, 190, 60, 255}, {60, 110, 245, 255}};
    for (int axis = 0; axis < 3; axis++) {
        line *l = &lines[count++];
        for (int a = 0; a < 3; a++)
            l->from[a] = l->to[a] = (float)v->world.low[a];
        l->to[axis] += (float)und_space_axis_length(v);
        memcpy(l->color, colors[axis], sizeof l->color);
    }
    return count;
}

static void upload_lines(und_space *v)
{
    line lines[MOST_LINES];
    int count = 0;
    und_space_buffer *b = &v->lines;
    bool tank = v->look->tank != UND_TANK_NONE;
    if (v->show.boxes || tank)
        count =
            add_box(lines, count, v->world.low, v->world.high, v->show.boxes ? DOMAIN_COLOR : GLASS_COLOR);
    if (v->show.boxes && v->world.window)
        count = add_box(lines, count, v->world.grid_low, v->world.grid_high, WINDOW_COLOR);
    if (v->show.axes)
        count = add_axes(v, lines, count);
    if (!b->array) {
        glGenVertexArrays(1, &b->array);
        glGenBuffers(1, &b->corners);
    }
    glBindVertexArray(b->array);
    glBindBuffer(GL_ARRAY_BUFFER, b->corners);
    glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)((size_t)count * sizeof *lines), lines, GL_STREAM_DRAW);
    glVertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, sizeof *lines, (void *)offsetof(line, from));
    glVertexAttribPointer(1, 3, GL_FLOAT, GL_FALSE, sizeof *lines, (void *)offsetof(line, to));
    glVertexAttribPointer(2, 4, GL_UNSIGNED_BYTE, GL_TRUE, sizeof *lines, (void *)offsetof(line, color));
    for (GLuint k = 0; k < 3; k++) {
        glEnableVertexAttribArray(k);
        glVertexAttribDivisor(k, 1);
    }
    glBindVertexArray(0);
    b->count = (GLsizei)count;
}

/* What something hides of them is drawn too, thinner. */
void und_space_draw_lines(und_space *v, const und_lens *lens)
{
    upload_lines(v);
    GLuint p = v->program[UND_SPACE_LINE];
    if (v->lines.count == 0)
        return;
    glUseProgram(p);
    und_gl_mat4(p, "both", lens->both);
    und_gl_vec2(p, "pixels", lens->width, lens->height);
    und_gl_float(p, "wide", fmax(1.7 * lens->height / 720.0, 1.5));
    und_gl_float(p, "near_plane", lens->flat ? -1 : (double)lens->near);
    glEnable(GL_DEPTH_TEST);
    glDepthMask(GL_FALSE);
    glEnable(GL_BLEND);
    glBlendFunc(GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
    glBindVertexArray(v->lines.array);
    for (int hidden = 0; hidden < 2; hidden++) {
        glDepthFunc(hidden ? GL_GEQUAL : GL_LESS);
        und_gl_float(p, "alpha", hidden ? 0.22 : 1);
        glDrawArraysInstanced(GL_TRIANGLE_STRIP, 0, 4, v->lines.count);
    }
    glBindVertexArray(0);
    glDepthFunc(GL_LESS);
    glDisable(GL_BLEND);
    glDepthMask(GL_TRUE);
    glDisable(GL_DEPTH_TEST);
}
