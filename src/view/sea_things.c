/* Bodies, their shadow and their picture for the water; rain and spray. */
#include "view/sea_parts.h"

#include <math.h>
#include <string.h>

enum { SHADOW_SIZE = 512 };
static const float ZOOM = 0.6f; /* of the picture for the water, which shows what the window does not */

/* Numbers for each of `count` things; NULL: what the attribute is set to goes for all. */
static void numbers(GLuint index, GLuint buffer, int parts, int count, const float *data, int divisor)
{
    if (!data) {
        glDisableVertexAttribArray(index);
        return;
    }
    glBindBuffer(GL_ARRAY_BUFFER, buffer);
    glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)sizeof(float) * parts * count, data, GL_STREAM_DRAW);
    glEnableVertexAttribArray(index);
    glVertexAttribPointer(index, parts, GL_FLOAT, GL_FALSE, 0, NULL);
    glVertexAttribDivisor(index, (GLuint)divisor);
}

und_status und_sea_things_create(und_sea *s, und_error *err)
{
    und_sea_things *t = &s->things;
    glGenVertexArrays(4, t->array);
    glGenBuffers(UND_SEA_BUFFERS, t->buffer);
    return und_gl_target(&t->shadow, GL_R8, SHADOW_SIZE, SHADOW_SIZE, true, err);
}

void und_sea_things_destroy(und_sea *s)
{
    und_sea_things *t = &s->things;
    glDeleteVertexArrays(4, t->array);
    glDeleteBuffers(UND_SEA_BUFFERS, t->buffer);
    glDeleteTextures(1, &t->poses);
    und_gl_target_clear(&t->shadow);
    und_gl_target_clear(&t->seen);
}

/* Triangles go up where they are new; where each body is, every time. */
static void take_bodies(und_sea_things *t, const und_sea_fields *f)
{
    bool anew = f->new_bodies || t->corners != f->corners;
    t->corners = f->corners;
    if (f->corners == 0)
        return;
    if (anew) {
        static const int parts[4] = {3, 3, 3, 1};
        glBindVertexArray(t->array[0]);
        glBindBuffer(GL_ARRAY_BUFFER, t->buffer[0]);
        glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)sizeof(float) * 10 * f->vertices, f->vertex,
                     GL_STATIC_DRAW);
        for (int k = 0; k < 4; k++) {
            glEnableVertexAttribArray((GLuint)k);
            glVertexAttribPointer((GLuint)k, parts[k], GL_FLOAT, GL_FALSE, 10 * (int)sizeof(float),
                                  (const void *)(3 * (size_t)k * sizeof(float)));
        }
        glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, t->buffer[1]);
        glBufferData(GL_ELEMENT_ARRAY_BUFFER, (GLsizeiptr)sizeof(uint32_t) * f->corners, f->index,
                     GL_STATIC_DRAW);
        glDeleteTextures(1, &t->poses);
        t->poses = und_gl_texture_2d(GL_RGBA32F, 2, f->bodies, false);
    }
    glBindTexture(GL_TEXTURE_2D, t->poses);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 2, f->bodies, GL_RGBA, GL_FLOAT, f->pose);
}

static void take_drops(und_sea_things *t, const und_sea_fields *f)
{
    t->rain = f->rain_count;
    t->spray = f->spray_count;
    if (f->rain_count > 0) {
        glBindVertexArray(t->array[1]);
        numbers(0, t->buffer[2], 3, f->rain_count, f->rain, 1);
        numbers(1, t->buffer[3], 3, f->rain_count, f->rain_speed, 1);
    }
    if (f->spray_count > 0) {
        glBindVertexArray(t->array[2]);
        numbers(0, t->buffer[4], 3, f->spray_count, f->spray, 1);
        numbers(1, t->buffer[5], 3, f->spray_count, f->spray_speed, 1);
        numbers(2, t->buffer[6], 1, f->spray_count, f->spray_size, 1);
    }
    t->sheets = f->sheet_corners;
    if (f->sheet_corners > 0) {
        glBindVertexArray(t->array[3]);
        numbers(0, t->buffer[7], 3, f->sheet_corners, f->sheet, 0);
        numbers(1, t->buffer[8], 3, f->sheet_corners, f->sheet_normal, 0);
        numbers(2, t->buffer[9], 1, f->sheet_corners, f->sheet_rim, 0);
    }
}

/* Rows that take a place to the shadow's map, 0 to 1 along each: across the light, and away from the sun. */
static void aim_shadow(und_sea *s, const und_sea_fields *f)
{
    const float *sun = f->sun;
    float side[3] = {sun[2], 0, -sun[0]}, length = hypotf(side[0], side[2]);
    for (int a = 0; a < 3; a++)
        side[a] = length > 1e-4f ? side[a] / length : (float)(a == 0);
    float axis[3][3] = {{side[0], side[1], side[2]},
                        {sun[1] * side[2] - sun[2] * side[1], sun[2] * side[0] - sun[0] * side[2],
                         sun[0] * side[1] - sun[1] * side[0]},
                        {-sun[0], -sun[1], -sun[2]}};
    double vertical = und_sea_vertical(s), low[3], high[3];
    for (int k = 0; k < 3; k++) {
        low[k] = INFINITY;
        high[k] = -INFINITY;
        for (int i = 0; i < f->bodies; i++) {
            const float *p = f->pose + 8 * i;
            double at = (double)(axis[k][0] * p[0]) + vertical * (double)(axis[k][1] * p[1]) +
                        (double)(axis[k][2] * p[2]);
            double reach = fmax(vertical, 1) * (double)f->reach[i];
            low[k] = fmin(low[k], at - reach);
            high[k] = fmax(high[k], at + reach);
        }
        double pad = 0.03 * (high[k] - low[k]) + 1e-6, per = 1 / (high[k] - low[k] + 2 * pad);
        for (int a = 0; a < 3; a++)
            s->things.sun_row[k][a] = (float)((double)axis[k][a] * per);
        s->things.sun_row[k][3] = (float)(-(low[k] - pad) * per);
    }
}

/* Is a body in the window, and, for the water, is some of it under the highest wave? */
static bool is_wanted(const und_sea_fields *f, int body, const und_lens *lens, bool for_water, float vertical)
{
    const float *p = f->pose + 8 * body;
    float reach = fmaxf(vertical, 1) * f->reach[body], y = vertical * p[1];
    float at[3] = {p[0] - lens->eye[0], y - lens->eye[1], p[2] - lens->eye[2]}, view[3] = {0, 0, 0};
    if (for_water && y - reach > f->water_high)
        return false;
    for (int a = 0; a < 3; a++) {
        view[0] += at[a] * lens->right[a];
        view[1] += at[a] * lens->up[a];
        view[2] += at[a] * lens->forward[a];
    }
    for (int k = 0; k < 2; k++) { /* planes of the view's sides */
        float per = lens->projection[5 * k] * (for_water ? ZOOM : 1), length = sqrtf(1 + per * per);
        if (!lens->flat && fabsf(view[k]) * per - view[2] > reach * length)
            return false;
    }
    return true;
}

/* Those that are wanted, or where there is no lens all. */
static void draw_bodies(const und_sea *s, GLuint program, const und_lens *lens, bool for_water)
{
    const und_sea_fields *f = und_sea_reader_fields(s->reader);
    float vertical = (float)und_sea_vertical(s);
    und_gl_float(program, "vertical", und_sea_vertical(s));
    und_gl_texture(program, "poses", 13, GL_TEXTURE_2D, s->things.poses);
    glBindVertexArray(s->things.array[0]);
    for (int i = 0, from = 0; i <= f->bodies; i++) {
        bool wanted = i < f->bodies && (!lens || is_wanted(f, i, lens, for_water, vertical));
        if (!wanted && f->first[i] > f->first[from])
            glDrawElements(GL_TRIANGLES, f->first[i] - f->first[from], GL_UNSIGNED_INT,
                           (const void *)((size_t)f->first[from] * sizeof(uint32_t)));
        if (!wanted)
            from = i + 1;
    }
    glBindVertexArray(0);
}

static void make_shadow(und_sea *s)
{
    const float(*row)[4] = (const float(*)[4])s->things.sun_row;
    float both[16] = {0};
    for (int k = 0; k < 3; k++) {
        for (int a = 0; a < 3; a++)
            both[4 * a + k] = 2 * row[k][a];
        both[12 + k] = 2 * row[k][3] - 1;
    }
    both[15] = 1;
    und_sea_aside aside = und_sea_turn_to(s->things.shadow.buffer, SHADOW_SIZE, SHADOW_SIZE);
    glClear(GL_DEPTH_BUFFER_BIT);
    glEnable(GL_DEPTH_TEST);
    glUseProgram(s->shadow_program);
    und_gl_mat4(s->shadow_program, "both", both);
    draw_bodies(s, s->shadow_program, NULL, false);
    glDisable(GL_DEPTH_TEST);
    und_sea_turn_back(&aside);
}

void und_sea_things_take(und_sea *s)
{
    const und_sea_fields *f = und_sea_reader_fields(s->reader);
    take_bodies(&s->things, f);
    take_drops(&s->things, f);
    glBindVertexArray(0);
    if (f->bodies_moved || f->new_sky)
        s->things.shaded_vertical = -1;
}

/* After the vertical exaggeration is known. */
static void shade(und_sea *s)
{
    const und_sea_fields *f = und_sea_reader_fields(s->reader);
    if (s->things.corners == 0 || s->things.shaded_vertical == und_sea_vertical(s))
        return;
    aim_shadow(s, f);
    make_shadow(s);
    s->things.shaded_vertical = und_sea_vertical(s);
}

/* Where bodies are seen, -1 to 1 over the window: all of it where one is behind the eye. */
static void find_box(und_sea *s, const und_lens *lens)
{
    const und_sea_fields *f = und_sea_reader_fields(s->reader);
    float *box = s->things.box, vertical = (float)und_sea_vertical(s);
    memcpy(box, (float[]){1e9f, 1e9f, -1e9f, -1e9f}, 4 * sizeof *box);
    for (int i = 0; i < f->bodies; i++) {
        const float *p = f->pose + 8 * i;
        float at[4], reach = fmaxf(vertical, 1) * f->reach[i];
        for (int row = 0; row < 4; row++)
            at[row] = lens->both[row] * p[0] + lens->both[4 + row] * p[1] * vertical +
                      lens->both[8 + row] * p[2] + lens->both[12 + row];
        bool behind = at[3] < 2 * reach;
        for (int a = 0; a < 2; a++) {
            float wide = lens->projection[5 * a] * reach / (at[3] - reach), middle = at[a] / at[3];
            box[a] = behind ? -1e9f : fminf(box[a], middle - wide);
            box[2 + a] = behind ? 1e9f : fmaxf(box[2 + a], middle + wide);
        }
        if (behind)
            return;
    }
}

und_status und_sea_things_prepare(und_sea *s, const und_lens *lens, int width, int height, und_error *err)
{
    und_sea_things *t = &s->things;
    if (t->corners == 0)
        return UND_OK;
    shade(s);
    find_box(s, lens);
    if (t->seen.width != width || t->seen.height != height) {
        und_gl_target_clear(&t->seen);
        und_sea_aside aside = und_sea_turn_to(0, 1, 1);
        und_status status = und_gl_target(&t->seen, GL_RGBA16F, width, height, true, err);
        glBindTexture(GL_TEXTURE_2D, t->seen.color);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST); /* a body's edge is no mean */
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
        und_sea_turn_back(&aside);
        if (status != UND_OK)
            return status;
    }
    und_sea_aside aside = und_sea_turn_to(t->seen.buffer, width, height);
    glClearColor(0, 0, 0, 0);
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    glEnable(GL_DEPTH_TEST);
    und_lens wide = *lens;
    for (int k = 0; k < 4; k++) {
        wide.both[4 * k] *= ZOOM;
        wide.both[4 * k + 1] *= ZOOM;
    }
    und_sea_things_draw(s, &wide, true);
    glDisable(GL_DEPTH_TEST);
    und_sea_turn_back(&aside);
    return UND_OK;
}

void und_sea_things_draw(und_sea *s, const und_lens *lens, bool for_water)
{
    if (s->things.corners == 0)
        return;
    GLuint program = und_sea_use(s, SEA_THING, lens);
    und_gl_float(program, "under_water", for_water);
    draw_bodies(s, program, lens, for_water);
}

void und_sea_things_set(const und_sea *s, GLuint program, bool seen)
{
    const und_sea_things *t = &s->things;
    if (t->corners == 0)
        return;
    und_gl_texture(program, "body_shadow_map", 11, GL_TEXTURE_2D, t->shadow.depth);
    und_gl_texture(program, "things_map", 12, GL_TEXTURE_2D, seen ? t->seen.color : t->shadow.color);
    und_gl_float(program, "things_zoom", (double)ZOOM);
    und_gl_vec4(program, "things_box", t->box);
    und_gl_vec4(program, "sun_u", t->sun_row[0]);
    und_gl_vec4(program, "sun_v", t->sun_row[1]);
    und_gl_vec4(program, "sun_w", t->sun_row[2]);
}

static void draw_drops(und_sea *s, GLuint program, bool rain)
{
    const und_sea_things *t = &s->things;
    int count = rain ? t->rain : t->spray;
    if (count == 0)
        return;
    und_gl_float(program, "rain", rain);
    glBindVertexArray(t->array[rain ? 1 : 2]);
    glVertexAttrib3f(1, 0, rain ? -5 : 0, 0); /* where the frame does not say */
    glVertexAttrib1f(2, 0.5f * (float)s->look->rain_width);
    glDrawArraysInstanced(GL_TRIANGLE_STRIP, 0, 4, count);
}

static void draw_sheets(und_sea *s, const und_lens *lens)
{
    if (s->things.sheets == 0)
        return;
    GLuint program = und_sea_use(s, SEA_SHEETS, lens);
    und_gl_float(program, "vertical", und_sea_vertical(s));
    glBindVertexArray(s->things.array[3]);
    glVertexAttrib1f(2, 0); /* where the frame does not say */
    glDrawArrays(GL_TRIANGLES, 0, s->things.sheets);
}

void und_sea_drops_draw(und_sea *s, const und_lens *lens)
{
    if (s->things.spray + s->things.rain + s->things.sheets == 0 || lens->flat)
        return;
    glEnable(GL_BLEND);
    glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
    glDepthMask(GL_FALSE);
    draw_sheets(s, lens);
    GLuint program = und_sea_use(s, SEA_DROPS, lens);
    und_gl_float(program, "vertical", und_sea_vertical(s));
    und_gl_float(program, "shutter", s->look->shutter);
    und_gl_float(program, "focal", 0.5 * (double)lens->projection[5] * lens->height);
    und_gl_vec2(program, "half_size", 0.5 * lens->width, 0.5 * lens->height);
    draw_drops(s, program, false);
    draw_drops(s, program, true);
    glDepthMask(GL_TRUE);
    glDisable(GL_BLEND);
    glBindVertexArray(0);
}
