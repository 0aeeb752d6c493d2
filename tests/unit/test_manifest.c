/* SPDX-License-Identifier: MIT */
/* Manifests of golden suites: what is written comes back, everything malformed is named, and a
 * problem's files are checked. */
#include "golden/manifest.h"
#include "pcast/tensor.h"

#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[] = "pcast_manifest_XXXXXX";

/* Every file lies in a folder of the test's own, below where it was started. */
static int enter_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL || chdir(folder) != 0;
}

static int leave_folder(void **state)
{
    (void)state;
    return chdir("..") != 0 || rmdir(folder) != 0;
}

static const char *const kernels[] = {"fa3", "paper"};
static const char *const classes[] = {"mask"};
static pcast_manifest_fault faults[] = {{"late", "mask", "starts one key late", "i + N - T"}};
static pcast_manifest_expected expected[] = {
    {(const char **)kernels, 2, "expected/a_00_o.npy", "expected/a_00_lse.npy"},
    {(const char **)kernels + 1, 1, "expected/a_01_o.npy", NULL},
};
static pcast_manifest_probe probes[] = {
    {.id = "a",
     .title = "A, \"quoted\" \\ and \xc3\xa9",
     .why = "because",
     .signature = "a shift",
     .fault_classes = (const char **)classes,
     .fault_class_count = 1,
     .faults = faults,
     .fault_count = 1,
     .batch = 2,
     .heads = 2,
     .kv_heads = 1,
     .queries = 1,
     .keys = 3,
     .allocated_keys = 3,
     .dim = 2,
     .softmax_scale = 0.1f,
     .mask = PCAST_MASK_CAUSAL,
     .window_left = 2,
     .inputs = {"probes/a.safetensors", "q.npy", "k.npy", "v.npy", "d.npy", NULL, NULL, "s.npy",
                "n.npy"},
     .expected = expected,
     .expected_count = 2},
    {.id = "b-2",
     .title = "B",
     .why = "",
     .signature = "",
     .batch = 1,
     .heads = 1,
     .kv_heads = 1,
     .queries = 1,
     .keys = 1,
     .allocated_keys = 1,
     .dim = 2,
     .softmax_scale = 1,
     .window_right = 5,
     .inputs = {"b.safetensors", "q", "k", "v"}},
};

static pcast_manifest suite(void)
{
    return (pcast_manifest){.dim = 2,
                            .probes = probes,
                            .count = 2,
                            .spec = "fa3:block=64",
                            .unknown = UINT64_C(1) << PCAST_FIELD_ORDER |
                                       UINT64_C(1) << PCAST_FIELD_SOFTCAP};
}

static char *write_text(const pcast_manifest *manifest)
{
    FILE *stream = tmpfile();
    assert_int_equal(pcast_manifest_write(stream, manifest), PCAST_OK);
    const size_t size = (size_t)ftell(stream);
    char *text = calloc(size + 1, 1);
    rewind(stream);
    assert_int_equal(fread(text, 1, size, stream), size);
    fclose(stream);
    return text;
}

static void test_round_trip(void **state)
{
    (void)state;
    pcast_manifest manifest = suite(), read;
    pcast_error err = {""};
    for (int declared = 1; declared >= 0; declared--) {
        if (!declared)
            manifest = (pcast_manifest){.dim = 2, .probes = probes, .count = 1};
        char *text = write_text(&manifest);
        if (pcast_manifest_parse(text, strlen(text), "m", &read, &err) != PCAST_OK)
            fail_msg("%s", err.text);
        char *again = write_text(&read);
        assert_string_equal(text, again);
        assert_true(pcast_manifest_recognise(text, strlen(text)));
        assert_int_equal(read.count, manifest.count);
        assert_int_equal(read.unknown, manifest.unknown);
        assert_bits_f32(read.probes[0].softmax_scale, 0.1f);
        assert_null(read.probes[0].expected[1].lse);
        assert_null(read.probes[0].inputs[PCAST_INPUT_K_DESCALE]);
        assert_string_equal(read.probes[0].title, probes[0].title);
        assert_ptr_equal(pcast_manifest_find(&read, "a"), &read.probes[0]);
        assert_null(pcast_manifest_find(&read, "c"));
        if (declared) {
            assert_int_equal(read.kernel.block, 64);
            assert_int_equal(read.probes[1].window_right, 5);
        } else {
            assert_null(read.spec);
        }
        pcast_manifest_free(&read);
        free(text);
        free(again);
    }
    probes[0].why = "\xff";
    FILE *sink = fopen("/dev/full", "w");
    assert_int_equal(pcast_manifest_write(sink, &manifest), PCAST_ERR_VALUE);
    probes[0].why = "because";
    setbuf(sink, NULL);
    assert_int_equal(pcast_manifest_write(sink, &manifest), PCAST_ERR_OUTPUT);
    fclose(sink);
}

/* The good manifest with one piece of its text replaced. */
static char *replaced(const char *text, const char *old, const char *new)
{
    const char *at = strstr(text, old);
    if (at == NULL)
        fail_msg("no '%s' in the manifest", old);
    const size_t before = (size_t)(at - text);
    char *copy = calloc(strlen(text) + strlen(new) + 1, 1);
    memcpy(copy, text, before);
    strcat(strcat(copy, new), text + before + strlen(old));
    return copy;
}

static const struct {
    const char *old, *new, *said;
} malformed[] = {
    {"{", "", "m: line 2: not JSON"},
    {"\"dim\": 2", "\"dim\": 2, \"dim\": 2", "a repeated key"},
    {"pcast-golden", "pcast", "schema: 'pcast' is not pcast-golden"},
    {"\"pcast-golden\"", "1", "schema: is no text"},
    {"\"version\": 1", "\"version\": 2", "version: is not 1"},
    {"\"version\": 1", "\"version\": 1.0", "version: is not 1"},
    {"\"version\": 1,", "", "version: is missing"},
    {"\"dim\": 2", "\"dim\": 1025", "m: dim: is no whole number from 1 to 1024"},
    {"\"dim\": 2", "\"dim\": 2, \"more\": 1", "manifest: unknown key 'more'"},
    {"\"probes\"", "\"probe\"", "unknown key 'probe'"},
    {"\"id\": \"a\"", "\"id\": \"A\"", "id: 'A' is not made of a-z, 0-9 and -"},
    {"\"id\": \"a\"", "\"id\": \"\"", "id: '' is not"},
    {"\"id\": \"a\"", "\"id\": 7", "id: is no text"},
    {"\"id\": \"a\"", "\"id\": \"a\\nb\"", "id: holds a control character"},
    {"\"id\": \"a\"", "\"id\": \"b-2\"", "m: probe 'b-2': occurs twice"},
    {"\"why\": \"because\",", "", "m: probe 'a': why: is missing"},
    {"\"why\": \"because\"", "\"why\": null", "why: is no text"},
    {"\"mask\"\n", "\"mask\", 1", "fault_classes: is no text"},
    {"\"mask\"\n", "\"Mask\"", "fault_classes: 'Mask' is not made of"},
    {"\"mask\"\n", "\"other\"", "faults: 'late' is of class 'mask', which is not among"},
    {"\"title\": \"starts one key late\",", "", "m: probe 'a': faults: title: is missing"},
    {"\"look\":", "\"see\":", "fault: unknown key 'see'"},
    {"\"faults\": []", "\"faults\": [1]", "m: probe 'b-2': faults: fault: is no object"},
    {"\"faults\": []", "\"faults\": {}", "faults: is no array"},
    {"\"batch\": 2", "\"batch\": 0", "m: probe 'a': shape: batch: is no whole number from 1 to"},
    {"\"batch\": 2", "\"batch\": -1", "batch: is no whole number"},
    {"\"batch\": 2", "\"batch\": 2.0", "batch: is no whole number"},
    {"\"batch\": 2", "\"batch\": \"2\"", "batch: is no whole number"},
    {"\"batch\": 2", "\"batch\": 99999999999999999999", "not JSON"},
    {"\"heads\": 2", "\"heads\": 3, \"tokens\": 1", "shape: unknown key 'tokens'"},
    {"\"kv_heads\": 1", "\"kv_heads\": 3", "shape: 3 kv_heads do not divide 2 heads"},
    {"\"queries\": 1", "\"queries\": 16777216, \"x\": 1", "shape: unknown key 'x'"},
    {"\"keys\": 3", "\"keys\": 16777217", "keys: is no whole number from 1 to 16777216"},
    {"\"batch\": 2", "\"batch\": 16777216", "OK"},
    {"\"heads\": 2,\n        \"kv_heads\": 1,\n        \"queries\": 1",
     "\"heads\": 16777216, \"kv_heads\": 1, \"queries\": 16777216",
     "m: probe 'a': shape: more than 2^28 elements"},
    {"\"kv_heads\": 1,\n        \"queries\": 1,\n        \"keys\": 3,\n        \"dim\": 2,\n       "
     " \"allocated_keys\": 3",
     "\"kv_heads\": 1, \"queries\": 1, \"keys\": 16777216, \"dim\": 9, "
     "\"allocated_keys\": 16777216",
     "more than 2^28 elements"},
    {"\"queries\": 1", "\"queries\": 16777216", "OK"},
    {"\"allocated_keys\": 3", "\"allocated_keys\": 2", "shape: 2 allocated_keys for 3 keys"},
    {"\"dim\": 2,\n        \"a", "\"dim\": 1025,\n        \"a",
     "shape: dim: is no whole number from 1 to 1024"},
    {"\"dim\": 2,\n        \"a", "\"dim\": \"2\", \"a", "shape: dim: is no whole number"},
    {"\"softmax_scale\": ", "\"softmax_scale\": -", "softmax_scale: is not positive and finite"},
    {"\"softmax_scale\": 0.1", "\"softmax_scale\": 1e39, \"x\": 0.1", "probe: unknown key 'x'"},
    {"\"softmax_scale\": 1.0", "\"softmax_scale\": 1e39", "softmax_scale: is not positive"},
    {"\"softmax_scale\": 1.0", "\"softmax_scale\": \"1\"", "softmax_scale: is no number"},
    {"\"mask\": \"causal\"", "\"mask\": \"full\"", "mask: 'full' is none of none, causal"},
    {"\"mask\": \"causal\"", "\"mask\": 1", "mask: is no text"},
    {"\"window_left\": 2", "\"window_left\": -2", "window_left: is no whole number from 0"},
    {"\"window_right\": 0", "\"window_right\": 1", "window_right: a causal mask already hides"},
    {"\"q.npy\"", "\"/q.npy\"", "m: probe 'a': inputs: q: '/q.npy' is no path within"},
    {"\"q.npy\"", "\"../q.npy\"", "'../q.npy' is no path within"},
    {"\"q.npy\"", "\"a/../q.npy\"", "is no path within"},
    {"\"q.npy\"", "\"a//..\"", "is no path within"},
    {"\"q.npy\"", "\"\"", "q: '' is no path within"},
    {"\"q.npy\"", "\"..q..npy/...\"", "OK"},
    {"\"q.npy\"", "null", "q: is no text"},
    {"\"q\": \"q.npy\",", "", "inputs: q: is missing"},
    {"\"sink\": ", "\"sinks\": ", "inputs: unknown key 'sinks'"},
    {"\"inputs\": {", "\"inputs\": [], \"in\": {", "probe: unknown key 'in'"},
    {"\"shape\": {", "\"shape\": 1, \"s\": {", "probe: unknown key 's'"},
    {"\"kernels\": [", "\"kernels\": [1,", "m: probe 'a': expected: kernels: is no text"},
    {"\"kernels\": [\n            \"paper\"\n", "\"kernels\": [", "expected: kernels: holds none"},
    {"\"expected/a_00_o.npy\"", "\"../o.npy\"", "expected: o: '../o.npy' is no path"},
    {"\"lse\": null", "\"lse\": 1", "lse: is no text"},
    {"\"lse\": null", "\"lsd\": null", "element: unknown key 'lsd'"},
    {"\"expected\": []", "\"expected\": 1", "m: probe 'b-2': expected: is no array"},
    {"\"fa3:block=64\"", "\"fa9\"", "m: declaration: kernel: fa9: "},
    {"\"fa3:block=64\"", "\"paper:scale=0\"", "m: declaration: kernel: paper:scale=0: scale: "},
    {"\"fa3:block=64\"", "64", "declaration: kernel: is no text"},
    {"\"fa3:block=64\"", "null", "unknown: names fields, but there is no kernel"},
    {"\"order\"", "\"colour\"", "declaration: unknown: 'colour' is no field"},
    {"\"order\"", "1", "declaration: unknown: is no text"},
    {"\"declaration\": {", "\"declaration\": 1, \"x\": {", "manifest: unknown key 'x'"},
};

static void test_malformed(void **state)
{
    (void)state;
    const pcast_manifest manifest = suite();
    char *text = write_text(&manifest);
    for (size_t i = 0; i < sizeof malformed / sizeof malformed[0]; i++) {
        pcast_manifest read;
        pcast_error err = {"OK"};
        char *bad = replaced(text, malformed[i].old, malformed[i].new);
        const pcast_status status = pcast_manifest_parse(bad, strlen(bad), "m", &read, &err);
        const int good = strcmp(malformed[i].said, "OK") == 0;
        if (strstr(err.text, malformed[i].said) == NULL || (err.text[0] != 'm' && !good))
            fail_msg("%s -> %s: said '%s', expected '%s'", malformed[i].old, malformed[i].new,
                     err.text, malformed[i].said);
        assert_int_equal(status, good ? PCAST_OK : PCAST_ERR_INPUT);
        pcast_manifest_free(&read);
        free(bad);
    }
    free(text);
}

/* Cut anywhere, or nothing to begin with. */
static void test_no_manifest(void **state)
{
    (void)state;
    static const struct {
        const char *text, *said;
    } cases[] = {
        {"", "m: line 1: not JSON"},
        {"[]", "m: no object"},
        {"{}", "m: schema: is missing"},
        {"{\"schema\":\"pcast-golden\",\"version\":1,\"dim\":4,\"probes\":[],\"declaration\":{}}",
         "m: probes: holds none"},
        {"{\"schema\":\"pcast-golden\",\"version\":1,\"dim\":4,\"probes\":[1],\"declaration\":{}}",
         "m: probe: is no object"},
    };
    pcast_manifest read;
    pcast_error err;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(
            pcast_manifest_parse(cases[i].text, strlen(cases[i].text), "m", &read, &err),
            PCAST_ERR_INPUT);
        assert_string_equal(err.text, cases[i].said);
        pcast_manifest_free(&read);
    }
    assert_int_equal(pcast_manifest_read(".", &read, &err), PCAST_ERR_INPUT);
    assert_string_equal(err.text, "./manifest.json: No such file or directory");
    assert_false(pcast_manifest_recognise("{\"schema\":1}", 12));
    assert_false(pcast_manifest_recognise("[1]", 3));
    const pcast_manifest manifest = suite();
    char *text = write_text(&manifest);
    for (size_t cut = 0; cut + 2 < strlen(text); cut++) {
        char *copy = malloc(cut > 0 ? cut : 1);
        memcpy(copy, text, cut);
        assert_int_equal(pcast_manifest_parse(copy, cut, "m", &read, &err), PCAST_ERR_INPUT);
        pcast_manifest_free(&read);
        free(copy);
    }
    free(text);
}

static void put(const char *path, size_t rank, const size_t *shape, const float *data)
{
    FILE *file = fopen(path, "wb");
    assert_int_equal(pcast_npy_write(file, PCAST_F32, rank, shape, data), PCAST_OK);
    fclose(file);
}

static void put_lengths(size_t a, size_t b, size_t count)
{
    FILE *file = fopen("n.npy", "wb");
    assert_int_equal(pcast_npy_write_counts(file, (size_t[]){a, b}, count), PCAST_OK);
    fclose(file);
}

static void assert_refused(const char *said)
{
    pcast_problem problem;
    pcast_error err = {""};
    const pcast_status status = pcast_manifest_load_problem(".", &probes[0], &problem, &err);
    pcast_problem_free(&problem);
    if (strstr(err.text, said) == NULL)
        fail_msg("said '%s', expected '%s'", err.text, said);
    assert_int_equal(status, PCAST_ERR_INPUT);
}

static void test_problem(void **state)
{
    (void)state;
    const size_t of_q[] = {2, 2, 1, 2}, of_k[] = {2, 1, 3, 2};
    float q[8] = {1, -448, 0x1p-9f, 0}, k[12] = {1}, v[12] = {2}, d[1] = {0.5f}, s[2] = {-3, 0};
    pcast_problem problem;
    pcast_error err = {""};
    k[10] = k[11] = v[11] = NAN;
    put("q.npy", 4, of_q, q);
    put("k.npy", 4, of_k, k);
    put("v.npy", 4, of_k, v);
    put("d.npy", 1, of_k + 1, d);
    put("s.npy", 1, of_q, s);
    put_lengths(3, 2, 2);
    if (pcast_manifest_load_problem(".", &probes[0], &problem, &err) != PCAST_OK)
        fail_msg("%s", err.text);
    assert_memory_equal(problem.q, q, sizeof q);
    assert_memory_equal(problem.k, k, sizeof k);
    assert_memory_equal(problem.v, v, sizeof v);
    assert_bits_f32(problem.q_descale[0], 0.5f);
    assert_null(problem.k_descale);
    assert_bits_f32(problem.sink[0], -3);
    assert_int_equal(problem.kv_lengths[1], 2);
    assert_int_equal(problem.mask, PCAST_MASK_CAUSAL);
    assert_int_equal(problem.window_left, 2);
    assert_int_equal(pcast_problem_rows(&problem), 4);
    pcast_problem_free(&problem);

    put_lengths(3, 3, 2);
    assert_refused("./k.npy: sequence 1, head 0, token 2, channel 0: nan is no number of E4M3");
    put_lengths(4, 2, 2);
    assert_refused("./n.npy: number 0, 4, is more than the 3 keys");
    put_lengths(3, 2, 1);
    assert_refused("./n.npy: 1 lengths for a batch of 2");
    put_lengths(3, 2, 2);
    q[7] = 1.0625f;
    put("q.npy", 4, of_q, q);
    assert_refused("./q.npy: sequence 1, head 1, token 0, channel 1: 1.0625 is no number of E4M3");
    q[7] = INFINITY;
    put("q.npy", 4, of_q, q);
    assert_refused("inf is no number of E4M3");
    put("q.npy", 3, of_q + 1, q);
    assert_refused("./q.npy: shape [2, 1, 2], but probe 'a' has q [2, 2, 1, 2]");
    q[7] = 0;
    put("q.npy", 4, of_q, q);
    d[0] = 0;
    put("d.npy", 1, of_k + 1, d);
    assert_refused("./d.npy: number 0, 0, is not positive and finite");
    d[0] = 1;
    put("d.npy", 1, of_k + 1, d);
    s[1] = INFINITY;
    put("s.npy", 1, of_q, s);
    assert_refused("./s.npy: number 1, inf, is not finite");
    unlink("v.npy");
    assert_refused("./v.npy: No such file or directory");
    unlink("q.npy");
    unlink("k.npy");
    unlink("d.npy");
    unlink("s.npy");
    unlink("n.npy");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_malformed),
        cmocka_unit_test(test_no_manifest),
        cmocka_unit_test(test_problem),
    };
    return cmocka_run_group_tests_name("manifest", tests, enter_folder, leave_folder);
}
