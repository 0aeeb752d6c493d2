/* SPDX-License-Identifier: MIT */
/* The steps of docs/numerics.md, section 4, that concern single numbers: of a row, a key or a
 * channel. Compiled for the CPU and for the device; a * b + c is two roundings, fmaf one. */
#ifndef PCAST_SOFTMAX_STEPS_H
#define PCAST_SOFTMAX_STEPS_H

#include "base/bits.h"
#include "math/constants.h"
#include "math/math.h"
#include "math/strict.h"
#include "softmax/plan.h"
#include "softmax/units.h"

#include <math.h>

/* What a finished split leaves. */
typedef struct pcast_split {
    float l;      /* its row sum */
    float lse;    /* of its keys, in the base of the kernel's exponential; -Inf for none */
    float weight; /* its share of the row, once the row is finished */
} pcast_split;

/* 4.0: a product of Q and K as the score that the row works on. */
PCAST_INLINE float pcast_plan_score(const pcast_plan *plan, float product)
{
    const float scale = plan->score_scale, cap = plan->kernel.softcap;
    if (plan->kernel.max_over == PCAST_MAX_OVER_RAW)
        return cap == 0 ? product : pcast_tanh_f32(product * (scale / cap));
    const float z = product * scale;
    return cap > 0 ? cap * pcast_tanh_f32(z / cap) : z;
}

/* 4.1: the running maximum, from the one before and the largest of it and the scores. */
PCAST_INLINE float pcast_plan_max(const pcast_plan *plan, float m, float candidate)
{
    const pcast_kernel *kernel = &plan->kernel;
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

/* 4.2: the bias of a running maximum. */
PCAST_INLINE float pcast_plan_bias(const pcast_plan *plan, float m)
{
    if (m == -INFINITY && plan->kernel.empty_max != PCAST_EMPTY_MAX_UNGUARDED)
        return 0.0f;
    if (!plan->base2)
        return m - plan->offset;
    if (plan->kernel.bias == PCAST_BIAS_FMA)
        return fmaf(m, plan->c, -plan->offset);
    return m * plan->c - plan->offset;
}

/* 4.2: alpha for a maximum that went from `before` to `after`. */
PCAST_INLINE float pcast_plan_alpha(const pcast_plan *plan, float before, float after)
{
    if (after == before && after != -INFINITY)
        return 1.0f;
    const int guarded = after == -INFINITY && plan->kernel.empty_max != PCAST_EMPTY_MAX_UNGUARDED;
    const float difference = before - (guarded ? 0.0f : after);
    if (!plan->base2 || plan->kernel.correction == PCAST_CORRECTION_NATURAL)
        return pcast_unit_exp(plan, difference);
    if (plan->kernel.correction == PCAST_CORRECTION_DIFFERENCE)
        return pcast_unit_exp2(plan, difference * plan->c);
    const float from = before == -INFINITY ? before : pcast_plan_bias(plan, before);
    return pcast_unit_exp2(plan, from - pcast_plan_bias(plan, after));
}

/* 4.3: does a block count for nothing? A guarded kernel lets it while its maximum is a finite
 * sentinel. */
PCAST_INLINE int pcast_plan_is_empty(const pcast_plan *plan, float m)
{
    return m == plan->mask_value && isfinite(m) &&
           plan->kernel.masked_rows == PCAST_MASKED_ROWS_ZERO;
}

/* 4.3: what the exponential is of, under the bias b. */
PCAST_INLINE float pcast_plan_exponent(const pcast_plan *plan, float score, float b)
{
    switch (plan->kernel.exponent) {
    case PCAST_EXPONENT_EXP2_FMA:
        return fmaf(score, plan->c, -b);
    case PCAST_EXPONENT_EXP2_MUL:
        return score * plan->c - b;
    case PCAST_EXPONENT_EXP2_FMA_RZ:
        return pcast_fma_rz_f32(score, plan->c, -b);
    default:
        return score - b;
    }
}

/* 4.7: what a learned sink adds to the row sum under the running maximum m. */
PCAST_INLINE float pcast_plan_sink_weight(const pcast_plan *plan, float m)
{
    const float b = pcast_plan_bias(plan, m);
    const float inside = plan->kernel.scale_at == PCAST_SCALE_AT_MULTIPLY ? plan->inside : 1.0f;
    if (!plan->base2)
        return pcast_unit_exp(plan, plan->sink_nats - b) * inside;
    if (plan->kernel.correction == PCAST_CORRECTION_NATURAL)
        return pcast_unit_exp(plan, plan->sink_nats - m) * plan->inside;
    return pcast_unit_exp2(plan, plan->sink_nats * PCAST_LOG2_E_F32 - b) * inside;
}

/* 4.7: the sink in the denominator of a split whose sum is done. */
PCAST_INLINE void pcast_plan_add_sink(const pcast_plan *plan, float *m, float *l)
{
    if (*m == -INFINITY) {
        *m = plan->sink_score;
        *l = plan->inside;
    } else {
        *l = *l + pcast_plan_sink_weight(plan, *m);
    }
}

/* 4.8: a split's numbers that all channels share. */
typedef struct pcast_divider {
    int zero;
    float g, divisor, inverse, quotient;
} pcast_divider;

PCAST_INLINE pcast_divider pcast_plan_divider(const pcast_plan *plan, float l)
{
    const pcast_kernel *kernel = &plan->kernel;
    const float undo = kernel->sum_scale == PCAST_SUM_SCALE_IN ? 1.0f : kernel->scale;
    pcast_divider divider;
    divider.zero = kernel->masked_rows == PCAST_MASKED_ROWS_ZERO && (l == 0 || l != l);
    divider.g = plan->v_descale / undo;
    divider.divisor = undo * l;
    divider.inverse = pcast_unit_reciprocal(plan, l);
    divider.quotient = pcast_unit_quotient(plan, divider.g, l);
    return divider;
}

/* 4.8: one channel, divided by the row sum. */
PCAST_INLINE float pcast_plan_divide(const pcast_plan *plan, const pcast_divider *divider, float o)
{
    if (divider->zero)
        return o * 0.0f;
    switch (plan->kernel.epilogue) {
    case PCAST_EPILOGUE_RECIPROCAL:
        return o * (divider->inverse * divider->g);
    case PCAST_EPILOGUE_QUOTIENT:
        return o * divider->quotient;
    case PCAST_EPILOGUE_TWO_STEP:
        return o * divider->inverse * divider->g;
    default:
        return pcast_unit_quotient(plan, o, divider->divisor) * plan->v_descale;
    }
}

/* 4.8: log-sum-exp under maximum m and row sum l, in the base of the kernel's exponential. */
PCAST_INLINE float pcast_plan_lse(const pcast_plan *plan, float m, float l)
{
    const float bare = l / plan->inside;
    return plan->base2 ? fmaf(m, plan->c, pcast_unit_log2(plan, bare))
                       : m + pcast_unit_log(plan, bare);
}

/* 4.9: the log-sum-exp of nothing but the learned sink, -Inf without one; in the same base. */
PCAST_INLINE float pcast_plan_sink_lse(const pcast_plan *plan)
{
    if (!plan->sink_given)
        return -INFINITY;
    return plan->base2 ? plan->sink_nats * PCAST_LOG2_E_F32 : plan->sink_nats;
}

/* 4.9: weights of splits under the largest log-sum-exp, before they are divided by their sum, which
 * is returned. */
PCAST_INLINE float pcast_plan_weigh_splits(const pcast_plan *plan, pcast_split *splits,
                                           size_t count, float *max)
{
    float sum = 0.0f;
    *max = -INFINITY;
    for (size_t s = 0; s < count; s++)
        *max = splits[s].lse > *max || splits[s].lse != splits[s].lse ? splits[s].lse : *max;
    for (size_t s = 0; s < count; s++) {
        const float lag = splits[s].lse - (*max == -INFINITY ? 0.0f : *max);
        splits[s].weight = plan->base2 ? pcast_unit_exp2(plan, lag) : pcast_unit_exp(plan, lag);
        sum = sum + splits[s].weight;
    }
    return sum;
}

/* 4.9: the log-sum-exp of all splits, from the largest and the sum of weights. */
PCAST_INLINE float pcast_plan_merged_lse(const pcast_plan *plan, float max, float sum)
{
    if (max == -INFINITY)
        return max;
    return max + (plan->base2 ? pcast_unit_log2(plan, sum) : pcast_unit_log(plan, sum));
}

/* 4.10: a result in its format. */
PCAST_INLINE float pcast_round_result(pcast_output format, float x)
{
    x = pcast_plain_nan(x);
    if (format == PCAST_OUTPUT_F32)
        return x;
    return pcast_round_through(format == PCAST_OUTPUT_BF16 ? PCAST_BF16 : PCAST_F16, (double)x);
}

/* 4.10: a log-sum-exp from the base of the kernel's exponential to the one it returns. */
PCAST_INLINE float pcast_plan_returned_lse(const pcast_plan *plan, float lse)
{
    if (plan->base2 && plan->kernel.lse != PCAST_LSE_BASE_2)
        return lse * PCAST_LN2_F32;
    if (!plan->base2 && plan->kernel.lse == PCAST_LSE_BASE_2)
        return lse * PCAST_LOG2_E_F32;
    return lse;
}

#endif
