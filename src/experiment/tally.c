/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Means, ratios and standard errors over rows (docs/numerics.md, section 7). */
#include "pcast/experiment.h"

#include "base/bits.h"
#include "base/fpenv.h"
#include "measure/loss.h"

#include <math.h>

static void moments_add(pcast_moments *moments, uint64_t n, double x, double y)
{
    const double dx = x - moments->mean_x, dy = y - moments->mean_y;
    moments->mean_x += dx / (double)n;
    moments->mean_y += dy / (double)n;
    moments->xx += dx * (x - moments->mean_x);
    moments->xy += dx * (y - moments->mean_y);
    moments->yy += dy * (y - moments->mean_y);
}

void pcast_tally_add(pcast_tally *tally, const pcast_loss *row)
{
    pcast_fpenv env;
    pcast_fpenv_enter(&env);
    pcast_loss *total = &tally->total;
    tally->rows++;
    total->other += row->other;
    total->flushed += row->flushed;
    total->outside += row->outside;
    total->outside_flushed += row->outside_flushed;
    total->subnormal += row->subnormal;
    total->unmasked += row->unmasked;
    total->saturated += row->saturated;
    total->channels = row->channels;
    total->mass += row->mass;
    total->kept += row->kept;
    total->mse_given_p += row->mse_given_p;
    total->error2 += row->error2;
    total->reference2 += row->reference2;
    total->max_abs = pcast_larger(total->max_abs, row->max_abs);
    moments_add(&tally->flushed, tally->rows, (double)row->flushed, (double)row->other);
    moments_add(&tally->mse, tally->rows, row->error2 / (double)row->channels, 0);
    pcast_fpenv_leave(&env);
}

/* 0/0 is NaN: nothing to average over. */
static double fraction(uint64_t part, uint64_t whole)
{
    return (double)part / (double)whole;
}

/* Without error there is nothing lost, also where the reference is zero throughout. */
static double relative(const pcast_loss *total, uint64_t rows)
{
    return rows > 0 && total->error2 == 0 ? 0 : sqrt(total->error2 / total->reference2);
}

/* Standard error of a mean (of y-weighted ratios, with ratio = 0: of the mean of x) by
 * linearisation: var(x - ratio*y) / rows. */
static double standard_error(const pcast_moments *moments, double ratio, uint64_t rows)
{
    if (rows < 2)
        return NAN;
    const double n = (double)rows;
    const double scatter = moments->xx - 2 * ratio * moments->xy + ratio * ratio * moments->yy;
    return sqrt((scatter > 0 ? scatter : scatter * 0) / (n - 1) /
                n); /* rounding below 0; a NaN stays */
}

pcast_summary pcast_tally_summary(const pcast_tally *tally)
{
    pcast_fpenv env;
    pcast_fpenv_enter(&env);
    const pcast_loss *total = &tally->total;
    const double rows = (double)tally->rows;
    const double underflow = fraction(total->flushed, total->other);
    const pcast_summary summary = {
        .rows = tally->rows,
        .underflow = underflow,
        .underflow_se =
            standard_error(&tally->flushed, underflow, tally->rows) / tally->flushed.mean_y,
        .underflow_outside = fraction(total->outside_flushed, total->outside),
        .subnormal = fraction(total->subnormal, total->other),
        .saturated = fraction(total->saturated, total->unmasked),
        .mass_kept = total->kept / total->mass,
        .mse = total->error2 / rows / (double)total->channels,
        .mse_se = standard_error(&tally->mse, 0, tally->rows),
        .mse_given_p = total->mse_given_p / rows,
        .rel_l2 = relative(total, tally->rows),
        .max_abs = total->max_abs,
    };
    pcast_fpenv_leave(&env);
    return summary;
}
