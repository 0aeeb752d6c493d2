/* SPDX-License-Identifier: MIT */
/* Fuzz target: any text as a SPEC. What parses has fields that survive being written and read
 * again, and validates or is told why not. */
#include "pcast/kernel.h"

#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

/* Every field of a kernel, written as a SPEC writes it, gives the same text again. */
static void check_fields(const pcast_kernel *kernel)
{
    pcast_kernel copy = {.scale = 1};
    pcast_error err;
    for (int i = 0; i < PCAST_FIELD_COUNT; i++) {
        const pcast_field field = (pcast_field)i;
        char text[64], again[64];
        pcast_kernel_get(kernel, field, text, sizeof text);
        if (field == PCAST_FIELD_SCALE_LOG2 && kernel->scale_log2 == 0)
            continue; /* not given */
        if (pcast_kernel_set(&copy, field, text, &err) != PCAST_OK)
            abort();
        pcast_kernel_get(&copy, field, again, sizeof again);
        if (strcmp(text, again) != 0)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *spec = malloc(size + 1);
    pcast_kernel kernel;
    pcast_error err = {""};
    uint64_t given;
    memcpy(spec, data, size);
    spec[size] = '\0';
    if (pcast_kernel_parse(spec, &kernel, &given, &err) == PCAST_OK) {
        check_fields(&kernel);
        if (pcast_kernel_validate(&kernel, &err) == PCAST_OK)
            err.text[0] = '?';
    }
    if (err.text[0] == '\0')
        abort();
    free(spec);
    return 0;
}
