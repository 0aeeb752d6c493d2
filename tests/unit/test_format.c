/* SPDX-License-Identifier: MIT */
/* The codec: every code of the 8- and 16-bit formats into every format, every midpoint of theirs in
 * float64 and float32, policies, bounds, the shared vectors. Expected values come from a table
 * search (8 bits), MPFR (float16, bfloat16), the processor (float32) and lists written by hand. */
#include "pcast/format.h"

#include "base/bits.h"
#include "oracle_fp8.h"
#include "unit.h"

#include <float.h>
#include <mpfr.h>

static const pcast_cast saturate = {.overflow = PCAST_OVERFLOW_SATURATE};
static const pcast_cast overflow_nan = {.overflow = PCAST_OVERFLOW_NAN};
static const pcast_cast keep_sign = {.overflow = PCAST_OVERFLOW_NAN, .nan = PCAST_NAN_KEEP_SIGN};

/* For every format: the code of its largest number, what overflow gives without saturation, both
 * NaNs, and whether these and zero have a sign. */
static const struct {
    uint64_t largest, beyond, canonical, quiet;
    int fnuz;
} codes[PCAST_FORMAT_COUNT] = {
    [PCAST_E4M3] = {0x7E, 0x7F, 0x7F, 0x7F, 0},
    [PCAST_E5M2] = {0x7B, 0x7C, 0x7F, 0x7E, 0},
    [PCAST_E4M3FNUZ] = {0x7F, 0x80, 0x80, 0x80, 1},
    [PCAST_E5M2FNUZ] = {0x7F, 0x80, 0x80, 0x80, 1},
    [PCAST_F16] = {0x7BFF, 0x7C00, 0x7FFF, 0x7E00, 0},
    [PCAST_BF16] = {0x7F7F, 0x7F80, 0x7FFF, 0x7FC0, 0},
    [PCAST_F32] = {0x7F7FFFFF, 0x7F800000, 0x7FFFFFFF, 0x7FC00000, 0},
    [PCAST_F64] = {0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000, 0x7FFFFFFFFFFFFFFF, 0x7FF8000000000000,
                   0},
};

static oracle_fp8 oracles[ORACLE_FP8_COUNT];

static int make_oracles(void **state)
{
    (void)state;
    for (pcast_format format = PCAST_E4M3; format <= PCAST_E5M2FNUZ; format++)
        oracles[format] = oracle_fp8_make(format);
    return 0;
}

/* Exact value of a 16-bit code with `mantissa` mantissa bits, from IEEE 754's definition. */
static double value_of_16_bits(uint64_t code, int mantissa)
{
    const int hidden = 1 << mantissa, rest = (int)code & (hidden - 1);
    const int top = (1 << (15 - mantissa)) - 1, field = (int)(code >> mantissa) & top;
    const int last_place = (field == 0 ? 1 : field) - top / 2 - mantissa;
    const double value = field == top ? (rest != 0 ? NAN : INFINITY)
                                      : ldexp(field == 0 ? rest : hidden + rest, last_place);
    return code & 0x8000 ? -value : value;
}

/* Exact value of a code; every NaN is the same one. */
static double value_of(pcast_format format, uint64_t code)
{
    const double value = format <= PCAST_E5M2FNUZ
                             ? oracle_fp8_decode(&oracles[format], (uint8_t)code)
                         : format == PCAST_F16  ? value_of_16_bits(code, 10)
                         : format == PCAST_BF16 ? value_of_16_bits(code, 7)
                         : format == PCAST_F32  ? (double)pcast_f32_from_bits((uint32_t)code)
                                                : pcast_f64_from_bits(code);
    return isnan(value) ? NAN : value;
}

/* x rounded once by MPFR to a format of 16 bits. */
static double rounded_to_16_bits(pcast_format to, double x)
{
    mpfr_t work;
    mpfr_init2(work, to == PCAST_F16 ? 11 : 8);
    mpfr_set_emin(to == PCAST_F16 ? -23 : -132); /* subnormals included, as MPFR counts exponents */
    mpfr_set_emax(to == PCAST_F16 ? 16 : 128);
    const int ternary = mpfr_set_d(work, x, MPFR_RNDN);
    mpfr_subnormalize(work, ternary, MPFR_RNDN);
    const double rounded = mpfr_get_d(work, MPFR_RNDN);
    mpfr_clear(work);
    return rounded;
}

/* What x becomes in a format wider than 8 bits. */
static double rounded(pcast_format to, double x, int sat)
{
    const double nearest = to == PCAST_F64   ? x
                           : to == PCAST_F32 ? (double)(float)x
                                             : rounded_to_16_bits(to, x);
    if (isinf(nearest) && sat)
        return copysign(value_of(to, codes[to].largest), x);
    return isnan(nearest) ? NAN : nearest;
}

/* `code` of a format, which stands for x, into another one, both overflow modes. */
static void check(pcast_format to, pcast_format from, uint64_t code, double x)
{
    for (int sat = 0; sat < 2; sat++) {
        const uint64_t got = pcast_convert(to, from, code, sat ? saturate : overflow_nan);
        const int right = to <= PCAST_E5M2FNUZ ? got == oracle_fp8_encode(&oracles[to], x, sat)
                                               : pcast_bits_f64(value_of(to, got)) ==
                                                     pcast_bits_f64(rounded(to, x, sat));
        const int fits = to == PCAST_F64 || got >> pcast_format_width(to) == 0;
        if (!right || !fits)
            fail_msg("%s 0x%llX (%a) to %s%s: got 0x%llX", pcast_format_name(from),
                     (unsigned long long)code, x, pcast_format_name(to), sat ? ", saturating" : "",
                     (unsigned long long)got);
    }
}

static void check_all_targets(pcast_format from, uint64_t code)
{
    for (pcast_format to = PCAST_E4M3; to <= PCAST_F64; to++)
        check(to, from, code, value_of(from, code));
}

/* Every code of 8 and 16 bits into every format; the values by pcast_decode too. */
static void test_every_narrow_code(void **state)
{
    (void)state;
    for (pcast_format from = PCAST_E4M3; from <= PCAST_BF16; from++)
        for (uint32_t code = 0; code < 1u << pcast_format_width(from); code++) {
            const double value = value_of(from, code);
            const double f64 = pcast_decode_f64(from, code);
            const float f32 = pcast_decode_f32(from, code);
            check_all_targets(from, code);
            if (isnan(value)) { /* the quiet NaN of its sign */
                const uint64_t sign = code >> (pcast_format_width(from) - 1);
                assert_int_equal(pcast_bits_f64(f64), UINT64_C(0x7FF8) << 48 | sign << 63);
                assert_int_equal(pcast_bits_f32(f32), 0x7FC00000 | sign << 31);
            } else {
                assert_bits_f64(f64, value);
                assert_bits_f64((double)f32, value);
            }
        }
}

static void check_f64(pcast_format to, double x)
{
    check(to, PCAST_F64, pcast_bits_f64(x), x);
}

static void check_f32(pcast_format to, float x)
{
    check(to, PCAST_F32, pcast_bits_f32(x), (double)x);
    if (to != PCAST_F64)
        assert_int_equal(pcast_encode_f32(to, x, saturate),
                         pcast_convert(to, PCAST_F32, pcast_bits_f32(x), saturate));
}

/* A point and its neighbours of both precisions, both signs: a rounding through a format in between
 * would turn a midpoint's neighbour into the midpoint. */
static void check_around(pcast_format to, double point)
{
    for (int sign = 0; sign < 2; sign++) {
        const double x = sign ? -point : point, end = sign ? -INFINITY : INFINITY;
        check_f64(to, x);
        check_f64(to, nextafter(x, 0));
        check_f64(to, nextafter(x, end));
        const float narrow = (float)x;
        check_f32(to, narrow);
        check_f32(to, nextafterf(narrow, 0));
        check_f32(to, nextafterf(narrow, (float)end));
    }
}

/* Values and midpoints, that of the largest value and what would follow it included. */
static void test_every_midpoint(void **state)
{
    (void)state;
    for (pcast_format to = PCAST_E4M3; to <= PCAST_BF16; to++)
        for (uint64_t code = 0; code <= codes[to].largest; code++) {
            const double value = value_of(to, code);
            const double step = code == 0 ? value_of(to, 1) : value - value_of(to, code - 1);
            /* The step above is the step below, or twice it where a binade ends. */
            check_around(to, value);
            check_around(to, value + step / 2);
            check_around(to, value + step);
        }
    static const double far[] = {0,     4.9e-324, 1e-300,   0x1p-150, 1e30,
                                 1e300, DBL_MAX,  INFINITY, NAN};
    for (pcast_format to = PCAST_E4M3; to <= PCAST_F64; to++)
        for (size_t i = 0; i < sizeof far / sizeof far[0]; i++)
            check_around(to, far[i]);
}

/* Random encodings of the wide formats, and around midpoints of float32. */
static void test_wide(void **state)
{
    (void)state;
    uint64_t random = 1;
    for (int i = 0; i < 100000; i++) {
        const uint64_t bits = test_random(&random);
        check_all_targets(PCAST_F64, bits);
        check_all_targets(PCAST_F32, bits >> 32);
        const double f64 = value_of(PCAST_F64, bits);
        const float f32 = pcast_decode_f32(PCAST_F64, bits);
        assert_bits_f64(value_of(PCAST_F32, pcast_bits_f32(f32)), rounded(PCAST_F32, f64, 0));
        /* The midpoint above a float32 that is subnormal every other time. */
        const uint32_t below = (uint32_t)(i % 2 ? bits >> 41 : bits >> 33) % 0x7F7FFFFF;
        const double low = (double)pcast_f32_from_bits(below);
        check_around(PCAST_F32, (low + (double)pcast_f32_from_bits(below + 1)) / 2);
    }
    check_around(PCAST_F32, 0x1.FFFFFFp127); /* above FLT_MAX */
}

/* Every policy for every target. */
static void test_policies(void **state)
{
    (void)state;
    static const struct {
        pcast_format from, fits; /* `huge` is too large for formats before `fits` */
        uint64_t huge, infinity, quiet, signalling;
    } sources[] = {
        {PCAST_F64, PCAST_F64, 0x7FE0000000000000, 0x7FF0000000000000, 0x7FF8000000000001,
         0x7FF0000000000001},
        {PCAST_F32, PCAST_BF16, 0x7F000000, 0x7F800000, 0x7FC00001, 0x7F800001},
        {PCAST_F16, PCAST_F16, 0x7BFF, 0x7C00, 0x7E01, 0x7C01},
    };
    for (size_t s = 0; s < 3; s++)
        for (pcast_format to = PCAST_E4M3; to <= PCAST_F64; to++)
            for (int policy = 0; policy < 12; policy++) {
                const pcast_format from = sources[s].from;
                const pcast_cast cast = {(pcast_overflow)(policy % 2),
                                         (pcast_inf_policy)(policy / 2 % 3),
                                         (pcast_nan_policy)(policy / 6)};
                const int inf_saturates =
                    cast.inf == PCAST_INF_SATURATE ||
                    (cast.inf == PCAST_INF_AS_OVERFLOW && cast.overflow == PCAST_OVERFLOW_SATURATE);
                for (uint64_t negative = 0; negative < 2; negative++) {
                    const uint64_t minus_from = negative << (pcast_format_width(from) - 1);
                    const uint64_t minus = negative << (pcast_format_width(to) - 1);
                    const uint64_t zero = codes[to].fnuz ? 0 : minus;
                    if (to < sources[s].fits)
                        assert_int_equal(
                            pcast_convert(to, from, sources[s].huge | minus_from, cast),
                            minus | (cast.overflow == PCAST_OVERFLOW_SATURATE ? codes[to].largest
                                                                              : codes[to].beyond));
                    assert_int_equal(
                        pcast_convert(to, from, sources[s].infinity | minus_from, cast),
                        minus | (inf_saturates ? codes[to].largest : codes[to].beyond));
                    const uint64_t nan = cast.nan == PCAST_NAN_KEEP_SIGN ? minus | codes[to].quiet
                                                                         : codes[to].canonical;
                    assert_int_equal(pcast_convert(to, from, sources[s].quiet | minus_from, cast),
                                     nan);
                    assert_int_equal(
                        pcast_convert(to, from, sources[s].signalling | minus_from, cast), nan);
                    assert_int_equal(pcast_convert(to, from, minus_from, cast), zero);
                }
            }
}

/* Bits above the source's width are ignored. */
static void test_bits_above(void **state)
{
    (void)state;
    for (pcast_format from = PCAST_E4M3; from < PCAST_F64; from++) {
        const int width = pcast_format_width(from);
        const uint64_t above = ~UINT64_C(0) << width;
        for (uint64_t top = 0; top < 256; top++) {
            const uint64_t code = top << (width - 8);
            assert_int_equal(pcast_convert(PCAST_F64, from, code | above, keep_sign),
                             pcast_convert(PCAST_F64, from, code, keep_sign));
        }
    }
}

static void test_bounds(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int width;
        double largest, least_normal, least, bound;
    } expected[PCAST_FORMAT_COUNT] = {
        {"e4m3", 8, 448, 0x1p-6, 0x1p-9, 464}, /* 464 is a tie that goes to the even 448 */
        {"e5m2", 8, 57344, 0x1p-14, 0x1p-16, 0x1.DFFFFFFFFFFFFp15}, /* below 61440 */
        {"e4m3fnuz", 8, 240, 0x1p-7, 0x1p-10, 0x1.EFFFFFFFFFFFFp7}, /* below 248 */
        {"e5m2fnuz", 8, 57344, 0x1p-15, 0x1p-17, 0x1.DFFFFFFFFFFFFp15},
        {"f16", 16, 65504, 0x1p-14, 0x1p-24, 0x1.FFDFFFFFFFFFFp15}, /* below 65520 */
        {"bf16", 16, 0x1.FEp127, 0x1p-126, 0x1p-133, 0x1.FEFFFFFFFFFFFp127},
        {"f32", 32, (double)FLT_MAX, 0x1p-126, 0x1p-149, 0x1.FFFFFEFFFFFFFp127},
        {"f64", 64, DBL_MAX, DBL_MIN, 4.9e-324, DBL_MAX},
    };
    for (pcast_format format = PCAST_E4M3; format <= PCAST_F64; format++) {
        const double bound = pcast_format_overflow_bound(format);
        assert_string_equal(pcast_format_name(format), expected[format].name);
        assert_int_equal(pcast_format_width(format), expected[format].width);
        assert_int_equal(pcast_format_largest(format), codes[format].largest);
        assert_bits_f64(value_of(format, pcast_format_largest(format)), expected[format].largest);
        assert_bits_f64(value_of(format, pcast_format_least_normal(format)),
                        expected[format].least_normal);
        assert_bits_f64(value_of(format, 1), expected[format].least);
        assert_bits_f64(bound, expected[format].bound);
        assert_int_equal(pcast_convert(format, PCAST_F64, pcast_bits_f64(bound), overflow_nan),
                         codes[format].largest);
        assert_int_equal(pcast_convert(format, PCAST_F64, pcast_bits_f64(bound) + 1, overflow_nan),
                         codes[format].beyond);
    }
}

static pcast_format format_named(const char *name)
{
    for (pcast_format format = PCAST_E4M3; format <= PCAST_F64; format++)
        if (strcmp(pcast_format_name(format), name) == 0)
            return format;
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
    int rows[PCAST_FORMAT_COUNT] = {0};
    assert_non_null(fgets(line, sizeof line, file)); /* the header */
    while (fgets(line, sizeof line, file) != NULL) {
        char id[16], kind[64], format[16], mode[32];
        unsigned long long bits, expected;
        if (sscanf(line, "%15[^,],%63[^,],%15[^,],%llx,%31[^,],%llx", id, kind, format, &bits, mode,
                   &expected) != 6)
            fail_msg("not a row: %s", line);
        const pcast_format to = strcmp(mode, "decode_to_f32") == 0 ? PCAST_F32
                                : strncmp(mode, "e5m2", 4) == 0    ? PCAST_E5M2
                                                                   : PCAST_E4M3;
        const pcast_cast cast =
            strstr(mode, "rne_sat") != NULL ? (pcast_cast){.nan = PCAST_NAN_KEEP_SIGN} : keep_sign;
        const uint64_t got = pcast_convert(to, format_named(format), bits, cast);
        if (got != expected)
            fail_msg("%s: got 0x%llX: %s", id, (unsigned long long)got, line);
        rows[to]++;
    }
    fclose(file);
    assert_int_equal(rows[PCAST_E4M3], 166);
    assert_int_equal(rows[PCAST_E5M2], 14);
    assert_int_equal(rows[PCAST_F32], 15); /* decoded E4M3 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_narrow_code),
        cmocka_unit_test(test_every_midpoint),
        cmocka_unit_test(test_wide),
        cmocka_unit_test(test_policies),
        cmocka_unit_test(test_bits_above),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_shared_vectors),
    };
    return cmocka_run_group_tests_name("format", tests, make_oracles, NULL);
}
