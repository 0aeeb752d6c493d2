/* SPDX-License-Identifier: MIT */
/* The tensor core's probe inputs tell models apart: on each kind of them, how many results a model
 * with one step changed gives otherwise. The model here is written from docs/numerics.md, section
 * 10, in doubles, for finite operands; as it is, it gives what the library gives. */
#include "cuda/probe_inputs.h"
#include "cuda/wgmma_inputs.h"
#include "pcast/tensor_core.h"

#include "unit.h"

#include <math.h>
#include <stdlib.h>

enum { ROWS = PCAST_PROBE_ROWS, COLUMNS = PCAST_PROBE_COLUMNS, KEYS = 32 };

/* A model, and what a step of it does. */
typedef struct model {
    int fraction;   /* bits behind the largest exponent that are kept */
    int output;     /* bits of the result's significand behind its point */
    int normalised; /* subnormal factors are, before exponents are compared */
    int floor;      /* summands are rounded down, not toward zero */
    int late;       /* C is added to the result */
    int minus_zero; /* -0 where all summands are, or where C is and the products cancel */
} model;

static const model as_it_is = {.fraction = 13, .output = 13};

/* sign * significand * 2^exponent, and the exponent that counts in the alignment. */
typedef struct summand {
    double value;
    int exponent;
} summand;

static summand factor(pcast_format format, uint8_t code, int normalised)
{
    const int m = format == PCAST_E4M3 ? 3 : 2, bias = format == PCAST_E4M3 ? 7 : 15;
    const int field = (code & 0x7F) >> m, fraction = code & ((1 << m) - 1);
    const int exponent = field > 0 ? field - bias : 1 - bias;
    const double size = ldexp(field > 0 ? (1 << m) + fraction : fraction, exponent - m);
    const int own = normalised && size > 0 ? ilogb(size) : exponent;
    return (summand){code & 0x80 ? -size : size, own};
}

static double aligned(summand one, int largest, const model *how)
{
    const double unit = ldexp(1, largest - how->fraction);
    return (how->floor ? floor(one.value / unit) : trunc(one.value / unit)) * unit;
}

static float cut_off(double value, int bits)
{
    if (value == 0)
        return 0;
    const int exponent = ilogb(value) < -126 ? -126 : ilogb(value);
    const double unit = ldexp(1, exponent - bits), cut = trunc(value / unit) * unit;
    return fabs(cut) >= 0x1p128 ? (float)copysign(INFINITY, cut) : (float)cut;
}

static float step(const model *how, const pcast_wgmma_case *which, const uint8_t *a,
                  const uint8_t *b, float c)
{
    summand all[KEYS + 1];
    int largest = -1000;
    double sum = 0;
    for (int k = 0; k < KEYS; k++) {
        const summand x = factor(which->a, a[k], how->normalised);
        const summand y = factor(which->b, b[k], how->normalised);
        all[k] = (summand){x.value * y.value, x.exponent + y.exponent};
    }
    const int field = c == 0 ? -1000 : ilogb(c) < -126 ? -126 : ilogb(c);
    all[KEYS] = (summand){how->late ? 0 : (double)c, field};
    for (int k = 0; k <= KEYS; k++)
        if (all[k].value != 0 && all[k].exponent > largest)
            largest = all[k].exponent;
    for (int k = 0; k <= KEYS; k++)
        if (all[k].value != 0)
            sum += aligned(all[k], largest, how);
    const float result = cut_off(sum, how->output);
    if (how->minus_zero && result == 0 && signbit(c))
        return -0.0f;
    return how->late ? result + c : result;
}

/* Of a tile in each pair of formats, how many results are not the library's. */
static unsigned differing(const model *how, pcast_wgmma_inputs inputs)
{
    static uint8_t a[ROWS * KEYS], b[COLUMNS * KEYS];
    static uint32_t c[ROWS * COLUMNS];
    unsigned count = 0;
    for (int formats = 0; formats < 4; formats++) {
        const pcast_wgmma_case which = {formats & 1 ? PCAST_E5M2 : PCAST_E4M3,
                                        formats & 2 ? PCAST_E5M2 : PCAST_E4M3, inputs, 1};
        const pcast_tensor_core core = {PCAST_MACHINE_HOPPER_WGMMA, which.a, which.b,
                                        PCAST_TENSOR_CORE_F32, pcast_cpu_detect()};
        pcast_wgmma_draw(&which, 0, a, b, c);
        for (size_t i = 0; i < ROWS * COLUMNS; i++) {
            const uint8_t *row = a + i / COLUMNS * KEYS, *column = b + i % COLUMNS * KEYS;
            float d, accumulator;
            memcpy(&accumulator, c + i, sizeof accumulator);
            d = accumulator;
            pcast_tensor_core_dots(&core, row, column, 1, KEYS, &d);
            const float other = step(how, &which, row, column, accumulator);
            count += memcmp(&d, &other, sizeof d) != 0;
        }
    }
    return count;
}

static void test_model(void **state)
{
    (void)state;
    for (int i = PCAST_WGMMA_FINITE; i <= PCAST_WGMMA_CANCEL_C; i++)
        assert_int_equal(differing(&as_it_is, (pcast_wgmma_inputs)i), 0);
}

/* On the kinds that are meant for it every changed step shows in a fifth of the results or more. */
static void test_changed_steps(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        model how;
        pcast_wgmma_inputs inputs;
    } changes[] = {
        {"F = 12", {12, 13, 0, 0, 0, 0}, PCAST_WGMMA_NARROW},
        {"F = 14", {14, 13, 0, 0, 0, 0}, PCAST_WGMMA_NARROW},
        {"23 bits", {13, 23, 0, 0, 0, 0}, PCAST_WGMMA_NARROW},
        {"rounded down", {13, 13, 0, 1, 0, 0}, PCAST_WGMMA_NARROW},
        {"C late", {13, 13, 0, 0, 1, 0}, PCAST_WGMMA_NARROW},
        {"C late", {13, 13, 0, 0, 1, 0}, PCAST_WGMMA_SPARSE},
        {"C late", {13, 13, 0, 0, 1, 0}, PCAST_WGMMA_FINITE},
        {"subnormals normalised", {13, 13, 1, 0, 0, 0}, PCAST_WGMMA_SUBNORMAL},
        {"-0 kept", {13, 13, 0, 0, 0, 1}, PCAST_WGMMA_ZERO},
        {"-0 kept", {13, 13, 0, 0, 0, 1}, PCAST_WGMMA_CANCEL},
    };
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        const unsigned count = differing(&changes[i].how, changes[i].inputs);
        printf("%s, inputs %d: %u of %d differ\n", changes[i].name, changes[i].inputs, count,
               4 * ROWS * COLUMNS);
        assert_true(count >= 4 * ROWS * COLUMNS / 5);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_model),
        cmocka_unit_test(test_changed_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
