/* SPDX-License-Identifier: MIT */
/* Counts and errors of one row, block by block (docs/numerics.md, section 6). Sums over the keys of
 * a block use the 16 lanes and the tree of the row sum, so that a faster engine can keep their
 * bits. */
#include "measure/loss.h"

#include "base/bits.h"

#include <math.h>

enum { LANES = 16, SIGN = 0x80, LEAST_NORMAL = 0x08 };

void pcast_code_values_init(pcast_code_values *codes, const pcast_kernel *kernel)
{
    codes->scale = kernel->scale;
    for (int code = 0; code < 256; code++)
        codes->value[code] = pcast_decode_f64(PCAST_E4M3, (uint64_t)code) / (double)kernel->scale;
}

void pcast_loss_start(pcast_loss_meter *meter, const pcast_code_values *codes)
{
    *meter = (pcast_loss_meter){.codes = codes};
}

/* Sums of one block, by lane. */
typedef struct lane_sums {
    double mass[LANES], kept[LANES], error[LANES];
} lane_sums;

static double tree(double lane[LANES])
{
    for (int width = LANES / 2; width >= 1; width /= 2)
        for (int i = 0; i < width; i++)
            lane[i] += lane[i + width];
    return lane[0];
}

static void count_key(pcast_loss *loss, float scaled, uint8_t code, int other, int outside)
{
    loss->unmasked++;
    loss->saturated += scaled > 464.0f;
    if (!other)
        return;
    const int flushed = (code & ~SIGN) == 0;
    loss->other++;
    loss->flushed += (uint64_t)flushed;
    loss->outside += (uint64_t)outside;
    loss->outside_flushed += (uint64_t)(outside && flushed);
    loss->subnormal += !flushed && (code & ~SIGN) < LEAST_NORMAL;
}

void pcast_loss_tile(pcast_loss_meter *meter, const pcast_tile *tile, const uint8_t *is_sink)
{
    pcast_loss *loss = &meter->loss;
    int outside = 1;
    for (size_t i = 0; i < tile->count; i++)
        outside &= !is_sink[i];

    lane_sums sums = {0};
    for (size_t i = 0; i < tile->count; i++) {
        const double p = (double)tile->p[i];
        const double value = meter->codes->value[tile->p8[i]];
        const double difference = p - value;
        sums.error[i % LANES] += difference * difference;
        if (!is_sink[i]) {
            sums.mass[i % LANES] += p;
            sums.kept[i % LANES] += value;
        }
        if (p > 0)
            count_key(loss, tile->p[i] * meter->codes->scale, tile->p8[i], !is_sink[i], outside);
    }
    const double alpha = (double)tile->alpha;
    loss->mass = alpha * loss->mass + tree(sums.mass);
    loss->kept = alpha * loss->kept + tree(sums.kept);
    loss->mse_given_p = (alpha * alpha) * loss->mse_given_p + tree(sums.error);
}

pcast_loss pcast_loss_finish(pcast_loss_meter *meter, float l, const float *o,
                             const double *reference, size_t dim)
{
    pcast_loss *loss = &meter->loss;
    loss->mass /= (double)l;
    loss->kept /= (double)l;
    loss->mse_given_p /= (double)l * (double)l;
    loss->channels = dim;
    for (size_t c = 0; c < dim; c++) {
        const double error = (double)o[c] - reference[c];
        loss->error2 += error * error;
        loss->reference2 += reference[c] * reference[c];
        loss->max_abs = pcast_larger(loss->max_abs, fabs(error));
    }
    return *loss;
}
