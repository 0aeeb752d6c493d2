/* SPDX-License-Identifier: MIT */
/* Probes that read the codes of P off the output: one channel a key. */
#include "golden/probes.h"

#include "base/bits.h"

#include <math.h>

/* ---- A table of casts ---- */

/* Keys of the table: p = 1 at both ends, so that a kernel of either order has its maximum in the
 * first tile, groups between them, and one key more, which is a code. */
enum {
    TABLE_KEYS = 64,
    TIES = 24,       /* S a power of two: 8 in each of the binades below 1, 1/2 and 1/4 */
    TIES_448 = 16,   /* S = 448: 8 in each of the binades below 256 and 128, after S */
    SUBNORMALS = 21, /* 7 for each of S = 1, 16 and 256 */
};

/* Near the middle between codes (8 + i)/8 and (9 + i)/8 of a binade: above it where the lower code
 * is even, below where it is odd, by 2^-9 of the binade. A bfloat16 has steps of 2^-7 there, so
 * going by way of it lands on the middle, and its tie goes to the even code: the other one. */
static double near_tie(size_t t)
{
    const double side = t % 2 == 0 ? 0x1p-6 : -0x1p-6; /* in steps of 1/8 */
    return ldexp(8.5 + (double)(t % 8) + side, -3 - 1 - (int)(t / 8));
}

/* 0.7 of a step above the codes of 0 .. 6 steps of 2^-9: rounded up, and far from a tie. */
static double subnormal(size_t t)
{
    static const int log2_scale[] = {0, 4, 8};
    return ldexp(0.7 + (double)(t % 7), PCAST_PROBE_LEAST_EXP - log2_scale[t / 7]);
}

static double table_ratio(size_t key)
{
    if (key == 0 || key == TABLE_KEYS - 1)
        return 1;
    key--;
    if (key < TIES)
        return near_tie(key);
    key -= TIES;
    if (key < TIES_448)
        return near_tie(key) * 256 / 448;
    key -= TIES_448;
    return key < SUBNORMALS ? subnormal(key) : 0x1.2p-5;
}

/* A power of two that brings p V to 1 .. 2, as far as 2^8, E4M3's largest, does. */
static float table_value(double ratio)
{
    int exponent = 0;
    frexp(ratio, &exponent); /* 2^(exponent - 1) <= ratio */
    return (float)ldexp(1, exponent < -7 ? 8 : 1 - exponent);
}

static pcast_status build_table(pcast_problem *problem, size_t dim, pcast_error *err)
{
    pcast_status status = pcast_problem_init(problem, 1, 1, 1, 1, TABLE_KEYS, dim, err);
    if (status != PCAST_OK)
        return status;
    /* Scores of the tie keys lie around 0, where raw scores are densest; what the maximum's own raw
     * score misses must not shift the others against it. */
    const double scale = (double)problem->softmax_scale;
    const double top = pcast_probe_raw(pcast_probe_nats(8) / 2, scale) * scale;
    pcast_probe_ask(problem);
    for (size_t j = 0; j < TABLE_KEYS; j++) {
        const double ratio = table_ratio(j);
        pcast_probe_score(problem, 0, j, top + pcast_probe_nats(ratio));
        pcast_probe_one_hot(problem, 0, j, TABLE_KEYS, table_value(ratio));
    }
    return PCAST_OK;
}

/* ---- Which key a value belongs to ---- */

/* E4M3's code `steps` below that of 1, and 1.5 % more, so that S = 448 makes no ties either. */
static double code_below_one(size_t steps)
{
    if (steps == 0)
        return 1;
    const double significand = 15 - (double)((steps - 1) % 8);
    return 1.015 * ldexp(significand, -4 - (int)((steps - 1) / 8));
}

/* 31 codes over 32 keys: p = 1 for the first of each 16, codes an even number of steps below it in
 * one run of 16 and an odd number in the next. The factor of 7 takes neighbours far apart. */
static size_t layout_steps(size_t key)
{
    const size_t place = key % 16, odd_run = key / 16 % 2;
    return place == 0 ? 0 : 2 * (7 * place % 16) - odd_run;
}

static pcast_status build_layout(pcast_problem *problem, size_t dim, pcast_error *err)
{
    pcast_status status = pcast_problem_init(problem, 1, 1, 1, 1, dim, dim, err);
    if (status != PCAST_OK)
        return status;
    pcast_probe_ask(problem);
    for (size_t j = 0; j < dim; j++) {
        pcast_probe_score(problem, 0, j, pcast_probe_nats(code_below_one(layout_steps(j))));
        pcast_probe_one_hot(problem, 0, j, dim, 1);
    }
    return PCAST_OK;
}

static const pcast_probe probes[] = {
    {.id = "cast-table",
     .title = "64 casts of P, one a channel",
     .why = "V is 0 but for one channel a key, so that each channel is one code of P over the row "
            "sum. P lies at 1, beside ties for S a power of two and for S = 448, and among the "
            "subnormal codes of S = 1, 16 and 256.",
     .signature = "a cast toward zero lowers most channels by up to a code; one by way of bfloat16 "
                  "takes channels 1 to 24 to the other neighbour, with S = 448 25 to 40; a cast "
                  "that saturates at 240 "
                  "lowers channels 0 and 63 by 6 %; flushed subnormals are zeros.",
     .faults = {"cast-truncates", "cast-twice", "cast-loses-top", "cast-flushes-subnormals"},
     .reference = "fa3",
     .build = build_table},
    {.id = "v-layout",
     .title = "a different P for each key of V",
     .why = "V is the identity, so that channel c shows P of key c; within 32 keys no two but the "
            "heaviest have the same code.",
     .signature = "channels of O are exchanged within groups of 16 or 32.",
     .faults = {"v-permuted-16", "v-permuted-32", "v-reversed-8"},
     .reference = "fa3",
     .build = build_layout},
};

const pcast_probe_theme pcast_probes_cast = {probes, sizeof probes / sizeof probes[0]};
