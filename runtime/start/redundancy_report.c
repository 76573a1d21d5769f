// redundancy_report.c: what is said of constraints that follow from others.
//
// Purpose: which constraints depend on each other, in which joints, and what a user could leave out. Method: the null vectors of the
// constraints' Jacobian (rank.c) name the constraints; components and directions come with the model (mdl_constraint).
// Contract: redundancy_inner.h. Complexity: one factorisation of a group for each message.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/point/point.h"
#include "runtime/start/redundancy_inner.h"

enum { LISTED = 6, OPEN = 4 };

static bool
is_line(const char *lines, const char *text)
{
    size_t length = text ? strlen(text) : 0;
    for (const char *at = lines; text && (at = strstr(at, text)); at += length + !length)
        if (at - lines >= 3 && !strncmp(at - 3, "\n  ", 3) && (at[length] == '\n' || !at[length]))
            return true;
    return false;
}

// The constraints of group g that its best pivots leave out, each with a newline before it.
static void
list_dependent(Review *r, uint32_t g, char *text, size_t size)
{
    uint32_t rows, shown = 0;
    size_t used = 0;
    Rank *rank = redundancy_rank(r, g, &rows);
    double *weight = calloc((size_t)rows + 1, sizeof *weight);
    text[0] = '\0';
    for (uint32_t k = 0; rank && weight && k < rows - rank_value(rank); k++) {
        rank_null(rank, k, weight);
        for (uint32_t i = 0; i < rows && used < size; i++) {
            const char *equation = r->run->model->constraint[r->row[i]].text;
            if (fabs(weight[i]) < 1e-6 || shown >= LISTED || is_line(text, equation))
                continue;
            used += (size_t)snprintf(text + used, size - used, "\n  %s", equation ? equation : "?");
            shown++;
        }
    }
    rank_free(&rank);
    free(weight);
}

int
redundancy_singular(Review *r)
{
    const Run *run = r->run;
    char text[3000] = "";
    for (uint32_t g = 0; g < r->groups && !text[0]; g++)
        if (r->rank[g] < r->nearby[g]) {
            evaluate_plain(r->run);
            redundancy_look(r);
            list_dependent(r, g, text, sizeof text);
        }
    run_message(run, MDL_ERROR, "at time %.12g: the start is a singular position: constraints that are independent "
                "nearby depend on each other here, so that the motion can branch; start beside it%s%s", run->time,
                text[0] ? "\nthese do:" : "", text);
    return MDL_FAILED;
}

static bool
same_kind(const mdl_constraint *a, const mdl_constraint *b)
{
    return a->component && b->component && !strcmp(a->component, b->component) && a->unit == b->unit
           && (a->unit != MDL_UNIT_METRE || a->axis == b->axis);
}

// "2 rotations at 'j3'" for surplus constraint k and those like it, unless one before it is like it.
static size_t
surplus_text(const Review *r, const Rank *rank, uint32_t k, uint32_t surplus, char *text, size_t size)
{
    static const char *const axes[] = {"", " along x", " along y", " along z"};
    const mdl_model *model = r->run->model;
    const mdl_constraint *at = &model->constraint[r->row[rank_free_unknown(rank, k)]];
    uint32_t alike = 0;
    for (uint32_t i = 0; i < surplus; i++) {
        bool same = same_kind(at, &model->constraint[r->row[rank_free_unknown(rank, i)]]);
        if (i < k && same)
            return 0;
        alike += same;
    }
    bool metre = at->unit == MDL_UNIT_METRE;
    const char *what = metre ? "translation" : at->unit == MDL_UNIT_RADIAN ? "rotation" : "condition";
    char count[16] = "a";
    if (!at->component)
        return 0;
    if (alike > 1)
        snprintf(count, sizeof count, "%u", alike);
    int used = snprintf(text, size, "%s%s %s%s%s at '%s'", k ? ", " : "; surplus is, for example, ", count, what, alike > 1 ? "s" : "",
                        metre ? axes[at->axis & 3] : "", at->component);
    return used > 0 ? (size_t)used : 0;
}

// "in the loops of j1, j2, j3; surplus is, for example, a translation along y at 'j3', 2 rotations at 'j3'". Nothing when no
// component is known.
static void
joints_text(Review *r, uint32_t g, char *text, size_t size)
{
    const mdl_model *model = r->run->model;
    uint32_t rows;
    size_t used = 0;
    Rank *rank = redundancy_rank(r, g, &rows);
    uint8_t *flags = calloc((size_t)model->n_constraints + 1, 1);
    text[0] = '\0';
    for (uint32_t i = 0; flags && i < rows; i++)
        flags[r->row[i]] = model->constraint[r->row[i]].component != NULL;
    if (flags && memchr(flags, 1, model->n_constraints)) {
        used = (size_t)snprintf(text, size, "\nin the loops of ");
        used += assemble_loop_text(r->run, flags, text + used, size - used);
    }
    uint32_t surplus = rank ? rows - rank_value(rank) : 0;
    for (uint32_t k = 0; used && k < surplus && used < size; k++)
        used += surplus_text(r, rank, k, surplus, text + used, size - used);
    rank_free(&rank);
    free(flags);
}

void
redundancy_note(Review *r, uint32_t g)
{
    char text[3000], joints[1500];
    list_dependent(r, g, text, sizeof text);
    joints_text(r, g, joints, sizeof joints);
    uint32_t count = r->rows[g] - r->rank[g];
    run_message(r->run, MDL_NOTE, "%u of %u constraints of %s follow%s from the others; of the forces that keep them "
                "the shortest are taken%s%sThey depend on each other:%s", count, r->rows[g], r->run->model->name,
                count == 1 ? "s" : "", joints, joints[0] ? ".\n" : ". ", text);
}

void
redundancy_open(Review *r, Newton *newton)
{
    size_t used = strlen(r->open);
    if (used < sizeof r->open / 2)
        newton_null_text(r->run, newton, OPEN, r->open + used, sizeof r->open - used);
}

void
redundancy_note_open(const Review *r)
{
    if (r->open[0])
        run_message(r->run, MDL_NOTE, "rigid connections of %s are side by side: the motion leaves some of their forces open, and of "
                    "those that do the same the shortest are taken%s", r->run->model->name, r->open);
}
