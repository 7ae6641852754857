/* A frame of a liquid whose surface is a distance, as OpenVDB. */
#ifndef UND_IO_VDB_FRAME_H
#define UND_IO_VDB_FRAME_H

#include "grid/frame.h"
#include "io/ply.h"

/* "surface": where liquid is, within the grid's box and outside of solids, as a closed level set three voxels
 * to each side; "vel" and "pressure" where the frame has them, kept where the surface's band or liquid is.
 * half: values in 16 bits. */
und_status und_vdb_write_frame(const char *path, const und_frame *frame, und_up up, bool half, int threads,
                               und_error *err);

#endif
