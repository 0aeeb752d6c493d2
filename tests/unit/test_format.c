/* SPDX-License-Identifier: MIT */
/* The E4M3 codec: every float16, bfloat16 and code, every midpoint in float64, the shared vectors,
 * policies. */
#include "pcast/format.h"

#include "base/bits.h"
#include "oracle_e4m3.h"
#include "unit.h"

#include <fenv.h>
#include <stdlib.h>

static const pcast_cast saturate = {.overflow = PCAST_OVERFLOW_SATURATE};
static const pcast_cast overflow_nan = {.overflow = PCAST_OVERFLOW_NAN};
static const pcast_cast keep = {.overflow = PCAST_OVERFLOW_NAN, .nan = PCAST_NAN_KEEP_SIGN};

static uint64_t encode_f64(double x, pcast_cast cast)
{
    return pcast_convert(PCAST_E4M3, PCAST_F64, pcast_bits_f64(x), cast);
}

/* Exact value of float16 bits, from the definition. */
static double value_of_f16(uint16_t bits)
{
    const int field = bits >> 10 & 31, mantissa = bits & 1023;
    double value = field == 0    ? ldexp(mantissa, -24)
                   : field == 31 ? (mantissa != 0 ? NAN : INFINITY)
                                 : ldexp(1024 + mantissa, field - 25);
    return bits & 0x8000 ? -value : value;
}

static double value_of_bf16(uint16_t bits)
{
    const int field = bits >> 7 & 255, mantissa = bits & 127;
    double value = field == 0     ? ldexp(mantissa, -133)
                   : field == 255 ? (mantissa != 0 ? NAN : INFINITY)
                                  : ldexp(128 + mantissa, field - 134);
    return bits & 0x8000 ? -value : value;
}

static void test_all_16_bit_inputs(void **state)
{
    (void)state;
    oracle_e4m3 oracle;
    oracle_e4m3_init(&oracle);
    for (uint32_t u = 0; u < 65536; u++) {
        const uint16_t bits = (uint16_t)u;
        const double f16 = value_of_f16(bits), bf16 = value_of_bf16(bits);
        for (int sat = 0; sat < 2; sat++) {
            const pcast_cast options = sat ? saturate : overflow_nan;
            assert_code(pcast_convert(PCAST_E4M3, PCAST_F16, bits, options),
                        oracle_e4m3_encode(&oracle, f16, sat), bits);
            assert_code(pcast_convert(PCAST_E4M3, PCAST_BF16, bits, options),
                        oracle_e4m3_encode(&oracle, bf16, sat), bits);
        }
    }
}

static void test_every_midpoint_in_f64(void **state)
{
    (void)state;
    oracle_e4m3 oracle;
    oracle_e4m3_init(&oracle);
    for (int low = 0; low < 127; low++) {
        const double midpoint = (oracle.value[low] + oracle.value[low + 1]) / 2;
        const double points[] = {
            midpoint,          nextafter(midpoint, 0),          nextafter(midpoint, 1e9),
            oracle.value[low], nextafter(oracle.value[low], 0), nextafter(oracle.value[low], 1e9)};
        for (size_t i = 0; i < 6; i++)
            for (int sign = 0; sign < 2; sign++)
                for (int sat = 0; sat < 2; sat++) {
                    const double x = sign ? -points[i] : points[i];
                    assert_code(encode_f64(x, sat ? saturate : overflow_nan),
                                oracle_e4m3_encode(&oracle, x, sat), pcast_bits_f64(x));
                }
    }
    const double specials[] = {0.0,       -0.0,     1e308,     -1e308, 4.9e-324,
                               -4.9e-324, INFINITY, -INFINITY, NAN,    1e-30};
    for (size_t i = 0; i < sizeof specials / sizeof specials[0]; i++)
        for (int sat = 0; sat < 2; sat++)
            assert_code(encode_f64(specials[i], sat ? saturate : overflow_nan),
                        oracle_e4m3_encode(&oracle, specials[i], sat), pcast_bits_f64(specials[i]));
}

/* A value that binary32 rounds onto a midpoint must not be rounded twice. */
static void test_f64_is_not_rounded_through_f32(void **state)
{
    (void)state;
    const double just_above_tie =
        1.0625 + 0x1p-40; /* float32 would give the tie 1.0625, and that 1.0 */
    assert_int_equal(encode_f64(just_above_tie, saturate), 0x39);
    assert_int_equal(pcast_encode_f32(PCAST_E4M3, (float)just_above_tie, saturate), 0x38);
}

static void test_decode(void **state)
{
    (void)state;
    oracle_e4m3 oracle;
    oracle_e4m3_init(&oracle);
    for (int code = 0; code < 256; code++) {
        const uint8_t c = (uint8_t)code;
        const double f64 = pcast_decode_f64(PCAST_E4M3, c);
        if ((code & 0x7F) == 0x7F) {
            assert_true(isnan(f64) && isnan(pcast_decode_f32(PCAST_E4M3, c)));
            assert_true(
                isnan(value_of_f16((uint16_t)pcast_convert(PCAST_F16, PCAST_E4M3, c, keep))));
            assert_true(
                isnan(value_of_bf16((uint16_t)pcast_convert(PCAST_BF16, PCAST_E4M3, c, keep))));
            assert_int_equal(signbit(pcast_decode_f32(PCAST_E4M3, c)) != 0, code >> 7);
            continue;
        }
        const double expected = code & 0x80 ? -oracle.value[code & 0x7F] : oracle.value[code];
        assert_bits_f64(f64, expected);
        assert_bits_f64((double)pcast_decode_f32(PCAST_E4M3, c), expected);
        assert_bits_f64(value_of_f16((uint16_t)pcast_convert(PCAST_F16, PCAST_E4M3, c, keep)),
                        expected);
        assert_bits_f64(value_of_bf16((uint16_t)pcast_convert(PCAST_BF16, PCAST_E4M3, c, keep)),
                        expected);
    }
}

static void test_policies(void **state)
{
    (void)state;
    const pcast_cast keep_sign = {.nan = PCAST_NAN_KEEP_SIGN};
    const pcast_cast inf_nan = {.inf = PCAST_INF_NAN};
    const pcast_cast inf_sat = {.overflow = PCAST_OVERFLOW_NAN, .inf = PCAST_INF_SATURATE};
    const float negative_nan = pcast_f32_from_bits(0xFFC00000);
    assert_int_equal(pcast_encode_f32(PCAST_E4M3, negative_nan, saturate), 0x7F);
    assert_int_equal(pcast_encode_f32(PCAST_E4M3, negative_nan, keep_sign), 0xFF);
    assert_int_equal(pcast_encode_f32(PCAST_E4M3, -INFINITY, saturate), 0xFE);
    assert_int_equal(pcast_encode_f32(PCAST_E4M3, -INFINITY, overflow_nan), 0xFF);
    assert_int_equal(pcast_encode_f32(PCAST_E4M3, -INFINITY, inf_nan), 0xFF);
    assert_int_equal(pcast_encode_f32(PCAST_E4M3, 1000.0f, inf_nan), 0x7E);
    assert_int_equal(pcast_encode_f32(PCAST_E4M3, INFINITY, inf_sat), 0x7E);
    assert_int_equal(pcast_encode_f32(PCAST_E4M3, 1000.0f, inf_sat), 0x7F);
    assert_int_equal(pcast_encode_f32(PCAST_E4M3, 464.0f, overflow_nan), 0x7E);
    assert_int_equal(pcast_encode_f32(PCAST_E4M3, nextafterf(464.0f, 500.0f), overflow_nan), 0x7F);
    assert_int_equal(pcast_encode_f32(PCAST_E4M3, nextafterf(464.0f, 500.0f), saturate), 0x7E);
    assert_int_equal(pcast_encode_f32(PCAST_E4M3, -1e-20f, saturate), 0x80);
}

static pcast_format format_named(const char *name)
{
    for (int format = 0; format < PCAST_FORMAT_COUNT; format++)
        if (strcmp(pcast_format_name((pcast_format)format), name) == 0)
            return (pcast_format)format;
    fail_msg("unknown format %s", name);
    return PCAST_F64;
}

/* data/codec_cases.csv: id,kind,input_format,input_bits_hex,mode,expected_hex,why. The mode of an
 * E5M2 row begins with its name; the vectors keep a NaN's sign. */
static void test_shared_vectors(void **state)
{
    (void)state;
    FILE *file = fopen(PCAST_DATA "/codec_cases.csv", "r");
    assert_non_null(file);
    char line[512];
    int rows = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        char id[16], kind[64], format[16], mode[32];
        unsigned long long bits, expected;
        if (sscanf(line, "%15[^,],%63[^,],%15[^,],%llx,%31[^,],%llx", id, kind, format, &bits, mode,
                   &expected) != 6)
            continue;
        const pcast_format to = strcmp(mode, "decode_to_f32") == 0 ? PCAST_F32
                                : strncmp(mode, "e5m2", 4) == 0    ? PCAST_E5M2
                                                                   : PCAST_E4M3;
        const pcast_cast cast = {.overflow = strstr(mode, "rne_sat") != NULL
                                                 ? PCAST_OVERFLOW_SATURATE
                                                 : PCAST_OVERFLOW_NAN,
                                 .nan = PCAST_NAN_KEEP_SIGN};
        const uint64_t got = pcast_convert(to, format_named(format), bits, cast);
        if (got != expected)
            fail_msg("%s: got 0x%llX: %s", id, (unsigned long long)got, line);
        rows++;
    }
    fclose(file);
    assert_int_equal(rows, PCAST_CODEC_ROWS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_16_bit_inputs),
        cmocka_unit_test(test_every_midpoint_in_f64),
        cmocka_unit_test(test_f64_is_not_rounded_through_f32),
        cmocka_unit_test(test_decode),
        cmocka_unit_test(test_policies),
        cmocka_unit_test(test_shared_vectors),
    };
    return cmocka_run_group_tests_name("format", tests, NULL, NULL);
}
