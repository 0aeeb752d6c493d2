/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pcast codec: values from stdin through the codec, one a line, as CSV. */
#include "cli.h"
#include "csv.h"
#include "values.h"

#include "pcast/format.h"

typedef struct codec_options {
    const char *name;
    pcast_format from, to;
    pcast_cast cast;
    int overflow_given, nan_given;
    const char *output;
} codec_options;

enum { KEY_FROM = 0x100, KEY_TO, KEY_OVERFLOW, KEY_INF, KEY_NAN };

static const struct argp_option codec_argp_options[] = {
    {"from", KEY_FROM, "FORMAT", 0,
     "format of the input: e4m3, e5m2, e4m3fnuz, e5m2fnuz, f16, bf16, f32 (default) or f64", 0},
    {"to", KEY_TO, "FORMAT", 0, "format of the output, e4m3 (default)", 0},
    {"overflow", KEY_OVERFLOW, "sat|nan", 0,
     "too large after rounding: the largest value (default to 8 bits), or infinity, NaN where "
     "there is none (default to wider formats)",
     0},
    {"inf", KEY_INF, "overflow|sat|nan", 0,
     "infinities: as an overflow (default), the largest value, or infinity, NaN where there is "
     "none",
     0},
    {"nan", KEY_NAN, "canonical|sign", 0,
     "NaN: all ones (default to 8 bits), or the quiet NaN of its sign (default to wider formats); "
     "0x80 in the fnuz formats",
     0},
    {"output", 'o', "FILE", 0, "write FILE; - is stdout", 0},
    {"help", 'h', NULL, 0, "print this help", -1},
    {0},
};

/* Conversions to 8 bits are the hardware's, those to wider formats IEEE 754's. */
static void set_defaults(codec_options *options)
{
    const int wide = pcast_format_width(options->to) > 8;
    if (!options->overflow_given && wide)
        options->cast.overflow = PCAST_OVERFLOW_NAN;
    if (!options->nan_given && wide)
        options->cast.nan = PCAST_NAN_KEEP_SIGN;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    static const char *const overflow_words[] = {"sat", "nan", NULL};
    static const char *const inf_words[] = {"overflow", "sat", "nan", NULL};
    static const char *const nan_words[] = {"canonical", "sign", NULL};
    codec_options *options = state->input;
    int choice;
    error_t error;
    switch (key) {
    case KEY_FROM:
        return cli_take_format("from", arg, PCAST_F64, &options->from, state);
    case KEY_TO:
        return cli_take_format("to", arg, PCAST_F64, &options->to, state);
    case KEY_OVERFLOW:
        if ((error = cli_take_word("overflow", arg, overflow_words, &choice, state)) == 0)
            options->cast.overflow = (pcast_overflow)choice;
        options->overflow_given = 1;
        return error;
    case KEY_INF:
        if ((error = cli_take_word("inf", arg, inf_words, &choice, state)) == 0)
            options->cast.inf = (pcast_inf_policy)choice;
        return error;
    case KEY_NAN:
        if ((error = cli_take_word("nan", arg, nan_words, &choice, state)) == 0)
            options->cast.nan = (pcast_nan_policy)choice;
        options->nan_given = 1;
        return error;
    case ARGP_KEY_END:
        set_defaults(options);
        return 0;
    case 'o':
        options->output = arg;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp codec_argp = {
    .options = codec_argp_options,
    .parser = parse_option,
    .doc = "Converts values from one floating-point format to another with one rounding. Reads one "
           "value a line from stdin: the bits of the input format (0x3F800000), or decimal, hex "
           "float (0x1.8p-3), inf or nan, which are rounded to the input format first, once; what "
           "is too large for it is infinity there, the largest value where there is none. Writes "
           "the CSV input,input_bits,code,value,value_bits: code is the output's bits, value what "
           "it stands for, value_bits that value in float32 (float64 for --to f64).",
};

typedef struct conversion {
    const codec_options *options;
    csv_writer csv;
} conversion;

static void convert(void *context, const char *input, uint64_t bits)
{
    conversion *work = context;
    csv_writer *csv = &work->csv;
    const pcast_format from = work->options->from, to = work->options->to;
    const pcast_format shown = to == PCAST_F64 ? PCAST_F64 : PCAST_F32;
    const uint64_t code = pcast_convert(to, from, bits, work->options->cast);
    csv_text(csv, input);
    values_write_bits(csv, from, bits);
    values_write_bits(csv, to, code);
    (shown == PCAST_F64 ? csv_exact : csv_number)(csv, pcast_decode_f64(to, code));
    values_write_bits(csv, shown, pcast_convert(shown, to, code, values_as_is));
    csv_end(csv);
}

static int run(const codec_options *options)
{
    cli_output output;
    values_source source;
    pcast_error err;
    if (values_open(&source, options->name, NULL) != EXIT_OK)
        return EXIT_INPUT;
    if (cli_output_open_filter(&output, options->output, &err) != PCAST_OK)
        return cli_fail(EXIT_OUTPUT, options->name, "%s", err.text);
    conversion work = {options, {.stream = output.stream}};
    static const char *const columns[] = {"input", "input_bits", "code", "value", "value_bits"};
    csv_names(&work.csv, columns, sizeof columns / sizeof columns[0]);
    const int code = values_each(&source, options->from, convert, &work);
    return cli_output_finish(&output, code, options->name);
}

int cli_codec(int argc, char **argv)
{
    codec_options options = {.name = argv[0], .from = PCAST_F32, .to = PCAST_E4M3};
    const int code = cli_parse(&codec_argp, argc, argv, &options);
    if (code != EXIT_OK)
        return code < 0 ? EXIT_OK : code;
    return run(&options);
}
