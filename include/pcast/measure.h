/* SPDX-License-Identifier: MIT */
/* What one row loses to the cast of P: counts and errors (docs/numerics.md, section 6). */
#ifndef PCAST_MEASURE_H
#define PCAST_MEASURE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* "Other" keys are unmasked keys that are no sinks and whose p was above zero when they were cast.
 */
typedef struct pcast_loss {
    uint64_t other;           /* other keys */
    uint64_t flushed;         /* of these, cast to zero */
    uint64_t outside;         /* other keys in blocks without a sink */
    uint64_t outside_flushed; /* of these, cast to zero */
    uint64_t subnormal;       /* other keys with a subnormal code, 1..7 */
    uint64_t unmasked;        /* keys with p > 0, sinks included */
    uint64_t saturated;       /* of these, p * S > 464: beyond what rounds to 448 */
    uint64_t channels;        /* dim */
    double mass;              /* attention mass of the other keys: sum p / l with final weights */
    double kept;              /* what the cast kept of it: sum (p8 / S) / l */
    double
        mse_given_p;   /* sum over all keys (p - p8/S)^2 / l^2: MSE expected over unit-variance V */
    double error2;     /* sum over channels (o - reference)^2 */
    double reference2; /* sum over channels reference^2 */
    double max_abs;    /* max over channels |o - reference| */
} pcast_loss;

#ifdef __cplusplus
}
#endif

#endif
