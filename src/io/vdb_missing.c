/* Built without OpenVDB. */
#include "base/status.h"
#include "io/points.h"
#include "io/vdb.h"

static und_status missing(const char *path, und_error *err)
{
    return und_error_set(err, UND_FAILED,
                         "%s: this build can neither read nor write VDB files: it was made without OpenVDB",
                         path);
}

und_status und_vdb_write(const char *path, const und_vdb_def *def, und_error *err)
{
    (void)def;
    return missing(path, err);
}
und_status und_vdb_read_lattice(const char *path, const char *name, und_lattice *lattice, float **values,
                                und_error *err)
{
    (void)name, (void)lattice, (void)values;
    return missing(path, err);
}
und_status und_vdb_read_vectors(const char *path, const char *name, und_lattice *lattice, float **values,
                                und_error *err)
{
    (void)name, (void)lattice, (void)values;
    return missing(path, err);
}
und_status und_vdb_read_points(const char *path, const char *grid, und_point_rows *rows, und_error *err)
{
    (void)grid, (void)rows;
    return missing(path, err);
}
und_status und_vdb_write_points(const char *path, const und_point_rows *rows, double voxel, und_error *err)
{
    (void)rows, (void)voxel;
    return missing(path, err);
}
