/* SPDX-License-Identifier: MIT */
/* Orders of the row sum. In the accumulator of an m64n8 or m16n8 instruction four threads share a
 * row: of every 8 columns thread t holds 2t and 2t + 1. Columns beyond the block hold p = 0, which
 * changes no sum of p >= 0. */
#include "softmax/row_sum.h"

#include "base/bits.h"

#include <math.h>

enum { THREADS = PCAST_ROW_SUM_THREADS, COLUMNS = 8, CHAINS = 4 };

void pcast_row_sum_start(pcast_row *row, int sink_first)
{
    const pcast_kernel *kernel = &row->plan->kernel;
    const int each = kernel->sum_order == PCAST_SUM_ORDER_SAGE && !sink_first;
    const float initial = sink_first ? row->plan->inside : kernel->initial_sum;
    row->l = each ? (float)THREADS * initial : initial;
    row->wide_l = (double)initial;
    for (int t = 0; t < THREADS; t++)
        row->thread_l[t] = t == 0 || each ? initial : 0.0f;
}

void pcast_row_sum_copy(pcast_row *row, const pcast_row *from)
{
    row->l = from->l;
    row->wide_l = from->wide_l;
    memcpy(row->thread_l, from->thread_l, sizeof row->thread_l);
}

/* Column number n, n = 0, 1, 2, ..., of thread t. */
static size_t column_of(size_t t, size_t n)
{
    return n / 2 * COLUMNS + 2 * t + n % 2;
}

static float column(const float *x, size_t count, size_t t, size_t n)
{
    const size_t i = column_of(t, n);
    return i < count ? x[i] : 0.0f;
}

/* Columns that each thread holds of a block. */
static size_t columns_each(size_t count)
{
    return (count + COLUMNS - 1) / COLUMNS * 2;
}

/* The first column joins by fma, the others one after another. */
static float add_fa3(float l, float alpha, const float *x, size_t count, size_t t)
{
    l = fmaf(l, alpha, column(x, count, t, 0));
    for (size_t n = 1; n < columns_each(count); n++)
        l = l + column(x, count, t, n);
    return l;
}

/* Pairs of two neighbouring groups of 8 at a time: ((p0 + p1) + p8) + p9. */
static float add_sage(float l, float alpha, const float *x, size_t count, size_t t)
{
    l = l * alpha;
    for (size_t n = 0; n < columns_each(count); n += 4) {
        const float pair = column(x, count, t, n) + column(x, count, t, n + 1);
        l = l + (pair + column(x, count, t, n + 2) + column(x, count, t, n + 3));
    }
    return l;
}

static float add_hpc_ops(float l, float alpha, const float *x, size_t count, size_t t)
{
    float sum = 0.0f;
    for (size_t n = 0; n < columns_each(count); n++)
        sum = sum + column(x, count, t, n);
    return fmaf(l, alpha, sum);
}

/* One thread holds the row: four chains of packed pairs. */
static float add_fa4(float l, float alpha, const float *x, size_t count)
{
    float chain[CHAINS][2] = {{l * alpha, 0.0f}};
    for (size_t i = 0; i < count; i++)
        chain[i / 2 % CHAINS][i % 2] += x[i];
    for (int lane = 0; lane < 2; lane++)
        chain[0][lane] = (chain[0][lane] + chain[1][lane]) + (chain[2][lane] + chain[3][lane]);
    return chain[0][0] + chain[0][1];
}

static float sum_fmha_v2(const float *x, size_t count)
{
    float thread[THREADS];
    for (size_t t = 0; t < THREADS; t++) {
        float chain[CHAINS] = {0};
        for (size_t n = 0; n < columns_each(count); n++)
            chain[n % CHAINS] += column(x, count, t, n);
        thread[t] = (chain[0] + chain[1]) + (chain[2] + chain[3]);
    }
    return (thread[0] + thread[1]) + (thread[2] + thread[3]);
}

/* A sum by threads, each with its own through all blocks; those `near` lanes apart meet first. */
static void add_by_thread(pcast_row *row, float alpha, const float *x, size_t count,
                          float (*add)(float, float, const float *, size_t, size_t), int near)
{
    float *l = row->thread_l;
    for (size_t t = 0; t < THREADS; t++)
        l[t] = add(l[t], alpha, x, count, t);
    row->l = near == 1 ? (l[0] + l[1]) + (l[2] + l[3]) : (l[0] + l[2]) + (l[1] + l[3]);
}

static void add_wide(pcast_row *row, float alpha, const float *x, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (double)x[i];
    row->wide_l = fma((double)alpha, row->wide_l, sum);
    row->l = (float)row->wide_l;
}

void pcast_row_sum_add(pcast_row *row, float alpha, const float *x, size_t count)
{
    switch (row->plan->kernel.sum_order) {
    case PCAST_SUM_ORDER_FA3:
        add_by_thread(row, alpha, x, count, add_fa3, 2);
        return;
    case PCAST_SUM_ORDER_SAGE:
        add_by_thread(row, alpha, x, count, add_sage, 1);
        return;
    case PCAST_SUM_ORDER_HPC_OPS:
        add_by_thread(row, alpha, x, count, add_hpc_ops, 1);
        return;
    case PCAST_SUM_ORDER_FA4:
        row->l = add_fa4(row->l, alpha, x, count);
        return;
    case PCAST_SUM_ORDER_FMHA_V2:
        row->l = fmaf(alpha, row->l, sum_fmha_v2(x, count));
        return;
    case PCAST_SUM_ORDER_FP64:
        add_wide(row, alpha, x, count);
        return;
    case PCAST_SUM_ORDER_REFERENCE:
    case PCAST_SUM_ORDER_UNSETTLED:
        row->l = fmaf(alpha, row->l, row->plan->engine->sum(x, count));
        return;
    }
}
