/* SPDX-License-Identifier: MIT */
/* exp and log in binary64 against MPFR, in ulp; exp in binary32 at its edges (the whole of it: the
 * exhaustive suite). */
#include "math/math.h"

#include "base/bits.h"
#include "unit.h"

#include <math.h>
#include <mpfr.h>

/* |got - exact| in units of the last place of got. */
static double ulps(double got, mpfr_t exact)
{
    mpfr_t difference;
    mpfr_init2(difference, 200);
    mpfr_sub_d(difference, exact, got, MPFR_RNDN);
    mpfr_div_d(difference, difference, nextafter(fabs(got), INFINITY) - fabs(got), MPFR_RNDN);
    const double error = fabs(mpfr_get_d(difference, MPFR_RNDN));
    mpfr_clear(difference);
    return error;
}

static void test_exp_f64(void **state)
{
    (void)state;
    uint64_t random = 1;
    double worst = 0;
    mpfr_t exact;
    mpfr_init2(exact, 200);
    for (int i = 0; i < 200000; i++) {
        const double range = i % 3 == 0 ? 1490 : i % 3 == 1 ? 20 : 1e-3;
        double x = (test_uniform(&random) - 0.5) * range;
        if (x > 709.7 || x < -708)
            continue;
        mpfr_set_d(exact, x, MPFR_RNDN);
        mpfr_exp(exact, exact, MPFR_RNDN);
        const double error = ulps(pcast_exp_f64(x), exact);
        worst = error > worst ? error : worst;
    }
    assert_true(worst < 0.52);
    for (double x = -745; x < -708;
         x += 0.037) { /* subnormal results: rounded twice, still below 1 ulp */
        mpfr_set_d(exact, x, MPFR_RNDN);
        mpfr_exp(exact, exact, MPFR_RNDN);
        assert_true(ulps(pcast_exp_f64(x), exact) < 1);
    }
    mpfr_clear(exact);
    assert_bits_f64(pcast_exp_f64(0.0), 1.0);
    assert_bits_f64(pcast_exp_f64(-INFINITY), 0.0);
    assert_bits_f64(pcast_exp_f64(-800), 0.0);
    assert_bits_f64(pcast_exp_f64(800), INFINITY);
    assert_bits_f64(pcast_exp_f64(709.9), INFINITY);
    assert_true(isnan(pcast_exp_f64(NAN)));
}

static void test_log_f64(void **state)
{
    (void)state;
    uint64_t random = 2;
    double worst = 0;
    mpfr_t exact;
    mpfr_init2(exact, 200);
    for (int i = 0; i < 300000; i++) {
        double x = pcast_f64_from_bits(test_random(&random) & UINT64_C(0x7FFFFFFFFFFFFFFF));
        if (i % 3 == 1)
            x = test_uniform(&random);
        if (i % 3 == 2)
            x = 0.9 + 0.2 * test_uniform(&random);
        if (!(x > 0) || isinf(x))
            continue;
        mpfr_set_d(exact, x, MPFR_RNDN);
        mpfr_log(exact, exact, MPFR_RNDN);
        const double error = ulps(pcast_log_f64(x), exact);
        worst = error > worst ? error : worst;
    }
    mpfr_clear(exact);
    assert_true(worst < 0.56);
    assert_bits_f64(pcast_log_f64(1.0), 0.0);
    assert_bits_f64(pcast_log_f64(0.0), -INFINITY);
    assert_bits_f64(pcast_log_f64(-0.0), -INFINITY);
    assert_bits_f64(pcast_log_f64(INFINITY), INFINITY);
    assert_true(isnan(pcast_log_f64(-1.0)) && isnan(pcast_log_f64(NAN)));
}

/* Boundaries found with MPFR: results at the ends of the range of binary32. */
static void test_exp_f32_edges(void **state)
{
    (void)state;
    assert_bits_f32(pcast_exp_f32(0.0f), 1.0f);
    assert_bits_f32(pcast_exp_f32(-INFINITY), 0.0f);
    assert_bits_f32(pcast_exp_f32(INFINITY), INFINITY);
    assert_bits_f32(pcast_exp_f32(0x1.62e42ep+6f), 0x1.ffff08p+127f);
    assert_bits_f32(pcast_exp_f32(0x1.62e43p+6f), INFINITY);
    assert_bits_f32(pcast_exp_f32(-0x1.9fe368p+6f), 0x1p-149f);
    assert_bits_f32(pcast_exp_f32(-0x1.9fe36ap+6f), 0.0f);
    assert_bits_f32(pcast_exp_f32(-7.0f), 0x1.de16bap-11f);
    assert_bits_f32(pcast_exp_f32(0x1p-149f), 1.0f);
    assert_true(isnan(pcast_exp_f32(NAN)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exp_f64),
        cmocka_unit_test(test_log_f64),
        cmocka_unit_test(test_exp_f32_edges),
    };
    return cmocka_run_group_tests_name("math", tests, NULL, NULL);
}
