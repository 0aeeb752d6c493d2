/* SPDX-License-Identifier: MIT */
/* The table of single operations behind pcast/unit.h: names, functions, and the caller's
 * environment around them. The arithmetic is in the files beside this one, in math and in e4m3. */
#include "pcast/unit.h"

#include "base/bits.h"
#include "base/error.h"
#include "base/fpenv.h"
#include "hardware/sfu.h"
#include "hardware/units.h"
#include "math/math.h"

#include <string.h>

static float fa4_poly3(float x)
{
    return pcast_fa4_exp2(x, 3);
}

static float fa4_poly5(float x)
{
    return pcast_fa4_exp2(x, 5);
}

typedef struct operation {
    const char *name;
    float (*function)(float); /* NULL: the cast */
    int any_nan;              /* a NaN of the function's may have any bits */
} operation;

static const operation operations[PCAST_UNIT_COUNT] = {
    [PCAST_UNIT_EX2] = {"ex2", pcast_ex2_ftz, 0},
    [PCAST_UNIT_EX2_NOFTZ] = {"ex2_noftz", pcast_ex2, 0},
    [PCAST_UNIT_RCP] = {"rcp", pcast_rcp_ftz, 0},
    [PCAST_UNIT_LG2] = {"lg2", pcast_lg2_ftz, 0},
    [PCAST_UNIT_EXPF] = {"expf", pcast_cuda_expf, 0},
    [PCAST_UNIT_EXPF_FAST] = {"expf_fast", pcast_cuda_expf_fast, 0},
    [PCAST_UNIT_FA4_POLY3] = {"fa4_poly3", fa4_poly3, 0},
    [PCAST_UNIT_FA4_POLY5] = {"fa4_poly5", fa4_poly5, 0},
    [PCAST_UNIT_EXP] = {"exp", pcast_exp_f32, 1},
    [PCAST_UNIT_EXP2] = {"exp2", pcast_exp2_f32, 1},
    [PCAST_UNIT_LOG] = {"log", pcast_log_f32, 1},
    [PCAST_UNIT_LOG2] = {"log2", pcast_log2_f32, 1},
    [PCAST_UNIT_TANH] = {"tanh", pcast_tanh_f32, 1},
    [PCAST_UNIT_CVT_E4M3] = {"cvt_e4m3", NULL, 0},
};

const char *pcast_unit_name(pcast_unit unit)
{
    return operations[unit].name;
}

pcast_status pcast_unit_find(const char *name, pcast_unit *unit, pcast_error *err)
{
    for (int i = 0; i < PCAST_UNIT_COUNT; i++)
        if (strcmp(name, operations[i].name) == 0) {
            *unit = (pcast_unit)i;
            return PCAST_OK;
        }
    return pcast_fail(err, PCAST_ERR_VALUE, "'%s' is no unit", name);
}

pcast_format pcast_unit_result(pcast_unit unit)
{
    return unit == PCAST_UNIT_CVT_E4M3 ? PCAST_E4M3 : PCAST_F32;
}

uint32_t pcast_unit_apply(pcast_unit unit, uint32_t bits)
{
    const operation *chosen = &operations[unit];
    if (chosen->function == NULL)
        return (uint32_t)pcast_convert(PCAST_E4M3, PCAST_F32, bits, (pcast_cast){0});
    pcast_fpenv env;
    pcast_fpenv_enter(&env);
    const uint32_t y = pcast_bits_f32(chosen->function(pcast_f32_from_bits(bits)));
    pcast_fpenv_leave(&env);
    return chosen->any_nan && (y & 0x7FFFFFFF) > 0x7F800000 ? PCAST_NVIDIA_NAN : y;
}
