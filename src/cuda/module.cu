/* SPDX-License-Identifier: MIT */
/* All device code, one translation unit. */
#include "cuda/library.cuh"

#include "cuda/attention_kernel.cuh"
#include "cuda/layout.h"
#include "cuda/probe_kernels.cuh"
#include "cuda/probe_wgmma.cuh"
#include "cuda/row_kernel.cuh"
