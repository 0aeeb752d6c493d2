/* SPDX-License-Identifier: MIT */
/* The online softmax of one query row, as an FP8 kernel computes it (docs/numerics.md, section 4).
 */
#ifndef PCAST_SOFTMAX_H
#define PCAST_SOFTMAX_H

#include "pcast/cpu.h"
#include "pcast/kernel.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What one head adds to its kernel. */
typedef struct pcast_head_scales {
    float softmax_scale; /* of Q.K, above 0 */
    float qk_descale;    /* product of the descales of Q and K, above 0; 1: none */
    float v_descale;     /* 1: none */
    int sink_given;      /* a learned sink takes part, with this logit in nats */
    float sink_logit;
} pcast_head_scales;

typedef struct pcast_row_input {
    const float *scores; /* [keys], in nats, already multiplied by the softmax scale */
    const float *values; /* V, [keys][dim] row-major */
    size_t keys;
    size_t dim;
    size_t visible;       /* keys first_visible .. visible - 1 are unmasked; keys for no mask */
    size_t first_visible; /* 0 for no window */
} pcast_row_input;

/* What the kernel held right after one KV block, for an observer. A NaN's sign and payload are the
 * processor's own here. */
typedef struct pcast_tile {
    size_t first_key;
    size_t count;          /* keys in this block, masked ones included */
    size_t first_visible;  /* index within the block of the first unmasked key */
    size_t visible;        /* unmasked keys of the block */
    size_t split;          /* 0 without splits */
    float alpha;           /* factor applied to l and O of the split's earlier blocks */
    float m, l;            /* running maximum and row sum of the split after the block */
    const float *p;        /* [count] what the exponential gave (with S where S is in the exponent),
                              divided by l where P is normalised before the cast */
    const float *scaled;   /* [count] what was cast: p * S */
    const uint32_t *p8;    /* [count] codes of it in p_format */
    const float *p8_value; /* [count] the values of these codes */
    const float *o;        /* [dim] accumulator after the block */
} pcast_tile;

typedef void pcast_tile_observer(void *context, const pcast_tile *tile);

/* A NaN is 0x7FC00000. */
typedef struct pcast_row_output {
    float m, l; /* final running maximum and row sum, of the last split */
    float lse;  /* log-sum-exp of the row, in nats or in base 2 as the kernel says */
    float *o;   /* [dim], caller's: the attention output */
} pcast_row_output;

/* Runs one row; under hardware semantics V is rounded to the format that the kernel reads. Scores
 * count as raw ones with a softmax scale of 1. Blocks are keys [j*block, min(keys, (j+1)*block));
 * blocks without a visible key are not visited. observer may be NULL. Values of masked keys that
 * share a block with visible ones are multiplied by zero, as in the kernels: an Inf or NaN there
 * reaches O. The kernel's mask is not applied: `visible` is. PCAST_ERR_VALUE for a bad kernel or
 * dim = 0, keys = 0 or visible > keys; PCAST_ERR_MEMORY. Source: Algorithm 1 of the paper, and
 * docs/kernels.md for the fields beyond it. */
pcast_status pcast_softmax_row(const pcast_kernel *kernel, pcast_cpu cpu,
                               const pcast_row_input *input, pcast_tile_observer *observer,
                               void *context, pcast_row_output *output, pcast_error *err);

#ifdef __cplusplus
}
#endif

#endif
