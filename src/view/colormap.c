/* Colour maps, and round numbers for them. */
#include "view/colormap.h"

#include "stage/plot_data.h"

#include <math.h>

const char *const und_colormap_names[UND_MAPS] = {"blue to yellow", "blue to red", "heat", "grey"};

enum { TEXELS = 256, MOST_TICKS = 16 };

/* Blue and red of the same lightness at the ends, almost white between them: lightness falls and chroma rises
 * evenly on both sides. */
static void diverging(double t, double rgb[3])
{
    double side = 2 * t - 1, far = fabs(side);
    double hue = side < 0 ? 4.45 : 0.5;
    double chroma = 0.155 * far;
    und_stage_plot_oklab(0.965 - 0.46 * far, chroma * cos(hue), chroma * sin(hue), rgb);
}

/* As a body that glows: lightness rises evenly, chroma is highest where orange can have most. */
static void heat(double t, double rgb[3])
{
    double hue = 0.4 + 1.45 * t;
    double chroma = 0.56 * t * (1.12 - t) * (1 - 0.3 * t);
    und_stage_plot_oklab(0.12 + 0.86 * t, chroma * cos(hue), chroma * sin(hue), rgb);
}

void und_colormap(int which, double value01, float rgb[3])
{
    double t = value01 > 0 ? fmin(value01, 1) : 0, color[3] = {0.91, 0.35, 0.75};
    if (isnan(value01))
        ;
    else if (which == UND_MAP_DIVERGING)
        diverging(t, color);
    else if (which == UND_MAP_HEAT)
        heat(t, color);
    else if (which == UND_MAP_GREY)
        und_stage_plot_oklab(0.15 + 0.83 * t, 0, 0, color);
    else
        und_stage_plot_color(t, color);
    for (int k = 0; k < 3; k++)
        rgb[k] = (float)color[k];
}

GLuint und_colormap_texture(void)
{
    unsigned char texel[UND_MAPS][TEXELS][4];
    for (int which = 0; which < UND_MAPS; which++)
        for (int i = 0; i < TEXELS; i++) {
            float rgb[3];
            und_colormap(which, (double)i / (TEXELS - 1), rgb);
            for (int k = 0; k < 3; k++)
                texel[which][i][k] = (unsigned char)lround(255 * (double)rgb[k]);
            texel[which][i][3] = 255;
        }
    GLuint texture = und_gl_texture_2d(GL_RGBA8, TEXELS, UND_MAPS, true);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, TEXELS, UND_MAPS, GL_RGBA, GL_UNSIGNED_BYTE, texel);
    return texture;
}

int und_legend_ticks(double low, double high, int most, double *ticks, int *decimals)
{
    double least = fmin(low, high), range = fabs(high - low);
    *decimals = 0;
    most = most < MOST_TICKS ? most : MOST_TICKS;
    if (!(range > 0) || !isfinite(range) || most < 2 || range < 1e-9 * fmax(fabs(low), fabs(high)))
        return 0;
    static const double round_steps[] = {1, 2, 5, 10};
    double power = pow(10, floor(log10(range / (most - 1))));
    double step = 10 * power;
    for (int i = 3; i >= 0; i--) /* rounding may put a range just over one tick more: count what fits */
        if (floor((least + range) / (round_steps[i] * power) + 1e-6) -
                ceil(least / (round_steps[i] * power) - 1e-6) + 1 <=
            most)
            step = round_steps[i] * power;
    double first = ceil(least / step - 1e-6);
    int count = 0;
    for (; count < most && (first + count) * step <= least + range + 1e-6 * step; count++)
        ticks[count] = (first + count) * step;
    *decimals = step < 1 ? (int)fmin(ceil(-log10(step) - 1e-6), 12) : 0;
    return count;
}
