/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Simulating the kernel and every candidate on the same heads (docs/numerics.md, section 7, has the
 * statistics). */
#include "pcast/diagnose.h"

#include "base/error.h"
#include "experiment/head_shape.h"

#include <stdlib.h>
#include <string.h>

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
