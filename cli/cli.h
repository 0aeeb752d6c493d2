/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the subcommands share: exit codes, messages, option parsing, lists, output files. */
#ifndef PCAST_CLI_CLI_H
#define PCAST_CLI_CLI_H

#include "pcast/cpu.h"
#include "pcast/device.h"
#include "pcast/format.h"
#include "pcast/kernel.h"
#include "pcast/status.h"

#include <argp.h>
#include <stddef.h>
#include <stdio.h>

enum {
    EXIT_OK = 0,
    EXIT_DIFFERENT = 1,
    EXIT_USAGE = 2,
    EXIT_INPUT = 3,
    EXIT_OUTPUT = 4,
    EXIT_UNAVAILABLE = 5,
};

typedef struct cli_command {
    const char *name;
    const char *summary;
    int (*run)(int argc, char **argv); /* argv[0] is "pcast NAME"; returns an exit code */
} cli_command;

/* A command of commands: runs the one that argv[1] names, or lists them under `about`. */
int cli_subcommand(int argc, char **argv, const cli_command *commands, size_t count,
                   const char *about);

int cli_attend(int argc, char **argv);
int cli_bench(int argc, char **argv);
int cli_codec(int argc, char **argv);
int cli_compare(int argc, char **argv);
int cli_cuda(int argc, char **argv);
int cli_diagnose(int argc, char **argv);
int cli_diff(int argc, char **argv);
int cli_golden(int argc, char **argv);
int cli_identify(int argc, char **argv);
int cli_info(int argc, char **argv);
int cli_kernels(int argc, char **argv);
int cli_merge(int argc, char **argv);
int cli_paper(int argc, char **argv);
int cli_plot(int argc, char **argv);
int cli_summary(int argc, char **argv);
int cli_sweep(int argc, char **argv);
int cli_tensorcore(int argc, char **argv);
int cli_theory(int argc, char **argv);
int cli_unit(int argc, char **argv);

/* Prints "NAME: message" as one line on stderr and returns the code. */
int cli_fail(int code, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The exit code of a library status. */
int cli_exit_code(pcast_status status);

/* Is the kernel that `spec` and options made valid, and does every field that the SPEC names do
 * something? Returns an exit code after one line that begins with option, or with the SPEC alone.
 */
int cli_check_kernel(const char *name, const char *option, const char *spec,
                     const pcast_kernel *kernel);

/* The SPEC, with the mask where an option gave it (else NULL). */
const char *cli_kernel_label(const char *spec, const char *mask, char text[PCAST_SPEC_MAX]);

/* Parses argv with argp. --help prints on stdout. Returns EXIT_OK to go on, -1 when help was
 * printed and the command is done, EXIT_USAGE after one line on stderr. A parser reports a bad
 * value by `return cli_bad(state, ...)`. */
int cli_parse(const struct argp *argp, int argc, char **argv, void *input);
error_t cli_bad(struct argp_state *state, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* For an argp parser: the value of --cpu, "scalar", "avx2", "avx512" or "native", or one line
 * through cli_bad. */
error_t cli_take_cpu(const char *text, pcast_cpu *cpu, struct argp_state *state);

/* The same for the value of --device: "cpu", which is none, "cuda" or "replay". */
error_t cli_take_device(const char *text, int *given, pcast_device_kind *kind,
                        struct argp_state *state);

/* For an argp parser: sets *choice to the index of --option's value among words, which NULL ends.
 */
error_t cli_take_word(const char *option, const char *arg, const char *const *words, int *choice,
                      struct argp_state *state);

/* The same for the name of a format, from e4m3 to `last` in the order of pcast_format. */
error_t cli_take_format(const char *option, const char *arg, pcast_format last,
                        pcast_format *format, struct argp_state *state);

/* A list of texts: comma-separated items, each a word (begins with a letter) or a number or a range
 * start:stop:step of numbers that includes its end, start + i*step. */
typedef struct cli_list {
    char **items;
    size_t count;
} cli_list;

/* On failure err says what is wrong with the text; the list is then empty. */
pcast_status cli_list_parse(const char *text, cli_list *list, pcast_error *err);
void cli_list_free(cli_list *list);

/* Whole text as one number; PCAST_ERR_VALUE names it. */
pcast_status cli_parse_double(const char *text, double *value, pcast_error *err);
pcast_status cli_parse_count(const char *text, unsigned long long min, unsigned long long max,
                             unsigned long long *value, pcast_error *err);

/* For an argp parser: the value of --option as a count, or one line through cli_bad. */
error_t cli_take_count(const char *option, const char *arg, unsigned long long min,
                       unsigned long long max, unsigned long long *value, struct argp_state *state);

/* Does the path of a tensor, FILE or FILE:NAME, mean standard input? */
int cli_is_stdin(const char *path);

/* Memory that must be there: prints a line and exits with EXIT_OUTPUT otherwise. */
void *cli_alloc(size_t count, size_t size);

/* An output that appears only when it is complete. A file is written beside the target and renamed
 * by cli_output_commit; path NULL or "-" is stdout, held back in memory until then. A target that
 * exists and is no regular file (a device, a pipe) is written directly. A signal that ends the
 * program removes the unfinished file. */
typedef struct cli_output {
    FILE *stream;
    char *path;      /* the target, links resolved; NULL for stdout */
    char *temporary; /* NULL when written directly */
    char *held;      /* what stdout will get */
    size_t held_size;
} cli_output;

pcast_status cli_output_open(cli_output *output, const char *path, pcast_error *err);
/* The same for a filter: stdout is written as it goes. */
pcast_status cli_output_open_filter(cli_output *output, const char *path, pcast_error *err);
pcast_status cli_output_commit(cli_output *output, pcast_error *err);
void cli_output_abandon(cli_output *output);
/* Commits where code is EXIT_OK, else abandons; returns the exit code, after one line where the
 * commit fails. */
int cli_output_finish(cli_output *output, int code, const char *name);
/* The same for several that belong together: none appears before all are written. */
int cli_outputs_finish(cli_output *outputs, size_t count, int code, const char *name);

/* Is the last of the outputs one that is among them before? Devices may be written twice. */
int cli_outputs_repeat(const cli_output *outputs, size_t count);

/* Progress with time left, on stderr and only where that is a terminal. */
typedef struct cli_progress {
    const char *unit; /* "trials", "heads" */
    size_t done_before, total;
    double started, shown;
    int on;
} cli_progress;

void cli_progress_start(cli_progress *progress, const char *unit, size_t total);
void cli_progress_update(void *progress, size_t done, size_t total);
void cli_progress_end(cli_progress *progress);

#endif
