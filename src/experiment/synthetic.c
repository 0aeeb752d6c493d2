/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The paper's experiment. A trial walks its keys block by block and brings every configuration one
 * block further, so that memory stays O(block) and a block of V is read while it is in the cache:
 * once for the exact references (one for each Delta), then once for each group of kernels that
 * visit the same blocks in the same order. */
#include "pcast/experiment.h"

#include "base/bits.h"
#include "base/error.h"
#include "base/fpenv.h"
#include "experiment/parallel.h"
#include "experiment/synthetic_draws.h"
#include "measure/loss.h"
#include "measure/reference.h"
#include "softmax/row.h"
#include "softmax/scores.h"

#include <math.h>
#include <stdlib.h>

/* Trials between two reductions, for each thread: bounds the memory for losses not yet reduced. */
enum { TRIALS_PER_THREAD = 16, REFERENCE_BLOCK = 128 };

/* V of a block as kernels read it that multiply codes; NULL where there is none. */
typedef struct value_codes {
    uint8_t *codes; /* [block][dim] */
    float *rounded; /* their values */
    int filled;     /* for the current visit */
} value_codes;

/* Rows whose P.V waits to be multiplied together. */
enum { BATCH = 48 };

typedef struct row_batch {
    size_t count;
    float *o[BATCH], alpha[BATCH];
    const float *p[BATCH];
    float *rows; /* [BATCH][block] their P */
} row_batch;

/* Working memory of one thread. */
typedef struct workspace {
    size_t first_delta, end_delta; /* those of the current piece of work */
    pcast_draws draws;
    pcast_row_scratch scratch;
    float *scores;               /* [block] */
    uint8_t *is_sink;            /* [2][block]: of the first block, of any other */
    pcast_reference *references; /* [deltas] */
    double *reference_o;         /* [deltas][2][dim]: output, lost parts */
    float *kernel_scores;        /* [block] as a kernel reads them */
    value_codes v[2];            /* in E4M3 and E5M2, for kernels that read codes */
    row_batch batch;
    pcast_row *rows;          /* [kernels][deltas] */
    pcast_loss_meter *meters; /* [kernels][deltas] */
    pcast_loss_part *parts;   /* [deltas][splits of each kernel], for the meters */
} workspace;

typedef struct synthetic_run {
    const pcast_synthetic *experiment;
    const pcast_run *run;
    size_t threads;
    size_t groups; /* of Delta, each a piece of work, where there are fewer trials than threads */
    size_t block;  /* largest block of any kernel, at least REFERENCE_BLOCK */
    pcast_plan *plans;       /* [kernels] */
    pcast_loss_units *units; /* [kernels] */
    size_t *front;           /* [kernels] the first that has the same maxima and P before S */
    size_t *first_part;      /* [kernels + 1] where a kernel's parts begin, for one Delta */
    workspace *workspaces;
    pcast_loss *losses; /* [trials of this chunk][kernels][deltas] */
    size_t chunk_first; /* number of this chunk's first trial within the run */
} synthetic_run;

pcast_status pcast_synthetic_check_row(const pcast_kernel *kernel, size_t keys, size_t dim,
                                       size_t sinks, pcast_error *err)
{
    pcast_kernel resolved = *kernel;
    pcast_kernel_resolve(&resolved, dim);
    const size_t block = resolved.block;
    if (keys < 2)
        return pcast_fail(err, PCAST_ERR_VALUE,
                          "n: %zu keys leave no key beside a sink; at least 2", keys);
    if (sinks < 1 || sinks > block)
        return pcast_fail(
            err, PCAST_ERR_VALUE,
            "sinks: %zu is not from 1 to the block size %zu: sinks are the first keys, and "
            "underflow_outside and the theory take them to share one block",
            sinks, block);
    if (sinks >= keys)
        return pcast_fail(err, PCAST_ERR_VALUE, "sinks: %zu of %zu keys leave no other key", sinks,
                          keys);
    if (kernel->mask != PCAST_MASK_NONE || kernel->window_left > 0 || kernel->window_right > 0)
        return pcast_fail(err, PCAST_ERR_VALUE,
                          "mask: a synthetic row is one query that sees every key; only 'none'");
    return PCAST_OK;
}

static pcast_status check(const pcast_synthetic *experiment, const pcast_run *run, pcast_error *err)
{
    if (experiment->dim < 1 || experiment->keys > SIZE_MAX / 64 / experiment->dim)
        return pcast_fail(err, PCAST_ERR_VALUE, "dim: %zu channels for %zu keys is out of range",
                          experiment->dim, experiment->keys);
    const uint64_t most = UINT64_C(1) << 32;
    if (experiment->trials < 1 || experiment->trials > most)
        return pcast_fail(err, PCAST_ERR_VALUE, "trials: %zu is not from 1 to 2^32",
                          experiment->trials);
    if (experiment->first_trial > most - experiment->trials)
        return pcast_fail(err, PCAST_ERR_VALUE, "first_trial: %zu and %zu trials go beyond 2^32",
                          experiment->first_trial, experiment->trials);
    if (!(experiment->sigma >= 0 && experiment->sigma <= 20))
        return pcast_fail(err, PCAST_ERR_VALUE, "sigma: %g is not from 0 to 20", experiment->sigma);
    for (size_t i = 0; i < experiment->delta_count; i++)
        if (!(fabs(experiment->deltas[i]) <= PCAST_DELTA_MAX))
            return pcast_fail(err, PCAST_ERR_VALUE, "delta: %g is not from -%d to %d",
                              experiment->deltas[i], PCAST_DELTA_MAX, PCAST_DELTA_MAX);
    for (size_t i = 0; i < run->kernel_count; i++) {
        const pcast_kernel *kernel = &run->kernels[i];
        pcast_status status = pcast_kernel_validate(kernel, err);
        if (status == PCAST_OK)
            status = pcast_synthetic_check_row(kernel, experiment->keys, experiment->dim,
                                               experiment->sinks, err);
        if (status == PCAST_OK)
            status = pcast_kernel_same_problem(kernel, &run->kernels[0], err);
        if (status != PCAST_OK)
            return status;
    }
    return PCAST_OK;
}

static void workspace_free(workspace *space, size_t configs)
{
    pcast_draws_free(&space->draws);
    pcast_row_scratch_free(&space->scratch);
    free(space->scores);
    free(space->is_sink);
    free(space->references);
    free(space->reference_o);
    free(space->kernel_scores);
    free(space->batch.rows);
    for (int f = 0; f < 2; f++) {
        free(space->v[f].codes);
        free(space->v[f].rounded);
    }
    for (size_t i = 0; space->rows != NULL && i < configs; i++)
        pcast_row_free(&space->rows[i]);
    free(space->rows);
    free(space->meters);
    free(space->parts);
}

static pcast_status init_codes(workspace *space, const synthetic_run *self, pcast_error *err)
{
    const size_t size = self->block * self->experiment->dim;
    for (size_t n = 0; n < self->run->kernel_count; n++) {
        value_codes *v = &space->v[self->plans[n].v_format == PCAST_E5M2];
        if (!self->plans[n].reads_codes || v->codes != NULL)
            continue;
        v->codes = malloc(size);
        v->rounded = malloc(size * sizeof *v->rounded);
        if (v->codes == NULL || v->rounded == NULL)
            return pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for codes of V");
    }
    return PCAST_OK;
}

static pcast_status workspace_init(workspace *space, const synthetic_run *self, pcast_error *err)
{
    const pcast_synthetic *experiment = self->experiment;
    const size_t deltas = experiment->delta_count, dim = experiment->dim;
    const size_t configs = self->run->kernel_count * deltas;
    pcast_status status =
        pcast_draws_init(&space->draws, self->run->cpu, experiment->seed, experiment->draw,
                         experiment->keys, dim, self->block, err);
    if (status == PCAST_OK)
        status = pcast_row_scratch_init(&space->scratch, self->block, dim, err);
    if (status == PCAST_OK)
        status = init_codes(space, self, err);
    if (status != PCAST_OK)
        return status;
    space->scores = calloc(self->block, sizeof *space->scores);
    space->is_sink = calloc(2 * self->block, sizeof *space->is_sink);
    space->references = calloc(deltas, sizeof *space->references);
    space->reference_o = calloc(deltas * 2, dim * sizeof *space->reference_o);
    space->kernel_scores = calloc(self->block, sizeof *space->kernel_scores);
    space->batch.rows = calloc(BATCH * self->block, sizeof *space->batch.rows);
    space->rows = calloc(configs, sizeof *space->rows);
    space->meters = calloc(configs, sizeof *space->meters);
    space->parts = calloc(deltas * self->first_part[self->run->kernel_count], sizeof *space->parts);
    if (space->scores == NULL || space->is_sink == NULL || space->references == NULL ||
        space->reference_o == NULL || space->kernel_scores == NULL || space->batch.rows == NULL ||
        space->rows == NULL || space->meters == NULL || space->parts == NULL)
        return pcast_fail(err, PCAST_ERR_MEMORY,
                          "out of memory for %zu configurations of %zu channels", configs, dim);
    for (size_t i = 0; i < experiment->sinks && i < self->block; i++)
        space->is_sink[i] = 1;
    for (size_t i = 0; status == PCAST_OK && i < configs; i++)
        status =
            pcast_row_init(&space->rows[i], &self->plans[i / deltas], experiment->keys, dim, err);
    return status;
}

static double sigma_of(const pcast_synthetic *experiment)
{
    return experiment->sigma > 0 ? experiment->sigma : 1;
}

/* Scores of the keys of a range: RN32(Delta + sigma*g) for sinks, RN32(sigma*g) for the others. */
static void fill_scores(float *scores, const double *normals, pcast_range range,
                        const pcast_synthetic *experiment, double delta)
{
    const double sigma = sigma_of(experiment);
    for (size_t i = 0; i < range.count; i++) {
        const double score = sigma * normals[i];
        scores[i] = (float)(range.first + i < experiment->sinks ? delta + score : score);
    }
}

/* Exact outputs of the trial, one for each Delta. */
static void compute_references(const synthetic_run *self, workspace *space)
{
    const pcast_synthetic *experiment = self->experiment;
    const pcast_kernel *kernel = &self->run->kernels[0]; /* all solve the same problem */
    const size_t keys = experiment->keys, dim = experiment->dim, sinks = experiment->sinks;
    double sink_max = -INFINITY, other_max = -INFINITY;
    for (size_t first = 0; first < keys; first += REFERENCE_BLOCK) {
        const size_t count = keys - first < REFERENCE_BLOCK ? keys - first : REFERENCE_BLOCK;
        const double *normals = pcast_draws_normals(&space->draws, first, count);
        for (size_t i = 0; i < count; i++) {
            double *max = first + i < sinks ? &sink_max : &other_max;
            *max = normals[i] > *max ? normals[i] : *max;
        }
    }
    for (size_t d = space->first_delta; d < space->end_delta; d++) {
        /* Rounding is monotonic, so the largest score is the rounded largest sum. */
        const double sigma = sigma_of(experiment);
        float top[2] = {(float)(experiment->deltas[d] + sigma * sink_max),
                        (float)(sigma * other_max)};
        pcast_soft_cap(kernel->softcap, top, 2);
        double max = (double)(top[0] > top[1] ? top[0] : top[1]);
        if (kernel->sink_given && (double)kernel->sink_logit > max)
            max = (double)kernel->sink_logit;
        double *o = space->reference_o + d * 2 * dim;
        pcast_reference_start(&space->references[d], pcast_measure_engine_for(self->run->cpu), max,
                              o, o + dim, dim);
        if (kernel->sink_given)
            pcast_reference_add_sink(&space->references[d], (double)kernel->sink_logit);
    }
    for (size_t first = 0; first < keys; first += REFERENCE_BLOCK) {
        const pcast_range range = {first,
                                   keys - first < REFERENCE_BLOCK ? keys - first : REFERENCE_BLOCK};
        const double *normals = pcast_draws_normals(&space->draws, first, range.count);
        const float *values = pcast_draws_values(&space->draws, first, range.count);
        for (size_t d = space->first_delta; d < space->end_delta; d++) {
            fill_scores(space->scores, normals, range, experiment, experiment->deltas[d]);
            pcast_soft_cap(kernel->softcap, space->scores, range.count);
            pcast_reference_add(&space->references[d], space->scores, values, range.count);
        }
    }
    for (size_t d = space->first_delta; d < space->end_delta; d++)
        pcast_reference_finish(&space->references[d]);
}

/* V of the visit as a kernel reads it. */
static pcast_values kernel_values(const synthetic_run *self, workspace *space,
                                  const pcast_plan *plan, const float *values, size_t count)
{
    value_codes *v = &space->v[plan->v_format == PCAST_E5M2];
    if (!plan->reads_codes)
        return (pcast_values){values, NULL};
    if (!v->filled)
        pcast_plan_codes(plan, values, count * self->experiment->dim, v->codes, v->rounded);
    v->filled = 1;
    return (pcast_values){v->rounded, v->codes};
}

static void flush_batch(const synthetic_run *self, workspace *space, const float *values,
                        size_t count)
{
    row_batch *batch = &space->batch;
    self->plans[0].engine->accumulate(batch->o, batch->alpha, batch->p, batch->count, values, count,
                                      self->experiment->dim);
    batch->count = 0;
}

/* One configuration on one visit: its loss, and P.V at once or into the batch. */
static void step_row(const synthetic_run *self, workspace *space, size_t config,
                     const pcast_row *leader, const pcast_visit *visit, const float *scores,
                     const float *values)
{
    pcast_row *row = &space->rows[config];
    const size_t count = visit->range.count;
    const int batched = pcast_row_is_plain(row) && !row->plan->reads_codes && !visit->sums_only;
    row_batch *batch = &space->batch;
    pcast_row_scratch scratch = space->scratch;
    if (batched)
        scratch.p8_value = batch->rows + batch->count * self->block;
    const pcast_tile tile = pcast_row_weigh(row, visit, scores, leader, &scratch);
    if (!visit->sums_only)
        pcast_loss_tile(&space->meters[config], &tile,
                        space->is_sink + (visit->range.first == 0 ? 0 : self->block));
    if (batched) {
        batch->o[batch->count] = row->o;
        batch->alpha[batch->count] = tile.alpha;
        batch->p[batch->count++] = scratch.p8_value;
        if (batch->count == BATCH)
            flush_batch(self, space, values, count);
    } else if (!visit->sums_only) {
        pcast_row_add_values(row, &tile, kernel_values(self, space, row->plan, values, count),
                             &scratch);
    }
}

/* One visit of every configuration in the group of kernel `leader`; those of one front after the
 * first of them, whose maximum and P they share. */
static void step_group(const synthetic_run *self, workspace *space, size_t leader,
                       const pcast_visit *visit)
{
    const pcast_synthetic *experiment = self->experiment;
    const size_t kernels = self->run->kernel_count, deltas = experiment->delta_count;
    const pcast_range range = visit->range;
    const double *normals = pcast_draws_normals(&space->draws, range.first, range.count);
    const float *values = pcast_draws_values(&space->draws, range.first, range.count);
    space->v[0].filled = space->v[1].filled = 0;
    for (size_t d = space->first_delta; d < space->end_delta; d++) {
        fill_scores(space->scores, normals, range, experiment, experiment->deltas[d]);
        for (size_t n = leader; n < kernels; n++) {
            if (self->front[n] != n ||
                !pcast_same_walk(&self->plans[n].kernel, &self->plans[leader].kernel))
                continue;
            const float *scores = pcast_plan_scores(&self->plans[n], space->scores, range.count,
                                                    space->kernel_scores);
            step_row(self, space, n * deltas + d, NULL, visit, scores, values);
            for (size_t k = n + 1; k < kernels; k++)
                if (self->front[k] == n)
                    step_row(self, space, k * deltas + d, &space->rows[n * deltas + d], visit,
                             scores, values);
        }
    }
    flush_batch(self, space, values, range.count);
}

/* Where the parts of a configuration's splits are, and how many. */
static pcast_loss_part *config_parts(const synthetic_run *self, const workspace *space,
                                     size_t config, size_t *splits)
{
    const size_t deltas = self->experiment->delta_count;
    const size_t kernel = config / deltas, delta = config % deltas;
    const size_t *first = self->first_part;
    *splits = first[kernel + 1] - first[kernel];
    return space->parts + delta * first[self->run->kernel_count] + first[kernel];
}

/* Is the configuration part of the current piece of work? */
static int is_ours(const synthetic_run *self, const workspace *space, size_t config)
{
    const size_t delta = config % self->experiment->delta_count;
    return delta >= space->first_delta && delta < space->end_delta;
}

static void start_trial(const synthetic_run *self, workspace *space, size_t trial)
{
    const size_t deltas = self->experiment->delta_count;
    pcast_draws_start_trial(&space->draws, (uint32_t)(self->experiment->first_trial + trial));
    compute_references(self, space);
    for (size_t i = 0; i < self->run->kernel_count * deltas; i++) {
        size_t splits;
        if (!is_ours(self, space, i))
            continue;
        pcast_loss_part *parts = config_parts(self, space, i, &splits);
        pcast_row_start(&space->rows[i]);
        pcast_loss_start(&space->meters[i], &self->units[i / deltas], parts, splits);
    }
}

/* A trial, or some Delta of it. */
static void run_piece(void *context, int thread, size_t piece)
{
    const synthetic_run *self = context;
    const pcast_synthetic *experiment = self->experiment;
    const size_t deltas = experiment->delta_count, keys = experiment->keys;
    const size_t configs = self->run->kernel_count * deltas;
    const size_t trial = piece / self->groups, group = piece % self->groups;
    workspace *space = &self->workspaces[thread];
    space->first_delta = group * deltas / self->groups;
    space->end_delta = (group + 1) * deltas / self->groups;

    start_trial(self, space, trial);
    for (size_t n = 0; n < self->run->kernel_count; n++) {
        size_t leader = 0;
        while (!pcast_same_walk(&self->plans[leader].kernel, &self->plans[n].kernel))
            leader++;
        if (leader != n)
            continue; /* done with its leader */
        pcast_walk walk;
        pcast_visit visit;
        pcast_walk_start(&walk, &self->plans[n].kernel, keys, 0, keys);
        while (pcast_walk_next(&walk, &visit))
            step_group(self, space, n, &visit);
    }
    for (size_t i = 0; i < configs; i++) {
        if (!is_ours(self, space, i))
            continue;
        pcast_row_finish(&space->rows[i], 1);
        self->losses[(trial - self->chunk_first) * configs + i] =
            pcast_loss_finish(&space->meters[i], &space->rows[i], space->references[i % deltas].o);
    }
}

/* All trials, in chunks whose losses are reduced in trial order. */
static pcast_status run_trials(synthetic_run *self, size_t chunk, pcast_tally *tallies)
{
    const size_t trials = self->experiment->trials;
    const size_t configs = self->run->kernel_count * self->experiment->delta_count;
    pcast_run run = *self->run;
    if (self->groups > 1)
        run.progress = NULL; /* it counts trials */
    for (size_t first = 0; first < trials; first += chunk) {
        const size_t count = trials - first < chunk ? trials - first : chunk;
        self->chunk_first = first;
        pcast_parallel(&run, (int)self->threads, first * self->groups, count * self->groups,
                       trials * self->groups, run_piece, self);
        for (size_t t = 0; t < count; t++) {
            const pcast_loss *losses = &self->losses[t * configs];
            for (size_t i = 0; i < configs; i++)
                pcast_tally_add(&tallies[i], &losses[i]);
            if (self->run->each_row == NULL)
                continue;
            const pcast_status status =
                self->run->each_row(self->run->row_context, first + t, losses);
            if (status != PCAST_OK)
                return status;
        }
    }
    return PCAST_OK;
}

/* Plan, units and number of splits of one kernel; scores count as raw ones with a softmax scale of
 * 1. */
static pcast_status init_kernel(synthetic_run *self, size_t n, pcast_error *err)
{
    const pcast_kernel *kernel = &self->run->kernels[n];
    const pcast_head_scales scales = {1, 1, 1, kernel->sink_given, kernel->sink_logit};
    const pcast_status status = pcast_plan_init(&self->plans[n], kernel, self->run->cpu, &scales,
                                                self->experiment->dim, err);
    if (status != PCAST_OK)
        return status;
    pcast_loss_units_init(&self->units[n], kernel, self->run->cpu);
    self->first_part[n + 1] =
        self->first_part[n] + pcast_plan_splits(&self->plans[n], self->experiment->keys);
    if (self->plans[n].kernel.block > self->block)
        self->block = self->plans[n].kernel.block;
    self->front[n] = n;
    for (size_t k = n; k-- > 0;)
        if (pcast_same_walk(&self->plans[k].kernel, &self->plans[n].kernel) &&
            pcast_plan_same_front(&self->plans[k], &self->plans[n]))
            self->front[n] = self->front[k];
    return PCAST_OK;
}

pcast_status pcast_synthetic_run(const pcast_synthetic *experiment, const pcast_run *run,
                                 pcast_summary *summaries, pcast_error *err)
{
    pcast_status status = check(experiment, run, err);
    if (status != PCAST_OK)
        return status;
    const size_t configs = run->kernel_count * experiment->delta_count;
    const size_t deltas = experiment->delta_count > 0 ? experiment->delta_count : 1;
    const size_t threads = (size_t)pcast_thread_count(run, experiment->trials * deltas);
    const size_t wanted = (threads + experiment->trials - 1) / experiment->trials;
    const size_t chunk = threads * TRIALS_PER_THREAD;
    synthetic_run self = {.experiment = experiment,
                          .run = run,
                          .threads = threads,
                          .groups = wanted < deltas ? wanted : deltas,
                          .block = REFERENCE_BLOCK};
    pcast_fpenv env;
    pcast_fpenv_enter(&env);
    self.plans = calloc(run->kernel_count, sizeof *self.plans);
    self.units = calloc(run->kernel_count, sizeof *self.units);
    self.front = calloc(run->kernel_count, sizeof *self.front);
    self.first_part = calloc(run->kernel_count + 1, sizeof *self.first_part);
    self.workspaces = calloc(threads, sizeof *self.workspaces);
    self.losses = calloc(chunk * configs, sizeof *self.losses);
    pcast_tally *tallies = calloc(configs, sizeof *tallies);
    if (self.plans == NULL || self.units == NULL || self.front == NULL || self.first_part == NULL ||
        self.workspaces == NULL || self.losses == NULL || tallies == NULL)
        status = pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for %zu configurations", configs);
    for (size_t n = 0; status == PCAST_OK && n < run->kernel_count; n++)
        status = init_kernel(&self, n, err);
    for (size_t t = 0; status == PCAST_OK && t < threads; t++)
        status = workspace_init(&self.workspaces[t], &self, err);
    if (status == PCAST_OK)
        status = run_trials(&self, chunk, tallies);
    for (size_t i = 0; status == PCAST_OK && i < configs; i++)
        summaries[i] = pcast_tally_summary(&tallies[i]);
    pcast_fpenv_leave(&env);
    for (size_t t = 0; self.workspaces != NULL && t < threads; t++)
        workspace_free(&self.workspaces[t], configs);
    free(self.plans);
    free(self.units);
    free(self.front);
    free(self.first_part);
    free(self.workspaces);
    free(self.losses);
    free(tallies);
    return status;
}
