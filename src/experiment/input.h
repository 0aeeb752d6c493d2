/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Q, K or V between its tensor and a kernel: less its mean, rotated, quantised (docs/numerics.md,
 * section 9). What is the same for many tokens is found once; the tokens themselves are changed
 * where they are read, so that no copy of the tensor is held. */
#ifndef PCAST_EXPERIMENT_INPUT_H
#define PCAST_EXPERIMENT_INPUT_H

#include "experiment/attend_view.h"
#include "pcast/quantize.h"
#include "quantize/rotate.h"

typedef struct pcast_input {
    const pcast_tensor *tensor;
    pcast_view view;
    const size_t *starts;    /* of packed sequences, or NULL */
    const size_t *lengths;   /* valid tokens of each sequence, or NULL: all */
    size_t batch;            /* sequences */
    float *mean;             /* [batch][heads][dim] that is subtracted, or NULL */
    pcast_rotation rotation; /* base 0: not rotated */
    /* How it is quantised; not at all where both descale and channel are NULL. */
    pcast_quantized format;
    float range;
    pcast_granularity granularity;
    size_t group;      /* heads that share a scale by KV head */
    size_t block_rows; /* tokens of a block */
    float *descale;    /* [tokens of all sequences][heads] */
    float *channel;    /* [batch][heads][dim], by channel instead */
} pcast_input;

/* Valid tokens of a sequence. */
size_t pcast_input_tokens(const pcast_input *input, size_t batch);

/* x[count][dim]: tokens first .. first + count - 1 of a sequence and head as they were given. */
void pcast_input_load(const pcast_input *input, size_t batch, size_t head, size_t first,
                      size_t count, float *x);

/* The same tokens, loaded, as the kernel reads them. In the library's floating-point environment.
 */
void pcast_input_prepare(const pcast_input *input, size_t batch, size_t head, size_t first,
                         size_t count, float *x);

/* One pass over the tensor, a head at a time, that fills mean and scales. PCAST_ERR_MEMORY. */
pcast_status pcast_input_measure(pcast_input *input, pcast_error *err);

void pcast_input_free(pcast_input *input);

#endif
