/* SPDX-License-Identifier: MIT */
/* Reading NPY, the format of numpy.save: a magic string, a version, the length of a header, the
 * header (a Python dictionary in text with the keys descr, fortran_order and shape), the elements.
 */
#include "pcast/tensor.h"

#include "base/bits.h"
#include "base/error.h"
#include "pcast/format.h"
#include "tensor/file.h"

#include <stdlib.h>
#include <string.h>

typedef enum npy_dtype { NPY_F32, NPY_F16, NPY_BF16 } npy_dtype;

typedef struct npy_header {
    npy_dtype dtype;
    int has_descr, has_order, has_shape;
    size_t rank;
    size_t shape[PCAST_RANK_MAX];
} npy_header;

/* What is left of the header's text, and where messages go. */
typedef struct cursor {
    const char *text, *end;
    const char *name;
    pcast_error *err;
} cursor;

static pcast_status malformed(const cursor *at, const char *what)
{
    return pcast_fail(at->err, PCAST_ERR_INPUT, "%s: malformed NPY header: %s", at->name, what);
}

static void skip_space(cursor *at)
{
    while (at->text < at->end && strchr(" \t\n", *at->text) != NULL && *at->text != '\0')
        at->text++;
}

/* Takes the character c after spaces, if it is next. */
static int take(cursor *at, char c)
{
    skip_space(at);
    if (at->text == at->end || *at->text != c)
        return 0;
    at->text++;
    return 1;
}

/* A quoted string without escapes. */
static int take_string(cursor *at, const char **string, size_t *length)
{
    skip_space(at);
    if (at->text == at->end || (*at->text != '\'' && *at->text != '"'))
        return 0;
    const char quote = *at->text++;
    const char *close = memchr(at->text, quote, (size_t)(at->end - at->text));
    if (close == NULL)
        return 0;
    *string = at->text;
    *length = (size_t)(close - at->text);
    at->text = close + 1;
    return 1;
}

static int take_word(cursor *at, const char *word)
{
    skip_space(at);
    const size_t length = strlen(word);
    if ((size_t)(at->end - at->text) < length || memcmp(at->text, word, length) != 0)
        return 0;
    at->text += length;
    return 1;
}

static int take_size(cursor *at, size_t *size)
{
    skip_space(at);
    const char *start = at->text;
    *size = 0;
    for (; at->text < at->end && *at->text >= '0' && *at->text <= '9'; at->text++)
        if (__builtin_mul_overflow(*size, (size_t)10, size) ||
            __builtin_add_overflow(*size, (size_t)(*at->text - '0'), size))
            return 0;
    return at->text > start;
}

static pcast_status parse_descr(cursor *at, npy_header *header)
{
    static const struct {
        const char *descr;
        npy_dtype dtype;
    } known[] = {{"<f4", NPY_F32},
                 {"<f2", NPY_F16},
                 {"<u2", NPY_BF16},
                 {"|V2", NPY_BF16},
                 {"<V2", NPY_BF16}};
    const char *descr;
    size_t length;
    if (take(at, '['))
        return pcast_fail(at->err, PCAST_ERR_INPUT, "%s: a structured NPY dtype holds no tensor",
                          at->name);
    if (!take_string(at, &descr, &length))
        return malformed(at, "descr is not a string");
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strlen(known[i].descr) == length && memcmp(known[i].descr, descr, length) == 0) {
            header->dtype = known[i].dtype;
            header->has_descr = 1;
            return PCAST_OK;
        }
    const char *kind = length > 1 && descr[1] == 'O'   ? " (Python objects)"
                       : length > 0 && descr[0] == '>' ? " (big-endian)"
                                                       : "";
    return pcast_fail(at->err, PCAST_ERR_INPUT,
                      "%s: dtype '%.*s'%s is not float32, float16, or bfloat16 stored as uint16",
                      at->name, (int)(length < 40 ? length : 40), descr, kind);
}

static pcast_status parse_order(cursor *at, npy_header *header)
{
    if (take_word(at, "True"))
        return pcast_fail(at->err, PCAST_ERR_INPUT,
                          "%s: Fortran order; save it with numpy.ascontiguousarray", at->name);
    if (!take_word(at, "False"))
        return malformed(at, "fortran_order is neither True nor False");
    header->has_order = 1;
    return PCAST_OK;
}

static pcast_status parse_shape(cursor *at, npy_header *header)
{
    if (!take(at, '('))
        return malformed(at, "shape is not a tuple");
    while (!take(at, ')')) {
        if (header->rank == PCAST_RANK_MAX)
            return malformed(at, "more than 8 dimensions");
        if (!take_size(at, &header->shape[header->rank]))
            return malformed(at, "shape holds something that is not a size");
        header->rank++;
        if (!take(at, ',') && (at->text == at->end || *at->text != ')'))
            return malformed(at, "shape is not a tuple");
    }
    header->has_shape = 1;
    return PCAST_OK;
}

static pcast_status parse_entry(cursor *at, npy_header *header)
{
    const char *key;
    size_t length;
    if (!take_string(at, &key, &length) || !take(at, ':'))
        return malformed(at, "not a dictionary of strings");
    if (length == 5 && memcmp(key, "descr", 5) == 0 && !header->has_descr)
        return parse_descr(at, header);
    if (length == 13 && memcmp(key, "fortran_order", 13) == 0 && !header->has_order)
        return parse_order(at, header);
    if (length == 5 && memcmp(key, "shape", 5) == 0 && !header->has_shape)
        return parse_shape(at, header);
    return malformed(at, "an unknown or repeated key");
}

static pcast_status parse_header(cursor *at, npy_header *header)
{
    pcast_status status = PCAST_OK;
    if (!take(at, '{'))
        return malformed(at, "not a dictionary");
    while (status == PCAST_OK && !take(at, '}')) {
        status = parse_entry(at, header);
        if (status == PCAST_OK && !take(at, ',') && (at->text == at->end || *at->text != '}'))
            status = malformed(at, "not a dictionary");
    }
    if (status == PCAST_OK && !(header->has_descr && header->has_order && header->has_shape))
        status = malformed(at, "descr, fortran_order or shape is missing");
    return status;
}

/* Number of elements, or 0 with *overflow set. */
static size_t element_count(const npy_header *header, int *overflow)
{
    size_t count = 1;
    *overflow = 0;
    for (size_t i = 0; i < header->rank; i++)
        if (__builtin_mul_overflow(count, header->shape[i], &count))
            *overflow = 1;
    return *overflow ? 0 : count;
}

static uint32_t little_endian(const uint8_t *bytes, size_t size)
{
    uint32_t value = 0;
    for (size_t i = 0; i < size; i++)
        value |= (uint32_t)bytes[i] << (8 * i);
    return value;
}

static float element(npy_dtype dtype, const uint8_t *bytes)
{
    if (dtype == NPY_F32)
        return pcast_f32_from_bits(little_endian(bytes, 4));
    const uint32_t bits = little_endian(bytes, 2);
    if (dtype == NPY_BF16)
        return pcast_f32_from_bits(bits << 16);
    return pcast_decode_f32(PCAST_F16, bits);
}

static pcast_status read_elements(const uint8_t *bytes, size_t size, const npy_header *header,
                                  const char *name, pcast_tensor *tensor, pcast_error *err)
{
    const size_t width = header->dtype == NPY_F32 ? 4 : 2;
    int overflow;
    const size_t count = element_count(header, &overflow);
    if (overflow || count > size / width)
        return pcast_fail(err, PCAST_ERR_INPUT,
                          "%s: truncated: %zu bytes of elements, the shape needs more", name, size);
    if (count * width != size)
        return pcast_fail(err, PCAST_ERR_INPUT, "%s: %zu bytes after the %zu elements of its shape",
                          name, size - count * width, count);
    tensor->data = malloc((count > 0 ? count : 1) * sizeof *tensor->data);
    if (tensor->data == NULL)
        return pcast_fail(err, PCAST_ERR_MEMORY, "%s: out of memory for %zu elements", name, count);
    for (size_t i = 0; i < count; i++)
        tensor->data[i] = element(header->dtype, bytes + i * width);
    tensor->rank = header->rank;
    memcpy(tensor->shape, header->shape, sizeof tensor->shape);
    return PCAST_OK;
}

pcast_status pcast_npy_parse(const uint8_t *bytes, size_t size, const char *name,
                             pcast_tensor *tensor, pcast_error *err)
{
    *tensor = (pcast_tensor){0};
    if (size < 10 || memcmp(bytes, "\x93NUMPY", 6) != 0)
        return pcast_fail(err, PCAST_ERR_INPUT, "%s: not an NPY file", name);
    const int major = bytes[6];
    if (major < 1 || major > 3)
        return pcast_fail(err, PCAST_ERR_INPUT, "%s: NPY version %d.%d is not known", name, major,
                          bytes[7]);
    const size_t length_bytes = major == 1 ? 2 : 4;
    if (size < 8 + length_bytes)
        return pcast_fail(err, PCAST_ERR_INPUT, "%s: truncated in the NPY header", name);
    const size_t length = little_endian(bytes + 8, length_bytes);
    const size_t start = 8 + length_bytes;
    if (length > size - start)
        return pcast_fail(err, PCAST_ERR_INPUT, "%s: truncated in the NPY header", name);

    const char *text = (const char *)bytes + start;
    cursor at = {text, text + length, name, err};
    npy_header header = {0};
    const pcast_status status = parse_header(&at, &header);
    if (status != PCAST_OK)
        return status;
    return read_elements(bytes + start + length, size - start - length, &header, name, tensor, err);
}

pcast_status pcast_npy_read(const char *path, pcast_tensor *tensor, pcast_error *err)
{
    uint8_t *bytes;
    size_t size;
    *tensor = (pcast_tensor){0};
    pcast_status status = pcast_file_read(path, &bytes, &size, err);
    if (status != PCAST_OK)
        return status;
    status =
        pcast_npy_parse(bytes, size, strcmp(path, "-") == 0 ? "standard input" : path, tensor, err);
    free(bytes);
    return status;
}
