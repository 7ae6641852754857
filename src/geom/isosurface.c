/* What indexed surfaces are as loose triangles. */
#include "geom/isosurface.h"

#include "base/parallel.h"
#include "base/status.h"
#include "geom/shell.h"
#include "geom/vec.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* The cosine of the angle between gradient and triangle from which on there is a crease. */
static const double CREASE = 0.5;

static und_vec3 vector_at(const float *list, int32_t i)
{
    return und_vec((double)list[3 * i], (double)list[3 * i + 1], (double)list[3 * i + 2]);
}

static double largest(und_vec3 v)
{
    return fmax(fabs(v.x), fmax(fabs(v.y), fabs(v.z)));
}

/* The triangle's own normal, a unit vector; false where it is too narrow for its places' rounding to tell. */
static bool face_normal(const und_shell *s, const int32_t *v, und_vec3 *normal)
{
    const double rounding = 4e-7; /* of places, in floats */
    und_vec3 a = vector_at(s->position, v[0]), ab = und_sub(vector_at(s->position, v[1]), a),
             ac = und_sub(vector_at(s->position, v[2]), a), cross = und_cross(ab, ac);
    *normal = und_unit(cross);
    return und_length(cross) > rounding * largest(a) * fmax(und_length(ab), und_length(ac));
}

unsigned und_isosurface_creases(const und_shell *s, int triangle, float own[3])
{
    const int32_t *v = s->triangle + 3 * (size_t)triangle;
    und_vec3 normal;
    unsigned creases = 0;
    bool known = face_normal(s, v, &normal);
    for (int i = 0; i < 3; i++)
        creases |= known && !(und_dot(vector_at(s->normal, v[i]), normal) > CREASE) ? 1U << i : 0;
    own[0] = (float)normal.x;
    own[1] = (float)normal.y;
    own[2] = (float)normal.z;
    return creases;
}

static void put_triangle(const und_shell *s, int triangle, und_isosurface *out)
{
    float own[3], *normal = out->normal + 9 * (size_t)triangle;
    unsigned creases = und_isosurface_creases(s, triangle, own);
    und_shell_corners(s, s->position, (size_t)triangle, out->position + 9 * (size_t)triangle);
    und_shell_corners(s, s->normal, (size_t)triangle, normal);
    for (int i = 0; i < 3; i++)
        if (creases >> i & 1)
            memcpy(normal + 3 * i, own, sizeof own);
}

und_status und_isosurface_of(const und_shell *shell, int threads, und_isosurface *out, und_error *err)
{
    enum { BLOCK = 4096 };
    size_t numbers = 9 * (size_t)shell->triangle_count;
    int blocks = (shell->triangle_count + BLOCK - 1) / BLOCK;
    *out = (und_isosurface){0};
    out->position = und_alloc(numbers, sizeof *out->position, "a surface's corners", err);
    out->normal = und_alloc(numbers, sizeof *out->normal, "a surface's normals", err);
    if (!out->position || !out->normal) {
        und_isosurface_free(out);
        return UND_FAILED;
    }
    PARALLEL_FOR(und_workers(und_threads(threads), (size_t)shell->triangle_count, 1 << 13))
    for (int b = 0; b < blocks; b++)
        for (int t = b * BLOCK; t < (b + 1) * BLOCK && t < shell->triangle_count; t++)
            put_triangle(shell, t, out);
    out->triangle_count = shell->triangle_count;
    return UND_OK;
}

und_status und_isosurface_make(const und_lattice *lattice, const float *field, int threads,
                               und_isosurface *out, und_error *err)
{
    const int *n = lattice->n;
    *out = (und_isosurface){0};
    if (n[0] < 2 || n[1] < 2 || n[2] < 2)
        return UND_OK; /* no cell */
    double *at = und_alloc((size_t)n[0] + (size_t)n[1] + (size_t)n[2], sizeof *at, "a lattice", err);
    if (!at)
        return UND_FAILED;
    und_shell_def def = {
        .n = {n[0], n[1], n[2]}, .at = {at, at + n[0], at + n[0] + n[1]}, .field = field, .threads = threads};
    double *to = at;
    for (int axis = 0; axis < 3; axis++)
        for (int i = 0; i < n[axis]; i++)
            *to++ = lattice->origin[axis] + i * lattice->d[axis];
    und_shell shell;
    und_status status = und_shell_make(&def, &shell, err);
    if (status == UND_OK)
        status = und_isosurface_of(&shell, threads, out, err);
    und_shell_free(&shell);
    free(at);
    return status;
}

void und_isosurface_free(und_isosurface *surface)
{
    free(surface->position);
    free(surface->normal);
    *surface = (und_isosurface){0};
}
