/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Output files that are either complete or absent. */
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Names of unfinished files, for the signal handler. A process writes at most a few at once. */
enum { UNFINISHED_MAX = 16 }; /* more than any command opens */
static char *volatile unfinished[UNFINISHED_MAX];

static void remove_unfinished(int signal_number)
{
    for (int i = 0; i < UNFINISHED_MAX; i++)
        if (unfinished[i] != NULL)
            unlink(unfinished[i]);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void remember(char *path)
{
    static const int fatal[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGQUIT, SIGALRM, SIGXCPU};
    signal(SIGXFSZ, SIG_IGN); /* a file that grows too large is a failed write */
    for (size_t i = 0; i < sizeof fatal / sizeof fatal[0]; i++) {
        struct sigaction action;
        if (sigaction(fatal[i], NULL, &action) == 0 && action.sa_handler == SIG_DFL)
            signal(fatal[i], remove_unfinished);
    }
    for (int i = 0; i < UNFINISHED_MAX; i++)
        if (unfinished[i] == NULL) {
            unfinished[i] = path;
            return;
        }
}

static void forget(const char *path)
{
    for (int i = 0; i < UNFINISHED_MAX; i++)
        if (unfinished[i] == path)
            unfinished[i] = NULL;
}

static pcast_status fail(pcast_error *err, const char *path, const char *what)
{
    snprintf(err->text, sizeof err->text, "%s: %s", path, what);
    return PCAST_ERR_OUTPUT;
}

static void release(cli_output *output)
{
    free(output->path);
    free(output->temporary);
    free(output->held);
    *output = (cli_output){0};
}

/* Creates the temporary file beside output->path, with the permissions a new file or the old one
 * has. */
static pcast_status open_beside(cli_output *output, mode_t mode, pcast_error *err)
{
    const size_t length = strlen(output->path) + sizeof ".XXXXXX";
    output->temporary = cli_alloc(length, 1);
    snprintf(output->temporary, length, "%s.XXXXXX", output->path);
    const int descriptor = mkstemp(output->temporary);
    if (descriptor < 0) {
        const int reason = errno;
        free(output->temporary);
        output->temporary = NULL;
        return fail(err, output->path, strerror(reason));
    }
    remember(output->temporary);
    fchmod(descriptor, mode);
    output->stream = fdopen(descriptor, "w");
    return output->stream != NULL ? PCAST_OK : fail(err, output->path, strerror(errno));
}

static int is_stdout(const char *path)
{
    return path == NULL || strcmp(path, "-") == 0;
}

pcast_status cli_output_open_filter(cli_output *output, const char *path, pcast_error *err)
{
    if (!is_stdout(path))
        return cli_output_open(output, path, err);
    *output = (cli_output){.stream = stdout};
    return PCAST_OK;
}

pcast_status cli_output_open(cli_output *output, const char *path, pcast_error *err)
{
    *output = (cli_output){0};
    if (is_stdout(path)) {
        output->stream = open_memstream(&output->held, &output->held_size);
        return output->stream != NULL ? PCAST_OK : fail(err, "standard output", strerror(errno));
    }
    struct stat info;
    const int exists = stat(path, &info) == 0;
    const int regular = exists && S_ISREG(info.st_mode);
    pcast_status status;
    if (*path == '\0')
        return fail(err, "''", "is no file name");
    if (exists && S_ISDIR(info.st_mode))
        return fail(err, path, "is a directory");
    if (!exists && lstat(path, &info) == 0)
        return fail(err, path, "is a link to nothing");
    output->path = regular ? realpath(path, NULL) : strdup(path);
    if (output->path == NULL)
        return fail(err, path, strerror(errno));
    if (exists && !regular) {
        output->stream = fopen(path, "w");
        status = output->stream != NULL ? PCAST_OK : fail(err, path, strerror(errno));
    } else if (exists && access(path, W_OK) != 0) {
        status = fail(err, path, strerror(errno));
    } else {
        const mode_t mask = umask(0);
        umask(mask);
        status = open_beside(output, exists ? info.st_mode & 07777 : 0666 & ~mask, err);
    }
    if (status != PCAST_OK)
        cli_output_abandon(output);
    return status;
}

/* Writes what was held back, if anything, and flushes stdout. */
static pcast_status commit_stdout(cli_output *output, pcast_error *err)
{
    if (output->held_size > 0)
        fwrite(output->held, 1, output->held_size, stdout);
    const int broken = fflush(stdout) != 0 || ferror(stdout);
    const pcast_status status = broken ? fail(err, "standard output", strerror(errno)) : PCAST_OK;
    release(output);
    return status;
}

/* Flushes and closes what was written, after which a file only needs its name. */
static pcast_status close_stream(cli_output *output, pcast_error *err)
{
    if (output->stream == NULL || output->stream == stdout)
        return PCAST_OK;
    const int broken = ferror(output->stream) || fflush(output->stream) != 0;
    const int closed = fclose(output->stream);
    output->stream = NULL;
    if (!broken && closed == 0)
        return PCAST_OK;
    return fail(err, output->path != NULL ? output->path : "standard output", strerror(errno));
}

pcast_status cli_output_commit(cli_output *output, pcast_error *err)
{
    pcast_status status = close_stream(output, err);
    if (status == PCAST_OK && output->path == NULL)
        return commit_stdout(output, err);
    if (status == PCAST_OK && output->temporary != NULL &&
        rename(output->temporary, output->path) != 0)
        status = fail(err, output->path, strerror(errno));
    if (status != PCAST_OK) {
        cli_output_abandon(output);
        return status;
    }
    if (output->temporary != NULL)
        forget(output->temporary);
    release(output);
    return PCAST_OK;
}

void cli_output_abandon(cli_output *output)
{
    if (output->stream != NULL && output->stream != stdout)
        fclose(output->stream);
    if (output->temporary != NULL) {
        unlink(output->temporary);
        forget(output->temporary);
    }
    release(output);
}

int cli_output_finish(cli_output *output, int code, const char *name)
{
    pcast_error err;
    if (code != EXIT_OK) {
        cli_output_abandon(output);
        return code;
    }
    if (cli_output_commit(output, &err) != PCAST_OK)
        return cli_fail(EXIT_OUTPUT, name, "%s", err.text);
    return EXIT_OK;
}

int cli_outputs_finish(cli_output *outputs, size_t count, int code, const char *name)
{
    pcast_error err;
    for (size_t i = 0; code == EXIT_OK && i < count; i++)
        if (close_stream(&outputs[i], &err) != PCAST_OK)
            code = cli_fail(EXIT_OUTPUT, name, "%s", err.text);
    for (int to_stdout = 1; to_stdout >= 0; to_stdout--) /* what cannot be undone goes first */
        for (size_t i = 0; i < count; i++)
            if ((outputs[i].path == NULL) == to_stdout)
                code = cli_output_finish(&outputs[i], code, name);
    return code;
}

/* Name within the folder, and which folder that is. */
static const char *split_path(const char *path, struct stat *folder)
{
    const char *slash = strrchr(path, '/');
    char *name = strdup(slash != NULL ? path : ".");
    if (slash != NULL && name != NULL)
        name[slash - path + 1] = '\0';
    if (name == NULL || stat(name, folder) != 0)
        *folder = (struct stat){0};
    free(name);
    return slash != NULL ? slash + 1 : path;
}

static int same_file(const char *a, const char *b)
{
    struct stat folder_a, folder_b;
    const char *name_a = split_path(a, &folder_a), *name_b = split_path(b, &folder_b);
    return strcmp(name_a, name_b) == 0 && folder_a.st_dev == folder_b.st_dev &&
           folder_a.st_ino == folder_b.st_ino;
}

int cli_outputs_repeat(const cli_output *outputs, size_t count)
{
    const cli_output *last = &outputs[count - 1];
    for (size_t i = 0; i + 1 < count; i++) {
        const cli_output *other = &outputs[i];
        if (last->path == NULL && other->path == NULL)
            return 1;
        if (last->temporary != NULL && other->temporary != NULL &&
            same_file(last->path, other->path))
            return 1;
    }
    return 0;
}
