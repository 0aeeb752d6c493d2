/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pcast compare: two kernels on the same draws, with statistics that fit paired data. */
#include "csv.h"
#include "grid.h"

#include "pcast/experiment.h"
#include "pcast/paired.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct compare_options {
    const char *name;
    cli_grid grid;
    const char *specs[2];
    int spec_count;
    unsigned long long trials, seed, threads;
    pcast_cpu cpu;
    int given_p; /* compare mse_given_p, not mse */
    double level, margin, precision;
    int text;
    const char *output;
} compare_options;

enum {
    KEY_TRIALS = GRID_END,
    KEY_SEED,
    KEY_THREADS,
    KEY_CPU,
    KEY_METRIC,
    KEY_LEVEL,
    KEY_MARGIN,
    KEY_PRECISION,
    KEY_TEXT,
};

static const struct argp_option compare_argp_options[] = {
    {NULL, 0, NULL, 0, "The rows (LIST is 1,256,448 or start:stop:step):", 1},
    {"delta", GRID_DELTA, "LIST", 0, "score advantage of the sinks, nats (0:12:0.5)", 0},
    {"n", GRID_N, "LIST", 0, "keys in the row (4096)", 0},
    {"sinks", GRID_SINKS, "LIST", 0, "sinks, the first keys (4)", 0},
    {"dim", GRID_DIM, "LIST", 0, "channels of V (128; no matter for mse_given_p)", 0},
    {"trials", KEY_TRIALS, "NUMBER", 0, "independent rows, 2 or more (400)", 0},
    {"seed", KEY_SEED, "NUMBER", 0, "seed of all draws (1)", 0},
    {NULL, 0, NULL, 0, "The statistics:", 2},
    {"metric", KEY_METRIC, "NAME", 0, "mse_given_p (default) or mse", 0},
    {"level", KEY_LEVEL, "NUMBER", 0, "of the confidence interval and the tests (0.95)", 0},
    {"margin", KEY_MARGIN, "NUMBER", 0,
     "ratios from 1/(1+margin) to 1+margin count as equivalent (0.05)", 0},
    {"precision", KEY_PRECISION, "NUMBER", 0, "wanted half-width of the interval, relative (0.01)",
     0},
    {NULL, 0, NULL, 0, "Running:", 3},
    {"text", KEY_TEXT, NULL, 0, "print only the sentences", 0},
    {"threads", KEY_THREADS, "NUMBER", 0, "threads (one for each processor)", 0},
    {"cpu", KEY_CPU, "LEVEL", 0, "highest CPU level to use: scalar, avx2, avx512 or native", 0},
    {"output", 'o', "FILE", 0, "write FILE; - is stdout", 0},
    {"help", 'h', NULL, 0, "print this help", -1},
    {0},
};

/* A number strictly between 0 and high. */
static error_t take_share(const char *option, const char *arg, double high, double *value,
                          struct argp_state *state)
{
    pcast_error err;
    if (cli_parse_double(arg, value, &err) != PCAST_OK || !(*value > 0) || !(*value < high))
        return cli_bad(state, "--%s: '%s' is not a number between 0 and %g", option, arg, high);
    return 0;
}

static error_t take_spec(compare_options *options, const char *arg, struct argp_state *state)
{
    pcast_kernel kernel;
    pcast_error err;
    if (options->spec_count == 2)
        return ARGP_ERR_UNKNOWN;
    if (pcast_kernel_parse(arg, &kernel, NULL, &err) != PCAST_OK)
        return cli_bad(state, "%s", err.text);
    options->specs[options->spec_count++] = arg;
    return 0;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    compare_options *options = state->input;
    switch (key) {
    case KEY_TRIALS:
        return cli_take_count("trials", arg, 2, 1ull << 32, &options->trials, state);
    case KEY_SEED:
        return cli_take_count("seed", arg, 0, UINT64_MAX, &options->seed, state);
    case KEY_THREADS:
        return cli_take_count("threads", arg, 1, 1024, &options->threads, state);
    case KEY_CPU:
        return cli_take_cpu(arg, &options->cpu, state);
    case KEY_METRIC:
        options->given_p = strcmp(arg, "mse_given_p") == 0;
        if (!options->given_p && strcmp(arg, "mse") != 0)
            return cli_bad(state, "--metric: '%s' is neither mse_given_p nor mse", arg);
        return 0;
    case KEY_LEVEL:
        return take_share("level", arg, 1, &options->level, state);
    case KEY_MARGIN:
        return take_share("margin", arg, 10, &options->margin, state);
    case KEY_PRECISION:
        return take_share("precision", arg, 10, &options->precision, state);
    case KEY_TEXT:
        options->text = 1;
        return 0;
    case 'o':
        options->output = arg;
        return 0;
    case ARGP_KEY_ARG:
        return take_spec(options, arg, state);
    case ARGP_KEY_END:
        return options->spec_count == 2
                   ? 0
                   : cli_bad(state, "two SPECs are needed, %d given", options->spec_count);
    default:
        return grid_option(&options->grid, key, arg, state);
    }
}

static const struct argp compare_argp = {
    .options = compare_argp_options,
    .parser = parse_option,
    .args_doc = "SPEC SPEC",
    .doc =
        "Runs two kernels on the same draws and compares their mean squared errors: the ratio of "
        "the second to the first "
        "with a confidence interval, paired t test, Wilcoxon signed rank test, a test of "
        "equivalence (two one-sided "
        "tests against a margin), how many trials a wanted precision takes, and one plain sentence."
        "\vExample:\n  pcast compare 'paper:scale=256' 'paper:scale=256;order=reverse' --delta "
        "3.5,5,6 --margin 0.02",
};

/* The metric of every trial, [delta][kernel][trial]. */
typedef struct samples {
    int given_p;
    size_t deltas, trials;
    double *values;
} samples;

static double *sample(const samples *all, size_t delta, size_t kernel)
{
    return all->values + (delta * 2 + kernel) * all->trials;
}

static pcast_status collect(void *context, size_t row, const pcast_loss *losses)
{
    const samples *all = context;
    for (size_t kernel = 0; kernel < 2; kernel++)
        for (size_t d = 0; d < all->deltas; d++) {
            const pcast_loss *loss = &losses[kernel * all->deltas + d];
            sample(all, d, kernel)[row] =
                all->given_p ? loss->mse_given_p : loss->error2 / (double)loss->channels;
        }
    return PCAST_OK;
}

/* What the numbers say, and no more. */
static void write_sentence(char *text, size_t size, const compare_options *options,
                           const pcast_paired *paired)
{
    const double alpha = 1 - options->level;
    const char *b = options->specs[1], *a = options->specs[0];
    char interval[96];
    snprintf(interval, sizeof interval, "ratio %.6g, %g %% interval %.6g to %.6g", paired->ratio,
             100 * options->level, paired->ratio_low, paired->ratio_high);
    if (isnan(paired->ratio))
        snprintf(text, size, "Nothing to compare: some errors are not finite numbers.");
    else if (isnan(paired->t))
        snprintf(text, size, "%s and %s do the same on every trial.", b, a);
    else if (paired->ratio_low > 1)
        snprintf(text, size, "%s has a larger error than %s (%s)%s.", b, a, interval,
                 paired->p_equivalence < alpha ? ", but within the margin of equivalence" : "");
    else if (paired->ratio_high < 1)
        snprintf(text, size, "%s has a smaller error than %s (%s)%s.", b, a, interval,
                 paired->p_equivalence < alpha ? ", but within the margin of equivalence" : "");
    else if (paired->p_equivalence < alpha)
        snprintf(text, size, "%s and %s are equivalent within %g %% (%s).", b, a,
                 100 * options->margin, interval);
    else
        snprintf(text, size,
                 "Not decided: %s against %s may differ either way, and equivalence is not shown "
                 "either (%s).",
                 b, a, interval);
}

static const char *const columns[] = {
    "kernel_a",   "kernel_b",   "metric",        "n",         "dim",           "sinks",
    "delta",      "trials",     "seed",          "mean_a",    "mean_b",        "ratio",
    "ratio_low",  "ratio_high", "level",         "t",         "p_t",           "w",
    "p_wilcoxon", "margin",     "p_equivalence", "precision", "trials_needed", "sentence"};

static void write_row(const compare_options *options, csv_writer *csv,
                      const pcast_synthetic *experiment, double delta, const pcast_paired *paired)
{
    char sentence[512];
    write_sentence(sentence, sizeof sentence, options, paired);
    if (options->text) {
        fprintf(csv->stream, "Delta = %g, N = %zu: %s\n", delta, experiment->keys, sentence);
        return;
    }
    csv_text(csv, options->specs[0]);
    csv_text(csv, options->specs[1]);
    csv_text(csv, options->given_p ? "mse_given_p" : "mse");
    csv_count(csv, experiment->keys);
    csv_count(csv, experiment->dim);
    csv_count(csv, experiment->sinks);
    csv_number(csv, delta);
    csv_count(csv, experiment->trials);
    csv_count(csv, experiment->seed);
    csv_known(csv, paired->mean_a);
    csv_known(csv, paired->mean_b);
    csv_known(csv, paired->ratio);
    csv_known(csv, paired->ratio_low);
    csv_known(csv, paired->ratio_high);
    csv_number(csv, options->level);
    csv_known(csv, paired->t);
    csv_known(csv, paired->p_t);
    csv_known(csv, paired->w);
    csv_known(csv, paired->p_wilcoxon);
    csv_number(csv, options->margin);
    csv_known(csv, paired->p_equivalence);
    csv_number(csv, options->precision);
    csv_known(csv, paired->pairs_needed);
    csv_text(csv, sentence);
    csv_end(csv);
}

static pcast_status run_shape(const compare_options *options, csv_writer *csv,
                              const pcast_run *plain, size_t n, size_t dim, size_t sinks,
                              pcast_error *err)
{
    const cli_grid *grid = &options->grid;
    const pcast_synthetic experiment = {.keys = n,
                                        .dim = dim,
                                        .sinks = sinks,
                                        .seed = options->seed,
                                        .trials = (size_t)options->trials,
                                        .deltas = grid->deltas,
                                        .delta_count = grid->delta_count};
    samples all = {options->given_p, grid->delta_count, experiment.trials, NULL};
    all.values = cli_alloc(2 * all.deltas * all.trials, sizeof *all.values);
    pcast_summary *summaries = cli_alloc(2 * grid->delta_count, sizeof *summaries);
    pcast_run run = *plain;
    run.each_row = collect;
    run.row_context = &all;
    const pcast_status status = pcast_synthetic_run(&experiment, &run, summaries, err);
    for (size_t d = 0; status == PCAST_OK && d < grid->delta_count; d++) {
        const pcast_paired paired =
            pcast_paired_compare(sample(&all, d, 0), sample(&all, d, 1), all.trials, options->level,
                                 options->margin, options->precision);
        write_row(options, csv, &experiment, grid->deltas[d], &paired);
    }
    free(all.values);
    free(summaries);
    return status;
}

static int run_all(const compare_options *options, csv_writer *csv)
{
    const cli_grid *grid = &options->grid;
    pcast_kernel kernels[2];
    pcast_error err = {""};
    cli_progress progress;
    const size_t dims = options->given_p ? 1 : grid->dim_count, one = 1;
    const size_t *dim = options->given_p ? &one : grid->dim; /* V does not enter mse_given_p */
    for (int i = 0; i < 2; i++) {
        pcast_kernel_parse(options->specs[i], &kernels[i], NULL, &err);
        if (options->given_p) /* which runs with one channel */
            pcast_kernel_resolve(&kernels[i], grid->dim[0]);
        const int code = cli_check_kernel(options->name, "", options->specs[i], &kernels[i]);
        if (code != EXIT_OK)
            return code;
    }
    const pcast_run run = {.kernels = kernels,
                           .kernel_count = 2,
                           .threads = (int)options->threads,
                           .cpu = options->cpu,
                           .progress = cli_progress_update,
                           .progress_context = &progress};
    cli_progress_start(&progress, "trials",
                       (size_t)options->trials * grid->n_count * dims * grid->sinks_count);
    if (!options->text)
        csv_names(csv, columns, sizeof columns / sizeof columns[0]);
    pcast_status status = PCAST_OK;
    for (size_t i = 0; status == PCAST_OK && i < grid->n_count; i++)
        for (size_t j = 0; status == PCAST_OK && j < dims; j++)
            for (size_t k = 0; status == PCAST_OK && k < grid->sinks_count; k++) {
                status = run_shape(options, csv, &run, grid->n[i], dim[j], grid->sinks[k], &err);
                progress.done_before += (size_t)options->trials;
            }
    cli_progress_end(&progress);
    return status == PCAST_OK ? EXIT_OK
                              : cli_fail(cli_exit_code(status), options->name, "%s", err.text);
}

static int run(compare_options *options)
{
    cli_output output;
    pcast_error err;
    int code = grid_resolve_axes(&options->grid, options->name);
    if (code != EXIT_OK)
        return code;
    if (cli_output_open(&output, options->output, &err) != PCAST_OK)
        return cli_fail(EXIT_OUTPUT, options->name, "%s", err.text);
    csv_writer csv = {.stream = output.stream};
    code = run_all(options, &csv);
    return cli_output_finish(&output, code, options->name);
}

int cli_compare(int argc, char **argv)
{
    compare_options options = {.name = argv[0],
                               .trials = 400,
                               .seed = 1,
                               .cpu = pcast_cpu_detect(),
                               .given_p = 1,
                               .level = 0.95,
                               .margin = 0.05,
                               .precision = 0.01};
    int code = cli_parse(&compare_argp, argc, argv, &options);
    if (code == EXIT_OK)
        code = run(&options);
    grid_free(&options.grid);
    return code < 0 ? EXIT_OK : code;
}
