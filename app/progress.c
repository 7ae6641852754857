#include "app.h"

#include "base/stage.h"

#include <math.h>
#include <unistd.h>

enum { BAR = 24 };
static const double REFRESH = 0.1; /* s between two drawings of the bar */

size_t memory_now(void)
{
    unsigned long total, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file)
        return 0;
    if (fscanf(file, "%lu %lu", &total, &resident) != 2)
        resident = 0;
    fclose(file);
    return (size_t)resident * (size_t)sysconf(_SC_PAGESIZE);
}

void print_bytes(char *text, size_t size, double bytes)
{
    static const char *const unit[] = {"B", "kB", "MB", "GB", "TB", "PB"};
    int i = 0;
    for (; bytes >= 999.5 && i < 5; i++)
        bytes /= 1000;
    snprintf(text, size, i == 0 ? "%.0f %s" : "%.3g %s", bytes, unit[i]);
}

void print_grid(char *text, size_t size, const und_grid *g)
{
    double d[3] = {und_grid_size(g, 0), und_grid_size(g, 1), und_grid_size(g, 2)};
    bool field = g->n[1] == 1 && g->dy == 0; /* of heights: its layer says nothing */
    int used = field ? snprintf(text, size, "%d x %d cells of ", g->n[0], g->n[2])
                     : snprintf(text, size, "%d x %d x %d cells of ", g->n[0], g->n[1], g->n[2]);
    size_t at = used > 0 && (size_t)used < size ? (size_t)used : 0;
    if (fabs(d[1] - d[0]) <= 1e-9 * d[0] && fabs(d[2] - d[0]) <= 1e-9 * d[0])
        snprintf(text + at, size - at, "%g m", d[0]);
    else
        snprintf(text + at, size - at, "%g x %g x %g m", d[0], d[1], d[2]);
}

void print_time(char *text, size_t size, double seconds)
{
    if (!(seconds >= 0 && seconds < 1e9)) {
        snprintf(text, size, "-:--");
        return;
    }
    long s = lround(seconds);
    if (s >= 3600)
        snprintf(text, size, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    else
        snprintf(text, size, "%ld:%02ld", s / 60, s % 60);
}

void print_stages(const und_stage *stages, int count)
{
    double total = 0;
    for (int i = 0; i < count; i++)
        total += stages[i].seconds;
    printf("%-24s %10s %8s %7s\n", "stage", "seconds", "calls", "share");
    for (int i = 0; i < count; i++)
        if (stages[i].calls > 0)
            printf("%-24s %10.3f %8ld %6.1f%%\n", stages[i].name, stages[i].seconds, stages[i].calls,
                   total > 0 ? 100 * stages[i].seconds / total : 0);
    printf("%-24s %10.3f\n", "all", total);
}

void progress_start(progress *p, const char *what, int first, int last, bool quiet)
{
    double now = und_clock();
    *p = (progress){.quiet = quiet,
                    .bar = !quiet && isatty(STDOUT_FILENO),
                    .what = what,
                    .first = first,
                    .last = last,
                    .frame = first,
                    .started = now,
                    .frame_started = now};
}

static double seconds_left(const progress *p, double now)
{
    double done = p->done + p->part, left = p->last - p->frame + (p->part > 0 ? 1 - p->part : 0);
    return done > 0 ? (now - p->started) / done * left : INFINITY;
}

/* `finished`: frames, from the first on. */
static void draw_bar(progress *p, double finished, double now)
{
    char left[32], memory[32], substeps[32] = "", bar[BAR + 1];
    int all = p->last - p->first + 1;
    int filled = all > 0 ? (int)(finished * BAR / all) : 0;
    for (int i = 0; i < BAR; i++)
        bar[i] = i < filled ? '#' : '.';
    bar[BAR] = 0;
    print_time(left, sizeof left, seconds_left(p, now));
    print_bytes(memory, sizeof memory, (double)memory_now());
    if (!p->only_draws)
        snprintf(substeps, sizeof substeps, "  substep %d", p->substeps);
    printf("\r%s [%s] frame %d/%d%s  ETA %s  %s \033[K", p->what, bar, p->frame, p->last, substeps, left,
           memory);
    fflush(stdout);
    p->shown = now;
}

void progress_substep(progress *p, int frame, int substep)
{
    double now = und_clock();
    p->frame = frame;
    p->substeps = substep;
    if (p->bar && now - p->shown >= REFRESH)
        draw_bar(p, frame - p->first, now);
}

void progress_part(progress *p, int frame, double part)
{
    double now = und_clock();
    p->frame = frame;
    p->part = part;
    if (p->bar && now - p->shown >= REFRESH)
        draw_bar(p, frame - p->first + part, now);
}

/* "run frame 30 of 270, 2 substeps, 2.6 s, 682 s left, 308 MB" */
static void print_line(const progress *p, double now)
{
    char memory[32], substeps[32] = "";
    double took = now - p->frame_started, left = seconds_left(p, now);
    print_bytes(memory, sizeof memory, (double)memory_now());
    if (!p->only_draws)
        snprintf(substeps, sizeof substeps, ", %d substep%s", p->substeps, p->substeps == 1 ? "" : "s");
    printf("%s frame %d of %d%s, %.*f s, %.0f s left, %s\n", p->what, p->frame, p->last, substeps,
           took < 1 ? 3 : 1, took, isfinite(left) ? left : 0, memory);
    fflush(stdout);
}

void progress_frame(progress *p, int frame)
{
    double now = und_clock();
    p->frame = frame;
    p->part = 0;
    p->done++;
    if (p->bar && (now - p->shown >= REFRESH || frame >= p->last))
        draw_bar(p, frame - p->first + 1, now);
    if (!p->bar && !p->quiet)
        print_line(p, now);
    p->frame_started = now;
    p->substeps = 0;
}

void progress_end(progress *p)
{
    if (p->bar && p->shown > 0)
        printf("\n");
    fflush(stdout);
}
