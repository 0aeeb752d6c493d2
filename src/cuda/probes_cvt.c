/* SPDX-License-Identifier: MIT */
/* The conversion of pairs to FP8 against the codec (docs/numerics.md, section 2). */
#include "cuda/probe.h"

#include "base/bits.h"
#include "cuda/probe_inputs.h"
#include "pcast/format.h"

#include <inttypes.h>
#include <stdio.h>

enum { GROUP = 4096 };

static void add_example(pcast_check_result *examples, const char *half, uint32_t x, unsigned device,
                        unsigned model)
{
    char *input = pcast_check_add_example(examples, device, model);
    if (input != NULL)
        sprintf(input, "0x%08" PRIX32 " in the %s half", x, half);
}

/* At most GROUP pairs. */
static uint64_t compare_group(pcast_format format, uint32_t first, uint32_t step, uint32_t count,
                              const uint16_t *device, pcast_check_result *examples)
{
    float lower[GROUP], upper[GROUP];
    uint8_t lower_codes[GROUP], upper_codes[GROUP];
    uint64_t different = 0;
    for (uint32_t i = 0; i < count; i++) {
        lower[i] = pcast_f32_from_bits(first + i * step);
        upper[i] = pcast_f32_from_bits(pcast_probe_partner(first + i * step));
    }
    const pcast_cpu cpu = pcast_cpu_detect();
    pcast_encode_array(format, lower_codes, lower, count, (pcast_cast){0}, cpu);
    pcast_encode_array(format, upper_codes, upper, count, (pcast_cast){0}, cpu);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t x = first + i * step;
        const unsigned low = device[i] & 0xFF, high = device[i] >> 8;
        different += (uint64_t)(low != lower_codes[i]) + (uint64_t)(high != upper_codes[i]);
        if (examples != NULL && low != lower_codes[i])
            add_example(examples, "lower", x, low, lower_codes[i]);
        if (examples != NULL && high != upper_codes[i])
            add_example(examples, "upper", pcast_probe_partner(x), high, upper_codes[i]);
    }
    return different;
}

static uint64_t compare(const pcast_probe *probe, uint32_t first, uint32_t step, uint32_t count,
                        const void *numbers, pcast_check_result *examples)
{
    const uint16_t *device = numbers;
    uint64_t different = 0;
    for (uint32_t i = 0; i < count; i += GROUP) {
        const uint32_t left = count - i < GROUP ? count - i : GROUP;
        different += compare_group((pcast_format)probe->choice, first + i * step, step, left,
                                   device + i, examples);
    }
    return different;
}

pcast_status pcast_probe_cvt_e4m3(pcast_cuda *cuda, int quick, pcast_check_result *result,
                                  pcast_error *err)
{
    static const pcast_probe probe = {"pcast_probe_cvt_e4m3", 2, compare, PCAST_E4M3, 2};
    return pcast_probe_scan(&probe, cuda, quick, result, err);
}

pcast_status pcast_probe_cvt_e5m2(pcast_cuda *cuda, int quick, pcast_check_result *result,
                                  pcast_error *err)
{
    static const pcast_probe probe = {"pcast_probe_cvt_e5m2", 2, compare, PCAST_E5M2, 2};
    return pcast_probe_scan(&probe, cuda, quick, result, err);
}
