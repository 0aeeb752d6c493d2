/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pcast tensorcore: a matrix product, or many dot products, as an FP8 tensor core writes it
 * (docs/numerics.md, section 10). */
#include "cli.h"
#include "csv.h"

#include "base/bits.h"
#include "experiment/parallel.h"
#include "pcast/tensor.h"
#include "pcast/tensor_core.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { A, B, C, INPUTS };

typedef struct tensorcore_options {
    const char *name;
    pcast_tensor_core core;
    int machine_given, b_given, rowwise, list;
    const char *paths[INPUTS]; /* C may be NULL */
    const char *output;
    unsigned long long threads;
} tensorcore_options;

enum { KEY_MACHINE = 0x100, KEY_FORMAT, KEY_B_FORMAT, KEY_A, KEY_B, KEY_C, KEY_ROWWISE };
enum { KEY_OUTPUT = 0x200, KEY_CPU, KEY_THREADS, KEY_LIST };

static const struct argp_option tensorcore_argp_options[] = {
    {"machine", KEY_MACHINE, "MACHINE", 0, "ada-mma, hopper-wgmma, hopper-mma or blackwell-tcgen05",
     0},
    {"format", KEY_FORMAT, "e4m3|e5m2", 0, "format of A's codes, and of B's: e4m3 (default)", 0},
    {"b-format", KEY_B_FORMAT, "e4m3|e5m2", 0, "format of B's codes where it is another", 0},
    {"a", KEY_A, "FILE", 0, "A, [M, K] codes (uint8 in NPY, FP8 in safetensors)", 0},
    {"b", KEY_B, "FILE", 0, "B, [K, N] codes", 0},
    {"c", KEY_C, "FILE", 0,
     "the accumulator, [M, N] float32 or its bits as uint32, or float16 with --output f16 (zeros)",
     0},
    {"rowwise", KEY_ROWWISE, NULL, 0, "A and B are [R, K]: one dot product a row; C and D are [R]",
     0},
    {"output", KEY_OUTPUT, "f32|f16", 0,
     "format of accumulator and result: f32 (default); f16 results are written as float32", 0},
    {NULL, 'o', "FILE", 0, "write D to FILE, NPY in float32; - is stdout", 0},
    {"cpu", KEY_CPU, "LEVEL", 0,
     "highest CPU level: scalar, avx2, avx512 or native (default); results do not depend on it", 0},
    {"threads", KEY_THREADS, "NUMBER", 0,
     "threads (one for each processor); results do not depend on it", 0},
    {"list", KEY_LIST, NULL, 0, "only list the machines and their sources, as CSV", 0},
    {"help", 'h', NULL, 0, "print this help", -1},
    {0},
};

static error_t take_machine(const char *arg, tensorcore_options *options, struct argp_state *state)
{
    const char *words[PCAST_MACHINE_COUNT + 1] = {NULL};
    int choice;
    for (int i = 0; i < PCAST_MACHINE_COUNT; i++)
        words[i] = pcast_machine_name((pcast_machine)i);
    const error_t error = cli_take_word("machine", arg, words, &choice, state);
    options->core.machine = (pcast_machine)choice;
    options->machine_given = 1;
    return error;
}

static error_t check_options(const tensorcore_options *options, struct argp_state *state)
{
    static const char *const names[] = {"--a", "--b"};
    int on_stdin = 0;
    if (options->list)
        return 0;
    if (!options->machine_given)
        return cli_bad(state, "--machine: is missing; --list lists the machines");
    for (int i = 0; i < C; i++)
        if (options->paths[i] == NULL)
            return cli_bad(state, "%s: is missing", names[i]);
    if (options->output == NULL)
        return cli_bad(state, "-o: is missing");
    for (int i = 0; i < INPUTS; i++)
        on_stdin += options->paths[i] != NULL && cli_is_stdin(options->paths[i]);
    return on_stdin > 1 ? cli_bad(state, "standard input can be only one of the files") : 0;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    static const char *const output_words[] = {"f32", "f16", NULL};
    tensorcore_options *options = state->input;
    int choice;
    error_t error;
    switch (key) {
    case KEY_MACHINE:
        return take_machine(arg, options, state);
    case KEY_FORMAT:
        return cli_take_format("format", arg, PCAST_E5M2, &options->core.a, state);
    case KEY_B_FORMAT:
        options->b_given = 1;
        return cli_take_format("b-format", arg, PCAST_E5M2, &options->core.b, state);
    case KEY_A:
    case KEY_B:
    case KEY_C:
        options->paths[key - KEY_A] = arg;
        return 0;
    case KEY_ROWWISE:
        options->rowwise = 1;
        return 0;
    case KEY_OUTPUT:
        if ((error = cli_take_word("output", arg, output_words, &choice, state)) == 0)
            options->core.output = (pcast_tensor_core_output)choice;
        return error;
    case 'o':
        options->output = arg;
        return 0;
    case KEY_CPU:
        return cli_take_cpu(arg, &options->core.cpu, state);
    case KEY_THREADS:
        return cli_take_count("threads", arg, 1, 1024, &options->threads, state);
    case KEY_LIST:
        options->list = 1;
        return 0;
    case ARGP_KEY_END:
        if (!options->b_given)
            options->core.b = options->core.a;
        return check_options(options, state);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp tensorcore_argp = {
    .options = tensorcore_argp_options,
    .parser = parse_option,
    .doc = "Multiplies matrices of FP8 codes as a GPU's tensor core does, bit for bit: "
           "D = A B + C, in instructions of 32 k one after another. FILE:NAME chooses a tensor of "
           "a safetensors file."
           "\vExamples:\n"
           "  pcast tensorcore --machine hopper-wgmma --a p.npy --b v.npy -o o.npy\n"
           "  pcast tensorcore --machine ada-mma --format e5m2 --a a.npy --b b.npy --c c.npy "
           "--rowwise -o d.npy",
};

/* What is computed. */
typedef struct product {
    const tensorcore_options *options;
    size_t m, k, n; /* rowwise: n = 1 and B is [m, k] */
    uint8_t *codes[C];
    float *d;
} product;

static int bad_input(const tensorcore_options *options, int input, const char *what)
{
    return cli_fail(EXIT_INPUT, options->name, "--%c: %s: %s", "abc"[input],
                    options -> paths[input], what);
}

/* "[2, 32]" */
static const char *shape_text(const pcast_tensor *tensor, char text[200])
{
    int length = sprintf(text, "[");
    for (size_t i = 0; i < tensor->rank; i++)
        length += sprintf(text + length, "%s%zu", i > 0 ? ", " : "", tensor->shape[i]);
    sprintf(text + length, "]");
    return text;
}

static int read_codes(const tensorcore_options *options, int input, pcast_format fp8,
                      pcast_tensor *codes)
{
    static const char *const names[] = {"a", "b", "c"};
    pcast_error err;
    const pcast_status status =
        pcast_codes_read(options->paths[input], names[input], fp8, codes, &err);
    return status == PCAST_OK
               ? EXIT_OK
               : cli_fail(cli_exit_code(status), options->name, "--%c: %s", "abc"[input], err.text);
}

/* A or B, a matrix of bytes. */
static int read_operand(product *problem, int input, size_t shape[2])
{
    const tensorcore_options *options = problem->options;
    const pcast_format format = input == A ? options->core.a : options->core.b;
    pcast_tensor codes;
    char text[200], what[300];
    int code = read_codes(options, input, format, &codes);
    if (code != EXIT_OK)
        return code;
    if (codes.format != format) {
        snprintf(what, sizeof what, "holds %s, expected codes of %s",
                 pcast_format_name(codes.format), pcast_format_name(format));
        code = bad_input(options, input, what);
    } else if (codes.rank != 2) {
        snprintf(what, sizeof what, "shape %s, expected a matrix", shape_text(&codes, text));
        code = bad_input(options, input, what);
    } else {
        memcpy(shape, codes.shape, 2 * sizeof shape[0]);
        const size_t count = shape[0] * shape[1];
        problem->codes[input] = cli_alloc(count, 1);
        memcpy(problem->codes[input], codes.data, count);
    }
    pcast_tensor_free(&codes);
    return code;
}

static int read_operands(product *problem)
{
    const tensorcore_options *options = problem->options;
    size_t a[2], b[2];
    char what[200];
    int code = read_operand(problem, A, a);
    if (code == EXIT_OK)
        code = read_operand(problem, B, b);
    if (code != EXIT_OK)
        return code;
    problem->m = a[0];
    problem->k = a[1];
    problem->n = options->rowwise ? 1 : b[1];
    if (options->rowwise ? b[0] == a[0] && b[1] == a[1] : b[0] == a[1])
        return EXIT_OK;
    snprintf(what, sizeof what, "shape [%zu, %zu] does not go with A's [%zu, %zu]%s", b[0], b[1],
             a[0], a[1], options->rowwise ? ", which must be the same" : ": A's columns, B's rows");
    return bad_input(options, B, what);
}

/* The accumulators, as floats; one that is to be FP16 has to be an FP16 number. */
static int convert_accumulator(product *problem, const pcast_tensor *codes)
{
    static const pcast_cast as_is = {PCAST_OVERFLOW_NAN, PCAST_INF_AS_OVERFLOW,
                                     PCAST_NAN_CANONICAL};
    const tensorcore_options *options = problem->options;
    const int f16 = options->core.output == PCAST_TENSOR_CORE_F16;
    char what[100];
    for (size_t i = 0; i < problem->m * problem->n; i++) {
        uint32_t bits;
        pcast_tensor_codes(codes, i, 1, &bits);
        if (codes->format == PCAST_F16)
            bits = (uint32_t)pcast_convert(PCAST_F32, PCAST_F16, bits, as_is);
        const uint64_t narrow = pcast_convert(PCAST_F16, PCAST_F32, bits, as_is);
        const int nan = (bits & 0x7FFFFFFF) > 0x7F800000;
        if (f16 && !nan && pcast_convert(PCAST_F32, PCAST_F16, narrow, as_is) != bits) {
            snprintf(what, sizeof what, "element %zu, 0x%08" PRIX32 ", is no float16 number", i,
                     bits);
            return bad_input(options, C, what);
        }
        memcpy(problem->d + i, &bits, sizeof bits);
    }
    return EXIT_OK;
}

static int read_accumulator(product *problem)
{
    const tensorcore_options *options = problem->options;
    pcast_tensor codes;
    char text[200], wanted[100], what[400];
    int code = read_codes(options, C, PCAST_E4M3, &codes);
    if (code != EXIT_OK)
        return code;
    if (options->rowwise)
        snprintf(wanted, sizeof wanted, "[%zu]", problem->m);
    else
        snprintf(wanted, sizeof wanted, "[%zu, %zu]", problem->m, problem->n);
    if (codes.format != PCAST_F32 &&
        !(codes.format == PCAST_F16 && options->core.output == PCAST_TENSOR_CORE_F16)) {
        snprintf(what, sizeof what, "holds %s, expected float32 or its bits as uint32%s",
                 pcast_format_name(codes.format),
                 codes.format == PCAST_F16 ? " (float16 goes with --output f16)" : "");
        code = bad_input(options, C, what);
    } else if (strcmp(shape_text(&codes, text), wanted) != 0) {
        snprintf(what, sizeof what, "shape %s, expected %s", text, wanted);
        code = bad_input(options, C, what);
    } else {
        code = convert_accumulator(problem, &codes);
    }
    pcast_tensor_free(&codes);
    return code;
}

/* Row `row` of D. */
static void compute_row(void *context, int thread, size_t row)
{
    const product *problem = context;
    const pcast_tensor_core *core = &problem->options->core;
    const uint8_t *a = problem->codes[A] + row * problem->k, *b = problem->codes[B];
    (void)thread;
    if (problem->options->rowwise)
        pcast_tensor_core_dots(core, a, b + row * problem->k, 1, problem->k, problem->d + row);
    else
        pcast_tensor_core_row(core, a, b, problem->k, problem->n, problem->n,
                              problem->d + row * problem->n);
}

/* The result does not go through float registers on its way to the file. */
static int write_result(const product *problem)
{
    const tensorcore_options *options = problem->options;
    const size_t shape[2] = {problem->m, problem->n}, count = problem->m * problem->n;
    uint32_t *bits = cli_alloc(count, sizeof *bits);
    cli_output output;
    pcast_error err;
    memcpy(bits, problem->d, count * sizeof *bits);
    int code = EXIT_OK;
    if (cli_output_open(&output, options->output, &err) != PCAST_OK) {
        code = cli_fail(EXIT_OUTPUT, options->name, "%s", err.text);
    } else {
        pcast_npy_write_codes(output.stream, PCAST_F32, options->rowwise ? 1 : 2, shape, bits);
        code = cli_output_finish(&output, EXIT_OK, options->name);
    }
    free(bits);
    return code;
}

static int run(const tensorcore_options *options)
{
    product problem = {.options = options};
    int code = read_operands(&problem);
    if (code == EXIT_OK) {
        problem.d = cli_alloc(problem.m * problem.n, sizeof *problem.d);
        if (options->paths[C] != NULL)
            code = read_accumulator(&problem);
    }
    if (code == EXIT_OK && problem.m > 0) {
        const pcast_run run = {.threads = (int)options->threads, .cpu = options->core.cpu};
        pcast_parallel(&run, pcast_thread_count(&run, problem.m), 0, problem.m, problem.m,
                       compute_row, &problem);
    }
    if (code == EXIT_OK)
        code = write_result(&problem);
    free(problem.codes[A]);
    free(problem.codes[B]);
    free(problem.d);
    return code;
}

static int list_machines(const tensorcore_options *options)
{
    static const char *const columns[] = {"machine", "source"};
    cli_output output;
    pcast_error err;
    if (cli_output_open(&output, options->output, &err) != PCAST_OK)
        return cli_fail(EXIT_OUTPUT, options->name, "%s", err.text);
    csv_writer csv = {.stream = output.stream};
    csv_names(&csv, columns, 2);
    for (int i = 0; i < PCAST_MACHINE_COUNT; i++) {
        csv_text(&csv, pcast_machine_name((pcast_machine)i));
        csv_text(&csv, pcast_machine_source((pcast_machine)i));
        csv_end(&csv);
    }
    return cli_output_finish(&output, EXIT_OK, options->name);
}

int cli_tensorcore(int argc, char **argv)
{
    tensorcore_options options = {.name = argv[0], .core = {.cpu = pcast_cpu_detect()}};
    const int code = cli_parse(&tensorcore_argp, argc, argv, &options);
    if (code != EXIT_OK)
        return code < 0 ? EXIT_OK : code;
    return options.list ? list_machines(&options) : run(&options);
}
