/* What a skeleton is made of; for the files of this module alone. */
#ifndef UND_BODIES_SKELETON_DATA_H
#define UND_BODIES_SKELETON_DATA_H

#include "bodies/skeleton.h"

enum {
    BONES_MAX = 128,
    POSES_MAX = 128,
    SPANS_MAX = 64,
    KEYS_MAX = 50000, /* turns and places set, over all bones */
    NAME_SIZE = 32,
    SAMPLES_PER_SECOND = 240 /* of the root, where it is planted or flies */
};

typedef struct bone {
    char name[NAME_SIZE];
    int parent;         /* comes before it; -1: the root */
    int twin;           /* the same bone on the other side, or -1 */
    und_vec3 joint;     /* in the parent's coordinates */
    und_pose ellipsoid; /* in the bone's */
    und_vec3 tilt;      /* degrees */
    und_shape *shape;   /* about its own centre */
    bool limited;       /* by the file; else by its keys */
    und_vec3 low, high; /* of the joint's turn, degrees */
    und_motion *turn;   /* degrees as positions, so that a turn can be more than half a circle; NULL: none */
    float color[3];
} bone;

struct und_skeleton {
    int count;
    bone bones[BONES_MAX];
    und_motion *place, *turn; /* of the root; degrees as positions */
    double length;            /* s */
    und_pose placed;          /* the figure's coordinates in the world */
    double start;             /* s */
};

/* Keys of one joint, or of the root's place or turn, sorted by time. */
typedef struct key_row {
    und_key *keys;
    int count;
} key_row;

/* A time in which the root's place follows from the limbs: a bone is planted, or the figure flies. */
typedef struct lead_span {
    bool flies;
    double from, to;
    int bone; /* planted at `point`, in its own coordinates */
    und_vec3 point;
    int line;
} lead_span;

/* Makes the root's motions from its keys and the spans (sorted, apart).  On failure *bad is the span at
 * fault. */
und_status und_skeleton_lead(und_skeleton *skeleton, key_row places, key_row turns, const lead_span *spans,
                             int count, const lead_span **bad, und_error *err);

/* All bones' coordinates in the root's, at a time of the keys. */
void und_skeleton_limbs(const und_skeleton *skeleton, double time, und_pose poses[BONES_MAX]);

#endif
