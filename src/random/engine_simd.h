/* SPDX-License-Identifier: MIT */
/* Philox4x32-10 (J. Salmon et al., SC 2011; Random123 is the definition) on one block a lane, and
 * the quantile of AS 241 with the branches of normal_quantile.c as separate passes. Compiled once
 * per level: the including file names the table by PCAST_DRAW_ENGINE. */
#include "random/engine.h"

#include "base/vector.h"
#include "math/tables.h"
#include "random/normal_coefficients.h"

#include <math.h>

enum { CHUNK = 256 };

/* The full product of the low halves of the lanes. */
static inline pcast_vu multiply(pcast_vu a, uint32_t b)
{
#if defined(__AVX512F__)
    return (pcast_vu)_mm512_mul_epu32((__m512i)a, _mm512_set1_epi64(b));
#else
    return (pcast_vu)_mm256_mul_epu32((__m256i)a, _mm256_set1_epi64x(b));
#endif
}

/* Numbers of 32 bits stand in the low halves; high halves are cleared where a product needs it not.
 */
static void block_lanes(pcast_stream stream, uint64_t block, pcast_vu words[4])
{
    uint32_t k0 = (uint32_t)stream.seed, k1 = (uint32_t)(stream.seed >> 32);
    pcast_vu index;
    for (int lane = 0; lane < PCAST_LANES; lane++)
        index[lane] = block + (uint64_t)lane;
    const pcast_vu zero = {0};
    pcast_vu c[4] = {zero + stream.trial, zero + stream.stream, index & 0xFFFFFFFF, index >> 32};
    for (int round = 0; round < 10; round++) {
        const pcast_vu p0 = multiply(c[0], 0xD2511F53), p1 = multiply(c[2], 0xCD9E8D57);
        c[0] = (p1 >> 32) ^ c[1] ^ k0;
        c[1] = p1 & 0xFFFFFFFF;
        c[2] = (p0 >> 32) ^ c[3] ^ k1;
        c[3] = p0 & 0xFFFFFFFF;
        k0 += 0x9E3779B9;
        k1 += 0xBB67AE85;
    }
    memcpy(words, c, sizeof c);
}

/* Lanes of a and b in turn. */
static inline void store_in_turn(uint64_t *at, pcast_vu a, pcast_vu b)
{
#if defined(__AVX512F__)
    const __m512i low = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
    const __m512i high = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
    _mm512_storeu_si512(at, _mm512_permutex2var_epi64((__m512i)a, low, (__m512i)b));
    _mm512_storeu_si512(at + 8, _mm512_permutex2var_epi64((__m512i)a, high, (__m512i)b));
#else
    const __m256i even = _mm256_unpacklo_epi64((__m256i)a, (__m256i)b);
    const __m256i odd = _mm256_unpackhi_epi64((__m256i)a, (__m256i)b);
    _mm256_storeu_si256((__m256i *)(void *)at, _mm256_permute2x128_si256(even, odd, 0x20));
    _mm256_storeu_si256((__m256i *)(void *)(at + 4), _mm256_permute2x128_si256(even, odd, 0x31));
#endif
}

static void blocks(pcast_stream stream, uint64_t block, size_t count, uint32_t *words)
{
    for (size_t first = 0; first < count; first += PCAST_LANES) {
        const size_t n = count - first < PCAST_LANES ? count - first : PCAST_LANES;
        pcast_vu lanes[4];
        uint64_t pairs[2 * PCAST_LANES];
        block_lanes(stream, block + first, lanes);
        store_in_turn(pairs, lanes[0] | lanes[1] << 32, lanes[2] | lanes[3] << 32);
        memcpy(words + 4 * first, pairs, n * 4 * sizeof *words);
    }
}

static inline pcast_vd polynomial(const double c[8], pcast_vd x)
{
    pcast_vd s = pcast_vd_all(c[7]);
    for (int i = 6; i >= 0; i--)
        s = s * x + c[i];
    return s;
}

/* pcast_log_f64 for normal x below 0.9. */
static inline pcast_vd log_lanes(pcast_vd x)
{
    const pcast_vu bits = (pcast_vu)x, above = bits - pcast_bits_f64(0.6875);
    const pcast_vu exponent = ((above >> 52) ^ 2048) - 2048; /* of 12 bits, with its sign */
    const pcast_vd z = (pcast_vd)(bits - (exponent << 52));
    const pcast_vu at = ((above >> 45) & 127) * 3;
    const pcast_vd inverse = pcast_vd_gather(&pcast_log_table[0][0], at);
    const pcast_vd kd = (pcast_vd)(exponent + pcast_bits_f64(0x1.8p52)) - 0x1.8p52;

    const pcast_vd z_hi = (pcast_vd)((pcast_vu)z & ~UINT64_C(0x7FFFFFF));
    const pcast_vd r = (z_hi * inverse - 1.0) + (z - z_hi) * inverse;

    const pcast_vd w = kd * PCAST_LN2_HI + pcast_vd_gather(&pcast_log_table[0][1], at);
    const pcast_vd hi = w + r;
    const pcast_vd lo =
        ((w - hi) + r) + (kd * PCAST_LN2_LO + pcast_vd_gather(&pcast_log_table[0][2], at));
    pcast_vd s = r * (1.0 / 7) - 1.0 / 6;
    s = r * s + 1.0 / 5;
    s = r * s - 1.0 / 4;
    s = r * s + 1.0 / 3;
    const pcast_vd r2 = r * r;
    return hi + (lo + (r2 * r * s - 0.5 * r2));
}

static inline pcast_vd root(pcast_vd x)
{
#if defined(__AVX512F__)
    return (pcast_vd)_mm512_sqrt_pd((__m512d)x);
#else
    return (pcast_vd)_mm256_sqrt_pd((__m256d)x);
#endif
}

static void center(const double *u, size_t n, double *out)
{
    for (size_t i = 0; i < n; i += PCAST_LANES) {
        const pcast_vd q = pcast_vd_load(u + i) - 0.5, r = 0.180625 - q * q;
        const pcast_vd x = q * polynomial(center_num, r) / polynomial(center_den, r);
        memcpy(out + i, &x, sizeof x);
    }
}

/* Both tails; sqrt(-log(2^-33)) is 4.8, so that none is beyond 5. */
static void tails(const double *u, size_t n, double *out)
{
    for (size_t i = 0; i < n; i += PCAST_LANES) {
        const pcast_vd at = pcast_vd_load(u + i);
        const pcast_vu below = (pcast_vu)(at - 0.5 < 0);
        const pcast_vd r = root(-log_lanes(pcast_vd_pick(below, at, 1.0 - at))) - 1.6;
        const pcast_vd x = polynomial(middle_num, r) / polynomial(middle_den, r);
        const pcast_vd result = pcast_vd_pick(below, -x, x);
        memcpy(out + i, &result, sizeof result);
    }
}

/* (words[i] + 0.5) * 2^-32, and 0.5 behind them up to whole vectors. A word beside the exponent of
 * 2^52 is 2^52 + word. */
static void uniforms(const uint32_t *words, size_t n, double *u)
{
    for (size_t i = 0; i < n; i += PCAST_LANES) {
        pcast_vw lanes = {0};
        if (n - i >= PCAST_LANES)
            memcpy(&lanes, words + i, sizeof lanes);
        else
            memcpy(&lanes, words + i, (n - i) * sizeof *words);
        const pcast_vu bits = pcast_vu_from_vw(lanes) | pcast_bits_f64(0x1p52);
        pcast_vd_store(u + i, (((pcast_vd)bits - 0x1p52) + 0.5) * 0x1p-32);
    }
}

/* Places and values of those beyond the centre; returns how many. Without branches, which would be
 * predicted badly; up to a vector behind the last one is overwritten. */
static size_t find_tails(const double *u, size_t n, uint32_t *where, double *tail_u)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i += PCAST_LANES) {
        const pcast_vd at = pcast_vd_load(u + i), q = at - 0.5;
        const pcast_vu tail = (pcast_vu)(q < -0.425) | (pcast_vu)(q > 0.425);
#if defined(__AVX512F__)
        const __mmask8 mask = _mm512_movepi64_mask((__m512i)tail);
        const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
        const __m256i places = _mm256_add_epi32(lanes, _mm256_set1_epi32((int)i));
        _mm512_storeu_pd(tail_u + count, _mm512_maskz_compress_pd(mask, (__m512d)at));
        _mm256_storeu_si256((__m256i *)(void *)(where + count),
                            _mm256_maskz_compress_epi32(mask, places));
        count += (size_t)__builtin_popcount(mask);
#else
        const unsigned bits = (unsigned)_mm256_movemask_pd((__m256d)tail);
        for (unsigned lane = 0; lane < PCAST_LANES; lane++) {
            where[count] = (uint32_t)i + lane;
            tail_u[count] = u[i + lane];
            count += bits >> lane & 1;
        }
#endif
    }
    return count;
}

static void quantile_chunk(const uint32_t *words, size_t n, double *out)
{
    double u[CHUNK], x[CHUNK];
    double tail_u[CHUNK + PCAST_LANES], tail_x[CHUNK + PCAST_LANES];
    uint32_t where[CHUNK + PCAST_LANES];
    double *const result = n % PCAST_LANES == 0 ? out : x;
    uniforms(words, n, u);
    center(u, n, result);
    const size_t count = find_tails(u, n, where, tail_u);
    for (size_t i = count; i % PCAST_LANES != 0; i++)
        tail_u[i] = 0.01;
    tails(tail_u, count, tail_x);
    for (size_t i = 0; i < count; i++)
        if (where[i] < n)
            result[where[i]] = tail_x[i];
    if (result != out)
        memcpy(out, x, n * sizeof *out);
}

static void quantiles(const uint32_t *words, size_t n, double *out)
{
    for (size_t first = 0; first < n; first += CHUNK)
        quantile_chunk(words + first, n - first < CHUNK ? n - first : CHUNK, out + first);
}

const pcast_draw_engine PCAST_DRAW_ENGINE = {blocks, quantiles};
