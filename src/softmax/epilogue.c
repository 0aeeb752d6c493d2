/* SPDX-License-Identifier: MIT */
/* Normalisation, merging and rounding of results. */
#include "softmax/epilogue.h"

#include "base/bits.h"
#include "base/seeded.h"
#include "math/constants.h"
#include "math/strict.h"
#include "softmax/units.h"

#include <math.h>

void pcast_normalise_output(const pcast_plan *plan, const float *o, float l, float *out, size_t dim)
{
    const pcast_divider divider = pcast_plan_divider(plan, l);
    for (size_t c = 0; c < dim; c++)
        out[c] = pcast_plan_divide(plan, &divider, o[c]);
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
    float max;
    const float sum = pcast_plan_weigh_splits(plan, row->splits, row->split_count, &max);
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
    return pcast_plan_merged_lse(plan, max, sum);
}

void pcast_round_output(pcast_output format, float *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        values[i] = pcast_round_result(format, values[i]);
}
