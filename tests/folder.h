/* A folder of a test's own, removed with all that is in it. */
#ifndef UND_TESTS_FOLDER_H
#define UND_TESTS_FOLDER_H

#include "base/file.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct test_folder {
    char path[64];
    char file[256]; /* what test_path() made last */
} test_folder;

static inline void test_folder_make(test_folder *folder)
{
    strcpy(folder->path, "test-XXXXXX");
    if (!mkdtemp(folder->path))
        abort();
}

/* In memory where the system has such a place: for tests that write thousands of files. */
static inline void test_folder_make_fast(test_folder *folder)
{
    strcpy(folder->path, "/dev/shm/undine-test-XXXXXX");
    if (!mkdtemp(folder->path))
        test_folder_make(folder);
}

static inline int test_folder_remove_one(const char *path, const struct stat *info, int type, struct FTW *ftw)
{
    (void)info;
    (void)type;
    (void)ftw;
    return remove(path);
}

static inline void test_folder_remove(test_folder *folder)
{
    nftw(folder->path, test_folder_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static inline const char *test_path(test_folder *folder, const char *name)
{
    snprintf(folder->file, sizeof folder->file, "%s/%s", folder->path, name);
    return folder->file;
}

/* Writes a file without ceremony: damage need not be synced.  The old one goes first, since some filesystems
 * sync a file that is written over. */
static inline void put_file(const char *path, const void *data, size_t bytes)
{
    unlink(path);
    FILE *stream = fopen(path, "wb");
    if (!stream || fwrite(data, 1, bytes, stream) != bytes || fclose(stream))
        abort();
}

/* The one that a test program works in. */
static test_folder folder;

static inline int teardown(void **state)
{
    (void)state;
    test_folder_remove(&folder);
    return 0;
}

#endif
