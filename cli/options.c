/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Messages, argp with one-line errors, numbers and lists. */
#include "cli.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* A range may not expand to more items than this. */
enum { LIST_MAX = 1000000 };

int cli_fail(int code, const char *name, const char *format, ...)
{
    char text[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    for (char *c = text; *c != '\0'; c++)
        if (iscntrl((unsigned char)*c)) /* one line, whatever was typed */
            *c = '?';
    fprintf(stderr, "%s: %s\n", name, text);
    return code;
}

int cli_exit_code(pcast_status status)
{
    switch (status) {
    case PCAST_OK:
        return EXIT_OK;
    case PCAST_ERR_VALUE:
        return EXIT_USAGE;
    case PCAST_ERR_INPUT:
        return EXIT_INPUT;
    case PCAST_ERR_OUTPUT:
    case PCAST_ERR_MEMORY:
        return EXIT_OUTPUT;
    case PCAST_ERR_UNAVAILABLE:
        return EXIT_UNAVAILABLE;
    }
    return EXIT_USAGE;
}

int cli_check_kernel(const char *name, const char *option, const char *spec,
                     const pcast_kernel *kernel)
{
    pcast_error err;
    pcast_kernel scratch;
    uint64_t given = 0;
    pcast_kernel_parse(spec, &scratch, &given, NULL);
    pcast_status status = pcast_kernel_validate(kernel, &err);
    if (status == PCAST_OK)
        status = pcast_kernel_check_given(kernel, given, &err);
    if (status == PCAST_OK)
        return EXIT_OK;
    return cli_fail(cli_exit_code(status), name, "%s%.100s: %s", option, spec, err.text);
}

const char *cli_kernel_label(const char *spec, const char *mask, char text[PCAST_SPEC_MAX])
{
    char own[16] = "";
    pcast_kernel kernel;
    if (strstr(spec, "mask=") != NULL && pcast_kernel_parse(spec, &kernel, NULL, NULL) == PCAST_OK)
        pcast_kernel_get(&kernel, PCAST_FIELD_MASK, own, sizeof own);
    if (mask != NULL && strcmp(own, mask) == 0)
        mask = NULL; /* the SPEC says it already */
    const char *before = mask == NULL ? "" : strchr(spec, ':') != NULL ? ";mask=" : ":mask=";
    snprintf(text, PCAST_SPEC_MAX, "%s%s%s", spec, before, mask != NULL ? mask : "");
    return text;
}

void *cli_alloc(size_t count, size_t size)
{
    void *memory = calloc(count > 0 ? count : 1, size);
    if (memory == NULL)
        exit(cli_fail(EXIT_OUTPUT, "pcast", "out of memory"));
    return memory;
}

/* argp reports its own errors to the parser as ARGP_KEY_ERROR only, without saying what was wrong,
 * so that is worked out here: the text just read is an option that lacks its value or is not known.
 */
static error_t report_unparsed(const struct argp *argp, struct argp_state *state)
{
    const char *text = state->next > 0 ? state->argv[state->next - 1] : "";
    if (text[0] != '-' && state->next < state->argc)
        text = state->argv[state->next];
    for (const struct argp_option *option = argp->options;
         option->name != NULL || option->doc != NULL; option++) {
        const int is_long = option->name != NULL && strncmp(text, "--", 2) == 0 &&
                            strcmp(text + 2, option->name) == 0;
        const int is_short = text[0] == '-' && text[1] == option->key && text[2] == '\0';
        if (option->arg != NULL && (is_long || is_short))
            return cli_bad(state, "%s: needs a value", text);
    }
    return cli_bad(state, "unknown or ambiguous option '%s'", text);
}

/* What a wrapped parser needs to know. */
typedef struct parse_context {
    const struct argp *argp;
    void *input;
    int reported;
} parse_context;

error_t cli_bad(struct argp_state *state, const char *format, ...)
{
    va_list args;
    char text[1024];
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    cli_fail(EXIT_USAGE, state->name, "%s", text);
    *(int *)state->hook = 1;
    return EINVAL;
}

static error_t parse_wrapped(int key, char *arg, struct argp_state *state)
{
    parse_context *context = state->input;
    state->hook = &context->reported;
    if (key == ARGP_KEY_INIT)
        return 0;
    if (key == ARGP_KEY_ERROR)
        return context->reported ? 0 : report_unparsed(context->argp, state);
    /* The command's parser sees its own input. */
    state->input = context->input;
    error_t error = context->argp->parser(key, arg, state);
    state->input = context;
    if (error == ARGP_ERR_UNKNOWN && key == ARGP_KEY_ARG)
        error = cli_bad(state, "unexpected argument '%s'", arg);
    return error;
}

int cli_parse(const struct argp *argp, int argc, char **argv, void *input)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            argp_help(argp, stdout, ARGP_HELP_SHORT_USAGE | ARGP_HELP_LONG | ARGP_HELP_DOC,
                      argv[0]);
            return -1;
        }
    parse_context context = {argp, input, 0};
    struct argp wrapped = *argp;
    wrapped.parser = parse_wrapped;
    const error_t error = argp_parse(&wrapped, argc, argv,
                                     ARGP_NO_ERRS | ARGP_NO_EXIT | ARGP_NO_HELP, NULL, &context);
    if (error == ENOMEM)
        return cli_fail(EXIT_OUTPUT, argv[0], "out of memory");
    return error == 0 ? EXIT_OK : EXIT_USAGE;
}

static int print_commands(const char *name, const cli_command *commands, size_t count,
                          const char *about)
{
    printf("Usage: %s COMMAND [OPTION...]\n\n%s\n\nCommands:\n", name, about);
    for (size_t i = 0; i < count; i++)
        printf("  %-10s %s\n", commands[i].name, commands[i].summary);
    printf("\n%s COMMAND --help lists a command's options.\n", name);
    return EXIT_OK;
}

int cli_subcommand(int argc, char **argv, const cli_command *commands, size_t count,
                   const char *about)
{
    const char *word = argc > 1 ? argv[1] : NULL;
    if (word == NULL)
        return cli_fail(EXIT_USAGE, argv[0], "no command; %s --help lists them", argv[0]);
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        return print_commands(argv[0], commands, count, about);
    for (size_t i = 0; i < count; i++)
        if (strcmp(word, commands[i].name) == 0) {
            char name[64];
            snprintf(name, sizeof name, "%s %s", argv[0], word);
            argv[1] = name;
            return commands[i].run(argc - 1, argv + 1);
        }
    return cli_fail(EXIT_USAGE, argv[0], "unknown command '%s'; %s --help lists them", word,
                    argv[0]);
}

error_t cli_take_cpu(const char *text, pcast_cpu *cpu, struct argp_state *state)
{
    if (strcmp(text, "native") == 0) {
        *cpu = pcast_cpu_detect();
        return 0;
    }
    for (pcast_cpu level = PCAST_CPU_SCALAR; level <= PCAST_CPU_AVX512; level++)
        if (strcmp(text, pcast_cpu_name(level)) == 0) {
            *cpu = level;
            return 0;
        }
    return cli_bad(state, "--cpu: '%s' is none of scalar, avx2, avx512, native", text);
}

error_t cli_take_device(const char *text, int *given, pcast_device_kind *kind,
                        struct argp_state *state)
{
    static const char *const words[] = {"cuda", "replay"};
    for (int i = 0; i < 2; i++)
        if (strcmp(text, words[i]) == 0) {
            *given = 1;
            *kind = (pcast_device_kind)i;
            return 0;
        }
    *given = 0;
    if (strcmp(text, "cpu") == 0)
        return 0;
    return cli_bad(state, "--device: '%s' is none of cpu, cuda, replay", text);
}

error_t cli_take_word(const char *option, const char *arg, const char *const *words, int *choice,
                      struct argp_state *state)
{
    for (*choice = 0; words[*choice] != NULL; ++*choice)
        if (strcmp(arg, words[*choice]) == 0)
            return 0;
    char known[256] = "";
    for (int i = 0; words[i] != NULL; i++)
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i > 0 ? ", " : "",
                 words[i]);
    return cli_bad(state, "--%s: '%s' is none of %s", option, arg, known);
}

error_t cli_take_format(const char *option, const char *arg, pcast_format last,
                        pcast_format *format, struct argp_state *state)
{
    const char *words[PCAST_FORMAT_COUNT + 1] = {NULL};
    int choice;
    for (int i = 0; i <= (int)last; i++)
        words[i] = pcast_format_name((pcast_format)i);
    const error_t error = cli_take_word(option, arg, words, &choice, state);
    if (error == 0)
        *format = (pcast_format)choice;
    return error;
}

int cli_is_stdin(const char *path)
{
    return strcmp(path, "-") == 0 || strncmp(path, "-:", 2) == 0;
}

static pcast_status bad(pcast_error *err, const char *format, const char *text)
{
    snprintf(err->text, sizeof err->text, format, text);
    return PCAST_ERR_VALUE;
}

pcast_status cli_parse_double(const char *text, double *value, pcast_error *err)
{
    char *end;
    *value = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(*value))
        return bad(err, "'%s' is not a finite number", text);
    return PCAST_OK;
}

pcast_status cli_parse_count(const char *text, unsigned long long min, unsigned long long max,
                             unsigned long long *value, pcast_error *err)
{
    char *end;
    errno = 0;
    *value = strtoull(text, &end, 10);
    if (text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0 && *value >= min &&
        *value <= max)
        return PCAST_OK;
    snprintf(err->text, sizeof err->text, "'%s' is not a whole number from %llu to %llu", text, min,
             max);
    return PCAST_ERR_VALUE;
}

error_t cli_take_count(const char *option, const char *arg, unsigned long long min,
                       unsigned long long max, unsigned long long *value, struct argp_state *state)
{
    pcast_error err;
    if (cli_parse_count(arg, min, max, value, &err) != PCAST_OK)
        return cli_bad(state, "--%s: %s", option, err.text);
    return 0;
}

static void list_append(cli_list *list, const char *item, size_t length)
{
    if ((list->count & (list->count + 1)) == 0) { /* full at 2^n - 1 */
        char **grown = realloc(list->items, (2 * list->count + 1) * sizeof *grown);
        if (grown == NULL)
            exit(cli_fail(EXIT_OUTPUT, "pcast", "out of memory"));
        list->items = grown;
    }
    char *copy = cli_alloc(length + 1, 1);
    memcpy(copy, item, length);
    list->items[list->count++] = copy;
}

void cli_list_free(cli_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i]);
    free(list->items);
    *list = (cli_list){0};
}

/* start:stop:step, NUL-terminated. */
static pcast_status expand_range(const char *text, cli_list *list, pcast_error *err)
{
    double part[3];
    char *end;
    const char *at = text;
    for (int i = 0; i < 3; i++) {
        part[i] = strtod(at, &end);
        if (end == at || *end != (i < 2 ? ':' : '\0') || !isfinite(part[i]))
            return bad(err, "'%s' is not a range start:stop:step", text);
        at = end + 1;
    }
    const double steps = (part[1] - part[0]) / part[2];
    if (!(steps >= 0) || !isfinite(steps))
        return bad(err, "range '%s' never reaches its end", text);
    if (steps >= LIST_MAX)
        return bad(err, "range '%s' has more than a million items", text);
    /* The end is included also where division rounds just below a whole number of steps. */
    const size_t count = (size_t)floor(steps * (1 + 1e-12) + 1e-9) + 1;
    for (size_t i = 0; i < count; i++) {
        char item[32];
        snprintf(item, sizeof item, "%.15g", part[0] + (double)i * part[2]);
        list_append(list, item, strlen(item));
    }
    return PCAST_OK;
}

pcast_status cli_list_parse(const char *text, cli_list *list, pcast_error *err)
{
    *list = (cli_list){0};
    for (const char *at = text;; at++) {
        const size_t length = strcspn(at, ",");
        pcast_status status = PCAST_OK;
        if (length == 0) {
            status = bad(err, "'%s' has an empty item", text);
        } else if (memchr(at, ':', length) != NULL && !isalpha((unsigned char)*at)) {
            char item[128];
            snprintf(item, sizeof item, "%.*s", (int)length, at);
            status = expand_range(item, list, err);
        } else {
            list_append(list, at, length);
        }
        if (status != PCAST_OK) {
            cli_list_free(list);
            return status;
        }
        at += length;
        if (*at == '\0')
            return PCAST_OK;
    }
}
