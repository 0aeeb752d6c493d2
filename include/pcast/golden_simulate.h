/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a kernel answers to a golden problem. */
#ifndef PCAST_GOLDEN_SIMULATE_H
#define PCAST_GOLDEN_SIMULATE_H

#include "pcast/cpu.h"
#include "pcast/golden.h"
#include "pcast/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Runs the kernel on the problem's inputs as they are. Mask, window, softmax scale, descales,
 * lengths and learned sink are the problem's; all else is the kernel's. o [rows][dim] holds values
 * of the kernel's output format, lse [rows] is in the base that the kernel returns (base e where it
 * returns none); the problem's rows are [batch][heads][queries]. The same bits at every CPU level.
 *
 * PCAST_ERR_VALUE: this kernel cannot do this problem, because its fields are invalid, it knows no
 * learned sink, or its inputs' format does not have the numbers; PCAST_ERR_UNAVAILABLE as
 * pcast_kernel_validate; PCAST_ERR_INPUT: sizes or numbers that make no sense; PCAST_ERR_MEMORY. */
pcast_status pcast_golden_simulate(const pcast_problem *problem, const pcast_kernel *kernel,
                                   pcast_cpu cpu, float *o, float *lse, pcast_error *err);

#ifdef __cplusplus
}
#endif

#endif
