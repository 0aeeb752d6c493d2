/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of a diagnosis' page. Each stands in a region that scrolls by itself where the page is
 * narrow. */
#include "diagnose.h"
#include "html.h"

#include <math.h>
#include <stdlib.h>

enum { CANDIDATES_SHOWN = 15 };

/* Opens a table with its caption, which names the region too, and its column headers. */
static void open_table(FILE *out, const char *id, const char *caption, const char *const *names,
                       size_t count)
{
    fprintf(out,
            "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-labelledby=\"%s\">\n"
            "<table>\n<caption id=\"%s\">%s</caption>\n<thead><tr>",
            id, id, caption);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "<th scope=\"col\">%s</th>", names[i]);
    fprintf(out, "</tr></thead>\n<tbody>\n");
}

static void close_table(FILE *out)
{
    fprintf(out, "</tbody>\n</table>\n</div>\n");
}

/* A number in a cell; a dash where there is none that is finite. */
static void put_number(FILE *out, const char *format, double value)
{
    fprintf(out, "<td>");
    if (!isfinite(value))
        fprintf(out, "&#8211;");
    else
        fprintf(out, format, value);
    fprintf(out, "</td>");
}

static void put_candidate(FILE *out, const pcast_candidate *candidate)
{
    fprintf(out, "<td>%s</td><td>%g</td><td>%g</td>", pcast_order_name(candidate->order),
            (double)candidate->scale, (double)candidate->tau);
}

/* Begins a head's row. */
static void put_name(FILE *out, const diagnosed_head *one)
{
    fprintf(out, "<tr><td>");
    html_text(out, one->layer);
    fprintf(out, "</td><th scope=\"row\">%zu</th>", one->index);
}

void diagnose_put_heads(FILE *out, const diagnose_options *options, const diagnosed *all)
{
    static const char *const names[] = {
        "layer",       "head",   "gap, nats",   "spread, nats", "lag, log2",
        "predicted %", "lost %", "saturated %", "mass kept %",  "error %",
        "best order",  "its S",  "threshold",   "its error %",  "one setting %",
    };
    const int predicted = diagnose_is_predicted(options);
    open_table(out, "heads-table",
               "Every head: as the kernel is, its own best setting, and the one setting for all; "
               "errors with "
               "the output in FP32",
               names, sizeof names / sizeof names[0]);
    for (size_t h = 0; h < all->count; h++) {
        const pcast_diagnosis *d = &all->heads[h].diagnosis;
        put_name(out, &all->heads[h]);
        put_number(out, "%.1f", d->head.gap);
        put_number(out, "%.2f", d->shape.score_sd);
        put_number(out, "%.2f", d->shape.lag_total);
        put_number(out, "%.3g", predicted ? 100 * d->shape.underflow_shape : NAN);
        put_number(out, "%.3g", 100 * d->simulated.underflow);
        put_number(out, "%.3g", 100 * d->simulated.saturated);
        put_number(out, "%.5g", 100 * d->simulated.mass_kept);
        put_number(out, "%.2g", 100 * diagnose_error_now(options, all, h));
        put_candidate(out, &all->candidates[d->choice.best]);
        put_number(out, "%.2g", 100 * d->choice.error);
        put_number(out, "%.2g", 100 * all->errors[h * all->candidate_count + all->overall.best]);
        fprintf(out, "</tr>\n");
    }
    close_table(out);
}

void diagnose_put_stages(FILE *out, const diagnosed *all)
{
    const char *names[3 + DIAGNOSE_STAGES] = {"layer", "head", "squared error"};
    for (size_t s = 0; s < DIAGNOSE_STAGES; s++)
        names[3 + s] = diagnose_stage_name(s);
    open_table(out, "stages-table",
               "Mean squared error of every head, and what each stage adds to it", names,
               sizeof names / sizeof names[0]);
    for (size_t h = 0; h < all->count; h++) {
        double parts[DIAGNOSE_STAGES];
        diagnose_stage_errors(&all->heads[h].budget, parts);
        put_name(out, &all->heads[h]);
        put_number(out, "%.3g", all->heads[h].budget.all);
        for (size_t s = 0; s < DIAGNOSE_STAGES; s++)
            put_number(out, "%.3g", parts[s]);
        fprintf(out, "</tr>\n");
    }
    close_table(out);
}

typedef struct ranked {
    size_t candidate;
    pcast_regret regret;
} ranked;

static int by_mean(const void *a, const void *b)
{
    const ranked *one = a, *other = b;
    const double x = isnan(one->regret.mean) ? INFINITY : one->regret.mean;
    const double y = isnan(other->regret.mean) ? INFINITY : other->regret.mean;
    if (x != y)
        return x < y ? -1 : 1;
    return one->candidate < other->candidate ? -1 : one->candidate > other->candidate;
}

void diagnose_put_candidates(FILE *out, const diagnose_options *options, const diagnosed *all)
{
    static const char *const names[] = {"order",         "S", "threshold", "mean ratio",
                                        "largest ratio", ""};
    ranked order[PCAST_CANDIDATES_MAX];
    const size_t own = diagnose_own(options, all);
    const size_t best =
        isfinite(all->overall.error) ? all->overall.best : (size_t)PCAST_CANDIDATES_MAX;
    for (size_t i = 0; i < all->candidate_count; i++) {
        order[i].candidate = i;
        order[i].regret = diagnose_regret(all, i);
    }
    qsort(order, all->candidate_count, sizeof order[0], by_mean);
    open_table(out, "candidates-table", "Settings: error over the least in the same head", names,
               sizeof names / sizeof names[0]);
    for (size_t i = 0; i < all->candidate_count; i++) {
        const size_t candidate = order[i].candidate;
        if (i >= CANDIDATES_SHOWN && candidate != own && candidate != best)
            continue;
        fprintf(out, "<tr>");
        put_candidate(out, &all->candidates[candidate]);
        put_number(out, "%.3f", order[i].regret.mean);
        put_number(out, "%.3f", order[i].regret.largest);
        fprintf(out, "<td>%s%s%s</td></tr>\n", candidate == best ? "recommended" : "",
                candidate == best && candidate == own ? ", " : "",
                candidate == own ? "as it is" : "");
    }
    close_table(out);
    if (all->candidate_count > CANDIDATES_SHOWN)
        fprintf(out,
                "<p>The best %d of %zu settings and the kernel's own; <code>--trade-off "
                "FILE.csv</code> writes all.</p>\n",
                CANDIDATES_SHOWN, all->candidate_count);
}
