/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The theory against values worked out independently (mpmath, see tests/oracle/theory_mpmath.py for
 * a grid) and against limits that can be seen without computing. */
#include "pcast/theory.h"

#include "unit.h"

#include <gsl/gsl_errno.h>
#include <math.h>

static void test_published_values(void **state)
{
    (void)state;
    assert_near(pcast_theory_delta_k(4), 1.0293753730, 1e-10);
    assert_near(pcast_theory_delta_k(1), 0, 1e-12);
    assert_near(pcast_theory_delta_k(2), 0.5641895835477563, 1e-12); /* 1 / sqrt(pi) */
    assert_near(pcast_theory_delta_k(3), 0.8462843753216344, 1e-12); /* 1.5 / sqrt(pi) */
    assert_near(pcast_theory_delta_c(1, 4), 5.902096, 5e-7);
    assert_near(pcast_theory_delta_c(256, 4), 11.447274, 5e-7);
    assert_near(pcast_theory_delta_c(448, 4), 12.006890, 5e-7);
    assert_near(pcast_theory_f(5, 1, 4), 0.1835, 5e-5);
    assert_near(pcast_theory_f(6, 1, 4), 0.5390, 5e-5);
    assert_near(pcast_theory_f(6.5, 1, 4), 0.7250, 5e-5);
    assert_near(pcast_theory_f(7, 1, 4), 0.8639, 5e-5);
    assert_near(pcast_theory_f(pcast_theory_delta_c(256, 4), 256, 4), 0.5, 1e-12);
}

static void test_expected_underflow(void **state)
{
    (void)state;
    const pcast_kernel forward = {.order = PCAST_ORDER_FORWARD, .block = 128, .scale = 1};
    const double delta[] = {5, 6, 6.5, 7}, expected[] = {0.2286, 0.5287, 0.6858, 0.8156};
    for (int i = 0; i < 4; i++)
        assert_near(pcast_theory_expected_underflow(&forward, 4096, 4, delta[i]).outside,
                    expected[i], 1e-4);
    assert_near(pcast_theory_expected_underflow(&forward, 4096, 4, 3).outside, 0.00998, 1e-3);
    /* Reverse order before the sinks' block: N = 10^6 and S = 256 stay below N Phi(-12.4766 / sqrt
     * 2), 5.6e-13. */
    const pcast_kernel reverse = {.order = PCAST_ORDER_REVERSE, .block = 128, .scale = 256};
    const pcast_theory_underflow tiny = pcast_theory_expected_underflow(&reverse, 1000000, 4, 12);
    assert_true(tiny.outside > 1e-14 && tiny.outside < 5.6e-13);
    /* Sinks far up: everything visited after them is lost, what came before is not. */
    const pcast_theory_underflow far = pcast_theory_expected_underflow(&forward, 4096, 4, 60);
    assert_near(far.all, 1, 1e-9);
    const pcast_kernel reverse1 = {.order = PCAST_ORDER_REVERSE, .block = 128, .scale = 1};
    const pcast_theory_underflow far_reverse =
        pcast_theory_expected_underflow(&reverse1, 4096, 4, 60);
    assert_near(far_reverse.all, 124.0 / 4092 + far_reverse.outside * 3968 / 4092, 1e-9);
}

static void test_domain(void **state)
{
    (void)state;
    const pcast_kernel kernel = {.block = 128, .scale = 1};
    assert_true(isnan(pcast_theory_delta_k(0)));
    assert_true(isnan(pcast_theory_f(5, 0, 4)) && isnan(pcast_theory_f_gap(5, 0, 1)));
    assert_true(isnan(pcast_theory_expected_underflow(&kernel, 100, 0, 5).all));
    assert_true(isnan(pcast_theory_expected_underflow(&kernel, 100, 129, 5).all));
    assert_true(isnan(pcast_theory_expected_underflow(&kernel, 4, 4, 5).all));
    const pcast_theory_underflow one_block = pcast_theory_expected_underflow(&kernel, 100, 4, 5);
    assert_true(isnan(one_block.outside) && one_block.all > 0 && one_block.all < 1);
    /* A last block of one key, visited first: its own maximum, never lost. */
    const pcast_kernel reverse = {.order = PCAST_ORDER_REVERSE, .block = 4, .scale = 1};
    assert_near(pcast_theory_expected_underflow(&reverse, 5, 4, 5).outside, 0, 1e-300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published_values),
        cmocka_unit_test(test_expected_underflow),
        cmocka_unit_test(test_domain),
    };
    gsl_set_error_handler_off();
    return cmocka_run_group_tests_name("theory", tests, NULL, NULL);
}
