/* What the program's files share: the table of commands, signals, progress, small printing. */
#ifndef UND_APP_APP_H
#define UND_APP_APP_H

#include "args.h"
#include "cache/cache.h"

#include <stdio.h>

typedef und_status command_fn(const args *a, und_error *err);

command_fn command_run, command_sim, command_render, command_check, command_info, command_verify,
    command_float, command_texture, command_export, command_validate, command_bench, command_view;

/* Opens a cache to read; a scene in its place gets a word of advice. */
und_cache *open_to_read(const char *path, und_error *err);
und_status explain_scene(const char *path, und_error *err); /* the advice; returns the error's status */

/* Signals: SIGINT and SIGTERM raise a flag, a second one ends the program at once. */
void signals_install(void);
bool signals_stop(void);

/* Memory of this process now, bytes; 0 where the system does not tell. */
size_t memory_now(void);

/* "12.3 MB", "1:02:03" into text. */
void print_bytes(char *text, size_t size, double bytes);
void print_time(char *text, size_t size, double seconds);
/* "50 x 15 x 40 cells of 0.1 m"; a height field's layer of cells is left out. */
void print_grid(char *text, size_t size, const und_grid *grid);

/* The table of --profile: name, seconds, calls, share. */
void print_stages(const und_stage *stages, int count);

/* Progress on the standard output: a bar on a terminal, a line per frame elsewhere, nothing when quiet. */
typedef struct progress {
    bool quiet, bar;
    bool only_draws; /* there are no substeps to tell of */
    const char *what;
    int first, last, frame;
    int done;    /* frames finished since the start */
    double part; /* 0 to 1: how much of the next is */
    int substeps;
    double started, shown, frame_started;
} progress;

void progress_start(progress *p, const char *what, int first, int last, bool quiet);
void progress_substep(progress *p, int frame, int substep); /* frame: the one being made */
void progress_part(progress *p, int frame, double part);    /* so much of that frame is finished */
void progress_frame(progress *p, int frame);                /* that frame is finished */
void progress_end(progress *p);                             /* leaves the bar's line */

#endif
