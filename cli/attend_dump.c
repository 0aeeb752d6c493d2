/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Intermediate results of attend, collected from the tiles of every row. */
#include "attend.h"

#include "base/bits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[DUMP_COUNT] = {"m", "l", "p", "p8", "o_tile"};

const char *attend_dump_name(int kind)
{
    return names[kind];
}

pcast_status attend_dump_choose(const cli_list *list, attend_dump *dump, pcast_error *err)
{
    *dump = (attend_dump){0};
    for (size_t i = 0; i < list->count; i++) {
        int kind = 0;
        while (kind < DUMP_COUNT && strcmp(list->items[i], names[kind]) != 0)
            kind++;
        if (kind == DUMP_COUNT) {
            snprintf(err->text, sizeof err->text, "'%.40s' is none of m, l, p, p8, o_tile",
                     list->items[i]);
            return PCAST_ERR_VALUE;
        }
        dump->wanted[kind] = 1;
    }
    return PCAST_OK;
}

/* Numbers of one row. */
static size_t row_size(const attend_dump *dump, int kind)
{
    if (kind == DUMP_P || kind == DUMP_P8)
        return dump->keys;
    return dump->blocks * (kind == DUMP_O_TILE ? dump->dim : 1);
}

pcast_status attend_dump_init(attend_dump *dump, const pcast_attend_shape *shape, size_t block,
                              pcast_error *err)
{
    dump->rows = shape->heads * shape->rows;
    dump->keys = shape->max_keys;
    dump->blocks = shape->blocks;
    dump->block = block;
    dump->dim = shape->value_dim;
    for (int kind = 0; kind < DUMP_COUNT; kind++) {
        const size_t size = dump->rows * row_size(dump, kind);
        if (!dump->wanted[kind])
            continue;
        dump->data[kind] = calloc(size > 0 ? size : 1, sizeof(float));
        if (dump->data[kind] == NULL) {
            snprintf(err->text, sizeof err->text, "--dump %s: out of memory for %zu numbers",
                     names[kind], size);
            return PCAST_ERR_MEMORY;
        }
        for (size_t i = 0; kind != DUMP_P && kind != DUMP_P8 && i < size; i++)
            ((float *)dump->data[kind])[i] = NAN;
    }
    return PCAST_OK;
}

/* NaNs all alike: their bits are the processor's. */
static void copy(float *to, const float *from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = pcast_plain_nan(from[i]);
}

void attend_dump_tile(void *context, size_t row, const pcast_tile *tile)
{
    const attend_dump *dump = context;
    const size_t block = tile->first_key / dump->block, at = row * dump->blocks + block;
    const size_t key = row * dump->keys + tile->first_key;
    float *const m = dump->data[DUMP_M], *const l = dump->data[DUMP_L];
    float *const p = dump->data[DUMP_P], *const o = dump->data[DUMP_O_TILE];
    uint32_t *const p8 = dump->data[DUMP_P8];
    if (m != NULL)
        m[at] = tile->m;
    if (l != NULL)
        copy(&l[at], &tile->l, 1);
    if (p != NULL)
        copy(p + key, tile->p, tile->count);
    if (p8 != NULL)
        memcpy(p8 + key, tile->p8, tile->count * sizeof *p8);
    if (o != NULL)
        copy(o + at * dump->dim, tile->o, dump->dim);
}

void attend_dump_free(attend_dump *dump)
{
    for (int kind = 0; kind < DUMP_COUNT; kind++)
        free(dump->data[kind]);
}
