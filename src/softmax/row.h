/* SPDX-License-Identifier: MIT */
/* The online softmax of one row, block by block, for callers inside the library that own the walk
 * over blocks. Everything here needs the environment of base/fpenv.h. */
#ifndef PCAST_SOFTMAX_ROW_H
#define PCAST_SOFTMAX_ROW_H

#include "pcast/softmax.h"
#include "softmax/plan.h"
#include "softmax/steps.h"
#include "softmax/walk.h"

/* Threads that share a row in the accumulator of a tensor core. */
enum { PCAST_ROW_SUM_THREADS = 4 };

/* V of a block: [keys][dim], and its codes where the plan's kernel reads_codes, else NULL. */
typedef struct pcast_values {
    const float *values;
    const uint8_t *codes;
} pcast_values;

typedef struct pcast_row {
    const pcast_plan *plan;
    size_t dim;
    float m, l;                            /* of the current split */
    float alpha;                           /* of the last block */
    float thread_l[PCAST_ROW_SUM_THREADS]; /* row sums of threads, where sum_order has them */
    double wide_l;                         /* l where sum_order=fp64 */
    size_t split_count;                    /* begun so far */
    int open;                              /* the last of them is not closed */
    int has_sink;                          /* its row sum holds the learned sink */
    size_t split_max;                      /* held by the two arrays */
    pcast_split *splits;                   /* [split_max] */
    float *partials; /* [split_max][dim] normalised outputs of splits; NULL for a single one */
    float *o;        /* [dim] accumulator; after pcast_row_finish the output */
    double *wide;    /* [dim] accumulator where the kernel's is FP64, else NULL */
    const float *v_descale; /* of each KV block, the caller's; NULL: none */
    float tile_descale;     /* of the current one */
    float lse;              /* of the finished row, as the kernel returns it */
} pcast_row;

/* Working memory of one block. */
typedef struct pcast_row_scratch {
    float *scores;   /* [block] copy with masked keys */
    float *p;        /* [block] */
    float *scaled;   /* [block] */
    float *p8_value; /* [block] */
    uint32_t *p8;    /* [block] */
    uint8_t *codes;  /* [block] of P, for a tensor core */
    float *o_tile;   /* [dim] P.V of one tile, where it is promoted */
} pcast_row_scratch;

pcast_status pcast_row_scratch_init(pcast_row_scratch *scratch, size_t block, size_t dim,
                                    pcast_error *err);
void pcast_row_scratch_free(pcast_row_scratch *scratch);

/* A row of up to `keys` keys under a plan, kept by reference; used again for row after row. */
pcast_status pcast_row_init(pcast_row *row, const pcast_plan *plan, size_t keys, size_t dim,
                            pcast_error *err);
void pcast_row_free(pcast_row *row);

void pcast_row_start(pcast_row *row);

/* One block: scores[count] as the plan's kernel reads them and V [count][dim]; the tile points
 * into row and scratch. Visits come from a walk, in its order. A visit for sums only leaves the
 * tile's p8 NULL. */
pcast_tile pcast_row_step(pcast_row *row, const pcast_visit *visit, const float *scores,
                          pcast_values values, pcast_row_scratch *scratch);

/* The same in two parts, for callers that multiply P.V of many rows at once: all but P.V, and P.V.
 * leader is a row of the same front (pcast_plan_same_front) that the same scratch has just weighed
 * on the same visit, whose maximum, factor and P are this row's too; NULL: none. */
pcast_tile pcast_row_weigh(pcast_row *row, const pcast_visit *visit, const float *scores,
                           const pcast_row *leader, pcast_row_scratch *scratch);
void pcast_row_add_values(pcast_row *row, const pcast_tile *tile, pcast_values values,
                          pcast_row_scratch *scratch);

/* Is that P.V the engine's accumulate of row->o, tile->alpha and tile->p8_value, and no more? */
int pcast_row_is_plain(const pcast_row *row);

/* The output into row->o, in the kernel's format, and row->lse; sees_keys is 0 where the mask left
 * the row no key. */
void pcast_row_finish(pcast_row *row, int sees_keys);

/* Keys of a row: those it sees, those its blocks cover. */
typedef struct pcast_row_keys {
    size_t keys;
    pcast_range visible, visited;
} pcast_row_keys;

/* start, every visit with the masked scores at the kernel's mask value, finish. */
void pcast_row_run(pcast_row *row, const pcast_row_keys *keys, const float *scores,
                   pcast_values values, pcast_tile_observer *observer, void *context,
                   pcast_row_scratch *scratch);

#endif
