/* Painters: each knows how to show frames of one kind, whether they come from a liquid that runs or from a
 * cache: height fields (sea), cells in two dimensions (flat), liquid in space (volume). */
#ifndef UND_VIEW_PAINTER_H
#define UND_VIEW_PAINTER_H

#include "grid/frame.h"
#include "stage/picture.h"
#include "view/action.h"
#include "view/camera.h"
#include "view/ui.h"

#include <undine/control.h>

typedef struct und_painter und_painter;

typedef struct und_painter_class {
    const char *name;
    void (*destroy)(und_painter *self);
    /* A new frame; it is the caller's and may be gone after the call.  Uploads what drawing needs.  Frames
     * may come in any order (a timeline is scrubbed); `time` of the frame tells. */
    und_status (*take)(und_painter *self, const und_frame *frame, und_error *err);
    /* Where what it shows is, m, as drawn. */
    void (*bounds)(const und_painter *self, double low[3], double high[3]);
    /* Draws into the lens's viewport of the buffer that is bound, which is cleared already; depth test is off
     * before and after.  `seconds`: the wall's clock, for what moves by itself. */
    void (*draw)(und_painter *self, const und_lens *lens, double seconds);
    /* Over the picture: legends, labels.  NULL: nothing. */
    void (*annotate)(und_painter *self, const und_lens *lens, und_ui *ui);
    /* Its part of the panel "Show": what is drawn and how. */
    void (*panel)(und_painter *self, und_ui *ui);
    /* What a ray through the picture meets first: water, ground or solid; the place is the liquid's own, its
     * height not stretched.  False: nothing. */
    bool (*pick)(const und_painter *self, const double origin[3], const double direction[3], double point[3]);
    /* Its entries of menus, with their keys; *count 0: none. */
    const und_action *(*actions)(const und_painter *self, int *count);
    /* Shows as another of its class does: two panes are looked at alike, and what colours mean may reach
     * farther in both.  NULL: there is nothing to choose. */
    void (*match)(und_painter *self, und_painter *other);
    /* How many times as large as they are heights are drawn.  NULL: 1. */
    double (*stretch)(const und_painter *self);
} und_painter_class;

/* A painter begins with this. */
struct und_painter {
    const und_painter_class *class;
};

/* 1 where there is no painter yet. */
static inline double und_painter_stretch(const und_painter *painter)
{
    return painter && painter->class->stretch ? painter->class->stretch(painter) : 1;
}

/* Whether a painter is the one for such a frame, and a new one.  `look` is the scene's and outlives it:
 * colours, sun, sky, water; und_picture_def's camera is the viewer's to use.  NULL with the error set: OpenGL
 * said no. */
bool und_sea_fits(const und_frame *frame);
und_painter *und_sea_create(const und_picture_def *look, und_error *err);
bool und_flat_fits(const und_frame *frame);
und_painter *und_flat_create(const und_picture_def *look, und_error *err);
bool und_space_fits(const und_frame *frame); /* anything else */
und_painter *und_space_create(const und_picture_def *look, und_error *err);
/* Gives it the control particles of the scene, which frames do not hold.  They outlive it. */
void und_space_control_particles(und_painter *painter, const und_control_particle_def *defs, int count);

#endif
