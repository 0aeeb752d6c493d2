/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command line: finds the subcommand and runs it. */
#include "cli.h"

#include <gsl/gsl_errno.h>
#include <stdlib.h>
#include <string.h>

static const cli_command commands[] = {
    {"sweep", "simulate over grids of Delta, S and order, or on a model's Q, K, V; CSV", cli_sweep},
    {"merge", "the records of a sweep's shards become the CSV of the whole sweep", cli_merge},
    {"theory", "the closed forms over the same grids; CSV", cli_theory},
    {"compare", "two kernels on the same draws: ratio of errors, tests, a sentence", cli_compare},
    {"paper", "the paper's claims, each with an experiment and a verdict", cli_paper},
    {"plot", "draw a sweep's CSV as SVG or PNG", cli_plot},
    {"summary", "say in a few lines what a sweep's CSV shows", cli_summary},
    {"attend", "run one kernel on Q, K, V: output, LSE, intermediates, metrics", cli_attend},
    {"diagnose", "what a kernel does to a model's heads, and which setting loses least",
     cli_diagnose},
    {"golden", "problems on which a kernel's faults show, to run it on", cli_golden},
    {"identify", "which kernel, with which settings, wrote some outputs", cli_identify},
    {"kernels", "the kernels pcast knows, with every field, source and caveat", cli_kernels},
    {"diff", "two tensors bit by bit: first difference, ulp distances", cli_diff},
    {"tensorcore", "FP8 matrix products bit by bit as a tensor core computes them", cli_tensorcore},
    {"codec", "convert single values between FP8 and other formats", cli_codec},
    {"unit", "single values through a GPU's units (ex2, rcp, ...) or exact functions", cli_unit},
    {"cuda", "a GPU's instructions against the models, on a Hopper GPU", cli_cuda},
    {"bench", "how fast the parts run here, beside the machine's own limits", cli_bench},
    {"info", "version, compiler, CPU level and libraries", cli_info},
};

enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

static void print_help(FILE *stream)
{
    fprintf(stream, "Usage: pcast COMMAND [OPTION...]\n\n"
                    "Predicts, bit for bit and on a CPU, what an FP8 attention kernel writes.\n\n"
                    "Commands:\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        fprintf(stream, "  %-10s %s\n", commands[i].name, commands[i].summary);
    fprintf(stream,
            "\npcast COMMAND --help lists a command's options.\n"
            "Exit codes: 0 done, 1 a check says \"different\", 2 usage, 3 bad input, 4 output or "
            "memory failed, 5 not available here.\n");
}

/* Did everything reach standard output, what was written before the buffer was full too? */
static int is_written(void)
{
    return fflush(stdout) == 0 && !ferror(stdout);
}

static int run(const cli_command *command, int argc, char **argv)
{
    char name[64];
    snprintf(name, sizeof name, "pcast %s", command->name);
    argv[1] = name;
    const int code = command->run(argc - 1, argv + 1);
    if (!is_written() && code == EXIT_OK)
        return cli_fail(EXIT_OUTPUT, name, "standard output: write failed");
    return code;
}

int main(int argc, char **argv)
{
    gsl_set_error_handler_off();
    if (argc < 2)
        return cli_fail(EXIT_USAGE, "pcast", "no command; pcast --help lists them");
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        print_help(stdout);
        return is_written() ? EXIT_OK : EXIT_OUTPUT;
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts("pcast " PCAST_VERSION);
        return is_written() ? EXIT_OK : EXIT_OUTPUT;
    }
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return run(&commands[i], argc, argv);
    return cli_fail(EXIT_USAGE, "pcast", "unknown command '%s'; pcast --help lists them", argv[1]);
}
