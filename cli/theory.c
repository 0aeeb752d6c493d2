/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pcast theory: the closed forms and quadratures as CSV, over the sweep's grid or (--dp) over S. */
#include "csv.h"
#include "grid.h"

#include "pcast/theory.h"

#include <math.h>
#include <stdlib.h>

typedef struct theory_options {
    const char *name;
    cli_grid grid;
    cli_list sigma_text;
    double *sigmas;
    double tau;
    int dp, accumulation, closed, spread;
    const char *output;
} theory_options;

enum { KEY_SIGMA = GRID_END, KEY_TAU, KEY_CLOSED, KEY_SPREAD, KEY_DP, KEY_ACCUMULATION };

static const struct argp_option theory_argp_options[] = {
    {NULL, 0, NULL, 0, "The grid (LIST is 1,256,448 or start:stop:step):", 1},
    GRID_OPTIONS,
    {"sigma", KEY_SIGMA, "LIST", 0, "standard deviation of all scores, nats (1)", 0},
    {"tau", KEY_TAU, "NUMBER", 0,
     "the running maximum is kept while it lags at most tau, log2 units (0)", 0},
    {"closed", KEY_CLOSED, NULL, 0,
     "leave out what needs a double integral or a recursion (mass, MSE, saturation): a thousand "
     "rows a second",
     0},
    {"spread", KEY_SPREAD, NULL, 0, "fill mse_theory_sd too: some tenths of a second a row", 0},
    {NULL, 0, NULL, 0, "Instead of the grid:", 2},
    {"dp", KEY_DP, NULL, 0, "the resolution of E4M3 over S: --scale, else 1:512:1", 0},
    {"accumulation", KEY_ACCUMULATION, NULL, 0,
     "what a tensor core keeps of equal addends, over --kernel (fa3, fa3-vllm), --scale "
     "(1,256,448) and --n (powers of two from 1024 to 2^20): `kept`, and the N from which 1 % and "
     "10 % are lost",
     0},
    {NULL, 0, NULL, 0, "Running:", 3},
    {"output", 'o', "FILE", 0, "write FILE; - is stdout", 0},
    {"help", 'h', NULL, 0, "print this help", -1},
    {0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    theory_options *options = state->input;
    pcast_error err;
    switch (key) {
    case KEY_SIGMA:
        cli_list_free(&options->sigma_text);
        if (cli_list_parse(arg, &options->sigma_text, &err) != PCAST_OK)
            return cli_bad(state, "--sigma: %s", err.text);
        return 0;
    case KEY_TAU:
        if (cli_parse_double(arg, &options->tau, &err) != PCAST_OK || options->tau < 0)
            return cli_bad(state, "--tau: '%s' is not a number from 0 up", arg);
        return 0;
    case KEY_CLOSED:
        options->closed = 1;
        return 0;
    case KEY_SPREAD:
        options->spread = 1;
        return 0;
    case KEY_DP:
        options->dp = 1;
        return 0;
    case KEY_ACCUMULATION:
        options->accumulation = 1;
        return 0;
    case 'o':
        options->output = arg;
        return 0;
    default:
        return grid_option(&options->grid, key, arg, state);
    }
}

static const struct argp theory_argp = {
    .options = theory_argp_options,
    .parser = parse_option,
    .doc = "Prints the theory of the P-cast as CSV, without simulating anything. Columns: delta_k "
           "and delta_k_sd, mean and "
           "standard deviation of the maximum of k standard normals; delta_c, the collapse "
           "threshold; theory_f, "
           "the leading order (forward); theory_exact, expected underflow outside the sinks' "
           "block, theory_inside "
           "within it, theory_underflow over all other keys; reverse_bound, the guarantee before "
           "the sinks' block "
           "(reverse); theory_subnormal; theory_saturated under --tau and headroom; "
           "theory_mass, the other keys' share of attention, and theory_mass_kept; mse_theory; "
           "mse_theory_sd, its "
           "standard deviation over trials (--spread); "
           "mse_leading.",
};

static const char *const columns[] = {"kernel",
                                      "order",
                                      "scale",
                                      "delta",
                                      "n",
                                      "block",
                                      "sinks",
                                      "sigma",
                                      "delta_k",
                                      "delta_k_sd",
                                      "delta_c",
                                      "theory_f",
                                      "theory_exact",
                                      "theory_inside",
                                      "theory_underflow",
                                      "reverse_bound",
                                      "theory_subnormal",
                                      "theory_saturated",
                                      "headroom",
                                      "theory_mass",
                                      "theory_mass_kept",
                                      "mse_theory",
                                      "mse_theory_sd",
                                      "mse_leading"};
static const char *const dp_columns[] = {"scale",       "dp",       "dp_formula",
                                         "worst_point", "coverage", "exact_in_fp32"};

static void write_row(csv_writer *csv, const grid_kernel *kernel, const pcast_theory_row *row,
                      const pcast_theory_loss *loss, const theory_options *options)
{
    const int forward = row->order == PCAST_ORDER_FORWARD;
    const pcast_theory_fractions underflow = pcast_theory_underflow(row);
    csv_text(csv, kernel->name);
    csv_text(csv, pcast_order_name(row->order));
    csv_number(csv, row->scale);
    csv_number(csv, row->delta);
    csv_count(csv, row->keys);
    csv_count(csv, row->block);
    csv_count(csv, row->sinks);
    csv_number(csv, row->sigma);
    csv_number(csv, pcast_theory_delta_k(row->sinks));
    csv_number(csv, pcast_theory_delta_k_sd(row->sinks));
    csv_number(csv, pcast_theory_delta_c(row->scale, row->sinks, row->sigma));
    csv_known(csv, forward ? pcast_theory_f(row->delta, row->scale, row->sinks, row->sigma) : NAN);
    csv_known(csv, underflow.outside);
    csv_known(csv, underflow.inside);
    csv_known(csv, underflow.all);
    csv_known(csv, forward ? NAN : pcast_theory_reverse_bound(row->keys, row->scale, row->sigma));
    csv_known(csv, pcast_theory_subnormal(row).all);
    csv_known(csv, options->closed ? NAN : pcast_theory_saturation(row, options->tau));
    csv_number(csv, pcast_theory_headroom(row->scale, options->tau));
    csv_known(csv, loss->mass);
    csv_known(csv, loss->mass_kept);
    csv_known(csv, loss->mse);
    csv_known(csv, options->spread ? pcast_theory_mse_spread(row).sd : NAN);
    csv_known(csv, pcast_theory_mse_leading(row));
    csv_end(csv);
}

static int resolve_sigmas(theory_options *options)
{
    pcast_error err;
    if (options->sigma_text.count == 0 &&
        cli_list_parse("1", &options->sigma_text, &err) != PCAST_OK)
        return cli_fail(EXIT_USAGE, options->name, "%s", err.text);
    options->sigmas = cli_alloc(options->sigma_text.count, sizeof *options->sigmas);
    for (size_t i = 0; i < options->sigma_text.count; i++) {
        const char *text = options->sigma_text.items[i];
        if (cli_parse_double(text, &options->sigmas[i], &err) != PCAST_OK ||
            !(options->sigmas[i] >= 0.1) || options->sigmas[i] > 20)
            return cli_fail(EXIT_USAGE, options->name,
                            "--sigma: '%s' is not a number from 0.1 to 20", text);
    }
    return EXIT_OK;
}

/* One row for each Delta. */
static void write_kernel(const theory_options *options, csv_writer *csv, const grid_kernel *kernel,
                         size_t keys, size_t sinks, double sigma)
{
    const cli_grid *grid = &options->grid;
    pcast_theory_row *rows = cli_alloc(grid->delta_count, sizeof *rows);
    pcast_theory_loss *losses = cli_alloc(grid->delta_count, sizeof *losses);
    for (size_t d = 0; d < grid->delta_count; d++) {
        rows[d] = grid_theory_row(&kernel->kernel, keys, grid->dim[0], sinks, grid->deltas[d]);
        rows[d].sigma = sigma;
        losses[d] = (pcast_theory_loss){NAN, NAN, NAN};
    }
    if (!options->closed)
        pcast_theory_expected_losses(rows, grid->delta_count, losses);
    for (size_t d = 0; d < grid->delta_count; d++)
        write_row(csv, kernel, &rows[d], &losses[d], options);
    free(rows);
    free(losses);
}

static void write_grid(const theory_options *options, csv_writer *csv)
{
    const cli_grid *grid = &options->grid;
    csv_names(csv, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < grid->n_count; i++)
        for (size_t j = 0; j < grid->sinks_count; j++)
            for (size_t s = 0; s < options->sigma_text.count; s++)
                for (size_t n = 0; n < grid->kernel_count; n++)
                    write_kernel(options, csv, &grid->kernels[n], grid->n[i], grid->sinks[j],
                                 options->sigmas[s]);
}

/* One row for each value of --scale. */
static int write_dp(const theory_options *options, csv_writer *csv)
{
    pcast_error err;
    cli_list scales;
    const cli_list *given = &options->grid.fields[PCAST_FIELD_SCALE];
    if (given->count == 0 && cli_list_parse("1:512:1", &scales, &err) != PCAST_OK)
        return cli_fail(EXIT_USAGE, options->name, "%s", err.text);
    const cli_list *list = given->count > 0 ? given : &scales;
    csv_names(csv, dp_columns, sizeof dp_columns / sizeof dp_columns[0]);
    for (size_t i = 0; i < list->count; i++) {
        const double scale = strtod(list->items[i], NULL);
        csv_number(csv, scale);
        csv_known(csv, pcast_theory_dp(scale));
        csv_known(csv, pcast_theory_dp_formula(scale));
        csv_number(csv, pcast_theory_worst_point(scale));
        csv_number(csv, pcast_theory_coverage(scale));
        csv_count(csv, (uint64_t)pcast_theory_scale_is_exact(scale));
        csv_end(csv);
    }
    if (given->count == 0)
        cli_list_free(&scales);
    return EXIT_OK;
}

static void put_keys(csv_writer *csv, double keys)
{
    if (isinf(keys))
        csv_text(csv, "inf");
    else
        csv_count(csv, (uint64_t)keys);
}

static void write_accumulation(const theory_options *options, csv_writer *csv)
{
    static const char *const names[] = {"kernel", "scale", "n",         "dim",
                                        "block",  "kept",  "keys_1pct", "keys_10pct"};
    const cli_grid *grid = &options->grid;
    csv_names(csv, names, sizeof names / sizeof names[0]);
    for (size_t n = 0; n < grid->kernel_count; n++)
        for (size_t j = 0; j < grid->dim_count; j++) {
            pcast_kernel kernel = grid->kernels[n].kernel;
            pcast_theory_chain chain;
            pcast_kernel_resolve(&kernel, grid->dim[j]);
            pcast_theory_chain_of(&kernel, &chain);
            for (size_t i = 0; i < grid->n_count; i++) {
                csv_text(csv, grid->kernels[n].name);
                csv_number(csv, (double)kernel.scale);
                csv_count(csv, grid->n[i]);
                csv_count(csv, grid->dim[j]);
                csv_count(csv, kernel.block);
                csv_number(csv, pcast_theory_chain_kept(&chain, (double)grid->n[i]));
                put_keys(csv, pcast_theory_chain_keys(&chain, 0.01));
                put_keys(csv, pcast_theory_chain_keys(&chain, 0.1));
                csv_end(csv);
            }
        }
}

/* Kernels with hardware semantics, whose sums are chains of a tensor core. */
static int resolve_accumulation(theory_options *options)
{
    cli_grid *grid = &options->grid;
    const char *unused = grid->delta_text.count > 0                  ? "delta"
                         : grid->sinks_text.count > 0                ? "sinks"
                         : grid->fields[PCAST_FIELD_ORDER].count > 0 ? "order"
                         : options->sigma_text.count > 0             ? "sigma"
                         : options->tau > 0                          ? "tau"
                         : options->closed                           ? "closed"
                         : options->spread                           ? "spread"
                                                                     : NULL;
    if (unused != NULL)
        return cli_fail(EXIT_USAGE, options->name, "--%s: does not go with --accumulation", unused);
    int code = grid_set_defaults(grid, "fa3,fa3-vllm", PCAST_FIELD_SCALE, "1,256,448");
    if (code == EXIT_OK)
        code = grid_set_defaults(grid, NULL, PCAST_FIELD_SEMANTICS, "hardware");
    if (grid->n_text.count == 0)
        cli_list_parse("1024,2048,4096,8192,16384,32768,65536,131072,262144,524288,1048576",
                       &grid->n_text, NULL);
    if (code == EXIT_OK)
        code = grid_resolve_kernels(grid, options->name);
    if (code == EXIT_OK)
        code = grid_resolve_axes(grid, options->name);
    for (size_t n = 0; code == EXIT_OK && n < grid->kernel_count; n++)
        for (size_t j = 0; code == EXIT_OK && j < grid->dim_count; j++) {
            pcast_kernel kernel = grid->kernels[n].kernel;
            pcast_theory_chain chain;
            pcast_kernel_resolve(&kernel, grid->dim[j]);
            if (!pcast_theory_chain_of(&kernel, &chain))
                code = cli_fail(EXIT_USAGE, options->name,
                                "--kernel %.200s: adds P.V in no chain of a tensor core",
                                grid->kernels[n].name);
        }
    return code;
}

static int resolve(theory_options *options)
{
    if (options->dp && options->accumulation)
        return cli_fail(EXIT_USAGE, options->name, "--dp and --accumulation exclude each other");
    if (options->dp)
        return EXIT_OK;
    if (options->accumulation)
        return resolve_accumulation(options);
    int code = grid_resolve_kernels(&options->grid, options->name);
    if (code == EXIT_OK)
        code = grid_resolve_axes(&options->grid, options->name);
    if (code == EXIT_OK)
        code = resolve_sigmas(options);
    if (code == EXIT_OK)
        code = grid_check_rows(&options->grid, options->name);
    for (size_t n = 0; code == EXIT_OK && n < options->grid.kernel_count; n++) {
        const grid_kernel *kernel = &options->grid.kernels[n];
        const pcast_field field = grid_beyond_theory(&kernel->kernel);
        if (field != PCAST_FIELD_COUNT)
            code = cli_fail(EXIT_USAGE, options->name,
                            "--kernel %s: %s: the theory does not describe this choice",
                            kernel->name, pcast_field_name(field));
    }
    return code;
}

static int run(theory_options *options)
{
    cli_output output;
    pcast_error err;
    int code = resolve(options);
    if (code != EXIT_OK)
        return code;
    if (cli_output_open(&output, options->output, &err) != PCAST_OK)
        return cli_fail(EXIT_OUTPUT, options->name, "%s", err.text);
    csv_writer csv = {.stream = output.stream};
    if (options->dp)
        code = write_dp(options, &csv);
    else if (options->accumulation)
        write_accumulation(options, &csv);
    else
        write_grid(options, &csv);
    return cli_output_finish(&output, code, options->name);
}

int cli_theory(int argc, char **argv)
{
    theory_options options = {.name = argv[0]};
    int code = cli_parse(&theory_argp, argc, argv, &options);
    if (code == EXIT_OK)
        code = run(&options);
    grid_free(&options.grid);
    cli_list_free(&options.sigma_text);
    free(options.sigmas);
    return code < 0 ? EXIT_OK : code;
}
