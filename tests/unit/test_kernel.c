/* SPDX-License-Identifier: MIT */
/* SPECs: what parses, and what each mistake is told. */
#include "pcast/kernel.h"

#include "unit.h"

#include <fenv.h>

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

/* Combinations that make no sense: the line names the field to change. */
static void test_combinations(void **state)
{
    (void)state;
    static const struct {
        const char *spec, *said;
    } cases[] = {
        {"fa3:sum_scale=out", "sum_scale: out with scale_at=exponent"},
        {"paper:row_sum=cast", "sum_scale: out with row_sum=cast"},
        {"torch-ref:row_sum=cast;sum_scale=in", "row_sum: cast with normalise=partition"},
        {"torch-ref:scale_at=exponent", "scale_at: exponent with normalise=partition"},
        {"torch-ref:sum_scale=in", "sum_scale: in with normalise=partition"},
        {"torch-ref:rescale_threshold=1", "rescale_threshold: with normalise=partition"},
        {"paper:scale_log2=8", "scale_log2: is a term of the exponent"},
        {"paper:scale_at=exponent;sum_scale=in;scale_log2=8", "scale_log2: a natural exponent"},
        {"paper:scale=1e18;rescale_threshold=60", "scale: S * l overflows float32"},
        {"paper:max_over=raw", "max_over: raw with exponent=natural"},
        {"paper:bias=fma", "bias: fma with exponent=natural"},
        {"paper:correction=bias", "correction: bias with exponent=natural"},
        {"fa3:correction=natural", "correction: natural with max_over=raw"},
        {"xqa-sm90:rescale_threshold=1", "threshold_unit: log2 with correction=natural"},
        {"paper:accumulator=tensor_core", "accumulator: tensor_core with qkv=f32"},
        {"fa3:p_format=f32", "accumulator: tensor_core with p_format=f32"},
        {"paper:accumulator=fp64;promotion=tile", "promotion: to FP32 from accumulator=fp64"},
        {"paper:partition=256;splits=2", "partition: fixes the number of splits"},
        {"paper:partition=256;traversal=strided", "traversal: strided with partition"},
        {"paper:partition=200", "partition: is no multiple of block"},
        {"paper:mask=causal;window_right=1", "window_right: a causal mask"},
        {"paper:masked_rows=mean_v", "masked_rows: mean_v comes from a finite mask_value"},
        {"xqa-sm90:empty_max=unguarded", "empty_max: under a finite mask_value"},
        {"paper:sink_logit=1", "sink_logit: with learned_sink=none"},
        {"sage2pp:v_range=449", "v_range: 449 is neither 0 nor from 2^-20 to 448"},
        {"fa3:v_range=1e-30", "v_range: 1e-30 is neither"},
        {"fa3:qkv=e4m3fnuz;v_range=240.5", "v_range: 240.5 is neither 0 nor from 2^-20 to 240"},
        {"paper:initial_sum=0.5", "initial_sum: is 0 or 1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pcast_kernel kernel;
        pcast_error err = {""};
        assert_int_equal(pcast_kernel_parse(cases[i].spec, &kernel, NULL, &err), PCAST_OK);
        assert_int_equal(pcast_kernel_validate(&kernel, &err), PCAST_ERR_VALUE);
        if (strncmp(err.text, cases[i].said, strlen(cases[i].said)) != 0)
            fail_msg("'%s': said '%s', expected '%s'", cases[i].spec, err.text, cases[i].said);
    }
}

/* S as a constant of the exponent, and as a number: each sets the other. */
static void test_scale_log2(void **state)
{
    (void)state;
    pcast_kernel kernel;
    pcast_error err;
    assert_int_equal(pcast_kernel_parse("sage2-fp32", &kernel, NULL, &err), PCAST_OK);
    assert_bits_f32(kernel.scale_log2, 8.807f);
    assert_bits_f32(kernel.scale, 447.889862f); /* 2^8.807f = 447.88984937 */
    assert_int_equal(pcast_kernel_parse("sage2-fp32:scale=448", &kernel, NULL, &err), PCAST_OK);
    assert_bits_f32(kernel.scale_log2, 0);
    assert_int_equal(pcast_kernel_parse("fa3:scale_log2=4", &kernel, NULL, &err), PCAST_OK);
    assert_bits_f32(kernel.scale, 16);
    assert_int_equal(pcast_kernel_parse("fa3:scale_log2=4;scale=8", &kernel, NULL, &err),
                     PCAST_ERR_VALUE);
}

/* Keys per block by head dimension, window and paging, as the kernels' tables have them; the query
 * block where the SPEC leaves it to the table. */
static void test_block_tables(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        size_t dim, block, query_block;
    } cases[] = {
        {"fa3", 64, 160, 192},
        {"fa3", 96, 128, 192},
        {"fa3", 128, 224, 128},
        {"fa3:paged=yes", 128, 160, 128},
        {"fa3", 192, 160, 128},
        {"fa3", 256, 128, 128},
        {"fa3:window_left=9", 256, 64, 128},
        {"fa3:window_left=9;softcap=30", 128, 192, 128},
        {"fa3:paged=yes;window_left=9", 192, 128, 128},
        {"fa3-vllm", 128, 192, 128},
        {"fa3-vllm", 192, 96, 128},
        {"flashinfer-fa3", 128, 192, 128},
        {"flashinfer-fa3:paged=yes", 256, 64, 128},
        {"fmha-v2", 128, 256, 128},
        {"fmha-v2", 256, 128, 128},
        {"fa3:block=96", 128, 96, 0},
        {"fa3:query_block=3", 64, 160, 3},
        {"paper:block=fa3", 64, 160, 1},
        {"paper:block=fa3;query_block=0", 64, 160, 192},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pcast_kernel kernel;
        pcast_error err;
        assert_int_equal(pcast_kernel_parse(cases[i].spec, &kernel, NULL, &err), PCAST_OK);
        pcast_kernel_resolve(&kernel, cases[i].dim);
        assert_int_equal(kernel.block, cases[i].block);
        assert_int_equal(kernel.query_block, cases[i].query_block);
    }
}

/* The caller's rounding mode has no say in what is valid. */
static void test_rounding_modes(void **state)
{
    (void)state;
    static const int modes[] = {FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO, FE_TONEAREST};
    for (int mode = 0; mode < 4; mode++)
        for (size_t i = 0; i < pcast_preset_count(); i++) {
            pcast_error err = {""};
            fesetround(modes[mode]);
            const pcast_status status = pcast_kernel_validate(&pcast_preset_at(i)->kernel, &err);
            const int kept = fegetround() == modes[mode];
            fesetround(FE_TONEAREST);
            if (status != PCAST_OK || !kept)
                fail_msg("%s under mode %d: %s", pcast_preset_at(i)->name, mode, err.text);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),         cmocka_unit_test(test_bad),
        cmocka_unit_test(test_combinations), cmocka_unit_test(test_scale_log2),
        cmocka_unit_test(test_block_tables), cmocka_unit_test(test_rounding_modes),
    };
    return cmocka_run_group_tests_name("kernel", tests, NULL, NULL);
}
