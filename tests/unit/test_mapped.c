/* SPDX-License-Identifier: MIT */
/* Tensors where they lie: mapped files, pipes and standard input give the same elements, at any
 * alignment and in any pieces. */
#include "base/bits.h"
#include "tensor/file.h"
#include "tensors.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { COUNT = 5000, FORMATS = PCAST_F32 + 1 };

static uint32_t codes[COUNT];
static float values[COUNT];

static float value_of_code(pcast_format format, uint32_t code)
{
    if (format == PCAST_F32 || format == PCAST_BF16)
        return pcast_f32_from_bits(format == PCAST_F32 ? code : code << 16);
    return pcast_decode_f32(format, code);
}

/* A file with `odd` bytes before the tensor "t" [2, COUNT / 2] of random codes, NaNs among them. */
static size_t build(uint8_t *file, pcast_format format, size_t odd)
{
    static const char *const dtypes[FORMATS] = {"F8_E4M3", "F8_E5M2", "F8_E4M3FNUZ", "F8_E5M2FNUZ",
                                                "F16",     "BF16",    "F32"};
    const size_t width = (size_t)pcast_format_width(format) / 8;
    uint64_t random = 7 + odd;
    const int length =
        snprintf((char *)file + 8, 400,
                 "{\"odd\":{\"dtype\":\"U8\",\"shape\":[%zu],\"data_offsets\":[0,%zu]},"
                 "\"t\":{\"dtype\":\"%s\",\"shape\":[2,%d],\"data_offsets\":[%zu,%zu]}}",
                 odd, odd, dtypes[format], COUNT / 2, odd, odd + COUNT * width);
    const uint64_t header = (uint64_t)length;
    memcpy(file, &header, sizeof header);
    uint8_t *at = file + 8 + length + odd;
    for (size_t i = 0; i < COUNT; i++) {
        codes[i] = (uint32_t)(test_uniform(&random) * 0x1p32) >> (32 - 8 * width);
        values[i] = value_of_code(format, codes[i]);
        memcpy(at + i * width, &codes[i], width);
    }
    return (size_t)(at - file) + COUNT * width;
}

/* Pieces of any size and place, and what lies beside them stays. */
static void assert_pieces(const pcast_tensor *tensor)
{
    static float piece[COUNT + 1];
    static uint32_t bits[COUNT];
    static const size_t cuts[] = {0, 1, 2, 5, 6, 73, 1000, 3049, 4999, COUNT, COUNT};
    for (size_t i = 0; i + 1 < sizeof cuts / sizeof cuts[0]; i++) {
        const size_t count = cuts[i + 1] - cuts[i];
        piece[count] = 17;
        pcast_tensor_get(tensor, cuts[i], count, piece);
        assert_bits_f32(piece[count], 17);
        if (count > 0)
            assert_memory_equal(piece, values + cuts[i], count * sizeof *piece);
    }
    pcast_tensor_codes(tensor, 0, COUNT, bits);
    assert_memory_equal(bits, codes, sizeof bits);
}

static void assert_tensor(const char *path, pcast_format format, int mapped)
{
    pcast_tensor tensor;
    pcast_error err = {""};
    if (pcast_tensor_read(path, "t", PCAST_E4M3, &tensor, &err) != PCAST_OK)
        fail_msg("%s: %s", path, err.text);
    assert_int_equal(tensor.file->mapped, mapped);
    assert_int_equal(tensor.format, format);
    assert_int_equal(pcast_tensor_size(&tensor), COUNT);
    assert_pieces(&tensor);
    pcast_tensor_free(&tensor);
    assert_null(tensor.data);
    assert_null(tensor.file);
}

/* A child writes into the pipe. */
static pid_t feed(const char *path, const uint8_t *file, size_t size)
{
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const int pipe = open(path, O_WRONLY);
        while (pipe >= 0 && size > 0) {
            const ssize_t written = write(pipe, file, size);
            if (written < 0)
                break;
            file += written;
            size -= (size_t)written;
        }
        _exit(size > 0);
    }
    return child;
}

static void test_every_format(void **state)
{
    (void)state;
    static uint8_t file[5 * COUNT];
    assert_int_equal(mkfifo("pipe", 0600), 0);
    for (int format = 0; format < FORMATS; format++)
        for (size_t odd = 0; odd < 4; odd++) {
            int ended;
            const size_t size = build(file, (pcast_format)format, odd);
            write_bytes("t.safetensors", file, size);
            assert_tensor("t.safetensors", (pcast_format)format, 1);
            const pid_t child = feed("pipe", file, size);
            assert_tensor("pipe", (pcast_format)format, 0);
            assert_int_equal(waitpid(child, &ended, 0), child);
            assert_int_equal(ended, 0);
        }
    unlink("pipe");
    unlink("t.safetensors");
}

/* Standard input is read from where it stands, whatever it is. */
static void test_standard_input(void **state)
{
    (void)state;
    static uint8_t file[5 * COUNT];
    const size_t size = build(file, PCAST_F16, 1);
    const int before = dup(STDIN_FILENO);
    write_bytes("t.safetensors", file, size);
    const int opened = open("t.safetensors", O_RDONLY);
    assert_true(before >= 0 && opened >= 0);
    assert_int_equal(dup2(opened, STDIN_FILENO), STDIN_FILENO);
    assert_tensor("-", PCAST_F16, 0);
    pcast_tensor tensor;
    pcast_error err;
    clearerr(stdin);
    assert_int_equal(pcast_tensor_read("-", NULL, PCAST_E4M3, &tensor, &err), PCAST_ERR_INPUT);
    assert_string_equal(err.text, "standard input: neither an NPY nor a safetensors file");
    clearerr(stdin);
    dup2(before, STDIN_FILENO);
    close(before);
    close(opened);
    unlink("t.safetensors");
}

/* Neither an empty file nor a tensor without elements has anything to map or read. */
static void test_nothing(void **state)
{
    (void)state;
    static const char empty[] = "\x93NUMPY\x01\x00\x3B\x00{'descr': '<f2', 'fortran_order': False, "
                                "'shape': (3, 0), }  ";
    pcast_tensor tensor;
    pcast_error err;
    float value = 5;
    write_bytes("empty", "", 0);
    assert_int_equal(pcast_tensor_read("empty", NULL, PCAST_E4M3, &tensor, &err), PCAST_ERR_INPUT);
    assert_string_equal(err.text, "empty: neither an NPY nor a safetensors file");
    assert_null(tensor.data);
    write_bytes("empty", empty, 10 + 0x3B);
    assert_int_equal(pcast_tensor_read("empty", NULL, PCAST_E4M3, &tensor, &err), PCAST_OK);
    assert_int_equal(pcast_tensor_size(&tensor), 0);
    pcast_tensor_get(&tensor, 0, 0, &value);
    assert_bits_f32(value, 5);
    pcast_tensor_free(&tensor);
    unlink("empty");
}

/* A file that is replaced or removed under its tensor leaves it as it was. */
static void test_removed(void **state)
{
    (void)state;
    static uint8_t file[5 * COUNT];
    pcast_tensor tensor;
    pcast_error err;
    write_bytes("t.safetensors", file, build(file, PCAST_BF16, 1));
    assert_int_equal(pcast_tensor_read("t.safetensors", "t", PCAST_E4M3, &tensor, &err), PCAST_OK);
    write_bytes("other", "no tensor", 9);
    assert_int_equal(rename("other", "t.safetensors"), 0);
    assert_pieces(&tensor);
    unlink("t.safetensors");
    assert_pieces(&tensor);
    pcast_tensor_free(&tensor);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_format),
        cmocka_unit_test(test_standard_input),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_removed),
    };
    return cmocka_run_group_tests_name("mapped", tests, enter_folder, leave_folder);
}
