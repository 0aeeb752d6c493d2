/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pcast codec: values from stdin through the codec, one a line, as CSV. */
#include "cli.h"
#include "csv.h"

#include "base/bits.h"
#include "pcast/format.h"

#include <ctype.h>
#include <errno.h>
#include <fenv.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* Infinities and NaNs stay what they are. */
static const pcast_cast as_is = {PCAST_OVERFLOW_NAN, PCAST_INF_NAN, PCAST_NAN_KEEP_SIGN};

/* A decimal or hex-float text rounded to odd in binary64: enough bits below any narrower format's
 * last one for a second rounding to be right. strtod follows the rounding mode, so two directed
 * conversions tell whether the text is exact. */
static double parse_to_odd(const char *text, char **end)
{
    fesetround(FE_TOWARDZERO);
    const double inner = strtod(text, end);
    fesetround(FE_UPWARD);
    const double up = strtod(text, NULL);
    fesetround(FE_DOWNWARD);
    const double down = strtod(text, NULL);
    fesetround(FE_TONEAREST);
    return up == down || inner != inner ? inner : pcast_f64_from_bits(pcast_bits_f64(inner) | 1);
}

/* The bits in `format` of a line's text, rounded once; returns 0 if the text is no value of it. */
static int parse_value(const char *text, pcast_format format, uint64_t *bits)
{
    char *end;
    const char *digits = text[0] == '-' || text[0] == '+' ? text + 1 : text;
    if (digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X') &&
        strpbrk(text, ".pP") == NULL) {
        if (digits != text) /* bits have no sign of their own */
            return 0;
        errno = 0;
        *bits = strtoull(text, &end, 16);
        return end != text && *end == '\0' && errno == 0 &&
               (pcast_format_width(format) == 64 || *bits >> pcast_format_width(format) == 0);
    }
    if (!isdigit((unsigned char)digits[0]) && digits[0] != '.' && strcasecmp(digits, "inf") != 0 &&
        strcasecmp(digits, "infinity") != 0 && strcasecmp(digits, "nan") != 0)
        return 0;
    if (format == PCAST_F64) {
        *bits = pcast_bits_f64(strtod(text, &end));
        return *end == '\0';
    }
    const double value = parse_to_odd(text, &end);
    *bits = pcast_convert(format, PCAST_F64, pcast_bits_f64(value), as_is);
    if (isnan(pcast_decode_f64(format, *bits)) && !isnan(value)) /* too large, and no infinity */
        *bits = pcast_convert(format, PCAST_F64, pcast_bits_f64(value), (pcast_cast){0});
    return *end == '\0';
}

static void write_bits(csv_writer *csv, int width, uint64_t bits)
{
    char digits[17], text[24];
    snprintf(digits, sizeof digits, "%016" PRIX64, bits);
    snprintf(text, sizeof text, "0x%s", digits + 16 - width / 4);
    csv_text(csv, text);
}

static void convert(const codec_options *options, csv_writer *csv, const char *input, uint64_t bits)
{
    const uint64_t code = pcast_convert(options->to, options->from, bits, options->cast);
    const pcast_format shown = options->to == PCAST_F64 ? PCAST_F64 : PCAST_F32;
    csv_text(csv, input);
    write_bits(csv, pcast_format_width(options->from), bits);
    write_bits(csv, pcast_format_width(options->to), code);
    (shown == PCAST_F64 ? csv_exact : csv_number)(csv, pcast_decode_f64(options->to, code));
    write_bits(csv, pcast_format_width(shown), pcast_convert(shown, options->to, code, as_is));
    csv_end(csv);
}

/* The line without surrounding space. */
static char *trim(char *line)
{
    while (isspace((unsigned char)*line))
        line++;
    for (size_t length = strlen(line); length > 0 && isspace((unsigned char)line[length - 1]);
         length--)
        line[length - 1] = '\0';
    return line;
}

static int convert_lines(const codec_options *options, csv_writer *csv)
{
    char *line = NULL;
    size_t capacity = 0, number = 0;
    ssize_t length;
    int code = EXIT_OK;
    while (code == EXIT_OK && (length = getline(&line, &capacity, stdin)) >= 0) {
        uint64_t bits;
        const int whole = strlen(line) == (size_t)length; /* no NUL inside */
        const char *text = trim(line);
        number++;
        if (*text == '\0' && whole)
            continue;
        if (whole && parse_value(text, options->from, &bits))
            convert(options, csv, text, bits);
        else
            code = cli_fail(EXIT_INPUT, options->name,
                            "standard input, line %zu: '%.60s' is no %s value", number, text,
                            pcast_format_name(options->from));
    }
    if (code == EXIT_OK && ferror(stdin))
        code = cli_fail(EXIT_INPUT, options->name, "standard input: %s", strerror(errno));
    free(line);
    return code;
}

static int run(const codec_options *options)
{
    cli_output output;
    pcast_error err;
    if (cli_output_open_filter(&output, options->output, &err) != PCAST_OK)
        return cli_fail(EXIT_OUTPUT, options->name, "%s", err.text);
    csv_writer csv = {.stream = output.stream};
    static const char *const columns[] = {"input", "input_bits", "code", "value", "value_bits"};
    csv_names(&csv, columns, sizeof columns / sizeof columns[0]);
    const int code = convert_lines(options, &csv);
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
