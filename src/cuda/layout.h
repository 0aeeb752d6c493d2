/* SPDX-License-Identifier: MIT */
/* What the host hands to the device by memory lies alike for both compilers: each asserts the same
 * numbers. */
#ifndef PCAST_CUDA_LAYOUT_H
#define PCAST_CUDA_LAYOUT_H

#include "cuda/attention.h"
#include "cuda/rows.h"

#include <stddef.h>

#if defined(__cplusplus)
#define PCAST_LIES(type, member, at) static_assert(offsetof(type, member) == (at), #type)
#define PCAST_SIZE(type, bytes)      static_assert(sizeof(type) == (bytes), #type)
#else
#define PCAST_LIES(type, member, at) _Static_assert(offsetof(type, member) == (at), #type)
#define PCAST_SIZE(type, bytes)      _Static_assert(sizeof(type) == (bytes), #type)
#endif

PCAST_SIZE(pcast_kernel, 264);
PCAST_LIES(pcast_kernel, block, 16);
PCAST_LIES(pcast_kernel, scale, 60);
PCAST_LIES(pcast_kernel, rescale_threshold, 108);
PCAST_LIES(pcast_kernel, promotion, 160);
PCAST_LIES(pcast_kernel, out_format, 164);
PCAST_LIES(pcast_kernel, softcap, 260);
PCAST_SIZE(pcast_plan, 2408);
PCAST_LIES(pcast_plan, c, 316);
PCAST_LIES(pcast_plan, v_descale, 356);
PCAST_LIES(pcast_plan, value, 360);
PCAST_SIZE(pcast_visit, 40);
PCAST_LIES(pcast_visit, last, 32);
PCAST_SIZE(pcast_split, 12);
PCAST_SIZE(pcast_row_trace, 12);
PCAST_SIZE(pcast_row_keys, 40);
PCAST_SIZE(pcast_row_group, 184);
PCAST_LIES(pcast_row_group, job.where, 72);
PCAST_LIES(pcast_row_group, job.split_max, 136);
PCAST_LIES(pcast_row_group, partials, 176);
PCAST_SIZE(pcast_attention_group, 96);
PCAST_LIES(pcast_attention_group, job.where, 48);
PCAST_LIES(pcast_attention_group, visit_count, 88);

#endif
