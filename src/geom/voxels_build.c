/* Makes sets of voxels, with the nearest voxel of the other kind for each. */
#include "geom/voxels_state.h"

#include "base/status.h"

#include <stdlib.h>
#include <string.h>

/* One line of voxels while the nearest are found along it. */
typedef struct line {
    double *height;   /* squared distance to the nearest across the line; infinite: none so far */
    int32_t *feature; /* that one */
    int *site;        /* of the parabolas of the lower envelope */
    double *begin;    /* where each becomes the lowest */
} line;

/* The lower envelope of the parabolas height[i] + (cell (x - i))^2 (Felzenszwalb & Huttenlocher, "Distance
 * Transforms of Sampled Functions", 2012): which is lowest at each place. */
static void spread_line(line *l, int count, double cell, int32_t *out, size_t stride)
{
    int k = -1;
    for (int i = 0; i < count; i++) {
        if (!isfinite(l->height[i]))
            continue;
        double from = -INFINITY;
        for (; k >= 0; k--) {
            int j = l->site[k];
            double rise = (l->height[i] - l->height[j]) / (cell * cell);
            from = (rise + (double)i * i - (double)j * j) / (2.0 * (i - j));
            if (from > l->begin[k])
                break;
            from = -INFINITY;
        }
        l->site[++k] = i;
        l->begin[k] = from;
    }
    for (int i = 0, at = 0; i < count && k >= 0; i++) {
        while (at < k && l->begin[at + 1] < i)
            at++;
        out[(size_t)i * stride] = l->feature[l->site[at]];
    }
}

/* Squared distance from a voxel to its nearest so far, along the axes before this one. */
static double across(const und_voxels *v, const int at[3], int32_t feature, int axis)
{
    int there[3] = {feature % v->padded[0], feature / v->padded[0] % v->padded[1],
                    feature / v->padded[0] / v->padded[1]};
    double sum = 0;
    for (int a = 0; a < axis; a++) {
        double d = (at[a] - there[a]) * v->cell[a];
        sum += d * d;
    }
    return sum;
}

static void spread_axis(const und_voxels *v, int axis, int32_t *feature, line *l)
{
    size_t step[3] = {1, (size_t)v->padded[0], (size_t)v->padded[0] * (size_t)v->padded[1]};
    int b = (axis + 1) % 3, c = (axis + 2) % 3, at[3];
    for (at[c] = 0; at[c] < v->padded[c]; at[c]++)
        for (at[b] = 0; at[b] < v->padded[b]; at[b]++) {
            int32_t *begin = feature + (size_t)at[c] * step[c] + (size_t)at[b] * step[b];
            for (int i = 0; i < v->padded[axis]; i++) {
                int32_t f = begin[(size_t)i * step[axis]];
                at[axis] = i;
                l->feature[i] = f;
                l->height[i] = f < 0 ? INFINITY : across(v, at, f, axis);
            }
            spread_line(l, v->padded[axis], v->cell[axis], begin, step[axis]);
        }
}

/* The nearest voxel of either kind, each for those of the other. */
static und_status find_nearest(und_voxels *v, und_error *err)
{
    size_t count = (size_t)v->padded[0] * (size_t)v->padded[1] * (size_t)v->padded[2];
    int longest = UND_VOXELS_SIDE + 2;
    int32_t *feature = und_alloc(count, sizeof *feature, "voxels", err);
    char *scratch =
        und_alloc((size_t)longest, 2 * sizeof(double) + sizeof(int32_t) + sizeof(int), "voxels", err);
    if (feature && scratch) {
        line l = {.height = (double *)(void *)scratch};
        l.begin = l.height + longest;
        l.feature = (int32_t *)(l.begin + longest);
        l.site = (int *)(l.feature + longest);
        for (int kind = 0; kind < 2; kind++) {
            for (size_t i = 0; i < count; i++)
                feature[i] = v->filled[i] == kind ? (int32_t)i : -1;
            for (int axis = 0; axis < 3; axis++)
                spread_axis(v, axis, feature, &l);
            for (size_t i = 0; i < count; i++)
                v->nearest[i] = v->filled[i] == kind ? v->nearest[i] : feature[i];
        }
    }
    bool good = feature && scratch;
    free(feature);
    free(scratch);
    return good ? UND_OK : UND_FAILED;
}

/* Copies the voxels; how many are in the shape. */
static long copy_filled(und_voxels *v, const uint8_t *from)
{
    long count = 0;
    int low[3] = {v->n[0], v->n[1], v->n[2]}, high[3] = {0, 0, 0};
    for (int z = 0; z < v->n[2]; z++)
        for (int y = 0; y < v->n[1]; y++)
            for (int x = 0; x < v->n[0]; x++) {
                int at[3] = {x, y, z};
                if (!*from++)
                    continue;
                v->filled[und_voxel_at(v, x, y, z)] = 1;
                count++;
                for (int a = 0; a < 3; a++) {
                    low[a] = at[a] < low[a] ? at[a] : low[a];
                    high[a] = at[a] + 1 > high[a] ? at[a] + 1 : high[a];
                }
            }
    v->bounds.low =
        und_vec(und_voxel_face(v, 0, low[0]), und_voxel_face(v, 1, low[1]), und_voxel_face(v, 2, low[2]));
    v->bounds.high =
        und_vec(und_voxel_face(v, 0, high[0]), und_voxel_face(v, 1, high[1]), und_voxel_face(v, 2, high[2]));
    return count;
}

static und_status build(und_voxels *v, const und_voxels_def *def, und_error *err)
{
    double low[3] = {def->low.x, def->low.y, def->low.z}, high[3] = {def->high.x, def->high.y, def->high.z};
    size_t count = 1;
    if ((double)def->n[0] * def->n[1] * def->n[2] > UND_VOXELS_MAX)
        return und_error_set(err, UND_INVALID, "more than %d voxels", (int)UND_VOXELS_MAX);
    for (int a = 0; a < 3; a++) {
        if (def->n[a] < 1 || def->n[a] > UND_VOXELS_SIDE)
            return und_error_set(err, UND_INVALID, "expected 1 to %d voxels along an axis, found %d",
                                 (int)UND_VOXELS_SIDE, def->n[a]);
        if (!(high[a] > low[a] && low[a] >= -1e6 && high[a] <= 1e6))
            return und_error_set(err, UND_INVALID, "the low corner of voxels must be below the high one");
        v->n[a] = def->n[a];
        v->padded[a] = def->n[a] + 2;
        v->low[a] = low[a];
        v->cell[a] = (high[a] - low[a]) / def->n[a];
        count *= (size_t)v->padded[a];
    }
    v->filled = und_alloc(count, sizeof *v->filled, "voxels", err);
    v->nearest = und_alloc(count, sizeof *v->nearest, "voxels", err);
    if (!v->filled || !v->nearest)
        return UND_FAILED;
    if (copy_filled(v, def->filled) == 0)
        return und_error_set(err, UND_INVALID, "no voxel is in the shape");
    return find_nearest(v, err);
}

und_voxels *und_voxels_create(const und_voxels_def *def, und_error *err)
{
    und_voxels *v = und_alloc(1, sizeof *v, "voxels", err);
    if (!v)
        return NULL;
    atomic_init(&v->holders, 1);
    if (build(v, def, err) != UND_OK) {
        und_voxels_release(v);
        return NULL;
    }
    return v;
}

und_voxels *und_voxels_keep(und_voxels *v)
{
    atomic_fetch_add(&v->holders, 1);
    return v;
}

void und_voxels_release(und_voxels *v)
{
    if (!v || atomic_fetch_sub(&v->holders, 1) > 1)
        return;
    free(v->filled);
    free(v->nearest);
    free(v);
}

size_t und_voxels_bytes(const und_voxels *v)
{
    return sizeof *v + (size_t)v->padded[0] * (size_t)v->padded[1] * (size_t)v->padded[2] *
                           (sizeof *v->filled + sizeof *v->nearest);
}
