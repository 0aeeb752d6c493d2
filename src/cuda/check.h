/* SPDX-License-Identifier: MIT */
/* What a check on a device finds: numbers compared bit by bit with what the library computes. */
#ifndef PCAST_CUDA_CHECK_H
#define PCAST_CUDA_CHECK_H

#include "cuda/driver.h"
#include "pcast/status.h"

#include <stdint.h>

enum { PCAST_CHECK_EXAMPLES = 8, PCAST_CHECK_COUNTS = 32 };

/* A result that differs. */
typedef struct pcast_check_example {
    char input[1600]; /* in words: the operands' bits */
    uint64_t device, model;
} pcast_check_example;

/* A number that answers a question of its own. */
typedef struct pcast_check_count {
    const char *name; /* of static storage */
    uint64_t value;
} pcast_check_count;

typedef struct pcast_check_result {
    uint64_t compared, different;
    int example_count, count_count;
    pcast_check_example examples[PCAST_CHECK_EXAMPLES]; /* the first ones */
    pcast_check_count counts[PCAST_CHECK_COUNTS];
} pcast_check_result;

/* A part of `pcast cuda check`. It adds to a result that is all zero; quick: a sample of what it
 * compares, a second's work. A failure is the device's or the machine's: a difference is none. */
typedef struct pcast_check_part {
    const char *name, *about;
    pcast_status (*run)(pcast_cuda *cuda, int quick, pcast_check_result *result, pcast_error *err);
} pcast_check_part;

/* The probes of single instructions, in the order in which they run. */
enum { PCAST_PROBE_COUNT = 9 };
extern const pcast_check_part pcast_probe_parts[PCAST_PROBE_COUNT];

/* Keeps an example while there is room; returns where its input is described, or NULL. */
char *pcast_check_add_example(pcast_check_result *result, uint64_t device, uint64_t model);

/* Adds to the count of that name, which begins at zero. */
void pcast_check_add_count(pcast_check_result *result, const char *name, uint64_t value);

/* Compares numbers of 4 bytes (floats or codes) or, with width 1, bytes; counts them under `kind`.
 * nans_alike: NaNs on the way to a result are the processor's own, whatever their bits. */
typedef struct pcast_check_numbers {
    const char *name, *kind; /* of the case; "O", static storage */
    const void *device, *model;
    size_t count, width;
    int nans_alike;
} pcast_check_numbers;

void pcast_check_compare(pcast_check_result *result, pcast_check_numbers numbers);

#endif
