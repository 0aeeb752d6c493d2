/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jobs for a device, one for each kernel and with a row for each Delta, and its blocks as the CPU
 * would have shown them. */
#include "experiment/synthetic_device.h"

#include "base/error.h"
#include "cuda/rows.h"

#include <stdlib.h>
#include <string.h>

/* What all kernels read. */
typedef struct inputs {
    float *products, *v;   /* [deltas][keys], [keys][dim] */
    pcast_row_keys *where; /* [deltas] */
} inputs;

static void inputs_free(inputs *in)
{
    free(in->products);
    free(in->v);
    free(in->where);
}

/* The trial's draws, block by block. */
static pcast_status inputs_init(inputs *in, const pcast_synthetic_state *self,
                                pcast_workspace *space, pcast_error *err)
{
    const pcast_synthetic *experiment = self->experiment;
    const size_t keys = experiment->keys, dim = experiment->dim;
    const size_t deltas = space->end_delta - space->first_delta;
    in->products = malloc((deltas * keys + 1) * sizeof *in->products);
    in->v = malloc(keys * dim * sizeof *in->v);
    in->where = malloc((deltas + 1) * sizeof *in->where);
    if (in->products == NULL || in->v == NULL || in->where == NULL)
        return pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for rows of %zu keys", keys);
    for (size_t first = 0; first < keys; first += self->block) {
        const pcast_range range = {first, keys - first < self->block ? keys - first : self->block};
        const double *normals = pcast_draws_normals(&space->draws, first, range.count);
        for (size_t d = 0; d < deltas; d++)
            pcast_fill_scores(in->products + d * keys + first, normals, range, experiment,
                              experiment->deltas[space->first_delta + d]);
        memcpy(in->v + first * dim, pcast_draws_values(&space->draws, first, range.count),
               range.count * dim * sizeof *in->v);
    }
    for (size_t d = 0; d < deltas; d++)
        in->where[d] = (pcast_row_keys){keys, {0, keys}, {0, keys}};
    return PCAST_OK;
}

static void job_free(pcast_row_job *job)
{
    free(job->o);
    free(job->lse);
    free(job->p);
    free(job->codes);
    free(job->trace);
    free(job->splits);
}

static pcast_status job_init(pcast_row_job *job, const pcast_synthetic_state *self, size_t kernel,
                             const inputs *in, size_t rows, pcast_error *err)
{
    const size_t keys = self->experiment->keys, dim = self->experiment->dim;
    const pcast_plan *plan = &self->plans[kernel];
    *job = (pcast_row_job){.plan = plan,
                           .rows = (unsigned)rows,
                           .dim = 1, /* there is no Q */
                           .value_dim = (unsigned)dim,
                           .keys = keys,
                           .products = in->products,
                           .v = in->v,
                           .where = in->where,
                           .visit_max = pcast_row_job_visits(plan, keys),
                           .split_max = pcast_plan_splits(plan, keys)};
    job->o = malloc((rows * dim + 1) * sizeof *job->o);
    job->lse = malloc((rows + 1) * sizeof *job->lse);
    job->p = calloc(rows * keys + 1, sizeof *job->p);
    job->codes = calloc(rows * keys + 1, sizeof *job->codes);
    job->trace = calloc(rows * job->visit_max + 1, sizeof *job->trace);
    job->splits = calloc(rows * job->split_max + 1, sizeof *job->splits);
    if (job->o == NULL || job->lse == NULL || job->p == NULL || job->codes == NULL ||
        job->trace == NULL || job->splits == NULL)
        return pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for rows of %zu keys", keys);
    return PCAST_OK;
}

/* One block of one row, as a row on the CPU leaves it. */
static void meter_visit(pcast_workspace *space, const pcast_synthetic_state *self,
                        const pcast_row_job *job, size_t row, const pcast_visit *visit,
                        const pcast_row_trace *trace, pcast_loss_meter *meter)
{
    const pcast_plan *plan = job->plan;
    const size_t first = visit->range.first, count = visit->range.count;
    const float *p = job->p + row * job->keys + first;
    const uint32_t *codes = job->codes + row * job->keys + first;
    for (size_t i = 0; i < count; i++) {
        space->scratch.scaled[i] = p[i] * plan->after;
        space->scratch.p8_value[i] = pcast_decode_f32(plan->kernel.p_format, codes[i]);
    }
    const pcast_tile tile = {.first_key = first,
                             .count = count,
                             .visible = count,
                             .split = visit->split,
                             .alpha = trace->alpha,
                             .m = trace->m,
                             .l = trace->l,
                             .p = p,
                             .scaled = space->scratch.scaled,
                             .p8 = codes,
                             .p8_value = space->scratch.p8_value};
    pcast_loss_tile(meter, &tile, space->is_sink + (first == 0 ? 0 : self->block));
}

static void take_row(const pcast_synthetic_state *self, pcast_workspace *space,
                     const pcast_row_job *job, size_t row, size_t config)
{
    const size_t keys = job->keys, dim = job->value_dim;
    pcast_row *own = &space->rows[config];
    const pcast_row_trace *trace = job->trace + row * job->visit_max;
    pcast_walk walk;
    pcast_visit visit = {{0, 0}, 0, 0, 0, 0};
    pcast_walk_start(&walk, &job->plan->kernel, keys, 0, keys);
    for (; pcast_walk_next(&walk, &visit); trace++)
        if (!visit.sums_only)
            meter_visit(space, self, job, row, &visit, trace, &space->meters[config]);
    own->split_count = visit.split + 1;
    memcpy(own->splits, job->splits + row * job->split_max, own->split_count * sizeof *own->splits);
    memcpy(own->o, job->o + row * dim, dim * sizeof *own->o);
    own->lse = job->lse[row];
}

pcast_status pcast_synthetic_on_device(const pcast_synthetic_state *self, pcast_workspace *space,
                                       pcast_error *err)
{
    const size_t kernels = self->run->kernel_count, deltas = self->experiment->delta_count;
    const size_t rows = space->end_delta - space->first_delta;
    inputs in = {0};
    pcast_row_job *jobs = calloc(kernels, sizeof *jobs);
    pcast_status status =
        jobs != NULL ? inputs_init(&in, self, space, err)
                     : pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for %zu kernels", kernels);
    for (size_t n = 0; status == PCAST_OK && n < kernels; n++)
        status = job_init(&jobs[n], self, n, &in, rows, err);
    if (status == PCAST_OK)
        status = pcast_device_rows(self->run->device, jobs, kernels, err);
    for (size_t n = 0; status == PCAST_OK && n < kernels; n++)
        for (size_t d = 0; d < rows; d++)
            take_row(self, space, &jobs[n], d, n * deltas + space->first_delta + d);
    for (size_t n = 0; jobs != NULL && n < kernels; n++)
        job_free(&jobs[n]);
    free(jobs);
    inputs_free(&in);
    return status;
}
