/* SPDX-License-Identifier: MIT */
/* The units of src/hardware over all arguments of a range: how often they differ from the correctly
 * rounded result, how far they stray, whether they are monotone. Each figure is printed and must
 * lie between the bounds given with it.
 *
 * The exact result is libm's in binary64, whose error (a few times 2^-53) is nothing beside what is
 * measured; rounded to binary32 it is the correctly rounded one for all but a handful of the
 * arguments, those nearer than that to a midpoint.
 *
 * usage: units UNIT [STEP]. STEP 1 (the default) visits all arguments, STEP n every n-th. */
#include "hardware/units.h"
#include "base/bits.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static float fa4_poly3(float x)
{
    return pcast_fa4_exp2(x, 3);
}

static float fa4_poly5(float x)
{
    return pcast_fa4_exp2(x, 5);
}

static double reciprocal(double x)
{
    return 1.0 / x;
}

/* Encodings of one sign, both ends included. */
typedef struct range {
    uint32_t first, last;
} range;

typedef enum figure {
    NONE,
    SHARE,    /* of the arguments: unlike the correctly rounded result */
    STEPS,    /* encodings from the correctly rounded result */
    RELATIVE, /* error over the exact result, where that is normal */
    ABSOLUTE, /* error */
    FALLS,    /* arguments whose result is below that of the argument before */
    FIGURES,
} figure;

static const char *const figure_names[FIGURES] = {
    "none", "share unlike RN", "steps from RN", "relative error", "absolute error", "falls"};

typedef struct bound {
    figure figure;
    double least, most;
} bound;

typedef struct scan {
    const char *unit, *where;
    float (*ours)(float);
    double (*exact)(double);
    range ranges[2]; /* the second may be empty */
    bound bounds[3];
} scan;

/* Bounds: ex2 2 ulp and 2^-22.71, rcp 1 ulp and 13.2 %, expf 2 ulp (CUDA programming guide),
 * fa4 8.77e-5, 1430 steps, 1.56e-7: as published or computed by others; lg2's upper ones are those
 * of PTX ISA 9.1, 2^-22. Where both bounds are near each other, a figure that shrinks is wrong too.
 */
static const scan scans[] = {
    {"ex2",
     "[-126, 128)",
     pcast_ex2_ftz,
     exp2,
     {{0x00000000, 0x42FFFFFF}, {0x80000000, 0xC2FC0000}},
     {{STEPS, 2, 2}, {RELATIVE, 1.456e-7, 1.461e-7}, {FALLS, 0, 0}}},
    {"ex2",
     "[-20, -2^-26], below which all give 1",
     pcast_ex2_ftz,
     exp2,
     {{0xB2800000, 0xC1A00000}},
     {{SHARE, 0.415, 0.425}}},
    {"ex2_noftz",
     "[-150, -126)",
     pcast_ex2,
     exp2,
     {{0xC2FC0001, 0xC3160000}},
     {{STEPS, 0, 2}, {FALLS, 0, 0}}},
    {"rcp",
     "all significands, 1 to 2 and -2^126 to -2^125",
     pcast_rcp_ftz,
     reciprocal,
     {{0x3F800000, 0x40000000}, {0xFE000000, 0xFE800000}},
     {{SHARE, 0.1315, 0.1325}, {STEPS, 1, 1}}},
    {"lg2",
     "(0.5, 2)",
     pcast_lg2_ftz,
     log2,
     {{0x3F000001, 0x3FFFFFFF}},
     {{ABSOLUTE, 2.1e-7, 0x1p-22}, {FALLS, 0, 0}}},
    {"lg2",
     "(0, 0.5] and [2, Inf)",
     pcast_lg2_ftz,
     log2,
     {{0x00800000, 0x3F000000}, {0x40000000, 0x7F7FFFFF}},
     {{RELATIVE, 2.2e-7, 0x1p-22}, {FALLS, 0, 0}}},
    {"expf",
     "all numbers",
     pcast_cuda_expf,
     exp,
     {{0x00000000, 0x7F800000}, {0x80000000, 0xFF800000}},
     {{STEPS, 2, 2}}},
    {"fa4_poly3",
     "[-126, 0)",
     fa4_poly3,
     exp2,
     {{0x80800000, 0xC2FC0000}},
     {{RELATIVE, 8.765e-5, 8.775e-5}, {STEPS, 1420, 1440}, {FALLS, 0, 0}}},
    {"fa4_poly5",
     "[-126, 0)",
     fa4_poly5,
     exp2,
     {{0x80800000, 0xC2FC0000}},
     {{RELATIVE, 1.555e-7, 1.565e-7}, {STEPS, 3, 3}}},
};
enum { SCANS = sizeof scans / sizeof scans[0] };

typedef struct tally {
    uint64_t arguments, different;
    double value[FIGURES];
    uint32_t at[FIGURES]; /* where the largest value was, bits of the argument */
} tally;

static void raise_to(tally *into, figure f, double value, uint32_t at)
{
    if (isnan(into->value[f]) || value <= into->value[f]) /* a NaN is taken and stays */
        return;
    into->value[f] = value;
    into->at[f] = at;
}

/* Encodings as integers in the order of their values; -0 and +0 are one. */
static int64_t order(float x)
{
    const uint32_t bits = pcast_bits_f32(x);
    return bits >> 31 ? -(int64_t)(bits & 0x7FFFFFFF) : (int64_t)bits;
}

/* How far a result strays that is not the correctly rounded one (which strays by half an ulp at
 * most and would not be the largest). */
static void measure(uint32_t bits, float y, double exact, tally *into)
{
    const int64_t steps = order(y) - order((float)exact);
    const double error = fabs((double)y - exact);
    into->different++;
    raise_to(into, STEPS, (double)(steps < 0 ? -steps : steps), bits);
    raise_to(into, ABSOLUTE, error, bits);
    if (fabs(exact) >= 0x1p-126)
        raise_to(into, RELATIVE, error / fabs(exact), bits);
}

/* Encodings first, first + step, ... up to last; the result `before` the first one is for falls. */
static void visit(const scan *s, uint64_t first, uint64_t last, uint64_t step, float before_first,
                  tally *into)
{
    const int near_one = s->exact == exp2 || s->exact == exp;
    const int downward = first >> 31 != 0; /* encodings go up, values down */
    int64_t before = order(before_first);
    for (uint64_t u = first; u <= last; u += step) {
        const uint32_t bits = (uint32_t)u;
        const float x = pcast_f32_from_bits(bits), y = s->ours(x);
        /* An exponential of less than 2^-26 rounds to 1. */
        const int is_one = near_one && (bits & 0x7FFFFFFF) < 0x32800000;
        const double exact = is_one && y == 1.0f ? 1.0 : s->exact((double)x);
        if (pcast_bits_f32(y) != pcast_bits_f32((float)exact))
            measure(bits, y, exact, into);
        if (downward ? order(y) > before : order(y) < before)
            raise_to(into, FALLS, into->value[FALLS] + 1, bits);
        before = order(y);
        into->arguments++;
    }
}

static void merge(tally *all, const tally *part)
{
    const double falls = all->value[FALLS] + part->value[FALLS];
    all->arguments += part->arguments;
    all->different += part->different;
    for (int f = 0; f < FIGURES; f++)
        raise_to(all, (figure)f, part->value[f], part->at[f]);
    all->value[FALLS] = falls;
}

static void visit_range(const scan *s, range r, uint64_t step, tally *all)
{
    const uint64_t width = step << 18;
    const int64_t chunks = (int64_t)((r.last - r.first) / width) + 1;
#pragma omp parallel for schedule(dynamic)
    for (int64_t chunk = 0; chunk < chunks; chunk++) {
        tally part = {0};
        const uint64_t first = r.first + (uint64_t)chunk * width;
        const uint64_t before = chunk == 0 ? first : first - step;
        const uint64_t last = first + width - 1 < r.last ? first + width - 1 : r.last;
        visit(s, first, last, step, s->ours(pcast_f32_from_bits((uint32_t)before)), &part);
#pragma omp critical
        merge(all, &part);
    }
}

static int judge(const scan *s, const tally *all)
{
    int wrong = all->arguments == 0;
    printf("%s on %s: %" PRIu64 " arguments\n", s->unit, s->where, all->arguments);
    for (int i = 0; i < 3 && s->bounds[i].figure != NONE; i++) {
        const bound *b = &s->bounds[i];
        const double value = all->value[b->figure];
        const int inside = value >= b->least && value <= b->most;
        printf("  %s: %.5g = 2^%.3f (at 0x%08" PRIX32 "), expected %.5g to %.5g%s\n",
               figure_names[b->figure], value, log2(value), all->at[b->figure], b->least, b->most,
               inside ? "" : ": WRONG");
        wrong |= !inside;
    }
    return wrong;
}

int main(int argc, char **argv)
{
    const uint64_t step = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    int wrong = 0, found = 0;
    for (int i = 0; argc > 1 && step > 0 && i < SCANS; i++) {
        if (strcmp(argv[1], scans[i].unit) != 0)
            continue;
        tally all = {0};
        for (int r = 0; r < 2; r++)
            if (scans[i].ranges[r].last > 0)
                visit_range(&scans[i], scans[i].ranges[r], step, &all);
        all.value[SHARE] = (double)all.different / (double)all.arguments;
        wrong |= judge(&scans[i], &all);
        found = 1;
    }
    if (!found) {
        fprintf(stderr, "usage: units UNIT [STEP]; UNIT: ex2 ex2_noftz rcp lg2 expf fa4_poly3 "
                        "fa4_poly5\n");
        return 2;
    }
    return wrong;
}
