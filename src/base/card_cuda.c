/* Nvidia's cards, by their driver's own library, which is looked for when one is asked for: nothing of theirs
 * is needed to build. */
#include "base/card.h"

#include "base/status.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is used of the driver's interface, in its own words. */
typedef int CUresult;
typedef int CUdevice;
typedef uint64_t CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef unsigned long long CUmemHandle;
typedef struct CUmemLocation {
    int type, id;
} CUmemLocation;
typedef struct CUmemAllocationProp {
    int type, requestedHandleTypes;
    CUmemLocation location;
    void *win32HandleMetaData;
    unsigned char flags[8];
} CUmemAllocationProp;
typedef struct CUmemAccessDesc {
    CUmemLocation location;
    int flags;
} CUmemAccessDesc;

#define DRIVER(CALL)                                                                                  \
    CALL(cuInit, "cuInit", (unsigned))                                                                \
    CALL(cuGetErrorString, "cuGetErrorString", (CUresult, const char **))                             \
    CALL(cuDeviceGet, "cuDeviceGet", (CUdevice *, int))                                               \
    CALL(cuDeviceGetName, "cuDeviceGetName", (char *, int, CUdevice))                                 \
    CALL(cuDeviceTotalMem, "cuDeviceTotalMem_v2", (size_t *, CUdevice))                               \
    CALL(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", (CUcontext *, CUdevice))               \
    CALL(cuDevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2", (CUdevice))                       \
    CALL(cuCtxSetCurrent, "cuCtxSetCurrent", (CUcontext))                                             \
    CALL(cuStreamCreate, "cuStreamCreate", (CUstream *, unsigned))                                    \
    CALL(cuStreamSynchronize, "cuStreamSynchronize", (CUstream))                                      \
    CALL(cuModuleLoadData, "cuModuleLoadData", (CUmodule *, const void *))                            \
    CALL(cuModuleGetFunction, "cuModuleGetFunction", (CUfunction *, CUmodule, const char *))          \
    CALL(cuLaunchKernel, "cuLaunchKernel",                                                            \
         (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, \
          void **, void **))                                                                          \
    CALL(cuMemAddressReserve, "cuMemAddressReserve",                                                  \
         (CUdeviceptr *, size_t, size_t, CUdeviceptr, unsigned long long))                            \
    CALL(cuMemAddressFree, "cuMemAddressFree", (CUdeviceptr, size_t))                                 \
    CALL(cuMemCreate, "cuMemCreate",                                                                  \
         (CUmemHandle *, size_t, const CUmemAllocationProp *, unsigned long long))                    \
    CALL(cuMemMap, "cuMemMap", (CUdeviceptr, size_t, size_t, CUmemHandle, unsigned long long))        \
    CALL(cuMemUnmap, "cuMemUnmap", (CUdeviceptr, size_t))                                             \
    CALL(cuMemRelease, "cuMemRelease", (CUmemHandle))                                                 \
    CALL(cuMemSetAccess, "cuMemSetAccess", (CUdeviceptr, size_t, const CUmemAccessDesc *, size_t))    \
    CALL(cuMemsetD8Async, "cuMemsetD8Async", (CUdeviceptr, unsigned char, size_t, CUstream))          \
    CALL(cuMemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2", (CUdeviceptr, const void *, size_t, CUstream))    \
    CALL(cuMemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2", (void *, CUdeviceptr, size_t, CUstream))          \
    CALL(cuMemHostAlloc, "cuMemHostAlloc", (void **, size_t, unsigned))                               \
    CALL(cuMemFreeHost, "cuMemFreeHost", (void *))

#define MEMBER(name, symbol, arguments) CUresult(*name) arguments;
typedef struct driver {
    DRIVER(MEMBER)
} driver;

enum {
    CHUNK = 1 << 21,       /* bytes: memory is mapped in multiples of that */
    PINNED = 1 << 24,      /* that copies go by: the card takes our addresses for its own */
    THREADS_OF_BLOCK = 128 /* of a launch */
};

typedef struct mapping { /* of chunks in a row */
    size_t first, count;
    CUmemHandle handle;
} mapping;

typedef struct card_cuda {
    driver d;
    void *library;
    CUdevice device;
    CUcontext context;
    CUstream stream;
    CUmodule module;
    char *range, *host, *pinned;
    size_t bytes, cursor; /* in what is pinned: what is before it is on its way */
    uint8_t *mapped;      /* of each chunk */
    mapping *mappings;
    size_t mapping_count, mapping_room;
    const und_card_kernels *kernels;
    CUfunction *functions; /* of each */
    char name[128];
    size_t memory;
    bool retained, reserved;
} card_cuda;

static und_status check(const card_cuda *c, CUresult result, const char *doing, und_error *err)
{
    const char *text = NULL;
    if (result == 0)
        return UND_OK;
    if (c->d.cuGetErrorString)
        c->d.cuGetErrorString(result, &text);
    return und_error_set(err, UND_FAILED, "the graphics card: %s: %s", doing, text ? text : "it failed");
}

/* ---- Opening ---- */

static und_status load_driver(card_cuda *c, und_error *err)
{
    c->library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!c->library)
        return und_error_set(err, UND_FAILED,
                             "no graphics card: Nvidia's driver (libcuda.so.1) is not on this machine");
    bool all = true;
#define LOAD(name, symbol, arguments)                  \
    {                                                  \
        void *const found = dlsym(c->library, symbol); \
        memcpy(&c->d.name, &found, sizeof found);      \
        all = all && found;                            \
    }
    DRIVER(LOAD)
    return all ? UND_OK : und_error_set(err, UND_FAILED, "the graphics card's driver is too old");
}

static und_status load_kernels(card_cuda *c, const und_card_kernels *kernels, und_error *err)
{
    if (!kernels->ptx)
        return und_error_set(
            err, UND_FAILED,
            "this program was built without kernels for graphics cards: that needs clang 19");
    return check(c, c->d.cuModuleLoadData(&c->module, kernels->ptx), "compiling kernels", err);
}

static und_status reserve(card_cuda *c, und_error *err)
{
    CUdeviceptr got = 0, wanted = (CUdeviceptr)(uintptr_t)c->range;
    if (check(c, c->d.cuMemAddressReserve(&got, c->bytes, 0, wanted, 0), "reserving addresses", err) !=
        UND_OK)
        return err->status;
    c->reserved = got == wanted;
    if (!c->reserved) {
        c->d.cuMemAddressFree(got, c->bytes);
        return und_error_set(err, UND_FAILED, "the graphics card: its addresses %p are taken",
                             (void *)c->range);
    }
    return UND_OK;
}

static und_status open_context(card_cuda *c, und_error *err)
{
    void *pinned = NULL;
    if (check(c, c->d.cuInit(0), "no card answers", err) != UND_OK ||
        check(c, c->d.cuDeviceGet(&c->device, 0), "no card answers", err) != UND_OK ||
        check(c, c->d.cuDeviceGetName(c->name, sizeof c->name, c->device), "its name", err) != UND_OK ||
        check(c, c->d.cuDeviceTotalMem(&c->memory, c->device), "its memory", err) != UND_OK ||
        check(c, c->d.cuDevicePrimaryCtxRetain(&c->context, c->device), "beginning", err) != UND_OK)
        return err->status;
    c->retained = true;
    if (check(c, c->d.cuCtxSetCurrent(c->context), "beginning", err) != UND_OK ||
        check(c, c->d.cuStreamCreate(&c->stream, 1), "beginning", err) != UND_OK ||
        check(c, c->d.cuMemHostAlloc(&pinned, PINNED, 0), "memory that is pinned", err) != UND_OK)
        return err->status;
    c->pinned = pinned;
    return UND_OK;
}

static und_status open_cuda(void **self, const und_card_kernels *kernels, char *range, size_t bytes,
                            char *host, und_error *err)
{
    card_cuda *c = und_alloc(1, sizeof *c, "the graphics card", err);
    if (!c)
        return err->status;
    *self = c;
    c->range = range;
    c->kernels = kernels;
    c->bytes = bytes;
    c->host = host;
    c->mapping_room = bytes / CHUNK;
    if (!(c->mapped = und_alloc(bytes / CHUNK, 1, "the graphics card", err)) ||
        !(c->functions = und_alloc((size_t)(kernels->end - kernels->begin) + 1, sizeof *c->functions,
                                   "the graphics card", err)) ||
        !(c->mappings = und_alloc(c->mapping_room, sizeof *c->mappings, "the graphics card", err)) ||
        load_driver(c, err) != UND_OK || open_context(c, err) != UND_OK || reserve(c, err) != UND_OK)
        return err->status;
    return load_kernels(c, kernels, err);
}

static CUdeviceptr address(const card_cuda *c, size_t offset)
{
    return (CUdeviceptr)(uintptr_t)c->range + offset;
}

static void close_cuda(void *self)
{
    card_cuda *c = self;
    if (c->retained) {
        c->d.cuCtxSetCurrent(c->context);
        c->d.cuStreamSynchronize(c->stream);
        for (size_t i = 0; i < c->mapping_count; i++) {
            c->d.cuMemUnmap(address(c, c->mappings[i].first * CHUNK), c->mappings[i].count * CHUNK);
            c->d.cuMemRelease(c->mappings[i].handle);
        }
        if (c->reserved)
            c->d.cuMemAddressFree(address(c, 0), c->bytes);
        if (c->pinned)
            c->d.cuMemFreeHost(c->pinned);
        c->d.cuDevicePrimaryCtxRelease(c->device);
    }
    if (c->library)
        dlclose(c->library);
    free(c->mapped);
    free(c->mappings);
    free(c->functions);
    free(c);
}

/* ---- Memory ---- */

static und_status map_chunks(card_cuda *c, size_t first, size_t count, und_error *err)
{
    const CUmemLocation here = {1 /* a device */, c->device};
    const CUmemAllocationProp kind = {.type = 1 /* pinned to it */, .location = here};
    const CUmemAccessDesc access = {here, 3 /* read and write */};
    const CUdeviceptr at = address(c, first * CHUNK);
    mapping m = {.first = first, .count = count};
    if (c->d.cuMemCreate(&m.handle, count * CHUNK, &kind, 0) != 0)
        return und_error_set(
            err, UND_FAILED,
            "out of memory on the graphics card, which has %.1f GiB: run it with fewer cells, or "
            "with --device cpu",
            (double)c->memory / (double)(1 << 30));
    if (check(c, c->d.cuMemMap(at, count * CHUNK, 0, m.handle, 0), "mapping memory", err) != UND_OK)
        return err->status;
    c->mappings[c->mapping_count++] = m;
    memset(c->mapped + first, 1, count);
    return check(c, c->d.cuMemSetAccess(at, count * CHUNK, &access, 1), "mapping memory", err);
}

static und_status have(void *self, size_t offset, size_t bytes, und_error *err)
{
    card_cuda *c = self;
    const size_t end = (offset + bytes + CHUNK - 1) / CHUNK;
    c->d.cuCtxSetCurrent(c->context);
    for (size_t i = offset / CHUNK, next; i < end; i = next) {
        for (next = i + 1; next < end && c->mapped[next] == c->mapped[i];)
            next++;
        if (!c->mapped[i] && map_chunks(c, i, next - i, err) != UND_OK)
            return err->status;
    }
    return check(c, c->d.cuMemsetD8Async(address(c, offset), 0, bytes, c->stream), "clearing memory", err);
}

/* Room for so many bytes that nothing is on its way in. */
static char *pinned_room(card_cuda *c, size_t bytes)
{
    if (c->cursor + bytes > PINNED) {
        c->d.cuStreamSynchronize(c->stream);
        c->cursor = 0;
    }
    c->cursor += bytes;
    return c->pinned + c->cursor - bytes;
}

static size_t at_once(size_t bytes)
{
    return bytes < PINNED / 4 ? bytes : PINNED / 4;
}

static und_status put(void *self, size_t offset, size_t bytes, und_error *err)
{
    card_cuda *c = self;
    und_status status = UND_OK;
    c->d.cuCtxSetCurrent(c->context);
    for (size_t some; bytes > 0 && status == UND_OK; offset += some, bytes -= some) {
        some = at_once(bytes);
        char *room = pinned_room(c, some);
        memcpy(room, c->host + offset, some);
        status =
            check(c, c->d.cuMemcpyHtoDAsync(address(c, offset), room, some, c->stream), "copying to it", err);
    }
    return status;
}

static und_status get(void *self, size_t offset, size_t bytes, und_error *err)
{
    card_cuda *c = self;
    und_status status = UND_OK;
    c->d.cuCtxSetCurrent(c->context);
    for (size_t some; bytes > 0 && status == UND_OK; offset += some, bytes -= some) {
        some = at_once(bytes);
        char *room = pinned_room(c, some);
        if (check(c, c->d.cuMemcpyDtoHAsync(room, address(c, offset), some, c->stream), "copying from it",
                  err))
            return err->status;
        status = check(c, c->d.cuStreamSynchronize(c->stream), "computing", err);
        memcpy(c->host + offset, room, some);
    }
    return status;
}

static und_status clear(void *self, size_t offset, size_t bytes, und_error *err)
{
    card_cuda *c = self;
    c->d.cuCtxSetCurrent(c->context);
    return check(c, c->d.cuMemsetD8Async(address(c, offset), 0, bytes, c->stream), "clearing memory", err);
}

/* ---- Kernels ---- */

static int find(void *self, int named)
{
    card_cuda *c = self;
    char entry[256];
    snprintf(entry, sizeof entry, "%s_card", c->kernels->begin[named].name);
    c->d.cuCtxSetCurrent(c->context);
    return c->d.cuModuleGetFunction(&c->functions[named], c->module, entry) == 0 ? named : -1;
}

static und_status launch(void *self, int kernel, const und_card_launch *l, und_error *err)
{
    card_cuda *c = self;
    void *call, *args;
    memcpy(&call, &l->call, sizeof call);
    memcpy(&args, &l->args, sizeof args);
    void *parameters[] = {call, args};
    const unsigned of_block = l->together ? l->threads : THREADS_OF_BLOCK,
                   blocks = (l->threads + of_block - 1) / of_block;
    c->d.cuCtxSetCurrent(c->context);
    return check(c,
                 c->d.cuLaunchKernel(c->functions[kernel], blocks, 1, 1, of_block, 1, 1, 0, c->stream,
                                     parameters, NULL),
                 l->name, err);
}

static und_status wait_all(void *self, und_error *err)
{
    card_cuda *c = self;
    c->d.cuCtxSetCurrent(c->context);
    return check(c, c->d.cuStreamSynchronize(c->stream), "computing", err);
}

static void describe(void *self, char *text, size_t size)
{
    const card_cuda *c = self;
    snprintf(text, size, "%s, %.0f GiB", c->name, (double)c->memory / (double)(1 << 30));
}

const und_card_kind und_card_cuda = {.name = "gpu",
                                     .open = open_cuda,
                                     .close = close_cuda,
                                     .have = have,
                                     .put = put,
                                     .get = get,
                                     .clear = clear,
                                     .find = find,
                                     .launch = launch,
                                     .wait = wait_all,
                                     .describe = describe};
