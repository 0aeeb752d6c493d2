/* SPDX-License-Identifier: MIT */
/* The library's own arithmetic, compiled for the device from the same sources: functions, codec. */
#ifndef PCAST_CUDA_LIBRARY_CUH
#define PCAST_CUDA_LIBRARY_CUH

#include "pcast/format.h"
/* The public header declares these for the host. */
#define pcast_convert    pcast_device_convert
#define pcast_encode_f32 pcast_device_encode_f32
#define pcast_decode_f32 pcast_device_decode_f32
#define pcast_decode_f64 pcast_device_decode_f64

#include "e4m3/float_format.c"
#include "e4m3/convert.c"
#include "math/exp_f32.c"
#include "math/exp_f64.c"
#include "math/log_f64.c"
#include "math/log_f32.c"
#include "math/tanh_f32.c"
#include "math/strict.h"

#endif
