/* SPDX-License-Identifier: MIT */
/* SPECs: what parses, and what each mistake is told. */
#include "pcast/kernel.h"

#include "unit.h"

static void test_good(void **state)
{
    (void)state;
    pcast_kernel kernel;
    uint64_t given;
    pcast_error err;
    assert_int_equal(pcast_kernel_parse("paper", &kernel, &given, &err), PCAST_OK);
    assert_int_equal(given, 0);
    assert_int_equal(kernel.order, PCAST_ORDER_FORWARD);
    assert_int_equal(kernel.block, 128);
    assert_true(kernel.scale == 1.0f);
    assert_int_equal(
        pcast_kernel_parse("paper:scale=447.8898;order=reverse;block=64;overflow=nan;mask=causal",
                           &kernel, &given, &err),
        PCAST_OK);
    assert_int_equal(given, UINT64_C(1) << PCAST_FIELD_SCALE | UINT64_C(1) << PCAST_FIELD_ORDER |
                                UINT64_C(1) << PCAST_FIELD_BLOCK |
                                UINT64_C(1) << PCAST_FIELD_OVERFLOW |
                                UINT64_C(1) << PCAST_FIELD_MASK);
    assert_int_equal(kernel.order, PCAST_ORDER_REVERSE);
    assert_int_equal(kernel.block, 64);
    assert_bits_f32(kernel.scale, 447.8898f);
    assert_int_equal(kernel.overflow, PCAST_OVERFLOW_NAN);
    assert_int_equal(kernel.mask, PCAST_MASK_CAUSAL);
}

static void test_bad(void **state)
{
    (void)state;
    static const struct {
        const char *spec, *said;
    } cases[] = {
        {"", "unknown kernel ''"},
        {"pap", "unknown kernel 'pap' (known: paper, fa3,"},
        {"papers", "unknown kernel"},
        {"paper:", "'' is not field=value"},
        {"paper:scale", "'scale' is not field=value"},
        {"paper:scale=", "scale: ''"},
        {"paper:scale=0", "scale: '0'"},
        {"paper:scale=-1", "scale: '-1'"},
        {"paper:scale=nan", "scale: 'nan'"},
        {"paper:scale=inf", "scale: 'inf'"},
        {"paper:scale=1e30", "scale: '1e30'"},
        {"paper:scale=1x", "scale: '1x'"},
        {"paper:block=0", "block: '0'"},
        {"paper:block=-5", "block: '-5'"},
        {"paper:block=1.5", "block: '1.5'"},
        {"paper:block=99999999999999999999", "block:"},
        {"paper:order=up", "order: 'up' is neither 'forward' nor 'reverse'"},
        {"paper:order=forward;", "'' is not field=value"},
        {"paper:order=forward;order=reverse", "order: given twice"},
        {"paper:tau=1", "unknown field 'tau'"},
        {"paper:scale=1111111111111111111111111111111111111111111111111111111111111111111111",
         "too long"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pcast_kernel kernel;
        pcast_error err = {""};
        assert_int_equal(pcast_kernel_parse(cases[i].spec, &kernel, NULL, &err), PCAST_ERR_VALUE);
        if (strstr(err.text, cases[i].said) == NULL)
            fail_msg("'%s': said '%s', expected '%s'", cases[i].spec, err.text, cases[i].said);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_good), cmocka_unit_test(test_bad)};
    return cmocka_run_group_tests_name("kernel", tests, NULL, NULL);
}
