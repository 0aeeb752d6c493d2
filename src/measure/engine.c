/* SPDX-License-Identifier: MIT */
/* The scalar engine, and the choice of an engine. */
#include "measure/engine_body.h"

#include "base/bits.h"
#include "math/math.h"

static void weights(const float *scores, double max, double *w, size_t n)
{
    for (size_t i = 0; i < n; i++)
        w[i] = pcast_exp_f64((double)scores[i] - max);
}

static void reference(double *o, double *lost, const double *w, const float *v, size_t count,
                      size_t dim)
{
    reference_channels(o, lost, w, v, count, dim, 0);
}

static void loss(const pcast_loss_block *block, pcast_loss_sums *sums)
{
    *sums = (pcast_loss_sums){0};
    loss_keys(block, 0, sums);
}

const pcast_measure_engine pcast_measure_engine_scalar = {weights, reference, loss};

const pcast_measure_engine *pcast_measure_engine_for(pcast_cpu level)
{
#if defined(PCAST_HAVE_AVX2)
    const pcast_cpu here = pcast_cpu_detect();
    if (level >= PCAST_CPU_AVX512 && here >= PCAST_CPU_AVX512)
        return &pcast_measure_engine_avx512;
    if (level >= PCAST_CPU_AVX2 && here >= PCAST_CPU_AVX2)
        return &pcast_measure_engine_avx2;
#endif
    (void)level;
    return &pcast_measure_engine_scalar;
}
