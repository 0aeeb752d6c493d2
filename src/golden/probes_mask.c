/* SPDX-License-Identifier: MIT */
/* Probes of which keys a query sees. Scores are 0 and V is the identity, so that row i of O is the
 * mask of query i over the number of keys that it sees. */
#include "golden/probes.h"

#include "base/bits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Which keys each query sees. */
typedef struct query_view {
    pcast_mask mask;
    size_t queries, window_left, window_right;
} query_view;

/* As many keys as channels. */
static pcast_status build_view(pcast_problem *problem, size_t dim, query_view view,
                               pcast_error *err)
{
    pcast_status status = pcast_problem_init(problem, 1, 1, 1, view.queries, dim, dim, err);
    if (status != PCAST_OK)
        return status;
    problem->mask = view.mask;
    problem->window_left = view.window_left;
    problem->window_right = view.window_right;
    pcast_probe_count_keys(problem, 0);
    return PCAST_OK;
}

static pcast_status build_diagonal(pcast_problem *problem, size_t dim, pcast_error *err)
{
    return build_view(problem, dim, (query_view){PCAST_MASK_CAUSAL, dim, 0, 0}, err);
}

/* Fewer queries than keys: the two alignments differ by dim - 24 keys. */
enum { ALIGNED_QUERIES = 24 };

static pcast_status build_alignment(pcast_problem *problem, size_t dim, pcast_error *err)
{
    return build_view(problem, dim, (query_view){PCAST_MASK_CAUSAL, ALIGNED_QUERIES, 0, 0}, err);
}

static pcast_status build_top_left(pcast_problem *problem, size_t dim, pcast_error *err)
{
    return build_view(problem, dim, (query_view){PCAST_MASK_CAUSAL_TOP_LEFT, ALIGNED_QUERIES, 0, 0},
                      err);
}

/* Odd widths, which no tile has. */
enum { WINDOW_LEFT = 17, WINDOW_RIGHT = 9 };

static pcast_status build_window(pcast_problem *problem, size_t dim, pcast_error *err)
{
    return build_view(problem, dim, (query_view){PCAST_MASK_CAUSAL, dim, WINDOW_LEFT, 0}, err);
}

static pcast_status build_window_both(pcast_problem *problem, size_t dim, pcast_error *err)
{
    return build_view(problem, dim, (query_view){PCAST_MASK_NONE, dim, WINDOW_LEFT, WINDOW_RIGHT},
                      err);
}

/* Drafted tokens and the one before them. */
enum { DRAFT_QUERIES = 6 };

static pcast_status build_draft(pcast_problem *problem, size_t dim, pcast_error *err)
{
    return build_view(problem, dim, (query_view){PCAST_MASK_CAUSAL, DRAFT_QUERIES, 0, 0}, err);
}

/* Lengths around those of tiles, in a cache of 160 keys. */
static const size_t lengths[] = {1, 63, 64, 65, 127, 129, 160};
enum { LENGTHS = sizeof lengths / sizeof lengths[0], LENGTH_KEYS = 160 };

/* K and V of one sequence from key `length` on. */
static void poison(pcast_problem *problem, size_t sequence, size_t length)
{
    const size_t first = (sequence * problem->keys + length) * problem->dim;
    const size_t end = (sequence + 1) * problem->keys * problem->dim;
    for (size_t i = first; i < end; i++)
        problem->k[i] = problem->v[i] = NAN;
}

static pcast_status build_lengths(pcast_problem *problem, size_t dim, pcast_error *err)
{
    pcast_status status = pcast_problem_init(problem, LENGTHS, 1, 1, 1, LENGTH_KEYS, dim, err);
    if (status != PCAST_OK)
        return status;
    problem->kv_lengths = malloc(sizeof lengths);
    if (problem->kv_lengths == NULL)
        return pcast_probe_no_memory(err);
    memcpy(problem->kv_lengths, lengths, sizeof lengths);
    pcast_probe_ask(problem);
    pcast_probe_count_keys(problem, 0);
    for (size_t b = 0; b < LENGTHS; b++)
        poison(problem, b, lengths[b]);
    return PCAST_OK;
}

/* The sequence is dim keys long, in a cache with room for more than the queries. */
enum { CACHE_ROOM = 40 };

static pcast_status build_cache(pcast_problem *problem, size_t dim, pcast_error *err)
{
    pcast_status status =
        pcast_problem_init(problem, 1, 1, 1, ALIGNED_QUERIES, dim + CACHE_ROOM, dim, err);
    if (status != PCAST_OK)
        return status;
    problem->mask = PCAST_MASK_CAUSAL;
    problem->kv_lengths = malloc(sizeof *problem->kv_lengths);
    if (problem->kv_lengths == NULL)
        return pcast_probe_no_memory(err);
    problem->kv_lengths[0] = dim;
    pcast_probe_count_keys(problem, 0);
    poison(problem, 0, dim);
    return PCAST_OK;
}

#define MASK_WHY                                                                                   \
    "Q and K are 0 and V is the identity, so that channel c of O is 1 over the number of visible " \
    "keys where key c is one of them, and 0 elsewhere"
#define WINDOW_SIGNATURE                                                                           \
    "the first non-zero channel of a row is one too late or one too early, or all before it are "  \
    "non-zero; the other channels change with their number."

static const pcast_probe probes[] = {
    {.id = "mask-diagonal",
     .title = "a causal mask, as many queries as keys",
     .why = MASK_WHY ".",
     .signature = "the last non-zero channel of row i is i + 1 or i - 1, not i.",
     .faults = {"mask-late", "mask-early"},
     .reference = "fa3",
     .build = build_diagonal},
    {.id = "mask-alignment",
     .title = "a causal mask, 24 queries at the end of the keys",
     .why = MASK_WHY ". The last query sees all keys.",
     .signature = "the last non-zero channel of row i is i, not i + keys - 24.",
     .faults = {"mask-top-left"},
     .reference = "fa3",
     .build = build_alignment},
    {.id = "mask-alignment-top-left",
     .title = "a causal mask, 24 queries at the beginning of the keys",
     .why = MASK_WHY ". The first query sees one key.",
     .signature = "the last non-zero channel of row i is i + keys - 24, not i.",
     .faults = {"mask-bottom-right"},
     .reference = "fa3:mask=causal_top_left",
     .build = build_top_left},
    {.id = "mask-alignment-cache",
     .title = "a causal mask, 24 queries at the end of a sequence that does not fill its cache",
     .why = MASK_WHY ". The diagonal ends at the last valid key, 40 before the end of the cache.",
     .signature = "all rows see all valid keys; or the last non-zero channel of row i is i.",
     .faults = {"mask-end-of-cache", "mask-top-left"},
     .reference = "fa3",
     .build = build_cache},
    {.id = "mask-window",
     .title = "a causal window of 17 keys",
     .why = MASK_WHY ".",
     .signature = WINDOW_SIGNATURE,
     .faults = {"window-left-late", "window-left-early", "window-ignored"},
     .reference = "fa3",
     .build = build_window},
    {.id = "mask-window-both",
     .title = "a window of 17 keys to the left and 9 to the right",
     .why = MASK_WHY ".",
     .signature = WINDOW_SIGNATURE,
     .faults = {"window-left-late", "window-left-early", "window-ignored"},
     .reference = "fa3",
     .build = build_window_both},
    {.id = "mask-draft",
     .title = "six draft queries at the end of the keys",
     .why = MASK_WHY ". Draft queries see the cached keys and each other causally.",
     .signature = "rows before the last see keys that come after them.",
     .faults = {"mask-draft-open", "mask-late"},
     .reference = "fa3",
     .build = build_draft},
    {.id = "length-poison",
     .title = "sequences of 1 to 160 keys, NaN behind them",
     .why = "Scores are 0 and V counts the keys of each channel; K and V beyond a length are NaN, "
            "which reaches O wherever it is read as a key.",
     .signature = "O is NaN; or the last key is missing from its channel and the log-sum-exp is "
                  "that of one key fewer.",
     .faults = {"length-ignored", "length-short", "length-long"},
     .reference = "fa3",
     .build = build_lengths},
};

const pcast_probe_theme pcast_probes_mask = {probes, sizeof probes / sizeof probes[0]};
