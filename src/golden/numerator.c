/* SPDX-License-Identifier: MIT */
/* Sums of products code * V. Where all products are multiples of one quantum and their sum is few
 * enough of them, every accumulator and every order gives the same bits. Else an accumulator of
 * FP32 is off by its roundings, and a tensor core is evaluated in its own grouping, or where that
 * is not known, bounded by what its instructions may cut off. */
#include "golden/numerator.h"

#include "base/bits.h"
#include "base/error.h"
#include "golden/weigh.h"
#include "math/strict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Quanta that a sum may hold to be exact: Hopper keeps 14 bits, of which one is left as reserve. */
#define EXACT_FP32    0x1p24
#define EXACT_MACHINE 0x1p13
#define EXACT_FP16    0x1p11
#define LARGEST_FP16  65504.0
/* Keys after which a kernel that accumulates in FP16 promotes, unless it declares more. */
#define FP16_TILE 64
/* A tensor core keeps 13 bits below the exponent of the largest product, or of the accumulator; a
 * product has the exponents of its operands, which end at those of the least normal numbers
 * (numerics.md, step 10.3). So it cuts off less than LAST_PLACE of the largest such size, for each
 * of 32 products and the accumulator of an instruction. */
#define LAST_PLACE 0x1p-13
#define CUT        ((PCAST_TENSOR_CORE_KEYS + 1) * LAST_PLACE)
/* Of the judge's own sums in binary64. */
#define OWN_ROUNDOFF 0x1p-52

pcast_status pcast_numerator_space_init(pcast_numerator_space *space, size_t keys, size_t dim,
                                        pcast_error *err)
{
    *space = (pcast_numerator_space){calloc(keys + 1, 1), calloc(keys + 1, dim),
                                     calloc(dim, sizeof(float)), calloc(dim, sizeof(float))};
    if (space->p != NULL && space->v != NULL && space->o != NULL && space->tile != NULL)
        return PCAST_OK;
    return pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for codes of %zu keys", keys);
}

void pcast_numerator_space_free(pcast_numerator_space *space)
{
    free(space->p);
    free(space->v);
    free(space->o);
    free(space->tile);
    *space = (pcast_numerator_space){0};
}

/* Products of one channel. */
typedef struct products {
    pcast_span sum;      /* over S */
    double magnitude;    /* sum of absolute values, over S */
    double size;         /* largest power of two, or more, that a tensor core aligns to, over S */
    double quantum;      /* of code times V; all are multiples of it */
    double quanta;       /* sum of absolute values in it; Inf where codes are not known */
    double codes;        /* sum of absolute values under the maxima of their casts, with S */
    double largest_code; /* of one of these */
    size_t count;        /* that are not zero */
} products;

/* The power of two that is the lowest bit of x != 0. */
static double lowest_bit(double x)
{
    int exponent;
    const double fraction = fabs(frexp(x, &exponent));
    const uint64_t digits = (uint64_t)ldexp(fraction, 53);
    return ldexp(1, exponent - 53 + __builtin_ctzll(digits));
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double least_normal(pcast_format format)
{
    return pcast_decode_f64(format, pcast_format_least_normal(format));
}

/* Least S that the reading allows. */
static double least_scale(const pcast_reading *reading)
{
    return reading->any_scale ? 1 : (double)reading->kernel.scale;
}

/* V of a channel by key; all 1 where v is NULL. */
static products multiply(const pcast_reading *reading, const pcast_terms *terms, size_t number,
                         const float *v, size_t dim, size_t channel)
{
    products all = {.quantum = INFINITY};
    const double scale = (double)reading->kernel.scale;
    const double p_normal =
        least_normal(reading->any_scale ? PCAST_E4M3 : reading->kernel.p_format) /
        least_scale(reading);
    double exact = 0, exact_size = 0;
    int known = !reading->any_scale;
    for (size_t i = 0; i < terms->count; i++) {
        const pcast_term *term = &terms->term[i];
        const double value = v == NULL ? 1 : (double)v[term->key * dim + channel];
        const double most = fabs(value) * term->n.high, code = fabs(value) * term->top;
        if (term->split != number || most == 0)
            continue;
        all.sum = pcast_span_add(all.sum, pcast_span_times(term->n, value));
        all.magnitude += most;
        all.size = larger(all.size, larger(term->n.high, p_normal) *
                                        larger(fabs(value), least_normal(PCAST_E4M3)));
        all.codes += code;
        all.largest_code = larger(all.largest_code, code);
        all.count++;
        known &= !isnan(term->code) && term->final;
        if (known && term->code != 0) {
            const double bit = lowest_bit(term->code * value);
            all.quantum = bit < all.quantum ? bit : all.quantum;
            exact += term->code * value;
            exact_size += fabs(term->code * value);
        }
    }
    if (all.count == 0)
        return all;
    all.quanta = known ? exact_size / all.quantum : INFINITY;
    if (known) { /* exact but for the division, which leaves 0 alone */
        const double sum = exact / scale;
        all.sum = pcast_span_widen((pcast_span){sum, sum}, OWN_ROUNDOFF * fabs(sum));
    } else {
        all.sum = pcast_span_widen(all.sum, OWN_ROUNDOFF * (double)(all.count + 4) * all.magnitude);
    }
    return all;
}

/* What the kernel reads V in. */
static pcast_format v_format(const pcast_kernel *kernel)
{
    return kernel->qkv == PCAST_QKV_E5M2 ? PCAST_E5M2 : PCAST_E4M3;
}

/* All tiles of the split through the kernel's tensor core: codes in space, sums in space->o. */
static void run_machine(const pcast_reading *reading, const pcast_row_view *row, size_t number,
                        size_t dim, pcast_numerator_space *space)
{
    const pcast_kernel *kernel = &reading->kernel;
    const int f16 = kernel->accumulator == PCAST_ACCUMULATOR_FP16;
    const pcast_tensor_core core = {
        (pcast_machine)kernel->machine, kernel->p_format, v_format(kernel),
        f16 ? PCAST_TENSOR_CORE_F16 : PCAST_TENSOR_CORE_F32, PCAST_CPU_AVX512};
    pcast_walk walk;
    pcast_visit visit;
    memset(space->o, 0, dim * sizeof *space->o);
    pcast_walk_start(&walk, kernel, row->keys, row->visited.first,
                     row->visited.first + row->visited.count);
    while (pcast_walk_next(&walk, &visit)) {
        if (visit.sums_only || visit.split != number)
            continue;
        const int never = kernel->promotion == PCAST_PROMOTION_NEVER;
        const size_t count = visit.range.count;
        const size_t chunk =
            kernel->promotion <= 0 ? count : (size_t)kernel->promotion * PCAST_TENSOR_CORE_KEYS;
        for (size_t done = 0; done < count; done += chunk) {
            const size_t here = count - done < chunk ? count - done : chunk;
            const size_t first = visit.range.first + done;
            float *o = never ? space->o : space->tile;
            if (!never)
                memset(o, 0, dim * sizeof *o);
            pcast_tensor_core_row(&core, space->p + first, space->v + first * dim, here, dim, dim,
                                  o);
            for (size_t c = 0; !never && c < dim; c++)
                space->o[c] = space->o[c] + o[c];
        }
    }
}

static int knows_codes(const pcast_reading *reading, const pcast_terms *terms, size_t number)
{
    const pcast_format p = reading->kernel.p_format;
    int known = (p == PCAST_E4M3 || p == PCAST_E5M2) && !reading->free_walk;
    for (size_t i = 0; i < terms->count; i++) {
        const pcast_term *term = &terms->term[i];
        known &= term->split != number || (!isnan(term->code) && (term->final || term->code == 0));
    }
    return known;
}

static void encode(const pcast_reading *reading, const pcast_row_view *row,
                   const pcast_terms *terms, size_t number, const float *v, size_t dim,
                   pcast_numerator_space *space)
{
    const pcast_cast cast = {0};
    memset(space->p, 0, row->keys);
    for (size_t i = 0; i < terms->count; i++)
        if (terms->term[i].split == number)
            space->p[terms->term[i].key] = (uint8_t)pcast_encode_f32(
                reading->kernel.p_format, (float)terms->term[i].code, cast);
    pcast_encode_array(v_format(&reading->kernel), space->v, v, row->keys * dim, cast,
                       PCAST_CPU_AVX512);
}

/* What FP32 may make of the sum, in any order. */
static pcast_span sum_in_fp32(const pcast_terms *terms, size_t number, const products *all)
{
    const double roundings = (double)(all->count + 2 * terms->split[number].changes + 2);
    return all->quanta <= EXACT_FP32
               ? all->sum
               : pcast_span_widen(all->sum, roundings * PCAST_UNIT_ROUNDOFF * all->magnitude);
}

/* What instructions may cut off, of which every tile may begin one. */
static double cut_off(const pcast_row_view *row, const products *all)
{
    return (double)(row->keys / 16 + 2) * CUT * larger(all->magnitude, all->size);
}

/* What any accumulator may make of it: a tensor core, or FP16, which rounds the sums of 64 keys. */
static pcast_span sum_in_any(const pcast_row_view *row, const products *all)
{
    return pcast_span_widen(all->sum,
                            larger(cut_off(row, all), FP16_TILE * 0x1p-11 * all->magnitude));
}

/* Does a sum fit FP16, where it may be one: the whole, or what comes between promotions? */
static int fits_fp16(const pcast_reading *reading, const products *all)
{
    const pcast_kernel *kernel = &reading->kernel;
    const int promoted =
        reading->summation == PCAST_SUMMATION_ANY || kernel->promotion != PCAST_PROMOTION_NEVER;
    const double tile =
        reading->free_walk || kernel->block < FP16_TILE ? FP16_TILE : (double)kernel->block;
    const double between = tile * all->largest_code;
    const double sum = promoted && between < all->codes ? between : all->codes;
    return sum * (1 + 0x1p-9) <= LARGEST_FP16;
}

/* One channel of a sum that is neither FP32's nor exact for other reasons; sets *fit. */
static pcast_span sum_elsewhere(const pcast_reading *reading, const pcast_row_view *row,
                                pcast_span fp32, const products *all, pcast_fit *fit)
{
    const int f16 = reading->kernel.accumulator == PCAST_ACCUMULATOR_FP16;
    if ((f16 || reading->summation == PCAST_SUMMATION_ANY) && !fits_fp16(reading, all)) {
        const double scale = (double)reading->kernel.scale;
        const double sure = all->sum.low > 0 ? all->sum.low : -all->sum.high;
        const int certain = reading->summation == PCAST_SUMMATION_FP16 &&
                            reading->kernel.promotion == PCAST_PROMOTION_NEVER &&
                            sure * scale > LARGEST_FP16 * (1 + 0x1p-9);
        *fit = certain ? PCAST_FIT_OVERFLOWS : PCAST_FIT_UNKNOWN;
        if (certain) /* its sign is what counts */
            return fp32;
    }
    if (reading->summation == PCAST_SUMMATION_ANY || !f16)
        return sum_in_any(row, all);
    return pcast_span_widen(fp32, (double)(2 * all->count + 2) * 0x1p-11 * all->magnitude);
}

/* Has the sum the same bits in FP32 and in the reading's accumulator? */
static int is_exact(const pcast_reading *reading, const products *all)
{
    const int f16 = reading->kernel.accumulator == PCAST_ACCUMULATOR_FP16 ||
                    reading->summation == PCAST_SUMMATION_ANY;
    return reading->summation == PCAST_SUMMATION_FP32 || all->count == 0 ||
           (all->quanta <= (f16 ? EXACT_FP16 : EXACT_MACHINE) &&
            all->size * (double)reading->kernel.scale * LAST_PLACE <= all->quantum &&
            (!f16 || fits_fp16(reading, all)));
}

pcast_fit pcast_numerators(const pcast_reading *reading, const pcast_row_view *row,
                           const pcast_terms *terms, size_t number, const float *v, size_t dim,
                           pcast_numerator_space *space, pcast_span *out, double *magnitude)
{
    const int by_machine = (reading->summation == PCAST_SUMMATION_MACHINE ||
                            reading->summation == PCAST_SUMMATION_EITHER) &&
                           knows_codes(reading, terms, number);
    int evaluated = 0;
    pcast_fit worst = PCAST_FIT_FITS, best = PCAST_FIT_OVERFLOWS;
    for (size_t c = 0; c < dim; c++) {
        const products all = multiply(reading, terms, number, v, dim, c);
        pcast_fit fit = PCAST_FIT_FITS;
        out[c] = sum_in_fp32(terms, number, &all);
        magnitude[c] = all.magnitude;
        if (!is_exact(reading, &all) && !by_machine)
            out[c] = sum_elsewhere(reading, row, out[c], &all, &fit);
        worst = fit > worst ? fit : worst;
        if (is_exact(reading, &all) || !by_machine)
            best = fit < best ? fit : best;
        if (is_exact(reading, &all) || !by_machine)
            continue;
        if (!evaluated) {
            encode(reading, row, terms, number, v, dim, space);
            run_machine(reading, row, number, dim, space);
            evaluated = 1;
        }
        if (!isfinite(space->o[c])) {
            worst = isnan(space->o[c]) || worst == PCAST_FIT_UNKNOWN ? PCAST_FIT_UNKNOWN
                                                                     : PCAST_FIT_OVERFLOWS;
            continue;
        }
        best = PCAST_FIT_FITS;
        const double sum = (double)space->o[c] / (double)reading->kernel.scale;
        const pcast_span machine = {sum, sum};
        out[c] = reading->summation == PCAST_SUMMATION_EITHER ? pcast_span_hull(out[c], machine)
                                                              : machine;
    }
    return worst == best ? worst : PCAST_FIT_UNKNOWN;
}

double pcast_row_sum_cut(const pcast_reading *reading, const pcast_row_view *row,
                         const pcast_terms *terms, size_t number)
{
    const products all = multiply(reading, terms, number, NULL, 1, 0);
    return is_exact(reading, &all) ? 0 : cut_off(row, &all);
}
