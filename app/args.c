#include "args.h"

#include "base/status.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum kind { FLAG, INTEGER, NUMBER, TEXT, SETTING, SIZE } kind;

typedef struct option {
    unsigned bit; /* 0: every command has it */
    char letter;
    const char *name, *value, *help;
    kind kind;
    size_t offset;
    int low, high; /* of a number */
} option;

#define AT(field) offsetof(args, field)

static const option options[] = {
    {OPT_START, 's', "start", "FRAME", "first frame", INTEGER, AT(start), -999999, 999999},
    {OPT_END, 'e', "end", "FRAME", "last frame, inclusive", INTEGER, AT(end), -999999, 999999},
    {OPT_OUTPUT, 'o', "output", "FOLDER", "where the files go", TEXT, AT(output), 0, 0},
    {OPT_THREADS, 'j', "threads", "N", "threads; 0, as without it, is one per core", INTEGER, AT(threads), 0,
     256},
    {OPT_DEVICE, 0, "device", "DEVICE", "what computes: cpu, or gpu, a graphics card (cpu)", TEXT, AT(device),
     0, 0},
    {OPT_SET, 0, "set", "NAME=VALUE", "change a param() of the scene; may be given again", SETTING, 0, 0, 0},
    {OPT_RESUME, 0, "resume", NULL, "go on from the last checkpoint", FLAG, AT(resume), 0, 0},
    {OPT_FORCE, 0, "force", NULL, "replace a cache that is already there", FLAG, AT(force), 0, 0},
    {OPT_CHECKPOINT, 0, "checkpoint", "K", "keep the state every K frames (24), and at the end", INTEGER,
     AT(checkpoint), 1, 1000000},
    {OPT_CHECKPOINT, 0, "keep", "N", "how many of those states to keep (2); 0: all", INTEGER, AT(keep), 0,
     1000000},
    {OPT_FROM, 0, "from", "CACHE@FRAME", "branch: begin with the frames of another cache up to that one",
     TEXT, AT(from), 0, 0},
    {OPT_GRID, 0, "grid", "NAME", "simulate only that one of the scene's grids", TEXT, AT(grid), 0, 0},
    {OPT_GRID, 0, "wait", "S", "seconds to wait for a grid that liquid comes from to be begun (30)", NUMBER,
     AT(wait), 0, 1000000000},
    {OPT_COMPRESS, 0, "compress", "LEVEL", "0: not at all, 1: quick, 9: small", INTEGER, AT(compress), 0, 9},
    {OPT_STILLS, 0, "stills", "N", "make N pictures, evenly spaced (5)", INTEGER, AT(stills), 0, 1000000},
    {OPT_PNG, 0, "png", NULL, "make a PNG picture of every frame", FLAG, AT(png), 0, 0},
    {OPT_EXR, 0, "exr", NULL, "make a linear EXR picture of every frame", FLAG, AT(exr), 0, 0},
    {OPT_MOVIE, 0, "movie", NULL, "make the movie", FLAG, AT(movie), 0, 0},
    {OPT_VECTOR, 0, "svg", NULL, "make an SVG drawing beside each PNG, of two-dimensional cells", FLAG,
     AT(svg), 0, 0},
    {OPT_VECTOR, 0, "pdf", NULL, "make a PDF drawing beside each PNG, of two-dimensional cells", FLAG,
     AT(pdf), 0, 0},
    {OPT_EXPORT, 0, "vdb", NULL, "write the surface, velocity and pressure of every frame as OpenVDB", FLAG,
     AT(vdb), 0, 0},
    {OPT_EXPORT, 0, "ply", NULL, "write the liquid's mesh of every frame as PLY", FLAG, AT(ply), 0, 0},
    {OPT_EXPORT, 0, "spray", NULL, "write the drops of spray of every frame as PLY", FLAG, AT(spray), 0, 0},
    {OPT_EXPORT, 0, "up", "AXIS", "which axis is up in those files, y or z (y)", TEXT, AT(up), 0, 0},
    {OPT_EXPORT, 0, "half", NULL, "VDB values in 16 bits", FLAG, AT(half), 0, 0},
    {OPT_EXPORT, 0, "adaptive", "CELLS", "save triangles where the mesh is then off by about that (0)",
     NUMBER, AT(adaptive), 0, 10},
    {OPT_SPACING, 0, "spacing", "CELLS", "from one texture particle to the next (0.5)", NUMBER, AT(spacing),
     0, 100},
    {OPT_TEXTURE, 0, "texture", "TEXTURE",
     "checker, marble, or a PNG that the plate's camera projects; needs undine texture", TEXT, AT(texture), 0,
     0},
    {OPT_QUALITY, 0, "preview", NULL, "quick pictures, a second each: the same as --quality preview", FLAG,
     AT(preview), 0, 0},
    {OPT_QUALITY, 0, "quality", "QUALITY", "of the pictures: preview, review or final", TEXT, AT(quality), 0,
     0},
    {OPT_QUALITY, 0, "noise", "SHARE", "noise of review and final pictures (0.02 and 0.008)", NUMBER,
     AT(noise), 0, 1},
    {OPT_PREVIEW, 0, "look", "SCENE", "camera, light and materials of this scene, not of the cache's", TEXT,
     AT(look), 0, 0},
    {OPT_PREVIEW, 0, "overwrite", NULL, "draw review and final pictures that are there already again", FLAG,
     AT(overwrite), 0, 0},
    {OPT_SIZE, 0, "size", "WxH", "size of the pictures", SIZE, 0, 0, 0},
    {OPT_SIZE, 0, "width", "N", "width of the pictures", INTEGER, AT(width), 2, 16384},
    {OPT_SIZE, 0, "height", "N", "height of the pictures", INTEGER, AT(height), 2, 16384},
    {OPT_SAMPLES, 0, "samples", "N", "samples along each side of a pixel, of previews", INTEGER, AT(samples),
     1, 8},
    {OPT_MODEL, 0, "model", "MODEL", "only the cases of this model", TEXT, AT(model), 0, 0},
    {OPT_MODEL, 0, "list", NULL, "print the names of the cases, and run none", FLAG, AT(list), 0, 0},
    {OPT_JSON, 0, "json", NULL, "print JSON", FLAG, AT(json), 0, 0},
    {OPT_PROFILE, 0, "profile", NULL, "print the time of each stage at the end", FLAG, AT(profile), 0, 0},
    {OPT_DUMP, 0, "dump-stages", NULL, "write the state after every stage of every step into stages/", FLAG,
     AT(dump_stages), 0, 0},
    {OPT_VIEW, 0, "paused", NULL, "let it stand at first", FLAG, AT(paused), 0, 0},
    {OPT_VIEW, 0, "script", "FILE", "do what the file says in the place of a person (doc/view.md)", TEXT,
     AT(script), 0, 0},
    {OPT_VIEW, 0, "offscreen", NULL, "without a window, for scripts: needs no display", FLAG, AT(offscreen),
     0, 0},
    {OPT_QUIET, 'q', "quiet", NULL, "print errors only", FLAG, AT(quiet), 0, 0},
    {OPT_VERBOSE, 'v', "verbose", NULL, "say more", FLAG, AT(verbose), 0, 0},
    {0, 'h', "help", NULL, "print this", FLAG, AT(help), 0, 0},
};
enum { OPTIONS = sizeof options / sizeof *options, LONGEST = 32 };

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Levenshtein's distance: letters to add, drop or change. */
static int distance(const char *a, const char *b)
{
    int row[LONGEST + 1], na = (int)strlen(a), nb = (int)strlen(b);
    if (na > LONGEST || nb > LONGEST)
        return LONGEST;
    for (int j = 0; j <= nb; j++)
        row[j] = j;
    for (int i = 1; i <= na; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= nb; j++) {
            int change = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = least(change, least(row[j], row[j - 1]) + 1);
        }
    }
    return row[nb];
}

const char *args_nearest(const char *typed, const char *const *names, int count)
{
    const char *best = NULL;
    int limit = (int)strlen(typed) / 3 + 1, nearest = limit + 1;
    for (int i = 0; i < count; i++) {
        int d = distance(typed, names[i]);
        if (strlen(typed) >= 3 && strncmp(typed, names[i], strlen(typed)) == 0)
            d = 1; /* cut short */
        if (d < nearest) {
            nearest = d;
            best = names[i];
        }
    }
    return best;
}

static und_status unknown_option(const char *typed, const char *command, unsigned allowed, und_error *err)
{
    const char *names[OPTIONS], *near;
    int count = 0;
    for (int i = 0; i < OPTIONS; i++)
        if (!options[i].bit || options[i].bit & allowed)
            names[count++] = options[i].name;
    near = strncmp(typed, "--", 2) == 0 ? args_nearest(typed + 2, names, count) : NULL;
    if (near)
        return und_error_set(err, UND_INVALID, "undine %s has no option %s; did you mean --%s?", command,
                             typed, near);
    return und_error_set(err, UND_INVALID, "undine %s has no option %s; undine %s --help lists them", command,
                         typed, command);
}

static bool read_integer(const char *text, int *number)
{
    char *rest;
    errno = 0;
    long value = strtol(text, &rest, 10);
    if (errno || rest == text || *rest || value < INT_MIN || value > INT_MAX)
        return false;
    *number = (int)value;
    return true;
}

static bool read_number(const char *text, double *number)
{
    char *rest;
    errno = 0;
    *number = strtod(text, &rest);
    return !errno && rest != text && !*rest;
}

static und_status add_setting(args *a, const char *text, und_error *err)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text)
        return und_error_set(err, UND_INVALID, "--set wants name=value, not %s", text);
    char *name = strndup(text, (size_t)(equals - text));
    if (!name)
        return und_error_set(err, UND_FAILED, "out of memory: the options");
    a->owned[a->setting_count] = name;
    a->settings[a->setting_count++] = (und_setting){name, equals + 1};
    return UND_OK;
}

static und_status read_size(args *a, const char *text, und_error *err)
{
    char *rest = NULL;
    long width = strtol(text, &rest, 10), height = *rest == 'x' ? strtol(rest + 1, &rest, 10) : 0;
    if (width < 2 || height < 2 || width > 16384 || height > 16384 || *rest)
        return und_error_set(err, UND_INVALID, "--size wants WIDTHxHEIGHT from 2x2 to 16384x16384, not %s",
                             text);
    a->width = (int)width;
    a->height = (int)height;
    return UND_OK;
}

static und_status store(args *a, const option *o, const char *text, und_error *err)
{
    char *field = (char *)a + o->offset;
    a->given |= o->bit;
    int number;
    double real;
    switch (o->kind) {
    case FLAG:
        *(bool *)field = true;
        return UND_OK;
    case TEXT:
        if (!*text)
            return und_error_set(err, UND_INVALID, "--%s wants %s, not an empty word", o->name, o->value);
        *(const char **)field = text;
        return UND_OK;
    case INTEGER:
        if (!read_integer(text, &number) || number < o->low || number > o->high)
            return und_error_set(err, UND_INVALID, "--%s wants a whole number from %d to %d, not %s", o->name,
                                 o->low, o->high, text);
        *(int *)field = number;
        return UND_OK;
    case NUMBER:
        if (!read_number(text, &real) || !(real >= o->low && real <= o->high))
            return und_error_set(err, UND_INVALID, "--%s wants a number from %d to %d, not %s", o->name,
                                 o->low, o->high, text);
        *(double *)field = real;
        return UND_OK;
    case SETTING:
        return add_setting(a, text, err);
    case SIZE:
        return read_size(a, text, err);
    }
    return UND_OK;
}

/* The option that a word names; *value is what follows = or the letter, or NULL. */
static const option *match(const char *word, unsigned allowed, const char **value)
{
    for (int i = 0; i < OPTIONS; i++) {
        const option *o = &options[i];
        if (o->bit && !(o->bit & allowed))
            continue;
        size_t length = strlen(o->name);
        *value = NULL;
        if (word[1] != '-' && o->letter && word[1] == o->letter) {
            if (word[2])
                *value = word + 2;
            return o->kind == FLAG && word[2] ? NULL : o;
        }
        if (word[1] == '-' && strncmp(word + 2, o->name, length) == 0) {
            if (word[2 + length] == '=')
                *value = word + 3 + length;
            if (!word[2 + length] || (*value && o->kind != FLAG))
                return o;
        }
    }
    return NULL;
}

und_status args_parse(args *a, int argc, const char *const *argv, const char *command, unsigned allowed,
                      und_error *err)
{
    bool only_words = false;
    *a = (args){.checkpoint = 24, .keep = 2, .wait = 30, .compress = 1, .stills = 5};
    a->words = und_alloc((size_t)argc, sizeof *a->words, "the options", err);
    a->settings = und_alloc((size_t)argc, sizeof *a->settings, "the options", err);
    a->owned = und_alloc((size_t)argc, sizeof *a->owned, "the options", err);
    a->typed = und_alloc((size_t)argc, sizeof *a->typed, "the options", err);
    if (!a->words || !a->settings || !a->owned || !a->typed)
        return UND_FAILED;
    for (int i = 0; i < argc; i++) {
        const char *word = argv[i], *value;
        if (only_words || word[0] != '-' || !word[1]) {
            a->words[a->count++] = word;
            a->typed[a->typed_count++] = word;
            a->typed_plain += !only_words;
            continue;
        }
        if (strcmp(word, "--") == 0) {
            only_words = true;
            continue;
        }
        const option *o = match(word, allowed, &value);
        if (!o)
            return unknown_option(word, command, allowed, err);
        if (!(o->bit & (OPT_RESUME | OPT_FORCE)))
            a->typed[a->typed_count++] = word;
        if (o->kind != FLAG && !value) {
            if (i + 1 >= argc)
                return und_error_set(err, UND_INVALID, "--%s wants %s", o->name, o->value);
            value = argv[++i];
            a->typed[a->typed_count++] = value;
        }
        a->typed_plain = a->typed_count;
        und_status status = store(a, o, value, err);
        if (status != UND_OK)
            return status;
    }
    return UND_OK;
}

void args_free(args *a)
{
    for (int i = 0; i < a->setting_count; i++)
        free(a->owned[i]);
    free(a->words);
    free(a->settings);
    free(a->owned);
    free(a->typed);
    *a = (args){0};
}

/* A space and the word, in quotes where a shell would read it otherwise. */
static void print_word(const char *word, FILE *to)
{
    static const char SAFE[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=:,+@%";
    if (*word && !word[strspn(word, SAFE)]) {
        fprintf(to, " %s", word);
        return;
    }
    fputs(" '", to);
    for (const char *c = word; *c; c++)
        if (*c == '\'')
            fputs("'\\''", to);
        else
            fputc(*c, to);
    fputc('\'', to);
}

void args_print_resume(const args *a, const char *folder, FILE *to)
{
    print_word(a->program, to);
    print_word(a->command, to);
    for (int i = 0; i < a->typed_plain; i++)
        print_word(a->typed[i], to);
    if (!a->output) {
        fputs(" -o", to);
        print_word(folder, to);
    }
    fputs(" --resume", to);
    if (a->typed_plain < a->typed_count)
        fputs(" --", to);
    for (int i = a->typed_plain; i < a->typed_count; i++)
        print_word(a->typed[i], to);
}

void args_print_options(unsigned allowed)
{
    for (int i = 0; i < OPTIONS; i++) {
        const option *o = &options[i];
        char left[48];
        if (o->bit && !(o->bit & allowed))
            continue;
        int length =
            snprintf(left, sizeof left, "%s%c%s--%s%s%s", o->letter ? "-" : " ", o->letter ? o->letter : ' ',
                     o->letter ? ", " : "  ", o->name, o->value ? " " : "", o->value ? o->value : "");
        printf("  %-26s %s\n", length > 0 ? left : o->name, o->help);
    }
}
