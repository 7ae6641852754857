/* All grids of a scene at once: each is simulated by this program in a process of its own, and they find each
 * other by the files in their caches' folders (Rasmussen et al. 2004, 5.4). */
#include "grids.h"

#include "base/parallel.h"
#include "base/status.h"

#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WORDS = 64, WORD = 64 };

typedef struct child {
    const und_named_grid *grid;
    pid_t pid; /* 0: does not run */
    bool done; /* was there already, or has ended */
    bool resume;
    und_status status;
} child;

typedef struct pipeline {
    const args *args;
    const und_scene_view *view;
    char folder[UND_PATH_MAX];
    int count, threads;
    child list[UND_GRIDS_MAX]; /* in the view's order of grids */
} pipeline;

static und_status path_of(const pipeline *p, const child *c, const char *file, char path[UND_PATH_MAX],
                          und_error *err)
{
    return und_path_set(path, err, "%s/%s%s%s", p->folder, c->grid->name, *file ? "/" : "", file);
}

/* What is there of a grid: a whole cache is left alone, a part of one is gone on with. */
static und_status look_at(const pipeline *p, child *c, und_error *err)
{
    const args *a = p->args;
    char path[UND_PATH_MAX];
    und_status status = path_of(p, c, "manifest.json", path, err);
    bool there = status == UND_OK && !access(path, F_OK);
    if (status != UND_OK)
        return status;
    if (there && !a->resume && !a->force)
        return und_error_set(err, UND_INVALID,
                             "%s/%s holds a cache already: --resume goes on with what is not whole, --force "
                             "replaces all, --grid does one grid",
                             p->folder, c->grid->name);
    if (a->force && path_of(p, c, "bands", path, err) == UND_OK && there)
        unlink(path); /* so that nobody takes the old ones for new */
    if (!there || !a->resume)
        return UND_OK;
    int last = a->given & OPT_END ? a->end : p->view->end;
    path_of(p, c, "", path, err);
    und_cache *cache = und_cache_open(path, err);
    if (!cache)
        return err->status;
    und_cache_info info = und_cache_describe(cache);
    und_error ignored; /* reading only: nothing is lost */
    status = und_cache_compare_files(cache, p->view->files, p->view->file_count, err);
    c->done = info.row_count > 0 && info.rows[info.row_count - 1].frame >= last &&
              und_cache_first_lost(cache) == INT_MAX;
    c->resume = !c->done;
    if (status == UND_OK && c->done && !a->quiet)
        printf("%s is there already, up to frame %d\n", c->grid->name, info.rows[info.row_count - 1].frame);
    und_cache_close(cache, NULL, 0, &ignored);
    return status;
}

/* The command line of one grid. */
typedef struct command_line {
    char *word[WORDS + 2 * 256]; /* malloc'ed; a NULL ends them */
    int count;
    bool failed; /* out of memory */
} command_line;

static void add(command_line *l, const char *word)
{
    l->word[l->count] = strdup(word);
    l->failed = l->failed || !l->word[l->count];
    l->count++;
}

static void free_line(command_line *l)
{
    for (int i = 0; i < l->count; i++)
        free(l->word[i]);
    free(l);
}

static void add_number(command_line *l, const char *name, double number)
{
    char text[WORD];
    snprintf(text, sizeof text, "%.17g", number);
    add(l, name);
    add(l, text);
}

static void add_settings(command_line *l, const args *a)
{
    char text[UND_PATH_MAX];
    for (int i = 0; i < a->setting_count && i < 256; i++) {
        snprintf(text, sizeof text, "%s=%s", a->settings[i].name, a->settings[i].value);
        add(l, "--set");
        add(l, text);
    }
}

static void add_exports(command_line *l, const args *a)
{
    const struct {
        bool on;
        const char *name;
    } flag[] = {{a->vdb, "--vdb"},         {a->ply, "--ply"},         {a->spray, "--spray"},
                {a->half, "--half"},       {a->profile, "--profile"}, {a->dump_stages, "--dump-stages"},
                {a->verbose, "--verbose"}, {a->quiet, "--quiet"}};
    for (size_t i = 0; i < sizeof flag / sizeof *flag; i++)
        if (flag[i].on)
            add(l, flag[i].name);
    if (a->up) {
        add(l, "--up");
        add(l, a->up);
    }
    if (a->adaptive > 0)
        add_number(l, "--adaptive", a->adaptive);
}

/* --from OUT@FRAME is OUT/NAME@FRAME for each; a grid that the other run did not have begins at the start. */
static void add_branch(command_line *l, const pipeline *p, const child *c)
{
    const char *from = p->args->from, *at = from ? strrchr(from, '@') : NULL;
    char text[UND_PATH_MAX], path[UND_PATH_MAX];
    if (!at || c->resume ||
        und_path_set(text, NULL, "%.*s/%s%s", (int)(at - from), from, c->grid->name, at) ||
        und_path_set(path, NULL, "%.*s/%s/manifest.json", (int)(at - from), from, c->grid->name) ||
        access(path, F_OK))
        return;
    add(l, "--from");
    add(l, text);
}

static void make_line(command_line *l, const pipeline *p, const child *c)
{
    const args *a = p->args;
    add(l, a->program);
    add(l, "sim");
    add(l, "--grid");
    add(l, c->grid->name);
    add(l, "--output");
    add(l, p->folder);
    add_number(l, "--threads", p->threads);
    if (a->device) {
        add(l, "--device");
        add(l, a->device);
    }
    add_number(l, "--checkpoint", a->checkpoint);
    add_number(l, "--keep", a->keep);
    add_number(l, "--compress", a->compress);
    add_number(l, "--wait", a->wait);
    if (a->given & OPT_START)
        add_number(l, "--start", a->start);
    if (a->given & OPT_END)
        add_number(l, "--end", a->end);
    if (a->force)
        add(l, "--force");
    if (c->resume)
        add(l, "--resume");
    add_branch(l, p, c);
    add_exports(l, a);
    add_settings(l, a);
    add(l, "--");
    add(l, a->words[0]);
}

/* In a group of its own: Ctrl-C reaches this process, which then tells the others, once. */
static und_status start(const pipeline *p, child *c, und_error *err)
{
    command_line *line = und_alloc(1, sizeof *line, "the command line", err);
    if (!line)
        return UND_FAILED;
    make_line(line, p, c);
    if (line->failed) {
        free_line(line);
        return und_error_set(err, UND_FAILED, "out of memory: the command line");
    }
    fflush(stdout);
    posix_spawnattr_t own_group;
    int wrong = posix_spawnattr_init(&own_group);
    if (!wrong) {
        posix_spawnattr_setflags(&own_group, POSIX_SPAWN_SETPGROUP);
        wrong = posix_spawn(&c->pid, "/proc/self/exe", NULL, &own_group, line->word, environ);
        posix_spawnattr_destroy(&own_group);
    }
    free_line(line);
    if (wrong) {
        c->pid = 0;
        return und_error_set(err, UND_FAILED, "cannot start a process for %s: %s", c->grid->name,
                             strerror(wrong));
    }
    return UND_OK;
}

static void stop(child *c)
{
    if (c->pid > 0)
        kill(c->pid, SIGINT);
}

/* Stops those that liquid comes to from a grid that failed. */
static void stop_below(pipeline *p, const child *failed)
{
    for (int i = 0; i < p->count; i++)
        for (int k = 0; k < p->list[i].grid->from_count; k++)
            if (&p->view->grids[p->list[i].grid->from[k]] == failed->grid && !p->list[i].done) {
                stop(&p->list[i]);
                stop_below(p, &p->list[i]);
            }
}

static und_status status_of(int how)
{
    if (WIFSIGNALED(how) && (WTERMSIG(how) == SIGINT || WTERMSIG(how) == SIGTERM))
        return UND_STOPPED; /* before it could listen */
    int code = WIFEXITED(how) ? WEXITSTATUS(how) : UND_FAILED;
    return code == UND_OK || code == UND_INVALID || code == UND_STOPPED ? (und_status)code : UND_FAILED;
}

/* Waits for all; whoever failed first is reported, the others having said what it was. */
static und_status wait_all(pipeline *p, und_error *err)
{
    bool told = false;
    int running = 1;
    und_status worst = UND_OK;
    while (running > 0) {
        running = 0;
        for (int i = 0; i < p->count; i++) {
            child *c = &p->list[i];
            int how;
            if (c->pid > 0 && waitpid(c->pid, &how, WNOHANG) == c->pid) {
                c->pid = 0;
                c->done = true;
                c->status = status_of(how);
                if (c->status != UND_OK && c->status != UND_STOPPED && worst != UND_FAILED &&
                    worst != UND_INVALID) {
                    worst = und_error_set(err, c->status, "%s was not simulated", c->grid->name);
                    stop_below(p, c);
                } else if (c->status == UND_STOPPED && worst == UND_OK)
                    worst = UND_STOPPED;
            }
            running += c->pid > 0;
        }
        if (signals_stop() && !told)
            for (int i = 0; i < p->count; i++)
                stop(&p->list[i]);
        told = told || signals_stop();
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
    return worst;
}

static und_status draw_all(const pipeline *p, und_error *err)
{
    const char *words[1] = {p->folder};
    args a = *p->args;
    a.words = words;
    a.output = NULL;
    a.movie = true;
    a.given |= OPT_STILLS;
    return command_render(&a, err);
}

und_status grids_run(const args *a, const und_scene_view *view, bool draw, und_error *err)
{
    pipeline p = {.args = a, .view = view, .count = view->grid_count};
    und_status status = a->output ? und_path_set(p.folder, err, "%s", a->output)
                                  : und_path_set(p.folder, err, "out/%s", view->name);
    int running = 0;
    for (int i = 0; i < p.count && status == UND_OK; i++) {
        p.list[i].grid = &view->grids[view->grid_order[i]];
        status = look_at(&p, &p.list[i], err);
        running += !p.list[i].done;
    }
    if (status == UND_OK)
        status = grids_save(p.folder, view, err);
    if (status != UND_OK)
        return status;
    int threads = und_threads(a->threads) / (running > 0 ? running : 1);
    p.threads = threads > 1 ? threads : 1;
    signals_install();
    for (int i = 0; i < p.count && status == UND_OK; i++)
        if (!p.list[i].done)
            status = start(&p, &p.list[i], err);
    for (int i = 0; i < p.count && status != UND_OK; i++)
        stop(&p.list[i]);
    und_status ended = wait_all(&p, err);
    status = status ? status : ended;
    if (status == UND_STOPPED && !a->quiet) {
        printf("go on with all of them with\n ");
        args_print_resume(a, p.folder, stdout);
        printf("\n");
    }
    return status == UND_OK && draw ? draw_all(&p, err) : status;
}
