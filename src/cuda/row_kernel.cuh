/* SPDX-License-Identifier: MIT */
/* The strict kernel's entry on the device. */
#ifndef PCAST_CUDA_ROW_KERNEL_CUH
#define PCAST_CUDA_ROW_KERNEL_CUH

#include "cuda/row_kernel.h"

extern "C" __global__ void __launch_bounds__(PCAST_ROW_THREADS)
    pcast_row_kernel(const pcast_row_group *groups)
{
    extern __shared__ double memory[];
    const pcast_block self = {threadIdx.x};
    pcast_row_group_run(&self, &groups[blockIdx.x], memory);
}

#endif
