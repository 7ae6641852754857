/* Loose triangles into an indexed surface: corners at the same place, bit by bit, are one vertex. */
#include "base/random.h"
#include "base/status.h"
#include "geom/shell.h"
#include "geom/vec.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

typedef struct welder {
    const float *position, *normal;
    und_shell *out;
    size_t slots;  /* a power of 2 */
    int32_t *slot; /* vertex + 1; 0: free */
} welder;

static int32_t vertex_of(const welder *w, size_t corner)
{
    const float *p = w->position + 3 * corner, *n = w->normal ? w->normal + 3 * corner : NULL;
    und_shell *out = w->out;
    uint32_t bits[3];
    memcpy(bits, p, sizeof bits);
    size_t at = (size_t)und_random_bits(bits[0], bits[1], bits[2]) & (w->slots - 1);
    while (w->slot[at] && memcmp(out->position + 3 * (w->slot[at] - 1), p, 3 * sizeof *p) != 0)
        at = (at + 1) & (w->slots - 1);
    if (!w->slot[at]) {
        memcpy(out->position + 3 * (size_t)out->vertex_count, p, 3 * sizeof *p);
        w->slot[at] = ++out->vertex_count;
    }
    int32_t vertex = w->slot[at] - 1;
    for (int k = 0; k < 3 && n; k++)
        out->normal[3 * vertex + k] += n[k];
    return vertex;
}

/* Weighted by area, since the cross product is as long as twice that. */
static void add_face_normal(und_shell *s, const int32_t *v)
{
    und_vec3 p[3];
    for (int i = 0; i < 3; i++)
        p[i] = und_vec((double)s->position[3 * v[i]], (double)s->position[3 * v[i] + 1],
                       (double)s->position[3 * v[i] + 2]);
    und_vec3 n = und_cross(und_sub(p[1], p[0]), und_sub(p[2], p[0]));
    for (int i = 0; i < 3; i++) {
        s->normal[3 * v[i]] += (float)n.x;
        s->normal[3 * v[i] + 1] += (float)n.y;
        s->normal[3 * v[i] + 2] += (float)n.z;
    }
}

static void weld(const welder *w, size_t triangles)
{
    und_shell *out = w->out;
    for (size_t i = 0; i < triangles; i++) {
        int32_t *to = out->triangle + 3 * (size_t)out->triangle_count, v[3];
        for (size_t k = 0; k < 3; k++)
            v[k] = vertex_of(w, 3 * i + k);
        if (v[0] == v[1] || v[1] == v[2] || v[2] == v[0])
            continue; /* a line or a point */
        memcpy(to, v, sizeof v);
        out->triangle_count++;
        if (!w->normal)
            add_face_normal(out, v);
    }
    for (int i = 0; i < out->vertex_count; i++) {
        float *n = out->normal + 3 * (size_t)i;
        und_vec3 unit = und_unit(und_vec((double)n[0], (double)n[1], (double)n[2]));
        bool known = und_dot(unit, unit) > 0.5; /* not so where it is 0 or not finite */
        n[0] = known ? (float)unit.x : 0;
        n[1] = known ? (float)unit.y : 1;
        n[2] = known ? (float)unit.z : 0;
    }
}

und_status und_shell_weld(const float *position, const float *normal, size_t triangles, und_shell *out,
                          und_error *err)
{
    *out = (und_shell){0};
    if (triangles > INT_MAX / 9)
        return und_error_set(err, UND_FAILED, "a surface of %zu triangles, at most %d", triangles,
                             INT_MAX / 9);
    welder w = {.position = position, .normal = normal, .out = out, .slots = 64};
    while (w.slots < 6 * triangles)
        w.slots *= 2;
    w.slot = und_alloc(w.slots, sizeof *w.slot, "a surface's vertices", err);
    out->position = und_alloc(9 * triangles, sizeof *out->position, "a surface's vertices", err);
    out->normal = und_alloc(9 * triangles, sizeof *out->normal, "a surface's vertices", err);
    out->triangle = und_alloc(3 * triangles, sizeof *out->triangle, "a surface's triangles", err);
    bool good = w.slot && out->position && out->normal && out->triangle;
    if (good)
        weld(&w, triangles);
    else
        und_shell_free(out);
    free(w.slot);
    return good ? UND_OK : UND_FAILED;
}
