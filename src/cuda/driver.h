/* SPDX-License-Identifier: MIT */
/* The little of CUDA's driver API that the backend needs, found at run time: nothing is linked, so
 * that one binary serves machines with and without a GPU. */
#ifndef PCAST_CUDA_DRIVER_H
#define PCAST_CUDA_DRIVER_H

#include "pcast/status.h"

#include <stddef.h>
#include <stdint.h>

typedef struct pcast_cuda pcast_cuda; /* a device with the backend's kernels loaded */

/* An address in the device's memory; 0 is none. */
typedef uint64_t pcast_cuda_address;

/* What `pcast cuda info` prints. */
typedef struct pcast_cuda_info {
    char name[256];
    int driver_version;                /* 1000 * major + 10 * minor, of the driver's CUDA */
    int compute_major, compute_minor;  /* the device's compute capability */
    int processors, shared_bytes_most; /* multiprocessors; shared memory that a block may ask for */
    size_t memory;                     /* bytes */
} pcast_cuda_info;

/* Does this build have the kernels? */
int pcast_cuda_built(void);
/* The same for the same kernels (FNV-1a of the module); they are what a result is of. */
uint64_t pcast_cuda_module_hash(void);

/* The first device of compute capability 9.0. PCAST_ERR_UNAVAILABLE: no driver, no such device, or
 * a build without the kernels. *cuda is NULL then. */
pcast_status pcast_cuda_open(pcast_cuda **cuda, pcast_error *err);
void pcast_cuda_close(pcast_cuda *cuda);
const pcast_cuda_info *pcast_cuda_about(const pcast_cuda *cuda);

/* Memory: PCAST_ERR_MEMORY where there is not enough. */
pcast_status pcast_cuda_alloc(pcast_cuda *cuda, size_t bytes, pcast_cuda_address *address,
                              pcast_error *err);
void pcast_cuda_free(pcast_cuda *cuda, pcast_cuda_address address);
pcast_status pcast_cuda_upload(pcast_cuda *cuda, pcast_cuda_address to, const void *from,
                               size_t bytes, pcast_error *err);
pcast_status pcast_cuda_download(pcast_cuda *cuda, void *to, pcast_cuda_address from, size_t bytes,
                                 pcast_error *err);

/* Makes the device the calling thread's, which every thread but the opener's has to do once. */
pcast_status pcast_cuda_enter(pcast_cuda *cuda, pcast_error *err);

/* Runs a kernel of the module by its name, arguments as for cuLaunchKernel, and waits for it. A
 * kernel that fails is PCAST_ERR_UNAVAILABLE with what the driver says. */
pcast_status pcast_cuda_launch(pcast_cuda *cuda, const char *kernel, unsigned blocks,
                               unsigned threads, size_t shared_bytes, void **arguments,
                               pcast_error *err);

/* Seconds that the last launch took, from the call to the end. */
double pcast_cuda_launch_seconds(const pcast_cuda *cuda);

#endif
