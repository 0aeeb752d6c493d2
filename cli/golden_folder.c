/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The folder of a golden suite: when it may be written, and its files that are the same in each. */
#include "golden.h"

#include "tensor/file.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const run_numpy[] = {
#include "golden_run_numpy.inc"
    NULL};

static const char *const run_torch[] = {
#include "golden_run_torch.inc"
    NULL};

static pcast_status fail(pcast_error *err, const char *path, const char *what)
{
    snprintf(err->text, sizeof err->text, "%s: %s", path, what);
    return PCAST_ERR_OUTPUT;
}

static char *path_in(const char *folder, const char *name)
{
    const size_t size = strlen(folder) + strlen(name) + 2;
    char *path = cli_alloc(size, 1);
    snprintf(path, size, "%s/%s", folder, name);
    return path;
}

/* What a suite that was not finished may hold. */
static int is_of_suite(const char *name)
{
    static const char *const names[] = {".",        "..",           "probes",
                                        "expected", "run_numpy.py", "run_torch.py"};
    size_t i = 0;
    while (i < sizeof names / sizeof names[0] && strcmp(names[i], name) != 0)
        i++;
    return i < sizeof names / sizeof names[0];
}

static pcast_status check_unfinished(const char *folder, pcast_error *err)
{
    DIR *directory = opendir(folder);
    if (directory == NULL)
        return fail(err, folder, strerror(errno));
    const struct dirent *entry = readdir(directory);
    while (entry != NULL && is_of_suite(entry->d_name))
        entry = readdir(directory);
    if (entry != NULL)
        snprintf(err->text, sizeof err->text,
                 "%s: is neither empty nor a golden suite: it holds '%s'", folder, entry->d_name);
    closedir(directory);
    return entry == NULL ? PCAST_OK : PCAST_ERR_OUTPUT;
}

/* Removes the manifest of an older suite. */
static pcast_status remove_manifest(const char *folder, const char *manifest, pcast_error *err)
{
    pcast_file *file;
    pcast_error reason;
    if (pcast_file_open(manifest, &file, &reason) != PCAST_OK)
        return fail(err, folder, "is no golden suite: its manifest.json cannot be read");
    const int ours = pcast_manifest_recognise((const char *)file->bytes, file->size);
    pcast_file_close(file);
    if (!ours)
        return fail(err, folder, "is no golden suite: its manifest.json is another program's");
    return unlink(manifest) == 0 ? PCAST_OK : fail(err, manifest, strerror(errno));
}

static pcast_status make_folder(const char *folder, const char *name, pcast_error *err)
{
    char *path = path_in(folder, name);
    const int made = mkdir(path, 0777) == 0 || errno == EEXIST;
    const pcast_status status = made ? PCAST_OK : fail(err, path, strerror(errno));
    free(path);
    return status;
}

pcast_status golden_folder_prepare(const char *folder, pcast_error *err)
{
    struct stat info;
    pcast_status status = PCAST_OK;
    if (mkdir(folder, 0777) != 0) {
        if (errno != EEXIST)
            return fail(err, folder, strerror(errno));
        if (stat(folder, &info) != 0 || !S_ISDIR(info.st_mode))
            return fail(err, folder, "is no folder");
        char *manifest = path_in(folder, "manifest.json");
        status = lstat(manifest, &info) == 0 ? remove_manifest(folder, manifest, err)
                                             : check_unfinished(folder, err);
        free(manifest);
    }
    if (status == PCAST_OK)
        status = make_folder(folder, "probes", err);
    return status == PCAST_OK ? make_folder(folder, "expected", err) : status;
}

pcast_status golden_folder_open(const char *folder, const char *path, cli_output *output,
                                pcast_error *err)
{
    char *whole = path_in(folder, path);
    const pcast_status status = cli_output_open(output, whole, err);
    free(whole);
    return status;
}

static pcast_status write_lines(const char *folder, const char *path, const char *const *lines,
                                pcast_error *err)
{
    cli_output output;
    const pcast_status status = golden_folder_open(folder, path, &output, err);
    if (status != PCAST_OK)
        return status;
    for (; *lines != NULL; lines++)
        fputs(*lines, output.stream);
    return cli_output_commit(&output, err);
}

pcast_status golden_write_runners(const char *folder, pcast_error *err)
{
    const pcast_status status = write_lines(folder, "run_numpy.py", run_numpy, err);
    return status == PCAST_OK ? write_lines(folder, "run_torch.py", run_torch, err) : status;
}
