/* SPDX-License-Identifier: MIT */
/* FP8 tensor cores, bit for bit: what one instruction of a machine writes for 32 products and an
 * accumulator, chained over k (docs/numerics.md, section 10). All arithmetic is integer arithmetic
 * (one float addition where a machine adds the accumulator late), so the results depend neither on
 * the CPU level nor on the caller's floating-point environment. */
#ifndef PCAST_TENSOR_CORE_H
#define PCAST_TENSOR_CORE_H

#include "pcast/cpu.h"
#include "pcast/format.h"
#include "pcast/status.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { PCAST_TENSOR_CORE_KEYS = 32 }; /* k of one instruction, on every machine */

typedef enum pcast_machine {
    PCAST_MACHINE_HOPPER_WGMMA,      /* wgmma.mma_async m64nNk32 */
    PCAST_MACHINE_ADA_MMA,           /* mma.sync m16n8k32 on Ada */
    PCAST_MACHINE_HOPPER_MMA,        /* mma.sync m16n8k32 on Hopper, by way of FP16 */
    PCAST_MACHINE_BLACKWELL_TCGEN05, /* tcgen05.mma kind::f8f6f4 */
    PCAST_MACHINE_COUNT
} pcast_machine;

/* "ada-mma", "hopper-wgmma", "hopper-mma", "blackwell-tcgen05". */
const char *pcast_machine_name(pcast_machine machine);

/* Where the machine's arithmetic is known from, in one line. */
const char *pcast_machine_source(pcast_machine machine);

/* The accumulator's format, which is the result's. */
typedef enum pcast_tensor_core_output {
    PCAST_TENSOR_CORE_F32,
    PCAST_TENSOR_CORE_F16
} pcast_tensor_core_output;

typedef struct pcast_tensor_core {
    pcast_machine machine;
    pcast_format a, b; /* PCAST_E4M3 or PCAST_E5M2, each its own */
    pcast_tensor_core_output output;
    pcast_cpu cpu; /* highest level that may be used */
} pcast_tensor_core;

/* PCAST_ERR_VALUE names the field that has no such value. The functions below take a description
 * that passes. */
pcast_status pcast_tensor_core_check(const pcast_tensor_core *core, pcast_error *err);

/* One row of A against n columns of B: d[j] = chain of instructions over k, 32 at a time, that
 * starts from d[j], the accumulator (zeros for none). a [k] codes; b [k][ldb] codes, column j is
 * b[i * ldb + j]. In the last instruction products beyond k are zero; k = 0 leaves d as it is. A
 * result that is NaN has the bits 0x7FFFFFFF. FP16 accumulators are passed as the float of their
 * value; other floats are rounded to FP16 first. d must not overlap a or b. */
void pcast_tensor_core_row(const pcast_tensor_core *core, const uint8_t *a, const uint8_t *b,
                           size_t k, size_t ldb, size_t n, float *d);

/* Independent dot products: d[i] = chain over a[i][0..k-1], b[i][0..k-1] from d[i]; a, b
 * [rows][k]. */
void pcast_tensor_core_dots(const pcast_tensor_core *core, const uint8_t *a, const uint8_t *b,
                            size_t rows, size_t k, float *d);

#ifdef __cplusplus
}
#endif

#endif
