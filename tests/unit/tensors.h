/* SPDX-License-Identifier: MIT */
/* Files of tensors in a folder of the test's own, and values that were read. */
#ifndef PCAST_TESTS_TENSORS_H
#define PCAST_TESTS_TENSORS_H

#include "pcast/tensor.h"
#include "unit.h"

#include <stdlib.h>
#include <unistd.h>

/* Below where the test was started; setup and teardown of a group. */
static char folder[] = "pcast_tensor_XXXXXX";

static inline int enter_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL || chdir(folder) != 0;
}

static inline int leave_folder(void **state)
{
    (void)state;
    return chdir("..") != 0 || rmdir(folder) != 0;
}

static inline void write_bytes(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

static inline float value_of(const pcast_tensor *tensor, size_t index)
{
    float value;
    pcast_tensor_get(tensor, index, 1, &value);
    return value;
}

/* All values have the bits of the expected ones. */
static inline void assert_values(const pcast_tensor *tensor, const void *expected)
{
    const size_t count = pcast_tensor_size(tensor);
    float *values = malloc((count + 1) * sizeof *values);
    pcast_tensor_get(tensor, 0, count, values);
    assert_memory_equal(values, expected, count * sizeof *values);
    free(values);
}

#endif
