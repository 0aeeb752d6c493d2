/* SPDX-License-Identifier: MIT */
/* The tensor core against the model (docs/numerics.md, section 10): the same tiles by four
 * kernels, A from shared memory or registers, instructions of 256 or of 8 columns. */
#include "cuda/probe.h"

#include "base/error.h"
#include "cuda/probe_inputs.h"
#include "cuda/tile.h"
#include "cuda/wgmma_inputs.h"
#include "pcast/tensor_core.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SS_256, SS_8, RS_256, RS_8, VARIANTS };
enum { ELEMENTS = PCAST_PROBE_ROWS * PCAST_PROBE_COLUMNS, THREADS = 128 };
enum { K_MOST = PCAST_PROBE_STEPS * PCAST_TILE_KEYS };
static const uint32_t POISON = 0xFFFFFFFF, MINUS_ZERO = 0x80000000;

static const struct variant {
    const char *name;
    int columns, a_shared;
} variants[VARIANTS] = {{"ss_n256", 256, 1}, {"ss_n8", 8, 1}, {"rs_n256", 256, 0}, {"rs_n8", 8, 0}};

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

/* Memory for `tiles` tiles. */
typedef struct workspace {
    pcast_cuda *cuda;
    uint32_t tiles;
    uint8_t *a, *b, *b_by_k;
    uint32_t *c, *model, *device[VARIANTS];
    pcast_cuda_address at_a, at_b, at_c, at_d;
} workspace;

static void release(workspace *work)
{
    free(work->a);
    free(work->b);
    free(work->b_by_k);
    free(work->c);
    free(work->model);
    for (int i = 0; i < VARIANTS; i++)
        free(work->device[i]);
    pcast_cuda_free(work->cuda, work->at_a);
    pcast_cuda_free(work->cuda, work->at_b);
    pcast_cuda_free(work->cuda, work->at_c);
    pcast_cuda_free(work->cuda, work->at_d);
}

static pcast_status acquire(workspace *work, pcast_error *err)
{
    const size_t a = (size_t)work->tiles * PCAST_PROBE_ROWS * K_MOST;
    const size_t b = (size_t)work->tiles * PCAST_PROBE_COLUMNS * K_MOST;
    const size_t d = (size_t)work->tiles * ELEMENTS * sizeof(uint32_t);
    int whole = (work->a = malloc(a)) != NULL;
    whole &= (work->b = malloc(b)) != NULL;
    whole &= (work->b_by_k = malloc(b)) != NULL;
    whole &= (work->c = malloc(d)) != NULL;
    whole &= (work->model = malloc(d)) != NULL;
    for (int i = 0; i < VARIANTS; i++)
        whole &= (work->device[i] = malloc(d)) != NULL;
    if (!whole)
        return pcast_fail(err, PCAST_ERR_MEMORY, "wgmma: out of memory");
    pcast_status status = pcast_cuda_alloc(work->cuda, a, &work->at_a, err);
    if (status == PCAST_OK)
        status = pcast_cuda_alloc(work->cuda, b, &work->at_b, err);
    if (status == PCAST_OK)
        status = pcast_cuda_alloc(work->cuda, d, &work->at_c, err);
    if (status == PCAST_OK)
        status = pcast_cuda_alloc(work->cuda, d, &work->at_d, err);
    return status;
}

static void draw_tile(const workspace *work, const pcast_wgmma_case *which, uint32_t tile)
{
    const size_t k = which->steps * PCAST_TILE_KEYS;
    uint8_t *b = work->b + tile * PCAST_PROBE_COLUMNS * k;
    uint8_t *b_by_k = work->b_by_k + tile * PCAST_PROBE_COLUMNS * k;
    pcast_wgmma_draw(which, tile, work->a + tile * PCAST_PROBE_ROWS * k, b,
                     work->c + (size_t)tile * ELEMENTS);
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < PCAST_PROBE_COLUMNS; j++)
            b_by_k[i * PCAST_PROBE_COLUMNS + j] = b[j * k + i];
}

static void model_row(const workspace *work, const pcast_wgmma_case *which, uint32_t row)
{
    const pcast_tensor_core core = {PCAST_MACHINE_HOPPER_WGMMA, which->a, which->b,
                                    PCAST_TENSOR_CORE_F32, pcast_cpu_detect()};
    const size_t k = which->steps * PCAST_TILE_KEYS, at = (size_t)row * PCAST_PROBE_COLUMNS;
    float d[PCAST_PROBE_COLUMNS] = {0};
    if (which->inputs != PCAST_WGMMA_DROPPED)
        memcpy(d, work->c + at, sizeof d);
    pcast_tensor_core_row(&core, work->a + row * k,
                          work->b_by_k + row / PCAST_PROBE_ROWS * PCAST_PROBE_COLUMNS * k, k,
                          PCAST_PROBE_COLUMNS, PCAST_PROBE_COLUMNS, d);
    memcpy(work->model + at, d, sizeof d);
}

static void compute_model(const workspace *work, const pcast_wgmma_case *which)
{
#pragma omp parallel
    {
#pragma omp for schedule(dynamic)
        for (uint32_t tile = 0; tile < work->tiles; tile++)
            draw_tile(work, which, tile);
#pragma omp for schedule(dynamic)
        for (uint32_t row = 0; row < work->tiles * PCAST_PROBE_ROWS; row++)
            model_row(work, which, row);
    }
}

/* D is poisoned first. */
static pcast_status launch(workspace *work, const pcast_wgmma_case *which, int variant,
                           pcast_error *err)
{
    const struct variant *chosen = &variants[variant];
    const size_t bytes = (size_t)work->tiles * ELEMENTS * sizeof(uint32_t);
    const uint32_t rows =
        (uint32_t)chosen->columns + (chosen->a_shared ? (uint32_t)PCAST_PROBE_ROWS : 0);
    uint32_t steps = which->steps, keep = which->inputs != PCAST_WGMMA_DROPPED;
    void *arguments[] = {&work->at_a, &work->at_b, &work->at_c, &work->at_d, &steps, &keep};
    char kernel[64];
    snprintf(kernel, sizeof kernel, "pcast_probe_wgmma_%s_%s_%s", chosen->name,
             pcast_format_name(which->a), pcast_format_name(which->b));
    for (size_t i = 0; i < bytes / sizeof(uint32_t); i++)
        work->device[variant][i] = POISON;
    pcast_status status =
        pcast_cuda_upload(work->cuda, work->at_d, work->device[variant], bytes, err);
    if (status == PCAST_OK)
        status = pcast_cuda_launch(work->cuda, kernel,
                                   work->tiles * (uint32_t)(PCAST_PROBE_COLUMNS / chosen->columns),
                                   THREADS, (size_t)rows * steps * PCAST_TILE_KEYS, arguments, err);
    if (status == PCAST_OK)
        status = pcast_cuda_download(work->cuda, work->device[variant], work->at_d, bytes, err);
    return status;
}

static pcast_status compute_on_device(workspace *work, const pcast_wgmma_case *which,
                                      pcast_error *err)
{
    const size_t k = which->steps * PCAST_TILE_KEYS, tiles = work->tiles;
    pcast_status status =
        pcast_cuda_upload(work->cuda, work->at_a, work->a, tiles * PCAST_PROBE_ROWS * k, err);
    if (status == PCAST_OK)
        status = pcast_cuda_upload(work->cuda, work->at_b, work->b, tiles * PCAST_PROBE_COLUMNS * k,
                                   err);
    if (status == PCAST_OK)
        status = pcast_cuda_upload(work->cuda, work->at_c, work->c,
                                   tiles * ELEMENTS * sizeof(uint32_t), err);
    for (int i = 0; status == PCAST_OK && i < VARIANTS; i++)
        status = launch(work, which, i, err);
    return status;
}

static int zero_answer(const workspace *work, const pcast_wgmma_case *which, size_t i)
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
static void weigh(const workspace *work, const pcast_wgmma_case *which, size_t i, uint64_t *answers)
{
    uint32_t d[VARIANTS];
    const int zero = zero_answer(work, which, i);
    for (int v = 0; v < VARIANTS; v++) {
        d[v] = work->device[v][i];
        if ((d[v] & 0x7FFFFFFF) > 0x7F800000)
            answers[d[v] == 0x7FFFFFFF ? NAN_PLAIN : NAN_OTHER]++;
        if (zero != ANSWERS && (d[v] & 0x7FFFFFFF) == 0)
            answers[zero + (d[v] == MINUS_ZERO)]++;
    }
    answers[RS_NOT_SS] += (uint64_t)(d[SS_256] != d[RS_256]) + (uint64_t)(d[SS_8] != d[RS_8]);
    answers[N8_NOT_N256] += (uint64_t)(d[SS_256] != d[SS_8]) + (uint64_t)(d[RS_256] != d[RS_8]);
}

static int print_codes(char *text, const char *name, const uint8_t *codes, size_t k)
{
    int length = sprintf(text, " %s ", name);
    for (size_t i = 0; i < k; i++)
        length += sprintf(text + length, "%02X", codes[i]);
    return length;
}

static void add_example(const workspace *work, const pcast_wgmma_case *which, int variant, size_t i,
                        pcast_check_result *result)
{
    const size_t k = which->steps * PCAST_TILE_KEYS, row = i / PCAST_PROBE_COLUMNS;
    const size_t column = row / PCAST_PROBE_ROWS * PCAST_PROBE_COLUMNS + i % PCAST_PROBE_COLUMNS;
    char *text = pcast_check_add_example(result, work->device[variant][i], work->model[i]);
    if (text == NULL)
        return;
    text += sprintf(text, "%s %s %s:", variants[variant].name, pcast_format_name(which->a),
                    pcast_format_name(which->b));
    text += print_codes(text, "a", work->a + row * k, k);
    text += print_codes(text, "b", work->b + column * k, k);
    sprintf(text, " c 0x%08" PRIX32 "%s", work->c[i],
            which->inputs == PCAST_WGMMA_DROPPED ? " dropped" : "");
}

static void compare(const workspace *work, const pcast_wgmma_case *which,
                    pcast_check_result *result)
{
    const size_t count = (size_t)work->tiles * ELEMENTS;
    uint64_t answers[ANSWERS] = {0}, different = 0;
    for (int v = 0; v < VARIANTS; v++)
        for (size_t i = 0; i < count; i++)
            if (work->device[v][i] != work->model[i]) {
                different++;
                add_example(work, which, v, i, result);
            }
    for (size_t i = 0; i < count; i++)
        weigh(work, which, i, answers);
    result->compared += count * VARIANTS;
    result->different += different;
    pcast_check_add_count(result, different_names[which->inputs], different);
    for (int i = 0; i < ANSWERS; i++)
        pcast_check_add_count(result, answer_names[i], answers[i]);
}

pcast_status pcast_probe_wgmma(pcast_cuda *cuda, int quick, pcast_check_result *result,
                               pcast_error *err)
{
    static const uint32_t steps[] = {1, 2, PCAST_PROBE_STEPS};
    enum { CASES = 3 * PCAST_WGMMA_INPUTS * 4 };
    workspace work = {.cuda = cuda, .tiles = quick ? 1 : 64};
    pcast_status status = acquire(&work, err);
    for (int i = 0; status == PCAST_OK && i < CASES; i++) {
        const pcast_wgmma_case which = {
            .a = i & 1 ? PCAST_E5M2 : PCAST_E4M3,
            .b = i & 2 ? PCAST_E5M2 : PCAST_E4M3,
            .inputs = (pcast_wgmma_inputs)(i / 4 % PCAST_WGMMA_INPUTS),
            .steps = steps[i / 4 / PCAST_WGMMA_INPUTS],
        };
        compute_model(&work, &which);
        status = compute_on_device(&work, &which, err);
        if (status == PCAST_OK)
            compare(&work, &which, result);
    }
    release(&work);
    return status;
}
