/* SPDX-License-Identifier: MIT */
/* exp and log in binary64 against MPFR, in ulp; the binary32 functions at their edges and at values
 * from MPFR (the whole of them: the exhaustive suite). */
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

static void test_exp2_f32(void **state)
{
    (void)state;
    for (int n = -149; n < 128; n++)
        assert_bits_f32(pcast_exp2_f32((float)n), ldexpf(1.0f, n));
    assert_bits_f32(pcast_exp2_f32(0.5f), 0x1.6a09e6p+0f);
    assert_bits_f32(pcast_exp2_f32(-0x1.d33334p+2f), 0x1.9fdf88p-8f);
    assert_bits_f32(pcast_exp2_f32(-0x1.fdp+6f), 0x1.ae89f8p-128f);
    assert_bits_f32(pcast_exp2_f32(0x1p-149f), 1.0f);
    assert_bits_f32(pcast_exp2_f32(-0x1.715476p-25f), 1.0f);
    assert_bits_f32(pcast_exp2_f32(-0x1.715478p-25f), 0x1.fffffep-1f);
    assert_bits_f32(pcast_exp2_f32(0x1.fffffep+6f), 0x1.ffff4ep+127f);
    assert_bits_f32(pcast_exp2_f32(128.0f), INFINITY);
    assert_bits_f32(pcast_exp2_f32(INFINITY), INFINITY);
    assert_bits_f32(pcast_exp2_f32(-149.5f), 0x1p-149f);
    assert_bits_f32(pcast_exp2_f32(-0x1.2bfffep+7f), 0x1p-149f);
    assert_bits_f32(pcast_exp2_f32(-150.0f), 0.0f);
    assert_bits_f32(pcast_exp2_f32(-INFINITY), 0.0f);
    assert_true(isnan(pcast_exp2_f32(NAN)));
    /* The two nearest to a midpoint of all arguments: 2^-58.9 and 2^-56.9 of the result. */
    assert_bits_f32(pcast_exp2_f32(-0x1.5a3f34p-21f), 0x1.fffffp-1f);
    assert_bits_f32(pcast_exp2_f32(-0x1.e7526ep-6f), 0x1.f58d62p-1f);
}

static void test_log_f32(void **state)
{
    (void)state;
    assert_bits_f32(pcast_log_f32(1.0f), 0.0f);
    assert_bits_f32(pcast_log_f32(2.0f), 0x1.62e43p-1f);
    assert_bits_f32(pcast_log_f32(10.0f), 0x1.26bb1cp+1f);
    assert_bits_f32(pcast_log_f32(0x1.fffffep-1f), -0x1p-24f);
    assert_bits_f32(pcast_log_f32(0x1.000002p+0f), 0x1.fffffep-24f);
    assert_bits_f32(pcast_log_f32(0x1p-149f), -0x1.9d1dap+6f);
    assert_bits_f32(pcast_log_f32(0x1.fffffep+127f), 0x1.62e43p+6f);
    /* The two nearest to a midpoint of all arguments: 2^-57.8 and 2^-56.7 of the result. */
    assert_bits_f32(pcast_log_f32(0x1.b121a6p+76f), 0x1.a9a3f2p+5f);
    assert_bits_f32(pcast_log_f32(0x1.bacb4ap+25f), 0x1.1e0696p+4f);

    for (int n = -149; n < 128; n++)
        assert_bits_f32(pcast_log2_f32(ldexpf(1.0f, n)), (float)n);
    assert_bits_f32(pcast_log2_f32(3.0f), 0x1.95c01ap+0f);
    assert_bits_f32(pcast_log2_f32(10.0f), 0x1.a934fp+1f);
    assert_bits_f32(pcast_log2_f32(0x1.fffffep-1f), -0x1.715478p-24f);
    assert_bits_f32(pcast_log2_f32(0x1.000002p+0f), 0x1.715474p-23f);
    assert_bits_f32(pcast_log2_f32(0x1.fffffep+127f), 128.0f);

    float (*const logarithms[])(float) = {pcast_log_f32, pcast_log2_f32};
    for (int i = 0; i < 2; i++) {
        assert_bits_f32(logarithms[i](0.0f), -INFINITY);
        assert_bits_f32(logarithms[i](-0.0f), -INFINITY);
        assert_bits_f32(logarithms[i](INFINITY), INFINITY);
        assert_true(isnan(logarithms[i](-0x1p-149f)) && isnan(logarithms[i](-INFINITY)));
        assert_true(isnan(logarithms[i](NAN)));
    }
}

static void test_tanh_f32(void **state)
{
    (void)state;
    /* {x, tanh(x)}; the function is odd */
    static const float values[][2] = {
        {0.0f, 0.0f},
        {0x1p-149f, 0x1p-149f},
        {0x1.fffffep-13f, 0x1.fffffep-13f},
        {0x1p-12f, 0x1p-12f},
        {0x1.333334p-2f, 0x1.2a4ddcp-2f},
        {1.0f, 0x1.85efacp-1f},
        {0x1.205966p+3f, 0x1.fffffep-1f},
        {0x1.205968p+3f, 1.0f},
        {10.0f, 1.0f},
        {INFINITY, 1.0f},
    };
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        assert_bits_f32(pcast_tanh_f32(values[i][0]), values[i][1]);
        assert_bits_f32(pcast_tanh_f32(-values[i][0]), -values[i][1]);
    }
    assert_true(isnan(pcast_tanh_f32(NAN)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exp_f64),       cmocka_unit_test(test_log_f64),
        cmocka_unit_test(test_exp_f32_edges), cmocka_unit_test(test_exp2_f32),
        cmocka_unit_test(test_log_f32),       cmocka_unit_test(test_tanh_f32),
    };
    return cmocka_run_group_tests_name("math", tests, NULL, NULL);
}
