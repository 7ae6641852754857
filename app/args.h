/* The command line's options, the same names in every command. */
#ifndef UND_APP_ARGS_H
#define UND_APP_ARGS_H

#include <undine/undine.h>

#include <stdio.h>

/* Which options a command takes: a bit each. */
enum {
    OPT_START = 1 << 0,
    OPT_END = 1 << 1,
    OPT_OUTPUT = 1 << 2,
    OPT_THREADS = 1 << 3,
    OPT_SET = 1 << 4,
    OPT_RESUME = 1 << 5,
    OPT_FORCE = 1 << 6,
    OPT_CHECKPOINT = 1 << 7,
    OPT_COMPRESS = 1 << 8,
    OPT_STILLS = 1 << 9,
    OPT_PNG = 1 << 10,
    OPT_EXR = 1 << 11,
    OPT_MOVIE = 1 << 12,
    OPT_SIZE = 1 << 13,
    OPT_SAMPLES = 1 << 14,
    OPT_MODEL = 1 << 15,
    OPT_JSON = 1 << 16,
    OPT_PROFILE = 1 << 17,
    OPT_QUIET = 1 << 18,
    OPT_VERBOSE = 1 << 19,
    OPT_DUMP = 1 << 20,
    OPT_VECTOR = 1 << 21,
    OPT_EXPORT = 1 << 22,
    OPT_FROM = 1 << 23,
    OPT_SPACING = 1 << 24,
    OPT_TEXTURE = 1 << 25,
    OPT_GRID = 1 << 26,
    OPT_QUALITY = 1 << 27,
    OPT_PREVIEW = 1 << 28,
    OPT_VIEW = 1 << 29,
    OPT_DEVICE = 1 << 30
};

typedef struct args {
    const char *program, *command; /* as typed */
    int count;                     /* of words that are not options */
    const char **words;
    unsigned given; /* OPT_ bits of the options that were there */
    int start, end, threads;
    const char *output, *model, *up, *from, *texture, *grid, *device, *quality, *look, *script;
    int setting_count;
    und_setting *settings;
    int checkpoint, keep, compress, stills, width, height, samples;
    double adaptive, spacing, wait, noise;
    bool resume, force, png, exr, movie, svg, pdf, vdb, ply, spray, half, json, profile, dump_stages, quiet,
        verbose, help, preview, overwrite, paused, offscreen, list;
    char **owned; /* copies of the names in settings */
    int typed_count,
        typed_plain; /* the command line less --resume and --force; from typed_plain on, after -- */
    const char **typed;
} args;

/* Reads argv[0 .. argc-1]; the options must be among `allowed`.  UND_INVALID with a message that suggests
 * what was meant.  args_free in every case. */
und_status args_parse(args *a, int argc, const char *const *argv, const char *command, unsigned allowed,
                      und_error *err);
void args_free(args *a);

/* Prints, as a shell reads it, what goes on with a run: all that was typed from the program on, -o `folder`
 * where none was, and --resume. */
void args_print_resume(const args *a, const char *folder, FILE *to);

/* Prints a line for each option among `allowed`. */
void args_print_options(unsigned allowed);

/* The nearest of a list of names to what was typed, or NULL where none is near; for "did you mean". */
const char *args_nearest(const char *typed, const char *const *names, int count);

#endif
