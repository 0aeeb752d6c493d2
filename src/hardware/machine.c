/* SPDX-License-Identifier: MIT */
/* The table of machines, and looking it up (docs/numerics.md, step 10.1). */
#include "hardware/machine.h"

#include "base/bits.h"

enum { IN_ALIGNMENT = 0, LATE = 1, AS_FP8 = 0, THROUGH_F16 = 1 };

#define RZ_E8M13                                                                                   \
    {                                                                                              \
        13, 0                                                                                      \
    }
#define RZ_FP32                                                                                    \
    {                                                                                              \
        23, 0                                                                                      \
    }
#define RNE_FP16                                                                                   \
    {                                                                                              \
        10, 1                                                                                      \
    }

const pcast_machine_row pcast_machines[PCAST_MACHINE_COUNT] = {
    [PCAST_MACHINE_ADA_MMA] =
        {"ada-mma", 16, 13, PCAST_DEAL_IN_ORDER, AS_FP8, IN_ALIGNMENT, RZ_E8M13, RNE_FP16,
         "MMA-Sim (arXiv 2511.10909); Khattak and Mikaitis (arXiv 2512.07004), L40S outputs with "
         "an accumulator reproduced"},
    [PCAST_MACHINE_HOPPER_WGMMA] =
        {"hopper-wgmma", 32, 13, PCAST_DEAL_IN_ORDER, AS_FP8, IN_ALIGNMENT, RZ_E8M13, RNE_FP16,
         "MMA-Sim (arXiv 2511.10909); Khattak and Mikaitis (arXiv 2512.07004), H100 and H200 "
         "outputs from a zero accumulator reproduced"},
    [PCAST_MACHINE_HOPPER_MMA] =
        {"hopper-mma", 16, 25, PCAST_DEAL_BY_FOURS, THROUGH_F16, LATE, RZ_FP32, RNE_FP16,
         "Khattak and Mikaitis (arXiv 2512.07004); NVIDIA in CUTLASS issue 1986"},
    [PCAST_MACHINE_BLACKWELL_TCGEN05] = {"blackwell-tcgen05", 32, 25, PCAST_DEAL_IN_ORDER, AS_FP8,
                                         IN_ALIGNMENT, RZ_FP32, RNE_FP16,
                                         "MMA-Sim (arXiv 2511.10909); DeepGEMM issue 176"},
};

const char *pcast_machine_name(pcast_machine machine)
{
    return pcast_machines[machine].name;
}

const char *pcast_machine_source(pcast_machine machine)
{
    return pcast_machines[machine].source;
}
