/* What cells owe after a part of a step is paid by cells around them, in rounds.
 *
 * In each round a cell that owes asks the fullest cell around it, or one further where none around holds
 * anything; then those that are asked give, to who asks in the order of their places, as long as they have
 * something.  What is done for a cell that is asked the first of those that ask it does, and nobody else
 * writes to any of them: so it is the same in any order, and whole numbers neither come nor go. */
#ifndef UND_SURFACE_VOLUME_PAY_KERNEL_H
#define UND_SURFACE_VOLUME_PAY_KERNEL_H

#include "surface/volume_move_kernel.h"

typedef struct und_volume_pay_args {
    und_volume_move_args m;
    bool *none; /* asks in this round */
} und_volume_pay_args;

/* In to[]: which cell of those at most two away is asked, 12 is the middle of five along each axis. */
enum { UND_VOLUME_PAY_REACH = 2, UND_VOLUME_PAY_WIDE = 5 };

UND_INLINE int und_volume_pay_code(const int by[3])
{
    const int w = UND_VOLUME_PAY_WIDE, r = UND_VOLUME_PAY_REACH;
    return by[0] + r + w * (by[1] + r + w * (by[2] + r));
}

UND_INLINE ptrdiff_t und_volume_pay_step(const und_mac *mac, const int by[3])
{
    return by[0] + by[1] * mac->step[1] + by[2] * mac->step[2];
}

UND_INLINE void und_volume_pay_by(int k, int by[3])
{
    by[0] = k % 3 - 1;
    by[1] = k / 3 % 3 - 1;
    by[2] = k / 9 - 1;
}

/* Whether neighbour k is one of this grid's, on the same side of walls. */
UND_INLINE bool und_volume_pay_linked(const und_volume_move_args *m, size_t at, int k, ptrdiff_t step)
{
    if (!m->own[(ptrdiff_t)at + step])
        return false;
    return !m->room || !(m->beside_thin[at] || m->distance[at] < 1) ||
           und_volume_way(m->open, m->mac.step, at, k);
}

/* The fullest cell around one that holds nothing; false where there is none. */
UND_INLINE bool und_volume_pay_fullest(const und_volume_move_args *m, size_t at, int by[3])
{
    int32_t most = 0;
    for (int k = 0; k < UND_VOLUME_AROUND; k++) {
        int way[3];
        und_volume_pay_by(k, way);
        const ptrdiff_t step = und_volume_pay_step(&m->mac, way);
        const size_t next = (size_t)((ptrdiff_t)at + step);
        if (m->c[next] <= most || m->kind[next] == UND_VOLUME_HELD || !und_volume_pay_linked(m, at, k, step))
            continue;
        most = m->c[next];
        for (int a = 0; a < 3; a++)
            by[a] = way[a];
    }
    return most > 0;
}

/* Who is to pay for a cell. */
UND_INLINE int und_volume_payer(const und_volume_move_args *m, size_t at)
{
    int by[3], more[3];
    if (und_volume_pay_fullest(m, at, by))
        return und_volume_pay_code(by);
    for (int k = 0; k < UND_VOLUME_AROUND; k++) {
        und_volume_pay_by(k, by);
        const ptrdiff_t step = und_volume_pay_step(&m->mac, by);
        if (!und_volume_pay_linked(m, at, k, step) ||
            !und_volume_pay_fullest(m, (size_t)((ptrdiff_t)at + step), more))
            continue;
        for (int a = 0; a < 3; a++)
            by[a] += more[a];
        return und_volume_pay_code(by);
    }
    return UND_VOLUME_PAY_NOBODY;
}

/* Of a chunk's cells those that owe. */
UND_INLINE void und_volume_ask(const und_volume_pay_args *p, und_place block)
{
    const und_volume_move_args *m = &p->m;
    for (size_t i = block.at; i < block.at + (size_t)block.x; i++)
        for (unsigned bits = m->chunk[i].gives; bits; bits &= bits - 1) {
            const size_t at = (size_t)(m->chunk[i].at + __builtin_ctz(bits));
            const int to = m->c[at] < 0 ? und_volume_payer(m, at) : UND_VOLUME_PAY_NOBODY;
            m->to[at] = (uint8_t)to;
            if (to != UND_VOLUME_PAY_NOBODY)
                und_shared_deny(p->none);
        }
}
UND_KERNEL(und_volume_ask, und_volume_pay_args, UND_EACH_SOME)

/* The next cell that asks one, from *code on, in the order of places; false where there is none. */
UND_INLINE bool und_volume_next_asker(const und_volume_move_args *m, const int cell[3], int *code, size_t *at)
{
    enum { WIDE = UND_VOLUME_PAY_WIDE, ALL = WIDE * WIDE * WIDE };
    for (; *code < ALL; ++*code) {
        const int x = cell[0] + *code % WIDE - UND_VOLUME_PAY_REACH,
                  y = cell[1] + *code / WIDE % WIDE - UND_VOLUME_PAY_REACH,
                  z = cell[2] + *code / (WIDE * WIDE) - UND_VOLUME_PAY_REACH;
        if (x < 0 || y < 0 || z < 0 || x >= m->mac.n[0] || y >= m->mac.n[1] || z >= m->mac.n[2] ||
            !und_mac_has(&m->mac, x, y, z))
            continue;
        *at = und_mac_at(&m->mac, x, y, z);
        if (m->own[*at] && m->kind[*at] == UND_VOLUME_ACTIVE && m->to[*at] == ALL - 1 - *code)
            return true;
    }
    return false;
}

UND_INLINE void und_volume_refresh(const und_volume_move_args *m, size_t at)
{
    const und_lanes_int c = und_lanes_int_load_some(m->c + at, 1);
    und_lanes_store_some(m->fraction + at, und_volume_fractions(m, at, c), 1);
}

/* What the cell asked by the one at `at` gives to all that ask it. */
UND_INLINE void und_volume_give_to_all(const und_volume_move_args *m, size_t at)
{
    enum { WIDE = UND_VOLUME_PAY_WIDE };
    const int to = m->to[at];
    int cell[3];
    und_mac_cell(&m->mac, at, cell);
    cell[0] += to % WIDE - UND_VOLUME_PAY_REACH;
    cell[1] += to / WIDE % WIDE - UND_VOLUME_PAY_REACH;
    cell[2] += to / (WIDE * WIDE) - UND_VOLUME_PAY_REACH;
    const size_t from = und_mac_at(&m->mac, cell[0], cell[1], cell[2]);
    size_t asker;
    int code = 0;
    if (!und_volume_next_asker(m, cell, &code, &asker) || asker != at)
        return;
    do {
        const int32_t owed = -m->c[asker], part = owed < m->c[from] ? owed : m->c[from];
        m->c[from] -= part;
        m->c[asker] += part;
        und_volume_refresh(m, asker);
        code++;
    } while (und_volume_next_asker(m, cell, &code, &asker));
    und_volume_refresh(m, from);
}

UND_INLINE void und_volume_pay(const und_volume_pay_args *p, und_place block)
{
    const und_volume_move_args *m = &p->m;
    for (size_t i = block.at; i < block.at + (size_t)block.x; i++)
        for (unsigned bits = m->chunk[i].gives; bits; bits &= bits - 1) {
            const size_t at = (size_t)(m->chunk[i].at + __builtin_ctz(bits));
            if (m->to[at] != UND_VOLUME_PAY_NOBODY)
                und_volume_give_to_all(m, at);
        }
}
UND_KERNEL(und_volume_pay, und_volume_pay_args, UND_EACH_SOME)

#endif
