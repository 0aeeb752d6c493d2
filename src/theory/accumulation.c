/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A sum of equal addends in the accumulator of a tensor core, binade by binade (docs/theory.md,
 * section 11). While the accumulator stays within one binade every step adds the same, so that a
 * binade costs one division however long it lasts. All numbers here are exact in binary64. */
#include "pcast/theory.h"

#include "hardware/machine.h"

#include <float.h>
#include <math.h>

/* Keys beyond which no loss is looked for. */
#define MOST_KEYS 0x1p48

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

/* More keys into an accumulator: whole steps, then what is left in one. */
static double add_keys(const pcast_theory_chain *chain, double c, double keys)
{
    const double steps = floor(keys / chain->step), rest = keys - steps * chain->step;
    c = run(chain, c, steps);
    return rest > 0 ? step(chain, c, rest) : c;
}

/* Sums of tiles in FP32, to nearest. While o stays within one binade and two additions in a row add
 * the same, so does every other. */
typedef struct tile_sum {
    double o, done; /* the sum, and how many tiles are in it */
} tile_sum;

static double error_of(const tile_sum *sum, double more, double added, double ideal)
{
    return fabs(1 - (sum->o + more * added) / ((sum->done + more) * ideal));
}

/* The fewest of 1 .. bulk further tiles at which the error, monotonic between, is `loss`. */
static double first_of(const tile_sum *sum, double bulk, double added, double ideal, double loss)
{
    double low = 0, high = bulk;
    while (high - low > 1) {
        const double middle = floor((low + high) / 2);
        if (error_of(sum, middle, added, ideal) >= loss)
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* Adds up to `tiles`; loss above 0 stops where |1 - sum / (done * ideal)| reaches it, and returns 1
 * then. */
static int add_tiles(tile_sum *sum, double tile, double tiles, double ideal, double loss)
{
    const double end = sum->done + tiles;
    while (sum->done < end) {
        const double next = (double)(float)(sum->o + tile), added = next - sum->o;
        const double again = (double)(float)(next + tile) - next;
        double bulk = 1;
        if (added == 0)
            bulk = end - sum->done;
        else if (sum->o > 0 && again == added && binade(sum->o) == binade(next))
            bulk = fmin(end - sum->done, fmax(1, ceil((2 * binade(next) - next) / added) - 1));
        if (loss > 0 && error_of(sum, bulk, added, ideal) >= loss) {
            sum->done += first_of(sum, bulk, added, ideal, loss);
            return 1;
        }
        sum->o += bulk * added;
        sum->done += bulk;
    }
    return 0;
}

/* The sum of so many keys; a short block comes first in reverse order. */
static double sum_of(const pcast_theory_chain *chain, double keys)
{
    const double tail = fmod(keys, chain->block), body = keys - tail;
    if (chain->tile == 0)
        return chain->tail_first ? add_keys(chain, add_keys(chain, 0, tail), body)
                                 : add_keys(chain, add_keys(chain, 0, body), tail);
    const double tile = add_keys(chain, 0, chain->tile);
    const double in_tail = floor(tail / chain->tile), rest = tail - in_tail * chain->tile;
    const double last = rest > 0 ? add_keys(chain, 0, rest) : 0;
    tile_sum sum = {0};
    if (chain->tail_first) {
        add_tiles(&sum, tile, in_tail, 0, 0);
        sum.o = (double)(float)(sum.o + last);
    }
    add_tiles(&sum, tile, (chain->tail_first ? 0 : in_tail) + body / chain->tile, 0, 0);
    return chain->tail_first ? sum.o : (double)(float)(sum.o + last);
}

static int valid(const pcast_theory_chain *chain)
{
    const double tile = chain->tile > 0 ? chain->tile : chain->step;
    return chain->addend > 0 && chain->addend <= FLT_MAX && chain->step >= 1 && chain->tile >= 0 &&
           chain->alignment_bits >= chain->result_bits && chain->result_bits >= 1 &&
           chain->alignment_bits <= 25 && chain->block >= tile && fmod(chain->block, tile) == 0 &&
           fmod(tile, chain->step) == 0;
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
        .block = (double)kernel->block,
        .tail_first = kernel->order == PCAST_ORDER_REVERSE,
        .addend = (double)pcast_decode_f32(PCAST_E4M3, code),
    };
    if (kernel->promotion > 0 &&
        (double)kernel->promotion * PCAST_TENSOR_CORE_KEYS < (double)kernel->block)
        chain->tile = (double)kernel->promotion * PCAST_TENSOR_CORE_KEYS;
    return !machine->late_accumulator && valid(chain);
}

double pcast_theory_chain_kept(const pcast_theory_chain *chain, double keys)
{
    if (!valid(chain) || !(keys >= 1) || keys != floor(keys))
        return NAN;
    return sum_of(chain, keys) / (keys * chain->addend);
}

double pcast_theory_chain_keys(const pcast_theory_chain *chain, double loss)
{
    if (!valid(chain) || !(loss > 0 && loss < 1))
        return NAN;
    if (chain->tile > 0) {
        tile_sum sum = {0};
        const double tile = add_keys(chain, 0, chain->tile), ideal = chain->tile * chain->addend;
        return add_tiles(&sum, tile, MOST_KEYS / chain->tile, ideal, loss) ? sum.done * chain->tile
                                                                           : INFINITY;
    }
    /* With a short block at the end the share only falls: increments never rise from one binade to
     * the next. */
    pcast_theory_chain falling = *chain;
    falling.tail_first = 0;
    double low = 0, high = 1;
    while (pcast_theory_chain_kept(&falling, high) > 1 - loss) {
        low = high;
        high *= 2;
        if (high > MOST_KEYS)
            return INFINITY;
    }
    while (high - low > 1) {
        const double middle = floor((low + high) / 2);
        if (pcast_theory_chain_kept(&falling, middle) > 1 - loss)
            low = middle;
        else
            high = middle;
    }
    return high;
}
