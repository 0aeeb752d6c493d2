/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads through OpenMP. */
#include "experiment/parallel.h"

#include "base/fpenv.h"

#include <omp.h>

int pcast_thread_count(const pcast_run *run, size_t pieces)
{
    const int wanted = run->threads > 0 ? run->threads : omp_get_num_procs();
    return (size_t)wanted < pieces ? wanted : (int)pieces;
}

void pcast_parallel(const pcast_run *run, int threads, size_t first, size_t count, size_t total,
                    pcast_piece *piece, void *context)
{
    size_t done = first;
#pragma omp parallel num_threads(threads)
    {
        pcast_fpenv env;
        pcast_fpenv_enter(&env);
#pragma omp for schedule(dynamic)
        for (size_t i = 0; i < count; i++) {
            piece(context, omp_get_thread_num(), first + i);
            if (run->progress != NULL) {
#pragma omp critical(pcast_progress)
                run->progress(run->progress_context, ++done, total);
            }
        }
        pcast_fpenv_leave(&env);
    }
}
