/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From the records of all trials to the rows of the sweep's CSV: a shape at a time, its trials in
 * their order from one file after the other, so that memory is that of one trial. */
#include "records.h"

#include <stdlib.h>
#include <string.h>

/* Adds a shard's trials of the shape; the file is open for that long only, as there may be more
 * files than a process can have open. */
static pcast_status add_shard(const records_counts *counts, size_t shape, records_shard *shard,
                              pcast_loss *losses, pcast_tally *tallies, pcast_error *err)
{
    records_reader reader;
    pcast_status status = records_open(&reader, shard->path, err);
    if (status != PCAST_OK)
        return status;
    if (reader.info.first != shard->first || reader.info.trials != shard->trials) {
        snprintf(err->text, sizeof err->text, "%s: has changed while it was read", shard->path);
        status = PCAST_ERR_INPUT;
    }
    if (status == PCAST_OK && shape > 0)
        status = records_go_on(&reader, shape, shard->at, shard->number, err);
    for (uint64_t t = 0; status == PCAST_OK && t < shard->trials; t++) {
        status = records_next(&reader, counts, losses, err);
        for (size_t i = 0; status == PCAST_OK && i < counts->kernels * counts->deltas; i++)
            pcast_tally_add(&tallies[i], &losses[i]);
    }
    shard->at = reader.after;
    shard->number = reader.number;
    if (status == PCAST_OK && shape + 1 == counts->shapes)
        status = records_end(&reader, counts, err);
    records_close(&reader);
    return status;
}

int records_reduce(const sweep_options *options, records_shard *shards, size_t count,
                   csv_writer *csv)
{
    const records_counts counts = records_counts_of(options);
    const size_t configs = counts.kernels * counts.deltas;
    pcast_tally *tallies = cli_alloc(configs, sizeof *tallies);
    pcast_loss *losses = cli_alloc(configs, sizeof *losses);
    pcast_summary *summaries = cli_alloc(configs, sizeof *summaries);
    pcast_error err;
    pcast_status status = PCAST_OK;
    sweep_write_header(csv, options);
    for (size_t shape = 0; status == PCAST_OK && shape < counts.shapes; shape++) {
        const pcast_synthetic experiment = sweep_experiment(options, shape);
        memset(tallies, 0, configs * sizeof *tallies);
        for (size_t i = 0; status == PCAST_OK && i < count; i++)
            status = add_shard(&counts, shape, &shards[i], losses, tallies, &err);
        for (size_t i = 0; status == PCAST_OK && i < configs; i++)
            summaries[i] = pcast_tally_summary(&tallies[i]);
        if (status == PCAST_OK)
            sweep_write_rows(options, csv, &experiment, summaries);
    }
    free(tallies);
    free(losses);
    free(summaries);
    return status == PCAST_OK ? EXIT_OK
                              : cli_fail(cli_exit_code(status), options->name, "%s", err.text);
}
