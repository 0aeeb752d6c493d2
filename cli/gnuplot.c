/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Running gnuplot. It writes into an unnamed temporary file, since it does not tell when a write
 * fails; what comes out is checked for being whole and then copied. */
#include "gnuplot.h"

#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* In the child: never returns. */
static void become_gnuplot(FILE *script, FILE *picture)
{
    const int nowhere = open("/dev/null", O_WRONLY);
    if (dup2(fileno(script), STDIN_FILENO) >= 0 && dup2(fileno(picture), STDOUT_FILENO) >= 0 &&
        dup2(nowhere, STDERR_FILENO) >= 0)
        execlp("gnuplot", "gnuplot", "-d", "-", (char *)NULL); /* -d: no settings of the user's */
    _exit(errno == ENOENT ? 127 : 126);
}

static int wait_for(const char *name, pid_t child)
{
    int state;
    while (waitpid(child, &state, 0) < 0)
        if (errno != EINTR)
            return cli_fail(EXIT_OUTPUT, name, "gnuplot: %s", strerror(errno));
    if (WIFEXITED(state) && WEXITSTATUS(state) == 127)
        return cli_fail(EXIT_UNAVAILABLE, name,
                        "gnuplot is not installed (Debian package gnuplot-nox)");
    if (!WIFEXITED(state) || WEXITSTATUS(state) != 0)
        return cli_fail(EXIT_OUTPUT, name, "gnuplot failed; --script shows what it was given");
    return EXIT_OK;
}

/* Does the picture end as an SVG or a PNG does? */
static int is_whole(FILE *picture, long size)
{
    char end[16] = {0};
    const long length = size < 15 ? size : 15;
    if (fseek(picture, -length, SEEK_END) != 0 ||
        fread(end, 1, (size_t)length, picture) != (size_t)length)
        return 0;
    for (long i = 0; i + 4 <= length; i++)
        if (memcmp(end + i, "IEND", 4) == 0 || memcmp(end + i, "svg>", 4) == 0)
            return 1;
    return 0;
}

static int copy(const char *name, FILE *from, FILE *to)
{
    char buffer[1 << 14];
    size_t length;
    fseek(from, 0, SEEK_END);
    const long size = ftell(from);
    if (size <= 0 || !is_whole(from, size))
        return cli_fail(EXIT_OUTPUT, name,
                        "gnuplot left no whole picture; is the temporary folder full?");
    rewind(from);
    while ((length = fread(buffer, 1, sizeof buffer, from)) > 0)
        fwrite(buffer, 1, length, to); /* the commit of the output reports failed writes */
    return EXIT_OK;
}

int gnuplot_run(const char *name, FILE *script, FILE *picture)
{
    FILE *whole = tmpfile();
    if (whole == NULL || fflush(script) != 0)
        return cli_fail(EXIT_OUTPUT, name, "temporary file: %s", strerror(errno));
    rewind(script);
    fflush(picture);
    const pid_t child = fork();
    int code;
    if (child < 0)
        code = cli_fail(EXIT_OUTPUT, name, "cannot start gnuplot: %s", strerror(errno));
    else if (child == 0)
        become_gnuplot(script, whole);
    else if ((code = wait_for(name, child)) == EXIT_OK)
        code = copy(name, whole, picture);
    fclose(whole);
    return code;
}
