/* SPDX-License-Identifier: MIT */
/* The probes' table, and the scan over a probe's arguments: the device fills a chunk, threads
 * compare it in blocks. */
#include "cuda/probe.h"

#include "base/error.h"
#include "base/fpenv.h"

#include <stdlib.h>

enum { THREADS = 256, BLOCK = 1 << 16 };

const pcast_check_part pcast_probe_parts[PCAST_PROBE_COUNT] = {
    {"cvt-e4m3", "cvt.rn.satfinite.e4m3x2.f32, both halves", pcast_probe_cvt_e4m3},
    {"cvt-e5m2", "cvt.rn.satfinite.e5m2x2.f32, both halves", pcast_probe_cvt_e5m2},
    {"ex2", "ex2.approx.ftz.f32", pcast_probe_ex2},
    {"ex2-full", "ex2.approx.f32", pcast_probe_ex2_full},
    {"rcp", "rcp.approx.ftz.f32", pcast_probe_rcp},
    {"lg2", "lg2.approx.ftz.f32", pcast_probe_lg2},
    {"expf", "CUDA's expf", pcast_probe_expf},
    {"expf-fast", "CUDA's __expf", pcast_probe_expf_fast},
    {"tensor-core", "wgmma.mma_async m64nNk32 of FP8 into FP32", pcast_probe_wgmma},
};

/* Arguments first + i * step, i < count. */
typedef struct chunk {
    uint32_t first, step, count;
    const unsigned char *numbers;
    uint64_t *different; /* by block */
} chunk;

static uint64_t compare_block(const pcast_probe *probe, const chunk *part, uint32_t block,
                              pcast_check_result *examples)
{
    const uint32_t start = block * BLOCK, left = part->count - start;
    return probe->compare(probe, part->first + start * part->step, part->step,
                          left < BLOCK ? left : BLOCK, part->numbers + (size_t)start * probe->width,
                          examples);
}

/* Blocks that differ are compared again, in order, while examples are wanted. */
static void compare_chunk(const pcast_probe *probe, const chunk *part, pcast_check_result *result)
{
    const uint32_t blocks = (part->count + BLOCK - 1) / BLOCK;
#pragma omp parallel
    {
        pcast_fpenv env;
        pcast_fpenv_enter(&env);
#pragma omp for schedule(dynamic)
        for (uint32_t i = 0; i < blocks; i++)
            part->different[i] = compare_block(probe, part, i, NULL);
        pcast_fpenv_leave(&env);
    }
    pcast_fpenv env;
    pcast_fpenv_enter(&env);
    for (uint32_t i = 0; i < blocks; i++) {
        result->different += part->different[i];
        if (part->different[i] > 0 && result->example_count < PCAST_CHECK_EXAMPLES)
            compare_block(probe, part, i, result);
    }
    pcast_fpenv_leave(&env);
    result->compared += (uint64_t)part->count * (uint64_t)probe->comparisons;
}

static pcast_status run_chunk(const pcast_probe *probe, pcast_cuda *cuda, pcast_cuda_address device,
                              chunk *part, void *numbers, pcast_check_result *result,
                              pcast_error *err)
{
    void *arguments[] = {&part->first, &part->step, &part->count, &device};
    pcast_status status = pcast_cuda_launch(
        cuda, probe->kernel, (part->count + THREADS - 1) / THREADS, THREADS, 0, arguments, err);
    if (status == PCAST_OK)
        status = pcast_cuda_download(cuda, numbers, device, part->count * probe->width, err);
    if (status == PCAST_OK)
        compare_chunk(probe, part, result);
    return status;
}

pcast_status pcast_probe_scan(const pcast_probe *probe, pcast_cuda *cuda, int quick,
                              pcast_check_result *result, pcast_error *err)
{
    /* An odd step reaches every low bit. */
    const uint32_t step = quick ? 257 : 1, count = quick ? 1 << 24 : 1 << 26;
    const int chunks = quick ? 1 : 64;
    unsigned char *numbers = malloc(count * probe->width);
    uint64_t *different = calloc(count / BLOCK, sizeof *different);
    pcast_cuda_address device = 0;
    pcast_status status = PCAST_OK;
    if (numbers == NULL || different == NULL)
        status = pcast_fail(err, PCAST_ERR_MEMORY, "%s: out of memory", probe->kernel);
    if (status == PCAST_OK)
        status = pcast_cuda_alloc(cuda, count * probe->width, &device, err);
    for (int i = 0; status == PCAST_OK && i < chunks; i++) {
        chunk part = {(uint32_t)i * count, step, count, numbers, different};
        status = run_chunk(probe, cuda, device, &part, numbers, result, err);
    }
    pcast_cuda_free(cuda, device);
    free(different);
    free(numbers);
    return status;
}
