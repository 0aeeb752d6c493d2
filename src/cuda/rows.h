/* SPDX-License-Identifier: MIT */
/* Rows of attention for the strict kernel: what a caller asks for, and the groups of rows that a
 * block of threads works on. The strict kernel does the reference's operations in the reference's
 * order (docs/numerics.md, section 4, FP32 semantics), so all its results have the reference's
 * bits. */
#ifndef PCAST_CUDA_ROWS_H
#define PCAST_CUDA_ROWS_H

#include "cuda/driver.h"
#include "pcast/device.h"
#include "softmax/row.h"

/* Right after a visit. */
typedef struct pcast_row_trace {
    float alpha, m, l;
} pcast_row_trace;

/* Queries of one head. Scores come from q and k, or where q is NULL from products that are given.
 * Outputs beyond o and lse are written where they are not NULL. */
typedef struct pcast_row_job {
    const pcast_plan *plan;
    unsigned rows, dim, value_dim; /* dim: of q and k */
    size_t keys;
    const float *q;              /* [rows][dim] */
    const float *k;              /* [keys][dim] */
    const float *products;       /* [rows][keys] q.k */
    const float *v;              /* [keys][value_dim] */
    const float *v_descale;      /* [KV blocks]; NULL: none */
    const pcast_row_keys *where; /* [rows] */
    float *o;                    /* [rows][value_dim] in the kernel's output format */
    float *lse;                  /* [rows] as the kernel returns it */
    float *p;                    /* [rows][keys] before S and the cast */
    uint32_t *codes;             /* [rows][keys] of the cast P */
    pcast_row_trace *trace;      /* [rows][visit_max] by number of the visit */
    pcast_split *splits;         /* [rows][split_max] */
    size_t visit_max, split_max; /* pcast_row_job_visits, pcast_plan_splits */
} pcast_row_job;

/* At most so many visits has a row of the job. */
size_t pcast_row_job_visits(const pcast_plan *plan, size_t keys);

/* KV blocks of its keys. */
static inline size_t pcast_row_job_blocks(const pcast_row_job *job)
{
    const size_t block = job->plan->kernel.block;
    return job->keys / block + (job->keys % block != 0);
}

enum { PCAST_ROW_THREADS = 128, PCAST_ROWS_MOST = 8 };

/* Rows that make the same visits: the work of one block. */
typedef struct pcast_row_group {
    pcast_row_job job; /* with the pointers of this group's first row */
    const pcast_visit *visits;
    size_t visit_count;
    int weights_outside; /* of shared memory, which is too small */
    float *weights;      /* [2][rows][block] there */
    float *partials;     /* [rows][split_max][value_dim]; NULL for a single split */
} pcast_row_group;

/* The groups of some jobs. */
typedef struct pcast_row_schedule {
    size_t count;
    pcast_row_group *groups; /* [count] */
    size_t shared_bytes;     /* the most that a group needs */
    pcast_visit *visits;
    size_t visit_count;
    float *scratch; /* weights and partials of all groups */
    size_t scratch_count;
    pcast_split *splits; /* of jobs that do not want them */
    size_t split_count;
} pcast_row_schedule;

/* shared_most: bytes of shared memory that a block may have. PCAST_ERR_VALUE: a plan that is not of
 * FP32 semantics, or channels for which shared memory is too small; PCAST_ERR_MEMORY. To be freed
 * in any case. */
pcast_status pcast_row_schedule_init(pcast_row_schedule *schedule, const pcast_row_job *jobs,
                                     size_t count, size_t shared_most, pcast_error *err);
void pcast_row_schedule_free(pcast_row_schedule *schedule);

/* Runs the schedule's kernel on the CPU, each block with an order of its threads of its own.
 * PCAST_ERR_VALUE: a barrier that not all threads reach; PCAST_ERR_MEMORY. */
pcast_status pcast_row_schedule_replay(const pcast_row_schedule *schedule, uint64_t seed,
                                       pcast_error *err);

/* Runs jobs on a device, and waits; threads may share the device. Errors as
 * pcast_row_schedule_init, and PCAST_ERR_UNAVAILABLE where the device fails. */
pcast_status pcast_device_rows(pcast_device *device, const pcast_row_job *jobs, size_t count,
                               pcast_error *err);

/* The same on a GPU that is open. */
pcast_status pcast_cuda_rows(pcast_cuda *cuda, const pcast_row_job *jobs, size_t count,
                             pcast_error *err);

#endif
