/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pcast sweep: options, and the choice between the synthetic experiment and tensors. */
#include "records.h"

#include <stdlib.h>
#include <string.h>

enum {
    KEY_TRIALS = GRID_END,
    KEY_FIRST_TRIAL,
    KEY_RECORDS,
    KEY_SEED,
    KEY_DRAW,
    KEY_SIGMA,
    KEY_BUDGET,
    KEY_THREADS,
    KEY_CPU,
    KEY_DEVICE,
    KEY_Q,
    KEY_K,
    KEY_V,
    KEY_SCORES, /* in the order of layer_input */
    KEY_LAYER,
    KEY_SOURCE,
    KEY_SOFTMAX_SCALE,
};

static const struct argp_option sweep_argp_options[] = {
    {NULL, 0, NULL, 0,
     "The grid (defaults are the paper's; LIST is 1,256,448 or start:stop:step):", 1},
    GRID_OPTIONS,
    {"dim", GRID_DIM, "LIST", 0, "channels of V (128)", 0},
    {"semantics", GRID_SEMANTICS, "LIST", 0,
     "fp32: exact exponentials, IEEE arithmetic; hardware: the kernel's units and tensor core "
     "(fp32)",
     0},
    {"trials", KEY_TRIALS, "NUMBER", 0, "independent rows (64)", 0},
    {"seed", KEY_SEED, "NUMBER", 0, "seed of all draws (1)", 0},
    {"draw", KEY_DRAW, "normal|equal|ones", 0,
     "normal (default); equal: scores 0 and V of E4M3, where accumulation alone loses; ones: V = 1 "
     "too, one trial. With the last two Delta is 0 unless given",
     0},
    {"sigma", KEY_SIGMA, "NUMBER", 0,
     "standard deviation of all scores, nats (1); given, it is a column", 0},
    {"budget", KEY_BUDGET, NULL, 0,
     "columns more: what quantising V, the exponential unit, the cast of P, the accumulator, the "
     "row sum and the output's rounding add to mse",
     0},
    {NULL, 0, NULL, 0,
     "A model's heads instead of synthetic rows; here --sinks is auto (the default: the 4 keys "
     "with most "
     "attention mass), auto:K, or K for the first K keys:",
     2},
    {"q", KEY_Q, "FILE", 0,
     "Q [heads, tokens, dim], or with a batch in front: NPY (float32, float16, bfloat16 as uint16, "
     "E4M3 as uint8) or "
     "safetensors, where FILE:NAME chooses a tensor",
     0},
    {"k", KEY_K, "FILE", 0, "K [KV heads, tokens, dim], positions applied", 0},
    {"v", KEY_V, "FILE", 0, "V [KV heads, tokens, dim]", 0},
    {"scores", KEY_SCORES, "FILE", 0,
     "in place of Q and K: scores [heads, queries, keys] in nats, softmax scale applied", 0},
    {"mask", GRID_MASK, "LIST", 0,
     "which keys a query sees: none, causal (aligned bottom-right), causal_top_left", 0},
    {"layer", KEY_LAYER, "LIST", 0,
     "layers to run: {layer} in the paths stands for the number in two digits", 0},
    {"source", KEY_SOURCE, "NAME", 0, "text for the column source (the path of Q)", 0},
    {"softmax-scale", KEY_SOFTMAX_SCALE, "NUMBER", 0, "multiplies Q.K (1/sqrt(dim))", 0},
    {NULL, 0, NULL, 0, "A shard of a sweep, for pcast merge:", 3},
    {"first-trial", KEY_FIRST_TRIAL, "NUMBER", 0,
     "number of the first of --trials trials (0): a trial's draws depend on its number alone", 0},
    {"records", KEY_RECORDS, "FILE", 0,
     "write what every trial lost to FILE, and a CSV only where -o is given too. Until it is "
     "finished it is FILE.part, from which the same command goes on",
     0},
    {NULL, 0, NULL, 0, "Running:", 4},
    {"threads", KEY_THREADS, "NUMBER", 0,
     "threads (one for each processor); results do not depend on it", 0},
    {"cpu", KEY_CPU, "LEVEL", 0,
     "highest CPU level to use: scalar, avx2, avx512 or native; nor on this", 0},
    {"device", KEY_DEVICE, "cpu|cuda|replay", 0,
     "run synthetic rows of FP32 semantics on a GPU (docs/cuda.md), or its kernel's threads on the "
     "CPU (cpu); nor on this",
     0},
    {"output", 'o', "FILE", 0,
     "write FILE and a side file FILE.meta.json (.csv dropped); - is stdout", 0},
    {"help", 'h', NULL, 0, "print this help", -1},
    {0},
};

static error_t take_softmax_scale(sweep_options *options, const char *arg, struct argp_state *state)
{
    pcast_error err;
    double value;
    if (cli_parse_double(arg, &value, &err) != PCAST_OK || !((float)value > 0))
        return cli_bad(state, "--softmax-scale: '%s' is not a positive number", arg);
    options->softmax_scale = strtof(arg, NULL);
    return 0;
}

static error_t take_draw(sweep_options *options, const char *arg, struct argp_state *state)
{
    static const char *const words[] = {"normal", "equal", "ones"};
    options->draw_given = 1;
    for (int i = 0; i < 3; i++)
        if (strcmp(arg, words[i]) == 0) {
            options->draw = (pcast_draw)i;
            return 0;
        }
    return cli_bad(state, "--draw: '%s' is none of normal, equal, ones", arg);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    sweep_options *options = state->input;
    pcast_error err;
    switch (key) {
    case KEY_TRIALS:
        return cli_take_count("trials", arg, 1, 1ull << 32, &options->trials, state);
    case KEY_FIRST_TRIAL:
        options->first_trial_given = 1;
        return cli_take_count("first-trial", arg, 0, (1ull << 32) - 1, &options->first_trial,
                              state);
    case KEY_RECORDS:
        if (*arg == '\0' || strcmp(arg, "-") == 0)
            return cli_bad(state, "--records: '%s' is no file", arg);
        options->records = arg;
        return 0;
    case KEY_SEED:
        options->seed_given = 1;
        return cli_take_count("seed", arg, 0, UINT64_MAX, &options->seed, state);
    case KEY_DRAW:
        return take_draw(options, arg, state);
    case KEY_SIGMA:
        if (cli_parse_double(arg, &options->sigma, &err) != PCAST_OK || !(options->sigma >= 1e-3) ||
            options->sigma > 20)
            return cli_bad(state, "--sigma: '%s' is not a number from 0.001 to 20", arg);
        return 0;
    case KEY_BUDGET:
        options->budget = 1;
        return 0;
    case KEY_THREADS:
        return cli_take_count("threads", arg, 1, 1024, &options->threads, state);
    case KEY_CPU:
        return cli_take_cpu(arg, &options->cpu, state);
    case KEY_DEVICE:
        return cli_take_device(arg, &options->device_given, &options->device_kind, state);
    case KEY_Q:
    case KEY_K:
    case KEY_V:
    case KEY_SCORES:
        options->input.paths[key - KEY_Q] = arg;
        return 0;
    case KEY_LAYER:
        cli_list_free(&options->input.layers);
        if (cli_list_parse(arg, &options->input.layers, &err) != PCAST_OK)
            return cli_bad(state, "--layer: %s", err.text);
        return 0;
    case KEY_SOURCE:
        options->source = arg;
        return 0;
    case KEY_SOFTMAX_SCALE:
        return take_softmax_scale(options, arg, state);
    case 'o':
        options->output = arg;
        return 0;
    default:
        return grid_option(&options->grid, key, arg, state);
    }
}

static const struct argp sweep_argp = {
    .options = sweep_argp_options,
    .parser = parse_option,
    .doc = "Simulates the online softmax of FP8 attention over a grid and writes one CSV row a "
           "configuration: "
           "how many keys the E4M3 cast of P turns to zero, and what error that leaves."
           "\vExamples:\n"
           "  pcast sweep -o sweep.csv\n"
           "  pcast sweep --delta 5,6,7 --order forward --trials 400\n"
           "  pcast sweep --q q.npy --k k.npy --v v.npy --mask causal\n"
           "  pcast sweep --first-trial 400 --trials 400 --records second.records",
};

/* One line naming an option that does not go with the kind of run, or EXIT_OK. */
static int check_kind(const sweep_options *options, int tensors)
{
    const cli_grid *grid = &options->grid;
    if (options->sigma > 0 && options->draw != PCAST_DRAW_NORMAL)
        return cli_fail(EXIT_USAGE, options->name, "--sigma: --draw draws no scores");
    if (!tensors) {
        if (options->input.layers.count > 0 || options->source != NULL ||
            options->softmax_scale > 0)
            return cli_fail(EXIT_USAGE, options->name,
                            "--layer, --source and --softmax-scale go with --q, --k and --v");
        return EXIT_OK;
    }
    if (options->input.paths[LAYER_SCORES] != NULL && options->softmax_scale > 0)
        return cli_fail(EXIT_USAGE, options->name,
                        "--softmax-scale: needs --q and --k, not --scores");
    const char *synthetic_only = grid->delta_text.count > 0   ? "delta"
                                 : grid->n_text.count > 0     ? "n"
                                 : grid->dim_text.count > 0   ? "dim"
                                 : options->trials > 0        ? "trials"
                                 : options->seed_given        ? "seed"
                                 : options->budget            ? "budget"
                                 : options->draw_given        ? "draw"
                                 : options->sigma > 0         ? "sigma"
                                 : options->first_trial_given ? "first-trial"
                                 : options->device_given      ? "device"
                                 : options->records != NULL   ? "records"
                                                              : NULL;
    if (synthetic_only != NULL)
        return cli_fail(EXIT_USAGE, options->name, "--%s: is of synthetic rows, not of tensors",
                        synthetic_only);
    return EXIT_OK;
}

size_t sweep_kernels_each(const sweep_options *options)
{
    return options->budget ? 1 + PCAST_BUDGET_STAGES - PCAST_BUDGET_V : 1;
}

pcast_run sweep_run(const sweep_options *options, pcast_kernel **kernels, cli_progress *progress)
{
    const cli_grid *grid = &options->grid;
    const size_t each = sweep_kernels_each(options);
    *kernels = cli_alloc(grid->kernel_count * each, sizeof **kernels);
    for (size_t i = 0; i < grid->kernel_count * each; i++) {
        const pcast_kernel *kernel = &grid->kernels[i / each].kernel;
        const size_t stage = PCAST_BUDGET_V + i % each - 1;
        (*kernels)[i] =
            i % each == 0 ? *kernel : pcast_budget_kernel(kernel, (pcast_budget_stage)stage);
    }
    return (pcast_run){
        .kernels = *kernels,
        .kernel_count = grid->kernel_count * each,
        .threads = (int)options->threads,
        .cpu = options->cpu,
        .device = options->device,
        .progress = cli_progress_update,
        .progress_context = progress,
    };
}

/* The rows of what was asked for. */
static int write_csv(const sweep_options *options, int tensors, int argc, char **argv,
                     csv_writer *csv)
{
    if (tensors)
        return sweep_heads(options, csv);
    if (options->records == NULL)
        return sweep_synthetic(options, csv);
    records_shard shard = {options->records, options->first_trial, options->trials, 0, 0};
    const int code = records_run(options, argc, argv);
    return code == EXIT_OK ? records_reduce(options, &shard, 1, csv) : code;
}

static pcast_status open_meta(cli_output *meta, const sweep_options *options, int argc, char **argv,
                              pcast_error *err)
{
    const sweep_origin origin = {sweep_arguments(argc, argv), PCAST_COMPILER,
                                 pcast_cpu_name(options->cpu)};
    const pcast_status status = sweep_open_meta(meta, options, &origin, err);
    json_decref(origin.arguments);
    return status;
}

/* Runs the sweep between opening and committing both files. */
static int write_files(const sweep_options *options, int tensors, int argc, char **argv)
{
    cli_output outputs[2];
    pcast_error err = {"out of memory"};
    const size_t count = sweep_wants_meta(options->output) ? 2 : 1;
    pcast_status status = cli_output_open(&outputs[0], options->output, &err);
    if (status != PCAST_OK)
        return cli_fail(cli_exit_code(status), options->name, "%s", err.text);
    if (count > 1)
        status = open_meta(&outputs[1], options, argc, argv, &err);
    if (status != PCAST_OK) {
        cli_output_abandon(&outputs[0]);
        return cli_fail(cli_exit_code(status), options->name, "%s", err.text);
    }
    csv_writer csv = {.stream = outputs[0].stream};
    const int code = write_csv(options, tensors, argc, argv, &csv);
    return cli_outputs_finish(outputs, count, code, options->name);
}

static int run(sweep_options *options, int argc, char **argv)
{
    const int tensors = layers_given(&options->input);
    int code = check_kind(options, tensors);
    if (code == EXIT_OK && tensors)
        code = layers_check(&options->input, options->name);
    if (code == EXIT_OK)
        code = grid_resolve_kernels(&options->grid, options->name);
    if (code == EXIT_OK && options->draw != PCAST_DRAW_NORMAL &&
        options->grid.delta_text.count == 0)
        cli_list_parse("0", &options->grid.delta_text, NULL);
    if (code == EXIT_OK && !tensors)
        code = grid_resolve_axes(&options->grid, options->name);
    if (code == EXIT_OK && !tensors)
        code = grid_check_rows(&options->grid, options->name);
    if (code != EXIT_OK)
        return code;
    if (options->trials == 0)
        options->trials = options->draw == PCAST_DRAW_ONES ? 1 : 64;
    if (options->first_trial + options->trials > 1ull << 32)
        return cli_fail(EXIT_USAGE, options->name,
                        "--first-trial: %llu and %llu trials go beyond 2^32", options->first_trial,
                        options->trials);
    if (options->records != NULL && options->output != NULL &&
        strcmp(options->records, options->output) == 0)
        return cli_fail(EXIT_USAGE, options->name, "-o: %s is for the records", options->output);
    pcast_error err;
    pcast_status status = PCAST_OK;
    if (options->device_given)
        status = pcast_device_open(options->device_kind, &options->device, &err);
    if (status != PCAST_OK)
        return cli_fail(cli_exit_code(status), options->name, "--device: %s", err.text);
    if (options->records != NULL && options->output == NULL)
        return records_run(options, argc, argv);
    return write_files(options, tensors, argc, argv);
}

int cli_sweep(int argc, char **argv)
{
    sweep_options options = {.name = argv[0], .seed = 1, .cpu = pcast_cpu_detect()};
    /* argp reorders argv; the side file records it as it was given. */
    char **given = cli_alloc((size_t)argc + 1, sizeof *given);
    memcpy(given, argv, (size_t)argc * sizeof *given);
    int code = cli_parse(&sweep_argp, argc, argv, &options);
    if (code == EXIT_OK)
        code = run(&options, argc, given);
    free(given);
    pcast_device_close(options.device);
    grid_free(&options.grid);
    cli_list_free(&options.input.layers);
    return code < 0 ? EXIT_OK : code;
}
