/* SPDX-License-Identifier: MIT */
/* The same loops compiled with -mavx2 -mfma. */
#define PCAST_ENGINE pcast_engine_avx2
#include "softmax/engine_body.h"
