/* SPDX-License-Identifier: MIT */
/* Drawing on vectors, compiled for -mavx2 -mfma. */
#define PCAST_DRAW_ENGINE pcast_draw_engine_avx2
#include "random/engine_simd.h"
