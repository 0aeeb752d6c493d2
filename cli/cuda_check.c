/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pcast cuda check: runs the parts that are asked for, and are not done yet, one line each. */
#include "cuda.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

/* Lists of parts; a new one is a row here. */
static const struct {
    const pcast_check_part *parts;
    size_t count;
} lists[] = {
    {pcast_probe_parts, PCAST_PROBE_COUNT},
    {&pcast_strict_part, 1},
    {&pcast_attention_part, 1},
};

enum { LIST_COUNT = sizeof lists / sizeof lists[0], PART_MAX = 64 };

const pcast_check_part *cuda_part_at(size_t index)
{
    for (size_t i = 0; i < LIST_COUNT; i++) {
        if (index < lists[i].count)
            return &lists[i].parts[index];
        index -= lists[i].count;
    }
    return NULL;
}

typedef struct check_options {
    const char *name, *json;
    int list, again, quick, some;
    unsigned char chosen[PART_MAX]; /* by index, where `some` are named */
} check_options;

enum { KEY_PART = 0x100, KEY_JSON, KEY_AGAIN, KEY_QUICK, KEY_LIST };

static const struct argp_option check_argp_options[] = {
    {"part", KEY_PART, "NAMES", 0, "only these parts, separated by commas (all)", 0},
    {"json", KEY_JSON, "FILE", 0,
     "keep what is found in FILE, complete after each part; parts that it has from the same build, "
     "device and driver are not run again (of samples only under --quick)",
     0},
    {"again", KEY_AGAIN, NULL, 0, "run them again, and replace a file of another build or device",
     0},
    {"quick", KEY_QUICK, NULL, 0, "a sample of each part, seconds in all", 0},
    {"list", KEY_LIST, NULL, 0, "only list the parts", 0},
    {"help", 'h', NULL, 0, "print this help", -1},
    {0},
};

static error_t choose(check_options *options, const char *name, struct argp_state *state)
{
    const pcast_check_part *part;
    for (size_t i = 0; (part = cuda_part_at(i)) != NULL && i < PART_MAX; i++)
        if (strcmp(part->name, name) == 0) {
            options->chosen[i] = 1;
            options->some = 1;
            return 0;
        }
    return cli_bad(state, "--part: '%.64s' is no part; --list lists them", name);
}

static error_t take_parts(check_options *options, const char *arg, struct argp_state *state)
{
    cli_list names;
    pcast_error err;
    error_t error = 0;
    if (cli_list_parse(arg, &names, &err) != PCAST_OK)
        return cli_bad(state, "--part: %s", err.text);
    for (size_t i = 0; error == 0 && i < names.count; i++)
        error = choose(options, names.items[i], state);
    cli_list_free(&names);
    return error;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    check_options *options = state->input;
    switch (key) {
    case KEY_PART:
        return take_parts(options, arg, state);
    case KEY_JSON:
        if (*arg == '\0' || strcmp(arg, "-") == 0)
            return cli_bad(state, "--json: needs the name of a file");
        options->json = arg;
        return 0;
    case KEY_AGAIN:
        options->again = 1;
        return 0;
    case KEY_QUICK:
        options->quick = 1;
        return 0;
    case KEY_LIST:
        options->list = 1;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp check_argp = {
    .options = check_argp_options,
    .parser = parse_option,
    .doc = "Compares what a Hopper GPU computes with the models, bit by bit, part by part. Exit "
           "code 1 if a bit differs, 5 where there is no such GPU."
           "\vExamples:\n"
           "  pcast cuda check --json out/hopper.json\n"
           "  pcast cuda check --part ex2,rcp --quick",
};

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void print_result(const pcast_check_part *part, const pcast_check_result *result,
                         double seconds, int kept)
{
    printf("%s: %s: %" PRIu64 " compared, %" PRIu64 " differ, %.1f s%s", part->name,
           result->different > 0 ? "contradicted" : "confirmed", result->compared,
           result->different, seconds, kept ? ", as kept" : "");
    if (result->example_count > 0)
        printf("; first: %.60s%s: device 0x%" PRIX64 ", model 0x%" PRIX64,
               result->examples[0].input, strlen(result->examples[0].input) > 60 ? "..." : "",
               result->examples[0].device, result->examples[0].model);
    printf("\n");
    fflush(stdout);
}

/* One part, or what is kept of it. Returns an exit code; a difference is none. */
static int run_part(const check_options *options, pcast_cuda *cuda, cuda_record *record,
                    const pcast_check_part *part, pcast_check_result *result)
{
    pcast_error err;
    double seconds;
    *result = (pcast_check_result){0};
    if (!options->again && cuda_record_find(record, part, options->quick, result, &seconds)) {
        print_result(part, result, seconds, 1);
        return EXIT_OK;
    }
    const double started = seconds_now();
    const pcast_status status = part->run(cuda, options->quick, result, &err);
    if (status != PCAST_OK)
        return cli_fail(cli_exit_code(status), options->name, "%s: %s", part->name, err.text);
    seconds = seconds_now() - started;
    print_result(part, result, seconds, 0);
    return cuda_record_add(record, part, options->quick, result, seconds);
}

static int run_parts(const check_options *options, pcast_cuda *cuda, cuda_record *record)
{
    const pcast_cuda_info *info = pcast_cuda_about(cuda);
    const pcast_check_part *part;
    pcast_check_result result;
    int code = EXIT_OK, done = 0, contradicted = 0;
    char driver[16];
    for (size_t i = 0; code == EXIT_OK && (part = cuda_part_at(i)) != NULL; i++) {
        if (options->some && !options->chosen[i])
            continue;
        code = run_part(options, cuda, record, part, &result);
        done += code == EXIT_OK;
        contradicted += code == EXIT_OK && result.different > 0;
    }
    printf("%d confirmed, %d contradicted; %s, driver CUDA %s%s\n", done - contradicted,
           contradicted, info->name, cuda_driver_text(info, driver),
           options->quick ? "; samples only" : "");
    return code == EXIT_OK && contradicted > 0 ? EXIT_DIFFERENT : code;
}

static int list_parts(void)
{
    const pcast_check_part *part;
    for (size_t i = 0; (part = cuda_part_at(i)) != NULL; i++)
        printf("%-10s %s\n", part->name, part->about);
    return EXIT_OK;
}

int cuda_check(int argc, char **argv)
{
    check_options options = {.name = argv[0]};
    cuda_record record;
    pcast_cuda *cuda;
    pcast_error err;
    int code = cli_parse(&check_argp, argc, argv, &options);
    if (code != EXIT_OK)
        return code < 0 ? EXIT_OK : code;
    if (options.list)
        return list_parts();
    const pcast_status status = pcast_cuda_open(&cuda, &err);
    if (status != PCAST_OK)
        return cli_fail(cli_exit_code(status), argv[0], "%s", err.text);
    code = cuda_record_open(&record, argv[0], options.json, pcast_cuda_about(cuda), options.again);
    if (code == EXIT_OK)
        code = run_parts(&options, cuda, &record);
    cuda_record_close(&record);
    pcast_cuda_close(cuda);
    return code;
}
