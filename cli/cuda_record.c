/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The file of `pcast cuda check --json`: who computed, and for each part what was found. */
#include "cuda.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static json_t *checked(json_t *json)
{
    if (json == NULL)
        exit(cli_fail(EXIT_OUTPUT, "pcast", "out of memory"));
    return json;
}

static void set(json_t *object, const char *key, json_t *value)
{
    json_object_set_new(object, key, checked(value));
}

static json_t *format_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

static json_t *format_text(const char *format, ...)
{
    char text[300];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return checked(json_string(text));
}

static json_t *date_text(void)
{
    char text[32];
    struct tm utc;
    const time_t now = time(NULL);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    return json_string(text);
}

/* FNV-1a of this program, which holds the models and the device code; 0 where it cannot be read. */
static uint64_t program_hash(void)
{
    uint64_t hash = UINT64_C(0xCBF29CE484222325);
    FILE *file = fopen("/proc/self/exe", "rb");
    int byte;
    if (file == NULL)
        return 0;
    while ((byte = getc(file)) != EOF)
        hash = (hash ^ (uint64_t)byte) * UINT64_C(0x100000001B3);
    fclose(file);
    return hash;
}

/* What has to be the same for parts to be kept. */
static json_t *identity(const pcast_cuda_info *info)
{
    char driver[16];
    json_t *json = checked(json_object());
    set(json, "pcast", json_string(PCAST_VERSION));
    set(json, "program", format_text("%016" PRIx64, program_hash()));
    set(json, "kernels", format_text("%016" PRIx64, pcast_cuda_module_hash()));
    set(json, "device", json_string(info->name));
    set(json, "compute_capability", format_text("%d.%d", info->compute_major, info->compute_minor));
    set(json, "driver", json_string(cuda_driver_text(info, driver)));
    return json;
}

/* Is every member of `one` in `other`, with the same value? */
static int is_within(json_t *one, const json_t *other)
{
    const char *key;
    json_t *value;
    json_object_foreach(one, key,
                        value) if (!json_equal(value, json_object_get(other, key))) return 0;
    return 1;
}

static int write_record(const cuda_record *record)
{
    cli_output output;
    pcast_error err;
    if (record->path == NULL)
        return EXIT_OK;
    if (cli_output_open(&output, record->path, &err) != PCAST_OK)
        return cli_fail(EXIT_OUTPUT, record->name, "--json: %s", err.text);
    json_dumpf(record->json, output.stream, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
    fputc('\n', output.stream);
    return cli_output_finish(&output, EXIT_OK, record->name);
}

/* Takes the parts of the file that is there. Returns an exit code. */
static int take_old(cuda_record *record, const pcast_cuda_info *info, int again)
{
    json_error_t error;
    json_t *old = json_load_file(record->path, 0, &error);
    json_t *parts = json_object_get(old, "parts"), *wanted = identity(info);
    const int same = is_within(wanted, old);
    int code = EXIT_OK;
    if (!json_is_object(parts))
        code = cli_fail(EXIT_INPUT, record->name, "--json: %s: is no result of this command",
                        record->path);
    else if (same)
        json_object_set(record->json, "parts", parts);
    else if (!again)
        code = cli_fail(EXIT_INPUT, record->name,
                        "--json: %s: is of another build, device or driver; --again begins it anew",
                        record->path);
    json_decref(wanted);
    json_decref(old);
    return code;
}

int cuda_record_open(cuda_record *record, const char *name, const char *path,
                     const pcast_cuda_info *info, int again)
{
    *record = (cuda_record){.name = name, .path = path, .json = identity(info)};
    set(record->json, "date", date_text());
    set(record->json, "parts", json_object());
    if (path != NULL && access(path, F_OK) == 0) {
        const int code = take_old(record, info, again);
        if (code != EXIT_OK)
            return code;
    }
    return write_record(record);
}

void cuda_record_close(cuda_record *record)
{
    json_decref(record->json);
}

static json_t *examples_of(const pcast_check_result *result)
{
    json_t *list = checked(json_array());
    for (int i = 0; i < result->example_count; i++) {
        const pcast_check_example *example = &result->examples[i];
        json_t *json = checked(json_object());
        set(json, "input", json_string(example->input));
        set(json, "device", format_text("0x%08" PRIX64, example->device));
        set(json, "model", format_text("0x%08" PRIX64, example->model));
        json_array_append_new(list, json);
    }
    return list;
}

int cuda_record_add(cuda_record *record, const pcast_check_part *part, int quick,
                    const pcast_check_result *result, double seconds)
{
    json_t *json = checked(json_object()), *counts = checked(json_object());
    for (int i = 0; i < result->count_count; i++)
        set(counts, result->counts[i].name, json_integer((json_int_t)result->counts[i].value));
    set(json, "about", json_string(part->about));
    set(json, "verdict", json_string(result->different > 0 ? "contradicted" : "confirmed"));
    set(json, "quick", json_boolean(quick));
    set(json, "compared", json_integer((json_int_t)result->compared));
    set(json, "different", json_integer((json_int_t)result->different));
    set(json, "counts", counts);
    set(json, "examples", examples_of(result));
    set(json, "seconds", json_real(seconds));
    set(json, "date", date_text());
    json_object_set_new(json_object_get(record->json, "parts"), part->name, json);
    return write_record(record);
}

int cuda_record_find(const cuda_record *record, const pcast_check_part *part, int quick,
                     pcast_check_result *result, double *seconds)
{
    const json_t *json = json_object_get(json_object_get(record->json, "parts"), part->name);
    const json_t *example = json_array_get(json_object_get(json, "examples"), 0);
    if (!json_is_integer(json_object_get(json, "compared")) ||
        (json_is_true(json_object_get(json, "quick")) && !quick))
        return 0;
    result->compared = (uint64_t)json_integer_value(json_object_get(json, "compared"));
    result->different = (uint64_t)json_integer_value(json_object_get(json, "different"));
    *seconds = json_number_value(json_object_get(json, "seconds"));
    if (json_is_string(json_object_get(example, "input")) &&
        json_is_string(json_object_get(example, "device")) &&
        json_is_string(json_object_get(example, "model"))) {
        char *input = pcast_check_add_example(
            result, strtoull(json_string_value(json_object_get(example, "device")), NULL, 0),
            strtoull(json_string_value(json_object_get(example, "model")), NULL, 0));
        snprintf(input, sizeof result->examples[0].input, "%s",
                 json_string_value(json_object_get(example, "input")));
    }
    return 1;
}
