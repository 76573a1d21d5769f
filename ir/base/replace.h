// replace.h: files that are there as a whole or not at all.
//
// What is written stands under a name of its own beside the target, which nobody can foretell, and takes the target's name when all of
// it is on the disk. So whoever reads the target has the old file or the new one, two writers do not mix, a process that ends in between
// leaves the old one, and no link that somebody put there is followed: rename() replaces the link itself.
// Targets that are no ordinary files - /dev/stdout, a pipe - cannot be replaced and are written to, and `-` is standard output.
#ifndef MDLC_IR_BASE_REPLACE_H
#define MDLC_IR_BASE_REPLACE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct Replacement {
    char *target, *fresh; // owned; the same text where the target is written to directly
    int file;             // open for writing; -1: closed
    bool direct;
} Replacement;

// Opens a new file beside `target`, in which `suffix` (may be "") ends the name. 0, or an errno value; then nothing is to be freed.
int replace_begin(Replacement *replacement, const char *target, const char *suffix);
// The file takes the target's name, with the permissions `mode`, or with those that files are made with where `mode` is 0. Frees. 0 or
// an errno value; then the target is what it was.
int replace_end(Replacement *replacement, unsigned mode);
// Leaves the target as it was. Frees.
void replace_abandon(Replacement *replacement);

// All of it at once. 0 or an errno value.
int replace_file(const char *target, const void *bytes, size_t length, unsigned mode);

#endif
