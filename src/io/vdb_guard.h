/* C++, for the files that call OpenVDB. */
#ifndef UND_IO_VDB_GUARD_H
#define UND_IO_VDB_GUARD_H

#include <openvdb/openvdb.h>

#include <ios>
#include <new>

extern "C" {
#include "base/status.h"
}

/* What is thrown becomes an error. */
template <typename Work>
static und_status guarded(const char *verb, const char *path, und_error *err, Work work)
{
    try {
        openvdb::initialize();
        return work();
    } catch (const std::bad_alloc &) {
        return und_error_set(err, UND_FAILED, "cannot %s %s: out of memory", verb, path);
    } catch (const std::ios::failure &) {
        return und_error_set(err, UND_FAILED, "cannot %s %s: it is not there, cut short or damaged", verb,
                             path);
    } catch (const std::exception &e) {
        return und_error_set(err, UND_FAILED, "cannot %s %s: %s", verb, path, e.what());
    } catch (...) {
        return und_error_set(err, UND_FAILED, "cannot %s %s: OpenVDB failed", verb, path);
    }
}

size_t und_vdb_size(const char *path); /* bytes; 0 where there is no such file */

/* Grids as a file; the same ones give the same bytes.  They are made in memory, since the library writes on
 * when its stream fails, and a full disk would leave a file that is cut short. */
und_status und_vdb_save(const char *path, const openvdb::GridPtrVec &grids, const openvdb::MetaMap &meta,
                        und_error *err);

#endif
