/* SPDX-License-Identifier: MIT */
/* Float32 to an 8-bit format against the table search, for all 2^32 float32 encodings and both
 * overflow modes: one by one, and as arrays at every CPU level.
 *
 * usage: fp8_f32 FORMAT */
#include "pcast/format.h"

#include "base/bits.h"
#include "oracle_fp8.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Encodings at a time, and ways to convert them: one by one, then the levels. */
enum { ARRAY = 1 << 12, WAYS = 1 + PCAST_CPU_AVX512 + 1 };

typedef struct tally {
    uint64_t checked, wrong;
} tally;

static const char *way_name(int way)
{
    return way == 0 ? "one by one" : pcast_cpu_name((pcast_cpu)(way - 1));
}

static void convert(pcast_format format, int way, int saturate, const float *x, uint8_t *codes)
{
    const pcast_cast cast = {.overflow = saturate ? PCAST_OVERFLOW_SATURATE : PCAST_OVERFLOW_NAN};
    if (way > 0)
        pcast_encode_array(format, codes, x, ARRAY, cast, (pcast_cpu)(way - 1));
    for (int i = 0; way == 0 && i < ARRAY; i++)
        codes[i] = (uint8_t)pcast_encode_f32(format, x[i], cast);
}

/* The ARRAY encodings from `first` on; prints up to `shown` that are wrong. */
static tally check(pcast_format format, const oracle_fp8 *oracle, uint32_t first, uint64_t shown)
{
    float x[ARRAY];
    uint8_t expected[2][ARRAY], codes[ARRAY];
    tally result = {0, 0};
    for (uint32_t i = 0; i < ARRAY; i++) {
        x[i] = pcast_f32_from_bits(first + i);
        for (int saturate = 0; saturate < 2; saturate++)
            expected[saturate][i] = oracle_fp8_encode(oracle, (double)x[i], saturate);
    }
    for (int way = 0; way < WAYS && way - 1 <= (int)pcast_cpu_detect(); way++)
        for (int saturate = 0; saturate < 2; saturate++) {
            memset(codes, 0x55, sizeof codes);
            convert(format, way, saturate, x, codes);
            result.checked += ARRAY;
            if (memcmp(codes, expected[saturate], ARRAY) == 0)
                continue;
            for (uint32_t i = 0; i < ARRAY; i++)
                if (codes[i] != expected[saturate][i] && result.wrong++ < shown)
                    printf("0x%08" PRIX32 " (%a), %s, %s: 0x%02X, expected 0x%02X\n", first + i,
                           (double)x[i], way_name(way), saturate ? "sat" : "nan", codes[i],
                           expected[saturate][i]);
        }
    return result;
}

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
    const oracle_fp8 oracle = oracle_fp8_make(format);
    const uint64_t ways = 2 + (uint64_t)pcast_cpu_detect();
    uint64_t checked = 0, wrong = 0;
#pragma omp parallel for schedule(dynamic, 256) reduction(+ : checked, wrong)
    for (uint32_t chunk = 0; chunk < UINT32_C(1) << 20; chunk++) {
        const tally here = check(format, &oracle, chunk << 12, wrong < 3 ? 3 - wrong : 0);
        checked += here.checked;
        wrong += here.wrong;
    }
    printf("%s from float32: 2^32 encodings, both modes, one by one and at %" PRIu64
           " levels: %" PRIu64 " conversions, %" PRIu64 " wrong\n",
           pcast_format_name(format), ways - 1, checked, wrong);
    return wrong == 0 && checked == ways << 33 ? 0 : 1;
}
