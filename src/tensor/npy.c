/* SPDX-License-Identifier: MIT */
/* Reading NPY, the format of numpy.save: a magic string, a version, the length of a header, the
 * header (a Python dictionary in text with the keys descr, fortran_order and shape), the elements.
 */
#include "tensor/array.h"

#include "base/error.h"

#include <string.h>

/* What is left of the header's text, what was found in it, and where messages go. */
typedef struct cursor {
    const char *text, *end;
    const char *path;
    int has_descr, has_order, has_shape;
    pcast_array *array;
    pcast_error *err;
} cursor;

static pcast_status malformed(const cursor *at, const char *what)
{
    return pcast_fail(at->err, PCAST_ERR_INPUT, "%s: malformed NPY header: %s", at->path, what);
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

static pcast_status parse_descr(cursor *at)
{
    pcast_array *array = at->array;
    const char *descr;
    size_t length;
    if (take(at, '['))
        return pcast_fail(at->err, PCAST_ERR_INPUT, "%s: a structured NPY dtype holds no tensor",
                          at->path);
    if (!take_string(at, &descr, &length))
        return malformed(at, "descr is not a string");
    snprintf(array->dtype_name, sizeof array->dtype_name, "%.*s", (int)(length < 40 ? length : 40),
             descr);
    for (size_t i = 0; i < pcast_dtype_count; i++) {
        const char *known = pcast_dtypes[i].npy;
        if (known != NULL && strlen(known) == length && memcmp(known, descr, length) == 0)
            array->dtype = &pcast_dtypes[i];
    }
    at->has_descr = 1;
    return PCAST_OK;
}

static pcast_status parse_order(cursor *at)
{
    if (take_word(at, "True"))
        return pcast_fail(at->err, PCAST_ERR_INPUT,
                          "%s: Fortran order; save it with numpy.ascontiguousarray", at->path);
    if (!take_word(at, "False"))
        return malformed(at, "fortran_order is neither True nor False");
    at->has_order = 1;
    return PCAST_OK;
}

static pcast_status parse_shape(cursor *at)
{
    pcast_array *array = at->array;
    if (!take(at, '('))
        return malformed(at, "shape is not a tuple");
    while (!take(at, ')')) {
        if (array->rank == PCAST_RANK_MAX)
            return malformed(at, "more than 8 dimensions");
        if (!take_size(at, &array->shape[array->rank]))
            return malformed(at, "shape holds something that is not a size");
        array->rank++;
        if (!take(at, ',') && (at->text == at->end || *at->text != ')'))
            return malformed(at, "shape is not a tuple");
    }
    at->has_shape = 1;
    return PCAST_OK;
}

static pcast_status parse_entry(cursor *at)
{
    const char *key;
    size_t length;
    if (!take_string(at, &key, &length) || !take(at, ':'))
        return malformed(at, "not a dictionary of strings");
    if (length == 5 && memcmp(key, "descr", 5) == 0 && !at->has_descr)
        return parse_descr(at);
    if (length == 13 && memcmp(key, "fortran_order", 13) == 0 && !at->has_order)
        return parse_order(at);
    if (length == 5 && memcmp(key, "shape", 5) == 0 && !at->has_shape)
        return parse_shape(at);
    return malformed(at, "an unknown or repeated key");
}

static pcast_status parse_header(cursor *at)
{
    pcast_status status = PCAST_OK;
    if (!take(at, '{'))
        return malformed(at, "not a dictionary");
    while (status == PCAST_OK && !take(at, '}')) {
        status = parse_entry(at);
        if (status == PCAST_OK && !take(at, ',') && (at->text == at->end || *at->text != '}'))
            status = malformed(at, "not a dictionary");
    }
    if (status == PCAST_OK && !(at->has_descr && at->has_order && at->has_shape))
        status = malformed(at, "descr, fortran_order or shape is missing");
    return status;
}

pcast_status pcast_npy_locate(const uint8_t *bytes, size_t size, const char *path, pcast_format fp8,
                              pcast_array *array, pcast_error *err)
{
    *array = (pcast_array){0};
    snprintf(array->label, sizeof array->label, "%s", path);
    if (pcast_format_width(fp8) != 8)
        return pcast_fail(err, PCAST_ERR_VALUE, "fp8: %s has %d bits", pcast_format_name(fp8),
                          pcast_format_width(fp8));
    if (size < 10 || memcmp(bytes, "\x93NUMPY", 6) != 0)
        return pcast_fail(err, PCAST_ERR_INPUT, "%s: not an NPY file", path);
    const int major = bytes[6];
    if (major < 1 || major > 3)
        return pcast_fail(err, PCAST_ERR_INPUT, "%s: NPY version %d.%d is not known", path, major,
                          bytes[7]);
    const size_t length_bytes = major == 1 ? 2 : 4, start = 8 + length_bytes;
    if (size < start || pcast_little_endian(bytes + 8, length_bytes) > size - start)
        return pcast_fail(err, PCAST_ERR_INPUT, "%s: truncated in the NPY header", path);
    const size_t length = (size_t)pcast_little_endian(bytes + 8, length_bytes);

    const char *text = (const char *)bytes + start;
    cursor at = {.text = text, .end = text + length, .path = path, .array = array, .err = err};
    const pcast_status status = parse_header(&at);
    if (array->dtype != NULL)
        array->format = array->dtype->kind == PCAST_DTYPE_FP8 ? fp8 : array->dtype->format;
    array->bytes = bytes + start + length;
    array->size = size - start - length;
    return status;
}

pcast_status pcast_npy_parse(const uint8_t *bytes, size_t size, const char *path, pcast_format fp8,
                             pcast_tensor *tensor, pcast_error *err)
{
    pcast_array array;
    *tensor = (pcast_tensor){0};
    const pcast_status status = pcast_npy_locate(bytes, size, path, fp8, &array, err);
    return status == PCAST_OK ? pcast_array_tensor(&array, tensor, err) : status;
}
