/* SPDX-License-Identifier: MIT */
/* The exact reference (docs/numerics.md, section 5). */
#include "measure/reference.h"

#include "base/bits.h"
#include "math/math.h"

#include <math.h>

void pcast_reference_start(pcast_reference *reference, double max, double *o, double *o_lost,
                           size_t dim)
{
    *reference = (pcast_reference){.max = max, .dim = dim, .o = o, .o_lost = o_lost};
    for (size_t c = 0; c < dim; c++)
        o[c] = o_lost[c] = 0.0;
}

/* o += w * v, each channel compensated as in pcast_sum_add; written over arrays so that it
 * vectorises. */
static void add_weighted(double *restrict o, double *restrict lost, double w,
                         const float *restrict v, size_t dim)
{
    for (size_t c = 0; c < dim; c++) {
        const double x = w * (double)v[c];
        const double s = o[c] + x;
        const double part = s - o[c];
        lost[c] += (o[c] - (s - part)) + (x - part);
        o[c] = s;
    }
}

void pcast_reference_add(pcast_reference *reference, const float *scores, const float *values,
                         size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const double w = pcast_exp_f64((double)scores[i] - reference->max);
        if (w == 0)
            continue;
        pcast_sum_add(&reference->l, w);
        add_weighted(reference->o, reference->o_lost, w, values + i * reference->dim,
                     reference->dim);
    }
}

void pcast_reference_add_sink(pcast_reference *reference, double logit)
{
    pcast_sum_add(&reference->l, pcast_exp_f64(logit - reference->max));
}

void pcast_reference_finish(pcast_reference *reference)
{
    const double l = reference->l.value + reference->l.lost;
    for (size_t c = 0; c < reference->dim; c++)
        reference->o[c] = (reference->o[c] + reference->o_lost[c]) / l;
}

void pcast_reference_row(pcast_reference *reference, const float *scores, const float *values,
                         size_t count, const float *sink_logit, double *o, size_t dim)
{
    float max = sink_logit != NULL ? *sink_logit : -INFINITY;
    for (size_t i = 0; i < count; i++)
        max = scores[i] > max ? scores[i] : max;
    pcast_reference_start(reference, (double)max, o, o + dim, dim);
    if (sink_logit != NULL)
        pcast_reference_add_sink(reference, (double)*sink_logit);
    pcast_reference_add(reference, scores, values, count);
    pcast_reference_finish(reference);
}
