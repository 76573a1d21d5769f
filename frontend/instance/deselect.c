// deselect.c: selective model extension: components and connections that an extends clause leaves out.
//
// Purpose: `extends B(break f, break connect(a, b))` (Modelica 3.6, section 7.4). Method: while a base class is collected
// the deselections of the extends clauses around it stand on a stack of the fragment; a component they name is not
// collected, and a connection that names it, or is written like a deselected one, is noted by its node. All of this looks
// at names and syntax alone, before any modification. Contract: fragment.h, classes.h. Complexity: linear in the
// equations of base classes of which something is left out, times the deselections.
#include "frontend/instance/fragment.h"
#include "ir/base/diag.h"

// Only models, blocks and connectors can be left out.
static void
check_kind(Elab *elab, Node deselect, uint32_t base, Sym name)
{
    const Ast *ast = &elab->program->ast;
    Found found;
    if (!scope_member(elab->program, base, name, &found))
        return;
    Node type = found.class_id ? 0 : ast_child(ast, found.member->line, 0);
    uint32_t class_id = type ? scope_class_quietly(elab->program, found.owner, type) : 0;
    ClassKind kind = class_id ? (ClassKind)class_at(elab->program, class_id)->kind : CLASS_PACKAGE;
    if (!found.class_id && (!class_id || (kind != CLASS_TYPE && kind != CLASS_RECORD && kind != CLASS_OPERATOR_RECORD)))
        return;
    Diag *diag = diag_add(elab->diags, E0103, ast_at(ast, deselect)->span,
                          "'%s' is no model, block or connector and cannot be left out", name_of(elab, name));
    diag_note(diag, ast_at(ast, found.member->node)->span, "declared here");
}

uint32_t
deselect_open(Elab *elab, Fragment *frag, Node extends, uint32_t base, const Mod *own)
{
    const Ast *ast = &elab->program->ast;
    bool is_short = ast_kind(ast, extends) == AST_SHORT;
    Node mods = is_short ? ast_child(ast, extends, 2) : extends_modifications(ast, extends);
    uint32_t mark = frag->deselections.n;
    for (uint32_t i = 1; mods && i < ast_at(ast, mods)->nchild; i++) {
        Node argument = ast_child(ast, mods, i);
        if (ast_kind(ast, argument) != AST_DESELECT)
            continue;
        if (is_short) {
            diag_add(elab->diags, E0001, ast_at(ast, argument)->span, "only an extends clause can leave out elements by 'break'");
            continue;
        }
        Sym name = deselected_component(ast, argument);
        const Mod *modified = name ? mod_child(own, name) : NULL;
        vec_push(&frag->deselections, ((Deselection){.node = argument}));
        if (name)
            check_kind(elab, argument, base, name);
        if (modified)
            diag_add(elab->diags, E0103, modified->span, "'%s' is left out and cannot be modified", name_of(elab, name));
    }
    return mark;
}

void
deselect_close(Elab *elab, Fragment *frag, uint32_t mark)
{
    for (uint32_t i = mark; i < frag->deselections.n; i++)
        if (!frag->deselections.at[i].matched)
            diag_add(elab->diags, E0103, node_at(elab, frag->deselections.at[i].node)->span,
                     deselected_component(&elab->program->ast, frag->deselections.at[i].node)
                     ? "the base class has no component of this name that could be left out"
                     : "the base class has no connection that is written like this and could be left out");
    frag->deselections.n = mark;
}

bool
deselect_component(Fragment *frag, const Ast *ast, Sym name)
{
    bool any = false;
    for (uint32_t i = 0; i < frag->deselections.n; i++) {
        Deselection *one = &frag->deselections.at[i];
        if (deselected_component(ast, one->node) == name)
            any = one->matched = true;
    }
    return any;
}

static Sym
first_name(const Ast *ast, Node ref)
{
    Node part = ref ? ast_child(ast, ref, 0) : 0;
    return part ? ast_at(ast, part)->sym : 0;
}

// Components come first: their connections are no longer there for the deselection of a connection.
static bool
leaves_out(const Ast *ast, Fragment *frag, Node connect)
{
    Node a = ast_child(ast, connect, 0), b = ast_child(ast, connect, 1);
    for (uint32_t i = 0; i < frag->deselections.n; i++) {
        Sym name = deselected_component(ast, frag->deselections.at[i].node);
        if (name && (first_name(ast, a) == name || first_name(ast, b) == name))
            return true;
    }
    for (uint32_t i = 0; i < frag->deselections.n; i++) {
        Deselection *one = &frag->deselections.at[i];
        Node wanted = ast_child(ast, one->node, 0);
        if (deselected_component(ast, one->node))
            continue;
        Node c = ast_child(ast, wanted, 0), d = ast_child(ast, wanted, 1);
        if ((ast_same(ast, a, c, AST_NONE) && ast_same(ast, b, d, AST_NONE))
            || (ast_same(ast, a, d, AST_NONE) && ast_same(ast, b, c, AST_NONE)))
            return one->matched = true;
    }
    return false;
}

void
deselect_connects(Elab *elab, Fragment *frag, Node section)
{
    const Ast *ast = &elab->program->ast;
    U32Vec open = {0};
    if (frag->deselections.n)
        vec_push(&open, section);
    while (open.n) {
        Node node = vec_pop(&open);
        AstKind kind = ast_kind(ast, node);
        if (kind == AST_CONNECT && leaves_out(ast, frag, node))
            map_put(&frag->deselected, node, 1);
        if (kind != AST_EQUATIONS && kind != AST_FOREQ && kind != AST_IFEQ && kind != AST_BRANCH)
            continue;
        for (uint32_t i = 0; i < ast_at(ast, node)->nchild; i++)
            if (ast_child(ast, node, i))
                vec_push(&open, ast_child(ast, node, i));
    }
    vec_free(&open);
}
