/* SPDX-License-Identifier: MIT */
/* Where rows are run that are not run by the CPU's own loops: a GPU, or the GPU's kernel replayed
 * on the CPU. Both give the CPU's bits, under FP32 semantics alone. */
#ifndef PCAST_DEVICE_H
#define PCAST_DEVICE_H

#include "pcast/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pcast_device_kind {
    PCAST_DEVICE_CUDA,   /* the first GPU of compute capability 9.0 */
    PCAST_DEVICE_REPLAY, /* its threads one after another, in an order drawn at random; slow */
} pcast_device_kind;

typedef struct pcast_device pcast_device;

/* PCAST_ERR_UNAVAILABLE: no such device, or a build without nvcc; PCAST_ERR_MEMORY. *device is NULL
 * then. */
pcast_status pcast_device_open(pcast_device_kind kind, pcast_device **device, pcast_error *err);
void pcast_device_close(pcast_device *device);

#ifdef __cplusplus
}
#endif

#endif
