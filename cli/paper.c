/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pcast paper: the paper's claims with verdicts, as text, CSV or Markdown, and its figures. */
#include "cli.h"
#include "csv.h"
#include "figures.h"

#include "pcast/paper.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef enum paper_format { PAPER_TEXT, PAPER_CSV, PAPER_MARKDOWN } paper_format;

typedef struct paper_options {
    const char *name;
    pcast_paper paper;
    unsigned long long seed, threads;
    int wanted[PCAST_CLAIMS];
    paper_format format;
    const char *figures;
    const char *output;
    cli_progress progress;
} paper_options;

enum { KEY_QUICK = 0x100, KEY_CLAIM, KEY_FORMAT, KEY_FIGURES, KEY_SEED, KEY_THREADS, KEY_CPU };

static const struct argp_option paper_argp_options[] = {
    {"quick", KEY_QUICK, NULL, 0,
     "fewer trials: under a minute; one seed in ten at most leaves a claim undecided", 0},
    {"claim", KEY_CLAIM, "LIST", 0, "only these claims, such as B,C (all)", 0},
    {"format", KEY_FORMAT, "NAME", 0, "text (default), csv or markdown", 0},
    {"figures", KEY_FIGURES, "DIR", 0, "also draw the paper's figures into this folder, as SVG", 0},
    {"seed", KEY_SEED, "NUMBER", 0, "seed of all draws (1)", 0},
    {"threads", KEY_THREADS, "NUMBER", 0, "threads (one for each processor)", 0},
    {"cpu", KEY_CPU, "LEVEL", 0, "highest CPU level to use: scalar, avx2, avx512 or native", 0},
    {"output", 'o', "FILE", 0, "write FILE; - is stdout", 0},
    {"help", 'h', NULL, 0, "print this help", -1},
    {0},
};

static error_t take_claims(paper_options *options, const char *arg, struct argp_state *state)
{
    cli_list list;
    pcast_error err;
    if (cli_list_parse(arg, &list, &err) != PCAST_OK)
        return cli_bad(state, "--claim: %s", err.text);
    memset(options->wanted, 0, sizeof options->wanted);
    error_t error = 0;
    for (size_t i = 0; error == 0 && i < list.count; i++) {
        const char *item = list.items[i];
        const int index = (item[0] | 0x20) - 'a';
        if (item[1] != '\0' || index < 0 || index >= PCAST_CLAIMS)
            error = cli_bad(state, "--claim: '%s' is none of A to H", item);
        else
            options->wanted[index] = 1;
    }
    cli_list_free(&list);
    return error;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    static const char *const formats[] = {"text", "csv", "markdown"};
    paper_options *options = state->input;
    switch (key) {
    case KEY_QUICK:
        options->paper.quick = 1;
        return 0;
    case KEY_CLAIM:
        return take_claims(options, arg, state);
    case KEY_FORMAT:
        for (int i = 0; i < 3; i++)
            if (strcmp(arg, formats[i]) == 0) {
                options->format = (paper_format)i;
                return 0;
            }
        return cli_bad(state, "--format: '%s' is none of text, csv, markdown", arg);
    case KEY_FIGURES:
        options->figures = arg;
        return 0;
    case KEY_SEED:
        return cli_take_count("seed", arg, 0, UINT64_MAX, &options->seed, state);
    case KEY_THREADS:
        return cli_take_count("threads", arg, 1, 1024, &options->threads, state);
    case KEY_CPU:
        return cli_take_cpu(arg, &options->paper.cpu, state);
    case 'o':
        options->output = arg;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp paper_argp = {
    .options = paper_argp_options,
    .parser = parse_option,
    .doc = "Runs an experiment for each of the paper's claims A to H and says which hold: what was "
           "computed, with 95 % "
           "intervals and the value by theory, and a verdict that follows from them. In CSV the "
           "column interval says what low and high are: a two-sided interval, a one-sided upper "
           "limit, or none where nothing is drawn. The time of the run is said first, on stderr.",
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Measures the smallest claim's quick run and says how long the wanted claims will take. */
static void say_time(const paper_options *options)
{
    double work = 0;
    for (int i = 0; i < PCAST_CLAIMS; i++)
        work += options->wanted[i] ? pcast_paper_work(&options->paper, i) : 0;
    if (options->figures !=
        NULL) /* six kernels over 14 Delta at 128 channels, and claim E once more */
        work += 2.0 * 6 * 14 * 4096 * (options->paper.quick ? 24 : 384) +
                pcast_paper_work(&options->paper, 'E' - 'A');
    pcast_paper small = options->paper;
    pcast_claim claim;
    pcast_error err;
    small.quick = 1;
    const double start = now();
    if (work == 0 || pcast_paper_claim(&small, 'F' - 'A', &claim, &err) != PCAST_OK)
        return;
    const double rate = pcast_paper_work(&small, 'F' - 'A') / (now() - start);
    fprintf(stderr, "%s: about %.0f seconds\n", options->name, ceil(work / rate));
}

/* Where a number was found: "Delta = 5, N = 4096". */
static void put_place(FILE *stream, double delta, size_t keys)
{
    if (!isnan(delta))
        fprintf(stream, " at Delta = %g", delta);
    if (keys > 0)
        fprintf(stream, "%s N = %zu", isnan(delta) ? " at" : ",", keys);
}

static void put_number(FILE *stream, const pcast_finding *finding)
{
    fprintf(stream, "%.5g", finding->value);
    if (finding->kind == PCAST_FINDING_INTERVAL)
        fprintf(stream, " [%.5g, %.5g]", finding->low, finding->high);
    else if (finding->kind == PCAST_FINDING_LIMIT)
        fprintf(stream, " (at most %.5g)", finding->high);
    else if (finding->keys > 0)
        fprintf(stream, " by theory");
}

/* "1000 to 8000": the trials behind the numbers that were drawn; 0 where none was. */
static void put_trials(FILE *stream, const pcast_claim *claim)
{
    size_t least = SIZE_MAX, most = 0;
    for (size_t i = 0; i < claim->count; i++) {
        const size_t trials = claim->findings[i].trials;
        least = trials > 0 && trials < least ? trials : least;
        most = trials > most ? trials : most;
    }
    if (least < most)
        fprintf(stream, "%zu to ", least);
    fprintf(stream, "%zu", most);
}

static void write_text(FILE *stream, const pcast_claim *claim, uint64_t seed)
{
    fprintf(stream, "%c  %s\n   %s: %s.\n", claim->id, claim->text,
            pcast_verdict_name(claim->verdict), claim->reason);
    for (size_t i = 0; i < claim->count; i++) {
        const pcast_finding *finding = &claim->findings[i];
        fprintf(stream, "   %s", finding->quantity);
        put_place(stream, finding->delta, finding->keys);
        fprintf(stream, ": ");
        put_number(stream, finding);
        if (!isnan(finding->theory))
            fprintf(stream, ", theory %.5g", finding->theory);
        fprintf(stream, "\n");
    }
    fprintf(stream, "   (");
    put_trials(stream, claim);
    fprintf(stream, " trials, seed %llu)\n", (unsigned long long)seed);
}

static void write_csv(csv_writer *csv, const pcast_claim *claim, uint64_t seed)
{
    const char id[2] = {claim->id, '\0'};
    for (size_t i = 0; i < claim->count; i++) {
        const pcast_finding *finding = &claim->findings[i];
        void (*number)(csv_writer *, double) =
            finding->kind == PCAST_FINDING_COMPUTED ? csv_theory : csv_number;
        csv_text(csv, id);
        csv_text(csv, claim->text);
        csv_text(csv, finding->quantity);
        csv_known(csv, finding->delta);
        if (finding->keys > 0)
            csv_count(csv, finding->keys);
        else
            csv_empty(csv);
        number(csv, finding->value);
        number(csv, finding->low);
        number(csv, finding->high);
        csv_text(csv, pcast_finding_interval_name(finding->kind));
        csv_known(csv, finding->theory);
        csv_text(csv, pcast_verdict_name(claim->verdict));
        csv_text(csv, claim->reason);
        csv_count(csv, finding->trials);
        csv_count(csv, seed);
        csv_end(csv);
    }
}

/* Numbers of one quantity at one N share its name. */
static void write_markdown(FILE *stream, const pcast_claim *claim, uint64_t seed)
{
    fprintf(stream, "| %c | %s | ", claim->id, claim->text);
    for (size_t i = 0; i < claim->count; i++) {
        const pcast_finding *finding = &claim->findings[i], *last = i > 0 ? finding - 1 : NULL;
        const int same = last != NULL && strcmp(last->quantity, finding->quantity) == 0;
        fprintf(stream, "%s%s%s", i > 0 ? ";" : "", i > 0 && !same ? " " : "",
                same ? "" : finding->quantity);
        put_place(stream, finding->delta, same && last->keys == finding->keys ? 0 : finding->keys);
        fprintf(stream, ": ");
        put_number(stream, finding);
    }
    fprintf(stream, " | **%s**: %s | ", pcast_verdict_name(claim->verdict), claim->reason);
    put_trials(stream, claim);
    fprintf(stream, " | %llu |\n", (unsigned long long)seed);
}

static int write_claims(paper_options *options, FILE *stream)
{
    static const char *const columns[] = {"claim",   "text",   "quantity", "delta",    "n",
                                          "value",   "low",    "high",     "interval", "theory",
                                          "verdict", "reason", "trials",   "seed"};
    csv_writer csv = {.stream = stream};
    if (options->format == PAPER_CSV)
        csv_names(&csv, columns, sizeof columns / sizeof columns[0]);
    if (options->format == PAPER_MARKDOWN)
        fprintf(stream, "| claim | text | computed [95 %% interval] | verdict | trials | seed "
                        "|\n|---|---|---|---|---|---|\n");
    for (int i = 0; i < PCAST_CLAIMS; i++) {
        if (!options->wanted[i])
            continue;
        pcast_claim claim;
        pcast_error err = {""};
        cli_progress_start(&options->progress, "trials", 1);
        const pcast_status status = pcast_paper_claim(&options->paper, i, &claim, &err);
        cli_progress_end(&options->progress);
        if (status != PCAST_OK)
            return cli_fail(cli_exit_code(status), options->name, "claim %c: %s", 'A' + i,
                            err.text);
        if (options->format == PAPER_TEXT)
            write_text(stream, &claim, options->paper.seed);
        else if (options->format == PAPER_CSV)
            write_csv(&csv, &claim, options->paper.seed);
        else
            write_markdown(stream, &claim, options->paper.seed);
    }
    return EXIT_OK;
}

/* Progress of one run of a claim; every run counts anew. */
static void show_progress(void *context, size_t done, size_t total)
{
    cli_progress *progress = context;
    progress->total = total;
    cli_progress_update(progress, done, total);
}

static int run(paper_options *options)
{
    cli_output output;
    pcast_error err;
    if (cli_output_open(&output, options->output, &err) != PCAST_OK)
        return cli_fail(EXIT_OUTPUT, options->name, "%s", err.text);
    say_time(options);
    int code = write_claims(options, output.stream);
    if (code == EXIT_OK && options->figures != NULL)
        code = figures_draw(options->name, options->figures, &options->paper);
    return cli_output_finish(&output, code, options->name);
}

int cli_paper(int argc, char **argv)
{
    paper_options options = {.name = argv[0], .seed = 1, .paper = {.cpu = pcast_cpu_detect()}};
    for (int i = 0; i < PCAST_CLAIMS; i++)
        options.wanted[i] = 1;
    const int code = cli_parse(&paper_argp, argc, argv, &options);
    if (code != EXIT_OK)
        return code < 0 ? EXIT_OK : code;
    options.paper.seed = options.seed;
    options.paper.threads = (int)options.threads;
    options.paper.progress = show_progress;
    options.paper.progress_context = &options.progress;
    return run(&options);
}
