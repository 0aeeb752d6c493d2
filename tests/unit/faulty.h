/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a kernel with a seeded fault answers to a golden problem. */
#ifndef PCAST_TESTS_FAULTY_H
#define PCAST_TESTS_FAULTY_H

#include "base/seeded.h"
#include "pcast/golden.h"
#include "pcast/golden_simulate.h"

#include <math.h>

static inline float pcast_test_round(pcast_output format, double x)
{
    static const pcast_format formats[] = {[PCAST_OUTPUT_F32] = PCAST_F32,
                                           [PCAST_OUTPUT_BF16] = PCAST_BF16,
                                           [PCAST_OUTPUT_F16] = PCAST_F16};
    const pcast_cast ieee = {PCAST_OVERFLOW_NAN, PCAST_INF_NAN, PCAST_NAN_KEEP_SIGN};
    return pcast_decode_f32(formats[format], pcast_encode_f32(formats[format], (float)x, ieee));
}

/* The faulty kernel's answer; 0 where it cannot do the problem. */
static inline int faulty_answer(const pcast_problem *problem, const pcast_kernel *healthy,
                                const pcast_fault *fault, float *o, float *lse)
{
    pcast_problem misread = {0};
    pcast_kernel kernel = *healthy;
    pcast_error err;
    int can = pcast_problem_copy(problem, &misread, &err) == PCAST_OK;
    if (can && fault->misread != NULL)
        can = fault->misread(&misread, healthy);
    if (fault->choose != NULL)
        fault->choose(&kernel);
    if (fault->o_power != 0) /* a factor before the output is rounded */
        kernel.out_format = PCAST_OUTPUT_F32;
    pcast_seeded_slip = fault->slip;
    pcast_seeded_mask_shift = fault->mask_shift;
    can = can &&
          pcast_golden_simulate(&misread, &kernel, pcast_cpu_detect(), o, lse, &err) == PCAST_OK;
    pcast_seeded_slip = PCAST_SLIP_NONE;
    pcast_seeded_mask_shift = 0;
    pcast_problem_free(&misread);
    const double scale = (double)kernel.scale;
    const double unit = kernel.lse == PCAST_LSE_BASE_2 ? 1 / log(2) : 1;
    for (size_t i = 0; can && i < pcast_problem_rows(problem) * problem->dim; i++)
        o[i] = pcast_test_round(healthy->out_format, (double)o[i] * pow(scale, fault->o_power));
    for (size_t i = 0; can && i < pcast_problem_rows(problem); i++)
        lse[i] = (float)((double)lse[i] * (fault->lse_factor != 0 ? fault->lse_factor : 1) +
                         fault->lse_offset * log(scale) * unit);
    return can;
}

#endif
