/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a diagnosis' page says in words: the heads in a paragraph of numbers, and the terms. */
#include "diagnose.h"
#include "html.h"

#include <math.h>
#include <stdlib.h>

typedef double head_value(const pcast_summary *simulated);

static double lost_of(const pcast_summary *simulated)
{
    return simulated->underflow;
}

static double kept_of(const pcast_summary *simulated)
{
    return simulated->mass_kept;
}

static double error_of(const pcast_summary *simulated)
{
    return simulated->rel_l2;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Median over heads; a NaN counts as the largest. */
static double median(const diagnosed *all, head_value *value)
{
    double *values = cli_alloc(all->count, sizeof *values);
    for (size_t h = 0; h < all->count; h++) {
        values[h] = value(&all->heads[h].diagnosis.simulated);
        values[h] = isnan(values[h]) ? INFINITY : values[h];
    }
    qsort(values, all->count, sizeof *values, ascending);
    const double middle = (values[(all->count - 1) / 2] + values[all->count / 2]) / 2;
    free(values);
    return middle;
}

/* "layer 18, head 2" */
static void put_head_name(FILE *out, const diagnosed_head *one)
{
    if (*one->layer != '\0') {
        fprintf(out, "layer ");
        html_text(out, one->layer);
        fprintf(out, ", ");
    }
    fprintf(out, "head %zu", one->index);
}

/* In percent with so many digits. */
static void put_percent(FILE *out, const char *before, int digits, double share)
{
    fputs(before, out);
    if (isfinite(share))
        fprintf(out, "%.*g&nbsp;%%", digits, 100 * share);
    else
        fputs("NaN", out);
}

/* What the cast does to a head, or to the median one: lost, kept, error. */
static void put_losses(FILE *out, double lost, double kept, double error)
{
    put_percent(out, "loses ", 3, lost);
    put_percent(out, " of its keys, whose P the cast turns into zero, and keeps ", 5, kept);
    put_percent(out,
                " of the attention on keys that are no sinks; the error of its output, rounding "
                "included, is ",
                2, error);
    fprintf(out, ". ");
}

void diagnose_put_overview(FILE *out, const diagnosed *all)
{
    size_t worst = 0, saturating = 0;
    for (size_t h = 0; h < all->count; h++) {
        const pcast_summary *simulated = &all->heads[h].diagnosis.simulated;
        if (!(simulated->rel_l2 <= all->heads[worst].diagnosis.simulated.rel_l2))
            worst = h;
        saturating += simulated->saturated > 0;
    }
    const pcast_summary *simulated = &all->heads[worst].diagnosis.simulated;
    fprintf(out, "<p>");
    if (all->count > 1) {
        fprintf(out, "As the kernel is, the median head ");
        put_losses(out, median(all, lost_of), median(all, kept_of), median(all, error_of));
        fprintf(out, "Worst off is ");
        put_head_name(out, &all->heads[worst]);
        fprintf(out, ", which ");
    } else {
        fprintf(out, "As the kernel is, ");
        put_head_name(out, &all->heads[worst]);
        fprintf(out, " ");
    }
    put_losses(out, simulated->underflow, simulated->mass_kept, simulated->rel_l2);
    if (saturating > 0)
        fprintf(out, "In %zu head%s some P are too large for the format and saturate.</p>\n",
                saturating, saturating == 1 ? "" : "s");
    else
        fprintf(out, "No P is too large for the format.</p>\n");
}

void diagnose_put_terms(FILE *out)
{
    static const char *const terms[][2] = {
        {"P, S", "Softmax probabilities before division by their sum; the cast rounds P times the "
                 "static scale S to FP8."},
        {"sinks", "The keys with most attention, mean over queries, or the first keys if so asked. "
                  "All else speaks of the other keys."},
        {"gap", "Largest score of a sink less the mean score of the other visible keys, mean over "
                "queries. Scores are in nats: one nat more is e times the attention."},
        {"spread", "Standard deviation of those other scores within a query."},
        {"lag", "By how many powers of two the running maximum of a row rises after its first "
                "tile. A large lag in this order keeps P large for the tiles before."},
        {"lost", "Other keys whose P becomes zero in the cast."},
        {"saturated", "Keys whose P times S is beyond the largest number of the format."},
        {"mass kept", "Attention of the other keys after the cast over that before it."},
        {"error",
         "Root of the summed squared error of a head's output over the summed squares of "
         "the exact one (relative L2). Tables and figures have the output in FP32, so that "
         "settings differ in the cast of P alone."},
        {"threshold", "rescale_threshold: the running maximum stays while it lags by no more than "
                      "so many powers of two (a threshold in nats is divided by ln 2); 0 always "
                      "updates it."},
        {"headroom",
         "Powers of two between the largest P times S that can occur and the largest "
         "number of the format. At 0 or above, P cannot saturate, and a smaller S gains nothing; "
         "below 0 it can."},
    };
    fprintf(out, "<section aria-labelledby=\"terms-title\" id=\"terms\">\n"
                 "<h2 id=\"terms-title\">Terms</h2>\n<dl>\n");
    for (size_t i = 0; i < sizeof terms / sizeof terms[0]; i++)
        fprintf(out, "<dt>%s</dt><dd>%s</dd>\n", terms[i][0], terms[i][1]);
    fprintf(out, "</dl>\n</section>\n");
}
