#include "grid/pass_card_run.h"

#include "base/card.h"
#include "grid/clear_kernel.h"
#include "grid/pass_card.h"

#include <string.h>

/* How many of what threads have lie along a row: cells with those beside, words, or the row. */
static uint32_t along_of(const und_kernel *k, const und_set *s)
{
    if (k->places == UND_PLACES_CELL)
        return (uint32_t)s->mac->n[0] + 2;
    if (k->places == UND_PLACES_EACH)
        return (uint32_t)s->per_block;
    if (k->places == UND_PLACES_PACK)
        return UND_PLACES_OF_PACK * (uint32_t)s->per_block;
    if (k->places == UND_PLACES_SIXTEEN)
        return (uint32_t)s->per_block / UND_PLACES_OF_SIXTEEN + UND_PLACES_KINDS;
    return k->places == UND_PLACES_WORD ? (uint32_t)(s->mac->n[0] + 2 + 63) / 64 : 1;
}

static size_t threads_of(const und_kernel *k, const und_set *s, uint32_t along)
{
    switch (k->places) {
    case UND_PLACES_BLOCK:
    case UND_PLACES_PACK:
    case UND_PLACES_SIXTEEN:
    case UND_PLACES_EACH:
        return (size_t)s->blocks * along;
    case UND_PLACES_TOGETHER:
        return UND_TOGETHER;
    case UND_PLACES_SOME:
        return s->list ? (size_t)s->count : (size_t)s->rows;
    case UND_PLACES_LISTED:
    case UND_PLACES_ITEM:
        return (size_t)s->count;
    default:
        return (size_t)s->rows * along;
    }
}

/* What a kernel keeps the most in is 0 before it; of one that may be left out that is so too. */
static und_card_clear what_is_kept(und_card *card, const und_pass *p, const bool *unless)
{
    und_card_clear clear = {NULL, sizeof(int64_t) * (size_t)p->set->blocks};
    memcpy(&clear.at, (const char *)p->args + p->kernel->keeps - 1, sizeof clear.at);
    const und_clear_args args = {clear.at};
    const und_set words = und_set_list(clear.at, p->set->blocks, 1, 1);
    if (unless && und_pass_on_card(card, &UND_PASS(und_clear, &args, &words), unless))
        clear.bytes = 0;
    return clear;
}

bool und_pass_on_card(und_card *card, const und_pass *p, const bool *unless)
{
    const und_kernel *k = p->kernel;
    const und_set *s = p->set;
    if (k == &und_pass_none)
        return true;
    if (s->lent)
        return false;
    if (unless && !und_card_has(card, unless)) { /* somebody here has said so, or nobody */
        if (*unless)
            return true;
        unless = NULL;
    }
    const uint32_t along = along_of(k, s);
    const size_t threads = threads_of(k, s, along);
    und_call call;
    memset(&call, 0, sizeof call); /* what is between members, too, is no address */
    call.set = *s;
    call.set.mac = NULL;
    call.set.cells = NULL;
    if (s->mac)
        call.mac = *s->mac;
    if (s->cells)
        call.cells = *s->cells;
    call.has_mac = s->mac;
    call.has_cells = s->cells;
    call.along = along;
    call.threads = (uint32_t)threads;
    const und_found *found = k->finds ? p->args : NULL;
    call.out = found ? found->out : NULL;
    call.unless = unless;
    und_card_clear clear = {NULL, 0};
    if (found && k->places != UND_PLACES_ROW_TOTAL)
        clear = (und_card_clear){found->out, sizeof(float) * (size_t)s->blocks};
    if (k->keeps)
        clear = what_is_kept(card, p, unless);
    const und_card_launch launch = {.name = k->name,
                                    .call = &call,
                                    .call_size = sizeof call,
                                    .args = found ? found->args : p->args,
                                    .args_size = k->args_size,
                                    .threads = (uint32_t)threads,
                                    .together = k->places == UND_PLACES_TOGETHER,
                                    .clear = clear};
    return threads < UINT32_MAX && (und_card_run(card, &launch) || und_card_run_here(card, &launch));
}
