/* SPDX-License-Identifier: MIT */
/* Problems: memory of their arrays. */
#include "pcast/golden.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>

pcast_status pcast_problem_init(pcast_problem *problem, size_t batch, size_t heads, size_t kv_heads,
                                size_t queries, size_t keys, size_t dim, pcast_error *err)
{
    *problem = (pcast_problem){.batch = batch,
                               .heads = heads,
                               .kv_heads = kv_heads,
                               .queries = queries,
                               .keys = keys,
                               .dim = dim};
    problem->softmax_scale = (float)(1 / sqrt((double)dim));
    problem->q = calloc(batch * heads * queries * dim, sizeof(float));
    problem->k = calloc(batch * kv_heads * keys * dim, sizeof(float));
    problem->v = calloc(batch * kv_heads * keys * dim, sizeof(float));
    if (problem->q != NULL && problem->k != NULL && problem->v != NULL)
        return PCAST_OK;
    return pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for a problem");
}

float *pcast_problem_descale(float **array, size_t count)
{
    *array = malloc(count * sizeof **array);
    for (size_t i = 0; *array != NULL && i < count; i++)
        (*array)[i] = 1;
    return *array;
}

size_t pcast_problem_rows(const pcast_problem *problem)
{
    return problem->batch * problem->heads * problem->queries;
}

void pcast_problem_free(pcast_problem *problem)
{
    free(problem->q);
    free(problem->k);
    free(problem->v);
    free(problem->q_descale);
    free(problem->k_descale);
    free(problem->v_descale);
    free(problem->sink);
    free(problem->kv_lengths);
    *problem = (pcast_problem){0};
}
