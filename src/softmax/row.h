/* SPDX-License-Identifier: MIT */
/* The online softmax of one row, block by block, for callers inside the library that own the loop
 * over blocks. Everything here needs the environment of base/fpenv.h. */
#ifndef PCAST_SOFTMAX_ROW_H
#define PCAST_SOFTMAX_ROW_H

#include "pcast/softmax.h"
#include "softmax/engine.h"

typedef struct pcast_row {
    float m, l;
    size_t dim;
    float *o; /* [dim], the caller's */
} pcast_row;

/* Working memory of one block. */
typedef struct pcast_row_scratch {
    float *scores;   /* [block] copy with masked keys at -Inf */
    float *p;        /* [block] */
    float *p8_value; /* [block] */
    uint8_t *p8;     /* [block] */
} pcast_row_scratch;

/* The range of keys of one block. */
typedef struct pcast_range {
    size_t first, count;
} pcast_range;

pcast_status pcast_row_scratch_init(pcast_row_scratch *scratch, size_t block, pcast_error *err);
void pcast_row_scratch_free(pcast_row_scratch *scratch);

/* Number of blocks of `block` keys that hold keys 0 .. keys - 1. */
size_t pcast_block_count(size_t keys, size_t block);

/* The block visited at position `step` of `steps`, in a row of `keys` keys. */
pcast_range pcast_block_at(const pcast_kernel *kernel, size_t keys, size_t steps, size_t step);

/* m = -Inf, l = 0, O = 0. */
void pcast_row_start(pcast_row *row, float *o, size_t dim);

/* One block: scores[count] and values[count][dim]; the tile points into row and scratch. */
pcast_tile pcast_row_step(const pcast_kernel *kernel, const pcast_engine *engine, pcast_row *row,
                          pcast_range range, const float *scores, const float *values,
                          pcast_row_scratch *scratch);

/* out[dim] = O / (S*l); out may be row->o. */
void pcast_row_finish(const pcast_kernel *kernel, const pcast_row *row, float *out);

/* start, all blocks with a visible key, finish. */
void pcast_row_run(const pcast_kernel *kernel, const pcast_engine *engine,
                   const pcast_row_input *input, pcast_tile_observer *observer, void *context,
                   pcast_row_scratch *scratch, pcast_row_output *output);

#endif
