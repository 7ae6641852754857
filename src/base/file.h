/* Whole files, in and out.  A file is written under a temporary name in the same folder, fsynced and
 * renamed, so that under its own name there is always either the old file or the whole new one. */
#ifndef UND_BASE_FILE_H
#define UND_BASE_FILE_H

#include <undine/types.h>

enum { UND_PATH_MAX = 2048 };

typedef struct und_file {
    char path[UND_PATH_MAX]; /* where it will be */
    char temp[UND_PATH_MAX]; /* where to write it: PATH.PID.tmp */
} und_file;

/* A file by the name that somebody gave it. */
typedef struct und_named_file {
    const char *name, *path;
} und_named_file;

/* Creates the temporary file, empty; fails where the folder cannot be written. */
und_status und_file_begin(und_file *file, const char *path, und_error *err);
/* Syncs the temporary file and its folder and gives it its name; removes it where that fails. */
und_status und_file_commit(und_file *file, und_error *err);
/* Removes the temporary file. */
void und_file_cancel(und_file *file);
/* Is it the name of a temporary file, such as a killed run leaves behind? */
bool und_file_is_temp(const char *name);

/* Formats a path; one that is too long is an error. */
und_status und_path_set(char path[UND_PATH_MAX], und_error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Begin, write all of it, commit. */
und_status und_file_write(const char *path, const void *data, size_t bytes, und_error *err);
/* The same without a sync: whole after the program is killed, perhaps not after a power cut. */
und_status und_file_write_unsynced(const char *path, const void *data, size_t bytes, und_error *err);
/* Reads a file of at most `most` bytes; *data is malloc'ed and has a zero byte after the last. */
und_status und_file_read(const char *path, size_t most, char **data, size_t *bytes, und_error *err);
/* The hash of a file's bytes and their number. */
und_status und_file_hash(const char *path, int threads, uint64_t *hash, size_t *bytes, und_error *err);
/* The same hash, of bytes in memory. */
uint64_t und_file_hash_memory(const void *data, size_t bytes, int threads);
/* Syncs all that was written to the disk that a folder is on: one call for many files. */
und_status und_file_sync_disk(const char *folder, und_error *err);
/* Copies the bytes of a regular file into one that is there; a disk that can shares them. */
und_status und_file_copy(const char *from, const char *to, und_error *err);
/* Gives the temporary file its name without a sync. */
und_status und_file_rename(und_file *file, und_error *err);
/* Makes a folder and those above it, as far as they are not there. */
und_status und_folder_make(const char *path, und_error *err);

#endif
