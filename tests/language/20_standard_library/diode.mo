// 20: An ideal diode with knee and resistance: i = (V - Vknee)/(R + Ron), and none against it.
// expect: r.i = 0.042574257425742573 at 0.5 within 1e-9
// expect: r.i = 0 at 1.5 within 1e-9
// expect: d.off = true at 1.5
model M
  import Modelica.Electrical.Analog.{Basic, Ideal, Sources};
  Sources.StepVoltage v(V = -10, offset = 5, startTime = 1);
  Basic.Resistor r(R = 100);
  Ideal.IdealDiode d(Ron = 1, Goff = 0, Vknee = 0.7);
  Basic.Ground g;
equation
  connect(v.p, r.p);
  connect(r.n, d.p);
  connect(d.n, g.p);
  connect(v.n, g.p);
  annotation(experiment(StopTime = 2));
end M;
