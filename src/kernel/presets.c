/* SPDX-License-Identifier: MIT */
/* One row a kernel. */
#include "kernel/presets.h"

const pcast_preset pcast_presets[] = {
    {
        .name = "paper",
        .kernel = {.order = PCAST_ORDER_FORWARD,
                   .block = 128,
                   .scale = 1.0f,
                   .overflow = PCAST_OVERFLOW_SATURATE,
                   .mask = PCAST_MASK_NONE},
        .source = "R. Lau, P-cast precision in FP8 attention, 2026, Algorithm 1",
    },
};

const size_t pcast_preset_count = sizeof pcast_presets / sizeof pcast_presets[0];
