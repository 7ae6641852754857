/* undine validate: every case against its reference. */
#include "app.h"
#include "liquid/devices.h"

#include "base/parallel.h"
#include "base/status.h"
#include "validate/cases.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const validation_case *const tables[] = {shape_cases,    waves_cases,  columns_cases, cells_cases,
                                                levelset_cases, direct_cases, render_cases,  trace_cases};
enum { TABLES = sizeof tables / sizeof *tables, MAX_CASES = 256, QUANTITY = 50 };

struct case_sink {
    const validation_case *now;
    json_t *results; /* NULL: print a table */
    int threads, passed, failed;
    int model_width, case_width;
    const validation_case *printed; /* the case of the last row, */
    char source[256];               /* and its source */
};

static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static bool wanted(const args *a, const validation_case *c)
{
    if (a->model && strcmp(a->model, c->model) != 0)
        return false;
    for (int i = 0; i < a->count; i++)
        if (strcmp(a->words[i], c->name) == 0)
            return true;
    return a->count == 0;
}

/* Names of any length stand last, so that the numbers are in columns; a case names its source once, and again
 * where another row has another. */
static void print_row(case_sink *sink, const case_result *r, bool pass)
{
    char source[sizeof sink->source];
    snprintf(source, sizeof source, "%s", r->source);
    bool told = sink->printed == sink->now && strcmp(sink->source, source) == 0;
    printf("%-4s  %-*s  %-*s %13.6g %13.6g %9.2g  ", pass ? "pass" : "FAIL", sink->model_width,
           sink->now->model, sink->case_width, sink->now->name, r->value, r->reference, r->tolerance);
    if (told)
        printf("%s\n", r->quantity);
    else
        printf("%-*s  %s\n", QUANTITY, r->quantity, r->source);
    fflush(stdout);
    sink->printed = sink->now;
    memcpy(sink->source, source, sizeof source);
}

static void print_header(case_sink *sink, const args *a, const validation_case **list, int count)
{
    sink->model_width = (int)strlen("model");
    sink->case_width = (int)strlen("case");
    for (int i = 0; i < count; i++) {
        int model = (int)strlen(list[i]->model), name = (int)strlen(list[i]->name);
        if (!wanted(a, list[i]))
            continue;
        sink->model_width = model > sink->model_width ? model : sink->model_width;
        sink->case_width = name > sink->case_width ? name : sink->case_width;
    }
    printf("%-4s  %-*s  %-*s %13s %13s %9s  %-*s  %s\n", "", sink->model_width, "model", sink->case_width,
           "case", "value", "reference", "tolerance", QUANTITY, "quantity", "source");
}

void case_report(case_sink *sink, case_result r)
{
    bool pass = fabs(r.value - r.reference) <= r.tolerance;
    sink->passed += pass;
    sink->failed += !pass;
    if (!sink->results) {
        print_row(sink, &r, pass);
        return;
    }
    json_t *one =
        json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:s, s:b}", "case", sink->now->name, "model",
                  sink->now->model, "quantity", r.quantity, "value", number(r.value), "reference",
                  number(r.reference), "tolerance", number(r.tolerance), "source", r.source, "pass", pass);
    json_array_append_new(sink->results, one);
}

int case_threads(const case_sink *sink)
{
    return sink->threads;
}

bool case_of_particles(const case_sink *sink)
{
    return strncmp(sink->now->name, "particles_", strlen("particles_")) == 0;
}

static int gather(const validation_case **list)
{
    int count = 0;
    for (int t = 0; t < TABLES; t++)
        for (const validation_case *c = tables[t]; c->name && count < MAX_CASES; c++)
            list[count++] = c;
    return count;
}

/* A line "there are: a, b, c", each once. */
static void add_names(const char *const *names, int count, und_error *err)
{
    const char *between = "\nthere are: ";
    for (int i = 0; i < count; i++) {
        size_t used = strlen(err->text);
        bool told = false;
        for (int k = 0; k < i && !told; k++)
            told = strcmp(names[i], names[k]) == 0;
        if (told)
            continue;
        snprintf(err->text + used, sizeof err->text - used, "%s%s", between, names[i]);
        between = ", ";
    }
}

/* A name that no case has is the user's error, not a pass. */
static und_status check_names(const args *a, const validation_case **list, int count, und_error *err)
{
    const char *names[MAX_CASES], *models[MAX_CASES];
    for (int i = 0; i < count; i++) {
        names[i] = list[i]->name;
        models[i] = list[i]->model;
    }
    for (int w = 0; w <= a->count; w++) {
        bool model = w == a->count, found = model && !a->model;
        const char *typed = model ? a->model : a->words[w];
        for (int i = 0; i < count && !found; i++)
            found = strcmp(typed, model ? models[i] : names[i]) == 0;
        if (found)
            continue;
        const char *near = args_nearest(typed, model ? models : names, count);
        und_error_set(err, UND_INVALID, "there is no %s called %.64s%s%s%s", model ? "model" : "case", typed,
                      near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
        add_names(model ? models : names, count, err);
        return UND_INVALID;
    }
    return UND_OK;
}

static void run_case(case_sink *sink, const validation_case *c)
{
    und_error err = {0};
    int before = sink->passed + sink->failed;
    sink->now = c;
    und_status status = c->run(sink, &err);
    if (status != UND_OK)
        case_report(sink, (case_result){"could be computed", NAN, 0, 0, err.text});
    else if (sink->passed + sink->failed == before)
        case_report(sink, (case_result){"reports something", NAN, 0, 0, "the case reported nothing"});
}

und_status command_validate(const args *a, und_error *err)
{
    const validation_case *list[MAX_CASES];
    int count = gather(list);
    und_status status = check_names(a, list, count, err);
    if (status != UND_OK)
        return status;
    if (a->list) {
        for (int i = 0; i < count; i++)
            if (wanted(a, list[i]))
                puts(list[i]->name);
        return UND_OK;
    }
    und_card *card;
    if (und_devices_open(a->device ? a->device : "cpu", &card, err) != UND_OK)
        return err->status;
    case_sink sink = {.threads = und_threads(a->threads), .results = a->json ? json_array() : NULL};
    if (!a->json)
        print_header(&sink, a, list, count);
    for (int i = 0; i < count; i++)
        if (wanted(a, list[i]))
            run_case(&sink, list[i]);
    und_card_close(card);
    if (a->json) {
        json_t *all = json_pack("{s:o}", "results", sink.results);
        char *text = json_dumps(all, JSON_INDENT(2));
        puts(text ? text : "{}");
        free(text);
        json_decref(all);
    } else {
        printf("%d passed, %d failed\n", sink.passed, sink.failed);
    }
    if (sink.failed > 0)
        return und_error_set(err, UND_FAILED, "%d of %d quantities are outside their tolerance", sink.failed,
                             sink.passed + sink.failed);
    return UND_OK;
}
