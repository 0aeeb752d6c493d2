/* SPDX-License-Identifier: MIT */
/* The special function unit, and the functions that nvcc makes of it, against the models of
 * hardware/units.h (docs/numerics.md, section 11).
 */
#include "cuda/probe.h"

#include "base/bits.h"
#include "hardware/units.h"

#include <inttypes.h>
#include <stdio.h>

enum { EX2, EX2_FULL, RCP, LG2, EXPF, EXPF_FAST };

static uint64_t compare(const pcast_probe *probe, uint32_t first, uint32_t step, uint32_t count,
                        const void *numbers, pcast_check_result *examples)
{
    static float (*const models[])(float) = {pcast_ex2_ftz, pcast_ex2,       pcast_rcp_ftz,
                                             pcast_lg2_ftz, pcast_cuda_expf, pcast_cuda_expf_fast};
    float (*const model)(float) = models[probe->choice];
    const uint32_t *device = numbers;
    uint64_t different = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t x = first + i * step;
        const uint32_t y = pcast_bits_f32(model(pcast_f32_from_bits(x)));
        if (y == device[i])
            continue;
        different++;
        char *input = examples != NULL ? pcast_check_add_example(examples, device[i], y) : NULL;
        if (input != NULL)
            sprintf(input, "0x%08" PRIX32, x);
    }
    return different;
}

static pcast_status scan(const char *kernel, int choice, pcast_cuda *cuda, int quick,
                         pcast_check_result *result, pcast_error *err)
{
    const pcast_probe probe = {kernel, sizeof(uint32_t), compare, choice, 1};
    return pcast_probe_scan(&probe, cuda, quick, result, err);
}

pcast_status pcast_probe_ex2(pcast_cuda *cuda, int quick, pcast_check_result *result,
                             pcast_error *err)
{
    return scan("pcast_probe_ex2", EX2, cuda, quick, result, err);
}

pcast_status pcast_probe_ex2_full(pcast_cuda *cuda, int quick, pcast_check_result *result,
                                  pcast_error *err)
{
    return scan("pcast_probe_ex2_full", EX2_FULL, cuda, quick, result, err);
}

pcast_status pcast_probe_rcp(pcast_cuda *cuda, int quick, pcast_check_result *result,
                             pcast_error *err)
{
    return scan("pcast_probe_rcp", RCP, cuda, quick, result, err);
}

pcast_status pcast_probe_lg2(pcast_cuda *cuda, int quick, pcast_check_result *result,
                             pcast_error *err)
{
    return scan("pcast_probe_lg2", LG2, cuda, quick, result, err);
}

pcast_status pcast_probe_expf(pcast_cuda *cuda, int quick, pcast_check_result *result,
                              pcast_error *err)
{
    return scan("pcast_probe_expf", EXPF, cuda, quick, result, err);
}

pcast_status pcast_probe_expf_fast(pcast_cuda *cuda, int quick, pcast_check_result *result,
                                   pcast_error *err)
{
    return scan("pcast_probe_expf_fast", EXPF_FAST, cuda, quick, result, err);
}
