/* SPDX-License-Identifier: MIT */
/* Single operations of NVIDIA GPUs and their exact counterparts, bits in and bits out
 * (docs/numerics.md, section 11 for the units, section 3 for the exact functions).
 *
 *   ex2          ex2.approx.ftz.f32
 *   ex2_noftz    ex2.approx.f32
 *   rcp          rcp.approx.ftz.f32
 *   lg2          lg2.approx.ftz.f32
 *   expf         expf as nvcc 13.0 compiles it for sm_90a without -use_fast_math
 *   expf_fast    __expf, likewise; with -use_fast_math results below 2^-126 would be +0
 *   fa4_poly3, fa4_poly5   FlashAttention-4's software exp2, polynomial of degree 3 or 5
 *   exp, exp2, log, log2, tanh   correctly rounded: what any correct implementation gives
 *   cvt_e4m3     cvt.rn.satfinite.e4m3x2.f32, one number; NaN gives 0x7F
 *
 * Sources: envytools (special function unit; read out from G80-class GPUs), PTX ISA 9.1, nvcc
 * 13.0's PTX, flash_attn/cute/utils.py of FlashAttention-4 (arXiv 2603.05451). That the special
 * function unit of sm_90 gives the same bits is what public end-to-end work suggests. */
#ifndef PCAST_UNIT_H
#define PCAST_UNIT_H

#include "pcast/format.h"
#include "pcast/status.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pcast_unit {
    PCAST_UNIT_EX2,
    PCAST_UNIT_EX2_NOFTZ,
    PCAST_UNIT_RCP,
    PCAST_UNIT_LG2,
    PCAST_UNIT_EXPF,
    PCAST_UNIT_EXPF_FAST,
    PCAST_UNIT_FA4_POLY3,
    PCAST_UNIT_FA4_POLY5,
    PCAST_UNIT_EXP,
    PCAST_UNIT_EXP2,
    PCAST_UNIT_LOG,
    PCAST_UNIT_LOG2,
    PCAST_UNIT_TANH,
    PCAST_UNIT_CVT_E4M3,
} pcast_unit;

enum { PCAST_UNIT_COUNT = PCAST_UNIT_CVT_E4M3 + 1 };

/* The name above, "ex2" to "cvt_e4m3". */
const char *pcast_unit_name(pcast_unit unit);

/* The operation of that name; PCAST_ERR_VALUE, and *unit as it was, if there is none. err may be
 * NULL. */
pcast_status pcast_unit_find(const char *name, pcast_unit *unit, pcast_error *err);

/* What the result's bits are a code of: PCAST_E4M3 for cvt_e4m3, else PCAST_F32. */
pcast_format pcast_unit_result(pcast_unit unit);

/* The operation on a float32 given as bits, every bit pattern included. A float32 result that is
 * NaN is 0x7FFFFFFF, but for fa4_poly3 and fa4_poly5 above 128, where integer addition makes
 * others. The caller's rounding mode, FTZ and DAZ neither matter nor change. Cannot fail. */
uint32_t pcast_unit_apply(pcast_unit unit, uint32_t bits);

#ifdef __cplusplus
}
#endif

#endif
