/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The theory's expectations of many rows, on threads. */
#include "pcast/expect.h"

#include "base/bits.h"
#include "experiment/parallel.h"

/* Rows that one thread takes at a time: those of a grid that share the theory's tables follow each
 * other. */
enum { ROWS = 25 };

typedef struct expect_run {
    const pcast_theory_row *rows;
    size_t count;
    pcast_expectation *out;
} expect_run;

static void expect_rows(void *context, int thread, size_t piece)
{
    const expect_run *self = context;
    const size_t first = piece * ROWS;
    const size_t count = self->count - first < ROWS ? self->count - first : ROWS;
    double mse[ROWS];
    (void)thread;
    pcast_theory_mse_rows(self->rows + first, count, mse);
    for (size_t i = 0; i < count; i++)
        self->out[first + i] =
            (pcast_expectation){pcast_theory_underflow(&self->rows[first + i]).outside, mse[i]};
}

void pcast_expect(const pcast_theory_row *rows, size_t count, int threads, pcast_expectation *out)
{
    expect_run self = {rows, count, out};
    const pcast_run run = {.threads = threads};
    const size_t pieces = (count + ROWS - 1) / ROWS;
    if (count > 0)
        pcast_parallel(&run, pcast_thread_count(&run, pieces), 0, pieces, pieces, expect_rows,
                       &self);
}
