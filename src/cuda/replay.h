/* SPDX-License-Identifier: MIT */
/* A kernel's threads on the CPU: each thread of a block a fibre that runs until it must wait, then
 * another one that may go on, chosen at random. Where a result depends on that choice, or on memory
 * that nobody wrote, a barrier is missing; sanitizers see every access. */
#ifndef PCAST_CUDA_REPLAY_H
#define PCAST_CUDA_REPLAY_H

#include "pcast/status.h"

#include <stddef.h>
#include <stdint.h>

typedef struct pcast_replay pcast_replay;

typedef struct pcast_block {
    unsigned thread; /* within the block */
    pcast_replay *replay;
} pcast_block;

/* A kernel's body for one thread; shared is the block's shared memory. */
typedef void pcast_replay_kernel(pcast_block *self, const void *arguments, void *shared);

/* Runs one block of `threads` threads (a multiple of 32) in the order that the seed gives. Shared
 * memory of shared_bytes begins filled with NaN. PCAST_ERR_VALUE: threads wait at different
 * barriers, some have ended while others wait, or what pcast_replay_fail says; PCAST_ERR_MEMORY. */
pcast_status pcast_replay_block(pcast_replay_kernel *kernel, const void *arguments,
                                unsigned threads, size_t shared_bytes, uint64_t seed,
                                pcast_error *err);

/* What a thread shows the others, any pointer; seen after the next barrier. */
void pcast_replay_show(const pcast_block *self, const void *shown);
const void *pcast_replay_shown(const pcast_block *self, unsigned thread);

/* Ends the replay with an error, once: it goes on until then. */
void pcast_replay_fail(const pcast_block *self, const char *what);

/* As in cuda/block.h; file and line name the barrier. */
void pcast_replay_block_sync(const pcast_block *self, const char *file, int line);
void pcast_replay_warp_sync(const pcast_block *self, const char *file, int line);
uint32_t pcast_replay_warp_read(const pcast_block *self, uint32_t x, unsigned from,
                                const char *file, int line);

#endif
