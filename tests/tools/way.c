// way.c: the functions that a program enters, in the order in which it first does.
//
//     way NAMES PROGRAM [ARGUMENT...]
// NAMES is a file with a line "ADDRESS NAME" (hexadecimal, as nm prints it) for each function that is looked at; the program is not
// relocated (-no-pie). Prints the names to standard output, the program's own output goes to standard error. Exit status: the program's.
//
// Method: a breakpoint (int3, 0xCC) at each function; when it is met, the byte is put back and the name is printed, so that each is met once
// (ptrace(2)). Threads are followed. For x86-64 Linux.
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 65536 };

typedef struct Function {
    unsigned long address;
    char *name;
    bool met;
    unsigned char byte; // what the breakpoint stands for
} Function;

static int
by_address(const void *a, const void *b)
{
    const Function *f = a, *g = b;
    return f->address < g->address ? -1 : f->address > g->address;
}

static size_t
read_names(const char *path, Function *functions)
{
    FILE *file = fopen(path, "r");
    if (!file) {
        perror(path);
        exit(2);
    }
    char name[1024];
    size_t n = 0;
    while (n < MOST && fscanf(file, "%lx %1023s", &functions[n].address, name) == 2) functions[n++].name = strdup(name);
    fclose(file);
    qsort(functions, n, sizeof *functions, by_address);
    return n;
}

// Puts a byte of the program's text; what was there before.
static unsigned char
put_byte(pid_t process, unsigned long address, unsigned char byte)
{
    unsigned long at = address & ~7ul, shift = (address & 7)*8;
    errno = 0;
    unsigned long word = (unsigned long)ptrace(PTRACE_PEEKTEXT, process, at, 0);
    if (errno || ptrace(PTRACE_POKETEXT, process, at, (word & ~(0xfful << shift)) | (unsigned long)byte << shift)) {
        perror("way: text of the program");
        exit(2);
    }
    return (unsigned char)(word >> shift);
}

// A thread stopped at an int3: the function there is entered. False when no breakpoint of ours is there.
static bool
enter(pid_t thread, Function *functions, size_t n)
{
    struct user_regs_struct registers;
    if (ptrace(PTRACE_GETREGS, thread, 0, &registers)) return false;
    Function *function = bsearch(&(Function){.address = registers.rip - 1}, functions, n, sizeof *functions, by_address);
    if (!function) return false;
    if (!function->met) {
        put_byte(thread, function->address, function->byte);
        function->met = true;
        puts(function->name);
    }
    registers.rip--;
    return !ptrace(PTRACE_SETREGS, thread, 0, &registers);
}

int
main(int count, char **arguments)
{
    if (count < 3) {
        fprintf(stderr, "usage: way NAMES PROGRAM [ARGUMENT...]\n");
        return 2;
    }
    Function *functions = calloc(MOST, sizeof *functions);
    size_t n = read_names(arguments[1], functions);
    pid_t process = fork();
    if (!process) {
        dup2(2, 1);
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        execv(arguments[2], arguments + 2);
        perror(arguments[2]);
        _exit(127);
    }
    int status;
    if (waitpid(process, &status, 0) != process || !WIFSTOPPED(status)) {
        fprintf(stderr, "way: cannot follow %s\n", arguments[2]);
        return 2;
    }
    ptrace(PTRACE_SETOPTIONS, process, 0, PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL);
    for (size_t i = 0; i < n; i++) functions[i].byte = put_byte(process, functions[i].address, 0xcc);
    for (pid_t thread = process;;) {
        int signal = 0;
        if (WIFSTOPPED(status) && thread != process && WSTOPSIG(status) == SIGSTOP) {
            // A thread begins.
        } else if (WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP) {
            if (status >> 16 == 0 && !enter(thread, functions, n) && thread != process) signal = SIGTRAP;
        } else if (WIFSTOPPED(status)) {
            signal = WSTOPSIG(status);
        }
        if (WIFSTOPPED(status)) ptrace(PTRACE_CONT, thread, 0, signal);
        thread = waitpid(-1, &status, __WALL);
        if (thread < 0) return 2;
        if (thread == process && WIFEXITED(status)) return WEXITSTATUS(status);
        if (thread == process && WIFSIGNALED(status)) return 128 + WTERMSIG(status);
    }
}
