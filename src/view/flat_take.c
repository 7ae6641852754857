/* What a frame in two dimensions has, checked and made ready for drawing. */
#include "base/status.h"
#include "view/colormap.h"
#include "view/flat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CELLS = 1 << 24, CURVE_ROW = 4096, MOST_CURVE = 1 << 22, MOST_POINTS = 1 << 24 };

bool und_flat_fits(const und_frame *frame)
{
    und_plot_data d;
    if (frame->grid.n[2] != 1)
        return false;
    return und_stage_plot_read(frame, &d) || (frame->grid.n[1] == 1 && und_column_field(frame, "surface"));
}

const char *und_flat_title(und_flat_field field, const char **unit)
{
    static const char *const titles[] = {"Water", "Pressure", "Speed", "Vorticity"}, *const units[] = {
                                                                                         "", "Pa", "m/s",
                                                                                         "1/s"};
    *unit = units[field];
    return titles[field];
}

void und_flat_range(const und_flat *f, und_flat_field field, double *low, double *high, int *map)
{
    *map = field == UND_FLAT_VORTICITY ? UND_MAP_DIVERGING : UND_MAP_EVEN;
    *low = field == UND_FLAT_VORTICITY ? -f->vorticity : field == UND_FLAT_PRESSURE ? f->scale.suction : 0;
    *high = field == UND_FLAT_VORTICITY  ? f->vorticity
            : field == UND_FLAT_PRESSURE ? f->scale.pressure
                                         : f->scale.speed;
    if (!(*high > *low)) /* nothing moves: any range will do */
        *high = *low + 1;
}

static und_status make_room(und_flat *f, size_t cells, und_error *err)
{
    if (cells <= f->room)
        return UND_OK;
    free(f->flow);
    free(f->wet);
    free(f->field);
    f->room = 0;
    f->flow = und_alloc(2 * cells, sizeof(float), "the picture", err);
    f->wet = und_alloc(cells, 1, "the picture", err);
    f->field = und_alloc(4 * cells, sizeof(float), "the picture", err);
    if (!f->flow || !f->wet || !f->field)
        return UND_FAILED;
    f->room = cells;
    return UND_OK;
}

/* Between wet neighbours of a cell along an axis, as far as there are such: a difference over a length. */
static double slope(const und_flat *f, int i, int j, int axis, int part)
{
    int at[2][2] = {{i, j}, {i, j}};
    double d = axis ? f->dy : f->dx, apart = 0;
    for (int side = 0; side < 2; side++) {
        int n[2] = {i, j};
        n[axis] += side ? 1 : -1;
        if (n[0] >= 0 && n[1] >= 0 && n[0] < f->nx && n[1] < f->ny && f->wet[n[1] * f->nx + n[0]]) {
            memcpy(at[side], n, sizeof n);
            apart += d;
        }
    }
    if (!(apart > 0))
        return 0;
    double low = (double)f->flow[2 * (at[0][1] * f->nx + at[0][0]) + part],
           high = (double)f->flow[2 * (at[1][1] * f->nx + at[1][0]) + part];
    return (high - low) / apart;
}

static double vorticity_at(const und_flat *f, int i, int j)
{
    return slope(f, i, j, 0, 1) - slope(f, i, j, 1, 0);
}

static int order(const void *a, const void *b)
{
    double x = (double)*(const float *)a, y = (double)*(const float *)b;
    return (x > y) - (x < y);
}

/* A short number, at least x. */
static double round_up(double x)
{
    static const double steps[] = {1, 1.5, 2, 3, 4, 5, 6, 8, 10};
    double ten = pow(10, floor(log10(x)));
    int k = 0;
    while (k < 8 && x > steps[k] * ten * (1 + 1e-9))
        k++;
    return steps[k] * ten;
}

/* A scale grows at once, and shrinks where three quarters of it stand empty: colours that change their
 * meaning all the time have none. */
static double follow(double scale, double value)
{
    if (!(value > 1e-9))
        return scale;
    return value > scale || value < 0.25 * scale ? round_up(value) : scale;
}

/* What all but a hundredth of the wet cells stay below: a splash must not make all else one colour.  `sign`:
 * of values of that sign; 0: of both. */
static double common(const und_flat *f, int part, float sign, float *sorted)
{
    size_t count = 0, cells = (size_t)f->nx * (size_t)f->ny;
    for (size_t c = 0; c < cells; c++)
        if (f->wet[c]) {
            float value = f->field[4 * c + (size_t)part];
            sorted[count++] = sign != 0 ? fmaxf(sign * value, 0) : fabsf(value);
        }
    if (count == 0)
        return 0;
    qsort(sorted, count, sizeof *sorted, order);
    return (double)sorted[count - 1 - count / 100];
}

static void observe(und_flat *f)
{
    float *sorted = malloc((size_t)f->nx * (size_t)f->ny * sizeof *sorted);
    if (!sorted)
        return;
    und_plot_scale *s = &f->scale;
    s->pressure = follow(s->pressure, common(f, 0, 1, sorted));
    /* A little suction under a splash is drawn as none. */
    double suction = common(f, 0, -1, sorted);
    s->suction = suction > 0.1 * s->pressure ? -follow(-s->suction, suction) : 0;
    s->speed = follow(s->speed, common(f, 1, 0, sorted));
    f->vorticity = follow(f->vorticity, common(f, 2, 0, sorted));
    free(sorted);
}

/* Pressure, speed and vorticity of wet cells. */
static void find_fields(und_flat *f, const und_plot_data *d)
{
    size_t cells = (size_t)d->nx * (size_t)d->ny;
    for (size_t c = 0; c < cells; c++) {
        int i = (int)(c % (size_t)d->nx), j = (int)(c / (size_t)d->nx);
        double v[2] = {0};
        f->wet[c] = und_plot_wet(d, i, j);
        if (f->wet[c] && d->u)
            und_stage_plot_velocity(d, i, j, v);
        f->flow[2 * c] = (float)v[0];
        f->flow[2 * c + 1] = (float)v[1];
        float p = f->wet[c] && d->pressure ? d->pressure[c] : 0;
        f->field[4 * c] = fabsf(p) < 1e15f ? p : 0;
        f->field[4 * c + 1] = (float)hypot(v[0], v[1]);
    }
    for (size_t c = 0; c < cells; c++)
        f->field[4 * c + 2] = f->wet[c] && d->u
                                  ? (float)vorticity_at(f, (int)(c % (size_t)d->nx), (int)(c / (size_t)d->nx))
                                  : 0;
    if (!f->hold)
        observe(f);
}

/* Into shares of the ranges, and on into two rings of cells around the wet ones, so that colours between
 * cells run on to the surface. */
static void finish_fields(und_flat *f)
{
    enum { RINGS = 2 };
    int cells = f->nx * f->ny;
    double low[3], high[3];
    int map;
    for (int k = 0; k < 3; k++) {
        und_flat_range(f, (und_flat_field)(UND_FLAT_PRESSURE + k), &low[k], &high[k], &map);
        f->taken[UND_FLAT_PRESSURE + k][0] = low[k];
        f->taken[UND_FLAT_PRESSURE + k][1] = high[k];
    }
    for (int c = 0; c < cells; c++) {
        for (int k = 0; k < 3; k++)
            f->field[4 * c + k] =
                f->wet[c] ? (float)(((double)f->field[4 * c + k] - low[k]) / (high[k] - low[k])) : 0;
        f->field[4 * c + 3] = f->wet[c] ? 0 : RINGS + 1;
    }
    for (int ring = 0; ring < RINGS; ring++)
        for (int c = 0; c < cells; c++) {
            int found = 0;
            float sum[3] = {0};
            for (int k = 0; k < 9 && f->field[4 * c + 3] > (float)ring; k++) {
                int i = c % f->nx + k % 3 - 1, j = c / f->nx + k / 3 - 1, n = j * f->nx + i;
                if (i < 0 || j < 0 || i >= f->nx || j >= f->ny || f->field[4 * n + 3] != (float)ring)
                    continue;
                for (int part = 0; part < 3; part++)
                    sum[part] += f->field[4 * n + part];
                found++;
            }
            if (found == 0)
                continue;
            for (int part = 0; part < 3; part++)
                f->field[4 * c + part] = sum[part] / (float)found;
            f->field[4 * c + 3] = (float)ring + 1;
        }
}

static void put_texture(GLuint *texture, int size[2], GLenum format, int width, int height, bool linear,
                        GLenum parts, GLenum type, const void *data)
{
    if (!*texture || size[0] != width || size[1] != height) {
        glDeleteTextures(1, texture);
        *texture = und_gl_texture_2d(format, width, height, linear);
        size[0] = width;
        size[1] = height;
    }
    glBindTexture(GL_TEXTURE_2D, *texture);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, width, height, parts, type, data);
}

/* Solid, painted, inflow, and how wet. */
static und_status put_cells(und_flat *f, const und_frame *frame, const und_plot_data *d, und_error *err)
{
    size_t cells = (size_t)d->nx * (size_t)d->ny;
    const und_item *item = und_frame_find(frame, "painted");
    const uint8_t *painted =
        item && item->type == UND_U8 && item->data && und_item_count(item) == cells ? item->data : NULL;
    unsigned char *texel = und_alloc(cells, 4, "the picture", err);
    if (!texel)
        return UND_FAILED;
    for (size_t c = 0; c < cells; c++) {
        bool solid = d->label[c] == UND_CELL_SOLID;
        texel[4 * c] = solid ? 255 : 0;
        texel[4 * c + 1] = solid && painted && painted[c] == 1 ? 255 : 0;
        texel[4 * c + 2] = solid && painted && painted[c] == 2 ? 255 : 0;
        texel[4 * c + 3] = d->label[c] == UND_CELL_FULL ? 255 : d->label[c] == UND_CELL_SURFACE ? 128 : 0;
    }
    int same[2] = {f->cells_size[0], f->cells_size[1]};
    put_texture(&f->fields_texture, same, GL_RGBA16F, d->nx, d->ny, true, GL_RGBA, GL_FLOAT, f->field);
    put_texture(&f->cells_texture, f->cells_size, GL_RGBA8, d->nx, d->ny, true, GL_RGBA, GL_UNSIGNED_BYTE,
                texel);
    free(texel);
    return UND_OK;
}

/* Places in the plane from [count][3], in metres from the low corner; what is no place is left out. */
static und_status put_points(const und_flat *f, und_flat_buffer *buffer, const float *place, size_t count,
                             const float *radius, und_error *err)
{
    int good = 0;
    count = place && count < MOST_POINTS ? count : 0;
    float *points = count ? und_alloc(count, 3 * sizeof *points, "the picture", err) : NULL;
    if (count && !points)
        return UND_FAILED;
    for (size_t k = 0; k < count; k++) {
        float x = place[3 * k], y = place[3 * k + 1];
        if (!(fabsf(x) < 1e12f && fabsf(y) < 1e12f))
            continue;
        points[3 * good] = (float)((double)x - f->x0);
        points[3 * good + 1] = (float)((double)y - f->y0);
        points[3 * good++ + 2] = radius && radius[k] > 0 && radius[k] < 1e6f ? radius[k] : 0;
    }
    und_flat_upload(buffer, points, 3 * sizeof *points * (size_t)good, good);
    free(points);
    return UND_OK;
}

static und_status put_drops(und_flat *f, const und_frame *frame, und_error *err)
{
    size_t count = 0;
    const float *place = und_frame_points(frame, "spray/position", &count);
    const und_item *item = und_frame_find(frame, "spray/radius");
    const float *radius =
        item && item->type == UND_F32 && item->data && und_item_count(item) == count ? item->data : NULL;
    if (!place)
        place = und_frame_points(frame, "rain/position", &count);
    return put_points(f, &f->drops, place, count, radius, err);
}

typedef struct triangle {
    float corner[3][3], color[3];
} triangle;

static int farther(const void *a, const void *b)
{
    const triangle *s = a, *t = b;
    float x = s->corner[0][2] + s->corner[1][2] + s->corner[2][2],
          y = t->corner[0][2] + t->corner[1][2] + t->corner[2][2];
    return (x > y) - (x < y);
}

static float encoded(float linear)
{
    return und_srgb_encode(fminf(fmaxf(linear, 0), 1));
}

/* False: it is seen from behind. */
static bool see_triangle(const und_rigid *b, size_t body, size_t corner, triangle *t)
{
    static const float plain[3] = {0.55f, 0.12f, 0.08f};
    und_rigid_corners(b, body, corner, 3, t->corner);
    float a[3], c[3];
    for (int k = 0; k < 3; k++) {
        a[k] = t->corner[1][k] - t->corner[0][k];
        c[k] = t->corner[2][k] - t->corner[0][k];
    }
    float n[3] = {a[1] * c[2] - a[2] * c[1], a[2] * c[0] - a[0] * c[2], a[0] * c[1] - a[1] * c[0]};
    float length = sqrtf(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    if (!(length > 0) || n[2] <= 0)
        return false;
    float light = (-0.35f * n[0] + 0.75f * n[1] + 0.55f * n[2]) / length;
    for (int k = 0; k < 3; k++)
        t->color[k] = encoded((b->color ? b->color[3 * corner + (size_t)k] : plain[k]) *
                              (0.62f + 0.45f * fmaxf(light, 0)));
    return true;
}

/* Corners of the triangles that face the viewer, those behind first: place and colour. */
static und_status put_bodies(und_flat *f, const und_frame *frame, und_error *err)
{
    und_rigid b;
    if (!und_rigid_find(frame, &b)) {
        f->bodies.count = 0;
        return UND_OK;
    }
    triangle *list = und_alloc(b.corners / 3 + 1, sizeof *list, "bodies", err);
    float *vertex = und_alloc(5 * b.corners + 1, sizeof *vertex, "bodies", err);
    size_t seen = 0;
    for (size_t i = 0; list && vertex && i < b.count; i++)
        for (size_t k = (size_t)b.first[i]; k + 2 < (size_t)b.first[i + 1]; k += 3)
            seen += see_triangle(&b, i, k, &list[seen]);
    if (seen > 0)
        qsort(list, seen, sizeof *list, farther);
    for (size_t t = 0; t < seen; t++)
        for (int k = 0; k < 3; k++) {
            float *v = vertex + 5 * (3 * t + (size_t)k);
            v[0] = (float)((double)list[t].corner[k][0] - f->x0);
            v[1] = (float)((double)list[t].corner[k][1] - f->y0);
            memcpy(v + 2, list[t].color, sizeof list[t].color);
        }
    und_status status = list && vertex ? UND_OK : UND_FAILED;
    if (status == UND_OK)
        und_flat_upload(&f->bodies, vertex, 15 * seen * sizeof *vertex, (int)(3 * seen));
    free(list);
    free(vertex);
    return status;
}

static und_status take_cells(und_flat *f, const und_frame *frame, const und_plot_data *d, und_error *err)
{
    size_t cells = (size_t)d->nx * (size_t)d->ny;
    GLint widest = 0;
    glGetIntegerv(GL_MAX_TEXTURE_SIZE, &widest);
    if (cells > MOST_CELLS || d->nx > widest || d->ny > widest)
        return und_error_set(err, UND_INVALID, "%d x %d cells: more than OpenGL shows here", d->nx, d->ny);
    if (make_room(f, cells, err) != UND_OK)
        return UND_FAILED;
    f->kind = UND_FLAT_CELLS;
    f->nx = d->nx;
    f->ny = d->ny;
    f->x0 = d->x0;
    f->y0 = d->y0;
    f->dx = d->dx;
    f->dy = d->dy;
    f->stretch = 1;
    f->has_flow = d->u;
    f->has_pressure = d->pressure;
    f->has_markers = d->marker && d->markers > 0;
    find_fields(f, d);
    finish_fields(f);
    f->has_fill =
        und_flat_fill(&f->fill, d, und_column_field(frame, "surface"), und_column_field(frame, "ground")) &&
        f->fill.nx <= widest && f->fill.ny <= widest;
    if (f->has_fill)
        put_texture(&f->fill_texture, f->fill_size, GL_R16F, f->fill.nx, f->fill.ny, true, GL_RED, GL_FLOAT,
                    f->fill.share);
    double wet = 0;
    for (size_t c = 0; c < cells; c++)
        wet += f->wet[c];
    f->spacing = sqrt(fmax(wet, 1) * d->dx * d->dy / fmax((double)d->markers, 1));
    if (put_cells(f, frame, d, err) != UND_OK)
        return UND_FAILED;
    return put_points(f, &f->markers, d->marker, d->markers, NULL, err);
}

/* Heights that are shown, and by how much they are stretched where the water would be flat: as at first. */
static void frame_curve(und_flat *f)
{
    double low = INFINITY, high = -INFINITY, wet = -INFINITY, across = f->nx * f->dx;
    for (int i = 0; i < f->nx; i++) {
        low = fmin(low, (double)f->curve[4 * i + 1]);
        high = fmax(high, (double)f->curve[4 * i + 1]);
        if (f->curve[4 * i + 2] > 0)
            wet = fmax(wet, (double)f->curve[4 * i]);
    }
    double top = isfinite(wet) ? fmax(wet, fmin(high, wet + 0.5 * (wet - low))) : high;
    double tall = fmax(top - low, 1e-3 * across), room = tall / 0.62, natural = 9.0 / 16 * across;
    double given = f->look ? f->look->vertical : 1;
    f->stretch = given != 1 && given > 0 && isfinite(given) ? given : fmax(1, 0.35 * natural / room);
    f->low = low - 0.25 * room;
    f->high = top + 0.25 * room;
}

/* Ground that water left dries. */
static float wetness(const und_flat *f, float before, bool wet, double seconds)
{
    double drying = f->look && f->look->drying > 0 ? f->look->drying : 8;
    if (wet)
        return 1;
    return seconds > 0 ? before * (float)exp(-seconds / drying) : before;
}

static und_status take_curve(und_flat *f, const und_frame *frame, und_error *err)
{
    const und_grid *g = &frame->grid;
    const float *surface = und_column_field(frame, "surface"), *ground = und_column_field(frame, "ground");
    int nx = g->n[0];
    if (nx < 2 || nx > MOST_CURVE || !(g->dx > 0) || !isfinite(g->dx) || !(fabs(g->origin[0]) < 1e12))
        return und_error_set(err, UND_INVALID, "frame %d is damaged: its grid is none", frame->number);
    bool first = f->kind != UND_FLAT_CURVE || f->nx != nx;
    int rows = (nx + CURVE_ROW - 1) / CURVE_ROW;
    if (first) {
        free(f->curve);
        f->kind = UND_FLAT_NOTHING;
        f->curve = und_alloc(4 * (size_t)CURVE_ROW * (size_t)rows, sizeof *f->curve, "the picture", err);
        if (!f->curve)
            return UND_FAILED;
        f->kind = UND_FLAT_CURVE;
    }
    f->nx = nx;
    f->ny = 1;
    f->dx = f->dy = g->dx;
    f->x0 = g->origin[0];
    f->y0 = 0;
    for (int i = 0; i < nx; i++) {
        float *c = f->curve + 4 * i, low = ground && fabsf(ground[i]) < 1e9f ? ground[i] : 0;
        bool sane = fabsf(surface[i]) < 1e9f;
        c[0] = sane && surface[i] > low ? surface[i] : low;
        c[1] = low;
        c[2] = sane && surface[i] > low ? 1 : 0;
        c[3] = wetness(f, first ? 0 : c[3], c[2] > 0, frame->time - f->time);
    }
    if (first)
        frame_curve(f);
    put_texture(&f->curve_texture, f->curve_size, GL_RGBA32F, CURVE_ROW, rows, false, GL_RGBA, GL_FLOAT,
                f->curve);
    return UND_OK;
}

und_status und_flat_take(und_painter *self, const und_frame *frame, und_error *err)
{
    und_flat *f = (und_flat *)self;
    und_plot_data d;
    und_status status =
        und_error_set(err, UND_INVALID, "frame %d holds no liquid in two dimensions", frame->number);
    double z = frame->grid.origin[2] + 0.5 * und_grid_size(&frame->grid, 2);
    f->z = isfinite(z) ? z : 0;
    if (und_stage_plot_read(frame, &d))
        status = take_cells(f, frame, &d, err);
    else if (und_flat_fits(frame))
        status = take_curve(f, frame, err);
    f->time = isfinite(frame->time) ? frame->time : 0;
    if (status == UND_OK && f->kind == UND_FLAT_CELLS)
        status = und_flat_streaks_move(f, err);
    if (status != UND_OK || put_drops(f, frame, err) != UND_OK || put_bodies(f, frame, err) != UND_OK)
        return err->status;
    return UND_OK;
}
