/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Paired statistics against SciPy 1.17 (ttest_rel, wilcoxon) and the delta method worked out in
 * NumPy; and behaviour that can be seen without computing. */
#include "pcast/paired.h"

#include "unit.h"

#include <math.h>

static void test_untied(void **state)
{
    (void)state;
    const double a[] = {10, 12, 9, 14, 11, 13, 8, 15, 10, 12, 11, 9};
    const double b[] = {11,    11.5,   10.25, 14.125, 12.5,  13.75,
                        8.375, 13.875, 11.75, 14,     13.25, 11.5};
    const pcast_paired paired = pcast_paired_compare(a, b, 12, 0.95, 0.1, 0.01);
    assert_near(paired.t, 3.0750060884561337, 1e-12);
    assert_near(paired.p_t, 0.010565070706013624, 1e-12);
    assert_near(paired.w, 69, 0);
    assert_near(paired.p_wilcoxon, 0.01611328125, 1e-15); /* exact: 33 of 2^11 */
    assert_near(paired.ratio, 1.0886194029850746, 1e-14);
    assert_near(paired.ratio_low, 1.0208656802780707, 1e-12);
    assert_near(paired.ratio_high, 1.1608698651058351, 1e-12);
    assert_near(paired.log_ratio_se, 0.02919570668500362, 1e-14);
    assert_near(paired.pairs_needed, 496, 0);
    assert_near(paired.p_equivalence, 0.36420956740309646, 1e-12);
    assert_near(pcast_paired_compare(a, b, 12, 0.95, 0.2, 0.01).p_equivalence,
                0.0033172338489644475, 1e-13);
    /* Exchanged, everything is mirrored. */
    const pcast_paired mirrored = pcast_paired_compare(b, a, 12, 0.95, 0.1, 0.01);
    assert_near(mirrored.ratio * paired.ratio, 1, 1e-14);
    assert_near(mirrored.w, 78 - 69, 0);
    assert_near(mirrored.p_wilcoxon, paired.p_wilcoxon, 0);
    assert_near(mirrored.t, -paired.t, 1e-12);
}

static void test_ties_and_zeros(void **state)
{
    (void)state;
    const double a[] = {5, 5, 5, 5, 5, 5, 5, 5, 5, 5}, b[] = {6, 6, 4, 7, 8, 3, 5, 9, 6, 4};
    const pcast_paired paired = pcast_paired_compare(a, b, 10, 0.95, 0.1, 0.01);
    assert_near(paired.t, 1.3501054811112287, 1e-12);
    assert_near(paired.p_t, 0.20995373165963466, 1e-12);
    assert_near(paired.w, 32.5, 0);
    assert_near(paired.p_wilcoxon, 0.2514700285361524, 1e-12);
}

static void test_equal_and_scaled(void **state)
{
    (void)state;
    const double a[] = {1, 2, 3, 5}, twice[] = {2, 4, 6, 10};
    const pcast_paired same = pcast_paired_compare(a, a, 4, 0.95, 0.1, 0.01);
    assert_near(same.ratio, 1, 0);
    assert_near(same.log_ratio_se, 0, 0);
    assert_true(isnan(same.t) && isnan(same.p_wilcoxon));
    /* Exactly proportional: the ratio is known without error, although a and b scatter. */
    const pcast_paired scaled = pcast_paired_compare(a, twice, 4, 0.95, 0.1, 0.01);
    assert_near(scaled.ratio_low, 2, 1e-14);
    assert_near(scaled.ratio_high, 2, 1e-14);
    const double broken[] = {1, NAN, 3, 5}, huge[] = {1, INFINITY, 3, 5};
    assert_true(isnan(pcast_paired_compare(a, broken, 4, 0.95, 0.1, 0.01).p_wilcoxon));
    assert_true(isnan(pcast_paired_compare(huge, a, 4, 0.95, 0.1, 0.01).ratio));
    assert_true(isnan(pcast_paired_compare(a, a, 1, 0.95, 0.1, 0.01).ratio));
    assert_true(isnan(pcast_paired_compare(a, a, 4, 1.5, 0.1, 0.01).ratio));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_untied),
        cmocka_unit_test(test_ties_and_zeros),
        cmocka_unit_test(test_equal_and_scaled),
    };
    return cmocka_run_group_tests_name("paired", tests, NULL, NULL);
}
