/* SPDX-License-Identifier: MIT */
/* How faulty kernels misread a problem: each changes it to the one that is answered instead, and
 * returns 0 when memory runs out. */
#ifndef PCAST_GOLDEN_FAULT_H
#define PCAST_GOLDEN_FAULT_H

#include "pcast/golden.h"

int pcast_misread_top_left(pcast_problem *problem, const pcast_kernel *kernel);
int pcast_misread_bottom_right(pcast_problem *problem, const pcast_kernel *kernel);
int pcast_misread_no_mask(pcast_problem *problem, const pcast_kernel *kernel);
int pcast_misread_window_late(pcast_problem *problem, const pcast_kernel *kernel);
int pcast_misread_window_early(pcast_problem *problem, const pcast_kernel *kernel);
int pcast_misread_no_window(pcast_problem *problem, const pcast_kernel *kernel);
int pcast_misread_no_lengths(pcast_problem *problem, const pcast_kernel *kernel);
int pcast_misread_short_lengths(pcast_problem *problem, const pcast_kernel *kernel);
int pcast_misread_no_sink(pcast_problem *problem, const pcast_kernel *kernel);
int pcast_misread_sink_in_log2(pcast_problem *problem, const pcast_kernel *kernel);
int pcast_misread_scaled_sink(pcast_problem *problem, const pcast_kernel *kernel);
int pcast_misread_sink_without_scale(pcast_problem *problem, const pcast_kernel *kernel);
int pcast_misread_next_sink(pcast_problem *problem, const pcast_kernel *kernel);
int pcast_misread_no_q_descale(pcast_problem *problem, const pcast_kernel *kernel);
int pcast_misread_no_k_descale(pcast_problem *problem, const pcast_kernel *kernel);
int pcast_misread_no_v_descale(pcast_problem *problem, const pcast_kernel *kernel);
int pcast_misread_no_qk_descale(pcast_problem *problem, const pcast_kernel *kernel);
int pcast_misread_no_descale(pcast_problem *problem, const pcast_kernel *kernel);
int pcast_misread_squared_v_descale(pcast_problem *problem, const pcast_kernel *kernel);
int pcast_misread_squared_descale(pcast_problem *problem, const pcast_kernel *kernel);
int pcast_misread_first_descale(pcast_problem *problem, const pcast_kernel *kernel);
int pcast_misread_swapped_descale(pcast_problem *problem, const pcast_kernel *kernel);
int pcast_misread_default_scale(pcast_problem *problem, const pcast_kernel *kernel);
int pcast_misread_no_scale(pcast_problem *problem, const pcast_kernel *kernel);
int pcast_misread_scale_of_dim(pcast_problem *problem, const pcast_kernel *kernel);
int pcast_misread_scale_in_log2(pcast_problem *problem, const pcast_kernel *kernel);
int pcast_misread_v_by_16(pcast_problem *problem, const pcast_kernel *kernel);
int pcast_misread_v_by_32(pcast_problem *problem, const pcast_kernel *kernel);
int pcast_misread_interleaved_heads(pcast_problem *problem, const pcast_kernel *kernel);
int pcast_misread_long_lengths(pcast_problem *problem, const pcast_kernel *kernel);
int pcast_misread_v_reversed(pcast_problem *problem, const pcast_kernel *kernel);
int pcast_misread_first_head(pcast_problem *problem, const pcast_kernel *kernel);
int pcast_misread_shifted_heads(pcast_problem *problem, const pcast_kernel *kernel);
int pcast_misread_end_of_cache(pcast_problem *problem, const pcast_kernel *kernel);
int pcast_misread_wrapped(pcast_problem *problem, const pcast_kernel *kernel);
int pcast_misread_wrapped_31(pcast_problem *problem, const pcast_kernel *kernel);
int pcast_misread_negative(pcast_problem *problem, const pcast_kernel *kernel);

#endif
