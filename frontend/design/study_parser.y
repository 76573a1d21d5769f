// study_parser.y: the grammar of studies (docs/studies.md). House rules as in frontend/text/parser.y: nothing semantic; an action is a
// constructor call (study_tree.c). After a mistake reading goes on behind the next ';'.
%require "3.8"
%define api.pure full
%define api.prefix {study_}
%define api.token.prefix {S_}
%define api.location.type {Span}
%define parse.error custom
%define parse.lac full
%locations
%expect 0
%param {StudyParser *p}

%code requires {
#include "frontend/design/study_syntax.h"
}

%code {
#include <stdio.h>
#include <string.h>

#define YYLLOC_DEFAULT(Result, Rhs, N) \
    do { \
        (Result).lo = (N) ? (Rhs)[1].lo : (Rhs)[0].hi; \
        (Result).hi = (Rhs)[N].hi; \
    } while (0)

int study_scan_lex(STUDY_STYPE *value, Span *span, void *scanner);

static int
study_lex(STUDY_STYPE *value, Span *span, StudyParser *p)
{
    int kind = study_scan_lex(value, span, p->scanner);
    if (!kind)
        *span = (Span){p->base + p->length, p->base + p->length};
    return kind;
}

static void
study_error(Span *span, StudyParser *p, const char *message)
{
    study_mistake(p, *span, NULL, message);
}
}

%union {
    const char *text;
    Written *value;
}

%token YYEOF 0 "the end of the file"
%token <text> STUDY "study" MODEL "model" DESIGN "design" SEED "seed" FACTOR "factor" STRUCTURAL "structural" SET "set"
%token <text> CORRELATION "correlation" OUTPUT "output" KEEP "keep" RUN "run" END "end"
%token TRUE "true" FALSE "false"
%token <text> IDENT "a name" NUMBER "a number" TEXT "a string"
%token ';' "';'" '=' "'='" '(' "'('" ')' "')'" '{' "'{'" '}' "'}'" '[' "'['" ']' "']'" ',' "','" ':' "':'" '.' "'.'"
%token '+' "'+'" '-' "'-'" '*' "'*'" '/' "'/'" '^' "'^'" '<' "'<'" '>' "'>'"

%type <text> word path subscripts
%type <value> name value range sum product power primary arguments arguments_some argument items items_some

%start file

%%

file:
  STUDY word[name] title clauses END word[last] ';' { study_ends(p, $name, $last, @last); }
;
title:
  %empty
| TEXT
;
clauses:
  %empty
| clauses clause ';'            { p->silent = false; }
| clauses error ';'             { yyerrok; p->silent = false; }
;
clause:
  MODEL TEXT                    { clause_add(p, CLAUSE_MODEL, @$, written_named(p, @2, $2, NULL), NULL); }
| MODEL TEXT name               { clause_add(p, CLAUSE_MODEL, @$, written_named(p, @2, $2, NULL), $name); }
| MODEL name                    { clause_add(p, CLAUSE_MODEL, @$, NULL, $name); }
| DESIGN value title            { clause_add(p, CLAUSE_DESIGN, @$, NULL, $value); }
| SEED value                    { clause_add(p, CLAUSE_SEED, @$, NULL, $value); }
| FACTOR name '=' value title   { clause_add(p, CLAUSE_FACTOR, @$, $name, $value); }
| STRUCTURAL name '=' value title { clause_add(p, CLAUSE_STRUCTURAL, @$, $name, $value); }
| SET name '=' value title      { clause_add(p, CLAUSE_SET, @$, $name, $value); }
| CORRELATION '(' arguments ')' '=' value {
      Written *both = written_new(p, WRITTEN_CALL, @$);
      both->text = "correlation";
      both->first = $arguments ? $arguments->first : NULL;
      both->n = $arguments ? $arguments->n : 0;
      clause_add(p, CLAUSE_CORRELATION, @$, both, $value);
  }
| OUTPUT value title            { clause_add(p, CLAUSE_OUTPUT, @$, NULL, $value); }
| OUTPUT name '=' value title   { clause_add(p, CLAUSE_OUTPUT, @$, $name, $value); }
| KEEP value                    { clause_add(p, CLAUSE_KEEP, @$, NULL, $value); }
| RUN '(' arguments ')'         {
      Written *settings = written_new(p, WRITTEN_CALL, @$);
      settings->text = "run";
      settings->first = $arguments ? $arguments->first : NULL;
      settings->n = $arguments ? $arguments->n : 0;
      clause_add(p, CLAUSE_RUN, @$, NULL, settings);
  }
;
word:
  IDENT | STUDY | MODEL | DESIGN | SEED | FACTOR | STRUCTURAL | SET | CORRELATION | OUTPUT | KEEP | RUN | END
;
name:
  path                          { $$ = written_new(p, WRITTEN_NAME, @$); $$->text = $path; }
;
path:
  word
| path[all] '.' word            { $$ = arena_printf(p->arena, "%s.%s", $all, $word); }
| path[all] '[' subscripts ']'  { $$ = arena_printf(p->arena, "%s[%s]", $all, $subscripts); }
;
subscripts:
  NUMBER
| subscripts[all] ',' NUMBER    { $$ = arena_printf(p->arena, "%s,%s", $all, $NUMBER); }
;
value:
  range
| range[a] '<' range[b]         { $$ = written_two(p, WRITTEN_COMPARE, @$, $a, $b); $$->text = "<"; }
| range[a] '>' range[b]         { $$ = written_two(p, WRITTEN_COMPARE, @$, $a, $b); $$->text = ">"; }
;
range:
  sum
| sum[a] ':' sum[b]             { $$ = written_two(p, WRITTEN_RANGE, @$, $a, $b); }
| sum[a] ':' sum[by] ':' sum[b] { $$ = written_add(written_two(p, WRITTEN_RANGE, @$, $a, $by), $b); }
;
sum:
  product
| sum[a] '+' product[b]         { $$ = written_compute(p, @$, '+', $a, $b); }
| sum[a] '-' product[b]         { $$ = written_compute(p, @$, '-', $a, $b); }
| '-' product[b]                { $$ = written_compute(p, @$, '-', NULL, $b); }
;
product:
  power
| product[a] '*' power[b]       { $$ = written_compute(p, @$, '*', $a, $b); }
| product[a] '/' power[b]       { $$ = written_compute(p, @$, '/', $a, $b); }
;
power:
  primary
| primary[a] '^' primary[b]     { $$ = written_compute(p, @$, '^', $a, $b); }
;
primary:
  NUMBER                        { $$ = written_number(p, @$, $1); }
| TEXT                          { $$ = written_new(p, WRITTEN_TEXT, @$); $$->text = $1; }
| TRUE                          { $$ = written_new(p, WRITTEN_NUMBER, @$); $$->number = 1; $$->truth = true; }
| FALSE                         { $$ = written_new(p, WRITTEN_NUMBER, @$); $$->truth = true; }
| name
| path '(' arguments ')'        {
      $$ = written_new(p, WRITTEN_CALL, @$);
      $$->text = $path;
      $$->first = $arguments ? $arguments->first : NULL;
      $$->n = $arguments ? $arguments->n : 0;
  }
| '{' items '}'                 { $$ = $items; $$->span = @$; }
| '(' value ')'                 { $$ = $value; }
;
arguments:
  %empty                        { $$ = NULL; }
| arguments_some
;
arguments_some:
  argument                      { $$ = written_add(written_new(p, WRITTEN_LIST, @$), $1); }
| arguments_some[all] ',' argument { $$ = written_add($all, $argument); }
;
argument:
  value
| word '=' value                { $$ = written_named(p, @$, $word, $value); }
;
items:
  %empty                        { $$ = written_new(p, WRITTEN_LIST, @$); }
| items_some
;
items_some:
  value                         { $$ = written_add(written_new(p, WRITTEN_LIST, @$), $1); }
| items_some[all] ',' value     { $$ = written_add($all, $value); }
;

%%

static bool
expects(const yysymbol_kind_t *expected, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(yysymbol_name(expected[i]), name))
            return true;
    return false;
}

// Where a clause or a bracket may end it mostly should have; otherwise a list of more than a few says nothing.
static int
yyreport_syntax_error(const yypcontext_t *context, StudyParser *p)
{
    enum { MOST = 64, TOLD = 6 };
    static const char *const ends[] = {"';'", "')'", "'}'", "']'"};
    yysymbol_kind_t expected[MOST], found = yypcontext_token(context);
    int n = yypcontext_expected_tokens(context, expected, MOST);
    Out list = {0};
    for (size_t k = 0; k < sizeof ends / sizeof *ends && !list.length; k++)
        if (expects(expected, n, ends[k]) && !expects(expected, n, yysymbol_name(YYSYMBOL_NUMBER)))
            out_printf(&list, "%s%s", expects(expected, n, "','") ? "',' or " : "", ends[k]);
    if (!list.length && expects(expected, n, yysymbol_name(YYSYMBOL_NUMBER)))
        out_text(&list, expects(expected, n, yysymbol_name(YYSYMBOL_IDENT)) ? "a value" : "a number");
    else if (!list.length && expects(expected, n, yysymbol_name(YYSYMBOL_IDENT)))
        out_text(&list, "a name");
    bool told = n <= TOLD && !list.length;
    for (int i = 0; i < n && told; i++)
        out_printf(&list, "%s%s", i == 0 ? "" : i == n - 1 ? " or " : ", ", yysymbol_name(expected[i]));
    study_mistake(p, *yypcontext_location(context), list.length ? list.text : "", found == YYSYMBOL_YYEMPTY ? "this" : yysymbol_name(found));
    out_free(&list);
    return 0;
}
