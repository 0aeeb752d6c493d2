/* SPDX-License-Identifier: MIT */
/* Scores in nats as products of E4M3's numbers, and values that tell keys apart. */
#include "golden/probes.h"

#include "base/bits.h"
#include "base/error.h"
#include "base/fpenv.h"
#include "math/math.h"

#include <math.h>

/* E4M3 has four significant bits. */
enum { DIGIT_BITS = 4 };

double pcast_probe_nats(double ratio)
{
    pcast_fpenv env;
    pcast_fpenv_enter(&env);
    const double nats = pcast_log_f64(ratio);
    pcast_fpenv_leave(&env);
    return nats;
}

double pcast_probe_raw(double nats, double scale)
{
    pcast_fpenv env;
    pcast_fpenv_enter(&env);
    const double raw = nats / scale;
    int exponent = 0;
    frexp(raw, &exponent); /* |raw| < 2^exponent */
    int quantum = exponent - PCAST_PROBE_RAW_BITS;
    if (quantum < PCAST_PROBE_LEAST_EXP)
        quantum = PCAST_PROBE_LEAST_EXP;
    const double nearest = ldexp(rint(ldexp(raw, -quantum)), quantum);
    pcast_fpenv_leave(&env);
    return nearest;
}

size_t pcast_probe_heads(const pcast_problem *problem)
{
    return problem->batch * problem->kv_heads;
}

/* Digits lie apart, so that all parts of a head take part. */
static size_t digit_channel(const pcast_problem *problem, size_t digit)
{
    return digit * (problem->dim / PCAST_PROBE_DIGITS);
}

void pcast_probe_ask(pcast_problem *problem)
{
    const size_t rows = pcast_problem_rows(problem);
    for (size_t i = 0; i < rows; i++)
        for (size_t d = 0; d < PCAST_PROBE_DIGITS; d++)
            problem->q[i * problem->dim + digit_channel(problem, d)] = 1;
}

/* The four leading bits of x, cut off. */
static double digit_of(double x)
{
    int exponent = 0;
    frexp(x, &exponent);
    return ldexp(trunc(ldexp(x, DIGIT_BITS - exponent)), exponent - DIGIT_BITS);
}

void pcast_probe_score(pcast_problem *problem, size_t head, size_t key, double nats)
{
    const size_t kv_head = head % problem->kv_heads;
    double scale = (double)problem->softmax_scale;
    if (problem->q_descale != NULL)
        scale *= (double)problem->q_descale[kv_head];
    if (problem->k_descale != NULL)
        scale *= (double)problem->k_descale[kv_head];
    double rest = pcast_probe_raw(nats, scale);
    float *k = problem->k + (head * problem->keys + key) * problem->dim;
    for (size_t d = 0; d < PCAST_PROBE_DIGITS; d++) {
        const double digit = digit_of(rest);
        k[digit_channel(problem, d)] = (float)digit;
        rest -= digit;
    }
}

void pcast_probe_value(pcast_problem *problem, size_t head, size_t key, float value)
{
    float *v = problem->v + (head * problem->keys + key) * problem->dim;
    for (size_t c = 0; c < problem->dim; c++)
        v[c] = value;
}

void pcast_probe_one_hot(pcast_problem *problem, size_t head, size_t key, size_t period,
                         float value)
{
    float *v = problem->v + (head * problem->keys + key) * problem->dim;
    for (size_t c = key % period; c < problem->dim; c += period)
        v[c] = value;
}

void pcast_probe_run(pcast_problem *problem, pcast_probe_keys keys, double nats, float value)
{
    for (size_t j = keys.first; j < keys.end; j++) {
        pcast_probe_score(problem, keys.head, j, nats);
        pcast_probe_value(problem, keys.head, j, value);
    }
}

void pcast_probe_count_keys(pcast_problem *problem, double nats)
{
    const size_t heads = pcast_probe_heads(problem);
    for (size_t head = 0; head < heads; head++)
        for (size_t j = 0; j < problem->keys; j++) {
            pcast_probe_score(problem, head, j, nats);
            pcast_probe_one_hot(problem, head, j, problem->dim, 1);
        }
}

pcast_status pcast_probe_no_memory(pcast_error *err)
{
    return pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for a probe");
}
