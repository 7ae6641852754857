/* Colours of even steps. */
#include "base/maths.h"
#include "io/image.h"
#include "stage/plot_data.h"

#include <math.h>

/* Ottosson's Oklab (2020), in which equal distances look equally large, to linear sRGB. */
static void from_oklab(double lightness, double a, double b, double rgb[3])
{
    double l = lightness + 0.3963377774 * a + 0.2158037573 * b;
    double m = lightness - 0.1055613458 * a - 0.0638541728 * b;
    double s = lightness - 0.0894841775 * a - 1.2914855480 * b;
    l = l * l * l;
    m = m * m * m;
    s = s * s * s;
    rgb[0] = 4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s;
    rgb[1] = -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s;
    rgb[2] = -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s;
}

void und_stage_plot_oklab(double lightness, double a, double b, double rgb[3])
{
    from_oklab(lightness, a, b, rgb);
    for (int k = 0; k < 3; k++)
        rgb[k] = (double)und_srgb_encode((float)fmin(fmax(rgb[k], 0), 1));
}

/* From dark blue over green to light yellow: lightness and hue rise evenly at one chroma, so that all steps
 * are of one length, and grey prints keep the order. */
void und_stage_plot_color(double t, double rgb[3])
{
    const double chroma = 0.1, degree = 3.14159265358979 / 180;
    t = t > 0 ? fmin(t, 1) : 0;
    double hue = (285 - 180 * t) * degree;
    und_stage_plot_oklab(0.36 + 0.57 * t, chroma * und_cos(hue), chroma * und_sin(hue), rgb);
}
