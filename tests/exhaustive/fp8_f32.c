/* SPDX-License-Identifier: MIT */
/* Float32 to an 8-bit format against the table search, for all 2^32 float32 encodings and both
 * overflow modes.
 *
 * usage: fp8_f32 FORMAT */
#include "pcast/format.h"

#include "base/bits.h"
#include "oracle_fp8.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    int to = 0;
    while (to < ORACLE_FP8_COUNT &&
           (argc != 2 || strcmp(argv[1], pcast_format_name((pcast_format)to)) != 0))
        to++;
    if (to == ORACLE_FP8_COUNT) {
        fprintf(stderr, "usage: fp8_f32 e4m3|e5m2|e4m3fnuz|e5m2fnuz\n");
        return 2;
    }
    const pcast_format format = (pcast_format)to;
    const pcast_cast saturate = {.overflow = PCAST_OVERFLOW_SATURATE};
    const pcast_cast nan = {.overflow = PCAST_OVERFLOW_NAN};
    const oracle_fp8 oracle = oracle_fp8_make(format);
    uint64_t checked = 0, wrong = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : checked, wrong)
    for (int chunk = 0; chunk < 4096; chunk++)
        for (uint32_t i = 0; i < 1u << 20; i++) {
            const uint32_t bits = (uint32_t)chunk << 20 | i;
            const float x = pcast_f32_from_bits(bits);
            const uint32_t sat = pcast_encode_f32(format, x, saturate);
            const uint32_t nosat = pcast_encode_f32(format, x, nan);
            const uint8_t expected_sat = oracle_fp8_encode(&oracle, (double)x, 1);
            const uint8_t expected_nosat = oracle_fp8_encode(&oracle, (double)x, 0);
            checked++;
            if (sat == expected_sat && nosat == expected_nosat)
                continue;
            if (wrong++ < 3)
                printf("0x%08" PRIX32
                       " (%a): sat 0x%02X, expected 0x%02X; nan 0x%02X, expected 0x%02X\n",
                       bits, (double)x, sat, expected_sat, nosat, expected_nosat);
        }
    printf("%s from float32: %" PRIu64 " encodings, both modes, %" PRIu64 " wrong\n",
           pcast_format_name(format), checked, wrong);
    return wrong == 0 && checked == UINT64_C(1) << 32 ? 0 : 1;
}
