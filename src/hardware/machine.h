/* SPDX-License-Identifier: MIT */
/* What differs between the tensor cores: one table row a machine (docs/numerics.md, section 10). */
#ifndef PCAST_HARDWARE_MACHINE_H
#define PCAST_HARDWARE_MACHINE_H

#include "pcast/tensor_core.h"

/* A format that results are rounded to: `fraction` bits behind the point, toward zero or to
 * nearest even. */
typedef struct pcast_result_rounding {
    int fraction;
    int nearest;
} pcast_result_rounding;

/* How the 32 k of an instruction are dealt to its steps. */
typedef enum pcast_deal {
    PCAST_DEAL_IN_ORDER, /* the first L, then the next L */
    PCAST_DEAL_BY_FOURS, /* k mod 4 in {0, 1}, then k mod 4 in {2, 3} */
} pcast_deal;

typedef struct pcast_machine_row {
    const char *name;
    int products; /* L, of one step; an instruction has 32 / L steps */
    int fraction; /* F, bits kept below the largest exponent */
    pcast_deal deal;
    int through_f16;      /* FP8 inputs are converted to FP16 and multiplied as such */
    int late_accumulator; /* added after the steps, which start from zero; else in the first */
    pcast_result_rounding f32, f16; /* of each step's result, by output */
    const char *source;
} pcast_machine_row;

extern const pcast_machine_row pcast_machines[PCAST_MACHINE_COUNT];

#endif
