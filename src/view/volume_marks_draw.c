/* Grains and lines to the screen. */
#include "view/volume_parts.h"

#include "base/status.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char und_space_grain_vertex_text[] =
    "layout(location = 0) in vec4 grain;\n" /* place and radius, m */
    "layout(location = 1) in vec4 grain_color;\n"
    "out vec3 tint;\n"
    "uniform mat4 both;\n"
    "uniform float high, least, size;\n" /* pixels of a metre at a distance of one; pixels; a factor */
    "uniform float exact, exposure, film;\n"
    /* The light that und_film makes into a colour: colours that say something are seen as the legend has
       them. */
    "vec3 unfilm(vec3 t)\n"
    "{\n"
    "    t = min(t, vec3(0.97));\n"
    "    vec3 a = 2.51 - 2.43 * t, b = 0.03 - 0.59 * t, x = (sqrt(b * b + 0.56 * a * t) - b) / (2.0 * a) / "
    "0.55;\n"
    "    return max((x + 0.2 * (x.r + x.g + x.b) / 3.0) / 1.2, vec3(0.0));\n"
    "}\n"
    "void main()\n"
    "{\n"
    "    gl_Position = both * vec4(grain.xyz, 1.0);\n"
    "    gl_PointSize = clamp(2.0 * size * grain.w * high / max(gl_Position.w, 1e-6), least, 63.0);\n"
    "    vec3 c = grain_color.rgb;\n"
    "    tint = mix(c / 12.92, pow((c + 0.055) / 1.055, vec3(2.4)), step(vec3(0.04045), c));\n"
    "    tint = (exact > 0.5 && film > 0.5 ? unfilm(tint) : tint) / (exact > 0.5 ? exposure : 1.0);\n"
    "}\n";

/* A ball in the light of sky and sun; a drop is clear: it mirrors the sky, has the sun on it, and in it what
 * is above upside down. */
const char und_space_grain_text[] =
    "in vec3 tint;\n"
    "out vec4 color;\n"
    "uniform vec3 right, up, forward;\n"
    "uniform float alpha, drop, exact;\n"
    "void main()\n"
    "{\n"
    "    vec2 q = 2.0 * gl_PointCoord - 1.0;\n"
    "    float r = dot(q, q);\n"
    "    if (r > 1.0)\n"
    "        discard;\n"
    "    vec3 n = q.x * right - q.y * up - sqrt(1.0 - r) * forward;\n"
    "    vec3 light = ambient_at(n) + sun_color * max(dot(n, sun), 0.0);\n"
    "    light = exact > 0.5 ? vec3(1.0 - 0.6 * r * r) : light;\n" /* a rim, to tell them apart */
    "    color = vec4(tint * light * alpha, alpha);\n"
    "    if (drop > 0.5) {\n"
    "        float mirror = fresnel(max(-dot(forward, n), 0.05), 1.333), glint = max(dot(reflect(forward, "
    "n), sun), 0.0);\n"
    "        vec3 in_it = sky_at(normalize(refract(forward, n, 0.75) - 0.9 * n), 2.0);\n"
    "        vec3 c = mix(in_it, sky_at(reflect(forward, n), 1.0), mirror) + 3.0 * sun_color * pow(glint, "
    "60.0);\n"
    "        float a = alpha * mix(0.55, 1.0, mirror);\n"
    "        color = vec4(c * a, a);\n"
    "    }\n"
    "}\n";

/* A line as wide as asked for, whatever its distance. */
const char und_space_line_vertex_text[] =
    "layout(location = 0) in vec3 from;\n"
    "layout(location = 1) in vec3 to;\n"
    "layout(location = 2) in vec4 line_color;\n"
    "out vec4 tint;\n"
    "out float across;\n"
    "uniform mat4 both;\n"
    "uniform vec2 pixels;\n" /* of the target */
    "uniform float wide, near_plane;\n"
    "void main()\n"
    "{\n"
    "    vec4 a = both * vec4(from, 1.0), b = both * vec4(to, 1.0);\n"
    "    if (a.w < near_plane)\n"
    "        a = mix(a, b, (near_plane - a.w) / max(b.w - a.w, 1e-9));\n"
    "    if (b.w < near_plane)\n"
    "        b = mix(b, a, (near_plane - b.w) / max(a.w - b.w, 1e-9));\n"
    "    vec2 d = (b.xy / b.w - a.xy / a.w) * pixels;\n"
    "    d = length(d) > 1e-6 ? normalize(d) : vec2(1.0, 0.0);\n"
    "    across = (gl_VertexID & 1) == 0 ? -1.0 : 1.0;\n"
    "    vec4 p = gl_VertexID < 2 ? a : b;\n"
    "    p.xy += across * vec2(-d.y, d.x) * wide / pixels * p.w;\n"
    "    p.z -= 2e-4 * p.w;\n" /* before the wall it lies on */
    "    tint = vec4(pow(line_color.rgb, vec3(2.2)), line_color.a);\n"
    "    gl_Position = p;\n"
    "}\n";

const char und_space_line_text[] =
    "in vec4 tint;\n"
    "in float across;\n"
    "out vec4 color;\n"
    "uniform float alpha, wide;\n"
    "void main()\n"
    "{\n"
    "    float a = alpha * tint.a * clamp((1.0 - abs(across)) * wide, 0.0, 1.0);\n"
    "    color = vec4(tint.rgb * a, a);\n"
    "}\n";

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
