/* SPDX-License-Identifier: MIT */
/* The same loops compiled for AVX-512 F, BW, DQ and VL. */
#define PCAST_ENGINE pcast_engine_avx512
#define PCAST_ENGINE_SIMD
#include "softmax/engine_body.h"
