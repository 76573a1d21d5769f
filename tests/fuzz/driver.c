// driver: feeds mutated files to a fuzz target. Stands in for libFuzzer, which needs clang (long.sh).
//
//   TARGET RUNS SEED FILE_OR_FOLDER...
//
// RUNS of 0: every file once, as it is. Otherwise each run takes one of the files and changes it: bytes, tokens of the language,
// pieces moved, doubled, left out, or taken from another file. The same SEED gives the same inputs. An input that crashes, or takes longer than 20 s, is written to
// fuzz-TARGET-N.input. Prints how many ran; exit status 1 after a crash.
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/fuzz/mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LARGEST = 20000, SECONDS = 20 };

typedef struct Text {
    uint8_t *at;
    size_t size;
} Text;

typedef struct Fuzzer {
    Text *file;
    size_t files, capacity;
    uint64_t state;
} Fuzzer;

// What a handler needs cannot reach it in any other way.
static struct { const uint8_t *data; size_t size; unsigned long run; const char *target; } present;

static void
keep_input(void)
{
    char name[256];
    snprintf(name, sizeof name, "fuzz-%s-%lu.input", present.target, present.run);
    int file = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (file < 0 || write(file, present.data, present.size) < 0)
        _exit(1);
    close(file);
    dprintf(STDOUT_FILENO, "FAIL input %lu is in %s\n", present.run, name);
}

static void
on_signal(int number)
{
    keep_input();
    dprintf(STDOUT_FILENO, number == SIGALRM ? "FAIL it takes longer than %d s\n" : "FAIL signal %d\n", number == SIGALRM ? SECONDS : number);
    _exit(1);
}

#ifdef __SANITIZE_ADDRESS__
void __sanitizer_set_death_callback(void (*callback)(void));
#endif

static uint64_t
random_number(Fuzzer *f, uint64_t below)
{
    f->state ^= f->state << 13;
    f->state ^= f->state >> 7;
    f->state ^= f->state << 17;
    return below ? (f->state * 0x2545f4914f6cdd1dull >> 11) % below : 0;
}

static void
add_file(Fuzzer *f, const char *path)
{
    FILE *file = fopen(path, "rb");
    Text text = {malloc(LARGEST), 0};
    if (!file || !text.at)
        exit(2);
    text.size = fread(text.at, 1, LARGEST, file);
    fclose(file);
    if (f->files == f->capacity) {
        f->capacity = 2 * f->capacity + 64;
        f->file = realloc(f->file, f->capacity * sizeof *f->file);
        if (!f->file)
            exit(2);
    }
    f->file[f->files++] = text;
}

static int
is_model(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot && (!strcmp(dot, ".mdl") || !strcmp(dot, ".mo") || !strcmp(dot, ".dae") || !strcmp(dot, ".sys"));
}

static void
add(Fuzzer *f, const char *path)
{
    struct stat status;
    struct dirent **entries;
    if (stat(path, &status) != 0)
        exit(2);
    if (!S_ISDIR(status.st_mode)) {
        add_file(f, path);
        return;
    }
    int n = scandir(path, &entries, is_model, alphasort);
    for (int i = 0; i < n; i++) {
        char name[4096];
        snprintf(name, sizeof name, "%s/%s", path, entries[i]->d_name);
        add_file(f, name);
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
}

// Replaces `cut` bytes at `at` by others, as far as there is room.
static void
replace_piece(Text *text, size_t at, size_t cut, const void *with, size_t size)
{
    if (text->size - cut + size > LARGEST)
        size = LARGEST - (text->size - cut);
    memmove(text->at + at + size, text->at + at + cut, text->size - at - cut);
    memcpy(text->at + at, with, size);
    text->size += size - cut;
}

static void
change_once(Fuzzer *f, Text *text)
{
    static const char *const words[] = {
        "model ", "end ", ";", "equation\n", "connect(", ")", "(", "[", "]", "{", "}", "der(", "der(der(", "-", "/0", "*", "^", "1e308",
        "-1", "0", "1:0", "1:1000000000", "x", "time", "if ", " then ", " else ", "for i in ", " loop\n", "end for;", "when ", "pre(",
        "each ", "redeclare ", "extends ", "import ", "inner ", "outer ", "parameter Real ", "constant Integer n = ", ".", ":", ",", "\"",
        "/*", "//", "'", "\\", "energy\n", "kinetic ", "memory ", "body ", "constraint ", "luz(", "Sgn(", "delay(", "sample(", "reinit(",
        "integral(", "fder(", "initial equation\n", "annotation(", "function ", "algorithm\n", "while ", "break;", "return;", "\xff", "\xc3",
        "size(", "fill(", "zeros(", "cat(", "sum(", "stream ", "flow ", "enumeration(", "record ", "$", "#0", "NaN"};
    size_t at = random_number(f, text->size + 1), left = text->size - at, cut = random_number(f, left < 40 ? left + 1 : 40);
    uint8_t byte = (uint8_t)random_number(f, 256);
    const Text *other = &f->file[random_number(f, f->files)];
    size_t from = random_number(f, other->size + 1), length = random_number(f, other->size - from + 1);
    switch (random_number(f, 14)) {
    case 0: replace_piece(text, at, left ? 1 : 0, &byte, 1); break;
    case 1: replace_piece(text, at, cut, "", 0); break;
    case 2:
    case 3: {
        const char *word = words[random_number(f, sizeof words / sizeof *words)];
        replace_piece(text, at, random_number(f, 2) ? cut : 0, word, strlen(word));
        break;
    }
    case 4: replace_piece(text, at, cut, other->at + from, length < 200 ? length : 200); break;
    case 5: replace_piece(text, at, 0, other->at + from, length); break;
    case 7:
    case 8: text->size = mutate_insert(text->at, text->size, LARGEST, other->at, other->size, &f->state); break;
    case 9:
    case 10:
    case 11:
    case 12:
    case 13: text->size = mutate_tokens(text->at, text->size, LARGEST, &f->state); break;
    default: {
        uint8_t piece[200];
        size_t size = left < sizeof piece ? left : sizeof piece;
        memcpy(piece, text->at + at, size);
        replace_piece(text, random_number(f, text->size + 1), 0, piece, size);
    }
    }
}

int
main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    const char *slash = strrchr(argv[0], '/');
    Fuzzer f = {.state = strtoull(argv[2], NULL, 10) * 0x9e3779b97f4a7c15ull + 1};
    unsigned long runs = strtoul(argv[1], NULL, 10);
    Text text = {malloc(LARGEST), 0};
    for (int i = 3; i < argc; i++)
        add(&f, argv[i]);
    if (!f.files || !text.at)
        return 2;
    present.target = slash ? slash + 1 : argv[0];
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_set_death_callback(keep_input);
#endif
    for (int number = SIGABRT; number <= SIGALRM; number++)
        if (number == SIGABRT || number == SIGSEGV || number == SIGFPE || number == SIGALRM)
            signal(number, on_signal);
    unsigned long all = runs ? runs : f.files;
    for (unsigned long run = 0; run < all; run++) {
        const Text *file = &f.file[runs ? random_number(&f, f.files) : run];
        memcpy(text.at, file->at, file->size);
        text.size = file->size;
        for (uint64_t changes = runs ? 1 + random_number(&f, 4) : 0; changes; changes--)
            change_once(&f, &text);
        present.data = text.at;
        present.size = text.size;
        present.run = run;
        alarm(SECONDS);
        LLVMFuzzerTestOneInput(text.at, text.size);
    }
    alarm(0);
    printf("ok %s: %lu inputs from %zu files\n", present.target, all, f.files);
    for (size_t i = 0; i < f.files; i++)
        free(f.file[i].at);
    free(f.file);
    free(text.at);
    return 0;
}
