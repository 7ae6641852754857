#include "picture_files.h"

#include "base/status.h"
#include "cache/lock.h"
#include "io/image.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LOOK_MAX = 4096 };

und_status picture_png(const picture_files *f, int number, char path[UND_PATH_MAX], und_error *err)
{
    return und_path_set(path, err, "%s/stills/%s.%04d.png", f->folder, f->name, number);
}

und_status picture_exr(const picture_files *f, int number, char path[UND_PATH_MAX], und_error *err)
{
    return und_path_set(path, err, "%s/exr/%s.%04d.exr", f->folder, f->name, number);
}

bool picture_there(const picture_files *f, int number)
{
    char path[UND_PATH_MAX];
    und_error ignored;
    bool png = !f->png || (picture_png(f, number, path, &ignored) == UND_OK && !access(path, F_OK));
    bool exr = !f->exr || (picture_exr(f, number, path, &ignored) == UND_OK && !access(path, F_OK));
    return png && exr;
}

static und_status lock_path(const picture_files *f, int number, char path[UND_PATH_MAX])
{
    und_error ignored;
    return und_path_set(path, &ignored, "%s/%s.%04d.lock", f->folder, f->name, number);
}

bool picture_claim(const picture_files *f, int number, int *lock)
{
    char path[UND_PATH_MAX];
    und_error ignored; /* whoever holds it draws it */
    return lock_path(f, number, path) == UND_OK && und_lock_take(path, lock, &ignored) == UND_OK;
}

void picture_release(const picture_files *f, int number, int lock)
{
    char path[UND_PATH_MAX];
    if (lock_path(f, number, path) == UND_OK)
        und_lock_release(path, lock);
}

und_status picture_sign(const picture_files *f, const char *look, bool overwrite, und_error *err)
{
    char path[UND_PATH_MAX], *there = NULL;
    size_t bytes = 0;
    und_status status = und_path_set(path, err, "%s/%s.look", f->folder, f->name);
    if (status != UND_OK)
        return status;
    if (!overwrite && !access(path, F_OK)) {
        status = und_file_read(path, LOOK_MAX, &there, &bytes, err);
        bool same = status == UND_OK && strcmp(there, look) == 0;
        if (status == UND_OK && !same) {
            there[strcspn(there, "\n")] = 0;
            status = und_error_set(err, UND_INVALID,
                                   "%s has pictures that were made otherwise (%s): --overwrite draws them "
                                   "again, -o puts these elsewhere",
                                   f->folder, there);
        }
        free(there);
        return status;
    }
    return und_file_write(path, look, strlen(look), err);
}

static und_status add_frames(const picture_files *f, const picture_movie *m, und_error *err)
{
    und_movie *movie = NULL;
    und_status status = UND_OK;
    for (int number = m->first; number <= m->last && status == UND_OK; number++) {
        char path[UND_PATH_MAX];
        und_image image = {0};
        status = m->stop() ? und_error_set(err, UND_STOPPED, "stopped") : picture_png(f, number, path, err);
        if (status == UND_OK)
            status = und_png_read(path, &image, err);
        if (status == UND_OK && !movie &&
            !(movie = und_movie_open(m->path, image.width, image.height, m->fps, m->threads, err)))
            status = err->status;
        if (status == UND_OK)
            status = und_movie_add(movie, &image, err);
        und_image_destroy(&image);
    }
    if (status == UND_OK)
        return und_movie_close(movie, err);
    und_movie_cancel(movie);
    return status;
}

und_status picture_movie_make(const picture_files *f, const picture_movie *m, int *missing, und_error *err)
{
    picture_files png = *f;
    png.png = true;
    png.exr = false;
    *missing = 0;
    for (int number = m->first; number <= m->last; number++)
        *missing += !picture_there(&png, number);
    return *missing > 0 ? UND_OK : add_frames(&png, m, err);
}
