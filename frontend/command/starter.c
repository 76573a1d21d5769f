// starter.c: a first model, and copies of the examples.
//
// Purpose: `mdlc new` and `mdlc examples`. Method: none: a template with the name filled in; files are copied one by one.
// Contract: starter.h; nothing that exists is overwritten. Complexity: that of reading and writing.
#include "frontend/command/starter.h"
#include "ir/base/words.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { USAGE = 2, IO = 5 };

static const char first_model[] =
    "// A first model. Run it, draw it, change it:\n"
    "//   mdlc run %1$s.mdl                        final values\n"
    "//   mdlc plot %1$s.mdl body.s                a picture in the terminal; -o picture.svg writes a file\n"
    "//   mdlc run %1$s.mdl --set c=0              other parameters\n"
    "//   mdlc show equations %1$s.mdl             what the compiler made of it\n"
    "model %1$s \"A mass on a spring and a damper, let go 0.1 m from where it would rest\"\n"
    "  parameter Units.Mass m = 1 \"mass\";\n"
    "  parameter Units.Stiffness k = 40 \"stiffness of the spring\";\n"
    "  parameter Units.Damping c = 1 \"damping coefficient\";\n"
    "\n"
    "  Translational.Fixed wall;\n"
    "  Translational.Spring spring(k = k);\n"
    "  Translational.Damper damper(c = c);\n"
    "  Translational.Mass body(m = m, s(start = 0.1, fixed = true), v(start = 0, fixed = true));\n"
    "equation\n"
    "  connect(wall.flange, spring.flange_a);\n"
    "  connect(wall.flange, damper.flange_a);\n"
    "  connect(spring.flange_b, body.flange);\n"
    "  connect(damper.flange_b, body.flange);\n"
    "  annotation(experiment(StopTime = 5, Interval = 0.01));\n"
    "end %1$s;\n";

static bool
is_reserved(const char *name)
{
    static const char *const words[] = {
#define KEYWORD(token, text) text,
#define CONTEXT(token, text)
#include "frontend/text/keyword.def"
#undef KEYWORD
#undef CONTEXT
    };
    return word_is_among(name, words, sizeof words / sizeof *words);
}

// A model of that name would hide the library that it is made of.
static bool
is_library(const char *library, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.mdl", library, name);
    return !access(path, F_OK);
}

static bool
is_class_name(const char *name)
{
    bool good = isalpha((unsigned char)*name) || *name == '_';
    for (const char *c = name; *c; c++)
        good = good && (isalnum((unsigned char)*c) || *c == '_');
    return good && strlen(name) < 100;
}

static int
failed(const char *path, int error, Out *why)
{
    out_printf(why, "%s: %s\n", path, strerror(error));
    return IO;
}

int
starter_new(const char *library, const char *name, Out *out, Out *why)
{
    char path[128];
    const char *problem = !is_class_name(name) ? "letters, digits and underscores, and no digit first"
        : is_reserved(name) ? "it is a word of the language" : is_library(library, name) ? "it is a package of the library" : NULL;
    if (problem) {
        out_printf(why, "'%s' cannot name a model: %s\n", name, problem);
        return USAGE;
    }
    snprintf(path, sizeof path, "%s.mdl", name);
    FILE *file = fopen(path, "wxb");
    if (!file && errno == EEXIST) {
        out_printf(why, "%s exists already, and is left as it is\n", path);
        return IO;
    }
    if (!file)
        return failed(path, errno, why);
    fprintf(file, first_model, name);
    if (fclose(file))
        return failed(path, errno, why);
    out_printf(out, "%s: a first model. Try:\n  mdlc run %s\n  mdlc plot %s body.s\n", path, path, path);
    return 0;
}

static int
is_example(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && !strchr(entry->d_name, '.');
}

// What follows the mark of the first line of a README.
static void
print_title(const char *directory, const char *name, Out *out)
{
    char path[4096], line[512] = "";
    snprintf(path, sizeof path, "%s/%s/README.md", directory, name);
    FILE *file = fopen(path, "rb");
    if (file && fgets(line, sizeof line, file))
        line[strcspn(line, "\n")] = '\0';
    if (file)
        fclose(file);
    out_printf(out, "  %-20s %s\n", name, line + strspn(line, "# "));
}

int
starter_list(const char *directory, Out *out, Out *why)
{
    struct dirent **entries;
    int n = scandir(directory, &entries, is_example, alphasort);
    if (n < 0)
        return failed(directory, errno, why);
    for (int i = 0; i < n; i++) {
        print_title(directory, entries[i]->d_name, out);
        free(entries[i]);
    }
    free(entries);
    out_text(out, "mdlc examples NAME copies one into the working directory.\n");
    return 0;
}

static int
copy_file(const char *from, const char *to)
{
    char block[1 << 14];
    struct stat status;
    FILE *source = fopen(from, "rb"), *target = source ? fopen(to, "wxb") : NULL;
    int error = target ? 0 : errno;
    for (size_t n; !error && (n = fread(block, 1, sizeof block, source)) > 0;)
        if (fwrite(block, 1, n, target) != n)
            error = errno ? errno : EIO;
    if (target && fclose(target) && !error)
        error = errno;
    if (!error && !fstat(fileno(source), &status))
        chmod(to, status.st_mode & 0777);
    if (source)
        fclose(source);
    return error;
}

// Folders within an example are not part of it.
static int
is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && entry->d_type != DT_DIR;
}

int
starter_copy(const char *directory, const char *name, Out *out, Out *why)
{
    char folder[4096], from[8192], to[8192];
    struct dirent **entries;
    snprintf(folder, sizeof folder, "%s/%s", directory, name);
    int n = strchr(name, '/') || *name == '.' ? -1 : scandir(folder, &entries, is_visible, alphasort);
    if (n < 0) {
        out_printf(why, "there is no example '%s'; mdlc examples lists them\n", name);
        return USAGE;
    }
    int error = mkdir(name, 0777) ? errno : 0;
    if (error == EEXIST)
        out_printf(why, "%s exists already, and is left as it is\n", name);
    for (int i = 0; i < n; i++) {
        snprintf(from, sizeof from, "%s/%s", folder, entries[i]->d_name);
        snprintf(to, sizeof to, "%s/%s", name, entries[i]->d_name);
        if (!error)
            error = copy_file(from, to);
        if (!error)
            out_printf(out, "%s\n", to);
        free(entries[i]);
    }
    free(entries);
    if (!error)
        out_printf(out, "%s/README.md says what it shows and how to run it.\n", name);
    return error && !why->length ? failed(name, error, why) : error ? IO : 0;
}
