#include "base/status.h"
#include "io/image.h"
#include "trace/film.h"

#include <stdlib.h>

und_status und_layers_create(und_layers *l, int width, int height, und_error *err)
{
    size_t count = (size_t)width * (size_t)height;
    *l = (und_layers){.width = width, .height = height};
    struct {
        float **to;
        size_t size;
    } part[] = {{&l->rgb, 3},      {&l->alpha, 1}, {&l->depth, 1},  {&l->normal, 3},
                {&l->velocity, 3}, {&l->id, 1},    {&l->samples, 1}};
    bool good = true;
    for (size_t k = 0; k < sizeof part / sizeof *part && good; k++)
        good = (*part[k].to = und_alloc(count, part[k].size * sizeof(float), "layers", err)) != NULL;
    if (!good)
        und_layers_destroy(l);
    return good ? UND_OK : UND_FAILED;
}

void und_layers_destroy(und_layers *l)
{
    float *owned[] = {l->rgb, l->alpha, l->depth, l->normal, l->velocity, l->id, l->samples};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++)
        free(owned[k]);
    *l = (und_layers){0};
}

und_status und_layers_write(const und_layers *l, const char *path, und_error *err)
{
    const und_exr_channel list[] = {{"R", l->rgb, 3, false, true},
                                    {"G", l->rgb + 1, 3, false, true},
                                    {"B", l->rgb + 2, 3, false, true},
                                    {"A", l->alpha, 1, false, false},
                                    {"Z", l->depth, 1, true, false},
                                    {"N.x", l->normal, 3, false, false},
                                    {"N.y", l->normal + 1, 3, false, false},
                                    {"N.z", l->normal + 2, 3, false, false},
                                    {"velocity.x", l->velocity, 3, true, false},
                                    {"velocity.y", l->velocity + 1, 3, true, false},
                                    {"velocity.z", l->velocity + 2, 3, true, false},
                                    {"id", l->id, 1, true, false},
                                    {"samples", l->samples, 1, true, false}};
    return und_exr_write_channels(path, l->width, l->height, list, sizeof list / sizeof *list, err);
}
