/* SPDX-License-Identifier: MIT */
/* Fuzz target: any text as a SPEC. What parses must also validate. */
#include "pcast/kernel.h"

#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *spec = malloc(size + 1);
    pcast_kernel kernel;
    pcast_error err = {""};
    unsigned given;
    memcpy(spec, data, size);
    spec[size] = '\0';
    if (pcast_kernel_parse(spec, &kernel, &given, &err) == PCAST_OK) {
        if (pcast_kernel_validate(&kernel, &err) != PCAST_OK)
            abort();
    } else if (err.text[0] == '\0') {
        abort();
    }
    free(spec);
    return 0;
}
