/* SPDX-License-Identifier: MIT */
/* Jobs on a GPU: their arrays are laid out in one piece of its memory, and groups point there. */
#include "pcast/device.h"

#include "base/error.h"
#include "cuda/attention.h"
#include "cuda/layout.h"
#include "cuda/rows.h"
#include "cuda/transfer.h"

#include <stdlib.h>

enum { SHARED_MOST = 227 << 10, ARRAYS = 13 };

static void add_job(pcast_transfer *all, const pcast_row_job *job)
{
    const size_t rows = job->rows, number = sizeof(float);
    pcast_transfer_add(all, job->plan, sizeof *job->plan, 1, 0);
    pcast_transfer_add(all, job->q, rows * job->dim * number, 1, 0);
    pcast_transfer_add(all, job->k, job->keys * job->dim * number, 1, 0);
    pcast_transfer_add(all, job->products, rows * job->keys * number, 1, 0);
    pcast_transfer_add(all, job->v, job->keys * job->value_dim * number, 1, 0);
    if (job->v_descale != NULL)
        pcast_transfer_add(all, job->v_descale, pcast_row_job_blocks(job) * number, 1, 0);
    pcast_transfer_add(all, job->where, rows * sizeof *job->where, 1, 0);
    pcast_transfer_add(all, job->o, rows * job->value_dim * number, 0, 1);
    pcast_transfer_add(all, job->lse, rows * number, 0, 1);
    /* Keys and splits that no visit reaches keep what the caller has there. */
    pcast_transfer_add(all, job->p, rows * job->keys * number, 1, 1);
    pcast_transfer_add(all, job->codes, rows * job->keys * sizeof *job->codes, 1, 1);
    pcast_transfer_add(all, job->trace, rows * job->visit_max * sizeof *job->trace, 1, 1);
    pcast_transfer_add(all, job->splits, rows * job->split_max * sizeof *job->splits, 1, 1);
}

static pcast_row_group move_group(const pcast_transfer *all, pcast_row_group group)
{
    PCAST_TRANSFER_MOVE(all, group.job.plan);
    PCAST_TRANSFER_MOVE(all, group.job.q);
    PCAST_TRANSFER_MOVE(all, group.job.k);
    PCAST_TRANSFER_MOVE(all, group.job.products);
    PCAST_TRANSFER_MOVE(all, group.job.v);
    PCAST_TRANSFER_MOVE(all, group.job.v_descale);
    PCAST_TRANSFER_MOVE(all, group.job.where);
    PCAST_TRANSFER_MOVE(all, group.job.o);
    PCAST_TRANSFER_MOVE(all, group.job.lse);
    PCAST_TRANSFER_MOVE(all, group.job.p);
    PCAST_TRANSFER_MOVE(all, group.job.codes);
    PCAST_TRANSFER_MOVE(all, group.job.trace);
    PCAST_TRANSFER_MOVE(all, group.job.splits);
    PCAST_TRANSFER_MOVE(all, group.visits);
    PCAST_TRANSFER_MOVE(all, group.weights);
    PCAST_TRANSFER_MOVE(all, group.partials);
    return group;
}

static void list_regions(pcast_transfer *all, const pcast_row_schedule *schedule,
                         const pcast_row_job *jobs, size_t count, const pcast_row_group *moved)
{
    for (size_t j = 0; j < count; j++)
        add_job(all, &jobs[j]);
    pcast_transfer_add(all, schedule->visits,
                       (schedule->visit_count + 1) * sizeof *schedule->visits, 1, 0);
    pcast_transfer_add(all, schedule->scratch,
                       (schedule->scratch_count + 1) * sizeof *schedule->scratch, 0, 0);
    pcast_transfer_add(all, schedule->splits,
                       (schedule->split_count + 1) * sizeof *schedule->splits, 0, 0);
    pcast_transfer_add(all, moved, schedule->count * sizeof *moved, 1, 0);
}

static pcast_status run_schedule(pcast_cuda *cuda, const pcast_row_schedule *schedule,
                                 const pcast_row_job *jobs, size_t count, pcast_error *err)
{
    pcast_row_group *moved = calloc(schedule->count + 1, sizeof *moved);
    pcast_transfer all = {.regions = calloc(count * ARRAYS + 4, sizeof *all.regions)};
    pcast_status status = PCAST_OK;
    if (moved == NULL || all.regions == NULL) {
        status = pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for %zu jobs", count);
    } else {
        list_regions(&all, schedule, jobs, count, moved);
        status = pcast_cuda_alloc(cuda, all.bytes, &all.base, err);
    }
    if (status == PCAST_OK) {
        for (size_t g = 0; g < schedule->count; g++)
            moved[g] = move_group(&all, schedule->groups[g]);
        status =
            pcast_transfer_run(cuda, &all,
                               (pcast_transfer_kernel){"pcast_row_kernel", moved, schedule->count,
                                                       schedule->shared_bytes, PCAST_ROW_THREADS},
                               err);
        pcast_cuda_free(cuda, all.base);
    }
    free(moved);
    free(all.regions);
    return status;
}

pcast_status pcast_cuda_rows(pcast_cuda *cuda, const pcast_row_job *jobs, size_t count,
                             pcast_error *err)
{
    pcast_row_schedule schedule;
    pcast_status status = pcast_row_schedule_init(
        &schedule, jobs, count, (size_t)pcast_cuda_about(cuda)->shared_bytes_most, err);
    if (status == PCAST_OK)
        status = pcast_cuda_enter(cuda, err);
    if (status == PCAST_OK && schedule.count > 0)
        status = run_schedule(cuda, &schedule, jobs, count, err);
    pcast_row_schedule_free(&schedule);
    return status;
}

/* ---- Devices ---- */

struct pcast_device {
    pcast_cuda *cuda; /* NULL: a replay */
    uint64_t seed;    /* of the next one */
};

pcast_status pcast_device_open(pcast_device_kind kind, pcast_device **device, pcast_error *err)
{
    pcast_status status = PCAST_OK;
    *device = calloc(1, sizeof **device);
    if (*device == NULL)
        return pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for a device");
    if (kind == PCAST_DEVICE_CUDA)
        status = pcast_cuda_open(&(*device)->cuda, err);
    if (status != PCAST_OK) {
        free(*device);
        *device = NULL;
    }
    return status;
}

void pcast_device_close(pcast_device *device)
{
    if (device == NULL)
        return;
    if (device->cuda != NULL)
        pcast_cuda_close(device->cuda);
    free(device);
}

static pcast_status replay(const pcast_row_job *jobs, size_t count, uint64_t seed, pcast_error *err)
{
    pcast_row_schedule schedule;
    pcast_status status = pcast_row_schedule_init(&schedule, jobs, count, SHARED_MOST, err);
    if (status == PCAST_OK)
        status = pcast_row_schedule_replay(&schedule, seed, err);
    pcast_row_schedule_free(&schedule);
    return status;
}

/* Far enough from the last one for all blocks of a job. */
static uint64_t next_seed(pcast_device *device)
{
    uint64_t seed;
#pragma omp atomic capture
    seed = device->seed++;
    return seed << 20;
}

pcast_status pcast_device_rows(pcast_device *device, const pcast_row_job *jobs, size_t count,
                               pcast_error *err)
{
    pcast_status status = PCAST_OK;
    if (device->cuda == NULL)
        return replay(jobs, count, next_seed(device), err);
#pragma omp critical(pcast_device)
    status = pcast_cuda_rows(device->cuda, jobs, count, err);
    return status;
}

static pcast_status replay_attention(const pcast_attention_job *job, uint64_t seed,
                                     pcast_error *err)
{
    pcast_attention_schedule schedule;
    pcast_status status = pcast_attention_schedule_init(&schedule, job, err);
    if (status == PCAST_OK)
        status = pcast_attention_replay(&schedule, seed, err);
    pcast_attention_schedule_free(&schedule);
    return status;
}

pcast_status pcast_device_attention(pcast_device *device, const pcast_attention_job *job,
                                    pcast_error *err)
{
    pcast_status status = PCAST_OK;
    if (device->cuda == NULL)
        return replay_attention(job, next_seed(device), err);
#pragma omp critical(pcast_device)
    status = pcast_cuda_attention(device->cuda, job, err);
    return status;
}
