/* SPDX-License-Identifier: MIT */
/* The same loops compiled with -mavx2 -mfma. */
#define PCAST_ENGINE pcast_engine_avx2
#define PCAST_ENGINE_SIMD
#include "softmax/engine_body.h"
