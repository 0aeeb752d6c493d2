/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pcast bench: how fast this machine runs the codec, the exponentials, a row, a sweep and the
 * tensor-core step, beside its own limits. The measurements are in bench/. */
#include "cli.h"
#include "csv.h"

#include "bench.h"

#include <stdio.h>
#include <string.h>

typedef struct bench_group {
    const char *name;
    void (*add)(bench *self);
} bench_group;

static const bench_group groups[] = {
    {"codec", bench_add_codec}, {"exponential", bench_add_exponentials}, {"row", bench_add_row},
    {"sweep", bench_add_sweep}, {"tensor-core", bench_add_tensor_core},
};
enum { GROUPS = sizeof groups / sizeof groups[0], ROUNDS = 11, QUICK_ROUNDS = 3 };

typedef struct bench_options {
    const char *name; /* "pcast bench" */
    const char *output, *floats;
    int chosen[GROUPS], any_group;
    int levels[PCAST_CPU_AVX512 + 1], any_level;
    int quick, text;
    int repeats; /* 0: not given */
} bench_options;

enum { KEY_CPU = 0x100, KEY_REPEATS, KEY_QUICK, KEY_TEXT, KEY_FLOATS };

static const struct argp_option bench_argp_options[] = {
    {"cpu", KEY_CPU, "LIST", 0, "CPU levels: scalar, avx2, avx512, native (all that are here)", 0},
    {"repeats", KEY_REPEATS, "COUNT", 0, "rounds whose median counts, up to 99 (11; 3)", 0},
    {"quick", KEY_QUICK, NULL, 0, "a few seconds in all: small arrays, short rounds", 0},
    {"text", KEY_TEXT, NULL, 0, "a table in place of CSV", 0},
    {"floats", KEY_FLOATS, "FOLDER", 0,
     "write the codec's floats to normals.f32 and random.f32 there, for bench/codec_peers.py", 0},
    {"output", 'o', "FILE", 0, "write FILE; - is stdout", 0},
    {"help", 'h', NULL, 0, "print this help", -1},
    {0},
};

static error_t take_levels(const char *arg, bench_options *options, struct argp_state *state)
{
    cli_list list;
    pcast_error err;
    error_t error = 0;
    if (cli_list_parse(arg, &list, &err) != PCAST_OK)
        return cli_bad(state, "--cpu: %s", err.text);
    for (size_t i = 0; error == 0 && i < list.count; i++) {
        pcast_cpu level;
        error = cli_take_cpu(list.items[i], &level, state);
        if (error == 0 && level > pcast_cpu_detect())
            error = cli_bad(state, "--cpu: this processor has no %s", list.items[i]);
        if (error == 0)
            options->levels[level] = options->any_level = 1;
    }
    cli_list_free(&list);
    return error;
}

static error_t take_group(const char *arg, bench_options *options, struct argp_state *state)
{
    for (int i = 0; i < GROUPS; i++)
        if (strcmp(arg, groups[i].name) == 0) {
            options->chosen[i] = options->any_group = 1;
            return 0;
        }
    return cli_bad(state, "'%s' is none of codec, exponential, row, sweep, tensor-core", arg);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    bench_options *options = state->input;
    unsigned long long count;
    error_t error = 0;
    switch (key) {
    case KEY_CPU:
        return take_levels(arg, options, state);
    case KEY_REPEATS:
        error = cli_take_count("repeats", arg, 1, BENCH_ROUNDS_MAX, &count, state);
        if (error == 0)
            options->repeats = (int)count;
        return error;
    case KEY_QUICK:
        options->quick = 1;
        return 0;
    case KEY_TEXT:
        options->text = 1;
        return 0;
    case KEY_FLOATS:
        options->floats = arg;
        return 0;
    case 'o':
        options->output = arg;
        return 0;
    case ARGP_KEY_ARG:
        return take_group(arg, options, state);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp bench_argp = {
    .options = bench_argp_options,
    .parser = parse_option,
    .args_doc = "[GROUP...]",
    .doc =
        "Measures groups (all): codec, exponential, row, sweep, tensor-core; a minute or two for "
        "all. Writes one row a measurement: units a second, median over rounds that run everything "
        "in turn, and the fastest round; beside it what the machine's own limit, measured in the "
        "same rounds, allows: copying floats, reading them, or multiply-adds at the highest CPU "
        "level; share is the median over that. One thread's time is its own, so that other work on "
        "the machine counts little; with several threads it is the clock's. docs/performance.md "
        "explains each row."
        "\vExamples:\n"
        "  pcast bench --quick --text\n"
        "  pcast bench codec row --cpu avx2,avx512 -o bench.csv",
};

static const char *level_name(const bench_case *what)
{
    return what->level < 0 ? "" : pcast_cpu_name((pcast_cpu)what->level);
}

static void write_csv(const bench *self, FILE *out)
{
    static const char *const columns[] = {
        "group", "name",       "data", "cpu",   "threads",          "rounds",
        "unit",  "per_second", "best", "limit", "limit_per_second", "share"};
    csv_writer csv = {.stream = out};
    csv_names(&csv, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < self->count; i++) {
        const bench_case *what = &self->cases[i];
        const double rate = bench_median(self, what), limit = bench_limit_rate(self, what);
        csv_text(&csv, what->group);
        csv_text(&csv, what->name);
        csv_text(&csv, what->data);
        csv_text(&csv, level_name(what));
        csv_count(&csv, (uint64_t)what->threads);
        csv_count(&csv, (uint64_t)self->rounds);
        csv_text(&csv, what->unit);
        csv_theory(&csv, rate);
        csv_theory(&csv, bench_best(self, what));
        csv_text(&csv, bench_limit_name(what->limit));
        csv_theory(&csv, limit);
        csv_theory(&csv, rate / limit);
        csv_end(&csv);
    }
}

static void write_text(const bench *self, FILE *out)
{
    fprintf(out, "%-12s %-24s %-12s %-7s %7s %12s %-24s %7s of\n", "group", "name", "data", "cpu",
            "threads", "million/s", "unit", "share");
    for (size_t i = 0; i < self->count; i++) {
        const bench_case *what = &self->cases[i];
        const double rate = bench_median(self, what);
        fprintf(out, "%-12s %-24s %-12s %-7s %7d %12.6g %-24s %7.3f %s\n", what->group, what->name,
                what->data, level_name(what), what->threads, rate / 1e6, what->unit,
                rate / bench_limit_rate(self, what), bench_limit_name(what->limit));
    }
}

/* The codec's floats as files; EXIT_OK, or an exit code after one line. */
static int save_floats(const bench *self, const bench_options *options)
{
    static const char *const files[BENCH_DATA] = {"normals.f32", "random.f32"};
    for (int data = 0; data < BENCH_DATA; data++) {
        char path[4096];
        cli_output output;
        pcast_error err;
        snprintf(path, sizeof path, "%s/%s", options->floats, files[data]);
        if (cli_output_open(&output, path, &err) != PCAST_OK)
            return cli_fail(EXIT_OUTPUT, options->name, "%s", err.text);
        fwrite(self->floats[data], sizeof(float), self->floats_count, output.stream);
        const int code = cli_output_finish(&output, EXIT_OK, options->name);
        if (code != EXIT_OK)
            return code;
    }
    return EXIT_OK;
}

static int measure(bench *self, const bench_options *options)
{
    bench_start(self);
    for (int i = 0; !self->failed && i < GROUPS; i++)
        if (options->chosen[i] || !options->any_group)
            groups[i].add(self);
    if (self->failed)
        return cli_fail(EXIT_OUTPUT, options->name, "out of memory");
    const int code = options->floats == NULL ? EXIT_OK : save_floats(self, options);
    if (code == EXIT_OK)
        bench_run(self);
    return code;
}

int cli_bench(int argc, char **argv)
{
    bench_options options = {.name = argv[0]};
    int code = cli_parse(&bench_argp, argc, argv, &options);
    if (code != EXIT_OK)
        return code < 0 ? EXIT_OK : code;
    bench self = {.quick = options.quick, .rounds = options.quick ? QUICK_ROUNDS : ROUNDS};
    if (options.repeats > 0)
        self.rounds = options.repeats;
    for (int level = 0; level <= (int)pcast_cpu_detect(); level++)
        self.levels[level] = options.levels[level] || !options.any_level;
    cli_output output;
    pcast_error err;
    if (cli_output_open(&output, options.output, &err) != PCAST_OK)
        return cli_fail(EXIT_OUTPUT, options.name, "%s", err.text);
    code = measure(&self, &options);
    if (code == EXIT_OK && options.text)
        write_text(&self, output.stream);
    else if (code == EXIT_OK)
        write_csv(&self, output.stream);
    bench_free(&self);
    return cli_output_finish(&output, code, options.name);
}
