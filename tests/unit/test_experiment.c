/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Experiments: the synthetic one against rows put together by hand from the same draws, any thread
 * count and CPU level, draws cached or not; heads with a known answer; bad requests. */
#include "pcast/experiment.h"

#include "experiment/synthetic_draws.h"
#include "random/draws.h"
#include "unit.h"

#include <math.h>
#include <pcast/softmax.h>
#include <stdlib.h>

enum { KEYS = 300, DIM = 5, SINKS = 3, TRIALS = 4 };

static void test_tally(void **state)
{
    (void)state;
    /* flushed / other: 1/10, 4/10, 3/20: ratio 8/40. Residuals f - R n: -1, 2, -1; variance of the
     * mean 6/2/3 = 1; over the mean of n, 40/3. Mean squared errors 1, 2, 6: mean 3, variance 7. */
    const pcast_loss rows[] = {
        {.other = 10,
         .flushed = 1,
         .outside = 5,
         .channels = 2,
         .error2 = 2,
         .reference2 = 8,
         .mass = 1,
         .kept = 1},
        {.other = 10,
         .flushed = 4,
         .outside = 5,
         .outside_flushed = 1,
         .channels = 2,
         .error2 = 4,
         .reference2 = 8,
         .mass = 2,
         .kept = 1},
        {.other = 20,
         .flushed = 3,
         .subnormal = 4,
         .unmasked = 8,
         .saturated = 2,
         .channels = 2,
         .error2 = 12,
         .reference2 = 2,
         .mass = 1,
         .kept = 1,
         .mse_given_p = 6,
         .max_abs = 3},
    };
    pcast_tally tally = {0};
    for (int i = 0; i < 3; i++)
        pcast_tally_add(&tally, &rows[i]);
    const pcast_summary summary = pcast_tally_summary(&tally);
    assert_int_equal(summary.rows, 3);
    assert_bits_f64(summary.underflow, 0.2);
    assert_near(summary.underflow_se, 1 / (40.0 / 3), 1e-15);
    assert_bits_f64(summary.underflow_outside, 0.1);
    assert_bits_f64(summary.subnormal, 0.1);
    assert_bits_f64(summary.saturated, 0.25);
    assert_bits_f64(summary.mass_kept, 0.75);
    assert_bits_f64(summary.mse, 3);
    assert_near(summary.mse_se, sqrt(7.0 / 3), 1e-15);
    assert_bits_f64(summary.mse_given_p, 2);
    assert_bits_f64(summary.rel_l2, 1);
    assert_bits_f64(summary.max_abs, 3);
    pcast_tally one = {0};
    pcast_tally_add(&one, &rows[0]);
    assert_true(isnan(pcast_tally_summary(&one).mse_se) &&
                isnan(pcast_tally_summary(&one).underflow_se));
}

/* Flushed keys of one trial, counted from the draws and a row run on its own. */
typedef struct counter {
    size_t other, flushed, outside_flushed;
    size_t sinks, block;
} counter;

static void count(void *context, const pcast_tile *tile)
{
    counter *seen = context;
    for (size_t i = 0; i < tile->count; i++) {
        const size_t key = tile->first_key + i;
        if (key < seen->sinks || !(tile->p[i] > 0))
            continue;
        seen->other++;
        seen->flushed += tile->p8[i] == 0;
        seen->outside_flushed += tile->p8[i] == 0 && key >= seen->block;
    }
}

static void test_synthetic_against_rows(void **state)
{
    (void)state;
    const double deltas[] = {2, 6.5};
    const pcast_kernel kernels[] = {{.order = PCAST_ORDER_FORWARD, .block = 64, .scale = 1},
                                    {.order = PCAST_ORDER_REVERSE, .block = 64, .scale = 1},
                                    {.order = PCAST_ORDER_FORWARD, .block = 50, .scale = 448},
                                    {.order = PCAST_ORDER_FORWARD, .block = 64, .scale = 256}};
    const pcast_synthetic experiment = {KEYS, DIM, SINKS, 99, TRIALS, deltas, 2, 1, 0, 0};
    const pcast_run run = {
        .kernels = kernels, .kernel_count = 4, .threads = 2, .cpu = pcast_cpu_detect()};
    pcast_summary summaries[8];
    pcast_error err;
    assert_int_equal(pcast_synthetic_run(&experiment, &run, summaries, &err), PCAST_OK);

    static double normals[KEYS], more[KEYS * DIM];
    static float scores[KEYS], values[KEYS * DIM];
    for (size_t n = 0; n < 4; n++)
        for (size_t d = 0; d < 2; d++) {
            counter seen = {.sinks = SINKS, .block = kernels[n].block};
            double error2 = 0;
            for (uint32_t t = 0; t < TRIALS; t++) {
                pcast_draw_normals((pcast_stream){99, t, 0}, PCAST_CPU_SCALAR, 0, KEYS, normals);
                pcast_draw_normals((pcast_stream){99, t, 1}, PCAST_CPU_SCALAR, 0, KEYS * DIM, more);
                double exact[DIM] = {0}, l = 0, max = -1e300;
                for (int j = 0; j < KEYS; j++) {
                    scores[j] = (float)(j < SINKS ? deltas[d] + normals[j] : normals[j]);
                    max = scores[j] > max ? scores[j] : max;
                }
                for (int i = 0; i < KEYS * DIM; i++)
                    values[i] = (float)more[i];
                for (int j = 0; j < KEYS; j++) {
                    const double w = exp((double)scores[j] - max);
                    l += w;
                    for (int c = 0; c < DIM; c++)
                        exact[c] += w * (double)values[j * DIM + c];
                }
                float o[DIM];
                const pcast_row_input input = {scores, values, KEYS, DIM, KEYS, 0};
                pcast_row_output output = {.o = o};
                pcast_softmax_row(&kernels[n], PCAST_CPU_SCALAR, &input, count, &seen, &output,
                                  &err);
                for (int c = 0; c < DIM; c++)
                    error2 += pow((double)o[c] - exact[c] / l, 2);
            }
            const pcast_summary *summary = &summaries[n * 2 + d];
            const size_t outside = TRIALS * (KEYS - kernels[n].block);
            assert_int_equal(seen.other, TRIALS * (KEYS - SINKS));
            assert_bits_f64(summary->underflow, (double)seen.flushed / (double)seen.other);
            assert_bits_f64(summary->underflow_outside,
                            (double)seen.outside_flushed / (double)outside);
            assert_near(summary->mse / (error2 / TRIALS / DIM), 1, 1e-9);
        }
}

static void test_threads_and_levels(void **state)
{
    (void)state;
    const double deltas[] = {6};
    const pcast_kernel kernels[] = {{.order = PCAST_ORDER_FORWARD, .block = 128, .scale = 1},
                                    {.order = PCAST_ORDER_REVERSE, .block = 32, .scale = 448}};
    const pcast_synthetic experiment = {1000, 67, 4, 5, 70, deltas, 1, 1, 0, 0};
    pcast_summary expected[2], got[2];
    pcast_error err;
    pcast_run run = {.kernels = kernels, .kernel_count = 2, .threads = 1, .cpu = PCAST_CPU_SCALAR};
    assert_int_equal(pcast_synthetic_run(&experiment, &run, expected, &err), PCAST_OK);
    for (int threads = 1; threads <= 3; threads++)
        for (pcast_cpu cpu = PCAST_CPU_SCALAR; cpu <= PCAST_CPU_AVX512; cpu++) {
            run.threads = threads;
            run.cpu = cpu;
            assert_int_equal(pcast_synthetic_run(&experiment, &run, got, &err), PCAST_OK);
            assert_memory_equal(got, expected, sizeof got);
        }
}

static void test_draws_without_cache(void **state)
{
    (void)state;
    /* 17 million numbers do not fit the cache of 16 MiB; 300 keys of them, by blocks, equal a small
     * cached run. */
    pcast_draws large, small;
    pcast_error err;
    assert_int_equal(pcast_draws_init(&large, PCAST_CPU_AVX512, 8, 0, 4 << 20, 4, 100, &err),
                     PCAST_OK);
    assert_int_equal(pcast_draws_init(&small, PCAST_CPU_SCALAR, 8, 0, 300, 4, 100, &err), PCAST_OK);
    assert_false(large.cached);
    assert_true(small.cached);
    pcast_draws_start_trial(&large, 3);
    pcast_draws_start_trial(&small, 3);
    for (size_t first = 0; first < 300; first += 100) {
        assert_memory_equal(pcast_draws_normals(&large, first, 100),
                            pcast_draws_normals(&small, first, 100), 800);
        assert_memory_equal(pcast_draws_values(&large, first, 100),
                            pcast_draws_values(&small, first, 100), 1600);
    }
    pcast_draws_free(&large);
    pcast_draws_free(&small);
}

/* Two heads over three keys. Q = (1, 0): scores are K's first channel times the softmax scale 1.
 * Head 0 sees scores 0, 9, 1 for each of two queries, head 1 (grouped: the same K) the negated
 * ones. */
static void test_heads(void **state)
{
    (void)state;
    float q[] = {1, 0, 1, 0, -1, 0, -1, 0}, k[] = {0, 5, 9, 5, 1, 5}, v[] = {1, 2, 3};
    const pcast_tensor tq = {.rank = 3, .shape = {2, 2, 2}, .data = q, .format = PCAST_F32},
                       tk = {.rank = 3, .shape = {1, 3, 2}, .data = k, .format = PCAST_F32},
                       tv = {.rank = 3, .shape = {1, 3, 1}, .data = v, .format = PCAST_F32};
    const pcast_heads experiment = {&tq, &tk, &tv, 1, 1, 1.0f, NULL, {0}};
    const pcast_kernel kernels[] = {{.block = 1, .scale = 1}, {.block = 1, .scale = 256}};
    const pcast_run run = {.kernels = kernels, .kernel_count = 2, .threads = 2};
    size_t sinks[2];
    pcast_head heads[2] = {{.sinks = &sinks[0]}, {.sinks = &sinks[1]}};
    pcast_summary summaries[4];
    pcast_error err;
    assert_int_equal(pcast_heads_run(&experiment, &run, heads, summaries, &err), PCAST_OK);
    assert_int_equal(sinks[0], 1);
    assert_int_equal(heads[0].queries, 2);
    assert_near(heads[0].gap, 9 - 0.5, 1e-12);
    assert_near(heads[0].gap_sigma, 8.5 / 0.5, 1e-12);
    /* Forward, one key a block: key 0 is cast as the maximum, key 2 after key 1: exp(-8) < 2^-10
     * flushes at S = 1. */
    assert_bits_f64(summaries[0].underflow, 0.5);
    assert_bits_f64(summaries[1].underflow, 0.0);
    assert_int_equal(sinks[1], 0);
    assert_near(heads[1].gap, 0 - (-9 - 1) / 2.0, 1e-12);
    /* Head 1: key 1 is lost under key 0 (exp(-9)), key 2 is not (exp(-1)). */
    assert_bits_f64(summaries[2].underflow, 0.5);

    /* Causal: with two queries for three keys the first sees keys 0, 1 and the second all. */
    const pcast_kernel causal[] = {{.block = 1, .scale = 1, .mask = PCAST_MASK_CAUSAL}};
    const pcast_run causal_run = {.kernels = causal, .kernel_count = 1, .threads = 1};
    assert_int_equal(pcast_heads_run(&experiment, &causal_run, heads, summaries, &err), PCAST_OK);
    assert_near(heads[0].gap, 8.5, 1e-12); /* only the second query has two other keys */
    assert_bits_f64(summaries[0].underflow,
                    1.0 / 3); /* others: 1 + 2, of which key 2 of the second query */
}

/* V larger than its range by a power of two: what is divided by it and multiplied back changes no
 * bit, so the errors are those of the smaller V, in FP16 too, where V as it is overflows. Kernels
 * of several ranges run beside each other, each by its own, for two KV heads of different size. */
static void test_v_range(void **state)
{
    (void)state;
    enum { QUERIES = 8, HEADS = 2 };
    static float q[HEADS * QUERIES * DIM], k[HEADS * KEYS * DIM], large[HEADS * KEYS * DIM],
        small[HEADS * KEYS * DIM];
    static const char *const specs[] = {"sage2pp", "sage2pp:v_range=0", "sage2pp:v_range=4.5",
                                        "sage2pp:v_range=2.25;scale=64"};
    pcast_kernel kernels[4];
    pcast_error err = {""};
    uint64_t random = 12;
    for (size_t i = 0; i < HEADS * QUERIES * DIM; i++)
        q[i] = (float)(2 * test_uniform(&random) - 1);
    for (size_t i = 0; i < HEADS * KEYS * DIM; i++) {
        const float by = i < KEYS * DIM ? 4096 : 16384;
        k[i] = (float)(2 * test_uniform(&random) - 1);
        small[i] = i % (KEYS * DIM) == 5 ? -2.25f : (float)(1 + test_uniform(&random));
        large[i] = by * small[i];
    }
    const pcast_tensor
        tq = {.rank = 3, .shape = {HEADS, QUERIES, DIM}, .data = q, .format = PCAST_F32},
        tk = {.rank = 3, .shape = {HEADS, KEYS, DIM}, .data = k, .format = PCAST_F32},
        tl = {.rank = 3, .shape = {HEADS, KEYS, DIM}, .data = large, .format = PCAST_F32},
        ts = {.rank = 3, .shape = {HEADS, KEYS, DIM}, .data = small, .format = PCAST_F32};
    for (int n = 0; n < 4; n++)
        assert_int_equal(pcast_kernel_parse(specs[n], &kernels[n], NULL, &err), PCAST_OK);
    const pcast_heads of_large = {&tq, &tk, &tl, 1, 0, 1.0f, NULL, {0}};
    const pcast_heads of_small = {&tq, &tk, &ts, 1, 0, 1.0f, NULL, {0}};
    size_t sinks[HEADS];
    pcast_head heads[HEADS] = {{.sinks = &sinks[0]}, {.sinks = &sinks[1]}};
    pcast_summary got[HEADS * 4], expected[HEADS * 4], alone[HEADS];
    const pcast_run run = {.kernels = kernels, .kernel_count = 4, .threads = 2};
    assert_int_equal(pcast_heads_run(&of_large, &run, heads, got, &err), PCAST_OK);
    assert_int_equal(pcast_heads_run(&of_small, &run, heads, expected, &err), PCAST_OK);
    for (size_t h = 0; h < HEADS; h++)
        for (size_t n = 0; n < 4; n++) {
            const double error = got[h * 4 + n].rel_l2;
            if (n == 1) {
                assert_false(isfinite(error));
                continue;
            }
            assert_true(error > 0 && error < 0.05);
            assert_bits_f64(error, expected[h * 4 + n].rel_l2);
        }
    /* Small V is 2.25 at most already: a range of 2.25 and none are the same. */
    for (size_t h = 0; h < HEADS; h++)
        assert_bits_f64(expected[h * 4].rel_l2, expected[h * 4 + 1].rel_l2);
    const pcast_run last = {.kernels = &kernels[2], .kernel_count = 1, .threads = 1};
    assert_int_equal(pcast_heads_run(&of_large, &last, heads, alone, &err), PCAST_OK);
    for (size_t h = 0; h < HEADS; h++)
        assert_bits_f64(alone[h].rel_l2, got[h * 4 + 2].rel_l2);
}

static void test_bad_requests(void **state)
{
    (void)state;
    const double deltas[] = {6, NAN};
    const pcast_kernel kernel = {.block = 128, .scale = 1};
    pcast_run run = {.kernels = &kernel, .kernel_count = 1, .threads = 1};
    pcast_summary summary[2];
    pcast_error err;
    const struct {
        pcast_synthetic experiment;
        const char *said;
    } cases[] = {
        {{1, 8, 1, 1, 1, deltas, 1, 1, 0, 0}, "n:"},
        {{100, 0, 4, 1, 1, deltas, 1, 1, 0, 0}, "dim:"},
        {{100, 8, 0, 1, 1, deltas, 1, 1, 0, 0}, "sinks: 0"},
        {{1000, 8, 129, 1, 1, deltas, 1, 1, 0, 0}, "block size 128"},
        {{100, 8, 100, 1, 1, deltas, 1, 1, 0, 0}, "no other key"},
        {{100, 8, 4, 1, 0, deltas, 1, 1, 0, 0}, "trials:"},
        {{100, 8, 4, 1, 1, deltas, 2, 1, 0, 0}, "delta:"},
        {{100, 8, 4, 1, 2, deltas, 1, 1, 0, 4294967295}, "first_trial: 4294967295"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(pcast_synthetic_run(&cases[i].experiment, &run, summary, &err),
                         PCAST_ERR_VALUE);
        if (strstr(err.text, cases[i].said) == NULL)
            fail_msg("case %zu: said '%s'", i, err.text);
    }

    float data[24] = {0};
    const pcast_tensor good = {.rank = 3, .shape = {1, 4, 2}, .data = data, .format = PCAST_F32};
    const pcast_tensor flat = {.rank = 2, .shape = {4, 2}, .data = data, .format = PCAST_F32},
                       wide = {.rank = 3, .shape = {1, 4, 3}, .data = data, .format = PCAST_F32},
                       three = {.rank = 3, .shape = {3, 4, 2}, .data = data, .format = PCAST_F32},
                       two = {.rank = 3, .shape = {2, 4, 2}, .data = data, .format = PCAST_F32},
                       longer = {.rank = 3, .shape = {1, 6, 2}, .data = data, .format = PCAST_F32},
                       empty = {.rank = 3, .shape = {1, 0, 2}, .data = data, .format = PCAST_F32};
    float bad_data[8] = {0, 0, 0, 0, 0, INFINITY, 0, 0};
    const pcast_tensor bad = {.rank = 3, .shape = {1, 4, 2}, .data = bad_data, .format = PCAST_F32};
    float nan_data[8] = {0, 0, 0, NAN};
    const pcast_tensor
        bad_scores = {.rank = 3, .shape = {1, 2, 4}, .data = nan_data, .format = PCAST_F32},
        three_scores = {.rank = 3, .shape = {3, 2, 4}, .data = data, .format = PCAST_F32},
        tall = {.rank = 3, .shape = {1, 5, 4}, .data = data, .format = PCAST_F32};
    const struct {
        pcast_heads experiment;
        const char *said;
    } heads_cases[] = {
        {{&flat, &good, &good, 1, 1, 0, NULL, {0}}, "q: rank 2"},
        {{&good, &wide, &good, 1, 1, 0, NULL, {0}}, "k: 3 channels"},
        {{&three, &two, &two, 1, 1, 0, NULL, {0}}, "k: 2 heads"},
        {{&good, &good, &longer, 1, 1, 0, NULL, {0}}, "v: 1 heads of 6"},
        {{&longer, &good, &good, 1, 1, 0, NULL, {0}}, "q: 6 queries"},
        {{&empty, &good, &good, 1, 1, 0, NULL, {0}}, "q: shape"},
        {{&good, &good, &bad, 1, 1, 0, NULL, {0}}, "v: infinity at [head 0, token 2, channel 1]"},
        {{NULL, NULL, &good, 1, 1, 0, &good, {0}}, "v: 4 tokens, but scores have 2 keys"},
        {{NULL, NULL, &two, 1, 1, 0, &three_scores, {0}}, "v: 2 heads"},
        {{NULL, NULL, &good, 1, 1, 0, &tall, {0}}, "scores: 5 queries"},
        {{NULL, NULL, &good, 1, 1, 0, &bad_scores, {0}}, "scores: NaN at [head 0, token 0, key 3]"},
    };
    const pcast_kernel causal = {.block = 128, .scale = 1, .mask = PCAST_MASK_CAUSAL};
    run.kernels = &causal;
    size_t sinks[3];
    pcast_head heads[3] = {{.sinks = sinks}, {.sinks = sinks}, {.sinks = sinks}};
    pcast_summary summaries[3];
    for (size_t i = 0; i < sizeof heads_cases / sizeof heads_cases[0]; i++) {
        assert_int_equal(pcast_heads_run(&heads_cases[i].experiment, &run, heads, summaries, &err),
                         PCAST_ERR_INPUT);
        if (strstr(err.text, heads_cases[i].said) == NULL)
            fail_msg("case %zu: said '%s'", i, err.text);
    }
    const pcast_heads too_many = {&good, &good, &good, 4, 1, 0, NULL, {0}};
    assert_int_equal(pcast_heads_run(&too_many, &run, heads, summaries, &err), PCAST_ERR_VALUE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tally),
        cmocka_unit_test(test_synthetic_against_rows),
        cmocka_unit_test(test_threads_and_levels),
        cmocka_unit_test(test_draws_without_cache),
        cmocka_unit_test(test_heads),
        cmocka_unit_test(test_v_range),
        cmocka_unit_test(test_bad_requests),
    };
    return cmocka_run_group_tests_name("experiment", tests, NULL, NULL);
}
