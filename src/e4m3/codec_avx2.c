/* SPDX-License-Identifier: MIT */
/* 8 numbers at a time, compiled with -mavx2 -mfma. */
#define PCAST_CODEC pcast_codec_avx2

#include <immintrin.h>
#include <stdint.h>

enum { LANES = 8 };

typedef __m256i vector;

static inline vector v_set(uint32_t x)
{
    return _mm256_set1_epi32((int)x);
}

static inline vector v_and(vector x, vector y)
{
    return _mm256_and_si256(x, y);
}

static inline vector v_or(vector x, vector y)
{
    return _mm256_or_si256(x, y);
}

/* (x & mask) | y */
static inline vector v_merge(vector x, vector mask, vector y)
{
    return _mm256_or_si256(_mm256_and_si256(x, mask), y);
}

static inline vector v_add(vector x, vector y)
{
    return _mm256_add_epi32(x, y);
}

static inline vector v_sub(vector x, vector y)
{
    return _mm256_sub_epi32(x, y);
}

static inline vector v_min(vector x, vector y)
{
    return _mm256_min_epi32(x, y);
}

static inline vector v_max(vector x, vector y)
{
    return _mm256_max_epi32(x, y);
}

static inline vector v_right(vector x, vector by)
{
    return _mm256_srlv_epi32(x, by);
}

static inline vector v_left(vector x, vector by)
{
    return _mm256_sllv_epi32(x, by);
}

static inline vector v_if_equal(vector a, vector b, vector yes, vector no)
{
    return _mm256_blendv_epi8(no, yes, _mm256_cmpeq_epi32(a, b));
}

static inline vector v_if_above(vector a, vector b, vector yes, vector no)
{
    return _mm256_blendv_epi8(no, yes, _mm256_cmpgt_epi32(a, b));
}

/* As the scalar one; a shift by 32 and more gives 0. */
static inline vector v_round(vector a, vector binade, vector drop, vector drop_field)
{
    (void)drop_field;
    const vector one = v_set(1), hidden = v_set(UINT32_C(1) << 23);
    const vector own = v_max(v_and(a, v_set(0x7F800000)), hidden);
    const vector significand = v_add(v_sub(a, own), hidden);
    const vector shift = v_add(drop, _mm256_srli_epi32(v_sub(binade, own), 23));
    const vector below_half = v_sub(v_left(one, v_sub(shift, one)), one);
    const vector odd = v_and(v_right(significand, shift), one);
    return v_right(v_add(significand, v_add(below_half, odd)), shift);
}

static inline vector v_scale(vector x, float step)
{
    return _mm256_castps_si256(_mm256_mul_ps(_mm256_cvtepi32_ps(x), _mm256_set1_ps(step)));
}

static inline vector v_load8(const uint8_t *x)
{
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)x));
}

static inline vector v_load16(const uint8_t *x)
{
    return _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)x));
}

static inline vector v_load32(const uint8_t *x)
{
    return _mm256_loadu_si256((const __m256i *)x);
}

/* Packing works in halves of a vector: those of x[0..3] come out as 0 0 0 0 and 1 1 1 1. */
static inline void v_store8(uint8_t *out, const vector x[4])
{
    const vector pairs =
        _mm256_packus_epi16(_mm256_packus_epi32(x[0], x[1]), _mm256_packus_epi32(x[2], x[3]));
    const vector order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    _mm256_storeu_si256((__m256i *)out, _mm256_permutevar8x32_epi32(pairs, order));
}

static inline void v_store16(uint8_t *out, const vector x[4])
{
    for (int i = 0; i < 4; i += 2) {
        const vector halves = _mm256_packus_epi32(x[i], x[i + 1]);
        _mm256_storeu_si256((__m256i *)(out + 16 * i),
                            _mm256_permute4x64_epi64(halves, 0 | 2 << 2 | 1 << 4 | 3 << 6));
    }
}

static inline void v_store32(uint8_t *out, vector x)
{
    _mm256_storeu_si256((__m256i *)out, x);
}

#include "e4m3/codec_body.h"
