/* The preview, quick pictures of frames: height-field water by the shading of Kass & Miller 1990, with what
 * viewers expect now; curves as sections; cells in two dimensions as plots. */
#ifndef UND_RENDER_RENDER_H
#define UND_RENDER_RENDER_H

#include "stage/scenery.h"

typedef struct und_render und_render;

und_render *und_render_create(const und_picture_def *def, und_error *err);
/* Draws what stands on a stage that is another's and outlives it. */
und_render *und_render_on(und_scenery *stage, und_error *err);
void und_render_destroy(und_render *render);
und_scenery *und_render_stage(const und_render *render);

/* Observes the frame and draws it, linear, before tone.  The image has the size of the def, or is empty (all
 * zero) and is created.  UND_STOPPED where `stop` said so: there is no picture. */
und_status und_render_draw(und_render *render, const und_frame *frame, und_image *image, und_error *err);

typedef enum und_vector_format { UND_VECTOR_SVG, UND_VECTOR_PDF } und_vector_format;

/* Draws a frame that is plotted, of cells in two dimensions, as a file of lines.  It must be the frame that
 * was drawn or observed last. */
und_status und_render_vector(const und_scenery *stage, const und_frame *frame, und_vector_format format,
                             const char *path, und_error *err);

int und_render_stages(und_render *render, const und_stage **list);

#endif
