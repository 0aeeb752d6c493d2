/* SPDX-License-Identifier: MIT */
/* The units of src/hardware at values worked out by others or by hand: ex2 and FlashAttention-4's
 * exp2 at results of public models, special values of PTX ISA 9.1, identities that hold exactly.
 * All arguments: tests/exhaustive/units.c; a second implementation: tests/oracle/units_model.py. */
#include "pcast/unit.h"

#include "base/bits.h"
#include "hardware/sfu.h"
#include "hardware/units.h"
#include "math/math.h"
#include "unit.h"

#include <math.h>

/* {argument, result} in bits. */
typedef struct pair {
    uint32_t x, y;
} pair;

static void assert_pairs_at(pcast_unit unit, const pair *pairs, size_t count, int line)
{
    for (size_t i = 0; i < count; i++) {
        const uint32_t got = pcast_unit_apply(unit, pairs[i].x);
        if (got != pairs[i].y) {
            print_error("%s:%d: %s of 0x%08X (%a): got 0x%08X, expected 0x%08X\n", __FILE__, line,
                        pcast_unit_name(unit), pairs[i].x, (double)pcast_f32_from_bits(pairs[i].x),
                        got, pairs[i].y);
            fail();
        }
    }
}
#define assert_pairs(unit, pairs)                                                                  \
    assert_pairs_at(unit, pairs, sizeof(pairs) / sizeof(pairs)[0], __LINE__)

/* Results of a public model that was compared with envytools on 859 million arguments. */
static const pair ex2_examples[] = {
    {0x3F000000, 0x3FB504F3}, /* 0.5 */
    {0xBF000000, 0x3F3504F2}, /* -0.5, correctly rounded ..F3 */
    {0xBE800000, 0x3F5744FC}, /* -0.25, correctly rounded ..FD */
    {0x3DCCCCCD, 0x3F892FDF}, /* 0.1 */
    {0xC0533333, 0x3DCFEFC6}, /* -3.3 */
    {0xC121F972, 0x3A6B0379}, /* -10.1234 */
    {0xB3D6BF95, 0x3F800000}, /* -1e-7 */
    {0x3F317218, 0x3FCEF386}, /* 0.69314718 */
    {0x3FB8AA3B, 0x402DF854}, /* 1.442695 */
    {0xC2FC0000, 0x00800000}, /* -126 */
    {0x42FFFFFF, 0x7F7FFFA8}, /* 127.999992, correctly rounded ..A7 */
    {0x42C96666, 0x71CFEFAA}, /* 100.7 */
};

static void test_ex2(void **state)
{
    (void)state;
    static const pair specials[] = {
        {0x00000000, 0x3F800000}, {0x80000000, 0x3F800000}, {0x00000001, 0x3F800000},
        {0x807FFFFF, 0x3F800000}, {0x7F800000, 0x7F800000}, {0xFF800000, 0x00000000},
        {0x43000000, 0x7F800000}, {0x7F7FFFFF, 0x7F800000}, {0xC3000000, 0x00000000},
        {0xFF7FFFFF, 0x00000000}, {0x7FC00000, 0x7FFFFFFF}, {0xFFC12345, 0x7FFFFFFF},
        {0x7F800001, 0x7FFFFFFF}, {0xC2FC0001, 0x00000000}, /* -126.000008: flushed */
        {0xC2FE0000, 0x00000000},                           /* -127 */
    };
    assert_pairs(PCAST_UNIT_EX2, ex2_examples);
    assert_pairs(PCAST_UNIT_EX2, specials);
    for (int n = -126; n < 128; n++) /* integers are exact */
        assert_bits_f32(pcast_ex2_ftz((float)n), ldexpf(1.0f, n));
}

/* Encodings between two numbers of one sign, or a distance no bound allows. */
static uint32_t steps(float a, float b)
{
    const uint32_t x = pcast_bits_f32(a), y = pcast_bits_f32(b);
    return (x ^ y) >> 31 ? UINT32_MAX : x > y ? x - y : y - x;
}

static void assert_steps_at(float got, float rounded, uint32_t most, float x, int line)
{
    if (steps(got, rounded) > most) {
        print_error("%s:%d: at 0x%08X: got 0x%08X, more than %u steps from 0x%08X\n", __FILE__,
                    line, pcast_bits_f32(x), pcast_bits_f32(got), most, pcast_bits_f32(rounded));
        fail();
    }
}
#define assert_steps(got, rounded, most, x) assert_steps_at(got, rounded, most, x, __LINE__)

/* Without .ftz: below -126 the square of the unit at x / 2, so even integers are exact. */
static void test_ex2_noftz(void **state)
{
    (void)state;
    static const pair specials[] = {
        {0x80000001, 0x3F800000}, {0x43000000, 0x7F800000}, {0x7F800000, 0x7F800000},
        {0xFF800000, 0x00000000}, {0xFF7FFFFF, 0x00000000}, {0xFFFFFFFF, 0x7FFFFFFF},
        {0xC3150000, 0x00000001}, /* -149 */
        {0xC3160000, 0x00000000}, /* -150: 2^-75 squared is a tie, to even */
    };
    assert_pairs(PCAST_UNIT_EX2_NOFTZ, ex2_examples);
    assert_pairs(PCAST_UNIT_EX2_NOFTZ, specials);
    for (int n = -148; n < -126; n += 2)
        assert_bits_f32(pcast_ex2((float)n), ldexpf(1.0f, n));
    for (float x = -126.0f; x > -151.0f; x -= 0.01f)
        assert_steps(pcast_ex2(x), pcast_exp2_f32(x), 2, x);
}

/* By hand: one bit gives its square over 2^19; all 17 give the sum of 2^(17-k) - 1 for k = 2..17.
 */
static void test_squarer(void **state)
{
    (void)state;
    assert_int_equal(pcast_sfu_square(0), 0);
    assert_int_equal(pcast_sfu_square(1), 0);
    assert_int_equal(pcast_sfu_square(1 << 9), 0);  /* 2^-1 is cut off */
    assert_int_equal(pcast_sfu_square(1 << 10), 2); /* 2^20 / 2^19 */
    assert_int_equal(pcast_sfu_square(1 << 16), 1 << 13);
    assert_int_equal(pcast_sfu_square(0x1FFFF), (65535 - 16) / 2);
}

static void test_rcp(void **state)
{
    (void)state;
    static const pair specials[] = {
        {0x00000000, 0x7F800000}, {0x80000000, 0xFF800000}, {0x007FFFFF, 0x7F800000},
        {0x80000001, 0xFF800000}, {0x7F800000, 0x00000000}, {0xFF800000, 0x80000000},
        {0xFF800001, 0x7FFFFFFF}, {0x40400000, 0x3EAAAAAB}, /* 3 */
        {0x7E800001, 0x00000000},                           /* beyond 2^126: flushed */
        {0xFF000000, 0x80000000},                           /* -2^127 */
        {0xFF7FFFFF, 0x80000000},
    };
    uint64_t random = 3;
    assert_pairs(PCAST_UNIT_RCP, specials);
    for (int n = -126; n <= 126; n++)
        assert_bits_f32(pcast_rcp_ftz(ldexpf(-1.0f, n)), ldexpf(-1.0f, -n));
    for (int i = 0; i < 100000; i++) {
        const float x = pcast_f32_from_bits((uint32_t)(test_random(&random) >> 32));
        if (fabsf(x) >= 0x1p-126f && fabsf(x) < 0x1p126f)
            assert_steps(pcast_rcp_ftz(x), 1.0f / x, 1, x);
    }
}

static void test_lg2(void **state)
{
    (void)state;
    static const pair specials[] = {
        {0x00000000, 0xFF800000},
        {0x80000000, 0xFF800000},
        {0x007FFFFF, 0xFF800000},
        {0x80000001, 0xFF800000},
        {0x7F800000, 0x7F800000},
        {0xFF800000, 0x7FFFFFFF},
        {0xBF800000, 0x7FFFFFFF},
        {0x80800000, 0x7FFFFFFF},
        {0x7FC00000, 0x7FFFFFFF},
        {0xFFC00000, 0x7FFFFFFF},
        {0x3F800000, 0x00000000},
        /* By hand: row 0 alone leaves (4 * 2^12 + 0x3345) >> 2 = 7377 over a power of two, in units
         * of 2^-36. It is cut off above zero; below, 2^36 - 7378 has 36 bits, of which 12 go. */
        {0x3F000000, 0xBF7FFFFE}, /* 0.5 */
        {0x3E800000, 0xBFFFFFFF}, /* 0.25: 2^37 - 7378, of which 13 bits go */
    };
    assert_pairs(PCAST_UNIT_LG2, specials);
    for (int n = 1; n < 128; n++)
        assert_bits_f32(pcast_lg2_ftz(ldexpf(1.0f, n)), (float)n);
    for (float x = 0x1p-126f; x < 0x1p127f; x *= 1.0009765f) {
        const double exact = log2((double)x), error = fabs((double)pcast_lg2_ftz(x) - exact);
        assert_true(error <= 0x1p-22 * (x > 0.5f && x < 2.0f ? 1.0 : fabs(exact)));
    }
}

static void test_expf(void **state)
{
    (void)state;
    static const pair specials[] = {
        {0x00000000, 0x3F800000}, {0x80000000, 0x3F800000}, {0x00000001, 0x3F800000},
        {0x7F800000, 0x7F800000}, {0xFF800000, 0x00000000}, {0x7F7FFFFF, 0x7F800000},
        {0xFF7FFFFF, 0x00000000}, {0xFFC00001, 0x7FFFFFFF}, {0x42B20000, 0x7F800000}, /* 89 */
        {0xC2D00000, 0x00000000},                                                     /* -104 */
    };
    assert_pairs(PCAST_UNIT_EXPF, specials);
    assert_pairs(PCAST_UNIT_EXPF_FAST, specials);
    for (float x = -104.0f; x < 88.7f; x += 0.0037f) {
        const float rounded = pcast_exp_f32(x);
        assert_steps(pcast_cuda_expf(x), rounded, 2, x);
        /* CUDA's programming guide: 2 + floor(|1.173 x|) ulp. */
        assert_steps(pcast_cuda_expf_fast(x), rounded, 2 + (uint32_t)(1.173f * fabsf(x)), x);
    }
    /* Not the same function: exp(20) of the one misses by far more than that of the other may. */
    assert_true(steps(pcast_cuda_expf_fast(20.3f), pcast_exp_f32(20.3f)) > 2);
}

/* Results of a public model of FlashAttention-4's code, and bits worked out from its steps. */
static void test_fa4(void **state)
{
    (void)state;
    static const pair poly3[] = {
        {0xFF800000, 0x00000000}, {0xC2FE0000, 0x00000000}, /* -127 */
        {0xFF7FFFFF, 0x00000000}, {0x7FC00000, 0x00000000},
        {0xFFC00000, 0x00000000}, {0xC2FD0000, 0x0035015C}, /* -126.5: a wrong subnormal */
        {0x00000000, 0x3F800000}, {0x80000000, 0x3F800000},
        {0x007FFFFF, 0x3F800000}, {0x807FFFFF, 0x3F800000}, /* flushed to -0 */
        {0x80800000, 0x3F7FFA6B}, /* the least normal: its fraction rounds to 1 */
        {0xB3000000, 0x3F7FFA6B}, /* -2^-25 */
        {0xB3800000, 0x3F7FFA6A}, /* -2^-24 */
        {0xBF800000, 0x3F000000}, /* -1 */
        {0x42FE0000, 0x7F000000}, /* 127 */
        {0x43000000, 0x7F800000}, /* 128: 255 in the exponent field */
        {0x43008000, 0x7FB5015C}, /* 128.5: bits of -126.5 and 255 in the field, a NaN */
        {0x43010000, 0x80000000}, /* 129: it overflows into the sign */
        {0x7F800000, 0x7FFFFFFF}, /* Inf - Inf */
    };
    assert_pairs(PCAST_UNIT_FA4_POLY3, poly3);
    for (int n = -126; n < 128; n++) {
        assert_bits_f32(pcast_fa4_exp2((float)n, 3), ldexpf(1.0f, n));
        assert_bits_f32(pcast_fa4_exp2((float)n, 5), ldexpf(1.0f, n));
    }
    for (float x = -126.0f; x < 127.0f; x += 0.0037f) {
        assert_steps(pcast_fa4_exp2(x, 3), pcast_exp2_f32(x), 1430, x);
        assert_steps(pcast_fa4_exp2(x, 5), pcast_exp2_f32(x), 3, x);
    }
    assert_true(steps(pcast_fa4_exp2(-0x1p-20f, 3), pcast_exp2_f32(-0x1p-20f)) >
                1400); /* its worst */
}

static void test_monotone(void **state)
{
    (void)state;
    uint64_t random = 4;
    for (int i = 0; i < 200000; i++) {
        const float x = (float)(test_uniform(&random) * 254 - 126) * (i % 2 ? 1.0f : 0.01f);
        const float above = nextafterf(x, INFINITY);
        if (pcast_ex2_ftz(above) < pcast_ex2_ftz(x)) {
            print_error("ex2 falls from 0x%08X to the next\n", pcast_bits_f32(x));
            fail();
        }
    }
}

static void test_names_and_exact(void **state)
{
    (void)state;
    static const char *const names[] = {"ex2",       "ex2_noftz", "rcp",       "lg2",     "expf",
                                        "expf_fast", "fa4_poly3", "fa4_poly5", "exp",     "exp2",
                                        "log",       "log2",      "tanh",      "cvt_e4m3"};
    static const pair e4m3[] = {
        {0x43E80000, 0x7E}, {0x43E80001, 0x7E}, {0x3F880000, 0x38}, {0x3F980000, 0x3A},
        {0x3A800000, 0x00}, {0x3A800001, 0x01}, {0x80000001, 0x80}, {0x7F800000, 0x7E},
        {0xFF800000, 0xFE}, {0x7FC00000, 0x7F}, {0xFFC00000, 0x7F},
    };
    static const pair exp[] = {{0xC0E00000, 0x3A6F0B5D}, {0xFFC00000, 0x7FFFFFFF}};
    static const pair exp2[] = {{0xC3160000, 0x00000000}, {0xBF000000, 0x3F3504F3}};
    static const pair log[] = {{0x40000000, 0x3F317218}, {0xBF800000, 0x7FFFFFFF}};
    static const pair log2[] = {{0x40400000, 0x3FCAE00D}, {0x80000001, 0x7FFFFFFF}};
    static const pair tanh[] = {{0x3F800000, 0x3F42F7D6}, {0x7F800001, 0x7FFFFFFF}};
    pcast_unit unit = PCAST_UNIT_LOG;
    pcast_error err = {""};
    assert_int_equal(PCAST_UNIT_COUNT, sizeof names / sizeof names[0]);
    for (int i = 0; i < PCAST_UNIT_COUNT; i++) {
        assert_string_equal(pcast_unit_name((pcast_unit)i), names[i]);
        assert_int_equal(pcast_unit_find(names[i], &unit, NULL), PCAST_OK);
        assert_int_equal(unit, i);
        assert_int_equal(pcast_unit_result(unit),
                         i == PCAST_UNIT_CVT_E4M3 ? PCAST_E4M3 : PCAST_F32);
    }
    unit = PCAST_UNIT_LOG;
    assert_int_equal(pcast_unit_find("ex", &unit, &err), PCAST_ERR_VALUE);
    assert_string_equal(err.text, "'ex' is no unit");
    assert_int_equal(unit, PCAST_UNIT_LOG);
    assert_pairs(PCAST_UNIT_CVT_E4M3, e4m3);
    assert_pairs(PCAST_UNIT_EXP, exp);
    assert_pairs(PCAST_UNIT_EXP2, exp2);
    assert_pairs(PCAST_UNIT_LOG, log);
    assert_pairs(PCAST_UNIT_LOG2, log2);
    assert_pairs(PCAST_UNIT_TANH, tanh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ex2),
        cmocka_unit_test(test_ex2_noftz),
        cmocka_unit_test(test_squarer),
        cmocka_unit_test(test_rcp),
        cmocka_unit_test(test_lg2),
        cmocka_unit_test(test_expf),
        cmocka_unit_test(test_fa4),
        cmocka_unit_test(test_monotone),
        cmocka_unit_test(test_names_and_exact),
    };
    return cmocka_run_group_tests_name("units", tests, NULL, NULL);
}
