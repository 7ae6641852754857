/* What kernels are for a card: an entry each, of which one thread does one place of a set, as und_places
 * says. Included by grid/pass.h where kernels are compiled for one (UND_CARD). */
#ifndef UND_GRID_PASS_CARD_H
#define UND_GRID_PASS_CARD_H

#include "base/shared.h"

/* What a launch is about: a set, with what that points to on the machine. */
typedef struct und_call {
    und_set set; /* its mac and cells are those that follow, which are elsewhere on each side */
    und_mac mac;
    und_mask cells;
    void *out;               /* of a kernel that finds something */
    const bool *unless;      /* this is set, it is done */
    uint32_t threads, along; /* of each row */
    bool has_mac, has_cells;
} und_call;

#ifdef UND_CARD

UND_INLINE und_set und_call_set(const und_call *call)
{
    und_set s = call->set;
    s.mac = call->has_mac ? &call->mac : NULL;
    s.cells = call->has_cells ? &call->cells : NULL;
    return s;
}

#ifdef __NVPTX__
#define UND_CARD_ENTRY(name, args_type, on)                                                                \
    __attribute__((nvptx_kernel)) void name##_card(und_call call, args_type args);                         \
    __attribute__((nvptx_kernel)) void name##_card(und_call call, args_type args)                          \
    {                                                                                                      \
        const uint32_t thread =                                                                            \
            __nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + __nvvm_read_ptx_sreg_tid_x(); \
        if (thread < call.threads && !(call.unless && *call.unless)) {                                     \
            const und_set set = und_call_set(&call);                                                       \
            on(&call, &set, &args, thread);                                                                \
        }                                                                                                  \
    }
#else
#define UND_CARD_ENTRY(name, args_type, on)                                                             \
    static void name##_card(const void *call_, const void *args_, uint32_t thread)                      \
    {                                                                                                   \
        const args_type args = *(const args_type *)args_;                                               \
        const und_call *const own = (const und_call *)call_;                                            \
        const und_set set = und_call_set(own);                                                          \
        if (!(own->unless && *own->unless))                                                             \
            on(own, &set, &args, thread);                                                               \
    }                                                                                                   \
    __attribute__((used, section("und_card"), aligned(8))) static const und_card_named name##_named = { \
        #name, name##_card};
#endif

/* ---- Places of threads ---- */

/* Cell or word `along` of row `thread` over that; false: the row is not there. */
UND_INLINE bool und_thread_row(const und_call *call, const und_set *s, uint32_t thread, und_place *p)
{
    const int row = (int)(thread / call->along);
    *p = und_set_row(s, row);
    p->x = (int)(thread % call->along);
    return und_present_has(s->mac->present, p->y, p->z);
}
UND_INLINE bool und_thread_at(und_place *p, int x, bool there)
{
    p->x = x;
    p->at = (size_t)((ptrdiff_t)p->at + x);
    p->which = 1;
    return there;
}

#define UND_THREAD_OF_UND_EACH_ROW(call, s, thread, p) \
    for (bool there_ = und_thread_row(call, s, thread, p) && ((p)->x = -1, true); there_; there_ = false)
#define UND_THREAD_OF_UND_EACH_WORD(call, s, thread, p) \
    for (bool there_ = und_thread_row(call, s, thread, p) && und_thread_word(s, p); there_; there_ = false)
UND_INLINE bool und_thread_word(const und_set *s, const und_place *p)
{
    const und_span words = und_mac_words(s->mac, p->y, p->z);
    return p->x >= words.begin && p->x < words.end;
}
#define UND_THREAD_OF_UND_EACH_CELL(call, s, thread, p) \
    for (bool there_ = und_thread_row(call, s, thread, p) && und_thread_cell(s, p); there_; there_ = false)
#define UND_THREAD_OF_UND_EACH_DOUBLES UND_THREAD_OF_UND_EACH_CELL
UND_INLINE bool und_thread_cell(const und_set *s, und_place *p)
{
    const int x = p->x - 1;
    return und_thread_at(p, x, und_mask_has(s->cells, x, p->y, p->z));
}
#define UND_THREAD_OF_UND_EACH_INSIDE(call, s, thread, p) \
    for (bool there_ = und_thread_row(call, s, thread, p) && und_thread_inside(s, p); there_; there_ = false)
UND_INLINE bool und_thread_inside(const und_set *s, und_place *p)
{
    const und_span all = und_mac_span(s->mac, p->y, p->z);
    const int x = p->x - 1;
    return und_thread_at(p, x, x >= all.begin && x < all.end);
}
#define UND_THREAD_OF_UND_EACH_SPAN(call, s, thread, p)                                                    \
    for (bool there_ =                                                                                     \
             und_thread_row(call, s, thread, p) && und_thread_span(s, (int)((thread) / (call)->along), p); \
         there_; there_ = false)
UND_INLINE bool und_thread_span(const und_set *s, int row, und_place *p)
{
    const int x = p->x - 1;
    return und_thread_at(p, x, x >= s->from[row] && x < s->to[row]);
}
#define UND_THREAD_OF_UND_EACH_ITEM(call, s, thread, p) \
    for (bool there_ = (*(p) = (und_place){.at = thread, .which = 1}, true); there_; there_ = false)

#define UND_KERNEL_TABLE(fn, ...)
#define UND_KERNEL_TABLE_AXES(fn, ...)

/* A place each; of a block all of them. */
#define UND_KERNEL_PLACES(fn, which, args_type, EACH, ...)                                             \
    UND_INLINE void fn##which##_on(const und_call *call_, const und_set *set_, const args_type *args_, \
                                   uint32_t thread_)                                                   \
    {                                                                                                  \
        und_place place_;                                                                              \
        UND_THREAD_OF_##EACH (call_, set_, thread_, &place_) fn(args_, place_, ##__VA_ARGS__);         \
    }                                                                                                  \
    UND_CARD_ENTRY(fn##which, args_type, fn##which##_on)
#define UND_THREAD_OF_UND_EACH_BLOCK(call, s, thread, p) UND_THREAD_OF_BLOCK(UND_EACH_BLOCK, s, thread, p)
#define UND_THREAD_OF_BLOCK(EACH, s, thread, p) \
    EACH (s, (int)(thread), own_)               \
        for (bool there_ = (*(p) = own_, true); there_; there_ = false)

#define UND_KERNEL_ONE(fn, which, args_type, EACH, ...)                                                \
    UND_INLINE void fn##which##_on(const und_call *call_, const und_set *set_, const args_type *args_, \
                                   uint32_t thread_)                                                   \
    {                                                                                                  \
        (void)call_, (void)set_;                                                                       \
        fn##_one(args_, thread_, ##__VA_ARGS__);                                                       \
    }                                                                                                  \
    UND_CARD_ENTRY(fn##which, args_type, fn##which##_on)

#define UND_KERNEL_BLOCKS(fn, args_type)                                                        \
    UND_INLINE void fn##_on(const und_call *call_, const und_set *set_, const args_type *args_, \
                            uint32_t thread_)                                                   \
    {                                                                                           \
        (void)call_;                                                                            \
        fn##_block(args_, set_, (int)thread_);                                                  \
    }                                                                                           \
    UND_CARD_ENTRY(fn, args_type, fn##_on)

/* Where threads are done one after the other the first of them does it all. */
#ifdef __NVPTX__
#define UND_TOGETHER_OF(call, thread) ((und_together){thread, (call)->threads})
#else
#define UND_TOGETHER_OF(call, thread) ((und_together){thread, (thread) > 0 ? 0 : 1})
#endif
#define UND_KERNEL_TOGETHERS(fn, args_type)                                                     \
    UND_INLINE void fn##_on(const und_call *call_, const und_set *set_, const args_type *args_, \
                            uint32_t thread_)                                                   \
    {                                                                                           \
        const und_together who_ = UND_TOGETHER_OF(call_, thread_);                              \
        (void)call_;                                                                            \
        if (who_.threads > 0)                                                                   \
            fn##_together(args_, set_, who_);                                                   \
    }                                                                                           \
    UND_CARD_ENTRY(fn, args_type, fn##_on)

#define UND_THREAD_OF_UND_EACH_SOME(call, s, thread, p)                                               \
    for (bool there_ =                                                                                \
             (*(p) = (und_place){.at = thread, .x = 1, .y = (int)(thread), .lent = (s)->lent}, true); \
         there_; there_ = false)

#define UND_KERNEL_PLACES_MOST(fn, args_type, EACH)                                             \
    UND_INLINE void fn##_on(const und_call *call_, const und_set *set_, const args_type *args_, \
                            uint32_t thread_)                                                   \
    {                                                                                           \
        und_place place_;                                                                       \
        UND_THREAD_OF_##EACH (call_, set_, thread_, &place_)                                    \
        {                                                                                       \
            const float most_ = fn(args_, place_)[0];                                           \
            if (place_.which & 1 && most_ > 0)                                                  \
                und_thread_keep(call_, set_, thread_, most_);                                   \
        }                                                                                       \
    }                                                                                           \
    UND_CARD_ENTRY(fn, args_type, fn##_on)
/* Bits of numbers that are not below 0 are ordered as they are. */
UND_INLINE void und_thread_keep(const und_call *call, const und_set *s, uint32_t thread, float most)
{
    int32_t bits;
    __builtin_memcpy(&bits, &most, sizeof bits);
    und_shared_most((int32_t *)call->out + thread / call->along / (uint32_t)s->per_block, bits);
}

#define UND_KERNEL_OF_ROWS(fn, which, args_type, of_row, at)                                           \
    UND_INLINE void fn##which##_on(const und_call *call_, const und_set *set_, const args_type *args_, \
                                   uint32_t thread_)                                                   \
    {                                                                                                  \
        und_place place_;                                                                              \
        if (und_thread_row(call_, set_, thread_, &place_))                                             \
            ((und_total *)call_->out)[thread_] = of_row(set_, (int)thread_, at, args_);                \
    }                                                                                                  \
    UND_CARD_ENTRY(fn##which, args_type, fn##which##_on)

#endif /* UND_CARD */

#endif
