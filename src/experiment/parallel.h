/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Running independent pieces of work on threads. */
#ifndef PCAST_EXPERIMENT_PARALLEL_H
#define PCAST_EXPERIMENT_PARALLEL_H

#include "pcast/experiment.h"

/* The number of threads a run of so many pieces uses: its own choice, or one for each processor,
 * but no more than there are pieces. */
int pcast_thread_count(const pcast_run *run, size_t pieces);

/* Does piece `index` with the working memory of thread `thread`, 0 <= thread < threads. */
typedef void pcast_piece(void *context, int thread, size_t index);

/* Calls piece on `threads` threads for first .. first + count - 1, each thread in the environment
 * of base/fpenv.h, and reports progress as done + finished pieces of total. */
void pcast_parallel(const pcast_run *run, int threads, size_t first, size_t count, size_t total,
                    pcast_piece *piece, void *context);

#endif
