/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fuzz target: any bytes as a file of records, as they are and with every check made to fit, as
 * else no mutation would come past the first. A header that is taken says which sweep to run, and
 * that sweep writes a header of the same sweep. */
#include "pcast/records.h"

#include "fuzz.h"
#include "records.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CONFIGS = 1 << 16 };

/* The header that a sweep with these options writes, as info. */
static records_info written(const sweep_options *options, pcast_error *err)
{
    char *argv[] = {"pcast sweep", "--delta", "1", "--trials=3", "-o", "x.csv", NULL};
    char *header = records_header(options, 6, argv);
    const char *line = strchr(header, '\n') + 1;
    records_info info;
    if (records_info_read(line, strlen(line), &info, err) != PCAST_OK)
        abort();
    free(header);
    return info;
}

/* A sweep that was understood is written as one that is understood to be the same. */
static void check_sweep(const sweep_options *options)
{
    pcast_error err = {""};
    sweep_options again = {.name = "fuzz"};
    records_info first = written(options, &err);
    if (records_options(&first, &again, &err) != PCAST_OK)
        abort();
    records_info second = written(&again, &err);
    if (!records_same_sweep(&first, &second, "the second", &err) || first.first != second.first ||
        first.trials != second.trials)
        abort();
    records_info_free(&first);
    records_info_free(&second);
    grid_free(&again.grid);
}

static void read_all(records_reader *reader, const sweep_options *options, pcast_error *err)
{
    const records_counts counts = records_counts_of(options);
    const size_t configs = counts.kernels * counts.deltas;
    if (configs > MOST_CONFIGS)
        return;
    pcast_loss *losses = calloc(configs, sizeof *losses);
    const uint64_t all = counts.shapes * reader->info.trials;
    uint64_t done = 0;
    while (done < all && records_next(reader, &counts, losses, err) == PCAST_OK)
        done++;
    if ((done < all || records_end(reader, &counts, err) != PCAST_OK) && err->text[0] == '\0')
        abort();
    free(losses);
}

static void read_file(const char *text, size_t size)
{
    records_reader reader;
    sweep_options options = {.name = "fuzz"};
    pcast_error err = {""};
    FILE *stream = fmemopen((void *)text, size > 0 ? size : 1, "r");
    if (records_start(&reader, stream, "fuzz", &err) != PCAST_OK) {
        if (err.text[0] == '\0')
            abort();
        return;
    }
    if (records_options(&reader.info, &options, &err) == PCAST_OK) {
        check_sweep(&options);
        read_all(&reader, &options, &err);
    } else if (err.text[0] == '\0') {
        abort();
    }
    records_close(&reader);
    grid_free(&options.grid);
}

/* The second line's version, which the corpus calls VERSION, becomes this one's, and all checks
 * fit; `out` has room. */
static size_t repair(const char *text, size_t size, char *out)
{
    const char *const end = text + size;
    const char *first = memchr(text, '\n', size);
    const char *header = first != NULL ? first + 1 : end;
    const char *stop = memchr(header, '\n', (size_t)(end - header));
    stop = stop != NULL ? stop : end;
    const char *version = memmem(header, (size_t)(stop - header), "VERSION", 7);
    char *line = malloc(size + sizeof PCAST_VERSION);
    const size_t before = version != NULL ? (size_t)(version - header) : (size_t)(stop - header);
    memcpy(line, header, before);
    size_t length = before;
    if (version != NULL) {
        memcpy(line + length, PCAST_VERSION, sizeof PCAST_VERSION - 1);
        length += sizeof PCAST_VERSION - 1;
        memcpy(line + length, version + 7, (size_t)(stop - version) - 7);
        length += (size_t)(stop - version) - 7;
    }
    size_t at =
        (size_t)sprintf(out, "pcast-records 1 %08" PRIx32 "\n", pcast_record_check(line, length));
    memcpy(out + at, line, length);
    at += length;
    free(line);
    for (const char *next = stop; next < end;) { /* at a newline */
        const char *start = next + 1;
        const char *newline = memchr(start, '\n', (size_t)(end - start));
        next = newline != NULL ? newline : end;
        const size_t all = (size_t)(next - start);
        out[at++] = '\n';
        memcpy(out + at, start, all);
        if (all > 9) {
            char check[9];
            sprintf(check, "%08" PRIx32, pcast_record_check(start, all - 9));
            memcpy(out + at + all - 8, check, 8);
        }
        at += all;
    }
    return at;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    FILE *real = stderr;
    stderr = fopen("/dev/null", "w"); /* where the command line says what is wrong */
    read_file(text, size);
    char *repaired = malloc(size + 64 + sizeof PCAST_VERSION);
    const size_t length = repair(text, size, repaired);
    read_file(repaired, length);
    free(repaired);
    fclose(stderr);
    stderr = real;
    return 0;
}
