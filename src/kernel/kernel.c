/* SPDX-License-Identifier: MIT */
/* Field names, parsing of values and SPECs, validation. */
#include "pcast/kernel.h"

#include "base/bits.h"
#include "base/error.h"
#include "base/fpenv.h"
#include "kernel/presets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Words a field may take, in the order of its enum. */
static const char *const order_names[] = {"forward", "reverse", NULL};
static const char *const overflow_names[] = {"sat", "nan", NULL};
static const char *const mask_names[] = {"none", "causal", NULL};
static const char *const field_names[] = {"order", "block", "scale", "overflow", "mask", NULL};

const char *pcast_field_name(pcast_field field)
{
    return field_names[field];
}

const char *pcast_order_name(pcast_order order)
{
    return order_names[order];
}

const char *pcast_overflow_name(pcast_overflow overflow)
{
    return overflow_names[overflow];
}

const char *pcast_mask_name(pcast_mask mask)
{
    return mask_names[mask];
}

/* Index of the word that equals the `length` characters at text, -1 if there is none. */
static int find_word(const char *const *words, const char *text, size_t length)
{
    for (int i = 0; words[i] != NULL; i++)
        if (strlen(words[i]) == length && strncmp(words[i], text, length) == 0)
            return i;
    return -1;
}

static pcast_status choose(const char *const *words, pcast_field field, const char *value,
                           int *choice, pcast_error *err)
{
    *choice = find_word(words, value, strlen(value));
    if (*choice >= 0)
        return PCAST_OK;
    return pcast_fail(err, PCAST_ERR_VALUE, "%s: '%s' is neither '%s' nor '%s'",
                      pcast_field_name(field), value, words[0], words[1]);
}

static pcast_status set_block(pcast_kernel *kernel, const char *value, pcast_error *err)
{
    char *end;
    errno = 0;
    const unsigned long long block = strtoull(value, &end, 10);
    if (value[0] < '0' || value[0] > '9' || *end != '\0' || errno != 0 || block < 1 ||
        block > PCAST_BLOCK_MAX)
        return pcast_fail(err, PCAST_ERR_VALUE, "block: '%s' is not a whole number from 1 to %d",
                          value, PCAST_BLOCK_MAX);
    kernel->block = (size_t)block;
    return PCAST_OK;
}

/* Within these bounds S * l neither overflows nor vanishes for any row of fewer than 2^32 keys. */
static int scale_in_range(float scale)
{
    return scale >= 0x1p-64f && scale <= 0x1p64f;
}

static pcast_status set_scale(pcast_kernel *kernel, const char *value, pcast_error *err)
{
    char *end;
    pcast_fpenv env;
    pcast_fpenv_enter(&env); /* strtof rounds as the caller's mode says */
    const float scale = strtof(value, &end);
    pcast_fpenv_leave(&env);
    if (end == value || *end != '\0' || !scale_in_range(scale))
        return pcast_fail(err, PCAST_ERR_VALUE, "scale: '%s' is not a number from 2^-64 to 2^64",
                          value);
    kernel->scale = scale;
    return PCAST_OK;
}

pcast_status pcast_kernel_set(pcast_kernel *kernel, pcast_field field, const char *value,
                              pcast_error *err)
{
    pcast_status status = PCAST_OK;
    int choice = 0;
    switch (field) {
    case PCAST_FIELD_ORDER:
        if ((status = choose(order_names, field, value, &choice, err)) == PCAST_OK)
            kernel->order = (pcast_order)choice;
        return status;
    case PCAST_FIELD_BLOCK:
        return set_block(kernel, value, err);
    case PCAST_FIELD_SCALE:
        return set_scale(kernel, value, err);
    case PCAST_FIELD_OVERFLOW:
        if ((status = choose(overflow_names, field, value, &choice, err)) == PCAST_OK)
            kernel->overflow = (pcast_overflow)choice;
        return status;
    case PCAST_FIELD_MASK:
        if ((status = choose(mask_names, field, value, &choice, err)) == PCAST_OK)
            kernel->mask = (pcast_mask)choice;
        return status;
    case PCAST_FIELD_COUNT:
        break;
    }
    return pcast_fail(err, PCAST_ERR_VALUE, "unknown field number %d", (int)field);
}

static pcast_status find_preset(const char *name, size_t length, const pcast_preset **preset,
                                pcast_error *err)
{
    for (size_t i = 0; i < pcast_preset_count; i++) {
        const char *candidate = pcast_presets[i].name;
        if (strlen(candidate) == length && strncmp(candidate, name, length) == 0) {
            *preset = &pcast_presets[i];
            return PCAST_OK;
        }
    }
    char known[160] = "";
    for (size_t i = 0; i < pcast_preset_count; i++) {
        strncat(known, i > 0 ? ", " : "", sizeof known - strlen(known) - 1);
        strncat(known, pcast_presets[i].name, sizeof known - strlen(known) - 1);
    }
    return pcast_fail(err, PCAST_ERR_VALUE, "unknown kernel '%.*s' (known: %s)", (int)length, name,
                      known);
}

/* One `field=value`, `length` characters long. */
static pcast_status parse_assignment(const char *text, size_t length, pcast_kernel *kernel,
                                     unsigned *given, pcast_error *err)
{
    char value[64];
    const char *equals = memchr(text, '=', length);
    if (equals == NULL)
        return pcast_fail(err, PCAST_ERR_VALUE, "'%.*s' is not field=value", (int)length, text);
    const int field = find_word(field_names, text, (size_t)(equals - text));
    if (field < 0)
        return pcast_fail(err, PCAST_ERR_VALUE,
                          "unknown field '%.*s' (known: order, block, scale, overflow, mask)",
                          (int)(equals - text), text);
    const size_t value_length = length - (size_t)(equals + 1 - text);
    if (value_length >= sizeof value)
        return pcast_fail(err, PCAST_ERR_VALUE, "%s: value too long", field_names[field]);
    memcpy(value, equals + 1, value_length);
    value[value_length] = '\0';
    if ((*given >> field) & 1)
        return pcast_fail(err, PCAST_ERR_VALUE, "%s: given twice", field_names[field]);
    *given |= 1u << field;
    return pcast_kernel_set(kernel, (pcast_field)field, value, err);
}

pcast_status pcast_kernel_parse(const char *spec, pcast_kernel *kernel, unsigned *given,
                                pcast_error *err)
{
    const size_t name_length = strcspn(spec, ":");
    const pcast_preset *preset = NULL;
    pcast_status status = find_preset(spec, name_length, &preset, err);
    if (status != PCAST_OK)
        return status;
    *kernel = preset->kernel;
    unsigned fields = 0;
    const char *text = spec + name_length;
    while (status == PCAST_OK && *text != '\0') {
        text++; /* the ':' or ';' before this field */
        const size_t length = strcspn(text, ";");
        status = parse_assignment(text, length, kernel, &fields, err);
        text += length;
    }
    if (given != NULL)
        *given = fields;
    return status;
}

/* Is an enum's value one of the words? */
static int names(const char *const *words, int value)
{
    int count = 0;
    while (words[count] != NULL)
        count++;
    return value >= 0 && value < count;
}

pcast_status pcast_kernel_validate(const pcast_kernel *kernel, pcast_error *err)
{
    if (!names(order_names, (int)kernel->order))
        return pcast_fail(err, PCAST_ERR_VALUE, "order: %d is no order", (int)kernel->order);
    if (!names(overflow_names, (int)kernel->overflow))
        return pcast_fail(err, PCAST_ERR_VALUE, "overflow: %d is no mode", (int)kernel->overflow);
    if (!names(mask_names, (int)kernel->mask))
        return pcast_fail(err, PCAST_ERR_VALUE, "mask: %d is no mask", (int)kernel->mask);
    if (kernel->block < 1 || kernel->block > PCAST_BLOCK_MAX)
        return pcast_fail(err, PCAST_ERR_VALUE, "block: %zu is not from 1 to %d", kernel->block,
                          PCAST_BLOCK_MAX);
    if (!scale_in_range(kernel->scale))
        return pcast_fail(err, PCAST_ERR_VALUE, "scale: %g is not a number from 2^-64 to 2^64",
                          (double)kernel->scale);
    return PCAST_OK;
}
