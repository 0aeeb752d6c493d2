/* SPDX-License-Identifier: MIT */
/* Bounds of a problem's outputs: every row's terms, its splits' sums and their merge. */
#include "pcast/golden.h"

#include "base/error.h"
#include "base/fpenv.h"
#include "golden/numerator.h"
#include "golden/terms.h"
#include "golden/weigh.h"
#include "math/constants.h"
#include "math/math.h"

#include <math.h>
#include <stdlib.h>

/* Divisions, approximate reciprocals and the factors of the epilogue and of a merge. */
#define EPILOGUE_ERROR 0x1p-19
/* A logarithm's absolute error, and roundings of what the log-sum-exp is put together from. */
#define LOG_ERROR     0x1p-20
#define LSE_ROUNDINGS 8

void pcast_bounds_free(pcast_bounds *bounds)
{
    free(bounds->o);
    free(bounds->lse);
    *bounds = (pcast_bounds){0};
}

/* Everything that rows share. */
typedef struct bounding {
    const pcast_problem *problem; /* as it is answered */
    const pcast_reading *reading;
    const pcast_fault *fault;
    double *z;                    /* [keys] */
    pcast_span *split_l, *weight; /* [splits] */
    pcast_span *split_o, *sum;    /* [dim] */
    pcast_numerator_space space;
    pcast_bounds *bounds;
} bounding;

static const pcast_interval anything = {-INFINITY, INFINITY, 1};

static void answer_all(const bounding *self, size_t row, pcast_interval o, pcast_interval lse)
{
    for (size_t c = 0; c < self->bounds->dim; c++)
        self->bounds->o[row * self->bounds->dim + c] = o;
    self->bounds->lse[row] = lse;
}

/* A mean of V over some of the keys, or 0/0 where no tile was visited. */
static void answer_mean(const bounding *self, size_t row, const pcast_row_view *view,
                        const float *v)
{
    const size_t dim = self->bounds->dim;
    answer_all(self, row, anything, anything);
    for (size_t c = 0; c < dim; c++) {
        pcast_interval mean = {INFINITY, -INFINITY, 1};
        for (size_t key = 0; key < view->keys; key++) {
            const double value = (double)v[key * dim + c];
            mean.low = value < mean.low ? value : mean.low;
            mean.high = value > mean.high ? value : mean.high;
        }
        /* S that is no code's value leaves the cast of 1 off by half a place. */
        mean.low -= fabs(mean.low) / 16;
        mean.high += fabs(mean.high) / 16;
        self->bounds->o[row * dim + c] = mean;
    }
}

/* A row that sees no key. */
static void answer_masked_row(const bounding *self, size_t row, const pcast_row_view *view,
                              const float *v)
{
    const pcast_interval zero = {0, 0, 0}, none = {INFINITY, -INFINITY, 1};
    const double lse = view->sink_given ? view->sink : -INFINITY;
    const pcast_masked_rows rows = self->reading->kernel.masked_rows;
    if (self->reading->any_masked_row || self->reading->free_walk)
        answer_all(self, row, anything, anything);
    else if (rows == PCAST_MASKED_ROWS_ZERO)
        answer_all(self, row, zero, (pcast_interval){lse, lse, 0});
    else if (rows == PCAST_MASKED_ROWS_MEAN_V && self->problem->v_descale == NULL)
        answer_mean(self, row, view, v);
    else if (rows == PCAST_MASKED_ROWS_NAN)
        answer_all(self, row, none, (pcast_interval){lse, lse, 1});
    else
        answer_all(self, row, anything, anything);
}

static pcast_span divide(pcast_span a, pcast_span b)
{
    /* b > 0 */
    return (pcast_span){a.low / (a.low < 0 ? b.low : b.high),
                        a.high / (a.high < 0 ? b.high : b.low)};
}

static pcast_span multiply(pcast_span a, pcast_span b)
{
    /* b >= 0 */
    return (pcast_span){a.low * (a.low < 0 ? b.high : b.low),
                        a.high * (a.high < 0 ? b.low : b.high)};
}

static double larger_end(pcast_span x)
{
    return fabs(x.low) > fabs(x.high) ? fabs(x.low) : fabs(x.high);
}

/* Row sums of the splits, and their weights relative to the largest maximum, which is returned. */
static double sum_splits(bounding *self, const pcast_row_view *view, const pcast_terms *terms)
{
    double top = -INFINITY;
    for (size_t s = 0; s < terms->split_count; s++) {
        const double m = terms->split[s].m;
        self->split_l[s] = (pcast_span){0, 0};
        if (terms->split[s].keys > 0 && m > top)
            top = m;
    }
    for (size_t i = 0; i < terms->count; i++)
        self->split_l[terms->term[i].split] =
            pcast_span_add(self->split_l[terms->term[i].split], terms->term[i].d);
    for (size_t s = 0; s < terms->split_count; s++) {
        pcast_span *l = &self->split_l[s];
        const double error = PCAST_UNIT_ROUNDOFF * (double)(terms->split[s].keys + 8);
        if (s == 0 && view->sink_given) {
            if (terms->split[s].keys == 0)
                continue;
            *l = pcast_span_add(
                *l, pcast_weigh_probability(self->reading, view->sink, terms->split[s].m));
        }
        *l = (pcast_span){l->low * (1 - error), l->high * (1 + error)};
        const double lse = terms->split[s].m + pcast_log_f64(l->high);
        const double merge = terms->split_count == 1
                                 ? 0
                                 : pcast_factor_error(self->reading, 2 * fabs(lse)) + LOG_ERROR;
        const double factor =
            terms->split[s].keys == 0 ? 0 : pcast_exp_f64(terms->split[s].m - top);
        self->weight[s] =
            (pcast_span){l->low * factor * (1 - merge), l->high * factor * (1 + merge)};
    }
    return top;
}

/* Adds one split's output, weighted, to self->sum; *total collects weights. */
static void add_split(bounding *self, size_t s, const pcast_terms *terms, size_t used,
                      pcast_span *total)
{
    const double error = self->reading->partial_error;
    pcast_span weight = self->weight[s];
    if (self->reading->slip == PCAST_SLIP_SPLITS_UNWEIGHTED)
        weight = (pcast_span){1, 1};
    else if (self->reading->slip == PCAST_SLIP_SPLITS_BY_SUM)
        weight = self->split_l[s];
    for (size_t c = 0; c < self->bounds->dim; c++) {
        pcast_span o = self->split_o[c];
        if (!terms->split[s].normalised)
            o = divide(o, self->split_l[s]);
        o = pcast_span_widen(o, error * larger_end(o));
        self->sum[c] = used == 1 ? o : pcast_span_add(self->sum[c], multiply(o, weight));
    }
    *total = used == 1 ? (pcast_span){1, 1} : pcast_span_add(*total, weight);
}

/* S, or what it may be. */
static pcast_span scale_of(const pcast_reading *reading)
{
    const double scale = (double)reading->kernel.scale;
    return reading->any_scale ? (pcast_span){2, 448} : (pcast_span){scale, scale};
}

static void answer_row(bounding *self, size_t row, const pcast_row_view *view,
                       const pcast_terms *terms, const float *v, double v_descale)
{
    const double top = sum_splits(self, view, terms);
    size_t used = 0;
    pcast_fit fit = PCAST_FIT_FITS;
    pcast_span total = {0, 0}, lse_sum = {0, 0};
    for (size_t s = 0; s < terms->split_count; s++) {
        used += terms->split[s].keys > 0;
        lse_sum = terms->split[s].keys > 0 ? pcast_span_add(lse_sum, self->weight[s]) : lse_sum;
    }
    for (size_t c = 0; c < self->bounds->dim; c++)
        self->sum[c] = (pcast_span){0, 0};
    for (size_t s = 0; s < terms->split_count; s++) {
        if (terms->split[s].keys == 0)
            continue;
        const pcast_fit here = pcast_numerators(self->reading, view, terms, s, v, self->bounds->dim,
                                                &self->space, self->split_o);
        fit = here > fit ? here : fit;
        add_split(self, s, terms, used, &total);
    }
    const pcast_span strength = scale_of(self->reading);
    const int o_power = self->fault != NULL ? self->fault->o_power : 0;
    const pcast_span factor = o_power > 0   ? strength
                              : o_power < 0 ? (pcast_span){1 / strength.high, 1 / strength.low}
                                            : (pcast_span){1, 1};
    for (size_t c = 0; c < self->bounds->dim; c++) {
        pcast_span o = divide(self->sum[c], total);
        o = pcast_span_widen(o, EPILOGUE_ERROR * larger_end(o));
        o = pcast_span_times(multiply(o, factor), v_descale);
        self->bounds->o[row * self->bounds->dim + c] =
            fit == PCAST_FIT_FITS      ? (pcast_interval){o.low, o.high, terms->or_nan}
            : fit == PCAST_FIT_UNKNOWN ? anything
            : o.low > 0                ? (pcast_interval){INFINITY, INFINITY, 1}
                                       : (pcast_interval){-INFINITY, -INFINITY, 1};
    }
    const double low = top + pcast_log_f64(lse_sum.low), high = top + pcast_log_f64(lse_sum.high);
    const double error =
        LOG_ERROR + PCAST_UNIT_ROUNDOFF * LSE_ROUNDINGS * (fabs(top) + fabs(low) + fabs(high) + 8);
    const double lse_factor =
        self->fault != NULL && self->fault->lse_factor != 0 ? self->fault->lse_factor : 1;
    pcast_span lse = pcast_span_times((pcast_span){low - error, high + error}, lse_factor);
    if (self->fault != NULL && self->fault->lse_offset != 0)
        lse = pcast_span_add(lse, pcast_span_times((pcast_span){pcast_log_f64(strength.low),
                                                                pcast_log_f64(strength.high)},
                                                   self->fault->lse_offset));
    self->bounds->lse[row] = (pcast_interval){lse.low, lse.high, terms->or_nan};
}

/* Does a visible key hold NaN, in V or in its score? */
static int reads_nan(const pcast_row_view *view, const float *v, size_t dim)
{
    for (size_t key = view->visible.first; key < view->visible.first + view->visible.count; key++) {
        if (isnan(view->z[key]))
            return 1;
        for (size_t c = 0; c < dim; c++)
            if (isnan(v[key * dim + c]))
                return 1;
    }
    return 0;
}

static double descale(const float *array, size_t head)
{
    return array != NULL ? (double)array[head] : 1;
}

static pcast_row_view view_row(bounding *self, size_t batch, size_t head, size_t query)
{
    const pcast_problem *problem = self->problem;
    const pcast_kernel *kernel = &self->reading->kernel;
    const size_t dim = problem->dim, kv_head = head / (problem->heads / problem->kv_heads);
    const size_t keys = problem->kv_lengths != NULL ? problem->kv_lengths[batch] : problem->keys;
    int64_t aligned = (int64_t)query + self->reading->mask_shift;
    if (kernel->mask != PCAST_MASK_CAUSAL_TOP_LEFT)
        aligned += (int64_t)keys - (int64_t)problem->queries;
    pcast_row_view view = {.keys = keys,
                           .visible = pcast_visible_around(kernel, keys, aligned),
                           .z = self->z,
                           .unit = (double)problem->softmax_scale *
                                   descale(problem->q_descale, kv_head) *
                                   descale(problem->k_descale, kv_head)};
    view.visited = pcast_visited_keys(kernel, problem->queries, keys, query);
    if (self->reading->mask_shift != 0) /* tiles are those of the row alone, shifted too */
        view.visited = view.visible;
    if (problem->sink != NULL) {
        view.sink_given = 1;
        view.sink = (double)problem->sink[head];
    }
    const float *q =
        problem->q + ((batch * problem->heads + head) * problem->queries + query) * dim;
    const float *k = problem->k + (batch * problem->kv_heads + kv_head) * problem->keys * dim;
    for (size_t i = 0; i < view.visible.count; i++) {
        const size_t key = view.visible.first + i;
        double sum = 0;
        for (size_t c = 0; c < dim; c++)
            sum += (double)q[c] * (double)k[key * dim + c];
        self->z[key] = sum * view.unit;
    }
    return view;
}

static pcast_status bound_row(bounding *self, size_t row, pcast_error *err)
{
    const pcast_problem *problem = self->problem;
    const size_t query = row % problem->queries, head = row / problem->queries % problem->heads;
    const size_t batch = row / problem->queries / problem->heads;
    const size_t kv_head = head / (problem->heads / problem->kv_heads);
    const float *v =
        problem->v + (batch * problem->kv_heads + kv_head) * problem->keys * problem->dim;
    const pcast_row_view view = view_row(self, batch, head, query);
    const pcast_interval none = {INFINITY, -INFINITY, 1};
    if (view.visible.count == 0) {
        answer_masked_row(self, row, &view, v);
        return PCAST_OK;
    }
    if (reads_nan(&view, v, problem->dim)) {
        answer_all(self, row, none, anything);
        return PCAST_OK;
    }
    pcast_terms terms;
    const pcast_status status = pcast_terms_of(self->reading, &view, &terms, err);
    if (status == PCAST_OK) {
        self->bounds->unique &= terms.unique;
        if (terms.wild)
            answer_all(self, row, anything, anything);
        else if (terms.nan)
            answer_all(self, row, none, anything);
        else if (terms.or_zero)
            answer_all(self, row, (pcast_interval){0, 0, 1}, anything);
        else
            answer_row(self, row, &view, &terms, v, descale(problem->v_descale, kv_head));
    }
    pcast_terms_free(&terms);
    return status;
}

static pcast_status bound_rows(bounding *self, pcast_error *err)
{
    const pcast_problem *problem = self->problem;
    const size_t splits = problem->keys + self->reading->kernel.splits + 2, dim = problem->dim;
    self->z = calloc(problem->keys + 1, sizeof *self->z);
    self->split_l = calloc(splits, sizeof *self->split_l);
    self->weight = calloc(splits, sizeof *self->weight);
    self->split_o = calloc(dim, sizeof *self->split_o);
    self->sum = calloc(dim, sizeof *self->sum);
    pcast_status status = pcast_numerator_space_init(&self->space, problem->keys, dim, err);
    if (status == PCAST_OK && (self->z == NULL || self->split_l == NULL || self->weight == NULL ||
                               self->split_o == NULL || self->sum == NULL))
        status =
            pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for a row of %zu keys", problem->keys);
    for (size_t row = 0; status == PCAST_OK && row < self->bounds->rows; row++)
        status = bound_row(self, row, err);
    free(self->z);
    free(self->split_l);
    free(self->weight);
    free(self->split_o);
    free(self->sum);
    pcast_numerator_space_free(&self->space);
    return status;
}

pcast_status pcast_bounds_of(const pcast_problem *problem, const pcast_declaration *declaration,
                             size_t index, const pcast_fault *fault, pcast_bounds *bounds,
                             pcast_error *err)
{
    pcast_problem misread = {0};
    pcast_reading reading;
    *bounds = (pcast_bounds){.rows = pcast_problem_rows(problem), .dim = problem->dim, .unique = 1};
    bounds->o = calloc(bounds->rows + 1, problem->dim * sizeof *bounds->o);
    bounds->lse = calloc(bounds->rows + 1, sizeof *bounds->lse);
    pcast_status status = PCAST_OK;
    if (bounds->o == NULL || bounds->lse == NULL)
        return pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for %zu rows", bounds->rows);
    if (fault != NULL && fault->misread != NULL) {
        status = pcast_problem_copy(problem, &misread, err);
        if (status == PCAST_OK && !fault->misread(&misread, &declaration->kernel))
            status = pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for a problem");
    }
    const pcast_problem *answered = fault != NULL && fault->misread != NULL ? &misread : problem;
    if (status == PCAST_OK)
        status = pcast_reading_of(answered, declaration, index, fault, &reading, err);
    if (status == PCAST_OK) {
        bounding self = {
            .problem = answered, .reading = &reading, .fault = fault, .bounds = bounds};
        pcast_fpenv env;
        pcast_fpenv_enter(&env);
        status = bound_rows(&self, err);
        pcast_fpenv_leave(&env);
    }
    pcast_problem_free(&misread);
    return status;
}
