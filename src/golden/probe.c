/* SPDX-License-Identifier: MIT */
/* The table of probes. */
#include "pcast/golden.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void fill(float *x, size_t count, unsigned seed)
{
    for (size_t i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        x[i] = (float)((int)(seed >> 28) - 8) / 4;
    }
}

static void fill_all(pcast_problem *p, size_t dim)
{
    fill(p->q, p->batch * p->heads * p->queries * dim, 1);
    fill(p->k, p->batch * p->kv_heads * p->keys * dim, 2);
    fill(p->v, p->batch * p->kv_heads * p->keys * dim, 3);
}

static pcast_status build_plain(pcast_problem *problem, size_t dim, pcast_error *err)
{
    const pcast_status status = pcast_problem_init(problem, 1, 1, 1, 8, 40, dim, err);
    if (status == PCAST_OK)
        fill_all(problem, dim);
    problem->mask = PCAST_MASK_CAUSAL;
    problem->window_left = 7;
    return status;
}

static pcast_status build_all(pcast_problem *problem, size_t dim, pcast_error *err)
{
    const pcast_status status = pcast_problem_init(problem, 2, 4, 2, 3, 20, dim, err);
    if (status != PCAST_OK)
        return status;
    fill_all(problem, dim);
    problem->mask = PCAST_MASK_CAUSAL_TOP_LEFT;
    pcast_problem_descale(&problem->q_descale, 2)[1] = 0.5f;
    pcast_problem_descale(&problem->k_descale, 2)[0] = 2;
    pcast_problem_descale(&problem->v_descale, 2)[1] = 4;
    problem->sink = calloc(4, sizeof(float));
    problem->sink[2] = 1.5f;
    problem->kv_lengths = calloc(2, sizeof(size_t));
    problem->kv_lengths[0] = 20;
    problem->kv_lengths[1] = 5;
    for (size_t h = 0; h < 2; h++)
        for (size_t i = 5 * dim; i < 20 * dim; i++)
            problem->k[(2 + h) * 20 * dim + i] = problem->v[(2 + h) * 20 * dim + i] = NAN;
    return PCAST_OK;
}

static const pcast_probe probes[] = {
    {"plain", "a causal window", "why", "signature", {NULL}, "fa3", build_plain},
    {"all", "everything at once", "why, so", "signature", {NULL}, "fa3", build_all},
};

size_t pcast_probe_count(void)
{
    return sizeof probes / sizeof probes[0];
}

const pcast_probe *pcast_probe_at(size_t index)
{
    return &probes[index];
}

const pcast_probe *pcast_probe_find(const char *id)
{
    for (size_t i = 0; i < pcast_probe_count(); i++)
        if (strcmp(probes[i].id, id) == 0)
            return &probes[i];
    return NULL;
}
