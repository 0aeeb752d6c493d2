/* SPDX-License-Identifier: MIT */
/* Normalisation, merging and rounding of results. */
#include "softmax/epilogue.h"

#include "base/bits.h"
#include "base/seeded.h"
#include "math/constants.h"
#include "math/strict.h"
#include "softmax/units.h"

#include <math.h>

float pcast_split_lse(const pcast_plan *plan, float m, float l)
{
    const float bare = l / plan->inside;
    return plan->base2 ? fmaf(m, plan->c, pcast_unit_log2(plan, bare))
                       : m + pcast_unit_log(plan, bare);
}

float pcast_sink_lse(const pcast_plan *plan)
{
    if (!plan->sink_given)
        return -INFINITY;
    return plan->base2 ? plan->sink_nats * PCAST_LOG2_E_F32 : plan->sink_nats;
}

void pcast_normalise_output(const pcast_plan *plan, const float *o, float l, float *out, size_t dim)
{
    const pcast_kernel *kernel = &plan->kernel;
    const float undo = kernel->sum_scale == PCAST_SUM_SCALE_IN ? 1.0f : kernel->scale;
    const float g = plan->v_descale / undo;
    if (kernel->masked_rows == PCAST_MASKED_ROWS_ZERO && (l == 0 || l != l)) {
        for (size_t c = 0; c < dim; c++)
            out[c] = o[c] * 0.0f;
        return;
    }
    const float divisor = undo * l, inverse = pcast_unit_reciprocal(plan, l);
    switch (kernel->epilogue) {
    case PCAST_EPILOGUE_DIVIDE:
        for (size_t c = 0; c < dim; c++)
            out[c] = pcast_unit_quotient(plan, o[c], divisor) * plan->v_descale;
        break;
    case PCAST_EPILOGUE_RECIPROCAL:
        for (size_t c = 0; c < dim; c++)
            out[c] = o[c] * (inverse * g);
        break;
    case PCAST_EPILOGUE_QUOTIENT:
        for (size_t c = 0; c < dim; c++)
            out[c] = o[c] * pcast_unit_quotient(plan, g, l);
        break;
    case PCAST_EPILOGUE_TWO_STEP:
        for (size_t c = 0; c < dim; c++)
            out[c] = o[c] * inverse * g;
        break;
    }
}

/* A slip in the weights of splits, of which it returns the sum. */
static float weigh_wrongly(pcast_row *row, float sum)
{
    if (!PCAST_SEEDED(SPLITS_UNWEIGHTED) && !PCAST_SEEDED(SPLITS_BY_SUM) &&
        !PCAST_SEEDED(SPLITS_FIRST))
        return sum;
    float total = 0.0f;
    for (size_t s = 0; s < row->split_count; s++) {
        const float wrong = PCAST_SEEDED(SPLITS_BY_SUM)               ? row->splits[s].l
                            : PCAST_SEEDED(SPLITS_FIRST) && total > 0 ? 0.0f
                                                                      : 1.0f;
        row->splits[s].weight = row->splits[s].lse == -INFINITY ? 0.0f : wrong;
        total = total + row->splits[s].weight;
    }
    return total;
}

float pcast_merge_splits(pcast_row *row)
{
    const pcast_plan *plan = row->plan;
    const int base2 = plan->base2;
    float max = -INFINITY, sum = 0.0f;
    for (size_t s = 0; s < row->split_count; s++)
        max = row->splits[s].lse > max || row->splits[s].lse != row->splits[s].lse
                  ? row->splits[s].lse
                  : max;
    for (size_t s = 0; s < row->split_count; s++) {
        const float lag = row->splits[s].lse - (max == -INFINITY ? 0.0f : max);
        row->splits[s].weight = base2 ? pcast_unit_exp2(plan, lag) : pcast_unit_exp(plan, lag);
        sum = sum + row->splits[s].weight;
    }
    const float total = weigh_wrongly(row, sum);
    for (size_t c = 0; c < row->dim; c++)
        row->o[c] = 0.0f;
    for (size_t s = 0; s < row->split_count; s++) {
        if (row->splits[s].lse == -INFINITY)
            continue; /* no key: its partial counts for nothing, whatever it holds */
        row->splits[s].weight = pcast_unit_quotient(plan, row->splits[s].weight, total);
        const float *partial = row->partials + s * row->dim;
        for (size_t c = 0; c < row->dim; c++)
            row->o[c] = fmaf(row->splits[s].weight, partial[c], row->o[c]);
    }
    return max == -INFINITY
               ? max
               : max + (base2 ? pcast_unit_log2(plan, sum) : pcast_unit_log(plan, sum));
}

void pcast_round_output(pcast_output format, float *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        values[i] = pcast_plain_nan(values[i]);
    if (format == PCAST_OUTPUT_F32)
        return;
    const pcast_format to = format == PCAST_OUTPUT_BF16 ? PCAST_BF16 : PCAST_F16;
    for (size_t i = 0; i < count; i++)
        values[i] = pcast_round_through(to, (double)values[i]);
}

float pcast_returned_lse(const pcast_plan *plan, float lse)
{
    if (plan->base2 && plan->kernel.lse != PCAST_LSE_BASE_2)
        return lse * PCAST_LN2_F32;
    if (!plan->base2 && plan->kernel.lse == PCAST_LSE_BASE_2)
        return lse * PCAST_LOG2_E_F32;
    return lse;
}
