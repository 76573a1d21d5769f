// filter.c: lazy deterministic automata for regular expressions. See filter.h.
//
// Purpose: which names `--vars` means is known without matching every name from its beginning.
// Method: the expression becomes a nondeterministic automaton (Thompson, Comm. ACM 11 (1968) 419); sets of its nodes become states,
// and their transitions are made when a name first asks for them. The expression is searched for, not matched: every
// position of a name may begin it.
// Contract: what the automaton does not know is left to the C library's regexec, name by name; so are expressions of many
// nodes or states. Complexity: linear in the characters read, once the states are there.
#include "ir/dae/filter.h"

#include <ctype.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/map.h"
#include "ir/base/vec.h"
#include "runtime/model/order.h"

enum { NODES_MAX = 4000, STATES_MAX = 2000, NESTING_MAX = 100, REPEATS_MAX = 255, FIRST_STATE = FILTER_ASK + 1 };

typedef enum NodeKind {
    NODE_GOTO, NODE_SPLIT, // to `next`, and to `other`
    NODE_SET,              // one character of a set
    NODE_BEGIN, NODE_END,  // anchors
    NODE_FOUND
} NodeKind;

typedef struct Node {
    uint8_t kind;
    uint32_t next, other;
    uint32_t set;
} Node;

typedef struct Set { uint64_t bits[4]; } Set;

typedef struct State {
    uint32_t first, n;       // range of Filter.members: NODE_SET and NODE_END nodes, ascending
    bool ends;
    FilterState next[256];   // UNKNOWN until asked for
} State;

struct Filter {
    regex_t regex;
    VEC(Node) nodes;
    VEC(Set) sets;
    VEC(State *) states;     // from FIRST_STATE on
    U32Vec members;
    Map state_of;            // hash of the members -> state
    uint32_t root;           // node at which the expression begins
    FilterState start;
    U32Vec stack, gathered;  // scratch
    U8Vec seen;
    bool found;
};

static const FilterState UNKNOWN = UINT32_MAX;

// --- the expression

typedef struct Parser {
    Filter *filter;
    const char *at;
    uint32_t nesting;
    bool unknown;            // beyond what the automaton knows
} Parser;

typedef struct Piece { uint32_t first, last; } Piece; // last: a NODE_GOTO that leads on

static Piece parse_alternatives(Parser *parser);

static uint32_t
add_node(Parser *parser, Node node)
{
    if (parser->filter->nodes.n >= NODES_MAX)
        parser->unknown = true;
    else
        vec_push(&parser->filter->nodes, node);
    return parser->filter->nodes.n - 1;
}

static Piece
piece_of(Parser *parser, Node node)
{
    uint32_t last = add_node(parser, (Node){.kind = NODE_GOTO});
    node.next = last;
    return (Piece){add_node(parser, node), last};
}

static void
lead(Parser *parser, uint32_t last, uint32_t to)
{
    parser->filter->nodes.at[last].next = to;
}

static bool
in_set(const Set *set, unsigned char c)
{
    return set->bits[c >> 6] >> (c & 63) & 1;
}

static void
put_in_set(Set *set, unsigned char c)
{
    set->bits[c >> 6] |= (uint64_t)1 << (c & 63);
}

static Piece
piece_of_set(Parser *parser, const Set *set)
{
    vec_push(&parser->filter->sets, *set);
    return piece_of(parser, (Node){.kind = NODE_SET, .set = parser->filter->sets.n - 1});
}

// [:alpha:] and its like; `at` behind "[:".
static void
parse_class(Parser *parser, Set *set)
{
    static const struct { const char *name; int (*has)(int); } classes[] = {
        {"alpha:]", isalpha}, {"digit:]", isdigit}, {"alnum:]", isalnum}, {"upper:]", isupper}, {"lower:]", islower},
        {"space:]", isspace}, {"blank:]", isblank}, {"punct:]", ispunct}, {"print:]", isprint}, {"graph:]", isgraph},
        {"cntrl:]", iscntrl}, {"xdigit:]", isxdigit}};
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        size_t length = strlen(classes[i].name);
        if (strncmp(parser->at, classes[i].name, length))
            continue;
        for (int c = 0; c < 256; c++)
            if (classes[i].has(c))
                put_in_set(set, (unsigned char)c);
        parser->at += length;
        return;
    }
    parser->unknown = true;
}

// A bracket expression; `at` behind '['. Its syntax has been checked by regcomp.
static Piece
parse_bracket(Parser *parser)
{
    Set set = {0};
    bool negated = *parser->at == '^';
    parser->at += negated;
    for (bool first = true; !parser->unknown && (first || *parser->at != ']'); first = false) {
        unsigned char low = (unsigned char)*parser->at, high = low;
        if (!low) {
            parser->unknown = true;
        } else if (low == '[' && parser->at[1] == ':') {
            parser->at += 2;
            parse_class(parser, &set);
            continue;
        } else if (low == '[' && (parser->at[1] == '.' || parser->at[1] == '=')) {
            parser->unknown = true;
        }
        parser->at += low != 0;
        if (*parser->at == '-' && parser->at[1] && parser->at[1] != ']') {
            high = (unsigned char)parser->at[1];
            parser->unknown |= high == '[';
            parser->at += 2;
        }
        for (unsigned c = low; c <= high; c++)
            put_in_set(&set, (unsigned char)c);
    }
    parser->at += *parser->at == ']';
    if (negated)
        for (uint32_t i = 0; i < 4; i++)
            set.bits[i] = ~set.bits[i];
    return piece_of_set(parser, &set);
}

static Piece
parse_character(Parser *parser, unsigned char c)
{
    Set set = {0};
    put_in_set(&set, c);
    return piece_of_set(parser, &set);
}

// One character, set, anchor or group.
static Piece
parse_atom(Parser *parser)
{
    Set any = {{~UINT64_C(0), ~UINT64_C(0), ~UINT64_C(0), ~UINT64_C(0)}};
    Piece piece;
    char c = *parser->at++;
    switch (c) {
    case '(':
        if (++parser->nesting > NESTING_MAX)
            parser->unknown = true;
        piece = parser->unknown ? (Piece){0} : parse_alternatives(parser);
        parser->nesting--;
        parser->unknown |= *parser->at != ')';
        parser->at += *parser->at == ')';
        return piece;
    case '[':
        return parse_bracket(parser);
    case '.':
        return piece_of_set(parser, &any);
    case '^':
        return piece_of(parser, (Node){.kind = NODE_BEGIN});
    case '$':
        return piece_of(parser, (Node){.kind = NODE_END});
    case '\\':
        c = *parser->at ? *parser->at++ : 'n';
        parser->unknown |= isalnum((unsigned char)c) || c == '`' || c == '\'' || c == '<' || c == '>';
        return parse_character(parser, (unsigned char)c);
    case '*':
    case '+':
    case '?':
    case '{':
    case ')':
        parser->unknown = true; // what such a character means here is the library's matter
        return parse_character(parser, (unsigned char)c);
    default:
        return parse_character(parser, (unsigned char)c);
    }
}

// {m}, {m,} or {m,n}; `at` behind '{'. *most is UINT32_MAX without an upper bound.
static void
parse_bounds(Parser *parser, uint32_t *least, uint32_t *most)
{
    char *end;
    parser->unknown |= !isdigit((unsigned char)*parser->at);
    *least = (uint32_t)strtoul(parser->at, &end, 10);
    *most = *least;
    if (*end == ',') {
        *most = UINT32_MAX;
        if (isdigit((unsigned char)end[1]))
            *most = (uint32_t)strtoul(end + 1, &end, 10);
        else
            end++;
    }
    parser->unknown |= *end != '}' || *least > REPEATS_MAX || (*most > REPEATS_MAX && *most != UINT32_MAX) || *most < *least;
    parser->at = *end ? end + 1 : end;
}

static Piece
empty_piece(Parser *parser)
{
    uint32_t node = add_node(parser, (Node){.kind = NODE_GOTO});
    return (Piece){node, node};
}

// The piece may be left out; or, when `again`, be repeated as well.
static Piece
optional(Parser *parser, Piece piece, bool again)
{
    uint32_t last = add_node(parser, (Node){.kind = NODE_GOTO});
    uint32_t split = add_node(parser, (Node){.kind = NODE_SPLIT, .next = piece.first, .other = last});
    lead(parser, piece.last, again ? split : last);
    return (Piece){split, last};
}

static Piece
join(Parser *parser, Piece a, Piece b)
{
    lead(parser, a.last, b.first);
    return (Piece){a.first, b.last};
}

// The atom that begins at `text` so often, made anew each time.
static Piece
repeat(Parser *parser, const char *text, uint32_t least, uint32_t most)
{
    const char *behind = parser->at;
    Piece all = empty_piece(parser);
    uint32_t times = most == UINT32_MAX ? least + 1 : most;
    for (uint32_t i = 0; i < times && !parser->unknown; i++) {
        parser->at = text;
        Piece atom = parse_atom(parser);
        if (!parser->unknown)
            all = join(parser, all, i < least ? atom : optional(parser, atom, most == UINT32_MAX));
    }
    parser->at = behind;
    return all;
}

static Piece
parse_repeated(Parser *parser)
{
    const char *text = parser->at;
    Piece piece = parse_atom(parser);
    while (!parser->unknown && *parser->at && strchr("*+?{", *parser->at)) {
        char c = *parser->at++;
        uint32_t least = c == '+', most = c == '?' ? 1 : UINT32_MAX;
        if (c == '{')
            parse_bounds(parser, &least, &most);
        bool several = *parser->at && strchr("*+?{", *parser->at);
        parser->unknown |= several || *text == '^' || *text == '$'; // a**, ^* and their like
        if (!parser->unknown)
            piece = repeat(parser, text, least, most);
    }
    return piece;
}

static Piece
parse_sequence(Parser *parser)
{
    Piece all = empty_piece(parser);
    parser->unknown |= !*parser->at || *parser->at == '|' || *parser->at == ')';
    while (!parser->unknown && *parser->at && *parser->at != '|' && *parser->at != ')')
        all = join(parser, all, parse_repeated(parser));
    return all;
}

static Piece
parse_alternatives(Parser *parser)
{
    Piece all = parse_sequence(parser);
    while (!parser->unknown && *parser->at == '|') {
        parser->at++;
        Piece other = parse_sequence(parser);
        if (parser->unknown)
            break;
        uint32_t last = add_node(parser, (Node){.kind = NODE_GOTO});
        uint32_t split = add_node(parser, (Node){.kind = NODE_SPLIT, .next = all.first, .other = other.first});
        lead(parser, all.last, last);
        lead(parser, other.last, last);
        all = (Piece){split, last};
    }
    return all;
}

// --- states

static void
enter(Filter *filter, uint32_t node)
{
    if (filter->seen.at[node])
        return;
    filter->seen.at[node] = 1;
    vec_push(&filter->stack, node);
}

// Adds what can be reached from `node` without reading a character to `gathered`.
static void
gather(Filter *filter, uint32_t node, bool at_begin, bool at_end)
{
    enter(filter, node);
    while (filter->stack.n) {
        uint32_t top = vec_pop(&filter->stack);
        const Node at = filter->nodes.at[top];
        bool passes = at.kind == NODE_GOTO || at.kind == NODE_SPLIT || (at.kind == NODE_BEGIN && at_begin)
            || (at.kind == NODE_END && at_end);
        if (at.kind == NODE_FOUND)
            filter->found = true;
        if (at.kind == NODE_SET || at.kind == NODE_END)
            vec_push(&filter->gathered, top);
        if (passes)
            enter(filter, at.next);
        if (at.kind == NODE_SPLIT)
            enter(filter, at.other);
    }
}

static void
forget_gathered(Filter *filter)
{
    memset(filter->seen.at, 0, filter->seen.n);
    vec_clear(&filter->gathered);
    filter->found = false;
}

// Whether what has been gathered is found when the name ends here.
static bool
ends_here(Filter *filter, const State *state, bool at_begin)
{
    forget_gathered(filter);
    for (uint32_t i = 0; i < state->n; i++)
        gather(filter, filter->members.at[state->first + i], at_begin, true);
    return filter->found;
}

static bool
same_members(const Filter *filter, const State *state)
{
    return state->n == filter->gathered.n
        && !memcmp(filter->members.at + state->first, filter->gathered.at, state->n * sizeof *filter->gathered.at);
}

// The state of what has been gathered.
static FilterState
intern(Filter *filter, bool at_begin)
{
    if (filter->found)
        return FILTER_ALWAYS;
    uint32_t n = filter->gathered.n, old;
    if (!n)
        return FILTER_NEVER;
    qsort(filter->gathered.at, n, sizeof *filter->gathered.at, ascending_u32);
    uint64_t hash = hash_bytes(filter->gathered.at, n * sizeof *filter->gathered.at) ^ at_begin;
    if (map_get(&filter->state_of, hash, &old) && same_members(filter, filter->states.at[old]))
        return old + FIRST_STATE;
    if (filter->states.n >= STATES_MAX)
        return FILTER_ASK;
    State *state = base_calloc(1, sizeof *state);
    state->first = filter->members.n;
    state->n = n;
    memset(state->next, 0xff, sizeof state->next); // UNKNOWN
    vec_append(&filter->members, filter->gathered.at, n);
    state->ends = ends_here(filter, state, at_begin);
    map_put(&filter->state_of, hash, filter->states.n);
    vec_push(&filter->states, state);
    return filter->states.n - 1 + FIRST_STATE;
}

static FilterState
make_next(Filter *filter, const State *state, unsigned char c)
{
    forget_gathered(filter);
    for (uint32_t i = 0; i < state->n; i++) {
        const Node *node = &filter->nodes.at[filter->members.at[state->first + i]];
        if (node->kind == NODE_SET && in_set(&filter->sets.at[node->set], c))
            gather(filter, node->next, false, false);
    }
    gather(filter, filter->root, false, false); // the expression may begin anywhere
    return intern(filter, false);
}

// --- the interface

Filter *
filter_create(const char *expression)
{
    Filter *filter = base_calloc(1, sizeof *filter);
    if (regcomp(&filter->regex, expression, REG_EXTENDED | REG_NOSUB)) {
        free(filter);
        return NULL;
    }
    Parser parser = {.filter = filter, .at = expression};
    Piece all = parse_alternatives(&parser);
    uint32_t found = add_node(&parser, (Node){.kind = NODE_FOUND});
    parser.unknown |= *parser.at != 0;
    filter->start = FILTER_ASK;
    if (parser.unknown)
        return filter;
    lead(&parser, all.last, found);
    filter->root = all.first;
    vec_grow(&filter->seen, filter->nodes.n);
    gather(filter, filter->root, true, false);
    filter->start = intern(filter, true);
    return filter;
}

void
filter_free(Filter **filter)
{
    Filter *f = *filter;
    if (!f)
        return;
    for (uint32_t i = 0; i < f->states.n; i++)
        free(f->states.at[i]);
    regfree(&f->regex);
    vec_free(&f->nodes);
    vec_free(&f->sets);
    vec_free(&f->states);
    vec_free(&f->members);
    map_free(&f->state_of);
    vec_free(&f->stack);
    vec_free(&f->gathered);
    vec_free(&f->seen);
    free(f);
    *filter = NULL;
}

FilterState
filter_start(const Filter *filter)
{
    return filter->start;
}

FilterState
filter_read(Filter *filter, FilterState from, const char *text, size_t length)
{
    for (size_t i = 0; i < length && from >= FIRST_STATE; i++) {
        State *state = filter->states.at[from - FIRST_STATE];
        FilterState *next = &state->next[(unsigned char)text[i]];
        if (*next == UNKNOWN)
            *next = make_next(filter, state, (unsigned char)text[i]);
        from = *next;
    }
    return from;
}

bool
filter_ends(const Filter *filter, FilterState state)
{
    return state == FILTER_ALWAYS || (state >= FIRST_STATE && filter->states.at[state - FIRST_STATE]->ends);
}

bool
filter_finds(Filter *filter, const char *name)
{
    FilterState state = filter_read(filter, filter->start, name, strlen(name));
    if (state != FILTER_ASK)
        return filter_ends(filter, state);
    return !regexec(&filter->regex, name, 0, NULL, 0);
}
