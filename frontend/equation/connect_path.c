// connect_path.c: parts of connectors: what `bus.speed` or `plug.pin[2]` in a connect stands for.
//
// Purpose: paths into a connector. Method: elements that are declared are looked up, with their sizes; below an expandable
// connector names need not be declared (Modelica 3.6, section 9.1.3), and what stands behind such a name is decided when
// the model is complete (expandable.c). Slices and whole arrays give one path for each element, row by row.
// Contract: equation.h, fragment.h. Complexity: linear in the paths.
#include "frontend/equation/equation.h"
#include "ir/base/diag.h"
#include "ir/expr/expr_node.h"

enum { PATH_LIMIT = 64 }; // elements inside each other

typedef struct Walk {
    Elab *elab;
    ExprEnv *env;
    Node ref;
    Paths *out;
} Walk;

// The subscripts that one dimension takes; `size` is SIZE_UNKNOWN for an element that is not declared.
static bool
select_subscripts(Walk *walk, Node node, uint32_t size, Sym name, U32Vec *picked, bool *keep)
{
    Elab *elab = walk->elab;
    Value value;
    *keep = !node || node_at(elab, node)->kind == AST_COLON;
    if (*keep && size == SIZE_UNKNOWN) {
        diag_add(elab->diags, E0418, node_at(elab, node)->span, "'%s' is not declared, so ':' has no size here", name_of(elab, name));
        return false;
    }
    for (uint32_t i = 1; *keep && i <= size; i++)
        vec_push(picked, i);
    if (*keep)
        return true;
    const Scope *scope = walk->env->scope;
    if (!evaluate(elab, scope->frag, scope->class_id, true, node, &value))
        return false;
    if (value.type.rank > 1 || (value.type.base != TYPE_INTEGER && value.type.base != TYPE_ENUM)) {
        diag_add(elab->diags, E0111, node_at(elab, node)->span, "a subscript must be an Integer or a vector of them");
        return false;
    }
    *keep = value.type.rank == 1;
    for (uint32_t i = 0; i < value.count; i++) {
        double index = expr_value(elab->dae->exprs, value.elements[i]);
        if (!(index >= 1) || index > (size == SIZE_UNKNOWN ? 1e6 : size)) {
            diag_add(elab->diags, E0111, node_at(elab, node)->span, "subscript %.0f of '%s' is outside 1..%u", index,
                     name_of(elab, name), size == SIZE_UNKNOWN ? 1000000 : size);
            return false;
        }
        vec_push(picked, (uint32_t)index);
    }
    return true;
}

// Every path so far goes on by one more subscript of its last step.
static void
multiply_paths(Walk *walk, const U32Vec *picked)
{
    Paths *out = walk->out;
    VEC(FragPath) all = {0};
    for (uint32_t i = 0; i < out->all.n; i++)
        for (uint32_t k = 0; k < picked->n; k++) {
            FragPath path = {.steps = arena_array(walk->elab->arena, PathStep, PATH_LIMIT), .n = out->all.at[i].n};
            memcpy(path.steps, out->all.at[i].steps, path.n * sizeof *path.steps);
            PathStep *last = &path.steps[path.n - 1];
            last->index[last->rank++] = picked->at[k];
            vec_push(&all, path);
        }
    vec_free(&out->all);
    out->all.at = all.at;
    out->all.n = all.n;
    out->all.capacity = all.capacity;
}

static bool
add_subscripts(Walk *walk, Node part, const Type *declared)
{
    Elab *elab = walk->elab;
    Node subscripts = child_at(elab, part, 0);
    Sym name = node_at(elab, part)->sym;
    uint32_t given = subscripts ? node_at(elab, subscripts)->nchild : 0, rank = declared ? declared->rank : given;
    if (given > rank || rank > MAX_RANK) {
        diag_add(elab->diags, E0111, node_at(elab, part)->span, "'%s' has %u dimension%s but %u subscript%s", name_of(elab, name),
                 rank, rank == 1 ? "" : "s", given, given == 1 ? "" : "s");
        return false;
    }
    U32Vec picked = {0};
    bool ok = true;
    for (uint32_t i = 0; i < rank && ok; i++) {
        bool keep;
        vec_clear(&picked);
        ok = select_subscripts(walk, i < given ? child_at(elab, subscripts, i) : 0, declared ? declared->dims[i] : SIZE_UNKNOWN,
                               name, &picked, &keep);
        if (!ok)
            break;
        multiply_paths(walk, &picked);
        if (keep && walk->out->rank < MAX_RANK)
            walk->out->dims[walk->out->rank++] = picked.n;
    }
    vec_free(&picked);
    return ok;
}

// The declared element, or NULL in an expandable connector (`inside` NULL: below something undeclared).
static bool
find_element(Walk *walk, Fragment *inside, Node part, Member **member)
{
    Elab *elab = walk->elab;
    const AstNode *at = node_at(elab, part);
    *member = inside ? fragment_member(inside, at->sym) : NULL;
    if (*member && !member_declare(elab, inside, *member))
        return false;
    if (*member && (*member)->by_connections)
        *member = NULL;
    if (*member && (*member)->absent) {
        walk->out->absent = true;
        return true;
    }
    if (*member && ((*member)->kind == VAR_PARAMETER || (*member)->kind == VAR_CONSTANT) && !(*member)->is_component) {
        diag_add(elab->diags, E0401, at->span, "'%s' is a parameter or constant and cannot be connected", name_of(elab, at->sym));
        return false;
    }
    if (*member || !inside || inside->is_expandable)
        return true;
    Diag *diag = diag_add(elab->diags, E0101, at->span, "'%s' has nothing named '%s'",
                          name_of(elab, class_at(elab->program, inside->class_id)->full_name), name_of(elab, at->sym));
    const char *near = scope_nearest(elab->program, inside->class_id, at->sym, true);
    if (near)
        diag_help(diag, "did you mean '%s'?", near);
    return false;
}

bool
connect_paths(Elab *elab, ExprEnv *env, Fragment *connector, Node ref, uint32_t from, Paths *out)
{
    Walk walk = {elab, env, ref, out};
    uint32_t n = node_at(elab, ref)->nchild;
    if (n - from > PATH_LIMIT) {
        diag_add(elab->diags, E0107, node_at(elab, ref)->span, "connectors nest more than %d levels deep", PATH_LIMIT);
        return false;
    }
    vec_push(&out->all, ((FragPath){.steps = arena_array(elab->arena, PathStep, PATH_LIMIT)}));
    for (uint32_t i = from; i < n; i++) {
        Node part = child_at(elab, ref, i);
        Member *member;
        if (!find_element(&walk, connector, part, &member))
            return false;
        if (out->absent) // what is connected there goes with it
            return true;
        for (uint32_t k = 0; k < out->all.n; k++)
            out->all.at[k].steps[out->all.at[k].n++] = (PathStep){.name = node_at(elab, part)->sym};
        if (!add_subscripts(&walk, part, member ? &member->type : NULL))
            return false;
        if (member && !member->is_component && i + 1 < n) {
            diag_add(elab->diags, E0119, node_at(elab, part)->span, "'%s' is a variable and has no parts",
                     name_of(elab, node_at(elab, part)->sym));
            return false;
        }
        out->open = !member && i + 1 == n && !child_at(elab, part, 0);
        connector = member && member->is_component ? member->fragments[0] : NULL;
    }
    return true;
}
