// rheonomic.c: motions of a mechanism that are prescribed once too often.
//
// Purpose: two drives or servos that say how the same joint moves, a drive that joints hold to the ground, an equation for the motion
// of a joint that has all its conditions: such models are described as what they are, not as equations too many.
// Method: of an over-determined set, who says how something in it moves. These are drives (components with one power port that
// impose a flow and follow a signal, a law of time or a speed, unlike a ground), constraints whose equations contain time or give an acceleration,
// and equations that stand in a composite class and name a variable of a joint. Only mechanisms with frames in the plane or
// in space are looked at: a line of masses is conflict.c's.
// Contract: index.h. At most SETS sets are looked at: messages end earlier. Complexity: linear in the model and in the sets.

#include "ir/base/diag.h"
#include "ir/dae/locate.h"
#include "ir/expr/expr_parts.h"
#include "ir/index/index.h"

enum { PARTIES = 6, FRAME_BONDS = 3, SETS = 16 };
enum { ONE_PORT = 1, PORTS = 2, FRAME = 4, SIGNAL = 8, DRIVES = 16 };

typedef struct Fight {
    const Dae *dae;
    U8Vec facts;     // per instance: the bits above
    U8Vec about;     // per variable: the set determines it
    U8Vec drivers;   // per variable: a drive of this set says how it moves
    U32Vec said;     // instances that were reported
    uint32_t party[PARTIES], n;     // components that say how something moves, and joints about which an equation does
    uint32_t equation[PARTIES];     // that equation; NONE for a component
    uint32_t joint[PARTIES], n_joints;
    bool frames;
    bool stiff;      // nobody prescribes a motion anywhere: joints alone are looked at
} Fight;

static uint32_t
component_of(const Dae *dae, uint32_t inst)
{
    while (inst && (dae->insts.at[inst].class_kind == CLASS_KIND_CONNECTOR || dae->insts.at[inst].class_kind == CLASS_KIND_RECORD))
        inst = dae->insts.at[inst].parent;
    return inst;
}

static bool
is_physical(const Dae *dae, uint32_t inst)
{
    uint8_t kind = dae->insts.at[inst].class_kind;
    return kind >= CLASS_KIND_BODY && kind <= CLASS_KIND_MEMORY;
}

static bool
has_rate(const Dae *dae, uint32_t equation)
{
    uint32_t n;
    const Var *row = dae_row(dae, equation, &n);
    for (uint32_t k = 0; k < n; k++)
        if (dae->var_der_of.at[row[k]] != NONE)
            return true;
    return false;
}

static void
learn_ports(Fight *fight)
{
    const Dae *dae = fight->dae;
    for (uint32_t c = 0; c < dae->connectors.n; c++) {
        const ConnectorType *type = &dae->connector_types.at[dae->connectors.at[c].type];
        uint8_t *facts = &fight->facts.at[component_of(dae, dae->connectors.at[c].inst)];
        *facts |= !type->n_bonds ? SIGNAL : *facts & ONE_PORT ? PORTS : ONE_PORT;
        *facts |= type->n_bonds >= FRAME_BONDS ? FRAME : 0;
    }
}

static void
learn_laws(Fight *fight)
{
    const Dae *dae = fight->dae;
    for (uint32_t e = 0; e < dae->equations.n; e++)
        if (expr_has_op(dae->exprs, dae->equations.at[e].shape, OP_TIME) || has_rate(dae, e))
            fight->facts.at[component_of(dae, locate_equation_inst(dae, e))] |= DRIVES;
}

// A source of motion that is no ground.
static bool
is_drive(const Fight *fight, uint32_t inst)
{
    uint8_t facts = fight->facts.at[inst];
    return fight->dae->insts.at[inst].class_kind == CLASS_KIND_ELEMENT && facts & ONE_PORT && !(facts & PORTS) && facts & (SIGNAL | DRIVES);
}

static Var
base_of(const Dae *dae, Var var)
{
    bool negative;
    var = dae_alias(dae, var, &negative);
    while (dae->var_der_of.at[var] != NONE)
        var = dae_alias(dae, dae->var_der_of.at[var], &negative);
    return var;
}

// --- the parties of one set

static void
add_party(Fight *fight, uint32_t inst, uint32_t equation)
{
    for (uint32_t i = 0; i < fight->n; i++)
        if (fight->party[i] == inst)
            return;
    if (fight->n < PARTIES) {
        fight->equation[fight->n] = equation;
        fight->party[fight->n++] = inst;
    }
}

static void
add_joint(Fight *fight, uint32_t inst)
{
    for (uint32_t i = 0; i < fight->n_joints; i++)
        if (fight->joint[i] == inst)
            return;
    if (fight->n_joints < PARTIES)
        fight->joint[fight->n_joints++] = inst;
}

static void
find_drives(Fight *fight, const Singular *over, uint32_t set)
{
    const Dae *dae = fight->dae;
    for (uint32_t k = over->variable_start.at[set]; k < over->variable_start.at[set + 1]; k++) {
        Var base = base_of(dae, over->variables.at[k]);
        fight->about.at[base] = 1;
        fight->frames |= dae_group(dae, base) && fight->facts.at[component_of(dae, dae_group(dae, base)->inst)] & FRAME;
    }
    for (uint32_t b = 0; b < dae->bonds.n; b++) {
        const Bond *bond = &dae->bonds.at[b];
        uint32_t inst = dae->nodes.at[bond->component].inst;
        Var moved = base_of(dae, bond->flow);
        if (dae->nodes.at[bond->component].kind != NODE_SF || !fight->about.at[moved] || !is_drive(fight, inst))
            continue;
        fight->drivers.at[moved] = 1;
        add_party(fight, locate_user_inst(dae, inst), NONE);
    }
}

// The joint about whose motion equation e of a composite class speaks; NONE when a drive does, or no joint is meant.
static uint32_t
joint_spoken_of(const Fight *fight, uint32_t e)
{
    const Dae *dae = fight->dae;
    uint32_t n, found = NONE;
    const Var *row = dae_row(dae, e, &n);
    for (uint32_t k = 0; k < n; k++) {
        if (dae_kind(dae, row[k]) != VAR_CONTINUOUS || !dae_group(dae, row[k]))
            continue;
        Var base = base_of(dae, row[k]);
        uint32_t inst = component_of(dae, dae_group(dae, base)->inst);
        if (fight->drivers.at[base])
            return NONE;
        if (fight->about.at[base] && is_physical(dae, inst) && fight->facts.at[inst] & PORTS && fight->facts.at[inst] & FRAME)
            found = locate_user_inst(dae, inst);
    }
    return found;
}

// An equation of a constraint that says how it moves: one with time, or for an acceleration, without a force.
static bool
is_servo(const Dae *dae, uint32_t e)
{
    static const char *const units[] = {"m/s2", "rad/s2", "N", "N.m"};
    uint32_t n, seen = 0;
    const Var *row = dae_row(dae, e, &n);
    if (dae->insts.at[component_of(dae, locate_equation_inst(dae, e))].class_kind != CLASS_KIND_CONSTRAINT)
        return false;
    for (uint32_t k = 0; k < n; k++) {
        const Group *group = dae_group(dae, row[k]);
        const char *unit = group && group->decl->unit && dae_kind(dae, row[k]) == VAR_CONTINUOUS ? sym_text(dae->syms, group->decl->unit) : "";
        for (uint32_t i = 0; i < sizeof units / sizeof *units; i++)
            seen |= (uint32_t)!strcmp(unit, units[i]) << i;
    }
    bool acceleration = seen & 3 && !(seen & 12) && !has_rate(dae, e);
    return acceleration || expr_has_op(dae->exprs, dae->equations.at[e].shape, OP_TIME);
}

static void
find_written(Fight *fight, const Singular *over, uint32_t set)
{
    const Dae *dae = fight->dae;
    for (uint32_t k = over->equation_start.at[set]; k < over->equation_start.at[set + 1]; k++) {
        uint32_t e = over->equations.at[k], inst = component_of(dae, locate_equation_inst(dae, e));
        fight->frames |= (fight->facts.at[inst] & FRAME) != 0;
        if (is_physical(dae, inst)) {
            if (is_servo(dae, e))
                add_party(fight, locate_user_inst(dae, inst), NONE);
            continue;
        }
        uint32_t joint = dae->equations.at[e].generated ? NONE : joint_spoken_of(fight, e);
        if (joint != NONE)
            add_party(fight, joint, e);
    }
}

static bool
is_party(const Fight *fight, uint32_t inst)
{
    for (uint32_t i = 0; i < fight->n; i++)
        if (fight->party[i] == inst)
            return true;
    return false;
}

// What they meet in: joints, and what else has two frames; and grounds.
static void
find_joints(Fight *fight, const Singular *over, uint32_t set)
{
    const Dae *dae = fight->dae;
    for (uint32_t k = over->equation_start.at[set]; k < over->equation_start.at[set + 1]; k++) {
        uint32_t inst = component_of(dae, locate_equation_inst(dae, over->equations.at[k]));
        uint32_t user = locate_user_inst(dae, inst);
        if (inst && user && fight->facts.at[inst] & FRAME && (user == inst || dae->insts.at[inst].class_kind == CLASS_KIND_CONSTRAINT)
            && !is_party(fight, user))
            add_joint(fight, user);
    }
}

// --- words

static void
print_insts(const Dae *dae, const uint32_t *list, uint32_t n, Out *out)
{
    for (uint32_t i = 0; i < n; i++) {
        out_text(out, i ? i + 1 == n ? " and '" : ", '" : "'");
        dae_inst_path(dae, list[i], out);
        out_char(out, '\'');
    }
}

static Span
span_of(const Fight *fight, uint32_t i)
{
    const Dae *dae = fight->dae;
    return fight->equation[i] != NONE ? dae->equations.at[fight->equation[i]].span : dae->insts.at[fight->party[i]].span;
}

static void
note_joints(const Fight *fight, Diag *diag)
{
    Out where = {0};
    if (!fight->n_joints)
        return;
    print_insts(fight->dae, fight->joint, fight->n_joints, &where);
    diag_note(diag, (Span){0, 0}, "they meet in %s", where.text);
    out_free(&where);
}

static void
say_fight(const Fight *fight, Diags *diags)
{
    Out who = {0};
    print_insts(fight->dae, fight->party, fight->n, &who);
    uint32_t last = fight->n - 1;
    Diag *diag = diag_add(diags, E0511, span_of(fight, last), "prescribed motions fight: how the same parts move is said %s, for %s",
                          fight->n == 2 ? "twice" : "several times", who.text);
    for (uint32_t i = 0; i < last; i++)
        diag_note(diag, span_of(fight, i), "here, too");
    note_joints(fight, diag);
    diag_help(diag, "prescribe one of the motions only and leave the other joint free, or put a spring or a clutch between");
    out_free(&who);
}

static void
say_held(const Fight *fight, Diags *diags)
{
    const Dae *dae = fight->dae;
    Out who = {0};
    Diag *diag;
    print_insts(dae, fight->party, 1, &who);
    const char *class = sym_text(dae->syms, dae->insts.at[fight->party[0]].class_name);
    if (fight->equation[0] != NONE) {
        diag = diag_add(diags, E0511, span_of(fight, 0), "this equation prescribes a motion of %s (%s), whose force is given already",
                        who.text, class);
        diag_note(diag, dae->insts.at[fight->party[0]].span, "a joint is complete: each of its scalar bonds is closed by a condition on the motion or one on the force");
        diag_help(diag, "a drive leaves the force free: take the joint's variant with an axis (RevoluteDrive, PrismaticDrive) and connect a "
                        "Prescribed... of its library");
    } else {
        diag = diag_add(diags, E0511, span_of(fight, 0), "a prescribed motion meets what cannot follow it: %s (%s) says how parts move "
                        "that something else holds", who.text, class);
        note_joints(fight, diag);
        diag_help(diag, "free one of the joints between them, or prescribe only as many motions as the mechanism has freedoms");
    }
    out_free(&who);
}

// Nobody prescribes a motion, and the set has more conditions than quantities that could move: joints between grounds.
static bool
say_stiff(Fight *fight, const Singular *over, uint32_t set, Diags *diags)
{
    const Dae *dae = fight->dae;
    uint32_t equations = over->equation_start.at[set + 1] - over->equation_start.at[set];
    uint32_t variables = over->variable_start.at[set + 1] - over->variable_start.at[set];
    uint32_t joint = NONE;
    for (uint32_t i = 0; i < fight->n_joints && joint == NONE; i++)
        if (dae->insts.at[fight->joint[i]].class_kind == CLASS_KIND_CONSTRAINT)
            joint = fight->joint[i];
    if (joint == NONE || equations <= variables)
        return false;
    Out where = {0};
    print_insts(dae, fight->joint, fight->n_joints, &where);
    Diag *diag = diag_add(diags, E0421, dae->insts.at[joint].span, "joints hold this more than it can be held: %u condition%s on the motion "
                          "too many in the loop of %s", equations - variables, equations - variables == 1 ? "" : "s", where.text);
    diag_help(diag, "free motions: a joint in place of a weld, in space a cylindrical or spherical one in place of a revolute one, or one ground less");
    out_free(&where);
    return true;
}

// In the order of the text.
static void
sort_parties(Fight *fight)
{
    for (uint32_t i = 1; i < fight->n; i++)
        for (uint32_t k = i; k > 0 && span_of(fight, k).lo < span_of(fight, k - 1).lo; k--) {
            uint32_t party = fight->party[k], equation = fight->equation[k];
            fight->party[k] = fight->party[k - 1];
            fight->equation[k] = fight->equation[k - 1];
            fight->party[k - 1] = party;
            fight->equation[k - 1] = equation;
        }
}

static bool
was_said(const Fight *fight)
{
    for (uint32_t i = 0; i < fight->said.n; i++)
        if (is_party(fight, fight->said.at[i]))
            return true;
    return false;
}

static void
find_parties(Fight *fight, const Singular *over, uint32_t set)
{
    fight->n = fight->n_joints = 0;
    fight->frames = false;
    memset(fight->about.at, 0, fight->about.n);
    memset(fight->drivers.at, 0, fight->drivers.n);
    find_drives(fight, over, set);
    find_written(fight, over, set);
}

static bool
report_set(Fight *fight, const Singular *over, uint32_t set, Diags *diags)
{
    find_parties(fight, over, set);
    find_joints(fight, over, set);
    for (uint32_t i = 0; i < fight->n; i++)
        fight->frames |= (fight->facts.at[fight->party[i]] & FRAME) != 0;
    if (!fight->n)
        return fight->stiff && fight->frames && say_stiff(fight, over, set, diags);
    if (!fight->frames)
        return false;
    if (was_said(fight))
        return true;
    sort_parties(fight);
    if (fight->n > 1)
        say_fight(fight, diags);
    else
        say_held(fight, diags);
    for (uint32_t i = 0; i < fight->n; i++)
        vec_push(&fight->said, fight->party[i]);
    return true;
}

static void
begin_fight(Fight *fight)
{
    const Dae *dae = fight->dae;
    vec_grow(&fight->facts, dae->insts.n);
    vec_grow(&fight->about, dae->nvars + 1); // at least one place, for a model of time alone
    vec_grow(&fight->drivers, dae->nvars + 1);
    learn_ports(fight);
    learn_laws(fight);
}

static void
end_fight(Fight *fight)
{
    vec_free(&fight->facts);
    vec_free(&fight->about);
    vec_free(&fight->drivers);
    vec_free(&fight->said);
}

bool
rheonomic_prescribes(const Dae *dae, const Singular *over)
{
    Fight fight = {.dae = dae};
    bool prescribes = false;
    begin_fight(&fight);
    for (uint32_t s = 0; s + 1 < over->equation_start.n && s < SETS && !prescribes; s++) {
        find_parties(&fight, over, s);
        prescribes = fight.n > 0;
    }
    end_fight(&fight);
    return prescribes;
}

bool
rheonomic_report(const Dae *dae, const Singular *over, Diags *diags)
{
    Fight fight = {.dae = dae};
    bool fights = false;
    begin_fight(&fight);
    for (uint32_t s = 0; s + 1 < over->equation_start.n && s < SETS; s++)
        fights |= report_set(&fight, over, s, diags);
    fight.stiff = !fights;
    for (uint32_t s = 0; s + 1 < over->equation_start.n && s < SETS && fight.stiff; s++)
        fights |= report_set(&fight, over, s, diags);
    end_fight(&fight);
    return fights;
}
