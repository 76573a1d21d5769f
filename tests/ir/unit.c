// unit.c: reading, calculating with and printing units. Prints "ok NAME" or "FAIL NAME: why".
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ir/base/unit.h"

typedef struct Case {
    const char *text, *same_as; // same_as NULL: must be refused
} Case;

static const Case cases[] = {
    {"N.m/rad", "kg.m2/s2"}, {"kg.m2", "kg.m2"}, {"m/s2", "m.s-2"}, {"1/s", "Hz"}, {"rad", "1"}, {"K", "K"}, {"kN", "kg.km/s2"},
    {"km/h", "km/h"}, {"rev/min", "rpm"}, {"bar", "daN/cm2"}, {"h", "h"}, {"min", "min"}, {"J/(kg.K)", "m2/(s2.K)"},
    {"W/(m2.K4)", "kg/(s3.K4)"}, {"m2/s2", "Gy"}, {"1", "1"}, {"%", "%"}, {"(N.m)/(rad)", "J"}, {"mmol", "mmol"},
    {"V.A", "W"}, {"Ohm/C", "V/(A.C)"}, {"m+2", "m2"}, {"", NULL}, {"meter", NULL}, {"m/s/s", NULL}, {"N*m", NULL}, {"m^2", NULL},
    {"(m", NULL}, {"m)", NULL}, {"m.", NULL}, {"/s", NULL}, {"kdegC", NULL}, {"m-", NULL}, {"m99999999", NULL},
    {"m/s.kg", NULL}, {"((((((((((((((((((((((((((((((((((m))))))))))))))))))))))))))))))))))", NULL},
};

static bool
parse(const char *text, Unit *unit)
{
    const char *error = NULL, *at = NULL;
    uint32_t length;
    bool good = unit_parse(text, unit, &error, &at, &length);
    return good || (!error && printf("FAIL unit-error: no sentence for \"%s\"\n", text) < 0);
}

static int
test_parse(void)
{
    int failures = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Unit unit, other;
        bool good = parse(cases[i].text, &unit);
        bool as_wanted = !cases[i].same_as ? !good
            : good && parse(cases[i].same_as, &other) && unit_same_dimension(&unit, &other) && unit_same_scale(&unit, &other);
        if (!as_wanted) {
            printf("FAIL unit-parse: \"%s\"\n", cases[i].text);
            failures++;
        }
    }
    return failures;
}

static int
test_scale(void)
{
    static const struct { const char *text; double scale, offset; } scales[] = {
        {"mm", 1e-3, 0}, {"kN", 1e3, 0}, {"km/h", 1 / 3.6, 0}, {"deg", 0.017453292519943295, 0}, {"rev/min", 0.10471975511965977, 0},
        {"bar", 1e5, 0}, {"degC", 1, 273.15}, {"degF", 5.0 / 9, 459.67 * 5 / 9}, {"1/degF", 9.0 / 5, 0}, {"degC2", 1, 0}, {"mm2", 1e-6, 0}, {"1/degC", 1, 0}, {"g/cm3", 1e3, 0}, {"W.h", 3600, 0},
    };
    int failures = 0;
    Unit unit;
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++)
        if (!parse(scales[i].text, &unit) || fabs(unit.scale / scales[i].scale - 1) > 1e-12
            || unit.offset != scales[i].offset) {
            printf("FAIL unit-scale: \"%s\"\n", scales[i].text);
            failures++;
        }
    if (parse("hkPa", &unit)) {
        printf("FAIL unit-scale: two prefixes\n");
        failures++;
    }
    return failures;
}

static int
test_print(void)
{
    static const char *const texts[][2] = {
        {"kg.m/s2", "N"}, {"N/m.s", NULL}, {"N.s/m", "N.s/m"}, {"kg.m2/s2", "N.m"}, {"mm", "mm"}, {"km", "km"}, {"1/s", "1/s"},
        {"rad", "1"}, {"m5/s3", "m5/s3"}, {"kg.m5/(s3.A)", "kg.m5/(s3.A)"}, {"degC", "degC"}, {"kg.m4", "kg.m4"}, {"MPa", "MPa"},
    };
    int failures = 0;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        Unit unit;
        Out out = {0};
        bool good = parse(texts[i][0], &unit);
        if (good)
            unit_print(&unit, &out);
        if (good != (texts[i][1] != NULL) || (good && strcmp(out.text, texts[i][1]))) {
            printf("FAIL unit-print: \"%s\" gives \"%s\"\n", texts[i][0], good ? out.text : "nothing");
            failures++;
        }
        out_free(&out);
    }
    return failures;
}

static int
test_power(void)
{
    Unit unit, root;
    int failures = 0;
    parse("m/s2", &unit);
    if (!unit_power(unit, 0.5, &root) || !unit_power(root, 2, &root) || !unit_same_dimension(&unit, &root))
        failures++;
    if (unit_power(unit, 0.123, &root) || unit_power(unit, 1e9, &root))
        failures++;
    if (failures)
        printf("FAIL unit-power: %d\n", failures);
    return failures;
}

int
main(void)
{
    static const struct { const char *name; int (*run)(void); } tests[] = {
        {"unit-parse", test_parse}, {"unit-scale", test_scale}, {"unit-print", test_print}, {"unit-power", test_power},
    };
    int failures = 0;
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        int failed = tests[i].run();
        if (!failed)
            printf("ok %s\n", tests[i].name);
        failures += failed;
    }
    return failures != 0;
}
