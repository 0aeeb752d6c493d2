/* SPDX-License-Identifier: MIT */
/* CPU levels. A level selects how fast the engines run, never what they compute: every level
 * returns the bits of the scalar reference. */
#ifndef PCAST_CPU_H
#define PCAST_CPU_H

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pcast_cpu {
    PCAST_CPU_SCALAR, /* the reference, portable C */
    PCAST_CPU_AVX2,   /* AVX2 and FMA */
    PCAST_CPU_AVX512, /* AVX-512 F, BW, DQ and VL */
} pcast_cpu;

/* The highest level this processor offers. */
pcast_cpu pcast_cpu_detect(void);

/* "scalar", "avx2" or "avx512". */
const char *pcast_cpu_name(pcast_cpu level);

#ifdef __cplusplus
}
#endif

#endif
