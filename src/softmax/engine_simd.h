/* SPDX-License-Identifier: MIT */
/* The loops that compilers do not vectorise by themselves, on the vectors of one CPU level. */
#ifndef PCAST_SOFTMAX_ENGINE_SIMD_H
#define PCAST_SOFTMAX_ENGINE_SIMD_H

#include "base/vector.h"
#include "math/exp_vector.h"

/* Rows whose sums are held in registers at once. */

enum { ROWS = 6 };

/* Vectors of channels of few rows, and of a panel of V that stays in the first cache for all
 * rows. */
enum { FEW_VECTORS = 8, PANEL_VECTORS = 4 };

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

/* Channels c .. c + vectors * PCAST_WIDE_LANES - 1 of `rows` rows. Sums stay in registers over all
 * keys; beside them the fewer of weights and values are held, and the others come in turn. */
static inline __attribute__((always_inline)) void
product_tile(float *const *o, const float *alpha, const float *const *p, const int rows,
             const int vectors, const float *v, size_t count, size_t dim, size_t c)
{
    pcast_wide acc[ROWS][FEW_VECTORS];
    PCAST_UNROLLED (r, rows)
        PCAST_UNROLLED (k, vectors)
            acc[r][k] = alpha[r] * pcast_wide_load(o[r] + c + k * PCAST_WIDE_LANES);
    for (size_t key = 0; key < count; key++) {
        const float *const value = v + key * dim + c;
        pcast_wide held[FEW_VECTORS];
        if (rows < vectors) {
            PCAST_UNROLLED (r, rows)
                held[r] = p[r][key] - (pcast_wide){0};
            PCAST_UNROLLED (k, vectors) {
                const pcast_wide here =
                    pcast_wide_hold(pcast_wide_load(value + k * PCAST_WIDE_LANES));
                PCAST_UNROLLED (r, rows)
                    acc[r][k] = pcast_wide_fma(held[r], here, acc[r][k]);
            }
        } else {
            PCAST_UNROLLED (k, vectors)
                held[k] = pcast_wide_load(value + k * PCAST_WIDE_LANES);
            PCAST_UNROLLED (r, rows) {
                const pcast_wide weight = p[r][key] - (pcast_wide){0};
                PCAST_UNROLLED (k, vectors)
                    acc[r][k] = pcast_wide_fma(weight, held[k], acc[r][k]);
            }
        }
    }
    PCAST_UNROLLED (r, rows)
        PCAST_UNROLLED (k, vectors)
            pcast_wide_store(o[r] + c + k * PCAST_WIDE_LANES, acc[r][k]);
}

/* Vectors of a tile of four to six rows, and of up to FEW rows that are all there are: no more sums
 * than there are registers, and at least eight, which hide the latency of an addition where two
 * begin in a cycle. */
#if defined(__AVX512F__)
enum { TILE_VECTORS = 4, FEW = 3 };
#else
enum { TILE_VECTORS = 2, FEW = 1 };
#endif

/* Channels c .. c + vectors * PCAST_WIDE_LANES - 1 of the first rows, at most ROWS; returns how
 * many. */
static inline __attribute__((always_inline)) size_t
product_rows(float *const *o, const float *alpha, const float *const *p, size_t rows,
             const int vectors, const float *v, size_t count, size_t dim, size_t c)
{
    const int narrow = vectors < TILE_VECTORS ? vectors : TILE_VECTORS;
    switch (rows) {
    case 1:
        product_tile(o, alpha, p, 1, vectors, v, count, dim, c);
        return 1;
    case 2:
        product_tile(o, alpha, p, 2, vectors, v, count, dim, c);
        return 2;
    case 3:
        product_tile(o, alpha, p, 3, vectors, v, count, dim, c);
        return 3;
    case 4:
        for (int k = 0; k < vectors; k += narrow)
            product_tile(o, alpha, p, 4, narrow, v, count, dim, c + (size_t)k * PCAST_WIDE_LANES);
        return 4;
    case 5:
        for (int k = 0; k < vectors; k += narrow)
            product_tile(o, alpha, p, 5, narrow, v, count, dim, c + (size_t)k * PCAST_WIDE_LANES);
        return 5;
    default:
        for (int k = 0; k < vectors; k += narrow)
            product_tile(o, alpha, p, ROWS, narrow, v, count, dim,
                         c + (size_t)k * PCAST_WIDE_LANES);
        return ROWS;
    }
}

static inline __attribute__((always_inline)) size_t
product_panels(float *const *o, const float *alpha, const float *const *p, size_t rows,
               const int vectors, const float *v, size_t count, size_t dim, size_t c)
{
    for (; c + (size_t)vectors * PCAST_WIDE_LANES <= dim; c += (size_t)vectors * PCAST_WIDE_LANES)
        for (size_t r = 0; r < rows;)
            r += product_rows(o + r, alpha + r, p + r, rows - r, vectors, v, count, dim, c);
    return c;
}

static void accumulate(float *const *o, const float *alpha, const float *const *p, size_t rows,
                       const float *v, size_t count, size_t dim)
{
    size_t c = 0;
    if (rows <= FEW)
        c = product_panels(o, alpha, p, rows, FEW_VECTORS, v, count, dim, c);
    c = product_panels(o, alpha, p, rows, PANEL_VECTORS, v, count, dim, c);
    c = product_panels(o, alpha, p, rows, 1, v, count, dim, c);
    for (size_t r = 0; c < dim && r < rows; r++)
        accumulate_channels(o[r], alpha[r], p[r], v, count, dim, c);
}

#endif
