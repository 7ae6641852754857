/* The legend: a bar of colours with round numbers. */
#include "view/colormap.h"

#include <math.h>
#include <stdio.h>

enum { MOST_TICKS = 16, BAR = 16, PAD = 8, TICK = 4 };

static void write_value(char text[32], double value, double largest, int decimals)
{
    if (largest >= 1e6 || decimals > 5)
        snprintf(text, 32, "%.3g", value);
    else
        snprintf(text, 32, "%.*f", decimals, value + 0.0);
}

/* The ends alone, where no round values lie between them. */
static int ticks_of(double low, double high, int most, double ticks[MOST_TICKS], int *decimals)
{
    int count = und_legend_ticks(low, high, most, ticks, decimals);
    if (count > 1)
        return count;
    ticks[0] = low;
    *decimals = 12; /* written as %.3g */
    return 1;
}

static void title_of(char text[96], const char *title, const char *unit)
{
    if (unit && unit[0])
        snprintf(text, 96, "%s, %s", title, unit);
    else
        snprintf(text, 96, "%s", title);
}

double und_legend_width(const und_ui *ui, double low, double high, const char *title, const char *unit)
{
    char text[96];
    double width, height, widest = 0, ticks[MOST_TICKS];
    int decimals, count = ticks_of(low, high, MOST_TICKS, ticks, &decimals);
    for (int i = 0; i < count; i++) {
        write_value(text, ticks[i], fmax(fabs(low), fabs(high)), decimals);
        und_ui_text_size(ui, text, &width, &height);
        widest = fmax(widest, width);
    }
    title_of(text, title, unit);
    und_ui_text_size(ui, text, &width, &height);
    return 2 * PAD + fmax(width, BAR + 2 * TICK + widest);
}

static void draw_bar(und_ui *ui, double x, double top, double height, int which)
{
    int rows = (int)height;
    for (int i = 0; i < rows; i++) {
        float rgb[3];
        und_colormap(which, rows > 1 ? 1 - (double)i / (rows - 1) : 0, rgb);
        unsigned color = 255;
        for (int k = 0; k < 3; k++)
            color |= (unsigned)lround(255 * (double)rgb[k]) << (24 - 8 * k);
        und_ui_draw_rect(ui, x, top + i, x + BAR, top + i + 1, color, true);
    }
}

void und_legend_draw(und_ui *ui, double x, double y, double height, int which, double low, double high,
                     const char *title, const char *unit)
{
    const unsigned ink = 0xf2f4f6ff, ground = 0x14181cc0;
    char text[96];
    double width, line, ticks[MOST_TICKS];
    title_of(text, title, unit);
    und_ui_text_size(ui, text, &width, &line);
    double top = y + PAD + 1.5 * line, bar = height - 2 * PAD - 2 * line;
    if (!(bar >= 8) || !isfinite(x + y + height))
        return;
    und_ui_draw_rect(ui, x, y, x + und_legend_width(ui, low, high, title, unit), y + height, ground, true);
    und_ui_draw_text(ui, x + PAD, y + PAD / 2, ink, text);
    draw_bar(ui, x + PAD, top, bar, which);
    int decimals, count = ticks_of(low, high, (int)(bar / (1.6 * line)) + 1, ticks, &decimals);
    for (int i = 0; i < count; i++) {
        double share = high > low || high < low ? (ticks[i] - low) / (high - low) : 0;
        double at = top + bar * (1 - share);
        und_ui_draw_line(ui, x + PAD + BAR, at, x + PAD + BAR + TICK, at, ink, 1);
        write_value(text, ticks[i], fmax(fabs(low), fabs(high)), decimals);
        und_ui_draw_text(ui, x + PAD + BAR + 2 * TICK, at - line / 2, ink, text);
    }
}
