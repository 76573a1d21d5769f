// instantiate.c: the entry point of elaboration: class selection, values from outside, experiment annotation.
//
// Purpose: elaborate() of flatten.h. Method: the chosen class is elaborated to a fragment with the values
// given by --set as its outermost modifications, then linked. A value for one element of an array
// (`cell[3].T`) cannot be a modification of the shared fragment and replaces the flat model's bind instead.
// Contract: flatten.h. Complexity: that of the parts.
#include "frontend/equation/equation.h"
#include "frontend/external/external.h"
#include "frontend/flatten/flatten.h"
#include "frontend/names/names.h"
#include "frontend/text/parse.h"
#include "ir/expr/expr_node.h"

#include <ctype.h>

// --- which class

static bool
can_be_model(const ClassInfo *info)
{
    return !(info->flags & AST_F_PARTIAL)
        && (info->kind == CLASS_MODEL || info->kind == CLASS_CLASS || info->kind == CLASS_BLOCK);
}

static bool
can_be_part(const ClassInfo *info)
{
    return !(info->flags & AST_F_PARTIAL) && info->kind >= CLASS_BODY;
}

// The last one in the text, top-level classes before those inside packages.
static uint32_t
last_class(Program *program, Node file, bool (*wanted)(const ClassInfo *), bool top)
{
    Span span = ast_at(&program->ast, file)->span;
    uint32_t found = 0;
    for (uint32_t id = CLASSID_FIRST; id < program->classes.n; id++) {
        const ClassInfo *info = class_known(program, id);
        Span at = ast_at(&program->ast, info->node)->span;
        Node parent = class_known(program, info->parent)->node;
        bool is_top = !parent || ast_at(&program->ast, parent)->span.lo < span.lo
                   || ast_at(&program->ast, parent)->span.hi > span.hi;
        if (info->node && at.lo >= span.lo && at.hi <= span.hi && (is_top || !top) && wanted(info))
            found = id;
    }
    return found;
}

static void
no_model(const Program *program, Node file, Diags *diags)
{
    static const char text[] = "the file has no model that could be elaborated (none, or partial ones only)";
    uint32_t offset = file ? ast_at(&program->ast, file)->span.lo : 0;
    Place place;
    if (file && sources_locate(program->sources, offset, &place))
        diag_add(diags, E0104, (Span){offset, offset}, "%s", text);
    else
        diag_add(diags, E0104, (Span){0}, "%s: %s", source_path(program->sources, 0), text);
}

// A class whose name ends with `name`, which may have been given without the packages around it; NULL when there is none.
static const char *
class_further_in(Program *program, const char *name)
{
    size_t n = strlen(name);
    program_read_inside(program, program->last_file);
    for (uint32_t id = CLASSID_FIRST; id < program->classes.n; id++) {
        const char *full = sym_text(program->syms, class_known(program, id)->full_name);
        size_t length = strlen(full);
        if (length > n && full[length - n - 1] == '.' && !strcmp(full + length - n, name))
            return full;
    }
    return NULL;
}

// The last dot before `dot`, or NULL.
static const char *
dot_before(const char *name, const char *dot)
{
    while (dot > name && dot[-1] != '.')
        dot--;
    return dot > name ? dot - 1 : NULL;
}

static void
no_class(Program *program, const char *name, Diags *diags)
{
    const char *dot = strrchr(name, '.');
    uint32_t around;
    Diag *diag;
    // As far as the name can be followed; a name that begins with a dot has nothing before it.
    around = CLASSID_ROOT;
    for (; dot && dot > name; dot = dot_before(name, dot)) {
        uint32_t found = scope_class_by_path(program, arena_strndup(program->arena, name, (size_t)(dot - name)));
        if (found) {
            around = found;
            break;
        }
    }
    const char *rest = around == CLASSID_ROOT ? name : dot + 1, *further = around == CLASSID_ROOT ? class_further_in(program, name) : NULL;
    const char *part = arena_strndup(program->arena, rest, strcspn(rest, "."));
    const char *near = further ? further : scope_nearest(program, around, sym_of(program->syms, part), true);
    if (around == CLASSID_ROOT)
        diag = diag_add(diags, E0104, (Span){0}, "there is no class '%s'", name);
    else
        diag = diag_add(diags, E0104, (Span){0}, "there is no class '%s': '%s' has nothing named '%s'", name,
                        sym_text(program->syms, class_at(program, around)->full_name), part);
    if (near)
        diag_help(diag, "did you mean '%s'?", near);
}

static uint32_t
choose_class(Program *program, const char *name, Diags *diags)
{
    if (name) {
        uint32_t id = scope_class_by_path(program, name);
        if (id && !scope_is_predefined(id))
            return id;
        no_class(program, name, diags);
        return 0;
    }
    Node file = program->last_file;
    uint32_t id = file ? last_class(program, file, can_be_model, true) : 0;
    if (file && !id)
        id = last_class(program, file, can_be_model, false);
    if (file && !id)
        id = last_class(program, file, can_be_part, true);
    if (!id)
        no_model(program, file, diags);
    return id;
}

// --- values from outside

typedef struct Stage { Sym name; bool subscripted; } Stage;
typedef struct Path { Stage at[DEPTH_LIMIT]; uint32_t n; bool subscripted; } Path;

static bool
split_path(Elab *elab, const char *text, Path *path)
{
    path->n = 0;
    path->subscripted = false;
    while (*text && path->n < DEPTH_LIMIT) {
        size_t length = strcspn(text, ".[");
        if (!length)
            return false;
        Stage *step = &path->at[path->n++];
        *step = (Stage){.name = sym_make(elab->dae->syms, text, length)};
        text += length;
        if (*text == '[') {
            const char *close = strchr(text, ']');
            for (const char *c = text + 1; close && c < close; c++)
                if (!isdigit((unsigned char)*c) && *c != ',')
                    return false;
            if (!close)
                return false;
            path->subscripted = step->subscripted = true;
            text = close + 1;
        }
        if (*text == '.' && text[1])
            text++;
        else if (*text)
            return false;
    }
    return path->n && !*text;
}

// Where a value of an enumeration is wanted its literals are known by their last names, as in built programs.
static const char *
full_literal(Elab *elab, uint32_t class_id, const char *text)
{
    const ClassInfo *info = class_at(elab->program, class_id);
    for (uint32_t i = 0; i < info->n_literals; i++)
        if (!strcmp(sym_text(elab->dae->syms, info->literals[i]), text))
            return arena_printf(elab->arena, ".%s.%s", sym_text(elab->dae->syms, info->full_name), text);
    return text;
}

// `2.5 kg`: a number and then what can only be a unit.
static bool
ends_in_unit(const char *text)
{
    char *end;
    strtod(text, &end);
    const char *unit = end + strspn(end, " ");
    return end != text && isalpha((unsigned char)*unit) && !unit[strspn(unit, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789./-")];
}

// The expression on the right of --set for a variable of a class, read as the value of a declaration; on a line of its own, for
// messages.
static Node
parse_value(Elab *elab, const Override *override, uint32_t class_id)
{
    Program *program = elab->program;
    if (ends_in_unit(override->value)) {
        diag_help(diag_add(elab->diags, E0117, (Span){0}, "the value '%s' for '%s' is not a number", override->value, override->name),
                  "units are not written: the number is in the unit of the declaration");
        return 0;
    }
    const char *value = full_literal(elab, class_id, override->value);
    char *text = arena_printf(elab->arena, "model Set Real x =\n%s\n; end Set;", value);
    char *name = arena_printf(elab->arena, "<--set %s>", override->name);
    int file = sources_add(program->sources, name, text, strlen(text));
    uint32_t errors = diags_errors(elab->diags);
    if (file < 0)
        return 0;
    Node root = parse_file(program->sources, file, program->syms, &program->ast, elab->diags,
                           &(ParseOptions){0});
    const Ast *ast = &program->ast;
    if (diags_errors(elab->diags) != errors || !root)
        return 0;
    // Exactly one class, one section, one line, one component: the text was one expression.
    Node class_node = ast_at(ast, root)->nchild == 2 ? ast_child(ast, root, 1) : 0;
    Node body = class_node ? ast_child(ast, class_node, 1) : 0;
    Node section = body && ast_at(ast, body)->nchild == 1 ? ast_child(ast, body, 0) : 0;
    Node line = section && ast_at(ast, section)->nchild == 1 ? ast_child(ast, section, 0) : 0;
    Node component = line && ast_kind(ast, line) == AST_COMPONENTS && ast_at(ast, line)->nchild == 4
                   ? ast_child(ast, line, 3) : 0;
    Node mods = component ? ast_child(ast, component, 1) : 0;
    if (!mods || ast_at(ast, mods)->nchild != 1) {
        diag_add(elab->diags, E0117, (Span){0}, "the value '%s' for '%s' is not an expression",
                 override->value, override->name);
        return 0;
    }
    return ast_child(ast, mods, 0);
}

// `Real y = 2*x`: the declaration holds an equation, so no start value could count.
static bool
has_equation(const Ast *ast, Node component)
{
    Node mods = ast_child(ast, component, 1);
    return mods && ast_kind(ast, mods) == AST_MODS && ast_child(ast, mods, 0) != 0;
}

// Whether the declaration a path leads to is a parameter, and its type; false after a message when there is none.
static bool
find_override(Elab *elab, uint32_t class_id, const Override *override, const Path *path, bool *parameter, uint32_t *type)
{
    uint32_t flags = 0;
    bool bound = false;
    for (uint32_t i = 0; i < path->n; i++) {
        Found found;
        TypeUse use = {0};
        Sym name = path->at[i].name;
        bool is_class = !class_is_variable(elab, class_id);
        if (!is_class || !scope_member(elab->program, class_id, name, &found) || found.class_id) {
            Diag *diag = diag_add(elab->diags, E0117, (Span){0},
                                  "the model has no parameter or variable '%s'", override->name);
            const char *near = is_class ? scope_nearest(elab->program, class_id, name, true) : NULL;
            const char *parameters = is_class && !near ? scope_parameters(elab->program, class_id) : NULL;
            if (near)
                diag_help(diag, "did you mean '%s' instead of '%s'?", near, sym_text(elab->dae->syms, name));
            else if (parameters)
                diag_help(diag, "parameters there: %s", parameters);
            return false;
        }
        const Ast *ast = &elab->program->ast;
        flags |= ast_at(ast, found.member->line)->flags;
        bound = has_equation(ast, found.member->node);
        Node type = ast_child(ast, found.member->line, 0);
        class_id = type ? scope_class(elab->program, found.owner, type) : 0;
        bool ok = class_id && type_use(elab, class_id, &use);
        class_id = use.class_id;
        vec_free(&use.dims);
        if (!ok)
            return false;
    }
    bool variable = class_is_variable(elab, class_id);
    *type = class_id;
    if (!variable || (flags & (AST_F_CONSTANT | AST_F_FINAL)))
        diag_add(elab->diags, E0117, (Span){0}, variable ? "'%s' is %s and cannot be set" : "'%s' is %s",
                 override->name, !variable ? "a component, not a parameter or variable"
                                           : flags & AST_F_CONSTANT ? "a constant" : "final");
    *parameter = (flags & AST_F_PARAMETER) != 0;
    if (variable && bound && !(flags & (AST_F_PARAMETER | AST_F_CONSTANT | AST_F_FINAL))) {
        diag_add(elab->diags, E0117, (Span){0}, "'%s' is determined by the equation of its declaration, so it cannot be set",
                 override->name);
        return false;
    }
    return variable && !(flags & (AST_F_CONSTANT | AST_F_FINAL));
}

static void
add_override(Elab *elab, Mod *root, const Path *path, Node value, bool parameter)
{
    Span span = ast_at(&elab->program->ast, value)->span;
    Mod *mod = mod_make(elab, parameter ? path->at[path->n - 1].name : sym_of(elab->dae->syms, "start"), span,
                        0);
    mod->value = value;
    mod->class_id = root->class_id;
    mod->from_outside = true;
    for (uint32_t i = parameter ? path->n - 1 : path->n; i-- > 0;) {
        Mod *outer = mod_make(elab, path->at[i].name, span, 0);
        outer->from_outside = true;
        mod_add(elab, outer, mod);
        mod = outer;
    }
    mod_add(elab, root, mod);
}

typedef struct Overrides {
    Mod *root;
    Node *values;     // of those for single elements, 0 otherwise
    bool *parameter;
} Overrides;

static Overrides
read_overrides(Elab *elab, uint32_t class_id)
{
    uint32_t n = elab->options->n_overrides;
    Overrides out = {.values = arena_array(elab->arena, Node, n),
                     .parameter = arena_array(elab->arena, bool, n)};
    Path *path = arena_new(elab->arena, Path);
    for (uint32_t i = 0; i < n; i++) {
        const Override *override = &elab->options->overrides[i];
        if (!split_path(elab, override->name, path)) {
            diag_add(elab->diags, E0117, (Span){0}, "'%s' is not the name of a parameter or variable",
                     override->name);
            continue;
        }
        uint32_t type;
        bool found = find_override(elab, class_id, override, path, &out.parameter[i], &type);
        Node value = found ? parse_value(elab, override, type) : 0;
        if (!value)
            continue;
        if (path->subscripted) {
            out.values[i] = value;
            continue;
        }
        if (!out.root) {
            out.root = mod_make(elab, 0, (Span){0}, -1);
            out.root->class_id = class_id;
        }
        add_override(elab, out.root, path, value, out.parameter[i]);
    }
    return out;
}

static void
apply_element(Elab *elab, uint32_t class_id, const Override *override, Node value, bool parameter)
{
    Dae *dae = elab->dae;
    Var var = dae_find(dae, override->name);
    Value number;
    Span span = ast_at(&elab->program->ast, value)->span;
    if (var == NONE) {
        diag_add(elab->diags, E0117, span, "the model has no scalar parameter or variable '%s'",
                 override->name);
        return;
    }
    const Group *group = dae_group(dae, var);
    if (group->decl->flags & (GROUP_EVALUATE | GROUP_FINAL)) {
        diag_add(elab->diags, E0117, span, "'%s' %s and cannot be set for one element", override->name,
                 group->decl->flags & GROUP_FINAL ? "is final" : "shapes the model");
        return;
    }
    if (!evaluate(elab, NULL, class_id, false, value, &number))
        return;
    if (number.type.rank) {
        diag_add(elab->diags, E0117, span, "'%s' needs a scalar value", override->name);
        return;
    }
    dae_replace_bind(dae, (Bind){.var = var, .attr = parameter ? ATTR_VALUE : ATTR_START,
                             .shape = number.elements[0], .row = dae->rows.n, .span = span});
}

// --- experiment annotation

static void
read_setting(Elab *elab, uint32_t class_id, Node mod)
{
    const Ast *ast = &elab->program->ast;
    Dae *dae = elab->dae;
    Node name = ast_child(ast, mod, 0), mods = ast_child(ast, mod, 1), value = mods ? ast_child(ast, mods, 0)
        : 0;
    if (ast_kind(ast, mod) != AST_MOD || !name || !value)
        return;
    const char *text = scope_name_text(elab->program, name);
    double *to = !strcmp(text, "StartTime") ? &dae->start : !strcmp(text, "StopTime") ? &dae->stop
               : !strcmp(text, "Interval") ? &dae->interval : !strcmp(text, "Tolerance") ? &dae->tolerance
                   : NULL;
    Value number;
    if (!to || !evaluate(elab, NULL, class_id, false, value, &number))
        return;
    if (number.type.rank || (number.type.base != TYPE_REAL && number.type.base != TYPE_INTEGER)) {
        diag_add(elab->diags, E0119, ast_at(ast, value)->span, "'%s' must be a number", text);
        return;
    }
    *to = expr_value(dae->exprs, number.elements[0]);
}

static void
read_annotation(Elab *elab, uint32_t class_id, Node annotation)
{
    const Ast *ast = &elab->program->ast;
    Node mods = annotation ? ast_child(ast, annotation, 0) : 0;
    for (uint32_t i = 1; mods && i < ast_at(ast, mods)->nchild; i++) {
        Node mod = ast_child(ast, mods, i);
        Node name = ast_kind(ast, mod) == AST_MOD ? ast_child(ast, mod, 0) : 0;
        Node inner = name ? ast_child(ast, mod, 1) : 0;
        if (!inner || strcmp(scope_name_text(elab->program, name), "experiment"))
            continue;
        for (uint32_t k = 1; k < ast_at(ast, inner)->nchild; k++)
            read_setting(elab, class_id, ast_child(ast, inner, k));
    }
}

static void
read_experiment(Elab *elab, uint32_t class_id)
{
    const Ast *ast = &elab->program->ast;
    const ClassInfo *info = class_at(elab->program, class_id);
    Node comment = ast_child(ast, info->node, 0);
    if (comment)
        read_annotation(elab, class_id, ast_child(ast, comment, 0));
    for (uint32_t i = 0; ast_kind(ast, info->body) == AST_BODY && i < ast_at(ast, info->body)->nchild; i++) {
        Node section = ast_child(ast, info->body, i);
        if (section && ast_kind(ast, section) == AST_ANNOTATION)
            read_annotation(elab, class_id, section);
    }
}

// --- elaborate

static void
elab_free(Elab *elab)
{
    routines_close(&elab->routines);
    for (uint32_t i = 0; i < elab->fragments.n; i++) {
        Fragment *frag = elab->fragments.at[i];
        vec_free(&frag->members);
        vec_free(&frag->hidden);
        map_free(&frag->by_name);
        vec_free(&frag->order);
        vec_free(&frag->sections);
        vec_free(&frag->bond_clauses);
        vec_free(&frag->equations);
        vec_free(&frag->energies);
        vec_free(&frag->binds);
        vec_free(&frag->flags);
        vec_free(&frag->rows);
        vec_free(&frag->connects);
        vec_free(&frag->paths);
        vec_free(&frag->reinits);
        vec_free(&frag->asserts);
        vec_free(&frag->told);
        vec_free(&frag->discrete);
        vec_free(&frag->extras);
        vec_free(&frag->guards);
        vec_free(&frag->roots);
        vec_free(&frag->outers);
        vec_free(&frag->needs);
        vec_free(&frag->outer_connectors);
        vec_free(&frag->deselections);
        map_free(&frag->deselected);
        map_free(&frag->extra_of);
    }
    for (uint32_t i = 0; i < elab->long_mods.n; i++)
        map_free(&elab->long_mods.at[i]->index);
    vec_free(&elab->long_mods);
    vec_free(&elab->fragments);
    vec_free(&elab->implicit);
    vec_free(&elab->overconstrained);
    map_free(&elab->overconstrained_of);
    map_free(&elab->order_of_names);
    vec_free(&elab->name_orders);
    vec_free(&elab->env.locals);
    vec_free(&elab->slots);
    map_free(&elab->slot_of);
    vec_free(&elab->loops);
    map_free(&elab->shared);
    map_free(&elab->shape_slots);
    vec_free(&elab->order);
    map_free(&elab->constant_home);
    map_free(&elab->streams);
    map_free(&elab->constant_of);
    vec_free(&elab->constants);
    map_free(&elab->array_of);
    vec_free(&elab->arrays);
    arena_free(&elab->arena);
    arena_free(&elab->scratch);
}

// False when the class cannot be elaborated; somebody has said why.
static bool
run(Elab *elab, uint32_t class_id)
{
    Dae *dae = elab->dae;
    const ClassInfo *info = class_at(elab->program, class_id);
    if (info->flags & AST_F_PARTIAL) {
        diag_add(elab->diags, E0106, ast_at(&elab->program->ast, info->node)->span,
                 "'%s' is partial and cannot be simulated", sym_text(dae->syms, info->full_name));
        return false;
    }
    Overrides overrides = read_overrides(elab, class_id);
    TypeUse use = {0};
    dae->name = class_at(elab->program, class_id)->full_name;
    if (!type_use(elab, class_id, &use))
        return false;
    vec_free(&use.dims);
    if (class_is_variable(elab, class_id) || class_at(elab->program, use.class_id)->kind == CLASS_PACKAGE
        || class_at(elab->program, use.class_id)->kind == CLASS_FUNCTION) {
        diag_add(elab->diags, E0115, ast_at(&elab->program->ast,
                                            class_at(elab->program, class_id)->node)->span,
                 "'%s' is a %s and cannot be simulated", sym_text(dae->syms, dae->name),
                 ast_class_kind_name((ClassKind)class_at(elab->program, class_id)->kind));
        return false;
    }
    uint32_t errors = diags_errors(elab->diags);
    Fragment *model = fragment_of_class(elab, class_id, overrides.root, NULL, NULL, NONE, 0);
    outer_place(elab, model);
    read_experiment(elab, class_id);
    if (diags_errors(elab->diags) != errors)
        return false;
    if (model->failed || !link_fragments(elab, model)) {
        // A library's classes fail by each other.
        if (!diags_errors(elab->diags))
            diag_add(elab->diags, E0104, (Span){0}, "'%s' could not be elaborated", sym_text(dae->syms, dae->name));
        return false;
    }
    for (uint32_t i = 0; i < elab->options->n_overrides; i++)
        if (overrides.values[i])
            apply_element(elab, class_id, &elab->options->overrides[i], overrides.values[i],
                          overrides.parameter[i]);
    return true;
}

Dae *
elaborate(Program *program, const ElaborateOptions *options, Diags *diags)
{
    uint32_t errors = diags_errors(diags);
    program_load_packages(program);
    if (diags_errors(diags) != errors)
        return NULL;
    uint32_t class_id = options->class_id ? options->class_id : choose_class(program, options->class_name, diags);
    program->part = options->part;
    check_restrictions(program);
    if (!class_id || diags_errors(diags) != errors)
        return NULL;
    Elab elab = {.contents = &fragment_contents, .routines = routines_open(program->sources, program->externals), .program = program, .options = options, .diags = diags, .arena = arena_create(),
                 .scratch = arena_create(), .dae = dae_create(program->syms, program->sources),
                 .max_scalars = options->max_scalars ? options->max_scalars : 50 * 1000 * 1000};
    if (program->externals)
        externals_evaluate(elab.dae->exprs, diags);
    elab.end_name = sym_of(program->syms, "end");
    env_init(&elab, &elab.env, &elab.scope);
    bool elaborated = run(&elab, class_id);
    check_imports(program);
    check_restrictions(program); // of what was read on the way
    Dae *dae = elab.dae;
    elab_free(&elab);
    if (!elaborated || diags_errors(diags) != errors)
        dae_free(&dae);
    return dae;
}
