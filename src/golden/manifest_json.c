/* SPDX-License-Identifier: MIT */
/* Strict reading of JSON values. */
#include "golden/manifest_json.h"

#include "base/error.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>

enum { TEXT_MAX = 2000, ID_MAX = 64, LIST_MAX = 1000 };

void pcast_json_fail(pcast_json_reader *reader, const char *format, ...)
{
    char text[512];
    va_list args;
    if (reader->status != PCAST_OK)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (reader->probe != NULL)
        reader->status = pcast_fail(reader->err, PCAST_ERR_INPUT, "%s: probe '%s': %s%s",
                                    reader->label, reader->probe, reader->part, text);
    else
        reader->status =
            pcast_fail(reader->err, PCAST_ERR_INPUT, "%s: %s%s", reader->label, reader->part, text);
}

void *pcast_json_alloc(pcast_json_reader *reader, size_t count, size_t size)
{
    void *memory = pcast_manifest_alloc(reader->manifest, count, size);
    if (memory == NULL && reader->status == PCAST_OK)
        reader->status =
            pcast_fail(reader->err, PCAST_ERR_MEMORY, "%s: out of memory", reader->label);
    return memory;
}

int pcast_json_object(pcast_json_reader *reader, const json_t *value, const char *name,
                      const char *const *keys)
{
    const char *key;
    json_t *inner;
    if (value == NULL)
        return 0;
    if (!json_is_object(value)) {
        pcast_json_fail(reader, "%s: is no object", name);
        return 0;
    }
    json_object_foreach((json_t *)value, key, inner)
    {
        size_t i = 0;
        while (keys[i] != NULL && strcmp(keys[i], key) != 0)
            i++;
        if (keys[i] == NULL) {
            pcast_json_fail(reader, "%s: unknown key '%.64s'", name, key);
            return 0;
        }
    }
    return 1;
}

json_t *pcast_json_get(pcast_json_reader *reader, const json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    if (value == NULL)
        pcast_json_fail(reader, "%s: is missing", key);
    return value;
}

json_t *pcast_json_array(pcast_json_reader *reader, const json_t *object, const char *key,
                         size_t most)
{
    json_t *value = pcast_json_get(reader, object, key);
    if (value == NULL)
        return NULL;
    if (!json_is_array(value)) {
        pcast_json_fail(reader, "%s: is no array", key);
        return NULL;
    }
    if (json_array_size(value) > most) {
        pcast_json_fail(reader, "%s: more than %zu elements", key, most);
        return NULL;
    }
    return value;
}

size_t pcast_json_count(pcast_json_reader *reader, const json_t *object, const char *key,
                        size_t least, size_t most)
{
    const json_t *value = pcast_json_get(reader, object, key);
    if (value == NULL)
        return 0;
    if (json_is_integer(value) && json_integer_value(value) >= (json_int_t)least &&
        json_integer_value(value) <= (json_int_t)most)
        return (size_t)json_integer_value(value);
    pcast_json_fail(reader, "%s: is no whole number from %zu to %zu", key, least, most);
    return 0;
}

double pcast_json_number(pcast_json_reader *reader, const json_t *object, const char *key)
{
    const json_t *value = pcast_json_get(reader, object, key);
    if (value != NULL && !json_is_number(value))
        pcast_json_fail(reader, "%s: is no number", key);
    return json_number_value(value);
}

/* A copy of a text, or NULL and a message. */
static const char *take_text(pcast_json_reader *reader, const json_t *value, const char *name)
{
    if (value == NULL)
        return NULL;
    if (!json_is_string(value)) {
        pcast_json_fail(reader, "%s: is no text", name);
        return NULL;
    }
    const char *text = json_string_value(value);
    const size_t length = strlen(text);
    if (length > TEXT_MAX) {
        pcast_json_fail(reader, "%s: longer than %d bytes", name, TEXT_MAX);
        return NULL;
    }
    for (const char *c = text; *c != '\0'; c++)
        if (iscntrl((unsigned char)*c)) {
            pcast_json_fail(reader, "%s: holds a control character", name);
            return NULL;
        }
    char *copy = pcast_json_alloc(reader, length + 1, 1);
    return copy != NULL ? memcpy(copy, text, length) : NULL;
}

static const char *take_id(pcast_json_reader *reader, const json_t *value, const char *name)
{
    const char *id = take_text(reader, value, name);
    if (id == NULL)
        return NULL;
    const size_t length = strlen(id);
    if (length > 0 && length <= ID_MAX &&
        strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789-") == length)
        return id;
    pcast_json_fail(reader, "%s: '%.64s' is not made of a-z, 0-9 and -, 1 to %d of them", name, id,
                    ID_MAX);
    return NULL;
}

const char *pcast_json_text(pcast_json_reader *reader, const json_t *object, const char *key)
{
    return take_text(reader, pcast_json_get(reader, object, key), key);
}

const char *pcast_json_id(pcast_json_reader *reader, const json_t *object, const char *key)
{
    return take_id(reader, pcast_json_get(reader, object, key), key);
}

/* Relative, and no part of it is "..". */
static int stays_inside(const char *path)
{
    if (path[0] == '\0' || path[0] == '/')
        return 0;
    for (const char *part = path; part != NULL; part = strchr(part, '/')) {
        part += part[0] == '/';
        if (part[0] == '.' && part[1] == '.' && (part[2] == '/' || part[2] == '\0'))
            return 0;
    }
    return 1;
}

const char *pcast_json_path(pcast_json_reader *reader, const json_t *object, const char *key)
{
    const char *path = pcast_json_text(reader, object, key);
    if (path == NULL || stays_inside(path))
        return path;
    pcast_json_fail(reader, "%s: '%.200s' is no path within the suite's folder", key, path);
    return NULL;
}

const char **pcast_json_texts(pcast_json_reader *reader, const json_t *object, const char *key,
                              int ids, size_t *count)
{
    const json_t *array = pcast_json_array(reader, object, key, LIST_MAX), *value;
    size_t i;
    *count = 0;
    if (array == NULL)
        return NULL;
    const char **texts = pcast_json_alloc(reader, json_array_size(array), sizeof *texts);
    if (texts == NULL)
        return NULL;
    json_array_foreach(array, i, value)
    {
        texts[i] = ids ? take_id(reader, value, key) : take_text(reader, value, key);
    }
    *count = reader->status == PCAST_OK ? i : 0;
    return texts;
}
