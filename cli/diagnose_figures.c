/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scripts of a diagnosis' figures. Their texts fit a page of 400 pixels' width once it is scrolled,
 * and name nothing that the user gave but layer numbers. */
#include "diagnose_figures.h"

#include <math.h>

enum { WIDTH = 560, NAMED_HEADS = 18, NAMED_LAYERS = 16 };

static void put_terminal(FILE *script, int height)
{
    fprintf(script,
            "set terminal svg size %d,%d dynamic font 'sans-serif,14' background rgb 'white'\n",
            WIDTH, height);
}

/* A range that grows with what it is told of. */
typedef struct extent {
    double low, high;
} extent;

static void include(extent *range, double value)
{
    if (isfinite(value)) {
        range->low = value < range->low ? value : range->low;
        range->high = value > range->high ? value : range->high;
    }
}

/* A logarithmic axis with labels at 1, 2, 5, ...; finer within a factor of 4, powers of ten only
 * over many. */
static void put_log_axis(FILE *script, char axis, double low, double high)
{
    static const double fine[] = {1, 1.1, 1.2, 1.3, 1.5, 1.7, 2, 2.5, 3, 4, 5, 6, 7, 8, 9};
    static const double coarse[] = {1, 2, 5};
    const int first = (int)floor(log10(low)), last = (int)ceil(log10(high));
    const double *steps = high < 4 * low ? fine : coarse;
    const size_t count = high < 4 * low ? sizeof fine / sizeof fine[0] : last - first > 3 ? 1 : 3;
    fprintf(script, "set logscale %c\nset %crange [%.9g:%.9g]\nset %ctics (", axis, axis, low, high,
            axis);
    for (int exponent = first; exponent <= last; exponent++)
        for (size_t i = 0; i < count; i++) {
            const double at = steps[i] * pow(10, exponent);
            fprintf(script, "%s'%g' %.9g", exponent > first || i > 0 ? ", " : "", at, at);
        }
    fprintf(script, ")\n");
}

/* Colours of the palette that stand out from white. */
static const char *color(size_t i, char hex[8])
{
    static const size_t strong[] = {0, 1, 2, 5, 6, 7};
    return gnuplot_color(strong[i % (sizeof strong / sizeof strong[0])], hex);
}

/* Figure 1: a line for each order and threshold. */

static int same_line(const pcast_candidate *a, const pcast_candidate *b)
{
    return a->order == b->order && a->tau == b->tau;
}

/* Is the candidate the first of its line? */
static int begins_line(const diagnosed *all, size_t candidate)
{
    for (size_t i = 0; i < candidate; i++)
        if (same_line(&all->candidates[i], &all->candidates[candidate]))
            return 0;
    return 1;
}

/* The line's points as a data block; returns how many there are. */
static size_t put_line(FILE *script, const diagnosed *all, const double *ratios, size_t first)
{
    size_t points = 0;
    fprintf(script, "$line%zu << EOD\n", first);
    for (size_t i = first; i < all->candidate_count; i++)
        if (same_line(&all->candidates[i], &all->candidates[first]) && isfinite(ratios[i])) {
            fprintf(script, "%.9g %.9g\n", (double)all->candidates[i].scale, ratios[i]);
            points++;
        }
    fprintf(script, "EOD\n");
    return points;
}

/* A mark around one candidate's point, if it is in this panel. */
static void put_mark(FILE *script, const diagnosed *all, const double *ratios, size_t candidate,
                     pcast_order order, int point, const char *title)
{
    if (candidate < all->candidate_count && all->candidates[candidate].order == order &&
        isfinite(ratios[candidate]))
        fprintf(script,
                ", \\\n     '+' using (%.9g):(%.9g) every ::0::0 with points pt %d ps 1.8 lw 1.6 "
                "lc rgb 'black' title '%s'",
                (double)all->candidates[candidate].scale, ratios[candidate], point, title);
}

static void put_order(FILE *script, const diagnose_page *page, const double *ratios,
                      pcast_order order)
{
    const diagnosed *all = page->all;
    size_t lines[PCAST_CANDIDATES_MAX], count = 0;
    char hex[8];
    int any = 0;
    for (size_t i = 0; i < all->candidate_count; i++)
        if (all->candidates[i].order == order && begins_line(all, i) &&
            put_line(script, all, ratios, i) > 0)
            lines[count++] = i;
    fprintf(script, "set title '%s order'\n", pcast_order_name(order));
    for (size_t n = 0; n < count; n++) {
        gnuplot_element(script, &any);
        fprintf(script,
                "$line%zu with linespoints lw 1.6 pt %zu ps 0.6 lc rgb '%s' title 'threshold %g'",
                lines[n], 5 + 2 * (n % 5), color(n, hex), (double)all->candidates[lines[n]].tau);
    }
    if (any) {
        put_mark(script, all, ratios, all->overall.best, order, 6, "recommended");
        put_mark(script, all, ratios, diagnose_own(page->options, all), order, 2, "as it is");
        fprintf(script, "\n");
    } else {
        gnuplot_nothing(script);
    }
}

void diagnose_figure_trade_off(FILE *script, const void *data)
{
    const diagnose_page *page = data;
    const diagnosed *all = page->all;
    double ratios[PCAST_CANDIDATES_MAX];
    extent range = {1, 1.05};
    int shown[2] = {0, 0};
    for (size_t i = 0; i < all->candidate_count; i++) {
        ratios[i] = diagnose_regret(all, i).mean;
        include(&range, ratios[i]);
        shown[all->candidates[i].order == PCAST_ORDER_REVERSE] |= isfinite(ratios[i]);
    }
    const int panels = shown[0] && shown[1] ? 2 : 1;
    put_terminal(script, panels == 2 ? 700 : 370);
    gnuplot_axes(script, "above Left reverse width -2", "S (static scale of P)",
                 "mean ratio to the best");
    put_log_axis(script, 'y', 0.97, 1.05 * range.high);
    fprintf(script,
            "set samples 2\nset lmargin 9\nset logscale x 2\n"
            "set xrange [0.9:512]\nset xtics (1, 2, 4, 8, 16, 32, 64, 128, 256, 448)\n"
            "set multiplot layout %d,1\n",
            panels);
    if (shown[0] || !shown[1])
        put_order(script, page, ratios, PCAST_ORDER_FORWARD);
    if (shown[1])
        put_order(script, page, ratios, PCAST_ORDER_REVERSE);
    fprintf(script, "unset multiplot\n");
}

/* Figure 2 */

void diagnose_figure_lost(FILE *script, const void *data)
{
    const diagnose_page *page = data;
    const diagnosed *all = page->all;
    const int predicted = diagnose_is_predicted(page->options);
    extent gaps = {INFINITY, -INFINITY};
    fprintf(script, "$heads << EOD\n"); /* gap, lost, predicted twice */
    for (size_t h = 0; h < all->count; h++) {
        const pcast_diagnosis *d = &all->heads[h].diagnosis;
        if (!isfinite(d->head.gap) || !isfinite(d->simulated.underflow))
            continue;
        include(&gaps, d->head.gap);
        fprintf(script, "%.9g %.9g %.9g %.9g\n", d->head.gap, 100 * d->simulated.underflow,
                100 * d->shape.underflow_normal, 100 * d->shape.underflow_shape);
    }
    fprintf(script, "EOD\n");
    put_terminal(script, 400);
    gnuplot_axes(script, "above Left reverse", "gap of the head (nats)", "keys lost (%)");
    fprintf(script, "set yrange [-2:102]\n");
    if (!(gaps.low <= gaps.high)) {
        gnuplot_nothing(script);
        return;
    }
    const double margin = gnuplot_margin(gaps.low, gaps.high);
    fprintf(script, "set xrange [%.9g:%.9g]\nplot ", gaps.low - margin, gaps.high + margin);
    if (predicted)
        fprintf(script,
                "$heads using 1:2:(0):($4-$2) with vectors nohead lw 1 lc rgb '#999999' "
                "notitle, \\\n     $heads using 1:3 with points pt 1 ps 0.9 lw 1.4 lc rgb "
                "'#000000' title 'predicted, normal scores', \\\n     $heads using 1:4 with "
                "points pt 6 ps 0.8 lw 1.4 lc rgb '#0072B2' title \"predicted, the head's "
                "own distribution\", \\\n     ");
    fprintf(script, "$heads using 1:2 with points pt 7 ps 0.6 lc rgb '#D55E00' title "
                    "'simulated'\n");
}

/* Figure 3 */

void diagnose_figure_errors(FILE *script, const void *data)
{
    const diagnose_page *page = data;
    const diagnosed *all = page->all;
    extent range = {INFINITY, -INFINITY};
    size_t points = 0;
    fprintf(script, "$heads << EOD\n");
    for (size_t h = 0; h < all->count; h++) {
        const double now = 100 * diagnose_error_now(page->options, all, h);
        const double then = 100 * all->errors[h * all->candidate_count + all->overall.best];
        if (!(now > 0) || !(then > 0) || !isfinite(now) || !isfinite(then))
            continue;
        include(&range, now);
        include(&range, then);
        fprintf(script, "%.9g %.9g\n", now, then);
        points++;
    }
    fprintf(script, "EOD\n");
    put_terminal(script, 440);
    gnuplot_axes(script, "top left Left reverse", "relative error now (%)",
                 "with the recommended setting (%)");
    if (points == 0) {
        gnuplot_nothing(script);
        return;
    }
    put_log_axis(script, 'x', range.low / 1.3, range.high * 1.3);
    put_log_axis(script, 'y', range.low / 1.3, range.high * 1.3);
    fprintf(script, "plot x with lines lw 1.2 dt 2 lc rgb '#666666' title 'as now', "
                    "$heads with points pt 7 ps 0.6 lc rgb '#0072B2' title 'a head'\n");
}

/* Figure 4 */

/* Names below the bars: every head where they are few, else where a layer begins, not too many. */
static void put_head_names(FILE *script, const diagnosed *all)
{
    size_t layers = 0, seen = 0;
    int any = 0;
    for (size_t h = 0; h < all->count; h++)
        layers += h == 0 || all->heads[h].index <= all->heads[h - 1].index;
    const size_t every = (layers + NAMED_LAYERS - 1) / NAMED_LAYERS;
    fprintf(script, "set xtics out scale 0.5 %s(", all->count > 9 ? "rotate by 90 right " : "");
    for (size_t h = 0; h < all->count; h++) {
        const int begins = h == 0 || all->heads[h].index <= all->heads[h - 1].index;
        if (all->count > NAMED_HEADS && !(begins && seen++ % every == 0))
            continue;
        char name[48];
        if (all->count > NAMED_HEADS)
            snprintf(name, sizeof name, "%.20s", all->heads[h].layer);
        else
            snprintf(name, sizeof name, "%.20s%s%zu", all->heads[h].layer,
                     *all->heads[h].layer != '\0' ? ":" : "", all->heads[h].index);
        fputs(any++ ? ", " : "", script);
        gnuplot_string(script, name);
        fprintf(script, " %zu", h);
    }
    fprintf(script, ") noenhanced\n");
}

void diagnose_figure_stages(FILE *script, const void *data)
{
    const diagnose_page *page = data;
    const diagnosed *all = page->all;
    static const size_t colors[DIAGNOSE_STAGES] = {1, 3, 2, 0, 5}; /* the cast in vermilion */
    char hex[8];
    int any = 0;
    fprintf(script, "$heads << EOD\n");
    for (size_t h = 0; h < all->count; h++) {
        double shares[DIAGNOSE_STAGES];
        diagnose_stage_shares(&all->heads[h].budget, shares);
        for (size_t s = 0; s < DIAGNOSE_STAGES; s++)
            fprintf(script, "%.9g ", 100 * shares[s]);
        fprintf(script, "\n");
    }
    fprintf(script, "EOD\n");
    put_terminal(script, 440);
    gnuplot_axes(script, "above", all->count > NAMED_HEADS ? "heads, by layer" : "layer:head",
                 "share of the squared error (%)");
    fprintf(script,
            "set yrange [0:100]\nset xrange [-0.6:%.9g]\nset style data histograms\n"
            "set style histogram rowstacked\nset style fill solid %s\nset boxwidth %g\n",
            (double)all->count - 0.4, all->count > 60 ? "noborder" : "border rgb 'white'",
            all->count > 60 ? 1 : 0.8);
    put_head_names(script, all);
    for (size_t s = 0; s < DIAGNOSE_STAGES; s++) {
        gnuplot_element(script, &any);
        fprintf(script, "$heads using %zu lc rgb '%s' title '%s'", s + 1, color(colors[s], hex),
                diagnose_stage_name(s));
    }
    fprintf(script, "\n");
}
