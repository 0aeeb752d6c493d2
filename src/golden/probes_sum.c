/* SPDX-License-Identifier: MIT */
/* Probes of the row sum: where S goes, what it adds, how it is rescaled and merged. */
#include "golden/probes.h"

#include "base/bits.h"

#include <math.h>

/* Equal scores and V = 1, -2: O is V and the log-sum-exp the score plus ln 320. P is S exactly. */
enum { UNIT_HEADS = 2, UNIT_KEYS = 320 };

static pcast_status build_unit_row(pcast_problem *problem, size_t dim, pcast_error *err)
{
    static const float values[UNIT_HEADS] = {1, -2};
    pcast_status status =
        pcast_problem_init(problem, 1, UNIT_HEADS, UNIT_HEADS, 1, UNIT_KEYS, dim, err);
    if (status != PCAST_OK)
        return status;
    pcast_probe_ask(problem);
    for (size_t h = 0; h < UNIT_HEADS; h++)
        pcast_probe_run(problem, (pcast_probe_keys){h, 0, UNIT_KEYS}, 1, values[h]);
    return PCAST_OK;
}

/* P is 1.0575 times a power of two after S: 0.5 % under the middle between 1 and 1.125, cast to 1,
 * 5.4 % less. For S = 448 = 1.75 * 2^8 that takes p = 1.0575 / 1.75, in the second head. Both ends
 * hold a key with p = 1, so that a kernel of either order has its maximum in the first tile. */
enum { CAST_HEADS = 2, CAST_KEYS = 64 };

static pcast_status build_sums_of_cast(pcast_problem *problem, size_t dim, pcast_error *err)
{
    static const double ratios[CAST_HEADS] = {1.0575 / 2, 1.0575 / 1.75};
    pcast_status status =
        pcast_problem_init(problem, 1, CAST_HEADS, CAST_HEADS, 1, CAST_KEYS, dim, err);
    if (status != PCAST_OK)
        return status;
    pcast_probe_ask(problem);
    for (size_t h = 0; h < CAST_HEADS; h++) {
        const double low = pcast_probe_nats(ratios[h]);
        pcast_probe_run(problem, (pcast_probe_keys){h, 0, CAST_KEYS}, low, 1);
        pcast_probe_score(problem, h, 0, 0);
        pcast_probe_score(problem, h, CAST_KEYS - 1, 0);
    }
    return PCAST_OK;
}

/* A tile of 256 keys with p = 1/4 and V = 4, and 32 keys with p = 1 and V = 1 before or after it:
 * O = 3. Powers of two, so that codes are exact and P V is the same for all keys. Few keys, as for
 * a stale maximum. */
enum { RESCALED_HIGH = 32, RESCALED_KEYS = PCAST_PROBE_TILE + RESCALED_HIGH };

static pcast_status build_rescaled_sums(pcast_problem *problem, size_t dim, pcast_error *err)
{
    pcast_status status = pcast_problem_init(problem, 2, 1, 1, 1, RESCALED_KEYS, dim, err);
    if (status != PCAST_OK)
        return status;
    pcast_probe_ask(problem);
    for (size_t b = 0; b < 2; b++) { /* rising, falling */
        const size_t high = b == 0 ? PCAST_PROBE_TILE : 0;
        pcast_probe_run(problem, (pcast_probe_keys){b, 0, RESCALED_KEYS}, 0, 4);
        pcast_probe_run(problem, (pcast_probe_keys){b, high, high + RESCALED_HIGH},
                        pcast_probe_nats(4), 1);
    }
    return PCAST_OK;
}

/* p = 1/16 with V = 16 in the first half, p = 1 with V = 0 in the second: O = 16/17. All terms of
 * the sum of P V are equal, 1024 of them. */
enum { SPLIT_KEYS = 2048 };

static pcast_status build_split_merge(pcast_problem *problem, size_t dim, pcast_error *err)
{
    pcast_status status = pcast_problem_init(problem, 1, 1, 1, 1, SPLIT_KEYS, dim, err);
    if (status != PCAST_OK)
        return status;
    pcast_probe_ask(problem);
    pcast_probe_run(problem, (pcast_probe_keys){0, 0, SPLIT_KEYS / 2}, 0, 16);
    pcast_probe_run(problem, (pcast_probe_keys){0, SPLIT_KEYS / 2, SPLIT_KEYS},
                    pcast_probe_nats(16), 0);
    return PCAST_OK;
}

/* 64 groups of 16 keys, read off one channel each; scores rise to the middle of the row and fall
 * again, unevenly, so that in either order the running maximum changes with nearly every tile of
 * the first half and each size of tile rounds other keys in another way. In the second head they
 * rise by less than a maximum may lag, even over a tile. Scores are multiples of 1/16, made of
 * whole numbers up to 127, so that kernels of INT8 can do it too. */
enum {
    WALK_HEADS = 2,
    WALK_GROUPS = 64,
    WALK_GROUP = 16,
    WALK_STRIDE = 37,
    WALK_QUERY = 4,
    WALK_STEPS = 16, /* a nat */
};

static pcast_status build_walk(pcast_problem *problem, size_t dim, pcast_error *err)
{
    static const double rises[WALK_HEADS] = {5, 1.5}; /* nats */
    const size_t keys = WALK_GROUPS * WALK_GROUP;
    pcast_status status = pcast_problem_init(problem, 1, WALK_HEADS, WALK_HEADS, 1, keys, dim, err);
    if (status != PCAST_OK)
        return status;
    pcast_probe_ask(problem);
    problem->softmax_scale = 1.0f / (WALK_QUERY * WALK_STEPS);
    for (size_t i = 0; i < WALK_HEADS * dim; i++)
        problem->q[i] *= WALK_QUERY;
    for (size_t h = 0; h < WALK_HEADS; h++)
        for (size_t j = 0; j < keys; j++) {
            const size_t group = j / WALK_GROUP, half = WALK_GROUPS / 2;
            const size_t off = group < half ? half - group : group - half;
            const double uneven = (double)(j * WALK_STRIDE % keys) / (double)keys;
            const double steps = (double)off / (double)half;
            const double nats = rises[h] * (0.1 * uneven - steps);
            pcast_probe_score(problem, h, j, floor(nats * WALK_STEPS) / (WALK_STEPS * WALK_QUERY));
            problem->v[(h * keys + j) * dim + group] = 1;
        }
    return PCAST_OK;
}

static const pcast_probe probes[] = {
    {.id = "unit-row",
     .title = "equal scores and equal values",
     .why = "Every P is S and every sum a multiple of it, so that O is V whatever is rounded, and "
            "the log-sum-exp is the score plus ln 320.",
     .signature = "O is V times S or over S; the log-sum-exp is off by ln S, or by a factor of "
                  "ln 2 or log2 e.",
     .faults = {"scale-not-removed", "scale-removed-twice", "scale-in-both", "scale-beyond-448",
                "lse-keeps-scale", "lse-misses-scale", "lse-base-2"},
     .reference = "fa3",
     .build = build_unit_row},
    {.id = "unit-row-base-2",
     .title = "equal scores and equal values, for a log-sum-exp in base 2",
     .why = "As unit-row: the log-sum-exp is log2 of 320 more than the score.",
     .signature = "The log-sum-exp is off by a factor of ln 2.",
     .faults = {"lse-base-e"},
     .reference = "flashinfer-fa3",
     .build = build_unit_row},
    {.id = "sums-of-cast",
     .title = "a P that the cast lowers by 5 % in nearly all keys",
     .why = "V is 1, so that O is the sum of the casts over what the row sum adds. One head is for "
            "S a power of two, the other for S = 448.",
     .signature =
         "O is 1 in both heads where the row sum adds casts, and 0.95 in one of them where "
         "it adds P before the cast; the log-sum-exp differs by 0.05.",
     .faults = {"sum-of-cast", "p-not-cast"},
     .reference = "fa3",
     .build = build_sums_of_cast},
    {.id = "sums-of-precast",
     .title = "the same for kernels whose row sum adds the casts",
     .why = "As sums-of-cast.",
     .signature = "O is 0.95 in one of the heads instead of 1.",
     .faults = {"sum-of-precast"},
     .reference = "xqa-mla",
     .build = build_sums_of_cast},
    {.id = "rescaled-sums",
     .title = "heavier keys at one end of the row",
     .why = "The last tile that a kernel visits raises the maximum by ln 4, in the first sequence "
            "for kernels that walk forward, in the second for those in reverse.",
     .signature =
         "O is 1 to 2.4 instead of 3 where the row sum is not rescaled, and 4 to 11 where O "
         "is not, the further off the smaller the KV tile.",
     .faults = {"sum-not-rescaled", "output-not-rescaled"},
     .reference = "hpc-ops",
     .build = build_rescaled_sums},
    {.id = "walk",
     .title = "scores that rise to the middle of the row and fall again",
     .why = "Each channel holds 16 keys, whose casts depend on the maximum that their tile sees: "
            "order and size of tiles can be read off O.",
     .signature = "Channels before the maximum grow against those after it where a factor is "
                  "missing.",
     .faults = {"sum-not-rescaled", "output-not-rescaled"},
     .reference = "paper",
     .build = build_walk},
    {.id = "split-merge",
     .title = "splits of different weight",
     .why = "The first half of the keys scores ln 16 less than the second and holds all of V, so "
            "that splits differ in maximum and output and weigh 1 to 16.",
     .signature = "O is several times 0.94.",
     .faults = {"splits-unweighted", "splits-by-sum", "splits-first"},
     .reference = "fa3:splits=4",
     .build = build_split_merge},
};

const pcast_probe_theme pcast_probes_sum = {probes, sizeof probes / sizeof probes[0]};
