/* SPDX-License-Identifier: MIT */
/* safetensors: dtypes, which tensor is taken, and every kind of file that must be refused. */
#include "pcast/tensor.h"

#include "tensors.h"

#include <math.h>
#include <stdlib.h>

/* Builds a file around a header text and bytes of tensors; returns its size. */
static size_t build(uint8_t *file, const char *header, const void *data, size_t size)
{
    const size_t length = strlen(header);
    for (size_t i = 0; i < 8; i++)
        file[i] = (uint8_t)(length >> (8 * i));
    memcpy(file + 8, header, length);
    memcpy(file + 8 + length, data, size);
    return 8 + length + size;
}

/* The file that was parsed last, which the tensor points into, in an allocation of exactly its
 * size, so that a sanitizer sees one byte too far. */
static uint8_t *parsed;

static pcast_status parse(const char *header, const void *data, size_t size, const char *entry,
                          const char *name, pcast_tensor *tensor, pcast_error *err)
{
    free(parsed);
    parsed = malloc(8 + strlen(header) + size);
    *err = (pcast_error){""};
    return pcast_safetensors_parse(parsed, build(parsed, header, data, size), "a.st", entry, name,
                                   tensor, err);
}

static int free_parsed(void **state)
{
    (void)state;
    free(parsed);
    return 0;
}

static void test_dtypes(void **state)
{
    (void)state;
    static const struct {
        const char *dtype;
        pcast_format format;
        uint8_t bytes[8];
        size_t size;
        float values[2];
    } cases[] = {
        {"F32", PCAST_F32, {0xDB, 0x0F, 0x49, 0x40, 1, 0, 0, 0}, 8, {0x1.921fb6p+1f, 0x1p-149f}},
        {"F16", PCAST_F16, {0xFF, 0xFB, 1, 0}, 4, {-65504, 0x1p-24f}},
        {"BF16", PCAST_BF16, {0x81, 0x3F, 0x80, 0xFF}, 4, {1.0078125f, -INFINITY}},
        {"F8_E4M3", PCAST_E4M3, {0x38, 0xFC}, 2, {1, -384}},
        {"F8_E5M2", PCAST_E5M2, {0x38, 0xFC}, 2, {0.5f, -INFINITY}},
        {"F8_E4M3FNUZ", PCAST_E4M3FNUZ, {0x38, 0xFC}, 2, {0.5f, -192}},
        {"F8_E5M2FNUZ", PCAST_E5M2FNUZ, {0x38, 0xFC}, 2, {0.25f, -32768}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char header[256];
        pcast_tensor tensor;
        pcast_error err;
        snprintf(header, sizeof header,
                 "{\"q\":{\"data_offsets\":[0,%zu],\"dtype\":\"%s\",\"shape\":[1,2]}}   \n",
                 cases[i].size, cases[i].dtype);
        assert_int_equal(parse(header, cases[i].bytes, cases[i].size, NULL, NULL, &tensor, &err),
                         PCAST_OK);
        assert_int_equal(tensor.format, cases[i].format);
        assert_int_equal(tensor.rank, 2);
        assert_int_equal(tensor.shape[1], 2);
        assert_bits_f32(value_of(&tensor, 0), cases[i].values[0]);
        assert_bits_f32(value_of(&tensor, 1), cases[i].values[1]);
        pcast_tensor_free(&tensor);
    }
}

/* Three tensors in an order that is not that of their bytes; one's dtype is none that is read. */
static const char three[] =
    "{\"k\":{\"dtype\":\"F16\",\"shape\":[1],\"data_offsets\":[12,14]},"
    "\"__metadata__\":{\"format\":\"pt\"},"
    "\"mask\":{\"dtype\":\"BOOL\",\"shape\":[2,2],\"data_offsets\":[8,12]},"
    "\"q\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8],\"more\":1}}";
static const uint8_t three_data[14] = {0, 0, 0x80, 0x3F, 0, 0, 0, 0x40, 1, 0, 1, 0, 0, 0xC2};

static void test_choice(void **state)
{
    (void)state;
    static const struct {
        const char *entry, *name;
        pcast_status status;
        float first;
        const char *said;
    } cases[] = {
        {NULL, "q", PCAST_OK, 1, ""},
        {NULL, "k", PCAST_OK, -3, ""},
        {"k", "q", PCAST_OK, -3, ""},
        {"o", "q", PCAST_ERR_INPUT, 0, "a.st: no tensor 'o'; it has k, mask, q"},
        {NULL, "o", PCAST_ERR_INPUT, 0, "a.st: 3 tensors, name one as FILE:NAME: k, mask, q"},
        {NULL, NULL, PCAST_ERR_INPUT, 0, "a.st: 3 tensors, name one as FILE:NAME: k, mask, q"},
        {"__metadata__", NULL, PCAST_ERR_INPUT, 0,
         "a.st: no tensor '__metadata__'; it has k, mask, q"},
        {"mask", NULL, PCAST_ERR_INPUT, 0,
         "a.st:mask: dtype 'BOOL' is none of float32, float16, bfloat16 (in NPY as uint16) and FP8 "
         "(as uint8)"},
    };
    pcast_tensor tensor;
    pcast_error err;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(parse(three, three_data, sizeof three_data, cases[i].entry, cases[i].name,
                               &tensor, &err),
                         cases[i].status);
        assert_string_equal(err.text, cases[i].said);
        if (cases[i].status == PCAST_OK)
            assert_bits_f32(value_of(&tensor, 0), cases[i].first);
        pcast_tensor_free(&tensor);
    }
    assert_int_equal(parse("{}", "", 0, NULL, "q", &tensor, &err), PCAST_ERR_INPUT);
    assert_string_equal(err.text, "a.st: holds no tensor");
    /* A name that is no line, and more names than a message holds. */
    char header[8192] = "{\"a\\nb\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]}";
    for (int i = 0; i < 100; i++)
        snprintf(header + strlen(header), sizeof header - strlen(header),
                 ",\"%d\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]}", 1000000 + i);
    strcat(header, "}");
    assert_int_equal(parse(header, "", 0, NULL, "q", &tensor, &err), PCAST_ERR_INPUT);
    assert_non_null(strstr(err.text, "101 tensors, name one as FILE:NAME: a?b, 1000000, 1000001"));
    assert_non_null(strstr(err.text, ", ..."));
    assert_true(strlen(err.text) < 500);
}

#define F32_2 "\"dtype\":\"F32\",\"shape\":[2]"

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *header, *said;
    } cases[] = {
        {"", "not JSON"},
        {"[]", "no object"},
        {"{\"q\":{" F32_2 ",\"data_offsets\":[0,8]}", "not JSON"},
        {"{\"q\":{" F32_2 ",\"data_offsets\":[0,8]}}}", "not JSON"},
        {"{\"q\\u0000\":{" F32_2 ",\"data_offsets\":[0,8]}}", "not JSON"},
        {"{\"q\xff\":{" F32_2 ",\"data_offsets\":[0,8]}}", "not JSON"},
        {"{\"q\":{" F32_2 ",\"data_offsets\":[0,99999999999999999999]}}", "too large"},
        {"{\"q\":{" F32_2 ",\"data_offsets\":[0,8]},\"q\":{" F32_2 ",\"data_offsets\":[0,8]}}",
         "a repeated key"},
        {"{\"q\":{" F32_2 ",\"shape\":[2],\"data_offsets\":[0,8]}}", "a repeated key"},
        {"{\"__metadata__\":{\"a\":1},\"q\":{" F32_2 ",\"data_offsets\":[0,8]}}", "__metadata__"},
        {"{\"__metadata__\":[],\"q\":{" F32_2 ",\"data_offsets\":[0,8]}}", "__metadata__"},
        {"{\"q\":[]}", "q: malformed"},
        {"{\"q\":{" F32_2 "}}", "q: malformed"},
        {"{\"q\":{\"dtype\":\"F32\",\"data_offsets\":[0,8]}}", "q: malformed"},
        {"{\"q\":{\"dtype\":4,\"shape\":[2],\"data_offsets\":[0,8]}}", "q: malformed"},
        {"{\"q\":{\"dtype\":\"F32\",\"shape\":2,\"data_offsets\":[0,8]}}", "q: malformed"},
        {"{\"q\":{" F32_2 ",\"data_offsets\":[0]}}", "q: malformed"},
        {"{\"q\":{" F32_2 ",\"data_offsets\":[0,4,8]}}", "q: malformed"},
        {"{\"q\":{" F32_2 ",\"data_offsets\":[0,8.0]}}", "q: malformed"},
        {"{\"q\":{\"dtype\":\"F32\",\"shape\":[2.0],\"data_offsets\":[0,8]}}", "not a size"},
        {"{\"q\":{\"dtype\":\"F32\",\"shape\":[-2],\"data_offsets\":[0,8]}}", "not a size"},
        {"{\"q\":{\"dtype\":\"F32\",\"shape\":[1,1,1,1,1,1,1,1,2],\"data_offsets\":[0,8]}}",
         "more than 8"},
        {"{\"q\":{\"dtype\":\"F32\",\"shape\":[4611686018427387904,4],\"data_offsets\":[0,8]}}",
         "truncated"},
        {"{\"q\":{\"dtype\":\"F32\",\"shape\":[4611686018427387904],\"data_offsets\":[0,8]}}",
         "truncated"},
        {"{\"q\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[0,8]}}", "truncated"},
        {"{\"q\":{\"dtype\":\"F16\",\"shape\":[2],\"data_offsets\":[0,8]}}", "4 bytes after"},
        {"{\"q\":{\"dtype\":\"F64\",\"shape\":[1],\"data_offsets\":[0,8]}}", "dtype 'F64'"},
        {"{\"q\":{\"dtype\":\"I64\",\"shape\":[1],\"data_offsets\":[0,8]}}", "dtype 'I64'"},
        {"{\"q\":{" F32_2 ",\"data_offsets\":[8,0]}}", "data_offsets 8 to 0"},
        {"{\"q\":{" F32_2 ",\"data_offsets\":[-8,0]}}", "data_offsets -8 to 0"},
        {"{\"q\":{" F32_2 ",\"data_offsets\":[1,9]}}", "data_offsets 1 to 9"},
        {"{\"q\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}", "begin at 4"},
        {"{\"q\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", "4 bytes after the"},
        {"{\"a\":{" F32_2 ",\"data_offsets\":[0,8]},\"q\":{\"dtype\":\"F32\",\"shape\":[1],"
         "\"data_offsets\":[4,8]}}",
         "a.st:q: data_offsets begin at 4, the tensors before end at 8"},
        {"{\"a\":{" F32_2 ",\"data_offsets\":[0,8]},\"q\":{" F32_2 ",\"data_offsets\":[0,8]}}",
         "begin at 0, the tensors before end at 8"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[0,3]},\"q\":{\"dtype\":\"F32\","
         "\"shape\":[1],\"data_offsets\":[4,8]}}",
         "begin at 4, the tensors before end at 3"},
    };
    const uint8_t data[8] = {0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pcast_tensor tensor;
        pcast_error err;
        assert_int_equal(parse(cases[i].header, data, 8, NULL, "q", &tensor, &err),
                         PCAST_ERR_INPUT);
        if (strstr(err.text, cases[i].said) == NULL || strncmp(err.text, "a.st:", 5) != 0)
            fail_msg("'%s': said '%s', expected '%s'", cases[i].header, err.text, cases[i].said);
        assert_null(tensor.data);
    }
}

/* A good file cut anywhere is refused, never read past its end; so is a length beyond any file. */
static void test_every_truncation(void **state)
{
    (void)state;
    uint8_t file[512];
    pcast_tensor tensor;
    pcast_error err;
    const size_t size = build(file, three, three_data, sizeof three_data);
    for (size_t cut = 0; cut < size; cut++) {
        uint8_t *copy = malloc(cut > 0 ? cut : 1);
        memcpy(copy, file, cut);
        assert_int_equal(pcast_safetensors_parse(copy, cut, "a.st", NULL, "q", &tensor, &err),
                         PCAST_ERR_INPUT);
        free(copy);
    }
    memset(file, 0xFF, 8);
    assert_int_equal(pcast_safetensors_parse(file, size, "a.st", NULL, "q", &tensor, &err),
                     PCAST_ERR_INPUT);
    assert_string_equal(err.text, "a.st: truncated in the safetensors header");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dtypes),
        cmocka_unit_test(test_choice),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_every_truncation),
    };
    return cmocka_run_group_tests_name("safetensors", tests, NULL, free_parsed);
}
