/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A sum of equal addends in the accumulator of a tensor core, binade by binade (docs/theory.md,
 * section 11). While the accumulator stays within one binade every step adds the same, so that a
 * binade costs one division however long it lasts. All numbers here are exact in binary64. */
#include "pcast/theory.h"

#include "hardware/machine.h"

#include <float.h>
#include <math.h>

static double cut(double x, double unit)
{
    return floor(x / unit) * unit;
}

/* 2^(exponent of x); x > 0. */
static double binade(double x)
{
    return ldexp(1, ilogb(x));
}

/* One step of `products` addends. */
static double step(const pcast_theory_chain *chain, double c, double products)
{
    const double p = chain->addend;
    const double largest = c > 0 ? fmax(binade(c), binade(p)) : binade(p);
    const double unit = ldexp(largest, -chain->alignment_bits);
    const double sum = cut(c, unit) + products * cut(p, unit);
    return cut(sum, ldexp(binade(sum), -chain->result_bits));
}

/* Whole steps from c on: as many as stay in c's binade at once, and the last of them by itself. */
static double run(const pcast_theory_chain *chain, double c, double steps)
{
    while (steps > 0) {
        const double next = step(chain, c, chain->step), added = next - c;
        if (added == 0)
            return c;
        const double bulk = fmin(steps - 1, ceil((2 * binade(next) - next) / added) - 1);
        /* Below the addends' own binade the exponent of the step is not the accumulator's. */
        if (bulk < 1 || c < chain->addend * 2 || binade(c) != binade(next)) {
            c = next;
            steps -= 1;
        } else {
            c += bulk * added;
            steps -= bulk;
        }
    }
    return c;
}

/* Keys in one accumulator, from zero. */
static double chain_sum(const pcast_theory_chain *chain, double keys)
{
    const double steps = floor(keys / chain->step), rest = keys - steps * chain->step;
    const double c = run(chain, 0, steps);
    return rest > 0 ? step(chain, c, rest) : c;
}

/* Tiles of the sum `tile` added in FP32, to nearest; ties go to even, which is where they stay. */
static double promoted(double o, double tile, double tiles)
{
    while (tiles > 0) {
        const double next = (double)(float)(o + tile), added = next - o;
        if (added == 0)
            return o;
        const double bulk = fmin(tiles - 1, ceil((2 * binade(next) - next) / added) - 1);
        const double again = (double)(float)(next + tile) - next;
        if (bulk < 2 || o == 0 || binade(o) != binade(next) || again != added) {
            o = next;
            tiles -= 1;
        } else {
            o += bulk * added;
            tiles -= bulk;
        }
    }
    return o;
}

static int valid(const pcast_theory_chain *chain)
{
    return chain->addend > 0 && chain->addend <= FLT_MAX && chain->step >= 1 && chain->tile >= 0 &&
           chain->alignment_bits >= chain->result_bits && chain->result_bits >= 1 &&
           chain->alignment_bits <= 25;
}

int pcast_theory_chain_of(const pcast_kernel *kernel, pcast_theory_chain *chain)
{
    const int tensor_core = kernel->semantics == PCAST_SEMANTICS_HARDWARE &&
                            kernel->accumulator == PCAST_ACCUMULATOR_TENSOR_CORE &&
                            kernel->machine < PCAST_MACHINE_COUNT;
    if (!tensor_core || kernel->splits > 1 || kernel->partition > 0 ||
        kernel->normalise != PCAST_NORMALISE_END || kernel->p_format != PCAST_E4M3)
        return 0;
    const pcast_machine_row *machine = &pcast_machines[kernel->machine];
    const pcast_cast cast = {.overflow = PCAST_OVERFLOW_SATURATE};
    const uint32_t code = pcast_encode_f32(PCAST_E4M3, kernel->scale, cast);
    *chain = (pcast_theory_chain){
        .alignment_bits = machine->fraction,
        .result_bits = machine->f32.fraction,
        .step = machine->products,
        .tile = kernel->promotion == PCAST_PROMOTION_NEVER ? 0 : (double)kernel->block,
        .addend = (double)pcast_decode_f32(PCAST_E4M3, code),
    };
    if (kernel->promotion > 0 &&
        (double)kernel->promotion * PCAST_TENSOR_CORE_KEYS < (double)kernel->block)
        chain->tile = (double)kernel->promotion * PCAST_TENSOR_CORE_KEYS;
    return !machine->late_accumulator && chain->addend > 0 &&
           kernel->block % (size_t)machine->products == 0;
}

double pcast_theory_chain_kept(const pcast_theory_chain *chain, double keys)
{
    if (!valid(chain) || !(keys >= 1) || keys != floor(keys))
        return NAN;
    double sum;
    if (chain->tile > 0) {
        const double tiles = floor(keys / chain->tile), rest = keys - tiles * chain->tile;
        sum = promoted(0, chain_sum(chain, chain->tile), tiles);
        if (rest > 0)
            sum = (double)(float)(sum + chain_sum(chain, rest));
    } else {
        sum = chain_sum(chain, keys);
    }
    return sum / (keys * chain->addend);
}

double pcast_theory_chain_keys(const pcast_theory_chain *chain, double loss)
{
    if (!valid(chain) || !(loss > 0 && loss < 1))
        return NAN;
    double low = 0, high = 1;
    while (pcast_theory_chain_kept(chain, high) > 1 - loss) {
        low = high;
        high *= 2;
        if (high > 0x1p48)
            return INFINITY;
    }
    while (high - low > 1) {
        const double middle = floor((low + high) / 2);
        if (pcast_theory_chain_kept(chain, middle) > 1 - loss)
            low = middle;
        else
            high = middle;
    }
    return high;
}
