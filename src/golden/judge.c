/* SPDX-License-Identifier: MIT */
/* Answers against bounds. */
#include "pcast/golden.h"

#include "base/bits.h"
#include "base/fpenv.h"
#include "golden/reading.h"
#include "math/constants.h"
#include "math/strict.h"

#include <float.h>
#include <math.h>

#define UNKNOWN(declaration, field)                                                                \
    (((declaration)->unknown & (UINT64_C(1) << PCAST_FIELD_##field)) != 0)

/* Rounding is monotonic, so ends of an interval round to ends. */
static double round_to(pcast_output format, double x)
{
    static const pcast_format formats[] = {[PCAST_OUTPUT_F32] = PCAST_F32,
                                           [PCAST_OUTPUT_BF16] = PCAST_BF16,
                                           [PCAST_OUTPUT_F16] = PCAST_F16};
    return (double)pcast_round_through(formats[format], x);
}

/* The interval in the output's type; an answer may always be kept in FP32. */
static pcast_interval rounded(const pcast_declaration *declaration, pcast_interval x)
{
    const int all = UNKNOWN(declaration, OUT_FORMAT);
    pcast_interval r = {round_to(PCAST_OUTPUT_F32, x.low), round_to(PCAST_OUTPUT_F32, x.high),
                        x.nan};
    for (int f = PCAST_OUTPUT_BF16; f <= PCAST_OUTPUT_F16; f++) {
        if (!all && declaration->kernel.out_format != (pcast_output)f)
            continue;
        const double low = round_to((pcast_output)f, x.low);
        const double high = round_to((pcast_output)f, x.high);
        r.low = low < r.low ? low : r.low;
        r.high = high > r.high ? high : r.high;
    }
    return r;
}

static int holds(pcast_interval x, double value)
{
    return isnan(value) ? x.nan : value >= x.low && value <= x.high;
}

/* How far outside, in widths; Inf where only one of the two is NaN. */
static double excess(pcast_interval x, double value)
{
    if (holds(x, value))
        return 0;
    if (isnan(value) || x.low > x.high)
        return INFINITY;
    const double gap = value < x.low ? x.low - value : value - x.high;
    if (!isfinite(gap))
        return INFINITY;
    const double widths = gap / (x.high - x.low + fabs(x.high) * 0x1p-24 + DBL_MIN);
    return widths > 0 ? widths : DBL_MIN; /* outside of a boundless interval, too */
}

/* One answer against one reading's bounds. */
typedef struct comparison {
    size_t outside, elements;
    int exact;
    double worst;
    int in_lse;
    size_t row, channel;
    double got;
    pcast_interval expected;
    double lse_unit; /* nats of the log-sum-exp's unit */
} comparison;

static void compare_element(comparison *all, pcast_interval expected, double got, int in_lse,
                            size_t row, size_t channel)
{
    const double by = excess(expected, got);
    all->elements++;
    all->outside += by > 0;
    if (by > all->worst) {
        all->worst = by;
        all->in_lse = in_lse;
        all->row = row;
        all->channel = channel;
        all->got = got;
        all->expected = expected;
    }
}

/* Is it the only number of the declared type in the interval? */
static int is_only(const pcast_declaration *declaration, pcast_interval x, double value)
{
    const pcast_output format = declaration->kernel.out_format;
    return !UNKNOWN(declaration, OUT_FORMAT) && !x.nan &&
           round_to(format, x.low) == round_to(format, x.high) && value == round_to(format, x.low);
}

static void compare_o(const pcast_declaration *declaration, const pcast_bounds *bounds,
                      const float *o, comparison *all)
{
    for (size_t i = 0; i < bounds->rows * bounds->dim; i++) {
        const double got = (double)o[i];
        compare_element(all, rounded(declaration, bounds->o[i]), got, 0, i / bounds->dim,
                        i % bounds->dim);
        all->exact &= is_only(declaration, bounds->o[i], got);
    }
}

/* In nats where unit is 1. */
static void compare_lse(const pcast_bounds *bounds, const float *lse, double unit, comparison *all)
{
    for (size_t row = 0; row < bounds->rows; row++)
        compare_element(all, bounds->lse[row], (double)lse[row] * unit, 1, row, 0);
}

static comparison compare(const pcast_declaration *declaration, const pcast_bounds *bounds,
                          const pcast_answer *answer)
{
    comparison all = {.exact = 1}, best = {0};
    compare_o(declaration, bounds, answer->o, &all);
    if (answer->lse == NULL)
        return all;
    const pcast_lse base = declaration->kernel.lse;
    const int either = UNKNOWN(declaration, LSE) || base == PCAST_LSE_NONE;
    for (int two = 0; two < 2; two++) {
        comparison here = all;
        here.lse_unit = two ? PCAST_LN2 : 1;
        if (!either && two != (base == PCAST_LSE_BASE_2))
            continue;
        compare_lse(bounds, answer->lse, here.lse_unit, &here);
        if (best.elements == 0 || here.outside < best.outside)
            best = here;
    }
    return best;
}

static int is_anything(pcast_interval x)
{
    return isinf(x.low) && isinf(x.high) && x.low < x.high;
}

/* Do bounds under a fault say anything of a number that is outside of the healthy ones? */
static int is_telling(const pcast_declaration *declaration, const pcast_bounds *healthy,
                      const pcast_bounds *faulty, const pcast_answer *answer, double lse_unit)
{
    for (size_t i = 0; i < healthy->rows * healthy->dim; i++)
        if (!is_anything(faulty->o[i]) &&
            !holds(rounded(declaration, healthy->o[i]), (double)answer->o[i]))
            return 1;
    for (size_t row = 0; answer->lse != NULL && row < healthy->rows; row++)
        if (!is_anything(faulty->lse[row]) &&
            !holds(healthy->lse[row], (double)answer->lse[row] * lse_unit))
            return 1;
    return 0;
}

/* How much the bounds leave open: the mean width of O's intervals, relative. */
static double looseness(const pcast_bounds *bounds)
{
    const size_t count = bounds->rows * bounds->dim;
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        const double size = fabs(bounds->o[i].low) + fabs(bounds->o[i].high);
        const double width = is_anything(bounds->o[i]) ? 2 : bounds->o[i].high - bounds->o[i].low;
        sum += is_anything(bounds->o[i]) ? 2 : width > 0 && isfinite(size) ? width / size : 0;
    }
    return sum / (double)count;
}

/* Does a fault explain what lies outside of the healthy bounds, under reading `index`? Then *loose
 * is how loosely. */
static pcast_status explains(const pcast_problem *problem, const pcast_declaration *declaration,
                             size_t index, const pcast_fault *fault, const pcast_answer *answer,
                             const pcast_bounds *healthy, int *yes, double *loose, pcast_error *err)
{
    pcast_bounds bounds;
    *yes = 0;
    pcast_status status = pcast_bounds_of(problem, declaration, index, fault, &bounds, err);
    if (status == PCAST_OK) {
        const comparison all = compare(declaration, &bounds, answer);
        *yes = all.outside == 0 && is_telling(declaration, healthy, &bounds, answer, all.lse_unit);
        *loose = looseness(&bounds);
    }
    pcast_bounds_free(&bounds);
    return status;
}

static int names(const pcast_probe *probe, const pcast_fault *fault)
{
    for (size_t i = 0; probe != NULL && i < PCAST_PROBE_FAULTS && probe->faults[i] != NULL; i++)
        if (pcast_fault_find(probe->faults[i]) == fault)
            return 1;
    return 0;
}

/* Keeps the faults that explain best, by falling tightness. */
static void keep_fault(pcast_judgement *judgement, double looseness_of[PCAST_JUDGEMENT_FAULTS],
                       const pcast_fault *fault, double loose)
{
    size_t i = judgement->fault_count;
    if (i == PCAST_JUDGEMENT_FAULTS && loose >= looseness_of[i - 1])
        return;
    if (i < PCAST_JUDGEMENT_FAULTS)
        judgement->fault_count++;
    else
        i--;
    for (; i > 0 && looseness_of[i - 1] > loose; i--) {
        judgement->faults[i] = judgement->faults[i - 1];
        looseness_of[i] = looseness_of[i - 1];
    }
    judgement->faults[i] = fault;
    looseness_of[i] = loose;
}

/* Faults that explain the answer, those first whose bounds leave least open; the probe's own count
 * as a hundred times as tight. What is far looser than the best is left out. */
static pcast_status find_faults(const pcast_problem *problem, const pcast_probe *probe,
                                const pcast_declaration *declaration, const pcast_answer *answer,
                                const pcast_bounds *healthy, pcast_judgement *judgement,
                                pcast_error *err)
{
    static const double own = 0.01, least = 1e-7, far = 20;
    double looseness_of[PCAST_JUDGEMENT_FAULTS];
    pcast_status status = PCAST_OK;
    for (size_t i = 0; status == PCAST_OK && i < pcast_fault_count(); i++) {
        const pcast_fault *fault = pcast_fault_at(i);
        double loose = 0;
        int yes = 0;
        for (size_t r = 0; status == PCAST_OK && !yes && r < pcast_reading_count(declaration); r++)
            status = explains(problem, declaration, r, fault, answer, healthy, &yes, &loose, err);
        if (yes)
            keep_fault(judgement, looseness_of, fault,
                       (loose + least) * (names(probe, fault) ? own : 1));
    }
    while (judgement->fault_count > 1 &&
           looseness_of[judgement->fault_count - 1] > far * looseness_of[0])
        judgement->fault_count--;
    return status;
}

pcast_status pcast_judge(const pcast_problem *problem, const pcast_probe *probe,
                         const pcast_declaration *declaration, const pcast_answer *answer,
                         pcast_judgement *judgement, pcast_error *err)
{
    comparison best = {0};
    pcast_bounds healthy = {0};
    pcast_status status = PCAST_OK;
    pcast_fpenv env;
    *judgement = (pcast_judgement){0};
    status = pcast_problem_check(problem, err);
    pcast_fpenv_enter(&env);
    for (size_t r = 0; status == PCAST_OK && r < pcast_reading_count(declaration); r++) {
        pcast_bounds bounds;
        status = pcast_bounds_of(problem, declaration, r, NULL, &bounds, err);
        const comparison here =
            status == PCAST_OK ? compare(declaration, &bounds, answer) : (comparison){0};
        if (r == 0 || here.outside < best.outside) {
            pcast_bounds_free(&healthy);
            healthy = bounds;
            best = here;
        } else {
            pcast_bounds_free(&bounds);
        }
    }
    if (status == PCAST_OK) {
        *judgement = (pcast_judgement){
            .verdict = best.outside > 0 ? PCAST_VERDICT_DEFECTIVE
                       : best.exact     ? PCAST_VERDICT_EXACT
                                        : PCAST_VERDICT_ADMISSIBLE,
            .elements = best.elements,
            .outside = best.outside,
            .in_lse = best.in_lse,
            .row = best.row,
            .channel = best.channel,
            .got = best.got,
            .expected = best.expected,
        };
        if (best.outside > 0)
            status = find_faults(problem, probe, declaration, answer, &healthy, judgement, err);
    }
    pcast_bounds_free(&healthy);
    pcast_fpenv_leave(&env);
    return status;
}

/* Gap between what a fault and a healthy kernel may answer, in widths of the healthy interval. */
static double gap(pcast_interval healthy, pcast_interval faulty, double ulp)
{
    if (faulty.nan && healthy.nan)
        return 0;
    if (faulty.low > faulty.high || healthy.low > healthy.high) /* only one is NaN */
        return INFINITY;
    const double between =
        faulty.low > healthy.high ? faulty.low - healthy.high : healthy.low - faulty.high;
    const double width = healthy.high - healthy.low;
    if (isinf(between))
        return between > 0 ? between : 0;
    return between > 0 ? between / (width > ulp ? width : ulp) : 0;
}

static double largest_gap(const pcast_declaration *declaration, const pcast_bounds *healthy,
                          const pcast_bounds *faulty)
{
    static const double places[] = {
        [PCAST_OUTPUT_F32] = 0x1p-23, [PCAST_OUTPUT_BF16] = 0x1p-7, [PCAST_OUTPUT_F16] = 0x1p-10};
    double largest = 0, top = 0;
    for (size_t i = 0; i < healthy->rows * healthy->dim; i++)
        if (isfinite(healthy->o[i].high) && healthy->o[i].high > top)
            top = healthy->o[i].high;
    for (size_t i = 0; i < healthy->rows * healthy->dim; i++) {
        const pcast_interval x = rounded(declaration, healthy->o[i]);
        const double size = fabs(x.high) > 0x1p-12 * top ? fabs(x.high) : 0x1p-12 * top;
        const double ulp = size * places[declaration->kernel.out_format] + DBL_MIN;
        const double here = gap(x, rounded(declaration, faulty->o[i]), ulp);
        largest = here > largest ? here : largest;
    }
    const int returns_lse = declaration->kernel.lse != PCAST_LSE_NONE || UNKNOWN(declaration, LSE);
    for (size_t row = 0; returns_lse && row < healthy->rows; row++) {
        const double ulp = (fabs(healthy->lse[row].high) + 1) * 0x1p-23;
        const double here = gap(healthy->lse[row], faulty->lse[row], ulp);
        largest = here > largest ? here : largest;
    }
    return largest;
}

pcast_status pcast_separation(const pcast_problem *problem, const pcast_declaration *declaration,
                              const pcast_fault *fault, double *margin, pcast_error *err)
{
    const size_t readings = pcast_reading_count(declaration);
    pcast_status status = PCAST_OK;
    *margin = INFINITY;
    for (size_t f = 0; status == PCAST_OK && f < readings; f++) {
        pcast_bounds faulty;
        status = pcast_bounds_of(problem, declaration, f, fault, &faulty, err);
        for (size_t h = 0; status == PCAST_OK && h < readings; h++) {
            pcast_bounds healthy;
            status = pcast_bounds_of(problem, declaration, h, NULL, &healthy, err);
            if (status == PCAST_OK) {
                const double here = largest_gap(declaration, &healthy, &faulty);
                *margin = here < *margin ? here : *margin;
            }
            pcast_bounds_free(&healthy);
        }
        pcast_bounds_free(&faulty);
    }
    return status;
}
