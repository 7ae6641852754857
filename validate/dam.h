/* A column of liquid that collapses, as Martin & Moyce 1952 measured it. */
#ifndef UND_VALIDATE_DAM_H
#define UND_VALIDATE_DAM_H

#include "validate/cases.h"

#define CASE_DAM_WIDTH 0.05715                                 /* m; the column is twice as high */
#define CASE_DAM_END (6.2 * sqrt(CASE_DAM_WIDTH / (2 * 9.81))) /* s; all that was measured is over */

enum { CASE_DAM_SAMPLES = 400 };

/* The front along the floor and the height at the wall over time, in widths and heights of the column. */
typedef struct case_dam {
    double time[CASE_DAM_SAMPLES], front[CASE_DAM_SAMPLES], height[CASE_DAM_SAMPLES];
} case_dam;

/* Against what was measured. */
void case_report_dam(case_sink *sink, const case_dam *dam);

#endif
