/* Points and lines in space: particles as round grains, boxes and axes as lines. */
#ifndef UND_VIEW_VOLUME_MARKS_H
#define UND_VIEW_VOLUME_MARKS_H

#include "control/control_particles.h"
#include "grid/frame.h"

typedef enum und_space_set_name {
    UND_SET_SPRAY,
    UND_SET_FOAM,
    UND_SET_MARKERS,
    UND_SET_LEVEL, /* of the level set */
    UND_SET_TEXTURE,
    UND_SET_CONTROL,
    UND_SETS
} und_space_set_name;

typedef enum und_space_tint {
    UND_TINT_PLAIN,
    UND_TINT_SPEED,
    UND_TINT_SIZE,
    UND_TINT_SIGN,
    UND_TINTS
} und_space_tint;
extern const char *const und_space_tint_names[UND_TINTS];

typedef struct und_grain {
    float place[3], radius; /* m */
    uint8_t color[4];       /* as in a picture */
} und_grain;

/* Some of a frame's particles: not more than can be drawn, evenly chosen. */
typedef struct und_space_set {
    size_t count, all; /* kept, and in the frame */
    size_t room;
    float *number; /* [count][UND_GRAIN_NUMBERS] */
    bool has[UND_TINTS];
} und_space_set;

enum { UND_GRAIN_PLACE = 0, UND_GRAIN_RADIUS = 3, UND_GRAIN_SPEED, UND_GRAIN_SIGN, UND_GRAIN_NUMBERS };

typedef struct und_space_marks {
    und_space_set set[UND_SETS];
    und_control_particles *control_particles; /* of the scene; NULL: none */
    char trouble[256];                        /* "": none; why there are no control particles */
    double low, high;                         /* of what colours say */
} und_space_marks;

const char *und_space_set_label(und_space_set_name which); /* "Drops" */

/* `most` of each kind; `cell`: m. */
und_status und_space_marks_take(und_space_marks *marks, const und_frame *frame, size_t most, double cell,
                                und_error *err);
void und_space_marks_free(und_space_marks *marks);

/* Which numbers a tint goes by, over all sets shown. */
void und_space_marks_range(und_space_marks *marks, const bool shown[UND_SETS], und_space_tint tint);
void und_space_marks_grains(const und_space_marks *marks, und_space_set_name which, und_space_tint tint,
                            und_grain *out);

#endif
