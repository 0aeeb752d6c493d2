/* SPDX-License-Identifier: MIT */
/* The inner loops of the online softmax as a table of functions, one table per CPU level. Each
 * function performs the reference's operations in the reference's order for every element, so all
 * tables give the same bits. */
#ifndef PCAST_SOFTMAX_ENGINE_H
#define PCAST_SOFTMAX_ENGINE_H

#include "pcast/cpu.h"

#include <stddef.h>

typedef struct pcast_engine {
    /* Dot product over n channels: 16 lanes, element i by fma into lane i mod 16 in index order,
     * then the tree 8, 4, 2, 1. */
    float (*dot)(const float *a, const float *b, size_t n);
    /* Sum of n numbers, lanes and tree as in dot, with additions. */
    float (*sum)(const float *x, size_t n);
    /* The larger of m and the largest of n numbers, compared in index order; NaN is passed over. */
    float (*max)(float m, const float *x, size_t n);
    /* For each row r: o[r][c] = alpha[r] * o[r][c]; then for each key in ascending order
     * o[r][c] = fma(p[r][key], v[key][c], o[r][c]). Rows do not overlap. */
    void (*accumulate)(float *const *o, const float *alpha, const float *const *p, size_t rows,
                       const float *v, size_t count, size_t dim);
    /* x[i] = exp(x[i]), with base2 exp2(x[i]): those of math.h. */
    void (*exponentials)(float *x, size_t n, int base2);
} pcast_engine;

/* The fastest engine at or below the level. */
const pcast_engine *pcast_engine_for(pcast_cpu level);

extern const pcast_engine pcast_engine_scalar;
extern const pcast_engine pcast_engine_avx2;
extern const pcast_engine pcast_engine_avx512;

#endif
