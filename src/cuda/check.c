/* SPDX-License-Identifier: MIT */
#include "cuda/check.h"

#include <stdio.h>
#include <string.h>

char *pcast_check_add_example(pcast_check_result *result, uint64_t device, uint64_t model)
{
    if (result->example_count == PCAST_CHECK_EXAMPLES)
        return NULL;
    pcast_check_example *example = &result->examples[result->example_count++];
    *example = (pcast_check_example){.device = device, .model = model};
    return example->input;
}

void pcast_check_add_count(pcast_check_result *result, const char *name, uint64_t value)
{
    int i = 0;
    while (i < result->count_count && strcmp(result->counts[i].name, name) != 0)
        i++;
    if (i == PCAST_CHECK_COUNTS)
        return;
    if (i == result->count_count)
        result->counts[result->count_count++] = (pcast_check_count){name, 0};
    result->counts[i].value += value;
}

static int is_nan_bits(uint32_t bits)
{
    return (bits & 0x7FFFFFFF) > 0x7F800000;
}

static uint32_t number_at(const void *numbers, size_t i, size_t width)
{
    uint32_t bits;
    if (width == 1)
        return ((const uint8_t *)numbers)[i];
    memcpy(&bits, (const char *)numbers + i * sizeof bits, sizeof bits);
    return bits;
}

void pcast_check_compare(pcast_check_result *result, pcast_check_numbers numbers)
{
    for (size_t i = 0; i < numbers.count; i++) {
        const uint32_t a = number_at(numbers.device, i, numbers.width);
        const uint32_t b = number_at(numbers.model, i, numbers.width);
        if (a == b || (numbers.nans_alike && is_nan_bits(a) && is_nan_bits(b)))
            continue;
        result->different++;
        char *input = pcast_check_add_example(result, a, b);
        if (input != NULL)
            snprintf(input, sizeof result->examples[0].input, "%s: %s, number %zu", numbers.name,
                     numbers.kind, i);
    }
    result->compared += numbers.count;
    pcast_check_add_count(result, numbers.kind, numbers.count);
}
