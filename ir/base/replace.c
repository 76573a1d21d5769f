// replace.c: files that are there as a whole or not at all.
//
// Purpose: a reader, or a crash, never meets half a file.
// Method: mkstemps() beside the target, fsync(), rename(). Contract: replace.h. Complexity: linear in the bytes.
#include "ir/base/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ir/base/arena.h"

static char *
joined(const char *a, const char *b, const char *c)
{
    size_t size = strlen(a) + strlen(b) + strlen(c) + 1;
    char *text = base_calloc(size, 1);
    snprintf(text, size, "%s%s%s", a, b, c);
    return text;
}

static void
forget(Replacement *replacement)
{
    if (replacement->file >= 0)
        close(replacement->file);
    free(replacement->target);
    free(replacement->fresh);
    *replacement = (Replacement){.file = -1};
}

// The permissions with which open() makes files. The mask can be asked for only by setting it.
static unsigned
usual_mode(void)
{
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~(unsigned)mask;
}

int
replace_begin(Replacement *replacement, const char *target, const char *suffix)
{
    struct stat status;
    *replacement = (Replacement){.file = -1};
    // What a link leads to decides: /dev/stdout is one.
    bool standard = !strcmp(target, "-"), there = !standard && stat(target, &status) == 0;
    replacement->direct = standard || (there && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode));
    if (there && S_ISDIR(status.st_mode))
        return EISDIR;
    replacement->target = joined(target, "", "");
    replacement->fresh = replacement->direct ? joined(target, "", "") : joined(target, ".XXXXXX", suffix);
    replacement->file = standard ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)
        : replacement->direct ? open(target, O_WRONLY | O_CLOEXEC) : mkostemps(replacement->fresh, (int)strlen(suffix), O_CLOEXEC);
    if (replacement->file >= 0)
        return 0;
    int error = errno;
    forget(replacement);
    return error;
}

// Adds bytes. 0 or an errno value.
static int
replace_write(Replacement *replacement, const void *bytes, size_t length)
{
    const char *at = bytes;
    while (length) {
        ssize_t count = write(replacement->file, at, length);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return errno;
        at += count;
        length -= (size_t)count;
    }
    return 0;
}

// What another program wrote under the name is another file than the one that was opened.
static int
reopen(Replacement *replacement)
{
    close(replacement->file);
    replacement->file = open(replacement->fresh, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    return replacement->file < 0 ? errno : 0;
}

int
replace_end(Replacement *replacement, unsigned mode)
{
    int error = 0;
    if (!replacement->direct) {
        error = reopen(replacement);
        if (!error && (fchmod(replacement->file, mode ? mode : usual_mode()) != 0 || fsync(replacement->file) != 0))
            error = errno;
    }
    if (replacement->file >= 0 && close(replacement->file) != 0 && !error)
        error = errno;
    replacement->file = -1;
    if (!error && !replacement->direct && rename(replacement->fresh, replacement->target) != 0)
        error = errno;
    if (error && !replacement->direct)
        unlink(replacement->fresh);
    forget(replacement);
    return error;
}

void
replace_abandon(Replacement *replacement)
{
    if (!replacement->direct && replacement->fresh)
        unlink(replacement->fresh);
    forget(replacement);
}

int
replace_file(const char *target, const void *bytes, size_t length, unsigned mode)
{
    Replacement replacement;
    int error = replace_begin(&replacement, target, "");
    if (error)
        return error;
    error = replace_write(&replacement, bytes, length);
    if (!error)
        return replace_end(&replacement, mode);
    replace_abandon(&replacement);
    return error;
}
