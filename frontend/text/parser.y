// parser.y: the grammar: Modelica 3.6 (appendix A, "Concrete syntax") and the additions of
// docs/language.md. House rules: nothing semantic; an action is one constructor call (tree.c); every
// opening bracket or word is a nonterminal of its own, so that it is on the block stack (nesting limit,
// notes of messages) before the next token is read. Lists resynchronise at ';' after a syntax error;
// tokens.c puts that ';' in front of an 'end' or section word.
%require "3.8"
%define api.pure full
%define api.prefix {mdl_}
%define api.token.prefix {T_}
%define api.location.type {Span}
%define parse.error custom
%define parse.lac full
%locations
%expect 0
%param {Parser *p}

%code requires {
#include "frontend/text/syntax.h"
}

%code {
#include <stdio.h>
#include <string.h>

// An empty right-hand side stands at the end of what precedes; leading empty parts do not count.
#define YYLLOC_DEFAULT(Result, Rhs, N) \
    do { \
        int first_ = 1; \
        while (first_ < (N) && (Rhs)[first_].lo == (Rhs)[first_].hi) \
            first_++; \
        (Result).lo = (N) ? (Rhs)[first_].lo : (Rhs)[0].hi; \
        (Result).hi = (Rhs)[N].hi; \
    } while (0)

static int mdl_lex(MDL_STYPE *value, Span *span, Parser *p);
static void mdl_error(Span *span, Parser *p, const char *message);
}

%union {
    Node node;
    Sym sym;
    uint32_t flags;
    uint32_t depth;
    List list;
    ClassPrefix prefix;
    const char *word;
}

%token <sym> IDENT "a name" INTEGER "an integer" REAL "a number" STRING "a string" NUMBERS "an array of numbers"
%token YYEOF 0 "the end of the file"
%token LPAREN "(" RPAREN ")" LBRACKET "[" RBRACKET "]" LBRACE "{" RBRACE "}"
%token COMMA "," SEMICOLON ";" COLON ":" ASSIGN ":=" EQUALS "=" DOT "."
%token PLUS "+" MINUS "-" TIMES "*" SLASH "/" POWER "^"
%token EPLUS ".+" EMINUS ".-" ETIMES ".*" ESLASH "./" EPOWER ".^"
%token LT "<" LE "<=" GT ">" GE ">=" EQ "==" NE "<>"
%token ALGORITHM "algorithm" AND "and" ANNOTATION "annotation" BLOCK "block" BREAK "break"
%token CLASS "class" CONNECT "connect" CONNECTOR "connector" CONSTANT "constant"
%token CONSTRAINEDBY "constrainedby" DER "der" DISCRETE "discrete" EACH "each" ELSE "else"
%token ELSEIF "elseif" ELSEWHEN "elsewhen" ENCAPSULATED "encapsulated" END "end"
%token ENUMERATION "enumeration" EQUATION "equation" EXPANDABLE "expandable" EXTENDS "extends"
%token EXTERNAL "external" FALSE "false" FINAL "final" FLOW "flow" FOR "for" FUNCTION "function"
%token IF "if" IMPORT "import" IMPURE "impure" IN "in" INITIAL "initial" INNER "inner" INPUT "input"
%token LOOP "loop" MODEL "model" NOT "not" OPERATOR "operator" OR "or" OUTER "outer"
%token OUTPUT "output" PACKAGE "package" PARAMETER "parameter" PARTIAL "partial"
%token PROTECTED "protected" PUBLIC "public" PURE "pure" RECORD "record" REDECLARE "redeclare"
%token REPLACEABLE "replaceable" RETURN "return" STREAM "stream" THEN "then" TRUE "true"
%token TYPE "type" WHEN "when" WHILE "while" WITHIN "within"
// Decided by tokens.c: contextual words, `end` inside a subscript, `initial` before a section.
%token BODY "body" ELEMENT "element" CONSTRAINT "constraint" MEMORY "memory"
%token ENERGY "energy" BOND "bond" COORDINATE "coordinate"
%token KINETIC "kinetic" POTENTIAL "potential" DISSIPATION "dissipation" FORCE "force"
%token INERTIA "inertia" AT "at" ABOUT "about" OVER "over" FORMALISM "formalism"
%token LAST "'end' as a subscript" INITIAL_SECTION "initial equation"
%token FORMULA "a formula" // put in front of a text that is one

%type <node> item class_definition short_class body section element import_clause extends_clause
%type <node> component_clause component constraining condition_opt comment strings_comment strings_comment_opt
%type <node> annotation annotation_opt class_modification class_modification_opt modification
%type <node> modification_opt modification_value argument redeclared redeclared_component
%type <node> enumeration_literal bond_clause bond_argument external
%type <node> external_arguments type_specifier name subscripts subscripts_opt subscript
%type <node> equation statement connect_clause
%type <node> while_head energy_item memory_order inertia_domain inertia_frame
%type <node> for_index expression simple logical
%type <node> range relation sum product power primary parens reference part call
%type <node> function_argument function_reference argument_item row within external_result
%type <list> items elements elements_some equations statements energy_items component_list
%type <list> arguments arguments_some enumeration_literals bond_arguments name_list ident_list
%type <list> reference_list subscript_list branches when_branches statement_branches
%type <list> statement_when_branches energy_branches for_indices if_branches argument_items arguments_call
%type <list> expression_list output_list modification_list body_items
%type <flags> element_prefixes element_prefix type_prefixes type_prefix class_flags class_flag
%type <flags> modification_prefixes replacing base_prefixes
%type <prefix> class_prefixes class_kind
%type <sym> declared strings external_language
%type <depth> class_head extends_head if_open for_open when_open while_open ifx_open
%type <depth> lparen lbracket lbrace
%type <word> energy_word
%type <node> for_head
%type <list> rows

%left "or"
%left "and"

%start file

%%

// --- files and classes

file:
  items                         { p->file = file_node(p, @$, $items); }
| items "a formula" expression  { p->file = $expression; } // behind no items: what a text begins with is decided by one state, from which errors are recovered
;
items:
  %empty                        { p->items = $$ = list_start(p); }
| items[all] item ";"           { p->items = $$ = list_add(p, $all, $item); }
| items[all] error ";"          { yyerrok; p->items = $$ = list_recover(p, $all); }
;
item:
  within
| class_definition
| "final" class_definition[class] { $$ = element_prefixed(p, AST_F_FINAL, $class, 0); }
| import_clause
;
within:
  "within"                      { $$ = node(p, AST_NAME, @$, 0, 0, NULL, 0); }
| "within" name                 { $$ = $name; }
;

class_definition:
  class_prefixes[prefix] class_head[depth] body "end" "a name"[end]
    { $$ = long_class(p, @$, $prefix, $depth, 0, $body, $end, @end); }
| class_prefixes[prefix] class_head[depth] strings_comment[text] body "end" "a name"[end]
    { $$ = long_class(p, @$, $prefix, $depth, $text, $body, $end, @end); }
| class_prefixes[prefix] extends_head[depth] class_modification_opt[mods] strings_comment_opt[text] body "end" "a name"[end]
    { $$ = long_class(p, @$, $prefix, $depth, $text, extended_body(p, @$, $depth, $mods, $body), $end, @end); }
| short_class
;
short_class:
  class_prefixes[prefix] class_head[depth] "=" base_prefixes[flags] type_specifier[type] subscripts_opt[dims] class_modification_opt[mods] comment
    { $$ = short_class(p, @$, $prefix, $depth, 0, node(p, AST_SHORT, @$, 0, $flags, NODES($type, $dims, $mods, $comment))); }
| class_prefixes[prefix] class_head[depth] "=" "enumeration" lparen enumeration_literals[list] ")" comment
    { $$ = short_class(p, @$, $prefix, $depth, 0, node_list(p, AST_ENUM, @$, 0, 0, NODES($comment), $list)); }
| class_prefixes[prefix] class_head[depth] "=" "enumeration" lparen ":" ")" comment
    { $$ = short_class(p, @$, $prefix, $depth, 0, node(p, AST_ENUM, @$, 0, AST_F_OPEN, NODES($comment))); }
| class_prefixes[prefix] class_head[depth] "=" "der" lparen type_specifier[type] "," ident_list[list] ")" comment
    { $$ = short_class(p, @$, $prefix, $depth, $comment, node_list(p, AST_DERCLASS, @$, 0, 0, NODES($type), $list)); }
;
class_head:
  "a name"[name]                { $$ = block_open(p, BLOCK_CLASS, $name, @name); }
;
extends_head:
  "extends" "a name"[name]      { $$ = block_open(p, BLOCK_CLASS, $name, @name); }
;
class_prefixes:
  class_flags[flags] class_kind[kind] { $$ = (ClassPrefix){$flags | $kind.flags, $kind.kind}; }
;
class_flags:
  %empty                        { $$ = 0; }
| class_flags[all] class_flag[one] { $$ = ordered_add(p, $all, $one, @one); }
;
class_flag:
  "encapsulated"                { $$ = AST_F_ENCAPSULATED; }
| "partial"                     { $$ = AST_F_PARTIAL; }
;
class_kind:
  "class"                       { $$ = (ClassPrefix){0, CLASS_CLASS}; }
| "model"                       { $$ = (ClassPrefix){0, CLASS_MODEL}; }
| "record"                      { $$ = (ClassPrefix){0, CLASS_RECORD}; }
| "operator" "record"           { $$ = (ClassPrefix){0, CLASS_OPERATOR_RECORD}; }
| "block"                       { $$ = (ClassPrefix){0, CLASS_BLOCK}; }
| "connector"                   { $$ = (ClassPrefix){0, CLASS_CONNECTOR}; }
| "expandable" "connector"      { $$ = (ClassPrefix){AST_F_EXPANDABLE, CLASS_CONNECTOR}; }
| "type"                        { $$ = (ClassPrefix){0, CLASS_TYPE}; }
| "package"                     { $$ = (ClassPrefix){0, CLASS_PACKAGE}; }
| "function"                    { $$ = (ClassPrefix){0, CLASS_FUNCTION}; }
| "pure" "function"             { $$ = (ClassPrefix){AST_F_PURE, CLASS_FUNCTION}; }
| "impure" "function"           { $$ = (ClassPrefix){AST_F_IMPURE, CLASS_FUNCTION}; }
| "operator" "function"         { $$ = (ClassPrefix){0, CLASS_OPERATOR_FUNCTION}; }
| "pure" "operator" "function"  { $$ = (ClassPrefix){AST_F_PURE, CLASS_OPERATOR_FUNCTION}; }
| "impure" "operator" "function" { $$ = (ClassPrefix){AST_F_IMPURE, CLASS_OPERATOR_FUNCTION}; }
| "operator"                    { $$ = (ClassPrefix){0, CLASS_OPERATOR}; }
| "body"                        { $$ = (ClassPrefix){0, CLASS_BODY}; }
| "element"                     { $$ = (ClassPrefix){0, CLASS_ELEMENT}; }
| "constraint"                  { $$ = (ClassPrefix){0, CLASS_CONSTRAINT}; }
| "memory"                      { $$ = (ClassPrefix){0, CLASS_MEMORY}; }
;
base_prefixes:
  %empty                        { $$ = 0; }
| "input"                       { $$ = AST_F_INPUT; }
| "output"                      { $$ = AST_F_OUTPUT; }
;
enumeration_literals:
  enumeration_literal[one]      { $$ = list_first(p, $one); }
| enumeration_literals[all] "," enumeration_literal[one] { $$ = list_add(p, $all, $one); }
;
enumeration_literal:
  "a name"[name] comment        { $$ = node(p, AST_LITERAL, @$, $name, 0, NODES($comment)); }
;
ident_list:
  "a name"[name]                { $$ = list_first(p, ident_node(p, @name, $name)); }
| ident_list[all] "," "a name"[name] { $$ = list_add(p, $all, ident_node(p, @name, $name)); }
;

// --- class bodies

body:
  body_items[list]              { $$ = list_node(p, AST_BODY, @$, 0, $list); }
;
body_items:
  elements[list]
    { Node first = $list.n || $list.bad ? list_node(p, AST_PUBLIC, @list, AST_F_IMPLICIT, $list) : 0;
      $$ = first ? list_first(p, first) : list_start(p); }
| body_items[all] section       { $$ = list_add(p, $all, $section); }
;
section:
  "public" elements[list]       { $$ = list_node(p, AST_PUBLIC, @$, 0, $list); }
| "protected" elements[list]    { $$ = list_node(p, AST_PROTECTED, @$, 0, $list); }
| "equation" equations[list]    { $$ = list_node(p, AST_EQUATIONS, @$, 0, $list); }
| "initial equation" "equation" equations[list]
    { $$ = list_node(p, AST_EQUATIONS, @$, AST_F_INITIAL, $list); }
| "algorithm" statements[list]  { $$ = list_node(p, AST_ALGORITHM, @$, 0, $list); }
| "initial equation" "algorithm" statements[list]
    { $$ = list_node(p, AST_ALGORITHM, @$, AST_F_INITIAL, $list); }
| "energy" energy_items[list]   { $$ = list_node(p, AST_ENERGY, @$, 0, $list); }
| external ";"
| annotation ";"                { p->annotated = @annotation; $$ = $annotation; }
;
elements:
  %empty                        { $$ = list_start(p); }
| elements_some
;
elements_some:
  element ";"                   { $$ = list_first(p, $element); }
| error ";"                     { yyerrok; $$ = list_recover(p, list_start(p)); }
| elements_some[all] element ";" { $$ = list_add(p, $all, $element); }
| elements_some[all] error ";"  { yyerrok; $$ = list_recover(p, $all); }
;
external:
  "external" external_language[lang] annotation_opt[note]
    { $$ = node(p, AST_EXTERNAL, @$, $lang, 0, NODES(0, 0, 0, $note)); }
| "external" external_language[lang] external_result[result] "a name"[name] external_arguments[args] annotation_opt[note]
    { $$ = node(p, AST_EXTERNAL, @$, $lang, 0, NODES($result, ident_node(p, @name, $name), $args, $note)); }
| "external" external_language[lang] "a name"[name] external_arguments[args] annotation_opt[note]
    { $$ = node(p, AST_EXTERNAL, @$, $lang, 0, NODES(0, ident_node(p, @name, $name), $args, $note)); }
;
external_language:
  %empty                        { $$ = 0; }
| "a string"
;
external_result:
  reference "="                 { $$ = $reference; }
;
external_arguments:
  lparen[depth] ")"             { $$ = args_node(p, @$, list_start(p), $depth); }
| lparen[depth] expression_list[list] ")" { $$ = args_node(p, @$, $list, $depth); }
;

// --- elements

element:
  import_clause
| extends_clause
| bond_clause
| element_prefixes[flags] class_definition[class] constraining[by]
    { $$ = element_prefixed(p, $flags, $class, $by); }
| element_prefixes[flags] component_clause[line] constraining[by]
    { $$ = element_prefixed(p, $flags, $line, $by); }
;
element_prefixes:
  %empty                        { $$ = 0; }
| element_prefixes[all] element_prefix[one] { $$ = prefix_add(p, $all, $one, @one); }
;
element_prefix:
  "redeclare"                   { $$ = AST_F_REDECLARE; }
| "final"                       { $$ = AST_F_FINAL; }
| "inner"                       { $$ = AST_F_INNER; }
| "outer"                       { $$ = AST_F_OUTER; }
| "replaceable"                 { $$ = AST_F_REPLACEABLE; }
;
constraining:
  %empty                        { $$ = 0; }
| "constrainedby" type_specifier[type] class_modification_opt[mods] comment
    { $$ = node(p, AST_CONSTRAINED, @$, 0, 0, NODES($type, $mods, $comment)); }
;
import_clause:
  "import" "a name"[alias] "=" name comment
    { $$ = node(p, AST_IMPORT, @$, $alias, 0, NODES($name)); (void)$comment; }
| "import" name comment         { $$ = node(p, AST_IMPORT, @$, 0, 0, NODES($name)); (void)$comment; }
| "import" name ".*" comment    { $$ = node(p, AST_IMPORT, @$, 0, AST_F_ALL, NODES($name)); (void)$comment; }
| "import" name_list[list] "." "*" comment
    { $$ = node(p, AST_IMPORT, @$, 0, AST_F_ALL, NODES(list_node(p, AST_NAME, @list, 0, $list))); (void)$comment; }
| "import" name_list[list] "." lbrace[depth] ident_list[names] "}" comment
    { block_close(p, $depth); (void)$comment;
      $$ = node_list(p, AST_IMPORT, @$, 0, 0, NODES(list_node(p, AST_NAME, @list, 0, $list)), $names); }
;
extends_clause:
  "extends" type_specifier[type] class_modification_opt[mods] annotation_opt[note]
    { $$ = node(p, AST_EXTENDS, @$, 0, 0, NODES($type, $mods, $note)); }
;
bond_clause:
  "bond" lparen[depth] bond_arguments[list] ")" comment
    { (void)$comment; $$ = closed_node(p, AST_BOND, @$, $depth, $list); }
;
bond_arguments:
  bond_argument[one]            { $$ = list_first(p, $one); }
| bond_arguments[all] "," bond_argument[one] { $$ = list_add(p, $all, $one); }
;
bond_argument:
  "flow" "=" expression         { $$ = node(p, AST_ARG, @$, sym_of(p->syms, "flow"), 0, NODES($expression)); }
| "a name"[name] "=" expression { $$ = node(p, AST_ARG, @$, $name, 0, NODES($expression)); }
;
component_clause:
  type_prefixes[flags] type_specifier[type] subscripts_opt[dims] component_list[list]
    { $$ = node_list(p, AST_COMPONENTS, @$, 0, $flags, NODES($type, $dims, 0), $list); }
;
type_prefixes:
  %empty                        { $$ = 0; }
| type_prefixes[all] type_prefix[one] { $$ = ordered_add(p, $all, $one, @one); }
;
type_prefix:
  "flow"                        { $$ = AST_F_FLOW; }
| "stream"                      { $$ = AST_F_STREAM; }
| "discrete"                    { $$ = AST_F_DISCRETE; }
| "parameter"                   { $$ = AST_F_PARAMETER; }
| "constant"                    { $$ = AST_F_CONSTANT; }
| "input"                       { $$ = AST_F_INPUT; }
| "output"                      { $$ = AST_F_OUTPUT; }
| "coordinate"                  { $$ = AST_F_COORDINATE; }
;
component_list:
  component[one]                { $$ = list_first(p, $one); }
| component_list[all] "," component[one] { $$ = list_add(p, $all, $one); }
;
component:
  declared[name] subscripts_opt[dims] modification_opt[mods] condition_opt[condition] comment
    { $$ = node(p, AST_COMPONENT, @$, $name, 0, NODES($dims, $mods, $condition, $comment)); }
;
declared:
  "a name"[name]                { p->declared = $$ = $name; }
;
condition_opt:
  %empty                        { $$ = 0; }
| "if" expression               { $$ = $expression; }
;

// --- modifications

class_modification_opt:
  %empty                        { $$ = 0; }
| class_modification
;
class_modification:
  modification_list[list]       { $$ = node_list(p, AST_MODS, @$, 0, 0, NODES(0), $list); }
;
modification_list:
  lparen[depth] arguments[list] ")" { block_close(p, $depth); $$ = $list; }
;
modification_opt:
  %empty                        { $$ = 0; }
| modification
;
modification:
  modification_list[list]       { $$ = node_list(p, AST_MODS, @$, 0, 0, NODES(0), $list); }
| modification_list[list] "=" modification_value[value]
    { $$ = node_list(p, AST_MODS, @$, 0, 0, NODES($value), $list); }
| "=" modification_value[value]  { $$ = node(p, AST_MODS, @$, 0, 0, NODES($value)); }
| ":=" modification_value[value] { $$ = node(p, AST_MODS, @$, 0, AST_F_ASSIGN, NODES($value)); }
;
modification_value:
  expression
| "break"                       { $$ = node(p, AST_UNSET, @$, 0, 0, NULL, 0); }
;
arguments:
  %empty                        { $$ = list_start(p); }
| arguments_some
;
arguments_some:
  argument[one]                 { $$ = list_first(p, $one); }
| arguments_some[all] "," argument[one] { $$ = list_add(p, $all, $one); }
;
argument:
  modification_prefixes[flags] name modification_opt[mods] strings_comment[text]
    { $$ = node(p, AST_MOD, @$, 0, $flags, NODES($name, $mods, $text)); }
| modification_prefixes[flags] name modification_opt[mods]
    { $$ = node(p, AST_MOD, @$, 0, $flags, NODES($name, $mods, 0)); }
| replacing[flags] redeclared[what] constraining[by]
    { $$ = node(p, AST_REDECLARE, @$, 0, $flags, NODES(element_prefixed(p, $flags & AST_F_REPLACEABLE, $what, $by))); }
| "break" "a name"[name]
    { $$ = node(p, AST_DESELECT, @$, 0, 0, NODES(ident_node(p, @name, $name))); }
| "break" connect_clause[connect] { $$ = node(p, AST_DESELECT, @$, 0, 0, NODES($connect)); }
;
modification_prefixes:
  %empty                        { $$ = 0; }
| modification_prefixes[all] "each"  { $$ = ordered_add(p, $all, AST_F_EACH, @2); }
| modification_prefixes[all] "final" { $$ = ordered_add(p, $all, AST_F_FINAL, @2); }
;
replacing:
  modification_prefixes[all] "redeclare"   { $$ = ordered_add(p, $all, AST_F_REDECLARE, @2); }
| modification_prefixes[all] "replaceable" { $$ = ordered_add(p, $all, AST_F_REPLACEABLE, @2); }
| replacing[all] "redeclare"    { $$ = ordered_add(p, $all, AST_F_REDECLARE, @2); }
| replacing[all] "replaceable"  { $$ = ordered_add(p, $all, AST_F_REPLACEABLE, @2); }
| replacing[all] "each"         { $$ = ordered_add(p, $all, AST_F_EACH, @2); }
| replacing[all] "final"        { $$ = ordered_add(p, $all, AST_F_FINAL, @2); }
;
redeclared:
  short_class
| type_prefixes[flags] type_specifier[type] subscripts_opt[dims] redeclared_component[one]
    { $$ = node(p, AST_COMPONENTS, @$, 0, $flags, NODES($type, $dims, 0, $one)); }
;
redeclared_component:
  declared[name] subscripts_opt[dims] modification_opt[mods] comment
    { $$ = node(p, AST_COMPONENT, @$, $name, 0, NODES($dims, $mods, 0, $comment)); }
;

// --- comments and annotations

comment:
  %empty                        { $$ = 0; }
| strings                       { $$ = node(p, AST_COMMENT, @$, $strings, 0, NODES(0)); }
| strings annotation            { $$ = node(p, AST_COMMENT, @$, $strings, 0, NODES($annotation)); }
| annotation                    { $$ = node(p, AST_COMMENT, @$, 0, 0, NODES($annotation)); }
;
strings_comment:
  strings                       { $$ = node(p, AST_COMMENT, @$, $strings, 0, NODES(0)); }
;
strings_comment_opt:
  %empty                        { $$ = 0; }
| strings_comment
;
strings:
  "a string"
| strings[all] "+" "a string"[one] { $$ = strings_join(p, $all, $one); }
;
annotation_opt:
  %empty                        { $$ = 0; }
| annotation
;
annotation:
  "annotation" class_modification[mods] { $$ = node(p, AST_ANNOTATION, @$, 0, 0, NODES($mods)); }
;

// --- equations

equations:
  %empty                        { $$ = list_start(p); }
| equations[all] equation ";"   { $$ = list_add(p, $all, $equation); }
| equations[all] error ";"      { yyerrok; $$ = list_recover(p, $all); }
;
equation:
  simple[left] "=" expression[right] comment
    { $$ = node(p, AST_EQUATION, @$, 0, 0, NODES($left, $right, $comment)); }
| simple[call] comment          { $$ = call_equation(p, @$, $call, $comment); }
| connect_clause[connect] comment { $$ = connect_comment(p, @$, $connect, $comment); }
| branches[list] "end" "if" comment
    { $$ = chain_node(p, AST_IFEQ, @$, $list, $comment); }
| branches[list] "else" equations[otherwise] "end" "if" comment
    { $$ = chain_node(p, AST_IFEQ, @$, chain_else(p, $list, @otherwise, $otherwise), $comment); }
| when_branches[list] "end" "when" comment
    { $$ = chain_node(p, AST_WHENEQ, @$, $list, $comment); }
| for_open[depth] for_head[indices] "loop" equations[list] "end" "for" comment
    { $$ = loop_node(p, AST_FOREQ, @$, $depth, $indices, $list, $comment); }
;
connect_clause:
  "connect" lparen[depth] reference[a] "," reference[b] ")"
    { block_close(p, $depth); $$ = node(p, AST_CONNECT, @$, 0, 0, NODES($a, $b, 0)); }
;
if_open:
  "if"                          { $$ = block_open(p, BLOCK_IF, 0, @$); }
;
for_open:
  "for"                         { $$ = block_open(p, BLOCK_FOR, 0, @$); }
;
when_open:
  "when"                        { $$ = block_open(p, BLOCK_WHEN, 0, @$); }
;
while_open:
  "while"                       { $$ = block_open(p, BLOCK_WHILE, 0, @$); }
;
branches:
  if_open expression "then" equations[list]
    { $$ = list_first(p, branch_node(p, @$, $expression, $list)); }
| branches[all] "elseif" expression "then" equations[list]
    { $$ = list_add(p, $all, branch_node(p, span_join(@2, @list), $expression, $list)); }
;
when_branches:
  when_open expression "then" equations[list]
    { $$ = list_first(p, branch_node(p, @$, $expression, $list)); }
| when_branches[all] "elsewhen" expression "then" equations[list]
    { $$ = list_add(p, $all, branch_node(p, span_join(@2, @list), $expression, $list)); }
;
for_head:
  for_indices[list]             { $$ = list_node(p, AST_INDICES, @$, 0, $list); }
;
for_indices:
  for_index[one]                { $$ = list_first(p, $one); }
| for_indices[all] "," for_index[one] { $$ = list_add(p, $all, $one); }
;
for_index:
  "a name"[name]                { $$ = node(p, AST_FORINDEX, @$, $name, 0, NODES(0)); }
| "a name"[name] "in" expression { $$ = node(p, AST_FORINDEX, @$, $name, 0, NODES($expression)); }
;

// --- statements

statements:
  %empty                        { $$ = list_start(p); }
| statements[all] statement ";" { $$ = list_add(p, $all, $statement); }
| statements[all] error ";"     { yyerrok; $$ = list_recover(p, $all); }
;
statement:
  reference ":=" expression comment
    { $$ = node(p, AST_ASSIGN, @$, 0, 0, NODES($reference, $expression, $comment)); }
| reference lparen[depth] arguments_call[list] ")" comment
    { $$ = node(p, AST_CALLST, @$, 0, 0, NODES(call_of(p, span_join(@1, @4), $reference, args_node(p, span_join(@2, @4), $list, $depth)), $comment)); }
| lparen[depth] output_list[list] ")" ":=" reference call comment
    { block_close(p, $depth);
      $$ = node(p, AST_MULTIASSIGN, @$, 0, 0,
                NODES(list_node(p, AST_TUPLE, span_join(@1, @3), 0, $list), call_of(p, span_join(@reference, @call), $reference, $call), $comment)); }
| "break" comment               { $$ = node(p, AST_BREAK, @$, 0, 0, NODES($comment)); }
| "return" comment              { $$ = node(p, AST_RETURN, @$, 0, 0, NODES($comment)); }
| statement_branches[list] "end" "if" comment
    { $$ = chain_node(p, AST_IFST, @$, $list, $comment); }
| statement_branches[list] "else" statements[otherwise] "end" "if" comment
    { $$ = chain_node(p, AST_IFST, @$, chain_else(p, $list, @otherwise, $otherwise), $comment); }
| statement_when_branches[list] "end" "when" comment
    { $$ = chain_node(p, AST_WHENST, @$, $list, $comment); }
| for_open[depth] for_head[indices] "loop" statements[list] "end" "for" comment
    { $$ = loop_node(p, AST_FORST, @$, $depth, $indices, $list, $comment); }
| while_open[depth] while_head[condition] "loop" statements[list] "end" "while" comment
    { $$ = loop_node(p, AST_WHILEST, @$, $depth, $condition, $list, $comment); }
;
while_head:
  expression
;
statement_branches:
  if_open expression "then" statements[list]
    { $$ = list_first(p, branch_node(p, @$, $expression, $list)); }
| statement_branches[all] "elseif" expression "then" statements[list]
    { $$ = list_add(p, $all, branch_node(p, span_join(@2, @list), $expression, $list)); }
;
statement_when_branches:
  when_open expression "then" statements[list]
    { $$ = list_first(p, branch_node(p, @$, $expression, $list)); }
| statement_when_branches[all] "elsewhen" expression "then" statements[list]
    { $$ = list_add(p, $all, branch_node(p, span_join(@2, @list), $expression, $list)); }
;

// --- energy sections

energy_items:
  %empty                        { $$ = list_start(p); }
| energy_items[all] energy_item[one] ";" { $$ = list_add(p, $all, $one); }
| energy_items[all] error ";"   { yyerrok; $$ = list_recover(p, $all); }
;
energy_item:
  energy_word[word] expression comment
    { $$ = energy_node(p, @$, $word, 0, NODES($expression, $comment)); }
| "memory" memory_order[order] energy_word[word] expression comment
    { $$ = energy_node(p, @$, $word, AST_F_MEMORY, NODES($expression, $comment, $order)); }
| "force" reference "=" expression comment
    { $$ = energy_node(p, @$, "force", 0, NODES($reference, $expression, $comment)); }
| "inertia" expression[mass] inertia_domain[domain] "at" expression[place] inertia_frame[frame] comment
    { $$ = energy_node(p, @$, "inertia", 0, NODES($mass, $domain, $place, $frame, $comment)); }
| "inertia" expression[mass] inertia_domain[domain] "about" expression[angle] comment
    { $$ = energy_node(p, @$, "inertia", AST_F_ABOUT, NODES($mass, $domain, $angle, 0, $comment)); }
| "constraint" simple[left] "=" expression[right] comment
    { $$ = energy_node(p, @$, "constraint", 0, NODES($left, $right, $comment)); }
| "formalism" "a name"[name] comment
    { $$ = energy_node(p, @$, "formalism", 0, NODES(ident_node(p, @name, $name), $comment)); }
| energy_branches[list] "end" "if" comment
    { $$ = chain_node(p, AST_IFEQ, @$, $list, $comment); }
| energy_branches[list] "else" energy_items[otherwise] "end" "if" comment
    { $$ = chain_node(p, AST_IFEQ, @$, chain_else(p, $list, @otherwise, $otherwise), $comment); }
| for_open[depth] for_head[indices] "loop" energy_items[list] "end" "for" comment
    { $$ = loop_node(p, AST_FOREQ, @$, $depth, $indices, $list, $comment); }
;
// memory(order = 0.5) dissipation: the name is checked where the order is evaluated.
memory_order:
  %empty                        { $$ = 0; }
| "(" "a name"[name] "=" expression ")"
    { $$ = node(p, AST_ARG, @$, $name, 0, NODES($expression)); }
;
energy_branches:
  if_open expression "then" energy_items[list]
    { $$ = list_first(p, branch_node(p, @$, $expression, $list)); }
| energy_branches[all] "elseif" expression "then" energy_items[list]
    { $$ = list_add(p, $all, branch_node(p, span_join(@2, @list), $expression, $list)); }
;
inertia_domain:
  %empty                        { $$ = 0; }
| "over" for_head               { $$ = $for_head; }
;
inertia_frame:
  %empty                        { $$ = 0; }
| "in" expression               { $$ = $expression; }
;
energy_word:
  "kinetic"                     { $$ = "kinetic"; }
| "potential"                   { $$ = "potential"; }
| "dissipation"                 { $$ = "dissipation"; }
;

// --- names and references

type_specifier:
  name
| "." name                      { $$ = with_flag(p, $name, AST_F_DOT, @$); }
;
name:
  name_list[list]               { $$ = list_node(p, AST_NAME, @$, 0, $list); }
;
name_list:
  "a name"[name]                { $$ = list_first(p, ident_node(p, @name, $name)); }
| name_list[all] "." "a name"[name] { $$ = list_add(p, $all, ident_node(p, @name, $name)); }
;
reference:
  reference_list[list]          { $$ = list_node(p, AST_REF, @$, 0, $list); }
| "." reference_list[list]      { $$ = list_node(p, AST_REF, @$, AST_F_DOT, $list); }
;
reference_list:
  part                          { $$ = list_first(p, $part); }
| reference_list[all] "." part  { $$ = list_add(p, $all, $part); }
;
part:
  "a name"[name]                { $$ = node(p, AST_PART, @$, $name, 0, NODES(0)); }
| "a name"[name] subscripts[at] { $$ = node(p, AST_PART, @$, $name, 0, NODES($at)); }
;
subscripts_opt:
  %empty                        { $$ = 0; }
| subscripts
;
subscripts:
  lbracket[depth] subscript_list[list] "]"
    { $$ = closed_node(p, AST_SUBSCRIPTS, @$, $depth, $list); }
;
subscript_list:
  subscript[one]                { $$ = list_first(p, $one); }
| subscript_list[all] "," subscript[one] { $$ = list_add(p, $all, $one); }
;
subscript:
  expression
| ":"                           { $$ = node(p, AST_COLON, @$, 0, 0, NULL, 0); }
;

// --- expressions

expression:
  logical
| range
| if_branches[list] "else" expression[otherwise]
    { $$ = chain_node(p, AST_IFEXPR, @$, $list, $otherwise); }
;
ifx_open:
  "if"                          { $$ = block_open(p, BLOCK_IFEXPR, 0, @$); }
;
if_branches:
  ifx_open expression[condition] "then" expression[value]
    { $$ = list_add(p, list_first(p, $condition), $value); }
| if_branches[all] "elseif" expression[condition] "then" expression[value]
    { $$ = list_add(p, list_add(p, $all, $condition), $value); }
;
// The levels of the specification that only pass a value on are written out as alternatives: every
// operand would otherwise be reduced nine times.
simple:
  logical
| range
;
range:
  logical[first] ":" logical[last] { $$ = node(p, AST_RANGE, @$, 0, 0, NODES($first, 0, $last)); }
| logical[first] ":" logical[step] ":" logical[last]
    { $$ = node(p, AST_RANGE, @$, 0, 0, NODES($first, $step, $last)); }
;
logical:
  sum
| relation
| "not" sum                     { $$ = node_op(p, AST_UNARY, @$, AOP_NOT, NODES($sum)); }
| "not" relation                { $$ = node_op(p, AST_UNARY, @$, AOP_NOT, NODES($relation)); }
| logical[a] "or" logical[b] { $$ = node_op(p, AST_BINARY, @$, AOP_OR, NODES($a, $b)); }
| logical[a] "and" logical[b] { $$ = node_op(p, AST_BINARY, @$, AOP_AND, NODES($a, $b)); }
;
relation:
  sum[a] "<" sum[b]  { $$ = node_op(p, AST_BINARY, @$, AOP_LT, NODES($a, $b)); }
| sum[a] "<=" sum[b] { $$ = node_op(p, AST_BINARY, @$, AOP_LE, NODES($a, $b)); }
| sum[a] ">" sum[b] { $$ = node_op(p, AST_BINARY, @$, AOP_GT, NODES($a, $b)); }
| sum[a] ">=" sum[b] { $$ = node_op(p, AST_BINARY, @$, AOP_GE, NODES($a, $b)); }
| sum[a] "==" sum[b] { $$ = node_op(p, AST_BINARY, @$, AOP_EQ, NODES($a, $b)); }
| sum[a] "<>" sum[b] { $$ = node_op(p, AST_BINARY, @$, AOP_NE, NODES($a, $b)); }
;
sum:
  product
| "+" product  { $$ = node_op(p, AST_UNARY, @$, AOP_PLUS, NODES($product)); }
| "-" product  { $$ = node_op(p, AST_UNARY, @$, AOP_NEG, NODES($product)); }
| ".+" product { $$ = node_op(p, AST_UNARY, @$, AOP_EPLUS, NODES($product)); }
| ".-" product { $$ = node_op(p, AST_UNARY, @$, AOP_ENEG, NODES($product)); }
| sum[a] "+" product[b] { $$ = node_op(p, AST_BINARY, @$, AOP_ADD, NODES($a, $b)); }
| sum[a] "-" product[b] { $$ = node_op(p, AST_BINARY, @$, AOP_SUB, NODES($a, $b)); }
| sum[a] ".+" product[b] { $$ = node_op(p, AST_BINARY, @$, AOP_EADD, NODES($a, $b)); }
| sum[a] ".-" product[b] { $$ = node_op(p, AST_BINARY, @$, AOP_ESUB, NODES($a, $b)); }
;
product:
  primary
| power
| product[a] "*" primary[b] { $$ = node_op(p, AST_BINARY, @$, AOP_MUL, NODES($a, $b)); }
| product[a] "/" primary[b] { $$ = node_op(p, AST_BINARY, @$, AOP_DIV, NODES($a, $b)); }
| product[a] ".*" primary[b] { $$ = node_op(p, AST_BINARY, @$, AOP_EMUL, NODES($a, $b)); }
| product[a] "./" primary[b] { $$ = node_op(p, AST_BINARY, @$, AOP_EDIV, NODES($a, $b)); }
| product[a] "*" power[b] { $$ = node_op(p, AST_BINARY, @$, AOP_MUL, NODES($a, $b)); }
| product[a] "/" power[b] { $$ = node_op(p, AST_BINARY, @$, AOP_DIV, NODES($a, $b)); }
| product[a] ".*" power[b] { $$ = node_op(p, AST_BINARY, @$, AOP_EMUL, NODES($a, $b)); }
| product[a] "./" power[b] { $$ = node_op(p, AST_BINARY, @$, AOP_EDIV, NODES($a, $b)); }
;
power:
  primary[a] "^" primary[b]  { $$ = node_op(p, AST_BINARY, @$, AOP_POW, NODES($a, $b)); }
| primary[a] ".^" primary[b] { $$ = node_op(p, AST_BINARY, @$, AOP_EPOW, NODES($a, $b)); }
;
primary:
  "an integer"[text]            { $$ = number_node(p, @$, $text, true); }
| "a number"[text]              { $$ = number_node(p, @$, $text, false); }
| "an array of numbers"[block]  { $$ = numbers_node(p, @$, $block); }
| "a string"[text]              { $$ = node(p, AST_STRING, @$, $text, 0, NULL, 0); }
| "false"                       { $$ = node(p, AST_BOOL, @$, 0, 0, NULL, 0); }
| "true"                        { $$ = node(p, AST_BOOL, @$, 0, AST_F_TRUE, NULL, 0); }
| "'end' as a subscript"        { $$ = node(p, AST_END, @$, 0, 0, NULL, 0); }
| reference
| function_reference[function] call { $$ = call_of(p, @$, $function, $call); }
| parens
| parens subscripts[at]         { $$ = node(p, AST_INDEXED, @$, 0, 0, NODES($parens, $at)); }
| parens "." "a name"[name]     { $$ = node(p, AST_MEMBER, @$, $name, 0, NODES($parens)); }
| lbrace[depth] argument_items[list] "}"
    { $$ = closed_node(p, AST_ARRAY, @$, $depth, $list); }
| lbrace[depth] expression "for" for_head[indices] "}"
    { block_close(p, $depth);
      $$ = node(p, AST_ARRAY, @$, 0, 0, NODES(node(p, AST_FORARG, span_join(@2, @4), 0, 0, NODES($expression, $indices)))); }
| lbracket[depth] rows "]"
    { $$ = closed_node(p, AST_MATRIX, @$, $depth, $rows); }
;
parens: // closed before the next token is looked at: contextual words may follow
  lparen[depth] output_list[list] ")" { $$ = tuple_or_parens(p, @$, $list, $depth); }
;
function_reference:
  reference
| "der"                         { $$ = word_ref(p, @$, "der"); }
| "initial"                     { $$ = word_ref(p, @$, "initial"); }
| "pure"                        { $$ = word_ref(p, @$, "pure"); }
;
lparen:
  "("                           { $$ = block_open(p, BLOCK_PAREN, 0, @$); }
;
lbracket:
  "["                           { $$ = block_open(p, BLOCK_BRACKET, 0, @$); }
;
lbrace:
  "{"                           { $$ = block_open(p, BLOCK_BRACE, 0, @$); }
;
call:
  lparen[depth] arguments_call[list] ")" { $$ = args_node(p, @$, $list, $depth); }
;
arguments_call:
  %empty                        { $$ = list_start(p); }
| argument_items
| expression "for" for_head[indices]
    { $$ = list_first(p, node(p, AST_FORARG, @$, 0, 0, NODES($expression, $indices))); }
;
argument_items:
  argument_item[one]            { $$ = list_first(p, $one); }
| argument_items[all] "," argument_item[one] { $$ = list_add(p, $all, $one); }
;
argument_item:
  expression
| function_argument
| "a name"[name] "=" expression { $$ = node(p, AST_ARG, @$, $name, 0, NODES($expression)); }
| "a name"[name] "=" function_argument[value] { $$ = node(p, AST_ARG, @$, $name, 0, NODES($value)); }
;
function_argument:
  "function" type_specifier[type] lparen[depth] ")"
    { $$ = node(p, AST_FUNCARG, @$, 0, 0, NODES($type, args_node(p, span_join(@3, @4), list_start(p), $depth))); }
| "function" type_specifier[type] lparen[depth] argument_items[list] ")"
    { $$ = node(p, AST_FUNCARG, @$, 0, 0, NODES($type, args_node(p, span_join(@3, @5), $list, $depth))); }
;
expression_list:
  expression[one]               { $$ = list_first(p, $one); }
| expression_list[all] "," expression[one] { $$ = list_add(p, $all, $one); }
;
output_list:
  %empty                        { $$ = list_first(p, 0); }
| expression[one]               { $$ = list_first(p, $one); }
| output_list[all] ","          { $$ = list_add(p, $all, 0); }
| output_list[all] "," expression[one] { $$ = list_add(p, $all, $one); }
;
rows:
  row                           { $$ = list_first(p, $row); }
| rows[all] ";" row             { $$ = list_add(p, $all, $row); }
;
row:
  expression_list[list]         { $$ = list_node(p, AST_ROW, @$, 0, $list); }
;

%%

static int
mdl_lex(MDL_STYPE *value, Span *span, Parser *p)
{
    Token token = token_next(p);
    value->sym = token.sym;
    *span = token.span;
    return token.kind;
}

// Only "memory exhausted" comes here: more symbols waiting than any tree within the limit has.
static void
mdl_error(Span *span, Parser *p, const char *message)
{
    (void)message;
    if (!p->stop)
        diag_add(p->diags, E0004, *span, "nesting is too deep here");
    p->stop = true;
}

// --- what the messages of mistake.c are made from

// Which list of the grammar a symbol is; false: none.
static bool
list_of(yysymbol_kind_t kind, MistakeList *list)
{
    switch (kind) {
    case YYSYMBOL_items: *list = LIST_ITEMS; return true;
    case YYSYMBOL_equations: *list = LIST_EQUATIONS; return true;
    case YYSYMBOL_statements: *list = LIST_STATEMENTS; return true;
    case YYSYMBOL_energy_items: *list = LIST_ENERGY; return true;
    case YYSYMBOL_elements: case YYSYMBOL_elements_some: case YYSYMBOL_body_items: case YYSYMBOL_PUBLIC:
    case YYSYMBOL_PROTECTED: case YYSYMBOL_class_head: case YYSYMBOL_extends_head:
        *list = LIST_ELEMENTS;
        return true;
    default:
        return false;
    }
}

static MistakeFirst
first_of(yysymbol_kind_t kind)
{
    switch (kind) {
    case YYSYMBOL_YYEMPTY: return FIRST_NONE;
    case YYSYMBOL_IMPORT: return FIRST_IMPORT;
    case YYSYMBOL_EXTENDS: return FIRST_EXTENDS;
    case YYSYMBOL_ANNOTATION: case YYSYMBOL_annotation: return FIRST_ANNOTATION;
    case YYSYMBOL_BOND: return FIRST_BOND;
    default: return FIRST_OTHER;
    }
}

static const char *
token_name(int kind)
{
    return yysymbol_name(YYTRANSLATE(kind));
}

static void
mistake_find(Mistake *m, const yypcontext_t *context)
{
    _Static_assert(YYMAXUTOK < TOKEN_KINDS, "a place for every kind of token");
    yysymbol_kind_t wanted[YYNTOKENS], first = YYSYMBOL_YYEMPTY;
    bool want[YYNTOKENS] = {false};
    m->n_want = yypcontext_expected_tokens(context, wanted, YYNTOKENS);
    for (int i = 0; i < m->n_want; i++)
        want[wanted[i]] = true;
    for (int kind = 0; kind <= YYMAXUTOK; kind++) // 1 to 257 are single characters and bison's own
        m->want[kind] = (!kind || kind > 257) && want[YYTRANSLATE(kind)];
    m->name = token_name;
    m->list = LIST_ITEMS;
    for (yy_state_t *at = context->yyssp; *at; at--) {
        yysymbol_kind_t kind = YY_CAST(yysymbol_kind_t, yystos[*at]);
        if (list_of(kind, &m->list))
            break;
        first = kind;
        m->declared |= first == YYSYMBOL_declared || first == YYSYMBOL_component_list;
    }
    m->first = first_of(first);
}

static int
yyreport_syntax_error(const yypcontext_t *context, Parser *p)
{
    p->stop |= p->lost;
    if (p->stop)
        return 0;
    Mistake mistake = {.p = p};
    mistake_find(&mistake, context);
    mistake_report(&mistake);
    return 0;
}
