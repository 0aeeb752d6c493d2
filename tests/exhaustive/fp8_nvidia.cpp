// SPDX-License-Identifier: MIT
// The codec against the host conversions of NVIDIA's cuda_fp8.h: all float32, float16 and bfloat16
// encodings, both overflow modes, and every code back to float16. A NaN of any sign becomes all
// ones there, which is our canonical NaN.
//
// usage: fp8_nvidia e4m3|e5m2
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

static std::uint64_t bits_f64(double x)
{
    std::uint64_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
}

static int report(const char *from, std::uint64_t bits, std::uint64_t got, unsigned expected)
{
    if (got == expected)
        return 0;
    std::printf("%s 0x%" PRIX64 ": got 0x%02" PRIX64 ", NVIDIA 0x%02X\n", from, bits, got,
                expected);
    return 1;
}

int main(int argc, char **argv)
{
    if (argc != 2 || (std::strcmp(argv[1], "e4m3") != 0 && std::strcmp(argv[1], "e5m2") != 0)) {
        std::fprintf(stderr, "usage: fp8_nvidia e4m3|e5m2\n");
        return 2;
    }
    const pcast_format to = std::strcmp(argv[1], "e4m3") == 0 ? PCAST_E4M3 : PCAST_E5M2;
    const __nv_fp8_interpretation_t nvidia = to == PCAST_E4M3 ? __NV_E4M3 : __NV_E5M2;
    long long wrong = 0, checked = 0;
    for (unsigned code = 0; code < 256; code++) {
        checked++;
        wrong += report("decoded", code, pcast_convert(PCAST_F16, to, code, options[1]),
                        __nv_cvt_fp8_to_halfraw(static_cast<unsigned char>(code), nvidia).x);
    }
    for (std::uint32_t u = 0; u < 65536; u++)
        for (int mode = 0; mode < 2; mode++) {
            __half_raw half;
            half.x = static_cast<unsigned short>(u);
            __nv_bfloat16_raw bfloat;
            bfloat.x = half.x;
            checked += 2;
            wrong += report("float16", u, pcast_convert(to, PCAST_F16, u, options[mode]),
                            __nv_cvt_halfraw_to_fp8(half, saturation[mode], nvidia));
            wrong += report("bfloat16", u, pcast_convert(to, PCAST_BF16, u, options[mode]),
                            __nv_cvt_bfloat16raw_to_fp8(bfloat, saturation[mode], nvidia));
        }
    // float64: every value and midpoint of the format, the midpoint above the largest too, and both
    // neighbours, either sign; no NaN, which NVIDIA's double path codes by its own rule.
    const std::uint64_t largest = pcast_format_largest(to);
    for (std::uint64_t code = 0; code <= largest; code++)
        for (int half = 0; half < 2; half++) {
            const double value = pcast_decode_f64(to, code);
            const double step = code < largest ? pcast_decode_f64(to, code + 1) - value
                                               : value - pcast_decode_f64(to, code - 1);
            const double point = half ? value + step / 2 : value;
            for (double x : {point, std::nextafter(point, 0.0), std::nextafter(point, 1e9), 1e300,
                             1e-300, HUGE_VAL})
                for (double sign : {1.0, -1.0})
                    for (int mode = 0; mode < 2; mode++) {
                        const std::uint64_t bits = bits_f64(sign * x);
                        checked++;
                        wrong += report("float64", bits,
                                        pcast_convert(to, PCAST_F64, bits, options[mode]),
                                        __nv_cvt_double_to_fp8(sign * x, saturation[mode], nvidia));
                    }
        }
#pragma omp parallel for schedule(dynamic) reduction(+ : wrong, checked)
    for (int chunk = 0; chunk < 4096; chunk++)
        for (std::uint32_t i = 0; i < 1u << 20; i++)
            for (int mode = 0; mode < 2; mode++) {
                const std::uint32_t bits = static_cast<std::uint32_t>(chunk) << 20 | i;
                float x;
                std::memcpy(&x, &bits, sizeof x);
                checked++;
                wrong += report("float32", bits, pcast_encode_f32(to, x, options[mode]),
                                __nv_cvt_float_to_fp8(x, saturation[mode], nvidia));
            }
    std::printf("%s against cuda_fp8.h: %lld conversions, %lld wrong\n", pcast_format_name(to),
                checked, wrong);
    return wrong == 0 && checked > 0 ? 0 : 1;
}
