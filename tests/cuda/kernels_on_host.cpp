/* SPDX-License-Identifier: MIT */
/* The tensor core's probe kernels, compiled for the host and run by 128 threads: all addresses, in
 * global and shared memory, and the threads' shares of A and D, for each kernel and for chains of
 * 1, 2 and 8. The operands and what is expected are those of the host's side. */
#include "cuda/probe_wgmma.cuh" /* over host/cuda/wgmma.cuh */

extern "C" {
#include "cuda/wgmma_inputs.h"
}

#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

typedef void kernel(const uint8_t *, const uint8_t *, const float *, float *, uint32_t, uint32_t);

enum { TILES = 2, ELEMENTS = PCAST_PROBE_ROWS * PCAST_PROBE_COLUMNS };

static void launch(kernel *run, uint32_t blocks, const uint8_t *a, const uint8_t *b, const float *c,
                   float *d, uint32_t steps, uint32_t keep)
{
    std::vector<std::thread> threads;
    pthread_barrier_init(&barrier, nullptr, 128);
    for (uint32_t t = 0; t < 128; t++)
        threads.emplace_back([=] {
            threadIdx.x = t;
            for (blockIdx.x = 0; blockIdx.x < blocks; blockIdx.x++) {
                run(a, b, c, d, steps, keep);
                __syncthreads();
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    pthread_barrier_destroy(&barrier);
}

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* How many numbers differ. */
static size_t check(const char *name, kernel *run, uint32_t columns, pcast_wgmma_case which)
{
    const uint32_t k = which.steps * PCAST_TILE_KEYS, keep = which.inputs != PCAST_WGMMA_DROPPED;
    const pcast_tensor_core core = {PCAST_MACHINE_HOPPER_WGMMA, which.a, which.b,
                                    PCAST_TENSOR_CORE_F32, PCAST_CPU_SCALAR};
    std::vector<uint32_t> c(TILES * ELEMENTS);
    /* 16 codes are read at once. */
    std::vector<uint4> a(TILES * PCAST_PROBE_ROWS * k / 16),
        b(TILES * PCAST_PROBE_COLUMNS * k / 16);
    std::vector<float> accumulators(TILES * ELEMENTS), d(TILES * ELEMENTS, -1.0f);
    uint8_t *codes_a = (uint8_t *)a.data(), *codes_b = (uint8_t *)b.data();
    for (uint32_t tile = 0; tile < TILES; tile++)
        pcast_wgmma_draw(&which, tile, codes_a + tile * PCAST_PROBE_ROWS * k,
                         codes_b + tile * PCAST_PROBE_COLUMNS * k, c.data() + tile * ELEMENTS);
    memcpy(accumulators.data(), c.data(), sizeof(float) * c.size());
    launch(run, TILES * PCAST_PROBE_COLUMNS / columns, codes_a, codes_b, accumulators.data(),
           d.data(), which.steps, keep);
    size_t different = 0;
    for (uint32_t i = 0; i < TILES * ELEMENTS; i++) {
        const uint32_t row = i / PCAST_PROBE_COLUMNS, tile = row / PCAST_PROBE_ROWS;
        const uint32_t column = tile * PCAST_PROBE_COLUMNS + i % PCAST_PROBE_COLUMNS;
        float expected = keep ? accumulators[i] : 0;
        pcast_tensor_core_dots(&core, codes_a + row * k, codes_b + column * k, 1, k, &expected);
        if (bits_of(d[i]) == bits_of(expected))
            continue;
        if (different++ == 0)
            printf("%s, %u steps, row %u, column %u: got 0x%08X, expected 0x%08X\n", name,
                   which.steps, row, column, bits_of(d[i]), bits_of(expected));
    }
    return different;
}

#define KERNELS(name, a, b)                                                                        \
    {"ss, N = 8, " #name, pcast_probe_wgmma_ss_n8_##name, 8, a, b},                                \
        {"ss, N = 256, " #name, pcast_probe_wgmma_ss_n256_##name, 256, a, b},                      \
        {"rs, N = 8, " #name, pcast_probe_wgmma_rs_n8_##name, 8, a, b},                            \
        {"rs, N = 256, " #name, pcast_probe_wgmma_rs_n256_##name, 256, a, b},

int main()
{
    static const struct {
        const char *name;
        kernel *run;
        uint32_t columns;
        pcast_format a, b;
    } kernels[] = {
        KERNELS(e4m3_e4m3, PCAST_E4M3, PCAST_E4M3) KERNELS(e4m3_e5m2, PCAST_E4M3, PCAST_E5M2)
            KERNELS(e5m2_e4m3, PCAST_E5M2, PCAST_E4M3) KERNELS(e5m2_e5m2, PCAST_E5M2, PCAST_E5M2)};
    static const struct {
        pcast_wgmma_inputs inputs;
        uint32_t steps;
    } cases[] = {{PCAST_WGMMA_ANY, 1}, {PCAST_WGMMA_DROPPED, 2}, {PCAST_WGMMA_NARROW, 8}};
    size_t different = 0;
    for (const auto &one : kernels) /* addresses do not depend on the formats */
        for (int i = 0; i < (&one - kernels < 4 ? 3 : 1); i++)
            different += check(one.name, one.run, one.columns,
                               {one.a, one.b, cases[i].inputs, cases[i].steps});
    printf("%zu numbers differ\n", different);
    return different == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
