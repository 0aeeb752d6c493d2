/* SPDX-License-Identifier: MIT */
/* Results and the caller's floating-point environment: rounding modes, FTZ and DAZ neither change a
 * bit nor are changed. Built a second time with -ffast-math, as a careless caller would. */
#include "pcast/cpu.h"
#include "pcast/format.h"

#include "pcast/experiment.h"
#include "pcast/softmax.h"
#include "pcast/tensor_core.h"
#include "pcast/unit.h"

#include "flush.h"
#include "unit.h"

enum { KEYS = 300, DIM = 40, INPUTS = 6, LEVELS = PCAST_CPU_AVX512 + 1, ARRAY = 700 };

typedef struct results {
    uint64_t codes[PCAST_FORMAT_COUNT][PCAST_FORMAT_COUNT][INPUTS]; /* [to][from] */
    uint32_t encoded[PCAST_F64][INPUTS];
    float decoded[PCAST_FORMAT_COUNT][256];
    double wide[PCAST_FORMAT_COUNT][256], bound[PCAST_FORMAT_COUNT];
    uint32_t units[PCAST_UNIT_COUNT][INPUTS];
    float o[DIM], l;
    uint16_t array_codes[LEVELS][PCAST_F32][ARRAY]; /* as bytes where the format has 8 bits */
    uint32_t array_values[LEVELS][PCAST_F32][ARRAY];
    float tensor_core[PCAST_MACHINE_COUNT][2][INPUTS];
} results;

/* Rounded and subnormal results, subnormal arguments: -87.5, -0.3, 0.1, the least, 0.7, -126.9. */
static const uint32_t unit_inputs[INPUTS] = {0xC2AF0000, 0xBE99999A, 0x3DCCCCCD,
                                             0x00000001, 0x3F333333, 0xC2FDCCCD};

static float scores[KEYS], values[KEYS * DIM];

static float from_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Arrays of all magnitudes: binades in turn with mantissas that are ties, just beside, and others.
 */
static void fill_array(float x[ARRAY])
{
    static const uint32_t mantissas[7] = {0,        0x080000, 0x080001, 0x17FFFF,
                                          0x500000, 0x001000, 0x7FFFFF};
    for (uint32_t i = 0; i < ARRAY; i++)
        x[i] = from_bits(i << 31 | (i * 5 / 7 % 256) << 23 | mantissas[i % 7]);
}

static void compute_arrays(results *out, pcast_cast cast)
{
    static float x[ARRAY];
    static uint16_t codes[ARRAY];
    fill_array(x);
    for (uint32_t i = 0; i < ARRAY; i++)
        codes[i] = (uint16_t)(i * 40503);
    for (pcast_cpu level = PCAST_CPU_SCALAR; level <= PCAST_CPU_AVX512; level++)
        for (pcast_format format = PCAST_E4M3; format < PCAST_F32; format++) {
            pcast_encode_array(format, out->array_codes[level][format], x, ARRAY, cast, level);
            pcast_convert_array(
                PCAST_F32, out->array_values[level][format], format, codes, ARRAY,
                (pcast_cast){PCAST_OVERFLOW_NAN, PCAST_INF_NAN, PCAST_NAN_KEEP_SIGN}, level);
        }
}

/* Everything through the public headers. Inputs are bits, since the caller's own arithmetic may be
 * broken. */
static void compute(results *out)
{
    static const uint32_t inputs[INPUTS] = {0x3A800001, 0x00000001, 0x43E80001,
                                            0x7FC00000, 0xFF800000, 0x3F880000};
    const pcast_cast options = {.overflow = PCAST_OVERFLOW_NAN};
    memset(out, 0, sizeof *out);
    for (pcast_format format = PCAST_E4M3; format <= PCAST_F64; format++) {
        const int width = pcast_format_width(format);
        for (int i = 0; i < INPUTS; i++) {
            const uint64_t bits = ((uint64_t)inputs[i] << 32 | 1) >> (64 - width);
            if (format != PCAST_F64)
                out->encoded[format][i] = pcast_encode_f32(format, from_bits(inputs[i]), options);
            for (pcast_format to = PCAST_E4M3; to <= PCAST_F64; to++)
                out->codes[to][format][i] = pcast_convert(to, format, bits, options);
        }
        for (int top = 0; top < 256; top++) {
            const uint64_t code = (uint64_t)top << (width - 8) | (width > 8);
            out->decoded[format][top] = pcast_decode_f32(format, code);
            out->wide[format][top] = pcast_decode_f64(format, code);
        }
        out->bound[format] = pcast_format_overflow_bound(format);
    }
    compute_arrays(out, options);
    for (int u = 0; u < PCAST_UNIT_COUNT; u++)
        for (int i = 0; i < INPUTS; i++)
            out->units[u][i] = pcast_unit_apply((pcast_unit)u, unit_inputs[i]);
    const pcast_kernel kernel = {.order = PCAST_ORDER_REVERSE, .block = 64, .scale = 448};
    const pcast_row_input input = {scores, values, KEYS, DIM, KEYS, 0};
    pcast_row_output output = {.o = out->o};
    pcast_error err;
    assert_int_equal(
        pcast_softmax_row(&kernel, pcast_cpu_detect(), &input, NULL, NULL, &output, &err),
        PCAST_OK);
    out->l = output.l;
    static const uint8_t a[3] = {0x38, 0x01, 0xB9},
                         b[3 * INPUTS] = {0x38, 0x01, 0x7E, 0x00, 0x3A, 0xB8, 0x02, 0x34, 0x03,
                                          0x81, 0x7E, 0x05, 0x01, 0x00, 0x38, 0x02, 0x3B, 0x44};
    for (pcast_machine m = PCAST_MACHINE_ADA_MMA; m < PCAST_MACHINE_COUNT; m++)
        for (int f16 = 0; f16 < 2; f16++) {
            const pcast_tensor_core core = {m, PCAST_E4M3, PCAST_E4M3,
                                            (pcast_tensor_core_output)f16, pcast_cpu_detect()};
            memcpy(out->tensor_core[m][f16], inputs, sizeof inputs);
            pcast_tensor_core_row(&core, a, b, 3, INPUTS, INPUTS, out->tensor_core[m][f16]);
        }
}

/* Both kinds of experiment, as statistics. */
static void run_experiments(pcast_summary summaries[2])
{
    const double deltas[] = {6};
    const pcast_kernel kernel = {.block = 64, .scale = 448};
    const pcast_run run = {
        .kernels = &kernel, .kernel_count = 1, .threads = 2, .cpu = pcast_cpu_detect()};
    const pcast_synthetic synthetic = {KEYS, 3, 4, 11, 6, deltas, 1, 1, 0, 0};
    const pcast_tensor tensor = {
        .rank = 3, .shape = {1, 60, 5}, .data = values + KEYS, .format = PCAST_F32};
    const pcast_heads heads = {&tensor, &tensor, &tensor, 2, 1, 1e30f, NULL, {0}};
    size_t sinks[2];
    pcast_head head = {.sinks = sinks};
    pcast_error err = {""};
    memset(summaries, 0, 2 * sizeof *summaries);
    assert_int_equal(pcast_synthetic_run(&synthetic, &run, &summaries[0], &err), PCAST_OK);
    assert_int_equal(pcast_heads_run(&heads, &run, &head, &summaries[1], &err), PCAST_OK);
}

/* The scale of a SPEC that binary32 cannot hold exactly. */
static float parsed_scale(void)
{
    pcast_kernel kernel;
    assert_int_equal(pcast_kernel_parse("paper:scale=447.8898", &kernel, NULL, NULL), PCAST_OK);
    return kernel.scale;
}

static void fill(void)
{
    uint64_t random = 12345;
    for (int j = 0; j < KEYS; j++)
        scores[j] = (float)(90 * test_uniform(&random) - 90); /* exponentials down to subnormals */
    for (int i = 0; i < KEYS * DIM; i++)
        values[i] =
            from_bits((uint32_t)(test_random(&random) >> 32) & 0x80FFFFFF); /* many subnormals */
}

static void test_environment(void **state)
{
    (void)state;
    static results expected, got;
    pcast_summary expected_summaries[2], got_summaries[2];
    const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    fill();
    fesetenv(FE_DFL_ENV);
    compute(&expected);
    run_experiments(expected_summaries);
    const float scale = parsed_scale();
    for (int m = 0; m < 4; m++)
        for (int flush = 0; flush < 2; flush++) {
            fesetenv(FE_DFL_ENV);
            fesetround(modes[m]);
            if (flush)
                test_flush_subnormals();
            const uint64_t control = test_control();
            compute(&got);
            run_experiments(got_summaries);
            assert_memory_equal(got_summaries, expected_summaries, sizeof got_summaries);
            const float got_scale = parsed_scale();
            assert_memory_equal(&got_scale, &scale, sizeof scale);
            assert_int_equal(fegetround(), modes[m]);
            assert_int_equal(test_control(), control);
            fesetenv(FE_DFL_ENV);
            assert_memory_equal(&got, &expected, sizeof got);
        }
    /* Values worked out by hand, so that "the same" is also "right": just above 2^-10, the least
     * subnormal, just above 464, NaN, -Inf, 1.0625 (a tie). */
    static const uint8_t by_hand[INPUTS] = {0x01, 0x00, 0x7F, 0x7F, 0xFF, 0x38};
    for (int i = 0; i < INPUTS; i++) {
        assert_int_equal(expected.codes[PCAST_E4M3][PCAST_F32][i], by_hand[i]);
        for (int to = 0; to < PCAST_F64; to++)
            assert_int_equal(expected.encoded[to][i], expected.codes[to][PCAST_F32][i]);
    }
}

/* The arrays of `expected` are right, not only the same: they are the single conversions', which
 * test_environment finds right. */
static void test_arrays(void **state)
{
    (void)state;
    static results got;
    static float x[ARRAY];
    static uint32_t bits[ARRAY];
    const pcast_cast cast = {.overflow = PCAST_OVERFLOW_NAN};
    fill_array(x);
    memcpy(bits, x, sizeof bits);
    compute_arrays(&got, cast);
    for (int level = 0; level < LEVELS; level++)
        for (pcast_format format = PCAST_E4M3; format < PCAST_F32; format++) {
            const uint16_t *codes = got.array_codes[level][format];
            for (size_t i = 0; i < ARRAY; i++) {
                const int narrow = pcast_format_width(format) == 8;
                const unsigned code = narrow ? ((const uint8_t *)codes)[i] : codes[i];
                assert_code(code, (unsigned)pcast_convert(format, PCAST_F32, bits[i], cast),
                            bits[i]);
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_environment),
                                       cmocka_unit_test(test_arrays)};
    return cmocka_run_group_tests_name("environment", tests, NULL, NULL);
}
