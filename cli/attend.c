/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pcast attend: one kernel on tensors. */
#include "attend.h"

#include "pcast/tensor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY_KERNEL = 0x100,
    KEY_MASK,
    KEY_SEMANTICS,
    KEY_Q,
    KEY_K,
    KEY_V,
    KEY_FP8,
    KEY_LAYOUT,
    KEY_CU_Q,
    KEY_CU_K,
    KEY_KV_LENGTHS,
    KEY_Q_DESCALE,
    KEY_K_DESCALE,
    KEY_V_DESCALE,
    KEY_LEARNED_SINK,
    KEY_SOFTMAX_SCALE,
    KEY_LSE,
    KEY_DUMP,
    KEY_REPORT,
    KEY_METRICS,
    KEY_QUANTIZE,
    KEY_BUDGET,
    KEY_DRAW,
    KEY_HEADS,
    KEY_N,
    KEY_DIM,
    KEY_SEED,
    KEY_THREADS,
    KEY_CPU,
    KEY_DEVICE,
};

static const struct argp_option attend_argp_options[] = {
    {NULL, 0, NULL, 0, "The kernel:", 1},
    {"kernel", KEY_KERNEL, "SPEC", 0, "NAME[:field=value;...] (paper); see pcast kernels", 0},
    {"mask", KEY_MASK, "MASK", 0, "none, causal (aligned bottom-right) or causal_top_left", 0},
    {"semantics", KEY_SEMANTICS, "fp32|hardware", 0,
     "fp32 (the kernel's own, by default): exact exponentials, IEEE arithmetic; or hardware: its "
     "units and tensor core",
     0},
    {NULL, 0, NULL, 0,
     "Inputs, NPY or safetensors (FILE:NAME chooses a tensor), float32, float16, bfloat16 or FP8:",
     2},
    {"q", KEY_Q, "FILE", 0, "Q [batch, heads, tokens, dim]; batch, then heads may be left out", 0},
    {"k", KEY_K, "FILE", 0, "K; its heads divide those of Q", 0},
    {"v", KEY_V, "FILE", 0, "V, heads and tokens as K", 0},
    {"fp8", KEY_FP8, "FORMAT", 0,
     "format of byte tensors: e4m3 (default), e5m2, e4m3fnuz, e5m2fnuz", 0},
    {"layout", KEY_LAYOUT, "bhtd|bthd", 0,
     "order of dimensions: bhtd (default), or bthd, [batch, tokens, heads, dim]", 0},
    {"cu-seqlens-q", KEY_CU_Q, "FILE", 0,
     "cumulative lengths of sequences packed as [tokens, heads, dim]; with --cu-seqlens-k", 0},
    {"cu-seqlens-k", KEY_CU_K, "FILE", 0, "those of K and V", 0},
    {"kv-lengths", KEY_KV_LENGTHS, "FILE", 0, "valid keys of each sequence; the rest is not read",
     0},
    {"q-descale", KEY_Q_DESCALE, "NUMBER|FILE", 0,
     "what Q was divided by: one number, [KV heads], [batch, KV heads], or by heads of Q", 0},
    {"k-descale", KEY_K_DESCALE, "NUMBER|FILE", 0, "of K: one number, [KV heads] or with batch", 0},
    {"v-descale", KEY_V_DESCALE, "NUMBER|FILE", 0, "of V", 0},
    {"learned-sink", KEY_LEARNED_SINK, "NUMBER|FILE", 0, "sink logits in nats, [heads]", 0},
    {"softmax-scale", KEY_SOFTMAX_SCALE, "NUMBER", 0, "multiplies Q.K (1/sqrt(dim))", 0},
    {"quantize", KEY_QUANTIZE, NULL, 0,
     "quantise what came in 16 or 32 bits without a descale, as the kernel's fields say", 0},
    {"draw", KEY_DRAW, "normal|outliers", 0,
     "instead of files: Q, K, V of N(0,1), or + N(0,100) for one entry in 1000", 0},
    {"heads", KEY_HEADS, "NUMBER", 0, "heads drawn (4)", 0},
    {"n", KEY_N, "NUMBER", 0, "tokens drawn (1024)", 0},
    {"dim", KEY_DIM, "NUMBER", 0, "head dimension drawn (128)", 0},
    {"seed", KEY_SEED, "NUMBER", 0, "seed of the draws (1)", 0},
    {NULL, 0, NULL, 0, "Results:", 3},
    {"output", 'o', "FILE", 0,
     "O in the kernel's format: .npy, or .safetensors with o and, where the kernel returns it, lse",
     0},
    {"lse", KEY_LSE, "FILE", 0, "log-sum-exp [batch, heads, tokens], packed [heads, tokens], NPY",
     0},
    {"dump", KEY_DUMP, "LIST", 0,
     "m,l,p,p8,o_tile beside O, one NPY each: by KV block (NaN where not visited) or by key", 0},
    {"metrics", KEY_METRICS, "FILE", 0, "metrics per head; - is stdout (default)", 0},
    {"budget", KEY_BUDGET, NULL, 0,
     "instead of metrics the error budget: what quantising Q, K and V, the exponential unit, the "
     "cast of P, the accumulator, the row sum and the output's rounding contribute",
     0},
    {"report", KEY_REPORT, NULL, 0, "metrics as text for people instead of CSV", 0},
    {NULL, 0, NULL, 0, "Running:", 4},
    {"threads", KEY_THREADS, "NUMBER", 0, "threads (one for each processor)", 0},
    {"cpu", KEY_CPU, "LEVEL", 0, "highest CPU level: scalar, avx2, avx512 or native", 0},
    {"device", KEY_DEVICE, "cpu|cuda|replay", 0,
     "O and the log-sum-exp from a GPU's kernel (docs/cuda.md), or from its threads on the CPU: "
     "any "
     "kernel of FP32 semantics, or pcast-wgmma:semantics=hardware; the rest is the simulator's "
     "(cpu)",
     0},
    {"help", 'h', NULL, 0, "print this help", -1},
    {0},
};

static error_t take_kernel(attend_options *options, const char *arg, struct argp_state *state)
{
    pcast_error err;
    options->spec = arg;
    if (pcast_kernel_parse(arg, &options->kernel, NULL, &err) != PCAST_OK)
        return cli_bad(state, "--kernel: %s", err.text);
    return 0;
}

static error_t take_layout(attend_options *options, const char *arg, struct argp_state *state)
{
    if (strcmp(arg, "bhtd") != 0 && strcmp(arg, "bthd") != 0)
        return cli_bad(state, "--layout: '%s' is neither bhtd nor bthd", arg);
    options->layout = arg[1] == 'h' ? PCAST_LAYOUT_BHTD : PCAST_LAYOUT_BTHD;
    return 0;
}

static error_t take_softmax_scale(attend_options *options, const char *arg,
                                  struct argp_state *state)
{
    pcast_error err;
    double value;
    if (cli_parse_double(arg, &value, &err) != PCAST_OK || !((float)value > 0))
        return cli_bad(state, "--softmax-scale: '%s' is not a positive number", arg);
    options->softmax_scale = strtof(arg, NULL);
    return 0;
}

static error_t take_dump(attend_options *options, const char *arg, struct argp_state *state)
{
    pcast_error err;
    attend_dump dump;
    cli_list_free(&options->dump);
    if (cli_list_parse(arg, &options->dump, &err) != PCAST_OK ||
        attend_dump_choose(&options->dump, &dump, &err) != PCAST_OK)
        return cli_bad(state, "--dump: %s", err.text);
    return 0;
}

/* Options that only name a file or a text. */
static const char **text_option(attend_options *options, int key)
{
    switch (key) {
    case KEY_Q:
        return &options->q;
    case KEY_K:
        return &options->k;
    case KEY_V:
        return &options->v;
    case KEY_CU_Q:
        return &options->cu_q;
    case KEY_CU_K:
        return &options->cu_k;
    case KEY_KV_LENGTHS:
        return &options->kv_lengths;
    case KEY_Q_DESCALE:
        return &options->q_descale;
    case KEY_K_DESCALE:
        return &options->k_descale;
    case KEY_V_DESCALE:
        return &options->v_descale;
    case KEY_LEARNED_SINK:
        return &options->learned_sink;
    case KEY_LSE:
        return &options->lse;
    case KEY_METRICS:
        return &options->metrics;
    case 'o':
        return &options->output;
    default:
        return NULL;
    }
}

/* Drawn tensors are [1, heads, n, dim] in FP32, without descales. */
static error_t check_draw(const attend_options *options, struct argp_state *state)
{
    const struct {
        const char *option;
        int given;
    } others[] = {
        {"cu-seqlens-q", options->cu_q != NULL},          {"cu-seqlens-k", options->cu_k != NULL},
        {"kv-lengths", options->kv_lengths != NULL},      {"q-descale", options->q_descale != NULL},
        {"k-descale", options->k_descale != NULL},        {"v-descale", options->v_descale != NULL},
        {"layout", options->layout != PCAST_LAYOUT_BHTD}, {"fp8", options->fp8 != PCAST_E4M3},
    };
    if (options->q != NULL || options->k != NULL || options->v != NULL)
        return cli_bad(state, "--draw: takes the place of --q, --k and --v");
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (others[i].given)
            return cli_bad(state, "--%s: is for tensors from files, not for --draw",
                           others[i].option);
    return 0;
}

static error_t check_options(const attend_options *options, struct argp_state *state)
{
    const int files = (options->q != NULL) + (options->k != NULL) + (options->v != NULL);
    if (options->draw == NULL && files < 3)
        return cli_bad(state, "--q, --k and --v are needed (or --draw)");
    const error_t drawn = options->draw != NULL ? check_draw(options, state) : 0;
    if (drawn != 0)
        return drawn;
    if (options->budget && options->report)
        return cli_bad(state, "--report: is of metrics, in place of which --budget is written");
    const char *const inputs[] = {options->q,           options->k,         options->v,
                                  options->cu_q,        options->cu_k,      options->kv_lengths,
                                  options->q_descale,   options->k_descale, options->v_descale,
                                  options->learned_sink};
    int from_stdin = 0;
    for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++)
        from_stdin += inputs[i] != NULL && cli_is_stdin(inputs[i]);
    if (from_stdin > 1)
        return cli_bad(state, "standard input can be only one of the inputs");
    if ((options->cu_q == NULL) != (options->cu_k == NULL))
        return cli_bad(state, "--cu-seqlens-q and --cu-seqlens-k go together");
    if (options->dump.count > 0 && options->output == NULL)
        return cli_bad(state, "--dump: needs -o FILE, beside which it writes");
    if (options->dump.count > 0 && strcmp(options->output, "-") == 0)
        return cli_bad(state, "--dump: needs -o with a file, not stdout");
    return 0;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    attend_options *options = state->input;
    pcast_error err;
    const char **text = text_option(options, key);
    if (text != NULL) {
        *text = arg;
        return 0;
    }
    switch (key) {
    case KEY_KERNEL:
        return take_kernel(options, arg, state);
    case KEY_MASK:
        options->mask = arg;
        if (pcast_kernel_set(&(pcast_kernel){0}, PCAST_FIELD_MASK, arg, &err) != PCAST_OK)
            return cli_bad(state, "--%s", err.text);
        return 0;
    case KEY_SEMANTICS:
        options->semantics = arg;
        if (pcast_kernel_set(&(pcast_kernel){0}, PCAST_FIELD_SEMANTICS, arg, &err) != PCAST_OK)
            return cli_bad(state, "--%s", err.text);
        return 0;
    case KEY_FP8:
        return cli_take_format("fp8", arg, PCAST_E5M2FNUZ, &options->fp8, state);
    case KEY_LAYOUT:
        return take_layout(options, arg, state);
    case KEY_SOFTMAX_SCALE:
        return take_softmax_scale(options, arg, state);
    case KEY_DUMP:
        return take_dump(options, arg, state);
    case KEY_REPORT:
        options->report = 1;
        return 0;
    case KEY_QUANTIZE:
        options->quantize = 1;
        return 0;
    case KEY_BUDGET:
        options->budget = 1;
        return 0;
    case KEY_DRAW:
        options->draw = arg;
        return strcmp(arg, "normal") == 0 || strcmp(arg, "outliers") == 0
                   ? 0
                   : cli_bad(state, "--draw: '%s' is neither normal nor outliers", arg);
    case KEY_HEADS:
        return cli_take_count("heads", arg, 1, 4096, &options->heads, state);
    case KEY_N:
        return cli_take_count("n", arg, 1, 1 << 20, &options->n, state);
    case KEY_DIM:
        return cli_take_count("dim", arg, 1, 1 << 16, &options->dim, state);
    case KEY_SEED:
        return cli_take_count("seed", arg, 0, UINT64_MAX, &options->seed, state);
    case KEY_THREADS:
        return cli_take_count("threads", arg, 1, 1024, &options->threads, state);
    case KEY_CPU:
        return cli_take_cpu(arg, &options->cpu, state);
    case KEY_DEVICE:
        return cli_take_device(arg, &options->device_given, &options->device_kind, state);
    case ARGP_KEY_END:
        return check_options(options, state);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp attend_argp = {
    .options = attend_argp_options,
    .parser = parse_option,
    .doc = "Runs one kernel on Q, K and V and writes what it would: output, log-sum-exp, and on "
           "request every intermediate, with metrics per head against exact attention of the same "
           "scores."
           "\vExamples:\n"
           "  pcast attend --kernel fa3 --q q.npy --k k.npy --v v.npy --mask causal -o o.npy\n"
           "  pcast attend --kernel 'fa3:scale=448' --q x.safetensors --k x.safetensors --v "
           "x.safetensors --report",
};

static pcast_status simulate(const attend_options *options, attend_state *state, pcast_error *err)
{
    const pcast_attend *attend = &state->inputs.attend;
    pcast_attend_shape *shape = &state->shape;
    pcast_status status = pcast_attend_check(attend, &options->kernel, shape, err);
    pcast_kernel resolved = options->kernel;
    pcast_kernel_resolve(&resolved, shape->dim);
    if (status == PCAST_OK)
        status = attend_dump_init(&state->dump, shape, resolved.block, err);
    if (status != PCAST_OK)
        return status;
    pcast_attend_result *result = &state->result;
    result->o = cli_alloc(shape->heads * shape->rows, shape->value_dim * sizeof *result->o);
    result->lse = cli_alloc(shape->heads * shape->rows, sizeof *result->lse);
    result->heads = cli_alloc(shape->batch * shape->heads, sizeof *result->heads);
    if (options->dump.count > 0) {
        result->observer = attend_dump_tile;
        result->observer_context = &state->dump;
    }
    cli_progress progress;
    const pcast_run run = {.kernels = &options->kernel,
                           .kernel_count = 1,
                           .threads = (int)options->threads,
                           .cpu = options->cpu,
                           .device = options->device,
                           .progress = cli_progress_update,
                           .progress_context = &progress};
    cli_progress_start(&progress, "heads", shape->batch * shape->heads);
    if (options->budget) {
        state->budgets = cli_alloc(shape->batch * shape->heads, sizeof *state->budgets);
        status = pcast_attend_budget(attend, &run, (1u << PCAST_BUDGET_STAGES) - 1, result,
                                     state->budgets, err);
    } else {
        status = pcast_attend_run(attend, &run, result, err);
    }
    cli_progress_end(&progress);
    return status;
}

static int run(attend_options *options)
{
    attend_state state = {0};
    attend_files files = {0};
    pcast_error err = {""};
    pcast_status status = attend_dump_choose(&options->dump, &state.dump, &err);
    int code = attend_files_open(&files, options, &state.dump);
    if (code == EXIT_OK) {
        status = attend_read(options, &state.inputs, &err);
        if (status == PCAST_OK)
            status = simulate(options, &state, &err);
        if (status == PCAST_OK)
            status = attend_files_write(&files, options, &state, &err);
        if (status != PCAST_OK)
            code = cli_fail(cli_exit_code(status), options->name, "%s", err.text);
    }
    code = cli_outputs_finish(files.all, files.count, code, options->name);
    attend_inputs_free(&state.inputs);
    attend_dump_free(&state.dump);
    free(state.result.o);
    free(state.result.lse);
    free(state.result.heads);
    free(state.budgets);
    return code;
}

/* The kernel as the options leave it. */
static int settle_kernel(attend_options *options)
{
    if (options->mask != NULL)
        pcast_kernel_set(&options->kernel, PCAST_FIELD_MASK, options->mask, NULL);
    if (options->semantics != NULL)
        pcast_kernel_set(&options->kernel, PCAST_FIELD_SEMANTICS, options->semantics, NULL);
    const int code = cli_check_kernel(options->name, "--kernel ", options->spec, &options->kernel);
    if (code != EXIT_OK)
        return code;
    if (options->lse != NULL && options->kernel.lse == PCAST_LSE_NONE)
        return cli_fail(EXIT_USAGE, options->name,
                        "--lse: this kernel returns none; add lse=e or lse=2 to its SPEC");
    return EXIT_OK;
}

int cli_attend(int argc, char **argv)
{
    attend_options options = {.name = argv[0],
                              .spec = "paper",
                              .cpu = pcast_cpu_detect(),
                              .heads = 4,
                              .n = 1024,
                              .dim = 128,
                              .seed = 1};
    pcast_kernel_parse(options.spec, &options.kernel, NULL, NULL);
    int code = cli_parse(&attend_argp, argc, argv, &options);
    if (code == EXIT_OK)
        code = settle_kernel(&options);
    pcast_error err;
    if (code == EXIT_OK && options.device_given && (options.budget || options.quantize))
        code = cli_fail(EXIT_USAGE, options.name,
                        "--device: takes inputs as they are, without --quantize and --budget");
    if (code == EXIT_OK && options.device_given) {
        const pcast_status status = pcast_device_open(options.device_kind, &options.device, &err);
        if (status != PCAST_OK)
            code = cli_fail(cli_exit_code(status), options.name, "--device: %s", err.text);
    }
    if (code == EXIT_OK)
        code = run(&options);
    pcast_device_close(options.device);
    cli_list_free(&options.dump);
    return code < 0 ? EXIT_OK : code;
}
