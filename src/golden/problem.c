/* SPDX-License-Identifier: MIT */
/* Problems: the memory behind a batch of heads. */
#include "pcast/golden.h"

#include "base/bits.h"
#include "base/error.h"
#include "base/fpenv.h"
#include "pcast/format.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of an array of these dimensions; SIZE_MAX where that is more than memory addresses. */
static size_t numbers(size_t batch, size_t heads, size_t tokens, size_t dim)
{
    size_t count = 0;
    if (__builtin_mul_overflow(batch, heads, &count) ||
        __builtin_mul_overflow(count, tokens, &count) || __builtin_mul_overflow(count, dim, &count))
        return SIZE_MAX;
    return count;
}

static size_t q_numbers(const pcast_problem *problem)
{
    return numbers(problem->batch, problem->heads, problem->queries, problem->dim);
}

static size_t kv_numbers(const pcast_problem *problem)
{
    return numbers(problem->batch, problem->kv_heads, problem->keys, problem->dim);
}

static float *zeros(size_t count)
{
    if (count > PTRDIFF_MAX / sizeof(float))
        return NULL;
    return calloc(count > 0 ? count : 1, sizeof(float));
}

static pcast_status out_of_memory(const pcast_problem *problem, pcast_error *err)
{
    return pcast_fail(err, PCAST_ERR_MEMORY,
                      "out of memory for a problem of %zu x %zu heads, %zu queries, %zu keys and "
                      "%zu channels",
                      problem->batch, problem->heads, problem->queries, problem->keys,
                      problem->dim);
}

pcast_status pcast_problem_init(pcast_problem *problem, size_t batch, size_t heads, size_t kv_heads,
                                size_t queries, size_t keys, size_t dim, pcast_error *err)
{
    pcast_fpenv env;
    pcast_fpenv_enter(&env);
    *problem = (pcast_problem){.batch = batch,
                               .heads = heads,
                               .kv_heads = kv_heads,
                               .queries = queries,
                               .keys = keys,
                               .dim = dim,
                               .allocated_keys = keys,
                               .softmax_scale = (float)(1 / sqrt((double)dim)),
                               .mask = PCAST_MASK_NONE};
    pcast_fpenv_leave(&env);
    problem->q = zeros(q_numbers(problem));
    problem->k = zeros(kv_numbers(problem));
    problem->v = zeros(kv_numbers(problem));
    if (problem->q == NULL || problem->k == NULL || problem->v == NULL)
        return out_of_memory(problem, err);
    return PCAST_OK;
}

void pcast_problem_free(pcast_problem *problem)
{
    free(problem->q);
    free(problem->k);
    free(problem->v);
    free(problem->q_descale);
    free(problem->k_descale);
    free(problem->v_descale);
    free(problem->sink);
    free(problem->kv_lengths);
    problem->q = problem->k = problem->v = NULL;
    problem->q_descale = problem->k_descale = problem->v_descale = problem->sink = NULL;
    problem->kv_lengths = NULL;
}

/* A copy of `count` elements, NULL of NULL. Clears *ok when memory runs out. */
static void *copy_of(const void *array, size_t count, size_t size, int *ok)
{
    if (array == NULL)
        return NULL;
    void *copy = count > PTRDIFF_MAX / size ? NULL : calloc(count > 0 ? count : 1, size);
    if (copy == NULL)
        *ok = 0;
    else
        memcpy(copy, array, count * size);
    return copy;
}

pcast_status pcast_problem_copy(const pcast_problem *problem, pcast_problem *copy, pcast_error *err)
{
    int ok = 1;
    *copy = *problem;
    copy->q = copy_of(problem->q, q_numbers(problem), sizeof *copy->q, &ok);
    copy->k = copy_of(problem->k, kv_numbers(problem), sizeof *copy->k, &ok);
    copy->v = copy_of(problem->v, kv_numbers(problem), sizeof *copy->v, &ok);
    copy->q_descale = copy_of(problem->q_descale, problem->kv_heads, sizeof *copy->q_descale, &ok);
    copy->k_descale = copy_of(problem->k_descale, problem->kv_heads, sizeof *copy->k_descale, &ok);
    copy->v_descale = copy_of(problem->v_descale, problem->kv_heads, sizeof *copy->v_descale, &ok);
    copy->sink = copy_of(problem->sink, problem->heads, sizeof *copy->sink, &ok);
    copy->kv_lengths = copy_of(problem->kv_lengths, problem->batch, sizeof *copy->kv_lengths, &ok);
    return ok ? PCAST_OK : out_of_memory(problem, err);
}

float *pcast_problem_descale(float **array, size_t count)
{
    free(*array);
    *array = zeros(count);
    for (size_t i = 0; *array != NULL && i < count; i++)
        (*array)[i] = 1;
    return *array;
}

size_t pcast_problem_rows(const pcast_problem *problem)
{
    return problem->batch * problem->heads * problem->queries;
}

static int is_e4m3(float x)
{
    const pcast_cast cast = {PCAST_OVERFLOW_NAN, PCAST_INF_NAN, PCAST_NAN_KEEP_SIGN};
    return pcast_decode_f32(PCAST_E4M3, pcast_encode_f32(PCAST_E4M3, x, cast)) == x;
}

/* Are all sums of the products of q and k multiples of one quantum that 13 bits hold, and no bit
 * below what a tensor core keeps beside the largest operands? Their exponents end at those of
 * E4M3's least normal number. */
static int is_exact(const float *q, const float *k, size_t dim)
{
    static const double least_normal = 0x1p-6, bits = 0x1p13;
    double sum = 0, size = 0, quantum = INFINITY;
    for (size_t c = 0; c < dim; c++) {
        const double a = fabs((double)q[c]), b = fabs((double)k[c]);
        if (a == 0 || b == 0)
            continue;
        int exponent;
        const double fraction = frexp(a * b, &exponent); /* of 8 bits at most */
        const unsigned digits = (unsigned)ldexp(fraction, 8);
        const double bit = ldexp(1, exponent - 8 + __builtin_ctz(digits));
        const double wide =
            (a > least_normal ? a : least_normal) * (b > least_normal ? b : least_normal);
        quantum = bit < quantum ? bit : quantum;
        size = wide > size ? wide : size;
        sum += a * b;
    }
    return sum == 0 || (sum <= bits * quantum && size <= bits * quantum);
}

static pcast_status check_head(const pcast_problem *problem, size_t batch, size_t kv_head,
                               size_t keys, pcast_error *err)
{
    const size_t dim = problem->dim, group = problem->heads / problem->kv_heads;
    const size_t first = (batch * problem->kv_heads + kv_head) * problem->keys * dim;
    for (size_t i = 0; i < keys * dim; i++)
        if (!is_e4m3(problem->k[first + i]) || !is_e4m3(problem->v[first + i]))
            return pcast_fail(err, PCAST_ERR_INPUT,
                              "sequence %zu, head %zu, key %zu: a number that is not E4M3's", batch,
                              kv_head, i / dim);
    for (size_t r = 0; r < group * problem->queries; r++) {
        const size_t head = kv_head * group + r / problem->queries;
        const float *q =
            problem->q +
            ((batch * problem->heads + head) * problem->queries + r % problem->queries) * dim;
        for (size_t j = 0; j < keys; j++)
            if (!is_exact(q, problem->k + first + j * dim, dim))
                return pcast_fail(err, PCAST_ERR_INPUT,
                                  "sequence %zu, head %zu, query %zu, key %zu: q.k is not exact in "
                                  "14 bits",
                                  batch, head, r % problem->queries, j);
    }
    return PCAST_OK;
}

pcast_status pcast_problem_check(const pcast_problem *problem, pcast_error *err)
{
    if (problem->kv_heads == 0 || problem->heads % problem->kv_heads != 0)
        return pcast_fail(err, PCAST_ERR_INPUT, "%zu heads of Q for %zu of K and V", problem->heads,
                          problem->kv_heads);
    for (size_t i = 0; i < q_numbers(problem); i++)
        if (!is_e4m3(problem->q[i]))
            return pcast_fail(err, PCAST_ERR_INPUT, "q: %g is not E4M3's", (double)problem->q[i]);
    for (size_t b = 0; b < problem->batch; b++) {
        const size_t keys = problem->kv_lengths != NULL ? problem->kv_lengths[b] : problem->keys;
        if (keys > problem->keys)
            return pcast_fail(err, PCAST_ERR_INPUT, "sequence %zu: %zu keys of %zu", b, keys,
                              problem->keys);
        for (size_t h = 0; h < problem->kv_heads; h++) {
            const pcast_status status = check_head(problem, b, h, keys, err);
            if (status != PCAST_OK)
                return status;
        }
    }
    return PCAST_OK;
}
