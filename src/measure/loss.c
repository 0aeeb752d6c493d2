/* SPDX-License-Identifier: MIT */
/* Counts and errors of one row, block by block (docs/numerics.md, section 6). Sums over the keys of
 * a block use the 16 lanes and the tree of the row sum, so that a faster engine can keep their
 * bits. */
#include "measure/loss.h"

#include "base/bits.h"

#include <math.h>

enum { LANES = PCAST_LOSS_LANES };

void pcast_loss_units_init(pcast_loss_units *units, const pcast_kernel *kernel, pcast_cpu cpu)
{
    const pcast_format format = kernel->p_format;
    const int width = pcast_format_width(format);
    const double scale = (double)kernel->scale;
    *units = (pcast_loss_units){
        .engine = pcast_measure_engine_for(cpu),
        .scale = scale,
        .p_scale = kernel->scale_at == PCAST_SCALE_AT_EXPONENT ? scale : 1,
        .inside = kernel->sum_scale == PCAST_SUM_SCALE_IN ? scale : 1,
        .overflow_bound = pcast_format_overflow_bound(format),
        .sign = UINT32_C(1) << (width - 1),
        .least_normal = (uint32_t)pcast_format_least_normal(format),
        .narrow = width == 8,
        .sum_of_casts = kernel->row_sum == PCAST_ROW_SUM_CAST,
        .normalised = kernel->normalise == PCAST_NORMALISE_PARTITION,
    };
    for (uint32_t code = 0; units->narrow && code < 256; code++)
        units->value[code] = pcast_decode_f64(format, code) / scale;
}

void pcast_loss_start(pcast_loss_meter *meter, const pcast_loss_units *units,
                      pcast_loss_part *parts, size_t splits)
{
    *meter = (pcast_loss_meter){.units = units, .parts = parts};
    for (size_t s = 0; s < splits; s++)
        parts[s] = (pcast_loss_part){0};
}

static double tree(double lane[LANES])
{
    for (int width = LANES / 2; width >= 1; width /= 2)
        for (int i = 0; i < width; i++)
            lane[i] += lane[i + width];
    return lane[0];
}

static void count_key(pcast_loss *loss, const pcast_loss_units *units, float scaled, uint32_t code,
                      double q, int other, int outside)
{
    loss->unmasked++;
    loss->saturated += (double)scaled > units->overflow_bound;
    if (!other)
        return;
    const uint32_t magnitude = code & ~units->sign;
    const int flushed = q == 0;
    loss->other++;
    loss->flushed += (uint64_t)flushed;
    loss->outside += (uint64_t)outside;
    loss->outside_flushed += (uint64_t)(outside && flushed);
    loss->subnormal += magnitude > 0 && magnitude < units->least_normal;
}

/* p and its cast q, free of S. */
static void key_values(const pcast_loss_units *units, const pcast_tile *tile, size_t i, double *p,
                       double *q)
{
    *p = units->p_scale == 1 ? (double)tile->p[i] : (double)tile->p[i] / units->p_scale;
    *q = units->narrow ? units->value[tile->p8[i]] : (double)tile->p8_value[i] / units->scale;
}

/* What the error needs beside (p - q)^2 where p and q are divided by different sums. */
static void add_products(pcast_loss_part *part, const pcast_loss_units *units,
                         const pcast_tile *tile, double alpha)
{
    pcast_loss_part sums = {0};
    for (size_t i = 0; i < tile->count; i++) {
        double p, q;
        key_values(units, tile, i, &p, &q);
        sums.p += p;
        sums.pp += p * p;
        sums.pq += p * q;
        sums.qq += q * q;
    }
    part->p = alpha * part->p + sums.p;
    part->pp = (alpha * alpha) * part->pp + sums.pp;
    part->pq = (alpha * alpha) * part->pq + sums.pq;
    part->qq = (alpha * alpha) * part->qq + sums.qq;
}

/* A block that is all visible and without sinks, P in 8 bits. */
static void sum_block(pcast_loss_meter *meter, const pcast_tile *tile, pcast_loss_sums *sums)
{
    const pcast_loss_units *units = meter->units;
    pcast_loss *loss = &meter->loss;
    const pcast_loss_block block = {.count = tile->count,
                                    .p = tile->p,
                                    .scaled = tile->scaled,
                                    .codes = tile->p8,
                                    .p_scale = units->p_scale,
                                    .value = units->value,
                                    .overflow_bound = units->overflow_bound,
                                    .sign = units->sign,
                                    .least_normal = units->least_normal};
    units->engine->loss(&block, sums);
    loss->unmasked += sums->positive;
    loss->saturated += sums->saturated;
    loss->other += sums->positive;
    loss->flushed += sums->flushed;
    loss->outside += sums->positive;
    loss->outside_flushed += sums->flushed;
    loss->subnormal += sums->subnormal;
}

/* Any block, key by key. */
static void sum_keys(pcast_loss_meter *meter, const pcast_tile *tile, const uint8_t *is_sink,
                     int outside, pcast_loss_sums *sums)
{
    const pcast_loss_units *units = meter->units;
    for (size_t i = 0; i < tile->count; i++) {
        double p, q;
        key_values(units, tile, i, &p, &q);
        const double difference = p - q;
        sums->error[i % LANES] += difference * difference;
        const int seen = i >= tile->first_visible && i - tile->first_visible < tile->visible;
        if (seen && !is_sink[i]) {
            sums->mass[i % LANES] += p;
            sums->kept[i % LANES] += q;
        }
        if (seen && p > 0)
            count_key(&meter->loss, units, tile->scaled[i], tile->p8[i], q, !is_sink[i], outside);
    }
}

void pcast_loss_tile(pcast_loss_meter *meter, const pcast_tile *tile, const uint8_t *is_sink)
{
    const pcast_loss_units *units = meter->units;
    pcast_loss_part *part = &meter->parts[tile->split];
    int outside = 1;
    for (size_t i = 0; i < tile->count; i++)
        outside &= !is_sink[i];

    pcast_loss_sums sums = {0};
    if (units->narrow && outside && tile->visible == tile->count)
        sum_block(meter, tile, &sums);
    else
        sum_keys(meter, tile, is_sink, outside, &sums);
    const double alpha = (double)tile->alpha;
    part->mass = alpha * part->mass + tree(sums.mass);
    part->kept = alpha * part->kept + tree(sums.kept);
    part->error = (alpha * alpha) * part->error + tree(sums.error);
    if (units->sum_of_casts)
        add_products(part, units, tile, alpha);
}

/* Adds a split that weighs w in the row; l is its row sum without S. */
static void add_split(pcast_loss *loss, const pcast_loss_units *units, const pcast_loss_part *part,
                      double w, double l)
{
    const double exact = units->sum_of_casts ? part->p : l;
    double error = part->error / (l * l);
    if (units->sum_of_casts)
        error = part->pp / (exact * exact) - 2 * part->pq / (exact * l) + part->qq / (l * l);
    loss->mass += w * (part->mass / exact);
    loss->kept += w * (part->kept / l);
    loss->mse_given_p += (w * w) * error;
}

pcast_loss pcast_loss_finish(pcast_loss_meter *meter, const pcast_row *row, const double *reference)
{
    const pcast_loss_units *units = meter->units;
    pcast_loss *loss = &meter->loss;
    for (size_t s = 0; s < row->split_count; s++) {
        const pcast_split *split = &row->splits[s];
        if (split->weight == 0)
            continue;
        const double l = units->normalised ? 1 : (double)split->l / units->inside;
        add_split(loss, units, &meter->parts[s], (double)split->weight, l);
    }
    loss->channels = row->dim;
    for (size_t c = 0; c < row->dim; c++) {
        const double error = (double)row->o[c] - reference[c];
        loss->error2 += error * error;
        loss->reference2 += reference[c] * reference[c];
        loss->max_abs = pcast_larger(loss->max_abs, fabs(error));
    }
    return *loss;
}
