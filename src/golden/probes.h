/* SPDX-License-Identifier: MIT */
/* What probes are put together from: scores in nats made of E4M3's numbers, and values that tell
 * keys apart. Probes stand by theme in the files that use this.
 *
 * A score is made by the keys alone: queries hold 1 in PCAST_PROBE_DIGITS channels and 0 elsewhere,
 * and a key holds there the digits of its raw score q.k, four bits each. A raw score has 13 bits at
 * most and its digits one sign, so every partial sum of q.k is exact with the 14 bits that Hopper's
 * tensor core keeps.
 *
 * Levels of scores are chosen by what the cast should meet: with S a power of two a ratio p of few
 * bits is a code itself, and an accumulator adds multiples of one quantum. */
#ifndef PCAST_GOLDEN_PROBES_H
#define PCAST_GOLDEN_PROBES_H

#include "pcast/golden.h"

enum {
    PCAST_PROBE_DIGITS = 4,     /* 13 bits by four */
    PCAST_PROBE_RAW_BITS = 13,  /* of a raw score */
    PCAST_PROBE_LEAST_EXP = -9, /* log2 of E4M3's least number */
    PCAST_PROBE_TILE = 256,     /* keys of the largest KV tile that probes reckon with */
};

/* Keys first .. end - 1 of one head of K and V: `head` counts batch * kv_heads. */
typedef struct pcast_probe_keys {
    size_t head, first, end;
} pcast_probe_keys;

/* The raw score of 13 bits nearest to `nats` under `scale`, the softmax scale times descales. */
double pcast_probe_raw(double nats, double scale);

/* ln(ratio), ratio > 0. */
double pcast_probe_nats(double ratio);

/* Heads of K and V in all sequences. */
size_t pcast_probe_heads(const pcast_problem *problem);

/* Queries that read the digits of scores. */
void pcast_probe_ask(pcast_problem *problem);

/* One key's score, with the problem's softmax scale and descales as they are by then. */
void pcast_probe_score(pcast_problem *problem, size_t head, size_t key, double nats);

/* One value in all channels of a key. */
void pcast_probe_value(pcast_problem *problem, size_t head, size_t key, float value);

/* One value in the channels c of a key with c = key modulo `period`, 0 in others: O tells which
 * keys of each `period` were seen, and with which weight. */
void pcast_probe_one_hot(pcast_problem *problem, size_t head, size_t key, size_t period,
                         float value);

/* Score and value of a run of keys. */
void pcast_probe_run(pcast_problem *problem, pcast_probe_keys keys, double nats, float value);

/* All scores, and one-hot values of 1 with a period of `dim` keys, in all heads. */
void pcast_probe_count_keys(pcast_problem *problem, double nats);

/* The failure of a builder that lacks memory for an optional array. */
pcast_status pcast_probe_no_memory(pcast_error *err);

/* Probes by theme. */
typedef struct pcast_probe_theme {
    const pcast_probe *probes;
    size_t count;
} pcast_probe_theme;

extern const pcast_probe_theme pcast_probes_tail;    /* what S and the running maximum lose */
extern const pcast_probe_theme pcast_probes_cast;    /* codes of P, and whose they are */
extern const pcast_probe_theme pcast_probes_sum;     /* row sums, splits, the log-sum-exp */
extern const pcast_probe_theme pcast_probes_product; /* accumulators of P.V, heads */
extern const pcast_probe_theme pcast_probes_mask;    /* masks, windows, lengths */
extern const pcast_probe_theme pcast_probes_guard;   /* sentinels and masked rows */
extern const pcast_probe_theme pcast_probes_scale;   /* descales, softmax scale, learned sinks */

#endif
