/* SPDX-License-Identifier: MIT */
/* Strict reading of a manifest's JSON: objects of known keys, values of known types and ranges. A
 * function that finds something wrong keeps the first message and returns a zero; callers go on or
 * stop as they like, as long as they ask reader->status in the end. */
#ifndef PCAST_GOLDEN_MANIFEST_JSON_H
#define PCAST_GOLDEN_MANIFEST_JSON_H

#include "golden/manifest.h"

#include <jansson.h>

typedef struct pcast_json_reader {
    const char *label;
    const char *probe; /* whose part is read; NULL: none */
    const char *part;  /* "faults: ", for messages; "" */
    pcast_manifest *manifest;
    pcast_status status;
    pcast_error *err;
} pcast_json_reader;

/* "LABEL: probe 'ID': PART..." */
void pcast_json_fail(pcast_json_reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void *pcast_json_alloc(pcast_json_reader *reader, size_t count, size_t size);

/* The value is an object with no key but those, which NULL ends. `name` says in messages what it
 * is. */
int pcast_json_object(pcast_json_reader *reader, const json_t *value, const char *name,
                      const char *const *keys);

/* The value under a key, NULL with a message where there is none. */
json_t *pcast_json_get(pcast_json_reader *reader, const json_t *object, const char *key);

/* Values under a key. A text is one line of at most 2000 bytes; an id is of [a-z0-9-] and at most
 * 64 bytes; a path stays in its folder. */
json_t *pcast_json_array(pcast_json_reader *reader, const json_t *object, const char *key,
                         size_t most);
size_t pcast_json_count(pcast_json_reader *reader, const json_t *object, const char *key,
                        size_t least, size_t most);
double pcast_json_number(pcast_json_reader *reader, const json_t *object, const char *key);
const char *pcast_json_text(pcast_json_reader *reader, const json_t *object, const char *key);
const char *pcast_json_id(pcast_json_reader *reader, const json_t *object, const char *key);
const char *pcast_json_path(pcast_json_reader *reader, const json_t *object, const char *key);

/* An array of texts; ids: each of them is one. */
const char **pcast_json_texts(pcast_json_reader *reader, const json_t *object, const char *key,
                              int ids, size_t *count);

#endif
