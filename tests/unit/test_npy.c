/* SPDX-License-Identifier: MIT */
/* NPY: all dtypes, layouts numpy writes, and every kind of file that must be refused. */
#include "pcast/tensor.h"

#include "base/bits.h"
#include "tensors.h"

#include <math.h>
#include <stdlib.h>

/* Builds a version 1.0 (or 2.0) file around a header text and elements; returns its size. */
static size_t build(uint8_t *file, int version, const char *header, const void *elements,
                    size_t size)
{
    const size_t length = strlen(header), start = version == 1 ? 10 : 12;
    memcpy(file, "\x93NUMPY", 6);
    file[6] = (uint8_t)version;
    file[7] = 0;
    for (size_t i = 8; i < start; i++)
        file[i] = (uint8_t)(length >> (8 * (i - 8)));
    memcpy(file + start, header, length);
    memcpy(file + start + length, elements, size);
    return start + length + size;
}

static void test_dtypes(void **state)
{
    (void)state;
    uint8_t file[512];
    pcast_tensor tensor;
    pcast_error err;
    const uint32_t f32[6] = {0x3F800000, 0x80000000, 0x7F7FFFFF,
                             0x00000001, 0x40490FDB, 0xC2F60000};
    size_t size = build(
        file, 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2, 3), }     \n", f32, 24);
    assert_int_equal(pcast_npy_parse(file, size, "a.npy", PCAST_E4M3, &tensor, &err), PCAST_OK);
    assert_int_equal(tensor.format, PCAST_F32);
    assert_int_equal(tensor.rank, 3);
    assert_int_equal(tensor.shape[1], 2);
    assert_int_equal(pcast_tensor_size(&tensor), 6);
    assert_values(&tensor, f32);
    pcast_tensor_free(&tensor);

    const uint16_t f16[5] = {0x3C00, 0x0001, 0xFBFF, 0x8000, 0x7C00};
    const float f16_values[5] = {1, 0x1p-24f, -65504, -0.0f, INFINITY};
    size = build(file, 2, "{\"shape\":(5,),'fortran_order':False,'descr':'<f2'}", f16, 10);
    assert_int_equal(pcast_npy_parse(file, size, "a.npy", PCAST_E4M3, &tensor, &err), PCAST_OK);
    assert_values(&tensor, f16_values);
    pcast_tensor_free(&tensor);

    const uint16_t bf16[2] = {0x3F81, 0xC000};
    const char *const descr[] = {"{'descr': '<u2', 'fortran_order': False, 'shape': (2,), }",
                                 "{'descr': '|V2', 'fortran_order': False, 'shape': (2,), }",
                                 "{'descr': '<V2', 'fortran_order': False, 'shape': (2,), }"};
    for (int i = 0; i < 3; i++) {
        size = build(file, 1, descr[i], bf16, 4);
        assert_int_equal(pcast_npy_parse(file, size, "a.npy", PCAST_E4M3, &tensor, &err), PCAST_OK);
        assert_bits_f32(value_of(&tensor, 0), 1.0078125f);
        assert_bits_f32(value_of(&tensor, 1), -2.0f);
        assert_int_equal(tensor.format, PCAST_BF16);
        pcast_tensor_free(&tensor);
    }
    size = build(file, 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (), }", f32, 4);
    assert_int_equal(pcast_npy_parse(file, size, "a.npy", PCAST_E4M3, &tensor, &err), PCAST_OK);
    assert_int_equal(tensor.rank, 0);
    assert_bits_f32(value_of(&tensor, 0), 1.0f);
    pcast_tensor_free(&tensor);
}

/* Codes whose values differ between the formats. ml_dtypes writes E5M2, and only that, as <f1. */
static void test_fp8(void **state)
{
    (void)state;
    static const struct {
        const char *descr;
        pcast_format given, format;
        float values[3];
    } cases[] = {
        {"|u1", PCAST_E4M3, PCAST_E4M3, {1, -384, 0x1p-9f}},
        {"|V1", PCAST_E5M2, PCAST_E5M2, {0.5f, -INFINITY, 0x1p-16f}},
        {"<V1", PCAST_E4M3FNUZ, PCAST_E4M3FNUZ, {0.5f, -192, 0x1p-10f}},
        {"|u1", PCAST_E5M2FNUZ, PCAST_E5M2FNUZ, {0.25f, -32768, 0x1p-17f}},
        {"<f1", PCAST_E4M3, PCAST_E5M2, {0.5f, -INFINITY, 0x1p-16f}},
    };
    const uint8_t codes[3] = {0x38, 0xFC, 0x01};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t file[256];
        char header[128];
        pcast_tensor tensor;
        pcast_error err;
        snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (3,), }",
                 cases[i].descr);
        const size_t size = build(file, 1, header, codes, 3);
        assert_int_equal(pcast_npy_parse(file, size, "a.npy", cases[i].given, &tensor, &err),
                         PCAST_OK);
        assert_int_equal(tensor.format, cases[i].format);
        for (int n = 0; n < 3; n++)
            assert_bits_f32(value_of(&tensor, n), cases[i].values[n]);
        pcast_tensor_free(&tensor);
        assert_int_equal(pcast_npy_parse(file, size, "a.npy", PCAST_F16, &tensor, &err),
                         PCAST_ERR_VALUE);
        assert_string_equal(err.text, "fp8: f16 has 16 bits");
    }
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *header, *said;
    } cases[] = {
        {"{'descr': '<f4', 'fortran_order': True, 'shape': (2,), }", "Fortran order"},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (2,), }", "Python objects"},
        {"{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }", "big-endian"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }", "'<f8'"},
        {"{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }", "'<i4'"},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }", "structured"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", "truncated"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", "4 bytes after"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 2), }",
         "truncated"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }",
         "not a size"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }", "not a size"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,2), }", "more than 8"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': 2, }", "not a tuple"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2", "not a tuple"},
        {"{'descr': '<f4', 'fortran_order': 0, 'shape': (2,), }", "neither True nor False"},
        {"{'descr': '<f4', 'shape': (2,), }", "missing"},
        {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", "repeated"},
        {"{'descr: '<f4'", "dictionary"},
        {"[1, 2]", "not a dictionary"},
        {"", "not a dictionary"},
    };
    const float elements[2] = {1, 2};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        /* The exact size in its own allocation, so that a sanitizer sees one byte too far. */
        uint8_t *file = malloc(512);
        const size_t size = build(file, 1, cases[i].header, elements, 8);
        file = realloc(file, size);
        pcast_tensor tensor;
        pcast_error err = {""};
        assert_int_equal(pcast_npy_parse(file, size, "a.npy", PCAST_E4M3, &tensor, &err),
                         PCAST_ERR_INPUT);
        if (strstr(err.text, cases[i].said) == NULL || strncmp(err.text, "a.npy: ", 7) != 0)
            fail_msg("'%s': said '%s', expected '%s'", cases[i].header, err.text, cases[i].said);
        assert_null(tensor.data);
        free(file);
    }
}

/* A good file cut anywhere is refused, never read past its end. */
static void test_every_truncation(void **state)
{
    (void)state;
    uint8_t file[256];
    const float elements[2] = {1, 2};
    const size_t size =
        build(file, 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", elements, 8);
    for (size_t cut = 0; cut < size; cut++) {
        uint8_t *copy = malloc(cut > 0 ? cut : 1);
        memcpy(copy, file, cut);
        pcast_tensor tensor;
        pcast_error err;
        assert_int_equal(pcast_npy_parse(copy, cut, "a.npy", PCAST_E4M3, &tensor, &err),
                         PCAST_ERR_INPUT);
        free(copy);
    }
    pcast_tensor tensor;
    pcast_error err;
    file[6] = 9;
    assert_int_equal(pcast_npy_parse(file, size, "a.npy", PCAST_E4M3, &tensor, &err),
                     PCAST_ERR_INPUT);
    assert_non_null(strstr(err.text, "version 9.0"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dtypes),
        cmocka_unit_test(test_fp8),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_every_truncation),
    };
    return cmocka_run_group_tests_name("npy", tests, NULL, NULL);
}
