/* The painter of height fields: seas, ponds, rivers. */
#include "base/status.h"
#include "view/sea_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool und_sea_fits(const und_frame *frame)
{
    const und_item *surface = und_frame_find(frame, "surface");
    double columns = (double)frame->grid.n[0] * frame->grid.n[2];
    return frame->grid.n[2] > 1 && surface && surface->type == UND_F32 && surface->data &&
           (double)und_item_count(surface) == columns;
}

double und_sea_vertical(const und_sea *s)
{
    return s->look->vertical * s->options.vertical;
}

und_sea_wish und_sea_wish_of(const und_sea *s)
{
    return (und_sea_wish){.vertical = und_sea_vertical(s), .texels = s->options.quality == 1 ? 640 : 400};
}

static double stretch(const und_painter *self)
{
    return und_sea_vertical((const und_sea *)self);
}

static void destroy(und_painter *self)
{
    und_sea *s = (und_sea *)self;
    for (int kind = 0; kind < SEA_KINDS; kind++)
        for (int k = 0; k < SEA_VARIANTS; k++)
            glDeleteProgram(s->program[kind][k]);
    und_sea_maps_destroy(s);
    und_sea_things_destroy(s);
    und_sea_pictures_clear(s);
    und_sea_reader_destroy(s->reader);
    free(s);
}

/* Colours of heights mean the same in all frames: they only ever reach farther. */
static void widen_range(und_sea *s)
{
    const und_sea_fields *f = und_sea_reader_fields(s->reader);
    double vertical = und_sea_vertical(s);
    if (!s->taken)
        s->level = s->low = s->high = (double)f->water_level / vertical;
    s->low = fmin(s->low, (double)f->water_low / vertical);
    s->high = fmax(s->high, (double)f->water_high / vertical);
}

static und_status take(und_painter *self, const und_frame *frame, und_error *err)
{
    und_sea *s = (und_sea *)self;
    und_sea_wish wish = und_sea_wish_of(s);
    und_status status = und_sea_reader_take(s->reader, frame, &wish, err);
    if (status == UND_OK)
        status = und_sea_maps_take(s, err);
    if (status == UND_OK) {
        und_sea_things_take(s);
        status = und_sea_programs(s, err);
    }
    if (status == UND_OK)
        widen_range(s);
    s->takes++;
    s->taken = status == UND_OK || s->taken;
    return status;
}

static void bounds(const und_painter *self, double low[3], double high[3])
{
    const und_sea *s = (const und_sea *)self;
    const und_sea_fields *f = und_sea_reader_fields(s->reader);
    memcpy(low, (double[]){f->x0, (double)f->base, f->z0}, 3 * sizeof *low);
    memcpy(high, (double[]){f->x0 + f->h * (f->nx - 1), (double)f->high, f->z0 + f->h * (f->nz - 1)},
           3 * sizeof *high);
}

/* Options, and what a colour means: in both it reaches as far as either water went. */
static void match(und_painter *self, und_painter *other)
{
    und_sea *s = (und_sea *)self, *to = (und_sea *)other;
    s->options = to->options;
    if (!s->taken || !to->taken)
        return;
    s->level = to->level;
    s->low = to->low = fmin(s->low, to->low);
    s->high = to->high = fmax(s->high, to->high);
}

und_painter *und_sea_create(const und_picture_def *look, und_error *err)
{
    static const und_painter_class class = {
        .name = "sea",
        .destroy = destroy,
        .take = take,
        .bounds = bounds,
        .draw = und_sea_draw,
        .annotate = und_sea_annotate,
        .panel = und_sea_panel,
        .pick = und_sea_pick,
        .actions = und_sea_actions,
        .match = match,
        .stretch = stretch,
    };
    und_sea *s = und_alloc(1, sizeof *s, "a painter", err);
    if (!s)
        return NULL;
    s->painter.class = &class;
    s->look = look;
    s->software = und_gl_is_software();
    s->options = (und_sea_options){
        .quality = !s->software, .caustics = look->caustics > 0, .wet = true, .vertical = 1};
    if (!(s->reader = und_sea_reader_create(look, err)) || und_sea_maps_create(s, err) != UND_OK ||
        und_sea_things_create(s, err) != UND_OK) {
        destroy(&s->painter);
        return NULL;
    }
    return &s->painter;
}
