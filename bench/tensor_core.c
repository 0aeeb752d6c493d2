/* SPDX-License-Identifier: MIT */
/* Multiply-adds in a second of one core: a matrix product [64, 512] x [512, 128] of random E4M3
 * codes, by machine and CPU level. With an argument, only the number for that level on
 * hopper-wgmma. */
#include "pcast/tensor_core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { M = 64, K = 512, N = 128 };

static uint8_t a[M * K], b[K * N];
static float d[M * N];

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time); /* what other processes do does not count */
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void fill(uint8_t *codes, size_t count, uint32_t seed)
{
    for (size_t i = 0; i < count; i++) {
        seed = seed * 1664525 + 1013904223;
        codes[i] = (uint8_t)(seed >> 24);
        if ((codes[i] & 0x7F) == 0x7F)
            codes[i] ^= 1;
    }
}

/* The best of five runs of at least a tenth of a second. */
static double rate(const pcast_tensor_core *core)
{
    double best = 0;
    for (int run = 0; run < 5; run++) {
        const double start = now();
        double time = 0;
        long products = 0;
        while (time < 0.1) {
            memset(d, 0, sizeof d);
            for (size_t i = 0; i < M; i++)
                pcast_tensor_core_row(core, a + i * K, b, K, N, N, d + i * N);
            products++;
            time = now() - start;
        }
        const double here = (double)products * M * K * N / time;
        best = here > best ? here : best;
    }
    return best;
}

int main(int argc, char **argv)
{
    fill(a, sizeof a, 1);
    fill(b, sizeof b, 2);
    for (int m = 0; m < PCAST_MACHINE_COUNT; m++)
        for (pcast_cpu level = PCAST_CPU_SCALAR; level <= pcast_cpu_detect(); level++) {
            const pcast_tensor_core core = {(pcast_machine)m, PCAST_E4M3, PCAST_E4M3,
                                            PCAST_TENSOR_CORE_F32, level};
            if (argc == 1)
                printf("%-18s %-7s %.3g multiply-adds/s\n", pcast_machine_name(core.machine),
                       pcast_cpu_name(level), rate(&core));
            else if (m == PCAST_MACHINE_HOPPER_WGMMA && strcmp(argv[1], pcast_cpu_name(level)) == 0)
                printf("%.6g\n", rate(&core));
        }
    return 0;
}
