/* SPDX-License-Identifier: MIT */
/* Comparing two arrays: one pass that sorts each pair into its class. */
#include "pcast/compare.h"

#include "base/bits.h"
#include "base/fpenv.h"

#include <math.h>

/* Keeps a value of the format what it is. */
static uint32_t code_of(pcast_format format, float value)
{
    const pcast_cast keep = {PCAST_OVERFLOW_NAN, PCAST_INF_NAN, PCAST_NAN_KEEP_SIGN};
    return pcast_encode_f32(format, value, keep);
}

static int holds(pcast_format format, pcast_values values, size_t count)
{
    for (size_t i = 0; values.format != format && i < count; i++) {
        const float value = values.data[i];
        if (!isnan(value) && pcast_bits_f32(pcast_decode_f32(format, code_of(format, value))) !=
                                 pcast_bits_f32(value))
            return 0;
    }
    return 1;
}

static pcast_format common_format(pcast_values a, pcast_values b, size_t count)
{
    const int a_width = pcast_format_width(a.format), b_width = pcast_format_width(b.format);
    if (a_width <= b_width && holds(a.format, b, count))
        return a.format;
    if (b_width <= a_width && holds(b.format, a, count))
        return b.format;
    return PCAST_F32;
}

/* Place of a code among the format's values in rising order; 0 for both zeros. */
static int64_t place(pcast_format format, uint32_t code)
{
    const uint32_t sign = UINT32_C(1) << (pcast_format_width(format) - 1);
    const int64_t magnitude = code & (sign - 1);
    return (code & sign) != 0 ? -magnitude : magnitude;
}

static int bin_of(uint32_t ulp)
{
    return ulp <= 1 ? (int)ulp : 33 - __builtin_clz(ulp - 1);
}

/* Keeps top sorted; of equal distances the first come first. */
static void rank(const pcast_difference *difference, pcast_difference *top, size_t capacity,
                 size_t *count)
{
    if (capacity == 0 || (*count == capacity && top[capacity - 1].ulp >= difference->ulp))
        return;
    size_t at = *count < capacity ? (*count)++ : capacity - 1;
    for (; at > 0 && top[at - 1].ulp < difference->ulp; at--)
        top[at] = top[at - 1];
    top[at] = *difference;
}

/* Counts a pair whose bits differ; 0 where they are equal all the same. */
static int count_difference(pcast_comparison *result, pcast_difference *difference)
{
    const int a_nan = isnan(difference->a), b_nan = isnan(difference->b);
    if (a_nan && b_nan)
        return 0;
    const int64_t steps =
        place(result->format, difference->a_code) - place(result->format, difference->b_code);
    difference->ulp = a_nan || b_nan ? PCAST_ULP_NAN : (uint32_t)(steps < 0 ? -steps : steps);
    if (result->count == result->equal)
        result->first = *difference;
    if (a_nan || b_nan) {
        result->one_nan++;
        return 1;
    }
    if (difference->ulp == 0)
        result->zero_sign++;
    else
        result->ulp[bin_of(difference->ulp)]++;
    const double distance = fabs((double)difference->a - (double)difference->b);
    if (difference->ulp > result->largest_ulp.ulp)
        result->largest_ulp = *difference;
    if (distance > result->max_abs) {
        result->max_abs = distance;
        result->largest_abs = *difference;
    }
    return 1;
}

/* Sums over the elements that are finite in both. */
typedef struct sums {
    double error2, a2, b2, ab;
} sums;

static void add(sums *total, double a, double b)
{
    if (!isfinite(a) || !isfinite(b))
        return;
    total->error2 += (a - b) * (a - b);
    total->a2 += a * a;
    total->b2 += b * b;
    total->ab += a * b;
}

static void compare(pcast_values a, pcast_values b, size_t count, pcast_comparison *result,
                    pcast_difference *top, size_t top_capacity)
{
    sums total = {0};
    *result = (pcast_comparison){.format = common_format(a, b, count)};
    for (size_t i = 0; i < count; i++, result->count++) {
        add(&total, (double)a.data[i], (double)b.data[i]);
        pcast_difference difference = {
            i,
            a.data[i],
            b.data[i],
            code_of(result->format, a.data[i]),
            code_of(result->format, b.data[i]),
            0,
        };
        if (difference.a_code != difference.b_code && count_difference(result, &difference)) {
            rank(&difference, top, top_capacity, &result->top_count);
            continue;
        }
        result->equal++;
        result->both_nan += isnan(a.data[i]) != 0;
    }
    result->ulp[0] = result->equal;
    result->rel_l2 = total.error2 > 0 ? sqrt(total.error2 / total.b2) : 0;
    result->cosine = total.ab / sqrt(total.a2 * total.b2);
}

void pcast_compare(pcast_values a, pcast_values b, size_t count, pcast_comparison *result,
                   pcast_difference *top, size_t top_capacity)
{
    pcast_fpenv env;
    pcast_fpenv_enter(&env);
    compare(a, b, count, result, top, top_capacity);
    pcast_fpenv_leave(&env);
}
