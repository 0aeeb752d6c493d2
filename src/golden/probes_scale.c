/* SPDX-License-Identifier: MIT */
/* Probes of factors on scores and output: descales, the softmax scale, learned sinks. */
#include "golden/probes.h"

#include "base/bits.h"

#include <string.h>

/* Keys of p = 1, 1/2 and 1/8 in turn, with V = 1, 2 and 6: O is 2.75 / 1.625, and any other factor
 * on the scores makes another. Codes are exact with S a power of two or 448. */
enum { LEVELS = 3, LEVEL_KEYS = 96 };

static void lay_levels(pcast_problem *problem)
{
    static const struct {
        double ratio;
        float value;
    } levels[LEVELS] = {{1, 1}, {0.5, 2}, {0.125, 6}};
    const size_t heads = pcast_probe_heads(problem);
    pcast_probe_ask(problem);
    for (size_t head = 0; head < heads; head++)
        for (size_t j = 0; j < LEVEL_KEYS; j++)
            pcast_probe_run(problem, (pcast_probe_keys){head, j, j + 1},
                            pcast_probe_nats(levels[j % LEVELS].ratio), levels[j % LEVELS].value);
}

/* Two groups of two heads. */
enum { DESCALE_KV_HEADS = 2, DESCALE_HEADS = 2 * DESCALE_KV_HEADS };

static pcast_status build_descales(pcast_problem *problem, size_t dim, const float *q,
                                   const float *k, const float *v, pcast_error *err)
{
    pcast_status status =
        pcast_problem_init(problem, 1, DESCALE_HEADS, DESCALE_KV_HEADS, 1, LEVEL_KEYS, dim, err);
    const float *const from[] = {q, k, v};
    float **const to[] = {&problem->q_descale, &problem->k_descale, &problem->v_descale};
    for (size_t i = 0; status == PCAST_OK && i < sizeof to / sizeof to[0]; i++) {
        if (from[i] == NULL)
            continue;
        if (pcast_problem_descale(to[i], DESCALE_KV_HEADS) == NULL)
            status = pcast_probe_no_memory(err);
        else
            memcpy(*to[i], from[i], DESCALE_KV_HEADS * sizeof **to[i]);
    }
    if (status == PCAST_OK)
        lay_levels(problem);
    return status;
}

/* Products of q and k are 1/2 and 2; no two numbers of k and v agree head by head. */
static pcast_status build_descale_heads(pcast_problem *problem, size_t dim, pcast_error *err)
{
    static const float q[DESCALE_KV_HEADS] = {2, 0.5f}, k[DESCALE_KV_HEADS] = {0.25f, 4},
                       v[DESCALE_KV_HEADS] = {2, 0.125f};
    return build_descales(problem, dim, q, k, v, err);
}

/* Products of 1, which hide a kernel that ignores both. */
static pcast_status build_compensated(pcast_problem *problem, size_t dim, pcast_error *err)
{
    static const float q[DESCALE_KV_HEADS] = {4, 0.125f}, k[DESCALE_KV_HEADS] = {0.25f, 8};
    return build_descales(problem, dim, q, k, NULL, err);
}

/* 0.25 is 1/sqrt(d) for d = 16 and 1/d for d = 4, which no head here has. */
static pcast_status build_softmax_scale(pcast_problem *problem, size_t dim, pcast_error *err)
{
    pcast_status status = pcast_problem_init(problem, 1, 1, 1, 1, LEVEL_KEYS, dim, err);
    if (status != PCAST_OK)
        return status;
    problem->softmax_scale = 0.25f;
    lay_levels(problem);
    return PCAST_OK;
}

/* Sinks as heavy as 16, 2 and 64 of 32 equal keys. Should the sink be the maximum, P is a power of
 * two. The keys' raw score of -16 is -2 nats for 64 channels and makes one sink negative, the
 * others positive. */
enum { SINK_HEADS = 3, SINK_KEYS = 32, SINK_RAW = -16 };

static pcast_status build_learned_sink(pcast_problem *problem, size_t dim, pcast_error *err)
{
    static const double weights[SINK_HEADS] = {16, 2, 64};
    pcast_status status = pcast_problem_init(problem, 1, SINK_HEADS, 1, 1, SINK_KEYS, dim, err);
    if (status != PCAST_OK)
        return status;
    if (pcast_problem_descale(&problem->sink, SINK_HEADS) == NULL)
        return pcast_probe_no_memory(err);
    const double nats = SINK_RAW * (double)problem->softmax_scale;
    for (size_t h = 0; h < SINK_HEADS; h++)
        problem->sink[h] = (float)(nats + pcast_probe_nats(weights[h]));
    pcast_probe_ask(problem);
    pcast_probe_run(problem, (pcast_probe_keys){0, 0, SINK_KEYS}, nats, 1);
    return PCAST_OK;
}

static const pcast_probe probes[] = {
    {.id = "descale-heads",
     .title = "descales of q, k and v that differ by head",
     .why = "Scores are chosen for the right product of descales: P is 1, 1/2 and 1/8 in all "
            "heads, and any other product changes the mean of V and the log-sum-exp.",
     .signature = "O is 3.38 and 0.21 by head; it is off by a power of two where v's descale is "
                  "wrong, and by 15 % or more where those of q and k are, with the log-sum-exp.",
     .faults = {"descale-ignored", "qk-descale-ignored", "v-descale-ignored", "descale-squared",
                "v-descale-squared", "descale-of-first-head", "descale-swapped"},
     .reference = "fa3",
     .build = build_descale_heads},
    {.id = "descale-compensated",
     .title = "descales of q and k that make 1 together",
     .why = "A kernel that ignores both is right; one that ignores either is off by a factor of 4 "
            "or 8 on the scores.",
     .signature = "O is not 1.69 in heads of one or both kinds, and the log-sum-exp moves with it.",
     .faults = {"q-descale-ignored", "k-descale-ignored"},
     .reference = "fa3",
     .build = build_compensated},
    {.id = "softmax-scale",
     .title = "a softmax scale of 0.25, which is not 1/sqrt(d)",
     .why = "P is 1, 1/2 and 1/8 under the right scale, and V tells these keys apart.",
     .signature = "O is above 1.69 where the scale is too small, and below where it is too large; "
                  "the log-sum-exp moves with it.",
     .faults = {"softmax-scale-default", "softmax-scale-missing", "softmax-scale-dim",
                "softmax-scale-log2e-twice"},
     .reference = "fa3",
     .build = build_softmax_scale},
    {.id = "learned-sink",
     .title = "a sink logit for each head",
     .why = "32 equal keys with V = 1 stand against sinks as heavy as 16, 2 and 64 of them, so "
            "that O is the keys' share: 2/3, 16/17 and 1/3.",
     .signature = "O is 1 where a sink is ignored and nearly so where it misses S; other shares "
                  "tell its weight.",
     .faults = {"sink-ignored", "sink-in-log2", "sink-softmax-scaled", "sink-without-scale",
                "sink-next-head"},
     .reference = "fa3-vllm",
     .build = build_learned_sink},
};

const pcast_probe_theme pcast_probes_scale = {probes, sizeof probes / sizeof probes[0]};
