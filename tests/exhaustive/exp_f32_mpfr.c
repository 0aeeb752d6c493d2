/* SPDX-License-Identifier: MIT */
/* pcast_exp_f32 against MPFR, encoding by encoding.
 *
 * usage: exp_f32_mpfr [STEP]. STEP 1 (the default) visits all 2^32 arguments; STEP n visits every
 * n-th bit pattern from a start below n, which CI uses as a sample. Arguments above 89 and below
 * -104 are compared with what MPFR says at the edge of that range, since exp is monotonic;
 * everything else is computed by MPFR. */
#include "base/bits.h"
#include "math/math.h"

#include <inttypes.h>
#include <math.h>
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>

static float mpfr_exp_f32(mpfr_t work, float x)
{
    mpfr_set_flt(work, x, MPFR_RNDN);
    const int ternary = mpfr_exp(work, work, MPFR_RNDN);
    mpfr_subnormalize(work, ternary, MPFR_RNDN);
    return mpfr_get_flt(work, MPFR_RNDN);
}

static float expected(mpfr_t work, float x)
{
    if (x > 89.0f)
        x = 89.0f;
    if (x < -104.0f)
        x = -104.0f;
    return mpfr_exp_f32(work, x);
}

int main(int argc, char **argv)
{
    const uint64_t step = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    if (step == 0) {
        fprintf(stderr, "exp_f32_mpfr: STEP must be a positive integer\n");
        return 2;
    }
    const int64_t chunks = 4096;
    const uint64_t width = (UINT64_C(1) << 32) / (uint64_t)chunks;
    uint64_t checked = 0, wrong = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : checked, wrong)
    for (int64_t chunk = 0; chunk < chunks; chunk++) {
        mpfr_t work;
        mpfr_init2(work, 24);
        mpfr_set_emin(-148); /* binary32 with subnormals, as MPFR counts exponents */
        mpfr_set_emax(128);
        const uint64_t first = (uint64_t)chunk * width;
        for (uint64_t u = (first + step - 1) / step * step; u < first + width; u += step) {
            const float x = pcast_f32_from_bits((uint32_t)u);
            const float got = pcast_exp_f32(x);
            checked++;
            if (isnan(x) ? isnan(got) : pcast_bits_f32(got) == pcast_bits_f32(expected(work, x)))
                continue;
            wrong++;
#pragma omp critical
            if (wrong < 10)
                printf("exp(%a = 0x%08" PRIX64 "): got 0x%08" PRIX32 ", MPFR 0x%08" PRIX32 "\n",
                       (double)x, u, pcast_bits_f32(got), pcast_bits_f32(expected(work, x)));
        }
        mpfr_clear(work);
        mpfr_free_cache();
    }
    printf("exp_f32 against MPFR: %" PRIu64 " arguments, %" PRIu64 " wrong\n", checked, wrong);
    return wrong == 0 && checked > 0 ? 0 : 1;
}
