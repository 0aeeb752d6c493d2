/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Simulating the kernel and every candidate on the same heads, and choosing. */
#include "pcast/diagnose.h"

#include "base/bits.h"
#include "base/error.h"
#include "experiment/head_shape.h"

#include <math.h>
#include <stdlib.h>

size_t pcast_candidates(const pcast_kernel *kernel, pcast_candidate *candidates)
{
    static const float scales[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 448};
    static const float taus[] = {0, 0.75f, 2, 4, 8};
    size_t count = 0;
    for (int order = 0; order < 2; order++)
        for (size_t s = 0; s < sizeof scales / sizeof scales[0]; s++)
            for (size_t t = 0; t < sizeof taus / sizeof taus[0]; t++) {
                const pcast_candidate one = {(pcast_order)order, scales[s], taus[t]};
                const pcast_kernel changed = pcast_candidate_kernel(kernel, &one);
                if (pcast_kernel_validate(&changed, NULL) == PCAST_OK)
                    candidates[count++] = one;
            }
    return count;
}

pcast_kernel pcast_candidate_kernel(const pcast_kernel *kernel, const pcast_candidate *candidate)
{
    pcast_kernel changed = *kernel;
    changed.order = candidate->order;
    changed.scale = candidate->scale;
    changed.scale_log2 = 0;
    changed.rescale_threshold = candidate->tau;
    changed.threshold_unit = PCAST_THRESHOLD_LOG2;
    changed.out_format = PCAST_OUTPUT_F32;
    return changed;
}

static double headroom(const pcast_kernel *kernel, const pcast_candidate *candidate)
{
    const uint64_t largest = pcast_format_largest(kernel->p_format);
    return log2(pcast_decode_f64(kernel->p_format, largest)) - log2((double)candidate->scale) -
           (double)candidate->tau;
}

/* Among equals, also on the row that suits them least: no stale maximum before a stale one, then
 * the larger headroom. */
static int preferred(const pcast_kernel *kernel, const pcast_candidate *a, const pcast_candidate *b)
{
    if (a->tau != b->tau)
        return a->tau < b->tau;
    return headroom(kernel, a) > headroom(kernel, b);
}

double pcast_error_ratio(double error, double least)
{
    const double rounding = 0x1p-24;
    if (isnan(error))
        return error;
    return fmax(error, rounding) / fmax(least, rounding);
}

pcast_choice pcast_choose(const pcast_kernel *kernel, const pcast_candidate *candidates,
                          size_t count, const double *errors, size_t rows)
{
    double regret[PCAST_CANDIDATES_MAX] = {0}, worst[PCAST_CANDIDATES_MAX] = {0}, least = INFINITY;
    for (size_t r = 0; r < rows; r++) {
        const double *row = errors + r * count;
        double best = INFINITY;
        for (size_t i = 0; i < count; i++)
            best = row[i] < best ? row[i] : best;
        for (size_t i = 0; i < count; i++) { /* a NaN is no choice */
            const double ratio = isnan(row[i]) ? INFINITY : pcast_error_ratio(row[i], best);
            regret[i] += ratio;
            worst[i] = fmax(worst[i], ratio);
        }
    }
    for (size_t i = 0; i < count; i++)
        least = regret[i] < least ? regret[i] : least;
    pcast_choice choice = {.best = count};
    for (size_t i = 0; i < count; i++) {
        if (!(regret[i] <= least * (1 + PCAST_CHOICE_TIE)))
            continue;
        choice.ties++;
        const int better =
            choice.best < count && worst[i] < worst[choice.best] * (1 - PCAST_CHOICE_TIE);
        const int worse =
            choice.best < count && worst[choice.best] < worst[i] * (1 - PCAST_CHOICE_TIE);
        if (choice.best == count || better ||
            (!worse && preferred(kernel, &candidates[i], &candidates[choice.best])))
            choice.best = i;
    }
    if (choice.best == count)
        choice.best = 0;
    for (size_t r = 0; r < rows; r++)
        choice.error += errors[r * count + choice.best] / (double)rows;
    choice.headroom = headroom(kernel, &candidates[choice.best]);
    return choice;
}

/* What one call holds. */
typedef struct diagnosis_run {
    pcast_candidate candidates[PCAST_CANDIDATES_MAX];
    pcast_kernel kernels[PCAST_CANDIDATES_MAX + 1]; /* the kernel itself last */
    size_t count;
    pcast_head *heads;
    pcast_summary *summaries; /* [heads][count + 1] */
    double *errors;           /* [heads][count] */
} diagnosis_run;

static void finish_head(const diagnosis_run *self, const pcast_kernel *kernel, size_t head,
                        pcast_diagnosis *diagnosis)
{
    const pcast_summary *own = self->summaries + head * (self->count + 1);
    double *errors = self->errors + head * self->count;
    for (size_t i = 0; i < self->count; i++)
        errors[i] = own[i].rel_l2;
    diagnosis->head = self->heads[head];
    diagnosis->simulated = own[self->count];
    diagnosis->choice = pcast_choose(kernel, self->candidates, self->count, errors, 1);
}

pcast_status pcast_diagnose(const pcast_heads *experiment, const pcast_run *run,
                            pcast_diagnosis *diagnoses, double *errors, pcast_error *err)
{
    const pcast_kernel *kernel = &run->kernels[0];
    const pcast_tensor *rows = experiment->scores != NULL ? experiment->scores : experiment->q;
    const size_t heads = rows->rank > 0 ? rows->shape[0] : 0;
    pcast_status status = pcast_kernel_validate(kernel, err);
    if (status != PCAST_OK)
        return status;
    diagnosis_run *self = calloc(1, sizeof *self);
    if (self == NULL)
        return pcast_fail(err, PCAST_ERR_MEMORY, "out of memory");
    self->count = pcast_candidates(kernel, self->candidates);
    for (size_t i = 0; i < self->count; i++)
        self->kernels[i] = pcast_candidate_kernel(kernel, &self->candidates[i]);
    self->kernels[self->count] = *kernel;
    self->heads = calloc(heads, sizeof *self->heads);
    self->summaries = calloc(heads * (self->count + 1), sizeof *self->summaries);
    self->errors = calloc(heads * self->count, sizeof *self->errors);
    if (heads > 0 && (self->heads == NULL || self->summaries == NULL || self->errors == NULL))
        status = pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for %zu heads", heads);
    pcast_run all = *run;
    all.kernels = self->kernels;
    all.kernel_count = self->count + 1;
    for (size_t h = 0; status == PCAST_OK && h < heads; h++)
        self->heads[h].sinks = diagnoses[h].head.sinks;
    if (status == PCAST_OK)
        status = pcast_heads_run(experiment, &all, self->heads, self->summaries, err);
    for (size_t h = 0; status == PCAST_OK && h < heads; h++) {
        finish_head(self, kernel, h, &diagnoses[h]);
        status = pcast_head_shape_of(experiment, kernel, run->cpu, h, diagnoses[h].head.sinks,
                                     &diagnoses[h].shape, err);
    }
    if (status == PCAST_OK && errors != NULL)
        memcpy(errors, self->errors, heads * self->count * sizeof *errors);
    free(self->heads);
    free(self->summaries);
    free(self->errors);
    free(self);
    return status;
}
