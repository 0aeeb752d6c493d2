/* SPDX-License-Identifier: MIT */
/* Choice of the engine. */
#include "softmax/engine.h"

#include "base/bits.h"

const pcast_engine *pcast_engine_for(pcast_cpu level)
{
#if defined(PCAST_HAVE_AVX2)
    const pcast_cpu here = pcast_cpu_detect();
    if (level >= PCAST_CPU_AVX512 && here >= PCAST_CPU_AVX512)
        return &pcast_engine_avx512;
    if (level >= PCAST_CPU_AVX2 && here >= PCAST_CPU_AVX2)
        return &pcast_engine_avx2;
#endif
    (void)level;
    return &pcast_engine_scalar;
}
