/* SPDX-License-Identifier: MIT */
/* The exponentials of math.h on vectors: the same operations in the same order, with selections in
 * place of branches. Only for files of one CPU level. */
#ifndef PCAST_MATH_EXP_VECTOR_H
#define PCAST_MATH_EXP_VECTOR_H

#include "base/vector.h"
#include "math/exp_core.h"

#include <math.h>

typedef struct pcast_exp_parts_vector {
    pcast_vd hi, q;
    pcast_vu k; /* 64 e + j, as a signed number */
} pcast_exp_parts_vector;

/* pcast_exp_assemble; shifted is kd + 1.5 * 2^52, whose low bits are k. */
static inline pcast_exp_parts_vector pcast_exp_assemble_vector(pcast_vd shifted, pcast_vd r)
{
    pcast_vd s = r * (1.0 / 5040) + 1.0 / 720;
    s = r * s + 1.0 / 120;
    s = r * s + 1.0 / 24;
    s = r * s + 1.0 / 6;
    const pcast_vd p = r + (r * r) * (r * s + 0.5);
    const pcast_vu k = (pcast_vu)shifted - pcast_bits_f64(0x1.8p52);
    const pcast_vu at = (k & 63) * 2;
    const pcast_vd hi = pcast_vd_gather(&pcast_exp_table[0][0], at);
    return (pcast_exp_parts_vector){hi, pcast_vd_gather(&pcast_exp_table[0][1], at) + hi * p, k};
}

static inline pcast_exp_parts_vector pcast_exp_reduce_vector(pcast_vd x)
{
    const pcast_vd shifted = x * PCAST_64_OVER_LN2 + 0x1.8p52;
    const pcast_vd kd = shifted - 0x1.8p52;
    return pcast_exp_assemble_vector(shifted, (x - kd * PCAST_LN2_64_HI) - kd * PCAST_LN2_64_LO);
}

static inline pcast_exp_parts_vector pcast_exp2_reduce_vector(pcast_vd x)
{
    const pcast_vd shifted = x * 64 + 0x1.8p52;
    const pcast_vd kd = shifted - 0x1.8p52;
    return pcast_exp_assemble_vector(shifted, (x - kd * (1.0 / 64)) * PCAST_LN2);
}

/* floor(k / 64) for |k| < 2^26, plus bias. */
static inline pcast_vu pcast_exp_exponent_vector(pcast_vu k, uint64_t bias)
{
    return ((k + (1 << 26)) >> 6) + (bias - (1 << 20));
}

/* pcast_exp_f32, or with base2 pcast_exp2_f32. */
static inline pcast_vf pcast_exp_f32_vector(pcast_vf in, int base2)
{
    const pcast_vf top = pcast_vf_all(base2 ? 128.0f : 89.0f);
    const pcast_vf bottom = pcast_vf_all(base2 ? -150.0f : -104.0f);
    pcast_vf bounded = pcast_vf_pick((pcast_vw)(in > bottom), in, bottom);
    bounded = pcast_vf_pick((pcast_vw)(bounded < top), bounded, top);
    const pcast_vd x = pcast_vd_from_vf(bounded);
    const pcast_exp_parts_vector parts =
        base2 ? pcast_exp2_reduce_vector(x) : pcast_exp_reduce_vector(x);

    const pcast_vd sum = parts.hi + parts.q, lo = parts.q - (sum - parts.hi);
    const pcast_vu bits = (pcast_vu)sum, beyond = (bits ^ (pcast_vu)lo) >> 63;
    const pcast_vd odd = (pcast_vd)((bits - beyond) | 1);
    const pcast_vd rounded = pcast_vd_pick((pcast_vu)(lo == 0), sum, odd);
    const pcast_vd scale = (pcast_vd)(pcast_exp_exponent_vector(parts.k, 1023) << 52);
    pcast_vf out = pcast_vf_from_vd(rounded * scale);

    const pcast_vw zero = base2 ? (pcast_vw)(in <= bottom) : (pcast_vw)(in < bottom);
    out = pcast_vf_pick((pcast_vw)(in < top), out, pcast_vf_all(INFINITY));
    out = pcast_vf_pick(zero, pcast_vf_all(0.0f), out);
    return pcast_vf_pick((pcast_vw)(in == in), out, in + in);
}

/* pcast_exp_f64. */
static inline pcast_vd pcast_exp_f64_vector(pcast_vd in)
{
    const pcast_vd top = pcast_vd_all(710.0), bottom = pcast_vd_all(-746.0);
    pcast_vd x = pcast_vd_pick((pcast_vu)(in > bottom), in, bottom);
    x = pcast_vd_pick((pcast_vu)(x < top), x, top);
    const pcast_exp_parts_vector parts = pcast_exp_reduce_vector(x);
    /* e / 2 toward zero, as the division of integers. */
    const pcast_vu e = pcast_exp_exponent_vector(parts.k, 0);
    const pcast_vu sign = e >> 63;
    const pcast_vu half = (((e + sign) + (1 << 20)) >> 1) - (1 << 19);
    const pcast_vd low = (pcast_vd)((half + 1023) << 52);
    const pcast_vd high = (pcast_vd)((e - half + 1023) << 52);
    pcast_vd out = (parts.hi + parts.q) * low * high;
    out = pcast_vd_pick((pcast_vu)(in < top), out, pcast_vd_all(INFINITY));
    out = pcast_vd_pick((pcast_vu)(in < bottom), pcast_vd_all(0.0), out);
    return pcast_vd_pick((pcast_vu)(in == in), out, in + in);
}

#endif
