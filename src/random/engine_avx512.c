/* SPDX-License-Identifier: MIT */
/* Drawing on vectors, compiled for AVX-512 F, BW, DQ and VL. */
#define PCAST_DRAW_ENGINE pcast_draw_engine_avx512
#include "random/engine_simd.h"
