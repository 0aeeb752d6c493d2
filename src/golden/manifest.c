/* SPDX-License-Identifier: MIT */
/* A manifest's memory, and finding in it. */
#include "golden/manifest.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct pcast_manifest_block {
    struct pcast_manifest_block *next;
    max_align_t data[];
};

void *pcast_manifest_alloc(pcast_manifest *manifest, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) ||
        bytes > SIZE_MAX - sizeof(struct pcast_manifest_block))
        return NULL;
    struct pcast_manifest_block *block = calloc(1, sizeof *block + bytes);
    if (block == NULL)
        return NULL;
    block->next = manifest->memory;
    manifest->memory = block;
    return block->data;
}

const char *pcast_manifest_text(pcast_manifest *manifest, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = length >= 0 ? pcast_manifest_alloc(manifest, (size_t)length + 1, 1) : NULL;
    if (text == NULL)
        return NULL;
    va_start(args, format);
    vsnprintf(text, (size_t)length + 1, format, args);
    va_end(args);
    return text;
}

void pcast_manifest_free(pcast_manifest *manifest)
{
    for (struct pcast_manifest_block *block = manifest->memory, *next; block != NULL;
         block = next) {
        next = block->next;
        free(block);
    }
    *manifest = (pcast_manifest){0};
}

const pcast_manifest_probe *pcast_manifest_find(const pcast_manifest *manifest, const char *id)
{
    for (size_t i = 0; i < manifest->count; i++)
        if (strcmp(manifest->probes[i].id, id) == 0)
            return &manifest->probes[i];
    return NULL;
}

const char *pcast_input_name(pcast_input input)
{
    static const char *const names[] = {
        "safetensors", "q", "k", "v", "q_descale", "k_descale", "v_descale", "sink", "kv_lengths",
    };
    return names[input];
}
