/* Pictures of frames as they come: stills, picture sequences and the movie. */
#ifndef UND_APP_PICTURES_H
#define UND_APP_PICTURES_H

#include "app.h"

#include "scene/scene.h"

typedef struct pictures pictures;

typedef struct pictures_def {
    const und_scene_view *scene;
    const char *folder, *name;
    int first, last;             /* frames to draw, inclusive; those before are only observed */
    int movie_first, movie_last; /* of the movie that is made of traced pictures */
    int stills;                  /* how many, evenly spaced */
    bool png, exr;               /* of every frame */
    bool svg, pdf;               /* beside each PNG */
    bool movie;
    int width, height, samples; /* 0: the scene's */
    und_quality quality;        /* settled: not UNSAID */
    double noise;               /* 0: the scene's, or the quality's */
    bool overwrite;             /* traced pictures that are there are drawn again */
    const und_paint *paint;     /* NULL: the scene's */
    int threads;
    double fps;
    progress *bar; /* told how much of a traced picture is done; NULL: none */
} pictures_def;

/* What the options ask for; without any of --png --exr --movie: the movie and stills. */
pictures_def pictures_from_args(const args *a, const und_scene_view *scene, const char *folder, int first,
                                int last);

/* What --preview, --quality and the scene say; `unsaid` where they say nothing. */
und_status pictures_quality(const args *a, const und_scene_view *scene, und_quality unsaid,
                            und_quality *quality, und_error *err);
/* Where traced pictures go within the folder of a cache: "review" or "final"; "" for previews. */
const char *pictures_folder(und_quality quality);

/* Makes the renderer; no file yet, so that a wrong scene leaves nothing behind. */
pictures *pictures_create(const pictures_def *def, und_error *err);

/* Can the frame be passed over without being read?  Where nothing is remembered of frames (no ground gets
 * wet), those that are not drawn can. */
und_status pictures_pass(pictures *p, int number, bool *passed, und_error *err);

/* Does what pictures frame follow from the frames of the whole run? */
bool pictures_want_extent(const und_scene_view *scene);
/* Before the first picture. */
void pictures_frame_on(pictures *p, const und_extent *extent);

/* Frames come in order.  The folders and the movie are made when the first is drawn.  UND_STOPPED where a
 * signal cut the drawing short: the frame is not in the movie.
 * A traced picture that is there already is left alone, and so is one that another process has claimed; what
 * is drawn is claimed first, by a lock that a dead process does not hold (cache/lock.h). */
und_status pictures_add(pictures *p, const und_frame *frame, und_error *err);

/* Finishes the movie with the frames it has; of traced pictures, makes it of their files when all are there.
 */
und_status pictures_finish(pictures *p, und_error *err);

/* Names what was made, on the standard output. */
void pictures_print(const pictures *p);

/* How many samples traced pictures took, and what noise is left: their means. */
void pictures_print_film(const pictures *p);

int pictures_stages(const pictures *p, und_stage *list, int room);
void pictures_destroy(pictures *p);

#endif
