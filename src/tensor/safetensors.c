/* SPDX-License-Identifier: MIT */
/* Reading safetensors: the length of a header in 8 bytes, the header (JSON: under each tensor's
 * name its dtype, shape and range of bytes), the tensors' bytes, side by side in any order. */
#include "tensor/array.h"

#include "base/error.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* A file's parts, and where messages go. */
typedef struct container {
    const char *path;
    json_t *header;
    const uint8_t *data;
    size_t size; /* of data */
    pcast_error *err;
} container;

static pcast_status malformed(const container *file, const char *what)
{
    return pcast_fail(file->err, PCAST_ERR_INPUT, "%s: malformed safetensors header: %s",
                      file->path, what);
}

static pcast_status parse_header(const uint8_t *bytes, size_t size, container *file)
{
    json_error_t error;
    if (size < 8 || pcast_little_endian(bytes, 8) > size - 8)
        return pcast_fail(file->err, PCAST_ERR_INPUT, "%s: truncated in the safetensors header",
                          file->path);
    const size_t length = (size_t)pcast_little_endian(bytes, 8);
    file->header = json_loadb((const char *)bytes + 8, length, JSON_REJECT_DUPLICATES, &error);
    file->data = bytes + 8 + length;
    file->size = size - 8 - length;
    if (json_is_object(file->header))
        return PCAST_OK;
    if (file->header != NULL)
        return malformed(file, "no object");
    switch (json_error_code(&error)) {
    case json_error_out_of_memory:
        return pcast_fail(file->err, PCAST_ERR_MEMORY, "%s: out of memory", file->path);
    case json_error_duplicate_key:
        return malformed(file, "a repeated key");
    case json_error_numeric_overflow:
        return malformed(file, "a number that is too large");
    default:
        return malformed(file, "not JSON");
    }
}

static pcast_status parse_shape(const container *file, const json_t *shape, pcast_array *array)
{
    const json_t *value;
    size_t i;
    json_array_foreach(shape, i, value)
    {
        if (i == PCAST_RANK_MAX)
            return pcast_fail(file->err, PCAST_ERR_INPUT, "%s: more than 8 dimensions",
                              array->label);
        if (!json_is_integer(value) || json_integer_value(value) < 0)
            return pcast_fail(file->err, PCAST_ERR_INPUT,
                              "%s: shape holds something that is not a size", array->label);
        array->shape[i] = (size_t)json_integer_value(value);
    }
    array->rank = json_array_size(shape);
    return PCAST_OK;
}

/* One tensor's entry. Its dtype need not be known, as long as the tensor is not read. */
static pcast_status parse_entry(const container *file, const char *name, json_t *entry,
                                pcast_array *array)
{
    const char *dtype;
    const json_t *shape;
    json_int_t begin, end;
    *array = (pcast_array){0};
    snprintf(array->label, sizeof array->label, "%s:%s", file->path, name);
    if (json_unpack(entry, "{s:s, s:o, s:[I, I!]}", "dtype", &dtype, "shape", &shape,
                    "data_offsets", &begin, &end) != 0 ||
        !json_is_array(shape))
        return pcast_fail(file->err, PCAST_ERR_INPUT,
                          "%s: malformed safetensors header: no dtype, shape and data_offsets",
                          array->label);
    if (begin < 0 || end < begin || (uint64_t)end > file->size)
        return pcast_fail(file->err, PCAST_ERR_INPUT,
                          "%s: data_offsets %lld to %lld, the file holds %zu bytes of tensors",
                          array->label, (long long)begin, (long long)end, file->size);
    snprintf(array->dtype_name, sizeof array->dtype_name, "%s", dtype);
    for (size_t i = 0; i < pcast_dtype_count; i++)
        if (pcast_dtypes[i].safetensors != NULL && strcmp(pcast_dtypes[i].safetensors, dtype) == 0)
            array->dtype = &pcast_dtypes[i];
    array->bytes = file->data + begin;
    array->size = (size_t)(end - begin);
    const pcast_status status = parse_shape(file, shape, array);
    if (status != PCAST_OK || array->dtype == NULL)
        return status;
    array->format = array->dtype->format;
    size_t count;
    return pcast_array_check(array, &count, file->err);
}

/* The bytes of one tensor. */
typedef struct span {
    size_t begin, end;
    const char *name;
} span;

static int by_offsets(const void *a, const void *b)
{
    const span *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

/* No holes, no overlaps, nothing left at the end. */
static pcast_status check_spans(const container *file, span *spans, size_t count)
{
    size_t end = 0;
    qsort(spans, count, sizeof *spans, by_offsets);
    for (size_t i = 0; i < count; i++) {
        if (spans[i].begin != end)
            return pcast_fail(file->err, PCAST_ERR_INPUT,
                              "%s:%s: data_offsets begin at %zu, the tensors before end at %zu",
                              file->path, spans[i].name, spans[i].begin, end);
        end = spans[i].end;
    }
    if (end != file->size)
        return pcast_fail(file->err, PCAST_ERR_INPUT, "%s: %zu bytes after the last tensor",
                          file->path, file->size - end);
    return PCAST_OK;
}

/* Checks the metadata and takes it out, so that only tensors are left. */
static pcast_status drop_metadata(const container *file)
{
    static const char key[] = "__metadata__";
    json_t *metadata = json_object_get(file->header, key), *value;
    const char *name;
    int texts = metadata == NULL || json_is_object(metadata);
    json_object_foreach(metadata, name, value)
    {
        texts &= json_is_string(value);
    }
    json_object_del(file->header, key);
    return texts ? PCAST_OK : malformed(file, "__metadata__ is no dictionary of strings");
}

static pcast_status check_entries(const container *file)
{
    const char *name;
    json_t *entry;
    size_t count = 0;
    pcast_status status = PCAST_OK;
    span *spans = calloc(json_object_size(file->header) + 1, sizeof *spans);
    if (spans == NULL)
        return pcast_fail(file->err, PCAST_ERR_MEMORY, "%s: out of memory", file->path);
    json_object_foreach(file->header, name, entry)
    {
        pcast_array array;
        status = parse_entry(file, name, entry, &array);
        if (status != PCAST_OK)
            break;
        const size_t begin = (size_t)(array.bytes - file->data);
        spans[count++] = (span){begin, begin + array.size, name};
    }
    if (status == PCAST_OK)
        status = check_spans(file, spans, count);
    free(spans);
    return status;
}

/* The names the file has, as many as fit. */
static void list_names(const container *file, char *text, size_t size)
{
    const char *name;
    json_t *entry;
    size_t used = 0;
    text[0] = '\0';
    json_object_foreach(file->header, name, entry)
    {
        if (used + strlen(name) + sizeof ", , ..." > size) {
            snprintf(text + used, size - used, ", ...");
            return;
        }
        used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "", name);
    }
}

/* The name of the tensor that is meant. */
static pcast_status choose(const container *file, const char *entry, const char *name,
                           const char **chosen)
{
    char names[400];
    const size_t count = json_object_size(file->header);
    if (entry == NULL && name != NULL && json_object_get(file->header, name) != NULL)
        entry = name;
    else if (entry == NULL && count == 1)
        entry = json_object_iter_key(json_object_iter(file->header));
    *chosen = entry;
    if (entry != NULL && json_object_get(file->header, entry) != NULL)
        return PCAST_OK;
    list_names(file, names, sizeof names);
    if (count == 0)
        return pcast_fail(file->err, PCAST_ERR_INPUT, "%s: holds no tensor", file->path);
    if (entry != NULL)
        return pcast_fail(file->err, PCAST_ERR_INPUT, "%s: no tensor '%s'; it has %s", file->path,
                          entry, names);
    return pcast_fail(file->err, PCAST_ERR_INPUT, "%s: %zu tensors, name one as FILE:NAME: %s",
                      file->path, count, names);
}

pcast_status pcast_safetensors_locate(const uint8_t *bytes, size_t size, const char *path,
                                      const char *entry, const char *name, pcast_array *array,
                                      pcast_error *err)
{
    container file = {.path = path, .err = err};
    const char *chosen;
    pcast_status status = parse_header(bytes, size, &file);
    if (status == PCAST_OK)
        status = drop_metadata(&file);
    if (status == PCAST_OK)
        status = check_entries(&file);
    if (status == PCAST_OK)
        status = choose(&file, entry, name, &chosen);
    if (status == PCAST_OK)
        status = parse_entry(&file, chosen, json_object_get(file.header, chosen), array);
    json_decref(file.header);
    return status;
}

pcast_status pcast_safetensors_parse(const uint8_t *bytes, size_t size, const char *path,
                                     const char *entry, const char *name, pcast_tensor *tensor,
                                     pcast_error *err)
{
    pcast_array array;
    *tensor = (pcast_tensor){0};
    const pcast_status status =
        pcast_safetensors_locate(bytes, size, path, entry, name, &array, err);
    return status == PCAST_OK ? pcast_array_tensor(&array, tensor, err) : status;
}
