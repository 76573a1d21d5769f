// 20: Units, constants and icons of the library that comes along.
// expect: v = 0 within 1e-5
// expect: s = 1 within 1e-6
// expect: a = 0.52359877559829887
// expect: F = 96485.332123310 within 1e-6
// expect: k.y = 3
model M
  extends Modelica.Icons.Example;
  import Modelica.Units.SI;
  import Modelica.Constants.pi;
  parameter SI.Mass m = 2;
  parameter Modelica.SIunits.Time T = 1;
  parameter SI.Angle a = Modelica.Units.Conversions.from_deg(30);
  parameter Real F = Modelica.Constants.F;
  SI.Position s(start = 1, fixed = true);
  SI.Velocity v(start = 0, fixed = true);
  Modelica.Blocks.Sources.Constant k(k = 3);
equation
  der(s) = v;
  m*der(v) = -(2*pi/T)^2*m*s;
end M;
