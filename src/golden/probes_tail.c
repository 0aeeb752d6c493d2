/* SPDX-License-Identifier: MIT */
/* Probes of what lies far below the running maximum, or far above a stale one. */
#include "golden/probes.h"

#include "base/bits.h"

/* A tail key's P is 7 of the 2^17 parts of a sink's, 9.84 nats below. With S = 256 that is the code
 * of 7 steps of 2^-9; with S = 448 it is 12.25 steps, cast to 12; with S = 16 it is 7/16 of a step,
 * cast to 0. The sum of 1023 codes is below 2^13 steps and its terms are equal: exact with 14 bits.
 * V = 16 brings the tail's share of 0.052 to an output near 1. */
enum { TAIL_KEYS = 1024, TAIL_VALUE = 16 };
static const double tail_ratio = 7 * 0x1p-17;

static pcast_status build_tail(pcast_problem *problem, size_t dim, size_t sink, pcast_error *err)
{
    pcast_status status = pcast_problem_init(problem, 1, 1, 1, 1, TAIL_KEYS, dim, err);
    if (status != PCAST_OK)
        return status;
    pcast_probe_ask(problem);
    pcast_probe_run(problem, (pcast_probe_keys){0, 0, TAIL_KEYS}, pcast_probe_nats(tail_ratio),
                    TAIL_VALUE);
    pcast_probe_run(problem, (pcast_probe_keys){0, sink, sink + 1}, 0, 0);
    return PCAST_OK;
}

static pcast_status build_tail_first(pcast_problem *problem, size_t dim, pcast_error *err)
{
    return build_tail(problem, dim, 0, err);
}

static pcast_status build_tail_last(pcast_problem *problem, size_t dim, pcast_error *err)
{
    return build_tail(problem, dim, TAIL_KEYS - 1, err);
}

/* 32 keys weigh 11 times as much as 256 others at the other end, which fill a tile of their own:
 * 3.46 in log2, within a threshold of 4. Under the maximum of the low keys P is 11, a code that S =
 * 1 and 16 hold and that 256 takes to 2816. No more keys than that: what an accumulator has been
 * rescaled to is no multiple of later P V, so that each of them may be cut off at 14 bits. */
enum { HIGH_KEYS = 32, STALE_KEYS = PCAST_PROBE_TILE + HIGH_KEYS };
static const double stale_ratio = 11;

/* High keys are first .. first + HIGH_KEYS - 1. */
static pcast_status build_stale(pcast_problem *problem, size_t dim, size_t first, pcast_error *err)
{
    pcast_status status = pcast_problem_init(problem, 1, 1, 1, 1, STALE_KEYS, dim, err);
    if (status != PCAST_OK)
        return status;
    const pcast_probe_keys high = {0, first, first + HIGH_KEYS};
    pcast_probe_ask(problem);
    pcast_probe_run(problem, (pcast_probe_keys){0, 0, STALE_KEYS}, 0, 0);
    pcast_probe_run(problem, high, pcast_probe_nats(stale_ratio), 1);
    return PCAST_OK;
}

static pcast_status build_stale_rising(pcast_problem *problem, size_t dim, pcast_error *err)
{
    return build_stale(problem, dim, PCAST_PROBE_TILE, err);
}

static pcast_status build_stale_falling(pcast_problem *problem, size_t dim, pcast_error *err)
{
    return build_stale(problem, dim, 0, err);
}

#define TAIL_WHY                                                                                   \
    "One key holds 95 % of the attention and 1023 keys 9.84 nats below it the rest; only they "    \
    "have a value. With S = 256 and 448 their P is a code of 7 or 12 steps, with S = 1 and 16 it " \
    "is less than half a step"
#define TAIL_SIGNATURE                                                                             \
    "O is 0.83 where the tail is kept and 0 where it is flushed; the log-sum-exp is right in both"
#define STALE_WHY                                                                                  \
    "32 keys score 3.46 (log2) more than the others, whose tile is visited first: a maximum that " \
    "may lag by 4 stays, and P * S = 2816 with S = 256 saturates at 448"
#define STALE_SIGNATURE                                                                            \
    "O is 0.58, or 0.09 where the high keys saturate; the log-sum-exp is right in both, since "    \
    "the "                                                                                         \
    "row sum takes P before the cast"

static const pcast_probe probes[] = {
    {.id = "tail-flush-first",
     .title = "a long tail behind one heavy first key",
     .why = TAIL_WHY ". The first key sets the maximum for kernels that walk forward.",
     .signature = TAIL_SIGNATURE ".",
     .faults = {"tail-flush", "tail-flush-4", "tail-flush-16"},
     .reference = "fmha-v2",
     .build = build_tail_first},
    {.id = "tail-flush-last",
     .title = "a long tail before one heavy last key",
     .why = TAIL_WHY ". The last key sets the maximum for kernels that walk in reverse.",
     .signature = TAIL_SIGNATURE ".",
     .faults = {"tail-flush", "tail-flush-4", "tail-flush-16"},
     .reference = "fa3",
     .build = build_tail_last},
    {.id = "stale-maximum-rising",
     .title = "scores that rise late in the row",
     .why = STALE_WHY ". For kernels that walk forward.",
     .signature = STALE_SIGNATURE ".",
     .faults = {"stale-maximum", "stale-maximum-8"},
     .reference = "flashinfer-cutedsl",
     .build = build_stale_rising},
    {.id = "stale-maximum-falling",
     .title = "scores that fall early in the row",
     .why = STALE_WHY ". For kernels that walk in reverse.",
     .signature = STALE_SIGNATURE ".",
     .faults = {"stale-maximum", "stale-maximum-8"},
     .reference = "fa4",
     .build = build_stale_falling},
};

const pcast_probe_theme pcast_probes_tail = {probes, sizeof probes / sizeof probes[0]};
