/* What a person can choose of how height fields are shown. */
#include "view/colormap.h"
#include "view/sea_parts.h"

#include <stddef.h>

void und_sea_panel(und_painter *self, und_ui *ui)
{
    static const char *const qualities[] = {"Fast", "Good"};
    static const char *const waters[] = {"Clear", "Opaque", "Hidden"};
    und_sea *s = (und_sea *)self;
    und_sea_options *o = &s->options;
    und_ui_choice(ui, "Quality", &o->quality, qualities, 2);
    und_ui_tip(ui, "Good: reflections of hills, finer maps, smooth edges");
    und_ui_choice(ui, "Water", &o->water, waters, 3);
    und_ui_check(ui, "Caustics", &o->caustics);
    und_ui_check(ui, "Wet sand", &o->wet);
    und_ui_check(ui, "Heights as colours", &o->tinted);
    und_ui_check(ui, "Lines through the samples", &o->lines);
    und_ui_slider(ui, "Heights times", &o->vertical, 0.25, 16, "%.2f", true);
}

void und_sea_annotate(und_painter *self, const und_lens *lens, und_ui *ui)
{
    const und_sea *s = (const und_sea *)self;
    if (!s->options.tinted || !s->taken)
        return;
    double low, high;
    und_sea_tint_range(s, &low, &high);
    double width = und_legend_width(ui, low, high, "surface", "m"), height = 220;
    double bottom = lens->window_height - lens->y, right = lens->x + lens->width;
    und_legend_draw(ui, right - width - 16, bottom - height - 24, height, UND_MAP_DIVERGING, low, high,
                    "surface", "m");
}

UND_SWITCH(quality, und_sea, options.quality)
UND_SWITCH(caustics, und_sea, options.caustics)
UND_SWITCH(wet, und_sea, options.wet)
UND_SWITCH(tinted, und_sea, options.tinted)
UND_SWITCH(lines, und_sea, options.lines)

static void next_water(void *context)
{
    und_sea_options *o = &((und_sea *)context)->options;
    o->water = (o->water + 1) % 3;
}

const und_action *und_sea_actions(const und_painter *self, int *count)
{
    static const und_action actions[] = {
        {"Show", "Good pictures", 'G', 0, switch_quality, is_quality, NULL},
        {"Show", "Caustics", 'K', 0, switch_caustics, is_caustics, NULL},
        {"Show", "Wet sand", 'V', 0, switch_wet, is_wet, NULL},
        {"Show", "Water clear, opaque, hidden", 'O', 0, next_water, NULL, NULL},
        {"Show", "Heights as colours", 'H', 0, switch_tinted, is_tinted, NULL},
        {"Show", "Lines through the samples", 'M', 0, switch_lines, is_lines, NULL},
    };
    (void)self;
    *count = sizeof actions / sizeof *actions;
    return actions;
}
