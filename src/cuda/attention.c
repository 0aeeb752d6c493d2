/* SPDX-License-Identifier: MIT */
/* Warpgroups' work, and its replay. */
#include "cuda/attention.h"

#include "base/error.h"
#include "base/fpenv.h"
#include "cuda/attention_kernel.h"

#include <stdlib.h>

enum { QUERIES_MOST = 1 << 30 };

size_t pcast_attention_shared(unsigned dim)
{
    return 3 * (size_t)PCAST_MMA_ROWS * dim;
}

void pcast_attention_schedule_free(pcast_attention_schedule *schedule)
{
    free(schedule->groups);
    free(schedule->visits);
    *schedule = (pcast_attention_schedule){0};
}

/* Is the plan one that the kernel's source has? */
static int is_ours(const pcast_kernel *kernel)
{
    pcast_kernel wanted;
    pcast_error err;
    if (pcast_kernel_parse("pcast-wgmma", &wanted, NULL, &err) != PCAST_OK)
        return 0;
    wanted.semantics = PCAST_SEMANTICS_HARDWARE;
    wanted.order = kernel->order;
    wanted.scale = kernel->scale;
    wanted.scale_log2 = kernel->scale_log2;
    wanted.promotion = kernel->promotion;
    wanted.out_format = kernel->out_format;
    wanted.mask = kernel->mask;
    wanted.window_left = kernel->window_left;
    wanted.window_right = kernel->window_right;
    int same =
        kernel->promotion == PCAST_PROMOTION_NEVER || kernel->promotion == PCAST_PROMOTION_TILE;
    for (int field = 0; field < PCAST_FIELD_COUNT; field++) {
        char a[128], b[128];
        pcast_kernel_get(kernel, (pcast_field)field, a, sizeof a);
        pcast_kernel_get(&wanted, (pcast_field)field, b, sizeof b);
        same &= strcmp(a, b) == 0;
    }
    return same;
}

/* The visits of rows from `first` on, into visits unless that is NULL; returns how many. */
static size_t list_visits(const pcast_attention_job *job, unsigned first, pcast_visit *visits)
{
    const pcast_row_keys *where = &job->where[first];
    return pcast_walk_list(&job->plan->kernel, where->keys, where->visited, visits);
}

static pcast_attention_group group_of(const pcast_attention_job *job, unsigned first)
{
    const unsigned left = job->queries - first;
    pcast_attention_group group = {.job = *job};
    group.job.queries = left < PCAST_ATTENTION_QUERIES ? left : PCAST_ATTENTION_QUERIES;
    group.job.q = job->q + (size_t)first * job->dim;
    group.job.where = job->where + first;
    group.job.o = job->o + (size_t)first * job->dim;
    group.job.lse = job->lse + first;
    group.job.codes = job->codes != NULL ? job->codes + first * job->keys : NULL;
    return group;
}

pcast_status pcast_attention_schedule_init(pcast_attention_schedule *schedule,
                                           const pcast_attention_job *job, pcast_error *err)
{
    const size_t count = (job->queries + PCAST_ATTENTION_QUERIES - 1) / PCAST_ATTENTION_QUERIES;
    *schedule = (pcast_attention_schedule){0};
    if (!is_ours(&job->plan->kernel))
        return pcast_fail(err, PCAST_ERR_VALUE,
                          "the kernel is pcast-wgmma:semantics=hardware, with order, scale, "
                          "promotion, mask and out_format of choice");
    if (job->dim != 64 && job->dim != 128 && job->dim != 256)
        return pcast_fail(err, PCAST_ERR_VALUE, "dim: the kernel has 64, 128 or 256 channels");
    if (job->queries > QUERIES_MOST)
        return pcast_fail(err, PCAST_ERR_VALUE, "%u queries: more than a job may have",
                          job->queries);
    for (unsigned first = 0; first < job->queries; first += PCAST_ATTENTION_QUERIES)
        schedule->visit_count += list_visits(job, first, NULL);
    schedule->groups = calloc(count + 1, sizeof *schedule->groups);
    schedule->visits = calloc(schedule->visit_count + 1, sizeof *schedule->visits);
    if (schedule->groups == NULL || schedule->visits == NULL)
        return pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for %zu groups of queries", count);
    pcast_visit *visits = schedule->visits;
    for (size_t g = 0; g < count; g++) {
        const unsigned first = (unsigned)g * PCAST_ATTENTION_QUERIES;
        pcast_attention_group *group = &schedule->groups[schedule->count++];
        *group = group_of(job, first);
        group->visits = visits;
        group->visit_count = list_visits(job, first, visits);
        visits += group->visit_count;
    }
    return PCAST_OK;
}

static void replay_thread(pcast_block *self, const void *arguments, void *shared)
{
    const pcast_attention_group *group = arguments;
    pcast_attention_run(self, group, shared, group->job.dim / PCAST_MMA_COLUMNS);
}

pcast_status pcast_attention_replay(const pcast_attention_schedule *schedule, uint64_t seed,
                                    pcast_error *err)
{
    pcast_status status = PCAST_OK;
    pcast_fpenv env;
    pcast_fpenv_enter(&env);
    for (size_t g = 0; status == PCAST_OK && g < schedule->count; g++)
        status =
            pcast_replay_block(replay_thread, &schedule->groups[g], PCAST_ATTENTION_THREADS,
                               pcast_attention_shared(schedule->groups[g].job.dim), seed + g, err);
    pcast_fpenv_leave(&env);
    return status;
}
