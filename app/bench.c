/* undine bench: the speed of each kernel, as multiples of a memory sweep. */
#include "app.h"
#include "liquid/devices.h"

#include "base/parallel.h"
#include "base/status.h"
#include "bench/bench.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct bench {
    const char *name;
    bench_fn *run;
} bench;

static const bench benches[] = {{"waves.step", bench_waves_step},
                                {"columns.step", bench_columns_step},
                                {"columns.shore", bench_columns_shore},
                                {"columns.balls", bench_columns_balls},
                                {"columns.diver", bench_columns_diver},
                                {"spray.step", bench_spray_step},
                                {"cells.markers", bench_cells_markers},
                                {"cells.step", bench_cells_step},
                                {"cells.cove", bench_cells_cove},
                                {"cells.solve", bench_cells_solve},
                                {"dambreak.64", bench_dambreak_64},
                                {"dambreak.128", bench_dambreak_128},
                                {"direct.viscosity", bench_direct_viscosity},
                                {"render.frame", bench_render_frame},
                                {"render.spray", bench_render_spray},
                                {"trace.frame", bench_trace_frame},
                                {"trace.preview", bench_trace_preview},
                                {"trace.rays", bench_trace_rays},
                                {"view.sea", bench_view_sea},
                                {"direct.splat", bench_direct_splat},
                                {"direct.extrapolation", bench_direct_extrapolation},
                                {"dambreak.256", bench_dambreak_256}};
/* What comes after the usual ones takes minutes: it is for whoever asks for it by its whole name. */
enum { BENCHES = sizeof benches / sizeof *benches, USUAL = BENCHES - 1 };

typedef struct sink {
    json_t *results; /* NULL: print a table */
    double best;     /* sweep, seconds per cell */
} sink;

static double extra(const bench_result *r, const char *name)
{
    for (int i = 0; i < r->extra_count; i++)
        if (strcmp(r->extra[i].name, name) == 0)
            return r->extra[i].value;
    return NAN;
}

static void report(void *user, const bench_result *r)
{
    sink *s = user;
    double ns = 1e9 * r->seconds / r->cells, sweeps = r->seconds / (r->sweep_seconds * r->cells);
    s->best = fmin(s->best, r->sweep_seconds);
    if (!s->results) {
        double best = extra(r, "best_seconds");
        printf("%-16s %-12s %7d %12.6f %12.6f %10.3f %10.2f %10.2f", r->name, r->size, r->threads, r->seconds,
               best, ns, sweeps, extra(r, "best_sweeps"));
        for (int i = 0; i < r->extra_count; i++)
            if (strncmp(r->extra[i].name, "best_", 5) != 0)
                printf("  %s %.4g", r->extra[i].name, r->extra[i].value);
        printf("\n");
        fflush(stdout);
        return;
    }
    json_t *one = json_pack("{s:s, s:s, s:I, s:i, s:f, s:f, s:f}", "name", r->name, "size", r->size, "cells",
                            (json_int_t)r->cells, "threads", r->threads, "seconds", r->seconds, "ns_per_cell",
                            ns, "sweeps", sweeps);
    for (int i = 0; i < r->extra_count; i++)
        json_object_set_new(one, r->extra[i].name, json_real(r->extra[i].value));
    json_array_append_new(s->results, one);
}

static void cpu_name(char *name, size_t size)
{
    char line[512];
    FILE *file = fopen("/proc/cpuinfo", "r");
    snprintf(name, size, "unknown");
    while (file && fgets(line, sizeof line, file)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon || !colon[1])
            continue;
        line[strcspn(line, "\n")] = 0;
        snprintf(name, size, "%s", colon + 2);
        break;
    }
    if (file)
        fclose(file);
}

/* "waves" names all of the model's, "waves.step" the one. */
static bool names(const char *word, int i)
{
    size_t length = strlen(word);
    return strncmp(word, benches[i].name, length) == 0 &&
           (!benches[i].name[length] || (benches[i].name[length] == '.' && i < USUAL));
}

static und_status check_names(const args *a, und_error *err)
{
    const char *known[BENCHES];
    for (int i = 0; i < BENCHES; i++)
        known[i] = benches[i].name;
    for (int w = 0; w < a->count; w++) {
        bool found = false;
        for (int i = 0; i < BENCHES; i++)
            found |= names(a->words[w], i);
        const char *near = found ? NULL : args_nearest(a->words[w], known, BENCHES);
        if (!found)
            return und_error_set(err, UND_INVALID, "there is no bench called %s; did you mean %s?",
                                 a->words[w], near ? near : known[0]);
    }
    return UND_OK;
}

static void print_machine(sink *s, int threads)
{
    char cpu[256];
    double gbs = isfinite(s->best) ? BENCH_SWEEP_BYTES / s->best * 1e-9 : 0;
    cpu_name(cpu, sizeof cpu);
    if (!s->results) {
        printf("%s, %d threads, memory at %.1f GB/s\n"
               "A sweep reads two arrays of the same number of cells and writes a third, the least that any "
               "step "
               "can cost.\n",
               cpu, threads, gbs);
        return;
    }
    json_t *all = json_pack("{s:{s:s, s:i, s:f}, s:o}", "machine", "cpu", cpu, "threads", threads,
                            "sweep_gbs", gbs, "results", s->results);
    char *text = json_dumps(all, JSON_INDENT(2));
    puts(text ? text : "{}");
    free(text);
    json_decref(all);
}

und_status command_bench(const args *a, und_error *err)
{
    sink s = {.best = INFINITY};
    bench_context context = {.threads = und_threads(a->threads), .report = report, .user = &s};
    und_status status = check_names(a, err);
    if (status != UND_OK)
        return status;
    und_card *card;
    context.sweep = bench_sweep_create(context.threads, err);
    if (!context.sweep)
        return err->status;
    status = und_devices_open(a->device ? a->device : "cpu", &card, err);
    s.results = a->json ? json_array() : NULL;
    if (!a->json)
        printf("%-16s %-12s %7s %12s %12s %10s %10s %10s\n%-16s %-12s %7s %12s %12s %10s %10s %10s\n", "", "",
               "", "seconds", "seconds", "ns/cell", "sweeps", "sweeps", "bench", "size", "threads", "median",
               "best", "median", "median", "best");
    for (int i = 0; i < BENCHES && status == UND_OK; i++) {
        bool wanted = a->count == 0 && i < USUAL;
        for (int w = 0; w < a->count; w++)
            wanted |= names(a->words[w], i);
        if (wanted)
            status = benches[i].run(&context, err);
    }
    und_card_close(card);
    bench_sweep_destroy(context.sweep);
    if (status == UND_OK)
        print_machine(&s, context.threads);
    else
        json_decref(s.results);
    return status;
}
