/* SPDX-License-Identifier: MIT */
/* The attention kernel's entries, one for each number of channels. */
#ifndef PCAST_CUDA_ATTENTION_KERNEL_CUH
#define PCAST_CUDA_ATTENTION_KERNEL_CUH

#include "cuda/attention_kernel.h"

#define ATTENTION_KERNEL(dim)                                                                      \
    extern "C" __global__ void __launch_bounds__(PCAST_ATTENTION_THREADS)                          \
        pcast_attention_##dim(const pcast_attention_group *groups)                                 \
    {                                                                                              \
        extern __shared__ __align__(128) uint8_t attention_memory[];                               \
        const pcast_block self = {threadIdx.x};                                                    \
        pcast_attention_run(&self, &groups[blockIdx.x], attention_memory, dim / 64);               \
    }

ATTENTION_KERNEL(64)
ATTENTION_KERNEL(128)
ATTENTION_KERNEL(256)

#endif
