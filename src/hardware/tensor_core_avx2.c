/* SPDX-License-Identifier: MIT */
/* 8 columns at a time, compiled with -mavx2 -mfma. */
#define PCAST_BLOCK pcast_tensor_core_block_avx2

#include <immintrin.h>
#include <stdint.h>

enum { COLUMNS = 8 };

typedef __m256i vector;

static inline vector v_words(int x)
{
    return _mm256_set1_epi16((short)x);
}

static inline vector v_lanes(uint32_t x)
{
    return _mm256_set1_epi32((int)x);
}

static inline vector v_load(const float *d)
{
    return _mm256_loadu_si256((const __m256i *)d);
}

static inline void v_store(float *d, vector x)
{
    _mm256_storeu_si256((__m256i *)d, x);
}

/* Column by column the bytes of two rows, each widened to a word. */
static inline vector v_load_pairs(const uint8_t *even, const uint8_t *odd)
{
    const __m128i x = _mm_loadl_epi64((const __m128i *)even);
    const __m128i y = _mm_loadl_epi64((const __m128i *)odd);
    return _mm256_cvtepu8_epi16(_mm_unpacklo_epi8(x, y));
}

static inline vector v_and(vector x, vector y)
{
    return _mm256_and_si256(x, y);
}

static inline vector v_or(vector x, vector y)
{
    return _mm256_or_si256(x, y);
}

static inline vector v_xor(vector x, vector y)
{
    return _mm256_xor_si256(x, y);
}

/* Words. */
static inline vector v_add(vector x, vector y)
{
    return _mm256_add_epi16(x, y);
}

static inline vector v_sub(vector x, vector y)
{
    return _mm256_sub_epi16(x, y);
}

static inline vector v_multiply(vector x, vector y)
{
    return _mm256_mullo_epi16(x, y);
}

static inline vector v_min(vector x, vector y)
{
    return _mm256_min_epi16(x, y);
}

static inline vector v_max(vector x, vector y)
{
    return _mm256_max_epi16(x, y);
}

static inline vector v_shift_left(vector x, int n)
{
    return _mm256_sll_epi16(x, _mm_cvtsi32_si128(n));
}

static inline vector v_shift_right(vector x, int n)
{
    return _mm256_srl_epi16(x, _mm_cvtsi32_si128(n));
}

static inline vector v_shift_right_signed(vector x, int n)
{
    return _mm256_sra_epi16(x, _mm_cvtsi32_si128(n));
}

/* Each by its own number; 16 and more give 0. AVX2 has no such shift of words. */
static inline vector v_shift_right_each(vector x, vector n)
{
    const vector low = _mm256_set1_epi32(0xFFFF);
    const vector even = _mm256_srlv_epi32(_mm256_and_si256(x, low), _mm256_and_si256(n, low));
    const vector odd = _mm256_srlv_epi32(_mm256_srli_epi32(x, 16), _mm256_srli_epi32(n, 16));
    return _mm256_or_si256(even, _mm256_slli_epi32(odd, 16));
}

static inline vector v_where_zero(vector x, vector then, vector otherwise)
{
    return _mm256_blendv_epi8(otherwise, then, _mm256_cmpeq_epi16(x, _mm256_setzero_si256()));
}

static inline int v_any_above(vector x, int limit)
{
    return _mm256_movemask_epi8(_mm256_cmpgt_epi16(x, v_words(limit))) != 0;
}

/* Signed products of words, the two of a lane added. */
static inline vector v_multiply_add(vector x, vector y)
{
    return _mm256_madd_epi16(x, y);
}

static inline vector v_swap_words(vector x)
{
    return _mm256_or_si256(_mm256_slli_epi32(x, 16), _mm256_srli_epi32(x, 16));
}

/* Lanes. */
static inline vector v_lane_add(vector x, vector y)
{
    return _mm256_add_epi32(x, y);
}

static inline vector v_lane_sub(vector x, vector y)
{
    return _mm256_sub_epi32(x, y);
}

static inline vector v_lane_shift_left(vector x, int n)
{
    return _mm256_sll_epi32(x, _mm_cvtsi32_si128(n));
}

static inline vector v_lane_shift_right(vector x, int n)
{
    return _mm256_srl_epi32(x, _mm_cvtsi32_si128(n));
}

static inline vector v_lane_shift_right_signed(vector x, int n)
{
    return _mm256_sra_epi32(x, _mm_cvtsi32_si128(n));
}

static inline vector v_lane_shift_right_each(vector x, vector n)
{
    return _mm256_srlv_epi32(x, n);
}

static inline vector v_lane_where_zero(vector x, vector then, vector otherwise)
{
    return _mm256_blendv_epi8(otherwise, then, _mm256_cmpeq_epi32(x, _mm256_setzero_si256()));
}

static inline vector v_lane_to_float_bits(vector x)
{
    return _mm256_castps_si256(_mm256_cvtepi32_ps(x));
}

#include "hardware/tensor_core_simd.h"
