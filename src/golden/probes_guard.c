/* SPDX-License-Identifier: MIT */
/* Probes of initial maxima, sentinels, and rows or tiles without a visible key. */
#include "golden/probes.h"

#include "base/bits.h"

/* V = 1 and 3 in turn: the mean, 2, is neither. */
static void alternate_values(pcast_problem *problem)
{
    for (size_t j = 0; j < problem->keys; j++)
        pcast_probe_value(problem, 0, j, j % 2 == 0 ? 1 : 3);
}

/* q.k is the sum of -2^16 over so many channels that the score is -2^17 nats or below, under a
 * sentinel of -1e5. Their number is a power of two, and so is q.k: its product with the factor of
 * the exponent is exact, and no rounding of the bias shifts P. */
enum { NEGATIVE_KEYS = 128, NEGATIVE_FACTOR = 256 };

static size_t negative_channels(const pcast_problem *problem)
{
    const double least = 0x1p17 / (NEGATIVE_FACTOR * NEGATIVE_FACTOR);
    size_t channels = 1;
    while ((double)channels * (double)problem->softmax_scale < least)
        channels *= 2;
    return channels;
}

static pcast_status build_very_negative(pcast_problem *problem, size_t dim, pcast_error *err)
{
    pcast_status status = pcast_problem_init(problem, 1, 1, 1, 1, NEGATIVE_KEYS, dim, err);
    if (status != PCAST_OK)
        return status;
    const size_t channels = negative_channels(problem);
    for (size_t c = 0; c < channels; c++) {
        problem->q[c] = NEGATIVE_FACTOR;
        for (size_t j = 0; j < NEGATIVE_KEYS; j++)
            problem->k[j * dim + c] = -NEGATIVE_FACTOR;
    }
    alternate_values(problem);
    return PCAST_OK;
}

/* Scores that a maximum of 0 flushes with any S, 1.4 nats above it too: exp(-13.6) * 448 is 0.56 of
 * half of E4M3's least number. */
static const double far_below = -15;

/* One key of 16 scores ln 4 more, first in each run of them. V = 4 for it and 1 else. */
enum { BELOW_KEYS = 128 };

static pcast_status build_below_zero(pcast_problem *problem, size_t dim, pcast_error *err)
{
    pcast_status status = pcast_problem_init(problem, 1, 1, 1, 1, BELOW_KEYS, dim, err);
    if (status != PCAST_OK)
        return status;
    pcast_probe_ask(problem);
    pcast_probe_run(problem, (pcast_probe_keys){0, 0, BELOW_KEYS}, far_below, 1);
    for (size_t j = 0; j < BELOW_KEYS; j += 16)
        pcast_probe_run(problem, (pcast_probe_keys){0, j, j + 1}, far_below + pcast_probe_nats(4),
                        4);
    return PCAST_OK;
}

/* 24 queries on 16 keys: the first eight see none. */
enum { MASKED_QUERIES = 24, MASKED_KEYS = 16 };

static pcast_status build_masked_rows(pcast_problem *problem, size_t dim, pcast_error *err)
{
    pcast_status status =
        pcast_problem_init(problem, 1, 1, 1, MASKED_QUERIES, MASKED_KEYS, dim, err);
    if (status != PCAST_OK)
        return status;
    problem->mask = PCAST_MASK_CAUSAL;
    pcast_probe_ask(problem);
    alternate_values(problem);
    return PCAST_OK;
}

/* Queries are aligned with keys 440 .. 695 and see 32 keys. Among these keys begin tiles of 64,
 * 128, 160, 192, 224 and 256 keys (at 448, 480, 512 and 576, say). A query aligned before such a
 * key sees nothing of the tile that begins there, which it visits first in reverse order with a
 * later query of its query tile; in forward order a query 32 keys or more behind sees nothing of
 * the first. */
enum { TILE_QUERIES = 256, TILE_KEYS = 696, TILE_WINDOW = 32 };

static pcast_status build_masked_tile(pcast_problem *problem, size_t dim, pcast_error *err)
{
    pcast_status status = pcast_problem_init(problem, 1, 1, 1, TILE_QUERIES, TILE_KEYS, dim, err);
    if (status != PCAST_OK)
        return status;
    problem->mask = PCAST_MASK_CAUSAL;
    problem->window_left = TILE_WINDOW;
    pcast_probe_ask(problem);
    pcast_probe_count_keys(problem, far_below);
    return PCAST_OK;
}

static const pcast_probe probes[] = {
    {.id = "very-negative",
     .title = "equal scores of -131072 nats or less",
     .why = "All scores lie below a sentinel of -1e5: a running maximum that starts there stays "
            "above them, and every P is 0.",
     .signature = "O is 0 or NaN, or takes in keys that are masked; it should be 2.",
     .faults = {"sentinel-1e5"},
     .reference = "fa3",
     .build = build_very_negative},
    {.id = "below-zero",
     .title = "scores of -15 and -13.6 nats",
     .why = "A running maximum that starts at 0 stays there, and every P is less than half of "
            "E4M3's least number with any S.",
     .signature = "O is 0 instead of 1.63; the log-sum-exp is right.",
     .faults = {"maximum-starts-at-zero", "maximum-starts-at-one"},
     .reference = "fa3",
     .build = build_below_zero},
    {.id = "masked-rows",
     .title = "more queries than keys under a causal mask",
     .why = "The first eight of 24 queries see none of 16 keys. The mean of V is 2.",
     .signature = "the first eight rows are the mean of V, or NaN, instead of 0 with a log-sum-exp "
                  "of -Inf.",
     .faults = {"masked-rows-mean", "masked-rows-nan", "masked-rows-lse"},
     .reference = "fa3",
     .build = build_masked_rows},
    {.id = "masked-first-tile",
     .title = "a narrow window and scores of -15 nats",
     .why = "Queries of one query tile see different keys, so that some visit a tile of which they "
            "see nothing before any other. A maximum of 0 that is stored there stays above all "
            "scores.",
     .signature = "some rows are 0 or NaN, in runs that end where a KV tile begins.",
     .faults = {"maximum-stores-zero", "maximum-unguarded", "masked-tile-ends"},
     .reference = "fa3:query_block=128;block=64",
     .build = build_masked_tile},
};

const pcast_probe_theme pcast_probes_guard = {probes, sizeof probes / sizeof probes[0]};
