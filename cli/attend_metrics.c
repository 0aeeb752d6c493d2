/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What attend says about each head: CSV for programs, a report for people. */
#include "attend.h"

#include <inttypes.h>
#include <math.h>

static const char *const columns[] = {"kernel",      "batch",     "head",       "queries",
                                      "keys",        "block",     "empty_rows", "underflow",
                                      "subnormal",   "saturated", "mass_kept",  "mse",
                                      "mse_given_p", "rel_l2",    "max_abs",    "lse_error"};

void attend_write_csv(csv_writer *csv, const attend_options *options,
                      const pcast_attend_shape *shape, const pcast_attend_head *heads)
{
    char name[PCAST_SPEC_MAX];
    pcast_kernel resolved = options->kernel;
    pcast_kernel_resolve(&resolved, shape->dim);
    csv_names(csv, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < shape->batch * shape->heads; i++) {
        const pcast_attend_head *head = &heads[i];
        const pcast_summary *summary = &head->summary;
        const int any = summary->rows > 0;
        csv_text(csv, cli_kernel_label(options->spec, options->mask, name));
        csv_count(csv, head->batch);
        csv_count(csv, head->head);
        csv_count(csv, head->queries);
        csv_count(csv, head->keys);
        csv_count(csv, resolved.block);
        csv_count(csv, head->empty_rows);
        csv_number_if(csv, any, summary->underflow);
        csv_number_if(csv, any, summary->subnormal);
        csv_number_if(csv, any, summary->saturated);
        csv_number_if(csv, any, summary->mass_kept);
        csv_number_if(csv, any, summary->mse);
        csv_number_if(csv, any, summary->mse_given_p);
        csv_number_if(csv, any, summary->rel_l2);
        csv_number_if(csv, any, summary->max_abs);
        csv_number_if(csv, any, head->lse_error);
        csv_end(csv);
    }
}

void attend_write_budget(csv_writer *csv, const attend_options *options,
                         const pcast_attend_shape *shape, const pcast_attend_head *heads,
                         const pcast_budget *budgets)
{
    static const char *const names[] = {"kernel", "batch", "head", "mse"};
    char name[PCAST_SPEC_MAX];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        csv_text(csv, names[i]);
    csv_budget_names(csv);
    csv_end(csv);
    for (size_t i = 0; i < shape->batch * shape->heads; i++) {
        csv_text(csv, cli_kernel_label(options->spec, options->mask, name));
        csv_count(csv, heads[i].batch);
        csv_count(csv, heads[i].head);
        csv_number(csv, budgets[i].all);
        csv_budget(csv, &budgets[i]);
        csv_end(csv);
    }
}

static const pcast_attend_head *worst_head(const pcast_attend_shape *shape,
                                           const pcast_attend_head *heads)
{
    const pcast_attend_head *worst = NULL;
    for (size_t i = 0; i < shape->batch * shape->heads; i++)
        if (heads[i].summary.rows > 0 &&
            (worst == NULL || !(heads[i].summary.rel_l2 <= worst->summary.rel_l2)))
            worst = &heads[i];
    return worst;
}

void attend_write_report(FILE *out, const attend_options *options, const pcast_attend_shape *shape,
                         const pcast_attend_head *heads)
{
    pcast_kernel resolved = options->kernel;
    pcast_kernel_resolve(&resolved, shape->dim);
    char name[PCAST_SPEC_MAX];
    fprintf(out, "kernel %s, %s, S = %g, %zu keys per block\n",
            cli_kernel_label(options->spec, options->mask, name), pcast_order_name(resolved.order),
            (double)resolved.scale, resolved.block);
    fprintf(out, "%zu sequence%s, %zu heads (%zu of K and V), head dimension %zu\n\n", shape->batch,
            shape->batch == 1 ? "" : "s", shape->heads, shape->kv_heads, shape->dim);
    fprintf(out, "batch head queries   keys  lost keys  saturated  mass kept  rel. error  largest "
                 "error  LSE error\n");
    for (size_t i = 0; i < shape->batch * shape->heads; i++) {
        const pcast_attend_head *head = &heads[i];
        const pcast_summary *summary = &head->summary;
        fprintf(out, "%5zu %4zu %7zu %6zu", head->batch, head->head, head->queries, head->keys);
        if (summary->rows > 0)
            fprintf(out, " %9.3g%% %9.3g%% %9.5g%% %11.3g %14.3g %10.3g\n",
                    100 * summary->underflow, 100 * summary->saturated, 100 * summary->mass_kept,
                    summary->rel_l2, summary->max_abs, head->lse_error);
        else
            fprintf(out, "  no query sees a key\n");
    }
    const pcast_attend_head *worst = worst_head(shape, heads);
    if (worst == NULL)
        return;
    fprintf(out,
            "\nAgainst exact attention of the same scores. Worst: batch %zu, head %zu, relative "
            "error %.3g.\n",
            worst->batch, worst->head, worst->summary.rel_l2);
    if (worst->summary.saturated > 0)
        fprintf(out,
                "There P * S exceeds what %s holds: a smaller S or rescale_threshold avoids "
                "it.\n",
                pcast_format_name(resolved.p_format));
    else if (worst->summary.mass_kept < 0.99)
        fprintf(
            out,
            "There the cast loses %.3g %% of the attention; pcast diagnose finds the order, S and "
            "threshold that keep most.\n",
            100 * (1 - worst->summary.mass_kept));
}
