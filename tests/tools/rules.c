// rules: checks files that show one rule of the Modelica Language Specification each (tests/language, docs/testing.md).
//
//   rules LIBRARY FILE...
//
// The first line of a file says which rule it is: `// 10.6.2: ...`, a section of the chapter its folder is named after.
// Comments that begin a line say what must happen:
//   // expect: NAME = VALUE [at TIME | before TIME] [within TOLERANCE]    VALUE: number, true, false, {..} of them
//   // error: CODE at LINE:COLUMN [part of the message]
//   // warning: CODE at LINE:COLUMN [part of the message]
//   // fails: part of what is said when the simulation fails
//   // external: allowed                                               functions in C may be called
// With errors the model must be refused with exactly these, in this order; otherwise it must compile with no other warnings
// than those named, run (or fail as said), and every expected value must stand in the result. A file that expects nothing
// fails. Each file is checked in a child process, so that a crash or a hang is the failure of one case.
#include <ctype.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/code/backend.h"
#include "frontend/external/external.h"
#include "frontend/flatten/flatten.h"
#include "frontend/names/names.h"
#include "ir/pipeline/pipeline.h"
#include "runtime/result/table.h"
#include "runtime/shell/run_program.h"

enum { SECONDS = 60, LINE = 1024, SAID = 1 << 16, MOST = 64 };

typedef struct Wanted { // an error or a warning
    char code[8], text[LINE];
    unsigned line, column;
} Wanted;

typedef struct Expectation {
    char name[LINE], value[LINE];
    double time, tolerance; // time NAN: the end
    bool left;
} Expectation;

typedef struct Rule {
    Wanted wanted[MOST];
    Expectation expectation[MOST];
    int n_wanted, n_expectations, n_errors;
    bool external;
    char fails[LINE];
} Rule;

typedef struct Result { // of compiling and running one file
    int status;         // exit code of mdlc run
    Out messages, fault;
    char said[SAID];
    Table *table;
    char why[TABLE_WHY];
} Result;

static bool
bad(const char *format, const char *text)
{
    printf(format, text);
    putchar('\n');
    return false;
}

static const char *
after(const char *line, const char *word)
{
    size_t n = strlen(word);
    return strncmp(line, word, n) ? NULL : line + n;
}

static bool
read_wanted(Rule *rule, const char *text)
{
    Wanted *w = &rule->wanted[rule->n_wanted];
    int length = 0;
    if (rule->n_wanted == MOST || sscanf(text, "%7s at %u:%u%n", w->code, &w->line, &w->column, &length) != 3)
        return bad("no `CODE at LINE:COLUMN`: %s", text);
    snprintf(w->text, sizeof w->text, "%s", text + length + strspn(text + length, " "));
    rule->n_wanted++;
    rule->n_errors += w->code[0] == 'E';
    return true;
}

// Takes `WORD NUMBER` off the end of the text.
static bool
take_number(char *text, const char *word, double *value)
{
    char *at = strstr(text, word), *end;
    if (!at)
        return false;
    *value = strtod(at + strlen(word), &end);
    *at = 0;
    return end[strspn(end, " ")] == 0;
}

static bool
read_expectation(Rule *rule, const char *text)
{
    Expectation *e = &rule->expectation[rule->n_expectations];
    char line[LINE];
    snprintf(line, sizeof line, "%s", text);
    e->time = NAN;
    e->tolerance = 1e-9;
    take_number(line, " within ", &e->tolerance);
    if (!(e->left = take_number(line, " before ", &e->time)))
        take_number(line, " at ", &e->time);
    char *sign = strstr(line, " = ");
    if (!sign || rule->n_expectations == MOST)
        return bad("no `NAME = VALUE`: %s", text);
    snprintf(e->value, sizeof e->value, "%s", sign + 3);
    *sign = 0;
    snprintf(e->name, sizeof e->name, "%s", line + strspn(line, " "));
    rule->n_expectations++;
    return true;
}

static bool
read_line(Rule *rule, const char *line)
{
    const char *text = NULL;
    if ((text = after(line, "// expect: ")))
        return read_expectation(rule, text);
    if ((text = after(line, "// error: ")) || (text = after(line, "// warning: ")))
        return read_wanted(rule, text);
    rule->external |= after(line, "// external: allowed") != NULL;
    if ((text = after(line, "// fails: ")))
        snprintf(rule->fails, sizeof rule->fails, "%s", text);
    return true;
}

// `.../03_expressions/name.mdl` begins with `// 3.`
static bool
names_its_section(const char *path, const char *line)
{
    const char *name = strrchr(path, '/');
    while (name && name > path && name[-1] != '/')
        name--;
    const char *section = after(line, "// ");
    return name && section && isdigit((unsigned char)*section) && strchr(section, ':')
        && strtol(section, NULL, 10) == strtol(name, NULL, 10);
}

static bool
read_rule(const char *path, Rule *rule)
{
    FILE *file = fopen(path, "r");
    char line[LINE];
    bool good = true, first = true;
    if (!file)
        return bad("cannot be opened%s", "");
    while (good && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\r\n")] = 0;
        if (first && !names_its_section(path, line))
            good = bad("the first line names no section of the folder's chapter: %s", line);
        first = false;
        good = good && read_line(rule, line);
    }
    fclose(file);
    if (good && !rule->n_expectations && !rule->n_wanted && !*rule->fails)
        return bad("expects nothing%s", "");
    return good;
}

static void
run_model(Compilation *compilation, Result *result)
{
    const char *folder = getenv("TMPDIR");
    char path[4096];
    snprintf(path, sizeof path, "%s/rules-XXXXXX.csv", folder && *folder ? folder : "/tmp");
    int file = mkstemps(path, 4);
    bool loaded = externals_load(compilation->sys, &result->fault);
    Engine *engine = file < 0 || !loaded ? NULL : engine_interp(compilation->sys, &result->fault);
    RunSettings settings;
    run_settings_init(&settings);
    settings.output = path;
    settings.variables = ".";
    settings.quiet = true;
    const RunCommand command = {.settings = &settings, .program = "mdlc"};
    result->status = engine ? run_command(compilation->sys->model, &command) : 4;
    engine_free(&engine);
    run_settings_free(&settings);
    if (result->status == 0)
        result->table = table_read(path, result->why);
    if (file >= 0)
        close(file);
    unlink(path);
}

static void
compile_and_run(const char *library, const char *path, bool external, Result *result)
{
    Sources *sources = sources_create();
    Syms *syms = syms_create();
    Diags *diags = diags_create(sources);
    Program *program = program_create(sources, syms, diags);
    Compilation compilation = {.diags = diags, .verify = true, .results = true, .parameters = true, .variables = "."};
    program_add_path(program, library);
    if (external)
        program_allow_external(program);
    if (program_add_file(program, path) && !diags_errors(diags))
        compilation.dae = elaborate(program, &(ElaborateOptions){0}, diags);
    bool good = compilation.dae && !diags_errors(diags)
        && pipeline_run(&compilation, FACT_SYS, NULL, &result->fault);
    result->status = good ? 0 : diags_errors(diags) ? 1 : 4;
    diags_print_text(diags, &result->messages, false);
    if (good)
        run_model(&compilation, result);
    if (compilation.dae)
        compilation_free(&compilation);
    program_free(&program);
    diags_free(&diags);
    sources_free(&sources);
    syms_free(&syms);
}

// The head line of the next message about this file from *at on.
static const char *
next_message(const char **at, char line[LINE])
{
    while (**at) {
        size_t length = strcspn(*at, "\n");
        snprintf(line, LINE, "%.*s", (int)length, *at);
        *at += length + ((*at)[length] == '\n');
        const char *mark = strstr(line, "error[");
        if (!mark)
            mark = strstr(line, "warning[");
        if (mark && line[0] != ' ')
            return mark;
    }
    return NULL;
}

static bool
is_wanted(const char *path, const char *line, const char *mark, const Wanted *w)
{
    char head[LINE + 64];
    snprintf(head, sizeof head, "%s:%u:%u: ", path, w->line, w->column);
    const char *code = strchr(mark, '[') + 1;
    return after(line, head) && after(code, w->code) && strstr(mark, w->text);
}

static bool
check_messages(const char *path, const Rule *rule, const Result *result)
{
    const char *at = result->messages.text ? result->messages.text : "", *mark;
    char line[LINE];
    int k = 0;
    bool good = true;
    while ((mark = next_message(&at, line))) {
        if (k == rule->n_wanted || !is_wanted(path, line, mark, &rule->wanted[k])) {
            printf("    unexpected: %s\n", line);
            good = false;
        }
        k += k < rule->n_wanted;
    }
    for (; k < rule->n_wanted; k++, good = false)
        printf("    missing: %s at %u:%u %s\n", rule->wanted[k].code, rule->wanted[k].line, rule->wanted[k].column,
               rule->wanted[k].text);
    return good;
}

static bool
check_scalar(const Expectation *e, const Table *table, const char *name, const char *text)
{
    uint32_t column = table_find(table, name), row = 0;
    char *end;
    double wanted = !strncmp(text, "true", 4) ? 1 : !strncmp(text, "false", 5) ? 0 : strtod(text, &end);
    if (column == UINT32_MAX)
        return bad("    not in the result: %s", name);
    double time = isnan(e->time) ? table->value[0][table->rows - 1] : e->time;
    double value = table_at(table, column, time, &row, e->left);
    if (fabs(value - wanted) <= e->tolerance * (1 + fabs(wanted)) || (isinf(wanted) && value == wanted))
        return true;
    printf("    %s is %.12g at %.9g, not %.12g\n", name, value, time, wanted);
    return false;
}

// NAME = {{a, b}, {c, d}}: NAME[1,1] = a and so on.
static bool
check_expectation(const Expectation *e, const Table *table)
{
    int subscript[8] = {0}, depth = 0;
    bool good = true, pending = true;
    char name[2 * LINE];
    for (const char *at = e->value; good && *at; at++) {
        if (*at == '{' && depth < 8) {
            subscript[depth++] = 1;
            pending = true;
        } else if (*at == '}' && depth) {
            depth--;
            pending = false;
        } else if (*at == ',' && depth) {
            subscript[depth - 1]++;
            pending = true;
        } else if (*at != ' ' && pending) {
            int n = snprintf(name, sizeof name, "%s", e->name);
            for (int k = 0; k < depth; k++)
                n += snprintf(name + n, sizeof name - (size_t)n, "%s%d%s", k ? "," : "[", subscript[k], k + 1 < depth ? "" : "]");
            good = check_scalar(e, table, name, at);
            pending = false;
        }
    }
    return good;
}

static bool
check_run(const Rule *rule, const Result *result)
{
    bool good = true;
    if (*rule->fails)
        return (result->status == 3 && strstr(result->said, rule->fails)) || bad("    does not fail like this; said: %s", result->said);
    if (result->status)
        return bad("    the run fails: %s", result->said);
    if (!result->table)
        return bad("    no result: %s", result->why);
    for (int i = 0; i < rule->n_expectations; i++)
        good = check_expectation(&rule->expectation[i], result->table) && good;
    return good;
}

static bool
check_file(const char *library, const char *path, int said)
{
    Rule *rule = calloc(1, sizeof *rule);
    Result *result = calloc(1, sizeof *result);
    bool good = rule && result && read_rule(path, rule);
    if (good) {
        fflush(stdout);
        int err = dup(STDERR_FILENO);
        dup2(said, STDERR_FILENO);
        compile_and_run(library, path, rule->external, result);
        dup2(err, STDERR_FILENO);
        close(err);
        ssize_t n = pread(said, result->said, SAID - 1, 0);
        result->said[n > 0 ? n : 0] = 0;
        good = check_messages(path, rule, result);
        if (result->status == 4)
            good = bad("    internal fault: %s", result->fault.text ? result->fault.text : "");
        else if (result->status != 1)
            good = (rule->n_errors ? bad("    is not refused%s", "") : check_run(rule, result)) && good;
        if (!good && result->messages.text)
            printf("%s", result->messages.text);
        table_free(&result->table);
        out_free(&result->messages);
        out_free(&result->fault);
    }
    free(rule);
    free(result);
    return good;
}

static const char *
short_name(const char *path)
{
    const char *at = path + strlen(path);
    for (int slashes = 0; at > path && slashes < 2; at--)
        slashes += at[-1] == '/';
    return at == path ? path : at + 1;
}

// In a child: its output comes after the head line, which the parent prints once it knows what became of it.
static bool
check_apart(const char *library, const char *path)
{
    int output = memfd_create("output", 0), said = memfd_create("said", MFD_CLOEXEC), status = 0;
    char text[4096];
    ssize_t n;
    fflush(stdout);
    pid_t child = fork();
    if (child < 0)
        exit(2);
    if (child == 0) {
        dup2(output, STDOUT_FILENO);
        alarm(SECONDS);
        bool good = check_file(library, path, said);
        fflush(stdout);
        exit(!good);
    }
    waitpid(child, &status, 0);
    bool good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    printf("%s %s\n", good ? "ok" : "FAIL", short_name(path));
    if (WIFSIGNALED(status))
        printf("    ended by signal %d\n", WTERMSIG(status));
    for (lseek(output, 0, SEEK_SET); !good && (n = read(output, text, sizeof text)) > 0;)
        fwrite(text, 1, (size_t)n, stdout);
    for (lseek(said, 0, SEEK_SET); WIFSIGNALED(status) && (n = read(said, text, sizeof text)) > 0;)
        fwrite(text, 1, (size_t)n, stdout);
    close(output);
    close(said);
    return good;
}

int
main(int argc, char **argv)
{
    bool good = argc >= 3;
    for (int i = 2; i < argc; i++)
        good = check_apart(argv[1], argv[i]) && good;
    return !good;
}
