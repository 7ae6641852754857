#include "view/slice.h"

#include "base/status.h"
#include "view/colormap.h"
#include "view/glsl.h"
#include "view/slice_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DRAPE_MOST = 160 }; /* patches along a height field's plane */

und_slice *und_slice_create(und_error *err)
{
    und_slice *s = und_alloc(1, sizeof *s, "a slice", err);
    if (!s)
        return NULL;
    s->look = (und_slice_look){.axis = 2,
                               .place = NAN,
                               .map = -1,
                               .automatic = true,
                               .liquid_only = true,
                               .line = true,
                               .smooth = true,
                               .through = true,
                               .opacity = 1};
    s->mouse[0] = s->mouse[1] = -1;
    s->stretch = 1;
    const und_program_def def = {
        "slices", {und_glsl_slice_vertex}, {und_glsl_colormap, und_glsl_slice_fragment}};
    s->program = und_gl_program(&def, err);
    if (!s->program) {
        und_slice_destroy(s);
        return NULL;
    }
    s->maps = und_colormap_texture();
    return s;
}

void und_slice_destroy(und_slice *s)
{
    if (!s)
        return;
    if (s->program)
        glDeleteProgram(s->program);
    glDeleteTextures(1, &s->texture);
    glDeleteTextures(1, &s->maps);
    free(s->plane.texel);
    free(s);
}

bool und_slice_fits(const und_frame *frame)
{
    und_slice_source source;
    return und_slice_open(&source, frame);
}

und_slice_look *und_slice_looks(und_slice *s)
{
    return &s->look;
}

/* The largest plane that the cells have. */
static size_t room_for(const und_slice_source *s)
{
    size_t most = 0;
    for (int a = 0; a < 3; a++) {
        size_t area = (size_t)s->n[(a + 1) % 3] * (size_t)s->n[(a + 2) % 3];
        most = area > most ? area : most;
    }
    return 4 * most;
}

und_status und_slice_take(und_slice *s, const und_frame *frame, und_error *err)
{
    s->stale = true;
    s->taken++;
    s->has_frame = und_slice_open(&s->source, frame);
    size_t room = s->has_frame ? room_for(&s->source) : 0;
    if (room > s->room) {
        float *grown = realloc(s->plane.texel, room * sizeof *grown);
        if (!grown) {
            s->has_frame = false;
            return und_error_set(err, UND_FAILED, "no memory for a slice");
        }
        s->plane.texel = grown;
        s->room = room;
    }
    return UND_OK;
}

const und_slice_field *und_slice_chosen(const und_slice *s)
{
    if (!s->has_frame)
        return NULL;
    const und_slice_field *found = und_slice_find(&s->source, s->look.field);
    return found ? found : &s->source.field[0];
}

bool und_slice_differs(const und_slice *s)
{
    return s->look.difference && s->has_other && und_slice_alike(&s->source, &s->other);
}

int und_slice_map(const und_slice *s)
{
    const und_slice_field *field = und_slice_chosen(s);
    if (s->look.map >= 0 && s->look.map < UND_MAPS)
        return s->look.map;
    if (field && (field->two_signs || und_slice_differs(s)))
        return UND_MAP_DIVERGING;
    return field && field->hot ? UND_MAP_HEAT : UND_MAP_EVEN;
}

/* Ends that say something: 0 where it is near, even on both sides of 0, never without width; false: it had
 * none. */
static bool round_range(double range[2], bool two_signs)
{
    if (two_signs) {
        double most = fmax(fabs(range[0]), fabs(range[1]));
        range[0] = -most;
        range[1] = most;
    } else if (range[0] > 0 && range[0] < 0.5 * range[1]) {
        range[0] = 0;
    }
    double least = 1e-6 * fmax(fabs(range[0]), fabs(range[1])), middle = 0.5 * (range[0] + range[1]);
    if (range[1] - range[0] > fmax(least, 1e-30))
        return true;
    double half = middle != 0 ? 0.5 * fabs(middle) : 0.5, lift = middle == 0 && !two_signs ? half : 0;
    range[0] = middle - half + lift;
    range[1] = middle + half + lift;
    return false;
}

static void find_range(und_slice *s, const und_slice_field *field)
{
    bool same = s->ranged && strcmp(s->look.field, s->shown.field) == 0 &&
                s->look.automatic == s->shown.automatic && s->look.difference == s->shown.difference &&
                (field->kind != UND_SLICE_TURN || s->look.axis == s->shown.axis);
    double spread[2], most[2];
    bool found = und_slice_spread(&s->source, und_slice_differs(s) ? &s->other : NULL, field->name,
                                  s->look.axis, spread, most);
    if (found) {
        s->most[0] = same ? fmin(s->most[0], most[0]) : most[0];
        s->most[1] = same ? fmax(s->most[1], most[1]) : most[1];
    }
    if (!s->look.automatic) {
        s->range[0] = s->look.low;
        s->range[1] = fmax(s->look.high, s->look.low + fmax(1e-6 * fabs(s->look.low), 1e-12));
        s->ranged = true;
        return;
    }
    if (found) {
        if (field->whole)
            memcpy(spread, most, sizeof spread);
        bool wide = round_range(spread, field->two_signs || und_slice_differs(s));
        s->range[0] = !same ? spread[0] : wide ? fmin(s->range[0], spread[0]) : s->range[0];
        s->range[1] = !same ? spread[1] : wide ? fmax(s->range[1], spread[1]) : s->range[1];
        s->ranged = same || wide; /* water at rest says nothing of what is to come */
    } else if (!same) {
        s->range[0] = s->most[0] = 0;
        s->range[1] = s->most[1] = 1;
        s->ranged = false; /* the next frame begins anew */
    }
    s->look.low = s->range[0];
    s->look.high = s->range[1];
}

/* An axis that there is, and a place along it: the middle where none was chosen. */
static void find_place(und_slice *s)
{
    if (s->source.heights)
        s->look.axis = 1;
    int a = s->look.axis = s->look.axis < 0 || s->look.axis > 2 ? 2 : s->look.axis;
    if (!isfinite(s->look.place))
        s->look.place = s->source.origin[a] + 0.5 * s->source.n[a] * s->source.size[a];
}

/* Not beyond the middles of the outermost cells: a window may have moved on. */
static double place_within(const und_slice *s)
{
    int a = s->look.axis;
    double low = s->source.origin[a] + 0.5 * s->source.size[a];
    return fmin(fmax(s->look.place, low), low + (s->source.n[a] - 1) * s->source.size[a]);
}

static void upload(und_slice *s)
{
    const und_slice_plane *p = &s->plane;
    if (!s->texture || s->texture_n[0] != p->n[0] || s->texture_n[1] != p->n[1]) {
        glDeleteTextures(1, &s->texture);
        s->texture = und_gl_texture_2d(GL_RGBA32F, p->n[0], p->n[1], false);
        memcpy(s->texture_n, p->n, sizeof s->texture_n);
    }
    size_t count = (size_t)p->n[0] * (size_t)p->n[1];
    for (size_t i = 0; i < count; i++) /* shaders may not know NaN */
        if (isnan(p->texel[4 * i]))
            p->texel[4 * i] = -3e38f;
    glBindTexture(GL_TEXTURE_2D, s->texture);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, p->n[0], p->n[1], GL_RGBA, GL_FLOAT, p->texel);
}

/* Brings plane, range and texture up to what is asked for. */
void und_slice_refresh(und_slice *s)
{
    const und_slice_field *field = und_slice_chosen(s);
    if (!field)
        return;
    memmove(s->look.field, field->name, sizeof s->look.field);
    find_place(s);
    if (!s->stale && memcmp(&s->shown, &s->look, sizeof s->look) == 0)
        return;
    find_range(s, field);
    und_slice_fill(&s->source, field, s->look.axis, place_within(s), &s->plane);
    if (und_slice_differs(s))
        und_slice_take_off(&s->plane, &s->source, &s->other, field->name);
    upload(s);
    s->shown = s->look;
    s->stale = false;
}

void und_slice_range(const und_slice *s, double range[2])
{
    memcpy(range, s->range, sizeof s->range);
}

void und_slice_match(und_slice *first, und_slice *second)
{
    if (first->has_other != second->has_frame || first->other_taken != second->taken) {
        first->other = second->source;
        first->other_taken = second->taken;
        first->has_other = second->has_frame;
        first->stale = true;
    }
    second->look.on = first->look.on;
    if (!first->look.on || !first->has_frame || !second->has_frame)
        return;
    bool automatic = first->look.automatic;
    und_slice_refresh(first);
    second->look = first->look;
    second->look.difference = false;
    und_slice_refresh(second);
    if (!automatic || und_slice_differs(first))
        return;
    for (int k = 0; k < 2; k++) {
        und_slice *s = k ? second : first;
        double low = fmin(first->range[0], second->range[0]), high = fmax(first->range[1], second->range[1]);
        first->range[0] = second->range[0] = s->look.low = s->shown.low = low;
        first->range[1] = second->range[1] = s->look.high = s->shown.high = high;
    }
}

void und_slice_extent(const und_slice *s, double extent[4])
{
    int axes[2] = {s->plane.along, s->plane.across};
    for (int k = 0; k < 2; k++) {
        extent[2 * k] = s->source.origin[axes[k]];
        extent[2 * k + 1] = extent[2 * k] + s->source.n[axes[k]] * s->source.size[axes[k]];
    }
}

void und_slice_point(const und_slice *s, double u, double v, double point[3])
{
    point[s->plane.along] = u;
    point[s->plane.across] = v;
    point[s->plane.axis] = s->source.heights ? und_slice_height(s, u, v) : s->plane.place;
    point[1] *= s->stretch;
}

void und_slice_stretch(und_slice *s, double factor)
{
    s->stretch = factor;
}

void und_slice_draw(und_slice *s, const und_lens *lens)
{
    if (!s->look.on || !s->has_frame)
        return;
    und_slice_refresh(s);
    double extent[4];
    und_slice_extent(s, extent);
    float corner[3], along[3] = {0}, across[3] = {0};
    corner[s->plane.axis] = (float)s->plane.place;
    corner[s->plane.along] = (float)extent[0];
    corner[s->plane.across] = (float)extent[2];
    along[s->plane.along] = (float)(extent[1] - extent[0]);
    across[s->plane.across] = (float)(extent[3] - extent[2]);
    int patches[2] = {1, 1};
    for (int k = 0; k < 2 && s->source.heights; k++)
        patches[k] = s->plane.n[k] < DRAPE_MOST ? s->plane.n[k] : DRAPE_MOST;
    GLuint p = s->program, none = 0;
    glUseProgram(p);
    und_gl_mat4(p, "both", lens->both);
    und_gl_vec3(p, "corner", corner);
    und_gl_vec3(p, "along", along);
    und_gl_vec3(p, "across", across);
    glUniform2i(glGetUniformLocation(p, "patches"), patches[0], patches[1]);
    und_gl_float(p, "heights", s->source.heights);
    und_gl_float(p, "lift", s->look.through ? 0 : 0.25 * s->source.size[0]); /* over the painted water */
    und_gl_float(p, "stretch", s->stretch);
    und_gl_vec2(p, "range", s->range[0], s->range[1]);
    und_gl_float(p, "liquid_only", s->look.liquid_only);
    und_gl_float(p, "line", s->look.line && (s->source.distance || s->source.label || s->source.surface));
    und_gl_float(p, "smooth_cells", s->look.smooth && !und_slice_chosen(s)->whole);
    und_gl_float(p, "opacity", s->look.opacity);
    und_gl_texture(p, "plane", 0, GL_TEXTURE_2D, s->texture);
    und_gl_texture(p, "colormaps", 1, GL_TEXTURE_2D, s->maps);
    und_gl_int(p, "colormap", und_slice_map(s));
    if (s->look.through)
        glClear(GL_DEPTH_BUFFER_BIT); /* of this lens alone; a height field still hides itself */
    glEnable(GL_DEPTH_TEST);
    glEnable(GL_BLEND);
    glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
    glGenVertexArrays(1, &none);
    glBindVertexArray(none);
    glDrawArrays(GL_TRIANGLES, 0, 6 * patches[0] * patches[1]);
    glBindVertexArray(0);
    glDeleteVertexArrays(1, &none);
    glDisable(GL_BLEND);
    glDisable(GL_DEPTH_TEST);
}
