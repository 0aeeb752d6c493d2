/* SPDX-License-Identifier: MIT */
/* The kernel model: an FP8 attention kernel as a struct of choices. A preset is a row of data, and
 * a configuration is written as a SPEC, `NAME[:field=value[;field=value...]]`. */
#ifndef PCAST_KERNEL_H
#define PCAST_KERNEL_H

#include "pcast/format.h"
#include "pcast/status.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The order in which KV blocks are visited. */
typedef enum pcast_order { PCAST_ORDER_FORWARD, PCAST_ORDER_REVERSE } pcast_order;

/* Which keys a query sees. Causal is aligned bottom-right, as FlashAttention does: with T queries
 * and N keys, query i sees keys 0 .. i + N - T. */
typedef enum pcast_mask { PCAST_MASK_NONE, PCAST_MASK_CAUSAL } pcast_mask;

/* Fields of the model, also as bits of a set: 1u << field. */
typedef enum pcast_field {
    PCAST_FIELD_ORDER,
    PCAST_FIELD_BLOCK,
    PCAST_FIELD_SCALE,
    PCAST_FIELD_OVERFLOW,
    PCAST_FIELD_MASK,
    PCAST_FIELD_COUNT,
} pcast_field;

typedef struct pcast_kernel {
    pcast_order order;
    size_t block;            /* keys per KV block, 1 .. PCAST_BLOCK_MAX */
    float scale;             /* S, multiplies p before the cast; 2^-64 .. 2^64 */
    pcast_overflow overflow; /* of the cast of p * S */
    pcast_mask mask;
} pcast_kernel;

enum { PCAST_BLOCK_MAX = 1 << 20 };

/* Parses a SPEC into *kernel; *given (may be NULL) receives the set of fields the SPEC itself
 * names, the others come from the preset. PCAST_ERR_VALUE names what is wrong. */
pcast_status pcast_kernel_parse(const char *spec, pcast_kernel *kernel, unsigned *given,
                                pcast_error *err);

/* Sets one field from text, as a SPEC's `field=value` does. */
pcast_status pcast_kernel_set(pcast_kernel *kernel, pcast_field field, const char *value,
                              pcast_error *err);

/* PCAST_ERR_VALUE names the field that is out of range. */
pcast_status pcast_kernel_validate(const pcast_kernel *kernel, pcast_error *err);

/* Names as SPECs and CSV files write them. */
const char *pcast_field_name(pcast_field field);
const char *pcast_order_name(pcast_order order);
const char *pcast_overflow_name(pcast_overflow overflow);
const char *pcast_mask_name(pcast_mask mask);

#ifdef __cplusplus
}
#endif

#endif
