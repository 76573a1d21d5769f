// study_tree.c: what the actions of the grammar of studies call.
//
// Purpose: clauses and their values. Method: nodes in an arena; what can be computed with numbers is computed at once.
// Contract: study_syntax.h. Complexity: constant for each node.
#include "frontend/design/study_syntax.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

Written *
written_new(StudyParser *p, WrittenKind kind, Span span)
{
    Written *value = arena_new(p->arena, Written);
    value->kind = kind;
    value->span = span;
    return value;
}

Written *
written_number(StudyParser *p, Span span, const char *text)
{
    Written *value = written_new(p, WRITTEN_NUMBER, span);
    value->number = strtod(text, NULL);
    if (!isfinite(value->number))
        diag_add(p->diags, E0006, span, "the number %.40s is larger than any that can be represented", text);
    return value;
}

Written *
written_add(Written *list, Written *item)
{
    if (list->last)
        list->last->next = item;
    else
        list->first = item;
    list->last = item;
    list->n++;
    return list;
}

Written *
written_two(StudyParser *p, WrittenKind kind, Span span, Written *a, Written *b)
{
    return written_add(written_add(written_new(p, kind, span), a), b);
}

Written *
written_named(StudyParser *p, Span span, const char *name, Written *value)
{
    Written *named = written_new(p, WRITTEN_NAMED, span);
    named->text = name;
    return value ? written_add(named, value) : named;
}

Written *
written_compute(StudyParser *p, Span span, char operation, Written *a, Written *b)
{
    const Written *wrong = a && a->kind != WRITTEN_NUMBER ? a : b->kind != WRITTEN_NUMBER ? b : NULL;
    Written *value = written_new(p, WRITTEN_NUMBER, span);
    if (wrong) {
        diag_add(p->diags, E0851, wrong->span, "a study computes with numbers only");
        return value;
    }
    double x = a ? a->number : 0, y = b->number;
    value->number = operation == '+' ? x + y : operation == '-' ? (a ? x - y : -y) : operation == '*' ? x * y : operation == '/' ? x / y : pow(x, y);
    if (!isfinite(value->number))
        diag_add(p->diags, E0851, span, "this is not a finite number");
    return value;
}

void
clause_add(StudyParser *p, ClauseKind kind, Span span, Written *name, Written *value)
{
    Clause *clause = arena_new(p->arena, Clause);
    *clause = (Clause){kind, span, name, value, NULL};
    if (p->last)
        p->last->next = clause;
    else
        p->first = clause;
    p->last = clause;
}

void
study_ends(StudyParser *p, const char *name, const char *last, Span span)
{
    p->name = name;
    if (strcmp(name, last) != 0)
        diag_add(p->diags, E0005, span, "the study is called %s, but ends as %s", name, last);
}

// `expected` may be "": too much to tell; NULL: `found` is the message.
void
study_mistake(StudyParser *p, Span span, const char *expected, const char *found)
{
    if (p->silent)
        return;
    p->silent = true;
    uint32_t length = span.hi - span.lo;
    if (length > 60)
        length = 60;
    if (!expected)
        diag_add(p->diags, E0001, span, "%s", found);
    else if (!length)
        diag_add(p->diags, E0001, span, *expected ? "the study ends here, where %s was expected" : "the study ends too early%s", expected);
    else if (*expected)
        diag_add(p->diags, E0001, span, "'%.*s' stands where %s was expected", (int)length, p->text + (span.lo - p->base), expected);
    else
        diag_help(diag_add(p->diags, E0001, span, "'%.*s' cannot stand here", (int)length, p->text + (span.lo - p->base)),
                  "clauses are model, design, seed, factor, structural, set, correlation, output, keep and run, each with a ';' at its end");
}

// Of names, texts and numbers, what stands in lists; deeper values cannot be in a study.
static void
print_items(const Written *list, const char *open, const char *between, const char *close, Out *out)
{
    out_text(out, open);
    for (const Written *item = list->first; item; item = item->next) {
        written_print(item, out);
        if (item->next)
            out_text(out, between);
    }
    out_text(out, close);
}

void
written_print(const Written *value, Out *out)
{
    switch (value->kind) {
    case WRITTEN_NUMBER:
        if (value->truth)
            out_text(out, value->number != 0 ? "true" : "false");
        else
            out_number(out, value->number);
        return;
    case WRITTEN_TEXT: out_json(out, value->text); return;
    case WRITTEN_NAME: out_text(out, value->text); return;
    case WRITTEN_LIST: print_items(value, "{", ", ", "}", out); return;
    case WRITTEN_RANGE: print_items(value, "", ":", "", out); return;
    case WRITTEN_CALL:
        out_text(out, value->text);
        print_items(value, "(", ", ", ")", out);
        return;
    case WRITTEN_COMPARE: print_items(value, "", *value->text == '<' ? " < " : " > ", "", out); return;
    case WRITTEN_NAMED:
        out_printf(out, "%s = ", value->text);
        print_items(value, "", "", "", out);
        return;
    }
}
