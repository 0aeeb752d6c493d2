/* SPDX-License-Identifier: MIT */
/* 16 numbers at a time, compiled with -mavx512f -mavx512bw -mavx512dq -mavx512vl. */
#define PCAST_CODEC pcast_codec_avx512

#include <immintrin.h>
#include <stdint.h>

enum { LANES = 16 };

typedef __m512i vector;

static inline vector v_set(uint32_t x)
{
    return _mm512_set1_epi32((int)x);
}

static inline vector v_and(vector x, vector y)
{
    return _mm512_and_si512(x, y);
}

static inline vector v_or(vector x, vector y)
{
    return _mm512_or_si512(x, y);
}

/* (x & mask) | y */
static inline vector v_merge(vector x, vector mask, vector y)
{
    return _mm512_ternarylogic_epi32(x, mask, y, 0xEA);
}

static inline vector v_add(vector x, vector y)
{
    return _mm512_add_epi32(x, y);
}

static inline vector v_sub(vector x, vector y)
{
    return _mm512_sub_epi32(x, y);
}

static inline vector v_min(vector x, vector y)
{
    return _mm512_min_epi32(x, y);
}

static inline vector v_max(vector x, vector y)
{
    return _mm512_max_epi32(x, y);
}

static inline vector v_right(vector x, vector by)
{
    return _mm512_srlv_epi32(x, by);
}

static inline vector v_left(vector x, vector by)
{
    return _mm512_sllv_epi32(x, by);
}

static inline vector v_if_equal(vector a, vector b, vector yes, vector no)
{
    return _mm512_mask_mov_epi32(no, _mm512_cmpeq_epi32_mask(a, b), yes);
}

static inline vector v_if_above(vector a, vector b, vector yes, vector no)
{
    return _mm512_mask_mov_epi32(no, _mm512_cmpgt_epi32_mask(a, b), yes);
}

/* Adding a + 2^drop binades rounds a to the place wanted. The rounding is the instruction's own,
 * and DAZ makes no difference: a subnormal a is far below half a place and rounds to 0 either way.
 */
static inline vector v_round(vector a, vector binade, vector drop, vector drop_field)
{
    (void)drop;
    const vector large = v_add(binade, drop_field);
    const __m512 sum = _mm512_add_round_ps(_mm512_castsi512_ps(a), _mm512_castsi512_ps(large),
                                           _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    return v_sub(_mm512_castps_si512(sum), large);
}

static inline vector v_scale(vector x, float step)
{
    return _mm512_castps_si512(_mm512_mul_ps(_mm512_cvtepi32_ps(x), _mm512_set1_ps(step)));
}

static inline vector v_load8(const uint8_t *x)
{
    return _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)x));
}

static inline vector v_load16(const uint8_t *x)
{
    return _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)x));
}

static inline vector v_load32(const uint8_t *x)
{
    return _mm512_loadu_si512(x);
}

static inline void v_store8(uint8_t *out, const vector x[4])
{
    for (int i = 0; i < 4; i++)
        _mm_storeu_si128((__m128i *)(out + 16 * i), _mm512_cvtepi32_epi8(x[i]));
}

static inline void v_store16(uint8_t *out, const vector x[4])
{
    for (int i = 0; i < 4; i++)
        _mm256_storeu_si256((__m256i *)(out + 32 * i), _mm512_cvtepi32_epi16(x[i]));
}

static inline void v_store32(uint8_t *out, vector x)
{
    _mm512_storeu_si512(out, x);
}

#include "e4m3/codec_body.h"
