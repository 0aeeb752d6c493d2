/* SPDX-License-Identifier: MIT */
/* Probes of the product P.V: how wide its accumulator is, and which head's V it takes. */
#include "golden/probes.h"

#include "base/bits.h"

#include <stdlib.h>

/* Equal scores; a quarter of the keys has V = 16, the others 1: the first quarter in the lower half
 * of the channels, the last in the upper. In units of P the heavy quarter sums to 2^14, under which
 * an accumulator of 14 bits cuts 1 off (and 448 of units of 1, cut to steps of 512): 3072 of 19456
 * are lost, in the channels where the heavy keys come first. A tile of up to 256 keys sums to at
 * most 2^12 and is exact, also where a tile holds both kinds. */
enum { WIDTH_KEYS = 4096, WIDTH_HEAVY = WIDTH_KEYS / 4, WIDTH_VALUE = 16 };

static pcast_status build_width(pcast_problem *problem, size_t dim, pcast_error *err)
{
    pcast_status status = pcast_problem_init(problem, 1, 1, 1, 1, WIDTH_KEYS, dim, err);
    if (status != PCAST_OK)
        return status;
    pcast_probe_ask(problem);
    for (size_t j = 0; j < WIDTH_KEYS; j++) {
        float *v = problem->v + j * dim;
        for (size_t c = 0; c < dim; c++) {
            const int first = c < dim / 2;
            const int heavy = first ? j < WIDTH_HEAVY : j >= WIDTH_KEYS - WIDTH_HEAVY;
            v[c] = heavy ? WIDTH_VALUE : 1;
        }
    }
    return PCAST_OK;
}

/* 448 is E4M3's largest number; 147 keys of it with S = 1, and a single one from S = 147 up, pass
 * FP16's 65504. */
enum { OVERFLOW_KEYS = 256, OVERFLOW_VALUE = 448 };

static pcast_status build_overflow(pcast_problem *problem, size_t dim, pcast_error *err)
{
    pcast_status status = pcast_problem_init(problem, 1, 1, 1, 1, OVERFLOW_KEYS, dim, err);
    if (status != PCAST_OK)
        return status;
    pcast_probe_ask(problem);
    for (size_t j = 0; j < OVERFLOW_KEYS; j++)
        for (size_t c = 0; c < dim; c++)
            problem->v[j * dim + c] = c % 2 == 0 ? OVERFLOW_VALUE : -OVERFLOW_VALUE;
    return PCAST_OK;
}

/* Each head of V is one number. */
enum { MAP_KV_HEADS = 3, MAP_HEADS = 2 * MAP_KV_HEADS, MAP_KEYS = 32 };

static pcast_status build_head_map(pcast_problem *problem, size_t dim, pcast_error *err)
{
    static const float values[MAP_KV_HEADS] = {1, 2, -4};
    pcast_status status =
        pcast_problem_init(problem, 1, MAP_HEADS, MAP_KV_HEADS, 1, MAP_KEYS, dim, err);
    if (status != PCAST_OK)
        return status;
    pcast_probe_ask(problem);
    for (size_t h = 0; h < MAP_KV_HEADS; h++)
        pcast_probe_run(problem, (pcast_probe_keys){h, 0, MAP_KEYS}, 0, values[h]);
    return PCAST_OK;
}

/* Three sequences whose K and V lie 2^31 numbers apart: the third begins at 2^32. */
enum { INDEX_BATCH = 3, INDEX_KEYS = 64 };

static pcast_status build_index(pcast_problem *problem, size_t dim, pcast_error *err)
{
    static const float values[INDEX_BATCH] = {1, 2, -4};
    pcast_status status = pcast_problem_init(problem, INDEX_BATCH, 1, 1, 1, INDEX_KEYS, dim, err);
    if (status != PCAST_OK)
        return status;
    problem->allocated_keys = ((size_t)1 << 31) / dim;
    problem->kv_lengths = malloc(INDEX_BATCH * sizeof *problem->kv_lengths);
    if (problem->kv_lengths == NULL)
        return pcast_probe_no_memory(err);
    pcast_probe_ask(problem);
    for (size_t b = 0; b < INDEX_BATCH; b++) {
        problem->kv_lengths[b] = INDEX_KEYS;
        pcast_probe_run(problem, (pcast_probe_keys){b, 0, INDEX_KEYS}, 0, values[b]);
    }
    return PCAST_OK;
}

static const pcast_probe probes[] = {
    {.id = "accumulator-width",
     .title = "heavy values first, many light ones after them",
     .why = "The sum of the heavy quarter is 2^14 times a light term, which 14 bits therefore cut "
            "off, while the sum of any tile is exact with 14 bits. Lower channels are for kernels "
            "that walk forward, upper ones for those in reverse.",
     .signature = "O is 4 instead of 4.75 in one half of the channels.",
     .faults = {"accumulator-not-promoted", "accumulator-narrow"},
     .reference = "fa3-vllm:semantics=hardware",
     .build = build_width},
    {.id = "fp16-overflow",
     .title = "the largest values",
     .why = "All P are equal and V is E4M3's largest number, of either sign by channel, so that "
            "the sum of P V passes FP16's 65504 with any S from 1 up.",
     .signature = "O is infinite or NaN.",
     .faults = {"accumulator-fp16"},
     .reference = "fa3",
     .build = build_overflow},
    {.id = "head-map",
     .title = "six heads that share three heads of K and V",
     .why = "Each head of V is one number, which O returns whatever the scores are.",
     .signature = "O by head is 1, 2, -4, 1, 2, -4 instead of 1, 1, 2, 2, -4, -4.",
     .faults = {"heads-interleaved", "heads-shifted", "heads-first"},
     .reference = "fa3",
     .build = build_head_map},
    {.id = "index-overflow",
     .title = "three sequences of K and V, 2^31 numbers each",
     .why = "V is one number in each sequence, of which the second begins at number 2^31 and the "
            "third at 2^32, where an index of 32 bits is negative or 0. Only the first 64 keys "
            "are valid.",
     .signature =
         "O of the third sequence is 1 instead of -4, and that of the second may be 1 or 0; "
         "where indices have a sign, reading may fail before.",
     .faults = {"index-wraps", "index-wraps-31", "index-negative"},
     .reference = "fa3",
     .build = build_index,
     .large = 1},
};

const pcast_probe_theme pcast_probes_product = {probes, sizeof probes / sizeof probes[0]};
