/* SPDX-License-Identifier: MIT */
/* The exact reference (docs/numerics.md, section 5). */
#include "measure/reference.h"

#include "base/bits.h"
#include "math/math.h"

#include <math.h>

/* Keys whose weights are worked out at once. */
enum { KEYS = 128 };

void pcast_reference_start(pcast_reference *reference, const pcast_measure_engine *engine,
                           double max, double *o, double *o_lost, size_t dim)
{
    *reference =
        (pcast_reference){.engine = engine, .max = max, .dim = dim, .o = o, .o_lost = o_lost};
    for (size_t c = 0; c < dim; c++)
        o[c] = o_lost[c] = 0.0;
}

void pcast_reference_add(pcast_reference *reference, const float *scores, const float *values,
                         size_t count)
{
    double w[KEYS];
    for (size_t first = 0; first < count; first += KEYS) {
        const size_t n = count - first < KEYS ? count - first : KEYS;
        reference->engine->weights(scores + first, reference->max, w, n);
        for (size_t i = 0; i < n; i++)
            if (w[i] != 0)
                pcast_sum_add(&reference->l, w[i]);
        reference->engine->reference(reference->o, reference->o_lost, w,
                                     values + first * reference->dim, n, reference->dim);
    }
}

void pcast_reference_add_sink(pcast_reference *reference, double logit)
{
    pcast_sum_add(&reference->l, pcast_exp_f64(logit - reference->max));
}

/* sum = a * sum + b * other */
static void merge_sum(pcast_sum *sum, double a, pcast_sum other, double b)
{
    *sum = (pcast_sum){a * sum->value, a * sum->lost};
    pcast_sum_add(sum, b * other.value);
    sum->lost += b * other.lost;
}

void pcast_reference_merge(pcast_reference *reference, const pcast_reference *other)
{
    const double max = reference->max > other->max ? reference->max : other->max;
    const double a = pcast_exp_f64(reference->max - max), b = pcast_exp_f64(other->max - max);
    reference->max = max;
    merge_sum(&reference->l, a, other->l, b);
    for (size_t c = 0; c < reference->dim; c++) {
        pcast_sum sum = {reference->o[c], reference->o_lost[c]};
        merge_sum(&sum, a, (pcast_sum){other->o[c], other->o_lost[c]}, b);
        reference->o[c] = sum.value;
        reference->o_lost[c] = sum.lost;
    }
}

void pcast_reference_finish(pcast_reference *reference)
{
    const double l = reference->l.value + reference->l.lost;
    for (size_t c = 0; c < reference->dim; c++)
        reference->o[c] = (reference->o[c] + reference->o_lost[c]) / l;
}

void pcast_reference_row(pcast_reference *reference, const pcast_measure_engine *engine,
                         const float *scores, const float *values, size_t count,
                         const float *sink_logit, double *o, size_t dim)
{
    float max = sink_logit != NULL ? *sink_logit : -INFINITY;
    for (size_t i = 0; i < count; i++)
        max = scores[i] > max ? scores[i] : max;
    pcast_reference_start(reference, engine, (double)max, o, o + dim, dim);
    if (sink_logit != NULL)
        pcast_reference_add_sink(reference, (double)*sink_logit);
    pcast_reference_add(reference, scores, values, count);
    pcast_reference_finish(reference);
}
