/* SPDX-License-Identifier: MIT */
/* Maximum, exponentials and cast of one block. */
#include "softmax/probabilities.h"

#include "base/bits.h"
#include "base/seeded.h"
#include "math/strict.h"
#include "softmax/steps.h"
#include "softmax/units.h"

#include <math.h>

float pcast_next_max(const pcast_plan *plan, float m, const float *scores, size_t count)
{
    return pcast_plan_max(plan, m, plan->engine->max(m, scores, count)); /* 4.1 */
}

void pcast_exponentials(const pcast_plan *plan, float m, const float *scores, size_t count,
                        float *p)
{
    const float b = pcast_plan_bias(plan, m); /* 4.2 */
    if (pcast_plan_is_empty(plan, m)) {
        memset(p, 0, count * sizeof *p);
        return;
    }
    for (size_t i = 0; i < count; i++)
        p[i] = pcast_plan_exponent(plan, scores[i], b); /* 4.3 */
    pcast_unit_exponentials(plan, p, count);
}

enum { PIECE = 512 };

/* At most PIECE numbers through a format of 8 bits, or of 16. */
static void cast_to_8(const pcast_plan *plan, const float *x, size_t count, uint32_t *codes,
                      float *values)
{
    const pcast_cast cast = {.overflow = plan->kernel.overflow};
    uint8_t narrow[PIECE];
    pcast_encode_array(plan->kernel.p_format, narrow, x, count, cast, plan->cpu);
    for (size_t i = 0; i < count; i++) {
        codes[i] = narrow[i];
        values[i] = plan->value[narrow[i]];
    }
}

static void cast_to_16(const pcast_plan *plan, const float *x, size_t count, uint32_t *codes,
                       float *values)
{
    const pcast_cast cast = {.overflow = plan->kernel.overflow};
    uint16_t narrow[PIECE];
    pcast_encode_array(plan->kernel.p_format, narrow, x, count, cast, plan->cpu);
    pcast_decode_array(plan->kernel.p_format, narrow, values, count, plan->cpu);
    for (size_t i = 0; i < count; i++)
        codes[i] = narrow[i];
}

static void no_cast(const float *x, size_t count, uint32_t *codes, float *values)
{
    for (size_t i = 0; i < count; i++) {
        codes[i] = pcast_bits_f32(pcast_plain_nan(x[i]));
        values[i] = pcast_decode_f32(PCAST_F32, codes[i]);
    }
}

#if defined(PCAST_SEEDED_FAULTS)
/* The slip on numbers above 0; returns 0 where it is none of a cast. */
static int cast_wrongly(const pcast_plan *plan, const float *x, size_t count, uint32_t *codes,
                        float *values)
{
    const pcast_format format = plan->kernel.p_format;
    const pcast_cast cast = {0};
    if (pcast_seeded_slip < PCAST_SLIP_CAST_TRUNCATES ||
        pcast_seeded_slip > PCAST_SLIP_CAST_FLUSHES)
        return 0;
    for (size_t i = 0; i < count; i++) {
        const float from =
            PCAST_SEEDED(CAST_TWICE) ? pcast_round_through(PCAST_BF16, (double)x[i]) : x[i];
        codes[i] = pcast_encode_f32(format, from, cast);
        if (PCAST_SEEDED(CAST_TRUNCATES) && pcast_decode_f32(format, codes[i]) > x[i])
            codes[i]--;
        if (PCAST_SEEDED(CAST_LOSES_TOP) && pcast_decode_f32(format, codes[i]) > 240)
            codes[i] = pcast_encode_f32(format, 240, cast);
        if (PCAST_SEEDED(CAST_FLUSHES) && codes[i] < pcast_format_least_normal(format))
            codes[i] = 0;
        values[i] = pcast_decode_f32(format, codes[i]);
    }
    return 1;
}
#endif

void pcast_cast_row(const pcast_plan *plan, const float *p, size_t count, float *scaled,
                    uint32_t *codes, float *values)
{
    const int width = pcast_format_width(plan->kernel.p_format);
    for (size_t i = 0; i < count; i++)
        scaled[i] = p[i] * plan->after;
#if defined(PCAST_SEEDED_FAULTS)
    if (cast_wrongly(plan, scaled, count, codes, values))
        return;
#endif
    for (size_t done = 0; done < count; done += PIECE) { /* 4.5 */
        const size_t here = count - done < PIECE ? count - done : PIECE;
        if (width == 8)
            cast_to_8(plan, scaled + done, here, codes + done, values + done);
        else if (width == 16)
            cast_to_16(plan, scaled + done, here, codes + done, values + done);
        else
            no_cast(scaled + done, here, codes + done, values + done);
    }
}
