// 20: A machine with circuit and shaft: speed V*k/(R*d + k^2) in the end.
// expect: j.w = 235.29411764705883 within 1e-3
// expect: r.i = 0.47058823529411764 within 1e-4
model M
  import Modelica.Electrical.Analog.{Basic, Sources};
  import Modelica.Mechanics.Rotational.Components.*;
  Sources.ConstantVoltage source(V = 12);
  Basic.Resistor r(R = 0.5);
  Basic.Inductor l(L = 1e-3, i(fixed = true));
  Basic.EMF emf(k = 0.05);
  Basic.Ground ground;
  Inertia j(J = 1e-3, phi(fixed = true, start = 0), w(fixed = true, start = 0));
  Damper d(d = 1e-4);
  Fixed housing;
equation
  connect(source.p, r.p);
  connect(r.n, l.p);
  connect(l.n, emf.p);
  connect(emf.n, source.n);
  connect(source.n, ground.p);
  connect(emf.flange, j.flange_a);
  connect(j.flange_b, d.flange_a);
  connect(d.flange_b, housing.flange);
  annotation(experiment(StopTime = 5, Tolerance = 1e-8));
end M;
