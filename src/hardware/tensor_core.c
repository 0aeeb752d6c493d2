/* SPDX-License-Identifier: MIT */
/* The reference of the tensor cores: one step and the instruction made of steps, in integers
 * (docs/numerics.md, steps 10.2 to 10.10). */
#include "hardware/tensor_core.h"

#include "base/bits.h"
#include "base/fpenv.h"
#include "e4m3/float_format.h"
#include "hardware/machine.h"

enum { KEYS = PCAST_TENSOR_CORE_KEYS };

/* Infinities and NaNs stay what they are; NaN becomes all ones. */
static const pcast_cast as_is = {PCAST_OVERFLOW_NAN, PCAST_INF_AS_OVERFLOW, PCAST_NAN_CANONICAL};

/* A summand, a product or the accumulator: (-1)^negative * magnitude * 2^(exponent - F), what is
 * below that unit cut off (the alignment of step 10.7 can only cut off more). */
typedef struct term {
    uint64_t magnitude;
    int negative, exponent;
} term;

/* What a step works on. */
typedef struct step_terms {
    term terms[KEYS + 1];
    int count;
    int nan, infinite[2]; /* seen: NaN or a product 0 * Inf; +Inf, -Inf */
} step_terms;

typedef struct datapath {
    const pcast_machine_row *machine;
    const pcast_float_format *a, *b; /* as multiplied */
    const pcast_float_format *out;
    pcast_result_rounding rounding;
} datapath;

static datapath datapath_of(const pcast_tensor_core *core)
{
    const pcast_machine_row *machine = &pcast_machines[core->machine];
    const int f16 = core->output == PCAST_TENSOR_CORE_F16;
    return (datapath){.machine = machine,
                      .a = &pcast_float_formats[machine->through_f16 ? PCAST_F16 : core->a],
                      .b = &pcast_float_formats[machine->through_f16 ? PCAST_F16 : core->b],
                      .out = &pcast_float_formats[f16 ? PCAST_F16 : PCAST_F32],
                      .rounding = f16 ? machine->f16 : machine->f32};
}

/* An input code as it enters the multiplier (step 10.3): subnormals keep their format's least
 * exponent, which conversion to FP16 first may lower. */
static pcast_unpacked input(const datapath *unit, pcast_format format, uint8_t code)
{
    if (unit->machine->through_f16)
        return pcast_unpack(&pcast_float_formats[PCAST_F16],
                            pcast_convert(PCAST_F16, format, code, as_is));
    return pcast_unpack(&pcast_float_formats[format], code);
}

/* magnitude * 2^shift, cut off toward zero */
static uint64_t shifted(uint64_t magnitude, int shift)
{
    if (shift >= 0)
        return magnitude << shift;
    return shift > -64 ? magnitude >> -shift : 0;
}

static void add_term(step_terms *step, const datapath *unit, int negative, uint64_t magnitude,
                     int scale, int fraction_bits)
{
    if (magnitude != 0)
        step->terms[step->count++] =
            (term){shifted(magnitude, unit->machine->fraction - fraction_bits), negative,
                   scale + fraction_bits};
}

/* Steps 10.2 to 10.4 for one product. */
static void add_product(step_terms *step, const datapath *unit, const pcast_unpacked *a,
                        const pcast_unpacked *b)
{
    const int negative = a->negative ^ b->negative;
    if (a->kind == PCAST_FINITE && b->kind == PCAST_FINITE)
        add_term(step, unit, negative, a->significand * b->significand, a->exponent + b->exponent,
                 unit->a->mantissa + unit->b->mantissa);
    else if (a->kind == PCAST_NOT_A_NUMBER || b->kind == PCAST_NOT_A_NUMBER ||
             (a->kind == PCAST_FINITE && a->significand == 0) ||
             (b->kind == PCAST_FINITE && b->significand == 0))
        step->nan = 1;
    else
        step->infinite[negative] = 1;
}

/* Steps 10.2 and 10.5. */
static void add_accumulator(step_terms *step, const datapath *unit, uint32_t code)
{
    const pcast_unpacked c = pcast_unpack(unit->out, code);
    if (c.kind == PCAST_NOT_A_NUMBER)
        step->nan = 1;
    else if (c.kind == PCAST_INFINITE)
        step->infinite[c.negative] = 1;
    else
        add_term(step, unit, c.negative, c.significand, c.exponent, unit->out->mantissa);
}

/* Step 10.9: magnitude * 2^exponent, not zero, to a code without its sign. Rounding toward zero
 * cuts off below `fraction` bits, or below the least subnormal with as many. */
static uint64_t round_result(const datapath *unit, uint64_t magnitude, int exponent)
{
    const pcast_float_format *out = unit->out;
    uint64_t code;
    if (unit->rounding.nearest) {
        code = pcast_round_magnitude(out, magnitude, exponent);
    } else {
        const int top = 63 - __builtin_clzll(magnitude) + exponent;
        const int binade = top > out->emin ? top : out->emin;
        const int last = binade - unit->rounding.fraction;
        code = shifted(magnitude, exponent - last) << (out->mantissa - unit->rounding.fraction);
        code += (uint64_t)(binade - out->emin) << out->mantissa;
    }
    return code > out->max_finite ? out->infinity : code;
}

static uint32_t signed_code(const datapath *unit, int negative, uint64_t code)
{
    return (uint32_t)(code | (uint64_t)(negative != 0) << (unit->out->width - 1));
}

/* Steps 10.6 to 10.9, after 10.2. */
static uint32_t finish(const step_terms *step, const datapath *unit)
{
    if (step->nan || (step->infinite[0] && step->infinite[1]))
        return (uint32_t)unit->out->canonical_nan;
    if (step->infinite[0] || step->infinite[1])
        return signed_code(unit, step->infinite[1], unit->out->infinity);
    if (step->count == 0)
        return 0;
    int largest = step->terms[0].exponent; /* 10.6 */
    for (int i = 1; i < step->count; i++)
        largest = step->terms[i].exponent > largest ? step->terms[i].exponent : largest;
    int64_t sum = 0;
    for (int i = 0; i < step->count; i++) { /* 10.7 and 10.8 */
        const term *t = &step->terms[i];
        const int cut = largest - t->exponent;
        const int64_t aligned = cut < 64 ? (int64_t)(t->magnitude >> cut) : 0;
        sum += t->negative ? -aligned : aligned;
    }
    if (sum == 0)
        return 0;
    return signed_code(
        unit, sum < 0,
        round_result(unit, (uint64_t)(sum < 0 ? -sum : sum), largest - unit->machine->fraction));
}

/* The k of product i of step s (step 10.1). */
static int key_of(const pcast_machine_row *machine, int s, int i)
{
    return machine->deal == PCAST_DEAL_IN_ORDER ? s * machine->products + i
                                                : 4 * (i / 2) + 2 * s + i % 2;
}

/* Step 10.10: an ordinary addition. In FP16 the float sum is rounded once more, which cannot change
 * it: 24 bits are at least 2 * 11 + 2. */
static uint32_t add_late(const datapath *unit, uint32_t dot, uint32_t c)
{
    pcast_fpenv env;
    const pcast_format format = unit->out->width == 16 ? PCAST_F16 : PCAST_F32;
    pcast_fpenv_enter(&env);
    const float sum = pcast_decode_f32(format, dot) + pcast_decode_f32(format, c);
    pcast_fpenv_leave(&env);
    return pcast_encode_f32(format, sum, as_is);
}

static uint32_t instruction(const datapath *unit, const pcast_unpacked a[KEYS],
                            const pcast_unpacked b[KEYS], uint32_t c)
{
    const pcast_machine_row *machine = unit->machine;
    uint32_t d = machine->late_accumulator ? 0 : c;
    for (int s = 0; s < KEYS / machine->products; s++) {
        step_terms step;
        step.count = step.nan = step.infinite[0] = step.infinite[1] = 0;
        for (int i = 0; i < machine->products; i++) {
            const int key = key_of(machine, s, i);
            add_product(&step, unit, &a[key], &b[key]);
        }
        add_accumulator(&step, unit, d);
        d = finish(&step, unit);
    }
    return machine->late_accumulator ? add_late(unit, d, c) : d;
}

/* The accumulator as a code of the output's format, and back: float bits move as integers, so that
 * a NaN stays as it is. */
static uint32_t load(const datapath *unit, const float *d)
{
    uint32_t bits;
    memcpy(&bits, d, sizeof bits);
    return unit->out->width == 16 ? (uint32_t)pcast_convert(PCAST_F16, PCAST_F32, bits, as_is)
                                  : bits;
}

static void store(const datapath *unit, float *d, uint32_t code)
{
    const uint32_t bits =
        unit->out->width == 16 ? (uint32_t)pcast_convert(PCAST_F32, PCAST_F16, code, as_is) : code;
    memcpy(d, &bits, sizeof bits);
}

void pcast_tensor_core_block_scalar(const pcast_tensor_core *core, const uint8_t a[KEYS],
                                    const uint8_t *b, size_t rows, size_t ldb, size_t n, float *d)
{
    const datapath unit = datapath_of(core);
    pcast_unpacked row[KEYS], column[KEYS];
    for (size_t i = 0; i < KEYS; i++)
        row[i] = input(&unit, core->a, a[i]);
    for (size_t j = 0; j < n; j++) {
        for (size_t i = 0; i < KEYS; i++)
            column[i] = input(&unit, core->b, i < rows ? b[i * ldb + j] : 0);
        store(&unit, d + j, instruction(&unit, row, column, load(&unit, d + j)));
    }
}
