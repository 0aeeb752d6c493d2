/* SPDX-License-Identifier: MIT */
/* Detection of the CPU level. */
#include "pcast/cpu.h"

pcast_cpu pcast_cpu_detect(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
        return PCAST_CPU_SCALAR;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return PCAST_CPU_AVX512;
    return PCAST_CPU_AVX2;
#else
    return PCAST_CPU_SCALAR;
#endif
}

const char *pcast_cpu_name(pcast_cpu level)
{
    switch (level) {
    case PCAST_CPU_SCALAR:
        return "scalar";
    case PCAST_CPU_AVX2:
        return "avx2";
    case PCAST_CPU_AVX512:
        return "avx512";
    }
    return "unknown";
}
