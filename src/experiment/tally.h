/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reduction of rows to a summary: one function for every experiment, rows added in their order. */
#ifndef PCAST_EXPERIMENT_TALLY_H
#define PCAST_EXPERIMENT_TALLY_H

#include "pcast/experiment.h"

/* Running means and central second moments of a pair of numbers (Welford). */
typedef struct pcast_moments {
    double mean_x, mean_y, xx, xy, yy;
} pcast_moments;

typedef struct pcast_tally {
    uint64_t rows;
    pcast_loss total;      /* sums of the rows' fields, max_abs the largest */
    pcast_moments flushed; /* flushed against other keys */
    pcast_moments mse;     /* the rows' mean squared error (x only) */
} pcast_tally;

void pcast_tally_add(pcast_tally *tally, const pcast_loss *row);
pcast_summary pcast_tally_summary(const pcast_tally *tally);

#endif
