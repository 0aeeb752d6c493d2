/* SPDX-License-Identifier: MIT */
/* Maximum, P and row sum of a block of keys: a warp for each row. */
#ifndef PCAST_CUDA_ROW_WEIGH_H
#define PCAST_CUDA_ROW_WEIGH_H

#include "cuda/row_shared.h"
#include "softmax/lanes.h"
#include "softmax/steps.h"

/* The larger of m and the scores, the first of equals, as if compared in order; NaN is passed
 * over. */
PCAST_INLINE float pcast_row_largest(const pcast_block *self, float m, const float *scores,
                                     size_t count)
{
    const unsigned lane = self->thread % PCAST_WARP;
    uint32_t place = 0; /* of the largest, from 1 on; 0: m itself */
    for (size_t i = lane; i < count; i += PCAST_WARP)
        if (scores[i] > m) {
            m = scores[i];
            place = (uint32_t)i + 1;
        }
    for (unsigned apart = PCAST_WARP / 2; apart >= 1; apart /= 2) {
        const float other = pcast_warp_read_f32(self, m, lane ^ apart);
        const uint32_t other_place = pcast_warp_read(self, place, lane ^ apart);
        if (other > m || (other == m && other_place < place)) {
            m = other;
            place = other_place;
        }
    }
    return m;
}

/* Code and value of the cast, by the device's instruction where there is one. */
PCAST_INLINE uint32_t pcast_row_cast(const pcast_plan *plan, float scaled, float *value)
{
    const pcast_format format = plan->kernel.p_format;
    const pcast_cast cast = {plan->kernel.overflow, PCAST_INF_AS_OVERFLOW, PCAST_NAN_CANONICAL};
    const int fp8 = format == PCAST_E4M3 || format == PCAST_E5M2;
    uint32_t code;
    if (format == PCAST_F32)
        code = pcast_bits_f32(pcast_plain_nan(scaled));
    else if (fp8 && plan->kernel.overflow == PCAST_OVERFLOW_SATURATE)
        code = pcast_cast_instruction(format, scaled);
    else
        code = pcast_encode_f32(format, scaled, cast);
    *value = format <= PCAST_E5M2FNUZ ? plan->value[code] : pcast_decode_f32(format, code);
    return code;
}

PCAST_INLINE float pcast_row_summed(const pcast_plan *plan, const float *p, const float *values,
                                    size_t i, int sums_only)
{
    if (!sums_only && plan->kernel.row_sum == PCAST_ROW_SUM_CAST)
        return values[i];
    if (!sums_only && plan->kernel.sum_scale == PCAST_SUM_SCALE_IN)
        return p[i] * plan->after;
    return p[i];
}

/* The row sum after the block, in the reference's 16 lanes or (sum_order=fp64) key by key. */
PCAST_INLINE float pcast_row_block_sum(const pcast_block *self, const pcast_plan *plan,
                                       const float *p, const float *values, size_t count,
                                       int sums_only, float alpha, const pcast_row_state *state,
                                       double *wide_l)
{
    const unsigned lane = self->thread % PCAST_WARP;
    if (plan->kernel.sum_order == PCAST_SUM_ORDER_FP64) {
        double sum = 0;
        for (size_t i = 0; i < count; i++)
            sum += (double)pcast_row_summed(plan, p, values, i, sums_only);
        *wide_l = fma((double)alpha, state->wide_l, sum);
        return (float)*wide_l;
    }
    float sum = 0.0f;
    for (size_t i = lane; lane < PCAST_SUM_LANES && i < count; i += PCAST_SUM_LANES)
        sum += pcast_row_summed(plan, p, values, i, sums_only);
    for (unsigned width = PCAST_SUM_LANES / 2; width >= 1; width /= 2)
        sum += pcast_warp_read_f32(self, sum, (lane + width) % PCAST_WARP);
    sum = pcast_warp_read_f32(self, sum, 0);
    return fmaf(alpha, state->l, sum);
}

PCAST_INLINE float pcast_row_exponential(const pcast_plan *plan, float score, float b)
{
    const float x = pcast_plan_exponent(plan, score, b);
    return plan->base2 ? pcast_unit_exp2(plan, x) : pcast_unit_exp(plan, x);
}

/* Step 4.3 and, but for sums alone, 4.5: this lane's keys of a row. */
PCAST_INLINE void pcast_row_probabilities(const pcast_block *self, const pcast_row_job *job,
                                          const pcast_row_shared *at, const pcast_visit *visit,
                                          size_t row, float m)
{
    const pcast_plan *plan = job->plan;
    const size_t first = row * job->keys + visit->range.first;
    const int divide = plan->kernel.normalise == PCAST_NORMALISE_PARTITION && !visit->sums_only;
    const int empty = pcast_plan_is_empty(plan, m);
    const float b = pcast_plan_bias(plan, m), l = at->states[row].l;
    float *p = at->p + row * plan->kernel.block, *values = at->values + row * plan->kernel.block;
    for (size_t i = self->thread % PCAST_WARP; i < visit->range.count; i += PCAST_WARP) {
        p[i] = empty ? 0.0f : pcast_row_exponential(plan, p[i], b);
        if (divide)
            p[i] = pcast_unit_quotient(plan, p[i], l);
        if (visit->sums_only)
            continue;
        const uint32_t code = pcast_row_cast(plan, p[i] * plan->after, &values[i]);
        if (job->codes != NULL)
            job->codes[first + i] = code;
        if (job->p != NULL)
            job->p[first + i] = p[i];
    }
    pcast_warp_sync(self);
}

/* A visit of one row; its numbers are the same in all lanes. */
PCAST_INLINE void pcast_row_weigh_one(const pcast_block *self, const pcast_row_job *job,
                                      const pcast_row_shared *at, const pcast_visit *visit,
                                      size_t number, size_t row)
{
    const pcast_plan *plan = job->plan;
    const size_t count = visit->range.count, block = plan->kernel.block;
    const int second = plan->kernel.normalise == PCAST_NORMALISE_PARTITION && !visit->sums_only;
    pcast_row_state state = at->states[row];
    const float *p = at->p + row * block, *values = at->values + row * block;
    float m = state.m;
    state.alpha = 1.0f;
    if (!second) {
        m = pcast_plan_max(plan, m, pcast_row_largest(self, m, p, count));
        state.alpha = pcast_plan_alpha(plan, state.m, m);
    }
    pcast_row_probabilities(self, job, at, visit, row, m);
    if (!second)
        state.l = pcast_row_block_sum(self, plan, p, values, count, visit->sums_only, state.alpha,
                                      &state, &state.wide_l);
    state.m = m;
    if (self->thread % PCAST_WARP != 0)
        return;
    at->states[row] = state;
    if (job->trace != NULL) {
        pcast_row_trace *trace = &job->trace[row * job->visit_max + number];
        trace->alpha = state.alpha;
        trace->m = state.m;
        trace->l = state.l;
    }
}

PCAST_INLINE void pcast_row_weigh_group(const pcast_block *self, const pcast_row_job *job,
                                        const pcast_row_shared *at, const pcast_visit *visit,
                                        size_t number)
{
    for (size_t row = self->thread / PCAST_WARP; row < job->rows; row += PCAST_ROW_WARPS)
        pcast_row_weigh_one(self, job, at, visit, number, row);
    pcast_block_sync(self);
}

#endif
