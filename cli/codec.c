/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pcast codec: values from stdin through the codec, one a line, as CSV. */
#include "cli.h"
#include "csv.h"

#include "base/bits.h"
#include "e4m3/float_format.h"
#include "pcast/e4m3.h"

#include <ctype.h>
#include <errno.h>
#include <fenv.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct codec_format {
    const char *name;
    const pcast_float_format *format;
} codec_format;

/* In the order of formats[]. */
#define FORMAT_NAMES "f32", "f64", "f16", "bf16", "e4m3"

static const codec_format formats[] = {
    {"f32", &pcast_format_f32},   {"f64", &pcast_format_f64},   {"f16", &pcast_format_f16},
    {"bf16", &pcast_format_bf16}, {"e4m3", &pcast_format_e4m3},
};

enum { FORMAT_COUNT = sizeof formats / sizeof formats[0], E4M3 = FORMAT_COUNT - 1 };

typedef struct codec_options {
    const char *name;
    const codec_format *from, *to;
    pcast_e4m3_options cast;
    const char *output;
} codec_options;

enum { KEY_FROM = 0x100, KEY_TO, KEY_OVERFLOW, KEY_INF, KEY_NAN };

static const struct argp_option codec_argp_options[] = {
    {"from", KEY_FROM, "FORMAT", 0, "format of the input: f32 (default), f64, f16, bf16 or e4m3",
     0},
    {"to", KEY_TO, "FORMAT", 0, "format of the output: e4m3 (default), or another to decode e4m3",
     0},
    {"overflow", KEY_OVERFLOW, "sat|nan", 0, "beyond 448 after rounding: +-448 (default) or NaN",
     0},
    {"inf", KEY_INF, "overflow|sat|nan", 0, "infinities: as an overflow (default), +-448, or NaN",
     0},
    {"nan", KEY_NAN, "canonical|sign", 0, "NaN: always 0x7F (default), or 0x7F and 0xFF by sign",
     0},
    {"output", 'o', "FILE", 0, "write FILE; - is stdout", 0},
    {"help", 'h', NULL, 0, "print this help", -1},
    {0},
};

/* Sets *choice to the index of arg among words, which NULL ends. */
static error_t choose(const char *option, const char *arg, const char *const *words, int *choice,
                      struct argp_state *state)
{
    for (*choice = 0; words[*choice] != NULL; ++*choice)
        if (strcmp(arg, words[*choice]) == 0)
            return 0;
    char known[64] = "";
    for (int i = 0; words[i] != NULL; i++)
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i > 0 ? ", " : "",
                 words[i]);
    return cli_bad(state, "--%s: '%s' is none of %s", option, arg, known);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    static const char *const format_words[] = {FORMAT_NAMES, NULL};
    static const char *const overflow_words[] = {"sat", "nan", NULL};
    static const char *const inf_words[] = {"overflow", "sat", "nan", NULL};
    static const char *const nan_words[] = {"canonical", "sign", NULL};
    codec_options *options = state->input;
    int choice;
    error_t error;
    switch (key) {
    case KEY_FROM:
        if ((error = choose("from", arg, format_words, &choice, state)) == 0)
            options->from = &formats[choice];
        return error;
    case KEY_TO:
        if ((error = choose("to", arg, format_words, &choice, state)) == 0)
            options->to = &formats[choice];
        return error;
    case KEY_OVERFLOW:
        if ((error = choose("overflow", arg, overflow_words, &choice, state)) == 0)
            options->cast.overflow = (pcast_overflow)choice;
        return error;
    case KEY_INF:
        if ((error = choose("inf", arg, inf_words, &choice, state)) == 0)
            options->cast.inf = (pcast_inf_policy)choice;
        return error;
    case KEY_NAN:
        if ((error = choose("nan", arg, nan_words, &choice, state)) == 0)
            options->cast.nan = (pcast_nan_policy)choice;
        return error;
    case 'o':
        options->output = arg;
        return 0;
    case ARGP_KEY_END:
        if ((options->from == &formats[E4M3]) == (options->to == &formats[E4M3]))
            return cli_bad(
                state, "--from %s --to %s: one of the two must be e4m3, the other a wider format",
                options->from->name, options->to->name);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp codec_argp = {
    .options = codec_argp_options,
    .parser = parse_option,
    .doc = "Converts values to E4M3, or E4M3 codes to another format. Reads one value a line from "
           "stdin: "
           "decimal, hex float (0x1.8p-3), inf, nan, or the bits of the input format (0x3F800000). "
           "Writes the CSV "
           "input,input_bits,code,value,value_bits: code is the output's bits, value what it "
           "stands for, "
           "value_bits that value in float32 (float64 for --to f64).",
};

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

/* The bits in `format` of a line's text, rounded once; 0 if the text is no value of it. */
static int parse_value(const char *text, const pcast_float_format *format, uint64_t *bits)
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
               (format->width == 64 || *bits >> format->width == 0);
    }
    if (!isdigit((unsigned char)digits[0]) && digits[0] != '.' && strcasecmp(digits, "inf") != 0 &&
        strcasecmp(digits, "infinity") != 0 && strcasecmp(digits, "nan") != 0)
        return 0;
    if (format == &pcast_format_f64) {
        *bits = pcast_bits_f64(strtod(text, &end));
        return *end == '\0';
    }
    const double value = parse_to_odd(text, &end);
    if (format == &pcast_format_e4m3)
        *bits = pcast_e4m3_encode_f64(value, (pcast_e4m3_options){.nan = PCAST_NAN_KEEP_SIGN});
    else
        *bits = pcast_pack(format, pcast_unpack(&pcast_format_f64, pcast_bits_f64(value)));
    return *end == '\0';
}

static uint8_t encode(const pcast_float_format *from, uint64_t bits, pcast_e4m3_options options)
{
    if (from == &pcast_format_f64)
        return pcast_e4m3_encode_f64(pcast_f64_from_bits(bits), options);
    if (from == &pcast_format_f16)
        return pcast_e4m3_encode_f16((uint16_t)bits, options);
    if (from == &pcast_format_bf16)
        return pcast_e4m3_encode_bf16((uint16_t)bits, options);
    return pcast_e4m3_encode_f32(pcast_f32_from_bits((uint32_t)bits), options);
}

static uint64_t decode(const pcast_float_format *to, uint8_t code)
{
    if (to == &pcast_format_f64)
        return pcast_bits_f64(pcast_e4m3_decode_f64(code));
    if (to == &pcast_format_f16)
        return pcast_e4m3_decode_f16(code);
    if (to == &pcast_format_bf16)
        return pcast_e4m3_decode_bf16(code);
    return pcast_bits_f32(pcast_e4m3_decode_f32(code));
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
    const pcast_float_format *from = options->from->format, *to = options->to->format;
    const int encoding = options->to == &formats[E4M3];
    const uint8_t code = encoding ? encode(from, bits, options->cast) : (uint8_t)bits;
    const pcast_float_format *shown =
        to == &pcast_format_f64 ? &pcast_format_f64 : &pcast_format_f32;
    csv_text(csv, input);
    write_bits(csv, from->width, bits);
    write_bits(csv, to->width, encoding ? code : decode(to, code));
    csv_number(csv, pcast_e4m3_decode_f64(code));
    write_bits(csv, shown->width, decode(shown, code));
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
        if (whole && parse_value(text, options->from->format, &bits))
            convert(options, csv, text, bits);
        else
            code = cli_fail(EXIT_INPUT, options->name,
                            "standard input, line %zu: '%.60s' is no %s value", number, text,
                            options->from->name);
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
    codec_options options = {.name = argv[0], .from = &formats[0], .to = &formats[E4M3]};
    const int code = cli_parse(&codec_argp, argc, argv, &options);
    if (code != EXIT_OK)
        return code < 0 ? EXIT_OK : code;
    return run(&options);
}
