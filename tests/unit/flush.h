/* SPDX-License-Identifier: MIT */
/* The processor's flushing of subnormals: FTZ and DAZ of x86-64, FZ of AArch64. Elsewhere nothing
 * is flushed. */
#ifndef PCAST_TESTS_FLUSH_H
#define PCAST_TESTS_FLUSH_H

#include <fenv.h>
#include <stdint.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

/* The control register: rounding mode, flushing, traps; without exception flags. */
static inline uint64_t test_control(void)
{
#if defined(__x86_64__)
    return _mm_getcsr() & ~0x3Fu;
#elif defined(__aarch64__)
    return __builtin_aarch64_get_fpcr64();
#else
    return (uint64_t)fegetround();
#endif
}

static inline void test_flush_subnormals(void)
{
#if defined(__x86_64__)
    _mm_setcsr(_mm_getcsr() | 0x8040);
#elif defined(__aarch64__)
    __builtin_aarch64_set_fpcr64(__builtin_aarch64_get_fpcr64() | 1 << 24);
#endif
}

#endif
