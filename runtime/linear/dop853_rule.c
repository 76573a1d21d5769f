// dop853_rule.c: the explicit Runge-Kutta pair of Dormand and Prince of order 8, and its sums.
//
// Purpose: the figures and inner loops of dop853.c, for the unknowns of one run or for several runs side by side.
// Method: Prince and Dormand, High order embedded Runge-Kutta formulae, J. Comput. Appl. Math. 7 (1981) 67; error estimates of orders 5 and 3 and
//         the continuous extension of order 7 by Hairer, Norsett and Wanner, Solving Ordinary Differential Equations I (1993), II.5 and II.6, where the
//         figures stand. Eight numbers are done at a time, in the same order on every processor: products are never fused with sums. Steps are summed
//         with compensation (Kahan, Comm. ACM 8 (1965) 40; II.4 of the same for steps).
// Contract: dop853_rule.h. Complexity: at most sixteen products for each number.
#include "runtime/linear/dop853_rule.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define WIDE __attribute__((target_clones("avx2", "default")))

typedef double Four __attribute__((vector_size(32), aligned(8), may_alias));

typedef struct Term {
    uint32_t slope;
    double factor;
} Term;

typedef struct Sum {
    uint32_t terms;
    Term term[DOP853_SLOPES];
} Sum;

const double dop853_node[DOP853_SLOPES] = {
    0.0, 0.526001519587677318785587544488e-1, 0.789002279381515978178381316732e-1, 0.118350341907227396726757197510,
    0.281649658092772603273242802490, 0.333333333333333333333333333333, 0.25, 0.307692307692307692307692307692,
    0.651282051282051282051282051282, 0.6, 0.857142857142857142857142857142, 1.0, 1.0, 0.1, 0.2, 0.777777777777777777777777777778};

// Of the slopes before: where a stage stands. Row 12 is the step's end, the last three are for values between.
static const Sum stage[DOP853_SLOPES] = {
    [1] = {1, {{0, 5.26001519587677318785587544488e-2}}},
    [2] = {2, {{0, 1.97250569845378994544595329183e-2}, {1, 5.91751709536136983633785987549e-2}}},
    [3] = {2, {{0, 2.95875854768068491816892993775e-2}, {2, 8.87627564304205475450678981324e-2}}},
    [4] = {3, {{0, 2.41365134159266685502369798665e-1}, {2, -8.84549479328286085344864962717e-1}, {3, 9.24834003261792003115737966543e-1}}},
    [5] = {3, {{0, 3.7037037037037037037037037037e-2}, {3, 1.70828608729473871279604482173e-1}, {4, 1.25467687566822425016691814123e-1}}},
    [6] = {4, {{0, 3.7109375e-2}, {3, 1.70252211019544039314978060272e-1}, {4, 6.02165389804559606850219397283e-2}, {5, -1.7578125e-2}}},
    [7] = {5, {{0, 3.70920001185047927108779319836e-2}, {3, 1.70383925712239993810214054705e-1}, {4, 1.07262030446373284651809199168e-1},
         {5, -1.53194377486244017527936158236e-2}, {6, 8.27378916381402288758473766002e-3}}},
    [8] = {6, {{0, 6.24110958716075717114429577812e-1}, {3, -3.36089262944694129406857109825}, {4, -8.68219346841726006818189891453e-1},
         {5, 2.75920996994467083049415600797e1}, {6, 2.01540675504778934086186788979e1}, {7, -4.34898841810699588477366255144e1}}},
    [9] = {7, {{0, 4.77662536438264365890433908527e-1}, {3, -2.48811461997166764192642586468}, {4, -5.90290826836842996371446475743e-1},
         {5, 2.12300514481811942347288949897e1}, {6, 1.52792336328824235832596922938e1}, {7, -3.32882109689848629194453265587e1},
         {8, -2.03312017085086261358222928593e-2}}},
    [10] = {8, {{0, -9.3714243008598732571704021658e-1}, {3, 5.18637242884406370830023853209}, {4, 1.09143734899672957818500254654},
         {5, -8.14978701074692612513997267357}, {6, -1.85200656599969598641566180701e1}, {7, 2.27394870993505042818970056734e1},
         {8, 2.49360555267965238987089396762}, {9, -3.0467644718982195003823669022}}},
    [11] = {9, {{0, 2.27331014751653820792359768449}, {3, -1.05344954667372501984066689879e1}, {4, -2.00087205822486249909675718444},
         {5, -1.79589318631187989172765950534e1}, {6, 2.79488845294199600508499808837e1}, {7, -2.85899827713502369474065508674},
         {8, -8.87285693353062954433549289258}, {9, 1.23605671757943030647266201528e1}, {10, 6.43392746015763530355970484046e-1}}},
    [12] = {8, {{0, 5.42937341165687622380535766363e-2}, {5, 4.45031289275240888144113950566}, {6, 1.89151789931450038304281599044},
         {7, -5.8012039600105847814672114227}, {8, 3.1116436695781989440891606237e-1}, {9, -1.52160949662516078556178806805e-1},
         {10, 2.01365400804030348374776537501e-1}, {11, 4.47106157277725905176885569043e-2}}},
    [13] = {8, {{0, 5.61675022830479523392909219681e-2}, {6, 2.53500210216624811088794765333e-1}, {7, -2.46239037470802489917441475441e-1},
         {8, -1.24191423263816360469010140626e-1}, {9, 1.5329179827876569731206322685e-1}, {10, 8.20105229563468988491666602057e-3},
         {11, 7.56789766054569976138603589584e-3}, {12, -8.298e-3}}},
    [14] = {8, {{0, 3.18346481635021405060768473261e-2}, {5, 2.83009096723667755288322961402e-2}, {6, 5.35419883074385676223797384372e-2},
         {7, -5.49237485713909884646569340306e-2}, {10, -1.08347328697249322858509316994e-4}, {11, 3.82571090835658412954920192323e-4},
         {12, -3.40465008687404560802977114492e-4}, {13, 1.41312443674632500278074618366e-1}}},
    [15] = {8, {{0, -4.28896301583791923408573538692e-1}, {5, -4.69762141536116384314449447206}, {6, 7.68342119606259904184240953878},
         {7, 4.06898981839711007970213554331}, {8, 3.56727187455281109270669543021e-1}, {12, -1.39902416515901462129418009734e-3},
         {13, 2.9475147891527723389556272149}, {14, -9.15095847217987001081870187138}}},
};

static const Sum fifth =
    {8, {{0, 0.1312004499419488073250102996e-1}, {5, -0.1225156446376204440720569753e1}, {6, -0.4957589496572501915214079952},
         {7, 0.1664377182454986536961530415e1}, {8, -0.3503288487499736816886487290}, {9, 0.3341791187130174790297318841},
         {10, 0.8192320648511571246570742613e-1}, {11, -0.2235530786388629525884427845e-1}}};

// What the third-order formula takes off the step's own weights.
static const Term third[3] = {{0, 0.244094488188976377952755905512}, {8, 0.733846688281611857341361741547}, {11, 0.0220588235294117647058823529412}};

static const Sum between[4] = {
    [0] = {12, {{0, -0.84289382761090128651353491142e1}, {5, 0.56671495351937776962531783590}, {6, -0.30689499459498916912797304727e1},
         {7, 0.23846676565120698287728149680e1}, {8, 0.21170345824450282767155149946e1}, {9, -0.87139158377797299206789907490},
         {10, 0.22404374302607882758541771650e1}, {11, 0.63157877876946881815570249290}, {12, -0.88990336451333310820698117400e-1},
         {13, 0.18148505520854727256656404962e2}, {14, -0.91946323924783554000451984436e1}, {15, -0.44360363875948939664310572000e1}}},
    [1] = {12, {{0, 0.10427508642579134603413151009e2}, {5, 0.24228349177525818288430175319e3}, {6, 0.16520045171727028198505394887e3},
         {7, -0.37454675472269020279518312152e3}, {8, -0.22113666853125306036270938578e2}, {9, 0.77334326684722638389603898808e1},
         {10, -0.30674084731089398182061213626e2}, {11, -0.93321305264302278729567221706e1}, {12, 0.15697238121770843886131091075e2},
         {13, -0.31139403219565177677282850411e2}, {14, -0.93529243588444783865713862664e1}, {15, 0.35816841486394083752465898540e2}}},
    [2] = {12, {{0, 0.19985053242002433820987653617e2}, {5, -0.38703730874935176555105901742e3}, {6, -0.18917813819516756882830838328e3},
         {7, 0.52780815920542364900561016686e3}, {8, -0.11573902539959630126141871134e2}, {9, 0.68812326946963000169666922661e1},
         {10, -0.10006050966910838403183860980e1}, {11, 0.77771377980534432092869265740}, {12, -0.27782057523535084065932004339e1},
         {13, -0.60196695231264120758267380846e2}, {14, 0.84320405506677161018159903784e2}, {15, 0.11992291136182789328035130030e2}}},
    [3] = {12, {{0, -0.25693933462703749003312586129e2}, {5, -0.15418974869023643374053993627e3}, {6, -0.23152937917604549567536039109e3},
         {7, 0.35763911791061412378285349910e3}, {8, 0.93405324183624310003907691704e2}, {9, -0.37458323136451633156875139351e2},
         {10, 0.10409964950896230045147246184e3}, {11, 0.29840293426660503123344363579e2}, {12, -0.43533456590011143754432175058e2},
         {13, 0.96324553959188282948394950600e2}, {14, -0.39177261675615439165231486172e2}, {15, -0.14972683625798562581422125276e3}}},
};

// out := the sum, or with `moves` y + step times the sum. Both and `terms` are constants where this is inlined, so that nothing but sums and products is left.
static inline __attribute__((always_inline)) void
add_terms(const Term *term, const uint32_t terms, const bool moves, double *const slope[], size_t n, const double *step, const double *y, double *out)
{
    const double *s[DOP853_STAGES];
    Four factor[DOP853_STAGES], low = *(const Four *)step, high = *(const Four *)(step + 4); // which stay in registers
#pragma GCC unroll 12
    for (uint32_t k = 0; k < terms; k++) {
        s[k] = slope[term[k].slope];
        factor[k] = term[k].factor - (Four){0};
    }
    for (size_t i = 0; i < n; i += DOP853_WIDTH) {
        Four first = factor[0] * *(const Four *)(s[0] + i), second = factor[0] * *(const Four *)(s[0] + i + 4);
#pragma GCC unroll 12
        for (uint32_t k = 1; k < terms; k++) {
            first += factor[k] * *(const Four *)(s[k] + i);
            second += factor[k] * *(const Four *)(s[k] + i + 4);
        }
        if (moves) {
            first = *(const Four *)(y + i) + low * first;
            second = *(const Four *)(y + i + 4) + high * second;
        }
        *(Four *)(out + i) = first;
        *(Four *)(out + i + 4) = second;
    }
}

static inline __attribute__((always_inline)) void
add_all(const Sum *sum, const bool moves, double *const slope[], size_t chunks, const double *step, const double *y, double *out)
{
    size_t n = chunks * DOP853_WIDTH;
    const Term *term = sum->term;
    switch (sum->terms) {
    case 1: add_terms(term, 1, moves, slope, n, step, y, out); break;
    case 2: add_terms(term, 2, moves, slope, n, step, y, out); break;
    case 3: add_terms(term, 3, moves, slope, n, step, y, out); break;
    case 4: add_terms(term, 4, moves, slope, n, step, y, out); break;
    case 5: add_terms(term, 5, moves, slope, n, step, y, out); break;
    case 6: add_terms(term, 6, moves, slope, n, step, y, out); break;
    case 7: add_terms(term, 7, moves, slope, n, step, y, out); break;
    case 8: add_terms(term, 8, moves, slope, n, step, y, out); break;
    case 9: add_terms(term, 9, moves, slope, n, step, y, out); break;
    default: add_terms(term, DOP853_STAGES, moves, slope, n, step, y, out); break;
    }
}

WIDE static void
add_up(const Sum *sum, double *const slope[], size_t chunks, double *out)
{
    const double none[DOP853_WIDTH] = {0};
    add_all(sum, false, slope, chunks, none, NULL, out);
}

WIDE void
dop853_stage(uint32_t number, size_t chunks, const double *step, const double *y, double *const slope[], double *out)
{
    add_all(&stage[number], true, slope, chunks, step, y, out);
}

WIDE void
dop853_end(size_t chunks, const double *step, const double *y, const double *carry, double *const slope[], double *out, double *left)
{
    enum { REST = 7 }; // terms behind the first
    const Term *term = stage[DOP853_STAGES].term + 1;
    const double *first = slope[0], *s[REST];
    Four factor[REST], length[2] = {*(const Four *)step, *(const Four *)(step + 4)};
#pragma GCC unroll 7
    for (uint32_t k = 0; k < REST; k++) {
        s[k] = slope[term[k].slope];
        factor[k] = term[k].factor - (Four){0};
    }
    for (size_t i = 0; i < chunks * DOP853_WIDTH; i += 4) {
        Four begin = *(const Four *)(first + i), from = *(const Four *)(y + i), sum = begin;
#pragma GCC unroll 7
        for (uint32_t k = 0; k < REST; k++)
            sum += factor[k] * (*(const Four *)(s[k] + i) - begin);
        Four move = length[i / 4 % 2] * sum + *(const Four *)(carry + i), to = from + move, moved = to - from;
        *(Four *)(out + i) = to;
        *(Four *)(left + i) = (from - (to - moved)) + (move - moved); // Knuth's sum of two
    }
}

WIDE void
dop853_errors(size_t chunks, const double *weight, double *const slope[], double *error, double *scratch, double *squares)
{
    double five[DOP853_WIDTH] = {0}, three[DOP853_WIDTH] = {0};
    const double *first = slope[third[0].slope], *second = slope[third[1].slope], *last = slope[third[2].slope];
    add_up(&fifth, slope, chunks, error);
    add_up(&stage[DOP853_STAGES], slope, chunks, scratch);
    for (size_t c = 0; c < chunks * DOP853_WIDTH; c += DOP853_WIDTH)
        for (uint32_t e = 0; e < DOP853_WIDTH; e++) {
            size_t i = c + e;
            double b = weight[i] * (scratch[i] - third[0].factor * first[i] - third[1].factor * second[i] - third[2].factor * last[i]);
            error[i] *= weight[i];
            five[e] += error[i] * error[i];
            three[e] += b * b;
        }
    memcpy(squares, five, sizeof five);
    memcpy(squares + DOP853_WIDTH, three, sizeof three);
}

double
dop853_size(double step, double five, double three, uint32_t n)
{
    double denominator = five + 0.01 * three;
    return denominator > 0 ? fabs(step) * five / sqrt(denominator * n) : five == 0 && three == 0 ? 0 : NAN;
}

WIDE void
dop853_differences(size_t chunks, const double *weight, double *const slope[], const double *last, const double *end, double *squares)
{
    double rates[DOP853_WIDTH] = {0}, ways[DOP853_WIDTH] = {0}, sizes[DOP853_WIDTH] = {0};
    const double *before = slope[DOP853_STAGES - 1], *after = slope[DOP853_STAGES];
    for (size_t c = 0; c < chunks * DOP853_WIDTH; c += DOP853_WIDTH)
        for (uint32_t e = 0; e < DOP853_WIDTH; e++) {
            size_t i = c + e;
            double rate = (after[i] - before[i]) * weight[i], way = (end[i] - last[i]) * weight[i], size = end[i] * weight[i];
            rates[e] += rate * rate;
            ways[e] += way * way;
            sizes[e] += size * size;
        }
    memcpy(squares, rates, sizeof rates);
    memcpy(squares + DOP853_WIDTH, ways, sizeof ways);
    memcpy(squares + 2 * (size_t)DOP853_WIDTH, sizes, sizeof sizes);
}

double
dop853_reach(double step, double slopes, double points, double sizes)
{
    const double rounding = 1e-12;
    return points > rounding * rounding * sizes ? fabs(step) * sqrt(slopes / points) : 0;
}

WIDE void
dop853_polynomial(size_t chunks, const double *step, const double *y, const double *end, double *const slope[], double *const out[])
{
    double h[DOP853_WIDTH];
    memcpy(h, step, sizeof h);
    for (uint32_t k = 0; k < 4; k++)
        add_up(&between[k], slope, chunks, out[3 + k]);
    for (size_t c = 0; c < chunks * DOP853_WIDTH; c += DOP853_WIDTH)
        for (uint32_t e = 0; e < DOP853_WIDTH; e++) {
            size_t i = c + e;
            out[0][i] = end[i] - y[i];
            out[1][i] = h[e] * slope[0][i] - out[0][i];
            out[2][i] = out[0][i] - h[e] * slope[DOP853_STAGES][i] - out[1][i];
            for (uint32_t k = 3; k < DOP853_TERMS; k++)
                out[k][i] *= h[e];
        }
}

void
dop853_value(const double *polynomial, size_t stride, double start, double step, double x, double *value, double *rate)
{
    double sum = 0, slope = 0;
    for (uint32_t k = DOP853_TERMS; k-- > 0;) {
        double factor = k % 2 ? 1 - x : x, turn = k % 2 ? -1 : 1;
        sum += polynomial[k * stride];
        slope = slope * factor + turn * sum;
        sum *= factor;
    }
    *value = start + sum;
    *rate = slope / step;
}

WIDE void
dop853_values(size_t chunks, const double *x, const double *start, double *const term[], double *out)
{
    const Four x_low = *(const Four *)x, x_high = *(const Four *)(x + 4), rest_low = 1 - x_low, rest_high = 1 - x_high;
    for (size_t i = 0; i < chunks * DOP853_WIDTH; i += DOP853_WIDTH) {
        Four low = {0}, high = {0};
#pragma GCC unroll 7
        for (uint32_t k = DOP853_TERMS; k-- > 0;) {
            low = (low + *(const Four *)(term[k] + i)) * (k % 2 ? rest_low : x_low);
            high = (high + *(const Four *)(term[k] + i + 4)) * (k % 2 ? rest_high : x_high);
        }
        *(Four *)(out + i) = *(const Four *)(start + i) + low;
        *(Four *)(out + i + 4) = *(const Four *)(start + i + 4) + high;
    }
}
