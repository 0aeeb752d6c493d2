/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Verdicts on the paper's claims from findings that are made up: every verdict a judge can reach,
 * intervals that meet a limit or straddle it, and numbers that are missing; means of fractions
 * and the seeds of the runs. */
#include "experiment/paper_verdict.h"

#include "experiment/paper_sample.h"
#include "unit.h"

#include <math.h>

typedef struct interval {
    double low, high;
} interval;

static void set(pcast_claim *claim, size_t finding, interval to)
{
    claim->findings[finding].value = (to.low + to.high) / 2;
    claim->findings[finding].low = to.low;
    claim->findings[finding].high = to.high;
}

static void add(pcast_claim *claim, size_t keys, double delta, interval of)
{
    claim->findings[claim->count] =
        (pcast_finding){.quantity = "", .delta = delta, .keys = keys, .theory = NAN};
    set(claim, claim->count++, of);
}

/* A finding for each Delta of each run of the claim's plan. */
static pcast_claim claim_of_runs(char id, interval everywhere)
{
    const pcast_paper_plan *plan = &pcast_paper_plans[id - 'A'];
    pcast_claim claim = {.id = id};
    for (size_t r = 0; r < plan->run_count; r++)
        for (size_t d = 0; d < plan->delta_count; d++)
            add(&claim, plan->runs[r].keys, plan->deltas[d], everywhere);
    return claim;
}

/* Where a claim has its finding. */
static size_t place(const pcast_claim *claim, size_t keys, double delta)
{
    size_t at = 0;
    while (claim->findings[at].keys != keys || claim->findings[at].delta != delta)
        at++;
    assert_true(at < claim->count);
    return at;
}

/* What the judges take besides findings; a test sets what it is about. */
static struct {
    double p_equivalence[PCAST_PAPER_DELTAS];
    size_t inside, outside;
} besides;

static void judge(pcast_claim *claim)
{
    switch (claim->id) {
    case 'A':
        pcast_paper_judge_a(claim);
        break;
    case 'B':
        pcast_paper_judge_b(claim);
        break;
    case 'C':
        pcast_paper_judge_c(claim);
        break;
    case 'D':
        pcast_paper_judge_d(claim, besides.p_equivalence);
        break;
    case 'E':
        pcast_paper_judge_e(claim);
        break;
    case 'F':
        pcast_paper_judge_f(claim, besides.inside, besides.outside);
        break;
    case 'G':
        pcast_paper_judge_g(claim, 1.03125);
        break;
    default:
        pcast_paper_judge_h(claim);
    }
}

static void assert_verdict_at(pcast_claim claim, pcast_verdict expected, const char *file, int line)
{
    judge(&claim);
    if (claim.verdict != expected) {
        print_error("%s:%d: claim %c: got '%s' (%s), expected '%s'\n", file, line, claim.id,
                    pcast_verdict_name(claim.verdict), claim.reason, pcast_verdict_name(expected));
        fail();
    }
    assert_true(claim.reason[0] != '\0' && strlen(claim.reason) < sizeof claim.reason - 1);
}
#define assert_verdict(claim, expected) assert_verdict_at(claim, expected, __FILE__, __LINE__)

/* The verdict once one finding is another. */
static void assert_changed_at(pcast_claim claim, size_t finding, interval to,
                              pcast_verdict expected, const char *file, int line)
{
    set(&claim, finding, to);
    assert_verdict_at(claim, expected, file, line);
}
#define assert_changed(claim, finding, low, high, expected)                                        \
    assert_changed_at(claim, finding, (interval){low, high}, expected, __FILE__, __LINE__)

/* No verdict without any one of the numbers. */
static void assert_needs_all_at(pcast_claim claim, const char *file, int line)
{
    for (size_t i = 0; i < claim.count; i++) {
        double *numbers[] = {&claim.findings[i].value, &claim.findings[i].low,
                             &claim.findings[i].high};
        for (int n = 0; n < 3; n++) {
            const double known = *numbers[n];
            *numbers[n] = NAN;
            assert_verdict_at(claim, PCAST_VERDICT_UNDECIDED, file, line);
            *numbers[n] = known;
        }
    }
}
#define assert_needs_all(claim) assert_needs_all_at(claim, __FILE__, __LINE__)

static void test_a(void **state)
{
    (void)state;
    enum { LOST_5, LOST_6, LOST_7, MASS_6, MASS_7, HALF, OTHER_6, OTHER_7 = OTHER_6 + 3 };
    pcast_claim holds = {.id = 'A'};
    add(&holds, 4096, 5, (interval){.2, .3});
    add(&holds, 4096, 6, (interval){.5, .6});
    add(&holds, 4096, 7, (interval){.7, .8});
    add(&holds, 4096, 6, (interval){.5, .6});
    add(&holds, 4096, 7, (interval){.4, .5});
    add(&holds, 4096, NAN, (interval){5.9, 5.9});
    for (int delta = 6; delta <= 7; delta++)
        for (size_t keys = 1024; keys <= 16384; keys *= 4)
            add(&holds, keys, delta, (interval){.5, .5});
    assert_verdict(holds, PCAST_VERDICT_HOLDS);
    /* Half at one end only, or somewhere between. */
    assert_changed(holds, MASS_6, .4, .6, PCAST_VERDICT_HOLDS);
    assert_changed(holds, MASS_6, .7, .8, PCAST_VERDICT_CONDITION);
    assert_changed(holds, MASS_6, .55, .65, PCAST_VERDICT_CONDITION);
    assert_changed(holds, MASS_7, .3, .39, PCAST_VERDICT_CONDITION);
    assert_changed(holds, MASS_7, .3, .5, PCAST_VERDICT_CONDITION);
    pcast_claim between = holds;
    set(&between, MASS_6, (interval){.8, .9});
    assert_changed(between, MASS_7, .1, .2, PCAST_VERDICT_CONDITION);
    /* Not half anywhere from 6 to 7. */
    assert_changed(holds, MASS_7, .61, .7, PCAST_VERDICT_REFUTED);
    assert_changed(holds, MASS_6, .3, .39, PCAST_VERDICT_REFUTED);
    assert_changed(holds, MASS_7, .5, .7, PCAST_VERDICT_UNDECIDED);
    assert_changed(holds, MASS_7, .3, .7, PCAST_VERDICT_UNDECIDED);
    assert_changed(holds, MASS_7, .6, .7, PCAST_VERDICT_UNDECIDED); /* meets the limit */
    assert_changed(holds, MASS_6, .3, .5, PCAST_VERDICT_UNDECIDED);
    assert_changed(holds, MASS_6, .3, .4, PCAST_VERDICT_UNDECIDED);
    /* No collapse. */
    assert_changed(holds, LOST_5, .51, .6, PCAST_VERDICT_REFUTED);
    assert_changed(holds, LOST_5, .5, .6, PCAST_VERDICT_UNDECIDED);
    assert_changed(holds, LOST_5, .4, .5, PCAST_VERDICT_UNDECIDED);
    assert_changed(holds, LOST_7, .4, .49, PCAST_VERDICT_REFUTED);
    assert_changed(holds, LOST_7, .4, .5, PCAST_VERDICT_UNDECIDED);
    assert_changed(holds, LOST_7, .5, .6, PCAST_VERDICT_UNDECIDED);
    assert_changed(holds, LOST_7, .4, .6, PCAST_VERDICT_UNDECIDED);
    /* Other N. */
    assert_changed(holds, OTHER_6, .9, .9, PCAST_VERDICT_HOLDS);
    assert_changed(holds, OTHER_6, .3, .3, PCAST_VERDICT_CONDITION);
    assert_changed(holds, OTHER_7 + 2, .3, .3, PCAST_VERDICT_HOLDS);
    pcast_claim depends = holds;
    set(&depends, OTHER_6, (interval){.3, .3});
    set(&depends, OTHER_7 + 2, (interval){.8, .8});
    assert_verdict(depends, PCAST_VERDICT_CONDITION);
    judge(&depends);
    assert_non_null(strstr(depends.reason, "half of them are lost at 5.90"));
    assert_non_null(
        strstr(depends.reason, "do not hold about half at N = 1024: 0.3; N = 16384: 0.8"));
    assert_needs_all(holds);
    pcast_claim refuted = holds;
    set(&refuted, LOST_5, (interval){.6, .7});
    assert_needs_all(refuted);
}

static void test_b(void **state)
{
    (void)state;
    pcast_claim holds = claim_of_runs('B', (interval){3, 10});
    add(&holds, 4096, 8, (interval){3, 3});
    assert_verdict(holds, PCAST_VERDICT_HOLDS);
    for (size_t own = 0; own < 3; own++) { /* at the paper's N every Delta counts */
        assert_int_equal(holds.findings[own].keys, 4096);
        assert_changed(holds, own, 2, 2.9, PCAST_VERDICT_REFUTED);
        assert_changed(holds, own, 11, 12, PCAST_VERDICT_REFUTED);
        assert_changed(holds, own, 2, 3, PCAST_VERDICT_UNDECIDED);
        assert_changed(holds, own, 2, 4, PCAST_VERDICT_UNDECIDED);
        assert_changed(holds, own, 9, 11, PCAST_VERDICT_UNDECIDED);
        assert_changed(holds, own, 2, 11, PCAST_VERDICT_UNDECIDED);
    }
    for (size_t other = 3; other < holds.count; other++) {
        assert_changed(holds, other, 30, 40, PCAST_VERDICT_CONDITION);
        assert_changed(holds, other, 9, 11, PCAST_VERDICT_CONDITION);
        assert_changed(holds, other, 1, 2, PCAST_VERDICT_CONDITION);
    }
    pcast_claim depends = holds;
    for (size_t i = 3; i < 6; i++)
        set(&depends, i, (interval){2, 2.5});
    set(&depends, place(&depends, 32768, 6), (interval){30, 34});
    set(&depends, place(&depends, 4096, 8), (interval){1.95, 1.95});
    judge(&depends);
    assert_string_equal(depends.reason, "at N = 4096 and Delta = 5 to 7; not at N = 1024: 2.25, "
                                        "2.25, 2.25; N = 32768: 32; Delta = 8: 1.95");
    set(&depends, place(&depends, 1024, 5), (interval){2.5, 3.5});
    judge(&depends);
    assert_non_null(strstr(depends.reason, "; not, or not for sure, at N = 1024: 3, 2.25"));
    assert_needs_all(depends);
    assert_needs_all(holds);
    assert_needs_all(claim_of_runs('B', (interval){1, 2}));
}

static void test_c(void **state)
{
    (void)state;
    const pcast_claim holds = claim_of_runs('C', (interval){1.12, 1.17}),
                      below = claim_of_runs('C', (interval){1.05, 1.11});
    assert_verdict(holds, PCAST_VERDICT_HOLDS);
    assert_verdict(below, PCAST_VERDICT_REFUTED);
    assert_verdict(claim_of_runs('C', (interval){1.18, 1.3}), PCAST_VERDICT_REFUTED);
    assert_verdict(claim_of_runs('C', (interval){1 / 0.9, 1 / 0.85}), PCAST_VERDICT_HOLDS);
    assert_verdict(claim_of_runs('C', (interval){1, 1 / 0.9}), PCAST_VERDICT_UNDECIDED);
    assert_verdict(claim_of_runs('C', (interval){1 / 0.85, 2}), PCAST_VERDICT_UNDECIDED);
    assert_verdict(claim_of_runs('C', (interval){1, 2}), PCAST_VERDICT_UNDECIDED);
    /* All must lie within, any beyond refutes. */
    const size_t own = place(&holds, 4096, 7);
    assert_changed(holds, own, 1.1, 1.15, PCAST_VERDICT_UNDECIDED);
    assert_changed(holds, own, 1.05, 1.1, PCAST_VERDICT_REFUTED);
    assert_changed(holds, own, 1.2, 1.3, PCAST_VERDICT_REFUTED);
    assert_changed(below, own, 1.1, 1.15, PCAST_VERDICT_REFUTED);
    pcast_claim other = holds;
    add(&other, 1024, 7, (interval){1.12, 1.12});
    assert_verdict(other, PCAST_VERDICT_HOLDS);
    assert_changed(other, other.count - 1, 1.05, 1.05, PCAST_VERDICT_CONDITION);
    assert_needs_all(holds);
    assert_needs_all(below);
}

static void test_d(void **state)
{
    (void)state;
    const interval ratios[] = {{.992, .998}, {.995, .999}, {.993, .997}, {.998, 1}, {.999, 1}};
    pcast_claim holds = claim_of_runs('D', (interval){1, 1});
    for (size_t i = 0; i < 5; i++) { /* Delta = 3.5, 5, 6, 7, 8 */
        set(&holds, i, ratios[i]);
        besides.p_equivalence[i] = 0.049;
    }
    add(&holds, 16384, 6, (interval){.995, .995});
    add(&holds, 32768, 6, (interval){.991, .991});
    assert_verdict(holds, PCAST_VERDICT_HOLDS);
    assert_needs_all(holds);
    /* Apart: all of the interval beyond 1 %, from 6 up. */
    for (size_t i = 2; i < 5; i++) {
        assert_changed(holds, i, .98, .99, PCAST_VERDICT_REFUTED);
        assert_changed(holds, i, 1.011, 1.02, PCAST_VERDICT_REFUTED);
    }
    for (size_t i = 0; i < 5; i++) {
        besides.p_equivalence[i] = NAN;
        assert_verdict(holds, PCAST_VERDICT_UNDECIDED);
        /* Not shown to be equivalent: only the Delta above count. */
        besides.p_equivalence[i] = 0.05;
        const pcast_verdict expected = i >= 2 ? PCAST_VERDICT_UNDECIDED : PCAST_VERDICT_CONDITION;
        assert_verdict(holds, expected);
        assert_changed(holds, i, .98, 1, expected);
        assert_changed(holds, i, 1, 1.02, expected);
        assert_changed(holds, i, .9, 1.1, expected);
        assert_needs_all(holds);
        besides.p_equivalence[i] = 0.049;
    }
    /* Other N. */
    assert_changed(holds, 5, .989, .989, PCAST_VERDICT_CONDITION);
    assert_changed(holds, 6, 1.011, 1.011, PCAST_VERDICT_CONDITION);

    besides.p_equivalence[0] = besides.p_equivalence[1] = 0.9;
    assert_changed(holds, 0, .9, .92, PCAST_VERDICT_CONDITION); /* apart, but not from 6 up */

    /* A ratio of 1 outside the interval is told apart by pairing. */
    pcast_claim claim = holds;
    set(&claim, 6, (interval){.989, .989});
    judge(&claim);
    assert_non_null(strstr(claim.reason, "told apart"));
    assert_non_null(strstr(claim.reason, "from Delta = 6 up; below, the ratio is 0.997; by theory "
                                         "not at Delta = 6 and N = 32768: 0.989"));
    for (size_t i = 2; i < 5; i++)
        set(&claim, i, (interval){.995, 1});
    judge(&claim);
    assert_null(strstr(claim.reason, "told apart"));
}

static void test_e(void **state)
{
    (void)state;
    const interval growing[] = {{1, 2}, {3, 4}, {5, 6}};
    pcast_claim holds = claim_of_runs('E', growing[0]);
    for (int i = 1; i < 3; i++)
        set(&holds, (size_t)i, growing[i]);
    for (int i = 0; i < 6; i++) /* three N at Delta = 4, smaller ones at 9 */
        add(&holds, 1, i < 3 ? 4 : 9, (interval){9 - i + 2 * (i % 3), 9 - i + 2 * (i % 3)});
    assert_verdict(holds, PCAST_VERDICT_HOLDS);
    judge(&holds);
    assert_non_null(strstr(holds.reason, "grows also at Delta = 4 and 9"));
    assert_changed(holds, 0, 2, 3, PCAST_VERDICT_UNDECIDED); /* meet */
    assert_changed(holds, 0, 3, 4, PCAST_VERDICT_UNDECIDED);
    assert_changed(holds, 0, 4, 5, PCAST_VERDICT_UNDECIDED); /* meet from above */
    assert_changed(holds, 0, 4.1, 5, PCAST_VERDICT_REFUTED);
    assert_changed(holds, 2, 4, 6, PCAST_VERDICT_UNDECIDED);
    assert_changed(holds, 2, 3.5, 6, PCAST_VERDICT_UNDECIDED);
    assert_changed(holds, 2, 2.5, 2.9, PCAST_VERDICT_REFUTED);
    assert_changed(holds, 2, 1, 3, PCAST_VERDICT_UNDECIDED);
    /* Each other Delta by itself. */
    assert_changed(holds, 5, 10, 10, PCAST_VERDICT_CONDITION); /* as before */
    assert_changed(holds, 5, 10.1, 10.1, PCAST_VERDICT_HOLDS);
    assert_changed(holds, 6, 100, 100, PCAST_VERDICT_CONDITION);
    assert_changed(holds, 8, 1, 1, PCAST_VERDICT_CONDITION);
    assert_needs_all(holds);
    set(&holds, 0, (interval){7, 8});
    assert_verdict(holds, PCAST_VERDICT_REFUTED);
    assert_needs_all(holds);
}

static void test_f(void **state)
{
    (void)state;
    const pcast_claim claim = claim_of_runs('F', (interval){0, 0});
    const struct {
        size_t inside, outside;
        pcast_verdict expected;
    } cases[] = {{0, 0, PCAST_VERDICT_UNDECIDED}, /* none seen is not none at all */
                 {1, 0, PCAST_VERDICT_REFUTED},
                 {0, 1, PCAST_VERDICT_REFUTED},
                 {391647, 1, PCAST_VERDICT_REFUTED}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        besides.inside = cases[i].inside;
        besides.outside = cases[i].outside;
        assert_verdict(claim, cases[i].expected);
        assert_needs_all(claim);
    }
}

static void test_g(void **state)
{
    (void)state;
    enum { POWERS, ELSEWHERE, AT_448, POINT_AT_POWERS, LEAST_POINT };
    const double both[] = {.0625, .063, .07, .03, .03};
    pcast_claim holds = {.id = 'G'};
    for (int i = 0; i < 5; i++)
        add(&holds, 0, NAN, (interval){both[i], both[i]});
    assert_verdict(holds, PCAST_VERDICT_HOLDS);
    assert_changed(holds, LEAST_POINT, .029, .029, PCAST_VERDICT_CONDITION);
    assert_changed(holds, ELSEWHERE, .0625, .0625, PCAST_VERDICT_REFUTED); /* a tie */
    assert_changed(holds, ELSEWHERE, .05, .05, PCAST_VERDICT_REFUTED);
    assert_changed(holds, ELSEWHERE, .06, .07, PCAST_VERDICT_REFUTED);
    /* Some power of two does worse than another scale. */
    assert_changed(holds, POWERS, .0625, .064, PCAST_VERDICT_REFUTED);
    assert_needs_all(holds);
}

static void test_h(void **state)
{
    (void)state;
    pcast_claim holds = claim_of_runs('H', (interval){.3, .4});
    add(&holds, 16384, 7, (interval){.4, .4});
    add(&holds, 4096, 7.1, (interval){.35, .35});
    assert_verdict(holds, PCAST_VERDICT_HOLDS);
    assert_changed(holds, 0, .35, .36, PCAST_VERDICT_HOLDS);
    assert_changed(holds, 0, .41, .42, PCAST_VERDICT_REFUTED);
    assert_changed(holds, 0, .28, .29, PCAST_VERDICT_REFUTED);
    assert_changed(holds, 0, .29, .35, PCAST_VERDICT_UNDECIDED);
    assert_changed(holds, 0, .35, .41, PCAST_VERDICT_UNDECIDED);
    assert_changed(holds, 0, .4, .41, PCAST_VERDICT_UNDECIDED);
    assert_changed(holds, 0, .2, .3, PCAST_VERDICT_UNDECIDED);
    assert_changed(holds, 0, .2, .5, PCAST_VERDICT_UNDECIDED);
    /* Other N and Delta. */
    assert_changed(holds, 1, .41, .41, PCAST_VERDICT_CONDITION);
    assert_changed(holds, 2, .29, .29, PCAST_VERDICT_CONDITION);
    assert_needs_all(holds);
    set(&holds, 2, (interval){.416, .416});
    judge(&holds);
    assert_non_null(strstr(holds.reason, "at N = 4096 and Delta = 7; not at Delta = 7.1: 0.416"));
}

/* Means of fractions: intervals stay in [0, 1], and none seen gives an upper limit. */
static void test_means(void **state)
{
    (void)state;
    enum { TRIALS = 10 };
    pcast_loss losses[TRIALS];
    double columns[2][TRIALS];
    pcast_claim claim = {.id = 'H'};
    pcast_paper_sample all = {.plan = &pcast_paper_plans['H' - 'A'],
                              .keys = 4096,
                              .trials = TRIALS,
                              .losses = losses,
                              .columns = {columns[0], columns[1]}};
    for (int lost = 0; lost <= 2; lost++) {
        for (int t = 0; t < TRIALS; t++)
            losses[t] = (pcast_loss){.other = 100, .flushed = lost == 2 ? 100 : 0};
        losses[0].flushed = lost == 0 ? 0 : lost == 1 ? 1 : 99;
        pcast_paper_add_mean(&claim, &all, 0, pcast_lost_share, NAN, "");
    }
    const pcast_finding *none = claim.findings, *few = none + 1, *most = none + 2;
    assert_int_equal(none->kind, PCAST_FINDING_LIMIT);
    assert_true(none->value == 0 && none->low == 0);
    assert_true(fabs(pow(1 - none->high, TRIALS) - 0.05) < 1e-12);
    assert_int_equal(few->kind, PCAST_FINDING_INTERVAL);
    assert_true(few->low == 0 && few->high > few->value && few->trials == TRIALS);
    assert_true(most->high == 1 && most->low < most->value);
}

/* However many places there are to name, a reason has an end. */
static void test_long_reasons(void **state)
{
    (void)state;
    pcast_claim claim = claim_of_runs('H', (interval){.3, .4});
    while (claim.count < PCAST_FINDINGS_MAX)
        add(&claim, 100000 + claim.count, 7, (interval){-1234.5, -1234.5});
    assert_verdict(claim, PCAST_VERDICT_CONDITION);
}

/* No two runs have the same seed, under one seed or neighbouring ones. */
static void test_seeds(void **state)
{
    (void)state;
    enum { SEEDS = 32, COUNT = SEEDS * PCAST_CLAIMS * PCAST_PAPER_RUNS };
    static uint64_t seeds[COUNT];
    size_t count = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++)
        for (int claim = 0; claim < PCAST_CLAIMS; claim++)
            for (size_t run = 0; run < PCAST_PAPER_RUNS; run++)
                seeds[count++] = pcast_paper_seed(seed, claim, run);
    for (size_t i = 0; i < COUNT; i++)
        for (size_t j = 0; j < i; j++)
            assert_true(seeds[i] != seeds[j]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a),     cmocka_unit_test(test_b),
        cmocka_unit_test(test_c),     cmocka_unit_test(test_d),
        cmocka_unit_test(test_e),     cmocka_unit_test(test_f),
        cmocka_unit_test(test_g),     cmocka_unit_test(test_h),
        cmocka_unit_test(test_means), cmocka_unit_test(test_long_reasons),
        cmocka_unit_test(test_seeds),
    };
    return cmocka_run_group_tests_name("paper_verdict", tests, NULL, NULL);
}
