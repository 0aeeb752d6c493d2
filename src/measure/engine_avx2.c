/* SPDX-License-Identifier: MIT */
/* Reference and loss on vectors, compiled for -mavx2 -mfma. */
#define PCAST_MEASURE_ENGINE pcast_measure_engine_avx2
#include "measure/engine_simd.h"
