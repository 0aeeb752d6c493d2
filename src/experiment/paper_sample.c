/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What each claim of the paper runs, and turning its rows into findings. */
#include "experiment/paper_sample.h"

#include "base/error.h"
#include "random/draws.h"

#include <assert.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

enum { BLOCK = 128 };

#define FORWARD(S)                                                                                 \
    {                                                                                              \
        .order = PCAST_ORDER_FORWARD, .block = BLOCK, .scale = (S)                                 \
    }
#define REVERSE(S)                                                                                 \
    {                                                                                              \
        .order = PCAST_ORDER_REVERSE, .block = BLOCK, .scale = (S)                                 \
    }

const pcast_paper_plan pcast_paper_plans[PCAST_CLAIMS] = {
    {1, 3, 1, {FORWARD(1)}, {5, 6, 7}, {{4096, 8000, 1000}}},
    {2,
     3,
     3,
     {FORWARD(256), FORWARD(1)},
     {5, 6, 7},
     {{4096, 8000, 1000}, {1024, 8000, 500}, {32768, 1000, 100}}},
    {2, 3, 1, {FORWARD(256), FORWARD(448)}, {5, 7, 9}, {{4096, 60000, 15000}}},
    {2, 5, 1, {FORWARD(256), REVERSE(256)}, {3.5, 5, 6, 7, 8}, {{4096, 4000, 500}}},
    {2,
     1,
     3,
     {FORWARD(256), FORWARD(1)},
     {6.5},
     {{1024, 8000, 500}, {4096, 8000, 500}, {16384, 3000, 200}}},
    {1, 4, 1, {REVERSE(256)}, {6, 8, 10, 12}, {{4096, 4000, 250}}},
    {0},
    {1, 1, 1, {FORWARD(1)}, {7}, {{4096, 20000, 3000}}},
};

static size_t trials_of(const pcast_paper *paper, const pcast_paper_shape *run)
{
    return paper->quick ? run->quick_trials : run->trials;
}

uint64_t pcast_paper_seed(uint64_t seed, int index, size_t run_index)
{
    const pcast_stream stream = {seed, (uint32_t)index, PCAST_STREAM_SEEDS};
    uint32_t words[2];
    pcast_draw_words(stream, 4 * run_index, 2, words);
    return (uint64_t)words[1] << 32 | words[0];
}

double pcast_paper_work(const pcast_paper *paper, int index)
{
    const pcast_paper_plan *own = &pcast_paper_plans[index];
    double work = 0;
    for (size_t r = 0; r < own->run_count; r++)
        work += (double)own->runs[r].keys * (double)trials_of(paper, &own->runs[r]);
    /* Drawing a key and the exact references cost about as much as two configurations. */
    return work * (double)(own->kernel_count * own->delta_count + 2);
}

static pcast_status collect(void *context, size_t row, const pcast_loss *losses)
{
    pcast_paper_sample *all = context;
    const size_t configs = all->plan->kernel_count * all->plan->delta_count;
    for (size_t i = 0; i < configs; i++)
        all->losses[row * configs + i] = losses[i];
    return PCAST_OK;
}

pcast_status pcast_paper_run(const pcast_paper *paper, int index, size_t run_index,
                             pcast_paper_sample *all, pcast_error *err)
{
    const pcast_paper_plan *own = &pcast_paper_plans[index];
    const size_t configs = own->kernel_count * own->delta_count;
    *all = (pcast_paper_sample){.plan = own,
                                .keys = own->runs[run_index].keys,
                                .trials = trials_of(paper, &own->runs[run_index])};
    all->losses = malloc(all->trials * configs * sizeof *all->losses);
    for (int i = 0; i < 2; i++)
        all->columns[i] = malloc(all->trials * sizeof *all->columns[i]);
    pcast_summary *summaries = malloc(configs * sizeof *summaries);
    pcast_status status = PCAST_ERR_MEMORY;
    if (all->losses != NULL && all->columns[0] != NULL && all->columns[1] != NULL &&
        summaries != NULL) {
        const pcast_synthetic experiment = {.keys = all->keys,
                                            .dim = 1,
                                            .sinks = PCAST_PAPER_SINKS,
                                            .seed = pcast_paper_seed(paper->seed, index, run_index),
                                            .trials = all->trials,
                                            .deltas = own->deltas,
                                            .delta_count = own->delta_count};
        const pcast_run run = {.kernels = own->kernels,
                               .kernel_count = own->kernel_count,
                               .threads = paper->threads,
                               .cpu = paper->cpu,
                               .progress = paper->progress,
                               .progress_context = paper->progress_context,
                               .each_row = collect,
                               .row_context = all};
        status = pcast_synthetic_run(&experiment, &run, summaries, err);
    } else {
        pcast_fail(err, status, "out of memory for %zu trials", all->trials);
    }
    free(summaries);
    if (status != PCAST_OK)
        pcast_paper_sample_free(all);
    return status;
}

void pcast_paper_sample_free(pcast_paper_sample *all)
{
    free(all->losses);
    free(all->columns[0]);
    free(all->columns[1]);
    *all = (pcast_paper_sample){0};
}

double pcast_error_of(const pcast_loss *loss)
{
    return loss->mse_given_p;
}

double pcast_lost_share(const pcast_loss *loss)
{
    return (double)loss->flushed / (double)loss->other;
}

double pcast_lost_inside(const pcast_loss *loss)
{
    return (double)(loss->flushed - loss->outside_flushed) / (double)(loss->other - loss->outside);
}

double pcast_mass_of(const pcast_loss *loss)
{
    return loss->mass;
}

double pcast_kept_of(const pcast_loss *loss)
{
    return loss->kept;
}

/* Fills one of the sample's two columns. */
static const double *column(pcast_paper_sample *all, int which, size_t kernel, size_t delta,
                            pcast_measure *of)
{
    const size_t deltas = all->plan->delta_count, configs = all->plan->kernel_count * deltas;
    for (size_t t = 0; t < all->trials; t++)
        all->columns[which][t] = of(&all->losses[t * configs + kernel * deltas + delta]);
    return all->columns[which];
}

pcast_theory_row pcast_paper_theory_row(const pcast_kernel *kernel, size_t keys, double delta)
{
    return (pcast_theory_row){
        kernel->order, keys, PCAST_PAPER_SINKS, kernel->block, (double)kernel->scale, delta, 1};
}

void pcast_paper_add(pcast_claim *claim, pcast_finding finding)
{
    assert(claim->count < PCAST_FINDINGS_MAX);
    claim->findings[claim->count++] = finding;
}

void pcast_paper_add_computed(pcast_claim *claim, const char *quantity, size_t keys, double delta,
                              double value)
{
    pcast_paper_add(claim, (pcast_finding){quantity, delta, keys, PCAST_FINDING_COMPUTED, 0, value,
                                           value, value, GSL_NAN});
}

void pcast_paper_add_mean(pcast_claim *claim, pcast_paper_sample *all, size_t delta,
                          pcast_measure *of, double theory, const char *quantity)
{
    const double *values = column(all, 0, 0, delta, of);
    const double n = (double)all->trials, mean = gsl_stats_mean(values, 1, all->trials);
    const double reach =
        gsl_cdf_tdist_Qinv(0.025, n - 1) * gsl_stats_sd(values, 1, all->trials) / sqrt(n);
    pcast_finding finding = {.quantity = quantity,
                             .delta = all->plan->deltas[delta],
                             .keys = all->keys,
                             .trials = all->trials,
                             .value = mean,
                             .low = GSL_MAX(mean - reach, 0),
                             .high = GSL_MIN(mean + reach, 1),
                             .theory = theory};
    if (mean == 0) { /* a larger share of such trials would have shown one, and each counts <= 1 */
        finding.kind = PCAST_FINDING_LIMIT;
        finding.high = 1 - pow(0.05, 1 / n);
    }
    pcast_paper_add(claim, finding);
}

pcast_paired pcast_paper_compare(pcast_paper_sample *all, size_t kernel_a, pcast_measure *of_a,
                                 size_t kernel_b, pcast_measure *of_b, size_t delta)
{
    return pcast_paired_compare(column(all, 0, kernel_a, delta, of_a),
                                column(all, 1, kernel_b, delta, of_b), all->trials, 0.95, 0.01,
                                0.01);
}

static const char mse_ratio[] = "MSE ratio";

static double expected_ratio(const pcast_paper_plan *plan, size_t keys, double delta)
{
    const pcast_theory_row a = pcast_paper_theory_row(&plan->kernels[0], keys, delta),
                           b = pcast_paper_theory_row(&plan->kernels[1], keys, delta);
    return pcast_theory_mse(&b) / pcast_theory_mse(&a);
}

pcast_paired pcast_paper_add_mse_ratio(pcast_claim *claim, pcast_paper_sample *all, size_t delta)
{
    const pcast_paired paired =
        pcast_paper_compare(all, 0, pcast_error_of, 1, pcast_error_of, delta);
    const double at = all->plan->deltas[delta];
    pcast_paper_add(claim,
                    (pcast_finding){mse_ratio, at, all->keys, PCAST_FINDING_INTERVAL, all->trials,
                                    paired.ratio, paired.ratio_low, paired.ratio_high,
                                    expected_ratio(all->plan, all->keys, at)});
    return paired;
}

void pcast_paper_add_computed_ratio(pcast_claim *claim, const pcast_paper_plan *plan, size_t keys,
                                    double delta)
{
    pcast_paper_add_computed(claim, mse_ratio, keys, delta, expected_ratio(plan, keys, delta));
}
