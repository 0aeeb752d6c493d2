/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pcast diff: two tensors bit by bit. */
#include "cli.h"
#include "csv.h"

#include "pcast/compare.h"
#include "pcast/tensor.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DIFF_RANK_MAX = 4, DIFF_TOP_MAX = 10000 };

typedef struct diff_options {
    const char *name;
    const char *paths[2];
    int path_count;
    pcast_format fp8;
    unsigned long long top;
    int csv;
} diff_options;

enum { KEY_FP8 = 0x100, KEY_TOP, KEY_CSV };

static const struct argp_option diff_argp_options[] = {
    {"fp8", KEY_FP8, "FORMAT", 0,
     "what bytes in NPY files are codes of: e4m3 (default), e5m2, e4m3fnuz or e5m2fnuz", 0},
    {"top", KEY_TOP, "NUMBER", 0, "also list the NUMBER elements that are furthest apart (0)", 0},
    {"csv", KEY_CSV, NULL, 0, "only the histogram of ulp distances, as CSV", 0},
    {"help", 'h', NULL, 0, "print this help", -1},
    {0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    diff_options *options = state->input;
    switch (key) {
    case KEY_FP8:
        return cli_take_format("fp8", arg, PCAST_E5M2FNUZ, &options->fp8, state);
    case KEY_TOP:
        return cli_take_count("top", arg, 0, DIFF_TOP_MAX, &options->top, state);
    case KEY_CSV:
        options->csv = 1;
        return 0;
    case ARGP_KEY_ARG:
        if (options->path_count == 2)
            return ARGP_ERR_UNKNOWN;
        options->paths[options->path_count++] = arg;
        return 0;
    case ARGP_KEY_END:
        if (options->path_count < 2)
            return cli_bad(state, "two files are needed, %d given", options->path_count);
        if (cli_is_stdin(options->paths[0]) && cli_is_stdin(options->paths[1]))
            return cli_bad(state, "standard input can be only one of the two files");
        if (options->csv && options->top > 0)
            return cli_bad(state, "--top: does not go with --csv");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp diff_argp = {
    .options = diff_argp_options,
    .parser = parse_option,
    .args_doc = "A B",
    .doc = "Compares two tensors of one shape, NPY or safetensors (FILE:NAME chooses a tensor), "
           "bit by "
           "bit: in the narrower of their two formats if it holds all values of the other, else in "
           "float32. Two NaNs are equal. Exits with 1 if any element differs."
           "\vExamples:\n"
           "  pcast diff o.npy reference.npy\n"
           "  pcast diff kernel.safetensors:o expected.safetensors:o --top 10",
};

/* "[1, 2, 4]" */
static const char *shape_text(const pcast_tensor *tensor, char text[128])
{
    int length = sprintf(text, "[");
    for (size_t i = 0; i < tensor->rank; i++)
        length += sprintf(text + length, "%s%zu", i > 0 ? ", " : "", tensor->shape[i]);
    sprintf(text + length, "]");
    return text;
}

/* "[head 0, query 3, channel 1]": the last dimension is the channel. */
static void print_position(FILE *out, const pcast_tensor *tensor, size_t index)
{
    static const char *const names[DIFF_RANK_MAX] = {"batch", "head", "query", "channel"};
    size_t at[DIFF_RANK_MAX] = {0};
    for (size_t i = tensor->rank; i-- > 0; index /= tensor->shape[i])
        at[i] = index % tensor->shape[i];
    fputc('[', out);
    for (size_t i = 0; i < tensor->rank; i++)
        fprintf(out, "%s%s %zu", i > 0 ? ", " : "", names[DIFF_RANK_MAX - tensor->rank + i], at[i]);
    fputc(']', out);
}

/* printf writes the sign of a NaN, which the bits show. */
static void print_number(FILE *out, double value)
{
    if (isnan(value))
        fputs("nan", out);
    else
        fprintf(out, "%.9g", value);
}

/* Position, both values with their bits, distance. */
static void print_difference(FILE *out, const pcast_tensor *tensor, pcast_format format,
                             const pcast_difference *difference)
{
    const int digits = pcast_format_width(format) / 4;
    print_position(out, tensor, difference->index);
    fputs(": ", out);
    print_number(out, (double)difference->a);
    fprintf(out, " (0x%0*" PRIX32 ") and ", digits, difference->a_code);
    print_number(out, (double)difference->b);
    fprintf(out, " (0x%0*" PRIX32 "), ", digits, difference->b_code);
    if (difference->ulp == PCAST_ULP_NAN)
        fputs("NaN in one\n", out);
    else if (difference->ulp == 0)
        fputs("sign of zero\n", out);
    else
        fprintf(out, "%" PRIu32 " ulp\n", difference->ulp);
}

/* One row of the histogram. */
static void write_class(csv_writer *writer, int csv, const char *name, size_t count)
{
    if (csv) {
        csv_text(writer, name);
        csv_count(writer, count);
        csv_end(writer);
    } else {
        fprintf(writer->stream, "  %-21s %zu\n", name, count);
    }
}

/* Bins up to the last that is not empty, then what has no distance. */
static void write_histogram(FILE *out, int csv, const pcast_comparison *comparison)
{
    csv_writer writer = {.stream = out};
    int last = PCAST_ULP_BINS - 1;
    while (last > 0 && comparison->ulp[last] == 0)
        last--;
    if (csv)
        csv_names(&writer, (const char *const[]){"ulp", "elements"}, 2);
    else
        fputs("elements by ulp distance:\n", out);
    for (int bin = 0; bin <= last; bin++) {
        char name[32];
        if (bin <= 2)
            snprintf(name, sizeof name, "%d", bin);
        else
            snprintf(name, sizeof name, "%llu-%llu", (1ull << (bin - 2)) + 1, 1ull << (bin - 1));
        write_class(&writer, csv, name, comparison->ulp[bin]);
    }
    write_class(&writer, csv, "sign of zero", comparison->zero_sign);
    write_class(&writer, csv, "NaN in one", comparison->one_nan);
}

static void write_differences(FILE *out, const pcast_tensor *tensor,
                              const pcast_comparison *comparison, const pcast_difference *top)
{
    const pcast_format format = comparison->format;
    fputs("first difference: ", out);
    print_difference(out, tensor, format, &comparison->first);
    if (comparison->largest_ulp.ulp > 0) {
        fputs("largest ulp distance: ", out);
        print_difference(out, tensor, format, &comparison->largest_ulp);
    }
    if (comparison->max_abs > 0) {
        fprintf(out, "largest absolute difference: %.9g at ", comparison->max_abs);
        print_difference(out, tensor, format, &comparison->largest_abs);
    }
    for (size_t i = 0; i < comparison->top_count; i++) {
        fprintf(out, "%s  ", i == 0 ? "furthest apart:\n" : "");
        print_difference(out, tensor, format, &top[i]);
    }
}

static void write_report(FILE *out, const diff_options *options, const pcast_tensor tensors[2],
                         const pcast_comparison *comparison, const pcast_difference *top)
{
    const size_t different = comparison->count - comparison->equal;
    char shape[128];
    for (int i = 0; i < 2; i++)
        fprintf(out, "%c: %s %s, %s\n", "AB"[i], pcast_format_name(tensors[i].format),
                shape_text(&tensors[i], shape), options -> paths[i]);
    fprintf(out, "compared in %s: %zu elements, %zu equal (%zu NaN in both), %zu different\n",
            pcast_format_name(comparison->format), comparison->count, comparison->equal,
            comparison->both_nan, different);
    if (different > 0)
        write_differences(out, &tensors[0], comparison, top);
    fputs("relative L2: ", out);
    print_number(out, comparison->rel_l2);
    fputs("\ncosine: ", out);
    print_number(out, comparison->cosine);
    fputc('\n', out);
    write_histogram(out, 0, comparison);
}

static float *values_of(const pcast_tensor *tensor)
{
    const size_t count = pcast_tensor_size(tensor);
    float *values = cli_alloc(count, sizeof *values);
    pcast_tensor_get(tensor, 0, count, values);
    return values;
}

static int compare(const diff_options *options, const pcast_tensor tensors[2])
{
    pcast_comparison comparison;
    cli_output output;
    pcast_error err;
    pcast_difference *top = cli_alloc((size_t)options->top, sizeof *top);
    const size_t count = pcast_tensor_size(&tensors[0]);
    float *a = values_of(&tensors[0]), *b = values_of(&tensors[1]);
    pcast_compare((pcast_values){tensors[0].format, a}, (pcast_values){tensors[1].format, b}, count,
                  &comparison, top, (size_t)options->top);
    free(a);
    free(b);
    int code = EXIT_OK;
    if (cli_output_open(&output, NULL, &err) != PCAST_OK)
        code = cli_fail(EXIT_OUTPUT, options->name, "%s", err.text);
    if (code == EXIT_OK) {
        if (options->csv)
            write_histogram(output.stream, 1, &comparison);
        else
            write_report(output.stream, options, tensors, &comparison, top);
        code = cli_output_finish(&output, EXIT_OK, options->name);
    }
    free(top);
    return code == EXIT_OK && comparison.equal < comparison.count ? EXIT_DIFFERENT : code;
}

/* Reads both; one line where they cannot be compared. */
static int read_tensors(const diff_options *options, pcast_tensor tensors[2])
{
    pcast_error err;
    for (int i = 0; i < 2; i++) {
        const pcast_status status =
            pcast_tensor_read(options->paths[i], NULL, options->fp8, &tensors[i], &err);
        if (status != PCAST_OK)
            return cli_fail(cli_exit_code(status), options->name, "%s", err.text);
        if (tensors[i].rank > DIFF_RANK_MAX)
            return cli_fail(EXIT_INPUT, options->name,
                            "%s: rank %zu, expected at most [batch, head, query, channel]",
                            options->paths[i], tensors[i].rank);
    }
    char a[128], b[128];
    if (tensors[0].rank != tensors[1].rank ||
        memcmp(tensors[0].shape, tensors[1].shape, sizeof tensors[0].shape) != 0)
        return cli_fail(EXIT_INPUT, options->name, "shapes differ: %s %s and %s %s",
                        options->paths[0], shape_text(&tensors[0], a), options->paths[1],
                        shape_text(&tensors[1], b));
    return EXIT_OK;
}

int cli_diff(int argc, char **argv)
{
    diff_options options = {.name = argv[0], .fp8 = PCAST_E4M3};
    pcast_tensor tensors[2] = {{0}};
    int code = cli_parse(&diff_argp, argc, argv, &options);
    if (code != EXIT_OK)
        return code < 0 ? EXIT_OK : code;
    code = read_tensors(&options, tensors);
    if (code == EXIT_OK)
        code = compare(&options, tensors);
    pcast_tensor_free(&tensors[0]);
    pcast_tensor_free(&tensors[1]);
    return code;
}
