/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Q, K and V of a batch as a kernel reads them: less the mean of K, rotated, quantised
 * (docs/numerics.md, section 9). */
#ifndef PCAST_EXPERIMENT_PREPARE_H
#define PCAST_EXPERIMENT_PREPARE_H

#include "experiment/attend_view.h"

/* A tensor's numbers and the descale of each (token, head). */
typedef struct pcast_quantised {
    float *data;    /* as the tensor, values of codes */
    float *descale; /* [tokens of all sequences][heads]; NULL where nothing was quantised */
} pcast_quantised;

typedef struct pcast_prepared {
    pcast_quantised q, k, v;
    float *v_channel; /* [batch][kv heads][value dim] descales by channel, or NULL */
    float *k_mean;    /* [batch][kv heads][dim] what was subtracted, or NULL */
} pcast_prepared;

/* Copies, transforms and quantises. PCAST_ERR_VALUE where the head dimension has no rotation;
 * PCAST_ERR_MEMORY. */
pcast_status pcast_prepare(const pcast_attend *attend, const pcast_kernel *kernel,
                           pcast_prepared *prepared, pcast_error *err);
void pcast_prepared_free(pcast_prepared *prepared);

/* Index of a token of a sequence among all tokens. */
size_t pcast_token_index(const pcast_view *view, const size_t *starts, size_t batch, size_t token);

#endif
