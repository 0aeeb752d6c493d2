/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exact expected underflow and subnormals, and the guarantee of the reverse order (docs/theory.md,
 * sections 3 to 5). */
#include "pcast/theory.h"

#include "theory/normal.h"
#include "theory/quadrature.h"
#include "theory/visits.h"

#include <math.h>

typedef struct depth_problem {
    const pcast_theory_row *row;
    double depth;             /* over sigma */
    const pcast_visits *runs; /* the runs that count */
    int run_count;
} depth_problem;

/* Sum over the other keys of the runs of P(M > t), M the maximum of everything seen up to the end
 * of the key's block but the key itself. Along a run P(M <= t) falls geometrically. */
static double exceeding_keys(double t, const depth_problem *problem)
{
    const double log_other = pcast_normal_log_cdf(t);
    const double log_sink = pcast_normal_log_cdf(t - problem->row->delta / problem->row->sigma);
    double sum = 0;
    for (int i = 0; i < problem->run_count; i++) {
        const pcast_visits *run = &problem->runs[i];
        if (run->others == 0)
            continue;
        const double log_below = (run->seen - 1) * log_other + run->sinks_seen * log_sink;
        const pcast_geometric further = pcast_geometric_sums(run->blocks, -run->others * log_other);
        /* sum of 1 - b r^j = n (1 - b) + b sum (1 - r^j), b = e^log_below */
        sum += run->others * (-run->blocks * expm1(log_below) + exp(log_below) * further.deficit);
    }
    return sum;
}

static double density(double t, void *context)
{
    const depth_problem *problem = context;
    return pcast_normal_pdf(t - problem->depth) * exceeding_keys(t, problem);
}

/* Expected number of keys that lie `depth` or more below the running maximum of their block. */
static double expected_count(const pcast_theory_row *row, double depth, const pcast_visits *runs,
                             int run_count, double keys)
{
    if (depth <= 0)
        return keys;
    depth_problem problem = {row, depth / row->sigma, runs, run_count};
    gsl_function f = {density, &problem};
    return pcast_integrate(&f, problem.depth - PCAST_NORMAL_RANGE,
                           problem.depth + PCAST_NORMAL_RANGE);
}

static pcast_theory_fractions deeper_than(const pcast_theory_row *row, double depth)
{
    pcast_visits runs[3];
    if (!pcast_theory_row_valid(row))
        return (pcast_theory_fractions){GSL_NAN, GSL_NAN, GSL_NAN};
    const int count = pcast_visits_of(row, runs);
    const int sink_run = row->order == PCAST_ORDER_FORWARD ? 0 : count - 1;
    const double inside_keys = runs[sink_run].others;
    const double outside_keys = (double)(row->keys - row->sinks) - inside_keys;
    const double inside = expected_count(row, depth, &runs[sink_run], 1, inside_keys);
    const double outside =
        outside_keys > 0
            ? expected_count(row, depth, sink_run == 0 ? runs + 1 : runs, count - 1, outside_keys)
            : 0;
    return (pcast_theory_fractions){
        .all = (inside + outside) / (inside_keys + outside_keys),
        .inside = inside / inside_keys, /* 0/0 where there are none */
        .outside = outside / outside_keys,
    };
}

pcast_theory_fractions pcast_theory_underflow(const pcast_theory_row *row)
{
    return deeper_than(row, pcast_theory_flush_depth(row->scale));
}

pcast_theory_fractions pcast_theory_subnormal(const pcast_theory_row *row)
{
    /* 7.5 * 2^-9 lies between the largest subnormal and the least normal, and as a tie goes to the
     * normal. */
    const pcast_theory_fractions below_normal = deeper_than(row, log(row->scale * 512 / 7.5));
    const pcast_theory_fractions flushed = pcast_theory_underflow(row);
    /* Differences of numbers near 1 may end below 0 by rounding; a NaN stays. */
    const pcast_theory_fractions between = {below_normal.all - flushed.all,
                                            below_normal.inside - flushed.inside,
                                            below_normal.outside - flushed.outside};
    return (pcast_theory_fractions){
        .all = between.all < 0 ? 0 : between.all,
        .inside = between.inside < 0 ? 0 : between.inside,
        .outside = between.outside < 0 ? 0 : between.outside,
    };
}

double pcast_theory_reverse_bound(size_t keys, double scale, double sigma)
{
    if (keys < 1 || !(sigma > 0))
        return GSL_NAN;
    return (double)(keys - 1) *
           gsl_cdf_ugaussian_Q(pcast_theory_flush_depth(scale) / (sigma * M_SQRT2));
}
