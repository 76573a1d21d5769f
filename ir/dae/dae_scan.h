// dae_scan.h: words, names and expressions on a line of the texts of models and programs. Inner header of their readers (dae_read.c,
// sys_read.c).
//
// Functions take what stands at `at` and leave `at` behind it. What is not there is told once, as E0510 where it should
// stand; then `failed` is set and what is returned means nothing.
#ifndef MDLC_IR_DAE_DAE_SCAN_H
#define MDLC_IR_DAE_DAE_SCAN_H

#include "ir/dae/dae.h"

typedef struct RoutineLink { // from a routine to one that may stand below
    uint32_t of, place;      // number; place in the text
    uint32_t input;          // of an inverse
    Sym zero;                // of a special derivative
    bool inverse;
} RoutineLink;

typedef struct Reader {
    Dae *dae;           // NULL: of programs
    Exprs *exprs;
    Arena *arena;       // as long as what is read
    const char *text;   // for messages: "the flat model's text"
    Syms *syms;
    Diags *diags;
    const char *line;   // NUL-terminated copy of the line at hand
    uint32_t at;        // offset in it
    uint32_t base;      // source offset of the line's first byte
    uint32_t node;      // owner of the equations that follow
    bool failed;
    Map inst_of, var_of;       // hash of the full name -> id
    Map connector_of;   // instance -> connector
    U32Vec vars;        // slots of the expression being read
    U32Vec slot_of;     // per variable: its slot + 1 in that expression
    Out name;
    U32Vec sites, routines; // by place in the text, from 1
    VEC(RoutineLink) links; // what lines `routine` say of each other
    Map routine_of;     // hash of a routine's name -> number
    uint32_t body;      // the routine whose body is being read; 0: none
    bool block_open;    // its last block has not ended
    bool externals;     // code of external functions is allowed
} Reader;

// Calls `read` for each line, as long as nothing has failed.
void reader_lines(Reader *reader, Sources *sources, int file, void (*read)(Reader *reader));
// Frees what belongs to the reader.
void reader_free(Reader *reader);
// Tells that the text needs `what` here. False.
bool reader_fail(Reader *reader, const char *what);
// The line at hand in the source.
Span reader_span(const Reader *reader);
void reader_blanks(Reader *reader);
// At the end of the line or a comment.
bool reader_at_end(Reader *reader);
// Takes a word up to the next blank; empty at the end of the line.
const char *reader_word(Reader *reader, size_t *length);
// Takes the text if it is the next word.
bool reader_take(Reader *reader, const char *text);
// Index of the next word in a list, or -1; the empty word of a list is never found.
int reader_take_of(Reader *reader, const char *const *list, int n);
double reader_number(Reader *reader);
// A whole number from 0 to limit - 1.
uint32_t reader_index(Reader *reader, uint32_t limit);
Sym reader_string(Reader *reader);
// Length of the identifier at `text`, quoted ones included; 0 when there is none.
uint32_t reader_identifier(const char *text);
// Length of a.b[1,2].c at `text`, 0 when there is none; *last receives where its last identifier begins, *subscript where
// its brackets begin (the length when there are none).
uint32_t reader_dotted(const char *text, uint32_t *last, uint32_t *subscript);
// Length of a dotted name in any number of der(...) and pre(...), and how many these are; 0 when there is none.
uint32_t reader_full_name(const char *text, uint32_t *calls);
// A variable, der(...) or pre(...) of one, or {literal}.
Var reader_variable(Reader *reader);
// "/" or a path.
uint32_t reader_instance(Reader *reader);
// The rest of the line as an expression with its row.
bool reader_expression(Reader *reader, Expr *shape, uint32_t *row);

// --- what expressions call (dae_read_calls.c)
// Takes a line about texts, sites and routines; false when it is none.
bool reader_call_line(Reader *reader);
// When all lines have been read: routines have bodies, and are joined with their derivatives and inverses.
void reader_join_routines(Reader *reader);
// For ExprReading: the length of a routine's name at `text`, 0 when there is none; a site by its place.
uint32_t reader_routine(const char *text, uint32_t *number, void *context);
bool reader_site(uint32_t *site, void *context);

#endif
