/* SPDX-License-Identifier: MIT */
/* Float32 to E4M3 against the table search, for all 2^32 float32 encodings and both overflow
 * modes. */
#include "pcast/format.h"

#include "base/bits.h"
#include "oracle_e4m3.h"

#include <inttypes.h>
#include <stdio.h>

int main(void)
{
    const pcast_cast saturate = {.overflow = PCAST_OVERFLOW_SATURATE};
    const pcast_cast nan = {.overflow = PCAST_OVERFLOW_NAN};
    oracle_e4m3 oracle;
    oracle_e4m3_init(&oracle);
    uint64_t checked = 0, wrong = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : checked, wrong)
    for (int chunk = 0; chunk < 4096; chunk++)
        for (uint32_t i = 0; i < 1u << 20; i++) {
            const uint32_t bits = (uint32_t)chunk << 20 | i;
            const float x = pcast_f32_from_bits(bits);
            const uint32_t sat = pcast_encode_f32(PCAST_E4M3, x, saturate);
            const uint32_t nosat = pcast_encode_f32(PCAST_E4M3, x, nan);
            const uint8_t expected_sat = oracle_e4m3_encode(&oracle, (double)x, 1);
            const uint8_t expected_nosat = oracle_e4m3_encode(&oracle, (double)x, 0);
            checked++;
            if (sat == expected_sat && nosat == expected_nosat)
                continue;
            if (wrong++ < 3)
                printf("0x%08" PRIX32
                       " (%a): sat 0x%02X, expected 0x%02X; nan 0x%02X, expected 0x%02X\n",
                       bits, (double)x, sat, expected_sat, nosat, expected_nosat);
        }
    printf("e4m3 from float32: %" PRIu64 " encodings, both modes, %" PRIu64 " wrong\n", checked,
           wrong);
    return wrong == 0 && checked == UINT64_C(1) << 32 ? 0 : 1;
}
