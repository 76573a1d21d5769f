// quarter_car.h: the quarter car with dry friction, tyre lift-off and a travel limiter, written by hand.
//
// Source: Zardecki and Debowski, Appl. Math. Model. 94 (2021), corrected as in docs/nonsmooth.md:
//   x = z1 - z2, v = z1' - z2', S = C v + K x + (KL - K) luz(x, D), T = K10 min(z1 - z0, 0)
//   M1 z1'' = -S - T - M1 g - p,  M2 z2'' = S - M2 g + p,  p in FD Sgn(v)
// States z1, x, v1, v. The row of v is implicit: der(v) is an iteration unknown, its equation is the
// friction law.
#ifndef MDLC_TESTS_RUNTIME_QUARTER_CAR_H
#define MDLC_TESTS_RUNTIME_QUARTER_CAR_H

#include "runtime/model/model.h"

#include <math.h>
#include <string.h>

enum {
    QC_TIME,
    QC_Z1, QC_X, QC_V1, QC_V,
    QC_DZ1, QC_DX, QC_DV1, QC_DV,
    QC_R,                           // 4
    QC_OUT = QC_R + 4,              // dx: 4
    QC_NOMINAL = QC_OUT + 4,        // 4
    QC_FD = QC_NOMINAL + 4, QC_SPEED, QC_FREQUENCY, QC_PULSE_END,
    QC_CONTACT, QC_CONTACT_NEXT, QC_CONTACT_G,
    QC_LOW, QC_LOW_NEXT, QC_LOW_G,
    QC_HIGH, QC_HIGH_NEXT, QC_HIGH_G,
    QC_PULSE, QC_PULSE_NEXT,
    QC_MODE, QC_P, QC_Z0, QC_F1, QC_F2, QC_Z2, QC_V2,
    QC_JY,                          // 8 values
    QC_JYP = QC_JY + 10,            // 2
    QC_JBLOCK = QC_JYP + 2,
    QC_COUNT
};

static const double QC_M1 = 30, QC_M2 = 300, QC_C = 2000, QC_K = 40000, QC_KL = 300000, QC_K10 = 200000,
                    QC_D = 0.14, QC_GRAVITY = 9.81, QC_HUMP = 0.15;

static void
qc_road(double *v)
{
    if (v[QC_FREQUENCY] > 0)
        v[QC_Z0] = QC_HUMP * sin(2 * M_PI * v[QC_FREQUENCY] * v[0]);
    else
        v[QC_Z0] = v[QC_PULSE] != 0 ? QC_HUMP * sin(M_PI * v[QC_SPEED] / 0.5 * v[0]) : 0;
}

static void
qc_before(double *v, const void *self)
{
    (void)self;
    qc_road(v);
    double x = v[QC_X];
    double luz = v[QC_LOW] != 0 ? x - QC_D : v[QC_HIGH] != 0 ? x + QC_D : 0;
    double s = QC_C * v[QC_V] + QC_K * x + (QC_KL - QC_K) * luz;
    double t = v[QC_CONTACT] != 0 ? QC_K10 * (v[QC_Z1] - v[QC_Z0]) : 0;
    v[QC_F1] = -s - t - QC_M1 * QC_GRAVITY;
    v[QC_F2] = s - QC_M2 * QC_GRAVITY;
}

static void
qc_block(double *v, const void *self)
{
    (void)self;
    double a = v[QC_F1] / QC_M1 - v[QC_F2] / QC_M2;
    v[QC_P] = (a - v[QC_DV]) / (1 / QC_M1 + 1 / QC_M2);
    v[QC_R + 3] = v[QC_MODE] == 0 ? v[QC_DV] : v[QC_P] - v[QC_MODE] * v[QC_FD];
}

static void
qc_block_jacobian(double *v, const void *self)
{
    (void)self;
    v[QC_JBLOCK] = v[QC_MODE] == 0 ? 1 : -1 / (1 / QC_M1 + 1 / QC_M2);
}

static void
qc_after(double *v, const void *self)
{
    (void)self;
    v[QC_OUT] = v[QC_V1];
    v[QC_OUT + 1] = v[QC_V];
    v[QC_OUT + 2] = (v[QC_F1] - v[QC_P]) / QC_M1;
    v[QC_OUT + 3] = v[QC_DV];
}

static void
qc_outputs(double *v, const void *self)
{
    (void)self;
    v[QC_Z2] = v[QC_Z1] - v[QC_X];
    v[QC_V2] = v[QC_V1] - v[QC_V];
}

static void
qc_relations(double *v, const void *self)
{
    (void)self;
    v[QC_CONTACT_G] = v[QC_Z0] - v[QC_Z1];
    v[QC_CONTACT_NEXT] = v[QC_CONTACT_G] >= 0;
    v[QC_LOW_G] = v[QC_X] - QC_D;
    v[QC_LOW_NEXT] = v[QC_LOW_G] >= 0;
    v[QC_HIGH_G] = -v[QC_X] - QC_D;
    v[QC_HIGH_NEXT] = v[QC_HIGH_G] >= 0;
    v[QC_PULSE_NEXT] = v[0] < v[QC_PULSE_END];
}

static void
qc_parameters(double *v, const void *self)
{
    (void)self;
    v[QC_PULSE_END] = v[QC_FREQUENCY] > 0 ? 1e30 : 0.5 / v[QC_SPEED];
    v[QC_PULSE] = 1;
}

// Columns: z1: v1' row 2, law row 3. x: rows 2, 3. v1: row 0. v: rows 1, 2, 3.
static void
qc_jacobian(double *v, const void *self)
{
    (void)self;
    double stiffness = QC_K + (v[QC_LOW] != 0 || v[QC_HIGH] != 0 ? QC_KL - QC_K : 0);
    double tyre = v[QC_CONTACT] != 0 ? QC_K10 : 0;
    double m = 1 / (1 / QC_M1 + 1 / QC_M2);
    double f1[3] = {-tyre, -stiffness, -QC_C}, f2[3] = {0, stiffness, QC_C};
    double p[3];
    for (int k = 0; k < 3; k++)
        p[k] = m * (f1[k] / QC_M1 - f2[k] / QC_M2);
    double slips = v[QC_MODE] != 0;
    double *j = v + QC_JY;
    j[0] = -(f1[0] - p[0]) / QC_M1;
    j[1] = slips * p[0];
    j[2] = -(f1[1] - p[1]) / QC_M1;
    j[3] = slips * p[1];
    j[4] = -1;
    j[5] = -1;
    j[6] = -(f1[2] - p[2]) / QC_M1;
    j[7] = slips * p[2];
    v[QC_JYP] = -m / QC_M1; // d(-dv1)/d der(v): p falls with der(v)
    v[QC_JYP + 1] = slips ? -m : 1;
}

static const uint32_t qc_one_start[] = {0, 1}, qc_one_row[] = {0};
static const uint32_t qc_y_start[] = {0, 2, 4, 5, 8}, qc_y_row[] = {2, 3, 2, 3, 0, 1, 2, 3};
static const uint32_t qc_yp_start[] = {0, 0, 0, 0, 2}, qc_yp_row[] = {2, 3};
static const uint32_t qc_unknown[] = {QC_DV}, qc_residual[] = {QC_R + 3};
static const char *const qc_unknown_name[] = {"der(v)"};
static const char *const qc_equation[] = {"quarter_car.mdl:1:1: friction: p = FD*Sgn(v)"};
static const double qc_block_nominal[] = {1};
static const mdl_block qc_law = {
    .m = 1, .unknown = qc_unknown, .residual = qc_residual, .eval = {qc_block, NULL},
    .jacobian = {qc_block_jacobian, NULL},
    .jac = {1, 1, 1, qc_one_start, qc_one_row, QC_JBLOCK}, .linear = 1,
    .unknown_name = qc_unknown_name, .equation = qc_equation, .nominal = qc_block_nominal,
};
static const mdl_step qc_dynamics[] = {
    {.call = {qc_before, NULL}}, {.block = &qc_law}, {.call = {qc_after, NULL}},
};
static const uint8_t qc_implicit[] = {0, 0, 0, 1};
static const char *const qc_state_name[] = {"z1", "x", "v1", "v"};
static const mdl_relation qc_relation[] = {
    {QC_CONTACT, QC_CONTACT_NEXT, QC_CONTACT_G, 1, 0, "z1 <= z0"},
    {QC_LOW, QC_LOW_NEXT, QC_LOW_G, 1, 0, "z1 - z2 >= D"},
    {QC_HIGH, QC_HIGH_NEXT, QC_HIGH_G, 1, 0, "z2 - z1 >= D"},
};
static const mdl_time_relation qc_time_relation[] = {
    {QC_PULSE, QC_PULSE_NEXT, QC_PULSE_END, "time < T0"},
};
static const mdl_sgn qc_sgn[] = {{QC_MODE, QC_V, QC_P, QC_FD, 3, QC_OUT + 3, "Sgn(v)", .level = 1}};
static const mdl_output qc_output[] = {
    {"z1", QC_Z1, 1, MDL_REAL, 0, 0}, {"v1", QC_V1, 1, MDL_REAL, 0, 0}, {"z2", QC_Z2, 1, MDL_REAL, 0, 0},
    {"v2", QC_V2, 1, MDL_REAL, 0, 0}, {"vrel", QC_V, 1, MDL_REAL, 0, 0}, {"mode", QC_MODE, 1, MDL_INTEGER, 0, 0},
    {"contact", QC_CONTACT, 1, MDL_BOOLEAN, 0, 0}, {"low", QC_LOW, 1, MDL_BOOLEAN, 0, 0},
    {"high", QC_HIGH, 1, MDL_BOOLEAN, 0, 0}, {"p", QC_P, 1, MDL_REAL, 0, 0}, {"der_vrel", QC_DV, 1, MDL_REAL, 0, 0},
};
enum { QC_OUTPUTS = sizeof qc_output / sizeof *qc_output };

// `v0` has QC_COUNT places and must outlive the model. frequency > 0: sine road; otherwise a hump at `speed`.
static inline mdl_model
quarter_car(double *v0, double friction, double speed, double frequency)
{
    memset(v0, 0, QC_COUNT * sizeof *v0);
    v0[QC_Z1] = -(QC_M1 + QC_M2) * QC_GRAVITY / QC_K10;
    v0[QC_X] = QC_M2 * QC_GRAVITY / QC_K;
    v0[QC_FD] = friction;
    v0[QC_SPEED] = speed;
    v0[QC_FREQUENCY] = frequency;
    for (int k = 0; k < 4; k++)
        v0[QC_NOMINAL + k] = 1;
    return (mdl_model){
        .version = MDL_MODEL_VERSION, .size = sizeof(mdl_model), .name = "QuarterCar", .nv = QC_COUNT, .v0 = v0,
        .n = 4, .nx = 4, .y = QC_Z1, .yp = QC_DZ1, .r = QC_R, .dx = QC_OUT, .implicit = qc_implicit,
        .nominal = QC_NOMINAL, .state_name = qc_state_name, .parameters = {qc_parameters, NULL},
        .n_dynamics = 3, .dynamics = qc_dynamics, .outputs = {qc_outputs, NULL},
        .jac_y = {4, 4, 8, qc_y_start, qc_y_row, QC_JY}, .jac_yp = {4, 4, 2, qc_yp_start, qc_yp_row, QC_JYP},
        .jacobian = {qc_jacobian, NULL},
        .n_relations = 3, .relation = qc_relation, .n_time_relations = 1, .time_relation = qc_time_relation,
        .n_sgns = 1, .sgn = qc_sgn, .relations = {qc_relations, NULL},
        .n_outputs = QC_OUTPUTS, .output = qc_output, .start = 0, .stop = 5, .interval = 0.01, .tolerance = 1e-9,
    };
}

#endif
