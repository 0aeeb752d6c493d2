/* SPDX-License-Identifier: MIT */
/* Groups of rows, their visits, and their replay. */
#include "cuda/rows.h"

#include "base/error.h"
#include "base/fpenv.h"
#include "cuda/row_kernel.h"

#include <stdlib.h>

enum { ROWS_MOST = 1 << 30 };

size_t pcast_row_job_visits(const pcast_plan *plan, size_t keys)
{
    const size_t blocks = keys / plan->kernel.block + 1;
    return plan->kernel.normalise == PCAST_NORMALISE_PARTITION ? 2 * blocks : blocks;
}

void pcast_row_schedule_free(pcast_row_schedule *schedule)
{
    free(schedule->groups);
    free(schedule->visits);
    free(schedule->scratch);
    free(schedule->splits);
    *schedule = (pcast_row_schedule){0};
}

/* Rows from `first` on that make the same visits. */
static unsigned rows_alike(const pcast_row_job *job, unsigned first)
{
    const pcast_row_keys *one = &job->where[first];
    unsigned count = 1;
    while (count < PCAST_ROWS_MOST && first + count < job->rows && one[count].keys == one->keys &&
           one[count].visited.first == one->visited.first &&
           one[count].visited.count == one->visited.count)
        count++;
    return count;
}

/* The visits of rows from `first` on, into visits unless that is NULL; returns how many. */
static size_t list_visits(const pcast_row_job *job, unsigned first, pcast_visit *visits)
{
    const pcast_row_keys *where = &job->where[first];
    return pcast_walk_list(&job->plan->kernel, where->keys, where->visited, visits);
}

/* The job's pointers from row `first` on. */
static pcast_row_job part_of(const pcast_row_job *job, size_t first, unsigned rows)
{
    pcast_row_job part = *job;
    part.rows = rows;
    part.q = job->q != NULL ? job->q + first * job->dim : NULL;
    part.products = job->products != NULL ? job->products + first * job->keys : NULL;
    part.where = job->where + first;
    part.o = job->o + first * job->value_dim;
    part.lse = job->lse + first;
    part.p = job->p != NULL ? job->p + first * job->keys : NULL;
    part.codes = job->codes != NULL ? job->codes + first * job->keys : NULL;
    part.trace = job->trace != NULL ? job->trace + first * job->visit_max : NULL;
    part.splits = job->splits != NULL ? job->splits + first * job->split_max : NULL;
    return part;
}

/* Bytes of shared memory without P. */
static size_t least_shared(const pcast_row_job *job, unsigned rows)
{
    pcast_row_group group = {.job = *job, .weights_outside = 1};
    pcast_row_shared shared;
    group.job.rows = rows;
    return pcast_row_layout(&group, NULL, &shared);
}

/* What a group needs beside its job, counted or handed out. */
typedef struct supply {
    size_t groups, visits, scratch, splits, shared;
} supply;

static pcast_status add_group(pcast_row_schedule *schedule, const pcast_row_job *job,
                              unsigned first, unsigned rows, size_t shared_most, supply *used,
                              pcast_error *err)
{
    const size_t weights = 2 * job->plan->kernel.block * rows;
    const size_t splits = job->split_max * rows;
    const int several = pcast_plan_splits(job->plan, job->keys) > 1;
    pcast_row_group group = {.job = part_of(job, first, rows)};
    pcast_row_shared shared;
    size_t bytes = pcast_row_layout(&group, NULL, &shared);
    group.weights_outside = bytes > shared_most;
    if (group.weights_outside)
        bytes = pcast_row_layout(&group, NULL, &shared);
    if (bytes > shared_most)
        return pcast_fail(err, PCAST_ERR_VALUE,
                          "%u channels of V (%u of Q and K) do not fit the %zu bytes of shared "
                          "memory that a block may have",
                          job->value_dim, job->dim, shared_most);
    const int fill = schedule->groups != NULL;
    group.visits = fill ? schedule->visits + used->visits : NULL;
    group.visit_count = list_visits(job, first, fill ? schedule->visits + used->visits : NULL);
    group.weights = fill && group.weights_outside ? schedule->scratch + used->scratch : NULL;
    used->scratch += group.weights_outside ? weights : 0;
    group.partials = fill && several ? schedule->scratch + used->scratch : NULL;
    used->scratch += several ? splits * job->value_dim : 0;
    if (job->splits == NULL) {
        group.job.splits = fill ? schedule->splits + used->splits : NULL;
        used->splits += splits;
    }
    if (fill)
        schedule->groups[used->groups] = group;
    used->visits += group.visit_count;
    used->groups++;
    used->shared = bytes > used->shared ? bytes : used->shared;
    return PCAST_OK;
}

static pcast_status add_jobs(pcast_row_schedule *schedule, const pcast_row_job *jobs, size_t count,
                             size_t shared_most, supply *used, pcast_error *err)
{
    pcast_status status = PCAST_OK;
    *used = (supply){0};
    for (size_t j = 0; status == PCAST_OK && j < count; j++) {
        if (jobs[j].rows > ROWS_MOST)
            return pcast_fail(err, PCAST_ERR_VALUE, "%u queries: more than a job may have",
                              jobs[j].rows);
        if (jobs[j].plan->kernel.semantics != PCAST_SEMANTICS_FP32)
            return pcast_fail(err, PCAST_ERR_VALUE,
                              "semantics: the strict kernel has FP32 semantics alone");
        for (unsigned first = 0, rows; status == PCAST_OK && first < jobs[j].rows; first += rows) {
            rows = rows_alike(&jobs[j], first);
            while (rows > 1 && least_shared(&jobs[j], rows) > shared_most)
                rows--;
            status = add_group(schedule, &jobs[j], first, rows, shared_most, used, err);
        }
    }
    return status;
}

pcast_status pcast_row_schedule_init(pcast_row_schedule *schedule, const pcast_row_job *jobs,
                                     size_t count, size_t shared_most, pcast_error *err)
{
    supply used;
    *schedule = (pcast_row_schedule){0};
    pcast_status status = add_jobs(schedule, jobs, count, shared_most, &used, err);
    if (status != PCAST_OK)
        return status;
    schedule->visits = calloc(used.visits + 1, sizeof *schedule->visits);
    schedule->scratch = calloc(used.scratch + 1, sizeof *schedule->scratch);
    schedule->splits = calloc(used.splits + 1, sizeof *schedule->splits);
    schedule->groups = calloc(used.groups + 1, sizeof *schedule->groups);
    if (schedule->visits == NULL || schedule->scratch == NULL || schedule->splits == NULL ||
        schedule->groups == NULL)
        return pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for %zu groups of rows",
                          used.groups);
    status = add_jobs(schedule, jobs, count, shared_most, &used, err);
    schedule->count = used.groups;
    schedule->visit_count = used.visits;
    schedule->scratch_count = used.scratch;
    schedule->split_count = used.splits;
    schedule->shared_bytes = used.shared;
    return status;
}

static void replay_thread(pcast_block *self, const void *arguments, void *shared)
{
    pcast_row_group_run(self, arguments, shared);
}

pcast_status pcast_row_schedule_replay(const pcast_row_schedule *schedule, uint64_t seed,
                                       pcast_error *err)
{
    pcast_status status = PCAST_OK;
    pcast_fpenv env;
    pcast_fpenv_enter(&env);
    for (size_t g = 0; status == PCAST_OK && g < schedule->count; g++) {
        pcast_row_shared shared;
        const size_t bytes = pcast_row_layout(&schedule->groups[g], NULL, &shared);
        status = pcast_replay_block(replay_thread, &schedule->groups[g], PCAST_ROW_THREADS, bytes,
                                    seed + g, err);
    }
    pcast_fpenv_leave(&env);
    return status;
}
