/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Running gnuplot. It writes into an unnamed temporary file, since it does not tell when a write
 * fails; what comes out is checked for being whole and then copied. Also what scripts share. */
#include "gnuplot.h"

#include "cli.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
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
        return cli_fail(EXIT_OUTPUT, name, "gnuplot failed");
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

/* Runs the script, its picture going to whole. */
static int run(const char *name, FILE *script, FILE *whole)
{
    rewind(script);
    const pid_t child = fork();
    if (child < 0)
        return cli_fail(EXIT_OUTPUT, name, "cannot start gnuplot: %s", strerror(errno));
    if (child == 0)
        become_gnuplot(script, whole);
    return wait_for(name, child);
}

int gnuplot_draw(const char *name, FILE *picture, gnuplot_script *put, const void *data)
{
    FILE *script = tmpfile(), *whole = tmpfile();
    int code = EXIT_OK;
    if (script != NULL && whole != NULL && put != NULL)
        put(script, data);
    if (script == NULL || whole == NULL || fflush(script) != 0 || ferror(script))
        code = cli_fail(EXIT_OUTPUT, name, "temporary file: %s", strerror(errno));
    if (picture != NULL)
        fflush(picture);
    if (code == EXIT_OK)
        code = run(name, script, whole);
    if (code == EXIT_OK && picture != NULL)
        code = copy(name, whole, picture);
    if (script != NULL)
        fclose(script);
    if (whole != NULL)
        fclose(whole);
    return code;
}

int gnuplot_check(const char *name)
{
    return gnuplot_draw(name, NULL, NULL, NULL);
}

void gnuplot_string(FILE *script, const char *text)
{
    fputc('\'', script);
    for (; *text != '\0'; text++)
        fputc(isalnum((unsigned char)*text) || strchr(" .,=:_+-;()", *text) != NULL ? *text : '?',
              script);
    fputc('\'', script);
}

const char *gnuplot_color(size_t i, char text[8])
{
    static const char *const palette[] = {"#D55E00", "#0072B2", "#009E73", "#E69F00",
                                          "#56B4E9", "#CC79A7", "#000000", "#7F7F7F"};
    const size_t known = sizeof palette / sizeof palette[0];
    if (i < known)
        return palette[i];
    const double hue = fmod((double)(i - known) * 0.618034, 1) * 6; /* HSV with S = 0.8, V = 0.75 */
    const double channel[3] = {fabs(hue - 3) - 1, 2 - fabs(hue - 2), 2 - fabs(hue - 4)};
    int rgb[3];
    for (int c = 0; c < 3; c++)
        rgb[c] = (int)(255 * 0.75 * (1 - 0.8 * (1 - fmin(fmax(channel[c], 0), 1))));
    snprintf(text, 8, "#%02X%02X%02X", rgb[0] & 255, rgb[1] & 255, rgb[2] & 255);
    return text;
}

void gnuplot_axes(FILE *script, const char *key, const char *x, const char *y)
{
    fprintf(script,
            "set encoding utf8\nset grid lc rgb '#DDDDDD'\nset key %s noenhanced\nset tics "
            "nomirror\nset border 3\nset xlabel '%s' noenhanced\nset ylabel '%s' noenhanced\n",
            key, x, y);
}

double gnuplot_margin(double low, double high)
{
    return high > low ? 0.03 * (high - low) : 1;
}

void gnuplot_nothing(FILE *script)
{
    fprintf(script, "unset logscale y\nset ytics autofreq\nset yrange [0:1]\n"
                    "set label 'no values to draw' at graph 0.5, 0.5 center\nplot -1 notitle\n");
}

void gnuplot_element(FILE *script, int *any)
{
    fputs(*any ? ", \\\n     " : "plot ", script);
    *any = 1;
}
