/* SPDX-License-Identifier: MIT */
/* Reading any file that holds tensors: which part of a path is the file, and which format it has.
 */
#include "tensor/array.h"
#include "tensor/file.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is_stdin(const char *path)
{
    return strcmp(path, "-") == 0;
}

/* A copy of the path's file, and the name after it in *entry: FILE and NAME of FILE:NAME where
 * there is a FILE but none of the whole name, else the path and NULL. */
static char *split(const char *path, const char **entry)
{
    char *file = strdup(path), *colon = file != NULL ? strrchr(file, ':') : NULL;
    *entry = NULL;
    if (colon == NULL || access(path, F_OK) == 0)
        return file;
    *colon = '\0';
    if (is_stdin(file) || access(file, F_OK) == 0)
        *entry = path + (colon + 1 - file);
    else
        *colon = ':';
    return file;
}

static pcast_status locate(const uint8_t *bytes, size_t size, const char *path, const char *entry,
                           const char *name, pcast_format fp8, pcast_array *array, pcast_error *err)
{
    if (size >= 6 && memcmp(bytes, "\x93NUMPY", 6) == 0)
        return entry == NULL
                   ? pcast_npy_locate(bytes, size, path, fp8, array, err)
                   : pcast_fail(err, PCAST_ERR_INPUT,
                                "%s: an NPY file holds one tensor without a name, not '%s'", path,
                                entry);
    if (size > 8 && bytes[8] == '{')
        return pcast_safetensors_locate(bytes, size, path, entry, name, array, err);
    return pcast_fail(err, PCAST_ERR_INPUT, "%s: neither an NPY nor a safetensors file", path);
}

/* Finds the array and hands out the file that it points into, NULL after a failure. */
static pcast_status open_array(const char *path, const char *name, pcast_format fp8,
                               pcast_file **file, pcast_array *array, pcast_error *err)
{
    const char *entry;
    char *own_path = split(path, &entry);
    *file = NULL;
    if (own_path == NULL)
        return pcast_fail(err, PCAST_ERR_MEMORY, "%s: out of memory", path);
    pcast_status status = pcast_file_open(own_path, file, err);
    if (status == PCAST_OK)
        status =
            locate((*file)->bytes, (*file)->size, is_stdin(own_path) ? "standard input" : own_path,
                   entry, name, fp8, array, err);
    free(own_path);
    if (status != PCAST_OK) {
        pcast_file_close(*file);
        *file = NULL;
    }
    return status;
}

/* From an array to a tensor. */
typedef pcast_status array_reader(const pcast_array *array, pcast_tensor *tensor, pcast_error *err);

static pcast_status open_tensor(const char *path, const char *name, pcast_format fp8,
                                array_reader *reader, pcast_tensor *tensor, pcast_error *err)
{
    pcast_file *file;
    pcast_array array;
    *tensor = (pcast_tensor){0};
    pcast_status status = open_array(path, name, fp8, &file, &array, err);
    if (status == PCAST_OK)
        status = reader(&array, tensor, err);
    if (status == PCAST_OK)
        tensor->file = file;
    else
        pcast_file_close(file);
    return status;
}

pcast_status pcast_tensor_read(const char *path, const char *name, pcast_format fp8,
                               pcast_tensor *tensor, pcast_error *err)
{
    return open_tensor(path, name, fp8, pcast_array_tensor, tensor, err);
}

pcast_status pcast_codes_read(const char *path, const char *name, pcast_format fp8,
                              pcast_tensor *tensor, pcast_error *err)
{
    return open_tensor(path, name, fp8, pcast_array_codes, tensor, err);
}

pcast_status pcast_counts_read(const char *path, size_t **values, size_t *count, pcast_error *err)
{
    pcast_file *file;
    pcast_array array;
    *values = NULL;
    pcast_status status = open_array(path, NULL, PCAST_E4M3, &file, &array, err);
    if (status == PCAST_OK)
        status = pcast_array_counts(&array, values, count, err);
    pcast_file_close(file);
    return status;
}
