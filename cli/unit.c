/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pcast unit: float32 values through one operation of a GPU or its exact counterpart, one a line,
 * as CSV. */
#include "cli.h"
#include "csv.h"
#include "values.h"

#include "pcast/format.h"
#include "pcast/unit.h"

typedef struct unit_options {
    const char *name;
    pcast_unit unit;
    int unit_given;
    const char *input, *output;
} unit_options;

enum { KEY_OP = 0x100 };

static const struct argp_option unit_argp_options[] = {
    {"op", KEY_OP, "OP", 0,
     "ex2, ex2_noftz, rcp, lg2: the special function unit (ex2.approx.ftz.f32, ex2.approx.f32, "
     "rcp.approx.ftz.f32, lg2.approx.ftz.f32); expf, expf_fast: expf and __expf as nvcc 13.0 "
     "compiles them; fa4_poly3, fa4_poly5: FlashAttention-4's software exp2; exp, exp2, log, log2, "
     "tanh: correctly rounded; cvt_e4m3: cvt.rn.satfinite.e4m3x2.f32, whose value_bits are the "
     "code",
     0},
    {"output", 'o', "FILE", 0, "write FILE; - is stdout", 0},
    {"help", 'h', NULL, 0, "print this help", -1},
    {0},
};

static error_t take_unit(const char *arg, unit_options *options, struct argp_state *state)
{
    const char *words[PCAST_UNIT_COUNT + 1] = {NULL};
    int choice;
    for (int i = 0; i < PCAST_UNIT_COUNT; i++)
        words[i] = pcast_unit_name((pcast_unit)i);
    const error_t error = cli_take_word("op", arg, words, &choice, state);
    if (error == 0)
        options->unit = (pcast_unit)choice;
    options->unit_given = 1;
    return error;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    unit_options *options = state->input;
    switch (key) {
    case KEY_OP:
        return take_unit(arg, options, state);
    case 'o':
        options->output = arg;
        return 0;
    case ARGP_KEY_ARG:
        if (options->input != NULL)
            return ARGP_ERR_UNKNOWN;
        options->input = arg;
        return 0;
    case ARGP_KEY_END:
        return options->unit_given ? 0 : cli_bad(state, "--op is needed: ex2, rcp, expf, ...");
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp unit_argp = {
    .options = unit_argp_options,
    .parser = parse_option,
    .args_doc = "[FILE]",
    .doc = "Computes what one operation of an NVIDIA GPU gives, bit for bit. Reads one float32 a "
           "line from FILE (stdin): its bits (0x3F800000), or decimal, hex float (0x1.8p-3), inf "
           "or nan. Writes the CSV input,input_bits,value,value_bits. docs/numerics.md, section "
           "11, has every step."
           "\vExamples:\n"
           "  echo -10.1234 | pcast unit --op ex2\n"
           "  pcast unit --op cvt_e4m3 values.txt -o codes.csv",
};

typedef struct application {
    pcast_unit unit;
    csv_writer csv;
} application;

static void apply(void *context, const char *input, uint64_t bits)
{
    application *work = context;
    const pcast_format result = pcast_unit_result(work->unit);
    const uint32_t y = pcast_unit_apply(work->unit, (uint32_t)bits);
    csv_text(&work->csv, input);
    values_write_bits(&work->csv, PCAST_F32, bits);
    csv_number(&work->csv, pcast_decode_f64(result, y));
    values_write_bits(&work->csv, result, y);
    csv_end(&work->csv);
}

int cli_unit(int argc, char **argv)
{
    unit_options options = {.name = argv[0]};
    int code = cli_parse(&unit_argp, argc, argv, &options);
    if (code != EXIT_OK)
        return code < 0 ? EXIT_OK : code;
    values_source source;
    cli_output output;
    pcast_error err;
    if (values_open(&source, options.name, options.input) != EXIT_OK)
        return EXIT_INPUT;
    if (cli_output_open_filter(&output, options.output, &err) != PCAST_OK)
        return cli_fail(EXIT_OUTPUT, options.name, "%s", err.text);
    application work = {options.unit, {.stream = output.stream}};
    static const char *const columns[] = {"input", "input_bits", "value", "value_bits"};
    csv_names(&work.csv, columns, sizeof columns / sizeof columns[0]);
    code = values_each(&source, PCAST_F32, apply, &work);
    return cli_output_finish(&output, code, options.name);
}
