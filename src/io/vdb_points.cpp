/* Points of OpenVDB, and nothing but the calls to it: no exception leaves this file. */
#include "io/points.h"
#include "io/vdb_guard.h"

#include <openvdb/io/Stream.h>
#include <openvdb/openvdb.h>
#include <openvdb/points/PointAttribute.h>
#include <openvdb/points/PointConversion.h>
#include <openvdb/points/PointDataGrid.h>

#include <cmath>
#include <fstream>

extern "C" {
#include "base/child.h"
#include "base/status.h"
}

namespace
{

using openvdb::points::AttributeHandle;
using openvdb::points::PointDataGrid;

/* An attribute under one of its names, where it has the type. */
template <typename Type>
typename AttributeHandle<Type>::Ptr attribute(const openvdb::points::PointDataTree::LeafNodeType &leaf,
                                              std::initializer_list<const char *> names)
{
    for (const char *name : names) {
        const auto index = leaf.attributeSet().find(name);
        if (index != openvdb::points::AttributeSet::INVALID_POS &&
            leaf.constAttributeArray(index).template hasValueType<Type>())
            return AttributeHandle<Type>::create(leaf.constAttributeArray(index));
    }
    return nullptr;
}

/* A vector's three numbers, or a number, into a row. */
und_status put(float *row, int first, const openvdb::Vec3f &v, const char *path, und_error *err)
{
    for (int a = 0; a < 3; a++) {
        if (!std::isfinite(v[a]))
            return und_error_set(err, UND_INVALID, "%s: expected finite numbers, found one that is not",
                                 path);
        row[first + a] = v[a];
    }
    return UND_OK;
}

und_status put(float *row, int at, float number, const char *path, und_error *err)
{
    if (!std::isfinite(number))
        return und_error_set(err, UND_INVALID, "%s: expected finite numbers, found one that is not", path);
    row[at] = number;
    return UND_OK;
}

constexpr unsigned three(int first)
{
    return 7u << first;
}

und_status read_leaf(const PointDataGrid &grid, const openvdb::points::PointDataTree::LeafNodeType &leaf,
                     const char *path, und_point_rows *rows, und_error *err)
{
    const auto position = attribute<openvdb::Vec3f>(leaf, {"P"});
    const auto velocity = attribute<openvdb::Vec3f>(leaf, {"v", "velocity"});
    const auto normal = attribute<openvdb::Vec3f>(leaf, {"N", "normal"});
    const auto radius = attribute<float>(leaf, {"radius", "pscale"});
    const auto strength = attribute<float>(leaf, {"strength"});
    const auto value = attribute<float>(leaf, {"value"});
    const auto id = attribute<int32_t>(leaf, {"id"});
    const auto id64 = attribute<int64_t>(leaf, {"id"});
    if (!position)
        return und_error_set(err, UND_INVALID, "%s: its points have no places P", path);
    const unsigned has = three(UND_POINT_X) | (velocity ? three(UND_POINT_VX) : 0) |
                         (normal ? three(UND_POINT_NX) : 0) | (radius ? 1u << UND_POINT_RADIUS : 0) |
                         (strength ? 1u << UND_POINT_STRENGTH : 0) | (value ? 1u << UND_POINT_VALUE : 0);
    if (rows->count > 0 && (has != rows->has || (id || id64) != rows->has_id))
        return und_error_set(err, UND_INVALID, "%s: not all of its points have the same attributes", path);
    rows->has = has;
    rows->has_id = id || id64;
    for (auto point = leaf.beginIndexOn(); point; ++point) {
        float *row = und_points_add(rows, path, err);
        if (!row)
            return err->status;
        const openvdb::Vec3d place =
            grid.indexToWorld(point.getCoord().asVec3d() + openvdb::Vec3d(position->get(*point)));
        if (put(row, UND_POINT_X, openvdb::Vec3f(place), path, err) != UND_OK ||
            (velocity && put(row, UND_POINT_VX, velocity->get(*point), path, err) != UND_OK) ||
            (normal && put(row, UND_POINT_NX, normal->get(*point), path, err) != UND_OK) ||
            (radius && put(row, UND_POINT_RADIUS, radius->get(*point), path, err) != UND_OK) ||
            (strength && put(row, UND_POINT_STRENGTH, strength->get(*point), path, err) != UND_OK) ||
            (value && put(row, UND_POINT_VALUE, value->get(*point), path, err) != UND_OK))
            return err->status;
        const int64_t number = id ? id->get(*point) : id64 ? id64->get(*point) : 0;
        if (number < INT32_MIN || number > INT32_MAX)
            return und_error_set(err, UND_INVALID, "%s: an id does not fit into 32 bits", path);
        if (rows->has_id)
            rows->id[rows->count - 1] = int32_t(number);
    }
    return UND_OK;
}

/* Read from start to end with a stream that throws, since the library takes what is cut short for data. */
und_status read_points(const char *path, const char *name, und_point_rows *rows, und_error *err)
{
    std::ifstream stream(path, std::ios::binary);
    stream.exceptions(std::ios::failbit | std::ios::badbit);
    openvdb::io::Stream all(stream, false);
    PointDataGrid::Ptr grid;
    for (const auto &one : *all.getGrids())
        if (!grid && one->isType<PointDataGrid>() && (!name || one->getName() == name))
            grid = openvdb::gridPtrCast<PointDataGrid>(one);
    if (!grid)
        return und_error_set(err, UND_INVALID, "%s: there are no points%s%s in it", path,
                             name ? " named " : "", name ? name : "");
    for (auto leaf = grid->tree().cbeginLeaf(); leaf; ++leaf)
        if (read_leaf(*grid, *leaf, path, rows, err) != UND_OK)
            return err->status;
    return UND_OK;
}

/* Voxels that hold a few points each. */
und_status write_points(const char *path, const und_point_rows *rows, double voxel, und_error *err)
{
    using namespace openvdb::points;
    std::vector<openvdb::Vec3f> place(size_t(rows->count)), velocity(place);
    std::vector<float> radius(place.size());
    std::vector<int32_t> id(rows->id, rows->id + rows->count);
    for (size_t i = 0; i < place.size(); i++) {
        const float *n = rows->number[i];
        place[i] = openvdb::Vec3f(n[UND_POINT_X], n[UND_POINT_Y], n[UND_POINT_Z]);
        velocity[i] = openvdb::Vec3f(n[UND_POINT_VX], n[UND_POINT_VY], n[UND_POINT_VZ]);
        radius[i] = n[UND_POINT_RADIUS];
    }
    const auto transform = openvdb::math::Transform::createLinearTransform(voxel);
    const PointAttributeVector<openvdb::Vec3f> places(place);
    const auto index =
        openvdb::tools::createPointIndexGrid<openvdb::tools::PointIndexGrid>(places, *transform);
    const auto grid = createPointDataGrid<NullCodec, PointDataGrid>(*index, places, *transform);
    auto put = [&](const char *name, const auto &values, auto zero) {
        using Type = decltype(zero);
        appendAttribute<Type>(grid->tree(), name);
        const PointAttributeVector<Type> wrapped(values);
        populateAttribute<PointDataTree, openvdb::tools::PointIndexTree, PointAttributeVector<Type>>(
            grid->tree(), index->tree(), name, wrapped);
    };
    if (rows->has >> UND_POINT_VX & 1)
        put("v", velocity, openvdb::Vec3f(0));
    if (rows->has >> UND_POINT_RADIUS & 1)
        put("radius", radius, 0.0f);
    if (rows->has_id)
        put("id", id, int32_t(0));
    grid->setName("points");
    return und_vdb_save(path, {grid}, openvdb::MetaMap(), err);
}

/* Rows that a child reads. */
struct reading {
    const char *path, *grid;
    und_point_rows *rows;
};

und_status work(void *context, und_error *err)
{
    const reading &r = *static_cast<reading *>(context);
    return guarded("read", r.path, err, [&] { return read_points(r.path, r.grid, r.rows, err); });
}

void give(und_child *child, const void *context)
{
    const und_point_rows &rows = *static_cast<const reading *>(context)->rows;
    und_child_put(child, &rows, sizeof rows);
    und_child_put(child, rows.number, size_t(rows.count) * sizeof *rows.number);
    if (rows.has_id)
        und_child_put(child, rows.id, size_t(rows.count) * sizeof *rows.id);
}

und_status take(und_child *child, void *context, und_error *err)
{
    const reading &r = *static_cast<reading *>(context);
    und_point_rows *rows = r.rows, from;
    if (!und_child_get(child, &from, sizeof from))
        return UND_FAILED;
    rows->has = from.has & ((1u << UND_POINT_NUMBERS) - 1);
    rows->has_id = from.has_id;
    for (int i = 0; i < from.count; i++)
        if (!und_points_add(rows, r.path, err))
            return err->status;
    const size_t count = size_t(rows->count);
    bool whole = und_child_get(child, rows->number, count * sizeof *rows->number);
    if (whole && rows->has_id)
        whole = und_child_get(child, rows->id, count * sizeof *rows->id);
    for (size_t i = 0; whole && i < count; i++)
        for (float number : rows->number[i])
            if (!std::isfinite(number))
                return und_error_set(err, UND_FAILED, "cannot read %s: it is damaged", r.path);
    return whole ? UND_OK : UND_FAILED;
}

} // namespace

und_status und_vdb_read_points(const char *path, const char *grid, und_point_rows *rows, und_error *err)
{
    reading r = {path, grid, rows};
    const und_child_job job = {path, und_vdb_size(path), &r, work, give, take, 0, 0};
    return und_child_run(&job, err);
}

und_status und_vdb_write_points(const char *path, const und_point_rows *rows, double voxel, und_error *err)
{
    return guarded("write", path, err, [&] { return write_points(path, rows, voxel, err); });
}
