/* SPDX-License-Identifier: MIT */
/* A matrix product [64, 512] x [512, 128] of random E4M3 codes through each machine's tensor core.
 * The limit is the same product in binary32. */
#include "bench.h"

#include "pcast/tensor_core.h"

#include <stdio.h>
#include <string.h>

enum { M = 64, K = 512, N = 128 };

typedef struct data {
    uint8_t a[M * K], b[K * N];
    float d[M * N];
} data;

static void fill(uint8_t *codes, size_t count, uint32_t seed)
{
    for (size_t i = 0; i < count; i++) {
        seed = seed * 1664525 + 1013904223;
        codes[i] = (uint8_t)(seed >> 24);
        if ((codes[i] & 0x7F) == 0x7F)
            codes[i] ^= 1;
    }
}

static void product(const bench *self, const bench_case *what)
{
    data *arrays = (data *)self->owned[what->choice[1]];
    const pcast_tensor_core core = {(pcast_machine)what->choice[0], PCAST_E4M3, PCAST_E4M3,
                                    PCAST_TENSOR_CORE_F32, (pcast_cpu)what->level};
    const size_t rows = (size_t)what->choice[2];
    memset(arrays->d, 0, sizeof arrays->d);
    for (size_t i = 0; i < rows; i++)
        pcast_tensor_core_row(&core, arrays->a + i * K, arrays->b, K, N, N, arrays->d + i * N);
}

void bench_add_tensor_core(bench *self)
{
    const int owned = (int)self->owned_count, rows = self->quick ? M / 16 : M;
    data *arrays = bench_alloc(self, 1, sizeof *arrays);
    if (arrays == NULL)
        return;
    fill(arrays->a, sizeof arrays->a, 1);
    fill(arrays->b, sizeof arrays->b, 2);
    for (int machine = 0; machine < PCAST_MACHINE_COUNT; machine++)
        for (int level = 0; level <= PCAST_CPU_AVX512; level++) {
            bench_case what = {.group = "tensor-core",
                               .data = "random codes",
                               .level = level,
                               .threads = 1,
                               .unit = "multiply-adds",
                               .units = (double)rows * K * N,
                               .limit = BENCH_FMA,
                               .work = 1,
                               .run = product,
                               .choice = {machine, owned, rows}};
            snprintf(what.name, sizeof what.name, "%s", pcast_machine_name((pcast_machine)machine));
            if (self->levels[level])
                bench_add(self, &what);
        }
}
