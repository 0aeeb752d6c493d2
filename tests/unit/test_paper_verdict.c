/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Verdicts on the paper's claims from findings that are made up: every verdict a judge can reach,
 * intervals that meet a limit or straddle it, and numbers that are missing. */
#include "experiment/paper_verdict.h"

#include "experiment/paper_sample.h"
#include "unit.h"

#include <math.h>

typedef struct interval {
    double low, high;
} interval;

static void set(pcast_claim *claim, size_t finding, interval to)
{
    claim->findings[finding] = (pcast_finding){
        .value = (to.low + to.high) / 2, .low = to.low, .high = to.high, .theory = NAN};
}

static pcast_claim claim_with(char id, size_t count, const interval *findings)
{
    pcast_claim claim = {.id = id, .count = count};
    for (size_t i = 0; i < count; i++)
        set(&claim, i, findings[i]);
    return claim;
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
    /* Lost and mass at Delta = 5, 6, 7. */
    enum { LOST_5, MASS_5, LOST_6, MASS_6, LOST_7, MASS_7 };
    const interval at_6_and_7[] = {{.2, .3}, {.8, .9}, {.5, .6}, {.5, .6}, {.7, .8}, {.4, .5}};
    const pcast_claim holds = claim_with('A', 6, at_6_and_7);
    assert_verdict(holds, PCAST_VERDICT_HOLDS);
    assert_changed(holds, MASS_6, .4, .6, PCAST_VERDICT_HOLDS);
    assert_changed(holds, MASS_6, .7, .8, PCAST_VERDICT_CONDITION);
    assert_changed(holds, MASS_6, .55, .65, PCAST_VERDICT_CONDITION);
    assert_changed(holds, MASS_7, .61, .7, PCAST_VERDICT_REFUTED);
    assert_changed(holds, MASS_7, .3, .39, PCAST_VERDICT_REFUTED);
    assert_changed(holds, MASS_7, .5, .7, PCAST_VERDICT_UNDECIDED);
    assert_changed(holds, MASS_7, .3, .5, PCAST_VERDICT_UNDECIDED);
    assert_changed(holds, MASS_7, .3, .7, PCAST_VERDICT_UNDECIDED);
    assert_changed(holds, MASS_7, .6, .7, PCAST_VERDICT_UNDECIDED); /* meets the limit */
    assert_changed(holds, LOST_5, .51, .6, PCAST_VERDICT_REFUTED);
    assert_changed(holds, LOST_5, .5, .6, PCAST_VERDICT_UNDECIDED);
    assert_changed(holds, LOST_5, .4, .5, PCAST_VERDICT_UNDECIDED);
    assert_changed(holds, LOST_7, .4, .49, PCAST_VERDICT_REFUTED);
    assert_changed(holds, LOST_7, .4, .5, PCAST_VERDICT_UNDECIDED);
    assert_changed(holds, LOST_7, .5, .6, PCAST_VERDICT_UNDECIDED);
    assert_changed(holds, LOST_7, .4, .6, PCAST_VERDICT_UNDECIDED);
    assert_needs_all(holds);
    pcast_claim refuted = holds;
    set(&refuted, LOST_5, (interval){.6, .7});
    assert_needs_all(refuted);
}

/* Of a claim with a finding for each Delta of each run. */
static size_t place(char id, size_t keys, double delta)
{
    const pcast_paper_plan *plan = &pcast_paper_plans[id - 'A'];
    size_t run = 0, at = 0;
    while (plan->runs[run].keys != keys)
        run++;
    while (plan->deltas[at] != delta)
        at++;
    return run * plan->delta_count + at;
}

static pcast_claim claim_of_runs(char id, interval everywhere)
{
    const pcast_paper_plan *plan = &pcast_paper_plans[id - 'A'];
    pcast_claim claim = {.id = id, .count = plan->run_count * plan->delta_count};
    for (size_t i = 0; i < claim.count; i++)
        set(&claim, i, everywhere);
    return claim;
}

static void test_b(void **state)
{
    (void)state;
    const pcast_claim holds = claim_of_runs('B', (interval){3, 10});
    assert_verdict(holds, PCAST_VERDICT_HOLDS);
    const double judged[] = {5, 6, 7};
    for (int i = 0; i < 3; i++) {
        const size_t at = place('B', 4096, judged[i]);
        assert_changed(holds, at, 2, 2.9, PCAST_VERDICT_REFUTED);
        assert_changed(holds, at, 11, 12, PCAST_VERDICT_REFUTED);
        assert_changed(holds, at, 2, 3, PCAST_VERDICT_UNDECIDED);
        assert_changed(holds, at, 2, 4, PCAST_VERDICT_UNDECIDED);
        assert_changed(holds, at, 9, 11, PCAST_VERDICT_UNDECIDED);
        assert_changed(holds, at, 2, 11, PCAST_VERDICT_UNDECIDED);
    }
    assert_changed(holds, place('B', 4096, 8), 1, 2, PCAST_VERDICT_HOLDS); /* not moderate */
    /* At other N the largest ratio must be in range too. */
    assert_changed(holds, place('B', 32768, 6), 30, 40, PCAST_VERDICT_CONDITION);
    assert_changed(holds, place('B', 32768, 6), 9, 11, PCAST_VERDICT_CONDITION);
    assert_changed(holds, place('B', 32768, 8), 1, 2, PCAST_VERDICT_HOLDS);
    pcast_claim low = holds;
    for (size_t d = 0; d < pcast_paper_plans[1].delta_count; d++)
        set(&low, d, (interval){2, 2.5});
    assert_verdict(low, PCAST_VERDICT_CONDITION);
    set(&low, place('B', 1024, 5), (interval){2.5, 3.5});
    assert_verdict(low, PCAST_VERDICT_CONDITION);
    judge(&low);
    assert_non_null(strstr(low.reason, "3 at N = 1024 and 6.5 at N = 32768"));
    assert_needs_all(low);
    assert_needs_all(holds);
    assert_needs_all(claim_of_runs('B', (interval){1, 2}));
}

static void test_c(void **state)
{
    (void)state;
    const pcast_claim holds = claim_of_runs('C', (interval){1.12, 1.17}),
                      below = claim_of_runs('C', (interval){1.05, 1.11}),
                      above = claim_of_runs('C', (interval){1.18, 1.3});
    assert_verdict(holds, PCAST_VERDICT_HOLDS);
    assert_verdict(below, PCAST_VERDICT_REFUTED);
    assert_verdict(above, PCAST_VERDICT_REFUTED);
    assert_verdict(claim_of_runs('C', (interval){1 / 0.9, 1 / 0.85}), PCAST_VERDICT_HOLDS);
    assert_verdict(claim_of_runs('C', (interval){1, 1 / 0.9}), PCAST_VERDICT_UNDECIDED);
    assert_verdict(claim_of_runs('C', (interval){1 / 0.85, 2}), PCAST_VERDICT_UNDECIDED);
    assert_verdict(claim_of_runs('C', (interval){1, 2}), PCAST_VERDICT_UNDECIDED);
    const size_t own = place('C', 4096, 7), other = place('C', 1024, 7);
    assert_changed(holds, own, 1.1, 1.15, PCAST_VERDICT_UNDECIDED);
    assert_changed(holds, own, 1.05, 1.1, PCAST_VERDICT_UNDECIDED);
    assert_changed(below, own, 1.1, 1.15, PCAST_VERDICT_UNDECIDED);
    assert_changed(below, own, 1.2, 1.3, PCAST_VERDICT_UNDECIDED);
    assert_changed(holds, other, 1, 2, PCAST_VERDICT_HOLDS); /* not the paper's N */
    assert_changed(below, other, 1, 2, PCAST_VERDICT_REFUTED);
    assert_needs_all(holds);
    assert_needs_all(below);
}

static void test_d(void **state)
{
    (void)state;
    /* Delta = 8, 7, 6, 5, 3.5. */
    const interval ratios[] = {{.999, 1}, {.998, 1}, {.993, .997}, {.995, .999}, {.992, .998}};
    const pcast_claim holds = claim_with('D', 5, ratios);
    besides.p_equivalence[0] = besides.p_equivalence[1] = besides.p_equivalence[2] =
        besides.p_equivalence[3] = besides.p_equivalence[4] = 0.049;
    assert_verdict(holds, PCAST_VERDICT_HOLDS);
    assert_needs_all(holds);
    /* Apart: all of the interval beyond 1 %, from 6 up. */
    for (size_t i = 0; i < 3; i++) {
        assert_changed(holds, i, .98, .99, PCAST_VERDICT_REFUTED);
        assert_changed(holds, i, 1.011, 1.02, PCAST_VERDICT_REFUTED);
    }
    for (size_t i = 0; i < 5; i++) {
        besides.p_equivalence[i] = NAN;
        assert_verdict(holds, PCAST_VERDICT_UNDECIDED);
        /* Not shown to be equivalent: only the Delta above count. */
        besides.p_equivalence[i] = 0.05;
        const pcast_verdict expected = i < 3 ? PCAST_VERDICT_UNDECIDED : PCAST_VERDICT_CONDITION;
        assert_verdict(holds, expected);
        assert_changed(holds, i, .98, 1, expected);
        assert_changed(holds, i, 1, 1.02, expected);
        assert_changed(holds, i, .9, 1.1, expected);
        assert_needs_all(holds);
        besides.p_equivalence[i] = 0.049;
    }
    besides.p_equivalence[3] = besides.p_equivalence[4] = 0.9;
    assert_changed(holds, 4, .9, .92, PCAST_VERDICT_CONDITION); /* apart, but not from 6 up */

    /* A ratio of 1 outside the interval is told apart by pairing. */
    pcast_claim claim = holds;
    judge(&claim);
    assert_non_null(strstr(claim.reason, "told apart"));
    assert_non_null(strstr(claim.reason, "from Delta = 6 up; below, the ratio is 0.997"));
    for (size_t i = 0; i < 3; i++)
        set(&claim, i, (interval){.995, 1});
    judge(&claim);
    assert_null(strstr(claim.reason, "told apart"));
}

static void test_e(void **state)
{
    (void)state;
    const interval ratios[] = {{1, 2}, {3, 4}, {5, 6}};
    const pcast_claim holds = claim_with('E', 3, ratios);
    assert_verdict(holds, PCAST_VERDICT_HOLDS);
    assert_changed(holds, 0, 2, 3, PCAST_VERDICT_UNDECIDED); /* meet */
    assert_changed(holds, 0, 3, 4, PCAST_VERDICT_UNDECIDED);
    assert_changed(holds, 0, 4, 5, PCAST_VERDICT_UNDECIDED); /* meet from above */
    assert_changed(holds, 0, 4.1, 5, PCAST_VERDICT_REFUTED);
    assert_changed(holds, 2, 4, 6, PCAST_VERDICT_UNDECIDED);
    assert_changed(holds, 2, 3.5, 6, PCAST_VERDICT_UNDECIDED);
    assert_changed(holds, 2, 2.5, 2.9, PCAST_VERDICT_REFUTED);
    assert_changed(holds, 2, 1, 3, PCAST_VERDICT_UNDECIDED);
    assert_needs_all(holds);
    const interval falling[] = {{5, 6}, {3, 4}, {1, 2}};
    assert_verdict(claim_with('E', 3, falling), PCAST_VERDICT_REFUTED);
    assert_needs_all(claim_with('E', 3, falling));
}

static void test_f(void **state)
{
    (void)state;
    const interval shares[8] = {{0, 0}};
    const pcast_claim claim = claim_with('F', 8, shares);
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
    const interval both[] = {{.0625, .0625}, {.063, .063}, {.07, .07}, {.03, .03}, {.03, .03}};
    const pcast_claim holds = claim_with('G', 5, both);
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
    const interval all_in = {.3, .4};
    const pcast_claim holds = claim_with('H', 1, &all_in);
    assert_verdict(holds, PCAST_VERDICT_HOLDS);
    assert_changed(holds, 0, .35, .36, PCAST_VERDICT_HOLDS);
    assert_changed(holds, 0, .41, .42, PCAST_VERDICT_REFUTED);
    assert_changed(holds, 0, .28, .29, PCAST_VERDICT_REFUTED);
    assert_changed(holds, 0, .29, .35, PCAST_VERDICT_UNDECIDED);
    assert_changed(holds, 0, .35, .41, PCAST_VERDICT_UNDECIDED);
    assert_changed(holds, 0, .4, .41, PCAST_VERDICT_UNDECIDED);
    assert_changed(holds, 0, .2, .3, PCAST_VERDICT_UNDECIDED);
    assert_changed(holds, 0, .2, .5, PCAST_VERDICT_UNDECIDED);
    assert_needs_all(holds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a), cmocka_unit_test(test_b), cmocka_unit_test(test_c),
        cmocka_unit_test(test_d), cmocka_unit_test(test_e), cmocka_unit_test(test_f),
        cmocka_unit_test(test_g), cmocka_unit_test(test_h),
    };
    return cmocka_run_group_tests_name("paper_verdict", tests, NULL, NULL);
}
