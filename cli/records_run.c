/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Running a shard: what FILE and FILE.part hold already is kept, if it is of this shard; the rest
 * is run and written a trial at a time, so that a run that is killed loses no more than the trials
 * that were being computed. */
#include "pcast/records.h"

#include "records.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct shard_run {
    const sweep_options *options;
    records_counts counts;
    const char *path; /* FILE */
    char *part;       /* FILE.part */
    char *header;
    records_info info; /* of the header */
    FILE *stream;      /* of FILE.part */
    uint64_t done;     /* whole trials in it, of all shapes together */
    /* While running. */
    size_t shape;
    uint64_t skipped; /* trials of the shape that were there before */
} shard_run;

static int output_failed(const shard_run *self, const char *path)
{
    return cli_fail(EXIT_OUTPUT, self->options->name, "%s: %s", path, strerror(errno));
}

/* EXIT_OK if what was read is of this shard. */
static int check_same(const shard_run *self, const records_reader *reader)
{
    pcast_error err;
    if (!records_same_sweep(&reader->info, &self->info, "this sweep", &err))
        return cli_fail(EXIT_USAGE, self->options->name, "--records: %s is of another sweep: %s",
                        reader->path, err.text);
    if (reader->info.first != self->info.first || reader->info.trials != self->info.trials)
        return cli_fail(
            EXIT_USAGE, self->options->name,
            "--records: %s is of trials %" PRIu64 " to %" PRIu64 ", not %" PRIu64 " to %" PRIu64,
            reader->path, reader->info.first, reader->info.first + reader->info.trials - 1,
            self->info.first, self->info.first + self->info.trials - 1);
    return EXIT_OK;
}

/* Reads FILE, which is there, to its end. */
static int check_finished(const shard_run *self)
{
    const uint64_t all = self->counts.shapes * self->info.trials;
    pcast_loss *losses = cli_alloc(self->counts.kernels * self->counts.deltas, sizeof *losses);
    pcast_error err;
    records_reader reader;
    int code = EXIT_OK;
    pcast_status status = records_open(&reader, self->path, &err);
    if (status == PCAST_OK)
        code = check_same(self, &reader);
    for (uint64_t i = 0; code == EXIT_OK && status == PCAST_OK && i < all; i++)
        status = records_next(&reader, &self->counts, losses, &err);
    if (code == EXIT_OK && status == PCAST_OK)
        status = records_end(&reader, &self->counts, &err);
    if (status != PCAST_OK)
        code = cli_fail(EXIT_INPUT, self->options->name, "--records: %s", err.text);
    if (code == EXIT_OK)
        fprintf(stderr, "%s: %s is finished, nothing to run\n", self->options->name, self->path);
    records_close(&reader);
    free(losses);
    return code;
}

/* Opens FILE.part for this process alone. */
static int open_part(shard_run *self)
{
    struct stat own, named;
    const int descriptor = open(self->part, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor < 0 || (self->stream = fdopen(descriptor, "r+")) == NULL)
        return output_failed(self, self->part);
    /* Another process may have had it until now, and have renamed it in between. */
    if (flock(descriptor, LOCK_EX | LOCK_NB) != 0 || fstat(descriptor, &own) != 0 ||
        stat(self->part, &named) != 0 || own.st_ino != named.st_ino || own.st_dev != named.st_dev)
        return cli_fail(EXIT_OUTPUT, self->options->name,
                        "--records: %s is being written by another process", self->part);
    return S_ISREG(own.st_mode) ? EXIT_OK
                                : cli_fail(EXIT_USAGE, self->options->name,
                                           "--records: %s is no regular file", self->part);
}

/* Does the file hold no more than a beginning of the header? */
static int is_fresh(const shard_run *self)
{
    const size_t length = strlen(self->header);
    char *start = cli_alloc(length + 1, 1);
    const size_t got = fread(start, 1, length, self->stream);
    const int fresh = got < length && memcmp(start, self->header, got) == 0;
    free(start);
    rewind(self->stream);
    return fresh;
}

/* Counts whole trials; `keep` is where the last of them ends. */
static int read_part(shard_run *self, long long *keep)
{
    const uint64_t all = self->counts.shapes * self->info.trials;
    pcast_loss *losses = cli_alloc(self->counts.kernels * self->counts.deltas, sizeof *losses);
    pcast_error err;
    records_reader reader;
    int code = EXIT_OK;
    FILE *stream = fdopen(dup(fileno(self->stream)), "r");
    if (stream == NULL)
        code = output_failed(self, self->part);
    else if (records_start(&reader, stream, self->part, &err) != PCAST_OK)
        code = cli_fail(EXIT_INPUT, self->options->name, "--records: %s", err.text);
    if (code != EXIT_OK) {
        free(losses);
        return code;
    }
    code = check_same(self, &reader);
    *keep = reader.after;
    while (code == EXIT_OK && self->done < all &&
           records_next(&reader, &self->counts, losses, &err) == PCAST_OK) {
        self->done++;
        *keep = reader.after;
    }
    records_close(&reader);
    free(losses);
    return code;
}

/* Brings FILE.part to where writing goes on: after the header or after the last whole trial. */
static int prepare_part(shard_run *self)
{
    long long keep = 0;
    const int fresh = is_fresh(self);
    const int code = fresh ? EXIT_OK : read_part(self, &keep);
    if (code != EXIT_OK)
        return code;
    if (ftruncate(fileno(self->stream), (off_t)keep) != 0 ||
        fseeko(self->stream, (off_t)keep, SEEK_SET) != 0 ||
        (fresh && fputs(self->header, self->stream) == EOF) || fflush(self->stream) != 0)
        return output_failed(self, self->part);
    if (!fresh)
        fprintf(stderr, "%s: %s goes on after %" PRIu64 " of %" PRIu64 " trials\n",
                self->options->name, self->part, self->done,
                self->counts.shapes * self->info.trials);
    return EXIT_OK;
}

static pcast_status write_trial(void *context, size_t row, const pcast_loss *losses)
{
    const shard_run *self = context;
    char line[PCAST_RECORD_MAX];
    for (size_t i = 0; i < self->counts.kernels * self->counts.deltas; i++) {
        const pcast_record record = {
            .shape = self->shape,
            .trial = self->info.first + self->skipped + row,
            .kernel = i / self->counts.deltas,
            .delta = i % self->counts.deltas,
            .loss = losses[i],
        };
        const size_t length = pcast_record_write(&record, line);
        if (fwrite(line, 1, length, self->stream) != length)
            return PCAST_ERR_OUTPUT;
    }
    return fflush(self->stream) == 0 ? PCAST_OK : PCAST_ERR_OUTPUT;
}

/* The trials that are missing. */
static int run_trials(shard_run *self)
{
    const uint64_t trials = self->info.trials;
    pcast_error err = {""};
    pcast_kernel *kernels;
    cli_progress progress;
    pcast_run run = sweep_run(self->options, &kernels, &progress);
    pcast_summary *summaries =
        cli_alloc(self->counts.kernels * self->counts.deltas, sizeof *summaries);
    pcast_status status = PCAST_OK;
    run.each_row = write_trial;
    run.row_context = self;
    cli_progress_start(&progress, "trials", (size_t)(self->counts.shapes * trials - self->done));
    self->skipped = self->done % trials;
    for (self->shape = (size_t)(self->done / trials);
         status == PCAST_OK && self->shape < self->counts.shapes; self->shape++) {
        pcast_synthetic experiment = sweep_experiment(self->options, self->shape);
        experiment.first_trial += (size_t)self->skipped;
        experiment.trials -= (size_t)self->skipped;
        status = pcast_synthetic_run(&experiment, &run, summaries, &err);
        progress.done_before += experiment.trials;
        self->skipped = 0;
    }
    const int reason = errno;
    cli_progress_end(&progress);
    free(summaries);
    free(kernels);
    errno = reason;
    if (status == PCAST_ERR_OUTPUT)
        return output_failed(self, self->part);
    return status == PCAST_OK
               ? EXIT_OK
               : cli_fail(cli_exit_code(status), self->options->name, "%s", err.text);
}

/* Writes the end and gives FILE.part its name. */
static int finish(shard_run *self)
{
    fprintf(self->stream, "end %" PRIu64 "\n",
            self->counts.shapes * self->counts.kernels * self->counts.deltas * self->info.trials);
    if (ferror(self->stream) || fflush(self->stream) != 0 || fsync(fileno(self->stream)) != 0)
        return output_failed(self, self->part);
    return rename(self->part, self->path) == 0 ? EXIT_OK : output_failed(self, self->path);
}

int records_run(const sweep_options *options, int argc, char **argv)
{
    shard_run self = {
        .options = options,
        .counts = records_counts_of(options),
        .path = options->records,
        .part = records_part_path(options->records),
        .header = records_header(options, argc, argv),
    };
    pcast_error err;
    int code = EXIT_OK;
    signal(SIGXFSZ, SIG_IGN); /* a file that grows too large is a failed write */
    const char *line = strchr(self.header, '\n') + 1;
    if (records_info_read(line, strlen(line), &self.info, &err) != PCAST_OK) {
        code = cli_fail(EXIT_USAGE, options->name, "%s", err.text);
    } else if (access(self.path, F_OK) == 0) {
        code = check_finished(&self);
    } else {
        code = open_part(&self);
        if (code == EXIT_OK)
            code = prepare_part(&self);
        if (code == EXIT_OK)
            code = run_trials(&self);
        if (code == EXIT_OK)
            code = finish(&self);
    }
    if (self.stream != NULL)
        fclose(self.stream);
    free(self.part);
    free(self.header);
    records_info_free(&self.info);
    return code;
}
