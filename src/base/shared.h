/* Numbers that threads change at once: each of them stays whole, and nothing else is in order by it.  What
 * comes of it must not depend on who was first. */
#ifndef UND_BASE_SHARED_H
#define UND_BASE_SHARED_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __NVPTX__ /* clang 14 calls functions there for __atomic_..., not for these */

static inline uint64_t und_shared_load(const uint64_t *p)
{
    return *(const volatile uint64_t *)p;
}
static inline void und_shared_or(uint64_t *p, uint64_t bits)
{
    __sync_fetch_and_or(p, bits);
}
static inline void und_shared_and(uint64_t *p, uint64_t bits)
{
    __sync_fetch_and_and(p, bits);
}
static inline void und_shared_add(int32_t *p, int32_t some)
{
    __sync_fetch_and_add(p, some);
}
static inline void und_shared_sum(uint64_t *p, uint64_t some)
{
    __sync_fetch_and_add(p, some);
}
static inline void und_shared_set(int32_t *p, int32_t to)
{
    *(volatile int32_t *)p = to;
}
static inline int32_t und_shared_int(const int32_t *p)
{
    return *(const volatile int32_t *)p;
}
static inline bool und_shared_replace_int(int32_t *p, int32_t was, int32_t by)
{
    return __sync_val_compare_and_swap(p, was, by) == was;
}
static inline void und_shared_deny(bool *p)
{
    *(volatile bool *)p = false;
}
static inline uint8_t und_shared_byte(const uint8_t *p)
{
    return *(const volatile uint8_t *)p;
}
static inline void und_shared_set_byte(uint8_t *p, uint8_t to)
{
    *(volatile uint8_t *)p = to;
}
static inline void und_shared_set_float(float *p, float to)
{
    *(volatile float *)p = to;
}
static inline bool und_shared_replace(uint64_t *p, uint64_t *now, uint64_t by)
{
    const uint64_t was = *now;
    *now = __sync_val_compare_and_swap(p, was, by);
    return *now == was;
}

#else

static inline uint64_t und_shared_load(const uint64_t *p)
{
    return __atomic_load_n(p, __ATOMIC_RELAXED);
}
static inline void und_shared_or(uint64_t *p, uint64_t bits)
{
    __atomic_fetch_or(p, bits, __ATOMIC_RELAXED);
}
static inline void und_shared_and(uint64_t *p, uint64_t bits)
{
    __atomic_fetch_and(p, bits, __ATOMIC_RELAXED);
}
static inline void und_shared_add(int32_t *p, int32_t some)
{
    __atomic_fetch_add(p, some, __ATOMIC_RELAXED);
}
static inline void und_shared_sum(uint64_t *p, uint64_t some)
{
    __atomic_fetch_add(p, some, __ATOMIC_RELAXED);
}
static inline void und_shared_set(int32_t *p, int32_t to)
{
    __atomic_store_n(p, to, __ATOMIC_RELAXED);
}
static inline int32_t und_shared_int(const int32_t *p)
{
    return __atomic_load_n(p, __ATOMIC_RELAXED);
}
static inline bool und_shared_replace_int(int32_t *p, int32_t was, int32_t by) /* if it still is `was` */
{
    return __atomic_compare_exchange_n(p, &was, by, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}
static inline void und_shared_deny(bool *p) /* false from now on */
{
    __atomic_store_n(p, false, __ATOMIC_RELAXED);
}
static inline uint8_t und_shared_byte(const uint8_t *p)
{
    return __atomic_load_n(p, __ATOMIC_RELAXED);
}
static inline void und_shared_set_byte(uint8_t *p, uint8_t to)
{
    __atomic_store_n(p, to, __ATOMIC_RELAXED);
}
static inline void und_shared_set_float(float *p, float to)
{
    __atomic_store(p, &to, __ATOMIC_RELAXED);
}
/* If it still is *now; else *now is what it is.  It may fail where it is, too. */
static inline bool und_shared_replace(uint64_t *p, uint64_t *now, uint64_t by)
{
    return __atomic_compare_exchange_n(p, now, by, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

#endif

/* The most of what several find, none below 0. */
static inline void und_shared_most(int32_t *p, int32_t value)
{
#ifdef __NVPTX__
    __sync_fetch_and_max(p, value);
#else
    for (int32_t now = __atomic_load_n(p, __ATOMIC_RELAXED);
         value > now &&
         !__atomic_compare_exchange_n(p, &now, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED);)
        ;
#endif
}
static inline void und_shared_most_long(int64_t *p, int64_t value)
{
#ifdef __NVPTX__
    for (int64_t now = *(volatile int64_t *)p, was; value > now; now = was)
        if ((was = __sync_val_compare_and_swap(p, now, value)) == now)
            break;
#else
    for (int64_t now = __atomic_load_n(p, __ATOMIC_RELAXED);
         value > now &&
         !__atomic_compare_exchange_n(p, &now, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED);)
        ;
#endif
}
#endif
