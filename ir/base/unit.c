// unit.c: units: parser, arithmetic, printer.
//
// Purpose: units are compared, multiplied and printed without a database that is read at each start.
// Method: recursive descent over the grammar of Modelica 3.6, chapter 19 (parentheses at most NESTING
// deep); a symbol is looked up as it stands first and with an SI prefix second, so that "min" is a minute
// and "mm" a millimetre.
// Contract: unit.h. Complexity: linear in the text times the tables.
#include "ir/base/unit.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

enum { NESTING = 32, LARGEST_POWER = 2000 }; // twelfths

typedef struct Symbol {
    const char *name;
    int8_t power[UNIT_BASES];
    double scale, offset;
    bool prefix; // may carry one
} Symbol;

static const double PI = 3.14159265358979323846;

//   name      m  kg   s   A   K mol  cd   scale           offset  prefix
static const Symbol symbol_table[] = {
    {"m",     {1,  0,  0,  0,  0,  0,  0}, 1,              0,      true},
    {"g",     {0,  1,  0,  0,  0,  0,  0}, 1e-3,           0,      true},
    {"s",     {0,  0,  1,  0,  0,  0,  0}, 1,              0,      true},
    {"A",     {0,  0,  0,  1,  0,  0,  0}, 1,              0,      true},
    {"K",     {0,  0,  0,  0,  1,  0,  0}, 1,              0,      true},
    {"mol",   {0,  0,  0,  0,  0,  1,  0}, 1,              0,      true},
    {"cd",    {0,  0,  0,  0,  0,  0,  1}, 1,              0,      true},
    {"rad",   {0,  0,  0,  0,  0,  0,  0}, 1,              0,      true},
    {"sr",    {0,  0,  0,  0,  0,  0,  0}, 1,              0,      true},
    {"Hz",    {0,  0, -1,  0,  0,  0,  0}, 1,              0,      true},
    {"N",     {1,  1, -2,  0,  0,  0,  0}, 1,              0,      true},
    {"Pa",    {-1, 1, -2,  0,  0,  0,  0}, 1,              0,      true},
    {"J",     {2,  1, -2,  0,  0,  0,  0}, 1,              0,      true},
    {"W",     {2,  1, -3,  0,  0,  0,  0}, 1,              0,      true},
    {"C",     {0,  0,  1,  1,  0,  0,  0}, 1,              0,      true},
    {"V",     {2,  1, -3, -1,  0,  0,  0}, 1,              0,      true},
    {"F",     {-2, -1, 4,  2,  0,  0,  0}, 1,              0,      true},
    {"Ohm",   {2,  1, -3, -2,  0,  0,  0}, 1,              0,      true},
    {"S",     {-2, -1, 3,  2,  0,  0,  0}, 1,              0,      true},
    {"Wb",    {2,  1, -2, -1,  0,  0,  0}, 1,              0,      true},
    {"T",     {0,  1, -2, -1,  0,  0,  0}, 1,              0,      true},
    {"H",     {2,  1, -2, -2,  0,  0,  0}, 1,              0,      true},
    {"lm",    {0,  0,  0,  0,  0,  0,  1}, 1,              0,      true},
    {"lx",    {-2, 0,  0,  0,  0,  0,  1}, 1,              0,      true},
    {"Bq",    {0,  0, -1,  0,  0,  0,  0}, 1,              0,      true},
    {"Gy",    {2,  0, -2,  0,  0,  0,  0}, 1,              0,      true},
    {"Sv",    {2,  0, -2,  0,  0,  0,  0}, 1,              0,      true},
    {"kat",   {0,  0, -1,  0,  0,  1,  0}, 1,              0,      true},
    {"min",   {0,  0,  1,  0,  0,  0,  0}, 60,             0,      false},
    {"h",     {0,  0,  1,  0,  0,  0,  0}, 3600,           0,      false},
    {"d",     {0,  0,  1,  0,  0,  0,  0}, 86400,          0,      false},
    {"l",     {3,  0,  0,  0,  0,  0,  0}, 1e-3,           0,      true},
    {"L",     {3,  0,  0,  0,  0,  0,  0}, 1e-3,           0,      true},
    {"t",     {0,  1,  0,  0,  0,  0,  0}, 1e3,            0,      true},
    {"u",     {0,  1,  0,  0,  0,  0,  0}, 1.66053906660e-27, 0,   true},
    {"eV",    {2,  1, -2,  0,  0,  0,  0}, 1.602176634e-19, 0,     true},
    {"bar",   {-1, 1, -2,  0,  0,  0,  0}, 1e5,            0,      true},
    {"atm",   {-1, 1, -2,  0,  0,  0,  0}, 101325,         0,      false},
    {"VA",    {2,  1, -3,  0,  0,  0,  0}, 1,              0,      true},
    {"var",   {2,  1, -3,  0,  0,  0,  0}, 1,              0,      true},
    {"deg",   {0,  0,  0,  0,  0,  0,  0}, PI / 180,       0,      false},
    {"rev",   {0,  0,  0,  0,  0,  0,  0}, 2 * PI,         0,      false},
    {"rpm",   {0,  0, -1,  0,  0,  0,  0}, 2 * PI / 60,    0,      false},
    {"%",     {0,  0,  0,  0,  0,  0,  0}, 1e-2,           0,      false},
    {"ppm",   {0,  0,  0,  0,  0,  0,  0}, 1e-6,           0,      false},
    {"dB",    {0,  0,  0,  0,  0,  0,  0}, 1,              0,      false},
    {"phon",  {0,  0,  0,  0,  0,  0,  0}, 1,              0,      false},
    {"sone",  {0,  0,  0,  0,  0,  0,  0}, 1,              0,      false},
    {"debye", {1,  0,  1,  1,  0,  0,  0}, 3.33564095198152e-30, 0, false},
    {"degRk", {0,  0,  0,  0,  1,  0,  0}, 5.0 / 9,        0,      false},
    {"degC",  {0,  0,  0,  0,  1,  0,  0}, 1,              273.15, false},
    {"degF",  {0,  0,  0,  0,  1,  0,  0}, 5.0 / 9,        459.67 * 5 / 9, false},
};

typedef struct Prefix {
    const char *name;
    double scale;
} Prefix;

static const Prefix prefix_table[] = { // "da" before "d"
    {"da", 1e1}, {"Q", 1e30}, {"R", 1e27}, {"Y", 1e24}, {"Z", 1e21}, {"E", 1e18}, {"P", 1e15}, {"T", 1e12}, {"G", 1e9},
    {"M", 1e6}, {"k", 1e3}, {"h", 1e2}, {"d", 1e-1}, {"c", 1e-2}, {"m", 1e-3}, {"u", 1e-6}, {"n", 1e-9}, {"p", 1e-12},
    {"f", 1e-15}, {"a", 1e-18}, {"z", 1e-21}, {"y", 1e-24}, {"r", 1e-27}, {"q", 1e-30},
};

#define COUNT(table) (sizeof(table) / sizeof *(table))

// --- arithmetic

Unit
unit_one(void)
{
    return (Unit){.scale = 1};
}

Unit
unit_base(uint32_t base)
{
    Unit unit = unit_one();
    unit.power[base] = UNIT_PARTS;
    return unit;
}

static bool
combine(Unit a, Unit b, int sign, Unit *out)
{
    *out = (Unit){.scale = sign > 0 ? a.scale * b.scale : a.scale / b.scale};
    for (uint32_t i = 0; i < UNIT_BASES; i++) {
        int power = a.power[i] + sign * b.power[i];
        if (power > LARGEST_POWER || power < -LARGEST_POWER)
            return false;
        out->power[i] = (int16_t)power;
    }
    return isfinite(out->scale) && out->scale > 0;
}

bool
unit_multiply(Unit a, Unit b, Unit *out)
{
    return combine(a, b, 1, out);
}

bool
unit_divide(Unit a, Unit b, Unit *out)
{
    return combine(a, b, -1, out);
}

bool
unit_power(Unit a, double exponent, Unit *out)
{
    *out = (Unit){.scale = a.scale == 1 ? 1 : pow(a.scale, exponent)};
    for (uint32_t i = 0; i < UNIT_BASES; i++) {
        double power = a.power[i] * exponent, whole = nearbyint(power);
        if (!(fabs(power - whole) < 1e-6) || fabs(power) > LARGEST_POWER)
            return false;
        out->power[i] = (int16_t)whole;
    }
    return isfinite(out->scale) && out->scale > 0;
}

bool
unit_same_dimension(const Unit *a, const Unit *b)
{
    return !memcmp(a->power, b->power, sizeof a->power);
}

bool
unit_same_scale(const Unit *a, const Unit *b)
{
    return fabs(a->scale - b->scale) <= 1e-9 * fabs(a->scale);
}

bool
unit_is_number(const Unit *unit)
{
    Unit one = unit_one();
    return unit_same_dimension(unit, &one) && unit_same_scale(unit, &one);
}

// --- reading

typedef struct Reader {
    const char *at;
    uint32_t depth, factors;
    const char *error, *error_at;
    uint32_t error_length;
    double offset; // of the only factor, when it has one
} Reader;

static bool
fail(Reader *reader, const char *error, const char *at, uint32_t length)
{
    if (!reader->error) {
        reader->error = error;
        reader->error_at = at;
        reader->error_length = length;
    }
    return false;
}

static const Symbol *
find_symbol(const char *name, size_t length)
{
    for (size_t i = 0; i < COUNT(symbol_table); i++)
        if (strlen(symbol_table[i].name) == length && !memcmp(symbol_table[i].name, name, length))
            return &symbol_table[i];
    return NULL;
}

static const Symbol *
find_prefixed(const char *name, size_t length, double *scale)
{
    const Symbol *symbol = find_symbol(name, length);
    *scale = 1;
    for (size_t i = 0; !symbol && i < COUNT(prefix_table); i++) {
        size_t n = strlen(prefix_table[i].name);
        if (n >= length || memcmp(prefix_table[i].name, name, n))
            continue;
        const Symbol *found = find_symbol(name + n, length - n);
        if (found && found->prefix) {
            symbol = found;
            *scale = prefix_table[i].scale;
        }
    }
    return symbol;
}

static bool
read_exponent(Reader *reader, double *exponent)
{
    const char *start = reader->at;
    int sign = 1;
    *exponent = 1;
    if (*reader->at == '+' || *reader->at == '-')
        sign = *reader->at++ == '-' ? -1 : 1;
    if (!isdigit((unsigned char)*reader->at))
        return reader->at == start ? true : fail(reader, "a sign must be followed by an exponent", start, 1);
    double value = 0;
    for (; isdigit((unsigned char)*reader->at); reader->at++)
        value = fmin(value * 10 + (*reader->at - '0'), 1e6);
    *exponent = sign * value;
    return true;
}

static bool
read_factor(Reader *reader, Unit *unit)
{
    const char *start = reader->at;
    while (isalpha((unsigned char)*reader->at) || *reader->at == '%')
        reader->at++;
    size_t length = (size_t)(reader->at - start);
    if (length == 0)
        return fail(reader, "a unit symbol is missing", start, 1);
    double scale, exponent;
    const Symbol *symbol = find_prefixed(start, length, &scale);
    if (!symbol)
        return fail(reader, "no such unit", start, (uint32_t)length);
    *unit = (Unit){.scale = symbol->scale * scale};
    for (uint32_t i = 0; i < UNIT_BASES; i++)
        unit->power[i] = (int16_t)(symbol->power[i] * UNIT_PARTS);
    if (!read_exponent(reader, &exponent))
        return false;
    reader->offset = reader->factors++ == 0 && exponent == 1 ? symbol->offset : 0;
    return unit_power(*unit, exponent, unit) || fail(reader, "an exponent is too large", start, (uint32_t)length);
}

static bool read_expression(Reader *reader, Unit *unit);

static bool
read_parenthesis(Reader *reader, Unit *unit)
{
    const char *start = reader->at++;
    if (++reader->depth > NESTING)
        return fail(reader, "parentheses are nested too deeply", start, 1);
    if (!read_expression(reader, unit))
        return false;
    reader->depth--;
    if (*reader->at != ')')
        return fail(reader, "a parenthesis is not closed", start, 1);
    reader->at++;
    return true;
}

static bool
read_operand(Reader *reader, Unit *unit)
{
    if (*reader->at == '(')
        return read_parenthesis(reader, unit);
    if (*reader->at == '1' && !isdigit((unsigned char)reader->at[1])) {
        reader->at++;
        reader->factors++;
        *unit = unit_one();
        return true;
    }
    return read_factor(reader, unit);
}

static bool
read_product(Reader *reader, Unit *unit)
{
    if (!read_operand(reader, unit))
        return false;
    while (*reader->at == '.') {
        Unit factor;
        reader->at++;
        if (!read_operand(reader, &factor))
            return false;
        if (!unit_multiply(*unit, factor, unit))
            return fail(reader, "an exponent is too large", reader->at, 1);
    }
    return true;
}

static bool
read_expression(Reader *reader, Unit *unit)
{
    if (!read_product(reader, unit))
        return false;
    if (*reader->at != '/')
        return true;
    Unit divisor;
    reader->at++;
    if (!read_operand(reader, &divisor))
        return false;
    if (*reader->at == '/' || *reader->at == '.')
        return fail(reader, "after '/' a product must stand in parentheses", reader->at, 1);
    return unit_divide(*unit, divisor, unit) || fail(reader, "an exponent is too large", reader->at, 1);
}

bool
unit_parse(const char *text, Unit *unit, const char **error, const char **at, uint32_t *length)
{
    Reader reader = {.at = text};
    bool good = read_expression(&reader, unit);
    if (good && *reader.at)
        good = fail(&reader, "this is not part of a unit", reader.at, (uint32_t)strlen(reader.at));
    if (good && reader.factors == 1)
        unit->offset = reader.offset;
    if (!good) {
        *error = reader.error;
        *at = reader.error_at;
        *length = reader.error_length;
    }
    return good;
}

// --- printing

// Compositions that people know by name; the first that fits is printed.
static const char *const known_units[] = {
    "1", "m", "kg", "s", "A", "K", "mol", "cd", "m/s", "m/s2", "1/s", "1/s2", "N", "N/m", "N.s/m", "N.s", "N.m", "N.m.s", "W",
    "Pa", "kg.m2", "kg/m", "kg/m3", "m2", "m3", "V", "Ohm", "C", "F", "H", "Wb", "T", "S", "W/K", "J/K", "J/(kg.K)", "W/(m.K)",
    "W/(m2.K)", "V/m", "A/m", "kg/s", "m3/s", "N.s2", "N.s2/m", "m.s", "N/s", "W/s", "Pa.s", "1/m", "s/m", "m/N", "m3/Pa",
};

static bool
print_known(const Unit *unit, const char *prefix, double scale, Out *out)
{
    for (size_t i = 0; i < COUNT(known_units); i++) {
        Unit known;
        const char *error, *at;
        uint32_t length;
        if (!unit_parse(known_units[i], &known, &error, &at, &length) || !unit_same_dimension(&known, unit))
            continue;
        known.scale *= scale;
        // "kkg" and "m1" are nothing; a prefix belongs to a leading symbol of power one.
        bool prefixed = *prefix && (known_units[i][0] == '1' || !strncmp(known_units[i], "kg", 2)
                                    || !strcmp(known_units[i], "m2") || !strcmp(known_units[i], "m3"));
        if (!unit_same_scale(&known, unit) || prefixed)
            continue;
        out_text(out, prefix);
        out_text(out, known_units[i]);
        return true;
    }
    return false;
}

static void
print_power(Out *out, const char *name, int power)
{
    out_text(out, name);
    int parts = UNIT_PARTS;
    for (int divisor = 2; divisor <= 3; divisor++)
        while (power % divisor == 0 && parts % divisor == 0) {
            power /= divisor;
            parts /= divisor;
        }
    if (parts > 1)
        out_printf(out, "^(%d/%d)", power, parts);
    else if (power != 1)
        out_printf(out, "%d", power);
}

static void
print_bases(const Unit *unit, Out *out)
{
    static const char *const names[] = {"m", "kg", "s", "A", "K", "mol", "cd"};
    static const uint8_t order[] = {UNIT_KILOGRAM, UNIT_METRE, UNIT_SECOND, UNIT_AMPERE, UNIT_KELVIN, UNIT_MOLE, UNIT_CANDELA};
    uint32_t above = 0, below = 0;
    for (uint32_t i = 0; i < UNIT_BASES; i++)
        if (unit->power[order[i]] > 0) {
            out_text(out, above++ ? "." : "");
            print_power(out, names[order[i]], unit->power[order[i]]);
        }
    for (uint32_t i = 0; i < UNIT_BASES; i++)
        below += unit->power[i] < 0;
    if (!above)
        out_char(out, '1');
    out_text(out, below ? below > 1 ? "/(" : "/" : "");
    for (uint32_t i = 0, printed = 0; i < UNIT_BASES; i++)
        if (unit->power[order[i]] < 0) {
            out_text(out, printed++ ? "." : "");
            print_power(out, names[order[i]], -unit->power[order[i]]);
        }
    out_text(out, below > 1 ? ")" : "");
}

void
unit_print(const Unit *unit, Out *out)
{
    if (unit->offset != 0) {
        out_text(out, unit->scale == 1 ? "degC" : "degF");
        return;
    }
    if (print_known(unit, "", 1, out))
        return;
    static const char *const usual[] = {"k", "m", "M", "u", "G", "c", "n", "h", "d", "T", "p"};
    for (size_t i = 0; i < COUNT(usual); i++)
        for (size_t k = 0; k < COUNT(prefix_table); k++)
            if (!strcmp(prefix_table[k].name, usual[i]) && print_known(unit, usual[i], prefix_table[k].scale, out))
                return;
    Unit plain = *unit, one = unit_one();
    plain.scale = 1;
    if (!unit_same_scale(unit, &one))
        out_printf(out, "%.6g*", unit->scale);
    if (!print_known(&plain, "", 1, out))
        print_bases(&plain, out);
}
