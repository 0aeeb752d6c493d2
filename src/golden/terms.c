/* SPDX-License-Identifier: MIT */
/* Terms of a row, along a walk that is known or over all maxima that any walk may bring. */
#include "golden/terms.h"

#include "base/error.h"
#include "golden/weigh.h"
#include "math/constants.h"
#include "math/math.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* Exponentials of so many nats below are zero, above beyond any other. */
#define FAR 200.0
/* A lag this close to the threshold may fall on either side of it. */
#define UNDECIDED 1e-4

double pcast_factor_error(const pcast_reading *reading, double nats)
{
    return PCAST_UNIT_ROUNDOFF * (6 * fabs(nats) + 4) + reading->exp_error;
}

void pcast_terms_free(pcast_terms *terms)
{
    free(terms->term);
    free(terms->split);
    *terms = (pcast_terms){0};
}

static double at(const pcast_row_view *row, size_t i)
{
    return row->z[row->visible.first + i];
}

static double largest(const pcast_row_view *row)
{
    double max = -INFINITY;
    for (size_t i = 0; i < row->visible.count; i++)
        max = at(row, i) > max ? at(row, i) : max;
    return max;
}

/* Masked scores and the first maximum in nats; -Inf where all scores lie far above it anyway. */
static double sentinel_of(const pcast_reading *reading, const pcast_row_view *row)
{
    const double raw = reading->kernel.max_over == PCAST_MAX_OVER_RAW ? row->unit : 1;
    switch (reading->kernel.mask_value) {
    case PCAST_MASK_VALUE_1E5:
        return -1e5 * raw;
    case PCAST_MASK_VALUE_5E6: /* in the unit of the exponent where that is in base 2 */
        return reading->kernel.exponent == PCAST_EXPONENT_NATURAL ? -5e6 * raw : -5e6 * PCAST_LN2;
    case PCAST_MASK_VALUE_FLT_MAX:
        return -(double)FLT_MAX * raw;
    default:
        return -INFINITY;
    }
}

/* Sets what a finite sentinel does to scores below or near it. */
static void meet_sentinel(const pcast_reading *reading, const pcast_row_view *row,
                          pcast_terms *terms)
{
    const double sentinel = sentinel_of(reading, row);
    double low = INFINITY;
    for (size_t i = 0; i < row->visible.count; i++)
        low = at(row, i) < low ? at(row, i) : low;
    if (reading->any_sentinel || (isfinite(sentinel) && reading->any_unit)) {
        terms->wild |= low < (row->unit < 1 ? -1e5 * row->unit : -1e5) + FAR;
        return;
    }
    if (low >= sentinel + FAR)
        return;
    if (largest(row) < sentinel - FAR && row->visible.count == row->keys)
        terms->or_zero = 1;
    else
        terms->wild = 1;
}

/* Does a slip make the running maximum start at a number, and at which (in nats)? */
static int starts_high(const pcast_reading *reading)
{
    return reading->slip == PCAST_SLIP_MAX_STARTS_AT_ZERO ||
           reading->slip == PCAST_SLIP_MAX_STARTS_AT_ONE;
}

static double first_maximum(const pcast_reading *reading)
{
    return reading->slip == PCAST_SLIP_MAX_STARTS_AT_ONE ? 1 : 0;
}

/* ---- A walk that is known ---- */

/* Maxima of the visits of one split. */
typedef struct track {
    double m;
    size_t changes;
    int begun; /* m is no initial value */
    int ended; /* by a slip: later tiles count for nothing */
} track;

static void next_max(const pcast_reading *reading, double tile, track *now, pcast_terms *terms)
{
    const pcast_kernel *kernel = &reading->kernel;
    if (tile == -INFINITY) {
        if (now->m != -INFINITY)
            return;
        if (kernel->empty_max == PCAST_EMPTY_MAX_STORE_ZERO &&
            kernel->mask_value == PCAST_MASK_VALUE_INF)
            *now = (track){.m = 0, .begun = 1};
        else if (kernel->empty_max == PCAST_EMPTY_MAX_UNGUARDED &&
                 kernel->mask_value == PCAST_MASK_VALUE_INF)
            terms->nan = 1;
        return;
    }
    const double candidate = tile > now->m ? tile : now->m;
    if (reading->lag > 0 && now->begun) {
        const double excess = candidate - now->m - reading->lag;
        terms->wild |=
            fabs(excess) < UNDECIDED * (1 + 1e-3 * fabs(candidate)) && candidate > now->m;
        if (excess <= 0)
            return;
    }
    now->changes += candidate != now->m;
    now->m = candidate;
    now->begun = 1;
}

static track first_of_split(const pcast_reading *reading, const pcast_row_view *row, size_t split)
{
    if (split == 0 && row->sink_given && reading->kernel.learned_sink == PCAST_LEARNED_SINK_INITIAL)
        return (track){.m = row->sink, .begun = 1};
    if (starts_high(reading))
        return (track){.m = first_maximum(reading), .begun = 1};
    return (track){.m = -INFINITY};
}

/* Appends the visible keys of a visit; term.n.low holds the maximum, term.n.high the number of
 * changes before it until finish_split. */
static void add_visit(const pcast_reading *reading, const pcast_row_view *row,
                      const pcast_visit *visit, track *now, pcast_terms *terms)
{
    const size_t end = row->visible.first + row->visible.count;
    double max = -INFINITY;
    size_t first = visit->range.first, last = visit->range.first + visit->range.count;
    first = first < row->visible.first ? row->visible.first : first;
    last = last > end ? end : last;
    if (now->ended)
        return;
    for (size_t key = first; key < last; key++)
        max = row->z[key] > max ? row->z[key] : max;
    next_max(reading, max, now, terms);
    now->ended = reading->slip == PCAST_SLIP_TILE_ENDS_ROW && first >= last;
    for (size_t key = first; key < last; key++)
        terms->term[terms->count++] =
            (pcast_term){.key = key, .split = visit->split, .n = {now->m, (double)now->changes}};
}

static void finish_term(const pcast_reading *reading, const pcast_row_view *row,
                        pcast_split_terms *split, pcast_term *term, pcast_terms *terms)
{
    const double z = row->z[term->key], m = term->n.low;
    const double changes = (double)split->changes - term->n.high;
    const double factor = pcast_exp_f64(m - split->m);
    const double error = changes * pcast_factor_error(reading, fabs(m) + fabs(split->m));
    const pcast_span p = pcast_weigh_probability(reading, z, m);
    const pcast_span code = pcast_weigh_cast(reading, p);
    const double scale = (double)reading->kernel.scale;
    const pcast_span alpha = {factor * (1 - error), factor * (1 + error)}, one = {1, 1};
    const pcast_span on_n = reading->slip == PCAST_SLIP_OUTPUT_NOT_RESCALED ? one : alpha;
    const pcast_span on_d = reading->slip == PCAST_SLIP_SUM_NOT_RESCALED ? one : alpha;
    const pcast_span cast = {code.low / scale, code.high / scale};
    const pcast_span summed = reading->any_sum ? pcast_span_hull(p, cast)
                              : reading->kernel.row_sum == PCAST_ROW_SUM_CAST ? cast
                                                                              : p;
    term->n = (pcast_span){cast.low * on_n.low, cast.high * on_n.high};
    term->d = (pcast_span){summed.low * on_d.low, summed.high * on_d.high};
    term->code = code.low == code.high ? code.low : NAN;
    term->top = code.high;
    term->final = m == split->m;
    terms->or_nan |= pcast_weigh_overflows(reading, p);
}

/* P divided by the split's row sum before the cast. */
static void normalise_split(const pcast_reading *reading, const pcast_row_view *row, size_t number,
                            size_t first, pcast_terms *terms)
{
    pcast_split_terms *split = &terms->split[number];
    pcast_span sum = {0, 0};
    for (size_t i = first; i < terms->count; i++) {
        terms->term[i].d = pcast_weigh_probability(reading, row->z[terms->term[i].key], split->m);
        sum = pcast_span_add(sum, terms->term[i].d);
    }
    if (number == 0 && row->sink_given)
        sum = pcast_span_add(sum, pcast_weigh_probability(reading, row->sink, split->m));
    const double slack = ((double)split->keys + 4) * PCAST_UNIT_ROUNDOFF;
    split->normalised = 1;
    for (size_t i = first; i < terms->count; i++) {
        pcast_term *term = &terms->term[i];
        const pcast_span p = {term->d.low / sum.high * (1 - slack),
                              term->d.high / sum.low * (1 + slack)};
        const pcast_span code = pcast_weigh_cast(reading, p);
        term->n = pcast_span_times(code, 1 / (double)reading->kernel.scale);
        term->code = code.low == code.high ? code.low : NAN;
        term->top = code.high;
        term->final = 1;
    }
}

static void finish_split(const pcast_reading *reading, const pcast_row_view *row, size_t number,
                         const track *end, size_t first, pcast_terms *terms)
{
    pcast_split_terms *split = &terms->split[number];
    *split =
        (pcast_split_terms){.m = end->m, .keys = terms->count - first, .changes = end->changes};
    if (reading->kernel.normalise == PCAST_NORMALISE_PARTITION) {
        normalise_split(reading, row, number, first, terms);
        return;
    }
    for (size_t i = first; i < terms->count; i++)
        finish_term(reading, row, split, &terms->term[i], terms);
}

static void follow_walk(const pcast_reading *reading, const pcast_row_view *row, pcast_terms *terms)
{
    pcast_walk walk;
    pcast_visit visit;
    track now = first_of_split(reading, row, 0);
    size_t first = 0, split = 0;
    pcast_walk_start(&walk, &reading->kernel, row->keys, row->visited.first,
                     row->visited.first + row->visited.count);
    while (pcast_walk_next(&walk, &visit)) {
        if (visit.sums_only)
            continue;
        while (split < visit.split) { /* splits without a block have no terms */
            finish_split(reading, row, split++, &now, first, terms);
            now = first_of_split(reading, row, split);
            first = terms->count;
        }
        add_visit(reading, row, &visit, &now, terms);
    }
    finish_split(reading, row, split, &now, first, terms);
    terms->split_count = split + 1;
    /* A finite sentinel may have given the masked keys of the last tile a weight. */
    terms->wild |= terms->count == 0 && reading->kernel.mask_value != PCAST_MASK_VALUE_INF;
}

/* ---- Any walk ---- */

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Distinct scores, ascending, and other values that the maximum may have; returns how many. */
static size_t collect_levels(const pcast_reading *reading, const pcast_row_view *row,
                             double *levels)
{
    size_t count = 0, distinct = 0;
    const int zero =
        starts_high(reading) ||
        ((reading->any_empty_max || reading->kernel.empty_max == PCAST_EMPTY_MAX_STORE_ZERO) &&
         row->visible.count < row->keys);
    for (size_t i = 0; i < row->visible.count; i++)
        levels[count++] = at(row, i);
    if (row->sink_given && reading->may_start_with_sink)
        levels[count++] = row->sink;
    if (zero)
        levels[count++] = first_maximum(reading);
    qsort(levels, count, sizeof *levels, compare);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || levels[i] != levels[distinct - 1])
            levels[distinct++] = levels[i];
    return distinct;
}

/* A key under every maximum that it may be cast under. */
static void weigh_freely(const pcast_reading *reading, const pcast_row_view *row, double z,
                         const double *levels, size_t count, pcast_term *term)
{
    const double top = largest(row);
    term->n = (pcast_span){INFINITY, -INFINITY};
    term->code = NAN;
    for (size_t i = 0; i < count; i++) {
        const double m = levels[i];
        if (m < z - reading->lag * (1 + UNDECIDED) - UNDECIDED ||
            (starts_high(reading) && m < first_maximum(reading)))
            continue;
        const pcast_span p = pcast_weigh_probability(reading, z, m);
        double divisor = (double)row->visible.count;
        if (reading->normalises && row->sink_given)
            divisor += pcast_weigh_probability(reading, row->sink, m).high;
        const pcast_span weight = reading->normalises
                                      ? pcast_weigh_cast_normalised(reading, p, divisor)
                                      : pcast_weigh_cast_free(reading, p);
        term->n = pcast_span_hull(term->n, pcast_span_times(weight, pcast_exp_f64(m - top)));
    }
    const pcast_span most = {1, pcast_exp_f64(reading->lag)};
    term->top = reading->any_scale ? pcast_decode_f64(PCAST_E4M3, pcast_format_largest(PCAST_E4M3))
                                   : pcast_weigh_cast(reading, most).high;
    /* A key's maximum rises to a higher level with each change; splits add a few factors. */
    size_t above = 0;
    while (above < count && levels[count - 1 - above] > z)
        above++;
    const double changes = (double)(above + 4);
    const double error = changes * pcast_factor_error(reading, fabs(z) + fabs(top));
    term->d = pcast_weigh_probability(reading, z, top);
    if (reading->any_sum || reading->kernel.row_sum == PCAST_ROW_SUM_CAST)
        term->d = pcast_span_hull(term->d, term->n);
    term->n = (pcast_span){term->n.low * (1 - error), term->n.high * (1 + error)};
    term->d = (pcast_span){term->d.low * (1 - error), term->d.high * (1 + error)};
}

static pcast_status over_all_walks(const pcast_reading *reading, const pcast_row_view *row,
                                   pcast_terms *terms, pcast_error *err)
{
    const size_t keys = row->visible.count;
    double *levels = malloc((keys + 2) * sizeof *levels);
    pcast_term *weighed = malloc((keys + 2) * sizeof *weighed); /* by level */
    if (levels == NULL || weighed == NULL) {
        free(levels);
        free(weighed);
        return pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for a row of %zu keys", keys);
    }
    const size_t count = collect_levels(reading, row, levels);
    for (size_t i = 0; i < count; i++)
        weigh_freely(reading, row, levels[i], levels, count, &weighed[i]);
    for (size_t i = 0; i < keys; i++) {
        const double z = at(row, i);
        const double *level = bsearch(&z, levels, count, sizeof *levels, compare);
        pcast_term *term = &terms->term[terms->count++];
        *term = weighed[level - levels];
        term->key = row->visible.first + i;
        term->split = 0;
        term->final = count == 1;
    }
    terms->split_count = 1;
    terms->split[0] = (pcast_split_terms){.m = largest(row), .keys = keys, .changes = count};
    terms->wild |= reading->slip == PCAST_SLIP_TILE_ENDS_ROW && keys < row->keys;
    terms->or_nan |=
        (reading->any_empty_max || reading->kernel.empty_max == PCAST_EMPTY_MAX_UNGUARDED) &&
        keys < row->keys;
    free(levels);
    free(weighed);
    return PCAST_OK;
}

pcast_status pcast_terms_of(const pcast_reading *reading, const pcast_row_view *row,
                            pcast_terms *terms, pcast_error *err)
{
    const size_t splits = row->keys / (reading->kernel.block > 0 ? reading->kernel.block : 1) + 2;
    const size_t room = splits > reading->kernel.splits + 1 ? splits : reading->kernel.splits + 1;
    *terms = (pcast_terms){0};
    terms->term = calloc(row->visible.count + 1, sizeof *terms->term);
    terms->split = calloc(room, sizeof *terms->split);
    if (terms->term == NULL || terms->split == NULL)
        return pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for a row of %zu keys", row->keys);
    meet_sentinel(reading, row, terms);
    if (reading->free_walk)
        return over_all_walks(reading, row, terms, err);
    follow_walk(reading, row, terms);
    return PCAST_OK;
}
