// print.c: numbers and equations as text.
#include "tests/random/kinds.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

double
between(Random *random, double low, double high)
{
    return round(1000 * low + (high - low) * random_below(random, 1000)) / 1000;
}

const char *
either(Random *random, const char *a, const char *b)
{
    return random_below(random, 2) ? a : b;
}

void
shuffled(Random *random, char line[][LINE], uint32_t n)
{
    for (uint32_t i = n; i > 1; i--) {
        uint32_t other = random_below(random, i);
        char kept[LINE];
        memcpy(kept, line[i - 1], sizeof kept);
        memcpy(line[i - 1], line[other], sizeof kept);
        memcpy(line[other], kept, sizeof kept);
    }
    for (uint32_t i = 0; i < n; i++)
        printf("    %s\n", line[i]);
}

void
print_vector(const double *value, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        printf("%s%.3f", i ? ", " : "{", value[i]);
    printf("}");
}

void
end_model(const char *name, double stop)
{
    printf("    annotation(experiment(StopTime = %g));\n  end %s;\n", stop, name);
}
