/* SPDX-License-Identifier: MIT */
/* Intervals of P and of its cast. The cast is monotonic, so its ends come of the ends of P. */
#include "golden/weigh.h"

#include "base/bits.h"
#include "math/constants.h"
#include "math/math.h"

#include <math.h>

/* Roundings between scores and the exponential's argument, in ulps of what they round: a score and
 * a maximum are each rounded when they are scaled and when they are multiplied by log2 e, and the
 * bias when S joins it; their difference, an fma that may round toward zero, and the conversion of
 * a natural argument to base 2. */
#define SCORE_ROUNDINGS      3
#define DIFFERENCE_ROUNDINGS 8
#define SCALE_ROUNDINGS      3

/* Kernels flush what lies below 2^-126, or not. */
#define FLUSHED 0x1p-120

pcast_span pcast_weigh_probability(const pcast_reading *reading, double z, double m)
{
    const double x = z - m;
    const double offset =
        reading->any_scale ? 9 : fabs(pcast_log_f64((double)reading->kernel.scale));
    const double argument =
        PCAST_UNIT_ROUNDOFF * (SCORE_ROUNDINGS * (fabs(z) + fabs(m)) +
                               DIFFERENCE_ROUNDINGS * fabs(x) + SCALE_ROUNDINGS * offset);
    const double unit = reading->exp_error + 4 * PCAST_UNIT_ROUNDOFF;
    const double low = pcast_exp_f64(x - argument) * (1 - unit);
    return (pcast_span){low < FLUSHED ? 0 : low, pcast_exp_f64(x + argument) * (1 + unit)};
}

static double convert(pcast_format format, double x, pcast_overflow overflow)
{
    const pcast_cast cast = {.overflow = overflow};
    return pcast_decode_f64(format, pcast_convert(format, PCAST_F64, pcast_bits_f64(x), cast));
}

/* The largest number of the format that is no larger than x >= 0. */
static double truncate_to(pcast_format format, double x)
{
    const pcast_cast cast = {.overflow = PCAST_OVERFLOW_SATURATE};
    const uint64_t code = pcast_convert(format, PCAST_F64, pcast_bits_f64(x), cast);
    const double nearest = pcast_decode_f64(format, code);
    return nearest > x ? pcast_decode_f64(format, code - 1) : nearest;
}

static double cast_value(const pcast_reading *reading, double x)
{
    const pcast_format format = reading->kernel.p_format;
    if (reading->slip == PCAST_SLIP_CAST_TRUNCATES)
        return truncate_to(format, x);
    if (reading->slip == PCAST_SLIP_CAST_TWICE)
        x = convert(PCAST_BF16, x, PCAST_OVERFLOW_SATURATE);
    const double value = convert(format, x, PCAST_OVERFLOW_SATURATE);
    if (reading->slip == PCAST_SLIP_CAST_LOSES_TOP && value > 240)
        return 240;
    if (reading->slip == PCAST_SLIP_CAST_FLUSHES &&
        value < pcast_decode_f64(format, pcast_format_least_normal(format)))
        return 0;
    return value;
}

static pcast_span scaled(const pcast_reading *reading, pcast_span p)
{
    const double scale = (double)reading->kernel.scale, slack = 2 * PCAST_UNIT_ROUNDOFF;
    return (pcast_span){scale * p.low * (1 - slack), scale * p.high * (1 + slack)};
}

pcast_span pcast_weigh_cast(const pcast_reading *reading, pcast_span p)
{
    const pcast_span x = scaled(reading, p);
    return (pcast_span){cast_value(reading, x.low), cast_value(reading, x.high)};
}

int pcast_weigh_overflows(const pcast_reading *reading, pcast_span p)
{
    return (reading->any_overflow || reading->kernel.overflow == PCAST_OVERFLOW_NAN) &&
           scaled(reading, p).high > pcast_format_overflow_bound(reading->kernel.p_format);
}

/* Half a place of a format, relative to a normal number, and in its subnormal range; where that
 * ends. */
typedef struct places {
    double half_place, half_least, least_normal;
} places;

static places places_of(const pcast_reading *reading)
{
    const pcast_format format = reading->any_scale ? PCAST_E4M3 : reading->kernel.p_format;
    const double scale = reading->any_scale ? 1 : (double)reading->kernel.scale;
    const uint64_t normal = pcast_format_least_normal(format);
    const double least_normal = pcast_decode_f64(format, normal);
    const double next = pcast_decode_f64(format, normal + 1);
    return (places){(next - least_normal) / least_normal / 2, (next - least_normal) / 2 / scale,
                    least_normal / scale};
}

/* Any S that is at least the reading's, P divided by up to `divisor` first. */
static pcast_span rounded(const pcast_reading *reading, pcast_span p, double divisor)
{
    const places by = places_of(reading);
    pcast_span q = {p.low * (1 - by.half_place), p.high * (1 + by.half_place)};
    if (p.low / divisor < by.least_normal && p.low - divisor * by.half_least < q.low)
        q.low = p.low - divisor * by.half_least;
    if (p.high / divisor < by.least_normal && p.high + divisor * by.half_least > q.high)
        q.high = p.high + divisor * by.half_least;
    if (q.low < 0)
        q.low = 0;
    return q;
}

pcast_span pcast_weigh_cast_normalised(const pcast_reading *reading, pcast_span p, double divisor)
{
    return rounded(reading, p, divisor);
}

pcast_span pcast_weigh_cast_free(const pcast_reading *reading, pcast_span p)
{
    const double scale = (double)reading->kernel.scale;
    if (reading->any_scale) { /* what saturates keeps at least 1: S is E4M3's largest at most */
        pcast_span q = rounded(reading, p, 1);
        q.low = q.low > 1 ? 1 : q.low;
        return q;
    }
    const pcast_span code = pcast_weigh_cast(reading, p);
    return (pcast_span){code.low / scale, code.high / scale};
}
