/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The factors of one key in the double integral of loss.c that depend on the score through x alone:
 * transforms over x of one (sigma, S), tabulated over m and u. Rows that differ in Delta, N, B or
 * order share them, since a sink's are another key's at m - Delta. */
#ifndef PCAST_THEORY_LOSS_TRANSFORMS_H
#define PCAST_THEORY_LOSS_TRANSFORMS_H

#include "pcast/theory.h"

#include "theory/cast_nodes.h"

#include <stddef.h>

/* Scores are taken within so many standard deviations. */
#define PCAST_REACH_LOW  6.0
#define PCAST_REACH_HIGH 8.5

/* The weights w(x). */
enum { PCAST_WEIGHT_ERROR, PCAST_WEIGHT_KEPT, PCAST_WEIGHT_MASS, PCAST_WEIGHTS };

/* Where a row's integrand is evaluated: m = index * step, ln u = index * ratio * step. */
typedef struct pcast_loss_grid {
    double step;
    int ratio;
    long m_low, m_high; /* two windows, around the other keys and around the sinks */
    long second_low, second_high;
    long y_low, y_end; /* ln u */
} pcast_loss_grid;

/* For the first `weights` of the weights. */
pcast_loss_grid pcast_loss_grid_of(const pcast_theory_row *row, int weights);

/* One kind of key at one m: all u of the tables. */
typedef struct pcast_transforms {
    double density;
    double *above;               /* [u] E[e^(-u e^x); x > 0] */
    double *cast[PCAST_WEIGHTS]; /* [u] E[w(x) e^(-u e^x); x <= 0] */
} pcast_transforms;

typedef struct pcast_loss_tables {
    double sigma, step;
    int weights;
    long y_low, y_count; /* cover all rows' grids */
    double *u;           /* [y_count] */
    double at_maximum[PCAST_WEIGHTS];
    pcast_cast_nodes nodes;
    double *weight[PCAST_WEIGHTS]; /* [nodes] w(x) times the node's weight */
    double *decay;                 /* [nodes][u] e^(-u e^x) */
    pcast_cast_nodes tail;         /* x > 0, mirrored: x holds -x */
    double *tail_decay;            /* [tail][u] */
    long first, count;
    pcast_transforms *at; /* [count] at (first + i) * step, made when they are asked for */
    pcast_transforms between;
} pcast_loss_tables;

/* Tables for rows of one sigma and S. Values do not depend on which rows these are. Returns 0 when
 * memory runs out; to be freed in any case. */
int pcast_loss_tables_init(pcast_loss_tables *tables, const pcast_theory_row *rows, size_t count,
                           int weights);
void pcast_loss_tables_free(pcast_loss_tables *tables);

/* Of a key whose scores are N(shift, sigma^2), at m = index * step, within the rows' grids. Where
 * shift is no multiple of step the result is good until the next such call. NULL when memory runs
 * out. */
const pcast_transforms *pcast_transforms_at(pcast_loss_tables *tables, long index, double shift);

/* Free transforms E[exp(-e^(z + s))], s ~ N(0, sigma^2), for `count` z from z_low on, `step` apart.
 * Returns 0 when memory runs out. */
int pcast_free_transforms(double z_low, double step, double sigma, long count, double *out);

#endif
