/* C++ as OpenVDB is, and nothing but the calls to it: no exception leaves this file. */
#include "io/vdb.h"
#include "io/vdb_guard.h"

#include <openvdb/io/Archive.h>
#include <openvdb/io/Stream.h>
#include <openvdb/openvdb.h>
#include <openvdb/tools/Dense.h>
#include <openvdb/tools/Prune.h>
#include <openvdb/tools/SignedFloodFill.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <malloc.h>
#include <mutex>
#include <sstream>
#include <string>
#include <sys/stat.h>
#include <system_error>
#include <thread>
#include <vector>

extern "C" {
#include "base/child.h"
#include "base/file.h"
#include "base/status.h"
}

namespace
{

using openvdb::Coord;

constexpr int SIDE = 8; /* of a leaf */
constexpr double MOST = 1 << 27;

/* Where a voxel of the file lies in the dense block; -1 outside. */
ptrdiff_t place_of(const und_vdb_grid &g, int x, int y, int z)
{
    int i = x - g.low[0], j = y - g.low[1], k = z - g.low[2];
    bool in = i >= 0 && j >= 0 && k >= 0 && i < g.n[0] && j < g.n[1] && k < g.n[2];
    return in ? (ptrdiff_t(k) * g.n[1] + j) * g.n[0] + i : -1;
}

openvdb::Vec3s value_of(const und_vdb_grid &g, ptrdiff_t at, const openvdb::Vec3s &)
{
    return openvdb::Vec3s(g.value[0][at], g.value[1][at], g.value[2][at]);
}

float value_of(const und_vdb_grid &g, ptrdiff_t at, float)
{
    return g.value[0][at];
}

/* A leaf's voxels: values, and which are active.  Returns how many those are. */
template <typename Value>
int take_leaf(const und_vdb_grid &g, const Coord &low, const Value &background,
              Value value[SIDE * SIDE * SIDE], bool active[SIDE * SIDE * SIDE])
{
    int count = 0, offset = 0; /* z is fastest in a leaf */
    for (int x = 0; x < SIDE; x++)
        for (int y = 0; y < SIDE; y++)
            for (int z = 0; z < SIDE; z++, offset++) {
                ptrdiff_t at = place_of(g, low[0] + x, low[1] + y, low[2] + z);
                value[offset] = at < 0 ? background : value_of(g, at, background);
                if (g.kind == UND_VDB_LEVEL_SET)
                    active[offset] = at >= 0 && std::abs(g.value[0][at]) < g.background;
                else
                    active[offset] = at >= 0 && g.active[at];
                if (g.kind != UND_VDB_LEVEL_SET && !active[offset])
                    value[offset] = background;
                count += active[offset];
            }
    return count;
}

template <typename Grid> void fill(Grid &grid, const und_vdb_grid &g)
{
    using Value = typename Grid::ValueType;
    Value value[SIDE * SIDE * SIDE];
    bool active[SIDE * SIDE * SIDE];
    const Value background = grid.background();
    const int down = ~(SIDE - 1); /* to a leaf's border, of negative numbers too */
    for (int x = g.low[0] & down; x < g.low[0] + g.n[0]; x += SIDE)
        for (int y = g.low[1] & down; y < g.low[1] + g.n[1]; y += SIDE)
            for (int z = g.low[2] & down; z < g.low[2] + g.n[2]; z += SIDE) {
                int count = take_leaf(g, Coord(x, y, z), background, value, active);
                bool even =
                    std::all_of(value, value + SIDE * SIDE * SIDE, [&](auto &v) { return v == value[0]; });
                if (count == 0 && even) {
                    if (value[0] != background)
                        grid.tree().addTile(1, Coord(x, y, z), value[0], false);
                    continue;
                }
                auto *leaf = grid.tree().touchLeaf(Coord(x, y, z));
                for (int i = 0; i < SIDE * SIDE * SIDE; i++) {
                    leaf->setValueOnly(i, value[i]);
                    leaf->setActiveState(i, active[i]);
                }
            }
}

template <typename Grid>
typename Grid::Ptr make(const und_vdb_grid &g, const typename Grid::ValueType &background)
{
    auto grid = Grid::create(background);
    grid->setName(g.name);
    grid->setTransform(openvdb::math::Transform::createLinearTransform(g.voxel));
    grid->transform().postTranslate(openvdb::Vec3d(g.origin[0], g.origin[1], g.origin[2]));
    fill(*grid, g);
    return grid;
}

openvdb::GridBase::Ptr make_grid(const und_vdb_grid &g)
{
    if (g.kind == UND_VDB_STAGGERED) {
        auto grid = make<openvdb::Vec3SGrid>(g, openvdb::Vec3s(0));
        grid->setGridClass(openvdb::GRID_STAGGERED);
        grid->setVectorType(openvdb::VEC_CONTRAVARIANT_RELATIVE);
        return grid;
    }
    auto grid = make<openvdb::FloatGrid>(g, g.background);
    if (g.kind == UND_VDB_LEVEL_SET) {
        grid->setGridClass(openvdb::GRID_LEVEL_SET);
        openvdb::tools::signedFloodFill(grid->tree());
        openvdb::tools::pruneLevelSet(grid->tree());
    }
    return grid;
}

/* What the library keeps to itself: grids to a stream of ours, with their places in it. */
struct archive : openvdb::io::Archive {
    using Archive::write;
};

/* A file is named within by a random word, which would make each differ: ours is its bytes' hash. */
void name_by_contents(std::string &file)
{
    constexpr size_t AT = 21, LENGTH = 36; /* after magic, three versions, a flag */
    if (file.size() < AT + LENGTH || file[AT + 8] != '-' || file[AT + 23] != '-')
        OPENVDB_THROW(openvdb::IoError, "an unknown kind of header");
    file.replace(AT, LENGTH, "00000000-0000-4000-8000-000000000000");
    const uint64_t hash = und_file_hash_memory(file.data(), file.size(), 1);
    char name[LENGTH + 1];
    std::snprintf(name, sizeof name, "%08x-%04x-4%03x-8%03x-%012llx", unsigned(hash >> 32),
                  unsigned(hash >> 16) & 0xffffu, unsigned(hash >> 4) & 0xfffu, unsigned(hash & 0xfu),
                  (unsigned long long)(file.size() & 0xffffffffffffull));
    file.replace(AT, LENGTH, name);
}

und_status write_grids(const char *path, const und_vdb_def &def, und_error *err)
{
    openvdb::GridPtrVec grids;
    for (int i = 0; i < def.grid_count; i++) {
        grids.push_back(make_grid(def.grids[i]));
        grids.back()->setSaveFloatAsHalf(def.half);
    }
    openvdb::MetaMap meta;
    meta.insertMeta("creator", openvdb::StringMetadata("undine " UND_VERSION));
    meta.insertMeta("frame", openvdb::Int32Metadata(def.frame));
    meta.insertMeta("time", openvdb::DoubleMetadata(def.time));
    meta.insertMeta("units", openvdb::StringMetadata("metres, seconds"));
    meta.insertMeta("up_axis", openvdb::StringMetadata(def.z_up ? "z" : "y"));
    return und_vdb_save(path, grids, meta, err);
}

/* Voxels along the axes, none of them turned. */
bool find_spacing(const openvdb::math::Transform &t, double d[3])
{
    const openvdb::Vec3d zero = t.indexToWorld(openvdb::Vec3d(0));
    bool straight = t.isLinear();
    for (int a = 0; a < 3 && straight; a++) {
        openvdb::Vec3d unit(0);
        unit[a] = 1;
        unit = t.indexToWorld(unit) - zero;
        d[a] = unit[a];
        for (int b = 0; b < 3; b++)
            straight = straight &&
                       (a == b ? unit[b] > 0 && unit[b] < 1e9 : std::abs(unit[b]) < 1e-9 * std::abs(d[a]));
    }
    return straight;
}

/* A grid, and for one of vectors which component: "vel.y" is that of "vel". */
struct found {
    openvdb::GridBase::Ptr grid;
    int component;
};

bool is_named(const openvdb::GridBase &grid, const char *name, int *component)
{
    if (grid.isType<openvdb::FloatGrid>())
        return !name || grid.getName() == name;
    for (*component = 0; name && grid.isType<openvdb::Vec3SGrid>() && *component < 3; ++*component)
        if (grid.getName() + "." + "xyz"[*component] == name)
            return true;
    return false;
}

/* A file whose blocks of values are as long as they say.  Each begins with its length in eight bytes,
 * negative where it is not compressed, and the library believes it: it reads that many bytes to where it
 * wants fewer, or asks for any amount of memory.  Metadata of eight bytes, after a four that says so, is none
 * of that. */
class guarded_file : public std::filebuf
{
  public:
    explicit guarded_file(const char *path)
    {
        if (open(path, std::ios::in | std::ios::binary))
            size_ = pubseekoff(0, std::ios::end);
        pubseekpos(0);
    }

  protected:
    std::streamsize xsgetn(char *to, std::streamsize count) override
    {
        if (length_ < 0 && count == -length_ && malloc_usable_size(to) < size_t(count))
            throw std::ios::failure("a block of values is too long");
        const std::streamsize got = std::filebuf::xsgetn(to, count);
        int64_t number = 0;
        if (got == count && (count == 4 || count == 8))
            std::memcpy(&number, to, size_t(count));
        length_ = count == 8 && announced_ != 8 && number != openvdb::OPENVDB_MAGIC ? number : 0;
        announced_ = count == 4 ? number : 0;
        if (length_ > size_ || length_ < -size_)
            throw std::ios::failure("a block of values is longer than the file");
        return got;
    }

  private:
    std::streamsize size_ = 0;
    int64_t length_ = 0, announced_ = 0; /* of what comes next, if it has one */
};

/* Read from start to end with a stream that throws, since the library takes what is cut short for data. */
openvdb::GridPtrVec read_grids(const char *path)
{
    guarded_file file(path);
    std::istream stream(&file);
    stream.exceptions(std::ios::failbit | std::ios::badbit);
    if (!file.is_open())
        stream.setstate(std::ios::failbit);
    return *openvdb::io::Stream(stream, false).getGrids();
}

found find_grid(const char *path, const char *name)
{
    found f = {nullptr, 0};
    for (const auto &grid : read_grids(path))
        if (!f.grid && is_named(*grid, name, &f.component))
            f.grid = grid;
    return f;
}

template <typename Value> using dense_block = openvdb::tools::Dense<Value, openvdb::tools::LayoutXYZ>;

void copy_values(const found &f, const openvdb::CoordBBox &box, float *values)
{
    dense_block<float> dense(box, values);
    if (auto floats = openvdb::gridPtrCast<openvdb::FloatGrid>(f.grid)) {
        openvdb::tools::copyToDense(*floats, dense, true);
        return;
    }
    dense_block<openvdb::Vec3s> vectors(box);
    openvdb::tools::copyToDense(*openvdb::gridPtrCast<openvdb::Vec3SGrid>(f.grid), vectors, true);
    for (size_t i = 0; i < vectors.valueCount(); i++)
        values[i] = vectors.data()[i][f.component];
}

/* The grid's active voxels and one more around them. */
und_status measure(const openvdb::GridBase &grid, const char *path, openvdb::CoordBBox *box,
                   und_lattice *lattice, und_error *err)
{
    *box = grid.evalActiveVoxelBoundingBox();
    if (box->empty())
        return und_error_set(err, UND_INVALID, "%s: its grid is empty", path);
    box->expand(1);
    const openvdb::Vec3d size = box->extents().asVec3d();
    if (!(size[0] * size[1] * size[2] <= MOST))
        return und_error_set(err, UND_INVALID, "%s: a grid of %.0f x %.0f x %.0f voxels is too large", path,
                             size[0], size[1], size[2]);
    if (!find_spacing(grid.transform(), lattice->d))
        return und_error_set(err, UND_INVALID, "%s: its grid is turned, slanted or mirrored", path);
    const openvdb::Vec3d low = grid.indexToWorld(box->min());
    for (int a = 0; a < 3; a++) {
        lattice->n[a] = int(size[a]);
        lattice->origin[a] = low[a];
    }
    return UND_OK;
}

und_status read_lattice(const char *path, const char *name, und_lattice *lattice, float **values,
                        und_error *err)
{
    openvdb::CoordBBox box;
    const found f = find_grid(path, name);
    if (!f.grid)
        return und_error_set(err, UND_INVALID, "%s: there is no grid of floats%s%s in it", path,
                             name ? " named " : "", name ? name : "");
    if (measure(*f.grid, path, &box, lattice, err) != UND_OK)
        return err->status;
    *values = static_cast<float *>(und_alloc(und_lattice_count(lattice), sizeof **values, path, err));
    if (!*values)
        return UND_FAILED;
    copy_values(f, box, *values);
    return UND_OK;
}

/* Each component of a staggered voxel is that of its low face: in its middle it is the mean with the next's.
 */
void copy_vectors(const openvdb::Vec3SGrid &grid, const openvdb::CoordBBox &box, float *values)
{
    dense_block<openvdb::Vec3s> vectors(box);
    openvdb::tools::copyToDense(grid, vectors, true);
    const bool staggered = grid.getGridClass() == openvdb::GRID_STAGGERED;
    const Coord n = box.dim();
    const ptrdiff_t step[3] = {1, n[0], ptrdiff_t(n[0]) * n[1]};
    for (int z = 0; z < n[2]; z++)
        for (int y = 0; y < n[1]; y++)
            for (int x = 0; x < n[0]; x++)
                for (int c = 0; c < 3; c++) {
                    const int at[3] = {x, y, z};
                    const openvdb::Vec3s *here = vectors.data() + x + step[1] * y + step[2] * z;
                    const float next = at[c] + 1 < n[c] ? here[step[c]][c] : 0;
                    *values++ = staggered ? 0.5f * (here[0][c] + next) : here[0][c];
                }
}

und_status read_vectors(const char *path, const char *name, und_lattice *lattice, float **values,
                        und_error *err)
{
    openvdb::Vec3SGrid::Ptr grid;
    openvdb::CoordBBox box;
    for (const auto &one : read_grids(path))
        if (!grid && one->isType<openvdb::Vec3SGrid>() && (!name || one->getName() == name))
            grid = openvdb::gridPtrCast<openvdb::Vec3SGrid>(one);
    if (!grid)
        return und_error_set(err, UND_INVALID, "%s: there is no grid of vectors%s%s in it", path,
                             name ? " named " : "", name ? name : "");
    if (measure(*grid, path, &box, lattice, err) != UND_OK)
        return err->status;
    *values = static_cast<float *>(und_alloc(3 * und_lattice_count(lattice), sizeof **values, path, err));
    if (!*values)
        return UND_FAILED;
    copy_vectors(*grid, box, *values);
    return UND_OK;
}

/* As many threads as asked for, or one: TBB ends the program where there is no room for a thread's stack. */
int startable(int threads)
{
    std::vector<std::thread> tried;
    std::mutex together;
    try {
        std::lock_guard<std::mutex> hold(together);
        for (int i = 1; i < threads; i++)
            tried.emplace_back([&] { std::lock_guard<std::mutex> pass(together); });
    } catch (const std::system_error &) {
        threads = 1;
    }
    for (std::thread &one : tried)
        one.join();
    return threads;
}

/* A grid of one or three values a voxel, which a child reads. */
struct reading {
    const char *path, *name;
    size_t width;
    und_lattice lattice;
    float *values;
};

size_t value_count(const reading &r)
{
    return r.width * und_lattice_count(&r.lattice);
}

und_status work(void *context, und_error *err)
{
    reading &r = *static_cast<reading *>(context);
    return guarded("read", r.path, err, [&] {
        return r.width == 1 ? read_lattice(r.path, r.name, &r.lattice, &r.values, err)
                            : read_vectors(r.path, r.name, &r.lattice, &r.values, err);
    });
}

void give(und_child *child, const void *context)
{
    const reading &r = *static_cast<const reading *>(context);
    und_child_put(child, &r.lattice, sizeof r.lattice);
    und_child_put(child, r.values, value_count(r) * sizeof *r.values);
}

/* The child may have lost its mind: what it says is looked at as the file would be. */
bool is_sound(const und_lattice &l)
{
    double count = 1;
    bool good = true;
    for (int a = 0; a < 3; a++) {
        good = good && l.n[a] > 0 && l.d[a] > 0 && std::isfinite(l.d[a]) && std::isfinite(l.origin[a]);
        count *= l.n[a];
    }
    return good && count <= MOST;
}

und_status take(und_child *child, void *context, und_error *err)
{
    reading &r = *static_cast<reading *>(context);
    if (!und_child_get(child, &r.lattice, sizeof r.lattice))
        return UND_FAILED;
    if (!is_sound(r.lattice))
        return und_error_set(err, UND_FAILED, "cannot read %s: it is damaged", r.path);
    r.values = static_cast<float *>(und_alloc(value_count(r), sizeof *r.values, r.path, err));
    if (!r.values)
        return UND_FAILED;
    return und_child_get(child, r.values, value_count(r) * sizeof *r.values) ? UND_OK : UND_FAILED;
}

und_status read_apart(reading *r, und_lattice *lattice, float **values, und_error *err)
{
    const und_child_job job = {r->path, und_vdb_size(r->path), r, work, give, take, 0, 0};
    und_status status = und_child_run(&job, err);
    if (status != UND_OK) {
        std::free(r->values);
        r->values = nullptr;
    }
    *lattice = r->lattice;
    *values = r->values;
    return status;
}

} // namespace

size_t und_vdb_size(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 ? size_t(info.st_size) : 0;
}

und_status und_vdb_save(const char *path, const openvdb::GridPtrVec &grids, const openvdb::MetaMap &meta,
                        und_error *err)
{
    std::ostringstream stream(std::ios::binary);
    stream.exceptions(std::ios::failbit | std::ios::badbit);
    archive().write(stream, grids, true, meta);
    std::string file = stream.str();
    name_by_contents(file);
    return und_file_write(path, file.data(), file.size(), err);
}

und_status und_vdb_write(const char *path, const und_vdb_def *def, und_error *err)
{
    return guarded("write", path, err, [&] {
        tbb::task_arena arena(
            startable(std::min(std::max(def->threads, 1), tbb::this_task_arena::max_concurrency())));
        return arena.execute([&] { return write_grids(path, *def, err); });
    });
}

und_status und_vdb_read_lattice(const char *path, const char *name, und_lattice *lattice, float **values,
                                und_error *err)
{
    reading r = {path, name, 1, {}, nullptr};
    return read_apart(&r, lattice, values, err);
}

und_status und_vdb_read_vectors(const char *path, const char *name, und_lattice *lattice, float **values,
                                und_error *err)
{
    reading r = {path, name, 3, {}, nullptr};
    return read_apart(&r, lattice, values, err);
}
