/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scales, casts, rotation and the mean of K, alone and in a batch of heads. */
#include "pcast/budget.h"
#include "pcast/quantize.h"

#include "unit.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

static void test_scales(void **state)
{
    (void)state;
    const float x[] = {1, -7, 3, INFINITY, NAN, 2};
    assert_bits_f32(pcast_amax(x, 1, 3, 3), 7);
    assert_bits_f32(pcast_amax(x, 1, 6, 6), 7); /* what is not finite sets no scale */
    assert_bits_f32(pcast_amax(x, 2, 1, 2), 3); /* every second number */
    assert_bits_f32(pcast_amax(x, 0, 3, 3), 0);
    assert_bits_f32(pcast_descale(896, 448), 2);
    assert_bits_f32(pcast_descale(0, 448), 1);
    assert_bits_f32(pcast_descale(0x1p-140f, 448), FLT_MIN);
    assert_bits_f32(pcast_quantized_range(PCAST_QUANTIZED_E4M3), 448);
    assert_bits_f32(pcast_quantized_range(PCAST_QUANTIZED_E5M2), 57344);
    assert_bits_f32(pcast_quantized_range(PCAST_QUANTIZED_E4M3FNUZ), 240);
    assert_bits_f32(pcast_quantized_range(PCAST_QUANTIZED_INT8), 127);
}

/* By hand: what the code of x / descale stands for. */
static void test_casts(void **state)
{
    (void)state;
    float e4m3[] = {2, 2.2f, -1000, 0x1p-9f, NAN, 0}; /* descale 2: 1, 1.1, -500, 2^-10 ... */
    const float e4m3_expected[] = {1, 1.125f, -448, 0, NAN, 0};
    pcast_quantize(PCAST_QUANTIZED_E4M3, 2, e4m3, 6);
    for (int i = 0; i < 6; i++)
        if (i != 4)
            assert_bits_f32(e4m3[i], e4m3_expected[i]);
    assert_true(isnan(e4m3[4]));
    float int8[] = {0.5f, 1.5f, 2.5f, -0.5f, 126.6f, 500, -500, INFINITY};
    const float int8_expected[] = {0, 2, 2, 0, 127, 127, -127, 127};
    pcast_quantize(PCAST_QUANTIZED_INT8, 1, int8, 8);
    for (int i = 0; i < 8; i++)
        assert_true(int8[i] == int8_expected[i]);
}

/* Rows of the identity give the rows of the rotation: orthogonal, entries +-1/sqrt(dim), so a
 * Hadamard matrix with signs. */
static void test_rotation_is_orthogonal(void **state)
{
    (void)state;
    static const size_t dims[] = {1, 2, 4, 8, 64, 128, 256, 12, 24, 96, 192, 20, 40, 80, 160, 320};
    for (size_t n = 0; n < sizeof dims / sizeof dims[0]; n++) {
        const size_t dim = dims[n];
        float *x = calloc(dim * dim, sizeof *x);
        pcast_error err = {""};
        for (size_t i = 0; i < dim; i++)
            x[i * dim + i] = 1;
        assert_int_equal(pcast_rotate(x, dim, dim, 7, &err), PCAST_OK);
        for (size_t i = 0; i < dim; i++)
            for (size_t j = 0; j < dim; j++) {
                assert_near(fabs((double)x[i * dim + j]), 1 / sqrt((double)dim), 1e-7);
                double product = 0;
                for (size_t c = 0; c < dim; c++)
                    product += (double)x[i * dim + c] * (double)x[j * dim + c];
                assert_near(product, i == j, 1e-6);
            }
        free(x);
    }
    static const size_t none[] = {0, 3, 6, 36, 48 + 1, 28, 100};
    for (size_t n = 0; n < sizeof none / sizeof none[0]; n++) {
        float x[128] = {0};
        pcast_error err = {""};
        assert_int_equal(pcast_rotate(x, 1, none[n], 7, &err), PCAST_ERR_VALUE);
        assert_non_null(strstr(err.text, "rotation"));
    }
}

static void test_mean(void **state)
{
    (void)state;
    float x[] = {1, 10, 3, 20, 5, 60}, mean[2];
    pcast_subtract_mean(x, 3, 2, mean);
    assert_bits_f32(mean[0], 3);
    assert_bits_f32(mean[1], 30);
    const float expected[] = {-2, -20, 0, -10, 2, 30};
    for (int i = 0; i < 6; i++)
        assert_bits_f32(x[i], expected[i]);
}

enum { HEADS = 4, KV_HEADS = 2, TOKENS = 70, DIM = 16, ROWS = 2 * HEADS * TOKENS };
enum { Q_SIZE = ROWS * DIM, K_SIZE = 2 * KV_HEADS * TOKENS * DIM };

typedef struct problem {
    float q[Q_SIZE], k[K_SIZE], v[K_SIZE];
    uint8_t codes[Q_SIZE]; /* of the tensor that is stored in 8 bits */
    uint16_t halves[3][Q_SIZE];
    pcast_tensor tensors[3];
    pcast_attend attend;
} problem;

typedef struct outcome {
    float o[Q_SIZE], lse[ROWS];
    pcast_attend_head heads[2 * HEADS];
} outcome;

static void make(problem *p)
{
    pcast_draw_inputs(5, 0, 1, Q_SIZE, p->q);
    pcast_draw_inputs(5, 1, 1, K_SIZE, p->k);
    pcast_draw_inputs(5, 2, 1, K_SIZE, p->v);
    float *const data[] = {p->q, p->k, p->v};
    for (int i = 0; i < 3; i++)
        p->tensors[i] = (pcast_tensor){.rank = 4,
                                       .shape = {2, i == 0 ? HEADS : KV_HEADS, TOKENS, DIM},
                                       .data = data[i],
                                       .format = PCAST_F32};
    p->attend = (pcast_attend){.q = &p->tensors[0],
                               .k = &p->tensors[1],
                               .v = &p->tensors[2],
                               .prepare = 1,
                               .quantised = PCAST_STAGE_QKV};
}

static void run(const pcast_attend *attend, const char *spec, outcome *out)
{
    pcast_kernel kernel;
    pcast_error err = {""};
    const pcast_run one = {
        .kernels = &kernel, .kernel_count = 1, .threads = 2, .cpu = pcast_cpu_detect()};
    const pcast_attend_result result = {.o = out->o, .lse = out->lse, .heads = out->heads};
    if (pcast_kernel_parse(spec, &kernel, NULL, &err) != PCAST_OK ||
        pcast_attend_run(attend, &one, &result, &err) != PCAST_OK)
        fail_msg("%s: %s", spec, err.text);
}

/* NaN if any difference is. (Not fmax: GCC 12.2 for AArch64 fails on its reduction at -O3.) */
static double largest_difference(const float *a, const float *b, size_t count)
{
    double largest = 0;
    for (size_t i = 0; i < count; i++) {
        const double difference = fabs((double)a[i] - (double)b[i]);
        if (difference > largest || isnan(difference))
            largest = difference;
    }
    return largest;
}

/* Quantised by hand with one scale a head, then given with these descales: the same bits. */
static void test_scales_by_head(void **state)
{
    (void)state;
    static problem p, given;
    static outcome inside, outside;
    float descales[3][2 * HEADS];
    pcast_tensor by_head[3];
    make(&p);
    make(&given);
    float *const data[] = {given.q, given.k, given.v};
    for (int i = 0; i < 3; i++) {
        const size_t heads = p.tensors[i].shape[1], count = TOKENS * DIM;
        for (size_t h = 0; h < 2 * heads; h++) {
            float *x = data[i] + h * count, amax = 0;
            for (size_t e = 0; e < count; e++)
                amax = fabsf(x[e]) > amax ? fabsf(x[e]) : amax;
            descales[i][h] = amax / 448;
            for (size_t e = 0; e < count; e++)
                x[e] =
                    pcast_decode_f32(PCAST_E4M3, pcast_encode_f32(PCAST_E4M3, x[e] / descales[i][h],
                                                                  (pcast_cast){0}));
        }
        by_head[i] = (pcast_tensor){
            .rank = 2, .shape = {2, heads}, .data = descales[i], .format = PCAST_F32};
    }
    given.attend.prepare = 0;
    given.attend.q_descale = &by_head[0];
    given.attend.k_descale = &by_head[1];
    given.attend.v_descale = &by_head[2];
    run(&p.attend, "flashinfer-fa3:mask=causal", &inside);
    run(&given.attend, "flashinfer-fa3:mask=causal", &outside);
    assert_memory_equal(inside.o, outside.o, sizeof inside.o);
    assert_memory_equal(inside.lse, outside.lse, sizeof inside.lse);
    /* What came in 8 bits, or with a descale, is not quantised again. */
    given.attend.prepare = 1;
    run(&given.attend, "flashinfer-fa3:mask=causal", &inside);
    assert_memory_equal(inside.o, outside.o, sizeof inside.o);
}

/* Finer scales lose less on inputs with outliers: INT8, whose steps are all alike, shows it best.
 */
static void test_granularities(void **state)
{
    (void)state;
    static problem p;
    static outcome out;
    static const char *const scales[] = {
        "q_scale=tensor;k_scale=tensor", "q_scale=kv_head;k_scale=kv_head",
        "q_scale=head;k_scale=head", "q_scale=block;k_scale=block;scale_rows=8",
        "q_scale=token;k_scale=token"};
    double errors[5] = {0};
    make(&p);
    p.attend.quantised = PCAST_STAGE_Q | PCAST_STAGE_K;
    for (int i = 0; i < 5; i++) {
        char spec[256];
        snprintf(spec, sizeof spec, "paper:qkv=int8;p_format=f32;block=8;%s", scales[i]);
        run(&p.attend, spec, &out);
        for (int h = 0; h < 2 * HEADS; h++)
            errors[i] += out.heads[h].summary.mse;
    }
    print_message("mse by scale: tensor %.3g, kv_head %.3g, head %.3g, block %.3g, token %.3g\n",
                  errors[0], errors[1], errors[2], errors[3], errors[4]);
    for (int i = 1; i < 5; i++)
        assert_true(errors[i] < errors[i - 1]);
}

/* Rotation and the mean of K change nothing but rounding, where nothing is quantised: log-sum-exp
 * too, thanks to its correction. */
static void test_exact_transforms(void **state)
{
    (void)state;
    static problem p;
    static outcome plain, turned, centred, both;
    make(&p);
    run(&p.attend, "paper:p_format=f32;lse=e", &plain);
    run(&p.attend, "paper:p_format=f32;lse=e;rotation=yes", &turned);
    run(&p.attend, "paper:p_format=f32;lse=e;k_mean=yes", &centred);
    run(&p.attend, "paper:p_format=f32;lse=e;k_mean=yes;rotation=yes;mask=causal", &both);
    assert_true(largest_difference(plain.o, turned.o, Q_SIZE) < 1e-4);
    assert_true(largest_difference(plain.lse, turned.lse, ROWS) < 1e-4);
    assert_true(largest_difference(plain.o, centred.o, Q_SIZE) < 1e-4);
    assert_true(largest_difference(plain.lse, centred.lse, ROWS) < 1e-4);
    for (int h = 0; h < 2 * HEADS; h++)
        assert_true(both.heads[h].summary.rel_l2 < 1e-5 && both.heads[h].lse_error < 1e-4);
}

/* Keys beyond the length set no scale. */
static void test_lengths(void **state)
{
    (void)state;
    static problem p, poisoned;
    static outcome expected, got;
    const size_t lengths[2] = {41, 9};
    static const char *const specs[] = {"fa3", "sage2pp", "hpc-ops", "vllm-triton",
                                        "fa3:block=16;v_scale=block;k_scale=block;promotion=tile"};
    make(&p);
    make(&poisoned);
    for (size_t i = 0; i < K_SIZE; i++)
        if (i / DIM % TOKENS >= lengths[i / DIM / TOKENS / KV_HEADS])
            poisoned.k[i] = poisoned.v[i] = i % 2 ? NAN : 1e30f;
    p.attend.kv_lengths = poisoned.attend.kv_lengths = lengths;
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        run(&p.attend, specs[i], &expected);
        run(&poisoned.attend, specs[i], &got);
        assert_memory_equal(expected.o, got.o, sizeof got.o);
        assert_memory_equal(expected.lse, got.lse, sizeof got.lse);
    }
}

/* To bfloat16 by hand: the upper half of the bits, to nearest, ties to even. */
static float to_bf16(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* V by channel: the output is in FP32 until the channel's descale is in, and rounded once. Descales
 * that are powers of two hide a second rounding; those of these draws are none. */
static void test_channels_round_once(void **state)
{
    (void)state;
    static problem p;
    static outcome wide, narrow;
    static const char *const kernels[] = {"sage2-fp32", "sage2-fp32:splits=2"};
    make(&p);
    for (size_t n = 0; n < 2; n++) {
        char spec[64];
        snprintf(spec, sizeof spec, "%s%sout_format=f32", kernels[n], n == 0 ? ":" : ";");
        run(&p.attend, spec, &wide);
        snprintf(spec, sizeof spec, "%s%sout_format=bf16", kernels[n], n == 0 ? ":" : ";");
        run(&p.attend, spec, &narrow);
        for (size_t i = 0; i < Q_SIZE; i++)
            assert_bits_f32(narrow.o[i], to_bf16(wide.o[i]));
    }
}

/* The tensor as E4M3 holds it, with or without a descale beside. */
static void store_in_8_bits(problem *p, int which)
{
    const size_t count = which == 0 ? Q_SIZE : K_SIZE;
    pcast_encode_array(PCAST_E4M3, p->codes, p->tensors[which].data, count, (pcast_cast){0},
                       pcast_cpu_detect());
    p->tensors[which].data = p->codes;
    p->tensors[which].format = PCAST_E4M3;
}

/* What came in 8 bits or with a descale keeps its numbers: K its mean, and Q and K their axes. */
static void test_given_inputs_stay(void **state)
{
    (void)state;
    static problem p;
    static outcome asked, plain, other;
    float two = 2;
    const pcast_tensor descale = {.rank = 0, .data = &two, .format = PCAST_F32};
    const char *const all = "paper:qkv=e4m3;block=16;lse=e;k_mean=yes;rotation=yes";
    for (int n = 0; n < 4; n++) {
        make(&p);
        if (n == 0)
            store_in_8_bits(&p, 1);
        if (n == 1)
            p.attend.k_descale = &descale;
        if (n == 2)
            store_in_8_bits(&p, 0);
        if (n == 3)
            p.attend.q_descale = &descale;
        run(&p.attend, all, &asked);
        run(&p.attend,
            n < 2 ? "paper:qkv=e4m3;block=16;lse=e" : "paper:qkv=e4m3;block=16;lse=e;k_mean=yes",
            &plain);
        run(&p.attend, "paper:qkv=e4m3;block=16;lse=e;rotation=no", &other);
        assert_memory_equal(asked.o, plain.o, sizeof asked.o);
        assert_memory_equal(asked.lse, plain.lse, sizeof asked.lse);
        if ((memcmp(plain.o, other.o, sizeof plain.o) == 0) != (n < 2))
            fail_msg("case %d: the mean of K is not where it belongs", n);
    }
}

/* Rounds the inputs to float16 and stores them so in other[], token by token with `turned`. */
static void store_in_16_bits(problem *p, problem *other, int turned)
{
    float *const data[] = {p->q, p->k, p->v};
    for (int i = 0; i < 3; i++) {
        const size_t heads = p->tensors[i].shape[1], count = 2 * heads * TOKENS * DIM;
        pcast_tensor *stored = &other->tensors[i];
        for (size_t e = 0; e < count; e++) {
            const size_t c = e % DIM, t = e / DIM % TOKENS, h = e / DIM / TOKENS;
            const size_t at = ((h / heads * TOKENS + t) * heads + h % heads) * DIM + c;
            const uint16_t half =
                (uint16_t)pcast_encode_f32(PCAST_F16, data[i][e], (pcast_cast){0});
            data[i][e] = pcast_decode_f32(PCAST_F16, half);
            other->halves[i][turned ? at : e] = half;
        }
        stored->data = other->halves[i];
        stored->format = PCAST_F16;
        stored->shape[1] = turned ? TOKENS : heads;
        stored->shape[2] = turned ? heads : TOKENS;
    }
    other->attend.layout = turned ? PCAST_LAYOUT_BTHD : PCAST_LAYOUT_BHTD;
}

/* How numbers are stored does not matter, quantised or not. */
static void test_storage(void **state)
{
    (void)state;
    static problem p, stored;
    static outcome expected, got;
    static const char *const specs[] = {
        "paper:qkv=e4m3;block=16;lse=e;k_mean=yes;rotation=yes;q_scale=tensor;v_scale=tensor",
        "paper:qkv=e4m3;block=16;lse=e;q_scale=kv_head;k_scale=head;v_scale=head",
        "paper:qkv=e5m2;block=16;lse=2;q_scale=block;k_scale=block;scale_rows=8;rotation=yes",
        "paper:qkv=int8;block=16;lse=e;q_scale=token;k_scale=token;k_mean=yes",
        "sage2-fp32:lse=e",
        "fa3:lse=e",
    };
    for (size_t i = 0; i < 2 * sizeof specs / sizeof specs[0]; i++)
        for (int turned = 0; turned < 2; turned++) {
            make(&p);
            make(&stored);
            store_in_16_bits(&p, &stored, turned);
            p.attend.prepare = stored.attend.prepare = i % 2 == 0;
            run(&p.attend, specs[i / 2], &expected);
            run(&stored.attend, specs[i / 2], &got);
            assert_memory_equal(got.lse, expected.lse, sizeof got.lse);
            if (!turned)
                assert_memory_equal(got.o, expected.o, sizeof got.o);
            for (int h = 0; h < 2 * HEADS; h++)
                assert_bits_f64(got.heads[h].summary.mse, expected.heads[h].summary.mse);
        }
}

/* A shift of all scores that a soft cap or a learned sink would see is refused, for that reason. */
static void test_mean_refused(void **state)
{
    (void)state;
    static problem p;
    static float logits[HEADS];
    const pcast_tensor sinks = {.rank = 1, .shape = {HEADS}, .data = logits, .format = PCAST_F32};
    static const struct {
        const char *spec;
        int given;
        const char *said; /* NULL: fine */
    } cases[] = {
        {"paper:k_mean=yes;softcap=30", 0, "k_mean: with softcap"},
        {"paper:k_mean=yes;learned_sink=denominator;sink_logit=1", 0, "k_mean: with a learned"},
        {"paper:k_mean=yes;learned_sink=initial", 1, "k_mean: with a learned sink"},
        {"paper:k_mean=yes;learned_sink=initial", 0, NULL},
        {"paper:softcap=30;learned_sink=initial", 1, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int prepare = 0; prepare < 2; prepare++)
            for (int in_8_bits = 0; in_8_bits < 2; in_8_bits++) {
                pcast_kernel kernel;
                pcast_attend_shape shape;
                pcast_error err = {""};
                make(&p);
                p.attend.prepare = prepare;
                p.attend.learned_sink = cases[i].given ? &sinks : NULL;
                p.tensors[1].format = in_8_bits ? PCAST_E4M3 : PCAST_F32; /* keeps its mean */
                assert_int_equal(pcast_kernel_parse(cases[i].spec, &kernel, NULL, &err), PCAST_OK);
                const int refused = cases[i].said != NULL && prepare && !in_8_bits;
                assert_int_equal(pcast_attend_check(&p.attend, &kernel, &shape, &err),
                                 refused ? PCAST_ERR_VALUE : PCAST_OK);
                if (refused && strncmp(err.text, cases[i].said, strlen(cases[i].said)) != 0)
                    fail_msg("'%s': said '%s'", cases[i].spec, err.text);
            }
}

/* Variances of independent stages add up: the rest is small beside the whole. Quantised inputs and
 * the cast of P make most of it, under either semantics. */
static void test_stages_add_up(void **state)
{
    (void)state;
    static problem p;
    static outcome out;
    static pcast_budget budgets[2 * HEADS];
    static const char *const specs[] = {"fa3", "fa3:semantics=hardware", "sage2pp",
                                        "sage2pp:semantics=hardware"};
    pcast_kernel kernel;
    pcast_error err = {""};
    make(&p);
    pcast_draw_inputs(6, 0, 0, Q_SIZE, p.q);
    pcast_draw_inputs(6, 1, 0, K_SIZE, p.k);
    pcast_draw_inputs(6, 2, 0, K_SIZE, p.v);
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        assert_int_equal(pcast_kernel_parse(specs[i], &kernel, NULL, &err), PCAST_OK);
        const pcast_run one = {.kernels = &kernel, .kernel_count = 1, .cpu = pcast_cpu_detect()};
        const pcast_attend_result result = {.o = out.o, .lse = out.lse, .heads = out.heads};
        if (pcast_attend_budget(&p.attend, &one, (1u << PCAST_BUDGET_STAGES) - 1, &result, budgets,
                                &err) != PCAST_OK)
            fail_msg("%s: %s", specs[i], err.text);
        double parts[PCAST_BUDGET_STAGES] = {0}, rest = 0, all = 0;
        for (int h = 0; h < 2 * HEADS; h++) {
            double sum = budgets[h].remainder;
            for (int s = 0; s < PCAST_BUDGET_STAGES; s++) {
                parts[s] += budgets[h].stages[s];
                sum += budgets[h].stages[s];
            }
            rest += budgets[h].remainder;
            all += budgets[h].all;
            assert_near(sum / budgets[h].all, 1, 1e-12);
            assert_bits_f64(budgets[h].all, out.heads[h].summary.mse);
        }
        print_message("%s:", specs[i]);
        for (int s = 0; s < PCAST_BUDGET_STAGES; s++)
            print_message(" %s %.4f", pcast_budget_name((pcast_budget_stage)s), parts[s] / all);
        print_message(" remainder %.4f\n", rest / all);
        assert_near(rest / all, 0, 0.1);
        const double inputs = parts[PCAST_BUDGET_Q] + parts[PCAST_BUDGET_K] + parts[PCAST_BUDGET_V];
        assert_true(inputs / all > 0.5 && parts[PCAST_BUDGET_P_CAST] / all > 0.02);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scales),
        cmocka_unit_test(test_casts),
        cmocka_unit_test(test_rotation_is_orthogonal),
        cmocka_unit_test(test_mean),
        cmocka_unit_test(test_scales_by_head),
        cmocka_unit_test(test_granularities),
        cmocka_unit_test(test_exact_transforms),
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_channels_round_once),
        cmocka_unit_test(test_given_inputs_stay),
        cmocka_unit_test(test_storage),
        cmocka_unit_test(test_mean_refused),
        cmocka_unit_test(test_stages_add_up),
    };
    return cmocka_run_group_tests_name("quantize", tests, NULL, NULL);
}
