/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a check of a suite finds, and how it is told. */
#ifndef PCAST_CLI_GOLDEN_CHECK_H
#define PCAST_CLI_GOLDEN_CHECK_H

#include "golden.h"
#include "pcast/identify.h"

/* What is known of the kernel. */
typedef struct golden_declared {
    const char *spec; /* NULL: nothing */
    int nothing;
    pcast_kernel kernel;
    uint64_t unknown;
    int identified; /* by the answers themselves */
    char identity[PCAST_SPEC_MAX];
    pcast_match match;
} golden_declared;

static inline pcast_declaration golden_declaration(const golden_declared *declared)
{
    return declared->nothing ? pcast_declaration_of_nothing()
                             : (pcast_declaration){declared->kernel, declared->unknown};
}

typedef enum golden_verdict {
    GOLDEN_EXACT,
    GOLDEN_ADMISSIBLE,
    GOLDEN_DEFECTIVE,
    GOLDEN_MALFORMED, /* an output that cannot be judged */
    GOLDEN_MISSING,
    GOLDEN_VERDICTS
} golden_verdict;

typedef struct golden_outcome {
    const pcast_manifest_probe *probe;
    golden_verdict verdict;
    pcast_judgement judgement;
    char message[1024]; /* of a malformed output */
} golden_outcome;

typedef struct golden_report {
    const golden_declared *declared;
    golden_outcome *outcomes;
    size_t count;
} golden_report;

void golden_report_count(const golden_report *report, size_t counts[GOLDEN_VERDICTS]);
void golden_report_text(FILE *stream, const golden_report *report);
void golden_report_csv(FILE *stream, const golden_report *report);
void golden_report_junit(FILE *stream, const golden_report *report);

#endif
