/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A diagnosis as CSV, as a trade-off in CSV, and as text. */
#include "diagnose.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const columns[] = {"kernel",         "layer",
                                      "head",           "queries",
                                      "sink_keys",      "gap",
                                      "gap_sigma",      "score_sd",
                                      "lag_total",      "lag_largest",
                                      "raising",        "theory_f",
                                      "theory_shape",   "theory_saturated",
                                      "underflow",      "saturated",
                                      "mass_kept",      "rel_l2",
                                      "best_order",     "best_scale",
                                      "best_threshold", "best_rel_l2",
                                      "ties",           "headroom"};
static const char *const stage_columns[] = {"mse",   "mse_q",      "mse_k",
                                            "mse_v", "mse_p_cast", "mse_output"};

static void put_sinks(csv_writer *csv, const diagnosed *all, const pcast_head *head)
{
    char *keys = cli_alloc(all->sinks + 1, 21);
    size_t length = 0;
    for (size_t i = 0; i < all->sinks; i++)
        length += (size_t)sprintf(keys + length, "%s%zu", i > 0 ? " " : "", head->sinks[i]);
    csv_text(csv, keys);
    free(keys);
}

static void put_head(csv_writer *csv, const diagnose_options *options, const diagnosed *all,
                     const diagnosed_head *one)
{
    const pcast_diagnosis *d = &one->diagnosis;
    const pcast_candidate *best = &all->candidates[d->choice.best];
    const int predicted = diagnose_is_predicted(options);
    csv_text(csv, options->spec);
    csv_text(csv, one->layer);
    csv_count(csv, one->index);
    csv_count(csv, d->head.queries);
    put_sinks(csv, all, &d->head);
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
        put_head(csv, options, all, &all->heads[h]);
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

/* The value, a NaN without the sign that some have. */
static double plain(double value)
{
    return isnan(value) ? (double)NAN : value;
}

void diagnose_write_text(FILE *out, const diagnose_options *options, const diagnosed *all)
{
    char text[48], advice[1024];
    fprintf(out, "kernel %s, %s keys, %zu sink%s a head\n\n", options->spec,
            diagnose_keys(all, text), all->sinks, all->sinks == 1 ? "" : "s");
    fprintf(out,
            "layer head    gap  spread    lag  lost keys  saturated  mass kept    error | best "
            "order, S, threshold   error\n");
    for (size_t h = 0; h < all->count; h++) {
        const diagnosed_head *one = &all->heads[h];
        const pcast_diagnosis *d = &one->diagnosis;
        const pcast_candidate *best = &all->candidates[d->choice.best];
        fprintf(out,
                "%5s %4zu %6.1f %7.2f %6.2f %9.3g%% %9.3g%% %9.5g%% %7.2g%% | %-8s %5g %9g "
                "%6.2g%%%s\n",
                one->layer, one->index, d->head.gap, plain(d->shape.score_sd), d->shape.lag_total,
                100 * plain(d->simulated.underflow), 100 * plain(d->simulated.saturated),
                100 * plain(d->simulated.mass_kept), 100 * plain(d->simulated.rel_l2),
                pcast_order_name(best->order), (double)best->scale, (double)best->tau,
                100 * plain(d->choice.error), d->choice.ties > 1 ? " (ties)" : "");
    }
    diagnose_advice(options, all, advice, sizeof advice);
    fprintf(out,
            "\ngap: largest sink score - mean of the others, nats; spread: their standard "
            "deviation; lag: by how many powers of two the\nrunning maximum rises after the first "
            "tile; error: relative L2 of the output against exact attention.\n\n%s\n",
            advice);
}
