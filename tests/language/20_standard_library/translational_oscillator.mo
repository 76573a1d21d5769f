// 20: A mass with length between two springs: s = 0.5 + 0.1*cos(2*t), with the parameters of the library.
// expect: m.s = 0.55403023058681398 at 0.5 within 1e-6
// expect: m.flange_a.s = 0.4 before 0.78539816339744831 within 1e-6
// expect: e = 0.02 within 1e-7
model M
  import Modelica.Mechanics.Translational.Components.*;
  import Modelica.Mechanics.Translational.Sensors.PositionSensor;
  Fixed left(s0 = 0), right(s0 = 1);
  Spring a(c = 1, s_rel0 = 0.4), b(c = 3, s_rel0 = 0.4);
  Mass m(m = 1, L = 0.2, s(start = 0.6, fixed = true), v(start = 0, fixed = true));
  PositionSensor p;
  Real e = m.m*m.v^2/2 + (a.c + b.c)/2*(m.s - 0.5)^2;
equation
  connect(left.flange, a.flange_a);
  connect(a.flange_b, m.flange_a);
  connect(m.flange_b, b.flange_a);
  connect(b.flange_b, right.flange);
  connect(p.flange, m.flange_b);
  annotation(experiment(StopTime = 0.78539816339744831));
end M;
