/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pcast identify: which kernel, with which settings, wrote these outputs. */
#include "identify.h"

#include <stdlib.h>
#include <string.h>

typedef struct identify_options {
    const char *name, *suite, *outputs, *o, *lse, *output;
    attend_options tensors; /* where they are files of their own */
    unsigned long long rows, top;
    int rows_given, csv;
} identify_options;

enum {
    KEY_OUTPUTS = 0x100,
    KEY_Q,
    KEY_K,
    KEY_V,
    KEY_O,
    KEY_LSE,
    KEY_FP8,
    KEY_LAYOUT,
    KEY_MASK,
    KEY_WINDOW_LEFT,
    KEY_WINDOW_RIGHT,
    KEY_KV_LENGTHS,
    KEY_Q_DESCALE,
    KEY_K_DESCALE,
    KEY_V_DESCALE,
    KEY_LEARNED_SINK,
    KEY_SOFTMAX_SCALE,
    KEY_ROWS,
    KEY_TOP,
    KEY_CSV,
    KEY_THREADS,
    KEY_CPU,
};

/* Rows of each head that are looked at, where no option says it. */
enum { ROWS = 24, TOP = 5 };

static const struct argp_option identify_argp_options[] = {
    {NULL, 0, NULL, 0, "Answers to a golden suite:", 1},
    {"outputs", KEY_OUTPUTS, "DIR", 0, "the folder of the kernel's answers to the suite in DIR", 0},
    {NULL, 0, NULL, 0, "Or tensors, NPY or safetensors (FILE:NAME chooses a tensor):", 2},
    {"q", KEY_Q, "FILE", 0, "Q as the kernel read it, and likewise", 0},
    {"k", KEY_K, "FILE", 0, "K", 0},
    {"v", KEY_V, "FILE", 0, "V", 0},
    {"o", KEY_O, "FILE", 0, "what it wrote", 0},
    {"lse", KEY_LSE, "FILE", 0, "its log-sum-exp", 0},
    {"fp8", KEY_FP8, "FORMAT", 0, "format of byte tensors: e4m3 (default), e5m2, ...", 0},
    {"layout", KEY_LAYOUT, "bhtd|bthd", 0, "order of dimensions (bhtd)", 0},
    {"mask", KEY_MASK, "MASK", 0, "none, causal (aligned bottom-right) or causal_top_left", 0},
    {"window-left", KEY_WINDOW_LEFT, "KEYS", 0, "keys seen to the left, the aligned one counted",
     0},
    {"window-right", KEY_WINDOW_RIGHT, "KEYS", 0, "to the right", 0},
    {"kv-lengths", KEY_KV_LENGTHS, "FILE", 0, "valid keys of each sequence", 0},
    {"q-descale", KEY_Q_DESCALE, "NUMBER|FILE", 0, "as for pcast attend", 0},
    {"k-descale", KEY_K_DESCALE, "NUMBER|FILE", 0, "", 0},
    {"v-descale", KEY_V_DESCALE, "NUMBER|FILE", 0, "", 0},
    {"learned-sink", KEY_LEARNED_SINK, "NUMBER|FILE", 0, "sink logits in nats", 0},
    {"softmax-scale", KEY_SOFTMAX_SCALE, "NUMBER", 0, "multiplies Q.K (1/sqrt(dim))", 0},
    {NULL, 0, NULL, 0, "Results and running:", 3},
    {"rows", KEY_ROWS, "NUMBER", 0,
     "queries of each head that are looked at, spread over all; 0: all (24)", 0},
    {"top", KEY_TOP, "NUMBER", 0, "presets that are listed (5)", 0},
    {"csv", KEY_CSV, NULL, 0, "all presets and all values tried, as CSV", 0},
    {"output", 'o', "FILE", 0, "write FILE; - is stdout", 0},
    {"threads", KEY_THREADS, "NUMBER", 0, "threads (one for each processor)", 0},
    {"cpu", KEY_CPU, "LEVEL", 0, "highest CPU level: scalar, avx2, avx512 or native", 0},
    {"help", 'h', NULL, 0, "print this help", -1},
    {0},
};

static error_t take_kernel_field(identify_options *options, pcast_field field, const char *option,
                                 const char *arg, struct argp_state *state)
{
    pcast_error err;
    if (pcast_kernel_set(&options->tensors.kernel, field, arg, &err) == PCAST_OK)
        return 0;
    return cli_bad(state, "--%s: %s", option, err.text);
}

static error_t take_softmax_scale(identify_options *options, const char *arg,
                                  struct argp_state *state)
{
    double value;
    pcast_error err;
    if (cli_parse_double(arg, &value, &err) != PCAST_OK || !((float)value > 0) ||
        (double)(float)value > 1e30)
        return cli_bad(state, "--softmax-scale: '%s' is not a positive number", arg);
    options->tensors.softmax_scale = (float)value;
    return 0;
}

static error_t take_layout(identify_options *options, const char *arg, struct argp_state *state)
{
    static const char *const words[] = {"bhtd", "bthd", NULL};
    int choice = 0;
    const error_t error = cli_take_word("layout", arg, words, &choice, state);
    options->tensors.layout = (pcast_layout)choice;
    return error;
}

/* What is given must be a suite with outputs, or tensors, and nothing of both. */
static error_t check_end(const identify_options *options, struct argp_state *state)
{
    const attend_options *tensors = &options->tensors;
    const int any =
        tensors->q != NULL || tensors->k != NULL || tensors->v != NULL || options->o != NULL;
    const int all =
        tensors->q != NULL && tensors->k != NULL && tensors->v != NULL && options->o != NULL;
    if (options->suite != NULL && any)
        return cli_bad(state, "a suite or tensors can be looked at, not both");
    if (options->suite == NULL && !any)
        return cli_bad(state, "a suite's folder and --outputs are needed, or --q, --k, --v, --o");
    if (options->suite != NULL && options->outputs == NULL)
        return cli_bad(state, "--outputs: needed, the folder of the kernel's answers");
    if (options->suite == NULL && options->outputs != NULL)
        return cli_bad(state, "--outputs: goes with a suite's folder");
    if (any && !all)
        return cli_bad(state, "--q, --k, --v and --o are needed, all four");
    return 0;
}

static error_t parse_tensor_option(int key, char *arg, struct argp_state *state)
{
    identify_options *options = state->input;
    attend_options *tensors = &options->tensors;
    switch (key) {
    case KEY_Q:
        tensors->q = arg;
        return 0;
    case KEY_K:
        tensors->k = arg;
        return 0;
    case KEY_V:
        tensors->v = arg;
        return 0;
    case KEY_O:
        options->o = arg;
        return 0;
    case KEY_LSE:
        options->lse = arg;
        return 0;
    case KEY_FP8:
        return cli_take_format("fp8", arg, PCAST_E5M2FNUZ, &tensors->fp8, state);
    case KEY_LAYOUT:
        return take_layout(options, arg, state);
    case KEY_MASK:
        return take_kernel_field(options, PCAST_FIELD_MASK, "mask", arg, state);
    case KEY_WINDOW_LEFT:
        return take_kernel_field(options, PCAST_FIELD_WINDOW_LEFT, "window-left", arg, state);
    case KEY_WINDOW_RIGHT:
        return take_kernel_field(options, PCAST_FIELD_WINDOW_RIGHT, "window-right", arg, state);
    case KEY_KV_LENGTHS:
        tensors->kv_lengths = arg;
        return 0;
    case KEY_Q_DESCALE:
        tensors->q_descale = arg;
        return 0;
    case KEY_K_DESCALE:
        tensors->k_descale = arg;
        return 0;
    case KEY_V_DESCALE:
        tensors->v_descale = arg;
        return 0;
    case KEY_LEARNED_SINK:
        tensors->learned_sink = arg;
        return 0;
    case KEY_SOFTMAX_SCALE:
        return take_softmax_scale(options, arg, state);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    identify_options *options = state->input;
    switch (key) {
    case KEY_OUTPUTS:
        options->outputs = arg;
        return 0;
    case KEY_ROWS:
        return cli_take_count("rows", arg, 0, 1 << 20, &options->rows, state);
    case KEY_TOP:
        return cli_take_count("top", arg, 1, 1000, &options->top, state);
    case KEY_CSV:
        options->csv = 1;
        return 0;
    case 'o':
        options->output = arg;
        return 0;
    case KEY_THREADS:
        return cli_take_count("threads", arg, 1, 1024, &options->tensors.threads, state);
    case KEY_CPU:
        return cli_take_cpu(arg, &options->tensors.cpu, state);
    case ARGP_KEY_ARG:
        if (options->suite != NULL)
            return ARGP_ERR_UNKNOWN;
        options->suite = arg;
        return 0;
    case ARGP_KEY_END:
        return check_end(options, state);
    default:
        return parse_tensor_option(key, arg, state);
    }
}

static const struct argp identify_argp = {
    .options = identify_argp_options,
    .parser = parse_option,
    .args_doc = "[DIR]",
    .doc = "Says which kernel wrote some outputs: runs every preset on the same inputs, then "
           "varies one aspect after the other from the best (order, block, S and where it enters, "
           "staleness, row sum, accumulator, exponential, output, ...), and ranks by how many "
           "numbers come out to the bit. For each aspect it says which values these outputs cannot "
           "tell apart, and which probe could."
           "\vExamples:\n"
           "  pcast identify suite --outputs out\n"
           "  pcast identify --q q.npy --k k.npy --v v.npy --o o.npy --mask causal",
};

static pcast_status read_sightings(const identify_options *options, identify_sightings *sightings,
                                   pcast_error *err)
{
    if (options->suite == NULL)
        return identify_read_tensors(&options->tensors, options->o, options->lse, sightings, err);
    return identify_read_suite(options->suite, options->outputs, sightings, err);
}

int cli_identify(int argc, char **argv)
{
    identify_options options = {.name = argv[0],
                                .rows = ROWS,
                                .top = TOP,
                                .tensors = {.name = argv[0],
                                            .fp8 = PCAST_E4M3,
                                            .cpu = pcast_cpu_detect(),
                                            .kernel = {.block = 1, .scale = 1}}};
    pcast_error err = {""};
    cli_output output;
    const int parsed = cli_parse(&identify_argp, argc, argv, &options);
    if (parsed != EXIT_OK)
        return parsed < 0 ? EXIT_OK : parsed;
    if (cli_output_open(&output, options.output, &err) != PCAST_OK)
        return cli_fail(EXIT_OUTPUT, options.name, "%s", err.text);
    identify_sightings sightings = {0};
    pcast_identity identity = {0};
    pcast_status status = read_sightings(&options, &sightings, &err);
    if (status == PCAST_OK)
        status = pcast_identify(sightings.sighting, sightings.count, options.rows,
                                (int)options.tensors.threads, options.tensors.cpu, &identity, &err);
    int code = EXIT_OK;
    if (status != PCAST_OK)
        code = cli_fail(cli_exit_code(status), options.name, "%s", err.text);
    else if (options.csv)
        identify_write_csv(output.stream, &identity);
    else
        identify_write_text(output.stream, &identity, options.top);
    pcast_identity_free(&identity);
    identify_sightings_free(&sightings);
    return cli_output_finish(&output, code, options.name);
}
