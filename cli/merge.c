/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pcast merge: the records of all shards of a sweep become the CSV of the whole sweep. */
#include "records.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct merge_options {
    const char *name;
    const char *output;
    unsigned long long trials; /* 0: as many as there are */
    records_shard *shards;
    size_t count;
} merge_options;

enum { KEY_TRIALS = 0x100 };

static const struct argp_option merge_argp_options[] = {
    {"trials", KEY_TRIALS, "NUMBER", 0,
     "refuse any other number of trials than this: without it a missing last shard cannot be told",
     0},
    {"output", 'o', "FILE", 0,
     "write FILE and a side file FILE.meta.json (.csv dropped); - is stdout", 0},
    {"help", 'h', NULL, 0, "print this help", -1},
    {0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    merge_options *options = state->input;
    switch (key) {
    case KEY_TRIALS:
        return cli_take_count("trials", arg, 1, 1ull << 32, &options->trials, state);
    case 'o':
        options->output = arg;
        return 0;
    case ARGP_KEY_ARG:
        options->shards[options->count++].path = arg;
        return 0;
    case ARGP_KEY_END:
        return options->count > 0 ? 0 : cli_bad(state, "no files of records");
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp merge_argp = {
    .options = merge_argp_options,
    .parser = parse_option,
    .args_doc = "FILE...",
    .doc = "Makes of the records of all shards of a sweep, in any order, the CSV that one pcast "
           "sweep of all their trials writes, byte for byte."
           "\vExample:\n"
           "  pcast sweep --first-trial 0 --trials 40 --records a.records\n"
           "  pcast sweep --first-trial 40 --trials 24 --records b.records\n"
           "  pcast merge a.records b.records -o sweep.csv",
};

/* How far FILE.part got, where FILE is not there but it is. */
static int report_part(const merge_options *options, const char *path)
{
    char *part = records_part_path(path);
    records_reader reader;
    pcast_error err;
    int code = EXIT_OK;
    if (access(path, F_OK) != 0 && access(part, F_OK) == 0) {
        sweep_options sweep = {.name = options->name};
        uint64_t done = 0;
        pcast_status status = records_open(&reader, part, &err);
        if (status == PCAST_OK)
            status = records_options(&reader.info, &sweep, &err);
        if (status == PCAST_OK) {
            const records_counts counts = records_counts_of(&sweep);
            const uint64_t all = counts.shapes * reader.info.trials;
            pcast_loss *losses = cli_alloc(counts.kernels * counts.deltas, sizeof *losses);
            while (done < all && records_next(&reader, &counts, losses, &err) == PCAST_OK)
                done++;
            free(losses);
            code = cli_fail(EXIT_INPUT, options->name,
                            "%s is not finished: %s has %" PRIu64 " of %" PRIu64
                            " trials; run its sweep again, it goes on from there",
                            path, part, done, all);
        } else {
            code = cli_fail(EXIT_INPUT, options->name, "%s is not finished: %s", path, err.text);
        }
        grid_free(&sweep.grid);
        records_close(&reader);
    }
    free(part);
    return code;
}

/* Reads all headers; the first file's is kept in *first, and its trials must not come first. */
static int read_headers(merge_options *options, records_info *first)
{
    pcast_error err;
    for (size_t i = 0; i < options->count; i++) {
        records_shard *shard = &options->shards[i];
        records_reader reader;
        const int code = report_part(options, shard->path);
        if (code != EXIT_OK)
            return code;
        if (records_open(&reader, shard->path, &err) != PCAST_OK)
            return cli_fail(EXIT_INPUT, options->name, "%s", err.text);
        shard->first = reader.info.first;
        shard->trials = reader.info.trials;
        const int same =
            i == 0 || records_same_sweep(&reader.info, first, options->shards[0].path, &err);
        if (!same)
            cli_fail(EXIT_INPUT, options->name, "%s is of another sweep: %s", shard->path,
                     err.text);
        if (i == 0) {
            *first = reader.info;
            reader.info = (records_info){0};
        }
        records_close(&reader);
        if (!same)
            return EXIT_INPUT;
    }
    return EXIT_OK;
}

static int by_first_trial(const void *a, const void *b)
{
    const records_shard *x = a, *y = b;
    return x->first != y->first ? (x->first > y->first) - (x->first < y->first)
                                : (x->trials > y->trials) - (x->trials < y->trials);
}

/* "trial 5 is" or "trials 5 to 7 are". */
static const char *range(uint64_t first, uint64_t end, char text[64])
{
    if (end - first == 1)
        snprintf(text, 64, "trial %" PRIu64 " is", first);
    else
        snprintf(text, 64, "trials %" PRIu64 " to %" PRIu64 " are", first, end - 1);
    return text;
}

/* Sorts the shards; they must cover 0 .. *total - 1, each trial once. */
static int check_trials(const merge_options *options, uint64_t *total)
{
    const records_shard *shards = options->shards;
    const char *last = NULL;
    char text[64];
    *total = 0;
    qsort(options->shards, options->count, sizeof *options->shards, by_first_trial);
    for (size_t i = 0; i < options->count; i++) {
        const uint64_t first = shards[i].first, end = first + shards[i].trials;
        if (first < *total)
            return cli_fail(EXIT_INPUT, options->name, "%s in both %s and %s",
                            range(first, end < *total ? end : *total, text), last, shards[i].path);
        if (first > *total)
            return cli_fail(EXIT_INPUT, options->name, "%s missing: %s begins at trial %" PRIu64,
                            range(*total, first, text), shards[i].path, first);
        *total = end;
        last = shards[i].path;
    }
    if (options->trials > *total)
        return cli_fail(EXIT_INPUT, options->name, "%s missing: %s ends with trial %" PRIu64,
                        range(*total, options->trials, text), last, *total - 1);
    if (options->trials > 0 && options->trials < *total)
        return cli_fail(EXIT_INPUT, options->name, "--trials: %s ends with trial %" PRIu64, last,
                        *total - 1);
    return EXIT_OK;
}

/* The arguments of the one sweep: those of the shard with the first trials, less what made it a
 * shard, and the number of trials and the output at the end. */
static pcast_status open_meta(cli_output *meta, const merge_options *options,
                              const sweep_options *sweep, pcast_error *err)
{
    char trials[24];
    records_reader reader;
    pcast_status status = records_open(&reader, options->shards[0].path, err);
    if (status != PCAST_OK)
        return status;
    json_t *arguments = json_deep_copy(json_object_get(reader.info.json, "options"));
    const char *compiler = json_string_value(json_object_get(reader.info.json, "compiler"));
    const char *level = json_string_value(json_object_get(reader.info.json, "cpu_level"));
    snprintf(trials, sizeof trials, "%llu", sweep->trials);
    json_array_append_new(arguments, json_string("--trials"));
    json_array_append_new(arguments, json_string(trials));
    json_array_append_new(arguments, json_string("-o"));
    json_array_append_new(arguments, json_string(options->output));
    const sweep_origin origin = {arguments, compiler, level};
    if (json_is_array(arguments) && compiler != NULL && level != NULL) {
        status = sweep_open_meta(meta, sweep, &origin, err);
    } else {
        snprintf(err->text, sizeof err->text, "%s, line 2: says not how it was made", reader.path);
        status = PCAST_ERR_INPUT;
    }
    json_decref(arguments);
    records_close(&reader);
    return status;
}

/* The CSV must not take the place of a shard. */
static int check_output(const merge_options *options)
{
    struct stat output, shard;
    if (options->output == NULL || stat(options->output, &output) != 0)
        return EXIT_OK;
    for (size_t i = 0; i < options->count; i++)
        if (stat(options->shards[i].path, &shard) == 0 && shard.st_ino == output.st_ino &&
            shard.st_dev == output.st_dev)
            return cli_fail(EXIT_USAGE, options->name, "-o: %s is one of the files of records",
                            options->output);
    return EXIT_OK;
}

static int write_files(const merge_options *options, sweep_options *sweep)
{
    cli_output outputs[2];
    pcast_error err = {"out of memory"};
    const size_t count = sweep_wants_meta(options->output) ? 2 : 1;
    pcast_status status = cli_output_open(&outputs[0], options->output, &err);
    if (status != PCAST_OK)
        return cli_fail(cli_exit_code(status), options->name, "%s", err.text);
    sweep->output = options->output;
    if (count > 1)
        status = open_meta(&outputs[1], options, sweep, &err);
    if (status != PCAST_OK) {
        cli_output_abandon(&outputs[0]);
        return cli_fail(cli_exit_code(status), options->name, "%s", err.text);
    }
    csv_writer csv = {.stream = outputs[0].stream};
    const int code = records_reduce(sweep, options->shards, options->count, &csv);
    return cli_outputs_finish(outputs, count, code, options->name);
}

static int run(merge_options *options)
{
    sweep_options sweep = {.name = options->name};
    records_info first = {0};
    pcast_error err;
    uint64_t total = 0;
    int code = check_output(options);
    if (code == EXIT_OK)
        code = read_headers(options, &first);
    if (code == EXIT_OK && records_options(&first, &sweep, &err) != PCAST_OK)
        code = cli_fail(EXIT_INPUT, options->name, "%s, line 2: %s", options->shards[0].path,
                        err.text);
    if (code == EXIT_OK)
        code = check_trials(options, &total);
    sweep.first_trial = 0;
    sweep.trials = total;
    if (code == EXIT_OK)
        code = write_files(options, &sweep);
    records_info_free(&first);
    grid_free(&sweep.grid);
    return code;
}

int cli_merge(int argc, char **argv)
{
    merge_options options = {.name = argv[0]};
    options.shards = cli_alloc((size_t)argc, sizeof *options.shards);
    int code = cli_parse(&merge_argp, argc, argv, &options);
    if (code == EXIT_OK)
        code = run(&options);
    free(options.shards);
    return code < 0 ? EXIT_OK : code;
}
