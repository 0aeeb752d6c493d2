/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A sweep's CSV as series: the rows of one configuration over Delta, or over the heads of a model.
 */
#ifndef PCAST_CLI_SERIES_H
#define PCAST_CLI_SERIES_H

#include "csv.h"

#include "pcast/kernel.h"

/* Columns of the file; -1 where it lacks an optional one. */
typedef struct series_columns {
    int kernel, order, scale, delta, n, dim, block, sinks, sigma, trials;
    int underflow, underflow_se, mse, mse_se, mse_theory, rel_l2;
    int layer, head, gap, gap_sigma;
} series_columns;

typedef struct series {
    char label[128]; /* "forward, S = 256", and what else tells it from the others */
    pcast_order order;
    double scale;
    double n, dim, block, sinks; /* NaN where unknown */
    double sigma;                /* 1 where the file has none */
    int in_theory;               /* the theory describes its kernel */
    size_t *rows;                /* ascending in Delta; for heads in the order of the file */
    size_t count;
} series;

typedef struct series_set {
    csv_table table;
    series_columns columns;
    int is_theory; /* expectations only, from `pcast theory` */
    int on_heads;  /* a model's heads (x is the gap), not a synthetic sweep (x is Delta) */
    int over_n;    /* one Delta and several N: x is N */
    series *all;
    size_t count;
} series_set;

/* Reads a sweep's CSV. PCAST_ERR_INPUT names a required column that is missing (order, scale,
 * underflow, mse, and delta or gap), or the row whose order or scale is none. */
pcast_status series_read(const char *path, series_set *set, pcast_error *err);
/* The same from a table that has been read; it moves into set, also when this fails. */
pcast_status series_from_table(const char *path, csv_table *table, series_set *set,
                               pcast_error *err);
void series_free(series_set *set);

/* Delta of a row, its N, or the gap of its head. */
double series_x(const series_set *set, size_t row);

#endif
