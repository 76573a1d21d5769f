// language.c: what the language has besides equations between scalars: arrays, classes, functions. `Written` has scalar equations.
#include "tests/random/kinds.h"

#include <stdbool.h>
#include <stdio.h>

// --- arrays: operators, loops, slices, reductions; and the sums element by element

enum { MOST = 4 };

// One row of equations y = ..., of the vector called v (n elements) and the constants A, b, c.
typedef struct Row {
    uint32_t how, n, k;
    double c;
    char y[8], v[8];
} Row;

enum { VECTOR_ROWS = 12, SCALAR_ROWS = 9 };

static void
print_vector_row(const Row *row)
{
    const char *y = row->y, *v = row->v;
    uint32_t k = row->k;
    switch (row->how) {
    case 0: printf("    %s = A*%s + b;\n", y, v); break;
    case 1: printf("    transpose(A)*%s = %s;\n", v, y); break;
    case 2: printf("    %s = {%s[i]*i + %.3f*time for i in 1:n};\n", y, v, row->c); break;
    case 3: printf("    for i in 1:n loop\n      %s[i] = %s[n + 1 - i]^2 - b[i];\n    end for;\n", y, v); break;
    case 4: printf("    %s = %s[n:-1:1] .* b;\n", y, v); break;
    case 5: printf("    %s = cat(1, %s[2:end], {%.3f*%s[1]});\n", y, v, row->c, v); break;
    case 6: printf("    %s = if %s[%u] > %.3f then %s .+ (%s[%u] - %.3f) else %s;\n", y, v, k, row->c, v, v, k, row->c, v); break;
    case 7: printf("    %s = sin(%s) ./ (b .* b .+ 1);\n", y, v); break;
    case 8: printf("    %s = (outerProduct(%s, b))[%u, :];\n", y, v, k); break;
    case 9: printf("    %s = diagonal(b)*%s - (A[%u, :]*%s)*ones(n);\n", y, v, k, v); break;
    case 10: printf("    %s = A^2*%s*0.1;\n", y, v); break;
    default:
        printf("    for i in 1:n loop\n      %s[i] = sum(A[i, j]*%s[j] for j in 1:i) + max(%s[j] for j in i:n);\n    end for;\n", y, v, v);
        break;
    }
}

// The same element by element; i counts from 1.
static void
print_vector_element(const Row *row, uint32_t i, double A[MOST][MOST], const double *b)
{
    const char *y = row->y, *v = row->v;
    uint32_t n = row->n, k = row->k;
    double c = row->c;
    printf("    %s[%u] = ", y, i);
    switch (row->how) {
    case 0:
        for (uint32_t j = 1; j <= n; j++)
            printf("(%.3f)*%s[%u] + ", A[i - 1][j - 1], v, j);
        printf("(%.3f);\n", b[i - 1]);
        break;
    case 1:
        for (uint32_t j = 1; j <= n; j++)
            printf("%s(%.3f)*%s[%u]", j > 1 ? " + " : "", A[j - 1][i - 1], v, j);
        printf(";\n");
        break;
    case 2: printf("%u*%s[%u] + %.3f*time;\n", i, v, i, c); break;
    case 3: printf("%s[%u]*%s[%u] - (%.3f);\n", v, n + 1 - i, v, n + 1 - i, b[i - 1]); break;
    case 4: printf("(%.3f)*%s[%u];\n", b[i - 1], v, n + 1 - i); break;
    case 5: printf("%.3f*%s[%u];\n", i < n ? 1. : c, v, i < n ? i + 1 : 1); break;
    case 6: printf("%s[%u] + max(0, %s[%u] - %.3f);\n", v, i, v, k, c); break;
    case 7: printf("sin(%s[%u])/%.9f;\n", v, i, b[i - 1] * b[i - 1] + 1); break;
    case 8: printf("%s[%u]*(%.3f);\n", v, k, b[i - 1]); break;
    case 9:
        printf("(%.3f)*%s[%u]", b[i - 1], v, i);
        for (uint32_t j = 1; j <= n; j++)
            printf(" - (%.3f)*%s[%u]", A[k - 1][j - 1], v, j);
        printf(";\n");
        break;
    case 10:
        printf("0.1*(");
        for (uint32_t j = 1; j <= n; j++)
            for (uint32_t l = 1; l <= n; l++)
                printf("%s(%.3f)*(%.3f)*%s[%u]", j + l > 2 ? " + " : "", A[i - 1][l - 1], A[l - 1][j - 1], v, j);
        printf(");\n");
        break;
    default:
        for (uint32_t j = 1; j <= i; j++)
            printf("(%.3f)*%s[%u] + ", A[i - 1][j - 1], v, j);
        for (uint32_t j = i; j < n; j++)
            printf("max(%s[%u], ", v, j);
        printf("%s[%u]", v, n);
        for (uint32_t j = i; j < n; j++)
            printf(")");
        printf(";\n");
        break;
    }
}

static void
print_scalar_row(const Row *row)
{
    const char *v = row->v;
    printf("    %s = ", row->y);
    switch (row->how) {
    case 0: printf("sum(%s);\n", v); break;
    case 1: printf("product(%s);\n", v); break;
    case 2: printf("max(%s);\n", v); break;
    case 3: printf("min(%s[i] - b[i] for i in 1:n);\n", v); break;
    case 4: printf("%s*b;\n", v); break;
    case 5: printf("%s*A*%s;\n", v, v); break;
    case 6: printf("sum(%s[i]*b[j]*A[i, j] for i in 1:n, j in 1:n);\n", v); break;
    case 7: printf("sum(%s .^ 2) + %s[end]*A[end, 1] + size(A, 2);\n", v, v); break;
    default: printf("sum(if i == %u then %s[i] else b[i] for i in 1:n);\n", row->k, v); break;
    }
}

static void
print_scalar_sum(const Row *row, double A[MOST][MOST], const double *b)
{
    const char *v = row->v;
    uint32_t n = row->n;
    printf("    %s = ", row->y);
    if (row->how == 2 || row->how == 3) {
        for (uint32_t i = 1; i < n; i++)
            printf("%s(%s[%u] - (%.3f), ", row->how == 2 ? "max" : "min", v, i, row->how == 2 ? 0 : b[i - 1]);
        printf("%s[%u] - (%.3f)", v, n, row->how == 2 ? 0 : b[n - 1]);
        for (uint32_t i = 1; i < n; i++)
            printf(")");
    } else if (row->how == 5 || row->how == 6) {
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t j = 0; j < n; j++)
                if (row->how == 5)
                    printf("%s(%.3f)*%s[%u]*%s[%u]", i + j ? " + " : "", A[i][j], v, i + 1, v, j + 1);
                else
                    printf("%s(%.3f)*(%.3f)*%s[%u]", i + j ? " + " : "", A[i][j], b[j], v, i + 1);
    } else {
        for (uint32_t i = 1; i <= n; i++) {
            printf("%s", i == 1 ? "" : row->how == 1 ? "*" : " + ");
            if (row->how == 7)
                printf("%s[%u]*", v, i);
            if (row->how == 4)
                printf("(%.3f)*", b[i - 1]);
            if (row->how == 8 && i != row->k)
                printf("(%.3f)", b[i - 1]);
            else
                printf("%s[%u]", v, i);
        }
        if (row->how == 7)
            printf(" + (%.3f)*%s[%u] + %u", A[n - 1][0], v, n, n);
    }
    printf(";\n");
}

void
arrays(Random *random)
{
    enum { VECTORS = 4, SCALARS = 3 };
    uint32_t n = 2 + random_below(random, MOST - 1);
    double A[MOST][MOST], b[MOST], start[MOST], drive = between(random, 0.2, 2);
    Row row[VECTORS + SCALARS];
    for (uint32_t i = 0; i < n; i++) {
        b[i] = between(random, -1, 1), start[i] = between(random, -1, 1);
        for (uint32_t j = 0; j < n; j++)
            A[i][j] = between(random, -1, 1);
    }
    for (uint32_t r = 0; r < VECTORS + SCALARS; r++) {
        bool vector = r < VECTORS;
        uint32_t known = vector ? r : VECTORS, from = random_below(random, known + 1);
        row[r] = (Row){.how = random_below(random, vector ? VECTOR_ROWS : SCALAR_ROWS), .n = n, .k = 1 + random_below(random, n), .c = between(random, 0.2, 0.9)};
        snprintf(row[r].y, sizeof row[r].y, vector ? "y%u" : "s%u", r);
        if (from)
            snprintf(row[r].v, sizeof row[r].v, "y%u", from - 1);
        else
            snprintf(row[r].v, sizeof row[r].v, "x");
    }
    for (int written = 0; written < 2; written++) {
        printf("  model %s\n    Real x[%u](start = ", written ? "Written" : "Given", n);
        print_vector(start, n);
        printf(", each fixed = true)");
        for (uint32_t r = 0; r < VECTORS + SCALARS; r++)
            printf(r < VECTORS ? ", %s[%u]" : ", %s", row[r].y, n);
        printf(";\n");
        if (!written) {
            printf("    parameter Integer n = %u;\n    constant Real b[n] = ", n);
            print_vector(b, n);
            printf(", A[n, n] = {");
            for (uint32_t i = 0; i < n; i++)
                printf(i ? ", " : ""), print_vector(A[i], n);
            printf("};\n");
        }
        printf("  equation\n");
        for (uint32_t r = VECTORS + SCALARS; r-- > 0;)
            if (!written)
                r < VECTORS ? print_vector_row(&row[r]) : print_scalar_row(&row[r]);
            else if (r >= VECTORS)
                print_scalar_sum(&row[r], A, b);
            else
                for (uint32_t i = 1; i <= n; i++)
                    print_vector_element(&row[r], i, A, b);
        if (written)
            for (uint32_t i = 1; i <= n; i++)
                printf("    der(x[%u]) = tanh(y%u[%u] - y%u[%u]) - x[%u] + sin(%.3f*time);\n", i, VECTORS - 1, i, VECTORS - 2, i, i, drive);
        else
            printf("    der(x) = tanh(y%u - y%u) - x .+ sin(%.3f*time);\n", VECTORS - 1, VECTORS - 2, drive);
        end_model(written ? "Written" : "Given", 2);
    }
}

// --- classes: parts of a mechanism by inheritance, redeclaration, inner and outer, records, conditions; and their equations

typedef struct Part {
    uint32_t how, law;
    double k, c, d, start[2], gravity;
} Part;

static const char *const part_classes =
    "  partial function Law\n    input Real u;\n    input Real c = 1;\n    output Real y;\n  end Law;\n"
    "  function cubic\n    extends Law;\n  algorithm\n    y := u + c*u^3;\n  end cubic;\n"
    "  function soft\n    extends Law(c = 2);\n  protected\n    Real h;\n  algorithm\n    h := tanh(c*u);\n    y := h/c;\n  end soft;\n"
    "  record Motion\n    Real x, v;\n  end Motion;\n"
    "  model World\n    parameter Real g = 1;\n    Real wind = g*sin(3*time);\n  end World;\n"
    "  partial model Part\n    outer World world;\n    replaceable function law = cubic constrainedby Law;\n    parameter Real k = 1, d = 0.1;\n"
    "    parameter Real start[2] = {0, 0};\n    Motion s(x(start = start[1], fixed = true), v(start = start[2], fixed = true));\n    Real force;\n  equation\n"
    "    der(s.x) = s.v;\n    der(s.v) = force - world.g + world.wind;\n  end Part;\n"
    "  model Damper\n    parameter Real d;\n    input Real v;\n    Real f = d*v;\n  end Damper;\n"
    "  model Sprung\n    extends Part;\n    parameter Boolean damped = true;\n    Damper damper(d = d, v = s.v) if damped;\n"
    "  equation\n    force = -k*law(s.x) - (if damped then d*s.v else 0);\n  end Sprung;\n"
    "  model Soft\n    extends Sprung(redeclare function law = soft, k = 3);\n  end Soft;\n"
    "  model Nest\n    replaceable model Inside = Sprung constrainedby Part;\n    parameter Real g = 2, start[2] = {0, 0};\n    inner World world(g = g);\n"
    "    Inside part(start = start);\n  end Nest;\n";

static void
print_part(const Part *part, uint32_t i)
{
    const char *law = part->law ? "soft" : "cubic";
    char start[60];
    snprintf(start, sizeof start, "start = {%.3f, %.3f}", part->start[0], part->start[1]);
    switch (part->how) {
    case 0: printf("    Sprung q%u(k = %.3f, d = %.3f, redeclare function law = %s(c = %.3f), %s);\n", i, part->k, part->d, law, part->c, start); break;
    case 1: printf("    Soft q%u(redeclare function law = %s(c = %.3f), d = %.3f, k = %.3f, %s);\n", i, law, part->c, part->d, part->k, start); break;
    case 2:
        printf("    Nest q%u(g = %.3f, redeclare model Inside = Sprung(k = %.3f, d = %.3f, redeclare function law = %s(c = %.3f)), %s);\n", i,
               part->gravity, part->k, part->d, law, part->c, start);
        break;
    case 3:
        printf("    model Own%u\n      extends Nest(g = %.3f, redeclare model Inside = Own);\n      model Own\n        extends Sprung(k = %.3f, d = %.3f);\n"
               "        redeclare function law = %s(c = %.3f);\n      end Own;\n    end Own%u;\n    Own%u q%u(%s);\n",
               i, part->gravity, part->k, part->d, law, part->c, i, i, i, start);
        break;
    default:
        printf("    Sprung q%u[2](each redeclare function law = %s(c = %.3f), k = {1, %.3f}, each d = %.3f, start = {{0, 0}, {%.3f, %.3f}},\n"
               "      damped = {false, true});\n", i, law, part->c, part->k, part->d, part->start[0], part->start[1]);
        break;
    }
}

void
classes(Random *random)
{
    static const char *const place[] = {"", "", ".part", ".part", "[2]"};
    uint32_t n = 2 + random_below(random, 3);
    double gravity = between(random, 0, 3);
    Part part[4];
    for (uint32_t i = 0; i < n; i++) {
        part[i] = (Part){.how = random_below(random, 5), .law = random_below(random, 2), .k = between(random, 1, 9), .c = between(random, 0.2, 2)};
        part[i].d = between(random, 0, 0.5), part[i].start[0] = between(random, -1, 1), part[i].start[1] = between(random, -1, 1);
        bool own_world = part[i].how == 2 || part[i].how == 3;
        part[i].gravity = own_world ? between(random, 0, 3) : gravity;
    }
    printf("%s  model Given\n    inner World world(g = %.3f);\n", part_classes, gravity);
    for (uint32_t i = 0; i < n; i++)
        print_part(&part[i], i);
    for (uint32_t i = 0; i < n; i++)
        printf("    Real x%u = q%u%s.s.x, v%u = q%u%s.s.v, f%u = q%u%s.force;\n", i, i, place[part[i].how], i, i, place[part[i].how], i, i, place[part[i].how]);
    end_model("Given", 2);
    printf("  model Written\n");
    for (uint32_t i = 0; i < n; i++)
        printf("    Real x%u(start = %.3f, fixed = true), v%u(start = %.3f, fixed = true), f%u;\n", i, part[i].start[0], i, part[i].start[1], i);
    printf("  equation\n");
    for (uint32_t i = 0; i < n; i++) {
        const Part *p = &part[i];
        printf("    der(x%u) = v%u;\n    der(v%u) = f%u + %.3f*(sin(3*time) - 1);\n    f%u = -%.3f*", i, i, i, i, p->gravity, i, p->k);
        if (p->law)
            printf("tanh(%.3f*x%u)/%.3f", p->c, i, p->c);
        else
            printf("(x%u + %.3f*x%u^3)", i, p->c, i);
        printf(" - %.3f*v%u;\n", p->d, i);
    }
    end_model("Written", 2);
}

// --- functions: loops, branches, recursion, several results; and the loops unrolled into equations

typedef struct Call {
    uint32_t how, n, fixed;
    double c[5], low, high;
    bool of_state;
} Call;

enum { BODIES = 8 };

// The function f_i of the argument u, with the results y and m.
static void
print_function(const Call *call, uint32_t i)
{
    static const bool takes_constants[BODIES] = {[0] = true, [2] = true, [3] = true, [5] = true, [6] = true};
    printf("  function f%u\n    input Real u;\n", i);
    if (takes_constants[call->how]) {
        printf("    input Real c[:] = ");
        print_vector(call->c, call->n);
        printf(";\n");
    }
    printf("    output Real y;\n    output Integer m;\n");
    switch (call->how) {
    case 0:
        printf("  algorithm\n    y := 0;\n    m := 0;\n    for i in size(c, 1):-1:1 loop\n      y := y*u + c[i];\n      if y > %.3f then\n        y := %.3f;\n"
               "        m := m + i;\n      end if;\n    end for;\n", call->high, call->high);
        break;
    case 1:
        printf("  algorithm\n    y := u;\n    m := 0;\n    while abs(y) > %.3f and m < %u loop\n      y := y - %.3f*y*abs(y)/(1 + abs(y));\n      m := m + 1;\n"
               "    end while;\n", call->low, call->n, call->low);
        break;
    case 2:
        printf("  algorithm\n    y := u;\n    m := 0;\n    for v in c loop\n      if y < v then\n        break;\n      end if;\n      m := m + 1;\n      y := y - 0.5*(y - v);\n"
               "    end for;\n");
        break;
    case 3:
        printf("  protected\n    Real t[size(c, 1)];\n  algorithm\n    for i in 1:size(c, 1) loop\n      t[i] := if i == 1 then u else t[i - 1]*c[i] + max(u, c[i]);\n"
               "    end for;\n    y := sum(t) + min(t);\n    m := size(t, 1);\n");
        break;
    case 4: // recursion: the m-th power, and m as often as it was called
        printf("  algorithm\n    (y, m) := power(u/(1 + u^2), %u);\n", call->n);
        break;
    case 5: // the number of constants that lie below, found at run time
        printf("  protected\n    Real z[size(c, 1)];\n  algorithm\n    m := 0;\n    for i in 1:size(c, 1) loop\n      if c[i] < u then\n        m := m + 1;\n"
               "        z[m] := u - c[i];\n      end if;\n    end for;\n    y := 0;\n    for i in 1:m loop\n      y := y + z[i];\n    end for;\n");
        break;
    case 6: // a return out of two loops
        printf("  algorithm\n    m := 0;\n    y := u;\n    for i in 1:size(c, 1), j in 1:2 loop\n      y := y + c[i]*sin(j*u);\n      m := m + 1;\n"
               "      if i > 1 and u < %.3f then\n        return;\n      end if;\n    end for;\n", call->low);
        break;
    default: // a function handed on, and a partial derivative
        printf("  algorithm\n    y := twice(function wave(a = %.3f), u) + wave_u(u, %.3f);\n    m := integer(%d.5);\n", call->high, call->low, (int)(10 * call->high));
        break;
    }
    printf("  end f%u;\n", i);
}

static const char *const shared_functions =
    "  function power\n    input Real x;\n    input Integer n;\n    output Real y;\n    output Integer calls;\n  algorithm\n    if n == 0 then\n      y := 1;\n      calls := 1;\n"
    "    else\n      (y, calls) := power(x, n - 1);\n      y := y*x;\n      calls := calls + 1;\n    end if;\n  end power;\n"
    "  function wave\n    input Real u;\n    input Real a = 1;\n    output Real y;\n  algorithm\n    y := sin(a*u)*exp(-a^2*u^2);\n  end wave;\n"
    "  function wave_u = der(wave, u);\n"
    "  partial function OfReal\n    input Real u;\n    output Real y;\n  end OfReal;\n"
    "  function twice\n    input OfReal f;\n    input Real u;\n    output Real y;\n  algorithm\n    y := f(f(u));\n  end twice;\n";

// The same in equations: y and m of call i, in steps a_i[1], a_i[2], ...
static void
print_unrolled(const Call *call, uint32_t i)
{
    uint32_t n = call->n;
    const double *c = call->c;
    switch (call->how) {
    case 0:
        printf("    a%u[1] = %.3f;\n", i, c[n - 1]);
        for (uint32_t k = 2; k <= n; k++)
            printf("    a%u[%u] = min(a%u[%u], %.3f)*u%u + (%.3f);\n", i, k, i, k - 1, call->high, i, c[n - k]);
        printf("    y%u = min(a%u[%u], %.3f);\n    m%u = 0", i, i, n, call->high, i);
        for (uint32_t k = 1; k <= n; k++)
            printf(" + (if a%u[%u] > %.3f then %u else 0)", i, k, call->high, n + 1 - k);
        break;
    case 1:
        printf("    a%u[1] = u%u;\n", i, i);
        for (uint32_t k = 1; k <= n; k++)
            printf("    a%u[%u] = if abs(a%u[%u]) > %.3f then a%u[%u] - %.3f*a%u[%u]*abs(a%u[%u])/(1 + abs(a%u[%u])) else a%u[%u];\n", i, k + 1, i, k,
                   call->low, i, k, call->low, i, k, i, k, i, k, i, k);
        printf("    y%u = a%u[%u];\n    m%u = 0", i, i, n + 1, i);
        for (uint32_t k = 1; k <= n; k++)
            printf(" + (if abs(a%u[%u]) > %.3f then 1 else 0)", i, k, call->low);
        break;
    case 2:
        printf("    a%u[1] = u%u;\n    b%u[1] = 1;\n", i, i, i);
        for (uint32_t k = 1; k <= n; k++)
            printf("    b%u[%u] = if a%u[%u] < %.3f then 0 else b%u[%u];\n    a%u[%u] = if b%u[%u] > 0.5 then a%u[%u]/2 + (%.3f)/2 else a%u[%u];\n", i, k + 1, i, k,
                   c[k - 1], i, k, i, k + 1, i, k + 1, i, k, c[k - 1], i, k);
        printf("    y%u = a%u[%u];\n    m%u = sum(b%u) - 1", i, i, n + 1, i, i);
        break;
    case 3:
        printf("    a%u[1] = u%u;\n", i, i);
        for (uint32_t k = 2; k <= n; k++)
            printf("    a%u[%u] = a%u[%u]*(%.3f) + (if u%u > %.3f then u%u else %.3f);\n", i, k, i, k - 1, c[k - 1], i, c[k - 1], i, c[k - 1]);
        printf("    y%u = a%u[1]", i, i);
        for (uint32_t k = 2; k <= n; k++)
            printf(" + a%u[%u]", i, k);
        printf(" + ");
        for (uint32_t k = 1; k < n; k++)
            printf("min(a%u[%u], ", i, k);
        printf("a%u[%u]", i, n);
        for (uint32_t k = 1; k < n; k++)
            printf(")");
        printf(";\n    m%u = %u", i, n);
        break;
    case 4: printf("    y%u = (u%u/(1 + u%u^2))^%u;\n    m%u = %u", i, i, i, n, i, n + 1); break;
    case 5:
        printf("    y%u = 0", i);
        for (uint32_t k = 0; k < n; k++)
            printf(" + max(0, u%u - (%.3f))", i, c[k]);
        printf(";\n    m%u = 0", i);
        for (uint32_t k = 0; k < n; k++)
            printf(" + (if u%u > %.3f then 1 else 0)", i, c[k]);
        break;
    case 6:
        printf("    y%u = u%u + (%.3f)*(sin(u%u) + sin(2*u%u)) + (%.3f)*sin(u%u)", i, i, c[0], i, i, c[1], i);
        printf(" + (if u%u < %.3f then 0 else (%.3f)*sin(2*u%u)", i, call->low, c[1], i);
        for (uint32_t k = 2; k < n; k++)
            printf(" + (%.3f)*(sin(u%u) + sin(2*u%u))", c[k], i, i);
        printf(");\n    m%u = if u%u < %.3f then 3 else %u", i, i, call->low, 2 * n);
        break;
    default:
        printf("    a%u[1] = sin(%.3f*u%u)*exp(-%.9f*u%u^2);\n", i, call->high, i, call->high * call->high, i);
        printf("    y%u = sin(%.3f*a%u[1])*exp(-%.9f*a%u[1]^2) + exp(-%.9f*u%u^2)*(%.3f*cos(%.3f*u%u) - 2*%.9f*u%u*sin(%.3f*u%u));\n", i, call->high, i,
               call->high * call->high, i, call->low * call->low, i, call->low, call->low, i, call->low * call->low, i, call->low, i);
        printf("    m%u = %d", i, (int)(10 * call->high));
        break;
    }
    printf(";\n");
}

void
functions(Random *random)
{
    // Those that are continuous in their argument may stand in the derivative of the state: their relations make no events.
    static const bool continuous[BODIES] = {true, false, false, true, true, true, false, true};
    enum { CALLS = 3 };
    Call call[CALLS];
    double speed[CALLS];
    for (uint32_t i = 0; i < CALLS; i++) {
        call[i] = (Call){.how = random_below(random, BODIES), .n = 2 + random_below(random, 4), .low = between(random, 0.2, 0.9), .high = between(random, 1, 2)};
        for (uint32_t k = 0; k < 5; k++)
            call[i].c[k] = between(random, -1, 1);
        call[i].of_state = random_below(random, 2), speed[i] = between(random, 0.5, 3);
    }
    printf("%s", shared_functions);
    for (uint32_t i = 0; i < CALLS; i++)
        print_function(&call[i], i);
    for (int written = 0; written < 2; written++) {
        printf("  model %s\n    Real z(start = 0.3, fixed = true);\n", written ? "Written" : "Given");
        for (uint32_t i = 0; i < CALLS; i++) {
            uint32_t how = call[i].how, steps = how == 1 || how == 2 ? call[i].n + 1 : how == 7 ? 1 : how == 0 || how == 3 ? call[i].n : 0;
            printf("    Real u%u, y%u, m%u;\n", i, i, i);
            if (written && steps)
                printf("    Real a%u[%u];\n", i, steps);
            if (written && how == 2)
                printf("    Real b%u[%u];\n", i, steps);
        }
        printf("  equation\n");
        for (uint32_t i = 0; i < CALLS; i++) {
            printf(call[i].of_state ? "    u%u = z + sin(%.3f*time);\n" : "    u%u = 2*sin(%.3f*time);\n", i, speed[i]);
            if (written)
                print_unrolled(&call[i], i);
            else
                printf("    (y%u, m%u) = f%u(u%u);\n", i, i, i, i);
        }
        printf("    der(z) = -z + cos(time)");
        for (uint32_t i = 0; i < CALLS; i++)
            if (continuous[call[i].how])
                printf(" + 0.2*tanh(y%u)", i);
        printf(";\n");
        end_model(written ? "Written" : "Given", 2);
    }
}
