/* SPDX-License-Identifier: MIT */
/* The loops of the reference and the loss on the vectors of one CPU level: the including file names
 * the table by PCAST_MEASURE_ENGINE. */
#include "measure/engine_body.h"

#include "base/vector.h"
#include "math/exp_vector.h"

static void weights(const float *scores, double max, double *w, size_t n)
{
    size_t i = 0;
    for (; i + PCAST_LANES <= n; i += PCAST_LANES) {
        const pcast_vd z = pcast_vd_from_vf(pcast_vf_load(scores + i));
        const pcast_vd y = pcast_exp_f64_vector(z - max);
        memcpy(w + i, &y, sizeof y);
    }
    if (i < n) {
        pcast_vf z = {0};
        memcpy(&z, scores + i, (n - i) * sizeof *scores);
        const pcast_vd y = pcast_exp_f64_vector(pcast_vd_from_vf(z) - max);
        memcpy(w + i, &y, (n - i) * sizeof *w);
    }
}

/* Channels c .. c + REFERENCE_VECTORS * PCAST_LANES - 1. */
enum { REFERENCE_VECTORS = 4 };

static inline void reference_tile(double *o, double *lost, const double *w, const float *v,
                                  size_t count, size_t dim)
{
    pcast_vd sum[REFERENCE_VECTORS], rest[REFERENCE_VECTORS];
    PCAST_UNROLLED (k, REFERENCE_VECTORS) {
        sum[k] = pcast_vd_load(o + k * PCAST_LANES);
        rest[k] = pcast_vd_load(lost + k * PCAST_LANES);
    }
    for (size_t key = 0; key < count; key++) {
        if (w[key] == 0)
            continue;
        const float *const value = v + key * dim;
        PCAST_UNROLLED (k, REFERENCE_VECTORS) {
            const pcast_vd x = w[key] * pcast_vd_from_vf(pcast_vf_load(value + k * PCAST_LANES));
            const pcast_vd s = sum[k] + x, part = s - sum[k];
            rest[k] += (sum[k] - (s - part)) + (x - part);
            sum[k] = s;
        }
    }
    PCAST_UNROLLED (k, REFERENCE_VECTORS) {
        pcast_vd_store(o + k * PCAST_LANES, sum[k]);
        pcast_vd_store(lost + k * PCAST_LANES, rest[k]);
    }
}

static void reference(double *o, double *lost, const double *w, const float *v, size_t count,
                      size_t dim)
{
    enum { TILE = REFERENCE_VECTORS * PCAST_LANES };
    size_t c = 0;
    for (; c + TILE <= dim; c += TILE)
        reference_tile(o + c, lost + c, w, v + c, count, dim);
    reference_channels(o, lost, w, v, count, dim, c);
}

enum { LOSS_VECTORS = PCAST_LOSS_LANES / PCAST_LANES };

/* One lane vector of 16 keys. Counts are sums of masks, which are -1. */
typedef struct lane_state {
    pcast_vd mass, kept, error;
    pcast_vu positive, flushed, subnormal, saturated;
} lane_state;

static inline void add_lanes(const pcast_loss_block *block, size_t i, lane_state *lanes)
{
    pcast_vw words;
    memcpy(&words, block->codes + i, sizeof words);
    const pcast_vu codes = pcast_vu_from_vw(words);
    pcast_vd p = pcast_vd_from_vf(pcast_vf_load(block->p + i));
    if (block->p_scale != 1)
        p = p / block->p_scale;
    const pcast_vd q = pcast_vd_gather(block->value, codes), difference = p - q;
    lanes->mass += p;
    lanes->kept += q;
    lanes->error += difference * difference;
    const pcast_vu positive = (pcast_vu)(p > 0), magnitude = codes & (uint64_t)~block->sign;
    const pcast_vd scaled = pcast_vd_from_vf(pcast_vf_load(block->scaled + i));
    lanes->positive -= positive;
    lanes->flushed -= positive & (pcast_vu)(q == 0);
    lanes->subnormal -= positive & (pcast_vu)(magnitude > 0) &
                        (pcast_vu)(magnitude < (uint64_t)block->least_normal);
    lanes->saturated -= positive & (pcast_vu)(scaled > block->overflow_bound);
}

static uint64_t total(pcast_vu lanes)
{
    uint64_t sum = 0;
    for (int i = 0; i < PCAST_LANES; i++)
        sum += lanes[i];
    return sum;
}

static void loss(const pcast_loss_block *block, pcast_loss_sums *sums)
{
    lane_state lanes[LOSS_VECTORS] = {0};
    size_t i = 0;
    for (; i + PCAST_LOSS_LANES <= block->count; i += PCAST_LOSS_LANES)
        for (size_t k = 0; k < LOSS_VECTORS; k++)
            add_lanes(block, i + k * PCAST_LANES, &lanes[k]);
    *sums = (pcast_loss_sums){0};
    for (size_t k = 0; k < LOSS_VECTORS; k++) {
        memcpy(sums->mass + k * PCAST_LANES, &lanes[k].mass, sizeof lanes[k].mass);
        memcpy(sums->kept + k * PCAST_LANES, &lanes[k].kept, sizeof lanes[k].kept);
        memcpy(sums->error + k * PCAST_LANES, &lanes[k].error, sizeof lanes[k].error);
        sums->positive += total(lanes[k].positive);
        sums->flushed += total(lanes[k].flushed);
        sums->subnormal += total(lanes[k].subnormal);
        sums->saturated += total(lanes[k].saturated);
    }
    loss_keys(block, i, sums);
}

const pcast_measure_engine PCAST_MEASURE_ENGINE = {weights, reference, loss};
