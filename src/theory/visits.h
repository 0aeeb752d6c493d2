/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The order of visits as theory needs it: how many keys have been seen when a block is cast.
 *
 * A row's blocks fall into at most three runs of equal blocks: the sinks' block, the full blocks
 * without sinks, and a short last block. Along a run the number of other keys seen grows by the
 * same step, so sums over its blocks are geometric. */
#ifndef PCAST_THEORY_VISITS_H
#define PCAST_THEORY_VISITS_H

#include "pcast/theory.h"

/* Is the row within the domain of the double integrals? */
int pcast_theory_integrable(const pcast_theory_row *row);

typedef struct pcast_visits {
    double blocks;     /* blocks in the run */
    double others;     /* other keys (no sinks) in each */
    double seen;       /* other keys visited by the end of the run's first block */
    double sinks_seen; /* sinks visited by then: 0 or all */
    int sink_block;    /* the block that holds the sinks */
} pcast_visits;

/* Fills runs[3] in the order of visits; returns how many there are. */
int pcast_visits_of(const pcast_theory_row *row, pcast_visits runs[3]);

/* Sums over j = 0 .. n - 1 for r = e^(-rate), rate >= 0. */
typedef struct pcast_geometric {
    double sum;      /* r^j */
    double weighted; /* j r^j */
    double deficit;  /* 1 - r^j, without cancellation */
} pcast_geometric;

pcast_geometric pcast_geometric_sums(double n, double rate);

#endif
