/* SPDX-License-Identifier: MIT */
/* Writing NPY and safetensors. */
#include "tensor/array.h"

#include "base/bits.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static void put_little_endian(FILE *stream, uint64_t value, size_t size)
{
    uint8_t bytes[8];
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
    fwrite(bytes, 1, size, stream);
}

enum { PIECE = 4096 }; /* numbers put together for one call of fwrite */

static void put_codes(FILE *stream, const uint32_t *codes, size_t width, size_t count)
{
    uint8_t bytes[4 * PIECE];
    for (size_t done = 0; done < count; done += PIECE) {
        const size_t here = count - done < PIECE ? count - done : PIECE;
        for (size_t i = 0; i < here; i++)
            for (size_t b = 0; b < width; b++)
                bytes[i * width + b] = (uint8_t)(codes[done + i] >> (8 * b));
        fwrite(bytes, width, here, stream);
    }
}

/* At most PIECE numbers of 8 or 16 bits. A bfloat16 NaN keeps what it carries where float32's lower
 * half is empty. */
static void put_piece(FILE *stream, pcast_format format, const float *data, size_t count)
{
    const pcast_cast keep = {PCAST_OVERFLOW_NAN, PCAST_INF_NAN, PCAST_NAN_KEEP_SIGN};
    uint16_t codes[PIECE];
    pcast_encode_array(format, codes, data, count, keep, pcast_cpu_detect());
    for (size_t i = 0; format == PCAST_BF16 && i < count; i++)
        if ((pcast_bits_f32(data[i]) & 0xFFFF) == 0)
            codes[i] = (uint16_t)(pcast_bits_f32(data[i]) >> 16);
    fwrite(codes, (size_t)pcast_format_width(format) / 8, count, stream);
}

/* Memory has the files' byte order (tensor.c asserts it). */
static void put_elements(FILE *stream, pcast_format format, const float *data, size_t count)
{
    if (format == PCAST_F32) {
        fwrite(data, sizeof *data, count, stream);
        return;
    }
    for (size_t done = 0; done < count; done += PIECE)
        put_piece(stream, format, data + done, count - done < PIECE ? count - done : PIECE);
}

/* The format's first dtype. */
static const pcast_dtype *dtype_of(pcast_format format)
{
    const pcast_dtype *dtype = pcast_dtypes;
    while (dtype->kind != PCAST_DTYPE_FLOAT || dtype->format != format)
        dtype++;
    return dtype;
}

static int writable(pcast_format format, size_t rank)
{
    return format != PCAST_F64 && rank <= PCAST_RANK_MAX;
}

static pcast_status written(FILE *stream)
{
    return ferror(stream) ? PCAST_ERR_OUTPUT : PCAST_OK;
}

/* Returns the number of elements that follow. */
static size_t put_npy_header(FILE *stream, const char *descr, size_t rank, const size_t *shape)
{
    enum { START = 10, ALIGNMENT = 64 }; /* magic, version and length; of the elements */
    char header[6 * ALIGNMENT];
    size_t count = 1;
    int length = sprintf(header, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
    for (size_t i = 0; i < rank; i++) {
        length += sprintf(header + length, i > 0 ? " %zu," : "%zu,", shape[i]);
        count *= shape[i];
    }
    length += sprintf(header + length, "), }");
    const int padding = ALIGNMENT - 1 - (START + length) % ALIGNMENT;
    length += sprintf(header + length, "%*s\n", padding, "");

    fwrite("\x93NUMPY\x01\x00", 1, 8, stream);
    put_little_endian(stream, (uint64_t)length, 2);
    fwrite(header, 1, (size_t)length, stream);
    return count;
}

static const char *npy_name(pcast_format format)
{
    return pcast_format_width(format) == 8 ? "|u1" : dtype_of(format)->npy;
}

pcast_status pcast_npy_write(FILE *stream, pcast_format format, size_t rank, const size_t *shape,
                             const float *data)
{
    if (!writable(format, rank))
        return PCAST_ERR_VALUE;
    const size_t count = put_npy_header(stream, npy_name(format), rank, shape);
    put_elements(stream, format, data, count);
    return written(stream);
}

pcast_status pcast_npy_write_codes(FILE *stream, pcast_format format, size_t rank,
                                   const size_t *shape, const uint32_t *codes)
{
    if (!writable(format, rank))
        return PCAST_ERR_VALUE;
    const size_t count = put_npy_header(stream, npy_name(format), rank, shape);
    put_codes(stream, codes, (size_t)pcast_format_width(format) / 8, count);
    return written(stream);
}

/* Do all fit into I32? */
static int countable(const size_t *values, size_t count)
{
    size_t i = 0;
    while (i < count && values[i] <= INT32_MAX)
        i++;
    return i == count;
}

static void put_counts(FILE *stream, const size_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        put_little_endian(stream, values[i], 4);
}

pcast_status pcast_npy_write_counts(FILE *stream, const size_t *values, size_t count)
{
    if (!countable(values, count))
        return PCAST_ERR_VALUE;
    put_npy_header(stream, "<i4", 1, &count);
    put_counts(stream, values, count);
    return written(stream);
}

static size_t width_of(const pcast_entry *entry)
{
    return entry->counts != NULL ? 4 : (size_t)pcast_format_width(entry->format) / 8;
}

static size_t count_of(const pcast_entry *entry)
{
    size_t count = 1;
    for (size_t i = 0; i < entry->rank; i++)
        count *= entry->shape[i];
    return count;
}

static pcast_status add_entry(json_t *header, const pcast_entry *entry, size_t *offset)
{
    const size_t end = *offset + count_of(entry) * width_of(entry);
    const char *dtype = entry->counts != NULL ? "I32" : dtype_of(entry->format)->safetensors;
    if (strcmp(entry->name, "__metadata__") == 0 || json_object_get(header, entry->name) != NULL)
        return PCAST_ERR_VALUE;
    json_t *shape = json_array();
    for (size_t i = 0; i < entry->rank; i++)
        json_array_append_new(shape, json_integer((json_int_t)entry->shape[i]));
    json_t *object = json_pack("{s:s, s:o, s:[I, I]}", "dtype", dtype, "shape", shape,
                               "data_offsets", (json_int_t)*offset, (json_int_t)end);
    if (object == NULL || json_array_size(shape) != entry->rank) {
        json_decref(object);
        return PCAST_ERR_MEMORY;
    }
    *offset = end;
    return json_object_set_new(header, entry->name, object) == 0 ? PCAST_OK : PCAST_ERR_VALUE;
}

static int entry_writable(const pcast_entry *entry)
{
    return entry->counts != NULL ? entry->rank == 1 && countable(entry->counts, entry->shape[0])
                                 : writable(entry->format, entry->rank);
}

/* Tensors lie by falling width, so that each is aligned; the order of those of one width is kept.
 */
static pcast_status fill_header(json_t *header, const pcast_entry *entries, size_t count)
{
    pcast_status status = PCAST_OK;
    size_t offset = 0;
    for (size_t i = 0; i < count; i++)
        if (!entry_writable(&entries[i]))
            return PCAST_ERR_VALUE;
    for (size_t width = 4; width > 0; width /= 2)
        for (size_t i = 0; status == PCAST_OK && i < count; i++)
            if (width_of(&entries[i]) == width)
                status = add_entry(header, &entries[i], &offset);
    return status;
}

pcast_status pcast_safetensors_write(FILE *stream, const pcast_entry *entries, size_t count)
{
    json_t *header = json_object();
    pcast_status status = fill_header(header, entries, count);
    char *text = status == PCAST_OK ? json_dumps(header, JSON_COMPACT) : NULL;
    json_decref(header);
    if (text == NULL)
        return status == PCAST_OK ? PCAST_ERR_MEMORY : status;
    const size_t length = (strlen(text) + 7) / 8 * 8;
    put_little_endian(stream, length, 8);
    fprintf(stream, "%-*s", (int)length, text);
    free(text);
    for (size_t width = 4; width > 0; width /= 2)
        for (size_t i = 0; i < count; i++) {
            if (width_of(&entries[i]) != width)
                continue;
            if (entries[i].counts != NULL)
                put_counts(stream, entries[i].counts, entries[i].shape[0]);
            else
                put_elements(stream, entries[i].format, entries[i].data, count_of(&entries[i]));
        }
    return written(stream);
}
