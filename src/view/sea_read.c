/* Reads frames for the painter of height fields, with the functions of all pictures. */
#include "view/sea_read.h"

#include "geom/value.h"
#include "view/sea_bodies.h"
#include "view/sea_fine.h"

#include <stdlib.h>
#include <string.h>

struct und_sea_reader {
    und_scenery *stage;
    und_sea_fields fields;
    und_sea_fine fine;
    und_sea_bodies bodies;
    float *drift;
    size_t samples; /* that it has room for */
    float sky_sun[3];
};

und_sea_reader *und_sea_reader_create(const und_picture_def *look, und_error *err)
{
    und_sea_reader *reader = und_alloc(1, sizeof *reader, "the sea's picture", err);
    if (!reader)
        return NULL;
    und_picture_def def = *look;
    def.width = def.height = def.samples = 1;
    def.vertical = 1;
    def.stop = NULL;
    if (!(reader->stage = und_scenery_create(&def, false, err))) {
        und_sea_reader_destroy(reader);
        return NULL;
    }
    return reader;
}

void und_sea_reader_destroy(und_sea_reader *reader)
{
    if (!reader)
        return;
    und_scenery_destroy(reader->stage);
    und_sea_fine_free(&reader->fine);
    und_sea_bodies_free(&reader->bodies);
    free(reader->drift);
    free(reader);
}

void und_sea_reader_patterns(const und_sea_reader *reader, int *size, const float **noise,
                             const float **ripple)
{
    *size = TILE;
    *noise = reader->stage->pattern.texel;
    *ripple = reader->stage->ripple.texel;
}

const und_sea_fields *und_sea_reader_fields(const und_sea_reader *reader)
{
    return &reader->fields;
}

static und_status make_room(und_sea_reader *reader, size_t samples, und_error *err)
{
    if (reader->samples == samples)
        return UND_OK;
    free(reader->drift);
    reader->samples = 0;
    if (!(reader->drift = und_alloc(4 * samples, sizeof(float), "foam", err)))
        return UND_FAILED;
    reader->samples = samples;
    return UND_OK;
}

/* A sun that moves is followed by the light at once, by the sky's picture in steps of a degree. */
static und_status take_sky(und_sea_reader *reader, double time, und_error *err)
{
    und_scenery *stage = reader->stage;
    und_sea_fields *f = &reader->fields;
    double towards[3];
    und_vector_at(&stage->def.sun, isfinite(time) ? time : 0, towards);
    f3 sun = f3_unit(f3_make((float)towards[0], (float)towards[1], (float)towards[2]));
    float turned = f3_dot(sun, f3_of(reader->sky_sun));
    f->new_sky = !stage->sky.baked || turned < 0.99985f;
    if (f->new_sky) {
        und_status status = und_sky_bake(&stage->sky, &stage->def, (float[3]){sun.x, sun.y, sun.z},
                                         &stage->pattern, stage->threads, err);
        if (status != UND_OK)
            return status;
        memcpy(reader->sky_sun, &sun, sizeof reader->sky_sun);
    }
    memcpy(f->sun, &sun, sizeof f->sun);
    memcpy(f->sun_color, &stage->sky.sun_color, sizeof f->sun_color);
    memcpy(f->ambient, stage->sky.ambient, sizeof f->ambient);
    f->sky_size = stage->sky.size;
    f->sky = stage->sky.texel;
    return UND_OK;
}

static float sane(const float *field, size_t c)
{
    return field && isfinite(field[c]) ? field[c] : 0;
}

/* What the water carries, woven for one texture. */
static void take_drift(und_sea_reader *reader, const und_frame *frame)
{
    und_sea_fields *f = &reader->fields;
    bool own = f->sample_nx == frame->grid.n[0] && f->sample_nz == frame->grid.n[2];
    static const char *const name[4] = {"foam", "dye", "velocity_x", "velocity_z"};
    const float *field[4];
    for (int k = 0; k < 4; k++)
        field[k] = own ? und_column_field(frame, name[k]) : NULL;
    bool bits = und_frame_find(frame, "foam/position");
    f->drift = bits || field[0] || field[1] || (field[2] && field[3]) ? reader->drift : NULL;
    if (!f->drift)
        return;
    PARALLEL_FOR(reader->stage->threads)
    for (int j = 0; j < f->sample_nz; j++)
        for (size_t c = (size_t)j * (size_t)f->sample_nx; c < (size_t)(j + 1) * (size_t)f->sample_nx; c++)
            for (int k = 0; k < 4; k++)
                reader->drift[4 * c + (size_t)k] = clampf(sane(field[k], c), -1e4f, 1e4f);
    und_foam_plan plan = {.nx = f->sample_nx, .nz = f->sample_nz, .stride = 4, .foam = reader->drift};
    plan.x0 = (float)f->x0;
    plan.z0 = (float)f->z0;
    plan.h = (float)f->cell;
    und_froth_splat(frame, &plan);
}

static void take_range(und_sea_fields *f, const float *ground, const float *depth)
{
    size_t count = (size_t)f->nx * (size_t)f->nz, wet = 0;
    float low = INFINITY, high = -INFINITY, top = -INFINITY, water_low = INFINITY, water_high = -INFINITY;
    float film = 0.02f * (float)f->cell;
    double sum = 0;
    for (size_t c = 0; c < count; c++) {
        float g = ground[c], d = depth[c], s = g + d;
        bool deep = d > film;
        low = minf(g, low);
        high = maxf(g, high);
        top = maxf(d > 0 ? s : g, top);
        water_low = minf(deep ? s : INFINITY, water_low);
        water_high = maxf(deep ? s : -INFINITY, water_high);
        sum += deep ? (double)s : 0;
        wet += deep;
    }
    f->low = low;
    f->ground_high = high;
    f->high = top;
    f->water_low = wet ? water_low : low;
    f->water_high = wet ? water_high : high;
    f->water_level = wet ? (float)(sum / (double)wet) : 0.5f * (low + high);
    float span = (float)f->h * (float)(f->nx > f->nz ? f->nx - 1 : f->nz - 1);
    f->base = low - maxf(0.06f * span, 0.15f * (high - low));
}

/* Few samples get more texels each, so that shores and waves are round. */
static int scale_for(const und_samples *s, int texels)
{
    enum { MOST = 6 };
    int scale = texels / (s->nx > s->nz ? s->nx : s->nz);
    return scale < 1 ? 1 : scale > MOST ? MOST : scale;
}

static und_status make_fine(und_sea_reader *reader, const und_sea_wish *wish, bool new_ground, und_error *err)
{
    const und_samples *s = &reader->stage->samples;
    und_sea_fields *f = &reader->fields;
    und_sea_fine *fine = &reader->fine;
    bool fresh;
    und_status status = und_sea_fine_allocate(fine, s->nx, s->nz, scale_for(s, wish->texels), &fresh, err);
    if (status != UND_OK)
        return status;
    f->new_ground = new_ground || fresh;
    und_sea_fine_make(fine, s, wish->vertical, f3_of(f->sun), f->new_ground, reader->stage->threads);
    f->scale = fine->scale;
    f->nx = fine->nx;
    f->nz = fine->nz;
    f->h = s->dx / fine->scale;
    f->x0 = s->x0;
    f->z0 = s->z0;
    f->ground = fine->ground;
    f->water_map = fine->water_map;
    f->ground_map = fine->ground_map;
    take_range(f, fine->ground, fine->depth);
    return UND_OK;
}

und_status und_sea_reader_remake(und_sea_reader *reader, const und_sea_wish *wish, und_error *err)
{
    return make_fine(reader, wish, true, err);
}

/* Places of drops, all of them sane. */
static int drops_of(const und_frame *frame, const char *name, const float **places)
{
    size_t count = 0;
    *places = und_frame_points(frame, name, &count);
    return count < (1u << 26) ? (int)count : 0;
}

static const float *beside(const und_frame *frame, const char *name, int count)
{
    const und_item *item = und_frame_find(frame, name);
    bool fits = item && item->type == UND_F32 && item->data && und_item_count(item) == (size_t)count;
    return fits ? item->data : NULL;
}

static void take_drops(und_sea_fields *f, const und_frame *frame)
{
    f->rain_count = drops_of(frame, "rain/position", &f->rain);
    f->rain_speed = beside(frame, "rain/velocity", 3 * f->rain_count);
    f->spray_count = drops_of(frame, "spray/position", &f->spray);
    f->spray_size = beside(frame, "spray/radius", f->spray_count);
    f->spray_speed = beside(frame, "spray/velocity", 3 * f->spray_count);
}

static und_status take_sheets(und_sea_reader *reader, const und_frame *frame, und_error *err)
{
    und_sea_fields *f = &reader->fields;
    und_drawn_mesh *soup = &reader->stage->sheet;
    const float *corners;
    int count = drops_of(frame, "sheet/mesh_position", &corners);
    und_status status = und_stage_soup_set(soup, corners, (size_t)(count / 3), err);
    f->sheet_corners = status == UND_OK ? 3 * (int)soup->count : 0;
    f->sheet = corners;
    f->sheet_normal = soup->normal;
    f->sheet_rim = beside(frame, "sheet/mesh_rim", count);
    return status;
}

static und_status take_bodies(und_sea_reader *reader, const und_frame *frame, und_error *err)
{
    und_sea_fields *f = &reader->fields;
    und_sea_bodies *b = &reader->bodies;
    und_status status = und_sea_bodies_take(b, frame, &f->new_bodies, &f->bodies_moved, err);
    f->bodies = b->count;
    f->corners = b->corners;
    f->first = b->first;
    f->mesh = b->mesh;
    f->vertices = b->vertices;
    f->vertex = b->vertex ? b->vertex[0] : NULL;
    f->index = b->index;
    f->reach = b->reach;
    f->pose = b->pose;
    return status;
}

und_status und_sea_reader_take(und_sea_reader *reader, const und_frame *frame, const und_sea_wish *wish,
                               und_error *err)
{
    und_scenery *stage = reader->stage;
    und_samples *s = &stage->samples;
    und_sea_fields *f = &reader->fields;
    und_status status = und_scenery_observe(stage, frame, err);
    if (status == UND_OK && (stage->drawing != UND_DRAWS_HEIGHTS || s->nx < 2 || s->nz < 2))
        status = und_error_set(err, UND_INVALID, "frame %d: there is no height field in it", frame->number);
    if (status != UND_OK || (status = make_room(reader, (size_t)s->nx * (size_t)s->nz, err)) != UND_OK ||
        (status = take_sky(reader, frame->time, err)) != UND_OK)
        return status;
    bool new_ground = s->ground_changed;
    und_stage_light_open(s, stage->threads);
    und_wetness_smooth(s, stage->threads);
    f->sample_nx = s->nx;
    f->sample_nz = s->nz;
    f->cell = s->dx;
    f->wet = s->wet_smooth;
    f->time = isfinite(frame->time) ? frame->time : 0;
    if ((status = make_fine(reader, wish, new_ground || f->new_sky, err)) != UND_OK)
        return status;
    take_drift(reader, frame);
    take_drops(f, frame);
    if ((status = take_sheets(reader, frame, err)) != UND_OK)
        return status;
    return take_bodies(reader, frame, err);
}
