// reference_page.h: reference pages of classes, from their declarations, description strings and comments.
#ifndef MDLC_FRONTEND_PAGE_REFERENCE_PAGE_H
#define MDLC_FRONTEND_PAGE_REFERENCE_PAGE_H

#include "frontend/flatten/flatten.h"

typedef enum DocFormat { DOC_TEXT, DOC_MARKDOWN, DOC_HTML } DocFormat;

typedef struct DocOptions {
    DocFormat format;
    const char *examples;  // folder with the examples: classes name those that use them; NULL: none are named
} DocOptions;

// The packages that `name` ("Translational.Spring") needs are loaded; errors are diagnostics.
void doc_load(Program *program, const char *name);
// The page of one class; for a package, of everything in it. False when there is no such class.
bool doc_class(Program *program, const char *name, const DocOptions *options, Out *out);
// The page of all classes of the last file added.
void doc_file(Program *program, const DocOptions *options, Out *out);
// One line about a package: its name and description. False when there is no such package.
bool doc_line(Program *program, const char *name, Out *out);
// Classes that are loaded and whose last name is the same in any case of letters, or else spelt most like it: separated
// by commas. False when there is none.
bool doc_nearest(Program *program, const char *name, Out *out);
// True when, for each of `words` (separated by blanks), a word of the text begins with it, in any case of letters; words begin
// within a name, too: DryFriction.
bool doc_mentions(const char *text, const char *words);
// A line for each class that is loaded and mentions `word` in its name or description. Returns their number.
uint32_t doc_search(Program *program, const char *word, Out *out);
// The description of a class, "" when it has none or there is no such class; lives as long as the program.
const char *doc_description(Program *program, const char *name);

#endif
