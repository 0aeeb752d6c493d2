/* SPDX-License-Identifier: MIT */
/* A correctly rounded binary32 function against MPFR, encoding by encoding.
 *
 * usage: math_f32_mpfr FUNCTION [STEP]. STEP 1 (the default) visits all 2^32 arguments; STEP n
 * visits every n-th bit pattern from 0.
 *
 * MPFR decides every 257th bit pattern, so that STEP 257 asks nothing else. Elsewhere libm's
 * binary64 function decides, where both ends of an interval of 2^-48 to either side of its result
 * round to the same binary32 number: its own error is a few times 2^-53. Where they do not, MPFR
 * decides again. On every 257th pattern libm's verdict is compared with MPFR's too. */
#include "base/bits.h"
#include "math/math.h"

#include <inttypes.h>
#include <math.h>
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct subject {
    const char *name;
    float (*ours)(float);
    double (*libm)(double);
    int (*mpfr)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
} subject;

static const subject subjects[] = {
    {"exp", pcast_exp_f32, exp, mpfr_exp},     {"exp2", pcast_exp2_f32, exp2, mpfr_exp2},
    {"log", pcast_log_f32, log, mpfr_log},     {"log2", pcast_log2_f32, log2, mpfr_log2},
    {"tanh", pcast_tanh_f32, tanh, mpfr_tanh},
};
static const int subject_count = sizeof subjects / sizeof subjects[0];

static int same(float a, float b)
{
    return (isnan(a) && isnan(b)) || pcast_bits_f32(a) == pcast_bits_f32(b);
}

/* Whether libm's result lies far enough from any boundary to say what the exact one rounds to. */
static int libm_decides(const subject *f, float x, float *expected)
{
    const double y = f->libm((double)x);
    *expected = (float)(y * (1 - 0x1p-48));
    return same(*expected, (float)(y * (1 + 0x1p-48)));
}

static float mpfr_decides(const subject *f, mpfr_t work, float x)
{
    mpfr_set_flt(work, x, MPFR_RNDN);
    const int ternary = f->mpfr(work, work, MPFR_RNDN);
    mpfr_subnormalize(work, ternary, MPFR_RNDN);
    return mpfr_get_flt(work, MPFR_RNDN);
}

int main(int argc, char **argv)
{
    int index = 0;
    while (argc > 1 && index < subject_count && strcmp(argv[1], subjects[index].name) != 0)
        index++;
    const uint64_t step = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    if (argc < 2 || index == subject_count || step == 0) {
        fprintf(stderr, "usage: math_f32_mpfr exp|exp2|log|log2|tanh [STEP]\n");
        return 2;
    }
    const subject *f = &subjects[index];
    const int64_t chunks = 4096;
    const uint64_t width = (UINT64_C(1) << 32) / (uint64_t)chunks;
    uint64_t checked = 0, by_mpfr = 0, wrong = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : checked, by_mpfr, wrong)
    for (int64_t chunk = 0; chunk < chunks; chunk++) {
        mpfr_t work;
        mpfr_init2(work, 24);
        mpfr_set_emin(-148); /* binary32 with subnormals, as MPFR counts exponents */
        mpfr_set_emax(128);
        const uint64_t first = (uint64_t)chunk * width;
        for (uint64_t u = (first + step - 1) / step * step; u < first + width; u += step) {
            const float x = pcast_f32_from_bits((uint32_t)u);
            const float got = f->ours(x);
            float quick, expected;
            const int decided = libm_decides(f, x, &quick);
            checked++;
            if (decided && u % 257 != 0) {
                expected = quick;
            } else {
                expected = mpfr_decides(f, work, x);
                by_mpfr++;
            }
            if (same(got, expected) && !(decided && !same(quick, expected)))
                continue;
            wrong++;
#pragma omp critical
            if (wrong < 10)
                printf("%s(%a = 0x%08" PRIX64 "): got %a, expected %a, libm says %a\n", f->name,
                       (double)x, u, (double)got, (double)expected, (double)quick);
        }
        mpfr_clear(work);
        mpfr_free_cache();
    }
    printf("%s: %" PRIu64 " arguments, %" PRIu64 " of them by MPFR, %" PRIu64 " wrong\n", f->name,
           checked, by_mpfr, wrong);
    return wrong == 0 && checked > 0 ? 0 : 1;
}
