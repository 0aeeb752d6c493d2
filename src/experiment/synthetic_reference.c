/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scores and exact references of a synthetic trial. Delta moves the sinks alone, so the sums over
 * all other keys, by far the most, are made once for all Delta (docs/numerics.md, section 5). */
#include "experiment/synthetic_trial.h"

#include "base/bits.h"
#include "softmax/scores.h"

#include <math.h>

static double sigma_of(const pcast_synthetic *experiment)
{
    return experiment->sigma > 0 ? experiment->sigma : 1;
}

void pcast_fill_scores(float *scores, const double *normals, pcast_range range,
                       const pcast_synthetic *experiment, double delta)
{
    const double sigma = sigma_of(experiment);
    for (size_t i = 0; i < range.count; i++) {
        const double score = sigma * normals[i];
        scores[i] = (float)(range.first + i < experiment->sinks ? delta + score : score);
    }
}

/* Keys of a trial, a block at a time: those before `end`, from `first` on. */
static pcast_range next_block(size_t first, size_t end)
{
    const size_t left = end - first;
    return (pcast_range){first, left < PCAST_REFERENCE_BLOCK ? left : PCAST_REFERENCE_BLOCK};
}

/* Rounding and soft-capping are monotonic, so the largest score comes of the largest normal. */
static double largest_score(const pcast_synthetic_state *self, pcast_workspace *space,
                            pcast_range keys, double delta)
{
    double max = -INFINITY;
    if (keys.count == 0)
        return max;
    for (size_t first = keys.first; first < keys.first + keys.count;) {
        const pcast_range range = next_block(first, keys.first + keys.count);
        const double *normals = pcast_draws_normals(&space->draws, range.first, range.count);
        for (size_t i = 0; i < range.count; i++)
            max = normals[i] > max ? normals[i] : max;
        first += range.count;
    }
    float score;
    pcast_fill_scores(&score, &max, (pcast_range){keys.first, 1}, self->experiment, delta);
    pcast_soft_cap(self->run->kernels[0].softcap, &score, 1);
    return (double)score;
}

static void add_keys(const pcast_synthetic_state *self, pcast_workspace *space,
                     pcast_reference *reference, pcast_range keys, double delta)
{
    for (size_t first = keys.first; first < keys.first + keys.count;) {
        const pcast_range range = next_block(first, keys.first + keys.count);
        const double *normals = pcast_draws_normals(&space->draws, range.first, range.count);
        const float *values = pcast_draws_values(&space->draws, range.first, range.count);
        pcast_fill_scores(space->scores, normals, range, self->experiment, delta);
        pcast_soft_cap(self->run->kernels[0].softcap, space->scores, range.count);
        pcast_reference_add(reference, space->scores, values, range.count);
        first += range.count;
    }
}

void pcast_compute_references(const pcast_synthetic_state *self, pcast_workspace *space)
{
    const pcast_synthetic *experiment = self->experiment;
    const pcast_measure_engine *engine = pcast_measure_engine_for(self->run->cpu);
    const pcast_kernel *kernel = &self->run->kernels[0]; /* all solve the same problem */
    const size_t dim = experiment->dim, deltas = experiment->delta_count;
    const pcast_range sinks = {0, experiment->sinks};
    const pcast_range others = {sinks.count, experiment->keys - sinks.count};

    pcast_reference rest;
    double *rest_o = space->reference_o + deltas * 2 * dim;
    pcast_reference_start(&rest, engine, largest_score(self, space, others, 0), rest_o,
                          rest_o + dim, dim);
    add_keys(self, space, &rest, others, 0);
    for (size_t d = space->first_delta; d < space->end_delta; d++) {
        pcast_reference *reference = &space->references[d];
        const double delta = experiment->deltas[d], logit = (double)kernel->sink_logit;
        double max = largest_score(self, space, sinks, delta);
        if (kernel->sink_given && logit > max)
            max = logit;
        double *o = space->reference_o + d * 2 * dim;
        pcast_reference_start(reference, engine, max, o, o + dim, dim);
        if (kernel->sink_given)
            pcast_reference_add_sink(reference, logit);
        add_keys(self, space, reference, sinks, delta);
        pcast_reference_merge(reference, &rest);
        pcast_reference_finish(reference);
    }
}
