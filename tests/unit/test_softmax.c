/* SPDX-License-Identifier: MIT */
/* One row: the worked example, and random rows against a second implementation of docs/numerics.md
 * section 4 that shares nothing with the first (MPFR exponential, table-search cast, plain loops).
 */
#include "pcast/softmax.h"

#include "base/bits.h"

#include "oracle_fp8.h"
#include "unit.h"

#include <math.h>
#include <mpfr.h>
#include <stdlib.h>

static float exact_exp(float x)
{
    static mpfr_t work;
    static int ready;
    if (!ready) {
        mpfr_init2(work, 24);
        mpfr_set_emin(-148);
        mpfr_set_emax(128);
        ready = 1;
    }
    mpfr_set_flt(work, x, MPFR_RNDN);
    const int ternary = mpfr_exp(work, work, MPFR_RNDN);
    mpfr_subnormalize(work, ternary, MPFR_RNDN);
    return mpfr_get_flt(work, MPFR_RNDN);
}

static float sum16(const float *x, size_t n)
{
    float lane[16] = {0};
    for (size_t e = 0; e < n; e++)
        lane[e % 16] = lane[e % 16] + x[e];
    for (int t = 0; t < 8; t++)
        lane[t] = lane[t] + lane[t + 8];
    for (int t = 0; t < 4; t++)
        lane[t] = lane[t] + lane[t + 4];
    lane[0] = lane[0] + lane[2];
    lane[1] = lane[1] + lane[3];
    return lane[0] + lane[1];
}

typedef struct oracle_row {
    float m, l, o[512];
    uint8_t p8[4096];
} oracle_row;

/* Section 4, written out. */
static void run_oracle(const pcast_kernel *kernel, const pcast_row_input *in, oracle_row *out)
{
    const oracle_fp8 table = oracle_fp8_make(PCAST_E4M3);
    const size_t B = kernel->block, blocks = (in->keys + B - 1) / B;
    out->m = -INFINITY;
    out->l = 0;
    memset(out->o, 0, sizeof out->o);
    for (size_t step = 0; step < blocks; step++) {
        const size_t b = kernel->order == PCAST_ORDER_FORWARD ? step : blocks - 1 - step;
        const size_t first = b * B, end = (b + 1) * B < in->keys ? (b + 1) * B : in->keys;
        if (first >= in->visible)
            continue;
        float m_new = out->m;
        for (size_t j = first; j < end && j < in->visible; j++)
            if (in->scores[j] > m_new)
                m_new = in->scores[j];
        const float origin = isinf(m_new) && m_new < 0 ? 0.0f : m_new;
        const float alpha = exact_exp(out->m - origin);
        float p[4096];
        for (size_t j = first; j < end; j++) {
            p[j - first] = j < in->visible ? exact_exp(in->scores[j] - origin) : 0.0f;
            const float scaled = p[j - first] * kernel->scale;
            out->p8[j] = oracle_fp8_encode(&table, (double)scaled,
                                           kernel->overflow == PCAST_OVERFLOW_SATURATE);
        }
        out->l = fmaf(alpha, out->l, sum16(p, end - first));
        for (size_t c = 0; c < in->dim; c++) {
            out->o[c] = alpha * out->o[c];
            for (size_t j = first; j < end; j++) {
                const float value = (float)oracle_fp8_decode(&table, out->p8[j]);
                out->o[c] = fmaf(value, in->values[j * in->dim + c], out->o[c]);
            }
        }
        out->m = m_new;
    }
    const float divisor = kernel->scale * out->l;
    for (size_t c = 0; c < in->dim; c++)
        out->o[c] = out->o[c] / divisor;
}

static void collect_codes(void *context, const pcast_tile *tile)
{
    for (size_t i = 0; i < tile->count; i++)
        ((uint8_t *)context)[tile->first_key + i] = (uint8_t)tile->p8[i];
}

/* out = O / (S*l) for one key at score 0 first and 2047 at -7, V = 1: see docs/numerics.md.
 *   l  = 1 + 2047 exp(-7)                      = 2.866622
 *   S = 1:   exp(-7) < 2^-10 flushes           -> 1 / l                          = 0.348843
 *   S = 256: 256 exp(-7) = 0.23344 -> 0.234375 -> (1 + 2047 * 0.234375/256) / l  = 1.002603
 *   S = 448: 448 exp(-7) = 0.40852 -> 0.40625  -> (1 + 2047 * 0.40625/448) / l   = 0.996377 */
static void test_worked_example(void **state)
{
    (void)state;
    const struct {
        float scale;
        double expected;
    } cases[] = {{1, 0.348843}, {256, 1.002603}, {448, 0.996377}};
    static float scores[2048], values[2048];
    for (int j = 0; j < 2048; j++) {
        scores[j] = j == 0 ? 0.0f : -7.0f;
        values[j] = 1.0f;
    }
    const pcast_row_input input = {scores, values, 2048, 1, 2048, 0};
    for (size_t i = 0; i < 3; i++) {
        const pcast_kernel kernel = {
            .order = PCAST_ORDER_FORWARD, .block = 64, .scale = cases[i].scale};
        float o;
        pcast_row_output output = {.o = &o};
        pcast_error err;
        assert_int_equal(
            pcast_softmax_row(&kernel, PCAST_CPU_SCALAR, &input, NULL, NULL, &output, &err),
            PCAST_OK);
        assert_near((double)o, cases[i].expected, 5e-6);
        static oracle_row expected;
        run_oracle(&kernel, &input, &expected);
        assert_bits_f32(o, expected.o[0]);
        assert_bits_f32(output.l, expected.l);
    }
}

/* Equal bits; a NaN is the one of step 4.10, whatever the expectation's arithmetic made. */
static int same_output(const float *got, const float *expected, size_t dim)
{
    for (size_t c = 0; c < dim; c++)
        if (isnan(expected[c]) ? pcast_bits_f32(got[c]) != 0x7FC00000
                               : memcmp(&got[c], &expected[c], 4) != 0)
            return 0;
    return 1;
}

static void compare_row(const pcast_kernel *kernel, const pcast_row_input *input, uint64_t seed)
{
    static oracle_row expected;
    run_oracle(kernel, input, &expected);
    for (pcast_cpu cpu = PCAST_CPU_SCALAR; cpu <= pcast_cpu_detect(); cpu++) {
        float o[512];
        uint8_t p8[4096];
        memset(o, 0xA5, sizeof o);
        pcast_row_output output = {.o = o};
        pcast_error err;
        assert_int_equal(pcast_softmax_row(kernel, cpu, input, collect_codes, p8, &output, &err),
                         PCAST_OK);
        const size_t last = (input->visible + kernel->block - 1) / kernel->block * kernel->block;
        const size_t visited = last < input->keys ? last : input->keys;
        const int same =
            memcmp(&output.m, &expected.m, 4) == 0 && memcmp(&output.l, &expected.l, 4) == 0 &&
            same_output(o, expected.o, input->dim) && memcmp(p8, expected.p8, visited) == 0;
        if (!same)
            fail_msg("seed %llu: keys %zu visible %zu dim %zu block %zu scale %a order %s cpu %s: "
                     "m %a/%a l "
                     "%a/%a o[0] %a/%a",
                     (unsigned long long)seed, input->keys, input->visible, input->dim,
                     kernel->block, (double)kernel->scale, pcast_order_name(kernel->order),
                     pcast_cpu_name(cpu), (double)output.m, (double)expected.m, (double)output.l,
                     (double)expected.l, (double)o[0], (double)expected.o[0]);
    }
}

/* Odd lengths, short last blocks, masks, scales that saturate and scales that flush, wide scores.
 */
static void test_random_rows(void **state)
{
    (void)state;
    static float scores[1024], values[1024 * 200];
    static const float scales[] = {1, 256, 448, 447.8898f, 1000, 0.001f};
    for (uint64_t seed = 1; seed <= 300; seed++) {
        uint64_t random = seed * UINT64_C(0x9E3779B97F4A7C15);
        const size_t dims[] = {1, 7, 16, 31, 32, 33, 64, 128, 199};
        const size_t keys = 1 + test_random(&random) % 700;
        const size_t dim = dims[test_random(&random) % 9];
        const double width = pow(10, 2 * test_uniform(&random) - 0.5);
        for (size_t j = 0; j < keys; j++) {
            scores[j] = (float)(width * (test_uniform(&random) + test_uniform(&random) - 1));
            for (size_t c = 0; c < dim; c++)
                values[j * dim + c] = (float)(4 * test_uniform(&random) - 2);
        }
        const pcast_kernel kernel = {
            .order = (pcast_order)(test_random(&random) % 2),
            .block = 1 + test_random(&random) % 150,
            .scale = scales[test_random(&random) % 6],
            .overflow = (pcast_overflow)(test_random(&random) % 2),
        };
        const size_t visible = test_random(&random) % 2 ? keys : 1 + test_random(&random) % keys;
        const pcast_row_input input = {scores, values, keys, dim, visible, 0};
        compare_row(&kernel, &input, seed);
    }
}

/* Every observation of a row is consistent with its block, and m and l end as the output says. */
typedef struct seen_tiles {
    size_t keys, tiles;
    float m, l;
} seen_tiles;

static void note_tile(void *context, const pcast_tile *tile)
{
    seen_tiles *seen = context;
    seen->keys += tile->count;
    seen->tiles++;
    seen->m = tile->m;
    seen->l = tile->l;
}

static void test_observer_and_mask(void **state)
{
    (void)state;
    float scores[10] = {3, 1, 2, 0, 1, 9, 9, 9, 9, 9},
          values[10] = {1, 1, 1, 1, 1, NAN, 1, 1, NAN, NAN};
    const pcast_row_input input = {scores, values, 10, 1, 5, 0};
    for (int order = 0; order < 2; order++) {
        const pcast_kernel kernel = {.order = (pcast_order)order, .block = 4, .scale = 256};
        float o;
        pcast_row_output output = {.o = &o};
        pcast_error err;
        seen_tiles seen = {0};
        assert_int_equal(
            pcast_softmax_row(&kernel, PCAST_CPU_SCALAR, &input, note_tile, &seen, &output, &err),
            PCAST_OK);
        assert_int_equal(seen.tiles,
                         2); /* keys 0-3 and 4-7; 8-9 are masked whole and not visited */
        assert_int_equal(seen.keys, 8);
        assert_bits_f32(output.m, 3.0f);
        assert_bits_f32(seen.m, output.m);
        assert_bits_f32(seen.l, output.l);
        assert_true(isnan(o)); /* key 5 is masked, but its NaN shares a tile with key 4 */
    }
}

/* A first block whose visible scores are all -Inf leaves no trace; a row of nothing else gives 0 /
 * 0. */
static void test_infinite_scores(void **state)
{
    (void)state;
    float scores[4] = {-INFINITY, -INFINITY, 0, 0}, values[4] = {5, 5, 1, 3}, o;
    const pcast_kernel kernel = {.block = 2, .scale = 256};
    pcast_row_input input = {scores, values, 4, 1, 4, 0};
    pcast_row_output output = {.o = &o};
    pcast_error err;
    assert_int_equal(
        pcast_softmax_row(&kernel, PCAST_CPU_SCALAR, &input, NULL, NULL, &output, &err), PCAST_OK);
    assert_bits_f32(o, 2.0f);
    assert_bits_f32(output.l, 2.0f);
    compare_row(&kernel, &input, 0);
    input.keys = input.visible = 2;
    assert_int_equal(
        pcast_softmax_row(&kernel, PCAST_CPU_SCALAR, &input, NULL, NULL, &output, &err), PCAST_OK);
    assert_true(isnan(o) && output.l == 0 && isinf(output.m));
}

/* NaNs of both signs and with payloads, and those that infinities make, at every CPU level: results
 * show one NaN. Which of these an addition returns, and the sign that it gives a new one, differ
 * between processors and between instructions of one processor. */
static void test_nan_bits(void **state)
{
    (void)state;
    enum { TOKENS = 40, WIDTH = 33 };
    static const uint32_t odd[] = {0xFFC00001, 0x7FC00123, 0xFF800001, 0x7F800001,
                                   0x7F800000, 0xFF800000, 0x7FFFFFFF, 0xFFFFFFFF};
    static const char *const specs[] = {"paper",
                                        "paper:masked_rows=nan",
                                        "paper:accumulator=fp16;out_format=f16",
                                        "fa3:block=8",
                                        "fa3:block=8;accumulator=fp64",
                                        "fa3:block=8;splits=3",
                                        "fa4-offset8-tau4:out_format=f16",
                                        "xqa-mla:lse=e"};
    static float s[TOKENS], v[TOKENS * WIDTH], o[WIDTH];
    size_t seen_o = 0, seen_lse = 0;
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++)
        for (int kind = 0; kind < 4; kind++)
            for (pcast_cpu cpu = PCAST_CPU_SCALAR; cpu <= pcast_cpu_detect(); cpu++) {
                for (uint32_t j = 0; j < TOKENS; j++)
                    s[j] = (float)(j % 5);
                for (uint32_t j = 0; j < TOKENS * WIDTH; j++)
                    v[j] = kind < 2 && j % 11 == 3 ? pcast_f32_from_bits(odd[j % 8]) : 1.0f;
                if (kind != 0)
                    s[7] = pcast_f32_from_bits(odd[2 * kind]);
                pcast_kernel kernel;
                assert_int_equal(pcast_kernel_parse(specs[i], &kernel, NULL, NULL), PCAST_OK);
                const pcast_row_input input = {s, v, TOKENS, WIDTH, TOKENS, 0};
                pcast_row_output output = {.o = o};
                assert_int_equal(pcast_softmax_row(&kernel, cpu, &input, NULL, NULL, &output, NULL),
                                 PCAST_OK);
                const float others[] = {output.lse, output.l};
                for (size_t c = 0; c < WIDTH + 2; c++) {
                    const float got = c < WIDTH ? o[c] : others[c - WIDTH];
                    if (isnan(got) && pcast_bits_f32(got) != 0x7FC00000)
                        fail_msg("%s, kind %d, %s, %zu: NaN 0x%08X", specs[i], kind,
                                 pcast_cpu_name(cpu), c, pcast_bits_f32(got));
                    *(c < WIDTH ? &seen_o : &seen_lse) += isnan(got) != 0;
                }
            }
    assert_true(seen_o > 1000 && seen_lse > 10);
}

static void test_bad_arguments(void **state)
{
    (void)state;
    float one = 1, o;
    pcast_row_output output = {.o = &o};
    pcast_error err = {""};
    const pcast_kernel good = {.block = 4, .scale = 1};
    const pcast_kernel kernels[] = {{.block = 0, .scale = 1},
                                    {.block = 4, .scale = 0},
                                    {.block = 4, .scale = NAN},
                                    {.block = 4, .scale = -1},
                                    {.block = 4, .scale = INFINITY},
                                    {.order = (pcast_order)7, .block = 4, .scale = 1},
                                    {.mask = (pcast_mask)-1, .block = 4, .scale = 1},
                                    {.overflow = (pcast_overflow)2, .block = 4, .scale = 1}};
    static const char *const said[] = {"block", "scale", "scale", "scale",
                                       "scale", "order", "mask",  "overflow"};
    const pcast_row_input input = {&one, &one, 1, 1, 1, 0};
    for (size_t i = 0; i < 8; i++) {
        err.text[0] = '\0';
        assert_int_equal(
            pcast_softmax_row(&kernels[i], PCAST_CPU_SCALAR, &input, NULL, NULL, &output, &err),
            PCAST_ERR_VALUE);
        assert_non_null(strstr(err.text, said[i]));
    }
    const pcast_row_input bad[] = {
        {&one, &one, 0, 1, 0, 0}, {&one, &one, 1, 0, 1, 0}, {&one, &one, 1, 1, 2, 0}};
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(
            pcast_softmax_row(&good, PCAST_CPU_SCALAR, &bad[i], NULL, NULL, &output, &err),
            PCAST_ERR_VALUE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_worked_example),    cmocka_unit_test(test_random_rows),
        cmocka_unit_test(test_observer_and_mask), cmocka_unit_test(test_infinite_scores),
        cmocka_unit_test(test_nan_bits),          cmocka_unit_test(test_bad_arguments),
    };
    return cmocka_run_group_tests_name("softmax", tests, NULL, NULL);
}
