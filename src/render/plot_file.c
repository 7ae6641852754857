/* Plots as pictures of pixels and as files of lines, SVG and PDF. */
#include "base/file.h"
#include "render/internal.h"
#include "render/plot_draw.h"

#include <cairo-pdf.h>
#include <cairo-svg.h>

#include <stdlib.h>
#include <string.h>

static und_status failed(cairo_status_t status, und_error *err)
{
    return und_error_set(err, UND_FAILED, "a plot cannot be drawn: %s", cairo_status_to_string(status));
}

/* `size`: the surface's units per pixel of the def. */
static und_status draw_on(cairo_surface_t *surface, const und_scenery *stage, const und_plot_data *d,
                          double size, und_error *err)
{
    const und_picture_def *def = &stage->def;
    und_plot_page page = {.width = def->width,
                          .height = def->height,
                          .title = def->title,
                          .vertical = def->vertical,
                          .panels = def->plot_panels};
    memcpy(page.panel, def->plot, sizeof page.panel);
    cairo_t *cr = cairo_create(surface);
    cairo_scale(cr, size, size);
    und_plot_draw(cr, &page, d, &stage->plot_scale);
    cairo_status_t status = cairo_status(cr);
    cairo_destroy(cr);
    cairo_surface_flush(surface);
    return status == CAIRO_STATUS_SUCCESS ? UND_OK : failed(status, err);
}

und_status und_plot_image(const und_scenery *stage, const und_plot_data *d, und_image *image, und_error *err)
{
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, image->width, image->height);
    und_status status = draw_on(surface, stage, d, 1, err);
    const unsigned char *pixels = cairo_image_surface_get_data(surface);
    size_t stride = (size_t)cairo_image_surface_get_stride(surface);
    float linear[256];
    for (int k = 0; k < 256; k++)
        linear[k] = und_srgb_decode((float)k / 255);
    for (int y = 0; y < image->height && status == UND_OK; y++) {
        float *out = image->rgb + 3 * (size_t)y * (size_t)image->width;
        for (int x = 0; x < image->width; x++, out += 3) {
            uint32_t pixel;
            memcpy(&pixel, pixels + (size_t)y * stride + 4 * (size_t)x, sizeof pixel);
            for (int c = 0; c < 3; c++)
                out[c] = linear[pixel >> (16 - 8 * c) & 255];
        }
    }
    cairo_surface_destroy(surface);
    return status;
}

typedef struct text {
    char *data;
    size_t bytes, room;
} text;

static cairo_status_t keep(void *to, const unsigned char *data, unsigned bytes)
{
    text *t = to;
    if (t->bytes + bytes > t->room) {
        size_t room = 2 * (t->bytes + bytes);
        char *grown = realloc(t->data, room);
        if (!grown)
            return CAIRO_STATUS_NO_MEMORY;
        t->data = grown;
        t->room = room;
    }
    memcpy(t->data + t->bytes, data, bytes);
    t->bytes += bytes;
    return CAIRO_STATUS_SUCCESS;
}

und_status und_render_vector(const und_scenery *stage, const und_frame *frame, und_vector_format format,
                             const char *path, und_error *err)
{
    const double points = 0.75; /* a pixel is a 96th of an inch */
    double width = points * stage->def.width, height = points * stage->def.height;
    und_plot_data d;
    if (!und_stage_plot_read(frame, &d))
        return und_error_set(
            err, UND_INVALID,
            "frame %d: only two-dimensional scenes of liquid.cells can be drawn as SVG or PDF",
            frame->number);
    text out = {0};
    cairo_surface_t *surface = format == UND_VECTOR_SVG
                                   ? cairo_svg_surface_create_for_stream(keep, &out, width, height)
                                   : cairo_pdf_surface_create_for_stream(keep, &out, width, height);
    if (format == UND_VECTOR_PDF) /* not now: the same frame gives the same bytes */
        cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATE_DATE, "1970-01-01T00:00:00Z");
    und_status status = draw_on(surface, stage, &d, points, err);
    cairo_surface_finish(surface);
    cairo_status_t finished = cairo_surface_status(surface);
    cairo_surface_destroy(surface);
    if (status == UND_OK && finished != CAIRO_STATUS_SUCCESS)
        status = failed(finished, err);
    if (status == UND_OK)
        status = und_file_write(path, out.data, out.bytes, err);
    free(out.data);
    return status;
}
