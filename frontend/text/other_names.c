// other_names.c: classes of the library under the names that they have elsewhere.
//
// Purpose: who knows the Modelica Standard Library writes Rotational.Position and means a shaft that turns as a signal says; who knows
// block diagrams writes TransferFcn.
// Method: a table. Contract: other_names.h. Complexity: that of the table.
#include <stddef.h>
#include <string.h>

#include "frontend/text/other_names.h"

static const struct {
    const char *package, *other, *name;
} names[] = {
    {"Rotational", "Position", "PrescribedAngle"},
    {"Rotational", "Speed", "PrescribedSpeed"},
    {"Rotational", "Torque", "PrescribedTorque"},
    {"Rotational", "Torque2", "PrescribedTorque2"},
    {"Rotational", "Disc", "Disk"},
    {"Rotational", "RelAngleSensor", "RelativeAngleSensor"},
    {"Rotational", "RelSpeedSensor", "RelativeSpeedSensor"},
    {"Rotational", "RelAccSensor", "RelativeAccSensor"},
    {"Rotational", "SignTorque", "BearingFriction"},
    {"Translational", "Position", "PrescribedPosition"},
    {"Translational", "Speed", "PrescribedSpeed"},
    {"Translational", "Force", "PrescribedForce"},
    {"Translational", "Force2", "PrescribedForce2"},
    {"Translational", "RelPositionSensor", "RelativePositionSensor"},
    {"Translational", "RelSpeedSensor", "RelativeSpeedSensor"},
    {"Translational", "RelAccSensor", "RelativeAccSensor"},
    {"Translational", "SignForce", "SupportFriction"},
    {"MultiBody", "SphericalSpherical", "Rod"},
    {"MultiBody", "SpringDamperParallel", "SpringDamper"},
    {"MultiBody", "RevolutePlanarLoopConstraint", "RevolutePlanarLoop"},
    {"MultiBody", "CutForceAndTorque", "CutForce"},
    {"Blocks", "CombiTable1D", "Table1D"},
    {"Blocks", "CombiTable1Ds", "Table1D"},
    {"Blocks", "CombiTable2D", "Table2D"},
    {"Blocks", "CombiTimeTable", "TimeTable"},
    {"Blocks", "TransferFcn", "TransferFunction"},
    {"Blocks", "SineWave", "Sine"},
    {"Blocks", "Saturation", "Limiter"},
    {"Blocks", "Relay", "Hysteresis"},
    {"Blocks", "LookupTable", "Table1D"},
    {"Electrical", "RotationalEMF", "EMF"},
    {"Electrical", "Motor", "EMF"},
    {"Electrical", "DCMotor", "EMF"},
    {"Rotational", "Motor", "PrescribedTorque"},
    {"Rotational", "Belt", "IdealGear"},
    {"Rotational", "Pulley", "IdealGearR2T"},
};

const char *
other_name(const char *package, const char *name)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i].other, name) && !strcmp(names[i].package, package))
            return names[i].name;
    return NULL;
}
