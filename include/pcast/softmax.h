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

typedef struct pcast_row_input {
    const float *scores; /* [keys], in nats, already multiplied by the softmax scale */
    const float *values; /* V, [keys][dim] row-major */
    size_t keys;
    size_t dim;
    size_t visible; /* keys 0 .. visible - 1 are unmasked; keys for no mask */
} pcast_row_input;

/* What the kernel held right after one KV block, for an observer. */
typedef struct pcast_tile {
    size_t first_key;
    size_t count;      /* keys in this block, masked ones included */
    float alpha;       /* factor applied to l and O of the earlier blocks */
    float m, l;        /* running maximum and row sum after the block */
    const float *p;    /* [count] probabilities before the cast; 0 for masked keys */
    const uint8_t *p8; /* [count] E4M3 codes of p * S */
    const float *o;    /* [dim] accumulator after the block */
} pcast_tile;

typedef void pcast_tile_observer(void *context, const pcast_tile *tile);

typedef struct pcast_row_output {
    float m, l; /* final running maximum and row sum (before the cast, without S) */
    float *o;   /* [dim], caller's: the attention output, O / (S*l) */
} pcast_row_output;

/* Runs one row. Blocks are keys [j*block, min(keys, (j+1)*block)); blocks without a visible key are
 * not visited. observer may be NULL. A row without a visible key gives m = -Inf, l = 0 and O = NaN
 * (0 / 0). Values of masked keys that share a block with visible ones are multiplied by zero, as in
 * the kernels: an Inf or NaN there reaches O. PCAST_ERR_VALUE for a bad kernel or dim = 0, keys = 0
 * or visible > keys; PCAST_ERR_MEMORY. Source: Algorithm 1 of the paper. */
pcast_status pcast_softmax_row(const pcast_kernel *kernel, pcast_cpu cpu,
                               const pcast_row_input *input, pcast_tile_observer *observer,
                               void *context, pcast_row_output *output, pcast_error *err);

#ifdef __cplusplus
}
#endif

#endif
