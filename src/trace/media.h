/* What a ray is inside of.  Dielectrics may overlap: liquid that reaches a little into its glass.  Where they
 * do, the one of the highest priority is there and the others' surfaces are not (Schmidt & Budge 2002). */
#ifndef UND_TRACE_MEDIA_H
#define UND_TRACE_MEDIA_H

#include "trace/world.h"

enum { UND_MEDIA_MOST = 8 };

typedef struct und_medium {
    float index;
    f3 absorption, scatter;
    int priority, id;
} und_medium;

typedef struct und_media {
    int count;
    und_medium in[UND_MEDIA_MOST]; /* in the order in which they were entered */
} und_media;

/* The one that is there; NULL: air. */
static inline const und_medium *und_media_here(const und_media *m)
{
    const und_medium *best = NULL;
    for (int k = 0; k < m->count; k++)
        if (!best || m->in[k].priority >= best->priority)
            best = &m->in[k];
    return best;
}

static inline void und_media_enter(und_media *m, const und_matter *matter, int id)
{
    if (m->count < UND_MEDIA_MOST)
        m->in[m->count++] = (und_medium){matter->index, f3_of(matter->absorption), f3_of(matter->scatter),
                                         matter->priority, id};
}

static inline void und_media_leave(und_media *m, const und_matter *matter, int id)
{
    int k = m->count - 1;
    while (k >= 0 && (m->in[k].id != id || m->in[k].priority != matter->priority))
        k--;
    if (k < 0)
        return;
    for (m->count--; k < m->count; k++)
        m->in[k] = m->in[k + 1];
}

/* What a ray that goes along `dir` meets at a dielectric's surface: in *beyond the media behind it.  Returns
 * the index behind over the index in front; 1: nothing is there to see, and the ray goes straight on. */
static inline float und_media_meet(const und_media *m, const und_hit *hit, f3 dir, und_media *beyond)
{
    bool enters = f3_dot(dir, hit->face) < 0;
    *beyond = *m;
    if (enters)
        und_media_enter(beyond, &hit->matter, hit->id);
    else
        und_media_leave(beyond, &hit->matter, hit->id);
    const und_medium *a = und_media_here(m), *b = und_media_here(beyond);
    float front = a ? a->index : 1, behind = b ? b->index : 1;
    /* A ray that leaves what it never entered was in it all along. */
    if (!enters && m->count == beyond->count && (!a || a->priority < hit->matter.priority))
        front = hit->matter.index;
    float ratio = behind / front;
    return fabsf(ratio - 1) < 1e-4f ? 1 : ratio;
}

#endif
