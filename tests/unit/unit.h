/* SPDX-License-Identifier: MIT */
/* cmocka and assertions on bits. */
#ifndef PCAST_TESTS_UNIT_H
#define PCAST_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static inline void assert_code_at(unsigned got, unsigned expected, uint64_t input, const char *file,
                                  int line)
{
    if (got != expected) {
        print_error("%s:%d: input bits 0x%llX: got code 0x%02X, expected 0x%02X\n", file, line,
                    (unsigned long long)input, got, expected);
        fail();
    }
}
#define assert_code(got, expected, input) assert_code_at(got, expected, input, __FILE__, __LINE__)

static inline void assert_bits_f32_at(float got, float expected, const char *file, int line)
{
    uint32_t g, e;
    memcpy(&g, &got, 4);
    memcpy(&e, &expected, 4);
    if (g != e) {
        print_error("%s:%d: got %a (0x%08X), expected %a (0x%08X)\n", file, line, (double)got, g,
                    (double)expected, e);
        fail();
    }
}
#define assert_bits_f32(got, expected) assert_bits_f32_at(got, expected, __FILE__, __LINE__)

static inline void assert_bits_f64_at(double got, double expected, const char *file, int line)
{
    if (memcmp(&got, &expected, 8) != 0) {
        print_error("%s:%d: got %a, expected %a\n", file, line, got, expected);
        fail();
    }
}
#define assert_bits_f64(got, expected) assert_bits_f64_at(got, expected, __FILE__, __LINE__)

static inline void assert_near_at(double got, double expected, double tolerance, const char *file,
                                  int line)
{
    const double difference = got > expected ? got - expected : expected - got;
    if (!(difference <= tolerance)) {
        print_error("%s:%d: got %.17g, expected %.17g +- %g\n", file, line, got, expected,
                    tolerance);
        fail();
    }
}
#define assert_near(got, expected, tolerance)                                                      \
    assert_near_at(got, expected, tolerance, __FILE__, __LINE__)

/* A small generator for test inputs (xorshift64*), independent of the library's. */
static inline uint64_t test_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}

/* Uniform in [0, 1). */
static inline double test_uniform(uint64_t *state)
{
    return (double)(test_random(state) >> 11) * 0x1p-53;
}

#endif
