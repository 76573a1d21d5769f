// affine.c: for-equations whose iterations differ by index arithmetic only.
//
// Purpose: a body in which the loop index stands in affine subscripts (i, i + c, c*i + d) and as a value is
// elaborated for two neighbouring iterations; the equations of all others have the same shapes, and their rows follow by
// adding the difference once per iteration. Method: the text of the body is checked first (affine_body); then
// the two iterations and the last one are elaborated in the general way. The last one finds subscripts out of
// range, since affine subscripts grow evenly, and must agree with what the arithmetic says. An iteration in
// which two references that differ elsewhere name one variable (T[i] - T[7] at i = 7) has another shape and is
// elaborated by itself.
// Whatever is not affine (elements of different structure, values known at compile time, messages of any kind)
// is left to the general way, with the same result: the flat model is the same equation for equation.
// Contract: equation.h, fragment.h. Complexity: per iteration the scalars its equations refer to.
#include <math.h>

#include "frontend/equation/equation.h"
#include "ir/base/diag.h"
#include "runtime/model/order.h"

// --- the text of a body

typedef struct Text {
    const Elab *elab;
    Sym index;
    U32Vec open, scan; // nodes to look at
} Text;

static bool
is_index(const Text *text, Node node)
{
    const AstNode *at = node_at(text->elab, node);
    Node part = at->kind == AST_REF && at->nchild == 1 ? child_at(text->elab, node, 0) : 0;
    return part && node_at(text->elab, part)->sym == text->index && !(at->flags & AST_F_DOT);
}

static bool
mentions_index(Text *text, Node node)
{
    bool found = false;
    vec_clear(&text->scan);
    vec_push(&text->scan, node);
    while (text->scan.n && !found) {
        Node next = vec_pop(&text->scan);
        if (!next)
            continue;
        found = is_index(text, next);
        for (uint32_t i = 0; i < node_at(text->elab, next)->nchild; i++)
            vec_push(&text->scan, child_at(text->elab, next, i));
    }
    return found;
}

// A subscript that is affine in the index; what does not mention it is a constant of the loop.
static bool
is_affine(Text *text, Node node, uint32_t depth)
{
    enum { DEEPEST = 16 };
    const AstNode *at = node_at(text->elab, node);
    if (!mentions_index(text, node))
        return true;
    if (depth == DEEPEST)
        return false;
    if (at->kind == AST_REF)
        return is_index(text, node) && !child_at(text->elab, child_at(text->elab, node, 0), 0);
    if (at->kind == AST_UNARY)
        return (at->kind_of == AOP_NEG || at->kind_of == AOP_PLUS)
            && is_affine(text, child_at(text->elab, node, 0), depth + 1);
    if (at->kind != AST_BINARY)
        return false;
    Node left = child_at(text->elab, node, 0), right = child_at(text->elab, node, 1);
    bool sum = at->kind_of == AOP_ADD || at->kind_of == AOP_SUB;
    bool product = at->kind_of == AOP_MUL && (!mentions_index(text, left) || !mentions_index(text, right));
    return (sum || product) && is_affine(text, left, depth + 1) && is_affine(text, right, depth + 1);
}

static bool
is_affine_reference(Text *text, Node node)
{
    const Elab *elab = text->elab;
    for (uint32_t i = 0; i < node_at(elab, node)->nchild; i++) {
        Node subscripts = child_at(elab, child_at(elab, node, i), 0);
        if (subscripts && is_index(text, node))
            return false;
        for (uint32_t k = 0; subscripts && k < node_at(elab, subscripts)->nchild; k++)
            if (!is_affine(text, child_at(elab, subscripts, k), 0))
                return false;
    }
    return true;
}

// Functions whose value in an iteration has the same shape in all others. What else has the index among its
// arguments may depend on it in any way.
static bool
is_even_function(const Text *text, Node call)
{
    static const char *const names[] = {
        "der", "pre", "noEvent", "smooth", "abs", "sign", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "atan2",
        "sinh", "cosh", "tanh", "exp", "log", "log10", "min", "max", "luz", "tar", "Sgn", "unilateral",
        "homotopy",
    };
    const char *name = scope_name_text(text->elab->program, child_at(text->elab, call, 0));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i], name))
            return true;
    return false;
}

// Looks at one node of an expression and opens its parts.
static bool
is_even_node(Text *text, Node node)
{
    const Elab *elab = text->elab;
    const AstNode *at = node_at(elab, node);
    Node arguments = at->kind == AST_CALL ? child_at(elab, node, 1) : 0;
    bool power = at->kind == AST_BINARY && (at->kind_of == AOP_POW || at->kind_of == AOP_EPOW);
    switch (at->kind) {
    case AST_NUMBER:
    case AST_NUMBERS:
    case AST_BOOL:
        return true;
    case AST_REF:
        return is_affine_reference(text, node);
    case AST_BINARY:
        if (power && mentions_index(text, child_at(elab, node, 1)))
            return false;
        vec_push(&text->open, child_at(elab, node, 0));
        vec_push(&text->open, child_at(elab, node, 1));
        return true;
    case AST_UNARY:
        vec_push(&text->open, child_at(elab, node, 0));
        return true;
    case AST_IFEXPR: // a condition that is decided by values makes the iterations uneven
        for (uint32_t i = 0; i < at->nchild; i++)
            vec_push(&text->open, child_at(elab, node, i));
        return true;
    case AST_CALL:
        if (!is_even_function(text, node))
            return !mentions_index(text, node);
        for (uint32_t i = 0; arguments && i < node_at(elab, arguments)->nchild; i++)
            vec_push(&text->open, child_at(elab, arguments, i));
        return true;
    default:
        return !mentions_index(text, node);
    }
}

static bool
is_even(Text *text, Node node)
{
    vec_clear(&text->open);
    vec_push(&text->open, node);
    while (text->open.n) {
        Node next = vec_pop(&text->open);
        if (next && !is_even_node(text, next))
            return false;
    }
    return true;
}

bool
affine_body(const Elab *elab, Node loop, Sym index)
{
    Text text = {.elab = elab, .index = index};
    bool affine = true;
    for (uint32_t i = 1; affine && i < node_at(elab, loop)->nchild; i++) {
        Node child = child_at(elab, loop, i);
        uint8_t kind = child ? node_at(elab, child)->kind : AST_COMMENT;
        if (kind == AST_COMMENT)
            continue;
        Node left = child_at(elab, child, 0), right = child_at(elab, child, 1);
        affine = (kind == AST_EQUATION || kind == AST_CONNECT) && left && right && is_even(&text, left)
              && is_even(&text, right);
    }
    vec_free(&text.open);
    vec_free(&text.scan);
    return affine;
}

// --- what iterations add to the fragment

typedef struct Mark {
    uint32_t equations, rows, connects, extras;
    DiagsMark diags;
} Mark;

static Mark
mark_of(const Elab *elab, const Fragment *frag)
{
    return (Mark){frag->equations.n, frag->rows.n, frag->connects.n, frag->extras.n, diags_mark(elab->diags)};
}

static void
forget_since(Elab *elab, Fragment *frag, const Mark *mark)
{
    frag->equations.n = mark->equations;
    frag->rows.n = mark->rows;
    frag->connects.n = mark->connects;
    frag->extras.n = mark->extras;
    diags_return_to(elab->diags, mark->diags);
}

// One entry of a row, or a connector: a local variable or an extra, from iteration to iteration.
typedef struct Stride {
    uint8_t kind;     // ExtraKind + 1, 0 for a variable
    uint32_t id, outer;
    double value;
    int64_t var_step;
    double value_step;
    uint32_t made;    // extras: index into Template.extras
} Stride;

typedef struct Template {
    const Mark *at;          // where the equations and rows of the first iteration begin
    uint32_t n_equations, n_rows, n_connects;
    VEC(Stride) rows;         // as the rows of the first iteration
    VEC(Stride) connects;     // a and b of each
    VEC(Stride) extras;       // those in `rows`, in the order in which they are made
    U32Vec made;             // their ids in the iteration being added
    U32Vec apart;            // iterations of another shape, ascending
} Template;

static void
template_free(Template *template)
{
    vec_free(&template->rows);
    vec_free(&template->connects);
    vec_free(&template->extras);
    vec_free(&template->made);
    vec_free(&template->apart);
}

// From the ids in two neighbouring iterations; false when they are not alike.
static bool
stride_between(const Fragment *frag, uint32_t first, uint32_t second, double step, Stride *stride)
{
    *stride = (Stride){.id = first};
    if ((first ^ second) & EXTRA_BIT)
        return false;
    if (!(first & EXTRA_BIT)) {
        stride->var_step = (int64_t)second - (int64_t)first;
        return true;
    }
    const Extra *a = &frag->extras.at[first & ~EXTRA_BIT], *b = &frag->extras.at[second & ~EXTRA_BIT];
    if (a->kind != b->kind || a->outer != b->outer || ((a->var | b->var) & EXTRA_BIT && a->var != b->var))
        return false;
    *stride = (Stride){.kind = (uint8_t)(a->kind + 1), .id = a->var, .outer = a->outer, .value = a->value,
                     .var_step = (int64_t)b->var - (int64_t)a->var, .value_step = b->value - a->value};
    return stride->value_step == 0 || stride->value_step == step;
}

static uint32_t
var_at(const Stride *stride, uint32_t k)
{
    return (uint32_t)((int64_t)stride->id + (int64_t)k * stride->var_step);
}

static uint32_t
id_at(const Template *template, const Stride *stride, uint32_t k)
{
    return stride->kind ? template->made.at[stride->made] : var_at(stride, k);
}

typedef struct Named { uint32_t id, row; } Named;

static int
compare_named(const void *a, const void *b)
{
    const Named *x = a, *y = b;
    return x->id != y->id ? (x->id < y->id ? -1 : 1) : (x->row > y->row) - (x->row < y->row);
}

// The extras of the rows, each once, in the order in which the second iteration made them.
static void
number_extras(const Fragment *frag, Template *template)
{
    VEC(Named) named = {0};
    const uint32_t *second = frag->rows.at + template->at->rows + template->n_rows;
    for (uint32_t r = 0; r < template->n_rows; r++)
        if (template->rows.at[r].kind)
            vec_push(&named, (Named){second[r], r});
    if (named.n)
        qsort(named.at, named.n, sizeof *named.at, compare_named);
    for (uint32_t i = 0; i < named.n; i++) {
        Stride *stride = &template->rows.at[named.at[i].row];
        if (!i || named.at[i].id != named.at[i - 1].id)
            vec_push(&template->extras, *stride);
        stride->made = template->extras.n - 1;
    }
    vec_grow(&template->made, template->extras.n);
    vec_free(&named);
}

static bool
same_equations(const Fragment *frag, const Template *template)
{
    const FragEquation *a = frag->equations.at + template->at->equations, *b = a + template->n_equations;
    uint32_t row = template->at->rows;
    for (uint32_t e = 0; e < template->n_equations; e++) {
        if (a[e].shape != b[e].shape || a[e].kind != b[e].kind || a[e].n != b[e].n || a[e].row != row
            || b[e].row != row + template->n_rows)
            return false;
        row += a[e].n;
    }
    return row == template->at->rows + template->n_rows;
}

static bool
same_connects(const Fragment *frag, Template *template)
{
    const FragConnect *a = frag->connects.at + template->at->connects, *b = a + template->n_connects;
    for (uint32_t c = 0; c < template->n_connects; c++) {
        Stride from, to;
        bool parts = a[c].a_path || a[c].b_path;
        if (parts || ((a[c].a | a[c].b | b[c].a | b[c].b) & EXTRA_BIT) || a[c].a_outside != b[c].a_outside
            || a[c].b_outside != b[c].b_outside || !stride_between(frag, a[c].a, b[c].a, 0, &from)
            || !stride_between(frag, a[c].b, b[c].b, 0, &to))
            return false;
        vec_push(&template->connects, from);
        vec_push(&template->connects, to);
    }
    return true;
}

// Two iterations lie between the marks.
static bool
make_template(const Fragment *frag, const Mark marks[3], double step, Template *template)
{
    template->at = &marks[0];
    template->n_equations = marks[1].equations - marks[0].equations;
    template->n_rows = marks[1].rows - marks[0].rows;
    template->n_connects = marks[1].connects - marks[0].connects;
    if (marks[2].equations - marks[1].equations != template->n_equations
        || marks[2].rows - marks[1].rows != template->n_rows
        || marks[2].connects - marks[1].connects != template->n_connects || !same_equations(frag, template)
        || !same_connects(frag, template))
        return false;
    for (uint32_t r = 0; r < template->n_rows; r++) {
        const uint32_t *row = frag->rows.at + marks[0].rows + r;
        Stride stride;
        if (!stride_between(frag, row[0], row[template->n_rows], step, &stride))
            return false;
        vec_push(&template->rows, stride);
    }
    number_extras(frag, template);
    return true;
}

// --- iterations apart

// The iteration in which two places that differ become one, if there is any.
static void
note_meeting(Template *template, const Stride *a, const Stride *b, uint32_t count)
{
    if (a->kind != b->kind || a->outer != b->outer)
        return;
    double gap = a->kind == EXTRA_LITERAL + 1 ? b->value - a->value : (double)b->id - (double)a->id;
    double speed = a->kind == EXTRA_LITERAL + 1 ? a->value_step - b->value_step : (double)(a->var_step - b->var_step);
    double k = speed != 0 ? gap / speed : -1;
    if (k > 0 && k < count && k == floor(k))
        vec_push(&template->apart, (uint32_t)k);
}

// False when an equation is so long that comparing its variables pair by pair is no gain.
static bool
find_apart(const Fragment *frag, Template *template, uint32_t count)
{
    enum { LONGEST = 200 };
    uint32_t row = 0;
    for (uint32_t e = 0; e < template->n_equations; e++) {
        uint32_t n = frag->equations.at[template->at->equations + e].n;
        if (n > LONGEST)
            return false;
        for (uint32_t i = row; i < row + n; i++)
            for (uint32_t j = i + 1; j < row + n; j++)
                note_meeting(template, &template->rows.at[i], &template->rows.at[j], count);
        row += n;
    }
    for (uint32_t c = 0; c < template->n_connects; c++)
        note_meeting(template, &template->connects.at[2 * c], &template->connects.at[2 * c + 1], count);
    if (template->apart.n)
        qsort(template->apart.at, template->apart.n, sizeof *template->apart.at, ascending_u32);
    return true;
}

// --- adding iterations

// Iteration k after the template's first.
static void
add_iteration(Fragment *frag, Template *template, uint32_t k)
{
    for (uint32_t x = 0; x < template->extras.n; x++) {
        const Stride *stride = &template->extras.at[x];
        uint32_t var = var_at(stride, k);
        template->made.at[x] = stride->kind == EXTRA_OUTER + 1 ? extra_outer(frag, stride->outer, var)
                             : extra_var(frag, (ExtraKind)(stride->kind - 1), var, stride->value + k * stride->value_step);
    }
    uint32_t row = frag->rows.n, shift = row - template->at->rows;
    vec_reserve(&frag->rows, row + template->n_rows);
    for (uint32_t r = 0; r < template->n_rows; r++)
        frag->rows.at[row + r] = id_at(template, &template->rows.at[r], k);
    frag->rows.n = row + template->n_rows;
    for (uint32_t e = 0; e < template->n_equations; e++) {
        FragEquation equation = frag->equations.at[template->at->equations + e];
        equation.row += shift;
        vec_push(&frag->equations, equation);
    }
    for (uint32_t c = 0; c < template->n_connects; c++) {
        FragConnect connect = frag->connects.at[template->at->connects + c];
        connect.a = var_at(&template->connects.at[2 * c], k);
        connect.b = var_at(&template->connects.at[2 * c + 1], k);
        vec_push(&frag->connects, connect);
    }
}

// Whether an iteration that was elaborated from `mark` on is what the template says; it is taken back.
static bool
agrees(Elab *elab, Fragment *frag, const Template *template, const Mark *mark, uint32_t k)
{
    bool same = frag->equations.n - mark->equations == template->n_equations
        && frag->rows.n - mark->rows == template->n_rows && frag->connects.n - mark->connects == template->n_connects;
    for (uint32_t e = 0; same && e < template->n_equations; e++)
        same = frag->equations.at[mark->equations + e].shape == frag->equations.at[template->at->equations + e].shape;
    for (uint32_t r = 0; same && r < template->n_rows; r++) {
        const Stride *stride = &template->rows.at[r];
        uint32_t id = frag->rows.at[mark->rows + r];
        same = stride->kind ? (id & EXTRA_BIT) != 0 : id == var_at(stride, k);
        const Extra *extra = same && stride->kind ? &frag->extras.at[id & ~EXTRA_BIT] : NULL;
        same = same && (!extra || (extra->kind + 1 == stride->kind && extra->var == var_at(stride, k)
                                   && extra->value == stride->value + k * stride->value_step));
    }
    for (uint32_t c = 0; same && c < template->n_connects; c++)
        same = frag->connects.at[mark->connects + c].a == var_at(&template->connects.at[2 * c], k)
            && frag->connects.at[mark->connects + c].b == var_at(&template->connects.at[2 * c + 1], k);
    forget_since(elab, frag, mark);
    return same;
}

static bool
is_apart(const Template *template, uint32_t k)
{
    return template->apart.n && bsearch(&k, template->apart.at, template->apart.n, sizeof k, ascending_u32);
}

// Elaborates the last iteration and takes it back: no message, and as the template says.
static bool
last_agrees(Elab *elab, Fragment *frag, const Template *template, const AffineLoop *loop, uint32_t first)
{
    Mark mark = mark_of(elab, frag);
    uint32_t k = loop->count - 1 - first;
    bool quiet = loop->iterate(loop->data, loop->count - 1) && diags_same(elab->diags, mark.diags);
    if (!quiet || is_apart(template, k)) {
        forget_since(elab, frag, &mark);
        return quiet;
    }
    return agrees(elab, frag, template, &mark, k);
}

// Iterations from `next` on by a template whose first iteration is `first`. False after an error.
static bool
add_rest(Elab *elab, Fragment *frag, Template *template, const AffineLoop *loop, uint32_t first, uint32_t next)
{
    uint32_t apart = 0;
    for (uint32_t k = next - first; k < loop->count - first && !elab->stopped; k++) {
        while (apart < template->apart.n && template->apart.at[apart] < k)
            apart++;
        if (apart < template->apart.n && template->apart.at[apart] == k) {
            if (!loop->iterate(loop->data, first + k))
                return false;
        } else {
            add_iteration(frag, template, k);
        }
    }
    return !elab->stopped;
}

// Tries with iterations `first` and `first` + 1. *done: the iterations elaborated so far.
static bool
try_pair(Elab *elab, Fragment *frag, const AffineLoop *loop, uint32_t first, uint32_t *done)
{
    Template template = {0};
    Mark marks[3];
    bool good = true;
    elab->uneven = false;
    for (uint32_t i = 0; i < 2 && good; i++) {
        marks[i] = mark_of(elab, frag);
        good = loop->iterate(loop->data, first + i);
        *done += good;
    }
    marks[2] = mark_of(elab, frag);
    if (good && !elab->uneven && make_template(frag, marks, loop->step, &template)
        && find_apart(frag, &template, loop->count - first)
        && last_agrees(elab, frag, &template, loop, first) && !elab->uneven) {
        good = add_rest(elab, frag, &template, loop, first, first + 2);
        *done = loop->count;
    }
    template_free(&template);
    return good;
}

bool
affine_iterations(Elab *elab, Fragment *frag, const AffineLoop *loop)
{
    enum { TRIES = 3, WORTH = 6 };
    uint32_t done = 0;
    bool before = elab->uneven, good = true;
    elab->uneven = false;
    for (uint32_t i = 0; i < TRIES && good && !elab->uneven && loop->count - done > WORTH; i++)
        good = try_pair(elab, frag, loop, done, &done);
    for (; done < loop->count && good && !elab->stopped; done++)
        good = loop->iterate(loop->data, done);
    elab->uneven = before;
    return good && !elab->stopped;
}
