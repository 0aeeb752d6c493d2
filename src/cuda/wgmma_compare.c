/* SPDX-License-Identifier: MIT */
/* What the tensor core's results say, beside how many differ from the model's. */
#include "cuda/tile.h"
#include "cuda/wgmma_work.h"

#include <inttypes.h>
#include <stdio.h>

static const uint32_t MINUS_ZERO = 0x80000000;

static const char *const different_names[PCAST_WGMMA_INPUTS] = {
    "different: any codes",
    "different: finite codes",
    "different: narrow exponents",
    "different: subnormal factors lead",
    "different: few products",
    "different: products and C are zeros",
    "different: products cancel",
    "different: C cancels the product",
    "different: C dropped (scale-d = 0)",
};

/* What a case's results say beside how many differ. */
enum {
    ZERO_SIGN,
    NAN_BITS,
    RS_NOT_SS,
    N8_NOT_N256,
    NAN_PLAIN,
    NAN_OTHER,
    ALL_MINUS_ZERO_PLUS,
    ALL_MINUS_ZERO_MINUS,
    ZEROS_PLUS,
    ZEROS_MINUS,
    CANCEL_PLUS,
    CANCEL_MINUS,
    ANSWERS
};
static const char *const answer_names[ANSWERS] = {
    "different: only in a zero's sign",
    "different: only in a NaN's bits",
    "A from registers differs from A from shared memory",
    "N = 8 differs from N = 256",
    "NaN is 0x7FFFFFFF",
    "NaN has other bits",
    "every summand is -0: result +0",
    "every summand is -0: result -0",
    "zeros of both signs, or +0: result +0",
    "zeros of both signs, or +0: result -0",
    "exact cancellation: result +0",
    "exact cancellation: result -0",
};

static int zero_answer(const pcast_wgmma_work *work, const pcast_wgmma_case *which, size_t i)
{
    const uint32_t row = (uint32_t)(i / PCAST_PROBE_COLUMNS), column = i % PCAST_PROBE_COLUMNS;
    if (which->inputs == PCAST_WGMMA_CANCEL || which->inputs == PCAST_WGMMA_CANCEL_C)
        return CANCEL_PLUS;
    if (which->inputs != PCAST_WGMMA_ZERO)
        return ANSWERS;
    return work->c[i] == MINUS_ZERO && pcast_wgmma_products_minus_zero(row, column)
               ? ALL_MINUS_ZERO_PLUS
               : ZEROS_PLUS;
}

/* answers[ANSWERS], and one more that is none. */
static void weigh(const pcast_wgmma_work *work, const pcast_wgmma_case *which, size_t i,
                  uint64_t *answers)
{
    uint32_t d[PCAST_WGMMA_VARIANTS];
    const uint32_t model = work->model[i];
    const int zero = zero_answer(work, which, i);
    for (int v = 0; v < PCAST_WGMMA_VARIANTS; v++) {
        d[v] = work->device[v][i];
        if (d[v] != model)
            answers[ZERO_SIGN] += ((d[v] | model) & 0x7FFFFFFF) == 0;
        if (d[v] != model)
            answers[NAN_BITS] += (d[v] & 0x7FFFFFFF) > 0x7F800000 && model == 0x7FFFFFFF;
        if ((d[v] & 0x7FFFFFFF) > 0x7F800000)
            answers[d[v] == 0x7FFFFFFF ? NAN_PLAIN : NAN_OTHER]++;
        if (zero != ANSWERS && (d[v] & 0x7FFFFFFF) == 0)
            answers[zero + (d[v] == MINUS_ZERO)]++;
    }
    answers[RS_NOT_SS] += (uint64_t)(d[PCAST_WGMMA_SS_256] != d[PCAST_WGMMA_RS_256]) +
                          (uint64_t)(d[PCAST_WGMMA_SS_8] != d[PCAST_WGMMA_RS_8]);
    answers[N8_NOT_N256] += (uint64_t)(d[PCAST_WGMMA_SS_256] != d[PCAST_WGMMA_SS_8]) +
                            (uint64_t)(d[PCAST_WGMMA_RS_256] != d[PCAST_WGMMA_RS_8]);
}

static int print_codes(char *text, const char *name, const uint8_t *codes, size_t k)
{
    int length = sprintf(text, " %s ", name);
    for (size_t i = 0; i < k; i++)
        length += sprintf(text + length, "%02X", codes[i]);
    return length;
}

static void add_example(const pcast_wgmma_work *work, const pcast_wgmma_case *which, int variant,
                        size_t i, pcast_check_result *result)
{
    const size_t k = which->steps * PCAST_TILE_KEYS, row = i / PCAST_PROBE_COLUMNS;
    const size_t column = row / PCAST_PROBE_ROWS * PCAST_PROBE_COLUMNS + i % PCAST_PROBE_COLUMNS;
    char *text = pcast_check_add_example(result, work->device[variant][i], work->model[i]);
    if (text == NULL)
        return;
    text += sprintf(text, "%s %s %s:", pcast_wgmma_variants[variant].name,
                    pcast_format_name(which->a), pcast_format_name(which->b));
    text += print_codes(text, "a", work->a + row * k, k);
    text += print_codes(text, "b", work->b + column * k, k);
    sprintf(text, " c 0x%08" PRIX32 "%s", work->c[i],
            which->inputs == PCAST_WGMMA_DROPPED ? " dropped" : "");
}

void pcast_wgmma_compare(const pcast_wgmma_work *work, const pcast_wgmma_case *which,
                         pcast_check_result *result)
{
    const size_t count = (size_t)work->tiles * PCAST_WGMMA_ELEMENTS;
    uint64_t answers[ANSWERS] = {0}, different = 0;
    for (int v = 0; v < PCAST_WGMMA_VARIANTS; v++)
        for (size_t i = 0; i < count; i++)
            if (work->device[v][i] != work->model[i]) {
                different++;
                add_example(work, which, v, i, result);
            }
    for (size_t i = 0; i < count; i++)
        weigh(work, which, i, answers);
    result->compared += count * PCAST_WGMMA_VARIANTS;
    result->different += different;
    for (int i = 0; i < PCAST_WGMMA_INPUTS; i++) /* in the same order from any case */
        pcast_check_add_count(result, different_names[i], i == (int)which->inputs ? different : 0);
    for (int i = 0; i < ANSWERS; i++)
        pcast_check_add_count(result, answer_names[i], answers[i]);
}
