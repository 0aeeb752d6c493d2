/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pcast cuda: its subcommands, and what device there is (docs/cuda.md). */
#include "cuda.h"

static int cuda_info(int argc, char **argv);

static const cli_command subcommands[] = {
    {"info", "the device, its driver and memory", cuda_info},
    {"check", "the device's instructions against the models, bit by bit", cuda_check},
};

enum { SUBCOMMAND_COUNT = sizeof subcommands / sizeof subcommands[0] };

int cli_cuda(int argc, char **argv)
{
    return cli_subcommand(argc, argv, subcommands, SUBCOMMAND_COUNT,
                          "What needs a GPU of compute capability 9.0 (Hopper).");
}

const char *cuda_driver_text(const pcast_cuda_info *info, char text[16])
{
    const int version = info->driver_version;
    snprintf(text, 16, "%d.%d", version / 1000 % 1000, version % 1000 / 10);
    return text;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    (void)key;
    (void)arg;
    (void)state;
    return ARGP_ERR_UNKNOWN;
}

static int cuda_info(int argc, char **argv)
{
    static const struct argp_option options[] = {{"help", 'h', NULL, 0, "print this help", -1},
                                                 {0}};
    static const struct argp argp = {
        .options = options,
        .parser = parse_option,
        .doc = "Prints the first GPU of compute capability 9.0: name, driver, processors, memory. "
               "Exit code 5 where there is none, or where nvcc was missing when pcast was built.",
    };
    pcast_cuda *cuda;
    pcast_error err;
    char driver[16];
    const int code = cli_parse(&argp, argc, argv, NULL);
    if (code != EXIT_OK)
        return code < 0 ? EXIT_OK : code;
    const pcast_status status = pcast_cuda_open(&cuda, &err);
    if (status != PCAST_OK)
        return cli_fail(cli_exit_code(status), argv[0], "%s", err.text);
    const pcast_cuda_info *info = pcast_cuda_about(cuda);
    printf("device: %s\n", info->name);
    printf("compute capability: %d.%d\n", info->compute_major, info->compute_minor);
    printf("driver: CUDA %s\n", cuda_driver_text(info, driver));
    printf("processors: %d\n", info->processors);
    printf("shared memory: %d bytes a block\n", info->shared_bytes_most);
    printf("memory: %.1f GiB\n", (double)info->memory / (1 << 30));
    pcast_cuda_close(cuda);
    return EXIT_OK;
}
