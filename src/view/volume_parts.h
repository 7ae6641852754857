/* What the files of the painter of liquid in space share. */
#ifndef UND_VIEW_VOLUME_PARTS_H
#define UND_VIEW_VOLUME_PARTS_H

#include "view/gl.h"
#include "view/painter.h"
#include "view/volume_marks.h"
#include "view/volume_world.h"

typedef enum und_space_program {
    UND_SPACE_BACK,      /* sky and floor */
    UND_SPACE_THING,     /* solids and bodies */
    UND_SPACE_WAY,       /* metres of liquid along lines of sight */
    UND_SPACE_TINT,      /* the paint on it */
    UND_SPACE_SKIN,      /* its surface, of triangles */
    UND_SPACE_MARCH,     /* or found in the distance */
    UND_SPACE_CLEAR,     /* its light, where light goes through it */
    UND_SPACE_CLEAR_PHI, /* the same, looked for in the distance */
    UND_SPACE_OPAQUE,    /* and where it does not */
    UND_SPACE_SUN,       /* what the sun sees of it */
    UND_SPACE_SUN_MARCH,
    UND_SPACE_GRAIN, /* particles */
    UND_SPACE_LINE,  /* boxes and axes */
    UND_SPACE_MEAN,  /* of several pictures */
    UND_SPACE_TONE,  /* to the screen */
    UND_SPACE_PROGRAMS
} und_space_program;

/* Triangles in OpenGL's memory. */
typedef struct und_space_buffer {
    GLuint array, corners, indices;
    GLsizei count; /* of indices */
} und_space_buffer;

/* What is shown, and how: the panel's. */
typedef struct und_space_show {
    bool liquid, solids, floor, boxes, axes;
    bool clay;    /* the liquid's shape alone */
    bool marched; /* where there is a choice: the distance itself, not triangles */
    bool through; /* particles are seen through the liquid */
    bool set[UND_SETS];
    und_space_tint tint;
    double grain_size; /* a factor */
} und_space_show;

typedef struct und_space {
    und_painter base; /* first: a painter is this */
    const und_picture_def *look;
    und_space_world world;
    und_space_show show;
    bool software; /* OpenGL draws on the processor */
    bool taken;    /* a frame */
    GLuint program[UND_SPACE_PROGRAMS];
    GLuint sky, pattern, around;
    unsigned baked, solids_made; /* that OpenGL has */
    und_space_buffer skin, solid, glass, lines, grains[UND_SETS];
    und_space_marks marks;
    const und_control_particle_def *control_defs; /* the scene's, until they are opened */
    int control_particle_count;
    GLuint phi; /* the distance */
    int phi_size[3];
    GLint most_texels;                        /* along an axis of it */
    und_target solids, surface, way, picture; /* as large as the viewport, or some times that */
    /* Pictures of the same are drawn some times, a part of a pixel apart, and `mean` is what they all show:
     * edges become smooth while nothing moves.  While things move software draws fewer pixels. */
    und_target mean;
    int samples;   /* in the mean; 0: something changed */
    int changes;   /* pictures in a row that were new ones */
    double effort; /* s that a pixel takes, by software */
    und_lens drawn_lens;
    und_space_show drawn_show;
    bool drawn_under;
    und_target sun_solid, sun_skin; /* as the sun sees them */
    float sun_matrix[16];           /* from places to theirs, 0 to 1 */
    float sun_range;                /* m, from the nearest place in them to the farthest */
} und_space;

/* Particles, boxes and axes (volume_marks_draw.c). */
und_status und_space_upload_grains(und_space *v, und_error *err);
void und_space_draw_grains(const und_space *v, const und_lens *lens, bool through); /* the liquid: faint */
void und_space_draw_lines(und_space *v, const und_lens *lens);
double und_space_axis_length(const und_space *v); /* m */

/* Its part of panels and menus, and what is written over the picture (volume_panel.c). */
void und_space_panel(und_painter *self, und_ui *ui);
void und_space_annotate(und_painter *self, const und_lens *lens, und_ui *ui);
const und_action *und_space_actions(const und_painter *self, int *count);

/* Is there a distance that OpenGL can show? */
bool und_space_has_phi(const und_space *v);

/* The passes (volume_draw.c). */
und_status und_space_programs(und_space *v, und_error *err);
void und_space_forget(und_space *v); /* all that OpenGL keeps */
und_status und_space_upload(und_space *v, und_error *err);
/* Sets sky, sun, shadows and floor for the program in use. */
void und_space_set_light(const und_space *v, GLuint program, const und_lens *lens);
/* Sets what lines through the distance need, for the program in use. */
void und_space_set_phi(const und_space *v, GLuint program, int unit);
void und_space_draw_buffer(const und_space_buffer *buffer);
void und_space_draw(und_painter *self, const und_lens *lens, double seconds);

#endif
