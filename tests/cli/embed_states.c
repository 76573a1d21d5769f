// Goes through a model in steps, for embed_states.check. In between it keeps states, goes astray, and comes back: all
// variables at every point must be what a run without detours gives.
// usage: embed_states STOP STEPS TOLERANCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mdl_embed.h>

enum { CREATED = 3 };

static double *
look(const mdl_simulation *s, int n)
{
    double *value = malloc(((size_t)n + 1) * sizeof *value);
    for (int k = 0; value && k < n; k++)
        value[k] = mdl_value(s, k);
    return value;
}

static int
differs(const mdl_simulation *s, const double *expected, int n, double tolerance)
{
    int bad = 0;
    for (int k = 0; k < n; k++)
        if (!(fabs(mdl_value(s, k) - expected[k]) <= tolerance * (1 + fabs(expected[k])))) {
            printf("at %g: %s is %.12g, not %.12g\n", mdl_time(s), mdl_variable_name(s, k), mdl_value(s, k), expected[k]);
            bad++;
        }
    return bad;
}

// Whatever is asked for must be refused, and change nothing.
static int
takes_damaged(mdl_simulation *s, unsigned char *state, size_t size, const double *here, int n)
{
    int bad = mdl_restore(s, state, size / 2) != 2 || mdl_restore(s, state, size - 1) != 2 || mdl_restore(s, state, size + 1) != 2 || mdl_restore(s, NULL, 0) != 2;
    state[size / 2] ^= 1;
    bad |= mdl_restore(s, state, size) != 2 || differs(s, here, n, 0);
    state[size / 2] ^= 1;
    memset(state, 0, 8);
    return bad || mdl_restore(s, state, size) != 2 || !strstr(mdl_message(s), "no state");
}

// One step: the first goes straight; the second goes too far, and back; the third goes on from what the second kept.
static int
step(mdl_simulation **s, double end, double detour, double tolerance, int n)
{
    size_t size = mdl_save(s[1], NULL, 0);
    unsigned char *state = malloc(size + 1);
    int bad = !state || mdl_save(s[1], state, size - 1) != size || mdl_save(s[1], state, size) != size;
    bad = bad || mdl_advance(s[0], end) || mdl_advance(s[1], end + detour) || mdl_restore(s[1], state, size)
          || mdl_advance(s[1], end) || mdl_restore(s[2], state, size) || mdl_advance(s[2], end);
    if (bad) {
        printf("%s%s%s\n", mdl_message(s[0]), mdl_message(s[1]), mdl_message(s[2]));
        return 1;
    }
    double *straight = look(s[0], n), *here = look(s[1], n);
    bad = differs(s[1], straight, n, tolerance) + differs(s[2], here, n, tolerance);
    bad += takes_damaged(s[1], state, size, here, n);
    free(state);
    free(straight);
    free(here);
    return bad;
}

int
main(int count, char **argument)
{
    mdl_simulation *s[CREATED] = {0};
    int n = 0, bad = count != 4;
    for (int k = 0; k < CREATED; k++) {
        s[k] = mdl_create(&mdl_program, 1e-9);
        bad |= !s[k] || mdl_save(s[k], NULL, 0) != 0 || mdl_restore(s[k], "", 1) != 2 || mdl_start(s[k], 0);
    }
    while (!bad && mdl_variable_name(s[0], n))
        n++;
    int steps = bad ? 0 : atoi(argument[2]);
    double stop = bad ? 0 : atof(argument[1]);
    for (int i = 1; i <= steps; i++)
        bad += step(s, stop * i / steps, stop / 7, atof(argument[3]), n);
    printf("%s: %d variables, %d steps, x = %.12g\n", bad ? "wrong" : "fine", n, steps, mdl_get(s[1], "x"));
    for (int k = 0; k < CREATED; k++)
        mdl_destroy(s[k]);
    return bad != 0;
}
