/* SPDX-License-Identifier: MIT */
/* Reference and loss on vectors, compiled for AVX-512 F, BW, DQ and VL. */
#define PCAST_MEASURE_ENGINE pcast_measure_engine_avx512
#include "measure/engine_simd.h"
