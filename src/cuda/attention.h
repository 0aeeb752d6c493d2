/* SPDX-License-Identifier: MIT */
/* FP8 attention on the tensor core, as FlashAttention-3 does it but small: the kernel whose model
 * is the preset `pcast-wgmma`. */
#ifndef PCAST_CUDA_ATTENTION_H
#define PCAST_CUDA_ATTENTION_H

#include "cuda/driver.h"
#include "pcast/device.h"
#include "softmax/row.h"

enum {
    PCAST_ATTENTION_THREADS = 128, /* a warpgroup */
    PCAST_ATTENTION_QUERIES = 64,  /* of one of them */
    PCAST_ATTENTION_KEYS = 64,     /* of a KV block */
};

/* Queries of one sequence and head. */
typedef struct pcast_attention_job {
    const pcast_plan *plan;      /* of pcast-wgmma at hardware semantics, with S, order, promotion,
                                    mask and output format of choice */
    unsigned queries, dim;       /* 64, 128 or 256 channels */
    size_t keys;                 /* valid ones */
    const uint8_t *q, *k, *v;    /* [queries][dim], [keys][dim], [keys][dim] E4M3 codes */
    const pcast_row_keys *where; /* [queries] */
    float *o;                    /* [queries][dim] in the output's format */
    float *lse;                  /* [queries] nats */
    uint8_t *codes;              /* [queries][keys] of the cast P, where it is computed; NULL: not
                                    wanted */
} pcast_attention_job;

/* The work of one warpgroup: up to 64 queries. */
typedef struct pcast_attention_group {
    pcast_attention_job job; /* with the pointers of its first query */
    const pcast_visit *visits;
    size_t visit_count;
} pcast_attention_group;

typedef struct pcast_attention_schedule {
    size_t count;
    pcast_attention_group *groups; /* [count] */
    pcast_visit *visits;
    size_t visit_count;
} pcast_attention_schedule;

/* Shared memory of a warpgroup, bytes. */
size_t pcast_attention_shared(unsigned dim);

/* PCAST_ERR_VALUE: a plan or a number of channels that the kernel does not have; PCAST_ERR_MEMORY.
 * To be freed in any case. */
pcast_status pcast_attention_schedule_init(pcast_attention_schedule *schedule,
                                           const pcast_attention_job *job, pcast_error *err);
void pcast_attention_schedule_free(pcast_attention_schedule *schedule);

/* On the CPU, with threads in an order drawn from the seed and the library's model of the tensor
 * core. PCAST_ERR_VALUE: a barrier that not all threads reach, products that are not waited for or
 * not the same in all threads; PCAST_ERR_MEMORY. */
pcast_status pcast_attention_replay(const pcast_attention_schedule *schedule, uint64_t seed,
                                    pcast_error *err);

/* On a device, as pcast_device_rows. */
pcast_status pcast_device_attention(pcast_device *device, const pcast_attention_job *job,
                                    pcast_error *err);

/* On a GPU. */
pcast_status pcast_cuda_attention(pcast_cuda *cuda, const pcast_attention_job *job,
                                  pcast_error *err);

#endif
