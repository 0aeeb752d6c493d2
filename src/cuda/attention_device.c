/* SPDX-License-Identifier: MIT */
/* The attention kernel on a GPU. */
#include "cuda/attention.h"

#include "base/error.h"
#include "cuda/transfer.h"

#include <stdio.h>
#include <stdlib.h>

enum { REGIONS = 11 };

static void list_regions(pcast_transfer *all, const pcast_attention_schedule *schedule,
                         const pcast_attention_job *job, const pcast_attention_group *moved)
{
    const size_t queries = job->queries, keys = job->keys, dim = job->dim;
    pcast_transfer_add(all, job->plan, sizeof *job->plan, 1, 0);
    pcast_transfer_add(all, job->q, queries * dim, 1, 0);
    pcast_transfer_add(all, job->k, keys * dim, 1, 0);
    pcast_transfer_add(all, job->v, keys * dim, 1, 0);
    pcast_transfer_add(all, job->where, queries * sizeof *job->where, 1, 0);
    pcast_transfer_add(all, job->o, queries * dim * sizeof *job->o, 0, 1);
    pcast_transfer_add(all, job->lse, queries * sizeof *job->lse, 0, 1);
    /* Keys that no visit reaches keep what the caller has there. */
    pcast_transfer_add(all, job->codes, queries * keys, 1, 1);
    pcast_transfer_add(all, schedule->visits,
                       (schedule->visit_count + 1) * sizeof *schedule->visits, 1, 0);
    pcast_transfer_add(all, moved, schedule->count * sizeof *moved, 1, 0);
}

static pcast_attention_group move_group(const pcast_transfer *all, pcast_attention_group group)
{
    PCAST_TRANSFER_MOVE(all, group.job.plan);
    PCAST_TRANSFER_MOVE(all, group.job.q);
    PCAST_TRANSFER_MOVE(all, group.job.k);
    PCAST_TRANSFER_MOVE(all, group.job.v);
    PCAST_TRANSFER_MOVE(all, group.job.where);
    PCAST_TRANSFER_MOVE(all, group.job.o);
    PCAST_TRANSFER_MOVE(all, group.job.lse);
    PCAST_TRANSFER_MOVE(all, group.job.codes);
    PCAST_TRANSFER_MOVE(all, group.visits);
    return group;
}

static pcast_status run_schedule(pcast_cuda *cuda, const pcast_attention_schedule *schedule,
                                 const pcast_attention_job *job, pcast_error *err)
{
    pcast_region regions[REGIONS];
    pcast_transfer all = {.regions = regions};
    pcast_attention_group *moved = calloc(schedule->count, sizeof *moved);
    if (moved == NULL)
        return pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for %zu groups of queries",
                          schedule->count);
    char kernel[32];
    snprintf(kernel, sizeof kernel, "pcast_attention_%u", job->dim);
    list_regions(&all, schedule, job, moved);
    pcast_status status = pcast_cuda_alloc(cuda, all.bytes, &all.base, err);
    if (status == PCAST_OK) {
        for (size_t g = 0; g < schedule->count; g++)
            moved[g] = move_group(&all, schedule->groups[g]);
        status = pcast_transfer_run(cuda, &all,
                                    (pcast_transfer_kernel){kernel, moved, schedule->count,
                                                            pcast_attention_shared(job->dim),
                                                            PCAST_ATTENTION_THREADS},
                                    err);
        pcast_cuda_free(cuda, all.base);
    }
    free(moved);
    return status;
}

pcast_status pcast_cuda_attention(pcast_cuda *cuda, const pcast_attention_job *job,
                                  pcast_error *err)
{
    pcast_attention_schedule schedule;
    pcast_status status = pcast_attention_schedule_init(&schedule, job, err);
    if (status == PCAST_OK)
        status = pcast_cuda_enter(cuda, err);
    if (status == PCAST_OK && schedule.count > 0)
        status = run_schedule(cuda, &schedule, job, err);
    pcast_attention_schedule_free(&schedule);
    return status;
}
