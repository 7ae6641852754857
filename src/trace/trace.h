/* Ray-traced pictures of frames. */
#ifndef UND_TRACE_TRACE_H
#define UND_TRACE_TRACE_H

#include "trace/film.h"

typedef struct und_trace und_trace;

und_trace *und_trace_create(const und_render_def *def, und_error *err);
void und_trace_destroy(und_trace *trace);
/* Takes note of a frame without drawing it: wet ground remembers. */
und_status und_trace_observe(und_trace *trace, const und_frame *frame, und_error *err);
/* Prepares the frame with the preview's renderer, builds its world, lights and photons, exposes the film. */
und_status und_trace_draw(und_trace *trace, const und_frame *frame, und_layers *layers,
                          und_film_report *report, und_error *err);
int und_trace_stages(const und_trace *trace, const und_stage **list);

#endif
