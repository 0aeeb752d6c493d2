/* SPDX-License-Identifier: MIT */
/* Fuzz target: any bytes as an NPY file. */
#include "fuzz.h"
#include "fuzz_tensor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pcast_tensor tensor;
    pcast_error err = {""};
    const pcast_status status = pcast_npy_parse(data, size, "fuzz", PCAST_E5M2, &tensor, &err);
    fuzz_check_tensor(status, &tensor, size, &err);
    return 0;
}
