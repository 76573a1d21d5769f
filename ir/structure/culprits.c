// culprits.c: a singular set of equations in few words.
//
// Purpose: a set in which each equation is needed for the contradiction may be a whole chain of 10^5 components, though one line was
// wrong. Method: equations of one place and shape are one kind; of each the nearest is kept with their number, and kinds are sorted
// by it. Contract: culprits.h. Complexity: linear, plus sorting the kinds.
//
//     T[1] = 300, C*der(T[i]) = q[i] - q[i + 1] for i in 1:n, ..., T[n] = 350   ->   T[1] = 300; T[n] = 350; C*der(T[1]) = ... and n - 1 more
#include "ir/structure/culprits.h"

#include "ir/base/map.h"

static uint64_t
kind_of(const Dae *dae, uint32_t equation)
{
    const Equation *at = &dae->equations.at[equation];
    return hash_add(hash_add(at->span.lo, at->span.hi), at->shape);
}

typedef struct Ranked {
    Culprit culprit;
    uint32_t found;
} Ranked;

static int
by_number(const void *a, const void *b)
{
    const Ranked *x = a, *y = b;
    if (x->culprit.more != y->culprit.more)
        return x->culprit.more < y->culprit.more ? -1 : 1;
    return x->found < y->found ? -1 : 1;
}

// Among equals in the order in which they were found.
static void
sort_by_number(CulpritVec *culprits)
{
    Ranked *ranked = base_calloc((size_t)culprits->n + 1, sizeof *ranked);
    for (uint32_t i = 0; i < culprits->n; i++)
        ranked[i] = (Ranked){culprits->at[i], i};
    qsort(ranked, culprits->n, sizeof *ranked, by_number);
    for (uint32_t i = 0; i < culprits->n; i++)
        culprits->at[i] = ranked[i].culprit;
    free(ranked);
}

void
culprits_find(const Dae *dae, const uint32_t *equation, uint32_t n, bool rare_first, CulpritVec *culprits)
{
    Map seen = {0};
    vec_clear(culprits);
    for (uint32_t k = 0; k < n; k++) {
        uint32_t at;
        bool known = n > CULPRITS_SHOWN && map_get(&seen, kind_of(dae, equation[k]), &at);
        if (known) {
            culprits->at[at].more++;
            continue;
        }
        map_put(&seen, kind_of(dae, equation[k]), culprits->n);
        vec_push(culprits, (Culprit){equation[k], 0});
    }
    map_free(&seen);
    if (rare_first && n > CULPRITS_SHOWN)
        sort_by_number(culprits);
}
