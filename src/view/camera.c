/* Where the viewer looks from. */
#include "view/camera.h"

#include <math.h>
#include <string.h>

static const double STEEPEST = 1.55; /* radians: short of straight down, where left and right are lost */

static void basis(const und_camera *c, double forward[3], double right[3], double up[3])
{
    if (c->flat) {
        memcpy(forward, (double[]){0, 0, -1}, 3 * sizeof *forward);
        memcpy(right, (double[]){1, 0, 0}, 3 * sizeof *right);
        memcpy(up, (double[]){0, 1, 0}, 3 * sizeof *up);
        return;
    }
    double ct = cos(c->turn), st = sin(c->turn), cc = cos(c->climb), sc = sin(c->climb);
    memcpy(forward, (double[]){-st * cc, -sc, -ct * cc}, 3 * sizeof *forward);
    memcpy(right, (double[]){ct, 0, -st}, 3 * sizeof *right);
    memcpy(up, (double[]){-st * sc, cc, -ct * sc}, 3 * sizeof *up);
}

static double held(double value, double low, double high)
{
    return fmin(fmax(value, low), high);
}

void und_camera_look(und_camera *c, const double eye[3], const double look[3], double view_angle)
{
    double d[3] = {eye[0] - look[0], eye[1] - look[1], eye[2] - look[2]};
    c->distance = fmax(sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]), 1e-6);
    c->turn = atan2(d[0], d[2]);
    c->climb = held(asin(held(d[1] / c->distance, -1, 1)), -STEEPEST, STEEPEST);
    c->view_angle = view_angle;
    memcpy(c->target, look, sizeof c->target);
    memcpy(c->home, (double[]){look[0], look[1], look[2], c->distance, c->turn, c->climb}, sizeof c->home);
}

void und_camera_go_home(und_camera *c)
{
    memcpy(c->target, c->home, sizeof c->target);
    c->distance = c->home[3];
    c->turn = c->home[4];
    c->climb = c->home[5];
}

void und_camera_orbit(und_camera *c, double right, double up)
{
    c->turn = remainder(c->turn - right, 2 * M_PI);
    c->climb = held(c->climb + up, -STEEPEST, STEEPEST);
}

void und_camera_fly(und_camera *c, double right, double up, double forward)
{
    double f[3], r[3], u[3];
    basis(c, f, r, u);
    for (int a = 0; a < 3; a++)
        c->target[a] += right * r[a] + up * u[a] + forward * f[a];
}

void und_camera_pan(und_camera *c, double right, double up)
{
    double height = c->flat ? c->distance : 2 * c->distance * tan(c->view_angle / 2);
    und_camera_fly(c, right * height, up * height, 0);
}

void und_camera_zoom(und_camera *c, double factor)
{
    c->distance = held(c->distance * factor, c->home[3] * 1e-3, c->home[3] * 1e3);
}

static void multiply(const float a[16], const float b[16], float out[16])
{
    for (int column = 0; column < 4; column++)
        for (int row = 0; row < 4; row++) {
            float sum = 0;
            for (int k = 0; k < 4; k++)
                sum += a[4 * k + row] * b[4 * column + k];
            out[4 * column + row] = sum;
        }
}

/* Of a view that is higher than it is wide, as two side by side may be, the width is kept. */
static void set_projection(und_lens *lens, const und_camera *c)
{
    float *p = lens->projection, aspect = (float)lens->width / (float)lens->height;
    float tall = aspect < 1.25f ? 1.25f / aspect : 1;
    float near = lens->near, far = lens->far;
    if (c->flat) {
        p[5] = 2 / (float)c->distance;
        p[10] = -2 / (far - near);
        p[14] = -(far + near) / (far - near);
        p[15] = 1;
    } else {
        p[5] = 1 / ((float)tan(c->view_angle / 2) * tall);
        p[10] = -(far + near) / (far - near);
        p[11] = -1;
        p[14] = -2 * far * near / (far - near);
    }
    p[0] = p[5] / aspect;
}

/* Of projection and view each, whose forms are known. */
static void set_inverse(und_lens *lens)
{
    const float *p = lens->projection;
    float back[16] = {[0] = lens->right[0],
                      [1] = lens->right[1],
                      [2] = lens->right[2],
                      [4] = lens->up[0],
                      [5] = lens->up[1],
                      [6] = lens->up[2],
                      [8] = -lens->forward[0],
                      [9] = -lens->forward[1],
                      [10] = -lens->forward[2],
                      [12] = lens->eye[0],
                      [13] = lens->eye[1],
                      [14] = lens->eye[2],
                      [15] = 1};
    float out[16] = {[0] = 1 / p[0], [5] = 1 / p[5]};
    if (lens->flat) {
        out[10] = 1 / p[10];
        out[14] = -p[14] / p[10];
        out[15] = 1;
    } else {
        out[11] = 1 / p[14];
        out[14] = -1;
        out[15] = p[10] / p[14];
    }
    multiply(back, out, lens->inverse);
}

und_lens und_camera_lens(const und_camera *c, const int viewport[4], int window_height, double size)
{
    und_lens lens = {.x = viewport[0],
                     .y = viewport[1],
                     .width = viewport[2] > 0 ? viewport[2] : 1,
                     .height = viewport[3] > 0 ? viewport[3] : 1,
                     .window_height = window_height,
                     .flat = c->flat};
    double forward[3], right[3], up[3];
    basis(c, forward, right, up);
    double back = c->flat ? 2 * size : c->distance;
    for (int a = 0; a < 3; a++) {
        lens.eye[a] = (float)(c->target[a] - back * forward[a]);
        lens.forward[a] = (float)forward[a];
        lens.right[a] = (float)right[a];
        lens.up[a] = (float)up[a];
    }
    lens.near = (float)fmax(fmin(0.05 * c->distance, 0.01 * size + 0.02 * c->distance), 1e-6);
    lens.far = (float)(back + 4 * size + c->distance);
    const float *axis[3] = {lens.right, lens.up, lens.forward};
    for (int row = 0; row < 3; row++) {
        float sign = row == 2 ? -1 : 1, along = 0;
        for (int a = 0; a < 3; a++) {
            lens.view[4 * a + row] = sign * axis[row][a];
            along += axis[row][a] * lens.eye[a];
        }
        lens.view[12 + row] = -sign * along;
    }
    lens.view[15] = 1;
    set_projection(&lens, c);
    multiply(lens.projection, lens.view, lens.both);
    set_inverse(&lens);
    return lens;
}

void und_lens_ray(const und_lens *lens, double x, double y, double origin[3], double direction[3])
{
    double u = 2 * (x - lens->x) / lens->width - 1;
    double v = 2 * (lens->window_height - y - lens->y) / lens->height - 1;
    u /= (double)lens->projection[0];
    v /= (double)lens->projection[5];
    double length = lens->flat ? 1 : sqrt(1 + u * u + v * v);
    for (int a = 0; a < 3; a++) {
        double across = u * (double)lens->right[a] + v * (double)lens->up[a];
        origin[a] = (double)lens->eye[a] + (lens->flat ? across : 0);
        direction[a] = ((double)lens->forward[a] + (lens->flat ? 0 : across)) / length;
    }
}

bool und_lens_project(const und_lens *lens, const double point[3], double *x, double *y)
{
    double clip[4];
    for (int row = 0; row < 4; row++) {
        clip[row] = (double)lens->both[12 + row];
        for (int a = 0; a < 3; a++)
            clip[row] += (double)lens->both[4 * a + row] * point[a];
    }
    if (!(clip[3] > 0))
        return false;
    *x = lens->x + (clip[0] / clip[3] + 1) / 2 * lens->width;
    *y = lens->window_height - (lens->y + (clip[1] / clip[3] + 1) / 2 * lens->height);
    return true;
}

bool und_lens_holds(const und_lens *lens, double x, double y)
{
    double v = lens->window_height - y;
    return x >= lens->x && x < lens->x + lens->width && v >= lens->y && v < lens->y + lens->height;
}
