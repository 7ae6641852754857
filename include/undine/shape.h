/* Undine: shapes and how they move. */
#ifndef UNDINE_SHAPE_H
#define UNDINE_SHAPE_H

#include <undine/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct und_shape und_shape;       /* a signed distance; see und_shape_* */
typedef struct und_motion und_motion;     /* key-framed position and rotation */
typedef struct und_sequence und_sequence; /* meshes that deform from frame to frame; see und_sequence_* */

#ifdef __cplusplus
}
#endif

#endif
