/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Diagnosis of synthetic heads whose gap and spread are known: what is found, what is predicted,
 * and whether the recommendation is as good as a search over a finer grid. */
#include "pcast/diagnose.h"

#include "random/draws.h"
#include "unit.h"

#include <math.h>
#include <stdlib.h>

enum { CASES = 6, QUERIES = 32, KEYS = 512, VALUE_DIM = 8, SINKS = 2 };

/* One head each: the sinks score gap above the others, all with this spread. */
static const struct {
    double gap, spread;
} cases[CASES] = {{0, 1}, {4, 1}, {8, 1}, {12, 1}, {6, 2.5}, {0, 4}};

static float q[CASES * QUERIES * QUERIES], k[CASES * KEYS * QUERIES];
static float v[CASES * KEYS * VALUE_DIM];
static size_t sinks[CASES][SINKS];
static pcast_diagnosis found[CASES];
static pcast_candidate candidates[PCAST_CANDIDATES_MAX];
static double errors[CASES * PCAST_CANDIDATES_MAX];
static size_t candidate_count;
static pcast_tensor tensors[3];

/* Q is the identity, so that K holds the scores themselves. */
static pcast_heads make(void)
{
    uint64_t random = 4711;
    for (size_t h = 0; h < CASES; h++) {
        for (size_t i = 0; i < QUERIES; i++)
            q[(h * QUERIES + i) * QUERIES + i] = 1;
        for (size_t j = 0; j < KEYS; j++)
            for (size_t i = 0; i < QUERIES; i++)
                k[(h * KEYS + j) * QUERIES + i] =
                    (float)(cases[h].spread *
                                pcast_normal_quantile(test_uniform(&random) + 0x1p-54) +
                            (j < SINKS ? cases[h].gap : 0));
        for (size_t i = 0; i < KEYS * VALUE_DIM; i++)
            v[h * KEYS * VALUE_DIM + i] =
                (float)pcast_normal_quantile(test_uniform(&random) + 0x1p-54);
    }
    tensors[0] = (pcast_tensor){
        .rank = 3, .shape = {CASES, QUERIES, QUERIES}, .data = q, .format = PCAST_F32};
    tensors[1] =
        (pcast_tensor){.rank = 3, .shape = {CASES, KEYS, QUERIES}, .data = k, .format = PCAST_F32};
    tensors[2] = (pcast_tensor){
        .rank = 3, .shape = {CASES, KEYS, VALUE_DIM}, .data = v, .format = PCAST_F32};
    return (pcast_heads){
        .q = &tensors[0], .k = &tensors[1], .v = &tensors[2], .sinks = SINKS, .softmax_scale = 1};
}

static pcast_heads diagnose(const char *spec, pcast_kernel *kernel)
{
    pcast_error err = {""};
    const pcast_heads experiment = make();
    assert_int_equal(pcast_kernel_parse(spec, kernel, NULL, &err), PCAST_OK);
    candidate_count = pcast_candidates(kernel, candidates);
    for (size_t h = 0; h < CASES; h++)
        found[h].head.sinks = sinks[h];
    const pcast_run run = {.kernels = kernel, .kernel_count = 1, .cpu = pcast_cpu_detect()};
    if (pcast_diagnose(&experiment, &run, found, errors, &err) != PCAST_OK)
        fail_msg("%s", err.text);
    return experiment;
}

/* Known spread and gap, to what 32 queries of 512 keys tell; the largest of two sinks lies 0.564
 * spreads above their mean (delta_2 = 1/sqrt(pi)). */
static void test_shape(void **state)
{
    (void)state;
    pcast_kernel kernel;
    diagnose("paper", &kernel);
    for (size_t h = 0; h < CASES; h++) {
        const double spread = cases[h].spread;
        assert_near(found[h].shape.score_sd / spread, 1, 0.02);
        assert_near(found[h].head.gap, cases[h].gap + 0.5641896 * spread, 0.5 * spread);
    }
    /* Forward and S = 1: both predictions against what was simulated. They take the row's final
     * maximum: right where the sinks set it in the first tile, too much where it rises later. */
    for (size_t h = 0; h < CASES; h++) {
        const double lost = found[h].simulated.underflow;
        const double below = cases[h].gap >= 4 * cases[h].spread ? 0.03 : 0.15;
        assert_true(found[h].shape.underflow_normal > lost - 0.03 &&
                    found[h].shape.underflow_normal < lost + below);
        assert_true(found[h].shape.underflow_shape > lost - 0.03 &&
                    found[h].shape.underflow_shape < lost + below);
    }
}

/* Scores in place of Q and K: Q being the identity and the softmax scale 1, they are K transposed,
 * and everything found is the same number. */
static void test_scores(void **state)
{
    (void)state;
    static float scores[CASES * QUERIES * KEYS];
    static double of_scores[CASES * PCAST_CANDIDATES_MAX];
    static pcast_diagnosis again[CASES];
    size_t again_sinks[CASES][SINKS];
    pcast_kernel kernel;
    pcast_error err = {""};
    pcast_heads experiment = diagnose("fa4-offset8-tau4", &kernel);
    for (size_t h = 0; h < CASES; h++) {
        again[h].head.sinks = again_sinks[h];
        for (size_t j = 0; j < KEYS; j++)
            for (size_t i = 0; i < QUERIES; i++)
                scores[(h * QUERIES + i) * KEYS + j] = k[(h * KEYS + j) * QUERIES + i];
    }
    const pcast_tensor tensor = {
        .rank = 3, .shape = {CASES, QUERIES, KEYS}, .data = scores, .format = PCAST_F32};
    const pcast_run run = {.kernels = &kernel, .kernel_count = 1, .cpu = pcast_cpu_detect()};
    experiment.q = experiment.k = NULL;
    experiment.scores = &tensor;
    experiment.softmax_scale = 0;
    if (pcast_diagnose(&experiment, &run, again, of_scores, &err) != PCAST_OK)
        fail_msg("%s", err.text);
    assert_memory_equal(of_scores, errors, CASES * candidate_count * sizeof *errors);
    for (size_t h = 0; h < CASES; h++) {
        assert_memory_equal(&again[h].shape, &found[h].shape, sizeof found[h].shape);
        assert_memory_equal(&again[h].simulated, &found[h].simulated, sizeof found[h].simulated);
        assert_memory_equal(again_sinks[h], sinks[h], sizeof sinks[h]);
        assert_bits_f64(again[h].head.gap_sigma, found[h].head.gap_sigma);
        assert_int_equal(again[h].choice.best, found[h].choice.best);
    }
}

/* Saturation is predicted from the scores alone; the simulation counts it. Scores are integers, so
 * that a lag of 4 nats is met exactly, and a threshold test of < differs from <=. */
static void test_saturation(void **state)
{
    (void)state;
    static const char *const specs[] = {
        "fa4-offset8-tau4",
        "fa4-offset8-tau4:order=forward;splits=2",
        "fa4-offset8-tau4:order=forward;splits=3;traversal=strided",
        "cudnn:scale=64",
        "cudnn:scale=64;threshold_test=lt",
        "fa4-offset8-tau4:learned_sink=initial;sink_logit=2",
        "fa4-offset8-tau4:learned_sink=initial;sink_logit=2;splits=2",
        "cudnn:scale=64;learned_sink=initial;sink_logit=1",
        "torch-ref:scale=1024",
        "fa4-offset8-tau4:splits=4", /* a block each: none */
    };
    double of_spec[sizeof specs / sizeof specs[0]] = {0};
    for (size_t n = 0; n < sizeof specs / sizeof specs[0]; n++) {
        pcast_kernel kernel;
        pcast_error err = {""};
        const pcast_heads experiment = diagnose(specs[n], &kernel);
        for (size_t i = 0; i < sizeof k / sizeof k[0]; i++)
            k[i] = nearbyintf(k[i]);
        const pcast_run run = {.kernels = &kernel, .kernel_count = 1, .cpu = pcast_cpu_detect()};
        if (pcast_diagnose(&experiment, &run, found, errors, &err) != PCAST_OK)
            fail_msg("%s", err.text);
        for (size_t h = 0; h < CASES; h++) {
            const double counted = found[h].simulated.saturated;
            if (!(fabs(found[h].shape.saturated - counted) <= 1e-6 + 0.001 * counted))
                fail_msg("%s, head %zu: predicted %g, counted %g", specs[n], h,
                         found[h].shape.saturated, counted);
            of_spec[n] += counted;
        }
        print_message("%s: %g\n", specs[n], of_spec[n] / CASES);
    }
    for (size_t n = 0; n < 9; n++)
        assert_true(of_spec[n] > 0);
    assert_true(of_spec[3] != of_spec[4]); /* the lags of exactly 4 nats */
}

enum { FINE_MAX = 700 };

/* The least error of each head over a grid with half steps of log2 S and of tau, and both orders.
 */
static void search_finely(const pcast_heads *experiment, const pcast_kernel *kernel,
                          double best[CASES])
{
    static pcast_kernel kernels[FINE_MAX];
    static pcast_summary summaries[CASES * FINE_MAX];
    static pcast_head heads[CASES];
    size_t count = 0;
    for (int order = 0; order < 2; order++)
        for (int s = 0; s <= 18; s++)
            for (int t = 0; t <= 16; t++) {
                const pcast_candidate one = {(pcast_order)order,
                                             s == 18 ? 448 : (float)exp2(0.5 * s), 0.5f * (float)t};
                kernels[count++] = pcast_candidate_kernel(kernel, &one);
            }
    pcast_error err = {""};
    const pcast_run run = {.kernels = kernels, .kernel_count = count, .cpu = pcast_cpu_detect()};
    for (size_t h = 0; h < CASES; h++)
        heads[h].sinks = sinks[h];
    if (pcast_heads_run(experiment, &run, heads, summaries, &err) != PCAST_OK)
        fail_msg("%s", err.text);
    for (size_t h = 0; h < CASES; h++) {
        best[h] = INFINITY;
        for (size_t i = 0; i < count; i++)
            best[h] = fmin(best[h], summaries[h * count + i].rel_l2);
    }
}

static void test_recommendation(void **state)
{
    (void)state;
    pcast_kernel kernel;
    double best[CASES];
    const pcast_heads experiment = diagnose("fa3", &kernel);
    search_finely(&experiment, &kernel, best);
    for (size_t h = 0; h < CASES; h++) {
        const pcast_choice *choice = &found[h].choice;
        const pcast_candidate *one = &candidates[choice->best];
        print_message("gap %g, spread %g: %s, S = %g, tau = %g: error %.4g, best of the finer grid "
                      "%.4g, %zu ties\n",
                      cases[h].gap, cases[h].spread, pcast_order_name(one->order),
                      (double)one->scale, (double)one->tau, choice->error, best[h], choice->ties);
        assert_true(choice->error <= 1.05 * best[h]);
        assert_bits_f64(choice->error, errors[h * candidate_count + choice->best]);
        assert_near(choice->headroom, log2(448) - log2((double)one->scale) - (double)one->tau,
                    1e-12);
    }
}

/* One setting for several heads, on made-up errors. */
static void test_choice(void **state)
{
    (void)state;
    const pcast_kernel kernel = {.block = 64, .scale = 1, .rescale_threshold = 4};
    const pcast_candidate some[] = {{PCAST_ORDER_FORWARD, 1, 0},
                                    {PCAST_ORDER_FORWARD, 256, 4},
                                    {PCAST_ORDER_REVERSE, 256, 0},
                                    {PCAST_ORDER_REVERSE, 16, 0}};
    const double one_row[] = {3, 1, 1.01, 1.015};
    pcast_choice choice = pcast_choose(&kernel, some, 4, one_row, 1);
    assert_int_equal(choice.ties, 3);
    assert_int_equal(choice.best, 2); /* of the three, no stale maximum and the larger S */
    assert_near(choice.headroom, log2(448) - 8, 1e-12);
    /* The first is best on one head and bad on the other. */
    const double two_rows[] = {1, 2, 1.2, 9, 9, 2, 1, 9};
    choice = pcast_choose(&kernel, some, 4, two_rows, 2);
    assert_int_equal(choice.best, 2);
    assert_int_equal(choice.ties, 1);
    assert_near(choice.error, 1.1, 1e-12);
    /* Equal on average, but the second is never as bad: it counts more than a stale maximum. */
    const double spread[] = {1, 1.2, 9, 9, 1.5, 1.2, 9, 9, 1, 1, 9, 9};
    choice = pcast_choose(&kernel, some, 4, spread, 3);
    assert_int_equal(choice.best, 1);
    assert_int_equal(choice.ties, 2);
    const double broken[] = {NAN, 2, NAN, INFINITY};
    choice = pcast_choose(&kernel, some, 4, broken, 1);
    assert_int_equal(choice.best, 1);
    assert_int_equal(choice.left_out, 0);
}

/* Each step of the order among ties, by two candidates that only it tells apart. The kernel's own
 * S = 4 is the first step's. */
static void test_preference(void **state)
{
    (void)state;
    const pcast_kernel kernel = {.block = 64, .scale = 4};
    static const struct {
        pcast_candidate better, worse;
    } pairs[] = {
        {{PCAST_ORDER_FORWARD, 4, 0}, {PCAST_ORDER_REVERSE, 448, 0}},   /* the kernel's own */
        {{PCAST_ORDER_FORWARD, 512, 0}, {PCAST_ORDER_REVERSE, 16, 2}},  /* no stale maximum */
        {{PCAST_ORDER_FORWARD, 16, 4}, {PCAST_ORDER_REVERSE, 32, 4}},   /* 16 * 2^4 <= 448 */
        {{PCAST_ORDER_FORWARD, 448, 0}, {PCAST_ORDER_REVERSE, 256, 0}}, /* larger S: 448 fits */
        {{PCAST_ORDER_FORWARD, 128, 4}, {PCAST_ORDER_REVERSE, 256, 4}}, /* neither fits */
        {{PCAST_ORDER_REVERSE, 256, 0}, {PCAST_ORDER_FORWARD, 256, 0}}, /* reverse */
    };
    const double equal[] = {0.01, 0.01};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        const pcast_candidate one[] = {pairs[i].better, pairs[i].worse};
        const pcast_candidate other[] = {pairs[i].worse, pairs[i].better};
        const pcast_choice first = pcast_choose(&kernel, one, 2, equal, 1);
        const pcast_choice last = pcast_choose(&kernel, other, 2, equal, 1);
        if (first.best != 0 || last.best != 1)
            fail_msg("pair %zu: candidates %zu and %zu", i, first.best, last.best);
        assert_int_equal(first.own_ties, i == 0);
    }
}

/* Candidates each within 2 % of the next, but not of the one after: the same in any order. Their
 * mean regrets lie within 0.5 % (of 40 rows one is not 1); the largest rise by 1.5 % from one to
 * the next, and each is preferred to those before it. The second is as far as 2 % reach. */
static void test_choice_of_a_chain(void **state)
{
    (void)state;
    enum { CHAIN = 5, ROWS = 40 };
    const pcast_kernel kernel = {.block = 64, .scale = 2};
    pcast_candidate chain[CHAIN], reversed[CHAIN];
    double rows[ROWS * CHAIN], backwards[ROWS * CHAIN];
    for (size_t i = 0; i < CHAIN; i++) {
        chain[i] = (pcast_candidate){PCAST_ORDER_FORWARD, (float)(16 << i), 0};
        reversed[CHAIN - 1 - i] = chain[i];
    }
    for (size_t r = 0; r < ROWS; r++)
        for (size_t i = 0; i < CHAIN; i++) {
            /* Row r < CHAIN is the worst of candidate r; another one has an error of 1 there. */
            const double error = r == i ? 1.1 * pow(1.015, (double)i) : 1;
            rows[r * CHAIN + i] = error;
            backwards[r * CHAIN + CHAIN - 1 - i] = error;
        }
    const pcast_choice choice = pcast_choose(&kernel, chain, CHAIN, rows, ROWS);
    assert_int_equal(choice.ties, CHAIN);
    assert_int_equal(choice.best, 1);
    assert_int_equal(pcast_choose(&kernel, reversed, CHAIN, backwards, ROWS).best, CHAIN - 2);
}

/* What says nothing about settings decides nothing: a row without a finite error is left out, one
 * without errors, or with rounding noise alone, has no preference. */
static void test_choice_of_little(void **state)
{
    (void)state;
    const pcast_kernel kernel = {.block = 64, .scale = 2};
    const pcast_candidate two[] = {{PCAST_ORDER_FORWARD, 448, 0}, {PCAST_ORDER_FORWARD, 16, 0}};
    const double rows[] = {0.02, 0.01, NAN, INFINITY, 0, 0, NAN, NAN, 0x1p-24, 0x1p-21};
    const pcast_choice choice = pcast_choose(&kernel, two, 2, rows, 5);
    assert_int_equal(choice.best, 1);
    assert_int_equal(choice.ties, 1);
    assert_int_equal(choice.left_out, 2);
    assert_near(choice.error, (0.01 + 0x1p-21) / 3, 1e-15);
    const pcast_regret worse = pcast_regret_of(rows, 2, 5, 0);
    assert_near(worse.mean, (2 + 1 + 1) / 3.0, 1e-12);
    assert_near(worse.largest, 2, 1e-12);
    /* Twice 2^-18 is a preference, twice 2^-21 is not. */
    assert_bits_f64(pcast_error_ratio(0x1p-17, 0x1p-18), 2);
    assert_bits_f64(pcast_error_ratio(0x1p-20, 0x1p-21), 1);
    assert_true(isinf(pcast_error_ratio(NAN, 0.01)));
    assert_false(isfinite(pcast_choose(&kernel, two, 2, rows + 2, 1).error));
}

/* The kernel as it is is one of the candidates, whatever its S and threshold, and the search finds
 * no worse (PCAST_CHOICE_TIE of the mean ratio, twice: once for its largest). */
static void test_own(void **state)
{
    (void)state;
    static const char *const specs[] = {"paper:scale=300", "fa4-offset8-tau4", "sage2-fp32",
                                        "cudnn:scale=100;threshold_test=lt", "torch-ref"};
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        pcast_kernel kernel;
        pcast_summary summaries[CASES];
        pcast_head heads[CASES];
        pcast_error err = {""};
        const pcast_heads experiment = diagnose(specs[i], &kernel);
        const size_t own = pcast_candidate_own(&kernel, candidates, candidate_count);
        assert_true(own < candidate_count);
        kernel.out_format = PCAST_OUTPUT_F32;
        const pcast_run run = {.kernels = &kernel, .kernel_count = 1, .cpu = pcast_cpu_detect()};
        for (size_t h = 0; h < CASES; h++)
            heads[h].sinks = sinks[h];
        if (pcast_heads_run(&experiment, &run, heads, summaries, &err) != PCAST_OK)
            fail_msg("%s", err.text);
        for (size_t h = 0; h < CASES; h++) {
            const double now = errors[h * candidate_count + own];
            assert_bits_f64(now, summaries[h].rel_l2);
            if (!(found[h].choice.error <= 1.0404 * now))
                fail_msg("%s, head %zu: %a is worse than its own %a", specs[i], h,
                         found[h].choice.error, now);
        }
        const pcast_choice all = pcast_choose(&kernel, candidates, candidate_count, errors, CASES);
        assert_true(pcast_regret_of(errors, candidate_count, CASES, all.best).mean <=
                    1.02 * pcast_regret_of(errors, candidate_count, CASES, own).mean);
        for (size_t c = 1; c < candidate_count; c++) { /* by order, S, tau; none twice */
            const pcast_candidate *a = &candidates[c - 1], *b = &candidates[c];
            assert_true(a->order < b->order ||
                        (a->order == b->order &&
                         (a->scale < b->scale || (a->scale == b->scale && a->tau < b->tau))));
        }
    }
}

/* A head whose V is zero has no error, so no preference. */
static void test_dead_head(void **state)
{
    (void)state;
    pcast_kernel kernel;
    pcast_error err = {""};
    pcast_heads experiment = diagnose("fa4-offset8-tau4", &kernel);
    const size_t alone =
        pcast_choose(&kernel, candidates, candidate_count, errors + candidate_count, CASES - 1)
            .best;
    for (size_t i = 0; i < KEYS * VALUE_DIM; i++)
        v[i] = 0;
    const pcast_run run = {.kernels = &kernel, .kernel_count = 1, .cpu = pcast_cpu_detect()};
    if (pcast_diagnose(&experiment, &run, found, errors, &err) != PCAST_OK)
        fail_msg("%s", err.text);
    for (size_t c = 0; c < candidate_count; c++)
        assert_bits_f64(errors[c], 0);
    assert_bits_f64(found[0].simulated.rel_l2, 0);
    const pcast_choice all = pcast_choose(&kernel, candidates, candidate_count, errors, CASES);
    assert_int_equal(all.best, alone);
    assert_int_equal(all.left_out, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shape),
        cmocka_unit_test(test_saturation),
        cmocka_unit_test(test_scores),
        cmocka_unit_test(test_recommendation),
        cmocka_unit_test(test_choice),
        cmocka_unit_test(test_preference),
        cmocka_unit_test(test_choice_of_a_chain),
        cmocka_unit_test(test_choice_of_little),
        cmocka_unit_test(test_own),
        cmocka_unit_test(test_dead_head),
    };
    return cmocka_run_group_tests_name("diagnose", tests, NULL, NULL);
}
