/* SPDX-License-Identifier: MIT */
/* The fields of the kernel model as data: name, kind, place in the struct, words. */
#ifndef PCAST_KERNEL_FIELDS_H
#define PCAST_KERNEL_FIELDS_H

#include "pcast/kernel.h"

typedef enum pcast_field_kind {
    PCAST_KIND_CHOICE,    /* an enum: one of the words, in the enum's order */
    PCAST_KIND_COUNT,     /* size_t from low to high */
    PCAST_KIND_REAL,      /* float from low to high */
    PCAST_KIND_BLOCK,     /* `block` and `block_table`: a count, or one of the words */
    PCAST_KIND_SINK,      /* `sink_given` and `sink_logit`: none, or a float */
    PCAST_KIND_PROMOTION, /* never, tile, or a count of instructions */
} pcast_field_kind;

typedef struct pcast_field_info {
    const char *name;
    pcast_field_kind kind;
    size_t offset;
    const char *const *words; /* NULL-terminated */
    double low, high;
    const char *range; /* how a message puts them */
} pcast_field_info;

extern const pcast_field_info pcast_fields[PCAST_FIELD_COUNT];

/* Index of the word that equals the `length` characters at text, -1 if there is none. */
int pcast_find_word(const char *const *words, const char *text, size_t length);

/* The value of a choice field. */
int pcast_field_choice(const pcast_kernel *kernel, pcast_field field);

#endif
