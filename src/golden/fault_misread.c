/* SPDX-License-Identifier: MIT */
/* Problems as faulty kernels misread them. */
#include "golden/fault.h"

#include "math/constants.h"
#include "math/math.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int pcast_misread_top_left(pcast_problem *problem, const pcast_kernel *kernel)
{
    (void)kernel;
    if (problem->mask == PCAST_MASK_CAUSAL)
        problem->mask = PCAST_MASK_CAUSAL_TOP_LEFT;
    return 1;
}

int pcast_misread_bottom_right(pcast_problem *problem, const pcast_kernel *kernel)
{
    (void)kernel;
    if (problem->mask == PCAST_MASK_CAUSAL_TOP_LEFT)
        problem->mask = PCAST_MASK_CAUSAL;
    return 1;
}

/* Sequences of different lengths, each with a shift of its own, are left as they are. */
int pcast_misread_end_of_cache(pcast_problem *problem, const pcast_kernel *kernel)
{
    (void)kernel;
    if (problem->mask != PCAST_MASK_CAUSAL || problem->kv_lengths == NULL)
        return 1;
    for (size_t b = 1; b < problem->batch; b++)
        if (problem->kv_lengths[b] != problem->kv_lengths[0])
            return 1;
    problem->mask = PCAST_MASK_NONE;
    problem->window_right = problem->keys - problem->kv_lengths[0] + 1;
    return 1;
}

int pcast_misread_no_mask(pcast_problem *problem, const pcast_kernel *kernel)
{
    (void)kernel;
    problem->mask = PCAST_MASK_NONE;
    return 1;
}

int pcast_misread_window_late(pcast_problem *problem, const pcast_kernel *kernel)
{
    (void)kernel;
    problem->window_left -= problem->window_left > 1;
    return 1;
}

int pcast_misread_window_early(pcast_problem *problem, const pcast_kernel *kernel)
{
    (void)kernel;
    problem->window_left += problem->window_left > 0;
    return 1;
}

int pcast_misread_no_window(pcast_problem *problem, const pcast_kernel *kernel)
{
    (void)kernel;
    problem->window_left = problem->window_right = 0;
    return 1;
}

int pcast_misread_no_lengths(pcast_problem *problem, const pcast_kernel *kernel)
{
    (void)kernel;
    free(problem->kv_lengths);
    problem->kv_lengths = NULL;
    return 1;
}

int pcast_misread_short_lengths(pcast_problem *problem, const pcast_kernel *kernel)
{
    (void)kernel;
    for (size_t b = 0; problem->kv_lengths != NULL && b < problem->batch; b++)
        problem->kv_lengths[b] -= problem->kv_lengths[b] > 1;
    return 1;
}

int pcast_misread_long_lengths(pcast_problem *problem, const pcast_kernel *kernel)
{
    (void)kernel;
    for (size_t b = 0; problem->kv_lengths != NULL && b < problem->batch; b++)
        problem->kv_lengths[b] += problem->kv_lengths[b] < problem->keys;
    return 1;
}

static void scale_all(float *array, size_t count, float factor)
{
    for (size_t i = 0; array != NULL && i < count; i++)
        array[i] *= factor;
}

int pcast_misread_no_sink(pcast_problem *problem, const pcast_kernel *kernel)
{
    (void)kernel;
    free(problem->sink);
    problem->sink = NULL;
    return 1;
}

int pcast_misread_sink_in_log2(pcast_problem *problem, const pcast_kernel *kernel)
{
    (void)kernel;
    scale_all(problem->sink, problem->heads, PCAST_LN2_F32);
    return 1;
}

int pcast_misread_scaled_sink(pcast_problem *problem, const pcast_kernel *kernel)
{
    (void)kernel;
    scale_all(problem->sink, problem->heads, problem->softmax_scale);
    return 1;
}

int pcast_misread_sink_without_scale(pcast_problem *problem, const pcast_kernel *kernel)
{
    for (size_t h = 0; problem->sink != NULL && h < problem->heads; h++)
        problem->sink[h] -= pcast_log_f32(kernel->scale);
    return 1;
}

/* Behind the last head there happens to be a zero. */
int pcast_misread_next_sink(pcast_problem *problem, const pcast_kernel *kernel)
{
    (void)kernel;
    for (size_t h = 0; problem->sink != NULL && h < problem->heads; h++)
        problem->sink[h] = h + 1 < problem->heads ? problem->sink[h + 1] : 0;
    return 1;
}

static void drop(float **array)
{
    free(*array);
    *array = NULL;
}

int pcast_misread_no_q_descale(pcast_problem *problem, const pcast_kernel *kernel)
{
    (void)kernel;
    drop(&problem->q_descale);
    return 1;
}

int pcast_misread_no_k_descale(pcast_problem *problem, const pcast_kernel *kernel)
{
    (void)kernel;
    drop(&problem->k_descale);
    return 1;
}

int pcast_misread_no_v_descale(pcast_problem *problem, const pcast_kernel *kernel)
{
    (void)kernel;
    drop(&problem->v_descale);
    return 1;
}

int pcast_misread_no_qk_descale(pcast_problem *problem, const pcast_kernel *kernel)
{
    return pcast_misread_no_q_descale(problem, kernel) &&
           pcast_misread_no_k_descale(problem, kernel);
}

int pcast_misread_no_descale(pcast_problem *problem, const pcast_kernel *kernel)
{
    return pcast_misread_no_qk_descale(problem, kernel) &&
           pcast_misread_no_v_descale(problem, kernel);
}

static void square(float *array, size_t count)
{
    for (size_t i = 0; array != NULL && i < count; i++)
        array[i] *= array[i];
}

int pcast_misread_squared_v_descale(pcast_problem *problem, const pcast_kernel *kernel)
{
    (void)kernel;
    square(problem->v_descale, problem->kv_heads);
    return 1;
}

int pcast_misread_squared_descale(pcast_problem *problem, const pcast_kernel *kernel)
{
    square(problem->q_descale, problem->kv_heads);
    square(problem->k_descale, problem->kv_heads);
    return pcast_misread_squared_v_descale(problem, kernel);
}

int pcast_misread_first_descale(pcast_problem *problem, const pcast_kernel *kernel)
{
    float *const arrays[] = {problem->q_descale, problem->k_descale, problem->v_descale};
    (void)kernel;
    for (int a = 0; a < 3; a++)
        for (size_t h = 0; arrays[a] != NULL && h < problem->kv_heads; h++)
            arrays[a][h] = arrays[a][0];
    return 1;
}

int pcast_misread_swapped_descale(pcast_problem *problem, const pcast_kernel *kernel)
{
    float *const k = problem->k_descale;
    (void)kernel;
    problem->k_descale = problem->v_descale;
    problem->v_descale = k;
    return 1;
}

int pcast_misread_default_scale(pcast_problem *problem, const pcast_kernel *kernel)
{
    (void)kernel;
    problem->softmax_scale = (float)(1 / sqrt((double)problem->dim));
    return 1;
}

int pcast_misread_no_scale(pcast_problem *problem, const pcast_kernel *kernel)
{
    (void)kernel;
    problem->softmax_scale = 1;
    return 1;
}

int pcast_misread_scale_of_dim(pcast_problem *problem, const pcast_kernel *kernel)
{
    (void)kernel;
    problem->softmax_scale = 1 / (float)problem->dim;
    return 1;
}

int pcast_misread_scale_in_log2(pcast_problem *problem, const pcast_kernel *kernel)
{
    (void)kernel;
    problem->softmax_scale *= PCAST_LOG2_E_F32;
    return 1;
}

/* V by groups of keys: key `place` is multiplied by the P of key from(place). */
static int permute_v(pcast_problem *problem, size_t group, size_t (*from)(size_t place))
{
    const size_t size = group * problem->dim;
    float *copy = malloc(size * sizeof *copy);
    if (copy == NULL)
        return 0;
    const size_t tokens = problem->batch * problem->kv_heads * problem->keys;
    for (size_t first = 0; first + group <= tokens; first += group) {
        float *v = problem->v + first * problem->dim;
        memcpy(copy, v, size * sizeof *copy);
        for (size_t place = 0; place < group; place++)
            memcpy(v + from(place) * problem->dim, copy + place * problem->dim,
                   problem->dim * sizeof *v);
    }
    free(copy);
    return 1;
}

/* A thread of an accumulator holds columns 2t, 2t + 1 of every 8; the same thread of an 8-bit
 * operand holds 4 neighbours. */
static size_t accumulator_column_16(size_t place)
{
    const size_t thread = place / 4, r = place % 4;
    return r / 2 * 8 + 2 * thread + r % 2;
}

/* Likewise with all 8 columns of 32 that a thread holds side by side. */
static size_t accumulator_column_32(size_t place)
{
    const size_t thread = place / 8, r = place % 8;
    return r / 2 * 8 + 2 * thread + r % 2;
}

int pcast_misread_v_by_16(pcast_problem *problem, const pcast_kernel *kernel)
{
    (void)kernel;
    return permute_v(problem, 16, accumulator_column_16);
}

int pcast_misread_v_by_32(pcast_problem *problem, const pcast_kernel *kernel)
{
    (void)kernel;
    return permute_v(problem, 32, accumulator_column_32);
}

/* Within 8 keys the last takes the place of the first. */
static size_t reversed_8(size_t place)
{
    return 7 - place;
}

int pcast_misread_v_reversed(pcast_problem *problem, const pcast_kernel *kernel)
{
    (void)kernel;
    return permute_v(problem, 8, reversed_8);
}

/* Every head gets a head of K and V of its own: that of number from(head). */
static int map_heads(pcast_problem *problem, size_t (*from)(const pcast_problem *, size_t head))
{
    const size_t size = problem->keys * problem->dim, heads = problem->heads;
    float *k = calloc(problem->batch * heads, size * sizeof *k);
    float *v = calloc(problem->batch * heads, size * sizeof *v);
    if (k == NULL || v == NULL) {
        free(k);
        free(v);
        return 0;
    }
    for (size_t b = 0; b < problem->batch; b++)
        for (size_t h = 0; h < heads; h++) {
            const size_t read = b * problem->kv_heads + from(problem, h);
            memcpy(k + (b * heads + h) * size, problem->k + read * size, size * sizeof *k);
            memcpy(v + (b * heads + h) * size, problem->v + read * size, size * sizeof *v);
        }
    free(problem->k);
    free(problem->v);
    problem->k = k;
    problem->v = v;
    problem->kv_heads = heads;
    drop(&problem->q_descale); /* probes of heads have none */
    drop(&problem->k_descale);
    drop(&problem->v_descale);
    return 1;
}

static size_t interleaved(const pcast_problem *problem, size_t head)
{
    return head % problem->kv_heads;
}

static size_t shifted(const pcast_problem *problem, size_t head)
{
    return (head / (problem->heads / problem->kv_heads) + 1) % problem->kv_heads;
}

static size_t first_head(const pcast_problem *problem, size_t head)
{
    (void)problem;
    (void)head;
    return 0;
}

int pcast_misread_first_head(pcast_problem *problem, const pcast_kernel *kernel)
{
    (void)kernel;
    return map_heads(problem, first_head);
}

int pcast_misread_interleaved_heads(pcast_problem *problem, const pcast_kernel *kernel)
{
    (void)kernel;
    return map_heads(problem, interleaved);
}

int pcast_misread_shifted_heads(pcast_problem *problem, const pcast_kernel *kernel)
{
    (void)kernel;
    return map_heads(problem, shifted);
}

/* First number of a sequence, counted with so many bits. */
static uint64_t counted(const pcast_problem *problem, size_t batch, int bits)
{
    const uint64_t apart = (uint64_t)problem->kv_heads * problem->allocated_keys * problem->dim;
    return batch * apart % ((uint64_t)1 << bits);
}

/* A sequence whose numbers begin at 0 with so many bits is taken for the first. */
static void wrap(pcast_problem *problem, int bits)
{
    const size_t size = problem->kv_heads * problem->keys * problem->dim;
    for (size_t b = 1; b < problem->batch; b++) {
        if (counted(problem, b, bits) != 0)
            continue;
        memcpy(problem->k + b * size, problem->k, size * sizeof *problem->k);
        memcpy(problem->v + b * size, problem->v, size * sizeof *problem->v);
    }
}

int pcast_misread_wrapped(pcast_problem *problem, const pcast_kernel *kernel)
{
    (void)kernel;
    wrap(problem, 32);
    return 1;
}

int pcast_misread_wrapped_31(pcast_problem *problem, const pcast_kernel *kernel)
{
    (void)kernel;
    wrap(problem, 31);
    return 1;
}

int pcast_misread_negative(pcast_problem *problem, const pcast_kernel *kernel)
{
    const size_t size = problem->kv_heads * problem->keys * problem->dim;
    (void)kernel;
    wrap(problem, 32);
    for (size_t b = 1; b < problem->batch; b++)
        if (counted(problem, b, 32) >> 31 != 0) {
            memset(problem->k + b * size, 0, size * sizeof *problem->k);
            memset(problem->v + b * size, 0, size * sizeof *problem->v);
        }
    return 1;
}
