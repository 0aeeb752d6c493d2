/* SPDX-License-Identifier: MIT */
/* Random legitimate settings of kernels. */
#ifndef PCAST_TESTS_SETTINGS_H
#define PCAST_TESTS_SETTINGS_H

#include "pcast/kernel.h"

#include "unit.h"

#include <stdio.h>

/* A preset with some of its fields replaced by those of others, and numbers drawn; valid. */
static inline pcast_kernel draw_kernel(uint64_t *random, char spec[PCAST_SPEC_MAX])
{
    static const pcast_field numbers[] = {PCAST_FIELD_SCALE, PCAST_FIELD_BLOCK, PCAST_FIELD_SPLITS,
                                          PCAST_FIELD_QUERY_BLOCK};
    static const char *const values[4][6] = {{"1", "4", "16", "64", "256", "448"},
                                             {"16", "32", "64", "128", "192", "256"},
                                             {"1", "1", "1", "2", "3", "4"},
                                             {"1", "1", "16", "64", "128", "3"}};
    for (;;) {
        const size_t presets = pcast_preset_count();
        const pcast_preset *preset = pcast_preset_at(test_random(random) % presets);
        pcast_kernel kernel = preset->kernel;
        pcast_error err;
        int length = snprintf(spec, PCAST_SPEC_MAX, "%s", preset->name);
        for (int field = 0; field < PCAST_FIELD_COUNT; field++) {
            char text[128];
            if (test_random(random) % 8 != 0 || field == PCAST_FIELD_SINK_LOGIT ||
                field == PCAST_FIELD_P_FORMAT || field == PCAST_FIELD_SOFTCAP)
                continue;
            const pcast_kernel *other = &pcast_preset_at(test_random(random) % presets)->kernel;
            pcast_kernel_get(other, (pcast_field)field, text, sizeof text);
            for (size_t i = 0; i < 4; i++)
                if (numbers[i] == (pcast_field)field)
                    snprintf(text, sizeof text, "%s", values[i][test_random(random) % 6]);
            if (pcast_kernel_set(&kernel, (pcast_field)field, text, &err) == PCAST_OK)
                length += snprintf(spec + length, PCAST_SPEC_MAX - (size_t)length, ";%s=%s",
                                   pcast_field_name((pcast_field)field), text);
        }
        /* Sums, exponentials and accumulators must not overflow by themselves. */
        if (kernel.rescale_threshold <= 8 && kernel.scale <= 448 &&
            pcast_kernel_validate(&kernel, &err) == PCAST_OK)
            return kernel;
    }
}

/* A sum of more than 64 keys in FP16 must be declared. */
static inline int is_rash(const pcast_kernel *kernel)
{
    return kernel->accumulator == PCAST_ACCUMULATOR_FP16 &&
           (kernel->promotion == PCAST_PROMOTION_NEVER || kernel->block == 0 || kernel->block > 64);
}

#endif
