/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The CSV of `pcast attend --budget`: the kernel's error and what each stage adds to it. */
#include "plot_budget.h"

#include "gnuplot.h"

#include <math.h>
#include <string.h>

/* Columns in the order in which a kernel works, and what stands below the axis. */
static const struct {
    const char *column, *text;
} stages[] = {
    {"mse", "all"},
    {"mse_q", "Q in FP8"},
    {"mse_k", "K in FP8"},
    {"mse_v", "V in FP8"},
    {"mse_exp_unit", "exponential"},
    {"mse_p_cast", "cast of P"},
    {"mse_accumulator", "accumulator"},
    {"mse_row_sum", "row sum"},
    {"mse_output", "output"},
};

enum { STAGES = sizeof stages / sizeof stages[0], ROWS_MOST = 12 };

int plot_budget_is(const csv_table *table)
{
    for (size_t i = 0; i < STAGES; i++)
        if (csv_column(table, stages[i].column) < 0)
            return 0;
    return csv_column(table, "head") >= 0 && csv_column(table, "underflow") < 0;
}

static size_t row_count(const csv_table *table)
{
    return table->rows < ROWS_MOST ? table->rows : ROWS_MOST;
}

/* Place among the stages, size, and whether the stage takes error away. */
static void put_rows(FILE *script, const csv_table *table)
{
    const size_t rows = row_count(table);
    for (size_t row = 0; row < rows; row++) {
        const double shift = ((double)row + 0.5) / (double)rows - 0.5;
        fprintf(script, "$row%zu << EOD\n", row);
        for (size_t i = 0; i < STAGES; i++) {
            const double value = csv_value(table, row, csv_column(table, stages[i].column));
            if (isfinite(value) && value != 0)
                fprintf(script, "%.9g %.9g %d\n", (double)i + 0.8 * shift, fabs(value), value < 0);
        }
        fprintf(script, "EOD\n");
    }
}

static void put_labels(FILE *script)
{
    fprintf(script, "set xtics (");
    for (size_t i = 0; i < STAGES; i++)
        fprintf(script, "%s'%s' %zu", i > 0 ? ", " : "", stages[i].text, i);
    fprintf(script, ") rotate by -25\nset xrange [-0.5:%d.5]\n", STAGES - 1);
}

void plot_budget_script(FILE *script, const char *terminal, const csv_table *table)
{
    const int kernel = csv_column(table, "kernel"), head = csv_column(table, "head");
    const int png = strcmp(terminal, "png") == 0;
    char room[8];
    put_rows(script, table);
    fprintf(script,
            "set terminal %s size 900,560 background rgb 'white' font 'DejaVu Sans,%d'\n"
            "set title 'What each stage adds to the mean squared error "
            "(hollow: takes away)' noenhanced\n",
            png ? "pngcairo" : "svg", png ? 11 : 13);
    gnuplot_axes(script, "right top", "", "MSE");
    put_labels(script);
    fprintf(script, "set logscale y\nset format y '10^{%%L}'\nplot ");
    for (size_t row = 0; row < row_count(table); row++) {
        const char *color = gnuplot_color(row, room);
        fprintf(script,
                "%s$row%zu using 1:($3 == 0 ? $2 : NaN) with points pt 7 ps 1 lc rgb '%s' "
                "title ",
                row > 0 ? ", \\\n  " : "", row, color);
        char text[96];
        snprintf(text, sizeof text, "%.60s, head %.20s", csv_cell(table, row, kernel),
                 csv_cell(table, row, head));
        gnuplot_string(script, text);
        fprintf(script,
                " noenhanced, \\\n  $row%zu using 1:($3 == 1 ? $2 : NaN) with points pt 6 ps 1 "
                "lc rgb '%s' notitle",
                row, color);
    }
    fprintf(script, "\n");
}
