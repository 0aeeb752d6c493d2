/* SPDX-License-Identifier: MIT */
/* The public calls: checking a description, choosing an engine, and chaining instructions over k
 * (docs/numerics.md, step 10.11). */
#include "hardware/tensor_core.h"

#include "base/bits.h"
#include "base/error.h"
#include "hardware/machine.h"

enum { KEYS = PCAST_TENSOR_CORE_KEYS };

static int is_input(pcast_format format)
{
    return format == PCAST_E4M3 || format == PCAST_E5M2;
}

pcast_status pcast_tensor_core_check(const pcast_tensor_core *core, pcast_error *err)
{
    if ((unsigned)core->machine >= PCAST_MACHINE_COUNT)
        return pcast_fail(err, PCAST_ERR_VALUE, "machine: no such machine, %d", (int)core->machine);
    if (!is_input(core->a))
        return pcast_fail(err, PCAST_ERR_VALUE, "a: neither e4m3 nor e5m2");
    if (!is_input(core->b))
        return pcast_fail(err, PCAST_ERR_VALUE, "b: neither e4m3 nor e5m2");
    if (core->output != PCAST_TENSOR_CORE_F32 && core->output != PCAST_TENSOR_CORE_F16)
        return pcast_fail(err, PCAST_ERR_VALUE, "output: neither f32 nor f16");
    return PCAST_OK;
}

/* The SIMD engines keep terms in 16 bits and round as RZ-E8M13. */
static pcast_tensor_core_block *engine_for(const pcast_tensor_core *core)
{
#if defined(PCAST_HAVE_AVX2)
    const pcast_machine_row *machine = &pcast_machines[core->machine];
    if (machine->fraction == 13 && core->output == PCAST_TENSOR_CORE_F32) {
        const pcast_cpu here = pcast_cpu_detect();
        const pcast_cpu level = core->cpu < here ? core->cpu : here;
        if (level >= PCAST_CPU_AVX512)
            return pcast_tensor_core_block_avx512;
        if (level >= PCAST_CPU_AVX2)
            return pcast_tensor_core_block_avx2;
    }
#endif
    (void)core;
    return pcast_tensor_core_block_scalar;
}

/* One row against n columns through one engine. */
static void chain(const pcast_tensor_core *core, pcast_tensor_core_block *block, const uint8_t *a,
                  const uint8_t *b, size_t k, size_t ldb, size_t n, float *d)
{
    for (size_t first = 0; first < k; first += KEYS) {
        const size_t rows = k - first < KEYS ? k - first : KEYS;
        uint8_t codes[KEYS] = {0};
        memcpy(codes, a + first, rows);
        block(core, codes, b + first * ldb, rows, ldb, n, d);
    }
}

void pcast_tensor_core_row(const pcast_tensor_core *core, const uint8_t *a, const uint8_t *b,
                           size_t k, size_t ldb, size_t n, float *d)
{
    chain(core, engine_for(core), a, b, k, ldb, n, d);
}

void pcast_tensor_core_dots(const pcast_tensor_core *core, const uint8_t *a, const uint8_t *b,
                            size_t rows, size_t k, float *d)
{
    pcast_tensor_core_block *block = engine_for(core);
    for (size_t i = 0; i < rows; i++)
        chain(core, block, a + i * k, b + i * k, k, 1, 1, d + i);
}
