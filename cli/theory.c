/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pcast theory: the closed forms as CSV over the sweep's grid. */
#include "csv.h"
#include "grid.h"

#include "pcast/experiment.h"
#include "pcast/theory.h"

#include <math.h>

typedef struct theory_options {
    const char *name;
    cli_grid grid;
    const char *output;
} theory_options;

static const struct argp_option theory_argp_options[] = {
    {NULL, 0, NULL, 0, "The grid (LIST is 1,256,448 or start:stop:step):", 1},
    GRID_OPTIONS,
    {NULL, 0, NULL, 0, "Running:", 2},
    {"output", 'o', "FILE", 0, "write FILE; - is stdout", 0},
    {"help", 'h', NULL, 0, "print this help", -1},
    {0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    theory_options *options = state->input;
    if (key == 'o') {
        options->output = arg;
        return 0;
    }
    return grid_option(&options->grid, key, arg, state);
}

static const struct argp theory_argp = {
    .options = theory_argp_options,
    .parser = parse_option,
    .doc = "Prints the theory of P-cast underflow as CSV, without simulating anything: delta_k, "
           "the collapse "
           "threshold delta_c, the leading-order fraction theory_f (forward order only), the exact "
           "expectation "
           "outside the sinks' block (theory_exact) and over all non-sink keys (theory_underflow).",
};

static const char *const columns[] = {"kernel",  "order",    "scale",        "delta",
                                      "n",       "block",    "sinks",        "delta_k",
                                      "delta_c", "theory_f", "theory_exact", "theory_underflow"};

static void write_row(csv_writer *csv, const grid_kernel *kernel, size_t n, size_t sinks,
                      double delta)
{
    const double scale = (double)kernel->kernel.scale;
    const pcast_theory_underflow exact =
        pcast_theory_expected_underflow(&kernel->kernel, n, sinks, delta);
    csv_text(csv, kernel->spec);
    csv_text(csv, pcast_order_name(kernel->kernel.order));
    csv_number(csv, scale);
    csv_number(csv, delta);
    csv_count(csv, n);
    csv_count(csv, kernel->kernel.block);
    csv_count(csv, sinks);
    csv_number(csv, pcast_theory_delta_k(sinks));
    csv_number(csv, pcast_theory_delta_c(scale, sinks));
    if (kernel->kernel.order == PCAST_ORDER_FORWARD)
        csv_number(csv, pcast_theory_f(delta, scale, sinks));
    else
        csv_empty(csv);
    csv_number_if(csv, !isnan(exact.outside), exact.outside);
    csv_number_if(csv, !isnan(exact.all), exact.all);
    csv_end(csv);
}

/* The same limits as the sweep's, so that every row means something. */
static int check(const theory_options *options)
{
    const cli_grid *grid = &options->grid;
    pcast_error err;
    for (size_t i = 0; i < grid->sinks_count; i++)
        for (size_t j = 0; j < grid->n_count; j++)
            for (size_t n = 0; n < grid->kernel_count; n++)
                if (pcast_synthetic_check_row(&grid->kernels[n].kernel, grid->n[j], grid->sinks[i],
                                              &err) != PCAST_OK)
                    return cli_fail(EXIT_USAGE, options->name, "%s", err.text);
    return EXIT_OK;
}

static void write_rows(const cli_grid *grid, csv_writer *csv)
{
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        csv_text(csv, columns[i]);
    csv_end(csv);
    for (size_t i = 0; i < grid->n_count; i++)
        for (size_t j = 0; j < grid->sinks_count; j++)
            for (size_t n = 0; n < grid->kernel_count; n++)
                for (size_t d = 0; d < grid->delta_count; d++)
                    write_row(csv, &grid->kernels[n], grid->n[i], grid->sinks[j], grid->deltas[d]);
}

static int run(theory_options *options)
{
    cli_output output;
    pcast_error err;
    int code = grid_resolve_kernels(&options->grid, options->name);
    if (code == EXIT_OK)
        code = grid_resolve_axes(&options->grid, options->name);
    if (code == EXIT_OK)
        code = check(options);
    if (code != EXIT_OK)
        return code;
    if (cli_output_open(&output, options->output, &err) != PCAST_OK)
        return cli_fail(EXIT_OUTPUT, options->name, "%s", err.text);
    csv_writer csv = {.stream = output.stream};
    write_rows(&options->grid, &csv);
    if (cli_output_commit(&output, &err) != PCAST_OK)
        return cli_fail(EXIT_OUTPUT, options->name, "%s", err.text);
    return EXIT_OK;
}

int cli_theory(int argc, char **argv)
{
    theory_options options = {.name = argv[0]};
    int code = cli_parse(&theory_argp, argc, argv, &options);
    if (code == EXIT_OK)
        code = run(&options);
    grid_free(&options.grid);
    return code < 0 ? EXIT_OK : code;
}
