/* The height-field model in tests: made or the test fails, run, its ledger checked. */
#ifndef UND_TESTS_WAVES_MODEL_H
#define UND_TESTS_WAVES_MODEL_H

#include "tests/test.h"

#include "grid/frame.h"
#include "liquid/waves.h"

static inline und_waves *make(const und_waves_def *def)
{
    und_error err = {0};
    und_waves *w = und_waves_create(def, &err);
    if (!w)
        fail_msg("%s", err.text);
    return w;
}

static inline void run(und_waves *w, int steps, double dt)
{
    for (int i = 0; i < steps; i++)
        und_waves_step(w, dt);
}

static inline void ledger_closes(const und_waves *w, double relative)
{
    und_ledger ledger = und_waves_ledger(w);
    double most = fmax(ledger.start + ledger.sources, ledger.measured);
    assert_double_near(ledger.measured, und_ledger_expected(&ledger), relative * most);
    assert_double_near(ledger.correction, 0, relative * most);
}

#endif
