/* SPDX-License-Identifier: MIT */
/* Vectors of the instruction set that a file is compiled for: PCAST_LANES binary64 numbers, and as
 * many binary32 numbers of half the size. Operations are those of C, element by element, so that an
 * expression rounds as it does on single numbers. Only for files of one CPU level. */
#ifndef PCAST_BASE_VECTOR_H
#define PCAST_BASE_VECTOR_H

#include "base/bits.h"

#include <immintrin.h>

#if defined(__AVX512F__)
#define PCAST_VECTOR_BYTES 64
#else
#define PCAST_VECTOR_BYTES 32
#endif

enum {
    PCAST_LANES = PCAST_VECTOR_BYTES / 8,
    PCAST_WIDE_LANES = PCAST_VECTOR_BYTES / 4, /* binary32 numbers of a whole vector */
};

typedef double pcast_vd __attribute__((vector_size(PCAST_VECTOR_BYTES)));
typedef uint64_t pcast_vu __attribute__((vector_size(PCAST_VECTOR_BYTES)));
typedef float pcast_vf __attribute__((vector_size(PCAST_VECTOR_BYTES / 2)));
typedef uint32_t pcast_vw __attribute__((vector_size(PCAST_VECTOR_BYTES / 2)));
typedef float pcast_wide __attribute__((vector_size(PCAST_VECTOR_BYTES)));

static inline pcast_vd pcast_vd_all(double x)
{
    return x - (pcast_vd){0};
}

static inline pcast_vf pcast_vf_all(float x)
{
    return x - (pcast_vf){0};
}

/* a where the mask is set, else b; masks come from comparisons. */
static inline pcast_vf pcast_vf_pick(pcast_vw mask, pcast_vf a, pcast_vf b)
{
    return (pcast_vf)(((pcast_vw)a & mask) | ((pcast_vw)b & ~mask));
}

static inline pcast_vd pcast_vd_pick(pcast_vu mask, pcast_vd a, pcast_vd b)
{
    return (pcast_vd)(((pcast_vu)a & mask) | ((pcast_vu)b & ~mask));
}

static inline pcast_vf pcast_vf_load(const float *at)
{
    pcast_vf x;
    memcpy(&x, at, sizeof x);
    return x;
}

static inline pcast_vd pcast_vd_load(const double *at)
{
    pcast_vd x;
    memcpy(&x, at, sizeof x);
    return x;
}

/* At any alignment, without the detour through memory that GCC makes of a copy into an array. */
static inline pcast_wide pcast_wide_load(const float *at)
{
#if defined(__AVX512F__)
    return (pcast_wide)_mm512_loadu_ps(at);
#else
    return (pcast_wide)_mm256_loadu_ps(at);
#endif
}

static inline void pcast_wide_store(float *at, pcast_wide x)
{
#if defined(__AVX512F__)
    _mm512_storeu_ps(at, (__m512)x);
#else
    _mm256_storeu_ps(at, (__m256)x);
#endif
}

/* Conversions between the two sizes of number: one instruction, where compilers make several of
 * __builtin_convertvector. */
static inline pcast_vd pcast_vd_from_vf(pcast_vf x)
{
#if defined(__AVX512F__)
    return (pcast_vd)_mm512_cvtps_pd((__m256)x);
#else
    return (pcast_vd)_mm256_cvtps_pd((__m128)x);
#endif
}

static inline pcast_vf pcast_vf_from_vd(pcast_vd x)
{
#if defined(__AVX512F__)
    return (pcast_vf)_mm512_cvtpd_ps((__m512d)x);
#else
    return (pcast_vf)_mm256_cvtpd_ps((__m256d)x);
#endif
}

static inline pcast_vu pcast_vu_from_vw(pcast_vw x)
{
#if defined(__AVX512F__)
    return (pcast_vu)_mm512_cvtepu32_epi64((__m256i)x);
#else
    return (pcast_vu)_mm256_cvtepu32_epi64((__m128i)x);
#endif
}

static inline void pcast_vd_store(double *at, pcast_vd x)
{
    memcpy(at, &x, sizeof x);
}

/* Loops of a small constant length over an array of vectors: GCC keeps the array in registers only
 * where they are unrolled before it looks. */
#if defined(__clang__)
#define PCAST_UNROLLED(i, n) for (int i = 0; i < (n); i++)
#else
#define PCAST_UNROLLED(i, n) _Pragma("GCC unroll 8") for (int i = 0; i < (n); i++)
#endif

/* table[j] of each lane. */
static inline pcast_vd pcast_vd_gather(const double *table, pcast_vu j)
{
#if defined(__AVX512F__)
    return (pcast_vd)_mm512_i64gather_pd((__m512i)j, table, 8);
#else
    return (pcast_vd)_mm256_i64gather_pd(table, (__m256i)j, 8);
#endif
}

/* x, in a register: compilers load it again for every use otherwise. */
static inline pcast_wide pcast_wide_hold(pcast_wide x)
{
    __asm__("" : "+v"(x));
    return x;
}

/* a*b + c, rounded once. */
static inline pcast_wide pcast_wide_fma(pcast_wide a, pcast_wide b, pcast_wide c)
{
#if defined(__AVX512F__)
    return (pcast_wide)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#else
    return (pcast_wide)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#endif
}

#endif
