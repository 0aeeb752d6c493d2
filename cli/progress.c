/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One line of progress that overwrites itself. */
#include "cli.h"

#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

void cli_progress_start(cli_progress *progress, const char *unit, size_t total)
{
    *progress =
        (cli_progress){.unit = unit, .total = total, .started = now(), .on = isatty(STDERR_FILENO)};
}

/* done counts from the start of the current run; a command with several runs moves done_before. */
void cli_progress_update(void *context, size_t done, size_t total)
{
    (void)total;
    cli_progress *progress = context;
    const size_t all_done = progress->done_before + done;
    const double time = now();
    if (!progress->on || (time - progress->shown < 0.1 && all_done < progress->total))
        return;
    progress->shown = time;
    const double left =
        (time - progress->started) / (double)all_done * (double)(progress->total - all_done);
    fprintf(stderr, "\r%zu of %zu %s, %.0f s left\033[K", all_done, progress->total, progress->unit,
            left);
}

void cli_progress_end(cli_progress *progress)
{
    if (progress->on)
        fprintf(stderr, "\r\033[K");
}
