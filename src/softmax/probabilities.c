/* SPDX-License-Identifier: MIT */
/* Maximum, exponentials and cast of one block. */
#include "softmax/probabilities.h"

#include "base/bits.h"
#include "math/strict.h"
#include "softmax/units.h"

#include <math.h>

static const float log2_e = 1.44269502f; /* RN32(log2 e) */

float pcast_next_max(const pcast_plan *plan, float m, const float *scores, size_t count)
{
    const pcast_kernel *kernel = &plan->kernel;
    const float candidate = plan->engine->max(m, scores, count); /* 4.1 */
    if (kernel->rescale_threshold > 0 && m != plan->initial_max) {
        const float lag = (candidate - m) * plan->lag_factor;
        if (kernel->threshold_test == PCAST_THRESHOLD_LT ? lag < kernel->rescale_threshold
                                                         : lag <= kernel->rescale_threshold)
            return m;
    }
    if (candidate == -INFINITY && kernel->empty_max == PCAST_EMPTY_MAX_STORE_ZERO)
        return 0.0f;
    return candidate;
}

float pcast_correction_factor(const pcast_plan *plan, float before, float after)
{
    const int guarded = after == -INFINITY && plan->kernel.empty_max != PCAST_EMPTY_MAX_UNGUARDED;
    const float difference = before - (guarded ? 0.0f : after);
    if (!plan->base2 || plan->kernel.correction == PCAST_CORRECTION_NATURAL)
        return pcast_unit_exp(plan, difference);
    if (plan->kernel.correction == PCAST_CORRECTION_DIFFERENCE)
        return pcast_unit_exp2(plan, difference * plan->c);
    const float from = before == -INFINITY ? before : pcast_plan_bias(plan, before);
    return pcast_unit_exp2(plan, from - pcast_plan_bias(plan, after));
}

void pcast_exponentials(const pcast_plan *plan, float m, const float *scores, size_t count,
                        float *p)
{
    const float b = pcast_plan_bias(plan, m); /* 4.2 */
    const float c = plan->c;
    /* A guarded kernel lets a block count for nothing while its maximum is a finite sentinel. */
    const int empty =
        m == plan->mask_value && isfinite(m) && plan->kernel.masked_rows == PCAST_MASKED_ROWS_ZERO;
    if (empty) {
        memset(p, 0, count * sizeof *p);
        return;
    }
    switch (plan->kernel.exponent) { /* 4.3 */
    case PCAST_EXPONENT_NATURAL:
        for (size_t i = 0; i < count; i++)
            p[i] = scores[i] - b;
        break;
    case PCAST_EXPONENT_EXP2_FMA:
        for (size_t i = 0; i < count; i++)
            p[i] = fmaf(scores[i], c, -b);
        break;
    case PCAST_EXPONENT_EXP2_MUL:
        for (size_t i = 0; i < count; i++)
            p[i] = scores[i] * c - b;
        break;
    case PCAST_EXPONENT_EXP2_FMA_RZ:
        for (size_t i = 0; i < count; i++)
            p[i] = pcast_fma_rz_f32(scores[i], c, -b);
        break;
    }
    pcast_unit_exponentials(plan, p, count);
}

void pcast_cast_row(const pcast_plan *plan, const float *p, size_t count, float *scaled,
                    uint32_t *codes, float *values)
{
    const pcast_format format = plan->kernel.p_format;
    const pcast_cast cast = {.overflow = plan->kernel.overflow};
    const int narrow = pcast_format_width(format) == 8;
    for (size_t i = 0; i < count; i++) {
        scaled[i] = p[i] * plan->after;
        codes[i] = format == PCAST_F32 ? pcast_bits_f32(scaled[i])
                                       : pcast_encode_f32(format, scaled[i], cast); /* 4.5 */
        values[i] = narrow ? plan->value[codes[i]] : pcast_decode_f32(format, codes[i]);
    }
}

float pcast_sink_weight(const pcast_plan *plan, float m)
{
    const float b = pcast_plan_bias(plan, m);
    if (!plan->base2)
        return pcast_unit_exp(plan, plan->sink_nats - b);
    if (plan->kernel.correction == PCAST_CORRECTION_NATURAL)
        return pcast_unit_exp(plan, plan->sink_nats - m);
    return pcast_unit_exp2(plan, plan->sink_nats * log2_e - b);
}
