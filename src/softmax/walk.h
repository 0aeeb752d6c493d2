/* SPDX-License-Identifier: MIT */
/* The order in which a row visits KV blocks: split by split, in each forward or backward, once or
 * (where P is normalised before the cast) twice. */
#ifndef PCAST_SOFTMAX_WALK_H
#define PCAST_SOFTMAX_WALK_H

#include "pcast/kernel.h"

/* Keys first .. first + count - 1. */
typedef struct pcast_range {
    size_t first, count;
} pcast_range;

typedef struct pcast_visit {
    pcast_range range; /* the block's keys */
    size_t split;
    int begins_split;
    int sums_only; /* the first of two passes: maximum and row sum, no cast */
    int last;      /* of its split and pass */
} pcast_visit;

typedef struct pcast_walk {
    const pcast_kernel *kernel;
    size_t keys; /* of the row; the last block may be short */
    size_t first_block, end_block;
    size_t splits;
    size_t split, step, steps; /* of the current split */
    int pass;
} pcast_walk;

/* Blocks that hold keys from .. to - 1, in a row of `keys` keys; the kernel's block is resolved. */
void pcast_walk_start(pcast_walk *walk, const pcast_kernel *kernel, size_t keys, size_t from,
                      size_t to);

/* The next visit; 0 when there is none. */
int pcast_walk_next(pcast_walk *walk, pcast_visit *visit);

/* All visits, into visits unless that is NULL; returns how many. */
size_t pcast_walk_list(const pcast_kernel *kernel, size_t keys, pcast_range visited,
                       pcast_visit *visits);

/* Do two kernels visit the same blocks in the same order? */
int pcast_same_walk(const pcast_kernel *a, const pcast_kernel *b);

/* The keys that a query aligned with key number `aligned` sees, among `keys`. */
pcast_range pcast_visible_around(const pcast_kernel *kernel, size_t keys, int64_t aligned);

/* The same for a query by its number. */
pcast_range pcast_visible_keys(const pcast_kernel *kernel, size_t queries, size_t keys,
                               size_t query);

/* The keys that its KV blocks must cover: those that any query of its query block sees. */
pcast_range pcast_visited_keys(const pcast_kernel *kernel, size_t queries, size_t keys,
                               size_t query);

#endif
