/* SPDX-License-Identifier: MIT */
/* The reference engine, compiled for the baseline of the target. */
#define PCAST_ENGINE pcast_engine_scalar
#include "softmax/engine_body.h"
