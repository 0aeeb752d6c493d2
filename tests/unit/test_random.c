/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws: Random123's published known answers through our own indexing, any part equal to the whole,
 * and the quantile against GSL's CDF. */
#include "random/engine.h"

#include "unit.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

/* philox4x32-10 of kat_vectors, Random123: counter, key, result. */
static void test_known_answers(void **state)
{
    (void)state;
    static const struct {
        uint32_t counter[4], key[2], result[4];
    } known[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < 2; i++) {
        const uint64_t block = (uint64_t)known[i].counter[3] << 32 | known[i].counter[2];
        const pcast_stream stream = {(uint64_t)known[i].key[1] << 32 | known[i].key[0],
                                     known[i].counter[0], known[i].counter[1]};
        uint32_t words[4] = {0};
        pcast_draw_words(stream, block * 4, 4, words);
        assert_memory_equal(words, known[i].result, sizeof words);
        pcast_draw_words(stream, block * 4 + 2, 1, words); /* one word of the middle of a block */
        assert_int_equal(words[0], known[i].result[2]);
    }
}

static void test_any_part_equals_the_whole(void **state)
{
    (void)state;
    enum { N = 1500 };
    static double whole[N], part[N];
    const pcast_stream stream = {42, 7, PCAST_STREAM_VALUES};
    pcast_draw_normals(stream, PCAST_CPU_SCALAR, 0, N, whole);
    for (size_t first = 0; first < 9; first++)
        for (size_t count = 1; first + count <= N; count += 331) {
            part[count] = -99;
            pcast_draw_normals(stream, PCAST_CPU_SCALAR, first, count, part);
            assert_memory_equal(part, whole + first, count * sizeof *part);
            assert_true(part[count] == -99);
        }
}

static void test_quantile(void **state)
{
    (void)state;
    uint64_t random = 3;
    for (int i = 0; i < 100000; i++) {
        double u = test_uniform(&random);
        if (i % 4 == 0)
            u = exp(-40 * u); /* the lower tail, far out */
        if (u == 0)
            continue;
        const double x = pcast_normal_quantile(u);
        assert_near(gsl_cdf_ugaussian_P(x) / u, 1, 2e-14 * (1 + x * x));
        if (u >= 0x1p-33 && i % 4 != 0)
            assert_near(pcast_normal_quantile(1 - u), -pcast_normal_quantile(1 - (1 - u)), 1e-12);
    }
    assert_bits_f64(pcast_normal_quantile(0.5), 0.0);
    assert_near(pcast_normal_quantile(0.975), 1.959963984540054, 1e-15);
    /* Extremes of a draw: words 0 and 2^32 - 1. */
    assert_near(pcast_normal_quantile(0x1p-33), -6.337957754553789, 1e-14);
    assert_bits_f64(pcast_normal_quantile(1 - 0x1p-33), -pcast_normal_quantile(0x1p-33));
}

/* Every engine against the scalar one, which runs Random123 itself: words of blocks across the
 * carry of the counter, and quantiles of words beside every branch. */
static void test_engines(void **state)
{
    (void)state;
    enum { WORDS = 4 * 37, N = 3000, GUARD = 8 };
    static const uint32_t edges[] = {0,          1,          0x13333333, 0x13333332,
                                     0x13333334, 0x7FFFFFFF, 0x80000000, 0xECCCCCCC,
                                     0xECCCCCCB, 0xECCCCCCD, 0xFFFFFFFF};
    uint64_t random = 17;
    for (int level = PCAST_CPU_AVX2; level <= PCAST_CPU_AVX512; level++) {
        const pcast_draw_engine *engine = pcast_draw_engine_for((pcast_cpu)level);
        for (int i = 0; i < 2000; i++) {
            uint32_t expected[WORDS + GUARD], got[WORDS + GUARD];
            const pcast_stream stream = {(uint64_t)(test_uniform(&random) * 0x1p63) * 2 + 1,
                                         (uint32_t)(test_uniform(&random) * 0x1p32), (uint32_t)i};
            const uint64_t block = i % 2 ? 0xFFFFFFFA : (uint64_t)(test_uniform(&random) * 0x1p63);
            memset(expected, 7, sizeof expected);
            memset(got, 7, sizeof got);
            pcast_draw_engine_scalar.blocks(stream, block, (size_t)i % 37, expected);
            engine->blocks(stream, block, (size_t)i % 37, got);
            assert_memory_equal(got, expected, sizeof got);
        }
        for (size_t n = 0; n < N; n += 1 + n / 40) {
            static uint32_t words[N + 1];
            static double expected[N + GUARD], got[N + GUARD];
            for (size_t i = 0; i <= N; i++)
                words[i] = i % 50 < sizeof edges / sizeof edges[0]
                               ? edges[i % 50]
                               : (uint32_t)(test_uniform(&random) * 0x1p32);
            for (size_t i = 0; i < N + GUARD; i++)
                expected[i] = got[i] = -99;
            pcast_draw_engine_scalar.quantiles(words + 1, n, expected);
            engine->quantiles(words + 1, n, got);
            assert_memory_equal(got, expected, sizeof got);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_answers),
        cmocka_unit_test(test_any_part_equals_the_whole),
        cmocka_unit_test(test_quantile),
        cmocka_unit_test(test_engines),
    };
    return cmocka_run_group_tests_name("random", tests, NULL, NULL);
}
