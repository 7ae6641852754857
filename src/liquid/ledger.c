#include "liquid/liquid.h"

double und_ledger_expected(const und_ledger *ledger)
{
    return ledger->start + ledger->sources - ledger->drains - ledger->left - ledger->spray_out +
           ledger->spray_back + ledger->correction;
}

void und_ledger_add(double *entry, double *lost, double volume)
{
    double term = volume - *lost, next = *entry + term;
    *lost = (next - *entry) - term;
    *entry = next;
}
