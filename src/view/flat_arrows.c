/* Arrows: means over blocks of cells, as dense as the eye can use. */
#include "view/flat.h"

#include <math.h>

/* Cells along a block's side: the arrows are about 22 pixels apart, whatever the zoom. */
static int block_size(const und_flat *f, const und_flat_view *view)
{
    const double apart = 22;
    double cell = fmin(f->dx / view->pixel[0], f->dy / view->pixel[1]);
    return cell > 0 ? (int)fmin(fmax(ceil(apart / cell - 0.2), 1), 1 << 20) : 1;
}

double und_flat_arrow_pixels(const und_flat *f, const und_flat_view *view)
{
    double cell = fmin(f->dx / view->pixel[0], f->dy / view->pixel[1]);
    return 1.2 * fmin(block_size(f, view) * cell, 60);
}

/* The mean over a block's wet cells, at their middle, in cells from the low corner; false: all dry. */
static bool block_mean(const und_flat *f, int i0, int j0, int block, double at[2], double v[2])
{
    int wet = 0;
    at[0] = at[1] = v[0] = v[1] = 0;
    for (int j = j0; j < j0 + block && j < f->ny; j++)
        for (int i = i0; i < i0 + block && i < f->nx; i++) {
            size_t c = (size_t)j * (size_t)f->nx + (size_t)i;
            if (!f->wet[c])
                continue;
            v[0] += (double)f->flow[2 * c];
            v[1] += (double)f->flow[2 * c + 1];
            at[0] += i + 0.5;
            at[1] += j + 0.5;
            wet++;
        }
    for (int k = 0; k < 2 && wet; k++) {
        at[k] /= wet;
        v[k] /= wet;
    }
    return wet > 0;
}

int und_flat_arrows(const und_flat *f, const und_flat_view *view, float (*arrow)[4], int most)
{
    if (f->kind != UND_FLAT_CELLS || !f->has_flow || !(f->scale.speed > 0))
        return 0;
    int block = block_size(f, view), count = 0, from[2], to[2];
    const double d[2] = {f->dx, f->dy}, n[2] = {f->nx, f->ny};
    for (int a = 0; a < 2; a++) { /* the blocks seen */
        from[a] = (int)(fmin(fmax((view->middle[a] - view->half[a]) / d[a], 0), n[a]) / block) * block;
        to[a] = (int)ceil(fmin(fmax((view->middle[a] + view->half[a]) / d[a], 0), n[a]));
    }
    double length = und_flat_arrow_pixels(f, view) / f->scale.speed, at[2], v[2];
    for (int j = from[1]; j < to[1]; j += block)
        for (int i = from[0]; i < to[0] && count < most; i += block) {
            if (!block_mean(f, i, j, block, at, v))
                continue;
            /* The few that are faster than the scale end at three times its arrow. */
            double scale = length / fmax(1, hypot(v[0], v[1]) / (3 * f->scale.speed));
            for (int a = 0; a < 2; a++) {
                arrow[count][a] = (float)((at[a] * d[a] - view->middle[a] + view->half[a]) / view->pixel[a]);
                arrow[count][2 + a] = (float)(v[a] * scale);
            }
            count++;
        }
    return count;
}
