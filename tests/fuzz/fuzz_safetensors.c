/* SPDX-License-Identifier: MIT */
/* Fuzz target: any bytes as a safetensors file, by either way of choosing a tensor. */
#include "fuzz.h"
#include "fuzz_tensor.h"

static void parse(const uint8_t *data, size_t size, const char *entry, const char *name)
{
    pcast_tensor tensor;
    pcast_error err = {""};
    const pcast_status status =
        pcast_safetensors_parse(data, size, "fuzz", entry, name, &tensor, &err);
    fuzz_check_tensor(status, &tensor, size, &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    parse(data, size, NULL, "q");
    parse(data, size, "k", NULL);
    return 0;
}
