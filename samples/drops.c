/* A drop falls into a pond.  Prints the volume ledger and writes the surface as a picture, drops.pgm.
 *
 *     cc drops.c -o drops $(pkg-config --cflags --libs undine)
 */
#include <math.h>
#include <stdio.h>
#include <undine/undine.h>

enum { N = 128 };

/* Grey is the level at rest; black and white are 1 cm below and above it. */
static int write_surface(const und_waves *pond, double level, const char *path)
{
    FILE *file = fopen(path, "wb");
    if (!file)
        return -1;
    fprintf(file, "P5\n%d %d\n255\n", N, N);
    for (int z = 0; z < N; z++)
        for (int x = 0; x < N; x++) {
            double shade = 127.5 + 127.5 * (und_waves_surface(pond, x, z) - level) / 0.01;
            fputc((int)fmax(0, fmin(255, shade)), file);
        }
    return fclose(file);
}

int main(int argc, char **argv)
{
    und_drop_def drop = {.time = 0.1, .center = {1.6, 0, 1.2}, .radius = 0.15, .volume = 0.002};
    und_waves_def def = und_waves_def_default();
    def.height_field.nx = def.height_field.nz = N;
    def.height_field.dx = 0.025;           /* 3.2 m square */
    def.height_field.ground.number = 0;    /* flat, */
    def.height_field.surface.number = 0.2; /* 20 cm deep */
    def.height_field.drops = &drop;
    def.height_field.drop_count = 1;

    und_error err;
    und_waves *pond = und_waves_create(&def, &err);
    if (!pond) {
        fprintf(stderr, "%s\n", err.text);
        return err.status;
    }
    while (und_waves_time(pond) < 1)
        und_waves_step(pond, 1.0 / 96);

    und_ledger ledger = und_waves_ledger(pond);
    printf("started with %.6f m3, %.6f m3 fell in, now %.6f m3\n", ledger.start, ledger.sources,
           ledger.measured);
    int failed = write_surface(pond, def.height_field.surface.number, argc > 1 ? argv[1] : "drops.pgm");
    und_waves_destroy(pond);
    return failed ? UND_FAILED : UND_OK;
}
