/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pcast diagnose: a model's heads under a kernel, what they lose, and which setting loses least. */
#include "diagnose.h"
#include "gnuplot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY_KERNEL = 0x100,
    KEY_MASK,
    KEY_Q,
    KEY_K,
    KEY_V,
    KEY_SCORES, /* in the order of layer_input */
    KEY_LAYER,
    KEY_SINKS,
    KEY_SOFTMAX_SCALE,
    KEY_QUANTIZE,
    KEY_TEXT,
    KEY_TRADE_OFF,
    KEY_REPORT,
    KEY_THREADS,
    KEY_CPU,
};

static const struct argp_option diagnose_argp_options[] = {
    {NULL, 0, NULL, 0, "What to diagnose:", 1},
    {"kernel", KEY_KERNEL, "SPEC", 0, "NAME[:field=value;...] (paper); see pcast kernels", 0},
    {"mask", KEY_MASK, "MASK", 0, "none, causal (aligned bottom-right) or causal_top_left", 0},
    {"q", KEY_Q, "FILE", 0,
     "Q [heads, tokens, dim], or with a batch in front, NPY or safetensors; {layer} stands for the "
     "layer in two digits",
     0},
    {"k", KEY_K, "FILE", 0, "K [KV heads, tokens, dim], positions applied", 0},
    {"v", KEY_V, "FILE", 0, "V [KV heads, tokens, dim]", 0},
    {"scores", KEY_SCORES, "FILE", 0,
     "in place of Q and K: scores [heads, queries, keys] in nats, softmax scale applied", 0},
    {"layer", KEY_LAYER, "LIST", 0, "layers to read, for {layer} in the paths", 0},
    {"sinks", KEY_SINKS, "auto[:K]|K", 0,
     "the K keys with most attention (auto:4), or the first K keys", 0},
    {"softmax-scale", KEY_SOFTMAX_SCALE, "NUMBER", 0, "multiplies Q.K (1/sqrt(dim))", 0},
    {"quantize", KEY_QUANTIZE, NULL, 0,
     "also what quantising Q, K and V as the kernel's fields say contributes", 0},
    {NULL, 0, NULL, 0, "Results:", 2},
    {"output", 'o', "FILE", 0, "CSV, one row a head; - is stdout (default)", 0},
    {"text", KEY_TEXT, NULL, 0, "a table and advice for people instead of CSV", 0},
    {"trade-off", KEY_TRADE_OFF, "FILE", 0, "CSV: every order, S and tau, and what it costs", 0},
    {"report", KEY_REPORT, "FILE", 0, "one self-contained HTML page with figures", 0},
    {NULL, 0, NULL, 0, "Running:", 3},
    {"threads", KEY_THREADS, "NUMBER", 0, "threads (one for each processor)", 0},
    {"cpu", KEY_CPU, "LEVEL", 0, "highest CPU level: scalar, avx2, avx512 or native", 0},
    {"help", 'h', NULL, 0, "print this help", -1},
    {0},
};

static error_t take_list(const char *option, const char *arg, cli_list *list,
                         struct argp_state *state)
{
    pcast_error err;
    cli_list_free(list);
    if (cli_list_parse(arg, list, &err) != PCAST_OK)
        return cli_bad(state, "--%s: %s", option, err.text);
    return 0;
}

static error_t take_softmax_scale(const char *arg, float *scale, struct argp_state *state)
{
    pcast_error err;
    double value;
    if (cli_parse_double(arg, &value, &err) != PCAST_OK || !((float)value > 0))
        return cli_bad(state, "--softmax-scale: '%s' is not a positive number", arg);
    *scale = strtof(arg, NULL);
    return 0;
}

static error_t take_kernel(diagnose_options *options, int key, const char *arg,
                           struct argp_state *state)
{
    pcast_error err;
    pcast_kernel scratch = {0};
    if (key == KEY_KERNEL) {
        options->spec = arg;
        if (pcast_kernel_parse(arg, &options->kernel, NULL, &err) != PCAST_OK)
            return cli_bad(state, "--kernel: %s", err.text);
        return 0;
    }
    options->mask = arg;
    if (pcast_kernel_set(&scratch, PCAST_FIELD_MASK, arg, &err) != PCAST_OK)
        return cli_bad(state, "--%s", err.text);
    return 0;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    diagnose_options *options = state->input;
    switch (key) {
    case KEY_KERNEL:
    case KEY_MASK:
        return take_kernel(options, key, arg, state);
    case KEY_Q:
    case KEY_K:
    case KEY_V:
    case KEY_SCORES:
        options->input.paths[key - KEY_Q] = arg;
        return 0;
    case KEY_LAYER:
        return take_list("layer", arg, &options->input.layers, state);
    case KEY_SINKS:
        return take_list("sinks", arg, &options->sinks_text, state);
    case KEY_SOFTMAX_SCALE:
        return take_softmax_scale(arg, &options->softmax_scale, state);
    case KEY_QUANTIZE:
        options->quantize = 1;
        return 0;
    case KEY_TEXT:
        options->text = 1;
        return 0;
    case KEY_TRADE_OFF:
        options->trade_off = arg;
        return 0;
    case KEY_REPORT:
        options->report = arg;
        return 0;
    case KEY_THREADS:
        return cli_take_count("threads", arg, 1, 1024, &options->threads, state);
    case KEY_CPU:
        return cli_take_cpu(arg, &options->cpu, state);
    case 'o':
        options->output = arg;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp diagnose_argp = {
    .options = diagnose_argp_options,
    .parser = parse_option,
    .doc = "Says what a kernel's cast of P does to a model's heads, why (sinks, gap, spread, how "
           "the running maximum lags), what theory predicts, and which order, S and "
           "rescale_threshold would lose least, by simulating them all."
           "\vExample:\n"
           "  pcast diagnose --kernel fa3 --q 'l{layer}_q.npy' --k 'l{layer}_k.npy' --v "
           "'l{layer}_v.npy' --layer 0:29:1 --mask causal --report model.html",
};

/* The error by stage of one layer's heads. */
static pcast_status add_stages(const diagnose_options *options, const layer_files *files,
                               const pcast_run *run, size_t count, diagnosed_head *heads,
                               pcast_error *err)
{
    const pcast_attend attend = {.q = &files->tensors[LAYER_Q],
                                 .k = &files->tensors[LAYER_K],
                                 .v = &files->tensors[LAYER_V],
                                 .softmax_scale = options->softmax_scale};
    const size_t queries = attend.q->shape[1], dim = attend.v->shape[2];
    const pcast_attend_result result = {
        .o = cli_alloc(count * queries, dim * sizeof(float)),
        .lse = cli_alloc(count * queries, sizeof(float)),
        .heads = cli_alloc(count, sizeof(pcast_attend_head)),
    };
    unsigned stages = 0;
    for (size_t s = 0; s < DIAGNOSE_STAGES; s++)
        stages |= 1u << diagnose_stages[s];
    pcast_budget *budgets = cli_alloc(count, sizeof *budgets);
    const pcast_status status = pcast_attend_budget(&attend, run, stages, &result, budgets, err);
    for (size_t h = 0; status == PCAST_OK && h < count; h++)
        heads[h].budget = budgets[h];
    free(result.o);
    free(result.lse);
    free(result.heads);
    free(budgets);
    return status;
}

/* Appends the heads of a layer; their sinks are all's from then on. */
static diagnosed_head *append(diagnosed *all, const char *layer, const pcast_diagnosis *diagnoses,
                              const double *errors, size_t count)
{
    const size_t row = all->candidate_count;
    diagnosed_head *heads = realloc(all->heads, (all->count + count) * sizeof *heads);
    if (heads != NULL)
        all->heads = heads;
    double *more = realloc(all->errors, (all->count + count) * row * sizeof *more);
    if (heads == NULL || more == NULL)
        exit(cli_fail(EXIT_OUTPUT, "pcast diagnose", "out of memory"));
    all->errors = more;
    memcpy(more + all->count * row, errors, count * row * sizeof *more);
    for (size_t h = 0; h < count; h++)
        heads[all->count + h] =
            (diagnosed_head){.layer = layer, .index = h, .diagnosis = diagnoses[h]};
    all->count += count;
    return heads + all->count - count;
}

static void extend(diagnosed_span *span, size_t value, int first)
{
    span->fewest = first || value < span->fewest ? value : span->fewest;
    span->most = value > span->most ? value : span->most;
}

/* Diagnoses one layer and appends its heads. */
static pcast_status add_layer(const diagnose_options *options, const layer_files *files,
                              const char *layer, const pcast_run *run, diagnosed *all,
                              pcast_error *err)
{
    const size_t count = layer_head_count(files), keys = layer_key_count(files);
    const sink_choice choice = fit_sink_choice(options->sinks, keys);
    const size_t sinks = choice.count < keys ? choice.count : keys;
    pcast_heads experiment = layer_heads(files, options->softmax_scale);
    experiment.sinks = choice.count;
    experiment.auto_sinks = choice.automatic;
    pcast_diagnosis *diagnoses = cli_alloc(count, sizeof *diagnoses);
    double *errors = cli_alloc(count * all->candidate_count, sizeof *errors);
    for (size_t h = 0; h < count; h++)
        diagnoses[h].head.sinks = cli_alloc(sinks, sizeof *diagnoses[h].head.sinks);
    pcast_status status = pcast_diagnose(&experiment, run, diagnoses, errors, err);
    if (status == PCAST_OK) {
        extend(&all->keys, keys, all->count == 0);
        extend(&all->sinks, sinks, all->count == 0);
        diagnosed_head *heads = append(all, layer, diagnoses, errors, count);
        for (size_t h = 0; h < count; h++)
            heads[h].sinks = sinks;
        if (options->quantize)
            status = add_stages(options, files, run, count, heads, err);
    } else {
        for (size_t h = 0; h < count; h++)
            free(diagnoses[h].head.sinks);
    }
    free(diagnoses);
    free(errors);
    return status;
}

static pcast_status diagnose_layers(const diagnose_options *options, diagnosed *all,
                                    pcast_error *err)
{
    cli_progress progress;
    const size_t layers = layers_count(&options->input);
    const pcast_run run = {.kernels = &options->kernel,
                           .kernel_count = 1,
                           .threads = (int)options->threads,
                           .cpu = options->cpu,
                           .progress = cli_progress_update,
                           .progress_context = &progress};
    pcast_status status = PCAST_OK;
    cli_progress_start(&progress, "heads", layers);
    for (size_t i = 0; status == PCAST_OK && i < layers; i++) {
        layer_files files = {0};
        status = layers_read(&options->input, i, &files, err);
        if (status == PCAST_OK) {
            const size_t heads = layer_head_count(&files);
            progress.total = layers * heads;
            status = add_layer(options, &files, layers_name(&options->input, i), &run, all, err);
            progress.done_before += heads;
        }
        layer_files_free(&files);
    }
    cli_progress_end(&progress);
    if (status == PCAST_OK)
        all->overall = pcast_choose(&options->kernel, all->candidates, all->candidate_count,
                                    all->errors, all->count);
    return status;
}

/* The results, in the order in which they are written. */
enum { TRADE_OFF, REPORT, OUTPUT, RESULTS };

typedef struct results {
    cli_output outputs[RESULTS];
    int kinds[RESULTS];
    size_t count;
} results;

/* Opens all of them, so that what cannot be written is said before anything is computed. */
static int open_results(const diagnose_options *options, results *files)
{
    const char *const paths[RESULTS] = {options->trade_off, options->report, options->output};
    static const char *const names[RESULTS] = {"trade-off", "report", "output"};
    pcast_error err;
    for (int i = 0; i < RESULTS; i++) {
        if (i != OUTPUT && paths[i] == NULL)
            continue;
        if (cli_output_open(&files->outputs[files->count], paths[i], &err) != PCAST_OK)
            return cli_fail(EXIT_OUTPUT, options->name, "%s", err.text);
        files->kinds[files->count++] = i;
        if (cli_outputs_repeat(files->outputs, files->count))
            return cli_fail(EXIT_USAGE, options->name, "--%s: %s takes another result already",
                            names[i], paths[i] != NULL ? paths[i] : "standard output");
    }
    return options->report != NULL ? gnuplot_check(options->name) : EXIT_OK;
}

static int write_results(const diagnose_options *options, const diagnosed *all, results *files)
{
    int code = EXIT_OK;
    for (size_t i = 0; code == EXIT_OK && i < files->count; i++) {
        FILE *stream = files->outputs[i].stream;
        csv_writer csv = {.stream = stream};
        if (files->kinds[i] == TRADE_OFF)
            diagnose_write_trade_off(&csv, all);
        else if (files->kinds[i] == REPORT)
            code = diagnose_write_html(stream, options, all);
        else if (options->text)
            diagnose_write_text(stream, options, all);
        else
            diagnose_write_csv(&csv, options, all);
    }
    return code;
}

/* Mask, kernel, paths and sinks, whatever the tensors are. */
static int check_options(diagnose_options *options)
{
    pcast_error err = {""};
    int code = layers_check(&options->input, options->name);
    if (code == EXIT_OK && options->input.paths[LAYER_SCORES] != NULL &&
        (options->quantize || options->softmax_scale > 0))
        code = cli_fail(EXIT_USAGE, options->name, "--%s: needs --q and --k, not --scores",
                        options->quantize ? "quantize" : "softmax-scale");
    if (options->mask != NULL)
        pcast_kernel_set(&options->kernel, PCAST_FIELD_MASK, options->mask, NULL);
    cli_kernel_label(options->spec, options->mask, options->label);
    if (code == EXIT_OK)
        code = cli_check_kernel(options->name, "--kernel ", options->spec, &options->kernel);
    if (code == EXIT_OK &&
        parse_sink_choice(&options->sinks_text, &options->sinks, &err) != PCAST_OK)
        code = cli_fail(EXIT_USAGE, options->name, "--sinks: %s", err.text);
    return code;
}

static int run(diagnose_options *options)
{
    diagnosed all = {0};
    results files = {.count = 0};
    pcast_error err = {""};
    int code = check_options(options);
    if (code == EXIT_OK)
        code = open_results(options, &files);
    if (code == EXIT_OK) {
        all.candidate_count = pcast_candidates(&options->kernel, all.candidates);
        const pcast_status status = diagnose_layers(options, &all, &err);
        if (status != PCAST_OK)
            code = cli_fail(cli_exit_code(status), options->name, "%s", err.text);
    }
    if (code == EXIT_OK)
        code = write_results(options, &all, &files);
    code = cli_outputs_finish(files.outputs, files.count, code, options->name);
    for (size_t h = 0; h < all.count; h++)
        free(all.heads[h].diagnosis.head.sinks);
    free(all.heads);
    free(all.errors);
    return code;
}

int cli_diagnose(int argc, char **argv)
{
    diagnose_options options = {
        .name = argv[0], .spec = "paper", .argc = argc, .cpu = pcast_cpu_detect()};
    /* argp reorders argv; the report records it as it was given. */
    options.argv = cli_alloc((size_t)argc + 1, sizeof *options.argv);
    memcpy(options.argv, argv, (size_t)argc * sizeof *options.argv);
    pcast_kernel_parse(options.spec, &options.kernel, NULL, NULL);
    int code = cli_parse(&diagnose_argp, argc, argv, &options);
    if (code == EXIT_OK)
        code = run(&options);
    free(options.argv);
    cli_list_free(&options.input.layers);
    cli_list_free(&options.sinks_text);
    return code < 0 ? EXIT_OK : code;
}
