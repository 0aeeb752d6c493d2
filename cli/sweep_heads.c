/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sweep over a model's heads: one run for each layer. */
#include "sweep.h"

#include "pcast/theory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void write_rows(const sweep_options *options, csv_writer *csv, const char *layer,
                       const layer_files *files, const sink_choice *sinks, const pcast_head *heads,
                       const pcast_summary *summaries)
{
    const cli_grid *grid = &options->grid;
    const pcast_tensor *q = &files->tensors[LAYER_Q], *v = &files->tensors[LAYER_V];
    const char *source = options->input.paths[LAYER_Q];
    if (source == NULL)
        source = options->input.paths[LAYER_SCORES];
    for (size_t head = 0; head < layer_head_count(files); head++)
        for (size_t n = 0; n < grid->kernel_count; n++) {
            const pcast_kernel *kernel = &grid->kernels[n].kernel;
            const double gap = heads[head].gap, sigma = gap / heads[head].gap_sigma;
            const int known = kernel->order == PCAST_ORDER_FORWARD &&
                              grid_beyond_theory(kernel) == PCAST_FIELD_COUNT;
            const sweep_row row = {
                .kernel = &grid->kernels[n],
                .summary = &summaries[head * grid->kernel_count + n],
                .n = v->shape[1],
                .dim = v->shape[2],
                .qk_dim = q->rank > 0 ? q->shape[2] : v->shape[2],
                .sinks = sinks->count,
                .theory_f = known ? pcast_theory_f_gap(gap, sigma, (double)kernel->scale) : NAN,
                .theory_exact = NAN,
                .mse_theory = NAN,
                .head = &heads[head],
                .source = options->source != NULL ? options->source : source,
                .layer = layer,
                .head_index = head,
            };
            sweep_write_row(csv, &row);
        }
}

/* Runs the layer that was read; the run checks ranks and counts, which until then only size what it
 * fills. */
static pcast_status run_layer(const sweep_options *options, csv_writer *csv, const pcast_run *run,
                              const sink_choice *wanted, const char *layer,
                              const layer_files *files, pcast_error *err)
{
    const size_t count = layer_head_count(files), keys = layer_key_count(files);
    const sink_choice fitted = fit_sink_choice(*wanted, keys), *sinks = &fitted;
    const size_t sinks_held = sinks->count < keys ? sinks->count : keys;
    pcast_heads experiment = layer_heads(files, options->softmax_scale);
    experiment.sinks = sinks->count;
    experiment.auto_sinks = sinks->automatic;
    pcast_head *heads = cli_alloc(count, sizeof *heads);
    size_t *sink_keys = cli_alloc(count * sinks_held, sizeof *sink_keys);
    pcast_summary *summaries = cli_alloc(count * run->kernel_count, sizeof *summaries);
    for (size_t h = 0; h < count; h++)
        heads[h].sinks = sink_keys + h * sinks_held;
    const pcast_status status = pcast_heads_run(&experiment, run, heads, summaries, err);
    if (status == PCAST_OK)
        write_rows(options, csv, layer, files, sinks, heads, summaries);
    free(heads);
    free(sink_keys);
    free(summaries);
    return status;
}

int sweep_heads(const sweep_options *options, csv_writer *csv)
{
    const size_t layers = layers_count(&options->input);
    pcast_error err = {""};
    sink_choice sinks;
    if (parse_sink_choice(&options->grid.sinks_text, &sinks, &err) != PCAST_OK)
        return cli_fail(EXIT_USAGE, options->name, "--sinks: %s", err.text);

    pcast_kernel *kernels;
    cli_progress progress;
    const pcast_run run = sweep_run(options, &kernels, &progress);
    cli_progress_start(&progress, "heads", layers);
    sweep_write_header(csv, options);
    pcast_status status = PCAST_OK;
    for (size_t i = 0; status == PCAST_OK && i < layers; i++) {
        layer_files files = {0};
        status = layers_read(&options->input, i, &files, &err);
        if (status == PCAST_OK) {
            const size_t heads = layer_head_count(&files);
            progress.total = layers * heads;
            status = run_layer(options, csv, &run, &sinks, layers_name(&options->input, i), &files,
                               &err);
            progress.done_before += heads;
        }
        layer_files_free(&files);
    }
    cli_progress_end(&progress);
    free(kernels);
    return status == PCAST_OK ? EXIT_OK
                              : cli_fail(cli_exit_code(status), options->name, "%s", err.text);
}
