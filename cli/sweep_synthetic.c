/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The synthetic sweep: one run for each (n, dim, sinks), theory beside it. */
#include "sweep.h"

#include "pcast/expect.h"

#include <math.h>
#include <stdlib.h>

/* The budget of one configuration from the runs of its kernel and of its stages, `step` apart. */
static pcast_budget budget_of(const pcast_summary *summaries, size_t step)
{
    double without[PCAST_BUDGET_STAGES];
    for (int s = 0; s < PCAST_BUDGET_STAGES; s++)
        without[s] =
            s < PCAST_BUDGET_V ? NAN : summaries[step * (size_t)(1 + s - PCAST_BUDGET_V)].mse;
    return pcast_budget_of(summaries[0].mse, without);
}

/* Squared error of a row of equal scores and V = 1, or NaN. */
static double accumulation_mse(const pcast_kernel *kernel, size_t keys)
{
    pcast_theory_chain chain;
    if (!pcast_theory_chain_of(kernel, &chain))
        return NAN;
    const double lost = 1 - pcast_theory_chain_kept(&chain, (double)keys);
    return lost * lost;
}

static int is_known(const sweep_options *options, const pcast_kernel *kernel)
{
    return options->draw == PCAST_DRAW_NORMAL && grid_beyond_theory(kernel) == PCAST_FIELD_COUNT;
}

static pcast_theory_row theory_row(const sweep_options *options, const pcast_synthetic *experiment,
                                   size_t n, size_t d)
{
    const cli_grid *grid = &options->grid;
    pcast_theory_row row = grid_theory_row(&grid->kernels[n].kernel, experiment->keys,
                                           experiment->dim, experiment->sinks, grid->deltas[d]);
    if (options->sigma > 0)
        row.sigma = options->sigma;
    return row;
}

/* What theory expects of every configuration that it describes, [kernels][deltas]. */
static pcast_expectation *expect(const sweep_options *options, const pcast_synthetic *experiment)
{
    const cli_grid *grid = &options->grid;
    const size_t size = grid->kernel_count * grid->delta_count;
    pcast_theory_row *rows = cli_alloc(size, sizeof *rows);
    pcast_expectation *found = cli_alloc(size, sizeof *found);
    pcast_expectation *all = cli_alloc(size, sizeof *all);
    size_t count = 0, used = 0;
    for (size_t i = 0; i < size; i++)
        if (is_known(options, &grid->kernels[i / grid->delta_count].kernel))
            rows[count++] =
                theory_row(options, experiment, i / grid->delta_count, i % grid->delta_count);
    pcast_expect(rows, count, (int)options->threads, found);
    for (size_t i = 0; i < size; i++)
        all[i] = is_known(options, &grid->kernels[i / grid->delta_count].kernel)
                     ? found[used++]
                     : (pcast_expectation){NAN, NAN};
    free(rows);
    free(found);
    return all;
}

void sweep_write_rows(const sweep_options *options, csv_writer *csv,
                      const pcast_synthetic *experiment, const pcast_summary *summaries)
{
    const cli_grid *grid = &options->grid;
    const size_t each = sweep_kernels_each(options);
    pcast_expectation *expected = expect(options, experiment);
    for (size_t n = 0; n < grid->kernel_count; n++)
        for (size_t d = 0; d < grid->delta_count; d++) {
            const pcast_summary *summary = &summaries[n * each * grid->delta_count + d];
            const pcast_budget budget =
                options->budget ? budget_of(summary, grid->delta_count) : (pcast_budget){0};
            pcast_kernel resolved = grid->kernels[n].kernel;
            pcast_kernel_resolve(&resolved, experiment->dim);
            const pcast_kernel *kernel = &resolved;
            const pcast_theory_row theory = theory_row(options, experiment, n, d);
            const int forward = kernel->order == PCAST_ORDER_FORWARD;
            const pcast_expectation *own = &expected[n * grid->delta_count + d];
            const sweep_row row = {
                .kernel = &grid->kernels[n],
                .summary = summary,
                .n = experiment->keys,
                .dim = experiment->dim,
                .qk_dim = experiment->dim,
                .sinks = experiment->sinks,
                .delta = &grid->deltas[d],
                .trials = experiment->trials,
                .seed = experiment->seed,
                .sigma = options->sigma,
                /* F describes the forward order only. */
                .theory_f =
                    is_known(options, kernel) && forward
                        ? pcast_theory_f(theory.delta, theory.scale, theory.sinks, theory.sigma)
                        : NAN,
                .theory_exact = own->outside,
                .mse_theory = options->draw == PCAST_DRAW_ONES
                                  ? accumulation_mse(kernel, experiment->keys)
                                  : own->mse,
                .budget = options->budget ? &budget : NULL,
            };
            sweep_write_row(csv, &row);
        }
    free(expected);
}

size_t sweep_shape_count(const sweep_options *options)
{
    const cli_grid *grid = &options->grid;
    return grid->n_count * grid->dim_count * grid->sinks_count;
}

pcast_synthetic sweep_experiment(const sweep_options *options, size_t shape)
{
    const cli_grid *grid = &options->grid;
    return (pcast_synthetic){
        .keys = grid->n[shape / grid->sinks_count / grid->dim_count],
        .dim = grid->dim[shape / grid->sinks_count % grid->dim_count],
        .sinks = grid->sinks[shape % grid->sinks_count],
        .seed = options->seed,
        .trials = (size_t)options->trials,
        .deltas = grid->deltas,
        .delta_count = grid->delta_count,
        .sigma = options->sigma,
        .draw = options->draw,
        .first_trial = (size_t)options->first_trial,
    };
}

int sweep_synthetic(const sweep_options *options, csv_writer *csv)
{
    const size_t shapes = sweep_shape_count(options), trials = (size_t)options->trials;
    pcast_error err = {""};
    pcast_kernel *kernels;
    cli_progress progress;
    const pcast_run run = sweep_run(options, &kernels, &progress);
    pcast_summary *summaries =
        cli_alloc(run.kernel_count * options->grid.delta_count, sizeof *summaries);
    cli_progress_start(&progress, "trials", trials * shapes);

    sweep_write_header(csv, options);
    pcast_status status = PCAST_OK;
    for (size_t shape = 0; status == PCAST_OK && shape < shapes; shape++) {
        const pcast_synthetic experiment = sweep_experiment(options, shape);
        status = pcast_synthetic_run(&experiment, &run, summaries, &err);
        if (status == PCAST_OK)
            sweep_write_rows(options, csv, &experiment, summaries);
        progress.done_before += trials;
    }
    cli_progress_end(&progress);
    free(summaries);
    free(kernels);
    return status == PCAST_OK ? EXIT_OK
                              : cli_fail(cli_exit_code(status), options->name, "%s", err.text);
}
