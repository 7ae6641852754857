/* undine: the program.  One file per command. */
#include "app.h"

#include "base/status.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

typedef struct command {
    const char *name, *words, *summary, *text;
    int least, most; /* words */
    unsigned options;
    command_fn *run;
} command;

enum {
    COMMON = OPT_THREADS | OPT_QUIET,
    SIMULATE = COMMON | OPT_DEVICE | OPT_VERBOSE | OPT_START | OPT_END | OPT_OUTPUT | OPT_SET | OPT_RESUME |
               OPT_FORCE | OPT_CHECKPOINT | OPT_COMPRESS | OPT_PROFILE | OPT_DUMP | OPT_EXPORT | OPT_FROM |
               OPT_GRID,
    DRAW = OPT_STILLS | OPT_PNG | OPT_EXR | OPT_VECTOR | OPT_SIZE | OPT_SAMPLES | OPT_QUALITY,
    ANY = 1000000
};

static const command commands[] = {
    {"run", "SCENE", "simulate, render, make the movie",
     "Simulates the scene into a cache and draws each frame as it comes.  Without -o everything goes to\n"
     "out/NAME/: the cache, NAME.mp4 and stills/NAME.0001.png and so on.  Ctrl-C stops and keeps what is\n"
     "there; --resume goes on with the same bits, and may go further with -e.  --vdb, --ply and --spray\n"
     "leave files for other programs beside the movie.\n",
     1, 1, SIMULATE | DRAW, command_run},
    {"sim", "SCENE", "simulate into a cache",
     "The cache goes to FOLDER, or out/NAME/ without -o.  With --start the frames before it are computed "
     "but\n"
     "not kept.  Ctrl-C stops and keeps what is there; --resume goes on with the same bits.  --from "
     "branches:\n"
     "the first frames are those of another cache, which is only read and must stay where it is, and the "
     "scene,\n"
     "which may be another but for its grid, goes on from there.  Grids with names, which source each other, "
     "are\n"
     "simulated side by side, each by a process of its own into FOLDER/NAME; --grid does one of them.\n",
     1, 1, SIMULATE, command_sim},
    {"check", "SCENE", "what it will cost and what will leak, without running it",
     "Loads the scene, makes a few steps and draws one picture in memory.  Prints the grid, memory, disk "
     "and\n"
     "time to expect, and warns of what is likely a mistake.  Writes nothing.\n",
     1, 1, COMMON | OPT_SET | OPT_START | OPT_END | OPT_SIZE, command_check},
    {"render", "CACHE", "pictures and movie from a cache",
     "Traces rays: review quality, or what the scene's film block says, or --quality.  Pictures go to\n"
     "CACHE/review/stills (and exr), or CACHE/final, or to FOLDER, frame by frame; those that are there\n"
     "already are kept, so that it may be stopped and begun again, and several may work on one folder at\n"
     "once.  Without --png, --exr, --movie or --stills it makes a picture of every frame and, when all are\n"
     "there, the movie.  --preview draws quickly, the movie and five stills into the cache's folder.  "
     "Camera,\n"
     "light and materials are the scene's, as kept in the cache; --set changes them, --look takes "
     "another's.\n",
     1, 1,
     COMMON | OPT_START | OPT_END | OPT_OUTPUT | OPT_SET | DRAW | OPT_PREVIEW | OPT_MOVIE | OPT_TEXTURE |
         OPT_PROFILE,
     command_render},
    {"float", "CACHE BODIES", "add floating bodies to a cached flow, without simulating again",
     "Puts the bodies of a Lua file, bodies { { shape = ..., density = ..., at = {x, y, z} }, ... }, into "
     "the\n"
     "flow of a cache that liquid.cells made, as if they had been in the run.  The new cache goes to "
     "FOLDER,\n"
     "or to out/NAME/ after the name of the file; it holds the bodies alone and shares the flow, whose "
     "cache\n"
     "is only read and must stay where it is.  Bodies that the flow had are replaced.\n",
     2, 2, COMMON | OPT_START | OPT_END | OPT_OUTPUT | OPT_SET | OPT_FORCE | OPT_COMPRESS | OPT_PROFILE,
     command_float},
    {"texture", "CACHE", "a texture that flows with the surface of a cached liquid",
     "Puts particles on the surface that a liquid.levelset has at the first frame and carries them through "
     "the\n"
     "velocities in its cache, so that each place of the surface knows where it was at first: what a "
     "picture\n"
     "that the scene's camera projected onto the liquid, or a solid texture, shows there.  The new cache "
     "goes "
     "to\n"
     "FOLDER, or to CACHE-texture beside the other; it holds the particles alone and shares the flow, whose\n"
     "cache is only read and must stay where it is.  undine render and undine export take it as any.\n",
     1, 1, COMMON | OPT_START | OPT_END | OPT_OUTPUT | OPT_SPACING | OPT_FORCE | OPT_COMPRESS | OPT_PROFILE,
     command_texture},
    {"export", "CACHE", "OpenVDB and PLY files from a cache, for other programs",
     "Without --vdb, --ply or --spray it writes all that the frames have.  The files go to the cache's "
     "folder,\n"
     "or to FOLDER: vdb/NAME.0001.vdb, ply/NAME.0001.ply, spray/NAME.0001.ply and so on.  Meshes are "
     "closed,\n"
     "with normals and velocities, and after undine texture with u v and, where there is a texture, "
     "colours;\n"
     "metres and seconds.\n",
     1, 1, COMMON | OPT_START | OPT_END | OPT_OUTPUT | OPT_EXPORT | OPT_TEXTURE | OPT_PROFILE,
     command_export},
    {"view", "SCENE|CACHE...", "play with a scene that runs, or look at a cache",
     "Opens a window.  A scene runs in it: stir the water with the mouse, pour, dig, drop balls, turn its "
     "damping\n"
     "and gravity.  A cache is played; two are played side by side.  ? shows the keys; all that they do is "
     "in "
     "the\n"
     "menus too.  Needs a display and OpenGL 3.3; Mesa's software OpenGL will do.  With --script the "
     "pictures "
     "that\n"
     "it takes go to FOLDER.\n",
     1, 2, COMMON | OPT_SET | OPT_SIZE | OPT_OUTPUT | OPT_VIEW, command_view},
    {"info", "CACHE", "what is in it, the ledger, the stages' times", "", 1, 1, OPT_JSON | OPT_QUIET,
     command_info},
    {"verify", "CACHE", "recompute the hashes",
     "Names every file that is missing, cut short or changed, and exits with 1 if there is one.\n", 1, 1,
     OPT_QUIET, command_verify},
    {"validate", "[CASE...]", "computed against reference values, case by case",
     "Exits with 1 if any value is outside its tolerance.\n", 0, ANY,
     OPT_JSON | OPT_MODEL | OPT_THREADS | OPT_DEVICE, command_validate},
    {"bench", "[NAME...]", "speed, as multiples of a memory sweep measured in the same run", "", 0, ANY,
     OPT_JSON | OPT_THREADS | OPT_DEVICE, command_bench},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

static void print_help(FILE *to)
{
    fputs("undine animates liquids.\n\n", to);
    for (int i = 0; i < COMMANDS; i++) {
        char left[32];
        snprintf(left, sizeof left, "%s %s", commands[i].name, commands[i].words);
        fprintf(to, "  undine %-20s %s\n", left, commands[i].summary);
    }
    fputs("\nTo get going:\n\n"
          "  undine check scenes/beach.lua     what it will cost\n"
          "  undine view scenes/balls.lua      play with a pool\n"
          "  undine run scenes/beach.lua       makes out/beach/beach.mp4\n"
          "  undine render out/beach -s 24 -e 24 --png    a frame of it, ray-traced\n\n"
          "A scene is a Lua file; its param() values are changed with --set name=value.\n"
          "undine COMMAND --help lists the options.  undine --version prints the version.\n"
          "Exit codes: 0 done, 1 failed, 2 wrong input, 130 stopped by a signal.\n",
          to);
}

static void print_command_help(const command *c)
{
    printf("undine %s %s [options]\n\n%s.\n%s%s\nOptions:\n", c->name, c->words, c->summary,
           *c->text ? "\n" : "", c->text);
    args_print_options(c->options);
}

static const command *find_command(const char *name)
{
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

static und_status unknown_command(const char *typed, und_error *err)
{
    const char *names[COMMANDS];
    for (int i = 0; i < COMMANDS; i++)
        names[i] = commands[i].name;
    const char *near = args_nearest(typed, names, COMMANDS);
    if (near)
        return und_error_set(err, UND_INVALID, "there is no command %s; did you mean %s?", typed, near);
    return und_error_set(err, UND_INVALID, "there is no command %s; undine --help lists them", typed);
}

static und_status run_command(const command *c, int argc, char **argv, und_error *err)
{
    args a;
    und_status status = args_parse(&a, argc - 2, (const char *const *)argv + 2, c->name, c->options, err);
    a.program = argv[0];
    a.command = c->name;
    if (status == UND_OK && a.help)
        print_command_help(c);
    else if (status == UND_OK && a.count < c->least)
        status = und_error_set(err, UND_INVALID, "undine %s wants %s; undine %s --help says more", c->name,
                               c->words, c->name);
    else if (status == UND_OK && a.count > c->most)
        status = und_error_set(err, UND_INVALID, "undine %s takes %s%s; what is %s?", c->name,
                               c->most == 1 ? "one " : "", c->words, a.words[c->most]);
    else if (status == UND_OK)
        status = c->run(&a, err);
    args_free(&a);
    return status;
}

/* Results that could not be printed are an error too: the disk behind a pipe or a file may be full. */
static int finish(und_status status, const und_error *err)
{
    if (status != UND_OK && status != UND_STOPPED)
        fprintf(stderr, "undine: %s\n", err->text);
    if (fflush(stdout) != 0 && status == UND_OK) {
        fprintf(stderr, "undine: cannot write to the standard output\n");
        status = UND_FAILED;
    }
    return (int)status;
}

int main(int argc, char **argv)
{
    und_error err = {0};
    signal(SIGXFSZ, SIG_IGN); /* a file-size limit is an error of write, not the end */
    if (argc < 2) {
        print_help(stderr);
        return UND_INVALID;
    }
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        const command *c = argc > 2 ? find_command(argv[2]) : NULL;
        if (c)
            print_command_help(c);
        else
            print_help(stdout);
        return finish(UND_OK, &err);
    }
    if (strcmp(name, "--version") == 0) {
        printf("undine %s\n", UND_VERSION);
        return finish(UND_OK, &err);
    }
    const command *c = find_command(name);
    if (!c)
        return finish(unknown_command(name, &err), &err);
    return finish(run_command(c, argc, argv, &err), &err);
}
