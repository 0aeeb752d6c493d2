/* SPDX-License-Identifier: MIT */
/* The strict kernel against the reference: one set of heads for a GPU and for the replay. */
#ifndef PCAST_CUDA_STRICT_H
#define PCAST_CUDA_STRICT_H

#include "cuda/check.h"
#include "cuda/rows.h"

typedef struct pcast_strict_shape {
    unsigned queries, dim, value_dim;
    size_t keys;
    pcast_mask mask;
    size_t window_left, window_right, splits;
    double logits; /* standard deviation of scores; 0: zeros of both signs, infinities and NaN */
    int sink;
} pcast_strict_shape;

/* All results of a job. */
typedef struct pcast_strict_results {
    float *o, *lse, *p;
    uint32_t *codes;
    pcast_row_trace *trace;
    pcast_split *splits;
} pcast_strict_results;

/* A head: what it reads, what the reference makes of it, and room for the device's results. */
typedef struct pcast_strict_head {
    pcast_plan plan;
    unsigned rows, dim, value_dim;
    size_t keys, visit_max, split_max;
    float *q, *k, *v, *products, *v_descale;
    pcast_row_keys *where;
    pcast_strict_results device, reference;
} pcast_strict_head;

/* Draws the head's inputs (from `number`) and runs the reference. PCAST_ERR_VALUE: the kernel
 * cannot have the shape; PCAST_ERR_MEMORY. To be freed in any case. */
pcast_status pcast_strict_head_init(pcast_strict_head *head, const pcast_kernel *kernel,
                                    const pcast_strict_shape *shape, uint32_t number,
                                    pcast_error *err);
void pcast_strict_head_free(pcast_strict_head *head);

/* The job whose results go to head->device, which holds nothing that a result could be; given: from
 * products rather than Q and K. */
pcast_row_job pcast_strict_head_job(pcast_strict_head *head, int given);

/* Counts and compares every bit of the results. */
void pcast_strict_head_compare(const pcast_strict_head *head, const char *name,
                               pcast_check_result *result);

/* Runs a job: on a device, or as a replay. */
typedef pcast_status pcast_strict_runner(void *context, const pcast_row_job *job, pcast_error *err);

/* Every preset, and settings that no preset has, on ragged lengths, masks, windows, sinks and
 * splits, with the usual channels; large: also 4096 keys. Each head is run `repeats` times. */
pcast_status pcast_strict_check(pcast_strict_runner *run, void *context, int repeats, int large,
                                pcast_check_result *result, pcast_error *err);

/* On a GPU, a part of `pcast cuda check`. */
extern const pcast_check_part pcast_strict_part;

#endif
