/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a kernel gave for a golden suite. */
#include "golden.h"

#include "pcast/tensor.h"

#include <string.h>
#include <sys/stat.h>

static int join(char *text, size_t size, const char *folder, const char *id, const char *ending)
{
    return snprintf(text, size, "%s/%s%s", folder, id, ending) < (int)size;
}

/* "[1, 2, 4]" of up to PCAST_RANK_MAX sizes. */
static void shape_text(size_t rank, const size_t *shape, char text[256])
{
    int length = sprintf(text, "[");
    for (size_t i = 0; i < rank; i++)
        length += sprintf(text + length, "%s%zu", i > 0 ? ", " : "", shape[i]);
    sprintf(text + length, "]");
}

/* A dangling link is there, and cannot be read. */
static int is_there(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0;
}

/* Reads a tensor of so many elements in the last dimension's order of `shape`. */
static pcast_status read_output(const char *path, const char *name, const size_t *shape,
                                size_t rank, float **values, pcast_error *err)
{
    pcast_tensor tensor;
    pcast_status status = pcast_tensor_read(path, name, PCAST_E4M3, &tensor, err);
    if (status != PCAST_OK)
        return status;
    int same = tensor.rank == rank;
    for (size_t i = 0; same && i < rank; i++)
        same = tensor.shape[i] == shape[i];
    if (same) {
        *values = cli_alloc(pcast_tensor_size(&tensor), sizeof **values);
        pcast_tensor_get(&tensor, 0, pcast_tensor_size(&tensor), *values);
    } else {
        char own[256], wanted[256];
        shape_text(tensor.rank, tensor.shape, own);
        shape_text(rank, shape, wanted);
        snprintf(err->text, sizeof err->text, "%.400s: shape %s, expected %s", path, own, wanted);
        status = PCAST_ERR_INPUT;
    }
    pcast_tensor_free(&tensor);
    return status;
}

pcast_status golden_read_answer(const char *folder, const pcast_manifest_probe *probe, float **o,
                                float **lse, pcast_error *err)
{
    const size_t shape[] = {probe->batch, probe->heads, probe->queries, probe->dim};
    char path[4096], lse_path[4096];
    const char *o_name = NULL, *lse_name = NULL;
    if (!join(path, sizeof path, folder, probe->id, "_o.npy") ||
        !join(lse_path, sizeof lse_path, folder, probe->id, "_lse.npy")) {
        snprintf(err->text, sizeof err->text, "%.64s: path is too long", folder);
        return PCAST_ERR_INPUT;
    }
    if (!is_there(path)) {
        join(path, sizeof path, folder, probe->id, ".safetensors");
        memcpy(lse_path, path, sizeof path);
        o_name = "o";
        lse_name = "lse";
    }
    if (!is_there(path))
        return PCAST_OK;
    pcast_status status = read_output(path, o_name, shape, 4, o, err);
    if (status != PCAST_OK || (lse_name == NULL && !is_there(lse_path)))
        return status;
    return read_output(lse_path, lse_name, shape, 3, lse, err);
}
