#include "cache/files.h"

#include "base/status.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DIGITS = 16, ENDING_MAX = 8, KEPT_MAX = DIGITS + 1 + ENDING_MAX + 1 };
static const char FOLDER[] = "files";

static bool is_ending(const char *text)
{
    size_t length = strlen(text);
    for (const char *c = text; *c; c++)
        if (!isalnum((unsigned char)*c))
            return false;
    return length > 0 && length <= ENDING_MAX;
}

/* The hash of what is in it, and the ending, since that tells what kind of file it is. */
static void kept_name(const und_cache_file *file, char name[KEPT_MAX])
{
    const char *dot = strrchr(file->name, '.');
    bool has = dot && is_ending(dot + 1);
    snprintf(name, KEPT_MAX, "%016" PRIx64 "%s%s", file->hash, has ? "." : "", has ? dot + 1 : "");
}

bool und_files_is_kept(const char *name)
{
    size_t digits = strspn(name, "0123456789abcdef");
    return digits == DIGITS && (!name[digits] || (name[digits] == '.' && is_ending(name + digits + 1)));
}

static und_status path_in(const char *folder, const und_cache_file *file, char path[UND_PATH_MAX],
                          und_error *err)
{
    char name[KEPT_MAX];
    kept_name(file, name);
    return und_path_set(path, err, "%s/%s/%s", folder, FOLDER, name);
}

static und_cache_file *add(cache_files *list, const char *name, und_error *err)
{
    und_cache_file *grown = realloc(list->file, (size_t)(list->count + 1) * sizeof *grown);
    list->file = grown ? grown : list->file;
    char *copy = strdup(name);
    if (!grown || !copy) {
        free(copy);
        und_error_set(err, UND_FAILED, "out of memory: the scene's files");
        return NULL;
    }
    grown[list->count] = (und_cache_file){.name = copy};
    return &grown[list->count++];
}

void und_files_clear(cache_files *list)
{
    for (int i = 0; i < list->count; i++)
        free(list->file[i].name);
    free(list->file);
    *list = (cache_files){0};
}

static und_status make_folder(const und_cache *cache, char path[UND_PATH_MAX], und_error *err)
{
    und_status status = und_cache_path(cache, FOLDER, path, err);
    if (!status && mkdir(path, 0777) && errno != EEXIST)
        status = und_error_set(err, UND_FAILED, "cannot make the folder %s: %s", path, strerror(errno));
    return status;
}

/* The copy is hashed, not what it is made of, which may change meanwhile. */
static und_status copy_file(const und_cache *cache, const char *from, und_cache_file *file, und_error *err)
{
    und_file out;
    char path[UND_PATH_MAX];
    und_status status = und_cache_path(cache, "files/new", path, err);
    if (!status)
        status = und_file_begin(&out, path, err);
    if (status)
        return status;
    status = und_file_copy(from, out.temp, err);
    if (!status)
        status = und_file_hash(out.temp, cache->threads, &file->hash, &file->bytes, err);
    if (!status)
        status = path_in(cache->folder, file, out.path, err);
    if (status)
        und_file_cancel(&out);
    return status ? status : und_file_rename(&out, err);
}

und_status und_files_keep(und_cache *cache, const und_named_file *from, int count, cache_files *list,
                          und_error *err)
{
    char folder[UND_PATH_MAX];
    und_status status = count > 0 ? make_folder(cache, folder, err) : UND_OK;
    for (int i = 0; i < count && !status; i++) {
        und_cache_file *file = add(list, from[i].name, err);
        status = file ? copy_file(cache, from[i].path, file, err) : UND_FAILED;
    }
    return status || count == 0 ? status : und_file_sync_disk(folder, err);
}

/* What is kept never changes, so that two caches can have one file. */
static und_status share_file(const und_cache *cache, const und_cache *from, const und_cache_file *file,
                             und_error *err)
{
    char old[UND_PATH_MAX], new[UND_PATH_MAX];
    und_status status = und_files_check(from, file, err);
    if (!status)
        status = path_in(from->folder, file, old, err);
    if (!status)
        status = path_in(cache->folder, file, new, err);
    if (status || !link(old, new) || errno == EEXIST)
        return status;
    und_cache_file copy = {.name = file->name};
    return copy_file(cache, old, &copy, err);
}

und_status und_files_share(und_cache *cache, const und_cache *from, und_error *err)
{
    const cache_files *files = &from->manifest.files;
    char folder[UND_PATH_MAX];
    cache->manifest.keeps_files = from->manifest.keeps_files;
    und_status status = files->count > 0 ? make_folder(cache, folder, err) : UND_OK;
    for (int i = 0; i < files->count && !status; i++) {
        und_cache_file *file = add(&cache->manifest.files, files->file[i].name, err);
        if (!file)
            return UND_FAILED;
        file->bytes = files->file[i].bytes;
        file->hash = files->file[i].hash;
        status = share_file(cache, from, file, err);
    }
    return status || files->count == 0 ? status : und_file_sync_disk(folder, err);
}

static const und_cache_file *find(const und_cache_file *files, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(files[i].name, name) == 0)
            return &files[i];
    return NULL;
}

und_status und_cache_compare_files(const und_cache *cache, const und_named_file *now, int count,
                                   und_error *err)
{
    const cache_files *was = &cache->manifest.files;
    char copy[KEPT_MAX];
    for (int i = 0; i < count; i++) {
        const und_cache_file *file = find(was->file, was->count, now[i].name);
        if (!file)
            continue; /* another scene's, which has a grid more */
        und_cache_file found = {.name = file->name};
        und_status status = und_file_hash(now[i].path, cache->threads, &found.hash, &found.bytes, err);
        if (status)
            return status;
        kept_name(file, copy);
        if (found.hash != file->hash || found.bytes != file->bytes)
            return und_error_set(err, UND_INVALID,
                                 "%.400s has changed since %.400s was made: put it back as it was "
                                 "(%.400s/%s/%s is a copy), or use --force to begin anew",
                                 now[i].path, cache->folder, cache->folder, FOLDER, copy);
        if (cache->writes && und_files_check(cache, file, NULL)) /* the copy is lost: it is made again */
            status = copy_file(cache, now[i].path, &found, err);
        if (status)
            return status;
    }
    return UND_OK;
}

static und_status check(const char *folder, int threads, const und_cache_file *file, char path[UND_PATH_MAX],
                        und_error *err)
{
    struct stat info;
    und_cache_file found = {0};
    und_status status = path_in(folder, file, path, err);
    if (status)
        return status;
    if (lstat(path, &info) || !S_ISREG(info.st_mode)) /* a link may lead anywhere */
        return und_error_set(err, UND_FAILED, "%.300s, the copy of \"%.300s\", is missing", path, file->name);
    status = und_file_hash(path, threads, &found.hash, &found.bytes, err);
    if (!status && (found.hash != file->hash || found.bytes != file->bytes))
        status =
            und_error_set(err, UND_FAILED, "%.300s, the copy of \"%.300s\", has changed", path, file->name);
    return status;
}

und_status und_files_check(const und_cache *cache, const und_cache_file *file, und_error *err)
{
    char path[UND_PATH_MAX];
    return check(cache->folder, cache->threads, file, path, err);
}

und_status und_cache_kept_file(const und_cache_info *info, bool of_bodies, const char *name,
                               char path[UND_PATH_MAX], und_error *err)
{
    const und_cache_file *file = of_bodies ? find(info->bodies_files, info->bodies_file_count, name)
                                           : find(info->files, info->file_count, name);
    if (!file && !info->keeps_files)
        return und_error_set(err, UND_INVALID,
                             "%.300s does not have \"%.200s\": it was made before caches kept the files of "
                             "their scenes; undine sim SCENE --resume -o %.300s adds them",
                             info->folder, name, info->folder);
    if (!file)
        return und_error_set(err, UND_INVALID, "\"%.200s\" is not among the files that %.400s keeps", name,
                             info->folder);
    return check(info->folder, 1, file, path, err);
}
