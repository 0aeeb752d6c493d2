/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One kernel over a batch of attention heads: outputs, log-sum-exp and what they lose. */
#ifndef PCAST_ATTEND_H
#define PCAST_ATTEND_H

#include "pcast/experiment.h"
#include "pcast/softmax.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Order of dimensions: [batch, heads, tokens, dim], or [batch, tokens, heads, dim] as
 * FlashAttention has it. Rank 3 leaves out the batch, rank 2 the heads too. */
typedef enum pcast_layout { PCAST_LAYOUT_BHTD, PCAST_LAYOUT_BTHD } pcast_layout;

enum { PCAST_STAGE_Q = 1, PCAST_STAGE_K = 2, PCAST_STAGE_V = 4, PCAST_STAGE_QKV = 7 };

typedef struct pcast_attend {
    const pcast_tensor *q, *k, *v; /* heads of K and V divide those of Q (grouped queries) */
    pcast_layout layout;
    /* Packed sequences: sequence b holds tokens starts[b] .. starts[b + 1] - 1 of [tokens, heads,
     * dim]; both NULL for a batch in its own dimension. */
    const size_t *q_starts, *k_starts;
    size_t sequences;
    const size_t *kv_lengths; /* [batch] valid keys, the rest is never read; NULL: all */
    /* Scalar, [kv heads], [batch, kv heads]; that of Q also [heads], [batch, heads]. NULL: 1. */
    const pcast_tensor *q_descale, *k_descale, *v_descale;
    const pcast_tensor *learned_sink; /* [heads] logits in nats; NULL: as the kernel says */
    float softmax_scale;              /* 0: 1 / sqrt(dim) */
    /* Inputs as the kernel's fields say: K less its mean, Q and K rotated, and those of Q, K and V
     * in `quantised` cast. What came in 8 bits or with a descale keeps its numbers, and Q and K are
     * rotated together or not at all. 0: inputs as they are. */
    int prepare;
    unsigned quantised; /* PCAST_STAGE_Q | PCAST_STAGE_K | PCAST_STAGE_V */
    /* Only O and the log-sum-exp are wanted: no exact attention, summaries are empty. Of each head
     * every query_step-th query is run, from the first on (0: all); others keep what o and lse
     * hold.
     */
    int outputs_only;
    size_t query_step;
} pcast_attend;

/* What the tensors hold, once checked. */
typedef struct pcast_attend_shape {
    size_t batch, heads, kv_heads, dim, value_dim;
    size_t rows;     /* queries of all sequences, for one head */
    size_t max_keys; /* most keys of a sequence */
    size_t blocks;   /* most KV blocks of a sequence */
    size_t queries;  /* of a sequence where all have the same number, else 0 (packed) */
} pcast_attend_shape;

/* One sequence and head. */
typedef struct pcast_attend_head {
    size_t batch, head, queries, keys;
    uint64_t empty_rows;   /* queries that see no key; left out of the summary */
    pcast_summary summary; /* with no key marked as a sink */
    double lse_error;      /* largest error of the log-sum-exp in nats */
} pcast_attend_head;

/* Called for each visited block of each row, from several threads at once but never for the same
 * row. `row` counts heads * rows: head-major within a sequence as the LSE is stored. */
typedef void pcast_attend_observer(void *context, size_t row, const pcast_tile *tile);

/* Results; o and lse are the caller's. */
typedef struct pcast_attend_result {
    float *o;                        /* as Q, with the channels of V */
    float *lse;                      /* [batch][heads][queries]; packed [heads][tokens] */
    pcast_attend_head *heads;        /* [batch][heads] */
    pcast_attend_observer *observer; /* may be NULL */
    void *observer_context;
} pcast_attend_result;

/* PCAST_ERR_INPUT names the tensor and what does not fit; PCAST_ERR_VALUE a field of the kernel,
 * k_mean where inputs are prepared and a softcap or a learned sink would see the shift. */
pcast_status pcast_attend_check(const pcast_attend *attend, const pcast_kernel *kernel,
                                pcast_attend_shape *shape, pcast_error *err);

/* Runs `run`'s only kernel; its progress, threads and cpu are heeded. PCAST_ERR_MEMORY. */
pcast_status pcast_attend_run(const pcast_attend *attend, const pcast_run *run,
                              const pcast_attend_result *result, pcast_error *err);

/* Numbers 0 .. count - 1 of a synthetic tensor (which: 0 Q, 1 K, 2 V): standard normals, with
 * outliers plus ten times a normal for one in a thousand. */
void pcast_draw_inputs(uint64_t seed, uint32_t which, int outliers, size_t count, float *out);

#ifdef __cplusplus
}
#endif

#endif
