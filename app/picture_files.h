/* Traced pictures on disk, which several processes may make together. */
#ifndef UND_APP_PICTURE_FILES_H
#define UND_APP_PICTURE_FILES_H

#include "base/file.h"

typedef struct picture_files {
    const char *folder, *name;
    bool png, exr; /* what belongs to a frame */
} picture_files;

/* FOLDER/stills/NAME.0001.png, FOLDER/exr/NAME.0001.exr */
und_status picture_png(const picture_files *f, int number, char path[UND_PATH_MAX], und_error *err);
und_status picture_exr(const picture_files *f, int number, char path[UND_PATH_MAX], und_error *err);

/* Are all files of the frame there?  They have their names when they are whole. */
bool picture_there(const picture_files *f, int number);

/* Takes the frame for this process: FOLDER/NAME.0001.lock.  False: another has it. */
bool picture_claim(const picture_files *f, int number, int *lock);
void picture_release(const picture_files *f, int number, int lock);

/* FOLDER/NAME.look says what its pictures are made of.  UND_INVALID where it says something else, so that no
 * movie is mixed of two; with `overwrite` it is written anew. */
und_status picture_sign(const picture_files *f, const char *look, bool overwrite, und_error *err);

typedef struct picture_movie {
    char path[UND_PATH_MAX];
    int first, last;
    double fps;
    int threads;
    bool (*stop)(void);
} picture_movie;

/* Makes the movie of the PNG files; *missing: frames that are not there, and then there is none. */
und_status picture_movie_make(const picture_files *f, const picture_movie *movie, int *missing,
                              und_error *err);

#endif
