/* SPDX-License-Identifier: MIT */
/* Arrays of the host's in one piece of a GPU's memory. */
#ifndef PCAST_CUDA_TRANSFER_H
#define PCAST_CUDA_TRANSFER_H

#include "cuda/driver.h"

/* An array and its place. */
typedef struct pcast_region {
    void *host;
    size_t bytes, offset;
    int input, output; /* is copied there before, from there after */
} pcast_region;

typedef struct pcast_transfer {
    pcast_region *regions; /* [count], the caller's, with room */
    size_t count, bytes;
    pcast_cuda_address base;
} pcast_transfer;

/* Adds an array, unless it is NULL or there already. */
void pcast_transfer_add(pcast_transfer *all, const void *host, size_t bytes, int input, int output);

/* The GPU's address of something in one of the arrays; 0 for NULL. */
pcast_cuda_address pcast_transfer_address(const pcast_transfer *all, const void *host);

/* Turns a pointer into the GPU's: it has 64 bits on both sides. */
#define PCAST_TRANSFER_MOVE(all, pointer)                                                          \
    ((pointer) = (void *)(uintptr_t)pcast_transfer_address(all, (const void *)(pointer)))

/* A kernel whose one argument is the address of an array: of the groups of its blocks. */
typedef struct pcast_transfer_kernel {
    const char *name;
    const void *groups;
    size_t blocks, shared_bytes;
    unsigned threads;
} pcast_transfer_kernel;

/* Copies inputs there, runs the kernel, copies outputs from there. Errors as those of driver.h. */
pcast_status pcast_transfer_run(pcast_cuda *cuda, const pcast_transfer *all,
                                pcast_transfer_kernel kernel, pcast_error *err);

#endif
