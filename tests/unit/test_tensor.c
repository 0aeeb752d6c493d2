/* SPDX-License-Identifier: MIT */
/* Files of tensors by path: which one FILE:NAME means, whole numbers, and that what the writers
 * write comes back. */
#include "pcast/tensor.h"

#include "base/bits.h"
#include "tensors.h"

#include <math.h>

/* All codes of a format but NaNs of a float16 or FP8, which do not keep what they carry. */
static size_t all_values(pcast_format format, float *values)
{
    size_t count = 0;
    for (uint32_t code = 0; code < UINT32_C(1) << pcast_format_width(format); code++) {
        const float value =
            format == PCAST_BF16 ? pcast_f32_from_bits(code << 16) : pcast_decode_f32(format, code);
        if (!isnan(value) || format == PCAST_BF16)
            values[count++] = value;
    }
    return count;
}

static void assert_read(const char *path, pcast_format format, const float *values, size_t count)
{
    pcast_tensor tensor;
    pcast_error err = {""};
    if (pcast_tensor_read(path, NULL, format <= PCAST_E5M2FNUZ ? format : PCAST_E4M3, &tensor,
                          &err) != PCAST_OK)
        fail_msg("%s", err.text);
    assert_int_equal(tensor.format, format);
    assert_int_equal(tensor.rank, 2);
    assert_int_equal(tensor.shape[0], 1);
    assert_int_equal(tensor.shape[1], count);
    assert_values(&tensor, values);
    pcast_tensor_free(&tensor);
}

/* Every format alone in NPY and together in safetensors. */
static void test_round_trip(void **state)
{
    (void)state;
    static float values[PCAST_F32 + 1][65536];
    static const char *const names[] = {"e4m3", "e5m2",      "e4m3fnuz", "e5m2fnuz",
                                        "f16",  "b:f\"16\\", "f32"};
    const uint32_t f32[5] = {0x3F800001, 1, 0x80000000, 0xFF800000, 0x7FC12345};
    size_t shapes[PCAST_F32 + 1][2];
    pcast_entry entries[PCAST_F32 + 1];
    for (int i = 0; i <= PCAST_F32; i++) {
        const pcast_format format = (pcast_format)i;
        size_t count = 5;
        memcpy(values[i], f32, sizeof f32);
        if (format != PCAST_F32)
            count = all_values(format, values[i]);
        shapes[i][0] = 1;
        shapes[i][1] = count;
        entries[i] = (pcast_entry){names[i], format, 2, shapes[i], values[i], NULL};
        FILE *file = fopen("a.npy", "wb");
        assert_int_equal(pcast_npy_write(file, format, 2, shapes[i], values[i]), PCAST_OK);
        assert_int_equal(ftell(file) % 64, count * (size_t)pcast_format_width(format) / 8 % 64);
        fclose(file);
        assert_read("a.npy", format, values[i], count);
    }
    FILE *file = fopen("a.safetensors", "wb");
    assert_int_equal(pcast_safetensors_write(file, entries, PCAST_F32 + 1), PCAST_OK);
    fclose(file);
    for (int i = 0; i <= PCAST_F32; i++)
        if (i != PCAST_BF16) {
            char path[64];
            snprintf(path, sizeof path, "a.safetensors:%s", names[i]);
            assert_read(path, (pcast_format)i, values[i], shapes[i][1]);
        }
    pcast_tensor tensor;
    pcast_error err;
    assert_int_equal(pcast_tensor_read("a.safetensors", "b:f\"16\\", PCAST_E4M3, &tensor, &err),
                     PCAST_OK);
    assert_int_equal(tensor.format, PCAST_BF16);
    assert_values(&tensor, values[PCAST_BF16]);
    pcast_tensor_free(&tensor);
    unlink("a.npy");
    unlink("a.safetensors");
}

/* Codes are written as they are: NaN, too, of which the values know one alone. */
static void test_codes(void **state)
{
    (void)state;
    const uint32_t codes[4] = {0x7E, 0x7F, 0xFF, 0x3C};
    const size_t shape[1] = {4};
    uint8_t bytes[132];
    FILE *file = fopen("a.npy", "w+b");
    assert_int_equal(pcast_npy_write_codes(file, PCAST_E5M2, 1, shape, codes), PCAST_OK);
    rewind(file);
    assert_int_equal(fread(bytes, 1, sizeof bytes, file), sizeof bytes);
    for (int i = 0; i < 4; i++)
        assert_int_equal(bytes[128 + i], codes[i]);
    assert_int_equal(pcast_npy_write_codes(file, PCAST_F64, 1, shape, codes), PCAST_ERR_VALUE);
    fclose(file);
    unlink("a.npy");
}

/* A file with a colon in its name comes before FILE:NAME. */
static void test_paths(void **state)
{
    (void)state;
    float one = 1, two[2] = {2, 3};
    const size_t shape[] = {2};
    const pcast_entry pair[2] = {{"k", PCAST_F32, 0, NULL, &one, NULL},
                                 {"q", PCAST_F16, 1, shape, two, NULL}};
    pcast_tensor tensor;
    pcast_error err;
    FILE *file = fopen("a", "wb");
    assert_int_equal(pcast_safetensors_write(file, pair, 2), PCAST_OK);
    fclose(file);
    file = fopen("n.npy", "wb");
    assert_int_equal(pcast_npy_write(file, PCAST_F32, 0, NULL, &one), PCAST_OK);
    fclose(file);
    write_bytes("text", "hello\n", 6);

    assert_int_equal(pcast_tensor_read("a:q", "k", PCAST_E4M3, &tensor, &err), PCAST_OK);
    assert_int_equal(tensor.rank, 1);
    assert_bits_f32(value_of(&tensor, 1), 3);
    pcast_tensor_free(&tensor);
    assert_int_equal(link("n.npy", "a:q"), 0);
    assert_int_equal(pcast_tensor_read("a:q", NULL, PCAST_E4M3, &tensor, &err), PCAST_OK);
    assert_int_equal(tensor.rank, 0);
    assert_int_equal(pcast_tensor_size(&tensor), 1);
    pcast_tensor_free(&tensor);

    static const struct {
        const char *path, *said;
    } cases[] = {
        {"b", "b: No such file or directory"},
        {"b:q", "b:q: No such file or directory"},
        {".", ".: Is a directory"},
        {"a", "a: 2 tensors, name one as FILE:NAME: k, q"},
        {"a:", "a: no tensor ''; it has k, q"},
        {"n.npy:q", "n.npy: an NPY file holds one tensor without a name, not 'q'"},
        {"text", "text: neither an NPY nor a safetensors file"},
        {"/dev/null", "/dev/null: neither an NPY nor a safetensors file"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(pcast_tensor_read(cases[i].path, NULL, PCAST_E4M3, &tensor, &err),
                         PCAST_ERR_INPUT);
        assert_string_equal(err.text, cases[i].said);
        assert_null(tensor.data);
    }
    unlink("a");
    unlink("a:q");
    unlink("n.npy");
    unlink("text");
}

static void test_writers_refuse(void **state)
{
    (void)state;
    float data[1] = {1};
    const size_t shape[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    const pcast_entry good = {"a", PCAST_F32, 1, shape, data, NULL}, twice[2] = {good, good},
                      wide = {"a", PCAST_F64, 1, shape, data, NULL},
                      metadata = {"__metadata__", PCAST_F32, 1, shape, data, NULL},
                      no_utf8 = {"\xff", PCAST_F32, 1, shape, data, NULL};
    FILE *sink = fopen("/dev/full", "wb");
    assert_int_equal(pcast_npy_write(sink, PCAST_F64, 1, shape, data), PCAST_ERR_VALUE);
    assert_int_equal(pcast_npy_write(sink, PCAST_F32, 9, shape, data), PCAST_ERR_VALUE);
    assert_int_equal(pcast_safetensors_write(sink, &wide, 1), PCAST_ERR_VALUE);
    assert_int_equal(pcast_safetensors_write(sink, twice, 2), PCAST_ERR_VALUE);
    assert_int_equal(pcast_safetensors_write(sink, &metadata, 1), PCAST_ERR_VALUE);
    assert_int_equal(pcast_safetensors_write(sink, &no_utf8, 1), PCAST_ERR_VALUE);
    setbuf(sink, NULL);
    assert_int_equal(pcast_npy_write(sink, PCAST_F32, 1, shape, data), PCAST_ERR_OUTPUT);
    assert_int_equal(pcast_safetensors_write(sink, &good, 1), PCAST_ERR_OUTPUT);
    fclose(sink);
}

/* An NPY file of one dimension, or of the shape given. */
static void write_npy(const char *descr, const char *shape, const void *elements, size_t size)
{
    uint8_t bytes[256] = "\x93NUMPY\x01\x00\x76";
    const int length =
        snprintf((char *)bytes + 10, 119, "{'descr': '%s', 'fortran_order': False, 'shape': %s}",
                 descr, shape);
    memset(bytes + 10 + length, ' ', (size_t)(118 - length));
    memcpy(bytes + 128, elements, size);
    write_bytes("c.npy", bytes, 128 + size);
}

static void test_counts(void **state)
{
    (void)state;
    const int32_t i4[3] = {1, 0, INT32_MAX}, negative[2] = {1, -1};
    const int64_t i8[2] = {0, INT64_MAX};
    const uint32_t u4[1] = {UINT32_MAX};
    const uint64_t u8[2] = {UINT64_MAX, 7};
    static const char safetensors[] = "\x40\0\0\0\0\0\0\0{\"lengths\":{\"dtype\":\"I64\",\"shape\":"
                                      "[2],\"data_offsets\":[0,16]}}   "
                                      "\5\0\0\0\0\0\0\0\0\1\0\0\0\0\0";
    size_t *values, count;
    pcast_error err;
    const struct {
        const char *descr, *shape;
        const void *elements;
        size_t size, count, last;
        const char *said;
    } cases[] = {
        {"<i4", "(3,)", i4, 12, 3, INT32_MAX, NULL},
        {"<i8", "(2,)", i8, 16, 2, INT64_MAX, NULL},
        {"<u4", "()", u4, 4, 1, UINT32_MAX, NULL},
        {"<u8", "(2,)", u8, 16, 2, 7, NULL},
        {"<i8", "(0,)", i8, 0, 0, 0, NULL},
        {"<i4", "(2,)", negative, 8, 0, 0, "c.npy: number 1 is negative"},
        {"<i4", "(1, 2)", i4, 8, 0, 0, "c.npy: rank 2, expected a list of numbers"},
        {"<i4", "(4,)", i4, 12, 0, 0,
         "c.npy: truncated: 12 bytes of elements, the shape needs more"},
        {"<f4", "(3,)", i4, 12, 0, 0,
         "c.npy: dtype '<f4' is none of int32, int64, uint32 and uint64"},
        {">i4", "(3,)", i4, 12, 0, 0,
         "c.npy: dtype '>i4' (big-endian) is none of int32, int64, uint32 and uint64"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        write_npy(cases[i].descr, cases[i].shape, cases[i].elements, cases[i].size);
        const pcast_status status = pcast_counts_read("c.npy", &values, &count, &err);
        if (cases[i].said != NULL) {
            assert_int_equal(status, PCAST_ERR_INPUT);
            assert_string_equal(err.text, cases[i].said);
            assert_null(values);
            continue;
        }
        assert_int_equal(status, PCAST_OK);
        assert_int_equal(count, cases[i].count);
        if (count > 0)
            assert_int_equal(values[count - 1], cases[i].last);
        free(values);
    }
    unlink("c.npy");
    write_bytes("c.st", safetensors, sizeof safetensors);
    assert_int_equal(pcast_counts_read("c.st:lengths", &values, &count, &err), PCAST_OK);
    assert_int_equal(count, 2);
    assert_int_equal(values[0], 5);
    assert_int_equal(values[1], 256);
    free(values);
    unlink("c.st");
}

/* Whole numbers come back from both formats, beside tensors that are not moved. */
static void test_counts_round_trip(void **state)
{
    (void)state;
    const size_t lengths[3] = {0, 7, INT32_MAX}, large[1] = {(size_t)INT32_MAX + 1};
    const size_t one = 1, two = 2, three = 3, square[2] = {1, 1};
    const float q[3] = {1, -2, 448}, s[2] = {0.5f, 3};
    const pcast_entry entries[] = {{"q", PCAST_E4M3, 1, &three, q, NULL},
                                   {"s", PCAST_F32, 1, &two, s, NULL},
                                   {"kv_lengths", PCAST_E4M3, 1, &three, NULL, lengths}};
    const pcast_entry too_large = {"n", PCAST_F32, 1, &one, NULL, large};
    const pcast_entry no_list = {"n", PCAST_F32, 2, square, NULL, lengths};
    static const char *const paths[] = {"c.npy", "c.st:kv_lengths"};
    size_t *values, count;
    pcast_tensor tensor;
    pcast_error err = {""};
    FILE *file = fopen("c.npy", "wb");
    assert_int_equal(pcast_npy_write_counts(file, large, 1), PCAST_ERR_VALUE);
    assert_int_equal(pcast_npy_write_counts(file, lengths, 3), PCAST_OK);
    fclose(file);
    file = fopen("c.st", "wb");
    assert_int_equal(pcast_safetensors_write(file, &too_large, 1), PCAST_ERR_VALUE);
    assert_int_equal(pcast_safetensors_write(file, &no_list, 1), PCAST_ERR_VALUE);
    assert_int_equal(ftell(file), 0);
    assert_int_equal(pcast_safetensors_write(file, entries, 3), PCAST_OK);
    fclose(file);
    for (size_t i = 0; i < 2; i++) {
        float back[3];
        if (pcast_counts_read(paths[i], &values, &count, &err) != PCAST_OK)
            fail_msg("%s", err.text);
        assert_int_equal(count, 3);
        assert_memory_equal(values, lengths, sizeof lengths);
        free(values);
        assert_int_equal(pcast_tensor_read("c.st", entries[i].name, PCAST_E4M3, &tensor, &err),
                         PCAST_OK);
        assert_int_equal(tensor.shape[0], 3 - i);
        pcast_tensor_get(&tensor, 0, 3 - i, back);
        assert_memory_equal(back, entries[i].data, (3 - i) * sizeof(float));
        pcast_tensor_free(&tensor);
    }
    unlink("c.npy");
    unlink("c.st");
}

/* Codes come as they lie in the file, NaNs with what they carry; uint32 are float32's bits. */
static void test_raw_codes(void **state)
{
    (void)state;
    static const struct {
        const char *descr;
        pcast_format format;
        uint32_t codes[2];
        int width;
    } files[] = {
        {"|u1", PCAST_E5M2, {0x7D, 0xFF}, 1},
        {"<f2", PCAST_F16, {0x7C01, 0x8001}, 2},
        {"<f4", PCAST_F32, {0x7F800001, 0xFFFFFFFF}, 4},
        {"<u4", PCAST_F32, {0x7F800001, 0x00000001}, 4},
    };
    pcast_error err;
    pcast_tensor codes;
    uint32_t read[2];
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char bytes[200];
        const int length =
            snprintf(bytes + 10, sizeof bytes - 10,
                     "{'descr': '%s', 'fortran_order': False, 'shape': (1, 2), }", files[i].descr);
        memcpy(bytes, "\x93NUMPY\x01\x00", 8);
        bytes[8] = (char)length;
        bytes[9] = 0;
        char *at = bytes + 10 + length;
        for (int e = 0; e < 2; e++)
            for (int byte = 0; byte < files[i].width; byte++)
                *at++ = (char)(files[i].codes[e] >> (8 * byte));
        write_bytes("codes.npy", bytes, (size_t)(at - bytes));
        assert_int_equal(pcast_codes_read("codes.npy", NULL, PCAST_E5M2, &codes, &err), PCAST_OK);
        assert_int_equal(codes.format, files[i].format);
        assert_int_equal(codes.rank, 2);
        assert_int_equal(codes.shape[1], 2);
        pcast_tensor_codes(&codes, 0, 2, read);
        assert_memory_equal(read, files[i].codes, sizeof read);
        pcast_tensor_free(&codes);
        memcpy(bytes + 10 + strlen("{'descr': '"), "<i4", 3);
        write_bytes("codes.npy", bytes, (size_t)(at - bytes));
        assert_int_equal(pcast_codes_read("codes.npy", NULL, PCAST_E5M2, &codes, &err),
                         PCAST_ERR_INPUT);
        assert_non_null(strstr(err.text, "dtype '<i4' is none of float32 (or its bits as uint32)"));
        assert_null(codes.data);
    }
    unlink("codes.npy");
    assert_int_equal(pcast_codes_read("codes.npy", NULL, PCAST_E5M2, &codes, &err),
                     PCAST_ERR_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_raw_codes),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_codes),
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_writers_refuse),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_counts_round_trip),
    };
    return cmocka_run_group_tests_name("tensor", tests, enter_folder, leave_folder);
}
