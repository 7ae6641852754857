/* Particles of frames, and control particles of scenes, as grains. */
#include "view/volume_marks.h"

#include "base/status.h"
#include "stage/f3.h"
#include "view/colormap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const und_space_tint_names[UND_TINTS] = {"One colour", "By speed", "By size", "By sign"};

/* What frames call them, how large they are where nothing says it, and their colour. */
static const struct {
    const char *label, *item;
    float cells; /* of radius, where frames do not tell it */
    uint8_t color[3];
} known[UND_SETS] = {
    [UND_SET_SPRAY] = {"Drops", "spray", 0.1f, {226, 240, 248}},
    [UND_SET_FOAM] = {"Foam", "foam", 0.15f, {255, 255, 255}},
    [UND_SET_MARKERS] = {"Markers", "markers", 0.13f, {40, 120, 220}},
    [UND_SET_LEVEL] = {"Level-set particles", "tracers", 0.1f, {120, 200, 120}},
    [UND_SET_TEXTURE] = {"Texture particles", "texture", 0.12f, {230, 120, 200}},
    [UND_SET_CONTROL] = {"Control particles", NULL, 0.2f, {255, 150, 30}},
};

const char *und_space_set_label(und_space_set_name which)
{
    return known[which].label;
}

static const float *find(const und_frame *frame, const char *set, const char *part, size_t count)
{
    char name[64];
    snprintf(name, sizeof name, "%s/%s", set, part);
    const und_item *item = und_frame_find(frame, name);
    return item && item->type == UND_F32 && item->data && und_item_count(item) == count ? item->data : NULL;
}

static und_status make_room(und_space_set *s, size_t count, und_error *err)
{
    if (count <= s->room)
        return UND_OK;
    free(s->number);
    s->room = 0;
    if (!(s->number = und_alloc(count * UND_GRAIN_NUMBERS, sizeof *s->number, "particles", err)))
        return UND_FAILED;
    s->room = count;
    return UND_OK;
}

/* Every so-many-th of them, so that at most `most` are kept. */
static size_t stride_of(size_t count, size_t most)
{
    return count > most ? (count + most - 1) / most : 1;
}

static bool set_grain(float *to, const float place[3], float radius, float speed, float sign)
{
    bool good = radius >= 0 && radius < 1e9f;
    for (int a = 0; a < 3; a++) {
        good = good && fabsf(place[a]) < 1e9f;
        to[UND_GRAIN_PLACE + a] = place[a];
    }
    to[UND_GRAIN_RADIUS] = radius;
    to[UND_GRAIN_SPEED] = speed;
    to[UND_GRAIN_SIGN] = sign;
    return good;
}

static und_status take_set(und_space_set *s, und_space_set_name which, const und_frame *frame, size_t most,
                           double cell, und_error *err)
{
    size_t count = 0;
    char name[64];
    s->count = s->all = 0;
    snprintf(name, sizeof name, "%s/position", known[which].item);
    const float *place = und_frame_points(frame, name, &count);
    if (!place || count == 0)
        return UND_OK;
    const float *velocity = find(frame, known[which].item, "velocity", 3 * count),
                *radius = find(frame, known[which].item, "radius", count);
    size_t step = stride_of(count, most);
    if (make_room(s, count / step + 1, err) != UND_OK)
        return err->status;
    s->all = count;
    s->has[UND_TINT_SPEED] = velocity;
    s->has[UND_TINT_SIZE] = radius;
    s->has[UND_TINT_SIGN] = radius && which == UND_SET_LEVEL; /* radii of those in the liquid are below 0 */
    for (size_t i = 0; i < count; i += step) {
        const float *v = velocity ? velocity + 3 * i : NULL;
        float speed = v ? sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) : 0;
        float r = radius ? radius[i] : known[which].cells * (float)cell;
        if (set_grain(s->number + s->count * UND_GRAIN_NUMBERS, place + 3 * i, fabsf(r), speed,
                      r < 0 ? -1.0f : 1.0f))
            s->count++;
    }
    return UND_OK;
}

/* Where the scene's control particles are at the frame's time. */
static und_status take_control(und_space_marks *m, const und_frame *frame, size_t most, double cell,
                               und_error *err)
{
    und_space_set *s = &m->set[UND_SET_CONTROL];
    s->count = s->all = 0;
    if (!m->control_particles)
        return UND_OK;
    if (und_control_particles_fetch(m->control_particles, frame->time, 0, err) !=
        UND_OK) { /* a file is gone: the rest is shown */
        snprintf(m->trouble, sizeof m->trouble, "%.250s", err->text);
        und_control_particles_destroy(m->control_particles);
        m->control_particles = NULL;
        return UND_OK;
    }
    und_control_particles_render(m->control_particles, frame->time, 0);
    und_control_particles_render_surface(m->control_particles, frame->time);
    for (int k = 0; k < UND_CONTROL_KINDS; k++)
        s->all += (size_t)und_control_particles_count(m->control_particles, (und_control_particle_kind)k);
    size_t step = stride_of(s->all, most), number = 0;
    if (s->all == 0 || make_room(s, s->all / step + 1, err) != UND_OK)
        return s->all == 0 ? UND_OK : err->status;
    s->has[UND_TINT_SIZE] = true;
    s->has[UND_TINT_SPEED] = und_control_particles_count(m->control_particles, UND_CONTROL_VELOCITY) > 0;
    float shown = known[UND_SET_CONTROL].cells * (float)cell;
    for (int k = 0; k < UND_CONTROL_KINDS; k++)
        for (int i = 0; i < und_control_particles_count(m->control_particles, (und_control_particle_kind)k);
             i++, number++) {
            und_control_particle_place p =
                und_control_particles_place(m->control_particles, (und_control_particle_kind)k, i);
            float speed = sqrtf(p.velocity[0] * p.velocity[0] + p.velocity[1] * p.velocity[1] +
                                p.velocity[2] * p.velocity[2]);
            if (number % step == 0 &&
                set_grain(s->number + s->count * UND_GRAIN_NUMBERS, p.at, shown, speed, (float)k))
                s->count++;
        }
    return UND_OK;
}

und_status und_space_marks_take(und_space_marks *m, const und_frame *frame, size_t most, double cell,
                                und_error *err)
{
    und_status status = UND_OK;
    for (int k = 0; k < UND_SETS && status == UND_OK; k++)
        if (known[k].item)
            status = take_set(&m->set[k], (und_space_set_name)k, frame, most, cell, err);
    return status == UND_OK ? take_control(m, frame, most, cell, err) : status;
}

void und_space_marks_free(und_space_marks *m)
{
    for (int k = 0; k < UND_SETS; k++)
        free(m->set[k].number);
    und_control_particles_destroy(m->control_particles);
    *m = (und_space_marks){0};
}

static int number_of(und_space_tint tint)
{
    return tint == UND_TINT_SPEED  ? UND_GRAIN_SPEED
           : tint == UND_TINT_SIZE ? UND_GRAIN_RADIUS
                                   : UND_GRAIN_SIGN;
}

void und_space_marks_range(und_space_marks *m, const bool shown[UND_SETS], und_space_tint tint)
{
    m->low = 0;
    m->high = 0;
    for (int k = 0; k < UND_SETS; k++)
        for (size_t i = 0; shown[k] && m->set[k].has[tint] && i < m->set[k].count; i++)
            m->high =
                fmax(m->high, (double)m->set[k].number[i * UND_GRAIN_NUMBERS + (size_t)number_of(tint)]);
    if (tint == UND_TINT_SIGN)
        m->low = -(m->high = 1);
}

void und_space_marks_grains(const und_space_marks *m, und_space_set_name which, und_space_tint tint,
                            und_grain *out)
{
    /* Kinds of control: velocity, viscosity, surface, divergence, eraser, adder. */
    static const uint8_t kinds[UND_CONTROL_KINDS][3] = {{255, 150, 30}, {120, 90, 220}, {255, 225, 60},
                                                        {60, 200, 120}, {220, 60, 60},  {60, 170, 240}};
    const und_space_set *s = &m->set[which];
    const bool tinted = tint != UND_TINT_PLAIN && s->has[tint];
    for (size_t i = 0; i < s->count; i++) {
        const float *n = s->number + i * UND_GRAIN_NUMBERS;
        const uint8_t *color = which == UND_SET_CONTROL ? kinds[(int)n[UND_GRAIN_SIGN]] : known[which].color;
        memcpy(out[i].place, n, sizeof out[i].place);
        out[i].radius = n[UND_GRAIN_RADIUS];
        memcpy(out[i].color, (uint8_t[]){color[0], color[1], color[2], 255}, 4);
        if (tinted) {
            float rgb[3];
            double span = m->high - m->low,
                   value = span > 0 ? ((double)n[number_of(tint)] - m->low) / span : 0;
            und_colormap(tint == UND_TINT_SIGN ? UND_MAP_DIVERGING : UND_MAP_EVEN, value, rgb);
            for (int k = 0; k < 3; k++)
                out[i].color[k] = (uint8_t)lrintf(255 * clampf(rgb[k], 0, 1));
        }
    }
}
