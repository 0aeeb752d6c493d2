/* SPDX-License-Identifier: MIT */
/* Every engine of this processor against the scalar one, by bits: odd lengths, misaligned and
 * padded buffers, subnormals, ties, infinities, NaN. */
#include "measure/engine.h"
#include "softmax/engine.h"

#include "base/bits.h"
#include "math/math.h"
#include "pcast/format.h"
#include "unit.h"

#include <math.h>
#include <stdlib.h>

enum { MOST = 300, GUARD = 16, ROWS = 9 };

static const pcast_cpu levels[] = {PCAST_CPU_AVX2, PCAST_CPU_AVX512};

/* Numbers of every kind: raw bits, and what scores and exponents look like. */
static float number(uint64_t *random, int kind)
{
    const uint32_t word = (uint32_t)(test_uniform(random) * 4294967296.0);
    switch (kind % 4) {
    case 0:
        return pcast_f32_from_bits(word);
    case 1:
        return (float)(200 * test_uniform(random) - 170);
    case 2:
        return pcast_f32_from_bits((word & 0x80FFFFFF) | (word & 1 ? 0x3F000000 : 0)); /* tiny */
    default:
        return (float)(20 * test_uniform(random) - 20);
    }
}

static void assert_bits(const void *expected, const void *got, size_t size, const char *what,
                        pcast_cpu level, size_t n)
{
    const uint8_t *a = expected, *b = got;
    for (size_t i = 0; i < size; i++)
        if (a[i] != b[i])
            fail_msg("%s, %s, n = %zu: byte %zu of %zu is %02X, not %02X", what,
                     pcast_cpu_name(level), n, i, size, b[i], a[i]);
}

/* NaN results may differ in their payload only where the inputs were NaN of several kinds: one kind
 * is made of all. */
static void plain_nan(float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = x[i] != x[i] ? NAN : x[i];
}

static void test_exponentials(void **state)
{
    (void)state;
    uint64_t random = 1;
    static const float edges[] = {
        88.72283f,  88.722839f,  89,        -103.972f, -103.97208f, -104,  -104.5f,   128,
        127.99999f, -149.99998f, -150,      -150.5f,   0,           -0.0f, 0x1p-149f, 1,
        -1,         0x1p-26f,    -0x1p-26f, INFINITY,  -INFINITY,   NAN};
    for (size_t l = 0; l < 2; l++)
        for (size_t n = 0; n < MOST; n++)
            for (int base2 = 0; base2 < 2; base2++) {
                float x[MOST + GUARD + 1], y[MOST + GUARD + 1];
                float *const at = x + 1; /* misaligned for every vector */
                for (size_t i = 0; i < MOST + GUARD; i++)
                    at[i] = i < sizeof edges / sizeof edges[0] && n % 3 == 0
                                ? edges[i]
                                : number(&random, (int)(i + n));
                memcpy(y, x, sizeof y);
                pcast_engine_for(levels[l])->exponentials(at, n, base2);
                for (size_t i = 0; i < n; i++)
                    y[1 + i] = base2 ? pcast_exp2_f32(y[1 + i]) : pcast_exp_f32(y[1 + i]);
                plain_nan(at, n);
                plain_nan(y + 1, n);
                assert_bits(y + 1, at, (MOST + GUARD) * sizeof *at, "exponentials", levels[l], n);
            }
}

static void test_weights(void **state)
{
    (void)state;
    uint64_t random = 2;
    for (size_t l = 0; l < 2; l++)
        for (size_t n = 0; n < MOST; n++) {
            float z[MOST + 1];
            double w[MOST + GUARD], expected[MOST + GUARD];
            const double max = n % 5 == 0 ? 300 : 5 * test_uniform(&random);
            for (size_t i = 0; i <= MOST; i++)
                z[i] = i % 17 == 3 ? -INFINITY : (float)(n % 2 ? 800 : 20) * number(&random, 3);
            for (size_t i = 0; i < MOST + GUARD; i++)
                w[i] = expected[i] = 7;
            pcast_measure_engine_for(levels[l])->weights(z + 1, max, w, n);
            for (size_t i = 0; i < n; i++)
                expected[i] = pcast_exp_f64((double)z[1 + i] - max);
            assert_bits(expected, w, sizeof w, "weights", levels[l], n);
        }
}

static void test_sums(void **state)
{
    (void)state;
    uint64_t random = 3;
    for (size_t l = 0; l < 2; l++)
        for (size_t n = 0; n < MOST; n++) {
            float a[MOST + 1], b[MOST + 1];
            const pcast_engine *engine = pcast_engine_for(levels[l]);
            for (size_t i = 0; i <= MOST; i++) {
                a[i] = number(&random, 1 + 2 * (int)(n % 2));
                b[i] = number(&random, 2 + (int)(n % 2));
            }
            const float expected[] = {pcast_engine_scalar.dot(a + 1, b + 1, n),
                                      pcast_engine_scalar.sum(a + 1, n),
                                      pcast_engine_scalar.max(-3, a + 1, n)};
            const float got[] = {engine->dot(a + 1, b + 1, n), engine->sum(a + 1, n),
                                 engine->max(-3, a + 1, n)};
            assert_bits(expected, got, sizeof got, "dot, sum, max", levels[l], n);
        }
}

/* Products of several rows against the definition, one element at a time. */
static void test_accumulate(void **state)
{
    (void)state;
    uint64_t random = 4;
    static float v[40 * MOST + 1], o[ROWS][MOST + GUARD], expected[ROWS][MOST + GUARD];
    static float p[ROWS][40], alpha[ROWS];
    for (size_t i = 0; i < sizeof v / sizeof v[0]; i++)
        v[i] = number(&random, i % 7 == 0 ? 2 : 3);
    for (size_t l = 0; l < 2; l++)
        for (size_t dim = 1; dim < MOST; dim += dim < 70 ? 1 : 13)
            for (size_t rows = 1; rows <= ROWS; rows++) {
                const size_t count = (dim + 5 * rows) % 40;
                float *rows_o[ROWS];
                const float *rows_p[ROWS];
                for (size_t r = 0; r < ROWS; r++) {
                    alpha[r] = r == 2 ? 1.0f : (float)test_uniform(&random);
                    rows_o[r] = o[r];
                    rows_p[r] = p[r];
                    for (size_t i = 0; i < 40; i++)
                        p[r][i] = i % 5 == 0 ? 0 : (float)test_uniform(&random);
                    for (size_t c = 0; c < MOST + GUARD; c++)
                        o[r][c] = expected[r][c] = number(&random, 3);
                    for (size_t c = 0; r < rows && c < dim; c++) {
                        expected[r][c] = alpha[r] * expected[r][c];
                        for (size_t key = 0; key < count; key++)
                            expected[r][c] = fmaf(p[r][key], v[1 + key * dim + c], expected[r][c]);
                    }
                }
                pcast_engine_for(levels[l])->accumulate(rows_o, alpha, rows_p, rows, v + 1, count,
                                                        dim);
                assert_bits(expected, o, sizeof o, "accumulate", levels[l], dim);
            }
}

static void test_reference(void **state)
{
    (void)state;
    uint64_t random = 5;
    static float v[40 * MOST + 1];
    static double o[2][MOST + GUARD], lost[2][MOST + GUARD], w[40];
    for (size_t i = 0; i < sizeof v / sizeof v[0]; i++)
        v[i] = i % 41 == 0 ? INFINITY : number(&random, 3);
    for (size_t l = 0; l < 2; l++)
        for (size_t dim = 1; dim < MOST; dim += dim < 70 ? 1 : 13) {
            const size_t count = dim % 40;
            for (size_t i = 0; i < 40; i++)
                w[i] = i % 3 == 0 ? 0 : exp(-30 * test_uniform(&random));
            for (size_t c = 0; c < MOST + GUARD; c++) {
                o[0][c] = o[1][c] = test_uniform(&random);
                lost[0][c] = lost[1][c] = 0x1p-60 * test_uniform(&random);
            }
            pcast_measure_engine_scalar.reference(o[0], lost[0], w, v + 1, count, dim);
            pcast_measure_engine_for(levels[l])->reference(o[1], lost[1], w, v + 1, count, dim);
            for (size_t c = 0; c < dim; c++) /* infinities leave NaN in what was lost */
                if (lost[0][c] != lost[0][c] && lost[1][c] != lost[1][c])
                    lost[0][c] = lost[1][c] = 0;
            assert_bits(o[0], o[1], sizeof o[0], "reference", levels[l], dim);
            assert_bits(lost[0], lost[1], sizeof lost[0], "reference, lost", levels[l], dim);
        }
}

/* Sums and counts of a block of every length, with codes of every kind. */
static void test_loss(void **state)
{
    (void)state;
    uint64_t random = 6;
    double value[256];
    for (uint32_t code = 0; code < 256; code++)
        value[code] = pcast_decode_f64(PCAST_E4M3, code) / 448;
    value[0x7F] = value[0xFF] = 1;
    for (size_t l = 0; l < 2; l++)
        for (size_t n = 0; n < MOST; n++) {
            float p[MOST + 1], scaled[MOST + 1];
            uint32_t codes[MOST + 1];
            for (size_t i = 0; i <= MOST; i++) {
                p[i] = i % 6 == 0 ? 0 : (float)exp(-20 * test_uniform(&random));
                scaled[i] = (float)(n % 4 == 0 ? 600 : 448) * p[i];
                codes[i] = i % 4 ? (uint32_t)(256 * test_uniform(&random)) : (uint32_t)i % 12;
            }
            const pcast_loss_block block = {n,     p + 1, scaled + 1, codes + 1, n % 2 ? 448 : 1,
                                            value, 464,   0x80,       8};
            pcast_loss_sums expected, got;
            pcast_measure_engine_scalar.loss(&block, &expected);
            pcast_measure_engine_for(levels[l])->loss(&block, &got);
            assert_bits(&expected, &got, sizeof got, "loss", levels[l], n);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exponentials), cmocka_unit_test(test_weights),
        cmocka_unit_test(test_sums),         cmocka_unit_test(test_accumulate),
        cmocka_unit_test(test_reference),    cmocka_unit_test(test_loss),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
