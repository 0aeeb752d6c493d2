/* SPDX-License-Identifier: MIT */
/* The tensor core against the model (docs/numerics.md, section 10): the same tiles by four
 * kernels, A from shared memory or registers, instructions of 256 or of 8 columns. */
#include "cuda/probe.h"

#include "base/error.h"
#include "cuda/probe_inputs.h"
#include "cuda/tile.h"
#include "cuda/wgmma_work.h"
#include "pcast/tensor_core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 128 };
enum { K_MOST = PCAST_PROBE_STEPS * PCAST_TILE_KEYS };
static const uint32_t POISON = 0xFFFFFFFF;

const pcast_wgmma_variant pcast_wgmma_variants[PCAST_WGMMA_VARIANTS] = {
    [PCAST_WGMMA_SS_256] = {"ss_n256", 256, 1},
    [PCAST_WGMMA_SS_8] = {"ss_n8", 8, 1},
    [PCAST_WGMMA_RS_256] = {"rs_n256", 256, 0},
    [PCAST_WGMMA_RS_8] = {"rs_n8", 8, 0},
};

static void release(pcast_wgmma_work *work)
{
    free(work->a);
    free(work->b);
    free(work->b_by_k);
    free(work->c);
    free(work->model);
    for (int i = 0; i < PCAST_WGMMA_VARIANTS; i++)
        free(work->device[i]);
    pcast_cuda_free(work->cuda, work->at_a);
    pcast_cuda_free(work->cuda, work->at_b);
    pcast_cuda_free(work->cuda, work->at_c);
    pcast_cuda_free(work->cuda, work->at_d);
}

static pcast_status acquire(pcast_wgmma_work *work, pcast_error *err)
{
    const size_t a = (size_t)work->tiles * PCAST_PROBE_ROWS * K_MOST;
    const size_t b = (size_t)work->tiles * PCAST_PROBE_COLUMNS * K_MOST;
    const size_t d = (size_t)work->tiles * PCAST_WGMMA_ELEMENTS * sizeof(uint32_t);
    int whole = (work->a = malloc(a)) != NULL;
    whole &= (work->b = malloc(b)) != NULL;
    whole &= (work->b_by_k = malloc(b)) != NULL;
    whole &= (work->c = malloc(d)) != NULL;
    whole &= (work->model = malloc(d)) != NULL;
    for (int i = 0; i < PCAST_WGMMA_VARIANTS; i++)
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

static void draw_tile(const pcast_wgmma_work *work, const pcast_wgmma_case *which, uint32_t tile)
{
    const size_t k = which->steps * PCAST_TILE_KEYS;
    uint8_t *b = work->b + tile * PCAST_PROBE_COLUMNS * k;
    uint8_t *b_by_k = work->b_by_k + tile * PCAST_PROBE_COLUMNS * k;
    pcast_wgmma_draw(which, tile, work->a + tile * PCAST_PROBE_ROWS * k, b,
                     work->c + (size_t)tile * PCAST_WGMMA_ELEMENTS);
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < PCAST_PROBE_COLUMNS; j++)
            b_by_k[i * PCAST_PROBE_COLUMNS + j] = b[j * k + i];
}

static void model_row(const pcast_wgmma_work *work, const pcast_wgmma_case *which, uint32_t row)
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

static void compute_model(const pcast_wgmma_work *work, const pcast_wgmma_case *which)
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
static pcast_status launch(pcast_wgmma_work *work, const pcast_wgmma_case *which, int variant,
                           pcast_error *err)
{
    const pcast_wgmma_variant *chosen = &pcast_wgmma_variants[variant];
    const size_t bytes = (size_t)work->tiles * PCAST_WGMMA_ELEMENTS * sizeof(uint32_t);
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

static pcast_status compute_on_device(pcast_wgmma_work *work, const pcast_wgmma_case *which,
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
                                   tiles * PCAST_WGMMA_ELEMENTS * sizeof(uint32_t), err);
    for (int i = 0; status == PCAST_OK && i < PCAST_WGMMA_VARIANTS; i++)
        status = launch(work, which, i, err);
    return status;
}

pcast_status pcast_probe_wgmma(pcast_cuda *cuda, int quick, pcast_check_result *result,
                               pcast_error *err)
{
    static const uint32_t steps[] = {1, 2, PCAST_PROBE_STEPS};
    enum { CASES = 3 * PCAST_WGMMA_INPUTS * 4 };
    pcast_wgmma_work work = {.cuda = cuda, .tiles = quick ? 2 : 64};
    pcast_status status = acquire(&work, err);
    for (int i = 0; status == PCAST_OK && i < CASES; i++) {
        const pcast_wgmma_case which = {
            .a = i & 1 ? PCAST_E5M2 : PCAST_E4M3,
            .b = i & 2 ? PCAST_E5M2 : PCAST_E4M3,
            .inputs = (pcast_wgmma_inputs)(i / 4 % PCAST_WGMMA_INPUTS),
            .steps = steps[i / 4 / PCAST_WGMMA_INPUTS],
        };
        if (quick && which.steps > 2 && which.inputs != PCAST_WGMMA_NARROW)
            continue;
        compute_model(&work, &which);
        status = compute_on_device(&work, &which, err);
        if (status == PCAST_OK)
            pcast_wgmma_compare(&work, &which, result);
    }
    release(&work);
    return status;
}
