// SPDX-License-Identifier: MIT
// The codec against the host conversion of NVIDIA's cuda_fp8.h: all float32, float16 and bfloat16
// encodings, both overflow modes. A NaN of any sign gives 0x7F there, which is our canonical NaN.
#include "pcast/format.h"

#include <cuda_fp8.h>

#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstring>

static const pcast_cast options[2] = {
    {PCAST_OVERFLOW_SATURATE, PCAST_INF_AS_OVERFLOW, PCAST_NAN_CANONICAL},
    {PCAST_OVERFLOW_NAN, PCAST_INF_AS_OVERFLOW, PCAST_NAN_CANONICAL}};
static const __nv_saturation_t saturation[2] = {__NV_SATFINITE, __NV_NOSAT};

static int encode_f64(double x, pcast_cast cast)
{
    std::uint64_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    return static_cast<int>(pcast_convert(PCAST_E4M3, PCAST_F64, bits, cast));
}

static int report(const char *format, uint32_t bits, int got, int expected)
{
    if (got == expected)
        return 0;
    std::printf("%s 0x%08" PRIX32 ": got 0x%02X, NVIDIA 0x%02X\n", format, bits, got, expected);
    return 1;
}

int main()
{
    long long wrong = 0, checked = 0;
    for (uint32_t u = 0; u < 65536; u++)
        for (int mode = 0; mode < 2; mode++) {
            __half_raw half;
            half.x = static_cast<unsigned short>(u);
            __nv_bfloat16_raw bfloat;
            bfloat.x = half.x;
            wrong += report("float16", u,
                            (int)pcast_convert(PCAST_E4M3, PCAST_F16, half.x, options[mode]),
                            __nv_cvt_halfraw_to_fp8(half, saturation[mode], __NV_E4M3));
            wrong += report("bfloat16", u,
                            (int)pcast_convert(PCAST_E4M3, PCAST_BF16, bfloat.x, options[mode]),
                            __nv_cvt_bfloat16raw_to_fp8(bfloat, saturation[mode], __NV_E4M3));
            checked += 2;
        }
    // float64: every value and midpoint of the format and both neighbours, either sign; no NaN,
    // which NVIDIA's double path codes by its own rule.
    for (int code = 0; code < 126; code++)
        for (int half = 0; half < 2; half++) {
            const double low = pcast_decode_f64(PCAST_E4M3, static_cast<uint64_t>(code));
            const double high = pcast_decode_f64(PCAST_E4M3, static_cast<uint64_t>(code) + 1);
            const double point = half ? (low + high) / 2 : high;
            for (double x : {point, std::nextafter(point, 0.0), std::nextafter(point, 1e9), 464.0,
                             1e300, 1e-300})
                for (double sign : {1.0, -1.0})
                    for (int mode = 0; mode < 2; mode++) {
                        checked++;
                        wrong +=
                            report("float64", static_cast<uint32_t>(code),
                                   encode_f64(sign * x, options[mode]),
                                   __nv_cvt_double_to_fp8(sign * x, saturation[mode], __NV_E4M3));
                    }
        }
#pragma omp parallel for schedule(dynamic) reduction(+ : wrong, checked)
    for (int chunk = 0; chunk < 4096; chunk++)
        for (uint32_t i = 0; i < 1u << 20; i++)
            for (int mode = 0; mode < 2; mode++) {
                const uint32_t bits = static_cast<uint32_t>(chunk) << 20 | i;
                float x;
                std::memcpy(&x, &bits, sizeof x);
                checked++;
                wrong +=
                    report("float32", bits, (int)pcast_encode_f32(PCAST_E4M3, x, options[mode]),
                           __nv_cvt_float_to_fp8(x, saturation[mode], __NV_E4M3));
            }
    std::printf("e4m3 against cuda_fp8.h: %lld conversions, %lld wrong\n", checked, wrong);
    return wrong == 0 && checked > 0 ? 0 : 1;
}
