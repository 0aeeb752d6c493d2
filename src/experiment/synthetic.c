/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The paper's experiment: what it takes, and its trials in chunks whose losses are reduced in trial
 * order. */
#include "pcast/experiment.h"

#include "base/bits.h"
#include "base/error.h"
#include "base/fpenv.h"
#include "experiment/parallel.h"
#include "experiment/synthetic_trial.h"

#include <math.h>
#include <stdlib.h>

/* Trials between two reductions, for each thread: bounds the memory for losses not yet reduced. */
enum { TRIALS_PER_THREAD = 16 };

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
        if (status == PCAST_OK && run->device != NULL && kernel->semantics != PCAST_SEMANTICS_FP32)
            status = pcast_fail(err, PCAST_ERR_VALUE,
                                "semantics: a device runs kernels of FP32 semantics alone");
        if (status == PCAST_OK)
            status = pcast_kernel_same_problem(kernel, &run->kernels[0], err);
        if (status != PCAST_OK)
            return status;
    }
    return PCAST_OK;
}

/* All trials, in chunks whose losses are reduced in trial order. */
static pcast_status run_trials(pcast_synthetic_state *self, size_t chunk, pcast_tally *tallies,
                               pcast_error *err)
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
                       trials * self->groups, pcast_synthetic_piece, self);
        for (size_t t = 0; t < self->threads; t++)
            if (self->workspaces[t].status != PCAST_OK)
                return pcast_fail(err, self->workspaces[t].status, "%s",
                                  self->workspaces[t].error.text);
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
static pcast_status init_kernel(pcast_synthetic_state *self, size_t n, pcast_error *err)
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
    pcast_synthetic_state self = {.experiment = experiment,
                                  .run = run,
                                  .threads = threads,
                                  .groups = wanted < deltas ? wanted : deltas,
                                  .block = PCAST_REFERENCE_BLOCK};
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
        status = pcast_workspace_init(&self.workspaces[t], &self, err);
    if (status == PCAST_OK)
        status = run_trials(&self, chunk, tallies, err);
    for (size_t i = 0; status == PCAST_OK && i < configs; i++)
        summaries[i] = pcast_tally_summary(&tallies[i]);
    pcast_fpenv_leave(&env);
    for (size_t t = 0; self.workspaces != NULL && t < threads; t++)
        pcast_workspace_free(&self.workspaces[t], configs);
    free(self.plans);
    free(self.units);
    free(self.front);
    free(self.first_part);
    free(self.workspaces);
    free(self.losses);
    free(tallies);
    return status;
}
