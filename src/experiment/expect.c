/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The theory's expectations of many rows, on threads. */
#include "pcast/expect.h"

#include "base/bits.h"
#include "experiment/parallel.h"

typedef struct expect_run {
    const pcast_theory_row *rows;
    pcast_expectation *out;
} expect_run;

static void expect_row(void *context, int thread, size_t index)
{
    const expect_run *self = context;
    (void)thread;
    self->out[index] = (pcast_expectation){pcast_theory_underflow(&self->rows[index]).outside,
                                           pcast_theory_mse(&self->rows[index])};
}

void pcast_expect(const pcast_theory_row *rows, size_t count, int threads, pcast_expectation *out)
{
    expect_run self = {rows, out};
    const pcast_run run = {.threads = threads};
    if (count > 0)
        pcast_parallel(&run, pcast_thread_count(&run, count), 0, count, count, expect_row, &self);
}
