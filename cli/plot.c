/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pcast plot: a sweep's CSV through gnuplot, which is started without a shell and reads a script
 * made here. */
#include "cli.h"
#include "gnuplot.h"
#include "grid.h"
#include "plot_budget.h"
#include "series.h"

#include "pcast/theory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct plot_options {
    const char *name;
    const char *input;
    const char *output;
    int script;
} plot_options;

enum { CURVE_POINTS = 120 };

static const struct argp_option plot_argp_options[] = {
    {"output", 'o', "FILE", 0, "picture to write, .svg or .png; - is SVG on stdout", 0},
    {"script", 's', NULL, 0, "write the gnuplot script itself instead of the picture", 0},
    {"help", 'h', NULL, 0, "print this help", -1},
    {0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    plot_options *options = state->input;
    switch (key) {
    case 'o':
        options->output = arg;
        return 0;
    case 's':
        options->script = 1;
        return 0;
    case ARGP_KEY_ARG:
        if (options->input != NULL)
            return ARGP_ERR_UNKNOWN;
        options->input = arg;
        return 0;
    case ARGP_KEY_END:
        if (options->input == NULL)
            return cli_bad(state, "no CSV file given");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp plot_argp = {
    .options = plot_argp_options,
    .parser = parse_option,
    .args_doc = "FILE.csv",
    .doc =
        "Draws the CSV of a sweep, of theory, or of theory --dp: underflow with its theory, and "
        "the mean squared error, against Delta (or, on a model's heads, against their gap). A "
        "sweep over N at one Delta: relative and mean squared error against N. The CSV of attend "
        "--budget: what each stage adds to the error, on up to twelve heads.",
};

static int point_type(const series *one)
{
    return one->order == PCAST_ORDER_FORWARD ? 7 : 6; /* filled, hollow */
}

/* Points of one quantity as a data block: x, y, low, high. Returns how many there are. */
static size_t put_points(FILE *script, const series_set *set, size_t index, const char *block,
                         int value_column, int error_column, int log_axis)
{
    const series *one = &set->all[index];
    size_t count = 0;
    fprintf(script, "$%s%zu << EOD\n", block, index);
    for (size_t i = 0; i < one->count; i++) {
        const double x = series_x(set, one->rows[i]);
        const double y = csv_value(&set->table, one->rows[i], value_column);
        const double error = csv_value(&set->table, one->rows[i], error_column);
        if (!isfinite(x) || !isfinite(y) || (log_axis && !(y > 0)))
            continue;
        const double e = isfinite(error) ? error : 0;
        const double low = log_axis && y - e <= 0 ? y / 100 : y - e;
        fprintf(script, "%.9g %.9g %.9g %.9g\n", x, y, low, y + e);
        count++;
    }
    fprintf(script, "EOD\n");
    return count;
}

/* The range of x over all rows; returns 0 if no row has one. */
static int x_range(const series_set *set, double *low, double *high)
{
    *low = INFINITY;
    *high = -INFINITY;
    for (size_t row = 0; row < set->table.rows; row++) {
        const double x = series_x(set, row);
        *low = x < *low ? x : *low;
        *high = x > *high ? x : *high;
    }
    return *low <= *high;
}

/* The expected underflow of all non-sink keys over the range of Delta. Returns the number of
 * points, 0 where the file does not say enough to compute it. */
static size_t put_theory(FILE *script, const series_set *set, size_t index, double low, double high)
{
    const series *one = &set->all[index];
    const int known = one->in_theory && one->n >= 2 && one->block >= 1 && one->sinks >= 1;
    fprintf(script, "$theory%zu << EOD\n", index);
    size_t count = 0;
    for (int i = 0; known && !set->on_heads && !set->over_n && i <= CURVE_POINTS; i++) {
        const double delta = low + (high - low) * i / CURVE_POINTS;
        const pcast_kernel kernel = {
            .order = one->order, .block = (size_t)one->block, .scale = (float)one->scale};
        pcast_theory_row row =
            grid_theory_row(&kernel, (size_t)one->n, 1, (size_t)one->sinks, delta);
        row.sigma = one->sigma;
        const double y = pcast_theory_underflow(&row).all;
        if (isnan(y))
            continue;
        fprintf(script, "%.9g %.9g\n", delta, y);
        count++;
    }
    fprintf(script, "EOD\n");
    return count;
}

/* A vertical line at Delta_c of every forward series. */
static void put_thresholds(FILE *script, const series_set *set, double low, double high)
{
    char hex[8];
    for (size_t i = 0; i < set->count; i++) {
        const series *one = &set->all[i];
        if (set->on_heads || set->over_n || one->order != PCAST_ORDER_FORWARD ||
            !(one->sinks >= 1) || !one->in_theory)
            continue;
        const double delta_c = pcast_theory_delta_c(one->scale, (size_t)one->sinks, one->sigma);
        if (!(delta_c >= low && delta_c <= high))
            continue;
        fprintf(
            script,
            "set arrow from first %.9g, graph 0 to first %.9g, graph 1 nohead dt 3 lc rgb '%s'\n",
            delta_c, delta_c, gnuplot_color(i, hex));
        fprintf(script,
                "set label 'Delta_c, S = %.4g' at first %.9g, graph 0.97 right rotate by 90 "
                "offset -0.6,0 font ',10' tc rgb '%s' noenhanced\n",
                one->scale, delta_c, gnuplot_color(i, hex));
    }
}

static void put_panel(FILE *script, const series_set *set, const char *block, const size_t *counts,
                      const char *curve, const size_t *curves)
{
    int any = 0;
    char hex[8];
    for (size_t i = 0; i < set->count; i++) {
        const int dash = set->all[i].order == PCAST_ORDER_FORWARD ? 1 : 2;
        if (curves[i] > 0) {
            gnuplot_element(script, &any);
            fprintf(script, "$%s%zu using 1:2 with lines lw 1.5 dt %d lc rgb '%s' notitle", curve,
                    i, dash, gnuplot_color(i, hex));
        }
        if (counts[i] == 0)
            continue;
        gnuplot_element(script, &any);
        fprintf(script,
                "$%s%zu using 1:2:3:4 with yerrorbars pt %d ps 0.6 lw 1.2 lc rgb '%s' title ",
                block, i, point_type(&set->all[i]), gnuplot_color(i, hex));
        gnuplot_string(script, set->all[i].label);
    }
    if (any)
        fprintf(script, "\n");
    else
        gnuplot_nothing(script);
}

static void put_header(FILE *script, const char *terminal, const series_set *set, double low,
                       double high)
{
    const double margin = gnuplot_margin(low, high);
    size_t longest = 0; /* label: long ones would leave no room beside the plot */
    for (size_t i = 0; i < set->count; i++)
        longest = strlen(set->all[i].label) > longest ? strlen(set->all[i].label) : longest;
    if (strcmp(terminal, "png") == 0)
        fprintf(
            script,
            "set terminal pngcairo size 900,1000 background rgb 'white' font 'DejaVu Sans,11'\n");
    else
        fprintf(script,
                "set terminal svg size 900,1000 background rgb 'white' font 'DejaVu Sans,13'\n");
    fprintf(script,
            "set encoding utf8\nset multiplot layout 2,1\nset grid lc rgb '#DDDDDD'\n"
            "set key %s noenhanced\nset tics nomirror\nset border 3\n",
            longest > 28 ? "below" : "outside right top");
    if (set->over_n)
        fprintf(script, "set logscale x 2\nset format x '2^{%%L}'\nset xrange [%.9g:%.9g]\n",
                low / 1.2, high * 1.2);
    else
        fprintf(script, "set xrange [%.9g:%.9g]\n", low - margin, high + margin);
    fprintf(script, "set xlabel '%s'\n",
            set->on_heads ? "gap of the head (largest sink score - mean of the others, nats)"
            : set->over_n ? "N (keys)"
                          : "Delta (score advantage of the sinks, nats)");
}

static void put_script(FILE *script, const char *terminal, const series_set *set)
{
    double low = 0, high = 1;
    if (!x_range(set, &low, &high))
        low = 0, high = 1;
    size_t *counts = cli_alloc(set->count, sizeof *counts);
    size_t *curves = cli_alloc(set->count, sizeof *curves);
    put_header(script, terminal, set, low, high);
    put_thresholds(script, set, low - gnuplot_margin(low, high), high + gnuplot_margin(low, high));

    for (size_t i = 0; i < set->count; i++) {
        counts[i] = set->over_n
                        ? put_points(script, set, i, "underflow", set->columns.rel_l2, -1, 1)
                        : put_points(script, set, i, "underflow", set->columns.underflow,
                                     set->columns.underflow_se, 0);
        /* Over the range of the points; around a single one, so that it is a curve too. */
        curves[i] = high > low ? put_theory(script, set, i, low, high)
                               : put_theory(script, set, i, low - gnuplot_margin(low, high) / 2,
                                            high + gnuplot_margin(low, high) / 2);
    }
    if (set->over_n)
        fprintf(script, "set title 'Relative error of the output' noenhanced\n"
                        "set ylabel 'relative L2 error'\nset logscale y\n"
                        "set format y '10^{%%L}'\n");
    else
        fprintf(
            script, "set title '%s' noenhanced\nset ylabel 'underflow'\nset yrange [-0.02:1.02]\n",
            set->on_heads || set->is_theory
                ? "Non-sink keys whose P becomes zero"
                : "Non-sink keys whose P becomes zero: points simulated (+- 1 s.e.), lines theory");
    put_panel(script, set, "underflow", counts, "theory", curves);

    for (size_t i = 0; i < set->count; i++) {
        counts[i] = put_points(script, set, i, "mse", set->columns.mse, set->columns.mse_se, 1);
        curves[i] = put_points(script, set, i, "mse_theory", set->columns.mse_theory, -1, 1);
    }
    fprintf(script,
            "set title 'Mean squared error of the output%s' noenhanced\nset ylabel 'MSE'\n"
            "set autoscale y\nset logscale y\nset format y '10^{%%L}'\n",
            set->on_heads || set->is_theory ? "" : ": points simulated (+- 1 s.e.), lines theory");
    put_panel(script, set, "mse", counts, "mse_theory", curves);
    fprintf(script, "unset multiplot\n");
    free(counts);
    free(curves);
}

static const char *terminal_for(const char *path)
{
    const char *dot = path != NULL ? strrchr(path, '.') : NULL;
    if (path == NULL || strcmp(path, "-") == 0)
        return "svg";
    if (dot != NULL && strcasecmp(dot, ".svg") == 0)
        return "svg";
    return dot != NULL && strcasecmp(dot, ".png") == 0 ? "png" : NULL;
}

/* The CSV of `pcast theory --dp`: two curves over S. */
static void put_dp_script(FILE *script, const char *terminal, const csv_table *table)
{
    const int scale = csv_column(table, "scale"), dp = csv_column(table, "dp");
    const int worst = csv_column(table, "worst_point");
    fprintf(script, "$dp << EOD\n");
    for (size_t row = 0; row < table->rows; row++)
        if (csv_value(table, row, scale) > 0)
            fprintf(script, "%.9g %.9g %.9g\n", csv_value(table, row, scale),
                    csv_value(table, row, dp), csv_value(table, row, worst));
    fprintf(
        script,
        "EOD\nset terminal %s size 900,560 background rgb 'white' font 'DejaVu Sans,%d'\n"
        "set grid lc rgb '#DDDDDD'\nset key outside right top\nset tics nomirror\nset border 3\n"
        "set title 'Resolution of E4M3 over the scale S'\nset xlabel 'S'\nset ylabel 'of p in [0, "
        "1]'\n"
        "set logscale x 2\nset yrange [0:*]\n"
        "plot $dp using 1:2 with lines lw 1.5 lc rgb '#D55E00' title 'dp: widest cell / S', "
        "$dp using 1:3 with lines lw 1.5 lc rgb '#0072B2' title 'worst point error'\n",
        strcmp(terminal, "png") == 0 ? "pngcairo" : "svg", strcmp(terminal, "png") == 0 ? 11 : 13);
}

/* What is drawn: a sweep or theory over a grid, the resolution over S, or an error budget. */
typedef struct picture {
    series_set set;
    csv_table table; /* of the last two */
    int is_dp, is_budget;
    const char *terminal;
} picture;

static pcast_status read_picture(const char *path, picture *one, pcast_error *err)
{
    *one = (picture){0};
    const pcast_status status = csv_read(path, &one->table, err);
    if (status != PCAST_OK)
        return status;
    one->is_dp = csv_column(&one->table, "dp") >= 0 && csv_column(&one->table, "scale") >= 0 &&
                 csv_column(&one->table, "worst_point") >= 0;
    one->is_budget = plot_budget_is(&one->table);
    return one->is_dp || one->is_budget ? PCAST_OK
                                        : series_from_table(path, &one->table, &one->set, err);
}

static void put_picture(FILE *script, const void *data)
{
    const picture *one = data;
    if (one->is_dp)
        put_dp_script(script, one->terminal, &one->table);
    else if (one->is_budget)
        plot_budget_script(script, one->terminal, &one->table);
    else
        put_script(script, one->terminal, &one->set);
}

static int draw(const plot_options *options, const picture *one)
{
    cli_output output;
    pcast_error err;
    if (cli_output_open(&output, options->output, &err) != PCAST_OK)
        return cli_fail(EXIT_OUTPUT, options->name, "%s", err.text);
    int code = EXIT_OK;
    if (options->script)
        put_picture(output.stream, one);
    else
        code = gnuplot_draw(options->name, output.stream, put_picture, one);
    return cli_output_finish(&output, code, options->name);
}

int cli_plot(int argc, char **argv)
{
    plot_options options = {.name = argv[0]};
    int code = cli_parse(&plot_argp, argc, argv, &options);
    if (code != EXIT_OK)
        return code < 0 ? EXIT_OK : code;
    const char *terminal = terminal_for(options.output);
    if (terminal == NULL && options.script)
        terminal = "svg";
    if (terminal == NULL)
        return cli_fail(EXIT_USAGE, options.name, "--output: '%s' ends in neither .svg nor .png",
                        options.output);
    picture one;
    pcast_error err;
    const pcast_status status = read_picture(options.input, &one, &err);
    if (status != PCAST_OK)
        return cli_fail(cli_exit_code(status), options.name, "%s", err.text);
    one.terminal = terminal;
    code = draw(&options, &one);
    if (one.is_dp || one.is_budget)
        csv_free(&one.table);
    else
        series_free(&one.set);
    return code;
}
