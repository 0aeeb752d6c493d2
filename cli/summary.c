/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pcast summary: what a sweep's CSV shows, for people. On a synthetic sweep some ten lines, on a
 * model's heads a table with one line a head. */
#include "cli.h"
#include "series.h"

#include "pcast/theory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct summary_options {
    const char *name;
    const char *input;
} summary_options;

static const struct argp_option summary_argp_options[] = {
    {"help", 'h', NULL, 0, "print this help", -1}, {0}};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    summary_options *options = state->input;
    switch (key) {
    case ARGP_KEY_ARG:
        if (options->input != NULL)
            return ARGP_ERR_UNKNOWN;
        options->input = arg;
        return 0;
    case ARGP_KEY_END:
        return options->input != NULL ? 0 : cli_bad(state, "no CSV file given");
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp summary_argp = {
    .options = summary_argp_options,
    .parser = parse_option,
    .args_doc = "FILE.csv",
    .doc = "Says in a few lines what a sweep shows: where underflow sets in for each order and S, "
           "and what the "
           "other choices cost. For a model's heads it prints a table with one line a head.",
};

/* Where the series' underflow first reaches `level`, by linear interpolation between its points;
 * NaN if never. */
static double onset(const series_set *set, const series *one, double level)
{
    double before_x = NAN, before_y = NAN;
    for (size_t i = 0; i < one->count; i++) {
        const double x = series_x(set, one->rows[i]);
        const double y = csv_value(&set->table, one->rows[i], set->columns.underflow);
        if (y >= level)
            return before_y < level
                       ? before_x + (x - before_x) * (level - before_y) / (y - before_y)
                       : x;
        before_x = x;
        before_y = y;
    }
    return NAN;
}

/* Largest value of a column over a series. */
static double largest(const series_set *set, const series *one, int column)
{
    double max = NAN;
    for (size_t i = 0; i < one->count; i++) {
        const double y = csv_value(&set->table, one->rows[i], column);
        max = y > max || isnan(max) ? y : max;
    }
    return max;
}

static void print_series(const series_set *set, const series *one)
{
    const double half = onset(set, one, 0.5), tenth = onset(set, one, 0.1);
    printf("%-18s ", one->label);
    if (isnan(tenth))
        printf("never loses a tenth of the keys: at most %.2g %%",
               100 * largest(set, one, set->columns.underflow));
    else
        printf("loses a tenth of the keys at Delta = %.1f", tenth);
    if (!isnan(half)) {
        printf(", half at %.1f", half);
        if (one->order == PCAST_ORDER_FORWARD && one->sinks >= 1)
            printf(" (theory %.2f)", pcast_theory_delta_c(one->scale, (size_t)one->sinks, 1));
    }
    printf("\n");
}

static const series *find(const series_set *set, pcast_order order, double scale)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->all[i].order == order && set->all[i].scale == scale)
            return &set->all[i];
    return NULL;
}

/* The largest factor by which `better` has the lower MSE, and where. */
static void print_gain(const series_set *set, const series *worse, const series *better,
                       const char *what)
{
    double best = 0, at = NAN;
    if (worse == NULL || better == NULL)
        return;
    for (size_t i = 0; i < worse->count; i++)
        for (size_t j = 0; j < better->count; j++) {
            const double x = series_x(set, worse->rows[i]);
            const double ratio = csv_value(&set->table, worse->rows[i], set->columns.mse) /
                                 csv_value(&set->table, better->rows[j], set->columns.mse);
            if (x == series_x(set, better->rows[j]) && ratio > best && isfinite(ratio)) {
                best = ratio;
                at = x;
            }
        }
    if (best > 0)
        printf("%s divides the mean squared error of forward order with S = 1 by up to %.1f (at "
               "Delta = %g).\n",
               what, best, at);
}

static void print_sweep(const series_set *set)
{
    const csv_table *table = &set->table;
    const series_columns *columns = &set->columns;
    printf("One query, %s keys in blocks of %s, the first %s are sinks that score Delta nats more; "
           "%s trials.\n",
           csv_cell(table, 0, columns->n), csv_cell(table, 0, columns->block),
           csv_cell(table, 0, columns->sinks), csv_cell(table, 0, columns->trials));
    printf("Keys lost = other keys whose probability P the cast to E4M3 turns into zero:\n");
    for (size_t i = 0; i < set->count; i++)
        print_series(set, &set->all[i]);
    const series *plain = find(set, PCAST_ORDER_FORWARD, 1);
    print_gain(set, plain, find(set, PCAST_ORDER_FORWARD, 256), "S = 256");
    print_gain(set, plain, find(set, PCAST_ORDER_REVERSE, 1), "Reverse order");
}

/* A cell of the table of heads: value * factor, or a dash. */
static void print_cell(const series_set *set, size_t row, int column, double factor)
{
    const double value = csv_value(&set->table, row, column);
    if (isnan(value))
        printf(" %8s", "-");
    else
        printf(" %8.*f", factor * fabs(value) >= 100 ? 1 : 3, factor * value);
}

/* One line a head; every series has a row for it, in the same order. */
static void print_heads(const series_set *set)
{
    const series_columns *columns = &set->columns;
    printf("%-22s", "");
    for (size_t i = 0; i < set->count; i++)
        printf("  %-17s", set->all[i].label);
    printf("\n%5s %4s %5s %5s", "layer", "head", "gap", "/sd");
    for (size_t i = 0; i < set->count; i++)
        printf(" %8s %8s", "lost %", "error %");
    printf("\n");
    for (size_t line = 0; line < set->all[0].count; line++) {
        const size_t head = set->all[0].rows[line];
        printf("%5s %4s %5.1f %5.2f", csv_cell(&set->table, head, columns->layer),
               csv_cell(&set->table, head, columns->head),
               csv_value(&set->table, head, columns->gap),
               csv_value(&set->table, head, columns->gap_sigma));
        for (size_t i = 0; i < set->count; i++) {
            if (line >= set->all[i].count)
                continue;
            print_cell(set, set->all[i].rows[line], columns->underflow, 100);
            print_cell(set, set->all[i].rows[line], columns->rel_l2, 100);
        }
        printf("\n");
    }
    printf("gap: largest sink score - mean of the others, nats, mean over queries; /sd: over their "
           "standard "
           "deviation.\nlost: non-sink keys whose P becomes zero; error: relative L2 error of the "
           "output.\n");
}

int cli_summary(int argc, char **argv)
{
    summary_options options = {.name = argv[0]};
    const int code = cli_parse(&summary_argp, argc, argv, &options);
    if (code != EXIT_OK)
        return code < 0 ? EXIT_OK : code;
    series_set set;
    pcast_error err;
    const pcast_status status = series_read(options.input, &set, &err);
    if (status != PCAST_OK)
        return cli_fail(cli_exit_code(status), options.name, "%s", err.text);
    if (set.on_heads)
        print_heads(&set);
    else
        print_sweep(&set);
    series_free(&set);
    return EXIT_OK;
}
