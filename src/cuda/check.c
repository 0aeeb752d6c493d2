/* SPDX-License-Identifier: MIT */
#include "cuda/check.h"

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
