/* SPDX-License-Identifier: MIT */
/* Bounds of a problem's outputs: every row's terms, its splits' sums and their merge. */
#include "pcast/golden.h"

#include "base/error.h"
#include "base/fpenv.h"
#include "golden/merge.h"
#include "golden/terms.h"
#include "golden/weigh.h"
#include "math/constants.h"
#include "math/math.h"

#include <math.h>
#include <stdlib.h>

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
    double *z; /* [keys] */
    pcast_merge_space space;
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
                        const float *v, double v_descale)
{
    const size_t dim = self->bounds->dim;
    const pcast_kernel *kernel = &self->reading->kernel;
    /* Where no tile is visited O stays 0. A sentinel of -5e6 and the first maximum, which is -5e6
     * in another unit, differ: P may be 0. */
    const int below = kernel->mask_value == PCAST_MASK_VALUE_5E6 || view->visited.count == 0;
    answer_all(self, row, anything, anything);
    if (self->reading->summation == PCAST_SUMMATION_ANY ||
        kernel->accumulator == PCAST_ACCUMULATOR_FP16)
        return; /* which may overflow */
    for (size_t c = 0; c < dim; c++) {
        pcast_interval mean = {below ? 0 : INFINITY, below ? 0 : -INFINITY, 1};
        for (size_t key = 0; key < view->keys; key++) {
            const double value = (double)v[key * dim + c] * v_descale;
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
                              const float *v, double v_descale)
{
    const pcast_interval zero = {0, 0, 0}, none = {INFINITY, -INFINITY, 1};
    const int lse_zero = self->reading->slip == PCAST_SLIP_MASKED_LSE_ZERO;
    const double sink = lse_zero ? 0 : view->sink_given ? view->sink : -INFINITY;
    const double error = view->sink_given ? pcast_lse_error(sink, sink) : 0;
    const pcast_interval lse = {sink - error, sink + error, 0};
    const pcast_masked_rows rows = self->reading->kernel.masked_rows;
    if (self->reading->any_masked_row || self->reading->free_walk)
        answer_all(self, row, anything, anything);
    else if (rows == PCAST_MASKED_ROWS_ZERO)
        answer_all(self, row, zero, lse);
    else if (rows == PCAST_MASKED_ROWS_MEAN_V)
        answer_mean(self, row, view, v, v_descale);
    else if (rows == PCAST_MASKED_ROWS_NAN)
        answer_all(self, row, none, (pcast_interval){lse.low, lse.high, 1});
    else
        answer_all(self, row, anything, anything);
}

/* S, or what it may be. */
static pcast_span scale_of(const pcast_reading *reading)
{
    const double scale = (double)reading->kernel.scale;
    return reading->any_scale ? (pcast_span){2, 448} : (pcast_span){scale, scale};
}

/* A log-sum-exp as a fault returns it. */
static pcast_interval answer_lse(const bounding *self, pcast_span lse, pcast_span strength, int nan)
{
    const pcast_fault *fault = self->fault;
    if (lse.low > lse.high)
        return anything;
    if (fault != NULL && fault->lse_factor != 0)
        lse = pcast_span_times(lse, fault->lse_factor);
    if (fault != NULL && fault->lse_offset != 0)
        lse = pcast_span_add(lse, pcast_span_times((pcast_span){pcast_log_f64(strength.low),
                                                                pcast_log_f64(strength.high)},
                                                   fault->lse_offset));
    return (pcast_interval){lse.low, lse.high, nan};
}

static void answer_row(bounding *self, size_t row, const pcast_row_view *view,
                       const pcast_terms *terms, const float *v, double v_descale)
{
    pcast_span lse;
    const pcast_fit fit = pcast_merge(self->reading, view, terms, v, v_descale, self->bounds->dim,
                                      &self->space, &lse);
    const pcast_span strength = scale_of(self->reading);
    const int o_power = self->fault != NULL ? self->fault->o_power : 0;
    const pcast_span factor = o_power > 0   ? strength
                              : o_power < 0 ? (pcast_span){1 / strength.high, 1 / strength.low}
                                            : (pcast_span){1, 1};
    for (size_t c = 0; c < self->bounds->dim; c++) {
        const pcast_span o = pcast_span_multiply(self->space.sum[c], factor);
        self->bounds->o[row * self->bounds->dim + c] =
            fit == PCAST_FIT_FITS      ? (pcast_interval){o.low, o.high, terms->or_nan}
            : fit == PCAST_FIT_UNKNOWN ? anything
            : fit == PCAST_FIT_EMPTY   ? (pcast_interval){0, 0, 1}
            : o.low > 0                ? (pcast_interval){INFINITY, INFINITY, 1}
            : o.high < 0               ? (pcast_interval){-INFINITY, -INFINITY, 1}
                                       : anything;
    }
    self->bounds->lse[row] = answer_lse(self, lse, strength, terms->or_nan);
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
        answer_masked_row(self, row, &view, v, descale(problem->v_descale, kv_head));
        return PCAST_OK;
    }
    if (reads_nan(&view, v, problem->dim)) {
        answer_all(self, row, none, anything);
        return PCAST_OK;
    }
    pcast_terms terms;
    const pcast_status status = pcast_terms_of(self->reading, &view, &terms, err);
    if (status == PCAST_OK) {
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
    const size_t splits = problem->keys + self->reading->kernel.splits + 2;
    self->z = calloc(problem->keys + 1, sizeof *self->z);
    pcast_status status =
        pcast_merge_space_init(&self->space, problem->keys, splits, problem->dim, err);
    if (status == PCAST_OK && self->z == NULL)
        status =
            pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for a row of %zu keys", problem->keys);
    for (size_t row = 0; status == PCAST_OK && row < self->bounds->rows; row++)
        status = bound_row(self, row, err);
    free(self->z);
    pcast_merge_space_free(&self->space);
    return status;
}

pcast_status pcast_bounds_of(const pcast_problem *problem, const pcast_declaration *declaration,
                             size_t index, const pcast_fault *fault, pcast_bounds *bounds,
                             pcast_error *err)
{
    pcast_problem misread = {0};
    pcast_reading reading;
    *bounds = (pcast_bounds){.rows = pcast_problem_rows(problem), .dim = problem->dim};
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
