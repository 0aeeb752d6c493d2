/* SPDX-License-Identifier: MIT */
/* Array conversions at every CPU level against pcast_convert, which test_format.c holds against the
 * definitions: every format pair and policy, all 8- and 16-bit codes, the neighbourhood of every
 * midpoint, random bits; then lengths, alignments and what lies around the arrays. */
#include "pcast/format.h"

#include "e4m3/codec.h"
#include "unit.h"

#include <stdlib.h>

enum { POLICIES = 12, RANDOM = 20011, LENGTH_MAX = 200, GUARD = 64 };

static pcast_cast policy(int index)
{
    const pcast_cast cast = {(pcast_overflow)(index % 2), (pcast_inf_policy)(index / 2 % 3),
                             (pcast_nan_policy)(index / 6)};
    return cast;
}

static size_t size_of(pcast_format format)
{
    return (size_t)pcast_format_width(format) / 8;
}

static uint64_t get(const uint8_t *array, size_t size, size_t i)
{
    uint64_t code = 0;
    for (size_t b = size; b-- > 0;)
        code = code << 8 | array[i * size + b];
    return code;
}

static void put(uint8_t *array, size_t size, size_t i, uint64_t code)
{
    for (size_t b = 0; b < size; b++)
        array[i * size + b] = (uint8_t)(code >> (8 * b));
}

typedef struct inputs {
    uint8_t *bytes;
    size_t count, size;
} inputs;

/* Room for more than the midpoints of all formats: 6 floats around each, codes below 2^15. */
static inputs inputs_make(pcast_format format)
{
    inputs in = {.size = size_of(format)};
    in.bytes = malloc(in.size * (4 * 6 * (size_t)32768 + 65536 + RANDOM));
    assert_non_null(in.bytes);
    return in;
}

static void add(inputs *in, uint64_t code)
{
    put(in->bytes, in->size, in->count++, code);
}

static void add_midpoints(inputs *in, pcast_format from, pcast_format of)
{
    const pcast_cast exact = {PCAST_OVERFLOW_NAN, PCAST_INF_NAN, PCAST_NAN_KEEP_SIGN};
    const uint64_t largest = pcast_format_largest(of);
    const uint64_t sign = UINT64_C(1) << (pcast_format_width(from) - 1);
    double last_step = 0;
    for (uint64_t code = 0; code <= largest; code++) {
        const double value = pcast_decode_f64(of, code);
        if (code < largest)
            last_step = pcast_decode_f64(of, code + 1) - value;
        const double midpoint = value + last_step / 2;
        uint64_t bits;
        memcpy(&bits, &midpoint, sizeof bits);
        bits = pcast_convert(from, PCAST_F64, bits, exact);
        for (int neighbour = -1; neighbour <= 1; neighbour++) {
            add(in, bits + (uint64_t)neighbour);
            add(in, (bits + (uint64_t)neighbour) | sign);
        }
    }
}

/* All codes of at most 16 bits; of float32 and float64 those that decide, and random ones. */
static inputs inputs_of(pcast_format from)
{
    inputs in = inputs_make(from);
    const int width = pcast_format_width(from);
    uint64_t state = 7919;
    for (uint64_t code = 0; width <= 16 && code < UINT64_C(1) << width; code++)
        add(&in, code);
    if (width <= 16)
        return in;
    for (pcast_format of = PCAST_E4M3; of <= PCAST_E5M2FNUZ; of++)
        add_midpoints(&in, from, of);
    if (from == PCAST_F32)
        for (pcast_format of = PCAST_F16; of <= PCAST_BF16; of++)
            add_midpoints(&in, from, of);
    for (uint64_t top = 0; top < 65536; top++) /* zeros, subnormals, infinities, NaNs among them */
        add(&in, top << (width - 16));
    for (int i = 0; i < RANDOM; i++)
        add(&in, test_random(&state));
    return in;
}

static void compare(const uint8_t *got, const uint8_t *expected, const inputs *in, pcast_format to,
                    pcast_format from, int index, pcast_cpu level)
{
    if (memcmp(got, expected, in->count * size_of(to)) == 0)
        return;
    size_t i = 0;
    while (get(got, size_of(to), i) == get(expected, size_of(to), i))
        i++;
    print_error("%s to %s, policy %d, %s: input %zu, bits 0x%llX: got 0x%llX, expected 0x%llX\n",
                pcast_format_name(from), pcast_format_name(to), index, pcast_cpu_name(level), i,
                (unsigned long long)get(in->bytes, in->size, i),
                (unsigned long long)get(got, size_of(to), i),
                (unsigned long long)get(expected, size_of(to), i));
    fail();
}

static void test_every_code(void **state)
{
    (void)state;
    size_t compared = 0;
    for (pcast_format from = PCAST_E4M3; from <= PCAST_F64; from++) {
        inputs in = inputs_of(from);
        uint8_t *expected = malloc(8 * in.count), *got = malloc(8 * in.count);
        for (pcast_format to = PCAST_E4M3; to <= PCAST_F64; to++)
            for (int index = 0; index < POLICIES; index++) {
                for (size_t i = 0; i < in.count; i++)
                    put(expected, size_of(to), i,
                        pcast_convert(to, from, get(in.bytes, in.size, i), policy(index)));
                for (pcast_cpu level = PCAST_CPU_SCALAR; level <= pcast_cpu_detect(); level++) {
                    memset(got, 0xA5, in.count * size_of(to));
                    pcast_convert_array(to, got, from, in.bytes, in.count, policy(index), level);
                    compare(got, expected, &in, to, from, index, level);
                    compared += in.count;
                }
            }
        free(expected);
        free(got);
        free(in.bytes);
    }
    print_message("%zu conversions, 0 differ\n", compared);
}

static void assert_converted(const uint8_t *out, const uint8_t *in, size_t i, pcast_format to,
                             pcast_format from, pcast_cast cast)
{
    const uint64_t bits = get(in, size_of(from), i), got = get(out, size_of(to), i);
    const uint64_t expected = pcast_convert(to, from, bits, cast);
    if (got == expected)
        return;
    print_error("%s to %s: element %zu, bits 0x%llX: got 0x%llX, expected 0x%llX\n",
                pcast_format_name(from), pcast_format_name(to), i, (unsigned long long)bits,
                (unsigned long long)got, (unsigned long long)expected);
    fail();
}

/* Arrays that end where their memory ends, at odd addresses, between guards. */
static void test_lengths(void **state)
{
    (void)state;
    uint64_t random = 104729;
    for (pcast_format from = PCAST_E4M3; from <= PCAST_F64; from++)
        for (pcast_format to = PCAST_E4M3; to <= PCAST_F64; to++)
            for (size_t count = 0; count <= LENGTH_MAX; count++) {
                const size_t shift_in = count % 17, shift_out = (count * 7 + 3) % 67;
                const size_t in_bytes = count * size_of(from), out_bytes = count * size_of(to);
                const pcast_cast cast = policy((int)(count % POLICIES));
                uint8_t *in = malloc(shift_in + in_bytes + 1);
                uint8_t *out = malloc(shift_out + out_bytes + GUARD);
                for (size_t i = 0; i < in_bytes; i++)
                    in[shift_in + 1 + i] = (uint8_t)(test_random(&random) >> 32);
                for (pcast_cpu level = PCAST_CPU_SCALAR; level <= pcast_cpu_detect(); level++)
                    for (int past_caches = 0; past_caches <= 1; past_caches++) {
                        memset(out, 0x5A, shift_out + out_bytes + GUARD);
                        pcast_convert_array_within(past_caches ? 0 : SIZE_MAX, to, out + shift_out,
                                                   from, in + shift_in + 1, count, cast, level);
                        for (size_t i = 0; i < shift_out + out_bytes + GUARD; i++)
                            if (i < shift_out || i >= shift_out + out_bytes)
                                assert_int_equal(out[i], 0x5A);
                        for (size_t i = 0; i < count; i++)
                            assert_converted(out + shift_out, in + shift_in + 1, i, to, from, cast);
                    }
                free(in);
                free(out);
            }
}

/* Longer than a piece, and past the caches. */
static void test_pieces(void **state)
{
    (void)state;
    enum { COUNT = 3 * 2048 + 77 };
    static uint8_t in[8 * COUNT], got[8 * COUNT + 1];
    uint64_t random = 15485863;
    for (size_t i = 0; i < sizeof in; i++)
        in[i] = (uint8_t)(test_random(&random) >> 32);
    for (pcast_format from = PCAST_E4M3; from <= PCAST_F32; from++)
        for (pcast_format to = PCAST_E4M3; to <= PCAST_F32; to++)
            for (pcast_cpu level = PCAST_CPU_SCALAR; level <= pcast_cpu_detect(); level++)
                for (int past_caches = 0; past_caches <= 1; past_caches++) {
                    const pcast_cast cast = {PCAST_OVERFLOW_NAN, PCAST_INF_NAN,
                                             PCAST_NAN_KEEP_SIGN};
                    memset(got, 0x5A, sizeof got);
                    pcast_convert_array_within(past_caches ? 0 : SIZE_MAX, to, got + past_caches,
                                               from, in, COUNT, cast, level);
                    for (size_t i = 0; i < COUNT; i++)
                        assert_converted(got + past_caches, in, i, to, from, cast);
                }
}

/* The two short forms, at values worked out by hand. */
static void test_forms(void **state)
{
    (void)state;
    static const float x[5] = {464.0f, 480.0f, -0x1p-10f, 1.0625f, -3.0f};
    static const uint8_t saturated[5] = {0x7E, 0x7E, 0x80, 0x38, 0xC4},
                         nan[5] = {0x7E, 0x7F, 0x80, 0x38, 0xC4};
    static const float values[5] = {448.0f, 448.0f, -0.0f, 1.0f, -3.0f};
    for (pcast_cpu level = PCAST_CPU_SCALAR; level <= PCAST_CPU_AVX512; level++) {
        uint8_t codes[5];
        float back[5];
        pcast_encode_array(PCAST_E4M3, codes, x, 5, (pcast_cast){PCAST_OVERFLOW_NAN, 0, 0}, level);
        assert_memory_equal(codes, nan, 5);
        pcast_encode_array(PCAST_E4M3, codes, x, 5, (pcast_cast){0}, level);
        assert_memory_equal(codes, saturated, 5);
        pcast_decode_array(PCAST_E4M3, codes, back, 5, level);
        for (int i = 0; i < 5; i++)
            assert_bits_f32(back[i], values[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_code),
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_forms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
