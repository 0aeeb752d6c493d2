/* SPDX-License-Identifier: MIT */
/* Tensor cores: values worked out by hand for every machine, what must not change a result, NaN and
 * infinities, and every engine against the reference on identical bits. Results measured on GPUs
 * and the exact model are in tests/oracle. */
#include "pcast/tensor_core.h"

#include "hardware/tensor_core.h"
#include "pcast/kernel.h"
#include "unit.h"

#include <sys/mman.h>
#include <unistd.h>

enum { KEYS = 32, LEVELS = 3 };
static const uint32_t NAN_BITS = 0x7FFFFFFF, INF_BITS = 0x7F800000;

static pcast_tensor_core core_of(pcast_machine machine, pcast_format format,
                                 pcast_tensor_core_output output)
{
    return (pcast_tensor_core){machine, format, format, output, pcast_cpu_detect()};
}

static void print_codes(const char *name, const uint8_t *codes, size_t count, size_t step)
{
    print_error("  %s =", name);
    for (size_t i = 0; i < count; i++)
        print_error(" %02X", codes[i * step]);
    print_error("\n");
}

/* One dot product at every level, as a column among others and by itself. */
static void assert_dot_at(pcast_tensor_core core, const uint8_t *a, const uint8_t *b, size_t k,
                          uint32_t c, uint32_t expected, int line)
{
    enum { N = 19, COLUMN = 17 }; /* a whole group of either engine, and a part of one */
    uint8_t matrix[4 * KEYS * N] = {0};
    for (size_t i = 0; i < k; i++)
        matrix[i * N + COLUMN] = matrix[i * N] = b[i];
    for (int level = 0; level < LEVELS; level++) {
        uint32_t row[N] = {[0] = c, [COLUMN] = c}, alone = c;
        float d[N], one;
        core.cpu = (pcast_cpu)level;
        memcpy(d, row, sizeof d);
        memcpy(&one, &alone, sizeof one);
        pcast_tensor_core_row(&core, a, matrix, k, N, N, d);
        pcast_tensor_core_dots(&core, a, b, 1, k, &one);
        memcpy(row, d, sizeof d);
        memcpy(&alone, &one, sizeof one);
        if (row[0] == expected && row[COLUMN] == expected && alone == expected)
            continue;
        print_error("%s:%d: %s, %s: c 0x%08X: got 0x%08X, 0x%08X, alone 0x%08X, expected 0x%08X\n",
                    __FILE__, line, pcast_machine_name(core.machine), pcast_cpu_name(core.cpu), c,
                    row[0], row[COLUMN], alone, expected);
        print_codes("a", a, k, 1);
        print_codes("b", b, k, 1);
        fail();
    }
}
#define assert_dot(core, a, b, k, c, expected) assert_dot_at(core, a, b, k, c, expected, __LINE__)

/* E4M3 codes. */
enum {
    ONE = 0x38,
    MINUS_ONE = 0xB8,
    ONE_AND_HALF = 0x3C,
    FIFTEEN_16THS = 0x37,
    LARGEST = 0x7E,
    P3 = 0x20, /* 2^-3 and so on */
    P5 = 0x10,
    P6 = 0x08,
    P7 = 0x04,
    P9 = 0x01,
    THREE_P6 = 0x14, /* 3 * 2^-6 */
    MINUS = 0x80,
};

/* hopper-wgmma from E4M3 into FP32, one step. */
static void test_wgmma_values(void **state)
{
    (void)state;
    static const struct {
        uint8_t a[3], b[3];
        int repeat; /* of the first product */
        uint32_t c, d;
    } cases[] = {
        {{0}, {0}, 1, 0x3F800400, 0x3F800400}, /* 1 + 2^-13 */
        {{0}, {0}, 1, 0x3F800200, 0x3F800000}, /* 1 + 2^-14 */
        {{0}, {0}, 1, 0x3F801FFF, 0x3F801C00},
        {{0}, {0}, 1, 0xBF800200, 0xBF800000},
        {{0}, {0}, 1, 0x00000401, 0x00000400}, /* subnormal */
        {{0}, {0}, 1, 0x000003FF, 0x00000000},
        {{0}, {0}, 1, 0x800003FF, 0x00000000},
        {{0}, {0}, 1, 0x80000000, 0x00000000},
        {{ONE, P6}, {ONE, P7}, 1, 0, 0x3F800400},
        {{ONE, P7}, {ONE, P7}, 1, 0, 0x3F800000},
        {{ONE, P7, P7}, {ONE, P7, P7}, 1, 0, 0x3F800000},
        {{ONE, MINUS_ONE, P7}, {ONE, ONE, P7}, 1, 0, 0x00000000},
        {{ONE_AND_HALF}, {ONE}, 1, 0x46800000, 0x46800000},         /* c = 2^14 */
        {{ONE_AND_HALF}, {ONE}, 1, 0x46000000, 0x46000400},         /* 2^13: 8193 */
        {{ONE_AND_HALF}, {ONE}, 1, 0xC6000000, 0xC5FFF800},         /* -8191 */
        {{MINUS | ONE_AND_HALF}, {ONE}, 1, 0x46000000, 0x45FFF800}, /* 8191 */
        {{FIFTEEN_16THS}, {ONE}, 32, 0x46000000, 0x46000000},       /* all 32 lost */
        {{LARGEST}, {LARGEST}, 32, 0, 0x4AC40000},                  /* exact */
        {{P9}, {ONE}, 1, 0x35800000, 0x3B000000}, /* aligned by -6: c = 2^-20 is lost */
        {{P6}, {P3}, 1, 0x35800000, 0x3B001000},  /* aligned by -9: it is not */
    };
    const pcast_tensor_core core =
        core_of(PCAST_MACHINE_HOPPER_WGMMA, PCAST_E4M3, PCAST_TENSOR_CORE_F32);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t a[KEYS] = {0}, b[KEYS] = {0};
        memcpy(a, cases[i].a, 3);
        memcpy(b, cases[i].b, 3);
        for (int r = 1; r < cases[i].repeat; r++) {
            a[r] = a[0];
            b[r] = b[0];
        }
        assert_dot(core, a, b, KEYS, cases[i].c, cases[i].d);
    }
}

/* What sets the machines apart, worked out by hand. */
static void test_other_machines(void **state)
{
    (void)state;
    const pcast_tensor_core ada = core_of(PCAST_MACHINE_ADA_MMA, PCAST_E4M3, 0),
                            wgmma = core_of(PCAST_MACHINE_HOPPER_WGMMA, PCAST_E4M3, 0),
                            mma = core_of(PCAST_MACHINE_HOPPER_MMA, PCAST_E4M3, 0),
                            blackwell = core_of(PCAST_MACHINE_BLACKWELL_TCGEN05, PCAST_E4M3, 0);
    uint8_t a[KEYS] = {0}, b[KEYS] = {0};

    /* 2^-14 twice, then 1: in one step both are lost, in two they have become 2^-13. */
    a[0] = b[0] = a[1] = b[1] = P7;
    a[16] = b[16] = ONE;
    assert_dot(ada, a, b, KEYS, 0, 0x3F800400);
    assert_dot(wgmma, a, b, KEYS, 0, 0x3F800000);
    assert_dot(blackwell, a, b, KEYS, 0, 0x3F800400);
    a[15] = b[15] = ONE;
    a[16] = b[16] = 0;
    assert_dot(ada, a, b, KEYS, 0, 0x3F800000);

    /* 1 and an accumulator of 1.5 ulp: to nearest even when late, cut off in the alignment. */
    memset(a, 0, sizeof a);
    memset(b, 0, sizeof b);
    a[5] = b[5] = ONE;
    assert_dot(mma, a, b, KEYS, 0x34400000, 0x3F800002);
    assert_dot(blackwell, a, b, KEYS, 0x34400000, 0x3F800001);
    assert_dot(wgmma, a, b, KEYS, 0x34400000, 0x3F800000);
    assert_dot(blackwell, a, b, KEYS, 0xB3000000, 0x3F7FFFFF); /* 1 - 2^-25 */
    assert_dot(blackwell, a, b, KEYS, 0xB2800000, 0x3F800000); /* 2^-26 is cut off */

    /* E5M2, -2^-26 twice: 2^-25 together where they come before the 1, cut off each beside it. */
    const pcast_tensor_core wide = core_of(PCAST_MACHINE_HOPPER_MMA, PCAST_E5M2, 0);
    enum { E5M2_ONE = 0x3C, E5M2_P13 = 0x08 };
    memset(a, 0, sizeof a);
    memset(b, 0, sizeof b);
    a[0] = a[1] = E5M2_P13;
    b[0] = b[1] = MINUS | E5M2_P13;
    a[2] = b[2] = E5M2_ONE;
    assert_dot(wide, a, b, KEYS, 0, 0x3F7FFFFF);
    a[2] = b[2] = 0;
    a[4] = b[4] = E5M2_ONE;
    assert_dot(wide, a, b, KEYS, 0, 0x3F800000);
}

static void test_f16_output(void **state)
{
    (void)state;
    const pcast_tensor_core wgmma =
        core_of(PCAST_MACHINE_HOPPER_WGMMA, PCAST_E4M3, PCAST_TENSOR_CORE_F16);
    uint8_t a[KEYS] = {ONE, P5}, b[KEYS] = {ONE, P6};
    assert_dot(wgmma, a, b, KEYS, 0, 0x3F800000); /* 1 + 2^-11, a tie */
    a[1] = THREE_P6;
    b[1] = P5;
    assert_dot(wgmma, a, b, KEYS, 0, 0x3F804000); /* 1 + 3 * 2^-11, the other tie */
    memset(a, LARGEST, sizeof a);
    memset(b, LARGEST, sizeof b);
    for (pcast_machine m = PCAST_MACHINE_ADA_MMA; m < PCAST_MACHINE_COUNT; m++) {
        const pcast_tensor_core core = core_of(m, PCAST_E4M3, PCAST_TENSOR_CORE_F16);
        assert_dot(core, a, b, KEYS, 0, INF_BITS);
        /* A step's result that is too large is infinite before a late accumulator comes: 448 * 448
         * - Inf, 448 * 256 - 65504. */
        assert_dot(core, a, b, 1, 0xFF800000,
                   m == PCAST_MACHINE_HOPPER_MMA ? NAN_BITS : 0xFF800000);
        uint8_t x[KEYS] = {LARGEST}, y[KEYS] = {0x78};
        assert_dot(core, x, y, KEYS, 0xC77FE000,
                   m == PCAST_MACHINE_HOPPER_MMA ? INF_BITS : 0x47402000);
    }
}

/* Codes without NaN and infinities. mode 0: any; 1: subnormals and zeros; 2: extremes. */
static uint8_t random_code(uint64_t *random, pcast_format format, int mode)
{
    const unsigned limit = format == PCAST_E4M3 ? 0x7F : 0x7C,
                   r = (unsigned)test_random(random) >> 1;
    const unsigned magnitude = mode == 1   ? r % (format == PCAST_E4M3 ? 9 : 5)
                               : mode == 2 ? (r % 2 ? limit - 1 - r / 2 % 4 : r / 2 % 4)
                                           : r % limit;
    return (uint8_t)((test_random(random) >> 63 << 7) | magnitude);
}

/* A finite accumulator near the products' range or anywhere, with all low bits; some zeros. */
static uint32_t random_accumulator(uint64_t *random)
{
    const uint32_t bits = (uint32_t)(test_random(random) >> 32);
    switch (test_random(random) >> 61) {
    case 0:
        return bits & 0x80000000;
    case 1:
        return (bits & 0x7F800000) == INF_BITS ? bits & 0x807FFFFF : bits;
    default:
        return (bits & 0x807FFFFF) | (uint32_t)(105 + (test_random(random) >> 33) % 45) << 23;
    }
}

static uint32_t dot_bits(const pcast_tensor_core *core, const uint8_t *a, const uint8_t *b,
                         uint32_t c)
{
    float d;
    memcpy(&d, &c, sizeof d);
    pcast_tensor_core_dots(core, a, b, 1, KEYS, &d);
    memcpy(&c, &d, sizeof c);
    return c;
}

/* Order inside a step, and the low 10 bits of c where F = 13, change nothing; order across steps
 * does. */
static void test_invariance(void **state)
{
    (void)state;
    uint64_t random = 5;
    int across = 0;
    for (int i = 0; i < 4000; i++) {
        const pcast_format format = (pcast_format)(i % 2);
        const pcast_tensor_core wgmma = core_of(PCAST_MACHINE_HOPPER_WGMMA, format, 0),
                                ada = core_of(PCAST_MACHINE_ADA_MMA, format, 0),
                                blackwell = core_of(PCAST_MACHINE_BLACKWELL_TCGEN05, format, 0);
        uint8_t a[KEYS], b[KEYS], pa[KEYS], pb[KEYS];
        for (int k = 0; k < KEYS; k++) {
            a[k] = random_code(&random, format, i / 2 % 3);
            b[k] = random_code(&random, format, i / 2 % 3);
        }
        const uint32_t c = random_accumulator(&random);
        memcpy(pa, a, KEYS);
        memcpy(pb, b, KEYS);
        for (int k = KEYS - 1; k > 0; k--) {
            const int other = (int)(test_random(&random) >> 33) % (k + 1);
            const uint8_t x = pa[k], y = pb[k];
            pa[k] = pa[other], pb[k] = pb[other];
            pa[other] = x, pb[other] = y;
        }
        assert_int_equal(dot_bits(&wgmma, pa, pb, c), dot_bits(&wgmma, a, b, c));
        assert_int_equal(dot_bits(&blackwell, pa, pb, c), dot_bits(&blackwell, a, b, c));
        across += dot_bits(&ada, pa, pb, c) != dot_bits(&ada, a, b, c);
        assert_int_equal(dot_bits(&wgmma, a, b, c & ~0x3FFu), dot_bits(&wgmma, a, b, c));
        assert_int_equal(dot_bits(&wgmma, a, b, c | 0x3FFu), dot_bits(&wgmma, a, b, c));
        assert_int_equal(dot_bits(&ada, a, b, c | 0x3FFu), dot_bits(&ada, a, b, c));
    }
    assert_true(across > 100);
}

static void test_special(void **state)
{
    (void)state;
    enum { NAN_E4M3 = 0x7F, INF = 0x7C, NAN_E5M2 = 0x7D, E5M2_ONE = 0x3C };
    for (pcast_machine m = PCAST_MACHINE_ADA_MMA; m < PCAST_MACHINE_COUNT; m++)
        for (int output = 0; output < 2; output++) {
            const pcast_tensor_core e4m3 = core_of(m, PCAST_E4M3, (pcast_tensor_core_output)output),
                                    e5m2 = core_of(m, PCAST_E5M2, (pcast_tensor_core_output)output);
            uint8_t a[KEYS] = {ONE}, b[KEYS] = {ONE}, x[KEYS] = {E5M2_ONE}, y[KEYS] = {E5M2_ONE};
            for (int k = 0; k < KEYS; k += 9) { /* NaN against zero, on both sides and signs */
                a[k + 3] = NAN_E4M3;
                assert_dot(e4m3, a, b, KEYS, 0, NAN_BITS);
                assert_dot(e4m3, b, a, KEYS, INF_BITS, NAN_BITS);
                a[k + 3] = MINUS | NAN_E4M3;
                assert_dot(e4m3, a, b, KEYS, 0x3F800000, NAN_BITS);
                a[k + 3] = 0;
                x[k + 3] = MINUS | NAN_E5M2;
                assert_dot(e5m2, x, y, KEYS, 0, NAN_BITS);
                assert_dot(e5m2, y, x, KEYS, 0, NAN_BITS);
                x[k + 3] = INF; /* 0 * Inf */
                assert_dot(e5m2, x, y, KEYS, 0, NAN_BITS);
                assert_dot(e5m2, y, x, KEYS, 0, NAN_BITS);
                y[k + 3] = MINUS | E5M2_ONE;
                assert_dot(e5m2, x, y, KEYS, 0, 0xFF800000);
                assert_dot(e5m2, y, x, KEYS, 0xFF800000, 0xFF800000);
                assert_dot(e5m2, x, y, KEYS, INF_BITS, NAN_BITS);
                assert_dot(e5m2, x, y, KEYS, 0xFFFFFFFF, NAN_BITS);
                y[k + 3] = INF;
                assert_dot(e5m2, x, y, KEYS, 0, INF_BITS);
                x[k + 4] = INF;
                y[k + 4] = MINUS | INF; /* both infinities */
                assert_dot(e5m2, x, y, KEYS, 0, NAN_BITS);
                x[k + 3] = y[k + 3] = x[k + 4] = y[k + 4] = 0;
            }
            static const uint32_t nans[] = {0x7F800001, 0x7FC00000, 0xFFC00000, 0xFFFFFFFF};
            for (int i = 0; i < 4; i++)
                assert_dot(e4m3, a, b, KEYS, nans[i], NAN_BITS);
            assert_dot(e4m3, a, b, KEYS, INF_BITS, INF_BITS);
            assert_dot(e4m3, a, b, KEYS, 0xFF800000, 0xFF800000);
            b[0] = MINUS_ONE; /* E4M3's all-ones exponent is a number */
            a[0] = 0x78;
            assert_dot(e4m3, a, b, KEYS, 0, 0xC3800000);
        }
}

/* k in one call is k in several, missing products are zeros, and k = 0 is no instruction. */
static void test_chain(void **state)
{
    (void)state;
    uint64_t random = 6;
    uint8_t a[4 * KEYS], b[4 * KEYS];
    memset(a, 0, sizeof a);
    memset(b, 0, sizeof b);
    a[0] = a[KEYS] = ONE_AND_HALF;
    b[0] = b[KEYS] = ONE;
    const pcast_tensor_core wgmma = core_of(PCAST_MACHINE_HOPPER_WGMMA, PCAST_E4M3, 0);
    assert_dot(wgmma, a, b, 2 * KEYS, 0x46000000, 0x46000800); /* 8192 + 1 + 1 */
    assert_dot(wgmma, a, b, KEYS + 1, 0x46000000, 0x46000800);
    assert_dot(wgmma, a, b, KEYS, 0x46000000, 0x46000400);
    assert_dot(wgmma, a, b, 0, 0x3F800001, 0x3F800001);
    assert_dot(wgmma, a, b, 0, 0x7F800001, 0x7F800001);
    for (int i = 0; i < 2000; i++) {
        const pcast_tensor_core core = {(pcast_machine)(i % 4), (pcast_format)(i / 4 % 2),
                                        (pcast_format)(i / 8 % 2), PCAST_TENSOR_CORE_F32,
                                        (pcast_cpu)(i / 16 % 3)};
        for (int k = 0; k < 4 * KEYS; k++) {
            a[k] = random_code(&random, core.a, 0);
            b[k] = random_code(&random, core.b, 0);
        }
        const size_t k = (size_t)(test_random(&random) >> 33) % (3 * KEYS) + 1;
        const uint32_t c = random_accumulator(&random);
        float whole, parts;
        memcpy(&whole, &c, sizeof c);
        memcpy(&parts, &c, sizeof c);
        pcast_tensor_core_dots(&core, a, b, 1, k, &whole);
        memset(a + k, 0, sizeof a - k); /* +0 and -0 alike */
        memset(b + k, MINUS, sizeof b - k);
        for (size_t first = 0; first < k; first += KEYS)
            pcast_tensor_core_dots(&core, a + first, b + first, 1, KEYS, &parts);
        assert_bits_f32(parts, whole);
    }
}

enum { K_MAX = 3 * KEYS, LDB = 53, GUARD = 16, ROOM = LDB + 2 * GUARD };

/* A row at the level, from the accumulators in c; the result is at GUARD, after an odd offset that
 * leaves it unaligned for vectors. Bits in, bits out. */
static void run_level(pcast_tensor_core core, pcast_cpu level, const uint8_t *a, const uint8_t *b,
                      size_t k, size_t n, size_t offset, const uint32_t c[ROOM], uint32_t d[ROOM])
{
    float room[ROOM + 3];
    core.cpu = level;
    memcpy(room + offset, c, ROOM * sizeof *c);
    pcast_tensor_core_row(&core, a, b, k, LDB, n, room + offset + GUARD);
    memcpy(d, room + offset, ROOM * sizeof *d);
}

/* Every engine and the reference, on operands of all kinds, at odd sizes and addresses; what lies
 * around the result stays. */
static void test_levels(void **state)
{
    (void)state;
    static uint8_t a_room[K_MAX + 8];
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = (K_MAX * LDB / page + 2) * page;
    uint8_t *room = mmap(NULL, pages, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint8_t *end = room + pages - page; /* reading what lies behind B is a fault */
    assert_ptr_not_equal(room, MAP_FAILED);
    assert_int_equal(mprotect(end, page, PROT_NONE), 0);
    uint64_t random = 7;
    for (int i = 0; i < 24000; i++) {
        const pcast_tensor_core core = {(pcast_machine)(i % 2), (pcast_format)(i / 2 % 2),
                                        (pcast_format)(i / 4 % 2), PCAST_TENSOR_CORE_F32,
                                        PCAST_CPU_SCALAR};
        const int mode = i / 8 % 3, special = i % 7 == 0;
        const size_t offset = (size_t)(i % 4), n = (size_t)(test_random(&random) >> 33) % 49 + 1,
                     k = (size_t)(test_random(&random) >> 33) % K_MAX + 1;
        uint8_t *a = a_room + offset, *b = end - ((k - 1) * LDB + n);
        uint32_t c[ROOM], want[ROOM], got[ROOM];
        for (size_t j = 0; j < k; j++)
            a[j] = random_code(&random, core.a, mode);
        for (size_t j = 0; j < (k - 1) * LDB + n; j++)
            b[j] = special && test_random(&random) % 400 == 0
                       ? (uint8_t)(test_random(&random) >> 56)
                       : random_code(&random, core.b, mode);
        for (size_t j = 0; j < ROOM; j++)
            c[j] = special ? (uint32_t)(test_random(&random) >> 32) : random_accumulator(&random);
        run_level(core, PCAST_CPU_SCALAR, a, b, k, n, offset, c, want);
        assert_memory_equal(want, c, GUARD * sizeof *c);
        assert_memory_equal(want + GUARD + n, c + GUARD + n, (ROOM - GUARD - n) * sizeof *c);
        for (int level = PCAST_CPU_AVX2; level < LEVELS; level++) {
            run_level(core, (pcast_cpu)level, a, b, k, n, offset, c, got);
            for (size_t j = 0; j < ROOM; j++)
                if (got[j] != want[j]) {
                    print_error("case %d, %s at %s, formats %s %s, k %zu, n %zu, column %td: got "
                                "0x%08X, expected 0x%08X, c 0x%08X\n",
                                i, pcast_machine_name(core.machine),
                                pcast_cpu_name((pcast_cpu)level), pcast_format_name(core.a),
                                pcast_format_name(core.b), k, n, (ptrdiff_t)j - GUARD, got[j],
                                want[j], c[j]);
                    print_codes("a", a, k, 1);
                    if (j >= GUARD && j < GUARD + n)
                        print_codes("b", b + j - GUARD, k, LDB);
                    fail();
                }
        }
    }
    munmap(room, pages);
}

static void test_check(void **state)
{
    (void)state;
    const pcast_tensor_core good = {0};
    pcast_tensor_core core = good;
    pcast_error err;
    assert_int_equal(pcast_tensor_core_check(&core, &err), PCAST_OK);
    core.machine = PCAST_MACHINE_COUNT;
    assert_int_equal(pcast_tensor_core_check(&core, &err), PCAST_ERR_VALUE);
    assert_string_equal(err.text, "machine: no such machine, 4");
    core = good;
    core.b = PCAST_E4M3FNUZ;
    assert_int_equal(pcast_tensor_core_check(&core, &err), PCAST_ERR_VALUE);
    assert_string_equal(err.text, "b: neither e4m3 nor e5m2");
    core = good;
    core.a = PCAST_F16;
    assert_int_equal(pcast_tensor_core_check(&core, NULL), PCAST_ERR_VALUE);
    core = good;
    core.output = (pcast_tensor_core_output)2;
    assert_int_equal(pcast_tensor_core_check(&core, NULL), PCAST_ERR_VALUE);
    static const char *const names[] = {"hopper-wgmma", "ada-mma", "hopper-mma",
                                        "blackwell-tcgen05"};
    for (int m = 0; m < PCAST_MACHINE_COUNT; m++) { /* a SPEC has the same names */
        pcast_kernel kernel = {.machine = PCAST_MACHINE_UNSETTLED};
        assert_string_equal(pcast_machine_name((pcast_machine)m), names[m]);
        assert_int_equal(pcast_kernel_set(&kernel, PCAST_FIELD_MACHINE, names[m], &err), PCAST_OK);
        assert_int_equal(kernel.machine, m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wgmma_values), cmocka_unit_test(test_other_machines),
        cmocka_unit_test(test_f16_output),   cmocka_unit_test(test_invariance),
        cmocka_unit_test(test_special),      cmocka_unit_test(test_chain),
        cmocka_unit_test(test_levels),       cmocka_unit_test(test_check),
    };
    return cmocka_run_group_tests_name("tensor_core", tests, NULL, NULL);
}
