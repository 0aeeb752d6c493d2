/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A diagnosis as CSV, as a trade-off table, and as text. */
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
    const int forward = options->kernel.order == PCAST_ORDER_FORWARD;
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
    csv_known(csv, forward ? d->shape.underflow_normal : NAN);
    csv_known(csv, forward ? d->shape.underflow_shape : NAN);
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
        const pcast_stage_errors *e = &one->stages;
        csv_number(csv, e->all);
        csv_number(csv, e->all - e->without_q);
        csv_number(csv, e->all - e->without_k);
        csv_number(csv, e->all - e->without_v);
        csv_number(csv, e->all - e->without_p);
        csv_number(csv, e->all - e->without_output);
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

void diagnose_regret(const diagnosed *all, size_t candidate, double *mean, double *largest)
{
    *mean = *largest = 0;
    for (size_t h = 0; h < all->count; h++) {
        const double *row = all->errors + h * all->candidate_count;
        double best = INFINITY;
        for (size_t i = 0; i < all->candidate_count; i++)
            best = row[i] < best ? row[i] : best;
        const double ratio = row[candidate] / best;
        *mean += ratio / (double)all->count;
        *largest = ratio > *largest || ratio != ratio ? ratio : *largest;
    }
}

void diagnose_write_trade_off(csv_writer *csv, const diagnosed *all)
{
    static const char *const names[] = {"order",       "scale",      "rescale_threshold",
                                        "mean_rel_l2", "mean_ratio", "largest_ratio"};
    csv_names(csv, names, sizeof names / sizeof names[0]);
    for (size_t i = 0; i < all->candidate_count; i++) {
        double mean, largest, error = 0;
        diagnose_regret(all, i, &mean, &largest);
        for (size_t h = 0; h < all->count; h++)
            error += all->errors[h * all->candidate_count + i] / (double)all->count;
        csv_text(csv, pcast_order_name(all->candidates[i].order));
        csv_number(csv, (double)all->candidates[i].scale);
        csv_number(csv, (double)all->candidates[i].tau);
        csv_number(csv, error);
        csv_number(csv, mean);
        csv_number(csv, largest);
        csv_end(csv);
    }
}

void diagnose_setting(const diagnose_options *options, const pcast_candidate *candidate, char *text,
                      size_t size)
{
    const pcast_kernel changed = pcast_candidate_kernel(&options->kernel, candidate);
    static const pcast_field fields[] = {PCAST_FIELD_ORDER, PCAST_FIELD_SCALE,
                                         PCAST_FIELD_RESCALE_THRESHOLD};
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        char value[64];
        pcast_kernel_get(&changed, fields[i], value, sizeof value);
        length += (size_t)snprintf(text + length, size - length, "%s%s=%s", i > 0 ? ", " : "",
                                   pcast_field_name(fields[i]), value);
        if (length >= size)
            return;
    }
}

/* Mean over heads of the error of the kernel as it is. */
static double own_error(const diagnosed *all)
{
    double sum = 0;
    for (size_t h = 0; h < all->count; h++)
        sum += all->heads[h].diagnosis.simulated.rel_l2;
    return sum / (double)all->count;
}

void diagnose_advice(const diagnose_options *options, const diagnosed *all, char *text, size_t size)
{
    const pcast_choice *choice = &all->overall;
    char setting[128], ties[128] = "";
    double mean, largest;
    diagnose_setting(options, &all->candidates[choice->best], setting, sizeof setting);
    diagnose_regret(all, choice->best, &mean, &largest);
    if (choice->ties > 1)
        snprintf(ties, sizeof ties, " %zu settings tie with it within 2 %%.", choice->ties - 1);
    snprintf(text, size,
             "One setting for all %zu heads: %s. Mean relative error of the cast %.3g, with the "
             "kernel as it is (output rounding included) %.3g; on single heads at most %.2f times "
             "the best that order, S and threshold can do there.%s Headroom %.2f powers of two.",
             all->count, setting, choice->error, own_error(all), largest, ties, choice->headroom);
}

void diagnose_write_text(FILE *out, const diagnose_options *options, const diagnosed *all)
{
    fprintf(out, "kernel %s, %zu keys, %zu sinks a head\n\n", options->spec, all->keys, all->sinks);
    fprintf(out, "layer head    gap  spread    lag  lost keys  saturated  mass kept   error | best "
                 "order, S, threshold      error\n");
    for (size_t h = 0; h < all->count; h++) {
        const diagnosed_head *one = &all->heads[h];
        const pcast_diagnosis *d = &one->diagnosis;
        const pcast_candidate *best = &all->candidates[d->choice.best];
        fprintf(out,
                "%5s %4zu %6.1f %7.2f %6.2f %9.3g%% %9.3g%% %9.5g%% %7.2g | %-8s %5g %9g %9.2g%s\n",
                one->layer, one->index, d->head.gap, d->shape.score_sd, d->shape.lag_total,
                100 * d->simulated.underflow, 100 * d->simulated.saturated,
                100 * d->simulated.mass_kept, d->simulated.rel_l2, pcast_order_name(best->order),
                (double)best->scale, (double)best->tau, d->choice.error,
                d->choice.ties > 1 ? " (ties)" : "");
    }
    char advice[768];
    diagnose_advice(options, all, advice, sizeof advice);
    fprintf(out,
            "\ngap: largest sink score - mean of the others, nats; spread: their standard "
            "deviation; lag: by how many powers of two the\nrunning maximum rises after the first "
            "tile; error: relative L2 of the output against exact attention.\n\n%s\n",
            advice);
}
