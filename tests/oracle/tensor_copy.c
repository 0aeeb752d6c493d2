/* SPDX-License-Identifier: MIT */
/* tensor_copy FP8 IN OUT.npy OUT.safetensors: reads a tensor, codes as those of the format FP8, and
 * writes it as both kinds of file, as tensor "t" after a byte that would leave it unaligned. */
#include "pcast/tensor.h"

#include <stdlib.h>
#include <string.h>

static pcast_status copy(const pcast_tensor *tensor, const char *npy, const char *safetensors)
{
    const size_t one_shape[] = {1}, count = pcast_tensor_size(tensor);
    float one = 1, *values = calloc(count + 1, sizeof *values);
    if (values == NULL)
        return PCAST_ERR_MEMORY;
    pcast_tensor_get(tensor, 0, count, values);
    const pcast_entry both[2] = {
        {.name = "one", .format = PCAST_E4M3, .rank = 1, .shape = one_shape, .data = &one},
        {.name = "t",
         .format = tensor->format,
         .rank = tensor->rank,
         .shape = tensor->shape,
         .data = values}};
    FILE *first = fopen(npy, "wb"), *second = fopen(safetensors, "wb");
    if (first == NULL || second == NULL)
        return PCAST_ERR_OUTPUT;
    pcast_status status =
        pcast_npy_write(first, tensor->format, tensor->rank, tensor->shape, values);
    if (status == PCAST_OK)
        status = pcast_safetensors_write(second, both, 2);
    free(values);
    return fclose(first) != 0 || fclose(second) != 0 ? PCAST_ERR_OUTPUT : status;
}

int main(int argc, char **argv)
{
    pcast_format fp8 = PCAST_E4M3;
    pcast_tensor tensor;
    pcast_error err;
    if (argc != 5)
        return 2;
    while (fp8 < PCAST_E5M2FNUZ && strcmp(pcast_format_name(fp8), argv[1]) != 0)
        fp8++;
    if (pcast_tensor_read(argv[2], "t", fp8, &tensor, &err) != PCAST_OK) {
        fprintf(stderr, "%s\n", err.text);
        return 3;
    }
    const pcast_status status = copy(&tensor, argv[3], argv[4]);
    pcast_tensor_free(&tensor);
    return status == PCAST_OK ? 0 : 4;
}
