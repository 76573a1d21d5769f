// near_names.c: names that a class has, for messages about those it has not.
//
// Purpose: the nearest name to one that was not found, and the parameters that may be meant. Method: members of the class and its bases, of the
// classes around it, and what they import; nearest_name() measures. Contract: classes.h, scope_inner.h. Complexity: linear in the names, for messages only.
#include "frontend/names/scope_inner.h"

#include <string.h>

#include "ir/base/diag.h"
#include "runtime/model/nearest.h"

typedef VEC(const char *) Names;

void
scope_collect_bases(Program *program, uint32_t class_id, U32Vec *all)
{
    Map seen = {0};
    uint32_t old;
    map_put(&seen, class_id, 1);
    vec_push(all, class_id);
    for (uint32_t next = 0; next < all->n; next++) {
        const ClassInfo *info = class_at(program, all->at[next]);
        for (uint32_t i = 0; i < info->bases.n; i++) {
            uint32_t base = info->bases.at[i];
            if (!base || map_get(&seen, base, &old))
                continue;
            map_put(&seen, base, 1);
            vec_push(all, base);
        }
    }
    map_free(&seen);
}

static void
collect_members(Program *program, uint32_t class_id, NamesOf of, Names *names)
{
    U32Vec all = {0};
    scope_collect_bases(program, class_id, &all);
    for (uint32_t k = 0; k < all.n; k++) {
        const ClassInfo *info = class_at(program, all.at[k]);
        for (uint32_t i = 0; i < info->members.n && names->n < 100000; i++)
            if (of != NAMES_OF_CLASSES || info->members.at[i].is_class)
                vec_push(names, sym_text(program->syms, info->members.at[i].name));
    }
    vec_free(&all);
}

const char *
scope_nearest_of(Program *program, uint32_t class_id, Sym name, bool members_only, NamesOf of)
{
    Names names = {0};
    if (diags_full(program->diags)) // the message is not shown; a file of wrong names would take quadratic time
        return NULL;
    for (uint32_t at = class_id; at; at = class_at(program, at)->parent) {
        collect_members(program, at, of, &names);
        const ClassInfo *info = class_at(program, at);
        for (uint32_t i = 0; i < info->imports.n && !members_only; i++) {
            if (info->imports.at[i].alias)
                vec_push(&names, sym_text(program->syms, info->imports.at[i].alias));
            else if (info->imports.at[i].resolved)
                collect_members(program, info->imports.at[i].resolved, of, &names);
        }
        if (members_only || at == CLASSID_ROOT)
            break;
    }
    // The name itself may stand there, as the alias of an import that leads nowhere.
    const char *text = sym_text(program->syms, name);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < names.n; i++)
        if (strcmp(names.at[i], text))
            names.at[kept++] = names.at[i];
    const char *near = kept ? nearest_name(text, names.at, kept) : NULL;
    vec_free(&names);
    return near;
}

const char *
scope_parameters(Program *program, uint32_t class_id)
{
    enum { MOST = 8 };
    U32Vec all = {0};
    Out out = {0};
    uint32_t n = 0;
    scope_collect_bases(program, class_id, &all);
    for (uint32_t k = 0; k < all.n; k++) {
        const ClassInfo *info = class_at(program, all.at[k]);
        for (uint32_t i = 0; i < info->members.n; i++) {
            const ClassMember *member = &info->members.at[i];
            uint32_t flags = member->is_class ? 0 : ast_at(&program->ast, member->line)->flags;
            if (member->is_protected || !(flags & AST_F_PARAMETER) || (flags & AST_F_FINAL))
                continue;
            out_printf(&out, "%s'%s'", n ? ", " : "", sym_text(program->syms, member->name));
            n++;
        }
    }
    const char *text = n && n <= MOST ? arena_strndup(program->arena, out.text, out.length) : NULL;
    out_free(&out);
    vec_free(&all);
    return text;
}

const char *
scope_nearest(Program *program, uint32_t class_id, Sym name, bool members_only)
{
    return scope_nearest_of(program, class_id, name, members_only, NAMES_OF_ALL);
}
