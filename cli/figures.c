/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Four figures: simulated points with 95 % intervals over curves by theory. */
#include "figures.h"

#include "cli.h"
#include "gnuplot.h"

#include "pcast/theory.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SINKS = 4, BLOCK = 128, KEYS = 4096, CURVE = 60, KERNELS = 6, DELTAS = 14 };

/* The paper's six configurations. */
static const pcast_kernel kernels[KERNELS] = {
    {.order = PCAST_ORDER_FORWARD, .block = BLOCK, .scale = 1},
    {.order = PCAST_ORDER_FORWARD, .block = BLOCK, .scale = 256},
    {.order = PCAST_ORDER_FORWARD, .block = BLOCK, .scale = 448},
    {.order = PCAST_ORDER_REVERSE, .block = BLOCK, .scale = 1},
    {.order = PCAST_ORDER_REVERSE, .block = BLOCK, .scale = 256},
    {.order = PCAST_ORDER_REVERSE, .block = BLOCK, .scale = 448},
};
static const char *const colors[KERNELS] = {"#D55E00", "#0072B2", "#009E73",
                                            "#E69F00", "#56B4E9", "#CC79A7"};

/* What the figures share: the six configurations over Delta, [kernel][delta]. */
typedef struct figure_data {
    double deltas[DELTAS];
    pcast_summary summaries[KERNELS * DELTAS];
} figure_data;

static pcast_theory_row theory_row(const pcast_kernel *kernel, size_t keys, double delta)
{
    return (pcast_theory_row){kernel->order,         keys,  SINKS, kernel->block,
                              (double)kernel->scale, delta, 1};
}

static void put_head(FILE *script, const char *title, const char *x, const char *y)
{
    fprintf(script,
            "set terminal svg size 900,560 background rgb 'white' font 'DejaVu Sans,13'\n"
            "set title '%s' noenhanced\n",
            title);
    gnuplot_axes(script, "outside right top", x, y);
}

static const char *label(const pcast_kernel *kernel, char text[40])
{
    snprintf(text, 40, "%s, S = %g", pcast_order_name(kernel->order), (double)kernel->scale);
    return text;
}

/* Simulated values of one configuration with 1.96 standard errors. */
static void put_points(FILE *script, const figure_data *data, size_t kernel, int mse)
{
    fprintf(script, "$points%zu << EOD\n", kernel);
    for (size_t d = 0; d < DELTAS; d++) {
        const pcast_summary *summary = &data->summaries[kernel * DELTAS + d];
        const double value = mse ? summary->mse : summary->underflow;
        const double reach = 1.96 * (mse ? summary->mse_se : summary->underflow_se);
        const double low = mse && value - reach <= 0 ? value / 100 : value - reach;
        if (value > 0 || !mse)
            fprintf(script, "%.9g %.9g %.9g %.9g\n", data->deltas[d], value, low, value + reach);
    }
    fprintf(script, "EOD\n");
}

static void put_curve(FILE *script, size_t index, const pcast_kernel *kernel, int mse)
{
    pcast_theory_row rows[CURVE + 1];
    double values[CURVE + 1];
    for (int i = 0; i <= CURVE; i++) {
        rows[i] = theory_row(kernel, KEYS, 13.0 * i / CURVE);
        values[i] = mse ? 0 : pcast_theory_underflow(&rows[i]).all;
    }
    if (mse)
        pcast_theory_mse_rows(rows, CURVE + 1, values);
    fprintf(script, "$curve%zu << EOD\n", index);
    for (int i = 0; i <= CURVE; i++)
        fprintf(script, "%.9g %.9g\n", rows[i].delta, values[i]);
    fprintf(script, "EOD\n");
}

static void put_configurations(FILE *script, const figure_data *data, int mse)
{
    char text[40];
    for (size_t n = 0; n < KERNELS; n++) {
        put_points(script, data, n, mse);
        put_curve(script, n, &kernels[n], mse);
    }
    fprintf(script, "plot ");
    for (size_t n = 0; n < KERNELS; n++)
        fprintf(script,
                "%s$curve%zu using 1:2 with lines lw 1.5 dt %d lc rgb '%s' notitle, \\\n"
                "  $points%zu using 1:2:3:4 with yerrorbars pt %d ps 0.6 lc rgb '%s' title '%s'",
                n > 0 ? ", \\\n  " : "", n, n < 3 ? 1 : 2, colors[n], n, n < 3 ? 7 : 6, colors[n],
                label(&kernels[n], text));
    if (!mse)
        for (size_t n = 0; n < 3; n++)
            fprintf(
                script, ", \\\n  norm(x + %.9g) with lines lw 1 dt 3 lc rgb '%s' title 'F, S = %g'",
                pcast_theory_delta_k(SINKS) - pcast_theory_flush_depth((double)kernels[n].scale),
                colors[n], (double)kernels[n].scale);
    fprintf(script, "\n");
}

static void draw_underflow(FILE *script, const void *data)
{
    put_head(script,
             "Underflow: simulated (95 %), exact expectation (lines), leading order F (dotted)",
             "Delta (score advantage of the sinks, nats)", "share of the other keys lost");
    fprintf(script, "set xrange [0:13]\nset yrange [-0.02:1.02]\n");
    put_configurations(script, data, 0);
}

static void draw_mse(FILE *script, const void *data)
{
    put_head(script, "Mean squared error: simulated (95 %), exact expectation (lines)",
             "Delta (score advantage of the sinks, nats)", "MSE");
    fprintf(script,
            "set xrange [0:13]\nset yrange [1e-7:1e-3]\nset logscale y\nset format y '10^{%%L}'\n");
    put_configurations(script, data, 1);
}

static void draw_dp(FILE *script, const void *data)
{
    (void)data;
    put_head(script, "Resolution of E4M3 over the scale S", "S", "of p in [0, 1]");
    fprintf(script, "set logscale x 2\nset xrange [1:512]\nset yrange [0:0.15]\n$dp << EOD\n");
    for (int i = 0; i <= 9 * 128; i++) {
        const double scale = exp2(i / 128.0), next = nextafter(scale, INFINITY);
        fprintf(script, "%.9g %.9g %.9g\n", scale, pcast_theory_dp(scale),
                pcast_theory_worst_point(scale));
        fprintf(script, "%.9g %.9g %.9g\n", next, pcast_theory_dp(next),
                pcast_theory_worst_point(next));
    }
    fprintf(script,
            "EOD\nplot $dp using 1:2 with lines lw 1.5 lc rgb '%s' title 'dp: widest cell / S', "
            "$dp using 1:3 with lines lw 1.5 lc rgb '%s' title 'worst point error', "
            "1.0/16 with lines dt 3 lc rgb 'black' title '1/16'\n",
            colors[0], colors[1]);
}

/* MSE of S = 1 over S = 256, forward, against N, by theory; the simulation of claim E at Delta
 * = 6.5 beside it. */
static void draw_ratio(FILE *script, const void *context)
{
    const pcast_claim *claim = context;
    static const double deltas[] = {5, 6, 6.5, 7};
    put_head(script, "MSE of S = 1 over MSE of S = 256, forward order", "N (keys)", "ratio");
    fprintf(script, "set logscale xy\nset xrange [512:131072]\n");
    for (int d = 0; d < 4; d++) {
        fprintf(script, "$ratio%d << EOD\n", d);
        for (double log_n = 9; log_n <= 17; log_n += 0.25) {
            const size_t keys = (size_t)lround(exp2(log_n));
            const pcast_theory_row one = theory_row(&kernels[0], keys, deltas[d]);
            const pcast_theory_row scaled = theory_row(&kernels[1], keys, deltas[d]);
            fprintf(script, "%zu %.9g\n", keys, pcast_theory_mse(&one) / pcast_theory_mse(&scaled));
        }
        fprintf(script, "EOD\n");
    }
    fprintf(script, "$simulated << EOD\n");
    for (size_t i = 0; i < claim->count; i++)
        if (claim->findings[i].trials > 0)
            fprintf(script, "%zu %.9g %.9g %.9g\n", claim->findings[i].keys,
                    claim->findings[i].value, claim->findings[i].low, claim->findings[i].high);
    fprintf(script, "EOD\nplot ");
    for (int d = 0; d < 4; d++)
        fprintf(
            script,
            "$ratio%d using 1:2 with lines lw 1.5 lc rgb '%s' title 'theory, Delta = %g', \\\n  ",
            d, colors[d], deltas[d]);
    fprintf(script,
            "$simulated using 1:2:3:4 with yerrorbars pt 7 ps 0.7 lc rgb '%s' title 'simulated, "
            "Delta = 6.5'\n",
            colors[2]);
}

static int draw(const char *name, const char *folder, const char *file, gnuplot_script *put,
                const void *data)
{
    char path[1024];
    cli_output output;
    pcast_error err;
    snprintf(path, sizeof path, "%s/%s", folder, file);
    if (cli_output_open(&output, path, &err) != PCAST_OK)
        return cli_fail(EXIT_OUTPUT, name, "%s", err.text);
    const int code = gnuplot_draw(name, output.stream, put, data);
    return cli_output_finish(&output, code, name);
}

int figures_draw(const char *name, const char *folder, const pcast_paper *paper)
{
    pcast_error err = {""};
    pcast_claim growth;
    figure_data *data = cli_alloc(1, sizeof *data);
    for (size_t d = 0; d < DELTAS; d++)
        data->deltas[d] = (double)d;
    const pcast_synthetic experiment = {.keys = KEYS,
                                        .dim = 128,
                                        .sinks = SINKS,
                                        .seed = paper->seed,
                                        .trials = paper->quick ? 24 : 384,
                                        .deltas = data->deltas,
                                        .delta_count = DELTAS};
    const pcast_run run = {
        .kernels = kernels, .kernel_count = KERNELS, .threads = paper->threads, .cpu = paper->cpu};
    int code = EXIT_OK;
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        code = cli_fail(EXIT_OUTPUT, name, "%s: %s", folder, strerror(errno));
    pcast_status status = PCAST_OK;
    if (code == EXIT_OK)
        status = pcast_synthetic_run(&experiment, &run, data->summaries, &err);
    if (code == EXIT_OK && status == PCAST_OK)
        status = pcast_paper_claim(paper, 'E' - 'A', &growth, &err);
    if (status != PCAST_OK)
        code = cli_fail(cli_exit_code(status), name, "%s", err.text);
    if (code == EXIT_OK)
        code = draw(name, folder, "underflow.svg", draw_underflow, data);
    if (code == EXIT_OK)
        code = draw(name, folder, "mse.svg", draw_mse, data);
    if (code == EXIT_OK)
        code = draw(name, folder, "dp.svg", draw_dp, NULL);
    if (code == EXIT_OK)
        code = draw(name, folder, "ratio.svg", draw_ratio, &growth);
    free(data);
    return code;
}
