// syntax.h: what scanner, token filter, grammar and formatter share. Private to these files.
//
// scanner (lexer.l) -> token filter (tokens.c) -> grammar (parser.y), whose actions call the
// constructors at the end of this file (tree.c). All state is in one Parser.
#ifndef MDLC_FRONTEND_TEXT_SYNTAX_H
#define MDLC_FRONTEND_TEXT_SYNTAX_H

#include "frontend/text/ast.h"
#include "frontend/text/parse.h"

// A token. `sym` is the name of an identifier, the decoded text of a string, the spelling of a number.
typedef struct Token {
    int kind;        // T_... of parser.h; COMMENT_LINE, COMMENT_BLOCK in a recording
    Span span;
    Sym sym;
    uint32_t record; // its place in Parser.record
} Token;

enum { COMMENT_LINE = 10000, COMMENT_BLOCK };

typedef VEC(Token) TokenVec;

// A list under construction: its first n items are Parser.pending[mark ...]. What lies above belongs
// to inner lists, or was left there by error recovery and is dropped by the next list_add.
typedef struct List {
    uint32_t mark, n;
    uint32_t depth : 31; // Parser.blocks.n when the list was started
    uint32_t bad : 1;    // an item was skipped after a syntax error
} List;

typedef struct ClassPrefix {
    uint32_t flags;
    ClassKind kind;
} ClassPrefix;

// What is open at the moment, for the nesting limit, for missing ends and for notes.
typedef enum BlockKind {
    BLOCK_CLASS, BLOCK_IF, BLOCK_FOR, BLOCK_WHEN, BLOCK_WHILE,
    BLOCK_PAREN, BLOCK_BRACKET, BLOCK_BRACE, BLOCK_IFEXPR
} BlockKind;

typedef struct Block {
    BlockKind kind;
    Sym sym;   // BLOCK_CLASS: its name
    Span span; // the opening word or bracket
    Span else_if; // BLOCK_IF: the last `else if` on one line directly inside
    bool lost;    // BLOCK_CLASS: its `end` is missing, so that what stands in it need not belong to it
} Block;

typedef enum SectionKind { SECTION_ELEMENTS, SECTION_EQUATIONS, SECTION_ENERGY } SectionKind;

enum { QUEUE_SIZE = 16 };

typedef struct Parser {
    Sources *sources;
    Syms *syms;
    Ast *ast;
    Diags *diags;
    const char *text;         // the file, base and length in the session's source space
    uint32_t base, length;
    bool mo, formula;
    uint32_t nesting;
    void *scanner;            // flex's state
    TokenVec *record;         // every token and comment as scanned, when wanted (formatter)
    U32Vec keyword_of;        // Sym -> token kind, for the words of keyword.def
    U32Vec meant;             // Sym -> how misspelt.c takes the word, as far as asked
    Token queue[QUEUE_SIZE];  // tokens scanned ahead or put in, before the scanner's next
    uint32_t queue_at, queue_n;
    Token current, prev, before; // the last three tokens given to the grammar
    SectionKind section;
    bool recovering;          // between a syntax error and the ';' that ends it
    int owed;                 // T_EQUATION, T_PUBLIC: such a section begins behind the ';' that ends the error, if it looks like one
    bool stop;                // give the grammar the end of the file from now on
    uint32_t skip_brackets;   // '[' open while recovering: a ';' inside separates rows
    uint32_t last_error;      // offset of the last syntax error
    uint32_t else_if_end;     // offset of the last `end` that an `else if` has been reported at
    bool lost;                // an `end` has closed another class than it names: what follows may belong elsewhere
    uint32_t bad_token;       // offset of the last token that the scanner has complained about
    uint32_t bad_character;   // end of the last text that is no token; its error has been reported
    Sym declared;             // the component declared last
    Span annotated;           // the annotation of a class read last
    U32Vec pending;           // items of the lists under construction
    VEC(Block) blocks;
    VEC(char) buffer;         // for decoding strings
    List items;               // of the file, as far as read
    Node file;
} Parser;

// --- numbers.c
#define LARGEST_INTEGER 9007199254740992.0 // Integers are held as double precision numbers
// The number that the text begins with, and what stands behind it; *behind is `text`, and the number NAN, when there is none. *integer: it has
// neither a point nor an exponent.
double number_read(const char *text, const char **behind, bool *integer);
// At an opening bracket: a long array of nothing but numbers becomes a block of them. Where it ends, or NULL: it is none.
const char *numbers_scan(Parser *p, const char *open, Sym *made);

// --- parse.c
// Sets up a parser on one file; false when the text cannot be scanned (the reason is in diags).
bool parser_open(Parser *p, Sources *sources, int file, Syms *syms, Ast *ast, Diags *diags,
                 const ParseOptions *options);
void parser_close(Parser *p);
// parse_file that also records the tokens when `record` is not NULL.
Node parse_recording(Sources *sources, int file, Syms *syms, Ast *ast, Diags *diags,
                     const ParseOptions *options, TokenVec *record);

// --- lexer.l
bool scanner_open(Parser *p, char *text, uint32_t length);
void scanner_close(Parser *p);
Token scanner_next(Parser *p);

// --- foreign.c: messages about what is not of the language
void foreign_spelling(Parser *p, Span span, const char *text, const char *ours); // `!=` is written `<>`
void foreign_comment(Parser *p, Span span);
void foreign_assignment(Parser *p, Span span);
void foreign_character(Parser *p, const char *text, Span span); // a character, or a word that contains one
// Whether something stands before the place in its line that a sign between operands may follow.
bool foreign_behind_operand(const Parser *p, Span span);

// --- tokens.c
Token token_next(Parser *p);      // with contextual words decided and missing ends put in
bool token_class_kind(int kind); // of a word that begins a class
const char *token_word(int kind); // the text of a keyword token, NULL for others
// Puts tokens in front of what is scanned next.
void tokens_insert(Parser *p, const Token *tokens, uint32_t n);
bool token_first_on_line(const Parser *p, Token token);
bool token_at_start(const Parser *p); // whether a declaration, clause or section may start here
Token token_peek(Parser *p, uint32_t i); // the i-th raw token (i < QUEUE_SIZE) behind the one in hand
// Called on a syntax error: chooses where to go on. `after` says that a statement was complete.
void tokens_recover(Parser *p, Token unexpected, bool after);
// The same where the word `equation`, or the end of the class `name`, is missing in front of the token.
void tokens_recover_section(Parser *p, Token unexpected, bool begins);
void tokens_recover_end(Parser *p, Token unexpected, Sym name);
// The same where declarations go on behind what ended them.
void tokens_recover_declarations(Parser *p, Token unexpected);

// --- misspelt.c: identifiers that were meant as keywords become those, with a message
bool misspelt_word(Parser *p, Token *word); // an identifier in hand; true: it is another kind of token now
void misspelt_end_word(Parser *p);          // what follows an `end`

// --- mistake.c
// Where the grammar found a token that it did not expect.
typedef enum MistakeList { LIST_ITEMS, LIST_ELEMENTS, LIST_EQUATIONS, LIST_STATEMENTS, LIST_ENERGY } MistakeList;
typedef enum MistakeFirst {
    FIRST_NONE, FIRST_IMPORT, FIRST_EXTENDS, FIRST_ANNOTATION, FIRST_BOND, FIRST_OTHER
} MistakeFirst;

enum { TOKEN_KINDS = 512 };

typedef struct Mistake {
    Parser *p;
    bool want[TOKEN_KINDS];        // by token kind
    int n_want;
    const char *(*name)(int kind); // of a token, for messages
    MistakeList list;              // the innermost list
    MistakeFirst first;            // what stands directly behind it
    bool declared;                 // a component's name has been read
} Mistake;

// Reports it, unless it follows from an earlier one, and chooses where to go on.
void mistake_report(const Mistake *m);

// --- tree.c: the constructors called by the grammar
#define NODES(...) \
    ((const Node[]){__VA_ARGS__}), (uint32_t)(sizeof((const Node[]){__VA_ARGS__}) / sizeof(Node))

Node node(Parser *p, AstKind kind, Span span, Sym sym, uint32_t flags, const Node *children, uint32_t n);
// Children: the list's items, behind `head` and in front of `tail` (0 children when the node is absent
// from the layout: pass n_head = 0; see node_list).
Node node_list(Parser *p, AstKind kind, Span span, Sym sym, uint32_t flags, const Node *head,
               uint32_t n_head, List list);
// A node whose children are the list's items; closed_node also closes the block.
Node list_node(Parser *p, AstKind kind, Span span, uint32_t flags, List list);
Node closed_node(Parser *p, AstKind kind, Span span, uint32_t depth, List list);
Node ident_node(Parser *p, Span span, Sym name);
List list_start(Parser *p);
List list_first(Parser *p, Node item); // a list of it
List list_add(Parser *p, List list, Node item);
List list_recover(Parser *p, List list);

uint32_t block_open(Parser *p, BlockKind kind, Sym sym, Span span);
void block_close(Parser *p, uint32_t depth);

// Branches of `if` and `when`, in a list that was started behind the block's opening word; chain_else adds the last, and chain_node closes the block.
Node branch_node(Parser *p, Span span, Node condition, List list);
List chain_else(Parser *p, List branches, Span span, List otherwise);
Node chain_node(Parser *p, AstKind kind, Span span, List branches, Node tail);
Node loop_node(Parser *p, AstKind kind, Span span, uint32_t depth, Node head, List list, Node comment);

// Adds a prefix of an element; they stand in the order of the grammar (appendix A.2.2), each once.
uint32_t prefix_add(Parser *p, uint32_t flags, uint32_t flag, Span span);
// Prefixes whose order only a user's Modelica file must keep.
uint32_t ordered_add(Parser *p, uint32_t flags, uint32_t flag, Span span);
Sym strings_join(Parser *p, Sym a, Sym b);
Node node_op(Parser *p, AstKind kind, Span span, AstOp op, const Node *children, uint32_t n);
Node number_node(Parser *p, Span span, Sym text, bool integer);
Node numbers_node(Parser *p, Span span, Sym block);
Node tuple_or_parens(Parser *p, Span span, List list, uint32_t depth);
Node word_ref(Parser *p, Span span, const char *word);
Node args_node(Parser *p, Span span, List list, uint32_t depth);
Node file_node(Parser *p, Span span, List items);
// `depth` is what block_open gave for the class's name. The long form checks the name behind `end`.
Node long_class(Parser *p, Span span, ClassPrefix prefix, uint32_t depth, Node comment, Node body, Sym end,
                Span end_span);
// Of a class that extends the inherited one of its name: that, as its base, and what it adds.
Node extended_body(Parser *p, Span span, uint32_t depth, Node mods, Node body);
Node short_class(Parser *p, Span span, ClassPrefix prefix, uint32_t depth, Node comment, Node body);
Node with_flag(Parser *p, Node node, uint32_t flag, Span span);
Node connect_comment(Parser *p, Span span, Node connect, Node comment);
Node call_of(Parser *p, Span span, Node function, Node args);
// Adds the prefixes of an element and its constraining clause to a CLASS or COMPONENTS node.
Node element_prefixed(Parser *p, uint32_t flags, Node element, Node constrained);
Node energy_node(Parser *p, Span span, const char *word, uint32_t flags, const Node *children, uint32_t n);
Node call_equation(Parser *p, Span span, Node expr, Node comment);

#endif
