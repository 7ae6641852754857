/* C++ as OpenVDB is, and nothing but the calls to it: no exception leaves this file. */
#include "geom/mesh_band.h"

#include <openvdb/openvdb.h>
#include <openvdb/tools/MeshToVolume.h>
#include <tbb/task_arena.h>

#include <algorithm>

extern "C" {
#include "base/status.h"
}

namespace
{

/* What OpenVDB asks of a mesh. */
struct triangles {
    const double (*corner)[3][3];
    size_t count;

    size_t polygonCount() const { return count; }
    size_t pointCount() const { return 3 * count; }
    size_t vertexCount(size_t) const { return 3; }
    void getIndexSpacePoint(size_t polygon, size_t vertex, openvdb::Vec3d &p) const
    {
        const double *c = corner[polygon][vertex];
        p = openvdb::Vec3d(c[0], c[1], c[2]);
    }
};

template <typename Grid, typename Value> void copy_leaves(const Grid &grid, const int n[3], Value *to)
{
    const openvdb::CoordBBox whole(openvdb::Coord(0, 0, 0), openvdb::Coord(n[0] - 1, n[1] - 1, n[2] - 1));
    for (auto leaf = grid.tree().cbeginLeaf(); leaf; ++leaf) {
        openvdb::CoordBBox box = leaf->getNodeBoundingBox();
        box.intersect(whole);
        if (box.empty())
            continue;
        for (auto value = leaf->cbeginValueOn(); value; ++value) {
            const openvdb::Coord p = value.getCoord();
            if (box.isInside(p))
                to[(size_t(p[2]) * size_t(n[1]) + size_t(p[1])) * size_t(n[0]) + size_t(p[0])] = *value;
        }
    }
}

void make_band(const triangles &mesh, const int n[3], double reach, float *distance, int32_t *nearest)
{
    const size_t points = size_t(n[0]) * size_t(n[1]) * size_t(n[2]);
    openvdb::Int32Grid index(-1);
    auto grid = openvdb::tools::meshToVolume<openvdb::FloatGrid>(
        mesh, openvdb::math::Transform(), float(reach), float(reach), openvdb::tools::UNSIGNED_DISTANCE_FIELD,
        &index);
    std::fill(distance, distance + points, float(reach));
    std::fill(nearest, nearest + points, -1);
    copy_leaves(*grid, n, distance);
    copy_leaves(index, n, nearest);
    for (size_t i = 0; i < points; i++)
        if (!(distance[i] < float(reach)) || nearest[i] < 0) {
            distance[i] = float(reach);
            nearest[i] = -1;
        }
}

} // namespace

und_status und_mesh_band(const double (*corner)[3][3], size_t count, const int n[3], double reach,
                         int threads, float *distance, int32_t *nearest, und_error *err)
{
    try {
        openvdb::initialize();
        tbb::task_arena arena(threads);
        arena.execute([&] { make_band(triangles{corner, count}, n, reach, distance, nearest); });
        return UND_OK;
    } catch (const std::bad_alloc &) {
        return und_error_set(err, UND_FAILED, "out of memory: distances to a mesh");
    } catch (const std::exception &e) {
        return und_error_set(err, UND_FAILED, "distances to a mesh: %s", e.what());
    } catch (...) {
        return und_error_set(err, UND_FAILED, "distances to a mesh: OpenVDB failed");
    }
}
