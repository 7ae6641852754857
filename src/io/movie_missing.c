/* Built without libavcodec. */
#include "base/status.h"
#include "io/image.h"

bool und_movie_supported(void)
{
    return false;
}
und_movie *und_movie_open(const char *path, int width, int height, double fps, int threads, und_error *err)
{
    (void)width, (void)height, (void)fps, (void)threads;
    und_error_set(err, UND_FAILED, "%s: this build makes no movies: it was made without libavcodec", path);
    return NULL;
}
und_status und_movie_add(und_movie *movie, const und_image *image, und_error *err)
{
    (void)movie, (void)image;
    return err->status;
}
und_status und_movie_close(und_movie *movie, und_error *err)
{
    (void)movie;
    return err->status;
}
void und_movie_cancel(und_movie *movie)
{
    (void)movie;
}
