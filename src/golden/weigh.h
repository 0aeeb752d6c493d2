/* SPDX-License-Identifier: MIT */
/* The exponential and the cast as intervals. */
#ifndef PCAST_GOLDEN_WEIGH_H
#define PCAST_GOLDEN_WEIGH_H

#include "golden/reading.h"

/* Half an ulp of FP32, relative. */
#define PCAST_UNIT_ROUNDOFF 0x1p-24

/* What a kernel's exponential of z - m may give, S left out; z and m in nats. */
pcast_span pcast_weigh_probability(const pcast_reading *reading, double z, double m);

/* What the cast may make of it, S in it, for the kernel's S. */
pcast_span pcast_weigh_cast(const pcast_reading *reading, pcast_span p);

/* The same divided by S; for any S where the reading leaves it open. */
pcast_span pcast_weigh_cast_free(const pcast_reading *reading, pcast_span p);

/* The same of P that was divided by a row sum between 1 and `divisor` before the cast, multiplied
 * by it again. */
pcast_span pcast_weigh_cast_normalised(const pcast_reading *reading, pcast_span p, double divisor);

/* May the cast give NaN? */
int pcast_weigh_overflows(const pcast_reading *reading, pcast_span p);

#endif
