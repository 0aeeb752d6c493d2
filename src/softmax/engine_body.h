/* SPDX-License-Identifier: MIT */
/* The engine's source (docs/numerics.md, steps 1.1, 4.1, 4.4, 4.6), compiled once per instruction
 * set: the including file names the table by PCAST_ENGINE. fmaf is one IEEE operation wherever it
 * is compiled: an instruction where the target has it, the C library's exact function elsewhere. */
#include "softmax/engine.h"

#include "base/bits.h"
#include "math/math.h"
#include "softmax/lanes.h"

#include <math.h>

enum { LANES = PCAST_SUM_LANES, CHANNELS = 32 };

static float dot(const float *a, const float *b, size_t n)
{
    return pcast_lanes_dot(a, b, n);
}

static float sum(const float *x, size_t n)
{
    float lane[LANES] = {0};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (size_t j = 0; j < LANES; j++)
            lane[j] += x[i + j];
    for (size_t j = 0; i + j < n; j++)
        lane[j] += x[i + j];
    return pcast_lanes_tree(lane);
}

static float maximum(float m, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        m = x[i] > m ? x[i] : m;
    return m;
}

/* Channels from `first` on of one row. */
static void accumulate_channels(float *o, float alpha, const float *p, const float *v, size_t count,
                                size_t dim, size_t first)
{
    size_t c = first;
    for (; c + CHANNELS <= dim; c += CHANNELS) {
        float acc[CHANNELS];
        for (size_t j = 0; j < CHANNELS; j++)
            acc[j] = alpha * o[c + j];
        for (size_t key = 0; key < count; key++) {
            const float *row = v + key * dim + c;
            for (size_t j = 0; j < CHANNELS; j++)
                acc[j] = fmaf(p[key], row[j], acc[j]);
        }
        memcpy(o + c, acc, sizeof acc);
    }
    for (; c < dim; c++) {
        float acc = alpha * o[c];
        for (size_t key = 0; key < count; key++)
            acc = fmaf(p[key], v[key * dim + c], acc);
        o[c] = acc;
    }
}

#if defined(PCAST_ENGINE_SIMD)
#include "softmax/engine_simd.h"
#else
static void exponentials(float *x, size_t n, int base2)
{
    for (size_t i = 0; i < n; i++)
        x[i] = base2 ? pcast_exp2_f32(x[i]) : pcast_exp_f32(x[i]);
}

static void accumulate(float *const *o, const float *alpha, const float *const *p, size_t rows,
                       const float *v, size_t count, size_t dim)
{
    for (size_t r = 0; r < rows; r++)
        accumulate_channels(o[r], alpha[r], p[r], v, count, dim, 0);
}
#endif

const pcast_engine PCAST_ENGINE = {dot, sum, maximum, accumulate, exponentials};
