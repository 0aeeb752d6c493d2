/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Experiments: many rows under many configurations, and their statistics.
 *
 * A row is a trial of the synthetic experiment or one query of a tensor. All configurations see the
 * same rows. Rows are reduced in their own order, so results do not depend on the number of
 * threads. */
#ifndef PCAST_EXPERIMENT_H
#define PCAST_EXPERIMENT_H

#include "pcast/cpu.h"
#include "pcast/device.h"
#include "pcast/kernel.h"
#include "pcast/measure.h"
#include "pcast/tensor.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Statistics of one configuration over its rows (docs/numerics.md, section 7). Fractions and
 * mass_kept are ratios of sums over rows; a quantity with nothing to average over is NaN, a
 * standard error also with one row. */
typedef struct pcast_summary {
    uint64_t rows;
    double underflow;         /* flushed / other keys */
    double underflow_se;      /* its standard error over rows */
    double underflow_outside; /* the same outside the sinks' blocks */
    double subnormal;         /* other keys with a subnormal code / other keys */
    double saturated;         /* keys with p * S > 464 / keys with p > 0 */
    double mass_kept;         /* attention mass of the other keys after the cast / before it */
    double mse;               /* mean over rows and channels of squared error */
    double mse_se;            /* standard error over rows of the rows' means */
    double mse_given_p;       /* mean of its expectation given P */
    double rel_l2;            /* sqrt(sum of squared errors / sum of squared references); 0 where
                                 both are 0, infinite where only the references are */
    double max_abs;           /* largest error */
} pcast_summary;

/* Running means and central second moments of a pair of numbers (Welford). */
typedef struct pcast_moments {
    double mean_x, mean_y, xx, xy, yy;
} pcast_moments;

/* The reduction of rows to a summary. A tally starts as {0}; rows are added in their order, on
 * which the last bits of the sums depend. Experiments use it themselves, so a summary made of rows
 * that were stored is theirs to the bit. */
typedef struct pcast_tally {
    uint64_t rows;
    pcast_loss total;      /* sums of the rows' fields, max_abs the largest */
    pcast_moments flushed; /* flushed against other keys */
    pcast_moments mse;     /* the rows' mean squared error (x only) */
} pcast_tally;

void pcast_tally_add(pcast_tally *tally, const pcast_loss *row);
pcast_summary pcast_tally_summary(const pcast_tally *tally);

/* Called after each finished unit of work, from any thread but never from two at once. */
typedef void pcast_progress(void *context, size_t done, size_t total);

/* Called once for each row of a synthetic run, in the order of rows (0 is the first trial of the
 * run) and from the calling thread: losses[kernel_count][delta_count]. Anything but PCAST_OK ends
 * the run and is its status, without a message. */
typedef pcast_status pcast_row_sink(void *context, size_t row, const pcast_loss *losses);

/* What both kinds of experiment have in common. */
typedef struct pcast_run {
    const pcast_kernel *kernels;
    size_t kernel_count;
    int threads; /* 0: one for each processor */
    pcast_cpu cpu;
    pcast_device *device;     /* runs the rows, with the same results; NULL: the CPU. Of synthetic
                                 experiments and attend */
    pcast_progress *progress; /* may be NULL */
    void *progress_context;
    pcast_row_sink *each_row; /* may be NULL */
    void *row_context;
} pcast_run;

enum { PCAST_DELTA_MAX = 10000 };

/* What a synthetic row holds. */
typedef enum pcast_draw {
    PCAST_DRAW_NORMAL,
    PCAST_DRAW_EQUAL, /* scores 0 (Delta for sinks), V rounded to E4M3: what accumulation loses */
    PCAST_DRAW_ONES,  /* scores 0, V = 1: the same where every addend has the same sign */
} pcast_draw;

/* The paper's experiment: keys 0 .. sinks - 1 score Delta + N(0, sigma^2), the others N(0,
 * sigma^2), V ~ N(0,1); sigma is 1 in the paper. */
typedef struct pcast_synthetic {
    size_t keys, dim;
    size_t sinks; /* 1 .. min(block, keys - 1): the theory takes the sinks to share one block */
    uint64_t seed;
    size_t trials; /* rows, 1 .. 2^32 - first_trial */
    const double
        *deltas; /* -PCAST_DELTA_MAX .. PCAST_DELTA_MAX, far beyond where anything changes */
    size_t delta_count;
    double sigma; /* standard deviation of all scores, nats, up to 20; 0: 1 */
    pcast_draw draw;
    size_t first_trial; /* of a shard: a trial's draws depend on its number alone */
} pcast_synthetic;

/* Can the experiment have rows of this shape? keys >= 2, 1 <= sinks <= block (of a kernel with
 * this head dimension), sinks < keys, no mask; PCAST_ERR_VALUE names the field and why. */
pcast_status pcast_synthetic_check_row(const pcast_kernel *kernel, size_t keys, size_t dim,
                                       size_t sinks, pcast_error *err);

/* Fills summaries[kernel_count][delta_count]; all kernels must solve the same problem. Memory:
 * O(block * dim) a thread, plus a cache of the draws of at most 16 MiB a thread. PCAST_ERR_VALUE
 * names the field; PCAST_ERR_MEMORY. */
pcast_status pcast_synthetic_run(const pcast_synthetic *experiment, const pcast_run *run,
                                 pcast_summary *summaries, pcast_error *err);

/* Attention heads of a model: Q, K and V, or their scores and V. */
typedef struct pcast_heads {
    const pcast_tensor *q; /* [heads][queries][dim], not multiplied by the softmax scale */
    const pcast_tensor *k; /* [kv_heads][keys][dim]; kv_heads divides heads (grouped queries) */
    const pcast_tensor *v; /* [kv_heads][keys][value dim] */
    size_t sinks;          /* 1 .. keys - 1 */
    int auto_sinks;        /* 1: the keys with most attention mass, 0: the first keys */
    float softmax_scale;   /* 0: 1 / sqrt(dim) */
    /* In place of q and k, which are NULL then: [heads][queries][keys] in nats, Q.K times the
     * softmax scale, before softcap and mask. The head dimension, which chooses a block from a
     * table, is taken to be that of V. */
    const pcast_tensor *scores;
    const char *names[4]; /* of q, k, v and scores in messages; NULL: these words */
} pcast_heads;

typedef struct pcast_head {
    size_t queries;
    double
        gap; /* mean over queries of (largest score of a sink - mean of the other visible keys) */
    double gap_sigma; /* gap / root of the mean over queries of the other keys' score variance */
    size_t *sinks;    /* [sinks] ascending; the caller provides the array */
} pcast_head;

/* Fills heads[heads] and summaries[heads][kernel_count]; all kernels must solve the same problem.
 * Those with a v_range read V divided down to it (docs/numerics.md, step 9.6).
 * NaN gap where no query sees a sink and two other keys. PCAST_ERR_INPUT names the tensor whose
 * rank, shape or a number that is not finite is wrong; PCAST_ERR_VALUE the field; PCAST_ERR_MEMORY.
 */
pcast_status pcast_heads_run(const pcast_heads *experiment, const pcast_run *run, pcast_head *heads,
                             pcast_summary *summaries, pcast_error *err);

#ifdef __cplusplus
}
#endif

#endif
