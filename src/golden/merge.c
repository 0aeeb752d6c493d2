/* SPDX-License-Identifier: MIT */
/* The quotient of each split, and the mean of splits by their weights. */
#include "golden/merge.h"

#include "base/error.h"
#include "golden/weigh.h"
#include "math/constants.h"
#include "math/math.h"
#include "math/strict.h"

#include <math.h>
#include <stdlib.h>

/* Divisions, approximate reciprocals and the factors of the epilogue and of a merge. */
#define EPILOGUE_ERROR 0x1p-19
/* A logarithm's absolute error, and roundings of what the log-sum-exp is put together from. */
#define LOG_ERROR     0x1p-20
#define LSE_ROUNDINGS 8
/* A sink so many nats above all keys may overflow an FP32 row sum: e^80 < 2^116, times S and N. */
#define SINK_MOST 80.0
/* Half of FP16's least number, and its largest. */
#define HALF_LEAST_FP16 0x1p-25
#define LARGEST_FP16    65504.0

double pcast_lse_error(double max, double lse)
{
    const double size = isfinite(max) ? fabs(max) : 0;
    return LOG_ERROR + PCAST_UNIT_ROUNDOFF * LSE_ROUNDINGS * (size + 2 * fabs(lse) + 8);
}

pcast_status pcast_merge_space_init(pcast_merge_space *space, size_t keys, size_t splits,
                                    size_t dim, pcast_error *err)
{
    *space = (pcast_merge_space){0};
    space->l = calloc(splits, sizeof *space->l);
    space->weight = calloc(splits, sizeof *space->weight);
    space->m = calloc(splits, sizeof *space->m);
    space->o = calloc(dim, sizeof *space->o);
    space->sum = calloc(dim, sizeof *space->sum);
    space->magnitude = calloc(dim, sizeof *space->magnitude);
    if (space->l == NULL || space->weight == NULL || space->m == NULL || space->o == NULL ||
        space->sum == NULL || space->magnitude == NULL)
        return pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for a row of %zu keys", keys);
    return pcast_numerator_space_init(&space->numerators, keys, dim, err);
}

void pcast_merge_space_free(pcast_merge_space *space)
{
    free(space->l);
    free(space->weight);
    free(space->m);
    free(space->o);
    free(space->sum);
    free(space->magnitude);
    pcast_numerator_space_free(&space->numerators);
}

static pcast_span divide(pcast_span a, pcast_span b)
{
    /* b > 0 */
    return (pcast_span){a.low / (a.low < 0 ? b.low : b.high),
                        a.high / (a.high < 0 ? b.high : b.low)};
}

static double larger_end(pcast_span x)
{
    return fabs(x.low) > fabs(x.high) ? fabs(x.low) : fabs(x.high);
}

/* Does the split take part: has it keys, or the sink? */
static int takes_part(const pcast_row_view *row, const pcast_terms *terms, size_t s)
{
    return terms->split[s].keys > 0 || (s == 0 && row->sink_given);
}

/* Maxima of the splits; the largest is returned. A split without keys has the sink's. */
static double find_maxima(const pcast_row_view *row, const pcast_terms *terms, double *m)
{
    double top = -INFINITY;
    for (size_t s = 0; s < terms->split_count; s++) {
        m[s] = terms->split[s].keys > 0 ? terms->split[s].m : row->sink;
        if (takes_part(row, terms, s) && m[s] > top)
            top = m[s];
    }
    return top;
}

/* The row sum of a split's keys, whose d are added up already, as a kernel may sum it. */
static pcast_span sum_keys(const pcast_reading *reading, const pcast_row_view *row,
                           const pcast_terms *terms, size_t s, pcast_span l)
{
    const double roundings = PCAST_UNIT_ROUNDOFF * (double)(terms->split[s].keys + 8);
    double cut = 0;
    if (reading->any_sum || reading->kernel.row_sum == PCAST_ROW_SUM_CAST)
        cut = pcast_row_sum_cut(reading, row, terms, s);
    return (pcast_span){l.low * (1 - roundings) - cut, l.high * (1 + roundings) + cut};
}

/* Row sums and weights; returns 0 where a sum may be 0 or overflow. */
static int weigh_splits(const pcast_reading *reading, const pcast_row_view *row,
                        const pcast_terms *terms, double top, pcast_merge_space *space)
{
    int sure = 1;
    for (size_t s = 0; s < terms->split_count; s++)
        space->l[s] = (pcast_span){0, 0};
    for (size_t i = 0; i < terms->count; i++) {
        const pcast_term *term = &terms->term[i];
        space->l[term->split] = pcast_span_add(space->l[term->split], term->d);
    }
    for (size_t s = 0; s < terms->split_count; s++) {
        if (!takes_part(row, terms, s))
            continue;
        pcast_span l = terms->split[s].keys > 0 ? sum_keys(reading, row, terms, s, space->l[s])
                                                : (pcast_span){0, 0};
        if (s == 0 && row->sink_given) {
            l = pcast_span_add(l, pcast_weigh_probability(reading, row->sink, space->m[s]));
            sure &= row->sink - space->m[s] < SINK_MOST;
        }
        space->l[s] = l;
        sure &= l.low > 0 && isfinite(l.high);
        const double lse = space->m[s] + pcast_log_f64(l.high);
        const double merge =
            terms->split_count == 1 ? 0 : pcast_factor_error(reading, 2 * fabs(lse)) + LOG_ERROR;
        const double factor = pcast_exp_f64(space->m[s] - top);
        space->weight[s] =
            (pcast_span){l.low * factor * (1 - merge), l.high * factor * (1 + merge)};
    }
    return sure;
}

/* What the partial output of a split may be stored as. */
static pcast_span store_partial(const pcast_reading *reading, pcast_span o, double magnitude,
                                int *sure)
{
    static const pcast_format formats[] = {[PCAST_OUTPUT_F32] = PCAST_F32,
                                           [PCAST_OUTPUT_BF16] = PCAST_BF16,
                                           [PCAST_OUTPUT_F16] = PCAST_F16};
    const pcast_format format = formats[reading->kernel.partials];
    if (reading->partial_error == 0)
        return o;
    if (!reading->free_walk)
        return (pcast_span){(double)pcast_round_through(format, o.low),
                            (double)pcast_round_through(format, o.high)};
    *sure &= magnitude < LARGEST_FP16;
    return pcast_span_widen(o, reading->partial_error * magnitude + HALF_LEAST_FP16);
}

/* Adds one split's output, weighted, to space->sum; *total collects weights. */
static void add_split(const pcast_reading *reading, const pcast_terms *terms, size_t s,
                      double v_descale, size_t dim, int alone, pcast_merge_space *space,
                      pcast_span *total, int *sure)
{
    pcast_span weight = space->weight[s];
    if (alone)
        weight = (pcast_span){1, 1};
    else if (reading->slip == PCAST_SLIP_SPLITS_UNWEIGHTED)
        weight = (pcast_span){1, 1};
    else if (reading->slip == PCAST_SLIP_SPLITS_FIRST)
        weight = total->high > 0 ? (pcast_span){0, 0} : (pcast_span){1, 1};
    else if (reading->slip == PCAST_SLIP_SPLITS_BY_SUM)
        weight = space->l[s];
    for (size_t c = 0; c < dim && terms->split[s].keys > 0; c++) {
        pcast_span o = space->o[c];
        double magnitude = space->magnitude[c];
        if (!terms->split[s].normalised) {
            o = divide(o, space->l[s]);
            magnitude /= space->l[s].low;
        }
        o = pcast_span_times(pcast_span_widen(o, EPILOGUE_ERROR * larger_end(o)), v_descale);
        o = store_partial(reading, o, magnitude * fabs(v_descale), sure);
        space->sum[c] = pcast_span_add(space->sum[c], pcast_span_multiply(o, weight));
    }
    *total = pcast_span_add(*total, weight);
}

/* Is every P cast to zero? */
static int is_empty(const pcast_terms *terms)
{
    for (size_t i = 0; i < terms->count; i++)
        if (terms->term[i].n.high > 0)
            return 0;
    return 1;
}

pcast_fit pcast_merge(const pcast_reading *reading, const pcast_row_view *row,
                      const pcast_terms *terms, const float *v, double v_descale, size_t dim,
                      pcast_merge_space *space, pcast_span *lse)
{
    pcast_span total = {0, 0}, all = {0, 0};
    pcast_fit fit = PCAST_FIT_FITS;
    size_t parts = 0;
    for (size_t s = 0; s < terms->split_count; s++)
        parts += (size_t)takes_part(row, terms, s);
    if (parts == 0) {
        *lse = (pcast_span){-INFINITY, -INFINITY};
        return PCAST_FIT_EMPTY;
    }
    const double top = find_maxima(row, terms, space->m);
    int sure = weigh_splits(reading, row, terms, top, space);
    *lse = (pcast_span){INFINITY, -INFINITY};
    if (!sure)
        return is_empty(terms) ? PCAST_FIT_EMPTY : PCAST_FIT_UNKNOWN;
    for (size_t c = 0; c < dim; c++)
        space->sum[c] = (pcast_span){0, 0};
    for (size_t s = 0; s < terms->split_count; s++) {
        if (!takes_part(row, terms, s))
            continue;
        if (terms->split[s].keys > 0) {
            const pcast_fit here = pcast_numerators(reading, row, terms, s, v, dim,
                                                    &space->numerators, space->o, space->magnitude);
            fit = here > fit ? here : fit;
        }
        add_split(reading, terms, s, v_descale, dim, parts == 1, space, &total, &sure);
        all = pcast_span_add(all, space->weight[s]);
    }
    for (size_t c = 0; c < dim; c++) {
        const pcast_span o = divide(space->sum[c], total);
        space->sum[c] = pcast_span_widen(o, EPILOGUE_ERROR * larger_end(o));
    }
    const double low = top + pcast_log_f64(all.low), high = top + pcast_log_f64(all.high);
    const double larger = fabs(low) > fabs(high) ? fabs(low) : fabs(high);
    const double error = pcast_lse_error(top, larger);
    *lse = (pcast_span){low - error, high + error};
    return sure ? fit : PCAST_FIT_UNKNOWN;
}
