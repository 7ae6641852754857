/* Ray-traced pictures of frames: the scenery of a frame, its meshes, sky and camera, becomes a world with
 * lights and photons that a film is exposed to.  What is drawn flat (plots, sections) the preview draws. */
#ifndef UND_TRACE_TRACE_H
#define UND_TRACE_TRACE_H

#include "trace/film.h"

typedef struct und_trace und_trace;

/* What a quality stands for: fills what the def leaves to it. */
void und_trace_settle(und_picture_def *def);

und_trace *und_trace_create(const und_picture_def *def, und_error *err);
void und_trace_destroy(und_trace *trace);
/* Takes note of a frame without drawing it: wet ground remembers. */
und_status und_trace_observe(und_trace *trace, const und_frame *frame, und_error *err);
/* Draws the frame, linear, before tone; the layers have the size of the def.  UND_STOPPED where the def's
 * `stop` said so: there is no picture.  Of a flat drawing rgb alone is meant. */
und_status und_trace_draw(und_trace *trace, const und_frame *frame, und_layers *layers,
                          und_film_report *report, und_error *err);
und_scenery *und_trace_stage(const und_trace *trace); /* that frames are prepared on */
int und_trace_stages(const und_trace *trace, const und_stage **list);

#endif
