/* SPDX-License-Identifier: MIT */
/* What each preset does where its source settles the answer: equal scores, a hot key in the first
 * tile, a stale maximum, wide scores, masked rows and tiles, sentinels. */
#include "pcast/kernel.h"

#include "random/draws.h"
#include "softmax/row.h"
#include "unit.h"

#include <math.h>
#include <stdlib.h>

enum { KEYS_MAX = 8192 };

static float scores[KEYS_MAX], values[KEYS_MAX];
static float softmax_scale = 1;

typedef struct result {
    float o, lse;
    size_t saturated, tiles;
} result;

/* Values beyond what rounds to the largest number of the format, counted by the definition. */
typedef struct counter {
    double bound;
    size_t saturated, tiles;
} counter;

static void count(void *context, const pcast_tile *tile)
{
    counter *seen = context;
    seen->tiles++;
    for (size_t i = 0; i < tile->count; i++)
        seen->saturated += (double)tile->scaled[i] > seen->bound;
}

/* One row of one channel; visited may cover more keys than visible. */
static result run_keys(const pcast_kernel *kernel, size_t keys, pcast_range visible,
                       pcast_range visited)
{
    const pcast_head_scales scales = {softmax_scale, 1, 1, kernel->sink_given, kernel->sink_logit};
    pcast_plan plan;
    pcast_row row;
    pcast_row_scratch scratch;
    pcast_error err = {""};
    counter seen = {464, 0, 0};
    if (pcast_kernel_validate(kernel, &err) != PCAST_OK ||
        pcast_plan_init(&plan, kernel, pcast_cpu_detect(), &scales, 128, &err) != PCAST_OK ||
        pcast_row_init(&row, &plan, keys, 1, &err) != PCAST_OK ||
        pcast_row_scratch_init(&scratch, plan.kernel.block, 1, &err) != PCAST_OK)
        fail_msg("%s", err.text);
    const pcast_row_keys row_keys = {keys, visible, visited};
    pcast_row_run(&row, &row_keys, scores, (pcast_values){values, NULL}, count, &seen, &scratch);
    const result out = {row.o[0], row.lse, seen.saturated, seen.tiles};
    pcast_row_free(&row);
    pcast_row_scratch_free(&scratch);
    return out;
}

static result run(const pcast_kernel *kernel, size_t keys)
{
    return run_keys(kernel, keys, (pcast_range){0, keys}, (pcast_range){0, keys});
}

static pcast_kernel parse(const char *spec)
{
    pcast_kernel kernel;
    pcast_error err = {""};
    if (pcast_kernel_parse(spec, &kernel, NULL, &err) != PCAST_OK ||
        pcast_kernel_validate(&kernel, &err) != PCAST_OK)
        fail_msg("%s: %s", spec, err.text);
    return kernel;
}

static void fill(size_t keys, float score, float value)
{
    for (size_t i = 0; i < keys; i++) {
        scores[i] = score;
        values[i] = value;
    }
}

static void test_all_are_valid(void **state)
{
    (void)state;
    assert_true(pcast_preset_count() >= 25);
    for (size_t i = 0; i < pcast_preset_count(); i++) {
        const pcast_preset *preset = pcast_preset_at(i);
        pcast_error err = {""};
        if (pcast_kernel_validate(&preset->kernel, &err) != PCAST_OK)
            fail_msg("%s: %s", preset->name, err.text);
        assert_true(preset->source[0] != '\0' && preset->date[0] != '\0' &&
                    preset->unit_row[0] != '\0');
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(preset->name, pcast_preset_at(j)->name);
    }
}

/* Equal scores and V = 1: the output lies where unit_row says, for any number of keys and score. */
static void test_unit_row(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 2, 7, 100, 128, 205, 256, 1000, 1025, 4096};
    static const float levels[] = {0, 0.37f, -3.3f, 11.5f};
    for (size_t i = 0; i < pcast_preset_count(); i++) {
        const pcast_preset *preset = pcast_preset_at(i);
        for (size_t n = 0; n < sizeof sizes / sizeof sizes[0]; n++)
            for (size_t s = 0; s < 4; s++) {
                fill(sizes[n], levels[s], 1);
                const double o = (double)run(&preset->kernel, sizes[n]).o;
                if (!(o >= preset->unit_low && o <= preset->unit_high))
                    fail_msg("%s: %zu scores of %g give %.9g, '%s'", preset->name, sizes[n],
                             (double)levels[s], o, preset->unit_row);
            }
    }
}

/* One hot key (V = 0) in the tile visited first and 4096 keys 7 nats below it (V = 1). Exact:
 * 4096 e^-7 / (1 + 4096 e^-7) = 0.78883. The cast of e^-7 = 9.1188e-4 decides: nothing is left of
 * it at S = 1; 7 * 2^-9 / 16 at S = 16; 0.234375 / 256 at S = 256; 2^-9 * 2 / 4 at S = 4;
 * 0.40625 / 448 at S = 448. aiter-pa-ragged loses only the 255 keys beside the hot one. */
static void test_hot_key_first(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double kept; /* of e^-7 */
    } expected[] = {
        {"paper", 0},
        {"fa3", 0.234375 / 256},
        {"fa3-vllm", 0.234375 / 256},
        {"fa4", 0.234375 / 256},
        {"fa4-offset8-tau4", 0.234375 / 256},
        {"fa4-offset4-tau4", 7 * 0x1p-9 / 16},
        {"fa4-vllm", 0.234375 / 256},
        {"flashinfer-fa3", 0.40625 / 448},
        {"flashinfer-cutedsl", 0.234375 / 256},
        {"flashinfer-cutedsl-skip", 0},
        {"trtllm-gen", 0.40625 / 448},
        {"xqa-sm90", 0.40625 / 448},
        {"fmha-v2", 0.234375 / 256},
        {"hpc-ops-2026-01", 0},
        {"hpc-ops", 0.234375 / 256},
        {"vllm-triton", 0},
        {"cudnn", 2 * 0x1p-9 / 4},
        {"cudnn-mxfp8", 7 * 0x1p-9 / 16},
        {"torch-ref", 0},
        {"aiter-mla", 0},
    };
    const double e7 = 9.118819655545162e-4, total = 1 + 4096 * e7;
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        const pcast_kernel kernel = parse(expected[i].name);
        fill(4097, -7, 1);
        const size_t hot = kernel.order == PCAST_ORDER_FORWARD ? 0 : 4096;
        scores[hot] = 0;
        values[hot] = 0;
        const double o = (double)run(&kernel, 4097).o, want = 4096 * expected[i].kept / total;
        if (!(fabs(o - want) <= want * 0x1p-8)) /* the output has 8 bits */
            fail_msg("%s: %.6g, expected %.6g", expected[i].name, o, want);
        if (kernel.scale == 256)
            assert_near(o, 4096 * e7 / total, 0.01 * 0.78883);
    }
    fill(4097, -7, 1);
    scores[0] = 0;
    values[0] = 0;
    const pcast_kernel ragged = parse("aiter-pa-ragged:out_format=f32");
    assert_near((double)run(&ragged, 4097).o, (4096 - 255) * e7 / total, 1e-5);
    /* Numerator and denominator from the same casts: 0.40625 for e^-7 * 448 in both. */
    const pcast_kernel mla = parse("xqa-mla:out_format=f32");
    assert_near((double)run(&mla, 4097).o, 4096 * 0.40625 / (448 + 4096 * 0.40625), 1e-6);
}

/* Two tiles, the second visited raising the maximum by `lag` log2 units. P = S * 2^lag saturates
 * where the lag is kept (lag <= tau) and S * 2^lag > 464; the log-sum-exp stays exact. */
static void test_stale_maximum(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double tau;
    } kernels[] = {{"fa4-vllm", 0.75}, {"fa4-offset8-tau4", 4}, {"fa4", 0}};
    static const double lags[] = {0.74, 0.82, 3};
    for (size_t k = 0; k < 3; k++)
        for (size_t i = 0; i < 3; i++) {
            pcast_kernel kernel = parse(kernels[k].name);
            kernel.out_format = PCAST_OUTPUT_F32;
            /* Reverse order: keys 128..255 come first. One key holds the later maximum. */
            fill(256, -2, 1);
            scores[128] = 0;
            scores[5] = (float)(lags[i] * 0.69314718055994531);
            values[5] = -1;
            const result got = run(&kernel, 256);
            const int kept = lags[i] <= kernels[k].tau;
            const int saturates = kept && 256 * exp2(lags[i]) > 464;
            assert_int_equal(got.saturated, saturates);
            const double big = exp2(lags[i]), rest = 254 * exp(-2.0) + 1;
            assert_near((double)got.lse, log(rest + big), 2e-6);
            const double exact = (rest - big) / (rest + big);
            if (saturates) /* 448 instead of 2048: numerator and sum no longer agree */
                assert_true(fabs((double)got.o - exact) > 0.1);
            else
                assert_near((double)got.o, exact, 0x1p-4); /* half a step of E4M3, relative */
        }
}

/* Relative L2 error of rows of N(0, 1.5^2) scores and normal values, against exact attention. */
static double wide_scores_error(const char *spec, size_t keys)
{
    const pcast_kernel kernel = parse(spec);
    uint64_t random = 20260829 + keys;
    double error2 = 0, reference2 = 0;
    for (int row = 0; row < 200; row++) {
        double sum = 0, weighted = 0;
        for (size_t i = 0; i < keys; i++) {
            scores[i] = (float)(1.5 * pcast_normal_quantile(test_uniform(&random) + 0x1p-54));
            values[i] = (float)pcast_normal_quantile(test_uniform(&random) + 0x1p-54);
            sum += exp((double)scores[i]);
            weighted += exp((double)scores[i]) * (double)values[i];
        }
        const double error = (double)run(&kernel, keys).o - weighted / sum;
        error2 += error * error;
        reference2 += weighted / sum * (weighted / sum);
    }
    return sqrt(error2 / reference2);
}

/* Reverse, B = 128: offset 8 with tau 4 saturates E4M3 and makes it several times worse than E5M2;
 * offset 4 with tau 4, or offset 8 with tau 0, are about twice as good as E5M2. */
static void test_wide_scores(void **state)
{
    (void)state;
    static const size_t sizes[] = {256, 1024, 4096, 8192};
    for (size_t i = 0; i < 4; i++) {
        const double e5m2 =
            wide_scores_error("fa4-offset8-tau4:p_format=e5m2;out_format=f32", sizes[i]);
        const double worse = wide_scores_error("fa4-offset8-tau4:out_format=f32", sizes[i]) / e5m2;
        const double low = wide_scores_error("fa4-offset4-tau4:out_format=f32", sizes[i]) / e5m2;
        const double fresh = wide_scores_error("fa4:out_format=f32", sizes[i]) / e5m2;
        print_message("N = %zu: E5M2 %.4f; relative to it offset 8, tau 4: %.2f; offset 4, tau 4: "
                      "%.2f; offset 8, tau 0: %.2f\n",
                      sizes[i], e5m2, worse, low, fresh);
        assert_true(worse > 2);
        assert_true(low > 0.3 && low < 0.7);
        assert_true(fresh > 0.3 && fresh < 0.7);
    }
}

/* A row that sees none of the keys it visits. */
static void test_fully_masked_rows(void **state)
{
    (void)state;
    static const char *const zero[] = {"fa3",
                                       "fa3-vllm",
                                       "fa4",
                                       "fa4-vllm",
                                       "fa4-offset8-tau4",
                                       "fa4-offset4-tau4",
                                       "flashinfer-fa3",
                                       "flashinfer-cutedsl",
                                       "flashinfer-cutedsl-skip",
                                       "trtllm-gen",
                                       "fmha-v2",
                                       "cudnn",
                                       "cudnn-mxfp8",
                                       "torch-ref"};
    static const char *const mean[] = {"xqa-sm90", "xqa-mla", "sage2-fp32", "sage2-fp32x2",
                                       "sage2pp"};
    static const char *const nan[] = {"paper", "hpc-ops", "hpc-ops-2026-01", "vllm-triton"};
    const pcast_range nothing = {0, 0}, all = {0, 64};
    fill(64, 1, 1);
    for (size_t i = 0; i < 32; i++)
        values[i] = 2; /* mean 1.5 */
    for (size_t i = 0; i < sizeof zero / sizeof zero[0]; i++) {
        const pcast_kernel kernel = parse(zero[i]);
        const result got = run_keys(&kernel, 64, nothing, all);
        assert_bits_f32(got.o, 0.0f);
        assert_bits_f32(got.lse, -INFINITY);
    }
    /* The sentinel times c is rounded, so that P is near S rather than S: within a few per cent. */
    softmax_scale = 0.0883883461f; /* 1 / sqrt(128) */
    for (size_t i = 0; i < sizeof mean / sizeof mean[0]; i++) {
        const pcast_kernel kernel = parse(mean[i]);
        assert_near((double)run_keys(&kernel, 64, nothing, all).o, 1.5, 0.06);
    }
    softmax_scale = 1;
    for (size_t i = 0; i < sizeof nan / sizeof nan[0]; i++) {
        const pcast_kernel kernel = parse(nan[i]);
        assert_true(isnan(run_keys(&kernel, 64, nothing, all).o));
    }
}

/* The first visited tile is masked for this row. Guarded kernels give what they give without that
 * tile; finite sentinels fade when a real score arrives; hpc-ops, unguarded, gives NaN;
 * vllm-triton keeps a maximum of 0 and flushes a row of scores far below it. */
static void test_first_tile_masked(void **state)
{
    (void)state;
    static const char *const same[] = {"fa3:block=32",
                                       "fa3-vllm:block=32",
                                       "fa4:block=32",
                                       "flashinfer-fa3:block=32",
                                       "flashinfer-cutedsl:block=32",
                                       "trtllm-gen:block=32",
                                       "xqa-sm90:block=32",
                                       "xqa-mla:block=32",
                                       "fmha-v2:block=32",
                                       "sage2-fp32:block=32",
                                       "sage2pp:block=32",
                                       "cudnn:block=32",
                                       "torch-ref:block=32",
                                       "paper:block=32"};
    fill(64, -20, 1);
    for (size_t i = 0; i < 64; i++)
        values[i] = (float)i * 0x1p-5f; /* within the range that FP16 accumulation allows */
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        const pcast_kernel kernel = parse(same[i]);
        const int forward = kernel.order == PCAST_ORDER_FORWARD;
        const pcast_range visible = {forward ? 32 : 0, 32};
        const result whole = run_keys(&kernel, 64, visible, (pcast_range){0, 64});
        const result half = run_keys(&kernel, 64, visible, visible);
        assert_int_equal(whole.tiles, half.tiles + 1);
        if (memcmp(&whole.o, &half.o, 4) != 0 || memcmp(&whole.lse, &half.lse, 4) != 0)
            fail_msg("%s: %a and %a, log-sum-exp %a and %a", same[i], (double)whole.o,
                     (double)half.o, (double)whole.lse, (double)half.lse);
    }
    const pcast_range late = {32, 32}, all = {0, 64};
    const pcast_kernel hpc = parse("hpc-ops:block=32"), triton = parse("vllm-triton");
    assert_true(isnan(run_keys(&hpc, 64, late, all).o));
    assert_false(isnan(run_keys(&hpc, 64, late, late).o));
    assert_bits_f32(run_keys(&triton, 64, late, all).o, 0.0f);
    assert_near((double)run_keys(&triton, 64, late, late).o, 47.5 / 32, 0.02);
}

/* Scores all below the sentinel: XQA's row sum stays 0 and 1/0 times 0 is NaN; Sage's starts at 1,
 * so that the output is 0. */
static void test_scores_below_sentinel(void **state)
{
    (void)state;
    const pcast_kernel xqa = parse("xqa-sm90"), sage = parse("sage2-fp32");
    fill(64, -2e5f, 1);
    assert_true(isnan(run(&xqa, 64).o));
    fill(64, -9e6f, 1);
    assert_bits_f32(run(&sage, 64).o, 0.0f);
}

/* FP16 accumulation of a 64-key tile of P = 448: V up to 2.25 stays below 65504, 2.5 does not. */
static void test_fp16_accumulator(void **state)
{
    (void)state;
    const pcast_kernel kernel = parse("sage2pp");
    fill(128, 0, 2.25f);
    assert_near((double)run(&kernel, 128).o, 2.25, 0.02); /* each addition rounds to 11 bits */
    fill(128, 0, 2.5f);
    assert_bits_f32(run(&kernel, 128).o, INFINITY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_are_valid),     cmocka_unit_test(test_unit_row),
        cmocka_unit_test(test_hot_key_first),     cmocka_unit_test(test_stale_maximum),
        cmocka_unit_test(test_wide_scores),       cmocka_unit_test(test_fully_masked_rows),
        cmocka_unit_test(test_first_tile_masked), cmocka_unit_test(test_scores_below_sentinel),
        cmocka_unit_test(test_fp16_accumulator),
    };
    return cmocka_run_group_tests_name("presets", tests, NULL, NULL);
}
