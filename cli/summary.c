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

/* Where the underflow of a series over Delta first reaches a level. */
typedef struct onset {
    int reached;
    int at_start; /* the first point is there already */
    double x;     /* by linear interpolation between points */
} onset;

static onset find_onset(const series_set *set, const series *one, double level)
{
    double before_x = NAN, before_y = NAN;
    for (size_t i = 0; i < one->count; i++) {
        const double x = series_x(set, one->rows[i]);
        const double y = csv_value(&set->table, one->rows[i], set->columns.underflow);
        if (y >= level && i == 0)
            return (onset){1, 1, x};
        if (y >= level)
            return (onset){1, 0, before_x + (x - before_x) * (level - before_y) / (y - before_y)};
        before_x = x;
        before_y = y;
    }
    return (onset){0};
}

/* Largest underflow of a series that is a number; NaN if none is. */
static double largest_underflow(const series_set *set, const series *one)
{
    double max = NAN;
    for (size_t i = 0; i < one->count; i++) {
        const double y = csv_value(&set->table, one->rows[i], set->columns.underflow);
        max = y > max || isnan(max) ? y : max;
    }
    return max;
}

static void print_series(const series_set *set, const series *one)
{
    const onset tenth = find_onset(set, one, 0.1), half = find_onset(set, one, 0.5);
    const double most = largest_underflow(set, one);
    printf("%-18s ", one->label);
    if (isnan(most))
        printf("has no counts");
    else if (!tenth.reached)
        printf("never loses a tenth of the keys: at most %.2g %%", 100 * most);
    else
        printf("loses a tenth of the keys at Delta = %.1f%s", tenth.x,
               tenth.at_start ? " or below" : "");
    if (half.reached) {
        printf(", half at %.1f%s", half.x, half.at_start ? " or below" : "");
        if (one->order == PCAST_ORDER_FORWARD && one->sinks >= 1)
            printf(" (theory %.2f)", pcast_theory_delta_c(one->scale, (size_t)one->sinks, 1));
    }
    printf("\n");
}

static int same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* The series of that order and S in the same kind of row as `like`. */
static const series *find(const series_set *set, const series *like, pcast_order order,
                          double scale)
{
    for (size_t i = 0; i < set->count; i++) {
        const series *one = &set->all[i];
        if (one->order == order && one->scale == scale && same(one->n, like->n) &&
            same(one->dim, like->dim) && same(one->block, like->block) &&
            same(one->sinks, like->sinks))
            return one;
    }
    return NULL;
}

/* The largest factor by which `better` has the lower MSE, and where. */
static void print_gain(const series_set *set, const series *worse, const series *better,
                       const char *what)
{
    double best = 1, at = NAN;
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
    if (best > 1.05)
        printf("%s divides the mean squared error of %s by up to %.1f (at Delta = %g).\n", what,
               worse->label, best, at);
    else
        printf("%s does not lower the mean squared error of %s here.\n", what, worse->label);
}

/* The field if all rows agree on it. */
static const char *common(const series_set *set, int column)
{
    for (size_t row = 1; row < set->table.rows; row++)
        if (strcmp(csv_cell(&set->table, row, column), csv_cell(&set->table, 0, column)) != 0)
            return "several";
    return column >= 0 ? csv_cell(&set->table, 0, column) : "?";
}

static void print_sweep(const series_set *set)
{
    const series_columns *columns = &set->columns;
    printf("One query, N = %s keys in blocks of %s; the first k = %s are sinks that score Delta "
           "nats more; %s trials.\n",
           common(set, columns->n), common(set, columns->block), common(set, columns->sinks),
           common(set, columns->trials));
    printf("Keys lost = other keys whose probability P the cast to E4M3 turns into zero:\n");
    for (size_t i = 0; i < set->count; i++)
        print_series(set, &set->all[i]);
    for (size_t i = 0; i < set->count; i++) {
        const series *plain = &set->all[i];
        if (plain->order != PCAST_ORDER_FORWARD || plain->scale != 1)
            continue;
        print_gain(set, plain, find(set, plain, PCAST_ORDER_FORWARD, 256), "S = 256");
        print_gain(set, plain, find(set, plain, PCAST_ORDER_REVERSE, 1), "Reverse order");
    }
}

/* A cell of the table of heads: value * factor, or a dash. */
static void print_cell(const series_set *set, size_t row, int column, double factor)
{
    const double value = column >= 0 ? csv_value(&set->table, row, column) : NAN;
    if (isnan(value))
        printf(" %8s", "-");
    else
        printf(" %8.*f", factor * fabs(value) >= 100 ? 1 : 3, factor * value);
}

/* The row of a series for the same layer and head as `row`, or one past the last. */
static size_t same_head(const series_set *set, const series *one, size_t row)
{
    const csv_table *table = &set->table;
    for (size_t i = 0; i < one->count; i++)
        if (strcmp(csv_cell(table, one->rows[i], set->columns.layer),
                   csv_cell(table, row, set->columns.layer)) == 0 &&
            strcmp(csv_cell(table, one->rows[i], set->columns.head),
                   csv_cell(table, row, set->columns.head)) == 0)
            return one->rows[i];
    return table->rows;
}

/* Is this the first row of its layer and head? */
static int is_new_head(const series_set *set, size_t row)
{
    const csv_table *table = &set->table;
    for (size_t before = 0; before < row; before++)
        if (strcmp(csv_cell(table, before, set->columns.layer),
                   csv_cell(table, row, set->columns.layer)) == 0 &&
            strcmp(csv_cell(table, before, set->columns.head),
                   csv_cell(table, row, set->columns.head)) == 0)
            return 0;
    return 1;
}

/* One line a head. */
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
    for (size_t row = 0; row < set->table.rows; row++) {
        if (!is_new_head(set, row))
            continue;
        printf("%5s %4s %5.1f %5.2f", csv_cell(&set->table, row, columns->layer),
               csv_cell(&set->table, row, columns->head), csv_value(&set->table, row, columns->gap),
               csv_value(&set->table, row, columns->gap_sigma));
        for (size_t i = 0; i < set->count; i++) {
            const size_t own = same_head(set, &set->all[i], row);
            print_cell(set, own, own < set->table.rows ? columns->underflow : -1, 100);
            print_cell(set, own, own < set->table.rows ? columns->rel_l2 : -1, 100);
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
