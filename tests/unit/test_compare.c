/* SPDX-License-Identifier: MIT */
/* Comparing arrays: distances worked out by hand, which format is compared in, NaNs, zeros and
 * infinities, the order of the list. */
#include "pcast/compare.h"

#include "base/bits.h"
#include "flush.h"
#include "unit.h"

#include <math.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static pcast_comparison compare(pcast_format a_format, const float *a, pcast_format b_format,
                                const float *b, size_t count)
{
    pcast_comparison result;
    pcast_compare((pcast_values){a_format, a}, (pcast_values){b_format, b}, count, &result, NULL,
                  0);
    return result;
}

/* Every bin's ends, in float32 from 1 up: 1 + n ulp has the bits 0x3F800000 + n. */
static void test_bins(void **state)
{
    (void)state;
    static const struct {
        uint32_t ulp;
        int bin;
    } cases[] = {{1, 1},
                 {2, 2},
                 {3, 3},
                 {4, 3},
                 {5, 4},
                 {8, 4},
                 {9, 5},
                 {16, 5},
                 {17, 6},
                 {32, 6},
                 {UINT32_C(1) << 20, 21},
                 {(UINT32_C(1) << 20) + 1, 22}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        const float a = 1, b = pcast_f32_from_bits(0x3F800000 + cases[i].ulp);
        const pcast_comparison result = compare(PCAST_F32, &a, PCAST_F32, &b, 1);
        assert_int_equal(result.largest_ulp.ulp, cases[i].ulp);
        assert_int_equal(result.ulp[cases[i].bin], 1);
        assert_int_equal(result.equal, 0);
    }
    /* From the lowest to the highest: 0x7F800000 steps below zero and as many above. */
    const float a = -INFINITY, b = INFINITY;
    const pcast_comparison result = compare(PCAST_F32, &a, PCAST_F32, &b, 1);
    assert_int_equal(result.first.ulp, 0xFF000000);
    assert_int_equal(result.ulp[PCAST_ULP_BINS - 1], 1);
    assert_true(isinf(result.max_abs));
    assert_bits_f64(result.rel_l2, 0.0);
}

/* E4M3 in steps: 1 is 0x38, 1.125 0x39, -2^-9 0x81, 2^-8 0x02, 448 0x7E. */
static void test_classes(void **state)
{
    (void)state;
    const float a[] = {1, 1, -0x1p-9f, 0, NAN, NAN, 448, -0.0f, 3};
    const float b[] = {1, 1.125f, 0x1p-8f, -0.0f, -NAN, 448, NAN, -0.0f, -3};
    const pcast_comparison result = compare(PCAST_E4M3, a, PCAST_F32, b, COUNT(a));
    assert_int_equal(result.format, PCAST_E4M3);
    assert_int_equal(result.count, 9);
    assert_int_equal(result.equal, 3);
    assert_int_equal(result.both_nan, 1);
    assert_int_equal(result.one_nan, 2);
    assert_int_equal(result.zero_sign, 1);
    assert_int_equal(result.ulp[0], 3);
    assert_int_equal(result.ulp[1], 1);
    assert_int_equal(result.ulp[3], 1); /* -2^-9 to 2^-8: -1 to 2 */
    assert_int_equal(result.ulp[9], 1); /* 3 is 0x44: 136 steps */
    assert_int_equal(result.first.index, 1);
    assert_int_equal(result.first.a_code, 0x38);
    assert_int_equal(result.first.b_code, 0x39);
    assert_int_equal(result.largest_ulp.index, 8);
    assert_int_equal(result.largest_abs.index, 8);
    assert_bits_f64(result.max_abs, 6);
    /* Finite in both: elements 0 to 3, 7 and 8. */
    const double error2 = 0.125 * 0.125 + 9 * 0x1p-18 + 36;
    const double a2 = 1 + 1 + 0x1p-18 + 9, b2 = 1 + 1.265625 + 0x1p-16 + 9;
    assert_near(result.rel_l2, sqrt(error2 / b2), 1e-15);
    assert_near(result.cosine, (1 + 1.125 - 0x1p-17 - 9) / sqrt(a2 * b2), 1e-15);
}

static void test_format(void **state)
{
    (void)state;
    static const struct {
        pcast_format a_format, b_format;
        float a, b;
        pcast_format expected;
        uint32_t ulp;
    } cases[] = {
        {PCAST_F16, PCAST_F16, 1, 1 + 0x1p-10f, PCAST_F16, 1},
        {PCAST_F16, PCAST_F32, 1, 1 + 0x1p-9f, PCAST_F16, 2},
        {PCAST_F32, PCAST_F16, 1 + 0x1p-9f, 1, PCAST_F16, 2},
        {PCAST_F32, PCAST_F16, 1 + 0x1p-11f, 1, PCAST_F32, 4096},
        {PCAST_F16, PCAST_F32, 65504, INFINITY, PCAST_F16, 1},
        {PCAST_E4M3, PCAST_F32, 448, INFINITY, PCAST_F32, 0x7F800000 - 0x43E00000},
        {PCAST_E4M3FNUZ, PCAST_F32, 0, -0.0f, PCAST_F32, 0},
        {PCAST_E4M3, PCAST_F32, 1, NAN, PCAST_E4M3, PCAST_ULP_NAN},
        /* Of one width: whichever holds the other's values. */
        {PCAST_F16, PCAST_BF16, 1, 2, PCAST_F16, 1024},
        {PCAST_F16, PCAST_BF16, 1, 0x1p100f, PCAST_BF16, 100 * 128},
        {PCAST_F16, PCAST_BF16, 1 + 0x1p-10f, 0x1p100f, PCAST_F32, 100 * 0x800000 - 0x2000},
        {PCAST_E5M2, PCAST_E4M3, 0.5f, 1, PCAST_E5M2, 4},
        {PCAST_E5M2, PCAST_E4M3, 0.5f, 1.125f, PCAST_E4M3, 9},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const pcast_comparison result =
            compare(cases[i].a_format, &cases[i].a, cases[i].b_format, &cases[i].b, 1);
        assert_int_equal(result.format, cases[i].expected);
        assert_int_equal(result.first.ulp, cases[i].ulp);
        assert_int_equal(result.equal, 0);
    }
}

static void test_list(void **state)
{
    (void)state;
    const float a[] = {1, 1, 0, 1, 1, NAN, 1, 1};
    const float b[] = {1, 1 + 0x1p-23f, -0.0f, 1 + 0x1p-20f, 1 + 0x1p-22f, 1, 1 + 0x1p-20f, 2};
    static const size_t order[] = {5, 7, 3, 6, 4, 1, 2};
    pcast_difference top[10];
    pcast_comparison result;
    for (size_t capacity = 0; capacity <= 10; capacity++) {
        pcast_compare((pcast_values){PCAST_F32, a}, (pcast_values){PCAST_F32, b}, COUNT(a), &result,
                      top, capacity);
        assert_int_equal(result.top_count, capacity < 7 ? capacity : 7);
        for (size_t i = 0; i < result.top_count; i++)
            assert_int_equal(top[i].index, order[i]);
    }
    assert_int_equal(top[3].ulp, 8);
    assert_int_equal(result.largest_ulp.index, 7);
}

static void test_nothing(void **state)
{
    (void)state;
    const float zero[2] = {0, 0}, one[2] = {1, 1}, tiny[2] = {0x1p-149f, 0};
    const pcast_comparison none = compare(PCAST_F16, NULL, PCAST_F32, NULL, 0);
    assert_int_equal(none.count, none.equal);
    const pcast_comparison zeros = compare(PCAST_F32, zero, PCAST_F32, zero, 2);
    assert_int_equal(zeros.equal, 2);
    assert_bits_f64(zeros.rel_l2, 0);
    assert_true(isnan(zeros.cosine));
    assert_true(isinf(compare(PCAST_F32, one, PCAST_F32, zero, 2).rel_l2));
    assert_bits_f64(compare(PCAST_F32, one, PCAST_F32, zero, 2).max_abs, 1);
    const pcast_comparison same = compare(PCAST_BF16, one, PCAST_F16, one, 2);
    assert_int_equal(same.equal, 2);
    assert_bits_f64(same.cosine, 1);

    /* The caller's rounding mode and flushing of subnormals do not matter. */
    fesetround(FE_UPWARD);
    test_flush_subnormals();
    const uint64_t mode = test_control();
    const pcast_comparison flushed = compare(PCAST_F32, tiny, PCAST_F32, zero, 2);
    const uint64_t kept = test_control();
    fesetenv(FE_DFL_ENV);
    assert_int_equal(kept, mode);
    assert_int_equal(flushed.first.ulp, 1);
    assert_bits_f64(flushed.max_abs, 0x1p-149);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bins), cmocka_unit_test(test_classes), cmocka_unit_test(test_format),
        cmocka_unit_test(test_list), cmocka_unit_test(test_nothing),
    };
    return cmocka_run_group_tests_name("compare", tests, NULL, NULL);
}
