/* Validation: computed values against reference values.
 *
 * A file of cases has a table that ends with an empty entry, declared below and listed in validate.c.  A case
 * computes what it must and reports each quantity with case_report. */
#ifndef UND_VALIDATE_CASES_H
#define UND_VALIDATE_CASES_H

#include <undine/types.h>

typedef struct case_result {
    const char *quantity; /* what it is, with its unit: "speed, m/s" */
    double value, reference, tolerance;
    const char *source; /* where the reference comes from */
} case_result;

typedef struct case_sink case_sink;

/* Passed where |value - reference| <= tolerance; NaN fails. */
void case_report(case_sink *sink, case_result result);

/* The threads a case may use. */
int case_threads(const case_sink *sink);
/* Whether the case, by its name, is of the particle level set, whose cells hold no volume. */
bool case_of_particles(const case_sink *sink);

/* Not UND_OK: the case could not be computed, and counts as failed with the error's text. */
typedef und_status case_fn(case_sink *sink, und_error *err);

typedef struct validation_case {
    const char *name, *model; /* "dispersion", "waves" */
    case_fn *run;
} validation_case;

extern const validation_case shape_cases[], waves_cases[], columns_cases[], cells_cases[], levelset_cases[],
    direct_cases[], render_cases[], trace_cases[];

#endif
