/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What theory expects of the rows of an experiment. */
#ifndef PCAST_EXPECT_H
#define PCAST_EXPECT_H

#include "pcast/theory.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pcast_expectation {
    double outside; /* pcast_theory_underflow: flushed keys outside the sinks' block */
    double mse;     /* pcast_theory_mse */
} pcast_expectation;

/* Fills out[count]; threads: 0 is one for each processor. Results do not depend on their number. */
void pcast_expect(const pcast_theory_row *rows, size_t count, int threads, pcast_expectation *out);

#ifdef __cplusplus
}
#endif

#endif
