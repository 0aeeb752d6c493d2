/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where tokens of heads and sequences lie in a tensor, and the scalars that belong to a head. */
#ifndef PCAST_EXPERIMENT_ATTEND_VIEW_H
#define PCAST_EXPERIMENT_ATTEND_VIEW_H

#include "pcast/attend.h"

/* Strides in elements. */
typedef struct pcast_view {
    size_t batch, heads, tokens, dim; /* tokens: of a sequence, or of all packed ones */
    size_t batch_stride, head_stride, token_stride;
} pcast_view;

/* PCAST_ERR_INPUT where the rank does not fit; name goes into messages. */
pcast_status pcast_view_of(const pcast_attend *attend, const pcast_tensor *tensor, const char *name,
                           pcast_view *view, pcast_error *err);

/* First token of a sequence and number of tokens. */
typedef struct pcast_sequence {
    size_t first, count;
} pcast_sequence;

pcast_sequence pcast_sequence_of(const pcast_view *view, const size_t *starts, size_t batch);

/* Index of a token of a sequence among all tokens. */
size_t pcast_token_index(const pcast_view *view, const size_t *starts, size_t batch, size_t token);

/* Offset of a token of a head; tokens of packed sequences count from the first of all. */
size_t pcast_view_offset(const pcast_view *view, const size_t *starts, size_t batch, size_t head,
                         size_t token);

/* Tokens first .. first + count - 1 of a sequence and head, next to each other in float32. */
void pcast_view_get(const pcast_view *view, const pcast_tensor *tensor, const size_t *starts,
                    size_t batch, size_t head, size_t first, size_t count, float *to);

/* One number of a descale tensor, for a (sequence, head); kv_head for tensors by KV head. */
float pcast_head_scalar(const pcast_tensor *tensor, size_t heads, size_t batch, size_t head,
                        size_t kv_head, size_t kv_heads);

/* Did Q (0), K (1) or V (2) come in 8 bits, or with a descale? Then it stays as it is. */
int pcast_input_given(const pcast_attend *attend, int which);

#endif
