/* SPDX-License-Identifier: MIT */
/* 16 columns at a time, compiled with -mavx512f -mavx512bw -mavx512dq -mavx512vl. */
#define PCAST_BLOCK pcast_tensor_core_block_avx512

#include <immintrin.h>
#include <stdint.h>

enum { COLUMNS = 16 };

typedef __m512i vector;

static inline vector v_words(int x)
{
    return _mm512_set1_epi16((short)x);
}

static inline vector v_lanes(uint32_t x)
{
    return _mm512_set1_epi32((int)x);
}

static inline vector v_load(const float *d)
{
    return _mm512_loadu_si512(d);
}

static inline void v_store(float *d, vector x)
{
    _mm512_storeu_si512(d, x);
}

/* Column by column the bytes of two rows, each widened to a word. */
static inline vector v_load_pairs(const uint8_t *even, const uint8_t *odd)
{
    const __m128i x = _mm_loadu_si128((const __m128i *)even);
    const __m128i y = _mm_loadu_si128((const __m128i *)odd);
    return _mm512_cvtepu8_epi16(_mm256_set_m128i(_mm_unpackhi_epi8(x, y), _mm_unpacklo_epi8(x, y)));
}

static inline vector v_and(vector x, vector y)
{
    return _mm512_and_si512(x, y);
}

static inline vector v_or(vector x, vector y)
{
    return _mm512_or_si512(x, y);
}

static inline vector v_xor(vector x, vector y)
{
    return _mm512_xor_si512(x, y);
}

/* Words. */
static inline vector v_add(vector x, vector y)
{
    return _mm512_add_epi16(x, y);
}

static inline vector v_sub(vector x, vector y)
{
    return _mm512_sub_epi16(x, y);
}

static inline vector v_multiply(vector x, vector y)
{
    return _mm512_mullo_epi16(x, y);
}

static inline vector v_min(vector x, vector y)
{
    return _mm512_min_epi16(x, y);
}

static inline vector v_max(vector x, vector y)
{
    return _mm512_max_epi16(x, y);
}

static inline vector v_shift_left(vector x, int n)
{
    return _mm512_sll_epi16(x, _mm_cvtsi32_si128(n));
}

static inline vector v_shift_right(vector x, int n)
{
    return _mm512_srl_epi16(x, _mm_cvtsi32_si128(n));
}

static inline vector v_shift_right_signed(vector x, int n)
{
    return _mm512_sra_epi16(x, _mm_cvtsi32_si128(n));
}

/* Each by its own number; 16 and more give 0. */
static inline vector v_shift_right_each(vector x, vector n)
{
    return _mm512_srlv_epi16(x, n);
}

static inline vector v_where_zero(vector x, vector then, vector otherwise)
{
    return _mm512_mask_mov_epi16(otherwise, _mm512_testn_epi16_mask(x, x), then);
}

static inline int v_any_above(vector x, int limit)
{
    return _mm512_cmpgt_epi16_mask(x, v_words(limit)) != 0;
}

/* Signed products of words, the two of a lane added. */
static inline vector v_multiply_add(vector x, vector y)
{
    return _mm512_madd_epi16(x, y);
}

static inline vector v_swap_words(vector x)
{
    return _mm512_rol_epi32(x, 16);
}

/* Lanes. */
static inline vector v_lane_add(vector x, vector y)
{
    return _mm512_add_epi32(x, y);
}

static inline vector v_lane_sub(vector x, vector y)
{
    return _mm512_sub_epi32(x, y);
}

static inline vector v_lane_shift_left(vector x, int n)
{
    return _mm512_sll_epi32(x, _mm_cvtsi32_si128(n));
}

static inline vector v_lane_shift_right(vector x, int n)
{
    return _mm512_srl_epi32(x, _mm_cvtsi32_si128(n));
}

static inline vector v_lane_shift_right_signed(vector x, int n)
{
    return _mm512_sra_epi32(x, _mm_cvtsi32_si128(n));
}

static inline vector v_lane_shift_right_each(vector x, vector n)
{
    return _mm512_srlv_epi32(x, n);
}

static inline vector v_lane_where_zero(vector x, vector then, vector otherwise)
{
    return _mm512_mask_mov_epi32(otherwise, _mm512_testn_epi32_mask(x, x), then);
}

static inline vector v_lane_to_float_bits(vector x)
{
    return _mm512_castps_si512(_mm512_cvtepi32_ps(x));
}

#include "hardware/tensor_core_simd.h"
