/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A diagnosis as CSV, as a trade-off in CSV, and as text. */
#include "diagnose.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const columns[] = {"kernel",       "layer",
                                      "head",         "queries",
                                      "sink_keys",    "gap",
                                      "gap_sigma",    "score_sd",
                                      "lag_total",    "lag_largest",
                                      "raising",      "theory_f",
                                      "theory_shape", "theory_saturated",
                                      "underflow",    "saturated",
                                      "mass_kept",    "rel_l2",
                                      "now_rel_l2",   "best_order",
                                      "best_scale",   "best_threshold",
                                      "best_rel_l2",  "ties",
                                      "headroom"};
static const char *const stage_columns[] = {"mse",   "mse_q",      "mse_k",
                                            "mse_v", "mse_p_cast", "mse_output"};

static void put_sinks(csv_writer *csv, const diagnosed_head *one)
{
    char *keys = cli_alloc(one->sinks + 1, 21);
    size_t length = 0;
    for (size_t i = 0; i < one->sinks; i++)
        length +=
            (size_t)sprintf(keys + length, "%s%zu", i > 0 ? " " : "", one->diagnosis.head.sinks[i]);
    csv_text(csv, keys);
    free(keys);
}

static void put_head(csv_writer *csv, const diagnose_options *options, const diagnosed *all,
                     size_t head)
{
    const diagnosed_head *one = &all->heads[head];
    const pcast_diagnosis *d = &one->diagnosis;
    const pcast_candidate *best = &all->candidates[d->choice.best];
    const int predicted = diagnose_is_predicted(options);
    csv_text(csv, options->label);
    csv_text(csv, one->layer);
    csv_count(csv, one->index);
    csv_count(csv, d->head.queries);
    put_sinks(csv, one);
    csv_known(csv, d->head.gap);
    csv_known(csv, d->head.gap_sigma);
    csv_known(csv, d->shape.score_sd);
    csv_known(csv, d->shape.lag_total);
    csv_known(csv, d->shape.lag_largest);
    csv_known(csv, d->shape.raising);
    csv_theory(csv, predicted ? d->shape.underflow_normal : NAN);
    csv_theory(csv, predicted ? d->shape.underflow_shape : NAN);
    csv_known(csv, d->shape.saturated);
    csv_number(csv, d->simulated.underflow);
    csv_number(csv, d->simulated.saturated);
    csv_number(csv, d->simulated.mass_kept);
    csv_number(csv, d->simulated.rel_l2);
    csv_number(csv, diagnose_error_now(options, all, head));
    csv_text(csv, pcast_order_name(best->order));
    csv_number(csv, (double)best->scale);
    csv_number(csv, (double)best->tau);
    csv_number(csv, d->choice.error);
    csv_count(csv, d->choice.ties);
    csv_number(csv, d->choice.headroom);
    if (options->quantize) {
        double parts[DIAGNOSE_STAGES];
        diagnose_stage_errors(&one->budget, parts);
        csv_number(csv, one->budget.all);
        for (size_t s = 0; s < DIAGNOSE_STAGES; s++)
            csv_number(csv, parts[s]);
    }
    csv_end(csv);
}

void diagnose_write_csv(csv_writer *csv, const diagnose_options *options, const diagnosed *all)
{
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        csv_text(csv, columns[i]);
    for (size_t i = 0; options->quantize && i < sizeof stage_columns / sizeof stage_columns[0]; i++)
        csv_text(csv, stage_columns[i]);
    csv_end(csv);
    for (size_t h = 0; h < all->count; h++)
        put_head(csv, options, all, h);
}

void diagnose_write_trade_off(csv_writer *csv, const diagnosed *all)
{
    static const char *const names[] = {"order",       "scale",      "rescale_threshold",
                                        "mean_rel_l2", "mean_ratio", "largest_ratio"};
    csv_names(csv, names, sizeof names / sizeof names[0]);
    for (size_t i = 0; i < all->candidate_count; i++) {
        const pcast_regret regret = diagnose_regret(all, i);
        csv_text(csv, pcast_order_name(all->candidates[i].order));
        csv_number(csv, (double)all->candidates[i].scale);
        csv_number(csv, (double)all->candidates[i].tau);
        csv_number(csv, regret.error);
        csv_number(csv, regret.mean);
        csv_number(csv, regret.largest);
        csv_end(csv);
    }
}

/* A number in a column of this width, its unit included; a dash for a NaN. */
static void put_cell(FILE *out, int width, int digits, double value, const char *unit)
{
    const int room = width - (int)strlen(unit);
    if (isnan(value))
        fprintf(out, " %*s", width, "-");
    else
        fprintf(out, " %*.*g%s", room, digits, value, unit);
}

static void put_fixed(FILE *out, int width, int digits, double value)
{
    if (isnan(value))
        fprintf(out, " %*s", width, "-");
    else
        fprintf(out, " %*.*f", width, digits, value);
}

static void put_line(FILE *out, const diagnose_options *options, const diagnosed *all, size_t head)
{
    const diagnosed_head *one = &all->heads[head];
    const pcast_diagnosis *d = &one->diagnosis;
    const pcast_candidate *best = &all->candidates[d->choice.best];
    fprintf(out, "%5s %4zu", one->layer, one->index);
    put_fixed(out, 6, 1, d->head.gap);
    put_fixed(out, 7, 2, d->shape.score_sd);
    put_fixed(out, 6, 2, d->shape.lag_total);
    put_cell(out, 10, 3, 100 * d->simulated.underflow, "%");
    put_cell(out, 10, 3, 100 * d->simulated.saturated, "%");
    put_cell(out, 10, 5, 100 * d->simulated.mass_kept, "%");
    put_cell(out, 8, 2, 100 * diagnose_error_now(options, all, head), "%");
    fprintf(out, " | %-8s %5g %9g", pcast_order_name(best->order), (double)best->scale,
            (double)best->tau);
    put_cell(out, 7, 2, 100 * d->choice.error, "%");
    fprintf(out, "%s\n", d->choice.ties > 1 ? " (ties)" : "");
}

/* Mean squared error of the quantised kernel, and what each stage adds to it. */
static void put_stages(FILE *out, const diagnose_options *options, const diagnosed *all)
{
    double parts[DIAGNOSE_STAGES];
    const double error = diagnose_stage_means(all, parts);
    fprintf(out, "\nWith Q, K and V %s, mean over heads: squared error %.3g.\n",
            diagnose_casts_inputs(options) ? "quantised" : "as the kernel reads them", error);
    fprintf(out, "stage     adds       share\n");
    for (size_t s = 0; s < DIAGNOSE_STAGES; s++) {
        fprintf(out, "%-6s", diagnose_stage_name(s));
        put_cell(out, 10, 3, parts[s], "");
        put_cell(out, 8, 3, 100 * parts[s] / error, "%");
        fprintf(out, "\n");
    }
}

void diagnose_write_text(FILE *out, const diagnose_options *options, const diagnosed *all)
{
    char keys[48], sinks[48], advice[DIAGNOSE_ADVICE_MAX];
    fprintf(out, "kernel %s, %s keys, %s sink%s a head\n\n", options->label,
            diagnose_span(all->keys, keys), diagnose_span(all->sinks, sinks),
            all->sinks.most == 1 ? "" : "s");
    fprintf(out,
            "layer head    gap  spread    lag  lost keys  saturated  mass kept    error | best "
            "order, S, threshold   error\n");
    for (size_t h = 0; h < all->count; h++)
        put_line(out, options, all, h);
    diagnose_advice(options, all, advice, sizeof advice);
    fprintf(out, "\ngap: largest sink score - mean of the others, nats; spread: their standard "
                 "deviation; lag: by how many powers of two the\nrunning maximum rises after the "
                 "first tile; error: relative L2 of the output, in FP32, against exact "
                 "attention.\n");
    if (options->quantize)
        put_stages(out, options, all);
    fprintf(out, "\n%s\n", advice);
}
