#include "control_report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PARTICLES, CELLS, LARGEST, MEAN, ASKED, NUMBERS, KINDS = 4, SURFACE = 2 };

/* In the order of the item "control": what it is, and the unit of how far it is off. */
static const struct {
    const char *name, *unit;
} kinds[KINDS] = {{"velocity", "m/s"}, {"viscosity", "m2/s"}, {"level_set", "m"}, {"divergence", "1/s"}};

typedef struct control {
    double number[KINDS][NUMBERS];
    double dx;
} control;

static bool read_control(und_cache *cache, int frame_number, control *c)
{
    und_frame frame;
    und_error err;
    bool good = und_cache_read_item(cache, frame_number, "control", &frame, &err) == UND_OK;
    const und_item *item = good ? und_frame_find(&frame, "control") : NULL;
    good = item && item->type == UND_F64 && und_item_count(item) == KINDS * NUMBERS;
    if (good)
        memcpy(c->number, item->data, sizeof c->number);
    c->dx = frame.grid.dx;
    und_frame_clear(&frame);
    return good;
}

static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *control_json(und_cache *cache, int frame_number)
{
    control c;
    json_t *all = read_control(cache, frame_number, &c) ? json_object() : NULL;
    for (int k = 0; all && k < KINDS; k++) {
        const double *n = c.number[k];
        if (!(n[PARTICLES] > 0))
            continue;
        json_t *one = json_pack("{s:o, s:o, s:s, s:o, s:o, s:o}", "particles", number(n[PARTICLES]), "places",
                                number(n[CELLS]), "unit", kinds[k].unit, "largest", number(n[LARGEST]),
                                "mean", number(n[MEAN]), "asked", number(n[ASKED]));
        if (one && k == SURFACE) {
            json_object_set_new(one, "largest_cells", number(n[LARGEST] / c.dx));
            json_object_set_new(one, "mean_cells", number(n[MEAN] / c.dx));
        }
        json_object_set_new(all, kinds[k].name, one);
    }
    return all;
}

static void print_row(int frame_number, const control *c, int kind)
{
    const double *n = c->number[kind];
    printf("%-10s %7d  %-10s %9.0f %9.0f  %10.3g %10.3g %10.3g %s", "", frame_number, kinds[kind].name,
           n[PARTICLES], n[CELLS], n[LARGEST], n[MEAN], n[ASKED], kinds[kind].unit);
    if (kind == SURFACE)
        printf(" (%.2g and %.2g cells)", n[LARGEST] / c->dx, n[MEAN] / c->dx);
    printf("\n");
}

/* Every frame of a short run, some of a long one. */
void print_control(und_cache *cache, const und_cache_info *info)
{
    enum { ROWS = 24 };
    bool any = false;
    int last = info->row_count - 1;
    for (int i = 0; i <= last; i++) {
        control c;
        bool shown = last < ROWS || i == last || (long)i * ROWS / last != (i - 1L) * ROWS / last;
        if (!shown || !read_control(cache, info->rows[i].frame, &c))
            continue;
        for (int k = 0; k < KINDS; k++) {
            if (!(c.number[k][PARTICLES] > 0))
                continue;
            if (!any)
                printf("control    %7s  %-10s %9s %9s  %10s %10s %10s\n", "frame", "of", "particles",
                       "places", "largest", "mean", "asked");
            any = true;
            print_row(info->rows[i].frame, &c, k);
        }
    }
}
