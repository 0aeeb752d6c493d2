/* SPDX-License-Identifier: MIT */
/* Probes of single instructions (probe_kernels.cuh, probe_wgmma.cuh) against the library's models.
 */
#ifndef PCAST_CUDA_PROBE_H
#define PCAST_CUDA_PROBE_H

#include "cuda/check.h"

#include <stddef.h>

/* A kernel that gives one number for each of first + i * step. */
typedef struct pcast_probe {
    const char *kernel;
    size_t width; /* bytes of a number */
    /* How many of the numbers differ; the environment of base/fpenv.h is entered. With examples,
     * adds the differing ones there. */
    uint64_t (*compare)(const struct pcast_probe *probe, uint32_t first, uint32_t step,
                        uint32_t count, const void *numbers, pcast_check_result *examples);
    int choice;      /* what the comparison is with */
    int comparisons; /* for each number */
} pcast_probe;

/* Runs it on all 2^32 arguments, or on 2^24 that are spread evenly. */
pcast_status pcast_probe_scan(const pcast_probe *probe, pcast_cuda *cuda, int quick,
                              pcast_check_result *result, pcast_error *err);

/* The parts. */
pcast_status pcast_probe_cvt_e4m3(pcast_cuda *cuda, int quick, pcast_check_result *result,
                                  pcast_error *err);
pcast_status pcast_probe_cvt_e5m2(pcast_cuda *cuda, int quick, pcast_check_result *result,
                                  pcast_error *err);
pcast_status pcast_probe_ex2(pcast_cuda *cuda, int quick, pcast_check_result *result,
                             pcast_error *err);
pcast_status pcast_probe_ex2_full(pcast_cuda *cuda, int quick, pcast_check_result *result,
                                  pcast_error *err);
pcast_status pcast_probe_rcp(pcast_cuda *cuda, int quick, pcast_check_result *result,
                             pcast_error *err);
pcast_status pcast_probe_lg2(pcast_cuda *cuda, int quick, pcast_check_result *result,
                             pcast_error *err);
pcast_status pcast_probe_expf(pcast_cuda *cuda, int quick, pcast_check_result *result,
                              pcast_error *err);
pcast_status pcast_probe_expf_fast(pcast_cuda *cuda, int quick, pcast_check_result *result,
                                   pcast_error *err);
pcast_status pcast_probe_wgmma(pcast_cuda *cuda, int quick, pcast_check_result *result,
                               pcast_error *err);

#endif
