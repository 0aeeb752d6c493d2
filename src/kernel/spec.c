/* SPDX-License-Identifier: MIT */
/* SPECs: a preset's name and the fields that differ from it. */
#include "base/bits.h"
#include "base/error.h"
#include "kernel/fields.h"

#include <string.h>

static pcast_status find_preset(const char *name, size_t length, const pcast_preset **preset,
                                pcast_error *err)
{
    for (size_t i = 0; i < pcast_preset_count(); i++) {
        *preset = pcast_preset_at(i);
        if (strlen((*preset)->name) == length && strncmp((*preset)->name, name, length) == 0)
            return PCAST_OK;
    }
    char known[512] = "";
    for (size_t i = 0; i < pcast_preset_count(); i++) {
        strncat(known, i > 0 ? ", " : "", sizeof known - strlen(known) - 1);
        strncat(known, pcast_preset_at(i)->name, sizeof known - strlen(known) - 1);
    }
    return pcast_fail(err, PCAST_ERR_VALUE, "unknown kernel '%.*s' (known: %s)",
                      (int)(length < 64 ? length : 64), name, known);
}

static int find_field(const char *name, size_t length)
{
    for (int i = 0; i < PCAST_FIELD_COUNT; i++)
        if (strlen(pcast_fields[i].name) == length &&
            strncmp(pcast_fields[i].name, name, length) == 0)
            return i;
    return -1;
}

static pcast_status unknown_field(const char *name, size_t length, pcast_error *err)
{
    char known[900] = "";
    for (int i = 0; i < PCAST_FIELD_COUNT; i++) {
        strncat(known, i > 0 ? ", " : "", sizeof known - strlen(known) - 1);
        strncat(known, pcast_fields[i].name, sizeof known - strlen(known) - 1);
    }
    return pcast_fail(err, PCAST_ERR_VALUE, "unknown field '%.*s' (known: %s)",
                      (int)(length < 64 ? length : 64), name, known);
}

/* One `field=value`, `length` characters long. */
static pcast_status parse_assignment(const char *text, size_t length, pcast_kernel *kernel,
                                     uint64_t *given, pcast_error *err)
{
    char value[64];
    const char *equals = memchr(text, '=', length);
    if (equals == NULL)
        return pcast_fail(err, PCAST_ERR_VALUE, "'%.*s' is not field=value",
                          (int)(length < 64 ? length : 64), text);
    const int field = find_field(text, (size_t)(equals - text));
    if (field < 0)
        return unknown_field(text, (size_t)(equals - text), err);
    const size_t value_length = length - (size_t)(equals + 1 - text);
    if (value_length >= sizeof value)
        return pcast_fail(err, PCAST_ERR_VALUE, "%s: value too long", pcast_fields[field].name);
    memcpy(value, equals + 1, value_length);
    value[value_length] = '\0';
    if ((*given >> field) & 1)
        return pcast_fail(err, PCAST_ERR_VALUE, "%s: given twice", pcast_fields[field].name);
    *given |= UINT64_C(1) << field;
    const uint64_t both = UINT64_C(1) << PCAST_FIELD_SCALE | UINT64_C(1) << PCAST_FIELD_SCALE_LOG2;
    if ((*given & both) == both)
        return pcast_fail(err, PCAST_ERR_VALUE,
                          "scale_log2: scale is given too, and both say what S is");
    return pcast_kernel_set(kernel, (pcast_field)field, value, err);
}

pcast_status pcast_kernel_parse(const char *spec, pcast_kernel *kernel, uint64_t *given,
                                pcast_error *err)
{
    const size_t name_length = strcspn(spec, ":");
    const pcast_preset *preset = NULL;
    pcast_status status = find_preset(spec, name_length, &preset, err);
    if (status != PCAST_OK)
        return status;
    *kernel = preset->kernel;
    uint64_t fields = 0;
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

pcast_status pcast_kernel_check_given(const pcast_kernel *kernel, uint64_t given, pcast_error *err)
{
    static const pcast_field hardware[] = {PCAST_FIELD_EXP_UNIT,   PCAST_FIELD_POLY_FREQ,
                                           PCAST_FIELD_POLY_START, PCAST_FIELD_RECIPROCAL,
                                           PCAST_FIELD_SUM_ORDER,  PCAST_FIELD_MACHINE};
    const int machine = kernel->accumulator == PCAST_ACCUMULATOR_TENSOR_CORE ||
                        kernel->accumulator == PCAST_ACCUMULATOR_FP16;
    for (int f = 0; kernel->semantics == PCAST_SEMANTICS_HARDWARE && f < PCAST_FIELD_COUNT; f++) {
        const int poly = f == PCAST_FIELD_POLY_FREQ || f == PCAST_FIELD_POLY_START;
        if (((given >> f) & 1) && poly && kernel->exp_unit != PCAST_EXP_UNIT_FA4_MIX)
            return pcast_fail(err, PCAST_ERR_VALUE, "%s: does nothing without exp_unit=fa4_mix",
                              pcast_fields[f].name);
        if (((given >> f) & 1) && f == PCAST_FIELD_MACHINE && !machine)
            return pcast_fail(err, PCAST_ERR_VALUE,
                              "machine: does nothing without accumulator=tensor_core or fp16");
    }
    if (kernel->semantics == PCAST_SEMANTICS_HARDWARE)
        return PCAST_OK;
    for (size_t i = 0; i < sizeof hardware / sizeof hardware[0]; i++)
        if (((given >> hardware[i]) & 1) &&
            !(hardware[i] == PCAST_FIELD_SUM_ORDER && kernel->sum_order == PCAST_SUM_ORDER_FP64))
            return pcast_fail(err, PCAST_ERR_VALUE, "%s: does nothing without semantics=hardware",
                              pcast_fields[hardware[i]].name);
    return PCAST_OK;
}
