/* SPDX-License-Identifier: MIT */
/* The loops that compilers do not vectorise by themselves, on the vectors of one CPU level. */
#ifndef PCAST_SOFTMAX_ENGINE_SIMD_H
#define PCAST_SOFTMAX_ENGINE_SIMD_H

#include "base/vector.h"
#include "math/exp_vector.h"

/* Rows and vectors of channels held in registers at once. */
#if defined(__AVX512F__)
enum { ROWS = 6, VECTORS = 4 };
#else
enum { ROWS = 4, VECTORS = 2 };
#endif

static void exponentials(float *x, size_t n, int base2)
{
    size_t i = 0;
    for (; i + PCAST_LANES <= n; i += PCAST_LANES) {
        const pcast_vf in = pcast_vf_load(x + i);
        const pcast_vf y = base2 ? pcast_exp_f32_vector(in, 1) : pcast_exp_f32_vector(in, 0);
        memcpy(x + i, &y, sizeof y);
    }
    if (i < n) {
        pcast_vf in = {0};
        memcpy(&in, x + i, (n - i) * sizeof *x);
        const pcast_vf y = pcast_exp_f32_vector(in, base2);
        memcpy(x + i, &y, (n - i) * sizeof *x);
    }
}

/* `rows` of at most ROWS rows; channels c .. c + VECTORS * PCAST_WIDE_LANES - 1. */
static inline void product_tile(float *const *o, const float *alpha, const float *const *p,
                                const int rows, const float *v, size_t count, size_t dim, size_t c)
{
    pcast_wide acc[ROWS][VECTORS];
    for (int r = 0; r < rows; r++)
        for (int k = 0; k < VECTORS; k++) {
            memcpy(&acc[r][k], o[r] + c + k * PCAST_WIDE_LANES, sizeof acc[r][k]);
            acc[r][k] = alpha[r] * acc[r][k];
        }
    for (size_t key = 0; key < count; key++) {
        pcast_wide value[VECTORS];
        memcpy(value, v + key * dim + c, sizeof value);
        for (int r = 0; r < rows; r++) {
            const pcast_wide weight = p[r][key] - (pcast_wide){0};
            for (int k = 0; k < VECTORS; k++)
                acc[r][k] = pcast_wide_fma(weight, value[k], acc[r][k]);
        }
    }
    for (int r = 0; r < rows; r++)
        memcpy(o[r] + c, acc[r], sizeof acc[r]);
}

static void product_rows(float *const *o, const float *alpha, const float *const *p, size_t rows,
                         const float *v, size_t count, size_t dim, size_t c)
{
    for (; rows >= ROWS; rows -= ROWS, o += ROWS, alpha += ROWS, p += ROWS)
        product_tile(o, alpha, p, ROWS, v, count, dim, c);
    switch (rows) {
    case 5:
        product_tile(o, alpha, p, 5, v, count, dim, c);
        break;
    case 4:
        product_tile(o, alpha, p, 4, v, count, dim, c);
        break;
    case 3:
        product_tile(o, alpha, p, 3, v, count, dim, c);
        break;
    case 2:
        product_tile(o, alpha, p, 2, v, count, dim, c);
        break;
    case 1:
        product_tile(o, alpha, p, 1, v, count, dim, c);
        break;
    default:
        break;
    }
}

static void accumulate(float *const *o, const float *alpha, const float *const *p, size_t rows,
                       const float *v, size_t count, size_t dim)
{
    enum { TILE = VECTORS * PCAST_WIDE_LANES };
    size_t c = 0;
    for (; c + TILE <= dim; c += TILE)
        product_rows(o, alpha, p, rows, v, count, dim, c);
    for (size_t r = 0; c < dim && r < rows; r++)
        accumulate_channels(o[r], alpha[r], p[r], v, count, dim, c);
}

#endif
