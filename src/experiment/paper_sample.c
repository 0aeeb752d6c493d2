/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What each claim of the paper runs, and turning its rows into findings. */
#include "experiment/paper_sample.h"

#include "base/error.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
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
    {1, 9, 1, {FORWARD(1)}, {5, 5.25, 5.5, 5.75, 6, 6.25, 6.5, 6.75, 7}, {{4096, 4000}}},
    {2,
     7,
     3,
     {FORWARD(256), FORWARD(1)},
     {4, 5, 5.5, 6, 6.5, 7, 8},
     {{1024, 8000}, {4096, 4000}, {32768, 1000}}},
    {2,
     4,
     3,
     {FORWARD(256), FORWARD(448)},
     {5, 6, 7, 9},
     {{1024, 60000}, {4096, 40000}, {32768, 6000}}},
    {2, 5, 1, {FORWARD(256), REVERSE(256)}, {3.5, 5, 6, 7, 8}, {{4096, 4000}}},
    {2, 1, 3, {FORWARD(256), FORWARD(1)}, {6.5}, {{1024, 8000}, {4096, 8000}, {16384, 3000}}},
    {1, 4, 1, {REVERSE(256)}, {6, 8, 10, 12}, {{4096, 4000}}},
    {0},
    {1, 1, 1, {FORWARD(1)}, {7}, {{4096, 8000}}},
};

static size_t trials_of(const pcast_paper *paper, const pcast_paper_shape *run)
{
    return paper->quick ? run->trials / 16 : run->trials;
}

double pcast_paper_work(const pcast_paper *paper, int index)
{
    const pcast_paper_plan *own = &pcast_paper_plans[index];
    double work = 0;
    for (size_t r = 0; r < own->run_count; r++)
        work += (double)own->runs[r].keys * (double)trials_of(paper, &own->runs[r]);
    return work * (double)(own->kernel_count * own->delta_count);
}

static void collect(void *context, size_t row, const pcast_loss *losses)
{
    pcast_paper_sample *all = context;
    const size_t configs = all->plan->kernel_count * all->plan->delta_count;
    for (size_t i = 0; i < configs; i++)
        all->losses[row * configs + i] = losses[i];
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
    pcast_summary *summaries = malloc(configs * sizeof *summaries);
    pcast_status status = PCAST_ERR_MEMORY;
    if (all->losses != NULL && summaries != NULL) {
        const pcast_synthetic experiment = {
            .keys = all->keys,
            .dim = 1,
            .sinks = PCAST_PAPER_SINKS,
            /* Another seed for each run, so that different N are independent. */
            .seed = paper->seed + (uint64_t)index + PCAST_CLAIMS * run_index,
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
    if (status != PCAST_OK) {
        free(all->losses);
        all->losses = NULL;
    }
    return status;
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

/* The caller frees it; NULL without memory. */
static double *column(const pcast_paper_sample *all, size_t kernel, size_t delta, pcast_measure *of)
{
    const size_t configs = all->plan->kernel_count * all->plan->delta_count;
    double *values = malloc(all->trials * sizeof *values);
    for (size_t t = 0; values != NULL && t < all->trials; t++)
        values[t] = of(&all->losses[t * configs + kernel * all->plan->delta_count + delta]);
    return values;
}

pcast_theory_row pcast_paper_theory_row(const pcast_paper_sample *all, size_t kernel, size_t delta)
{
    const pcast_kernel *one = &all->plan->kernels[kernel];
    return (pcast_theory_row){one->order, all->keys,          PCAST_PAPER_SINKS,
                              one->block, (double)one->scale, all->plan->deltas[delta],
                              1};
}

void pcast_paper_add(pcast_claim *claim, double value, double low, double high, double theory,
                     const char *format, ...)
{
    pcast_finding *finding =
        &claim->findings[claim->count < PCAST_FINDINGS_MAX ? claim->count++
                                                           : PCAST_FINDINGS_MAX - 1];
    va_list args;
    va_start(args, format);
    vsnprintf(finding->quantity, sizeof finding->quantity, format, args);
    va_end(args);
    finding->value = value;
    finding->low = low;
    finding->high = high;
    finding->theory = theory;
}

/* Mean over trials with its 95 % interval. */
void pcast_paper_add_mean(pcast_claim *claim, const pcast_paper_sample *all, size_t delta,
                          pcast_measure *of, double theory, const char *what)
{
    double *values = column(all, 0, delta, of);
    if (values == NULL) {
        pcast_paper_add(claim, GSL_NAN, GSL_NAN, GSL_NAN, theory, "%s", what);
        return;
    }
    const double n = (double)all->trials, mean = gsl_stats_mean(values, 1, all->trials);
    const double reach =
        gsl_cdf_tdist_Qinv(0.025, n - 1) * gsl_stats_sd(values, 1, all->trials) / sqrt(n);
    free(values);
    pcast_paper_add(claim, mean, mean - reach, mean + reach, theory, "%s at Delta = %g", what,
                    all->plan->deltas[delta]);
}

/* Paired comparison of two columns. */
pcast_paired pcast_paper_compare(const pcast_paper_sample *all, size_t kernel_a,
                                 pcast_measure *of_a, size_t kernel_b, pcast_measure *of_b,
                                 size_t delta, double margin)
{
    double *a = column(all, kernel_a, delta, of_a), *b = column(all, kernel_b, delta, of_b);
    pcast_paired paired = {
        .ratio = GSL_NAN, .ratio_low = GSL_NAN, .ratio_high = GSL_NAN, .p_equivalence = GSL_NAN};
    if (a != NULL && b != NULL)
        paired = pcast_paired_compare(a, b, all->trials, 0.95, margin, 0.01);
    free(a);
    free(b);
    return paired;
}

pcast_paired pcast_paper_add_mse_ratio(pcast_claim *claim, const pcast_paper_sample *all,
                                       size_t delta)
{
    const pcast_paired paired =
        pcast_paper_compare(all, 0, pcast_error_of, 1, pcast_error_of, delta, 0.01);
    const pcast_theory_row a = pcast_paper_theory_row(all, 0, delta),
                           b = pcast_paper_theory_row(all, 1, delta);
    pcast_paper_add(claim, paired.ratio, paired.ratio_low, paired.ratio_high,
                    pcast_theory_mse(&b) / pcast_theory_mse(&a), "MSE ratio at Delta = %g, N = %zu",
                    all->plan->deltas[delta], all->keys);
    return paired;
}
