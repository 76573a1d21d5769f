// 20: A switch whose branches are a voltage and a current: equations of different units in one if-equation.
// expect: c.v = 0.99995460007023751 at 1 within 1e-5
// expect: c.v = 0.99995460007023751 at 2 within 1e-5
model M
  import Modelica.Electrical.Analog.{Basic, Ideal, Sources};
  Sources.ConstantVoltage v(V = 1);
  Ideal.IdealClosingSwitch s(Ron = 0, Goff = 0);
  Modelica.Blocks.Sources.BooleanStep opens(startValue = true, startTime = 1);
  Basic.Resistor r(R = 1);
  Basic.Capacitor c(C = 0.1, v(start = 0, fixed = true));
  Basic.Ground g;
equation
  connect(opens.y, s.control);
  connect(v.p, s.p);
  connect(s.n, r.p);
  connect(r.n, c.p);
  connect(c.n, v.n);
  connect(v.n, g.p);
  annotation(experiment(StopTime = 2, Tolerance = 1e-8));
end M;
