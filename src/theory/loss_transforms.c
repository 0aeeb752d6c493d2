/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Transforms of one key, by quadrature over the cells of E4M3. */
#include "theory/loss_transforms.h"

#include "theory/normal.h"

#include <gsl/gsl_math.h>
#include <math.h>
#include <stdlib.h>

/* A key of such a density, against one of order 1, adds nothing; it has it so many standard
 * deviations out. Nor do larger u, which meet e^(-u). */
#define NEGLIGIBLE       1e-22
#define REACH_NEGLIGIBLE 10.0
#define U_MAX            40.0

pcast_loss_grid pcast_loss_grid_of(const pcast_theory_row *row, int weights)
{
    const double sigma = row->sigma, keys = (double)row->keys, sinks = (double)row->sinks;
    const double step = 0.25 * (sigma < 2 ? sigma : 2);
    const int ratio = step < 0.5 ? (int)floor(0.5 / step) : 1;
    const double low = -PCAST_REACH_LOW * sigma, high = PCAST_REACH_HIGH * sigma;
    /* L is at most about this when the maximum is typical; below 1/L the integrand of the error
     * falls as u^2, that of the mass as u. */
    const double log_others = log(keys) + sigma * sigma / 2 + 2 * sigma;
    const double log_sinks = log(sinks) + row->delta + 4 * sigma;
    const double y_step = ratio * step;
    const double y_from =
        -(log_others > log_sinks ? log_others : log_sinks) - (weights == 1 ? 9 : 12);
    return (pcast_loss_grid){.step = step,
                             .ratio = ratio,
                             .m_low = lround(floor(low / step)),
                             .m_high = lround(ceil(high / step)),
                             .second_low = lround(floor((row->delta + low) / step)),
                             .second_high = lround(ceil((row->delta + high) / step)),
                             .y_low = lround(floor(y_from / y_step)),
                             .y_end = lround(ceil(log(U_MAX) / y_step)) + 1};
}

/* By the trapezoidal rule, whose steps divide those of z, so that all z read one table. */
int pcast_free_transforms(double z_low, double step, double sigma, long count, double *out)
{
    const long finer = (long)ceil(step / (sigma < 1 ? sigma / 4 : 0.25) - 1e-9);
    const double h = step / (double)finer;
    const long reach = (long)ceil(PCAST_REACH_HIGH * sigma / h),
               size = (count - 1) * finer + 2 * reach + 1;
    double *decay = calloc((size_t)size, sizeof *decay);
    double *density = calloc((size_t)(2 * reach + 1), sizeof *density);
    const int ok = decay != NULL && density != NULL;
    for (long i = 0; ok && i < size; i++)
        decay[i] = exp(-exp(z_low + (double)(i - reach) * h));
    for (long i = 0; ok && i <= 2 * reach; i++)
        density[i] = pcast_normal_pdf((double)(i - reach) * h / sigma) * h / sigma;
    for (long z = 0; ok && z < count; z++) {
        double sum = 0;
        for (long i = 0; i <= 2 * reach; i++)
            sum += density[i] * decay[z * finer + i];
        out[z] = sum;
    }
    free(decay);
    free(density);
    return ok;
}

/* decay[i][u] = exp(-u e^x), x being sign times that of node i. */
static void fill_decay(const pcast_loss_tables *tables, const pcast_cast_nodes *nodes, double sign,
                       double *decay)
{
    const size_t u_count = (size_t)tables->y_count;
    for (size_t i = 0; i < nodes->count; i++) {
        const double e = exp(sign * nodes->x[i]);
        for (size_t u = 0; u < u_count; u++)
            decay[i * u_count + u] = exp(-tables->u[u] * e);
    }
}

static double *table(size_t count)
{
    return calloc(count, sizeof(double));
}

/* Everything that depends on u and x alone. */
static int fill_tables(pcast_loss_tables *tables, double scale, int ratio)
{
    const pcast_cast_nodes *nodes = &tables->nodes, *tail = &tables->tail;
    const size_t u_count = (size_t)tables->y_count;
    const double c0 = pcast_cast_of_maximum(scale);
    tables->u = table(u_count);
    tables->decay = table(nodes->count * u_count);
    tables->tail_decay = table(tail->count * u_count);
    int ok = tables->u != NULL && tables->decay != NULL && tables->tail_decay != NULL;
    for (int w = 0; w < PCAST_WEIGHTS; w++) {
        tables->weight[w] = table(nodes->count);
        ok &= tables->weight[w] != NULL;
    }
    if (!ok)
        return 0;
    for (size_t u = 0; u < u_count; u++)
        tables->u[u] = exp((double)(tables->y_low + (long)u) * ratio * tables->step);
    for (size_t i = 0; i < nodes->count; i++) {
        const double e = exp(nodes->x[i]), c = nodes->cast[i];
        tables->weight[PCAST_WEIGHT_ERROR][i] = nodes->weight[i] * (e - c) * (e - c);
        tables->weight[PCAST_WEIGHT_KEPT][i] = nodes->weight[i] * c;
        tables->weight[PCAST_WEIGHT_MASS][i] = nodes->weight[i] * e;
    }
    fill_decay(tables, nodes, 1, tables->decay);
    fill_decay(tables, tail, -1, tables->tail_decay);
    tables->at_maximum[PCAST_WEIGHT_ERROR] = (1 - c0) * (1 - c0);
    tables->at_maximum[PCAST_WEIGHT_KEPT] = c0;
    tables->at_maximum[PCAST_WEIGHT_MASS] = 1;
    return 1;
}

int pcast_loss_tables_init(pcast_loss_tables *tables, const pcast_theory_row *rows, size_t count,
                           int weights)
{
    const double sigma = rows[0].sigma, length = sigma < 1 ? sigma : 1;
    double reach = 0; /* of m - shift */
    pcast_loss_grid grid = pcast_loss_grid_of(&rows[0], weights);
    for (size_t i = 0; i < count; i++) {
        const long y_low = pcast_loss_grid_of(&rows[i], weights).y_low;
        grid.y_low = y_low < grid.y_low ? y_low : grid.y_low;
        reach = GSL_MAX(reach, fabs(rows[i].delta) + PCAST_REACH_HIGH * sigma + 2 * grid.step);
    }
    const long indices = lround(ceil(reach / grid.step));
    *tables = (pcast_loss_tables){.sigma = sigma,
                                  .step = grid.step,
                                  .weights = weights,
                                  .y_low = grid.y_low,
                                  .y_count = grid.y_end - grid.y_low,
                                  .first = -indices,
                                  .count = 2 * indices + 1};
    tables->at = calloc((size_t)tables->count, sizeof *tables->at);
    const double low = -reach - REACH_NEGLIGIBLE * sigma;
    return tables->at != NULL &&
           pcast_cast_nodes_init(&tables->nodes, rows[0].scale, low, length) &&
           pcast_cast_nodes_init(&tables->tail, 0x1p-20, low, length) &&
           fill_tables(tables, rows[0].scale, grid.ratio);
}

void pcast_loss_tables_free(pcast_loss_tables *tables)
{
    pcast_cast_nodes_free(&tables->nodes);
    pcast_cast_nodes_free(&tables->tail);
    for (int w = 0; w < PCAST_WEIGHTS; w++)
        free(tables->weight[w]);
    for (long i = 0; tables->at != NULL && i < tables->count; i++)
        free(tables->at[i].above);
    free(tables->at);
    free(tables->between.above);
    free(tables->u);
    free(tables->decay);
    free(tables->tail_decay);
}

/* sums[u] += factor * decays[u] */
static void accumulate(double *restrict sums, double factor, const double *restrict decays,
                       size_t count)
{
    for (size_t u = 0; u < count; u++)
        sums[u] += factor * decays[u];
}

/* The processor's widest vectors for the loops above; the bits are the same, since every element is
 * its own. clang gives the selector of such a function a global name, hence the prefix. */
#if defined(__x86_64__) && defined(__GLIBC__)
#define WIDEST __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define WIDEST
#endif

static WIDEST void pcast_transforms_fill(const pcast_loss_tables *tables, pcast_transforms *kind,
                                         double center)
{
    const size_t u_count = (size_t)tables->y_count;
    const double sigma = tables->sigma;
    kind->density = pcast_normal_pdf(center) / sigma;
    for (size_t i = 0; i < tables->tail.count; i++) {
        const double density = pcast_normal_pdf(center - tables->tail.x[i] / sigma) / sigma;
        if (density >= NEGLIGIBLE)
            accumulate(kind->above, density * tables->tail.weight[i],
                       tables->tail_decay + i * u_count, u_count);
    }
    for (size_t i = 0; i < tables->nodes.count; i++) {
        const double density = pcast_normal_pdf(center + tables->nodes.x[i] / sigma) / sigma;
        for (int w = 0; w < tables->weights && density >= NEGLIGIBLE; w++)
            accumulate(kind->cast[w], density * tables->weight[w][i], tables->decay + i * u_count,
                       u_count);
    }
}

/* Zeroed room; returns 0 when memory runs out. */
static int make_room(const pcast_loss_tables *tables, pcast_transforms *kind)
{
    const size_t u_count = (size_t)tables->y_count;
    kind->above = table((1 + (size_t)tables->weights) * u_count);
    for (int w = 0; w < tables->weights && kind->above != NULL; w++)
        kind->cast[w] = kind->above + (size_t)(1 + w) * u_count;
    return kind->above != NULL;
}

const pcast_transforms *pcast_transforms_at(pcast_loss_tables *tables, long index, double shift)
{
    const double steps = shift / tables->step, m = (double)index * tables->step;
    const int on_grid = steps == floor(steps);
    pcast_transforms *kind =
        on_grid ? &tables->at[index - lround(steps) - tables->first] : &tables->between;
    if (on_grid && kind->above != NULL)
        return kind;
    free(kind->above);
    if (!make_room(tables, kind))
        return NULL;
    pcast_transforms_fill(tables, kind,
                          (on_grid ? (double)(index - lround(steps)) * tables->step : m - shift) /
                              tables->sigma);
    return kind;
}
