/* SPDX-License-Identifier: MIT */
/* The attention kernel against its model: one set of heads for a GPU and for the replay. */
#ifndef PCAST_CUDA_ATTENTION_CHECK_H
#define PCAST_CUDA_ATTENTION_CHECK_H

#include "cuda/attention.h"
#include "cuda/check.h"

/* What Q, K and V hold. */
typedef enum pcast_attention_data {
    PCAST_ATTENTION_RANDOM, /* normals */
    PCAST_ATTENTION_SINKS,  /* the first four keys score far above the others */
    PCAST_ATTENTION_WIDE,   /* scores spread over tens of nats */
    PCAST_ATTENTION_CODES,  /* any finite codes, subnormal ones too */
    PCAST_ATTENTION_NANS,   /* a NaN among the codes of V, in a few keys */
    PCAST_ATTENTION_LOST,   /* the same in K: scores are NaN */
    PCAST_ATTENTION_EQUAL,  /* Q is zero of either sign: all scores are equal */
} pcast_attention_data;

typedef struct pcast_attention_shape {
    unsigned queries, dim;
    size_t keys;
    pcast_mask mask;
    size_t window_left, window_right;
    pcast_attention_data data;
    const char *spec; /* fields of pcast-wgmma */
} pcast_attention_shape;

/* A head, what the model makes of it, and room for the kernel's results. */
typedef struct pcast_attention_head {
    pcast_plan plan;
    pcast_attention_job job;
    uint8_t *q, *k, *v;
    pcast_row_keys *where;
    float *o, *lse, *model_o, *model_lse;
    uint8_t *codes, *model_codes;
} pcast_attention_head;

/* Draws the inputs (from `number`) and runs the model. PCAST_ERR_VALUE, PCAST_ERR_MEMORY. To be
 * freed in any case. */
pcast_status pcast_attention_head_init(pcast_attention_head *head,
                                       const pcast_attention_shape *shape, uint32_t number,
                                       pcast_error *err);
void pcast_attention_head_free(pcast_attention_head *head);

/* Counts and compares every bit of O, log-sum-exp and cast P. */
void pcast_attention_head_compare(const pcast_attention_head *head, const char *name,
                                  pcast_check_result *result);

typedef pcast_status pcast_attention_runner(void *context, const pcast_attention_job *job,
                                            pcast_error *err);

/* All shapes, `repeats` times each; large: also 4096 keys. */
pcast_status pcast_attention_check(pcast_attention_runner *run, void *context, int repeats,
                                   int large, pcast_check_result *result, pcast_error *err);

/* Counts of microseconds: one head of 4096 queries and keys on the attention kernel and on the
 * strict kernel, whose FP32 arithmetic does the same work; the best of five launches each. */
pcast_status pcast_attention_time(pcast_cuda *cuda, pcast_check_result *result, pcast_error *err);

/* On a GPU, a part of `pcast cuda check`. */
extern const pcast_check_part pcast_attention_part;

#endif
