/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs of equal blocks, and geometric sums over them. */
#include "theory/visits.h"

#include <math.h>

int pcast_theory_integrable(const pcast_theory_row *row)
{
    return pcast_theory_row_valid(row) && row->sigma >= 0.1 && row->sigma <= 5 &&
           fabs(row->delta) <= 100;
}

int pcast_visits_of(const pcast_theory_row *row, pcast_visits runs[3])
{
    const size_t blocks = row->keys / row->block, tail = row->keys % row->block;
    const size_t sink_block_keys = row->keys < row->block ? row->keys : row->block;
    const size_t full = blocks > 0 ? blocks - 1 : 0; /* full blocks without sinks */
    const size_t tail_keys = blocks > 0 ? tail : 0;
    const pcast_visits all[3] = {
        {.blocks = 1, .others = (double)(sink_block_keys - row->sinks), .sink_block = 1},
        {.blocks = (double)full, .others = (double)row->block},
        {.blocks = tail_keys > 0, .others = (double)tail_keys},
    };
    const int forward = row->order == PCAST_ORDER_FORWARD;
    double seen = 0, sinks_seen = 0;
    int count = 0;
    for (int step = 0; step < 3; step++) {
        pcast_visits run = all[forward ? step : 2 - step];
        if (run.blocks == 0)
            continue;
        if (run.sink_block)
            sinks_seen = (double)row->sinks;
        run.seen = seen + run.others;
        run.sinks_seen = sinks_seen;
        seen += run.others * run.blocks;
        runs[count++] = run;
    }
    return count;
}

pcast_geometric pcast_geometric_sums(double n, double rate)
{
    const double span = n * rate;
    if (span <
        1e-4) { /* the closed forms cancel here; the next terms of the series are below 1e-12 */
        const double pairs = n * (n - 1) / 2, squares = pairs * (2 * n - 1) / 3;
        const double deficit = rate * pairs - rate * rate * squares / 2;
        return (pcast_geometric){n - deficit,
                                 pairs - rate * squares + rate * rate * pairs * pairs / 2, deficit};
    }
    const double left = -expm1(-rate);
    const double sum = -expm1(-span) / left;
    return (pcast_geometric){sum, (exp(-rate) * sum - n * exp(-span)) / left, n - sum};
}
