/* Colour maps, the same for all that is shown by colour, and the legend that says what a colour means. */
#ifndef UND_VIEW_COLORMAP_H
#define UND_VIEW_COLORMAP_H

#include "view/gl.h"
#include "view/ui.h"

enum {
    UND_MAP_EVEN,      /* dark blue over green to light yellow: what has a least value */
    UND_MAP_DIVERGING, /* blue over almost white to red: what has two signs, 0 in the middle */
    UND_MAP_HEAT,      /* black over red and orange to light yellow: temperatures */
    UND_MAP_GREY,
    UND_MAPS
};
extern const char *const und_colormap_names[UND_MAPS];

/* The colour of a value from 0 to 1, sRGB as pixels have it, steps of even length to the eye; beyond: that of
 * the nearer end; no number: a pink that no map has. */
void und_colormap(int which, double value01, float rgb[3]);

/* All maps, 256 texels wide, a row each; the caller's to delete. */
GLuint und_colormap_texture(void);
/* The piece und_glsl_colormap: vec3 map_color(float value01), within 1/255 of the above.  Its uniforms are
 * the texture `colormaps` and the map's number as an int, `colormap`. */

/* Round values within low..high (either may be the larger), at most `most` and `most` at most 16, in rising
 * order; the number of decimals that tell them apart. */
int und_legend_ticks(double low, double high, int most, double *ticks, int *decimals);

/* A bar of colours with numbers, its upper left corner at x, y (as und_ui has places), `height` pixels high
 * in all.  Title on top, with the unit. */
void und_legend_draw(und_ui *ui, double x, double y, double height, int which, double low, double high,
                     const char *title, const char *unit);
/* How wide that is, pixels. */
double und_legend_width(const und_ui *ui, double low, double high, const char *title, const char *unit);

#endif
